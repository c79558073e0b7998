package subject;

import junit.framework.TestCase;
import junit.framework.TestResult;

public class OwnRunTest extends TestCase {
	@Override
	public void run(TestResult result) {
		Between.byRun++;
		super.run(result);
	}

	public void testFirst() {
	}

	public void testSecond() {
	}
}
