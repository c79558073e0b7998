package subject;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/** A folder of the whole class, which has another name in each run. */
public class FolderTest {
	private static Path folder;

	@BeforeClass public static void makes() throws IOException {
		folder = Files.createTempDirectory("shared");
	}

	@AfterClass public static void removes() throws IOException {
		for (File file : folder.toFile().listFiles())
			Files.delete(file.toPath());
		Files.delete(folder);
	}

	@Test public void leaves() throws IOException {
		Files.writeString(folder.resolve("left.txt"), "left");
	}
}
