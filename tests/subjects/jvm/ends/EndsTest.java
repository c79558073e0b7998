package subject;

import org.junit.Test;

/** Tests that take their VM with them: each costs itself only. */
public class EndsTest {
	@Test
	public void before() {
	}

	@Test
	public void exits() {
		System.out.println("about to leave");
		System.exit(3);
	}

	@Test
	public void between() {
	}

	@Test
	public void halts() {
		Runtime.getRuntime().halt(0);
	}

	@Test
	public void hangs() throws Exception {
		Object never = new Object();
		synchronized (never) {
			never.wait();
		}
	}

	@Test
	public void spins() {
		while (true)
			Thread.onSpinWait();
	}

	@Test
	public void crashes() throws Exception {
		java.lang.reflect.Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
		field.setAccessible(true);
		((sun.misc.Unsafe) field.get(null)).putAddress(0, 0);
	}

	@Test
	public void overflows() {
		overflows();
	}

	@Test
	public void zlast() {
	}
}
