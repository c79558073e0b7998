package subject;

import static org.junit.Assert.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.Test;

/** Values of the thread that runs the tests; a test that says nothing leaves nothing. */
public class LocalsTest {
	private static void inThread(Runnable work) throws InterruptedException {
		Thread thread = new Thread(work);
		thread.start();
		thread.join();
	}

	// leaves: subject.Locals.current.get(): "before" → "after"
	@Test public void current() { Locals.current.set("after"); }
	// leaves: subject.Locals.removed.get(): "before" → null
	@Test public void removed() { Locals.removed.remove(); }
	// leaves: subject.Locals.unset.get(): null → "after"
	@Test public void unset() { Locals.unset.set("after"); }
	// leaves: subject.Locals.session.get().user: "a" → "b"
	@Test public void session() { Locals.session.get().user = "b"; }
	// leaves: subject.Locals.replaced.get().calls: 0 → 1
	@Test public void replaced() {
		Locals.Session session = new Locals.Session("a");
		session.calls = 1;
		Locals.replaced.set(session);
	}
	// leaves: subject.Locals.map.get()["b"]: (absent) → 2
	@Test public void map() { Locals.map.get().put("b", 2); }
	// leaves: subject.Locals.registry.get()["a key"]: (absent) → null
	@Test public void registry() { Locals.registry.get().put(Locals.key, null); }
	// leaves: subject.Locals.supplied.get(): null → "x"
	@Test public void supplied() { Locals.supplied.get().append('x'); }
	// leaves: subject.Locals.nested.get().get(): "before" → "after"
	@Test public void nested() { Locals.nested.get().set("after"); }
	// leaves: subject.Locals.inherited.get(): "before" → "after"
	@Test public void inherited() { Locals.inherited.set("after"); }
	// leaves: subject.Locals.later.get(): "before" → "after"
	@Test public void later() { Locals.later.set("after"); }
	// leaves: subject.Locals.named.get(): null → "initial"
	@Test public void named() { Locals.named.get(); }
	// leaves: subject.Locals.counted.asked: 0 → 1
	@Test public void counted() { Locals.counted.asked++; }
	// leaves: subject.Locals.holder.inner.get(): "before" → "after"
	@Test public void holder() { Locals.holder.inner.set("after"); }
	// leaves: subject.Locals.other.get(): "before" → "after"
	@Test public void other() { Locals.other = Locals.with("after"); }
	// leaves: subject.Locals.moved.get(): "before" → "after"
	@Test public void movesAndCollects() {
		Locals.moved.set("after");
		System.gc();
	}

	@Test public void same() { Locals.same.set(new String("before")); }

	@Test public void back() {
		Locals.back.set("after");
		Locals.back.set("before");
		Locals.brief.set("after");
		Locals.brief.remove();
	}

	@Test public void equal() { Locals.equal.set(new Locals.Session("a")); }

	@Test public void elsewhere() throws InterruptedException {
		inThread(() -> {
			Locals.elsewhere.set("after");
			Locals.onlyElsewhere.set("after");
			assertEquals("before", Locals.child.get());
			Locals.child.set("after");
		});
	}

	@Test public void copy() { Locals.copy = Locals.with("before"); }

	/* The framework's own thread, which ends with the test. */
	@Test(timeout = 60000) public void limited() { Locals.limited.set("after"); }

	/* The table of the thread's map grows: its entries lie elsewhere then. */
	@Test public void grows() {
		List<ThreadLocal<String>> many = new ArrayList<>();
		for (int i = 0; i < 1000; i++)
			many.add(Locals.with("x"));
		for (ThreadLocal<String> each : many)
			each.remove();
	}
}
