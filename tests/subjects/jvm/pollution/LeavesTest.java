package subject;

import java.util.*;
import org.junit.Test;

/** Each test leaves what stands above it: access path, then before and after. */
public class LeavesTest {
	// leaves: subject.State.flag: false → true
	@Test public void flag() { State.flag = true; }
	// leaves: subject.State.small: 1 → 7
	@Test public void small() { State.small = 7; }
	// leaves: subject.State.letter: 'a' → 'b'
	@Test public void letter() { State.letter = 'b'; }
	// leaves: subject.State.middle: 2 → -2
	@Test public void middle() { State.middle = -2; }
	// leaves: subject.State.number: 3 → 4
	@Test public void number() { State.number++; }
	// leaves: subject.State.wide: 4 → 5
	@Test public void wide() { State.wide++; }
	// leaves: subject.State.single: 1.5 → 2.5
	@Test public void single() { State.single = 2.5f; }
	// leaves: subject.State.twice: 2.5 → -0.5
	@Test public void twice() { State.twice = -0.5; }
	// leaves: subject.State.text: "before" → "after"
	@Test public void text() { State.text = "after"; }
	// leaves: subject.State.boxed: 5 → 1000
	@Test public void boxed() { State.boxed = 1000; }
	// leaves: subject.State.color: RED → BLUE
	@Test public void color() { State.color = State.Color.BLUE; }
	// leaves: subject.State.type: String.class → Integer.class
	@Test public void type() { State.type = Integer.class; }
	// leaves: subject.State.numbers[1]: 2 → 9
	@Test public void element() { State.numbers[1] = 9; }
	// leaves: subject.State.grid[1][0]: "b" → "z"
	@Test public void grid() { State.grid[1][0] = "z"; }
	// leaves: subject.State.nothing: null → 1
	@Test public void nothing() { State.nothing = 1; }
	// leaves: subject.State.builder: "ab" → "abc"
	@Test public void builder() { State.builder.append('c'); }
	// leaves: subject.State.maybe.value: "a" → "b"
	@Test public void maybe() { State.maybe = Optional.of("b"); }

	// leaves: subject.State.arrayList[2]: (absent) → "c"
	@Test public void arrayList() { State.arrayList.add("c"); }
	// leaves: subject.State.linkedList[1]: "b" → (absent)
	@Test public void linkedList() { State.linkedList.remove(1); }
	// leaves: subject.State.vector[0]: "a" → "z"
	@Test public void vector() { State.vector.set(0, "z"); }
	// leaves: subject.State.copied[1]: (absent) → "b"
	@Test public void copied() { State.copied.add("b"); }
	// leaves: subject.State.immutable[2]: "c" → "d"
	@Test public void immutable() { State.immutable = List.of("a", "b", "d"); }
	// leaves: subject.State.wrapped.c[1]: (absent) → "b"
	@Test public void wrapped() { State.wrapped.add("b"); }
	// leaves: subject.State.counted.count: 0 → 1
	@Test public void counted() { State.counted.count++; }
	// leaves: subject.State.deque[0]: "a" → "b"
	@Test public void deque() { State.deque.poll(); }
	// leaves: subject.State.priorities[7]: (absent) → 7
	@Test public void priorities() { State.priorities.add(7); }
	// leaves: subject.State.concurrentQueue[1]: (absent) → "b"
	@Test public void concurrentQueue() { State.concurrentQueue.add("b"); }
	// leaves: subject.State.concurrentDeque[1]: (absent) → "b"
	@Test public void concurrentDeque() { State.concurrentDeque.add("b"); }
	// leaves: subject.State.blockingQueue[1]: (absent) → "b"
	@Test public void blockingQueue() { State.blockingQueue.add("b"); }
	// leaves: subject.State.blockingDeque[1]: (absent) → "b"
	@Test public void blockingDeque() { State.blockingDeque.add("b"); }
	// leaves: subject.State.arrayQueue[1]: (absent) → "b"
	@Test public void arrayQueue() { State.arrayQueue.add("b"); }

