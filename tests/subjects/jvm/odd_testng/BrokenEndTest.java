package subject;

import static org.testng.Assert.assertEquals;

import org.testng.annotations.AfterClass;
import org.testng.annotations.Test;

/** Passes in any order. */
public class BrokenEndTest {
	@AfterClass public void breaks() {
		throw new IllegalStateException("broken at its end");
	}

	@Test public void a() {
		assertEquals(1 + 1, 2);
	}

	@Test public void b() {
		assertEquals(1 + 1, 2);
	}
}
