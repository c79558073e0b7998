package polygraph;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;

/** A message to the controller while it is written: src/wire/vm.h. */
final class Message extends ByteArrayOutputStream {
	/* As in src/wire/vm.h. */
	static final int LIST = 1, RUN = 2, END = 4;
	static final int HELLO = 16, TEST = 17, LISTED = 18, DONE = 21, SAYS = 22;
	static final int VERSION = 1;
	static final int PASSED = 0, FAILED = 1, SKIPPED = 2;

	Message number(int value) {
		for (int i = 0; i < 4; i++)
			write(value >>> (8 * i));
		return this;
	}

	/** Characters of a text: more than this nobody reads. */
	private static final int LONGEST = 1 << 20;

	/** As the controller can have it: a NUL would end it there. Half a character becomes a '?', as bytes. */
	static String plain(String text) {
		return new String(text.replace("\0", "\\0").getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
	}

	Message text(String value) {
		String whole = value == null ? "" : value;
		String cut = whole.length() > LONGEST ? whole.substring(0, LONGEST) + "…" : whole;
		byte[] bytes = plain(cut).getBytes(StandardCharsets.UTF_8);
		number(bytes.length);
		write(bytes, 0, bytes.length);
		return this;
	}

	Message texts(Collection<String> values) {
		number(values.size());
		for (String value : values)
			text(value);
		return this;
	}

	void send(int kind) {
		Agent.send(kind, buf, count);
	}

	void end(int entry) {
		Agent.ends(entry, buf, count);
	}

	static ByteBuffer receive() {
		return ByteBuffer.wrap(Agent.receive()).order(ByteOrder.LITTLE_ENDIAN);
	}

	static String text(ByteBuffer from) {
		byte[] bytes = new byte[from.getInt()];
		from.get(bytes);
		return new String(bytes, StandardCharsets.UTF_8);
	}
}
