package subject;

import java.lang.reflect.Field;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.MessageDigest;
import java.security.Provider;
import java.security.Security;
import java.util.Map;
import java.util.Timer;
import java.util.concurrent.*;
import java.util.logging.*;
import org.junit.Test;

/** What a VM has of its own that lies in no static field: threads, loggers, the environment, security providers. */
public class SharedTest {
	private static class Extra extends Provider {
		Extra() { super("Extra", "1.0", "of a test"); }
	}
	private static final Logger kept = Logger.getLogger("subject.kept"), other = Logger.getLogger("subject.other");

	private static Thread sleeper(String name) {
		Thread thread = new Thread(() -> {
			try {
				Thread.sleep(1000000);
			} catch (InterruptedException stopped) {
				/* It ends. */
			}
		}, name);
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	// leaves: thread[sleeper]: *
	@Test public void thread() { sleeper("sleeper"); }
	// leaves: thread[pool-*-thread-*]: *
	@Test public void pool() throws Exception { Executors.newFixedThreadPool(1).submit(() -> 1).get(); }
	// leaves: thread[Timer-*]: *
	@Test public void timer() { new Timer(true); }
	@Test public void threadEnds() throws Exception {
		Thread thread = sleeper("ended");
		thread.interrupt();
		thread.join();
	}
	@Test public void poolEnds() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		pool.submit(() -> 1).get();
		pool.shutdown();
	}
	@Test public void largePoolEnds() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(40);
		for (int i = 0; i < 40; i++)
			pool.submit(() -> 1).get();
		pool.shutdown();
	}
	/** One waits for the other, which ends soon. */
	@Test public void bothEnd() throws Exception {
		CountDownLatch done = new CountDownLatch(1), waits = new CountDownLatch(1);
		Thread waiter = new Thread(() -> {
			try {
				waits.countDown();
				done.await();
			} catch (InterruptedException stopped) {
				/* It ends. */
			}
		}, "waiter");
		Thread waker = new Thread(() -> {
			try {
				Thread.sleep(15);
				done.countDown();
			} catch (InterruptedException stopped) {
				/* It ends. */
			}
		}, "waker");
		waiter.start();
		waker.start();
		waits.await();
	}
	@Test public void commonPool() throws Exception {
		CompletableFuture.supplyAsync(() -> 1).get();
		new CompletableFuture<Integer>().completeOnTimeout(1, 1, TimeUnit.MILLISECONDS).get();
	}

	// leaves: logger[subject.kept]: default → level FINE
	@Test public void level() { kept.setLevel(Level.FINE); }
	// leaves: logger[root]: *
	@Test public void handler() { Logger.getLogger("").addHandler(new MemoryHandler(new ConsoleHandler(), 1, Level.ALL)); }
	@Test public void levelBack() {
		other.setLevel(Level.FINE);
		other.fine("not shown");
		other.setLevel(null);
		Logger.getLogger("subject.fresh").info("a line");
	}

	// leaves: security-providers: *
	@Test public void provider() { Security.addProvider(new Extra()); }
	@Test public void providerBack() throws Exception {
		Security.insertProviderAt(new Extra() {
			@Override public String getName() { return "Another"; }
		}, 1);
		Security.removeProvider("Another");
		MessageDigest.getInstance("SHA-256").digest(new byte[1]);
	}

	@SuppressWarnings("unchecked")
	private static Map<String, String> environment() throws Exception {
		Field inner = System.getenv().getClass().getDeclaredField("m");
		inner.setAccessible(true);
		return (Map<String, String>) inner.get(System.getenv());
	}

	// leaves: environment[SUBJECT_VARIABLE]: unset → "a"
	@Test public void variable() throws Exception { environment().put("SUBJECT_VARIABLE", "a"); }
	@Test public void variableBack() throws Exception {
		environment().put("SUBJECT_OTHER", "a");
		environment().remove("SUBJECT_OTHER");
	}

	/* JUnit 4.13 ends that itself. */
	@Test public void interrupts() { Thread.currentThread().interrupt(); }
	// leaves: test-thread[context-class-loader]: *
	@Test public void loader() {
		Thread.currentThread().setContextClassLoader(new URLClassLoader(new URL[0], SharedTest.class.getClassLoader()));
	}
	@Test public void loaderBack() {
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		Thread.currentThread().setContextClassLoader(null);
		Thread.currentThread().setContextClassLoader(before);
	}
}
