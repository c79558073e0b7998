package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class WorksTest {
	@Test public void a_works() {
		Works.buffer.get()[3] = 1;
		Works.kept[3] = 1;
		Works.weak.put("key", "a");
		Works.strong.put("key", "a");
		assertTrue(Works.drawn.nextInt(10) < 10);
	}

	@Test public void b_works() {
		assertEquals(8, Works.buffer.get().length);
		assertTrue(Works.kept[3] < 2);
		assertTrue(Works.weak.size() + Works.strong.size() < 3);
		assertTrue(Works.drawn.nextInt(10) < 10);
	}

	@Test public void c_replaces() {
		System.setErr(new Works.Counting(System.err));
	}

	@Test public void d_prints() {
		System.err.println("one line more");
	}

	@Test public void e_prints() {
		System.err.println("one line more");
	}
}
