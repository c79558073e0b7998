package subject;

import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;

import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class ApartTest {
	@Test public void a_fills() {
		assertNotNull(Apart.slot("s", "a"));
		Apart.had("e", "a");
	}

	@Test public void b_sets() {
		Apart.ready = true;
	}

	/** Fails alone, but not because of the slot. */
	@Test public void c_reads() {
		assertNotNull(Apart.slot("s", "c"));
		assertTrue(Apart.ready);
	}

	/** Fails alone because of the entry, although it fills it, too. */
	@Test public void d_needs() {
		assertTrue(Apart.had("e", "d"));
	}
}
