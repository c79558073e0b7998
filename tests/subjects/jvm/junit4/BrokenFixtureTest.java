package subject;

import org.junit.BeforeClass;
import org.junit.Test;

public class BrokenFixtureTest {
	@BeforeClass
	public static void begin() {
		throw new IllegalStateException("no fixture");
	}

	@Test
	public void neverRuns() {
	}
}
