package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;

import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** Caches: nobody who reads them is misled. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class CachesTest {
	@Test public void a() { assertNotNull(Zone.byName); }
	@Test public void b() { assertEquals("UTC", Zone.utc().name); }
	@Test public void c() { assertEquals("UTC", Zone.utc().name); }
	@Test public void d() { assertEquals("x", Zone.of("x").name); }
	@Test public void e() {
		assertEquals("x", Zone.of("x").name);
		assertEquals("y", Zone.of("y").name);
	}
	@Test public void f() {
		assertEquals("y", Zone.of("y").name);
		assertEquals("z", Zone.of("z").name);
	}
	@Test public void g() { assertEquals("z!", Zone.label(Zone.of("z"))); }
	@Test public void h() { assertEquals("slot 1", Zone.of("z").look(1)); }
}
