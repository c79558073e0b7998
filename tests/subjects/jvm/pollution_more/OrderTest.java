package subject;

import static org.junit.Assert.assertTrue;

import java.util.HashMap;
import java.util.Map;
import org.junit.Test;

/** The victim depends on one of two variables that the polluter changes. */
public class OrderTest {
	static final class Config {
		static final Map<String, String> values = new HashMap<>();
		static int calls;
	}

	@Test public void polluter() {
		Config.values.put("a", "b");
		Config.calls++;
	}

	@Test public void victim() { assertTrue(Config.values.isEmpty()); }
}
