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

	Message text(String value) {
		byte[] bytes = (value == null ? "" : value).getBytes(StandardCharsets.UTF_8);
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
