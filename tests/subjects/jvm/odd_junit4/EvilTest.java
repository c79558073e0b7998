package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.fail;

import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** What is asked of an exception, or of the VM, when a test has failed may fail as well. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class EvilTest {
	@Test public void a_has_no_frames() {
		throw new RuntimeException("no frames") {
			@Override public StackTraceElement[] getStackTrace() {
				return null;
			}
		};
	}

	@Test public void b_passes() {
		assertEquals(2, 1 + 1);
	}

	@SuppressWarnings("removal")
	@Test public void c_leaves_manager() {
		System.setSecurityManager(new SecurityManager() {
			@Override public void checkRead(String file) {
				throw new SecurityException("read");
			}

			@Override public void checkPermission(java.security.Permission permission) {
			}
		});
	}

	@Test public void d_fails() {
		fail("as it should");
	}

	@Test public void e_passes() {
		assertEquals(2, 1 + 1);
	}
}
