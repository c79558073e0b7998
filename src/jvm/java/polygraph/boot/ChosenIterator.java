package polygraph.boot;

import java.util.Arrays;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;

/**
 * A collection's elements in another order. The collection's own iterator goes on
 * beside it, so that a modification is noticed when and as it would be.
 */
final class ChosenIterator implements Iterator<Object> {
    /** How an element is removed. */
    static final int BY_ELEMENT = 0, BY_ENTRY = 1, BY_POSITION = 2, BY_IDENTITY = 3, BY_NEW_ENTRY = 4;

    private final Original source;
    private final int how;
    private final Object[] elements;
    /** Of new entries: those of a table know only their place, and a removal moves others there. */
    private final Object[] keys;
    private final int[] order;
    private final boolean[] gone;
    private Iterator<?> plain;
    private int at;
    private int last = -1;

    private ChosenIterator(Iterator<?> plain, Original source, int how, Object[] elements, int[] order) {
        this.plain = plain;
        this.source = source;
        this.how = how;
        this.elements = elements;
        this.keys = how == BY_NEW_ENTRY ? keysOf(elements) : null;
        this.order = order;
        this.gone = new boolean[order.length];
    }

    static Iterator<?> of(Iterator<?> plain, Original source, int how, Object self, int model) {
        Object[] elements = collect(source.polygraph$iterator());
        int n = elements.length;
        int[] order = n < 2 ? null : Choices.order(model, n, Choices.key(elements, n), self, Choices.about(self));
        return order == null ? plain : new ChosenIterator(plain, source, how, elements, order);
    }

    private static Object[] keysOf(Object[] entries) {
        Object[] keys = new Object[entries.length];
        for (int i = 0; i < keys.length; i++)
            keys[i] = ((Map.Entry<?, ?>) entries[i]).getKey();
        return keys;
    }

    static Object[] collect(Iterator<?> from) {
        Object[] all = new Object[16];
        int n = 0;
        while (from.hasNext()) {
            if (n == all.length)
                all = Arrays.copyOf(all, 2 * n);
            all[n++] = from.next();
        }
        return Arrays.copyOf(all, n);
    }

    @Override
    public boolean hasNext() {
        return at < order.length;
    }

    @Override
    public Object next() {
        if (plain.hasNext())
            plain.next();
        if (at >= order.length)
            throw new NoSuchElementException();
        last = order[at++];
        Object element = elements[last];
        return how == BY_ENTRY ? ((Map.Entry<?, ?>) element).getValue() : element;
    }

    @Override
    public void remove() {
        if (last < 0)
            throw new IllegalStateException();
        Object element = elements[last];
        boolean removed = false;
        if (how == BY_ELEMENT || how == BY_ENTRY)
            removed = ((Collection<?>) source).remove(element);
        if (!removed)
            removeThere(element);
        gone[last] = true;
        last = -1;
        plain = source.polygraph$iterator();
        if (how == BY_NEW_ENTRY)
            renewEntries();
    }

    /** With the collection's own iterator. */
    private void removeThere(Object element) {
        Iterator<?> own = source.polygraph$iterator();
        int position = 0;
        for (int i = 0; i < last; i++)
            position += gone[i] ? 0 : 1;
        for (int i = 0; own.hasNext(); i++) {
            Object other = own.next();
            boolean same = how == BY_NEW_ENTRY ? ((Map.Entry<?, ?>) other).getKey() == keys[last]
                : how == BY_IDENTITY || how == BY_ELEMENT ? other == element : i == position;
            if (same) {
                own.remove();
                return;
            }
        }
    }

    private void renewEntries() {
        Map<Object, Object> byKey = new IdentityHashMap<>();
        for (Iterator<?> own = source.polygraph$iterator(); own.hasNext();) {
            Object entry = own.next();
            byKey.put(((Map.Entry<?, ?>) entry).getKey(), entry);
        }
        for (int i = at; i < order.length; i++) {
            Object entry = byKey.get(keys[order[i]]);
            if (entry != null)
                elements[order[i]] = entry;
        }
    }
}
