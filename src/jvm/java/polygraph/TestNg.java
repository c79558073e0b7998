package polygraph;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.testng.IAnnotationTransformer2;
import org.testng.IConfigurable;
import org.testng.IConfigurationListener;
import org.testng.IConfigureCallBack;
import org.testng.IInvokedMethod;
import org.testng.IInvokedMethodListener;
import org.testng.IMethodInstance;
import org.testng.IMethodInterceptor;
import org.testng.ITestContext;
import org.testng.ITestListener;
import org.testng.ITestNGListener;
import org.testng.ITestNGMethod;
import org.testng.ITestResult;
import org.testng.SkipException;
import org.testng.TestNG;
import org.testng.annotations.Factory;
import org.testng.annotations.IConfigurationAnnotation;
import org.testng.annotations.IDataProviderAnnotation;
import org.testng.annotations.IFactoryAnnotation;
import org.testng.annotations.ITestAnnotation;
import org.testng.xml.XmlClass;
import org.testng.xml.XmlInclude;
import org.testng.xml.XmlSuite;
import org.testng.xml.XmlTest;

/**
 * TestNG. One run of it is for one class, and a method is one test, however often it is invoked (data providers, counts,
 * instances of a factory). A method that depends on another one comes after all that do not.
 */
final class TestNg implements Adapter {
	private static final String NAME = "TestNg";
	/** Methods and groups ("@group") of which a test did not pass in this VM. */
	private final Set<String> bad = new HashSet<>();
	/** While listing: who is in a group, and which groups a test depends on; by id. */
	private final Map<String, List<String>> members = new HashMap<>();
	private final Map<Tests.Test, String[]> depends = new LinkedHashMap<>();

	TestNg() {
		TestNG.class.getName();
	}

	@Override
	public boolean accepts(Class<?> type) {
		if (Modifier.isAbstract(type.getModifiers()))
			return false;
		for (Class<?> at = type; at != null && at != Object.class; at = at.getSuperclass()) {
			if (at.isAnnotationPresent(org.testng.annotations.Test.class))
				return true;
			for (Method method : at.getDeclaredMethods())
				if (method.isAnnotationPresent(org.testng.annotations.Test.class)
					|| method.isAnnotationPresent(Factory.class))
					return true;
		}
		return false;
	}

	private static void start(Class<?> type, List<String> methods, ITestNGListener... listeners) {
		XmlSuite suite = new XmlSuite();
		suite.setName("polygraph");
		XmlTest test = new XmlTest(suite);
		test.setName(type.getName());
		XmlClass chosen = new XmlClass(type);
		List<XmlInclude> includes = new ArrayList<>();
		for (String method : methods)
			includes.add(new XmlInclude(method));
		if (!includes.isEmpty())
			chosen.setIncludedMethods(includes);
		test.setXmlClasses(Collections.singletonList(chosen));
		TestNG framework = new TestNG(false);
		framework.setVerbose(0);
		framework.setXmlSuites(Collections.singletonList(suite));
		for (ITestNGListener listener : listeners)
			framework.addListener(listener);
		framework.run();
	}

	private static String name(ITestNGMethod method) {
		return method.getRealClass().getName() + "." + method.getMethodName();
	}

	/* ---- listing ---- */

	@Override
	public void list(Class<?> type, Tests tests) {
		List<ITestNGMethod> found = new ArrayList<>();
		start(type, Collections.emptyList(), new Lookout(found));
		Map<String, ITestNGMethod> byName = new LinkedHashMap<>();
		for (ITestNGMethod method : found)
			byName.putIfAbsent(method.getMethodName(), method);
		List<ITestNGMethod> sorted = new ArrayList<>(byName.values());
		Map<String, Integer> levels = levels(sorted);
		sorted.sort(Comparator.comparingInt((ITestNGMethod each) -> levels.get(each.getMethodName()))
			.thenComparingInt(ITestNGMethod::getPriority).thenComparing(ITestNGMethod::getMethodName));
		for (ITestNGMethod method : sorted)
			add(type, method, tests);
	}

