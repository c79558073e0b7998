package subject;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Every method here that reads one of the fields makes what it does not find there. */
final class Fills {
	static final String[] slots = new String[8];
	static final Map<Integer, String> byKey = new HashMap<>();
	static final Map<Integer, String> computed = new HashMap<>();
	static final Map<Integer, List<String>> listed = new HashMap<>();
	static String[] grown;

	static {
		slot(0);
		byKey(0);
		computed(0);
		listed(0);
		byKey.get(0);
	}

	static String slot(int i) {
		String found = slots[i];
		if (found == null) {
			found = "slot " + i;
			slots[i] = found;
		}
		return found;
	}

	static String byKey(int i) {
		synchronized (byKey) {
			String found = byKey.get(i);
			if (found == null) {
				found = "key " + i;
				byKey.put(i, found);
			}
			return found;
		}
	}

	static String computed(int i) {
		return computed.computeIfAbsent(i, key -> "computed " + key);
	}

	static String listed(int i) {
		List<String> found = listed.get(i);
		if (found == null) {
			found = new ArrayList<>();
			found.add("listed " + i);
			listed.put(i, found);
		}
		return found.get(0);
	}

	static int grown(int n) {
		if (grown == null || grown.length < n)
			grown = new String[n];
		return grown.length;
	}

	private Fills() {
	}
}
