package subject;

/** Made when it is first needed; then its slots are, one by one. */
final class Made {
	static Made instance;
	final String[] slots = new String[8];

	static Made get() {
		if (instance == null)
			instance = new Made();
		return instance;
	}

	String slot(int i) {
		String found = slots[i];
		if (found == null) {
			found = "slot " + i;
			slots[i] = found;
		}
		return found;
	}
}
