package polygraph;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import junit.framework.Test;
import junit.framework.TestCase;
import junit.framework.TestResult;
import junit.framework.TestSuite;
import org.junit.FixMethodOrder;
import org.junit.Ignore;
import org.junit.internal.runners.JUnit38ClassRunner;
import org.junit.internal.runners.SuiteMethod;
import org.junit.runner.Description;
import org.junit.runner.Request;
import org.junit.runner.RunWith;
import org.junit.runner.Runner;
import org.junit.runner.manipulation.Filter;
import org.junit.runner.manipulation.Sorter;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;
import org.junit.runner.notification.RunNotifier;
import org.junit.runners.BlockJUnit4ClassRunner;
import org.junit.runners.MethodSorters;

/** JUnit 4, and with it JUnit 3. */
final class JUnit4 implements Adapter {
	private static final String NAME = "JUnit4";

	JUnit4() {
		RunNotifier.class.getName();
	}

	@Override
	public boolean accepts(Class<?> type) {
		if (Modifier.isAbstract(type.getModifiers()))
			return false;
		if (type.isAnnotationPresent(RunWith.class))
			return !type.getAnnotation(RunWith.class).value().getName().endsWith(".JUnitPlatform");
		if (junit.framework.Test.class.isAssignableFrom(type))
			return true;
		for (Class<?> at = type; at != null && at != Object.class; at = at.getSuperclass())
			for (Method method : at.getDeclaredMethods())
				if (method.isAnnotationPresent(org.junit.Test.class))
					return true;
		try {
			Method suite = type.getMethod("suite");
			return Modifier.isStatic(suite.getModifiers())
				&& junit.framework.Test.class.isAssignableFrom(suite.getReturnType());
		} catch (NoSuchMethodException none) {
			return false;
		}
	}

	/**
	 * The keys of a runner's tests: the names that are shown, "…#2" for the second of that name if they can be told
	 * apart: the runner keeps the descriptions of its tests, or is made to run them in a known order (chosen()).
	 * Otherwise those of one name are one test.
	 */
	private static final class Keys {
		private final Map<Description, String> known = new IdentityHashMap<>();
		/** Of tests that will start in this order, by name. */
		private final Map<String, Deque<String>> expected = new HashMap<>();
		final Description tests;
		/** In the runner's order. */
		final List<String> all = new ArrayList<>();

		Keys(Runner runner) {
			tests = runner.getDescription();
			Map<Description, Boolean> kept = new IdentityHashMap<>();
			Map<String, Integer> met = new HashMap<>();
			List<Description> leaves = leaves(tests, new ArrayList<>());
			boolean plain = plainTests(runner).size() == leaves.size();
			for (Description leaf : leaves(runner.getDescription(), new ArrayList<>()))
				kept.put(leaf, true);
			for (Description leaf : leaves) {
				String name = Message.plain(leaf.getDisplayName());
				int n = plain || kept.containsKey(leaf) ? met.merge(name, 1, Integer::sum) : 1;
				String key = n == 1 ? name : name + "#" + n;
				if (known.putIfAbsent(leaf, key) == null)
					all.add(key);
			}
		}

		String of(Description leaf) {
			String key = known.get(leaf);
			return key != null ? key : Message.plain(leaf.getDisplayName());
		}

		void expect(List<Entry> entries) {
			Map<String, String> names = new HashMap<>();
			known.forEach((leaf, key) -> names.put(key, Message.plain(leaf.getDisplayName())));
			for (Entry entry : entries)
				if (names.containsKey(entry.key))
					expected.computeIfAbsent(names.get(entry.key), any -> new ArrayDeque<>()).add(entry.key);
		}

		/** Of a test that starts. */
		String starts(Description leaf) {
			Deque<String> next = expected.get(Message.plain(leaf.getDisplayName()));
			return next == null || next.isEmpty() ? of(leaf) : next.remove();
		}

		/** Of those that a runner runs after it was filtered and sorted. */
		List<String> left(Runner runner) {
			List<String> left = new ArrayList<>();
			for (Description leaf : leaves(runner.getDescription(), new ArrayList<>()))
				left.add(of(leaf));
			return left;
		}
	}

