import java.io.File;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Loads and links classes, without running them, so that the VM verifies them as the agent changed them.
 *
 * Arguments: each the name of a module's folder below /modules ("java.base", "*": all) or a jar; "every=N" takes only
 * each N-th class.
 */
public class Verify {
	static native long[] counts();

	private static int linked, unlinked, refused, every = 1, met;

	public static void main(String[] words) throws Exception {
		List<URL> jars = new ArrayList<>();
		List<String> names = new ArrayList<>();
		for (String word : words) {
			if (word.startsWith("every="))
				every = Integer.parseInt(word.substring(6));
			else if (word.endsWith(".jar"))
				addJar(word, jars, names);
			else
				addModules(word, names);
		}
		ClassLoader loader = new URLClassLoader(jars.toArray(new URL[0]));
		System.loadLibrary("verify");
		counts();
		for (String name : names)
			link(name, loader);
		long[] counts = counts();
		System.out.println(names.size() + " classes: " + linked + " linked, " + unlinked + " lack others, " + refused
			+ " refused; " + counts[0] + " seen, " + counts[1] + " changed, " + counts[2] + " methods, " + counts[3]
			+ " calls, " + counts[4] + " uses of fields, " + counts[5] + " unreadable");
	}

	private static void add(String path, List<String> names) {
		if (!path.endsWith(".class") || path.endsWith("-info.class") || path.startsWith("META-INF"))
			return;
		if (met++ % every == 0)
			names.add(path.substring(0, path.length() - 6).replace('/', '.'));
	}

	private static void addModules(String wanted, List<String> names) throws Exception {
		Path top = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
		try (java.util.stream.Stream<Path> all = Files.walk(top)) {
			for (Path path : (Iterable<Path>) all.sorted()::iterator) {
				if (path.getNameCount() < 3 || !wanted.equals("*") && !wanted.equals(path.getName(1).toString()))
					continue;
				add(path.subpath(2, path.getNameCount()).toString(), names);
			}
		}
	}

	private static void addJar(String file, List<URL> jars, List<String> names) throws Exception {
		jars.add(new File(file).toURI().toURL());
		try (JarFile jar = new JarFile(file)) {
			for (Enumeration<JarEntry> all = jar.entries(); all.hasMoreElements();)
				add(all.nextElement().getName(), names);
		}
	}

	private static void link(String name, ClassLoader loader) {
		try {
			Class.forName(name, false, loader).getDeclaredMethods();
			linked++;
		} catch (VerifyError | ClassFormatError error) {
			refused++;
			System.out.println(name + ": " + error);
		} catch (ClassNotFoundException | LinkageError error) {
			unlinked++;
			System.out.println(name + " is not linked: " + error);
		}
	}
}
