package subject;

import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** A thread-local that has its initial value after its first use. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class LocalTest {
	static final ThreadLocal<StringBuilder> buffer = ThreadLocal.withInitial(StringBuilder::new);

	@Test public void a() {}

	@Test public void b() { buffer.get().setLength(0); }

	@Test public void c() { buffer.get().setLength(0); }
}
