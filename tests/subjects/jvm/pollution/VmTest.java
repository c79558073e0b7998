package subject;

import java.io.*;
import java.util.*;
import org.junit.Test;

/** What a VM has of its own. */
public class VmTest {
	// leaves: system-property[subject.property]: (absent) → "a"
	@Test public void property() { System.setProperty("subject.property", "a"); }
	// leaves: default-locale: en_US → fr_FR
	@Test public void locale() { Locale.setDefault(Locale.FRANCE); }
	// leaves: default-time-zone: ZoneInfo{ID="UTC", rawOffset=0} → ZoneInfo{ID="Asia/Tokyo", rawOffset=32400000}
	@Test public void zone() { TimeZone.setDefault(TimeZone.getTimeZone("Asia/Tokyo")); }
	// leaves: System.out: *
	@Test public void out() { System.setOut(new PrintStream(new ByteArrayOutputStream())); }
	// leaves: System.in: *
	@Test public void in() { System.setIn(new ByteArrayInputStream(new byte[0])); }
	// leaves: default-uncaught-exception-handler: *
	@Test public void handler() { Thread.setDefaultUncaughtExceptionHandler((thread, problem) -> { }); }
	// leaves: shutdown-hooks: *
	@Test public void hook() { Runtime.getRuntime().addShutdownHook(new Thread(() -> { })); }
	@Test public void reads() { Locale.getDefault(); TimeZone.getDefault(); System.getProperty("subject.property"); }
	@Test public void prints() {
		System.out.println("a line");
		System.err.printf("%d%n", 1);
		new Exception("a trace").printStackTrace();
	}
	@Test public void putsBack() {
		Locale before = Locale.getDefault();
		Locale.setDefault(Locale.JAPAN);
		Locale.setDefault(before);
		System.setProperty("subject.other", "a");
		System.clearProperty("subject.other");
	}
}
