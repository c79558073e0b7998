package subject;

import junit.framework.Test;
import junit.framework.TestCase;
import junit.framework.TestSuite;

/** JUnit 3: the same tests of two things, in suites inside of a suite. */
public class NestedTest extends TestCase {
	private final int thing;

	public NestedTest(String name, int thing) {
		super(name);
		this.thing = thing;
	}

	public static Test suite() {
		TestSuite all = new TestSuite("all");
		for (int thing = 1; thing <= 2; thing++) {
			TestSuite inner = new TestSuite("thing " + thing);
			inner.addTest(new NestedTest("testSmall", thing));
			inner.addTest(new NestedTest("testOdd", thing));
			all.addTest(inner);
		}
		return all;
	}

	public void testSmall() {
		assertTrue(thing < 3);
	}

	public void testOdd() {
		assertEquals(1, thing % 2);
	}
}
