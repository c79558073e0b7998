package subject;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests with a limit of time: that it runs out while we hold something is no finding. */
class LimitsTest {
	private volatile boolean done;
	private volatile int count;
	private Thread worker;

	@BeforeEach
	void startWorker() {
		CountDownLatch started = new CountDownLatch(1);
		worker = new Thread(() -> {
			started.countDown();
			done = true;
		});
		worker.start();
	}

	@AfterEach
	void stopWorker() throws Exception {
		worker.join();
	}

	@Test
	void late_fixture() throws Exception {
		Thread.sleep(10);
		assertTrue(done);
	}

	@Test
	void proper_fixture() throws Exception {
		worker.join();
		assertTrue(done);
	}

	@Test
	@Timeout(value = 300, unit = TimeUnit.MILLISECONDS)
	void proper_annotated() throws Exception {
		worker.join();
		assertTrue(done);
	}

	@Test
	void proper_assert_timeout() {
		assertTimeout(Duration.ofMillis(300), () -> {
			while (!done)
				Thread.sleep(10);
		});
	}

	@Test
	void proper_preemptive() {
		assertTimeoutPreemptively(Duration.ofMillis(300), () -> worker.join());
		assertTrue(done);
	}

	@ParameterizedTest
	@ValueSource(ints = { 5, 15 })
	void late_parameters(int ms) throws Exception {
		CompletableFuture.runAsync(() -> count = ms);
		Thread.sleep(ms);
		assertEquals(ms, count);
	}

	@Nested
	class Inner {
		@Test
		void late_nested() throws Exception {
			CompletableFuture<Void> work = CompletableFuture.runAsync(() -> { });
			Thread.sleep(5);
			assertTrue(work.isDone());
		}
	}
}
