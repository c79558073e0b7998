package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.Test;

/** What is assumed of the order of sets, from the most to the least; each is named after the first level that it fails at. */
public class LevelsTest {
	private static Set<String> set(String... all) {
		return new HashSet<>(Arrays.asList(all));
	}

	/** Where each element comes, in the alphabet. */
	private static List<Integer> places(Set<String> set, String first) {
		List<Integer> places = new ArrayList<>();
		for (String each : set)
			places.add(each.charAt(0) - first.charAt(0));
		return places;
	}

	@Test public void one() {
		assertEquals("[a, b, c]", set("a", "b", "c").toString());
	}

	@Test public void eq() {
		for (char c = 'a'; c < 'q'; c += 4) {
			String first = String.valueOf(c), second = String.valueOf((char) (c + 1)), third = String.valueOf((char) (c + 2));
			assertEquals(places(set("a", "b", "c"), "a"), places(set(first, second, third), first));
		}
	}

	@Test public void id() {
		List<Set<String>> kept = new ArrayList<>();
		for (int i = 0; i < 8; i++)
			kept.add(set("a", "b", "c"));
		for (Set<String> each : kept)
			assertEquals(kept.get(0).toString(), each.toString());
	}

	@Test public void full() {
		Set<String> set = set("a", "b", "c");
		for (int i = 0; i < 8; i++)
			assertEquals(set.toString(), set.toString());
	}

	@Test public void never() {
		assertEquals("[a, b, c]", new LinkedHashSet<>(Arrays.asList("a", "b", "c")).toString());
		assertTrue(set("a", "b", "c").containsAll(set("c", "b")));
	}
}
