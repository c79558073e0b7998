package subject;

import static org.testng.Assert.assertEquals;
import static org.testng.Assert.assertTrue;

import org.testng.annotations.BeforeMethod;
import org.testng.annotations.DataProvider;
import org.testng.annotations.Test;

public class StepsTest {
	static int shared, setUps;

	@BeforeMethod
	public void setUp() {
		setUps++;
	}

	@Test(groups = "first")
	public void opens() {
		System.out.println("opened");
	}

	@Test(dependsOnMethods = "opens")
	public void writes() {
	}

	@Test(dependsOnMethods = "writes")
	public void closes() {
	}

	@Test
	public void fails() {
		assertEquals(1 + 1, 3);
	}

	@Test(dependsOnMethods = "fails")
	public void afterFailure() {
	}

	@DataProvider
	public Object[][] numbers() {
		return new Object[][] { { 1 }, { 2 } };
	}

	@Test(dataProvider = "numbers")
	public void small(int number) {
		assertTrue(number < 10);
	}

	@Test(enabled = false)
	public void disabled() {
	}

	@Test
	public void polluter() {
		shared = 1;
	}

	@Test
	public void victim() {
		assertEquals(shared, 0);
	}
}
