package polygraph.boot;

import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** What forEach would do, first noted, then done in another order. */
final class ChosenActions implements Consumer<Object>, BiConsumer<Object, Object> {
    private final Object action;
    private final Object self;
    private final int model;
    private Object[] elements = new Object[16];
    private Object[] seconds;
    private int n;

    ChosenActions(Object action, Object self, int model) {
        this.action = action;
        this.self = self;
        this.model = model;
    }

    @Override
    public void accept(Object element) {
        if (n == elements.length) {
            elements = java.util.Arrays.copyOf(elements, 2 * n);
            if (seconds != null)
                seconds = java.util.Arrays.copyOf(seconds, 2 * n);
        }
        elements[n++] = element;
    }

    @Override
    public void accept(Object first, Object second) {
        if (seconds == null)
            seconds = new Object[16];
        accept(first);
        seconds[n - 1] = second;
    }

    @SuppressWarnings("unchecked")
    void deliver() {
        int[] order = n < 2 ? null
                : Choices.order(model, n, Choices.key(elements, n), self, Choices.about(self));
        for (int i = 0; i < n; i++) {
            int k = order == null ? i : order[i];
            if (seconds == null)
                ((Consumer<Object>) action).accept(elements[k]);
            else
                ((BiConsumer<Object, Object>) action).accept(elements[k], seconds[k]);
        }
    }
}
