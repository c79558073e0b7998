package subject;

import junit.extensions.TestSetup;
import junit.framework.Test;
import org.junit.runner.notification.RunNotifier;
import org.junit.runners.BlockJUnit4ClassRunner;
import org.junit.runners.model.FrameworkMethod;
import org.junit.runners.model.InitializationError;

/** What changes state between two tests, and must not be charged to either. */
public class Between {
	static int byRunner, byDecorator, byRun, byConstructor;

	public static class Runner extends BlockJUnit4ClassRunner {
		public Runner(Class<?> type) throws InitializationError {
			super(type);
		}

		@Override
		protected void runChild(FrameworkMethod method, RunNotifier notifier) {
			byRunner++;
			super.runChild(method, notifier);
		}
	}

	public static class Decorator extends TestSetup {
		public Decorator(Test test) {
			super(test);
		}

		@Override
		protected void setUp() {
			byDecorator++;
		}
	}
}