	private static List<Description> leaves(Description from, List<Description> into) {
		if (from.isTest())
			into.add(from);
		else
			for (Description child : from.getChildren())
				leaves(child, into);
		return into;
	}

	@Override
	public void list(Class<?> type, Tests tests) {
		Runner runner = Request.aClass(type).getRunner();
		Keys keys = new Keys(runner);
		list(type, keys.tests, keys, new ArrayList<>(), tests, new ArrayList<>());
	}

	private void list(Class<?> type, Description from, Keys keys, List<String> groups, Tests tests,
		List<String> before) {
		if (from.isTest()) {
			add(type, from, keys.of(from), groups, tests, before);
			return;
		}
		List<String> inner = new ArrayList<>(groups);
		inner.add(inner.isEmpty() ? type.getName() : inner.get(inner.size() - 1) + " " + from.getDisplayName());
		for (Description child : from.getChildren())
			list(type, child, keys, inner, tests, before);
	}

	private void add(Class<?> type, Description leaf, String key, List<String> groups, Tests tests,
		List<String> before) {
		Class<?> owner = leaf.getTestClass();
		/* What another class's suite() collects is that one's own. */
		if (leaf.getDisplayName().startsWith("warning(junit.framework.TestSuite$"))
			return;
		if (owner != null && outermost(owner) != outermost(type) && accepts(outermost(owner)))
			return;
		String method = leaf.getMethodName();
		Class<?> named = owner == null ? type : owner;
		String name = method == null ? leaf.getDisplayName() : named.getName() + "." + method;
		String again = key.substring(Message.plain(leaf.getDisplayName()).length());
		String id = Tests.id(NAME, type, key);
		Tests.Test test = tests.add(id, name + again, named, method(named, method));
		if (test == null)
			return;
		if (!groups.isEmpty())
			test.groups = groups;
		test.disabled = leaf.getAnnotation(Ignore.class) != null
			|| type.isAnnotationPresent(Ignore.class);
		FixMethodOrder fixed = type.getAnnotation(FixMethodOrder.class);
		if (fixed == null || fixed.value() != MethodSorters.NAME_ASCENDING)
			return;
		if (!before.isEmpty())
			test.after = Collections.singletonList(before.get(before.size() - 1));
		before.add(id);
	}

	private static Class<?> outermost(Class<?> type) {
		Class<?> outer = type;
		while (outer.getEnclosingClass() != null)
			outer = outer.getEnclosingClass();
		return outer;
	}

	/** "adds[0]" is made by the method "adds". */
	private static Method method(Class<?> type, String name) {
		if (name == null)
			return null;
		int bracket = name.indexOf('[');
		String plain = bracket < 0 ? name : name.substring(0, bracket);
		for (Class<?> at = type; at != null; at = at.getSuperclass())
			for (Method method : at.getDeclaredMethods())
				if (method.getName().equals(plain))
					return method;
		return null;
	}

	@Override
	public void run(Class<?> type, List<Entry> entries, Outcomes outcomes) throws Throwable {
		for (int from = 0; from < entries.size();) {
			Runner runner = Request.aClass(type).getRunner();
			Keys keys = new Keys(runner);
			int to = entries.size();
			Runner chosen = chosen(runner, keys, entries);
			if (chosen != null) {
				runner = equal(keys.all, entries) ? runner : chosen;
				keys.expect(entries);
			} else if (!equal(keys.all, entries.subList(from, to))) {
				to = together(runner.getDescription(), keys, entries, from);
				arrange(runner, keys, entries.subList(from, to));
				if (!startWith(keys.left(runner), entries.subList(from, to))) {
					to = from + ascending(keys.all, entries.subList(from, to));
					runner = Request.aClass(type).getRunner();
					keys = new Keys(runner);
					arrange(runner, keys, entries.subList(from, to));
				}
			}
			RunNotifier notifier = new RunNotifier();
			Set<String> wanted = new HashSet<>();
			for (Entry entry : entries.subList(from, to))
				wanted.add(entry.key);
			notifier.addListener(new Listener(outcomes, keys, wanted, isPlain(runner) ? runner : null));
			runner.run(notifier);
			from = to;
		}
	}

