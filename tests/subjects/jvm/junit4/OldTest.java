package subject;

import junit.framework.Test;
import junit.framework.TestCase;
import junit.framework.TestSuite;

/** JUnit 3. */
public class OldTest extends TestCase {
	public static Test suite() {
		return new TestSuite(OldTest.class);
	}

	public void testAdds() {
		assertEquals(2, 1 + 1);
	}

	public void testFails() {
		fail("on purpose");
	}
}
