package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.DateFormatSymbols;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TimeZone;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.Test;

/**
 * What Java's library leaves open (wire/models_java.h): fragile tests compare with what it did a moment ago
 * outside of the test's own code or with what it always did; correct ones do not. The name says the API.
 */
public class ChoicesTest {
	private static final List<String> WORDS = Collections.unmodifiableList(
		Arrays.asList("alpha", "beta", "gamma", "delta", "epsilon", "zeta"));

	private static <M extends Map<String, Integer>> M fill(M map) {
		for (String word : WORDS)
			map.put(word, word.length());
		return map;
	}

	private static <T> List<T> list(Iterator<T> from) {
		List<T> all = new ArrayList<>();
		while (from.hasNext())
			all.add(from.next());
		return all;
	}

	private static <T> List<T> list(Enumeration<T> from) {
		return Collections.list(from);
	}

	private static List<String> sorted(Collection<String> all) {
		return new ArrayList<>(new TreeSet<>(all));
	}

	@Test
	public void fragile_hashMap_keySet() {
		assertEquals("[epsilon, zeta, alpha, delta, beta, gamma]", list(fill(new HashMap<String, Integer>()).keySet().iterator()).toString());
	}

	@Test
	public void fragile_hashMap_values() {
		assertEquals("[7, 4, 5, 5, 4, 5]", list(fill(new HashMap<String, Integer>()).values().iterator()).toString());
	}

	@Test
	public void fragile_hashMap_entrySet() {
		assertEquals("[epsilon=7, zeta=4, alpha=5, delta=5, beta=4, gamma=5]", list(fill(new HashMap<String, Integer>()).entrySet().iterator()).toString());
	}

	@Test
	public void fragile_hashMap_forEach() {
		List<String> seen = new ArrayList<>();
		fill(new HashMap<String, Integer>()).forEach((word, length) -> seen.add(word));
		assertEquals("[epsilon, zeta, alpha, delta, beta, gamma]", seen.toString());
	}

	@Test
	public void correct_hashMap() {
		HashMap<String, Integer> map = fill(new HashMap<String, Integer>());
		assertEquals(sorted(WORDS), sorted(list(map.keySet().iterator())));
		assertEquals(WORDS.size(), map.values().stream().filter(length -> length > 3).count());
		for (Map.Entry<String, Integer> entry : map.entrySet()) {
			assertEquals(entry.getKey().length(), (int) entry.getValue());
			entry.setValue(7);
		}
		for (Iterator<Integer> i = map.values().iterator(); i.hasNext();)
			assertEquals(7, (int) i.next());
		map.put("beta", 1);
		for (Iterator<Integer> i = map.values().iterator(); i.hasNext();) {
			if (i.next() == 7)
				i.remove();
		}
		assertEquals(Collections.singletonMap("beta", 1), map);
		map.keySet().removeIf(word -> word.equals("beta"));
		assertTrue(map.isEmpty());
	}

	@Test
	public void fragile_weak_keySet() {
		assertEquals("[beta, zeta, epsilon, delta, alpha, gamma]", list(fill(new WeakHashMap<String, Integer>()).keySet().iterator()).toString());
	}

	@Test
	public void fragile_weak_values() {
		assertEquals("[4, 4, 7, 5, 5, 5]", list(fill(new WeakHashMap<String, Integer>()).values().iterator()).toString());
	}

	@Test
	public void fragile_weak_entrySet() {
		assertEquals("[beta=4, zeta=4, epsilon=7, delta=5, alpha=5, gamma=5]", list(fill(new WeakHashMap<String, Integer>()).entrySet().iterator()).toString());
	}

	@Test
	public void fragile_weak_forEach() {
		List<String> seen = new ArrayList<>();
		fill(new WeakHashMap<String, Integer>()).forEach((word, length) -> seen.add(word));
		assertEquals("[gamma, delta, alpha, epsilon, zeta, beta]", seen.toString());
	}

