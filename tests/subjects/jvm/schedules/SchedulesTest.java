package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.Test;

/**
 * Hand-overs between threads. late_… fail if the work comes late, early_… if it comes early, hang_… do not end then;
 * proper_… wait as they should, and are never reported.
 */
public class SchedulesTest {
	private volatile boolean done;
	private volatile int count;
	private final Object monitor = new Object();

	private Thread start(Runnable work) {
		Thread thread = new Thread(work);
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	private static void sleep(long ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException interrupted) {
			throw new IllegalStateException(interrupted);
		}
	}

	// ---- threads ----

	@Test
	public void late_thread() throws Exception {
		start(() -> done = true);
		Thread.sleep(50);
		assertTrue(done);
	}

	@Test
	public void proper_thread() throws Exception {
		Thread thread = start(() -> done = true);
		Thread.sleep(50);
		thread.join();
		assertTrue(done);
	}

	@Test
	public void late_join() throws Exception {
		Thread thread = start(() -> done = true);
		thread.join(100);
		assertTrue(done);
	}

	@Test
	public void proper_join() throws Exception {
		Thread thread = start(() -> done = true);
		thread.join(10000);
		assertTrue(done);
	}

	@Test
	public void late_chain() throws Exception {
		Thread thread = start(() -> start(() -> done = true));
		thread.join();
		Thread.sleep(20);
		assertTrue(done);
	}

	@Test
	public void proper_chain() throws Exception {
		CountDownLatch latch = new CountDownLatch(1);
		Thread thread = start(() -> start(() -> {
			done = true;
			latch.countDown();
		}));
		thread.join();
		latch.await();
		assertTrue(done);
	}

	// ---- polled flags ----

	@Test
	public void late_polls() throws Exception {
		start(() -> done = true);
		for (int i = 0; i < 10 && !done; i++)
			Thread.sleep(10);
		assertTrue(done);
	}

	@Test
	public void proper_polls() throws Exception {
		start(() -> done = true);
		while (!done)
			Thread.sleep(10);
		assertTrue(done);
	}

	@Test
	public void proper_spins() {
		start(() -> done = true);
		while (!done)
			Thread.onSpinWait();
		assertTrue(done);
	}

	@Test
	public void proper_yields() {
		start(() -> done = true);
		while (!done)
			Thread.yield();
		assertTrue(done);
	}

	@Test
	public void proper_polls_with_deadline() throws Exception {
		long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
		start(() -> done = true);
		while (!done && System.nanoTime() < end)
			Thread.sleep(5);
		assertTrue(done);
	}

	// ---- monitors ----

	@Test
	public void late_wait() throws Exception {
		start(() -> {
			synchronized (monitor) {
				done = true;
				monitor.notifyAll();
			}
		});
		synchronized (monitor) {
			if (!done)
				monitor.wait(100);
			assertTrue(done);
		}
	}

	@Test
	public void proper_wait() throws Exception {
		start(() -> {
			synchronized (monitor) {
				done = true;
				monitor.notifyAll();
			}
		});
		synchronized (monitor) {
			while (!done)
				monitor.wait();
		}
		assertTrue(done);
	}

	@Test
	public void proper_timed_wait() throws Exception {
		start(() -> {
			sleep(20);
			synchronized (monitor) {
				done = true;
				monitor.notify();
			}
		});
		synchronized (monitor) {
			while (!done)
				monitor.wait(60000);
		}
		assertTrue(done);
	}

	@Test
	public void hang_lost_notify() throws Exception {
		start(() -> {
			sleep(20);
			synchronized (monitor) {
				monitor.notifyAll();
			}
		});
		synchronized (this) {
			count++;
		}
		synchronized (monitor) {
			monitor.wait();
		}
	}

	// ---- locks, conditions, queues, latches ----

