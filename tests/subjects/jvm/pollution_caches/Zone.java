package subject;

import java.util.HashMap;
import java.util.Map;

/** What is made when it is first needed, and what only looks like it. */
final class Zone {
	static final Map<String, Zone> byName = new HashMap<>();
	static final Map<Zone, String> labels = new HashMap<>();
	static Zone utc;

	final String name;
	final Object[] seen = new Object[8];

	Zone(String name) { this.name = name; }

	/** Made once, whichever test asks first. */
	static Zone utc() {
		if (utc == null)
			utc = new Zone(Names.first());
		return utc;
	}

	/** One entry a name: the same, whichever test asks for it. */
	static Zone of(String name) {
		return byName.computeIfAbsent(name, Zone::new);
	}

	/** A key that changes inside stays the same key. */
	static String label(Zone zone) {
		return labels.computeIfAbsent(zone, each -> each.name + "!");
	}

	/** Remembers in the zone itself. */
	Object look(int slot) {
		if (seen[slot] == null)
			seen[slot] = "slot " + slot;
		return seen[slot];
	}

	@Override public boolean equals(Object other) {
		return other instanceof Zone && ((Zone)other).name.equals(name);
	}

	@Override public int hashCode() { return name.hashCode(); }

	/** A class that another one loads while it is initialised. */
	static final class Names {
		static final String[] all = { "UTC", new Helper().toString() };
		static String first() { return all[0]; }
	}

	static final class Helper {
		static int made;
		Helper() { made = 1; }
	}
}
