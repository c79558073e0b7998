package subject;

import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** What set-up makes and tear-down restores. */
public class PointsTest {
	static int made;

	@Before public void make() { made = 1; }
	@After public void restore() { made = 0; }
	@Test public void changes() { made++; }
}
