package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class ApartTest {
	@Test public void a_fills() {
		assertEquals("slot 3", Apart.slot(3));
		Apart.had(4);
	}

	@Test public void b_sets() {
		Apart.ready = true;
	}

	/** Fails alone, but not because of the slot. */
	@Test public void c_reads() {
		assertEquals("slot 3", Apart.slot(3));
		assertTrue(Apart.ready);
	}

	/** Fails alone because of the entry, although it fills it, too. */
	@Test public void d_needs() {
		assertTrue(Apart.had(4));
	}
}
