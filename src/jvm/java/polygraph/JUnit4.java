package polygraph;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
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
		list(type, runner.getDescription(), new ArrayList<>(), tests, new ArrayList<>());
	}

	private void list(Class<?> type, Description from, List<String> groups, Tests tests, List<String> before) {
		if (from.isTest()) {
			add(type, from, groups, tests, before);
			return;
		}
		List<String> inner = new ArrayList<>(groups);
		inner.add(inner.isEmpty() ? type.getName() : inner.get(inner.size() - 1) + " " + from.getDisplayName());
		for (Description child : from.getChildren())
			list(type, child, inner, tests, before);
	}

	private void add(Class<?> type, Description leaf, List<String> groups, Tests tests, List<String> before) {
		Class<?> owner = leaf.getTestClass();
		/* What another class's suite() collects is that one's own. */
		if (leaf.getDisplayName().startsWith("warning(junit.framework.TestSuite$"))
			return;
		if (owner != null && owner != type && owner.getName().indexOf('$') < 0 && accepts(owner))
			return;
		String method = leaf.getMethodName();
		Class<?> named = owner == null ? type : owner;
		String name = method == null ? leaf.getDisplayName() : named.getName() + "." + method;
		String id = Tests.id(NAME, type, leaf.getDisplayName());
		Tests.Test test = tests.add(id, name, named, method(named, method));
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
			List<String> natural = names(runner);
			int to = entries.size();
			if (!equal(natural, entries.subList(from, to))) {
				to = together(runner.getDescription(), entries, from);
				arrange(runner, entries.subList(from, to));
				if (!startWith(names(runner), entries.subList(from, to))) {
					to = from + ascending(natural, entries.subList(from, to));
					runner = Request.aClass(type).getRunner();
					arrange(runner, entries.subList(from, to));
				}
			}
			RunNotifier notifier = new RunNotifier();
			notifier.addListener(new Listener(outcomes, isPlain(runner) ? runner : null));
			runner.run(notifier);
			from = to;
		}
	}

	/** Is it one of JUnit's own, which run no code of the user's between two tests? */
	private static boolean isPlain(Runner runner) {
		Class<?> type = runner.getClass();
		if (type == BlockJUnit4ClassRunner.class || type == org.junit.runners.JUnit4.class)
			return true;
		if (type != JUnit38ClassRunner.class && type != SuiteMethod.class)
			return false;
		try {
			Method test = JUnit38ClassRunner.class.getDeclaredMethod("getTest");
			test.setAccessible(true);
			return isPlain((Test)test.invoke(runner), new HashSet<>());
		} catch (ReflectiveOperationException other) {
			return false;
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

	private static List<String> names(Runner runner) {
		List<String> names = new ArrayList<>();
		for (Description leaf : leaves(runner.getDescription(), new ArrayList<>()))
			names.add(leaf.getDisplayName());
		return names;
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
	private static int together(Description all, List<Entry> entries, int from) {
		Map<String, Description> parents = new HashMap<>();
		parents(all, parents);
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

	private static void parents(Description of, Map<String, Description> into) {
		for (Description child : of.getChildren()) {
			if (child.isTest())
				into.putIfAbsent(child.getDisplayName(), of);
			else
				parents(child, into);
		}
	}

	/** It will run these alone, in this order if it can. */
	private static void arrange(Runner runner, List<Entry> entries) throws Throwable {
		Map<String, Integer> places = new HashMap<>();
		for (Entry entry : entries)
			places.put(entry.key, places.size());
		if (entries.size() < leaves(runner.getDescription(), new ArrayList<>()).size())
			new Filter() {
				@Override
				public boolean shouldRun(Description description) {
					return place(description, places) != Integer.MAX_VALUE;
				}

				@Override
				public String describe() {
					return "chosen tests";
				}
			}.apply(runner);
		if (entries.size() > 1)
			new Sorter((a, b) -> Integer.compare(place(a, places), place(b, places))).apply(runner);
	}

	/** Of the first of its tests. */
	private static int place(Description description, Map<String, Integer> places) {
		if (description.isTest())
			return places.getOrDefault(description.getDisplayName(), Integer.MAX_VALUE);
		int first = Integer.MAX_VALUE;
		for (Description child : description.getChildren())
			first = Math.min(first, place(child, places));
		return first;
	}

	private static final class Listener extends RunListener {
		private final Outcomes outcomes;
		private final Object group;

		Listener(Outcomes outcomes, Object group) {
			this.outcomes = outcomes;
			this.group = group;
		}

		@Override
		public void testStarted(Description test) {
			if (outcomes.started(test.getDisplayName(), group) && Agent.wantsPoints())
				outcomes.runs(method(test.getTestClass(), test.getMethodName()));
		}

		@Override
		public void testFailure(Failure failure) {
			outcomes.failed(failure.getException());
		}

		@Override
		public void testAssumptionFailure(Failure failure) {
			outcomes.skipped(failure.getMessage());
		}

		@Override
		public void testIgnored(Description test) {
			Ignore ignore = test.getAnnotation(Ignore.class);
			String why = ignore == null ? "" : ignore.value();
			if (!test.isTest()) {
				outcomes.skipped(why);
				return;
			}
			if (!outcomes.started(test.getDisplayName()))
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