	@Test
	public void correct_weak() {
		WeakHashMap<String, Integer> map = fill(new WeakHashMap<String, Integer>());
		assertEquals(sorted(WORDS), sorted(list(map.keySet().iterator())));
		assertEquals(WORDS.size(), map.values().stream().filter(length -> length > 3).count());
		for (Map.Entry<String, Integer> entry : map.entrySet()) {
			assertEquals(entry.getKey().length(), (int) entry.getValue());
			entry.setValue(7);
		}
		for (Iterator<Integer> i = map.values().iterator(); i.hasNext();)
			assertEquals(7, (int) i.next());
		map.put("beta", 1);
		for (Iterator<Integer> i = map.values().iterator(); i.hasNext();) {
			if (i.next() == 7)
				i.remove();
		}
		assertEquals(Collections.singletonMap("beta", 1), map);
		map.keySet().removeIf(word -> word.equals("beta"));
		assertTrue(map.isEmpty());
	}

	@Test
	public void fragile_concurrent_keySet() {
		assertEquals("[epsilon, zeta, alpha, delta, beta, gamma]", list(fill(new ConcurrentHashMap<String, Integer>()).keySet().iterator()).toString());
	}

	@Test
	public void fragile_concurrent_values() {
		assertEquals("[7, 4, 5, 5, 4, 5]", list(fill(new ConcurrentHashMap<String, Integer>()).values().iterator()).toString());
	}

	@Test
	public void fragile_concurrent_entrySet() {
		assertEquals("[epsilon=7, zeta=4, alpha=5, delta=5, beta=4, gamma=5]", list(fill(new ConcurrentHashMap<String, Integer>()).entrySet().iterator()).toString());
	}

	@Test
	public void fragile_concurrent_forEach() {
		List<String> seen = new ArrayList<>();
		fill(new ConcurrentHashMap<String, Integer>()).forEach((word, length) -> seen.add(word));
		assertEquals("[epsilon, zeta, alpha, delta, beta, gamma]", seen.toString());
	}

	@Test
	public void correct_concurrent() {
		ConcurrentHashMap<String, Integer> map = fill(new ConcurrentHashMap<String, Integer>());
		assertEquals(sorted(WORDS), sorted(list(map.keySet().iterator())));
		assertEquals(WORDS.size(), map.values().stream().filter(length -> length > 3).count());
		for (Map.Entry<String, Integer> entry : map.entrySet()) {
			assertEquals(entry.getKey().length(), (int) entry.getValue());
			entry.setValue(7);
		}
		for (Iterator<Integer> i = map.values().iterator(); i.hasNext();)
			assertEquals(7, (int) i.next());
		map.put("beta", 1);
		for (Iterator<Integer> i = map.values().iterator(); i.hasNext();) {
			if (i.next() == 7)
				i.remove();
		}
		assertEquals(Collections.singletonMap("beta", 1), map);
		map.keySet().removeIf(word -> word.equals("beta"));
		assertTrue(map.isEmpty());
	}

	@Test
	public void fragile_hashtable_keySet() {
		assertEquals("[gamma, zeta, beta, alpha, epsilon, delta]", list(fill(new Hashtable<String, Integer>()).keySet().iterator()).toString());
	}

	@Test
	public void fragile_hashtable_values() {
		assertEquals("[5, 4, 4, 5, 7, 5]", list(fill(new Hashtable<String, Integer>()).values().iterator()).toString());
	}

	@Test
	public void fragile_hashtable_entrySet() {
		assertEquals("[gamma=5, zeta=4, beta=4, alpha=5, epsilon=7, delta=5]", list(fill(new Hashtable<String, Integer>()).entrySet().iterator()).toString());
	}

	@Test
	public void fragile_hashtable_forEach() {
		List<String> seen = new ArrayList<>();
		fill(new Hashtable<String, Integer>()).forEach((word, length) -> seen.add(word));
		assertEquals("[epsilon, delta, beta, alpha, zeta, gamma]", seen.toString());
	}

