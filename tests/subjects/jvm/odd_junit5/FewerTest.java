package subject;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestMethodOrder;

/** A factory that makes fewer tests after another test. */
@TestMethodOrder(MethodOrderer.MethodName.class)
public class FewerTest {
	private static int n = 3;

	@Test void a() {
		n = 1;
	}

	@TestFactory Stream<DynamicTest> b() {
		return IntStream.range(0, n).mapToObj(i -> dynamicTest("made " + i, () -> assertEquals(i, i)));
	}

	@Test void c() {
		assertEquals(1, n);
	}
}
