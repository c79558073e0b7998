package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assume.assumeTrue;

import org.junit.BeforeClass;
import org.junit.Test;
import org.junit.experimental.runners.Enclosed;
import org.junit.runner.RunWith;

/** Whole inner classes that do not run, before one that does. */
@RunWith(Enclosed.class)
public class InnerTest {
	public static class Assumes {
		@BeforeClass public static void assumes() {
			assumeTrue(false);
		}

		@Test public void never() {
			assertEquals(1, 2);
		}
	}

	public static class Breaks {
		@BeforeClass public static void breaks() {
			throw new IllegalStateException("broken");
		}

		@Test public void never() {
			assertEquals(2, 1 + 1);
		}
	}

	public static class Runs {
		@Test public void runs() {
			assertEquals(2, 1 + 1);
		}
	}
}
