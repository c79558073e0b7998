package polygraph;

import java.lang.reflect.Method;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.ClassOrdererContext;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.MethodOrdererContext;

/** The order in which the tests of the next request were asked for. */
public final class JUnit5Order {
	private static final Map<String, Integer> places = new HashMap<>();

	private JUnit5Order() {
	}

	static void clear() {
		places.clear();
	}

	/** @param id "[engine:…]/[class:a.B]/[nested-class:C]/[method:m(int)]" and what it makes */
	static void add(String id) {
		String type = "";
		for (String segment : id.split("]/\\[")) {
			int colon = segment.indexOf(':');
			String kind = segment.substring(0, colon).replace("[", "");
			String value = segment.substring(colon + 1);
			if (value.endsWith("]") && id.endsWith(segment))
				value = value.substring(0, value.length() - 1);
			if (kind.equals("class"))
				type = value;
			else if (kind.equals("nested-class"))
				type += "$" + value;
			else if (kind.equals("method") || kind.startsWith("test-template") || kind.equals("test-factory"))
				note(type + "#" + value.replace("%5B", "[").replace("%3B", ";"));
			if (kind.endsWith("class"))
				note(type);
		}
	}

	private static void note(String key) {
		places.putIfAbsent(key, places.size());
	}

	private static int place(String key) {
		return places.getOrDefault(key, Integer.MAX_VALUE);
	}

	/** Sorts methods; JUnit makes one by its name. */
	public static final class Methods implements MethodOrderer {
		@Override
		public void orderMethods(MethodOrdererContext context) {
			String type = context.getTestClass().getName();
			context.getMethodDescriptors().sort(Comparator.comparingInt(each -> place(type + "#" + name(each.getMethod()))));
		}

		private static String name(Method method) {
			StringBuilder text = new StringBuilder(method.getName()).append('(');
			String comma = "";
			for (Class<?> type : method.getParameterTypes()) {
				text.append(comma).append(type.getName());
				comma = ", ";
			}
			return text.append(')').toString();
		}
	}

	/** Sorts nested classes. */
	public static final class Classes implements ClassOrderer {
		@Override
		public void orderClasses(ClassOrdererContext context) {
			context.getClassDescriptors().sort(Comparator.comparingInt(each -> place(each.getTestClass().getName())));
		}
	}
}
