package subject;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** Each part of a test leaves something of its own. */
public class PointsTest {
	static int setUp, body, thrown, tearDown, twice;

	@Before public void before() { setUp++; }
	@After public void after() { tearDown++; }

	@Test public void test() throws Exception {
		body++;
		Files.write(Path.of("body.txt"), new byte[body]);
	}

	@Test(expected = IllegalStateException.class) public void throwing() {
		thrown++;
		throw new IllegalStateException();
	}
}
