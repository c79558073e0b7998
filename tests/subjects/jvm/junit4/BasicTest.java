package subject;

import static org.junit.Assert.assertEquals;

import org.junit.Ignore;
import org.junit.Test;

public class BasicTest {
	static int shared;

	@Test
	public void passes() {
		System.out.println("text of passes");
		assertEquals(2, 1 + 1);
	}

	@Test
	public void fails() {
		assertEquals("sum", 3, 1 + 1);
	}

	@Test
	@Ignore("not now")
	public void ignored() {
	}

	@Test
	public void polluter() {
		shared = 1;
	}

	@Test
	public void victim() {
		assertEquals(0, shared);
	}
}
