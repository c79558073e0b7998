package polygraph;

import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.DynamicTestInvocationContext;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/** While tests are listed: those that templates and factories make are told of, but do not run. */
public final class JUnit5Listing implements ExecutionCondition, InvocationInterceptor {
	static boolean active;

	@Override
	public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
		String id = context.getUniqueId();
		String last = id.substring(id.lastIndexOf('['));
		return active && (last.startsWith("[test-template-invocation:") || last.startsWith("[method:"))
			? ConditionEvaluationResult.disabled("only listed")
			: ConditionEvaluationResult.enabled("");
	}

	@Override
	public void interceptDynamicTest(Invocation<Void> invocation, DynamicTestInvocationContext context,
		ExtensionContext extension) throws Throwable {
		if (active)
			invocation.skip();
		else
			invocation.proceed();
	}

	@Override
	public void interceptTestMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> context,
		ExtensionContext extension) throws Throwable {
		if (active)
			invocation.skip();
		else
			invocation.proceed();
	}
}
