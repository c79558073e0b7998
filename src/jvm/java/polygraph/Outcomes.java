package polygraph;

import java.io.File;
import java.io.PrintStream;
import java.lang.reflect.Executable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Tells the controller how the tests of one class went. */
final class Outcomes {
	private static final PrintStream out = System.out, err = System.err;
	/** Where test classes lie, for the line of a failure. */
	static List<File> folders = new ArrayList<>();

	private final Map<String, Adapter.Entry> waiting = new HashMap<>();
	private final List<Adapter.Entry> order;
	private Adapter.Entry running;
	private Object group, last; // of the test that runs, and of the one before
	private Throwable error;
	private String skipped;
	private Throwable common;
	private String commonSkip;

	Outcomes(List<Adapter.Entry> entries) {
		order = entries;
		for (Adapter.Entry entry : entries)
			waiting.put(entry.key, entry);
	}

	boolean wants(String key) {
		return waiting.containsKey(key);
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
		Adapter.Entry entry = waiting.remove(key);
		if (entry == null)
			return false;
		if (running != null)
			ended();
		running = entry;
		error = null;
		skipped = null;
		group = of;
		Agent.starts(entry.number, of != null && of.equals(last));
		return true;
	}

	/** The test that runs is this method; null: there is none that is known. */
	void runs(Executable method) {
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

	void skipped(String why) {
		if (running == null)
			commonSkip = commonSkip == null ? text(why) : commonSkip;
		else
			skipped = text(why);
	}

	void ended() {
		if (running == null)
			return;
		Adapter.Entry entry = running;
		running = null;
		last = group;
		Message message = new Message().number(entry.number);
		int outcome = error != null ? Message.FAILED : skipped != null ? Message.SKIPPED : Message.PASSED;
		StackTraceElement place = error == null ? null : place(error);
		message.number(outcome).number(place == null ? 0 : Math.max(place.getLineNumber(), 0));
		message.text(error != null ? describe(error) : text(skipped));
		message.text(place == null || place.getFileName() == null ? "" : path(place));
		if (error != null)
			print(error);
		flush();
		message.end(entry.number);
	}

	/** The class is done: what was not told to have run has the class's own error. */
	void close() {
		ended();
		boolean all = waiting.size() == order.size();
		Throwable why = common;
		String skip = commonSkip;
		for (Adapter.Entry entry : order) {
			if (!waiting.containsKey(entry.key))
				continue;
			started(entry.key);
			if (why != null)
				failed(why);
			else if (skip != null)
				skipped(skip);
			else
				failed(new IllegalStateException("the framework did not run it"));
			ended();
		}
		if (why != null && !all)
			Main.say(order.get(0).type + ": " + describe(why) + ", outside of its tests");
	}

	private static String text(String text) {
		return text == null ? "" : text;
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
		try {
			System.out.flush();
			System.err.flush();
		} catch (Throwable ignored) {
			/* It was replaced. */
		}
		out.flush();
		err.flush();
	}

	private static String path(StackTraceElement frame) {
		int dot = frame.getClassName().lastIndexOf('.');
		String folder = dot < 0 ? "" : frame.getClassName().substring(0, dot).replace('.', '/') + "/";
		return folder + frame.getFileName();
	}

	/** The innermost line in a test class, else the innermost outside of JDK and frameworks. */
	private static StackTraceElement place(Throwable error) {
		StackTraceElement[] frames;
		try {
			frames = error.getStackTrace();
		} catch (Throwable second) {
			return null;
		}
		for (StackTraceElement frame : frames)
			if (isTest(frame.getClassName()))
				return frame;
		for (StackTraceElement frame : frames)
			if (!frame.getClassName().matches("(java|javax|jdk|sun|org\\.junit|junit|org\\.hamcrest|org\\.testng|"
				+ "org\\.opentest4j|polygraph)\\..*"))
				return frame;
		return null;
	}

	private static boolean isTest(String name) {
		String path = name.replace('.', '/') + ".class";
		for (File folder : folders)
			if (new File(folder, path).isFile())
				return true;
		return false;
	}
}
