package polygraph;

import java.lang.reflect.Executable;

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
	static native void runs(Executable method);

	static native void ends(int entry, byte[] data, int n);

	static native int line(Executable method);

	static native String source(Class<?> of);
}
