package subject;

import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.Test;

/** One test reads what another sets; nobody reads what the third adds to. */
public class ReadersTest {
	static final class Settings {
		static final Settings instance = new Settings();
		static final Settings other = new Settings();
		int level;
	}

	static final List<String> added = new ArrayList<>();

	@Test public void adds() { added.add("a"); }
	@Test public void sets() { Settings.instance.level = 5; }
	@Test public void reads() { assertTrue(Settings.instance.level >= 0); }
	@Test public void readsOther() { assertTrue(Settings.other.level >= 0); }
	@Test public void nothing() { }
}
