package polygraph;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The tests that were found, in their natural order. */
final class Tests {
	/** What is known of one; its name is unique among those of its key. */
	static final class Test {
		String id, name, type, file;
		int line;
		boolean disabled;
		/** Tests of one group stand together; the outermost first. */
		List<String> groups = Collections.emptyList();
		/** Ids of tests that come first; those that it makes no sense without. */
		List<String> after = Collections.emptyList(), needs = Collections.emptyList();

		/** Framework and class. */
		String unit() {
			return id.substring(0, id.indexOf('\t', id.indexOf('\t') + 1));
		}
	}

	private final Map<String, Test> byId = new LinkedHashMap<>();

	static String id(String adapter, Class<?> type, String key) {
		return adapter + "\t" + type.getName() + "\t" + key;
	}

	/** null: it is there already. */
	Test add(String id, String name, Class<?> type, Method method) {
		Test test = new Test();
		test.id = id;
		test.name = name;
		if (type != null) {
			test.type = type.getName();
			test.file = file(type);
			test.groups = Collections.singletonList(type.getName());
		}
		if (method != null) {
			test.file = file(method.getDeclaringClass());
			test.line = Agent.line(method);
		}
		return byId.putIfAbsent(id, test) == null ? test : null;
	}

	/** As it would lie below a folder of sources. */
	static String file(Class<?> type) {
		String source = Agent.source(type);
		if (source == null)
			return null;
		int dot = type.getName().lastIndexOf('.');
		return dot < 0 ? source : type.getName().substring(0, dot).replace('.', '/') + "/" + source;
	}

	/** Classes after those that they need, otherwise as they came. */
	private Iterable<Test> sorted() {
		Map<String, List<Test>> units = new LinkedHashMap<>();
		for (Test test : byId.values())
			units.computeIfAbsent(test.unit(), any -> new ArrayList<>()).add(test);
		Map<String, List<Test>> done = new LinkedHashMap<>();
		for (String unit : units.keySet())
			place(unit, units, new HashSet<>(), done);
		List<Test> all = new ArrayList<>();
		done.values().forEach(all::addAll);
		return all;
	}

	private void place(String unit, Map<String, List<Test>> units, Set<String> entered, Map<String, List<Test>> done) {
		if (!units.containsKey(unit) || done.containsKey(unit) || !entered.add(unit))
			return;
		for (Test test : units.get(unit))
			for (String id : test.needs)
				if (byId.containsKey(id))
					place(byId.get(id).unit(), units, entered, done);
		done.put(unit, units.get(unit));
	}

	void send() {
		for (Test test : sorted())
			new Message().text(test.id).text(test.name).text(test.file).number(test.line)
				.number(test.disabled ? 1 : 0).texts(test.groups).texts(test.after).texts(test.needs)
				.send(Message.TEST);
		new Message().send(Message.LISTED);
	}
}