	// leaves: subject.State.hashMap["a"]: 1 → 2
	@Test public void hashMap() { State.hashMap.put("a", 2); }
	// leaves: subject.State.linkedMap["c"]: (absent) → 3
	@Test public void linkedMap() { State.linkedMap.put("c", 3); }
	// leaves: subject.State.treeMap["a"]: 1 → (absent)
	@Test public void treeMap() { State.treeMap.remove("a"); }
	// leaves: subject.State.hashtable["b"]: (absent) → 2
	@Test public void hashtable() { State.hashtable.put("b", 2); }
	// leaves: subject.State.weakMap["k"]: (absent) → 1
	@Test public void weakMap() { State.weakMap.put("k", 1); }
	// leaves: subject.State.identityMap["k"]: (absent) → 1
	@Test public void identityMap() { State.identityMap.put("k", 1); }
	// leaves: subject.State.enumMap[GREEN]: (absent) → 2
	@Test public void enumMap() { State.enumMap.put(State.Color.GREEN, 2); }
	// leaves: subject.State.concurrentMap["a"]: 1 → (absent)
	@Test public void concurrentMap() { State.concurrentMap.clear(); }
	// leaves: subject.State.skipMap["b"]: (absent) → 2
	@Test public void skipMap() { State.skipMap.put("b", 2); }
	// leaves: subject.State.objectKeys[Object]: "a" → "b"
	@Test public void objectKeys() { State.objectKeys.put(State.KEY, "b"); }
	// leaves: subject.State.properties["k"]: (absent) → "v"
	@Test public void properties() { State.properties.setProperty("k", "v"); }

	// leaves: subject.State.hashSet["b"]: (absent) → "b"
	@Test public void hashSet() { State.hashSet.add("b"); }
	// leaves: subject.State.linkedSet["a"]: "a" → (absent)
	@Test public void linkedSet() { State.linkedSet.remove("a"); }
	// leaves: subject.State.treeSet["b"]: (absent) → "b"
	@Test public void treeSet() { State.treeSet.add("b"); }
	// leaves: subject.State.concurrentSet.map["b"]: (absent) → true
	@Test public void concurrentSet() { State.concurrentSet.add("b"); }
	// leaves: subject.State.copiedSet[1]: (absent) → "b"
	@Test public void copiedSet() { State.copiedSet.add("b"); }
	// leaves: subject.State.skipSet["b"]: (absent) → "b"
	@Test public void skipSet() { State.skipSet.add("b"); }
	// leaves: subject.State.enumSet.elements: 1 → 3
	@Test public void enumSet() { State.enumSet.add(State.Color.GREEN); }
	// leaves: subject.State.bits[70]: false → true
	@Test public void bits() { State.bits.set(70); }

	// leaves: subject.State.atomic.value: 1 → 2
	@Test public void atomic() { State.atomic.incrementAndGet(); }
	// leaves: subject.State.atomicLong.value: 1 → 2
	@Test public void atomicLong() { State.atomicLong.incrementAndGet(); }
	// leaves: subject.State.atomicFlag.value: 0 → 1
	@Test public void atomicFlag() { State.atomicFlag.set(true); }
	// leaves: subject.State.reference.value: "a" → null
	@Test public void reference() { State.reference.set(null); }
	// leaves: subject.State.atomicArray.array[2]: 0 → 5
	@Test public void atomicArray() { State.atomicArray.set(2, 5); }
	// leaves: subject.State.adder: 0 → 3
	@Test public void adder() { State.adder.add(3); }

	// leaves: subject.State.Registry.instance.handlers["x"].timeout: 10 → 20
	@Test public void deep() { State.Registry.instance.handlers.get("x").timeout = 20; }
	// leaves: subject.State.alias: Handler{timeout=1, name="shared", uses=0} → Handler{timeout=1, name="shared", uses=0}
	@Test public void sharing() { State.alias = new State.Handler(1, "shared"); }
	// leaves: subject.State.cycle.next: Handler{timeout=1, name="cycle", uses=0} → null
	@Test public void cycle() { State.cycle.next = null; }
	// leaves: subject.State.date.fastTime: 0 → 1000
	@Test public void date() { State.date.setTime(1000); }
	// leaves: subject.State.ring[1]: (absent) → "b"
	@Test public void ring() { State.ring.items[1] = "b"; State.ring.used = 2; }
	// leaves: subject.LeavesTest.own: 0 → 1
	@Test public void own() { own++; }

	static int own;
}