	@Test
	public void correct_hashtable() {
		Hashtable<String, Integer> map = fill(new Hashtable<String, Integer>());
		assertEquals(sorted(WORDS), sorted(list(map.keySet().iterator())));
		assertEquals(WORDS.size(), map.values().stream().filter(length -> length > 3).count());
		for (Map.Entry<String, Integer> entry : map.entrySet()) {
			assertEquals(entry.getKey().length(), (int) entry.getValue());
			entry.setValue(7);
		}
		for (Iterator<Integer> i = map.values().iterator(); i.hasNext();)
			assertEquals(7, (int) i.next());
		map.put("beta", 1);
		for (Iterator<Integer> i = map.values().iterator(); i.hasNext();) {
			if (i.next() == 7)
				i.remove();
		}
		assertEquals(Collections.singletonMap("beta", 1), map);
		map.keySet().removeIf(word -> word.equals("beta"));
		assertTrue(map.isEmpty());
	}

	@Test
	public void fragile_identity_keySet() {
		Map<String, Integer> map = fill(new IdentityHashMap<String, Integer>());
		assertEquals(Arrays.asList(map.keySet().toArray()), list(map.keySet().iterator()));
	}

	@Test
	public void fragile_identity_values() {
		Map<String, Integer> map = fill(new IdentityHashMap<String, Integer>());
		assertEquals(Arrays.asList(map.values().toArray()), list(map.values().iterator()));
	}

	@Test
	public void fragile_identity_entrySet() {
		Map<String, Integer> map = fill(new IdentityHashMap<String, Integer>());
		assertEquals(map.toString(), map.toString());
	}

	@Test
	public void fragile_identity_forEach() {
		List<String> one = new ArrayList<>(), two = new ArrayList<>();
		Map<String, Integer> map = fill(new IdentityHashMap<String, Integer>());
		map.forEach((word, length) -> one.add(word));
		map.forEach((word, length) -> two.add(word));
		assertEquals(one, two);
	}

	@Test
	public void correct_identity() {
		IdentityHashMap<String, Integer> map = fill(new IdentityHashMap<String, Integer>());
		for (Iterator<Map.Entry<String, Integer>> i = map.entrySet().iterator(); i.hasNext();) {
			Map.Entry<String, Integer> entry = i.next();
			assertEquals(entry.getKey().length(), (int) entry.getValue());
			if (entry.getKey().length() > 4)
				i.remove();
			else
				entry.setValue(0);
		}
		assertEquals(Arrays.asList("beta", "zeta"), sorted(list(map.keySet().iterator())));
		assertEquals("[0, 0]", map.values().toString());
	}

	@Test
	public void fragile_concurrent_keys() {
		assertEquals("[epsilon, zeta, alpha, delta, beta, gamma]", list(fill(new ConcurrentHashMap<String, Integer>()).keys()).toString());
	}

	@Test
	public void fragile_concurrent_toString() {
		assertEquals("{epsilon=7, zeta=4, alpha=5, delta=5, beta=4, gamma=5}", fill(new ConcurrentHashMap<String, Integer>()).toString());
	}

	@Test
	public void fragile_hashtable_keys() {
		assertEquals("[gamma, zeta, beta, alpha, epsilon, delta]", list(fill(new Hashtable<String, Integer>()).keys()).toString());
	}

	@Test
	public void fragile_hashSet() {
		assertEquals("[epsilon, zeta, alpha, delta, beta, gamma]", new HashSet<>(WORDS).toString());
	}

	@Test
	public void fragile_hashSet_stream() {
		assertEquals("[epsilon, zeta, alpha, delta, beta, gamma]", WORDS.stream().collect(Collectors.toSet()).stream().collect(Collectors.toList()).toString());
	}

	@Test
	public void fragile_hashSet_toArray() {
		assertEquals("[epsilon, zeta, alpha, delta, beta, gamma]", Arrays.toString(new HashSet<>(WORDS).toArray()));
	}

	@Test
	public void correct_hashSet() {
		assertEquals(new HashSet<>(WORDS), new HashSet<>(new ArrayList<>(new HashSet<>(WORDS))));
		assertEquals(sorted(WORDS), new HashSet<>(WORDS).stream().sorted().collect(Collectors.toList()));
	}

