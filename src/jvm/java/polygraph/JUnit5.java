package polygraph;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** JUnit 5: what the JUnit platform runs, except for JUnit 4, which has its own. */
final class JUnit5 implements Adapter {
	private static final String NAME = "JUnit5";
	private final Launcher launcher = LauncherFactory.create();

	@Override
	public boolean accepts(Class<?> type) {
		return !Modifier.isAbstract(type.getModifiers()) && hasTests(type);
	}

	private static boolean hasTests(Class<?> type) {
		for (Class<?> at = type; at != null && at != Object.class; at = at.getSuperclass()) {
			if (declaresTests(at))
				return true;
			for (Class<?> inner : at.getDeclaredClasses())
				if (inner != type && AnnotationSupport.isAnnotated(inner, Nested.class) && hasTests(inner))
					return true;
		}
		return interfacesHaveTests(type);
	}

	private static boolean interfacesHaveTests(Class<?> type) {
		for (Class<?> at = type; at != null; at = at.getSuperclass())
			for (Class<?> each : at.getInterfaces())
				if (declaresTests(each) || interfacesHaveTests(each))
					return true;
		return false;
	}

	private static boolean declaresTests(Class<?> type) {
		for (Method method : type.getDeclaredMethods())
			if (AnnotationSupport.isAnnotated(method, Testable.class)
				&& !method.getDeclaringClass().getName().startsWith("org.junit."))
				return true;
		return false;
	}

	private static LauncherDiscoveryRequestBuilder request() {
		/* One test at a time: whatever runs beside a test would be taken for its doing. */
		return LauncherDiscoveryRequestBuilder.request().filters(EngineFilter.excludeEngines("junit-vintage"))
			.configurationParameter("junit.jupiter.execution.parallel.enabled", "false");
	}

	/** A method that makes its tests when it is run. */
	private static boolean isTemplate(TestIdentifier node) {
		String last = node.getUniqueId().substring(node.getUniqueId().lastIndexOf('['));
		return node.isContainer() && (last.startsWith("[test-template:") || last.startsWith("[test-factory:"));
	}

	/* ---- listing ---- */

	@Override
	public void list(Class<?> type, Tests tests) {
		TestPlan plan = launcher.discover(request().selectors(DiscoverySelectors.selectClass(type)).build());
		Map<String, List<TestIdentifier>> made = new HashMap<>();
		if (hasTemplates(plan))
			made = tryOut(type);
		for (TestIdentifier root : plan.getRoots())
			list(type, plan, root, made, new ArrayList<>(), tests, new HashMap<>());
	}

	private static boolean hasTemplates(TestPlan plan) {
		for (TestIdentifier root : plan.getRoots())
			for (TestIdentifier node : plan.getDescendants(root))
				if (isTemplate(node))
					return true;
		return false;
	}

