package subject;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.junit.jupiter.api.TestTemplate;

import java.util.stream.IntStream;
import java.util.stream.Stream;

/** JUnit 5 makes the object before it says that the test starts. */
public class ConstructorTest {
	static int byConstructor, byNested, byProvider;

	private final int made = ++byConstructor;

	@Test void first() {
	}

	@Test void second() {
	}

	@Test void third() {
	}

	/** What is done once for the tests of a nested class is not a test's. */
	@Nested
	@ExtendWith(Fixture.class)
	class Inner {
		@Test void fourth() {
		}
	}

	static class Fixture implements BeforeAllCallback {
		@Override
		public void beforeAll(ExtensionContext context) {
			byNested++;
		}
	}

	/** Nor is what makes the next invocation. */
	@TestTemplate
	@ExtendWith(Provider.class)
	void made() {
		assertTrue(byProvider > 0);
	}

	static class Provider implements TestTemplateInvocationContextProvider {
		@Override
		public boolean supportsTestTemplate(ExtensionContext context) {
			return true;
		}

		@Override
		public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
			return IntStream.range(0, 3).mapToObj(i -> {
				byProvider++;
				return new TestTemplateInvocationContext() {
				};
			});
		}
	}
}
