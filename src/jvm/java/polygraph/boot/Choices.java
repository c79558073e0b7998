package polygraph.boot;

import java.util.Collection;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.Map;
import java.util.Spliterator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

/**
 * What changed methods of the library call (vm/vm_class.h, vm/vm_models.c). Which
 * choice is made is decided by the agent; here it is carried out.
 *
 * It is patched into java.base and called before the VM is ready, so it uses nothing
 * that needs more: no lambda, no concatenation.
 */
public final class Choices {
    /** Whether choices are made at all: set by the agent, in tests only. */
    static boolean on;

    private Choices() {
    }

    // ---- of the agent ----

    /**
     * The model as which a call counts, if it is in use and the call is the
     * program's; else -1.
     */
    static native int wanted(int model);

    /** The order in which n things come; null: as they are. */
    static native int[] order(int model, int n, long equal, Object object, String about);

    /** A number from 0 to alternatives - 1; 0: as usual. */
    static native long pick(int model, long alternatives, long equal, Object object, String about);

    private static native void nameThread(Thread thread);

    // ---- keys ----

    /**
     * Equal things have equal keys. No method of the program is called: what is not
     * one of the library's plain values counts as nothing.
     */
    static long key(Object object) {
        if (object instanceof String || object instanceof Number && object.getClass().getClassLoader() == null
                || object instanceof Character || object instanceof Boolean)
            return object.hashCode() + 1L;
        if (object instanceof Class)
            return ((Class<?>) object).getName().hashCode() + 1L;
        if (object instanceof Enum)
            return ((Enum<?>) object).name().hashCode() + 1L;
        return 0;
    }

    static long key(Object[] all, int n) {
        long key = n;
        for (int i = 0; i < n; i++) {
            Object one = all[i];
            if (one instanceof Map.Entry && one.getClass().getClassLoader() == null)
                key = key * 31 + key(((Map.Entry<?, ?>) one).getKey());
            else
                key = key * 31 + key(one);
        }
        return key;
    }

    static String about(Object self) {
        if (self instanceof Class)
            return ((Class<?>) self).getName();
        if (self instanceof java.io.File)
            return ((java.io.File) self).getPath();
        return null;
    }

    // ---- iteration ----

    /** Of a set whose remove() takes what the iterator gave. */
    public static Object iterator(Object plain, Object self, int model) {
        if (!on || (model = wanted(model)) < 0)
            return plain;
        return ChosenIterator.of((Iterator<?>) plain, (Original) self, ChosenIterator.BY_ELEMENT, self, model);
    }

    /** Of a map's values; self is the map. */
    public static Object values(Object plain, Object self, int model) {
        if (!on)
            return plain;
        Object entries = ((Map<?, ?>) self).entrySet();
        if (!(entries instanceof Original) || (model = wanted(model)) < 0)
            return plain;
        return ChosenIterator.of((Iterator<?>) plain, (Original) entries, ChosenIterator.BY_ENTRY, self, model);
    }

    /** Of a collection that can have the same thing more than once. */
    public static Object positions(Object plain, Object self, int model) {
        if (!on || (model = wanted(model)) < 0)
            return plain;
        return ChosenIterator.of((Iterator<?>) plain, (Original) self, ChosenIterator.BY_POSITION, self, model);
    }

    /** Of a queue, whose elements move when one of them is removed. */
    public static Object queue(Object plain, Object self, int model) {
        if (!on || (model = wanted(model)) < 0)
            return plain;
        return ChosenIterator.of((Iterator<?>) plain, (Original) self, ChosenIterator.BY_IDENTITY, self, model);
    }

    /** Of entries that are only good until one of them is removed. */
    public static Object entries(Object plain, Object self, int model) {
        if (!on || (model = wanted(model)) < 0)
            return plain;
        return ChosenIterator.of((Iterator<?>) plain, (Original) self, ChosenIterator.BY_NEW_ENTRY, self, model);
    }

    /** What cannot be iterated twice; nothing is removed from it. */
    public static Object listing(Object plain, Object self, int model) {
        if (!on || (model = wanted(model)) < 0)
            return plain;
        return new ChosenListing((Iterator<?>) plain, model);
    }

    public static Object enumeration(Object plain, Object self, int model) {
        if (!on || (model = wanted(model)) < 0)
            return plain;
        return new ChosenListing((Enumeration<?>) plain, model);
    }

    public static Object spliterator(Object plain, Object self, int model) {
        if (!on || (model = wanted(model)) < 0)
            return plain;
        return new ChosenSpliterator((Spliterator<?>) plain, self, model);
    }

