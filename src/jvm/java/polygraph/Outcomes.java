package polygraph;

import java.io.File;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Tells the controller how the tests of one class went. */
final class Outcomes {
	private static final PrintStream out = System.out, err = System.err;
	/** For telling that a test has filled the heap. */
	private static byte[] reserve = new byte[1 << 20];
	/** Where test classes lie, for the line of a failure. */
	static List<File> folders = new ArrayList<>();

	/** By key, in the order. */
	private final Map<String, Integer> places = new HashMap<>();
	private final List<Adapter.Entry> order;
	private int next; // place of the first that was not told yet
	private Adapter.Entry running;
	private Object group, last; // of the test that runs, and of the one before
	private long since; // of the test that runs
	private Throwable error;
	private String skipped;
	private Throwable common;
	private String commonSkip;

	Outcomes(List<Adapter.Entry> entries) {
		order = entries;
		for (Adapter.Entry entry : entries)
			places.put(entry.key, places.size());
	}

	/** It was asked for, and not told yet. */
	boolean wants(String key) {
		return places.getOrDefault(key, -1) >= next;
	}

	boolean started(String key) {
		return started(key, null);
	}

	/** From here on the user's code may run before the next test starts. */
	void leftGroup() {
		last = null;
	}

	/**
	 * Between tests of one group only the framework's own code runs; null: that is not known.
	 * False: it is not one of those that were asked for, or ran already.
	 */
	boolean started(String key, Object of) {
		if (!wants(key))
			return false;
		int place = places.get(key);
		ended();
		tellMissing(place);
		begin(place, of);
		return true;
	}

	private void begin(int place, Object of) {
		running = order.get(place);
		next = place + 1;
		error = null;
		skipped = null;
		group = of;
		Agent.starts(running.number, of != null && of.equals(last));
		since = System.nanoTime();
	}

	/** The test that runs is this method; null: there is none that is known. */
	void runs(Method method) {
		if (running != null && method != null)
			Agent.runs(method);
	}

	/** Of the test that runs; else of the class as a whole. */
	void failed(Throwable why) {
		if (running == null)
			common = common == null ? why : common;
		else
			error = error == null ? why : error;
	}

	/** @param why null: nobody says */
	void skipped(String why) {
		String text = why == null ? "" : why;
		if (running == null)
			commonSkip = commonSkip == null ? text : commonSkip;
		else
			skipped = text;
	}

	/** It was tried again, and ran. */
	void notSkipped() {
		skipped = null;
	}

	/** Whatever the test has left behind, this gets to its end: nothing of the user's is relied on. */
	void ended() {
		if (running == null)
			return;
		Adapter.Entry entry = running;
		running = null;
		last = group;
		long took = System.nanoTime() - since;
		Message message;
		try {
			message = message(entry, took);
			if (error != null)
				print(error);
		} catch (OutOfMemoryError full) {
			reserve = null;
			message = start(entry, took).number(0).text(error == null ? skipped : error.getClass().getName()).text("");
		}
		flush();
		message.end(entry.number);
	}

	private Message start(Adapter.Entry entry, long took) {
		int outcome = error != null ? Message.FAILED : skipped != null ? Message.SKIPPED : Message.PASSED;
		return new Message().number(entry.number).number(outcome).number((int)Math.min(took / 1000, Integer.MAX_VALUE));
	}

	private Message message(Adapter.Entry entry, long took) {
		StackTraceElement place = error == null ? null : place(error);
		return start(entry, took).number(place == null ? 0 : Math.max(place.getLineNumber(), 0))
			.text(error != null ? describe(error) : skipped)
			.text(place == null || place.getFileName() == null ? "" : path(place));
	}

	/** Those before this place in the order that were not told: they have the class's own error. */
	private void tellMissing(int end) {
		Throwable why = common;
		String skip = commonSkip;
		while (next < end) {
			begin(next, null);
			error = why != null || skip != null ? why : new IllegalStateException("the framework did not run it");
			skipped = skip;
			ended();
		}
	}

	/** The class is done: what was not told to have run has the class's own error. */
	void close() {
		ended();
		boolean all = next == 0;
		Throwable why = common;
		tellMissing(order.size());
		if (why != null && !all)
			Main.say(order.get(0).type + ": " + describe(why) + ", outside of its tests");
	}

	/** What the user's classes do when they are asked is not ours. */
	static String describe(Throwable error) {
		try {
			return String.valueOf(error);
		} catch (Throwable second) {
			return error.getClass().getName();
		}
	}

	/** Up to the test's own frame: what called it is the framework and we. */
	private static void print(Throwable error) {
		try {
			StackTraceElement[] frames = error.getStackTrace();
			int n = frames.length;
			for (int i = frames.length; i-- > 0 && n == frames.length;)
				if (isTest(frames[i].getClassName()))
					n = i + 1;
			error.setStackTrace(Arrays.copyOf(frames, n));
			error.printStackTrace(err);
			error.setStackTrace(frames);
		} catch (Throwable second) {
			err.println(error.getClass().getName());
		}
	}

	private static void flush() {
		for (PrintStream each : new PrintStream[] {System.out, System.err, out, err}) {
			try {
				each.flush();
			} catch (Throwable ignored) {
				/* It was replaced. */
			}
		}
	}

	private static String path(StackTraceElement frame) {
		int dot = frame.getClassName().lastIndexOf('.');
		String folder = dot < 0 ? "" : frame.getClassName().substring(0, dot).replace('.', '/') + "/";
		return folder + frame.getFileName();
	}

	/** The innermost line in a test class, else the innermost outside of JDK and frameworks. */
	private static StackTraceElement place(Throwable error) {
		try {
			StackTraceElement[] frames = error.getStackTrace();
			for (StackTraceElement frame : frames)
				if (isTest(frame.getClassName()))
					return frame;
			for (StackTraceElement frame : frames)
				if (!frame.getClassName().matches("(java|javax|jdk|sun|org\\.junit|junit|org\\.hamcrest|org\\.testng|"
					+ "org\\.opentest4j|polygraph)\\..*"))
					return frame;
		} catch (Throwable second) {
			/* Its class is the user's. */
		}
		return null;
	}

	private static boolean isTest(String name) {
		String path = name.replace('.', '/') + ".class";
		try {
			for (File folder : folders)
				if (new File(folder, path).isFile())
					return true;
		} catch (SecurityException refused) {
			/* By a manager that a test has left. */
		}
		return false;
	}
}
