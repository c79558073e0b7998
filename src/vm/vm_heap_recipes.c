/*
 * Types that are compared by content.
 *
 * To add one: a row here, and one in docs/java.md. Members are those of OpenJDK 17
 * and later; where a VM's class lacks them, the container is empty on both sides
 * and so nothing is said of it: tests/subjects/jvm/pollution has one of each.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "vm/vm_heap_internal.h"

#define U "java.util."
#define C "java.util.concurrent."

/* clang-format off */
static const struct heap_recipe recipes[] = {
	{ U "ArrayList", SHAPE_ARRAY, .first = "elementData", .count = "size" },
	{ U "Vector", SHAPE_ARRAY, .first = "elementData", .count = "elementCount" },
	{ U "Arrays$ArrayList", SHAPE_ARRAY, .first = "a" },
	{ U "ImmutableCollections$ListN", SHAPE_ARRAY, .first = "elements" },
	{ U "ImmutableCollections$SetN", SHAPE_ARRAY, .first = "elements", .unordered = true },
	{ U "ImmutableCollections$MapN", SHAPE_PAIRS, .first = "table" },
	{ U "PriorityQueue", SHAPE_ARRAY, .first = "queue", .count = "size", .unordered = true },
	{ U "ArrayDeque", SHAPE_RING, .first = "elements", .count = "head", .next = "tail" },
	{ U "LinkedList", SHAPE_CHAIN, .first = "first", .next = "next", .value = "item" },
	{ U "LinkedHashMap", SHAPE_LINKED, .first = "head", .next = "after", .key = "key", .value = "value", .hash = "hash" },
	{ U "HashMap", SHAPE_TABLE, .first = "table", .next = "next", .key = "key", .value = "value", .hash = "hash", .unordered = true },
	{ U "Hashtable", SHAPE_TABLE, .first = "table", .next = "next", .key = "key", .value = "value", .hash = "hash", .unordered = true },
	{ U "WeakHashMap", SHAPE_TABLE, .first = "table", .next = "next", .key = "referent", .value = "value", .hash = "hash", .unordered = true },
	{ U "IdentityHashMap", SHAPE_PAIRS, .first = "table" },
	{ U "Properties", SHAPE_INNER, .first = "map" },
	{ U "HashSet", SHAPE_KEYS, .first = "map" },
	{ U "TreeMap", SHAPE_TREE, .first = "root", .key = "key", .value = "value" },
	{ U "TreeSet", SHAPE_KEYS, .first = "m" },
	{ U "EnumMap", SHAPE_ENUMS, .first = "vals", .key = "keyUniverse" },
	{ U "RegularEnumSet", SHAPE_FIELDS, .first = "elements" },
	{ U "JumboEnumSet", SHAPE_FIELDS, .first = "elements" },
	{ U "BitSet", SHAPE_BITS, .first = "words", .count = "wordsInUse" },
	{ U "Optional", SHAPE_FIELDS, .first = "value" },
	{ U "Date", SHAPE_FIELDS, .first = "fastTime" },
	{ U "UUID", SHAPE_FIELDS, .first = "mostSigBits,leastSigBits" },
	{ U "Locale", SHAPE_FIELDS, .first = "baseLocale" },
	{ "sun.util.locale.BaseLocale", SHAPE_FIELDS, .first = "language,script,region,variant" },
	{ U "TimeZone", SHAPE_FIELDS, .first = "ID" },
	{ "sun.util.calendar.ZoneInfo", SHAPE_FIELDS, .first = "rawOffset" },
	{ U "Calendar", SHAPE_FIELDS, .first = "time,zone,lenient" },
	{ U "GregorianCalendar", SHAPE_FIELDS, .first = "" },
	{ U "Random", SHAPE_FIELDS, .first = "seed" },
	{ U "regex.Pattern", SHAPE_FIELDS, .first = "pattern,flags" },
	{ C "ConcurrentHashMap", SHAPE_TABLE, .first = "table", .next = "next", .key = "key", .value = "val", .hash = "hash", .unordered = true },
	{ C "ConcurrentHashMap$TreeBin", SHAPE_FIELDS, .first = "first" },
	{ C "ConcurrentSkipListMap", SHAPE_LINKED, .first = "head", .next = "next", .key = "key", .value = "val" },
	{ C "ConcurrentSkipListSet", SHAPE_KEYS, .first = "m" },
	{ C "CopyOnWriteArrayList", SHAPE_ARRAY, .first = "array" },
	{ C "CopyOnWriteArraySet", SHAPE_INNER, .first = "al" },
	{ C "ConcurrentLinkedQueue", SHAPE_CHAIN, .first = "head", .next = "next", .value = "item" },
	{ C "ConcurrentLinkedDeque", SHAPE_CHAIN, .first = "head", .next = "next", .value = "item" },
	{ C "LinkedBlockingQueue", SHAPE_CHAIN, .first = "head", .next = "next", .value = "item" },
	{ C "LinkedBlockingDeque", SHAPE_CHAIN, .first = "first", .next = "next", .value = "item" },
	{ C "LinkedTransferQueue", SHAPE_CHAIN, .first = "head", .next = "next", .value = "item" },
	{ C "ArrayBlockingQueue", SHAPE_RING, .first = "items", .count = "takeIndex", .next = "putIndex", .value = "count" },
	{ C "PriorityBlockingQueue", SHAPE_ARRAY, .first = "queue", .count = "size", .unordered = true },
	{ C "DelayQueue", SHAPE_INNER, .first = "q" },
	{ C "atomic.Striped64", SHAPE_SUM, .first = "base", .next = "cells", .value = "value" },
	{ .type = C "ThreadLocalRandom", .shape = SHAPE_SKIP },
	{ .type = C "Semaphore", .shape = SHAPE_SKIP },
	{ .type = C "CountDownLatch", .shape = SHAPE_SKIP },
	{ .type = C "CyclicBarrier", .shape = SHAPE_SKIP },
	{ .type = C "Phaser", .shape = SHAPE_SKIP },
	{ .type = C "Exchanger", .shape = SHAPE_SKIP },
	{ "java.io.File", SHAPE_FIELDS, .first = "path" },
	/* Not what was written through them: buffers and encoders. */
	{ "java.io.FilterOutputStream", SHAPE_FIELDS, .first = "out,closed" },
	{ "java.io.BufferedWriter", SHAPE_FIELDS, .first = "out" },
	{ "java.net.URI", SHAPE_FIELDS, .first = "string" },
	{ "java.net.URL", SHAPE_FIELDS, .first = "protocol,host,port,file,ref" },
	{ "java.math.BigInteger", SHAPE_FIELDS, .first = "signum,mag" },
	{ "java.math.BigDecimal", SHAPE_FIELDS, .first = "intVal,scale,intCompact" },
	{ "java.nio.charset.Charset", SHAPE_FIELDS, .first = "name" },
	{ "java.text.DateFormat", SHAPE_FIELDS, .first = "" },
	{ "java.text.SimpleDateFormat", SHAPE_FIELDS, .first = "pattern" },
	{ "java.text.NumberFormat", SHAPE_FIELDS, .first = "maximumFractionDigits,minimumFractionDigits,maximumIntegerDigits,minimumIntegerDigits" },
	{ "java.text.DecimalFormat", SHAPE_FIELDS, .first = "positivePrefix,positiveSuffix,negativePrefix,negativeSuffix,multiplier,groupingSize,decimalSeparatorAlwaysShown,parseBigDecimal,roundingMode" },
	/* Of the thread that runs the tests: vm_heap_locals.h. */
	{ "java.lang.ThreadLocal", SHAPE_FIELDS, .first = "get()" },
	{ "java.lang.Throwable", SHAPE_FIELDS, .first = "detailMessage,cause" },
};

