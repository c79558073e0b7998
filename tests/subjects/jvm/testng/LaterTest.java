package subject;

import org.testng.annotations.Test;

@Test(dependsOnGroups = "first")
public class LaterTest {
	public void afterGroup() {
	}
}
