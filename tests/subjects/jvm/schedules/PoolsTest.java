package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/** Threads that were there before the test: pools, and an event loop of the kind that user interfaces have. */
public class PoolsTest {
	/** Runs what it is given, one after the other, on a thread of its own. */
	private static final class Loop extends Thread {
		private final Queue<Runnable> events = new ArrayDeque<>();

		Loop() {
			setDaemon(true);
			start();
		}

		void post(Runnable event) {
			synchronized (events) {
				events.add(event);
				events.notify();
			}
		}

		@Override
		public void run() {
			try {
				for (;;) {
					Runnable event;
					synchronized (events) {
						while (events.isEmpty())
							events.wait();
						event = events.remove();
					}
					event.run();
				}
			} catch (InterruptedException interrupted) {
				return;
			}
		}
	}

	private static Loop loop;
	private static ThreadPoolExecutor pool;
	private static ScheduledExecutorService timers;
	private volatile int count;
	private volatile boolean done;

	@BeforeClass
	public static void startThreads() {
		loop = new Loop();
		pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(3);
		pool.prestartAllCoreThreads();
		timers = Executors.newScheduledThreadPool(1);
		timers.submit(() -> { });
	}

	@AfterClass
	public static void stopThreads() {
		pool.shutdownNow();
		timers.shutdownNow();
	}

	@Test
	public void late_pool() throws Exception {
		pool.execute(() -> count++);
		Thread.sleep(20);
		assertEquals(1, count);
	}

	@Test
	public void proper_pool() throws Exception {
		Future<?> work = pool.submit(() -> count++);
		work.get();
		assertEquals(1, count);
	}

	@Test
	public void late_one_of_three() throws Exception {
		AtomicInteger sum = new AtomicInteger();
		List<Future<?>> works = new ArrayList<>();
		for (int i = 0; i < 3; i++)
			works.add(pool.submit(() -> sum.incrementAndGet()));
		works.get(0).get();
		Thread.sleep(10);
		assertEquals(3, sum.get());
	}

	@Test
	public void proper_three() throws Exception {
		AtomicInteger sum = new AtomicInteger();
		List<Future<?>> works = new ArrayList<>();
		for (int i = 0; i < 3; i++)
			works.add(pool.submit(() -> sum.incrementAndGet()));
		for (Future<?> work : works)
			work.get(10, TimeUnit.SECONDS);
		assertEquals(3, sum.get());
	}

	@Test
	public void late_loop() throws Exception {
		loop.post(() -> done = true);
		Thread.sleep(30);
		assertTrue(done);
	}

	@Test
	public void proper_loop() throws Exception {
		CountDownLatch latch = new CountDownLatch(1);
		loop.post(() -> {
			done = true;
			latch.countDown();
		});
		assertTrue(latch.await(5, TimeUnit.SECONDS));
		assertTrue(done);
	}

	@Test
	public void late_callback() throws Exception {
		List<String> seen = Collections.synchronizedList(new ArrayList<>());
		CompletableFuture<Void> work = CompletableFuture.runAsync(() -> seen.add("work"), pool);
		work.thenRunAsync(() -> seen.add("callback"), pool);
		work.join();
		Thread.sleep(10);
		assertEquals(2, seen.size());
	}

	@Test
	public void proper_callback() throws Exception {
		List<String> seen = Collections.synchronizedList(new ArrayList<>());
		CompletableFuture.runAsync(() -> seen.add("work"), pool).thenRunAsync(() -> seen.add("callback"), pool).join();
		assertEquals(2, seen.size());
	}

	/** What a thread does after it has handed something over. */
	@Test
	public void inside_after_signal() throws Exception {
		Semaphore ready = new Semaphore(0);
		loop.post(() -> {
			ready.release();
			done = true;
		});
		ready.acquire();
		Thread.sleep(10);
		assertTrue(done);
	}

	@Test
	public void proper_semaphore() throws Exception {
		Semaphore ready = new Semaphore(0);
		loop.post(() -> {
			done = true;
			ready.release();
		});
		ready.acquire();
		assertTrue(done);
	}

	@Test
	public void late_timer_of_pool() throws Exception {
		timers.schedule(() -> done = true, 20, TimeUnit.MILLISECONDS);
		Thread.sleep(80);
		assertTrue(done);
	}

	@Test
	public void proper_repeated_timer() throws Exception {
		CountDownLatch ticks = new CountDownLatch(3);
		Future<?> timer = timers.scheduleAtFixedRate(ticks::countDown, 5, 10, TimeUnit.MILLISECONDS);
		assertTrue(ticks.await(20, TimeUnit.SECONDS));
		timer.cancel(false);
	}

	@Test
	public void proper_barrier() throws Exception {
		CyclicBarrier barrier = new CyclicBarrier(3);
		for (int i = 0; i < 2; i++)
			pool.execute(() -> {
				try {
					barrier.await();
				} catch (Exception error) {
					done = true;
				}
			});
		barrier.await();
		Phaser phaser = new Phaser(2);
		pool.execute(phaser::arrive);
		phaser.awaitAdvance(phaser.arrive());
		assertTrue(!done);
	}

	@Test
	public void proper_exchange() throws Exception {
		Exchanger<String> exchanger = new Exchanger<>();
		SynchronousQueue<String> queue = new SynchronousQueue<>();
		pool.execute(() -> {
			try {
				exchanger.exchange("a");
				queue.put("c");
			} catch (InterruptedException interrupted) {
				done = true;
			}
		});
		assertEquals("a", exchanger.exchange("b"));
		assertEquals("c", queue.take());
	}

	@Test
	public void proper_parallel_stream() {
		assertEquals(499500, IntStream.range(0, 1000).parallel().sum());
	}

	@Test
	public void proper_synchronized() throws Exception {
		CountDownLatch end = new CountDownLatch(3);
		for (int i = 0; i < 3; i++)
			pool.execute(() -> {
				for (int k = 0; k < 100; k++)
					synchronized (PoolsTest.this) {
						count++;
					}
				end.countDown();
			});
		end.await();
		synchronized (this) {
			assertEquals(300, count);
		}
	}
}