/* How names begin of what is never compared: it is the VM's and the JDK's own. */
static const char *const skipped[] = {
	"sun.", "jdk.", "com.sun.", "java.lang.invoke.", "java.lang.reflect.",
	"java.lang.module.", "java.lang.ClassLoader", "java.lang.Module",
	"java.lang.ref.Cleaner", "java.lang.ref.ReferenceQueue", "java.lang.ref.SoftReference", "java.lang.ref.PhantomReference",
	"java.lang.Thread", "java.lang.Process", "java.lang.Runtime", "java.lang.StackTraceElement",
	"java.security.", "java.util.logging.", "java.util.concurrent.locks.",
	"java.util.concurrent.ThreadPoolExecutor", "java.util.concurrent.ScheduledThreadPoolExecutor",
	"java.util.concurrent.ForkJoin", "java.util.concurrent.Executors$",
	"java.util.ResourceBundle", "java.util.ServiceLoader", "java.util.Timer",
	"java.util.zip.", "java.util.jar.", "java.nio.channels.", "java.nio.file.",
	"java.net.Socket", "java.net.ServerSocket", "java.net.URLClassLoader", "java.net.Inet",
	"java.io.FileDescriptor", "java.text.DecimalFormatSymbols", "java.text.DateFormatSymbols",
	"javax.crypto.", "javax.net.", "javax.xml.", "org.xml.", "org.w3c.",
};
/* clang-format on */

