package subject;

import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.ReentrantLock;

/** What the tests share: one static field of each kind. */
final class State {
	enum Color { RED, GREEN, BLUE }

	static final class Handler {
		int timeout;
		String name;
		Handler next;
		transient int uses;

		Handler(int timeout, String name) {
			this.timeout = timeout;
			this.name = name;
		}
	}

	static final class Registry {
		static final Registry instance = new Registry();
		final Map<String, Handler> handlers = new HashMap<>();
		long lastUsed;
	}

	/** Its own array and count: content by a recipe. */
	static final class Ring {
		int[] unused = new int[4];
		Object[] items = new Object[8];
		int used;
		long touched;
	}

	static final class Statistics {
		int calls;
	}

	static final class Counted extends ArrayList<String> {
		int count;
	}

	static boolean flag;
	static byte small = 1;
	static char letter = 'a';
	static short middle = 2;
	static int number = 3;
	static long wide = 4;
	static float single = 1.5f;
	static double twice = 2.5;
	static String text = "before";
	static Integer boxed = 5;
	static Color color = Color.RED;
	static Class<?> type = String.class;
	static int[] numbers = { 1, 2, 3 };
	static String[][] grid = { { "a" }, { "b", "c" } };
	static Object nothing;
	static StringBuilder builder = new StringBuilder("ab");
	static Optional<String> maybe = Optional.of("a");

	static List<String> arrayList = new ArrayList<>(List.of("a", "b"));
	static List<String> linkedList = new LinkedList<>(List.of("a", "b"));
	static List<String> vector = new Vector<>(List.of("a"));
	static List<String> copied = new CopyOnWriteArrayList<>(List.of("a"));
	static List<String> immutable = List.of("a", "b", "c");
	static List<String> wrapped = Collections.synchronizedList(new ArrayList<>(List.of("a")));
	static Counted counted = new Counted();
	static Deque<String> deque = new ArrayDeque<>(List.of("a", "b"));
	static Queue<Integer> priorities = new PriorityQueue<>(List.of(3, 1, 2));
	static Queue<String> concurrentQueue = new ConcurrentLinkedQueue<>(List.of("a"));
	static Deque<String> concurrentDeque = new ConcurrentLinkedDeque<>(List.of("a"));
	static Queue<String> blockingQueue = new LinkedBlockingQueue<>(List.of("a"));
	static Deque<String> blockingDeque = new LinkedBlockingDeque<>(List.of("a"));
	static Queue<String> arrayQueue = new ArrayBlockingQueue<>(4, false, List.of("a"));

	static Map<String, Integer> hashMap = new HashMap<>(Map.of("a", 1));
	static Map<String, Integer> linkedMap = new LinkedHashMap<>();
	static Map<String, Integer> treeMap = new TreeMap<>(Map.of("a", 1, "b", 2));
	static Map<String, Integer> hashtable = new Hashtable<>(Map.of("a", 1));
	static Map<Object, Integer> weakMap = new WeakHashMap<>();
	static Map<Object, Integer> identityMap = new IdentityHashMap<>();
	static Map<Color, Integer> enumMap = new EnumMap<>(Color.class);
	static Map<String, Integer> concurrentMap = new ConcurrentHashMap<>(Map.of("a", 1));
	static Map<String, Integer> skipMap = new ConcurrentSkipListMap<>(Map.of("a", 1));
	static Map<Object, String> objectKeys = new HashMap<>();
	static Properties properties = new Properties();
	static final Object KEY = new Object();

	static Set<String> hashSet = new HashSet<>(List.of("a"));
	static Set<String> linkedSet = new LinkedHashSet<>(List.of("a", "b"));
	static Set<String> treeSet = new TreeSet<>(List.of("a"));
	static Set<String> concurrentSet = ConcurrentHashMap.newKeySet();
	static Set<String> copiedSet = new CopyOnWriteArraySet<>(List.of("a"));
	static Set<String> skipSet = new ConcurrentSkipListSet<>(List.of("a"));
	static EnumSet<Color> enumSet = EnumSet.of(Color.RED);
	static BitSet bits = new BitSet();

	static AtomicInteger atomic = new AtomicInteger(1);
	static AtomicLong atomicLong = new AtomicLong(1);
	static AtomicBoolean atomicFlag = new AtomicBoolean();
	static AtomicReference<String> reference = new AtomicReference<>("a");
	static AtomicIntegerArray atomicArray = new AtomicIntegerArray(3);
	static LongAdder adder = new LongAdder();

	static Handler shared = new Handler(1, "shared");
	static Handler alias = shared;
	static Handler cycle = new Handler(1, "cycle");
	static ReentrantLock lock = new ReentrantLock();
	static Date date = new Date(0);
	static Random random = new Random(1);
	static Ring ring = new Ring();
	static Statistics statistics = new Statistics();
	static Statistics excluded = new Statistics();

	static {
		cycle.next = cycle;
		linkedMap.put("a", 1);
		linkedMap.put("b", 2);
		objectKeys.put(KEY, "a");
		Registry.instance.handlers.put("x", new Handler(10, "x"));
		ring.items[0] = "a";
		ring.used = 1;
	}

	private State() {
	}
}
