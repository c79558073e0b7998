package subject;

import static org.testng.Assert.assertEquals;

import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

public class BrokenTest {
	@BeforeClass public void breaks() {
		throw new IllegalStateException("broken");
	}

	@Test public void a() {
		assertEquals(1 + 1, 2);
	}

	@Test public void b() {
		assertEquals(1 + 1, 2);
	}
}