static const struct {
	const char *type;
	enum heap_kind kind;
} kinds[] = {
	{ "java.lang.String", HEAP_STRING },
	{ "java.lang.StringBuilder", HEAP_BUILDER },
	{ "java.lang.StringBuffer", HEAP_BUILDER },
	{ "java.lang.Class", HEAP_MIRROR },
	{ "java.lang.Enum", HEAP_ENUM },
	{ "java.lang.Boolean", HEAP_BOX },
	{ "java.lang.Byte", HEAP_BOX },
	{ "java.lang.Character", HEAP_BOX },
	{ "java.lang.Short", HEAP_BOX },
	{ "java.lang.Integer", HEAP_BOX },
	{ "java.lang.Long", HEAP_BOX },
	{ "java.lang.Float", HEAP_BOX },
	{ "java.lang.Double", HEAP_BOX },
};

enum heap_kind heap_kind_for(const char *type)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(type, kinds[i].type))
			return kinds[i].kind;
	}
	const struct heap_recipe *recipe = heap_recipe_for(type);
	return recipe && recipe->shape == SHAPE_SKIP ? HEAP_SKIP : HEAP_PLAIN;
}

bool heap_package_is_skipped(const char *type)
{
	for (size_t i = 0; i < sizeof(skipped) / sizeof(*skipped); i++) {
		if (!strncmp(type, skipped[i], strlen(skipped[i])))
			return true;
	}
	return false;
}

const struct heap_recipe *heap_recipe_for(const char *type)
{
	for (size_t i = 0; i < heap.recipes.n; i++) {
		if (!fnmatch(heap.recipes.data[i].type, type, 0))
			return &heap.recipes.data[i];
	}
	for (size_t i = 0; i < sizeof(recipes) / sizeof(*recipes); i++) {
		if (!strcmp(type, recipes[i].type))
			return &recipes[i];
	}
	return NULL;
}

/* ---- content ---- */

static void items_add_one(struct heap_items *items, uint32_t key,
			  uint32_t value, uint64_t hash, bool keyed)
{
	const struct heap_item item = { key, value, hash, keyed };
	HEAP_PUSH(items, item);
}

static void items_of_array(const struct heap_graph *graph, uint32_t node,
			   const struct heap_recipe *recipe,
			   struct heap_items *ret)
{
	uint32_t array = heap_ref(graph, node, recipe->first);
	uint32_t n = array ? graph->nodes.data[array].length : 0;
	if (recipe->count) {
		int64_t count = heap_number(graph, node, recipe->count);
		n = count >= 0 && count < n ? (uint32_t)count : n;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t value = heap_element(graph, array, i);
		/* A table with holes: a set of its elements. */
		if (recipe->unordered && value)
			items_add_one(ret, value, value, 0, true);
		else if (!recipe->unordered)
			items_add_one(ret, 0, value, 0, false);
	}
}

