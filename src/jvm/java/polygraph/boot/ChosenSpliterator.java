package polygraph.boot;

import java.util.Comparator;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;

/** A collection's spliterator in another order; like its own it binds when first used. */
final class ChosenSpliterator implements Spliterator<Object>, Consumer<Object> {
    private final Spliterator<?> plain;
    private final Object self;
    private final int model;
    private final int characteristics;
    private Object[] elements = new Object[16];
    private int n;
    private Spliterator<Object> bound;

    ChosenSpliterator(Spliterator<?> plain, Object self, int model) {
        this.plain = plain;
        this.self = self;
        this.model = model;
        this.characteristics = plain.characteristics();
    }

    @Override
    public void accept(Object element) {
        if (n == elements.length)
            elements = java.util.Arrays.copyOf(elements, 2 * n);
        elements[n++] = element;
    }

    private Spliterator<Object> bind() {
        if (bound == null) {
            plain.forEachRemaining(this);
            Choices.permute(elements, n, self, model);
            bound = Spliterators.spliterator(elements, 0, n, characteristics & ~(ORDERED | SORTED));
        }
        return bound;
    }

    @Override
    public boolean tryAdvance(Consumer<? super Object> action) {
        return bind().tryAdvance(action);
    }

    @Override
    public void forEachRemaining(Consumer<? super Object> action) {
        bind().forEachRemaining(action);
    }

    @Override
    public Spliterator<Object> trySplit() {
        return bind().trySplit();
    }

    @Override
    public long estimateSize() {
        return bound == null ? plain.estimateSize() : bound.estimateSize();
    }

    @Override
    public int characteristics() {
        return characteristics;
    }

    @Override
    @SuppressWarnings("unchecked")
    public Comparator<? super Object> getComparator() {
        return (Comparator<? super Object>) plain.getComparator();
    }
}