	/** Which tests its templates and factories make; they are made, but not run. */
	private Map<String, List<TestIdentifier>> tryOut(Class<?> type) {
		Map<String, List<TestIdentifier>> made = new HashMap<>();
		TestPlan plan = launcher.discover(request().selectors(DiscoverySelectors.selectClass(type))
			.configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true").build());
		JUnit5Listing.active = true;
		try {
			launcher.execute(plan, new TestExecutionListener() {
				@Override
				public void dynamicTestRegistered(TestIdentifier node) {
					if (!node.isTest())
						return;
					String id = node.getUniqueId();
					made.computeIfAbsent(templateOf(id), any -> new ArrayList<>()).add(node);
				}
			});
		} finally {
			JUnit5Listing.active = false;
		}
		return made;
	}

	/** The part of an id up to the method that made it. */
	private static String templateOf(String id) {
		int at = Math.max(id.indexOf("[test-template:"), id.indexOf("[test-factory:"));
		int end = at < 0 ? -1 : id.indexOf("]/[", at);
		return end < 0 ? id : id.substring(0, end + 1);
	}

	private void list(Class<?> type, TestPlan plan, TestIdentifier node, Map<String, List<TestIdentifier>> made,
		List<String> groups, Tests tests, Map<String, String> last) {
		List<TestIdentifier> inner = made.get(node.getUniqueId());
		List<String> own = new ArrayList<>(groups);
		if (node.isContainer() && (isTemplate(node) || source(node, ClassSource.class) != null))
			own.add(node.getUniqueId());
		if (node.isTest() || (isTemplate(node) && inner == null)) {
			add(type, node, node, groups, tests, last);
		} else if (isTemplate(node)) {
			for (TestIdentifier each : inner)
				add(type, node, each, own, tests, last);
		} else {
			for (TestIdentifier child : plan.getChildren(node))
				list(type, plan, child, made, own, tests, last);
		}
	}

	private static <T extends TestSource> T source(TestIdentifier node, Class<T> type) {
		Optional<TestSource> source = node.getSource();
		return source.isPresent() && type.isInstance(source.get()) ? type.cast(source.get()) : null;
	}

	/** @param method the node of the method; @param node its own, or that of a test that it makes */
	private void add(Class<?> type, TestIdentifier method, TestIdentifier node, List<String> groups, Tests tests,
		Map<String, String> last) {
		MethodSource source = source(method, MethodSource.class);
		Method java = source == null ? null : source.getJavaMethod();
		String where = source == null ? type.getName() : source.getClassName();
		/* As Surefire: "adds", "adds(int)[1]". */
		String name = node.getLegacyReportingName().replace("()", "");
		String id = Tests.id(NAME, type, node.getUniqueId());
		Tests.Test test = tests.add(id, where + "." + name, type, java);
		if (test == null)
			return;
		test.groups = groups;
		if (source == null)
			return;
		test.disabled = AnnotationSupport.isAnnotated(java, Disabled.class)
			|| AnnotationSupport.isAnnotated(source.getJavaClass(), Disabled.class);
		Optional<TestMethodOrder> declared =
			AnnotationSupport.findAnnotation(source.getJavaClass(), TestMethodOrder.class);
		if (!declared.isPresent() || declared.get().value() == MethodOrderer.Random.class)
			return;
		String before = last.put(where, id);
		if (before != null)
			test.after = Collections.singletonList(before);
	}

	/* ---- running ---- */

	@Override
	public void run(Class<?> type, List<Entry> entries, Outcomes outcomes) {
		for (int from = 0; from < entries.size();) {
			List<Entry> rest = entries.subList(from, entries.size());
			TestPlan plan = plan(rest);
			int n = fitting(plan, rest);
			if (n < rest.size())
				plan = plan(rest.subList(0, n));
			launcher.execute(plan, new Listener(outcomes, rest.subList(0, n)));
			from += n;
		}
	}

	private TestPlan plan(List<Entry> entries) {
		LauncherDiscoveryRequestBuilder request = request();
		JUnit5Order.clear();
		for (Entry entry : entries) {
			request.selectors(DiscoverySelectors.selectUniqueId(entry.key));
			JUnit5Order.add(entry.key);
		}
		if (entries.size() > 1)
			request.configurationParameter("junit.jupiter.testmethod.order.default", JUnit5Order.Methods.class.getName())
				.configurationParameter("junit.jupiter.testclass.order.default", JUnit5Order.Classes.class.getName());
		return launcher.discover(request.build());
	}

	/**
	 * How many of the entries the plan runs in their order, at least one. The platform
	 * sorts when it discovers; what its tests make comes in the order of its numbers.
	 */
	private static int fitting(TestPlan plan, List<Entry> entries) {
		List<String> planned = new ArrayList<>();
		for (TestIdentifier root : plan.getRoots())
			leaves(plan, root, planned);
		Set<String> done = new HashSet<>();
		int at = 0;
		for (int i = 0; i < entries.size(); i++) {
			String node = templateOf(entries.get(i).key);
			boolean same = i > 0 && node.equals(templateOf(entries.get(i - 1).key));
			if (same && !comesLater(entries.get(i - 1).key, entries.get(i).key))
				return i;
			if (same)
				continue;
			if (!done.add(node) || at >= planned.size() || !planned.get(at++).equals(node))
				return Math.max(i, 1);
		}
		return entries.size();
	}

	/** Of two tests of one template: "…#2" and "…#10". */
	private static boolean comesLater(String first, String second) {
		String[] a = first.split("#"), b = second.split("#");
		for (int i = 1; i < Math.min(a.length, b.length); i++) {
			int left = number(a[i]), right = number(b[i]);
			if (left != right)
				return left < right;
		}
		return a.length < b.length;
	}

	private static int number(String text) {
		int end = text.indexOf(']');
		try {
			return Integer.parseInt(end < 0 ? text : text.substring(0, end));
		} catch (NumberFormatException none) {
			return 0;
		}
	}

	private static void leaves(TestPlan plan, TestIdentifier node, List<String> into) {
		if (node.isTest() || isTemplate(node))
			into.add(templateOf(node.getUniqueId()));
		else
			for (TestIdentifier child : plan.getChildren(node))
				leaves(plan, child, into);
	}

	private static final class Listener implements TestExecutionListener {
		private final Outcomes outcomes;
		private final List<Entry> entries;
		private String running;

		Listener(Outcomes outcomes, List<Entry> entries) {
			this.outcomes = outcomes;
			this.entries = entries;
		}

		@Override
		public void executionStarted(TestIdentifier node) {
			String id = node.getUniqueId();
			int last = id.lastIndexOf('/');
			/* Tests that are made are made by the user's code. */
			boolean own = id.startsWith("[method:", last + 1);
			if (!outcomes.started(id, own ? id.substring(0, last) : null)) {
				outcomes.leftGroup();
				return;
			}
			running = node.getUniqueId();
			TestSource source = Agent.wantsPoints() ? node.getSource().orElse(null) : null;
			if (source instanceof MethodSource)
				outcomes.runs(((MethodSource) source).getJavaMethod());
		}

		@Override
		public void executionSkipped(TestIdentifier node, String why) {
			for (Entry entry : below(node)) {
				outcomes.started(entry.key);
				outcomes.skipped(why);
				outcomes.ended();
			}
		}

		/** Those that did not run. */
		private List<Entry> below(TestIdentifier node) {
			List<Entry> found = new ArrayList<>();
			for (Entry entry : entries)
				if ((entry.key + "/").startsWith(node.getUniqueId() + "/") && outcomes.wants(entry.key))
					found.add(entry);
			return found;
		}

		@Override
		public void executionFinished(TestIdentifier node, TestExecutionResult result) {
			Throwable error = result.getThrowable().orElse(null);
			boolean bad = result.getStatus() == TestExecutionResult.Status.FAILED;
			boolean skips = result.getStatus() == TestExecutionResult.Status.ABORTED;
			boolean own = node.getUniqueId().equals(running);
			if (running != null) {
				tell(bad, skips, error);
				if (own) {
					running = null;
					outcomes.ended();
				}
				return;
			}
			List<Entry> left = bad || skips ? below(node) : Collections.emptyList();
			for (Entry entry : left) {
				outcomes.started(entry.key);
				tell(bad, skips, error);
				outcomes.ended();
			}
			if (bad && left.isEmpty())
				Main.say(node.getLegacyReportingName() + ": " + Outcomes.describe(error) + ", outside of its tests");
		}

		private void tell(boolean bad, boolean skips, Throwable error) {
			if (bad)
				outcomes.failed(error == null ? new AssertionError("failed") : error);
			else if (skips)
				outcomes.skipped(error == null ? "" : error.getMessage());
		}
	}
}