static void items_of_ring(const struct heap_graph *graph, uint32_t node,
			  const struct heap_recipe *recipe,
			  struct heap_items *ret)
{
	uint32_t array = heap_ref(graph, node, recipe->first);
	uint32_t length = array ? graph->nodes.data[array].length : 0;
	int64_t head = heap_number(graph, node, recipe->count);
	int64_t tail = heap_number(graph, node, recipe->next);
	if (!length || head < 0 || tail < 0 || head >= length || tail > length)
		return;
	int64_t n = recipe->value ? heap_number(graph, node, recipe->value)
				  : (tail - head + length) % length;
	for (int64_t i = 0; i < n && i < length; i++) {
		uint32_t at = (uint32_t)((head + i) % length);
		items_add_one(ret, 0, heap_element(graph, array, at), 0, false);
	}
}

/* Elements that were taken out leave nodes without a value. */
static void items_of_chain(const struct heap_graph *graph, uint32_t node,
			   const struct heap_recipe *recipe,
			   struct heap_items *ret)
{
	uint32_t at = heap_ref(graph, node, recipe->first);
	bool lists_null = !strcmp(recipe->first, "first");
	uint32_t before = 0;
	for (size_t n = 0; at && at != before && n < graph->nodes.n; n++) {
		uint32_t value =
			recipe->value ? heap_ref(graph, at, recipe->value) : at;
		if (value || lists_null)
			items_add_one(ret, 0, value, 0, false);
		before = at;
		at = heap_ref(graph, at, recipe->next);
	}
}

static void items_of_linked(const struct heap_graph *graph, uint32_t node,
			    const struct heap_recipe *recipe,
			    struct heap_items *ret)
{
	uint32_t at = heap_ref(graph, node, recipe->first);
	bool skips = !recipe->hash; /* the skip list's index, then its base */
	if (skips)
		at = heap_ref(graph, heap_ref(graph, at, "node"), recipe->next);
	for (size_t n = 0; at && n < graph->nodes.n; n++) {
		uint32_t key = heap_ref(graph, at, recipe->key);
		uint32_t value = heap_ref(graph, at, recipe->value);
		uint64_t hash =
			recipe->hash
				? (uint64_t)heap_number(graph, at, recipe->hash)
				: 0;
		if (!skips || value)
			items_add_one(ret, key, value, hash, true);
		at = heap_ref(graph, at, recipe->next);
	}
}

static void items_of_bucket(const struct heap_graph *graph, uint32_t at,
			    const struct heap_recipe *recipe,
			    struct heap_items *ret)
{
	const struct heap_class *class = at ? heap_class_at(graph, at) : NULL;
	bool weak = !strcmp(recipe->key, "referent");
	if (class && !strcmp(class->name, C "ConcurrentHashMap$TreeBin"))
		at = heap_ref(graph, at, "first");
	for (size_t m = 0; at && m < graph->nodes.n; m++) {
		uint32_t key = heap_ref(graph, at, recipe->key);
		uint64_t hash = (uint64_t)heap_number(graph, at, recipe->hash);
		if (key || !weak)
			items_add_one(ret, key,
				      heap_ref(graph, at, recipe->value), hash,
				      true);
		at = heap_ref(graph, at, recipe->next);
	}
}

static void items_of_table(const struct heap_graph *graph, uint32_t node,
			   const struct heap_recipe *recipe,
			   struct heap_items *ret)
{
	uint32_t table = heap_ref(graph, node, recipe->first);
	uint32_t n = table ? graph->nodes.data[table].length : 0;
	for (uint32_t i = 0; i < n; i++)
		items_of_bucket(graph, heap_element(graph, table, i), recipe,
				ret);
}

void heap_items_of_buckets(const struct heap_graph *graph, uint32_t table,
			   const struct heap_recipe *recipe,
			   const uint32_t *buckets, size_t n,
			   struct heap_items *ret)
{
	ret->n = 0;
	ret->unordered = true;
	for (size_t i = 0; i < n; i++)
		items_of_bucket(graph, heap_element(graph, table, buckets[i]),
				recipe, ret);
}

uint32_t heap_container_within(const struct heap_graph *graph, uint32_t node)
{
	for (unsigned depth = 0; depth < 4; depth++) {
		const struct heap_class *class = heap_class_at(graph, node);
		const struct heap_recipe *recipe = class ? class->recipe : NULL;
		uint32_t inner = recipe && (recipe->shape == SHAPE_INNER ||
					    recipe->shape == SHAPE_KEYS)
					 ? heap_ref(graph, node, recipe->first)
					 : 0;
		if (!inner)
			break;
		node = inner;
	}
	return node;
}

