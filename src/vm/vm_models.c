#include "vm/vm_models.h"

#include <string.h>

#include "wire/models.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define ITERATOR "()Ljava/util/Iterator;"
#define SPLITERATOR "()Ljava/util/Spliterator;"
#define FOR_EACH "(Ljava/util/function/Consumer;)V"
#define FOR_PAIRS "(Ljava/util/function/BiConsumer;)V"
#define TO_ARRAY "()[Ljava/lang/Object;"
#define TO_ARRAY_OF "([Ljava/lang/Object;)[Ljava/lang/Object;"

#define RESULT(name, type, with, model)                                        \
	{                                                                      \
		.method = name, .descriptor = type, .shape = VM_RESULT,        \
		.helper = with, .number = WIRE_MODEL_##model,                  \
	}
/* Its original can be called by helpers. */
#define OPEN(name, type, with, model)                                          \
	{                                                                      \
		.method = name, .descriptor = type, .shape = VM_RESULT,        \
		.helper = with, .number = WIRE_MODEL_##model, .exposed = true, \
	}
/* Of a view: helpers get the map, which is in that field. */
#define OF_MAP(name, type, with, model, class, map, map_type)                  \
	{                                                                      \
		.method = name, .descriptor = type, .shape = VM_RESULT,        \
		.helper = with, .number = WIRE_MODEL_##model, .field = map,    \
		.field_class = class, .field_descriptor = map_type,            \
	}
#define ACTION(type, model)                                                    \
	{                                                                      \
		.method = "forEach", .descriptor = type, .shape = VM_ACTION,   \
		.helper = "collect", .after = "deliver",                       \
		.number = WIRE_MODEL_##model,                                  \
	}
#define LENGTH(name, type, model)                                              \
	{                                                                      \
		.method = name, .descriptor = type, .shape = VM_LENGTH,        \
		.helper = "length", .number = WIRE_MODEL_##model,              \
	}

/* ---- maps and sets ---- */

