package subject;

import org.junit.Test;

/** A test's constructor is part of it. */
public class ConstructorTest {
	private final int made = ++Between.byConstructor;

	@Test public void first() {
	}

	@Test public void second() {
	}

	@Test public void third() {
	}
}
