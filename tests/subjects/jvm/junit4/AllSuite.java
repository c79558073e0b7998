package subject;

import org.junit.runner.RunWith;
import org.junit.runners.Suite;

/** Its tests are those of the others, and are listed once. */
@RunWith(Suite.class)
@Suite.SuiteClasses({ BasicTest.class, FixtureTest.class })
public class AllSuite {
}
