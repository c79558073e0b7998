package subject;

import static org.testng.Assert.assertEquals;

import org.testng.annotations.BeforeMethod;
import org.testng.annotations.Test;

/** Fails in any order. */
public class BrokenEachTest {
	@BeforeMethod public void breaks() {
		throw new IllegalStateException("broken");
	}

	@Test public void a() {
		assertEquals(1 + 1, 2);
	}

	@Test public void b() {
		assertEquals(1 + 1, 2);
	}
}
