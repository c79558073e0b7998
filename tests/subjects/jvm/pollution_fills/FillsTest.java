package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class FillsTest {
	@Test public void a_fills() {
		assertEquals("slot 1", Fills.slot(1));
		assertEquals("key 1", Fills.byKey(1));
		assertEquals("computed 1", Fills.computed(1));
		assertEquals("listed 1", Fills.listed(1));
		assertTrue(Fills.grown(4) >= 4);
	}

	/** Finds what is always there, and so adds nothing when it runs alone. */
	@Test public void b_reads() {
		assertEquals("slot 0", Fills.slot(0));
		assertEquals("key 0", Fills.byKey(0));
		assertEquals("computed 0", Fills.computed(0));
		assertEquals("listed 0", Fills.listed(0));
		assertTrue(Fills.grown(0) >= 0);
	}

	@Test public void c_adds() {
		Looks.slot(1, "one");
		Looks.byKey(1, "one");
		Looks.rename("one");
	}

	@Test public void d_looks() {
		assertTrue(!Looks.hasSlot(2));
		assertEquals("none", Looks.find(2));
		assertTrue(Looks.name().length() > 2);
	}

	@Test public void e_counts() {
		Looks.count(3);
	}

	@Test public void f_counts() {
		assertTrue(Looks.count(3) >= 0);
	}
}
