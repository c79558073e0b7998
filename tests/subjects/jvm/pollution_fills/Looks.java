package subject;

import java.util.HashMap;
import java.util.Map;

/** Tests add to these and look into them: what they find depends on who ran before. */
final class Looks {
	static final String[] slots = new String[8];
	static final Map<Integer, String> byKey = new HashMap<>();
	static String name;
	static int[] counts = new int[8];

	static void slot(int i, String value) {
		slots[i] = value;
	}

	static boolean hasSlot(int i) {
		return slots[i] != null;
	}

	static void byKey(int i, String value) {
		byKey.put(i, value);
	}

	static String find(int i) {
		String found = byKey.get(i);
		return found == null ? "none" : found;
	}

	static void rename(String to) {
		name = to;
	}

	static String name() {
		return name == null ? "nobody" : name;
	}

	/** Numbers that are read and written in one method count. */
	static int count(int i) {
		return counts == null ? 0 : counts[i]++;
	}

	private Looks() {
	}
}