	private void add(Class<?> type, ITestNGMethod method, Tests tests) {
		String id = Tests.id(NAME, type, method.getMethodName());
		Tests.Test test = tests.add(id, type.getName() + "." + method.getMethodName(), type, java(method));
		if (test == null)
			return;
		for (String group : method.getGroups())
			members.computeIfAbsent(group, any -> new ArrayList<>()).add(id);
		List<String> needs = new ArrayList<>();
		for (String other : method.getMethodsDependedUpon()) {
			int dot = other.lastIndexOf('.');
			String owner = dot < 0 ? type.getName() : other.substring(0, dot);
			needs.add(NAME + "\t" + (ofClass(type, owner) ? type.getName() : owner) + "\t" + other.substring(dot + 1));
		}
		test.needs = needs;
		depends.put(test, method.getGroupsDependedUpon());
	}

	/** It inherits the methods of that one, or is it. */
	private static boolean ofClass(Class<?> type, String owner) {
		for (Class<?> at = type; at != null; at = at.getSuperclass())
			if (at.getName().equals(owner))
				return true;
		return false;
	}

	@SuppressWarnings("deprecation")
	private static Method java(ITestNGMethod method) {
		return method.getConstructorOrMethod().getMethod();
	}

	@Override
	public void listed() {
		for (Map.Entry<Tests.Test, String[]> each : depends.entrySet())
			for (String pattern : each.getValue())
				for (Map.Entry<String, List<String>> group : members.entrySet())
					if (group.getKey().matches(pattern))
						each.getKey().needs.addAll(group.getValue());
		members.clear();
		depends.clear();
	}

	/** How many methods have to come first, one after the other, of these. */
	private static Map<String, Integer> levels(List<ITestNGMethod> methods) {
		Map<String, Integer> levels = new HashMap<>();
		for (ITestNGMethod method : methods)
			levels.put(method.getMethodName(), 0);
		boolean changed = true;
		for (int i = 0; changed && i <= methods.size(); i++) {
			changed = false;
			for (ITestNGMethod method : methods)
				for (ITestNGMethod other : methods)
					if (needs(method, other) && levels.get(method.getMethodName()) <= levels.get(other.getMethodName())) {
						levels.put(method.getMethodName(), levels.get(other.getMethodName()) + 1);
						changed = true;
					}
		}
		return levels;
	}

	private static boolean needs(ITestNGMethod method, ITestNGMethod other) {
		if (method == other)
			return false;
		for (String name : method.getMethodsDependedUpon())
			if (name.substring(name.lastIndexOf('.') + 1).equals(other.getMethodName()))
				return true;
		for (String pattern : method.getGroupsDependedUpon())
			for (String group : other.getGroups())
				if (group.matches(pattern))
					return true;
		return false;
	}

	/**
	 * Collects the methods; nothing of the class runs but its constructors and factories, and fixtures of the suite if
	 * the class itself says how they are called (IConfigurable).
	 */
	private static final class Lookout extends Listener implements IMethodInterceptor, IConfigurable {
		private final List<ITestNGMethod> found;

		Lookout(List<ITestNGMethod> found) {
			this.found = found;
		}

		@Override
		public void onStart(ITestContext context) {
			found.addAll(Arrays.asList(context.getAllTestMethods()));
		}

		@Override
		public List<IMethodInstance> intercept(List<IMethodInstance> all, ITestContext context) {
			return Collections.emptyList();
		}

		@Override
		public void run(IConfigureCallBack call, ITestResult result) {
			/* Only listed. */
		}
	}

	/* ---- running ---- */

	@Override
	public void run(Class<?> type, List<Entry> entries, Outcomes outcomes) {
		for (int from = 0; from < entries.size();) {
			Session session = new Session(entries.subList(from, entries.size()), outcomes);
			start(type, session.names(), session);
			outcomes.ended();
			if (session.n == 0)
				break;
			from += session.n;
		}
	}

