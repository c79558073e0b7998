package subject;

import junit.framework.Test;
import junit.framework.TestCase;
import junit.framework.TestSuite;

public class DecoratedTest extends TestCase {
	public DecoratedTest(String name) {
		super(name);
	}

	public static Test suite() {
		TestSuite suite = new TestSuite();
		for (String name : new String[] {"testFirst", "testSecond", "testThird"})
			suite.addTest(new Between.Decorator(new DecoratedTest(name)));
		return suite;
	}

	public void testFirst() {
	}

	public void testSecond() {
	}

	public void testThird() {
	}
}
