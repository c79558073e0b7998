package polygraph;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.logging.Handler;
import java.util.logging.LogManager;
import java.util.logging.Logger;

/**
 * What a VM has of its own that lies in no static field to compare: threads that run on, loggers, the environment as programs see
 * it, and the thread that tests run on. The agent asks at the points of a test (src/vm/vm_heap_state.c).
 */
final class State {
	/** Threads that are about to end have this long, and this long if all they lack is a processor. */
	private static final long ENDING_NS = 50_000_000, STARVED_NS = 2_000_000_000;
	private static final String DEFAULT = "default";

	/** The one that tests run on. Points in the middle of a test may be looked at on another one. */
	private static final Thread runner = Thread.currentThread();
	private static Map<String, String> environment = new HashMap<>(System.getenv());
	private static Map<String, String> loggers;
	private static Map<String, String> own = own();
	private static Set<Long> threads = Collections.emptySet();

	private State() {
	}

	/**
	 * What differs from the last call: name, before and after of each.
	 * @param logging it is in use: asking would initialise it
	 */
	static String[] changes(boolean logging) {
		List<String> changes = new ArrayList<>();
		Map<String, String> now = System.getenv();
		if (!now.equals(environment)) {
			compare("environment", quoted(environment), quoted(now), "unset", changes);
			environment = new HashMap<>(now);
		}
		Map<String, String> thread = own();
		if (!thread.equals(own))
			compare(null, own, thread, "none", changes);
		own = thread;
		if (logging)
			compareLoggers(changes);
		compareThreads(changes);
		return changes.isEmpty() ? null : changes.toArray(new String[0]);
	}

	private static void compare(String name, Map<String, String> before, Map<String, String> after, String absent,
		List<String> changes) {
		Map<String, String> all = new TreeMap<>(before);
		all.putAll(after);
		for (String key : all.keySet())
			add(name == null ? key : name + "[" + key + "]", before.getOrDefault(key, absent),
				after.getOrDefault(key, absent), changes);
	}

	private static void add(String root, String before, String after, List<String> changes) {
		if (!before.equals(after))
			Collections.addAll(changes, root, before, after);
	}

	private static Map<String, String> quoted(Map<String, String> texts) {
		Map<String, String> quoted = new HashMap<>();
		texts.forEach((key, value) -> quoted.put(key, "\"" + value + "\""));
		return quoted;
	}

	/** The thread that tests run on. */
	private static Map<String, String> own() {
		Map<String, String> own = new HashMap<>(4);
		ClassLoader loader = runner.getContextClassLoader();
		own.put("test-thread[interrupted]", runner.isInterrupted() ? "yes" : "no");
		own.put("test-thread[context-class-loader]", loader == null ? "null" : loader.getClass().getName());
		own.put("test-thread[priority]", Integer.toString(runner.getPriority()));
		return own;
	}

	/* ---- logging ---- */

	private static String describe(Logger logger) {
		StringBuilder text = new StringBuilder(logger.getLevel() == null ? DEFAULT : "level " + logger.getLevel());
		for (Handler handler : logger.getHandlers())
			text.append(", ").append(handler.getClass().getName()).append(" at ").append(handler.getLevel());
		if (logger.getFilter() != null)
			text.append(", filter ").append(logger.getFilter().getClass().getName());
		if (!logger.getUseParentHandlers())
			text.append(", not to its parent");
		return text.toString();
	}

	/** Those that are new are as all are at first; those that are gone were collected. */
	private static void compareLoggers(List<String> changes) {
		LogManager manager = LogManager.getLogManager();
		Map<String, String> now = new TreeMap<>();
		for (String name : Collections.list(manager.getLoggerNames())) {
			Logger logger = manager.getLogger(name);
			if (logger != null)
				now.put(name.isEmpty() ? "root" : name, describe(logger));
		}
		if (loggers != null)
			now.forEach((name, text) -> add("logger[" + name + "]", loggers.getOrDefault(name, DEFAULT), text, changes));
		loggers = now;
	}

	/* ---- threads ---- */