	/** Nothing happens where nobody says otherwise. */
	private static class Listener implements ITestListener, IConfigurationListener, IInvokedMethodListener,
		IAnnotationTransformer2 {
		/** Tests run without those that they need, if they are asked for alone; and in one thread. */
		@Override
		@SuppressWarnings("rawtypes")
		public void transform(ITestAnnotation annotation, Class type, Constructor constructor, Method method) {
			annotation.setIgnoreMissingDependencies(true);
			annotation.setThreadPoolSize(0);
			annotation.setInvocationTimeOut(0);
		}

		@Override
		public void transform(IDataProviderAnnotation annotation, Method method) {
			annotation.setParallel(false);
		}

		@Override
		@SuppressWarnings("rawtypes")
		public void transform(IConfigurationAnnotation annotation, Class type, Constructor constructor, Method method) {
		}

		@Override
		public void transform(IFactoryAnnotation annotation, Method method) {
		}

		@Override
		public void onStart(ITestContext context) {
		}

		@Override
		public void onFinish(ITestContext context) {
		}

		@Override
		public void onTestStart(ITestResult result) {
		}

		@Override
		public void onTestSuccess(ITestResult result) {
		}

		@Override
		public void onTestFailure(ITestResult result) {
		}

		@Override
		public void onTestSkipped(ITestResult result) {
		}

		@Override
		public void onTestFailedButWithinSuccessPercentage(ITestResult result) {
		}

		@Override
		public void onConfigurationSuccess(ITestResult result) {
		}

		@Override
		public void onConfigurationFailure(ITestResult result) {
		}

		@Override
		public void onConfigurationSkip(ITestResult result) {
		}

		@Override
		public void beforeInvocation(IInvokedMethod method, ITestResult result) {
		}

		@Override
		public void afterInvocation(IInvokedMethod method, ITestResult result) {
		}
	}

	/** One run, of as many of the entries as it can have in their order. */
	private final class Session extends Listener implements IMethodInterceptor {
		private final List<Entry> entries;
		private final Outcomes outcomes;
		private final Map<String, Integer> places = new HashMap<>();
		private Map<String, ITestNGMethod> methods = new HashMap<>();
		/** How many of the entries are in this run. */
		int n;
		private int next;
		private String running;
		private boolean invoked;
		/** Of the first configuration method that failed: TestNG skips what follows. */
		private Throwable broken;
		/** The test that runs was skipped; it may be tried again (IRetryAnalyzer). */
		private ITestNGMethod skipped;

		Session(List<Entry> entries, Outcomes outcomes) {
			this.entries = entries;
			this.outcomes = outcomes;
			for (Entry entry : entries)
				places.put(entry.key, places.size());
		}

		List<String> names() {
			return new ArrayList<>(places.keySet());
		}

		/** TestNG would run them by their priorities, whatever is asked for. */
		@Override
		@SuppressWarnings("rawtypes")
		public void transform(ITestAnnotation annotation, Class type, Constructor constructor, Method method) {
			super.transform(annotation, type, constructor, method);
			annotation.setPriority(0);
		}

		@Override
		public void onStart(ITestContext context) {
			List<ITestNGMethod> all = new ArrayList<>();
			for (ITestNGMethod method : context.getAllTestMethods()) {
				methods.putIfAbsent(method.getMethodName(), method);
				all.add(method);
			}
			Map<String, Integer> levels = levels(all);
			int level = 0;
			for (Entry entry : entries) {
				int own = levels.getOrDefault(entry.key, 0);
				if (own < level)
					break;
				level = own;
				n++;
			}
		}

		private boolean isIn(ITestNGMethod method) {
			Integer place = places.get(method.getMethodName());
			return place != null && place < n && missing(method) == null;
		}

		/** What it depends on and did not pass before; null: nothing. */
		private String missing(ITestNGMethod method) {
			for (String name : method.getMethodsDependedUpon())
				if (bad.contains(name))
					return name;
			for (String pattern : method.getGroupsDependedUpon())
				for (String each : bad)
					if (each.startsWith("@") && each.substring(1).matches(pattern))
						return each.substring(1);
			return null;
		}

		@Override
		public List<IMethodInstance> intercept(List<IMethodInstance> all, ITestContext context) {
			List<IMethodInstance> chosen = new ArrayList<>();
			for (IMethodInstance each : all)
				if (isIn(each.getMethod()))
					chosen.add(each);
			chosen.sort(Comparator.comparingInt(each -> places.get(each.getMethod().getMethodName())));
			return chosen;
		}

