package subject;

import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.Collection;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

@RunWith(Parameterized.class)
public class ManyTest {
	@Parameterized.Parameters
	public static Collection<Object[]> numbers() {
		return Arrays.asList(new Object[][] { { 1 }, { 2 }, { 30 } });
	}

	private final int number;

	public ManyTest(int number) {
		this.number = number;
	}

	@Test
	public void small() {
		assertTrue("number " + number, number < 10);
	}

	@Test
	public void positive() {
		assertTrue(number > 0);
	}
}
