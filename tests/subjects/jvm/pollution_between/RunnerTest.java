package subject;

import org.junit.Test;
import org.junit.runner.RunWith;

@RunWith(Between.Runner.class)
public class RunnerTest {
	@Test public void first() {
	}

	@Test public void second() {
	}

	@Test public void third() {
	}
}
