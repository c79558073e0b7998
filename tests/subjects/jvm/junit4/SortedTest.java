package subject;

import static org.junit.Assert.assertEquals;

import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** The order is declared: that its tests depend on it is no finding. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class SortedTest {
	private static int step;

	@Test
	public void a() {
		step = 1;
	}

	@Test
	public void b() {
		assertEquals(1, step);
	}
}