	/**
	 * Of plain JUnit 3: these tests in this order, without the suites that they are in, which JUnit can neither filter
	 * nor sort. null: it is something else.
	 */
	private static Runner chosen(Runner runner, Keys keys, List<Entry> entries) {
		Map<String, Test> byKey = new HashMap<>();
		List<Test> tests = plainTests(runner);
		for (int i = 0; tests.size() == keys.all.size() && i < tests.size(); i++)
			byKey.putIfAbsent(keys.all.get(i), tests.get(i));
		TestSuite chosen = new TestSuite(runner.getDescription().getDisplayName());
		for (Entry entry : entries) {
			if (!byKey.containsKey(entry.key))
				return null;
			chosen.addTest(byKey.get(entry.key));
		}
		return new JUnit38ClassRunner(chosen);
	}

	/** Those of a plain suite of JUnit 3, as it would run them; none: it is something else. */
	private static List<Test> plainTests(Runner runner) {
		return isPlainSuite(runner) ? leaves(test(runner), new ArrayList<>()) : Collections.emptyList();
	}

	private static List<Test> leaves(Test from, List<Test> into) {
		if (from instanceof TestSuite)
			for (Test inner : Collections.list(((TestSuite)from).tests()))
				leaves(inner, into);
		else
			into.add(from);
		return into;
	}

	/** Is it one of JUnit's own, which run no code of the user's between two tests? */
	private static boolean isPlain(Runner runner) {
		Class<?> type = runner.getClass();
		return type == BlockJUnit4ClassRunner.class || type == org.junit.runners.JUnit4.class || isPlainSuite(runner);
	}

	private static boolean isPlainSuite(Runner runner) {
		try {
			return (runner.getClass() == JUnit38ClassRunner.class || runner.getClass() == SuiteMethod.class)
				&& isPlain(test(runner), new HashSet<>());
		} catch (NoSuchMethodException other) {
			return false;
		}
	}

	/** What a runner of JUnit 3 runs. */
	private static Test test(Runner runner) {
		try {
			Method test = JUnit38ClassRunner.class.getDeclaredMethod("getTest");
			test.setAccessible(true);
			return (Test)test.invoke(runner);
		} catch (ReflectiveOperationException other) {
			return new TestSuite();
		}
	}

	/**
	 * No decorator, and no class that runs its tests in a way of its own.
	 * @param known classes that do not
	 */
	private static boolean isPlain(Test test, Set<Class<?>> known) throws NoSuchMethodException {
		if (test instanceof TestCase)
			return !known.add(test.getClass())
				|| test.getClass().getMethod("run", TestResult.class).getDeclaringClass() == TestCase.class;
		if (test.getClass() != TestSuite.class)
			return false;
		for (Test inner : Collections.list(((TestSuite)test).tests()))
			if (!isPlain(inner, known))
				return false;
		return true;
	}

	private static boolean equal(List<String> names, List<Entry> entries) {
		return names.size() == entries.size() && startWith(names, entries);
	}

	/** A class with @FixMethodOrder keeps its order, as do runners that cannot sort. */
	private static boolean startWith(List<String> names, List<Entry> entries) {
		for (int i = 0; i < entries.size(); i++)
			if (i >= names.size() || !names.get(i).equals(entries.get(i).key))
				return false;
		return true;
	}

	/** How many of them, at least one, come in the order that the class has by itself. */
	private static int ascending(List<String> natural, List<Entry> entries) {
		int n = 1;
		while (n < entries.size() && natural.indexOf(entries.get(n - 1).key) < natural.indexOf(entries.get(n).key))
			n++;
		return n;
	}