	@Test
	public void late_condition() throws Exception {
		ReentrantLock lock = new ReentrantLock();
		Condition changed = lock.newCondition();
		start(() -> {
			lock.lock();
			try {
				done = true;
				changed.signalAll();
			} finally {
				lock.unlock();
			}
		});
		lock.lock();
		try {
			if (!done)
				changed.await(100, TimeUnit.MILLISECONDS);
			assertTrue(done);
		} finally {
			lock.unlock();
		}
	}

	@Test
	public void proper_condition() throws Exception {
		ReentrantLock lock = new ReentrantLock();
		Condition changed = lock.newCondition();
		start(() -> {
			lock.lock();
			try {
				done = true;
				changed.signalAll();
			} finally {
				lock.unlock();
			}
		});
		lock.lock();
		try {
			while (!done)
				changed.await();
			assertTrue(done);
		} finally {
			lock.unlock();
		}
	}

	@Test
	public void late_queue() throws Exception {
		BlockingQueue<String> queue = new LinkedBlockingQueue<>();
		start(() -> queue.add("x"));
		assertEquals("x", queue.poll(50, TimeUnit.MILLISECONDS));
	}

	@Test
	public void proper_queue() throws Exception {
		BlockingQueue<String> queue = new LinkedBlockingQueue<>();
		start(() -> queue.add("x"));
		assertEquals("x", queue.poll(30, TimeUnit.SECONDS));
	}

	@Test
	public void late_consumer() throws Exception {
		BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(4);
		CountDownLatch ready = new CountDownLatch(1);
		start(() -> {
			try {
				ready.countDown();
				count += queue.take();
			} catch (InterruptedException interrupted) {
				done = true;
			}
		});
		ready.await();
		queue.put(5);
		Thread.sleep(30);
		assertEquals(5, count);
	}

	@Test
	public void proper_consumer() throws Exception {
		BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(4);
		Thread thread = start(() -> {
			try {
				count += queue.take();
			} catch (InterruptedException interrupted) {
				done = true;
			}
		});
		queue.put(5);
		thread.join(30000);
		assertEquals(5, count);
	}

	@Test
	public void late_latch() throws Exception {
		CountDownLatch latch = new CountDownLatch(1);
		start(latch::countDown);
		assertTrue(latch.await(100, TimeUnit.MILLISECONDS));
	}

	@Test
	public void proper_latch() throws Exception {
		CountDownLatch latch = new CountDownLatch(1);
		start(latch::countDown);
		assertTrue(latch.await(10, TimeUnit.SECONDS));
	}

	@Test
	public void late_park() {
		Thread test = Thread.currentThread();
		start(() -> {
			done = true;
			LockSupport.unpark(test);
		});
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
		assertTrue(done);
	}

	@Test
	public void proper_park() {
		Thread test = Thread.currentThread();
		start(() -> {
			done = true;
			LockSupport.unpark(test);
		});
		while (!done)
			LockSupport.park();
		assertTrue(done);
	}

	// ---- executors and futures ----

