package subject;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** Its tests are listed, and fail. */
public class StaticTest {
	static final int VALUE = value();

	private static int value() {
		throw new IllegalStateException("not today");
	}

	@Test public void one() {
		assertEquals(1, VALUE);
	}

	@Test public void two() {
		assertEquals(2, VALUE);
	}
}
