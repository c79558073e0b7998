package subject;

import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

public class AbortsTest {
	/** It does not say why. */
	@Test void aborts() {
		throw new TestAbortedException();
	}
}
