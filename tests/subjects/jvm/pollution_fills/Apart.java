package subject;

/** Slots that are filled when they are first needed, and what else tests need. */
final class Apart {
	static final String[] slots = new String[8];
	static final String[] entries = new String[8];
	static boolean ready;

	static String slot(int i) {
		String found = slots[i];
		if (found == null) {
			found = "slot " + i;
			slots[i] = found;
		}
		return found;
	}

	/** Was the entry there already? Now it is. */
	static boolean had(int i) {
		String found = entries[i];
		if (found == null)
			entries[i] = "entry " + i;
		return found != null;
	}
}
