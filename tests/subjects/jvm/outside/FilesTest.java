package subject;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.FileWriter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Properties;
import org.junit.BeforeClass;
import org.junit.FixMethodOrder;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.junit.runners.MethodSorters;

/** What tests do to files; the folder that they run in is empty at first. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class FilesTest {
	static final Path config = Paths.get("config.txt");
	@Rule public TemporaryFolder folder = new TemporaryFolder();

	/* What a class fixture makes is no test's doing. */
	@BeforeClass public static void prepare() throws IOException {
		write(config, "one");
		write(Paths.get("old.txt"), "old");
		write(Paths.get("same.txt"), "same");
	}

	private static void write(Path path, String text) throws IOException {
		Files.write(path, text.getBytes());
	}

	// leaves: changed.txt: absent → *
	@Test public void a_creates() throws IOException {
		write(Paths.get("changed.txt"), "x");
	}

	@Test public void b_createsAndDeletes() throws IOException {
		write(Paths.get("gone.txt"), "x");
		assertTrue(new File("gone.txt").delete());
	}

	// leaves: config.txt: * → *
	@Test public void c_changes() throws IOException {
		write(config, "two");
	}

	@Test public void d_changesBack() throws IOException {
		write(config, "three");
		write(config, "two");
	}

	// leaves: old.txt: * → absent
	@Test public void e_removes() throws IOException {
		Files.delete(Paths.get("old.txt"));
	}

	@Test public void f_writesTheSame() throws IOException {
		write(Paths.get("same.txt"), "same");
	}

	// leaves: $TMPDIR/leftXXXXXX.tmp: absent → *
	@Test public void g_temporary() throws IOException {
		File.createTempFile("left", ".tmp");
	}

	@Test public void h_temporaryRule() throws IOException {
		write(folder.newFile("x").toPath(), "x");
	}

	@Test public void i_temporaryDeleted() throws IOException {
		File file = File.createTempFile("gone", ".tmp");
		assertTrue(file.delete());
	}

	// leaves: thread.txt: absent → *
	@Test public void j_inAThread() throws Exception {
		Thread thread = new Thread(() -> {
			try (FileWriter writer = new FileWriter("thread.txt")) {
				writer.write("x");
			} catch (IOException error) {
				throw new IllegalStateException(error);
			}
		});
		thread.start();
		thread.join();
	}

	// leaves: child.txt: absent → *
	@Test public void k_inAChild() throws Exception {
		assertEquals(0, new ProcessBuilder("touch", "child.txt").start().waitFor());
	}

	@Test public void l_reads() throws IOException {
		assertEquals("two", new String(Files.readAllBytes(config)));
	}

	/* Code and resources that are loaded late, random numbers, a class of NIO. */
	@Test public void m_theVmsOwn() throws Exception {
		try (InputStream stream = FilesTest.class.getResourceAsStream("/subject/FilesTest.class")) {
			new Properties().load(stream);
		} catch (IllegalArgumentException malformed) {
			/* It is none. */
		}
		new java.security.SecureRandom().nextInt();
		java.nio.channels.Selector.open().close();
	}
}