static const struct vm_wrapped hashmap[] = {
	RESULT("keysToArray", NULL, "filled", java_hashmap_keys),
	RESULT("valuesToArray", NULL, "filled", java_hashmap_values),
	ACTION(FOR_PAIRS, java_hashmap_each),
};
static const struct vm_wrapped hashmap_keys[] = {
	OPEN("iterator", ITERATOR, "iterator", java_hashmap_keys),
	RESULT("spliterator", SPLITERATOR, "spliterator", java_hashmap_keys),
	ACTION(FOR_EACH, java_hashmap_keys),
};
static const struct vm_wrapped hashmap_values[] = {
	OF_MAP("iterator", ITERATOR, "values", java_hashmap_values,
	       "java/util/HashMap$Values", "this$0", "Ljava/util/HashMap;"),
	RESULT("spliterator", SPLITERATOR, "spliterator", java_hashmap_values),
	ACTION(FOR_EACH, java_hashmap_values),
};
static const struct vm_wrapped hashmap_entries[] = {
	OPEN("iterator", ITERATOR, "iterator", java_hashmap_entries),
	RESULT("spliterator", SPLITERATOR, "spliterator", java_hashmap_entries),
	ACTION(FOR_EACH, java_hashmap_entries),
};
static const struct vm_wrapped hashset[] = {
	RESULT("spliterator", SPLITERATOR, "spliterator", java_hashset),
};
static const struct vm_wrapped weak[] = {
	ACTION(FOR_PAIRS, java_weak_each),
};
static const struct vm_wrapped weak_keys[] = {
	OPEN("iterator", ITERATOR, "iterator", java_weak_keys),
	RESULT("spliterator", SPLITERATOR, "spliterator", java_weak_keys),
};
static const struct vm_wrapped weak_values[] = {
	OPEN("iterator", ITERATOR, "positions", java_weak_values),
	RESULT("spliterator", SPLITERATOR, "spliterator", java_weak_values),
};
static const struct vm_wrapped weak_entries[] = {
	OPEN("iterator", ITERATOR, "iterator", java_weak_entries),
	RESULT("spliterator", SPLITERATOR, "spliterator", java_weak_entries),
};
static const struct vm_wrapped identity[] = {
	ACTION(FOR_PAIRS, java_identity_each),
};
static const struct vm_wrapped identity_keys[] = {
	OPEN("iterator", ITERATOR, "iterator", java_identity_keys),
	RESULT("spliterator", SPLITERATOR, "spliterator", java_identity_keys),
	RESULT("toArray", TO_ARRAY_OF, "filled", java_identity_keys),
};
static const struct vm_wrapped identity_values[] = {
	OPEN("iterator", ITERATOR, "positions", java_identity_values),
	RESULT("spliterator", SPLITERATOR, "spliterator", java_identity_values),
	RESULT("toArray", TO_ARRAY_OF, "filled", java_identity_values),
};
static const struct vm_wrapped identity_entries[] = {
	OPEN("iterator", ITERATOR, "entries", java_identity_entries),
	RESULT("spliterator", SPLITERATOR, "spliterator",
	       java_identity_entries),
	RESULT("toArray", TO_ARRAY_OF, "filled", java_identity_entries),
};
static const struct vm_wrapped concurrent[] = {
	ACTION(FOR_PAIRS, java_concurrent_each),
	RESULT("keys", "()Ljava/util/Enumeration;", "enumeration",
	       java_concurrent_enumerations),
	RESULT("elements", "()Ljava/util/Enumeration;", "enumeration",
	       java_concurrent_enumerations),
	RESULT("toString", "()Ljava/lang/String;", "text",
	       java_concurrent_text),
};
static const struct vm_wrapped concurrent_keys[] = {
	OPEN("iterator", ITERATOR, "iterator", java_concurrent_keys),
	RESULT("spliterator", SPLITERATOR, "spliterator", java_concurrent_keys),
	ACTION(FOR_EACH, java_concurrent_keys),
};
static const struct vm_wrapped concurrent_values[] = {
	OF_MAP("iterator", ITERATOR, "values", java_concurrent_values,
	       "java/util/concurrent/ConcurrentHashMap$CollectionView", "map",
	       "Ljava/util/concurrent/ConcurrentHashMap;"),
	RESULT("spliterator", SPLITERATOR, "spliterator",
	       java_concurrent_values),
	ACTION(FOR_EACH, java_concurrent_values),
};
static const struct vm_wrapped concurrent_entries[] = {
	OPEN("iterator", ITERATOR, "iterator", java_concurrent_entries),
	RESULT("spliterator", SPLITERATOR, "spliterator",
	       java_concurrent_entries),
	ACTION(FOR_EACH, java_concurrent_entries),
};
static const struct vm_wrapped hashtable[] = {
	ACTION(FOR_PAIRS, java_hashtable_each),
	RESULT("keys", "()Ljava/util/Enumeration;", "enumeration",
	       java_hashtable_enumerations),
	RESULT("elements", "()Ljava/util/Enumeration;", "enumeration",
	       java_hashtable_enumerations),
};
static const struct vm_wrapped hashtable_keys[] = {
	OPEN("iterator", ITERATOR, "iterator", java_hashtable_keys),
};
static const struct vm_wrapped hashtable_values[] = {
	OPEN("iterator", ITERATOR, "positions", java_hashtable_values),
};
static const struct vm_wrapped hashtable_entries[] = {
	OPEN("iterator", ITERATOR, "iterator", java_hashtable_entries),
};
static const struct vm_wrapped set_of[] = {
	OPEN("iterator", ITERATOR, "iterator", java_set_of),
	RESULT("toArray", NULL, "filled", java_set_of),
};
static const struct vm_wrapped map_of[] = {
	OPEN("iterator", ITERATOR, "iterator", java_map_of),
};

/* ---- queues ---- */

static const struct vm_wrapped priority_queue[] = {
	OPEN("iterator", ITERATOR, "queue", java_priority_queue),
	RESULT("spliterator", SPLITERATOR, "spliterator", java_priority_queue),
	ACTION(FOR_EACH, java_priority_queue),
	RESULT("toArray", TO_ARRAY, "filled", java_priority_array),
	RESULT("toArray", TO_ARRAY_OF, "filled", java_priority_array),
};
static const struct vm_wrapped priority_blocking[] = {
	RESULT("spliterator", SPLITERATOR, "spliterator",
	       java_priority_blocking),
	ACTION(FOR_EACH, java_priority_blocking),
	RESULT("toArray", TO_ARRAY, "filled", java_priority_blocking),
	RESULT("toArray", TO_ARRAY_OF, "filled", java_priority_blocking),
};

