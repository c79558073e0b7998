package subject;

import static org.junit.Assert.assertEquals;

import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runner.notification.RunNotifier;
import org.junit.runners.BlockJUnit4ClassRunner;
import org.junit.runners.model.FrameworkMethod;
import org.junit.runners.model.InitializationError;

/** A runner that says nothing of one of its tests. */
@RunWith(LeavesOutTest.Runner.class)
public class LeavesOutTest {
	public static class Runner extends BlockJUnit4ClassRunner {
		public Runner(Class<?> type) throws InitializationError {
			super(type);
		}

		@Override protected void runChild(FrameworkMethod method, RunNotifier notifier) {
			if (!method.getName().equals("left"))
				super.runChild(method, notifier);
		}
	}

	@Test public void left() {
		assertEquals(2, 1 + 1);
	}

	@Test public void runs() {
		assertEquals(2, 1 + 1);
	}

	@Test public void runsToo() {
		assertEquals(2, 1 + 1);
	}
}
