package subject;

import java.io.OutputStream;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.WeakHashMap;

/** What tests work with, and what they keep. */
final class Works {
	static final ThreadLocal<byte[]> buffer = ThreadLocal.withInitial(() -> new byte[8]);
	static final byte[] kept = new byte[8];
	static final Random drawn = new Random(42);
	static final Map<String, String> weak = new WeakHashMap<>();
	static final Map<String, String> strong = new HashMap<>();

	/** Knows what was printed. */
	static final class Counting extends PrintStream {
		int lines;

		Counting(OutputStream to) {
			super(to, true);
		}

		@Override public void println(String text) {
			lines++;
			super.println(text);
		}
	}
}
