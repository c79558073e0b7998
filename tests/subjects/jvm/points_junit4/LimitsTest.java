package subject;

import java.util.HashMap;
import java.util.Map;
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** Tests whose time is over about when they end: their threads come to their points when other tests run. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class LimitsTest {
	private static final Map<Integer, Object> all = new HashMap<>();

	static {
		for (int i = 0; i < 100_000; i++)
			all.put(i, new int[2]);
	}

	private static void work(long ms) {
		long end = System.nanoTime() + ms * 1_000_000;
		for (int i = 0; System.nanoTime() < end; i++)
			all.put(i % 150_000, "v" + i);
	}

	@Test(timeout = 28) public void t0() {
		work(28);
	}

	@Test public void u0() {
		all.put(0, "u0");
	}

	@Test(timeout = 29) public void t1() {
		work(29);
	}

	@Test public void u1() {
		all.put(1, "u1");
	}

	@Test(timeout = 30) public void t2() {
		work(30);
	}

	@Test public void u2() {
		all.put(2, "u2");
	}

	@Test(timeout = 31) public void t3() {
		work(31);
	}

	@Test public void u3() {
		all.put(3, "u3");
	}

	@Test(timeout = 32) public void t4() {
		work(32);
	}

	@Test public void u4() {
		all.put(4, "u4");
	}

	@Test(timeout = 33) public void t5() {
		work(33);
	}

	@Test public void u5() {
		all.put(5, "u5");
	}

	@Test(timeout = 34) public void t6() {
		work(34);
	}

	@Test public void u6() {
		all.put(6, "u6");
	}

	@Test(timeout = 35) public void t7() {
		work(35);
	}

	@Test public void u7() {
		all.put(7, "u7");
	}
}
