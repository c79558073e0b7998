package polygraph.boot;

import java.util.Iterator;

/**
 * A collection of the library that was changed (vm/vm_models.c): its own way to
 * iterate, under the name that it has since then.
 */
public interface Original {
    Iterator<?> polygraph$iterator();
}
