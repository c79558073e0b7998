package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.junit.After;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TestName;

public class FixtureTest {
	private static boolean ready;
	private int set;

	@Rule
	public TestName name = new TestName();

	@BeforeClass
	public static void begin() {
		ready = true;
	}

	@AfterClass
	public static void end() {
		ready = false;
	}

	@Before
	public void setUp() {
		set = 1;
	}

	@After
	public void tearDown() {
		set = 0;
	}

	@Test
	public void hasFixtures() {
		assertTrue(ready);
		assertEquals(1, set);
		assertEquals("hasFixtures", name.getMethodName());
	}

	@Test
	public void hasThemAgain() {
		assertTrue(ready);
	}
}
