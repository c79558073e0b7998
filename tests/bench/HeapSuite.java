import java.io.FileOutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameters;

/**
 * Tests of so many microseconds over so many objects that static fields lead to. What a test does with them:
 * "none" nothing, "back" changes ten and changes them back, "kept" leaves ten changed, "map" changes ten values of a
 * large map, "new" puts ten new objects in the place of old ones.
 */
@RunWith(Parameterized.class)
public class HeapSuite {
	static final int TESTS = Integer.getInteger("bench.tests", 1000);
	static final int OBJECTS = Integer.getInteger("bench.objects", 10000);
	static final long NANOSECONDS = 1000L * Integer.getInteger("bench.microseconds", 100);
	static final String CHANGE = System.getProperty("bench.change", "none");
	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	private static long started, startedCpu;
	private volatile int sink;

	static final class Tree {
		int number;
		long other;
		Tree left, right;

		static Tree grow(int n) {
			Tree tree = new Tree();
			if (n > 1)
				tree.left = grow((n - 1) / 2);
			if (n > 2)
				tree.right = grow(n - 1 - (n - 1) / 2);
			return tree;
		}

		/** One of the nodes, somewhere. */
		Tree find(int bits) {
			Tree at = this;
			for (; at.left != null && at.right != null && bits > 1; bits >>= 1)
				at = (bits & 1) == 0 ? at.left : at.right;
			return at;
		}
	}

	static final class Heap {
		static final java.util.Map<Integer, Tree> map = new java.util.HashMap<>();
		static Tree tree;

		static {
			/* An entry, its key and its value: a tenth of all. */
			int entries = CHANGE.equals("map") ? OBJECTS / 30 : 0;
			for (int i = 0; i < entries; i++)
				map.put(i + 1000, new Tree());
			tree = Tree.grow(OBJECTS - 3 * entries);
		}
	}

	@Parameters
	public static Collection<Object[]> numbers() {
		List<Object[]> numbers = new ArrayList<>();
		for (int i = 0; i < TESTS; i++)
			numbers.add(new Object[] { i });
		return numbers;
	}

	private final int number;

	public HeapSuite(int number) {
		this.number = number;
	}

	private void change(int i) {
		Tree at = Heap.tree.find(number * 31 + i * 977 + 7);
		switch (CHANGE) {
		case "back":
			at.number++;
			at.number--;
			break;
		case "kept":
			at.number++;
			break;
		case "new":
			at.left = at.left == null ? null : new Tree();
			break;
		case "map":
			Heap.map.computeIfPresent(1000 + (number * 31 + i * 977) % Heap.map.size(), (key, tree) -> {
				tree.number++;
				return tree;
			});
			break;
		default:
			break;
		}
	}

	@Test
	public void test() throws Exception {
		/* The heap is there, and known, when the second test begins. */
		if (number == 1) {
			started = System.nanoTime();
			startedCpu = THREADS.getCurrentThreadCpuTime();
		}
		sink += Heap.tree.number;
		for (int i = 0; i < 10; i++)
			change(i);
		long end = THREADS.getCurrentThreadCpuTime() + NANOSECONDS;
		while (THREADS.getCurrentThreadCpuTime() < end)
			for (int i = 0; i < 300; i++)
				sink++;
		String clock = System.getProperty("bench.clock");
		if (number == TESTS - 1 && clock != null)
			try (FileOutputStream out = new FileOutputStream(clock, true)) {
				out.write(((System.nanoTime() - started) + " " + (THREADS.getCurrentThreadCpuTime() - startedCpu)
					+ "\n").getBytes(StandardCharsets.UTF_8));
			}
	}
}