	/**
	 * How many entries can be run by one runner in this order: those of an inner
	 * runner (a set of parameters) stand together.
	 */
	private static int together(Description all, Keys keys, List<Entry> entries, int from) {
		Map<String, Description> parents = new HashMap<>();
		parents(all, keys, parents);
		Set<Description> left = new HashSet<>();
		Description last = null;
		for (int i = from; i < entries.size(); i++) {
			Description parent = parents.get(entries.get(i).key);
			if (parent != last && last != null && !left.add(last))
				return i;
			if (parent != last && left.contains(parent))
				return i;
			last = parent;
		}
		return entries.size();
	}

	private static void parents(Description of, Keys keys, Map<String, Description> into) {
		for (Description child : of.getChildren()) {
			if (child.isTest())
				into.putIfAbsent(keys.of(child), of);
			else
				parents(child, keys, into);
		}
	}

	/** It will run these alone, in this order if it can. */
	private static void arrange(Runner runner, Keys keys, List<Entry> entries) throws Throwable {
		Map<String, Integer> places = new HashMap<>();
		for (Entry entry : entries)
			places.put(entry.key, places.size());
		if (entries.size() < keys.all.size())
			new Filter() {
				@Override
				public boolean shouldRun(Description description) {
					return place(description, keys, places) != Integer.MAX_VALUE;
				}

				@Override
				public String describe() {
					return "chosen tests";
				}
			}.apply(runner);
		if (entries.size() > 1)
			new Sorter((a, b) -> Integer.compare(place(a, keys, places), place(b, keys, places))).apply(runner);
	}

	/** Of the first of its tests. */
	private static int place(Description description, Keys keys, Map<String, Integer> places) {
		if (description.isTest())
			return places.getOrDefault(keys.of(description), Integer.MAX_VALUE);
		int first = Integer.MAX_VALUE;
		for (Description child : description.getChildren())
			first = Math.min(first, place(child, keys, places));
		return first;
	}

	private static final class Listener extends RunListener {
		private final Outcomes outcomes;
		private final Keys keys;
		/** A runner that cannot be filtered runs others, too. */
		private final Set<String> wanted;
		/** The test that runs is such a one. */
		private boolean other;
		private final Object group;

		Listener(Outcomes outcomes, Keys keys, Set<String> wanted, Object group) {
			this.outcomes = outcomes;
			this.keys = keys;
			this.wanted = wanted;
			this.group = group;
		}

		private boolean starts(Description test, Object of) {
			String key = keys.starts(test);
			other = !wanted.contains(key);
			return !other && outcomes.started(key, of);
		}

		@Override
		public void testStarted(Description test) {
			if (starts(test, group) && Agent.wantsPoints())
				outcomes.runs(method(test.getTestClass(), test.getMethodName()));
		}

		/** Of a class: those of its tests that did not run; none: nobody's. */
		private boolean tellBelow(Description all, Throwable error, String skipped) {
			boolean any = false;
			for (Description leaf : leaves(all, new ArrayList<>())) {
				if (leaf == all || !starts(leaf, null))
					continue;
				any = true;
				if (error != null)
					outcomes.failed(error);
				else
					outcomes.skipped(skipped);
				outcomes.ended();
			}
			return any;
		}

		@Override
		public void testFailure(Failure failure) {
			boolean one = failure.getDescription().isTest();
			if (one ? !other : !tellBelow(failure.getDescription(), failure.getException(), null))
				outcomes.failed(failure.getException());
		}

		@Override
		public void testAssumptionFailure(Failure failure) {
			String why = failure.getMessage();
			boolean one = failure.getDescription().isTest();
			if (one ? !other : !tellBelow(failure.getDescription(), null, why))
				outcomes.skipped(why);
		}

		@Override
		public void testIgnored(Description test) {
			Ignore ignore = test.getAnnotation(Ignore.class);
			String why = ignore == null ? "" : ignore.value();
			if (!test.isTest()) {
				if (!tellBelow(test, null, why))
					outcomes.skipped(why);
				return;
			}
			if (!starts(test, null))
				return;
			outcomes.skipped(why);
			outcomes.ended();
		}

		@Override
		public void testFinished(Description test) {
			outcomes.ended();
		}
	}
}
