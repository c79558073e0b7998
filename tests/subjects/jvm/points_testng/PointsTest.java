package subject;

import java.nio.file.Files;
import java.nio.file.Path;
import org.testng.annotations.AfterMethod;
import org.testng.annotations.BeforeMethod;
import org.testng.annotations.Test;

/** Each part of a test leaves something of its own. */
public class PointsTest {
	static int setUp, body, thrown, tearDown, twice;

	@BeforeMethod public void before() { setUp++; }
	@AfterMethod public void after() { tearDown++; }

	@Test public void test() throws Exception {
		body++;
		Files.write(Path.of("body.txt"), new byte[body]);
	}

	@Test(expectedExceptions = IllegalStateException.class) public void throwing() {
		thrown++;
		throw new IllegalStateException();
	}

	@Test(invocationCount = 2) public void twice() { twice++; }
}
