package subject;

import static org.junit.Assert.assertFalse;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.Test;

/** A file in the working directory that one test leaves and another trips over. */
public class FilesTest {
	private static final File LEFT = new File("left-by-test.txt");

	@Test
	public void cleanFile() throws Exception {
		Path own = Files.createTempFile("own", ".txt");
		Files.delete(own);
	}

	@Test
	public void findsFile() {
		assertFalse(LEFT.exists());
	}

	@Test
	public void leavesFile() throws Exception {
		Files.write(LEFT.toPath(), new byte[] { 1 });
	}
}
