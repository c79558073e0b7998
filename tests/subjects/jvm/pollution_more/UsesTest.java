package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;

import java.util.Locale;
import java.util.function.IntSupplier;
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** Ways to use a field, each with one that only looks like it. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class UsesTest {
	interface Constants {
		int[] numbers = { 1 };

		default int first() { return numbers[0]; }
	}

	static class Base {
		static final Base one = new Sub();
		static int shared;
		protected long wide;
	}

	static class Sub extends Base implements Constants {
		long wide() { return wide; }
	}

	/** The same names and types. */
	static class Other {
		static int shared;
		long wide;
	}

	@Test public void a_setsStatic() { Base.shared = 5; }

	/* The class file names Sub.shared. */
	@Test public void b_readsThroughSub() { assertTrue(Sub.shared >= 0); }

	@Test public void c_readsInLambda() {
		IntSupplier supplier = () -> Base.shared;
		assertTrue(supplier.getAsInt() >= 0);
	}

	@Test public void d_writesFirst() {
		Base.shared = 5;
		assertEquals(5, Base.shared);
	}

	@Test public void e_readsOtherClass() { assertTrue(Other.shared == 0 && new Other().wide == 0); }

	@Test public void f_setsField() { Base.one.wide = 1L << 40; }
	@Test public void g_readsField() { assertTrue(((Sub) Base.one).wide() >= 0); }
	@Test public void h_readsOtherObject() { assertEquals(0, new Sub().wide()); }
	@Test public void i_setsLocale() { Locale.setDefault(Locale.CANADA_FRENCH); }
	@Test public void j_readsLocale() { assertNotNull(Locale.getDefault()); }
	@Test public void k_readsInterface() { assertEquals(1, new Sub().first()); }
}
