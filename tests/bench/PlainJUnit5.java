import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** The plain run of JUnit 5: its launcher, with the classes that are given, and no listener. */
public final class PlainJUnit5 {
	private PlainJUnit5() {
	}

	public static void main(String[] classes) {
		LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
		for (String name : classes)
			request.selectors(selectClass(name));
		LauncherFactory.create().execute(request.build());
		System.exit(0);
	}
}
