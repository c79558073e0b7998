package subject;

import java.util.*;
import java.util.concurrent.*;
import org.junit.Test;

/** Nothing of this is pollution. */
public class CleanTest {
	@Test public void reads() {
		State.text.hashCode();
		State.hashMap.keySet().size();
		State.hashMap.values().size();
		State.treeMap.entrySet().iterator().next();
		State.arrayList.iterator().next();
		State.color.name();
		State.type.getDeclaredMethods();
		State.date.toString();
		State.KEY.hashCode();
	}

	@Test public void putsBack() {
		State.number++;
		State.number--;
		State.arrayList.add("z");
		State.arrayList.remove("z");
		State.hashMap.put("q", 1);
		State.hashMap.remove("q");
	}

	@Test public void grows() {
		for (int i = 0; i < 1000; i++) {
			State.arrayList.add("z");
			State.hashMap.put("q" + i, 1);
			State.concurrentMap.put("q" + i, 1);
			State.deque.add("z");
		}
		for (int i = 0; i < 1000; i++) {
			State.arrayList.remove(State.arrayList.size() - 1);
			State.hashMap.remove("q" + i);
			State.concurrentMap.remove("q" + i);
			State.deque.removeLast();
		}
	}

	@Test public void copies() {
		State.arrayList = new ArrayList<>(State.arrayList);
		State.linkedList = new LinkedList<>(State.linkedList);
		State.deque = new ArrayDeque<>(State.deque);
		State.hashMap = new HashMap<>(State.hashMap);
		State.linkedMap = new LinkedHashMap<>(State.linkedMap);
		State.treeMap = new TreeMap<>(State.treeMap);
		State.hashSet = new HashSet<>(State.hashSet);
		State.concurrentMap = new ConcurrentHashMap<>(State.concurrentMap);
		State.objectKeys = new HashMap<>(State.objectKeys);
		State.priorities = new PriorityQueue<>(State.priorities);
		State.text = new StringBuilder(State.text).toString();
		State.boxed = Integer.valueOf(State.boxed.intValue());
		State.numbers = State.numbers.clone();
		State.builder = new StringBuilder(State.builder);
		State.Registry.instance.handlers.put("x",
			new State.Handler(State.Registry.instance.handlers.get("x").timeout, "x"));
		State.Handler cycle = new State.Handler(1, "cycle");
		cycle.next = State.cycle.next == null ? null : cycle;
		State.cycle = cycle;
	}

	@Test public void sharedTogether() {
		State.Handler both = new State.Handler(1, "shared");
		State.alias = State.alias == State.shared ? both : State.alias;
		State.shared = both;
	}

	@Test public void neverCompared() {
		State.lock.lock();
		State.lock.unlock();
		State.statistics.calls++;
		State.ring.touched++;
		State.excluded.calls++;
		State.Registry.instance.lastUsed++;
	}

	@Test public void collects() {
		for (int i = 0; i < 5; i++)
			System.gc();
	}

}
