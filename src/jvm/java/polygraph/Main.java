package polygraph;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Lists and runs tests as the controller asks for it. */
public final class Main {
	/** In the order in which they are asked whether a class is theirs. */
	private static final String[] NAMES = { "JUnit4", "JUnit5", "TestNg" };
	private static final Map<String, Adapter> adapters = new LinkedHashMap<>();

	private Main() {
	}

	static void say(String text) {
		new Message().text(text).send(Message.SAYS);
	}

	public static void main(String[] words) {
		for (String name : NAMES)
			load(name);
		new Message().number(Message.VERSION).text(System.getProperty("java.version"))
			.text(System.getProperty("java.vm.name")).texts(adapters.keySet()).send(Message.HELLO);
		for (;;) {
			ByteBuffer message = Message.receive();
			switch (message.getShort()) {
			case Message.LIST:
				list(message);
				break;
			case Message.RUN:
				run(message);
				break;
			default:
				/* Its hooks run, as at the end of any VM. */
				System.exit(0);
			}
		}
	}

	private static void load(String name) {
		try {
			adapters.put(name, (Adapter) Class.forName("polygraph." + name).getDeclaredConstructor().newInstance());
		} catch (ReflectiveOperationException | LinkageError missing) {
			/* The framework is not on the class path. */
		}
	}

	private static boolean exists(String name) {
		try {
			Class.forName(name, false, ClassLoader.getSystemClassLoader());
			return true;
		} catch (ClassNotFoundException | LinkageError missing) {
			return false;
		}
	}

	private static void folders(ByteBuffer message) {
		List<File> folders = new ArrayList<>();
		for (int n = message.getInt(); n > 0; n--)
			folders.add(new File(Message.text(message)));
		Outcomes.folders = folders;
	}

	/** @param above folders, as they really are: a link may lead to one of them */
	private static void collect(File folder, String prefix, Set<String> names, Set<File> above) throws IOException {
		File real = folder.getCanonicalFile();
		if (!above.add(real))
			return;
		File[] files = folder.listFiles();
		for (File file : files == null ? new File[0] : files) {
			String name = file.getName();
			if (file.isDirectory())
				collect(file, prefix + name + ".", names, above);
			else if (name.endsWith(".class") && name.indexOf('$') < 0 && name.indexOf('-') < 0)
				names.add(prefix + name.substring(0, name.length() - ".class".length()));
		}
		above.remove(real);
	}

	private static void list(ByteBuffer message) {
		Set<String> names = new TreeSet<>();
		Tests tests = new Tests();
		folders(message);
		String only = Message.text(message);
		if (!adapters.containsKey("JUnit5") && exists("org.junit.jupiter.api.Test"))
			say("JUnit 5 tests are not seen: junit-platform-launcher is not on the class path"
				+ " (or is older than 1.8)");
		for (File folder : Outcomes.folders)
			try {
				collect(folder, "", names, new HashSet<>());
			} catch (IOException error) {
				say(folder + " cannot be read: " + error);
			}
		for (String name : names) {
			Class<?> type;
			try {
				type = Class.forName(name, false, ClassLoader.getSystemClassLoader());
			} catch (Throwable error) {
				say(name + " cannot be loaded: " + Outcomes.describe(error));
				continue;
			}
			for (Map.Entry<String, Adapter> adapter : adapters.entrySet()) {
				if (!only.isEmpty() && !only.equalsIgnoreCase(adapter.getKey()))
					continue;
				try {
					if (adapter.getValue().accepts(type))
						adapter.getValue().list(type, tests);
				} catch (Throwable error) {
					say(name + " cannot be listed: " + Outcomes.describe(error));
				}
			}
		}
		for (Adapter adapter : adapters.values())
			adapter.listed();
		tests.send();
	}

	private static void run(ByteBuffer message) {
		List<Adapter.Entry> segment = new ArrayList<>();
		Set<String> keys = new HashSet<>();
		folders(message);
		for (int n = message.getInt(); n > 0; n--) {
			Adapter.Entry entry = new Adapter.Entry(message.getInt(), Message.text(message));
			if (!segment.isEmpty() && (!segment.get(0).adapter.equals(entry.adapter)
				|| !segment.get(0).type.equals(entry.type) || keys.contains(entry.key))) {
				run(segment);
				segment.clear();
				keys.clear();
			}
			segment.add(entry);
			keys.add(entry.key);
		}
		if (!segment.isEmpty())
			run(segment);
		new Message().send(Message.DONE);
	}

	private static void run(List<Adapter.Entry> segment) {
		Outcomes outcomes = new Outcomes(segment);
		try {
			Adapter adapter = adapters.get(segment.get(0).adapter);
			Class<?> type = Class.forName(segment.get(0).type, false, ClassLoader.getSystemClassLoader());
			adapter.run(type, segment, outcomes);
		} catch (Throwable error) {
			outcomes.failed(error);
		}
		outcomes.close();
	}
}
