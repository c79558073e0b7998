package subject;

import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;

/** Thread-locals, one for each test, with a value that was set when the class was initialised. */
final class Locals {
	static final class Session {
		String user;
		int calls;

		Session(String user) { this.user = user; }
	}

	/** A class of its own, with a field of its own. */
	static final class Named extends ThreadLocal<String> {
		int asked;

		@Override protected String initialValue() { return "initial"; }

		@Override public void set(String value) { throw new IllegalStateException("it is not called"); }
	}

	static final class Holder {
		final ThreadLocal<String> inner = with("before");
	}

	static final class Later extends InheritableThreadLocal<String> {
		@Override protected String childValue(String value) { return value + " of a child"; }
	}

	static <T> ThreadLocal<T> with(T value) {
		ThreadLocal<T> local = new ThreadLocal<>();
		local.set(value);
		return local;
	}

	static <T, L extends ThreadLocal<T>> L filled(L local, T value) {
		local.set(value);
		return local;
	}

	static final ThreadLocal<String> current = with("before");
	static final ThreadLocal<String> removed = with("before");
	static final ThreadLocal<String> unset = new ThreadLocal<>();
	static final ThreadLocal<Session> session = with(new Session("a"));
	static final ThreadLocal<Session> replaced = with(new Session("a"));
	static final ThreadLocal<Map<String, Integer>> map = with(new HashMap<>(Map.of("a", 1)));
	static final ThreadLocal<Map<Object, Object>> registry = with(new WeakHashMap<>());
	static final ThreadLocal<StringBuilder> supplied = ThreadLocal.withInitial(StringBuilder::new);
	static final Object key = "a key";
	static final ThreadLocal<ThreadLocal<String>> nested = with(with("before"));
	static final InheritableThreadLocal<String> inherited = filled(new InheritableThreadLocal<String>(), "before");
	static final Later later = filled(new Later(), "before");
	static final Named named = new Named();
	static final Named counted = new Named();
	static final Holder holder = new Holder();
	static ThreadLocal<String> other = with("before");
	static final ThreadLocal<String> moved = with("before");
	static final ThreadLocal<String> same = with("before");
	static final ThreadLocal<String> back = with("before");
	static final ThreadLocal<String> brief = new ThreadLocal<>();
	static final ThreadLocal<Session> equal = with(new Session("a"));
	static final ThreadLocal<String> elsewhere = with("before");
	static final ThreadLocal<String> onlyElsewhere = new ThreadLocal<>();
	static final InheritableThreadLocal<String> child = filled(new InheritableThreadLocal<String>(), "before");
	static ThreadLocal<String> copy = with("before");
	static final ThreadLocal<String> limited = with("before");

	private Locals() {}
}
