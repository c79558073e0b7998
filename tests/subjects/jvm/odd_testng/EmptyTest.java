package subject;

import static org.testng.Assert.assertEquals;
import static org.testng.Assert.assertTrue;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.testng.annotations.AfterMethod;
import org.testng.annotations.BeforeMethod;
import org.testng.annotations.DataProvider;
import org.testng.annotations.Test;

/** Data providers that have nothing, or have it in several threads. */
public class EmptyTest {
	private static final Set<Long> threads = ConcurrentHashMap.newKeySet();

	@BeforeMethod public void before() {
		threads.add(Thread.currentThread().getId());
	}

	@AfterMethod public void after() {
		threads.add(Thread.currentThread().getId());
	}

	@DataProvider public Object[][] nothing() {
		return new Object[0][];
	}

	@DataProvider(parallel = true) public Object[][] many() {
		return new Object[][] {{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}};
	}

	@Test(dataProvider = "nothing") public void a(int value) {
		assertEquals(value, 0);
	}

	@Test public void b() {
		assertEquals(1 + 1, 2);
	}

	@Test(dataProvider = "many") public void c(int value) {
		assertTrue(value > 0);
	}

	@Test(threadPoolSize = 4, invocationCount = 8) public void d() {
		assertEquals(1 + 1, 2);
	}

	@Test public void e() {
		assertEquals(threads.size(), 1);
	}
}
