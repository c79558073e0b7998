package subject;

import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameters;

/**
 * Random steps on state of many shapes, the same in each run: both ways to look at a heap have to say the same of them.
 * Objects trade places, become unreachable, are shared or not any more, change and change back; collections grow.
 */
@RunWith(Parameterized.class)
public class StepsTest {
	static final int TESTS = Integer.getInteger("steps.tests", 120);
	static final int FILLER = Integer.getInteger("steps.filler", 2500);
	static final boolean COLLECTS = Boolean.getBoolean("steps.collects");

	static final class Thing {
		int number;
		String name;
		Thing next, other;
		Object any;

		Thing(int number) {
			this.number = number;
			this.name = "thing" + number % 7;
		}

		Thing copy() {
			Thing copy = new Thing(number);
			copy.name = name;
			copy.next = next;
			copy.other = other;
			copy.any = any;
			return copy;
		}
	}

	enum Mode {
		SLOW, FAST;

		int used;
		Thing last;
	}

	static final class Holder {
		static Thing first = new Thing(1), second = new Thing(2);
		static Mode mode = Mode.SLOW;
		static Thing[] array = new Thing[8];
		static Object[] mixed = new Object[4];
		static int[] numbers = new int[3000];
		static List<Thing> list = new ArrayList<>();
		static List<Thing> linked = new LinkedList<>();
		static ArrayDeque<Thing> ring = new ArrayDeque<>();
		static Map<String, Thing> map = new HashMap<>();
		static Map<Thing, String> keys = new HashMap<>();
		static Map<String, Thing> ordered = new LinkedHashMap<>();
		static Map<String, Thing> tree = new TreeMap<>();
		static Map<Integer, Thing> concurrent = new ConcurrentHashMap<>();
		static Set<Integer> set = new HashSet<>();
		static StringBuilder text = new StringBuilder("text");
		static LongAdder sum = new LongAdder();
		static WeakReference<Thing> weak = new WeakReference<>(first);
		static List<ThreadLocal<Thing>> locals =
			new ArrayList<>(List.of(new ThreadLocal<>(), new InheritableThreadLocal<>(), new ThreadLocal<>()));
		static List<Thing> view = Arrays.asList(array);
		static Thing[] filler = new Thing[FILLER];

		static {
			for (int i = 0; i < array.length; i++)
				array[i] = new Thing(i);
			for (int i = 0; i < filler.length; i++) {
				filler[i] = new Thing(i);
				filler[i].next = filler[i / 2];
			}
			mixed[0] = text;
			mixed[1] = "mixed";
		}
	}

	@Parameters
	public static Collection<Object[]> seeds() {
		List<Object[]> seeds = new ArrayList<>();
		for (int i = 0; i < TESTS; i++)
			seeds.add(new Object[] { i });
		return seeds;
	}

	private final Random random;
	private final int seed;

	public StepsTest(int seed) {
		this.seed = seed;
		this.random = new Random(seed * 7919L + 17);
	}

	/** One that is somewhere already. */
	private Thing some() {
		List<Thing> all = new ArrayList<>(Arrays.asList(Holder.first, Holder.second));
		all.addAll(Arrays.asList(Holder.array));
		all.addAll(Holder.list);
		all.addAll(Holder.linked);
		all.addAll(Holder.ring);
		all.addAll(Holder.ordered.values());
		all.addAll(Holder.tree.values());
		all.add(Holder.filler[random.nextInt(FILLER)]);
		Thing found = all.get(random.nextInt(all.size()));
		return found == null ? Holder.first : found;
	}

	private Thing make() {
		switch (random.nextInt(4)) {
		case 0:
			return some();
		case 1:
			return some().copy();
		default:
			Thing thing = new Thing(random.nextInt(50));
			thing.next = random.nextInt(3) == 0 ? some() : null;
			return thing;
		}
	}

	private String key() {
		return "key" + random.nextInt(40);
	}

	private void step() {
		int i = random.nextInt(8);
		Thing kept;
		switch (random.nextInt(42)) {
		case 0: Holder.first = make(); break;
		case 1: kept = Holder.first; Holder.first = Holder.second; Holder.second = kept; break;
		case 2: Holder.first = Holder.first.copy(); break;
		case 3: some().number++; break;
		case 4: kept = some(); kept.number++; kept.number--; break;
		case 5: some().next = make(); break;
		case 6: some().other = some(); break;
		case 7: some().next = null; break;
		case 8: Holder.array[i] = make(); break;
		case 9: kept = Holder.array[0]; Holder.array[0] = Holder.array[i]; Holder.array[i] = kept; break;
		case 10: Holder.array[i] = null; break;
		case 11: Holder.list.add(make()); break;
		case 12: if (!Holder.list.isEmpty()) Holder.list.remove(random.nextInt(Holder.list.size())); break;
		case 13: Holder.list = new ArrayList<>(Holder.list); break;
		case 14: Holder.linked.add(make()); break;
		case 15: if (!Holder.linked.isEmpty()) Holder.linked.remove(0); break;
		case 16: Holder.ring.addLast(make()); break;
		case 17: Holder.ring.pollFirst(); break;
		case 18: Holder.map.put(key(), make()); break;
		case 19: Holder.map.remove(key()); break;
		case 20: for (int n = 0; n < 60; n++) Holder.map.put("many" + seed + n, Holder.first); break;
		case 21: Holder.map.keySet().removeIf(name -> name.startsWith("many")); break;
		case 22: Holder.ordered.put(key(), make()); break;
		case 23: Holder.ordered.remove(key()); break;
		case 24: Holder.tree.put(key(), make()); break;
		case 25: Holder.tree.remove(key()); break;
		case 26: Holder.concurrent.put(random.nextInt(30), make()); break;
		case 27: Holder.concurrent.remove(random.nextInt(30)); break;
		case 28: Holder.set.add(random.nextInt(60)); break;
		case 29: Holder.set.remove(random.nextInt(60)); break;
		case 30: Holder.text.append('x'); break;
		case 31: Holder.sum.add(1); break;
		case 32: Holder.mode = Mode.values()[random.nextInt(2)]; break;
		case 33: Holder.mode.used++; Holder.mode.last = random.nextBoolean() ? make() : null; break;
		case 34: Holder.numbers[random.nextInt(3000)] = random.nextInt(5); break;
		case 35: Holder.mixed[random.nextInt(4)] = random.nextBoolean() ? (Object) Holder.text : make(); break;
		case 36: some().any = random.nextBoolean() ? Holder.list : new int[] { i }; break;
		case 37: Holder.locals.get(i % 3).set(make()); break;
		case 38: Holder.locals.get(i % 3).remove(); break;
		case 39: Holder.locals.set(i % 3, new ThreadLocal<>()); break;
		case 40: if (Holder.locals.get(i % 3).get() != null) Holder.locals.get(i % 3).get().number++; break;
		default: some().name = "name" + random.nextInt(3); break;
		}
	}

	@Test
	public void steps() {
		if (seed % 4 == 3)
			return;
		for (int n = 1 + random.nextInt(4); n > 0; n--) {
			step();
			boolean collects = random.nextInt(8) == 0;
			if (COLLECTS && collects)
				System.gc();
		}
	}
}