	/** Not those of the JDK and of test frameworks. */
	private static boolean counts(Thread thread) {
		ThreadGroup group = thread.getThreadGroup();
		if (group == null || group.getParent() == null || thread == Thread.currentThread())
			return false;
		String name = thread.getName();
		if (thread.getClass().getName().startsWith("jdk.internal."))
			return false;
		return !name.startsWith("ForkJoinPool.commonPool-") && !name.startsWith("CompletableFutureDelayScheduler")
			&& !name.startsWith("junit-") && !name.startsWith("TestNG") && !name.startsWith("DestroyJavaVM")
			&& !(thread.isDaemon() && name.startsWith("HttpClient-"));
	}

	private static List<Thread> running() {
		ThreadGroup group = Thread.currentThread().getThreadGroup();
		while (group.getParent() != null)
			group = group.getParent();
		Thread[] all = new Thread[group.activeCount() + 16];
		int n = group.enumerate(all, true);
		List<Thread> running = new ArrayList<>();
		for (int i = 0; i < n; i++)
			if (counts(all[i]))
				running.add(all[i]);
		return running;
	}

	/** For how long, in ns, tasks of the kernel have run that began since the last call of changes(); -1: all of them sleep. */
	private static native long newTasksWorked();

	/** Does each wait for another one, without a limit, and was not woken yet? */
	private static boolean onlyWait(List<Thread> threads) {
		for (Thread thread : threads)
			if (thread.getState() != Thread.State.WAITING || thread.isInterrupted())
				return false;
		return newTasksWorked() < 0;
	}

	/**
	 * Those that do not end in time. What waits does not end by itself; seen twice, as a thread that was woken in the
	 * middle of a collection sleeps until that is done. Time does not count in which one ended, or was ready to run and
	 * had no processor.
	 */
	private static List<Thread> left(List<Thread> began) {
		List<Thread> left = new ArrayList<>(began);
		long start = System.nanoTime(), last = start, worked = 0, counted = 0;
		int waits = 0;
		boolean interrupted = Thread.interrupted();
		left.removeIf(thread -> !thread.isAlive());
		while (!left.isEmpty() && counted < ENDING_NS && last - start < STARVED_NS && waits < 2) {
			waits = onlyWait(left) ? waits + 1 : 0;
			try {
				left.get(0).join(1);
			} catch (InterruptedException again) {
				interrupted = true;
			}
			boolean ended = left.removeIf(thread -> !thread.isAlive());
			long now = System.nanoTime(), work = newTasksWorked();
			boolean starved = work >= 0 && work - worked < (now - last) / 2;
			if (!ended && !starved)
				counted += now - last;
			last = now;
			worked = work;
		}
		if (interrupted)
			Thread.currentThread().interrupt();
		return left;
	}

	/** The outermost frame that is not the library's: what was started. */
	private static String place(Thread thread) {
		StackTraceElement[] frames = thread.getStackTrace();
		for (int i = frames.length; i-- > 0;)
			if (frames[i].getLineNumber() > 0 && !frames[i].getClassName().matches("(java|javax|jdk|sun)\\..*"))
				return " in " + frames[i].getClassName() + "." + frames[i].getMethodName() + "(" + frames[i].getFileName()
					+ ":" + frames[i].getLineNumber() + ")";
		return "";
	}

	/** Numbers in names depend on what was started before, and hash codes on the run. */
	private static String steady(String name) {
		return name.replaceAll("\\b[0-9a-f]*[0-9][0-9a-f]*\\b|[0-9]+", "*");
	}

	private static void compareThreads(List<String> changes) {
		Set<Long> ids = new HashSet<>();
		List<Thread> began = new ArrayList<>();
		for (Thread thread : running()) {
			ids.add(thread.getId());
			if (!threads.contains(thread.getId()))
				began.add(thread);
		}
		threads = ids;
		if (began.isEmpty())
			return;
		Map<String, Thread> left = new TreeMap<>();
		for (Thread thread : left(began))
			left.put(steady(thread.getName()), thread);
		left.forEach((name, thread) -> {
			String state = thread.getState().toString().toLowerCase(Locale.ROOT).replace('_', ' ');
			if (thread.isAlive())
				add("thread[" + name + "]", "absent", state + place(thread), changes);
		});
	}
}
