package subject;

import static org.junit.Assert.assertNotNull;

import java.security.Permission;
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** Leaves a security manager that lets nobody look at the environment. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class ManagerTest {
	@SuppressWarnings("removal")
	@Test public void a_forbids() {
		System.setSecurityManager(new SecurityManager() {
			@Override public void checkPermission(Permission permission) {
				if (permission.getName().startsWith("getenv"))
					throw new SecurityException("getenv");
			}
		});
	}

	@SuppressWarnings("removal")
	@Test public void b_passes() {
		assertNotNull(System.getSecurityManager());
	}
}
