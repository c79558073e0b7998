package subject;

import org.junit.Test;

/** A class that a test is the first to use. */
public class FirstTest {
	static final class Later {
		static int count = 1;
	}

	@Test public void uses() { Later.count++; }
}
