package polygraph;

import java.lang.invoke.MethodType;
import java.lang.reflect.Method;

/** The agent that the VM was started with: src/vm/vm_agent.c registers these. */
final class Agent {
	private Agent() {
	}

	static native void send(int kind, byte[] data, int n);

	static native byte[] receive();

	/** Only the framework's own code ran since the last test ended, where it follows. */
	static native void starts(int entry, boolean follows);

	/** Are the points between set-up, test and tear-down looked at? */
	static native boolean wantsPoints();

	/** The test that started is this method. */
	static void runs(Method method) {
		runs(method.getDeclaringClass(), method.getName(), descriptor(method));
	}

	private static native void runs(Class<?> of, String name, String descriptor);

	static native void ends(int entry, byte[] data, int n);

	/** The method's first line; 0: not known. */
	static int line(Method method) {
		return line(method.getDeclaringClass(), method.getName(), descriptor(method));
	}

	private static native int line(Class<?> of, String name, String descriptor);

	/** Methods are named to the agent: JNI initialises the class of one that is handed over, which is the tests' to do. */
	private static String descriptor(Method method) {
		return MethodType.methodType(method.getReturnType(), method.getParameterTypes()).toMethodDescriptorString();
	}

	static native String source(Class<?> of);
}
