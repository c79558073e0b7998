package subject;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Each part of a test leaves something of its own. */
public class PointsTest {
	static int setUp, body, thrown, tearDown, twice;

	@BeforeEach public void before() { setUp++; }
	@AfterEach public void after() { tearDown++; }

	@Test public void test() throws Exception {
		body++;
		Files.write(Path.of("body.txt"), new byte[body]);
	}

	@RepeatedTest(2) public void twice() { twice++; }
}
