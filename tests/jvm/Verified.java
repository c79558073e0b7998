package polygraph.boot;

/** What changed classes call (tests/jvm/verify_agent.c), in case that one of them runs. */
public final class Verified {
	private Verified() {
	}

	public static Object same(Object result, Object self, int number) {
		return result;
	}

	public static void nothing(Object self, int number) {
	}

	public static void object(Object self) throws InterruptedException {
		self.wait();
	}

	public static int number(Object self) {
		return self.hashCode();
	}

	public static boolean truth(java.util.Iterator<?> self) {
		return self.hasNext();
	}

	public static int size(java.util.List<?> self) {
		return self.size();
	}

	public static long time() {
		return System.nanoTime();
	}
}