static void items_of_pairs(const struct heap_graph *graph, uint32_t node,
			   const struct heap_recipe *recipe,
			   struct heap_items *ret)
{
	uint32_t table = heap_ref(graph, node, recipe->first);
	uint32_t n = table ? graph->nodes.data[table].length : 0;
	for (uint32_t i = 0; i + 1 < n; i += 2) {
		uint32_t key = heap_element(graph, table, i);
		if (key)
			items_add_one(ret, key,
				      heap_element(graph, table, i + 1), 0,
				      true);
	}
}

/* In order, without a stack of our own: parents are known by their links. */
static void items_of_tree(const struct heap_graph *graph, uint32_t node,
			  const struct heap_recipe *recipe,
			  struct heap_items *ret)
{
	uint32_t at = heap_ref(graph, node, recipe->first);
	size_t budget = 4 * graph->nodes.n;
	struct {
		uint32_t *data;
		size_t n, cap;
	} stack = {};
	while ((at || stack.n) && budget--) {
		if (at) {
			HEAP_PUSH(&stack, at);
			at = heap_ref(graph, at, "left");
			continue;
		}
		at = stack.data[--stack.n];
		items_add_one(ret, heap_ref(graph, at, recipe->key),
			      heap_ref(graph, at, recipe->value), 0, true);
		at = heap_ref(graph, at, "right");
	}
	free(stack.data);
}

static void items_of_enums(const struct heap_graph *graph, uint32_t node,
			   const struct heap_recipe *recipe,
			   struct heap_items *ret)
{
	uint32_t values = heap_ref(graph, node, recipe->first);
	uint32_t universe = heap_ref(graph, node, recipe->key);
	uint32_t n = values ? graph->nodes.data[values].length : 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t value = heap_element(graph, values, i);
		const struct heap_class *class =
			value ? heap_class_at(graph, value) : NULL;
		/* EnumMap's own object stands for null. */
		if (class &&
		    !strncmp(class->name, U "EnumMap$", strlen(U "EnumMap$")))
			items_add_one(ret, heap_element(graph, universe, i), 0,
				      0, true);
		else if (value)
			items_add_one(ret, heap_element(graph, universe, i),
				      value, 0, true);
	}
}

static void items_fill(const struct heap_graph *graph, uint32_t node,
		       struct heap_items *ret, unsigned depth)
{
	const struct heap_class *class =
		node ? heap_class_at(graph, node) : NULL;
	const struct heap_recipe *recipe = class ? class->recipe : NULL;
	if (!recipe || depth > 4)
		return;
	switch (recipe->shape) {
	case SHAPE_ARRAY:
		items_of_array(graph, node, recipe, ret);
		break;
	case SHAPE_RING:
		items_of_ring(graph, node, recipe, ret);
		break;
	case SHAPE_CHAIN:
		items_of_chain(graph, node, recipe, ret);
		break;
	case SHAPE_LINKED:
		items_of_linked(graph, node, recipe, ret);
		break;
	case SHAPE_TABLE:
		items_of_table(graph, node, recipe, ret);
		break;
	case SHAPE_PAIRS:
		items_of_pairs(graph, node, recipe, ret);
		break;
	case SHAPE_TREE:
		items_of_tree(graph, node, recipe, ret);
		break;
	case SHAPE_ENUMS:
		items_of_enums(graph, node, recipe, ret);
		break;
	case SHAPE_INNER:
	case SHAPE_KEYS:
		items_fill(graph, heap_ref(graph, node, recipe->first), ret,
			   depth + 1);
		for (size_t i = 0; recipe->shape == SHAPE_KEYS && i < ret->n;
		     i++)
			ret->data[i].value = ret->data[i].key;
		return; /* as ordered as that one */
	default:
		return;
	}
	ret->unordered = recipe->unordered || recipe->shape == SHAPE_PAIRS;
}

void heap_items_of(const struct heap_graph *graph, uint32_t node,
		   struct heap_items *ret)
{
	ret->n = 0;
	ret->unordered = false;
	items_fill(graph, node, ret, 0);
}
