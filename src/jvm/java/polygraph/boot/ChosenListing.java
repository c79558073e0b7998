package polygraph.boot;

import java.util.Enumeration;
import java.util.Iterator;
import java.util.NoSuchElementException;

/** What can be gone through once, in another order; it is read when it is first asked. */
final class ChosenListing implements Iterator<Object>, Enumeration<Object> {
    private final Object plain;
    private final int model;
    private Object[] elements;
    private int at;

    ChosenListing(Object plain, int model) {
        this.plain = plain;
        this.model = model;
    }

    private void read() {
        if (elements != null)
            return;
        Object[] all = ChosenIterator.collect(plain instanceof Iterator ? (Iterator<?>) plain : this.new Own());
        Choices.permute(all, all.length, null, model);
        elements = all;
    }

    /** An enumeration as an iterator. */
    private final class Own implements Iterator<Object> {
        @Override
        public boolean hasNext() {
            return ((Enumeration<?>) plain).hasMoreElements();
        }

        @Override
        public Object next() {
            return ((Enumeration<?>) plain).nextElement();
        }
    }

    @Override
    public boolean hasNext() {
        read();
        return at < elements.length;
    }

    @Override
    public Object next() {
        if (!hasNext())
            throw new NoSuchElementException();
        return elements[at++];
    }

    @Override
    public boolean hasMoreElements() {
        return hasNext();
    }

    @Override
    public Object nextElement() {
        return next();
    }
}
