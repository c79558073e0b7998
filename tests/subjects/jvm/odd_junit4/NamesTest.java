package subject;

import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameter;
import org.junit.runners.Parameterized.Parameters;

/** Names that two tests share, and names that cannot be written. */
@RunWith(Parameterized.class)
public class NamesTest {
	@Parameter(0) public String name;
	@Parameter(1) public boolean good;

	@Parameters(name = "{0}")
	public static List<Object[]> all() {
		return Arrays.asList(new Object[][] {
			{"same", true}, {"other", true}, {"same", false}, {"nul\0nul", true}, {"half\ud83d", true},
		});
	}

	@Test public void isGood() {
		assertTrue(good);
	}
}