	@Test
	public void correct_linked() {
		assertEquals(WORDS.toString(), new LinkedHashSet<>(WORDS).toString());
		assertEquals(WORDS, new ArrayList<>(fill(new LinkedHashMap<String, Integer>()).keySet()));
		List<String> seen = new ArrayList<>();
		fill(new LinkedHashMap<String, Integer>()).forEach((word, length) -> seen.add(word));
		assertEquals(WORDS, seen);
		assertEquals("[a, b]", Arrays.toString(new LinkedHashSet<>(Arrays.asList("a", "b")).toArray()));
	}

	@Test
	public void fragile_setOf() {
		Set<String> set = Set.copyOf(WORDS);
		assertEquals(set.toString(), set.toString());
	}

	@Test
	public void fragile_mapOf() {
		Map<String, Integer> map = Map.copyOf(fill(new HashMap<String, Integer>()));
		assertEquals(map.toString(), map.toString());
	}

	@Test
	public void correct_setOf() {
		assertEquals(sorted(WORDS), sorted(Set.copyOf(WORDS)));
		assertEquals(fill(new HashMap<String, Integer>()), Map.copyOf(fill(new HashMap<String, Integer>())));
	}

	@Test
	public void fragile_priorityQueue() {
		assertEquals("[alpha, beta, gamma, delta, epsilon, zeta]", new PriorityQueue<>(WORDS).toString());
	}

	@Test
	public void fragile_priorityQueue_toArray() {
		assertEquals("[alpha, beta, gamma, delta, epsilon, zeta]", Arrays.toString(new PriorityQueue<>(WORDS).toArray()));
	}

	@Test
	public void fragile_priorityBlockingQueue() {
		assertEquals("[alpha, beta, gamma, delta, epsilon, zeta]", new PriorityBlockingQueue<>(WORDS).toString());
	}

	@Test
	public void fragile_delayQueue() {
		assertEquals("[late 1, late 2, late 3]", new DelayQueue<>(Arrays.asList(new Late(1), new Late(2), new Late(3))).toString());
	}

	@Test
	public void correct_priorityQueue() {
		PriorityQueue<String> queue = new PriorityQueue<>(WORDS);
		for (Iterator<String> i = queue.iterator(); i.hasNext();) {
			if (i.next().length() == 4)
				i.remove();
		}
		assertEquals("alpha", queue.poll());
		assertEquals("delta", queue.poll());
		assertEquals("epsilon", queue.poll());
		assertEquals("gamma", queue.poll());
		assertEquals(null, queue.poll());
	}

	@Test
	public void fragile_getMethods() {
		assertEquals(hash(Shape.class.getMethods()), hash(Shape.class.getMethods()));
	}

	@Test
	public void fragile_getFields() {
		assertEquals("public int Shape.first;public int Shape.second;public int Shape.third", hash(Shape.class.getFields()));
	}

	@Test
	public void fragile_getConstructors() {
		assertEquals(hash(Shape.class.getConstructors()), hash(Shape.class.getConstructors()));
	}

	@Test
	public void fragile_getClasses() {
		assertEquals("class Shape$Third;class Shape$Other;class Shape$Inner", hash(Shape.class.getClasses()));
	}

	@Test
	public void fragile_getDeclaredMethods() {
		assertEquals(hash(Shape.class.getDeclaredMethods()), hash(Shape.class.getDeclaredMethods()));
	}

	@Test
	public void fragile_getDeclaredFields() {
		assertEquals("private static final long Shape.serialVersionUID;public int Shape.first;public int Shape.second;public int Shape.third", hash(Shape.class.getDeclaredFields()));
	}

	@Test
	public void fragile_getDeclaredConstructors() {
		assertEquals(hash(Shape.class.getDeclaredConstructors()), hash(Shape.class.getDeclaredConstructors()));
	}

	@Test
	public void fragile_getDeclaredClasses() {
		assertEquals("class Shape$Third;class Shape$Other;class Shape$Inner", hash(Shape.class.getDeclaredClasses()));
	}

	@Test
	public void fragile_getAnnotations() {
		assertEquals("@Round();@Flat();@Red()", hash(Shape.class.getAnnotations()));
	}

	@Test
	public void fragile_getDeclaredAnnotations() {
		assertEquals("@Round();@Flat();@Red()", hash(Shape.class.getDeclaredAnnotations()));
	}