    // ---- arrays ----

    /** An array that the caller may have given: its first elements. */
    public static Object filled(Object result, Object self, int model) {
        if (!on || (model = wanted(model)) < 0)
            return result;
        Object[] array = (Object[]) result;
        int n = self instanceof Map ? ((Map<?, ?>) self).size() : ((Collection<?>) self).size();
        permute(array, Math.min(n, array.length), self, model);
        return array;
    }

    /** One that may be somebody else's as well. */
    public static Object array(Object result, Object self, int model) {
        if (!on || result == null || (model = wanted(model)) < 0)
            return result;
        Object[] array = ((Object[]) result).clone();
        permute(array, array.length, self, model);
        return array;
    }

    static void permute(Object[] array, int n, Object self, int model) {
        int[] order = n < 2 ? null : order(model, n, key(array, n) + key(self), self, about(self));
        if (order == null)
            return;
        Object[] before = array.clone();
        for (int i = 0; i < n; i++)
            array[i] = before[order[i]];
    }

    /** Each row gets more names, copies of its last one. */
    public static Object longerRows(Object result, Object self, int model) {
        if (!on || result == null || (model = wanted(model)) < 0)
            return result;
        String[][] rows = (String[][]) result;
        long more = pick(model, 5, rows.length, self, null);
        if (more == 0)
            return result;
        String[][] longer = new String[rows.length][];
        for (int i = 0; i < rows.length; i++) {
            longer[i] = java.util.Arrays.copyOf(rows[i], rows[i].length + (int) more);
            for (int k = rows[i].length; k < longer[i].length; k++)
                longer[i][k] = rows[i][rows[i].length - 1];
        }
        return longer;
    }

    /** A map's text, with its entries in another order. */
    public static Object text(Object result, Object self, int model) {
        if (!on)
            return result;
        Map<?, ?> map = (Map<?, ?>) self;
        Object entries = map.entrySet();
        if (!(entries instanceof Original) || (model = wanted(model)) < 0)
            return result;
        Object[] all = ChosenIterator.collect(((Original) entries).polygraph$iterator());
        permute(all, all.length, self, model);
        StringBuilder text = new StringBuilder("{");
        for (int i = 0; i < all.length; i++) {
            Map.Entry<?, ?> entry = (Map.Entry<?, ?>) all[i];
            if (i > 0)
                text.append(", ");
            text.append(entry.getKey() == map ? "(this Map)" : String.valueOf(entry.getKey()));
            text.append('=');
            text.append(entry.getValue() == map ? "(this Map)" : String.valueOf(entry.getValue()));
        }
        return text.append('}').toString();
    }

    // ---- forEach ----

    public static Object collect(Object self, Object action, int model) {
        if (!on || action == null || (model = wanted(model)) < 0)
            return action;
        return new ChosenActions(action, self, model);
    }

    public static void deliver(Object action) {
        if (action instanceof ChosenActions)
            ((ChosenActions) action).deliver();
    }

    // ---- less than was asked for ----

    public static int length(int length, Object self, int model) {
        if (!on || length < 2 || (model = wanted(model)) < 0)
            return length;
        return length - (int) pick(model, length, length, self, null);
    }

    public static long length(long length, Object self, int model) {
        if (!on || length < 2 || (model = wanted(model)) < 0)
            return length;
        return length - pick(model, length, length, self, null);
    }

    // ---- waiting: calls of the program that were redirected ----

    public static void waitFor(Object object) throws InterruptedException {
        if (on && wakes(waitModel, object))
            object.wait(0, 1);
        else
            object.wait();
    }

    public static void await(Condition condition) throws InterruptedException {
        if (on && wakes(awaitModel, condition))
            condition.await(1, TimeUnit.NANOSECONDS);
        else
            condition.await();
    }

    /** Numbers of models, which redirected calls do not have: set by the agent. */
    static int waitModel, awaitModel;

    private static boolean wakes(int model, Object object) {
        return (model = wanted(model)) >= 0 && pick(model, 2, 0, object, null) != 0;
    }

    // ---- the rest ----

    /** Identity hash codes come from a sequence: the next ones are others. */
    static void advance(int n) {
        for (int i = 0; i < n; i++)
            System.identityHashCode(new Object());
    }

    /** A thread is about to start: from now on it is known by who started it. */
    public static void starting(Object thread, int model) {
        if (on)
            nameThread((Thread) thread);
    }

    /** Instead of the clock: the order of immutable collections is the same in each VM. */
    public static long salt() {
        return 0x706f6c7967726170L;
    }
}