/* ---- reflection ---- */

static const struct vm_wrapped class_class[] = {
	RESULT("getMethods", "()[Ljava/lang/reflect/Method;", "array",
	       java_get_methods),
	RESULT("getFields", "()[Ljava/lang/reflect/Field;", "array",
	       java_get_fields),
	RESULT("getConstructors", "()[Ljava/lang/reflect/Constructor;", "array",
	       java_get_constructors),
	RESULT("getClasses", "()[Ljava/lang/Class;", "array", java_get_classes),
	RESULT("getDeclaredMethods", "()[Ljava/lang/reflect/Method;", "array",
	       java_get_declared_methods),
	RESULT("getDeclaredFields", "()[Ljava/lang/reflect/Field;", "array",
	       java_get_declared_fields),
	RESULT("getDeclaredConstructors", "()[Ljava/lang/reflect/Constructor;",
	       "array", java_get_declared_constructors),
	RESULT("getDeclaredClasses", "()[Ljava/lang/Class;", "array",
	       java_get_declared_classes),
	RESULT("getPermittedSubclasses", "()[Ljava/lang/Class;", "array",
	       java_get_permitted),
	RESULT("getAnnotations", NULL, "array", java_get_annotations),
	RESULT("getDeclaredAnnotations", NULL, "array",
	       java_get_declared_annotations),
};
/* getAnnotations() of methods and fields calls getDeclaredAnnotations(). */
static const struct vm_wrapped executable[] = {
	RESULT("getDeclaredAnnotations", NULL, "array",
	       java_get_declared_annotations),
	RESULT("getGenericExceptionTypes", NULL, "array",
	       java_get_generic_exceptions),
};
static const struct vm_wrapped method[] = {
	RESULT("getExceptionTypes", "()[Ljava/lang/Class;", "array",
	       java_get_exceptions),
};
static const struct vm_wrapped field[] = {
	RESULT("getDeclaredAnnotations", NULL, "array",
	       java_get_declared_annotations),
};

/* ---- the system ---- */

static const struct vm_wrapped file[] = {
	RESULT("normalizedList", NULL, "array", java_file_list),
};
static const struct vm_wrapped directory_stream[] = {
	RESULT("iterator",
	       "(Ljava/nio/file/DirectoryStream;)Ljava/util/Iterator;",
	       "listing", java_directory_stream),
};
static const struct vm_wrapped locale[] = {
	RESULT("getAvailableLocales", NULL, "array", java_locales),
	RESULT("getISOCountries", "()[Ljava/lang/String;", "array",
	       java_countries),
	RESULT("getISOLanguages", "()[Ljava/lang/String;", "array",
	       java_languages),
};
static const struct vm_wrapped time_zone[] = {
	RESULT("getAvailableIDs", NULL, "array", java_time_zones),
};
static const struct vm_wrapped format_symbols[] = {
	RESULT("getAvailableLocales", NULL, "array", java_locales),
	RESULT("getZoneStrings", NULL, "longerRows", java_zone_strings),
};
static const struct vm_wrapped file_input[] = {
	LENGTH("read", "([BII)I", java_read),
	LENGTH("skip", "(J)J", java_skip),
};
static const struct vm_wrapped other_input[] = {
	LENGTH("read", "([BII)I", java_read),
};
static const struct vm_wrapped text_input[] = {
	LENGTH("read", "([CII)I", java_read_text),
};
static const struct vm_wrapped thread[] = {
	{
		.method = "start",
		.descriptor = "()V",
		.shape = VM_BEFORE,
		.helper = "starting",
	},
};
static const struct vm_redirected salt[] = {
	{ "java/lang/System", "nanoTime", "()J", "salt", NULL },
};

/* ---- all ---- */