	@Test
	public void fragile_getExceptionTypes() throws Exception {
		assertEquals("class java.io.IOException;class java.lang.InterruptedException;class java.lang.ClassNotFoundException", hash(Shape.class.getDeclaredMethod("one").getExceptionTypes()));
	}

	@Test
	public void fragile_getGenericExceptionTypes() throws Exception {
		assertEquals("class java.io.IOException;class java.lang.InterruptedException;class java.lang.ClassNotFoundException", hash(Shape.class.getDeclaredMethod("one").getGenericExceptionTypes()));
	}

	@Test
	public void correct_reflection() throws Exception {
		assertEquals(Arrays.asList("one", "three", "two"),
			sorted(Arrays.stream(Shape.class.getDeclaredMethods()).map(method -> method.getName()).collect(Collectors.toList())));
		assertEquals("[interface java.io.Serializable, interface java.lang.Cloneable]", Arrays.toString(Shape.class.getInterfaces()));
		assertEquals("[int, class java.lang.String]",
			Arrays.toString(Shape.class.getDeclaredMethod("two", int.class, String.class).getParameterTypes()));
	}

	@Test
	public void fragile_file_list() throws Exception {
		File folder = folder();
		assertEquals(Arrays.toString(folder.list()), Arrays.toString(folder.list()));
	}

	@Test
	public void fragile_file_listFiles() throws Exception {
		File folder = folder();
		assertEquals(Arrays.toString(folder.listFiles()), Arrays.toString(folder.listFiles()));
	}

	@Test
	public void fragile_newDirectoryStream() throws Exception {
		Path folder = folder().toPath();
		assertEquals(names(folder), names(folder));
	}

	@Test
	public void correct_files() throws Exception {
		File folder = folder();
		String[] names = folder.list();
		Arrays.sort(names);
		assertEquals("[a, b, c, d]", Arrays.toString(names));
		assertEquals(4, folder.listFiles().length);
		assertEquals(5, Files.walk(folder.toPath()).count());
		List<String> found = names(folder.toPath());
		Collections.sort(found);
		assertEquals("[a, b, c, d]", found.toString());
	}

	@Test
	public void fragile_getAvailableLocales() {
		assertEquals(Arrays.asList(Locale.getAvailableLocales()), Arrays.asList(Locale.getAvailableLocales()));
	}

	@Test
	public void fragile_getISOCountries() {
		assertEquals("AD", Locale.getISOCountries()[0]);
	}

	@Test
	public void fragile_getISOLanguages() {
		assertEquals("aa", Locale.getISOLanguages()[0]);
	}

	@Test
	public void fragile_getAvailableIDs() {
		assertEquals(Arrays.asList(TimeZone.getAvailableIDs()), Arrays.asList(TimeZone.getAvailableIDs()));
	}

	@Test
	public void fragile_getZoneStrings() {
		assertEquals(7, DateFormatSymbols.getInstance(Locale.US).getZoneStrings()[0].length);
	}

	@Test
	public void correct_locale() {
		assertTrue(Arrays.asList(Locale.getAvailableLocales()).contains(Locale.US));
		assertTrue(Arrays.asList(Locale.getISOCountries()).contains("AD"));
		assertTrue(Arrays.asList(Locale.getISOLanguages()).contains("aa"));
		assertTrue(Arrays.asList(TimeZone.getAvailableIDs()).contains("UTC"));
		for (String[] row : DateFormatSymbols.getInstance(Locale.US).getZoneStrings())
			assertTrue(row.length >= 5);
	}

	@Test
	public void fragile_read() throws Exception {
		try (InputStream in = new FileInputStream(file())) {
			byte[] bytes = new byte[1000];
			assertEquals(1000, in.read(bytes, 0, 1000));
		}
	}

	@Test
	public void fragile_readText() throws Exception {
		try (Reader in = new InputStreamReader(new FileInputStream(file()))) {
			char[] text = new char[1000];
			assertEquals(1000, in.read(text, 0, 1000));
		}
	}

	@Test
	public void fragile_skip() throws Exception {
		try (InputStream in = new FileInputStream(file())) {
			assertEquals(900, in.skip(900));
		}
	}

