package subject;

import static org.testng.Assert.assertEquals;

import org.testng.annotations.Test;

/** The order that TestNG prefers is one of several. */
public class PriorityTest {
	private static int ran;

	@Test(priority = 2) public void third() {
		ran++;
	}

	@Test(priority = 1) public void second() {
		assertEquals(ran, 0);
	}

	@Test(priority = 0) public void first() {
		assertEquals(ran, 0);
	}
}
