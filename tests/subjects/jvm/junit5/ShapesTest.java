package subject;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShapesTest {
	static int shared;

	@BeforeEach
	void setUp() {
	}

	@Test
	void passes() {
	}

	@Test
	@DisplayName("a name with words")
	void named() {
	}

	@Test
	void fails() {
		assertEquals(3, 1 + 1);
	}

	@Test
	@Disabled("not now")
	void disabled() {
	}

	@Test
	void assumes() {
		assumeTrue(false, "never");
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 30 })
	void small(int number) {
		assertTrue(number < 10);
	}

	static Stream<String> words() {
		return Stream.of("a", "b");
	}

	@ParameterizedTest
	@MethodSource("words")
	void word(String word) {
		assertEquals(1, word.length());
	}

	@RepeatedTest(2)
	void again() {
	}

	@TestFactory
	List<DynamicTest> made() {
		return List.of(dynamicTest("first", () -> {}), dynamicTest("second", () -> assertTrue(false, "made to fail")));
	}

	@Test
	void polluter() {
		shared = 1;
	}

	@Test
	void victim() {
		assertEquals(0, shared);
	}

	@Nested
	class Inner {
		@Test
		void inside() {
		}

		@Nested
		class Deeper {
			@Test
			void deep() {
			}
		}
	}
}
