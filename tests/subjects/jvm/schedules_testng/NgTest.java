package subject;

import static org.testng.Assert.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.testng.annotations.Test;

public class NgTest {
	private volatile boolean done;

	private void start(CountDownLatch latch) {
		new Thread(() -> {
			done = true;
			latch.countDown();
		}).start();
	}

	@Test
	public void late_flag() throws Exception {
		done = false;
		start(new CountDownLatch(1));
		Thread.sleep(15);
		assertTrue(done);
	}

	@Test
	public void proper_latch() throws Exception {
		CountDownLatch latch = new CountDownLatch(1);
		start(latch);
		assertTrue(latch.await(1, TimeUnit.MINUTES));
	}

	@Test(timeOut = 400)
	public void proper_limit() throws Exception {
		CountDownLatch latch = new CountDownLatch(1);
		start(latch);
		latch.await();
	}

	@Test(timeOut = 2000)
	public void late_limit() throws Exception {
		CountDownLatch latch = new CountDownLatch(1);
		start(latch);
		assertTrue(latch.await(40, TimeUnit.MILLISECONDS));
	}
}
