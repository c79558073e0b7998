package subject;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** The victim depends on one of two thread-locals that the polluter changes. */
public class OrderLocalTest {
	static final class Context {
		static final ThreadLocal<String> user = ThreadLocal.withInitial(() -> "nobody");
		static final ThreadLocal<Integer> calls = new ThreadLocal<>();
	}

	@Test public void polluter() {
		Context.user.set("somebody");
		Context.calls.set(1);
	}

	@Test public void victim() { assertEquals("nobody", Context.user.get()); }
}
