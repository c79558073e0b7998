package subject;

import static org.testng.Assert.assertNull;

import org.testng.IHookCallBack;
import org.testng.IHookable;
import org.testng.ITestResult;
import org.testng.annotations.Test;

/** Calls its tests itself: listing does not let it. */
public class HookTest implements IHookable {
	@Override public void run(IHookCallBack call, ITestResult result) {
		call.runTestMethod(result);
	}

	@Test public void ran() throws Exception {
		assertNull(System.setProperty("subject.hook", "ran"));
		if (System.getProperty("subject.mark") != null)
			new java.io.File(System.getProperty("subject.mark")).createNewFile();
	}
}
