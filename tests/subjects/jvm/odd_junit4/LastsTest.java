package subject;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class LastsTest {
	@Test public void lasts() throws Exception {
		Thread.sleep(20);
		assertEquals(2, 1 + 1);
	}

	@Test public void lastsToo() throws Exception {
		Thread.sleep(20);
		assertEquals(2, 1 + 1);
	}
}
