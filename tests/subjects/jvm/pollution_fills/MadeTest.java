package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;

import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class MadeTest {
	/** Makes the object, as others do, and fills a slot of it, which is what it leaves. */
	@Test public void a_fills() {
		assertEquals("slot 3", Made.get().slot(3));
	}

	@Test public void b_makes() {
		assertNotNull(Made.get());
	}

	@Test public void c_reads() {
		assertEquals("slot 3", Made.get().slot(3));
	}

	@Test public void d_reads() {
		assertEquals("slot 3", Made.get().slot(3));
	}

	/** Only looks whether there is one; no slot is read. */
	@Test public void e_looks() {
		Made made = Made.instance;
		assertTrue(made == null || made == Made.get());
	}
}
