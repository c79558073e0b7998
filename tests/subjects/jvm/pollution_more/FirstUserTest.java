package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** The first test that uses a class changes it; another one puts that back, or changes more. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class FirstUserTest {
	static final class Put {
		static int mode = 1;
	}

	static final class Kept {
		static int mode = 1;
	}

	@Test public void a_uses() {
		Put.mode = 7;
		assertEquals(1, Kept.mode);
	}

	@Test public void b_restores() {
		Put.mode = 1;
	}

	@Test public void c_changes() {
		Kept.mode = 7;
	}

	@Test public void d_reads() {
		assertTrue(Put.mode + Kept.mode > 1);
	}
}
