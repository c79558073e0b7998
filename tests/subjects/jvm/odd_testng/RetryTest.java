package subject;

import static org.testng.Assert.assertTrue;

import org.testng.IRetryAnalyzer;
import org.testng.ITestResult;
import org.testng.annotations.BeforeMethod;
import org.testng.annotations.Test;

/** Passes when it is tried for the third time. */
public class RetryTest {
	private static int tries;

	@BeforeMethod public void before() {
		tries++;
	}

	@Test(retryAnalyzer = Again.class) public void a() {
		assertTrue(tries > 2);
	}

	public static class Again implements IRetryAnalyzer {
		private int n;

		@Override public boolean retry(ITestResult result) {
			return n++ < 3;
		}
	}
}
