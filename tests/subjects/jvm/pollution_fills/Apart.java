package subject;

import java.util.HashMap;
import java.util.Map;

/** Slots that are filled when they are first needed, and what else tests need. */
final class Apart {
	static final Map<String, String> slots = new HashMap<>();
	static final Map<String, String> entries = new HashMap<>();
	static boolean ready;

	static String slot(String key, String who) {
		String found = slots.get(key);
		if (found == null) {
			found = "made by " + who;
			slots.put(key, found);
		}
		return found;
	}

	/** Was the entry there already? Now it is. */
	static boolean had(String key, String who) {
		String found = entries.get(key);
		if (found == null)
			entries.put(key, "made by " + who);
		return found != null;
	}
}
