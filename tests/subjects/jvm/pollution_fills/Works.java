package subject;

import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Random;

/** What tests work with, and what they keep. */
final class Works {
	static final ThreadLocal<byte[]> buffer = ThreadLocal.withInitial(() -> new byte[8]);
	static final byte[] kept = new byte[8];
	static final Random drawn = new Random(42);

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