	@Test
	public void late_executor() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		pool.execute(() -> done = true);
		pool.shutdown();
		pool.awaitTermination(100, TimeUnit.MILLISECONDS);
		assertTrue(done);
	}

	@Test
	public void proper_executor() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		Future<?> future = pool.submit(() -> done = true);
		future.get();
		pool.shutdown();
		assertTrue(done);
	}

	@Test
	public void late_future() throws Exception {
		CompletableFuture<String> future = CompletableFuture.supplyAsync(() -> "x");
		Thread.sleep(20);
		assertTrue(future.isDone());
	}

	@Test
	public void proper_future() throws Exception {
		CompletableFuture<String> future = CompletableFuture.supplyAsync(() -> "x").thenApplyAsync(x -> x + "y");
		assertEquals("xy", future.get(20, TimeUnit.SECONDS));
	}

	@Test
	public void late_fork() throws Exception {
		ForkJoinTask<?> task = ForkJoinPool.commonPool().submit(() -> count++);
		Thread.sleep(30);
		assertEquals(1, count);
		task.join();
	}

	@Test
	public void proper_fork() {
		ForkJoinPool.commonPool().submit(() -> count++).join();
		assertEquals(1, count);
	}

	@Test
	public void late_timer() throws Exception {
		Timer timer = new Timer(true);
		timer.schedule(new TimerTask() {
			@Override
			public void run() {
				done = true;
			}
		}, 20);
		Thread.sleep(100);
		assertTrue(done);
		timer.cancel();
	}

	@Test
	public void proper_timer() throws Exception {
		CountDownLatch latch = new CountDownLatch(1);
		Timer timer = new Timer(true);
		timer.schedule(new TimerTask() {
			@Override
			public void run() {
				latch.countDown();
			}
		}, 20);
		latch.await();
		timer.cancel();
	}

	@Test
	public void late_scheduled() throws Exception {
		ScheduledExecutorService pool = Executors.newScheduledThreadPool(1);
		pool.schedule(() -> done = true, 10, TimeUnit.MILLISECONDS);
		Thread.sleep(60);
		assertTrue(done);
		pool.shutdownNow();
	}

	@Test
	public void proper_scheduled() throws Exception {
		ScheduledExecutorService pool = Executors.newScheduledThreadPool(1);
		pool.schedule(() -> done = true, 10, TimeUnit.MILLISECONDS).get();
		assertTrue(done);
		pool.shutdownNow();
	}

	// ---- pipes and sockets ----

	@Test
	public void late_pipe() throws Exception {
		PipedInputStream in = new PipedInputStream();
		PipedOutputStream out = new PipedOutputStream(in);
		start(() -> {
			try {
				out.write(7);
				out.flush();
			} catch (java.io.IOException error) {
				done = true;
			}
		});
		Thread.sleep(30);
		assertEquals(1, in.available());
	}

	@Test
	public void late_socket() throws Exception {
		try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
				Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
				Socket other = server.accept()) {
			start(() -> {
				try {
					count = other.getInputStream().read();
				} catch (java.io.IOException error) {
					count = -1;
				}
			});
			client.getOutputStream().write(9);
			Thread.sleep(50);
			assertEquals(9, count);
		}
	}

	@Test
	public void proper_socket() throws Exception {
		try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
				Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
				Socket other = server.accept()) {
			start(() -> {
				try {
					other.getOutputStream().write(other.getInputStream().read() + 1);
				} catch (java.io.IOException error) {
					count = -1;
				}
			});
			client.getOutputStream().write(9);
			assertEquals(10, client.getInputStream().read());
		}
	}

	// ---- early ----

	@Test
	public void early_flag() {
		start(() -> {
			sleep(50);
			done = true;
		});
		assertFalse(done);
	}

	@Test
	public void early_counter() throws Exception {
		AtomicInteger number = new AtomicInteger();
		Thread thread = start(() -> {
			sleep(30);
			number.incrementAndGet();
		});
		number.set(5);
		thread.join();
		assertEquals(6, number.get());
	}

	@Test
	public void proper_gate() throws Exception {
		CountDownLatch gate = new CountDownLatch(1);
		Thread thread = start(() -> {
			try {
				gate.await();
			} catch (InterruptedException interrupted) {
				count = 1;
			}
			done = true;
		});
		assertFalse(done);
		gate.countDown();
		thread.join();
		assertTrue(done);
	}

	// ---- limits of the test ----

	@Test(timeout = 500)
	public void proper_with_limit() throws Exception {
		CountDownLatch latch = new CountDownLatch(1);
		start(latch::countDown);
		latch.await();
	}

	@Test(timeout = 500)
	public void late_with_limit() throws Exception {
		start(() -> done = true);
		Thread.sleep(20);
		assertTrue(done);
	}

	@Test
	public void proper_interrupt() throws Exception {
		Thread thread = start(() -> {
			try {
				Thread.sleep(100000);
			} catch (InterruptedException interrupted) {
				done = true;
			}
		});
		thread.interrupt();
		thread.join();
		assertTrue(done);
	}
}
