package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.HashMap;
import java.util.Map;
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** No cache: tests that look into it add nothing. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class RegistryTest {
	static final class Registry {
		static final Map<String, String> handlers = new HashMap<>();
	}

	@Test public void a() { assertTrue(Registry.handlers.isEmpty()); }
	@Test public void b() { Registry.handlers.put("x", "one"); }
	@Test public void c() { assertEquals(1, Registry.handlers.size()); }
}