static const struct {
	const char *name;
	const struct vm_wrapped *wrapped;
	size_t n;
} classes[] = {
#define OF(name, methods)                                                      \
	{                                                                      \
		name, methods, COUNT(methods)                                  \
	}
	OF("java/util/HashMap", hashmap),
	OF("java/util/HashMap$KeySet", hashmap_keys),
	OF("java/util/HashMap$Values", hashmap_values),
	OF("java/util/HashMap$EntrySet", hashmap_entries),
	OF("java/util/HashSet", hashset),
	OF("java/util/WeakHashMap", weak),
	OF("java/util/WeakHashMap$KeySet", weak_keys),
	OF("java/util/WeakHashMap$Values", weak_values),
	OF("java/util/WeakHashMap$EntrySet", weak_entries),
	OF("java/util/IdentityHashMap", identity),
	OF("java/util/IdentityHashMap$KeySet", identity_keys),
	OF("java/util/IdentityHashMap$Values", identity_values),
	OF("java/util/IdentityHashMap$EntrySet", identity_entries),
	OF("java/util/concurrent/ConcurrentHashMap", concurrent),
	OF("java/util/concurrent/ConcurrentHashMap$KeySetView",
	   concurrent_keys),
	OF("java/util/concurrent/ConcurrentHashMap$ValuesView",
	   concurrent_values),
	OF("java/util/concurrent/ConcurrentHashMap$EntrySetView",
	   concurrent_entries),
	OF("java/util/Hashtable", hashtable),
	OF("java/util/Hashtable$KeySet", hashtable_keys),
	OF("java/util/Hashtable$ValueCollection", hashtable_values),
	OF("java/util/Hashtable$EntrySet", hashtable_entries),
	OF("java/util/ImmutableCollections$Set12", set_of),
	OF("java/util/ImmutableCollections$SetN", set_of),
	OF("java/util/ImmutableCollections$MapN$1", map_of),
	OF("java/util/PriorityQueue", priority_queue),
	OF("java/util/concurrent/PriorityBlockingQueue", priority_blocking),
	OF("java/lang/Class", class_class),
	OF("java/lang/reflect/Executable", executable),
	OF("java/lang/reflect/Method", method),
	OF("java/lang/reflect/Constructor", method),
	OF("java/lang/reflect/Field", field),
	OF("java/io/File", file),
	OF("sun/nio/fs/UnixDirectoryStream", directory_stream),
	OF("java/util/Locale", locale),
	OF("java/text/DateFormat", locale),
	OF("java/text/NumberFormat", locale),
	OF("java/text/Collator", locale),
	OF("java/text/BreakIterator", locale),
	OF("java/text/DecimalFormatSymbols", locale),
	OF("java/text/DateFormatSymbols", format_symbols),
	OF("java/util/TimeZone", time_zone),
	OF("java/io/FileInputStream", file_input),
	OF("sun/nio/ch/ChannelInputStream", other_input),
	OF("java/net/Socket$SocketInputStream", other_input),
	OF("java/io/InputStreamReader", text_input),
	OF("java/lang/Thread", thread),
#undef OF
};

static const struct vm_redirected waiting[] = {
	{ NULL, "wait", "()V", "waitFor", "Ljava/lang/Object;" },
	{ "java/util/concurrent/locks/Condition", "await", "()V", "await",
	  "Ljava/util/concurrent/locks/Condition;" },
};

bool vm_models_edit(const char *class_name, struct vm_edit *ret)
{
	*ret = (struct vm_edit){
		.helper_class = VM_HELPER_CLASS,
		.prefix = VM_PREFIX,
	};
	if (!strcmp(class_name, "java/util/ImmutableCollections")) {
		ret->redirected = salt;
		ret->n_redirected = COUNT(salt);
		return true;
	}
	for (size_t i = 0; i < COUNT(classes); i++) {
		if (strcmp(classes[i].name, class_name) != 0)
			continue;
		ret->wrapped = classes[i].wrapped;
		ret->n_wrapped = classes[i].n;
		for (size_t k = 0; k < ret->n_wrapped; k++) {
			if (ret->wrapped[k].exposed)
				ret->interface = "polygraph/boot/Original";
		}
		if (ret->wrapped == thread) {
			ret->field = VM_THREAD_KEY;
			ret->field_descriptor = "J";
		}
		return true;
	}
	return false;
}

void vm_models_edit_program(struct vm_edit *ret)
{
	*ret = (struct vm_edit){
		.helper_class = VM_HELPER_CLASS,
		.prefix = VM_PREFIX,
		.redirected = waiting,
		.n_redirected = COUNT(waiting),
	};
}
