package polygraph;

import java.util.List;

/**
 * One test framework. It is loaded by name, and only where the framework is on
 * the class path, which its constructor finds out (NoClassDefFoundError).
 */
interface Adapter {
	/** Is there anything for this framework in the class, which is not initialised? */
	boolean accepts(Class<?> type);

	/** Tells the tests of the class. */
	void list(Class<?> type, Tests tests) throws Throwable;

	/** All classes were listed. */
	default void listed() {
	}

	/**
	 * Runs tests of one class, each once, in the order given. Those that are not
	 * told to have run get the first error that belongs to none of them.
	 */
	void run(Class<?> type, List<Entry> entries, Outcomes outcomes) throws Throwable;

	/** One test of an order. */
	final class Entry {
		final int number;
		final String adapter, type, key;

		Entry(int number, String id) {
			String[] words = id.split("\t", 3);
			this.number = number;
			adapter = words[0];
			type = words[1];
			key = words[2];
		}
	}
}