		private void skip(Entry entry, String why) {
			outcomes.started(entry.key);
			outcomes.skipped(why);
			outcomes.ended();
		}

		/** Those before @place that are not run: a data provider may be empty. */
		private void skipUpTo(int place) {
			for (; next < place; next++) {
				ITestNGMethod method = methods.get(entries.get(next).key);
				String why = method == null ? null : missing(method);
				if (method == null || !outcomes.wants(entries.get(next).key))
					continue;
				skip(entries.get(next), why != null ? "depends on " + why + ", which did not pass" : "was not invoked");
			}
		}

		private void begin(String key) {
			if (key.equals(running))
				return;
			Integer place = places.get(key);
			if (place == null)
				return;
			end();
			skipUpTo(place);
			running = key;
			invoked = false;
			next = place + 1;
			outcomes.started(key);
			if (Agent.wantsPoints() && methods.containsKey(key))
				outcomes.runs(java(methods.get(key)));
		}

		/** The test that runs will not be invoked again. */
		private void end() {
			if (running == null)
				return;
			if (skipped != null)
				note(skipped);
			else if (!invoked)
				outcomes.skipped("was not invoked");
			skipped = null;
			running = null;
			outcomes.ended();
		}

		/** Is it clear that the test that runs will not be invoked again? */
		private boolean isDone() {
			ITestNGMethod method = running == null ? null : methods.get(running);
			if (method == null)
				return true;
			Method java = java(method);
			org.testng.annotations.Test test = java.getAnnotation(org.testng.annotations.Test.class);
			return invoked && method.getInvocationCount() == 1 && method.getRetryAnalyzer() == null
				&& (test == null || test.dataProvider().isEmpty());
		}

		@Override
		public void beforeInvocation(IInvokedMethod method, ITestResult result) {
			if (method.isTestMethod()) {
				begin(method.getTestMethod().getMethodName());
				return;
			}
			if (!method.getTestMethod().isBeforeMethodConfiguration() || !isDone())
				return;
			int place = next;
			while (place < n && methods.containsKey(entries.get(place).key)
				&& missing(methods.get(entries.get(place).key)) != null)
				place++;
			if (place < n)
				begin(entries.get(place).key);
		}

		@Override
		public void afterInvocation(IInvokedMethod method, ITestResult result) {
			invoked |= method.isTestMethod();
		}

		private void note(ITestNGMethod method) {
			bad.add(name(method));
			for (String group : method.getGroups())
				bad.add("@" + group);
		}

		@Override
		public void onTestFailure(ITestResult result) {
			begin(result.getMethod().getMethodName());
			note(result.getMethod());
			Throwable why = result.getThrowable();
			outcomes.failed(why == null ? new AssertionError("failed") : why);
		}

		@Override
		public void onTestSuccess(ITestResult result) {
			skipped = null;
			outcomes.notSkipped();
		}

		@Override
		public void onTestSkipped(ITestResult result) {
			begin(result.getMethod().getMethodName());
			skipped = result.getMethod();
			Throwable why = result.getThrowable();
			/* Its text has the address of an object in it. */
			boolean depends = why != null && String.valueOf(why.getMessage()).contains("not successfully finished");
			if (broken != null && !depends && !(why instanceof SkipException))
				outcomes.failed(broken);
			else
				outcomes.skipped(why == null || depends ? "what it depends on did not pass" : why.getMessage());
		}

		@Override
		public void onConfigurationFailure(ITestResult result) {
			Throwable why = result.getThrowable();
			if (why instanceof SkipException)
				return;
			ITestNGMethod method = result.getMethod();
			broken = broken == null ? why : broken;
			boolean each = method.isBeforeMethodConfiguration() || method.isAfterMethodConfiguration();
			if (!each)
				end();
			/* Those that it keeps from running are told with it. */
			if (running != null || method.isAfterClassConfiguration() || method.isAfterTestConfiguration()
				|| method.isAfterSuiteConfiguration() || method.isAfterGroupsConfiguration())
				outcomes.failed(why);
		}

		@Override
		public void onFinish(ITestContext context) {
			end();
			if (broken == null)
				skipUpTo(n);
			else if (next < n)
				outcomes.failed(broken);
		}
	}
}