	@Test
	public void correct_read() throws Exception {
		try (InputStream in = new FileInputStream(file())) {
			assertEquals(1000, in.readAllBytes().length);
		}
		try (InputStream in = Files.newInputStream(file().toPath())) {
			in.skipNBytes(10);
			assertEquals(990, in.readNBytes(2000).length);
		}
		assertEquals(1000, new String(Files.readAllBytes(file().toPath()), "ASCII").length());
		assertEquals(1, Files.readAllLines(file().toPath()).size());
	}

	@Test
	public void fragile_wait() throws Exception {
		boolean[] done = { false };
		Thread other = new Thread(() -> {
			pause();
			synchronized (done) {
				done[0] = true;
				done.notifyAll();
			}
		});
		synchronized (done) {
			other.start();
			done.wait();
			assertTrue(done[0]);
		}
		other.join();
	}

	@Test
	public void correct_wait() throws Exception {
		boolean[] done = { false };
		Thread other = new Thread(() -> {
			synchronized (done) {
				done[0] = true;
				done.notifyAll();
			}
		});
		synchronized (done) {
			other.start();
			while (!done[0])
				done.wait();
		}
		other.join();
	}

	@Test
	public void fragile_await() throws Exception {
		java.util.concurrent.locks.ReentrantLock lock = new java.util.concurrent.locks.ReentrantLock();
		java.util.concurrent.locks.Condition condition = lock.newCondition();
		boolean[] done = { false };
		Thread other = new Thread(() -> {
			pause();
			lock.lock();
			done[0] = true;
			condition.signalAll();
			lock.unlock();
		});
		lock.lock();
		other.start();
		condition.await();
		assertTrue(done[0]);
		lock.unlock();
		other.join();
	}

	private static void pause() {
		try {
			Thread.sleep(300);
		} catch (InterruptedException interrupted) {
			throw new IllegalStateException(interrupted);
		}
	}

	private static String hash(Object[] all) {
		return Arrays.stream(all).map(one -> one.toString().replace("subject.ChoicesTest$", "")).collect(Collectors.joining(";"));
	}

	private static File folder() throws Exception {
		File folder = Files.createTempDirectory("choices").toFile();
		for (String name : new String[] { "c", "a", "d", "b" }) {
			File file = new File(folder, name);
			Files.write(file.toPath(), new byte[0]);
			file.deleteOnExit();
		}
		folder.deleteOnExit();
		return folder;
	}

	private static File file() throws Exception {
		File file = File.createTempFile("choices", "");
		byte[] bytes = new byte[1000];
		Arrays.fill(bytes, (byte) 'x');
		Files.write(file.toPath(), bytes);
		file.deleteOnExit();
		return file;
	}

	private static List<String> names(Path folder) throws Exception {
		List<String> names = new ArrayList<>();
		try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
			for (Path path : stream)
				names.add(path.getFileName().toString());
		}
		return names;
	}

	private static final class Late implements Delayed {
		private final int delay;

		Late(int delay) {
			this.delay = delay;
		}

		@Override
		public long getDelay(TimeUnit unit) {
			return delay;
		}

		@Override
		public int compareTo(Delayed other) {
			return Integer.compare(delay, ((Late) other).delay);
		}

		@Override
		public String toString() {
			return "late " + delay;
		}
	}

	@Retention(RetentionPolicy.RUNTIME)
	private @interface Round {
	}

	@Retention(RetentionPolicy.RUNTIME)
	private @interface Flat {
	}

	@Retention(RetentionPolicy.RUNTIME)
	private @interface Red {
	}

	@Round
	@Flat
	@Red
	public static class Shape implements java.io.Serializable, Cloneable {
		private static final long serialVersionUID = 1;
		public int first, second, third;

		public Shape() {
		}

		public Shape(int first) {
			this.first = first;
		}

		public Shape(int first, int second) {
			this.first = first;
			this.second = second;
		}

		public void one() throws java.io.IOException, InterruptedException, ClassNotFoundException {
		}

		public void two(int number, String text) {
		}

		public void three() {
		}

		public static class Inner {
		}

		public static class Other {
		}

		public static class Third {
		}
	}
}
