package subject;

import java.io.FileInputStream;
import java.io.RandomAccessFile;
import java.lang.ref.SoftReference;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.BeforeClass;
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** What tests leave in the process of the VM, seen from outside. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class ProcessTest {
	/* Not what is compared: it would be found a second time. */
	static final SoftReference<List<Object>> kept = new SoftReference<>(new ArrayList<>());

	@BeforeClass public static void prepare() throws Exception {
		try (RandomAccessFile file = new RandomAccessFile("data", "rw")) {
			file.setLength(4096);
		}
	}

	// leaves: descriptor[data]: absent → *
	@Test public void a_open() throws Exception {
		kept.get().add(new FileInputStream("data"));
	}

	@Test public void b_closed() throws Exception {
		new FileInputStream("data").close();
	}

	// leaves: child[sleep]: absent → running
	@Test public void c_child() throws Exception {
		new ProcessBuilder("sleep", "1000").start();
	}

	@Test public void d_childEnded() throws Exception {
		Process process = new ProcessBuilder("sleep", "1000").start();
		process.destroyForcibly();
		process.waitFor(1000, TimeUnit.SECONDS);
	}

	// leaves: port[tcp 127.0.0.1:*]: absent → listening
	@Test public void e_port() throws Exception {
		kept.get().add(new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1")));
	}

	@Test public void f_portClosed() throws Exception {
		try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
			Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
			socket.getOutputStream().write(1);
		}
	}

	// leaves: lock[data]: absent → *
	@Test public void g_lock() throws Exception {
		FileChannel channel = new RandomAccessFile("data", "rw").getChannel();
		FileLock lock = channel.lock();
		kept.get().add(lock);
	}

	@Test public void h_fileAndLockReleased() throws Exception {
		try (RandomAccessFile file = new RandomAccessFile("other", "rw"); FileLock lock = file.getChannel().lock()) {
			file.write(1);
		}
		new java.io.File("other").delete();
	}

	// leaves: mapping[data]: absent → *
	@Test public void i_mapped() throws Exception {
		try (RandomAccessFile file = new RandomAccessFile("data", "rw")) {
			MappedByteBuffer buffer = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 4096);
			kept.get().add(buffer);
		}
	}

	// leaves: descriptor[data]: absent → *
	@Test public void x_openAgain() throws Exception {
		kept.get().add(new FileInputStream("data"));
	}

	// leaves: port[tcp 127.0.0.1:*]: absent → *
	@Test public void y_connections() throws Exception {
		try (ServerSocket server = new ServerSocket(0, 2, InetAddress.getByName("127.0.0.1"))) {
			for (int i = 0; i < 2; i++)
				kept.get().add(new Socket(server.getInetAddress(), server.getLocalPort()));
		}
	}

	@Test public void z_connectionsClosed() throws Exception {
		for (Object each : kept.get())
			if (each instanceof Socket)
				((Socket) each).close();
	}
}
