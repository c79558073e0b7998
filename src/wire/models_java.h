/*
 * Models of what Java's library leaves open: see wire/models.h. Clauses are those of
 * the API specification of Java SE 17. The agent in a VM (vm/) has them.
 */
#pragma once

/* clang-format off */
#define WIRE_MODELS_JAVA(X)                                                    \
	WIRE_MODELS_JAVA_HASHES(X)                                             \
	WIRE_MODELS_JAVA_QUEUES(X)                                             \
	WIRE_MODELS_JAVA_REFLECTION(X)                                         \
	WIRE_MODELS_JAVA_SYSTEM(X)

#define WIRE_MODELS_JAVA_HASHES(X)                                             \
	X(java_hashmap_keys, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                \
	  "HashMap.keySet",                                                    \
	  "java.util.HashMap: this class makes no guarantees as to the order"  \
	  " of the map; in particular, it does not guarantee that the order"   \
	  " will remain constant over time",                                   \
	  "a key lost or doubled, LinkedHashMap, another order while one"      \
	  " iterates")                                                         \
	X(java_hashmap_values, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,              \
	  "HashMap.values",                                                    \
	  "java.util.HashMap: this class makes no guarantees as to the order"  \
	  " of the map",                                                       \
	  "a value lost or doubled, LinkedHashMap")                            \
	X(java_hashmap_entries, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,             \
	  "HashMap.entrySet",                                                  \
	  "java.util.HashMap: this class makes no guarantees as to the order"  \
	  " of the map",                                                       \
	  "an entry lost or doubled, LinkedHashMap, a value that is not that"  \
	  " of the key")                                                       \
	X(java_hashmap_each, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                \
	  "HashMap.forEach",                                                   \
	  "java.util.HashMap: this class makes no guarantees as to the order"  \
	  " of the map",                                                       \
	  "an entry lost or doubled, LinkedHashMap")                           \
	X(java_hashset, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                     \
	  "HashSet",                                                           \
	  "java.util.HashSet: it makes no guarantees as to the iteration"      \
	  " order of the set; in particular, it does not guarantee that the"   \
	  " order will remain constant over time",                             \
	  "an element lost or doubled, LinkedHashSet")                         \
	X(java_weak_keys, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                   \
	  "WeakHashMap.keySet",                                                \
	  "java.util.Map: the order of a map is that of the iterators of its"  \
	  " views; WeakHashMap gives none",                                    \
	  "a key lost or doubled")                                             \
	X(java_weak_values, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                 \
	  "WeakHashMap.values",                                                \
	  "java.util.Map: the order of a map is that of the iterators of its"  \
	  " views; WeakHashMap gives none",                                    \
	  "a value lost or doubled")                                           \
	X(java_weak_entries, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                \
	  "WeakHashMap.entrySet",                                              \
	  "java.util.Map: the order of a map is that of the iterators of its"  \
	  " views; WeakHashMap gives none",                                    \
	  "an entry lost or doubled")                                          \
	X(java_weak_each, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                   \
	  "WeakHashMap.forEach",                                               \
	  "java.util.Map: the order of a map is that of the iterators of its"  \
	  " views; WeakHashMap gives none",                                    \
	  "an entry lost or doubled")                                          \
	X(java_identity_keys, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,               \
	  "IdentityHashMap.keySet",                                            \
	  "java.util.IdentityHashMap: no guarantees as to the order of the"    \
	  " map; it does not guarantee that the order will remain constant"    \
	  " over time",                                                        \
	  "a key lost or doubled")                                             \
	X(java_identity_values, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,             \
	  "IdentityHashMap.values",                                            \
	  "java.util.IdentityHashMap: no guarantees as to the order of the"    \
	  " map",                                                              \
	  "a value lost or doubled")                                           \
	X(java_identity_entries, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,            \
	  "IdentityHashMap.entrySet",                                          \
	  "java.util.IdentityHashMap: no guarantees as to the order of the"    \
	  " map",                                                              \
	  "an entry lost or doubled, one that does not write through")         \
	X(java_identity_each, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,               \
	  "IdentityHashMap.forEach",                                           \
	  "java.util.IdentityHashMap: no guarantees as to the order of the"    \
	  " map",                                                              \
	  "an entry lost or doubled")                                          \
	X(java_concurrent_keys, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,             \
	  "ConcurrentHashMap.keySet",                                          \
	  "java.util.concurrent.ConcurrentHashMap: iterators return elements"  \
	  " reflecting the state of the hash table; no order is given",        \
	  "a key lost or doubled")                                             \
	X(java_concurrent_values, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,           \
	  "ConcurrentHashMap.values",                                          \
	  "java.util.concurrent.ConcurrentHashMap: iterators return elements"  \
	  " reflecting the state of the hash table; no order is given",        \
	  "a value lost or doubled")                                           \
	X(java_concurrent_entries, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,          \
	  "ConcurrentHashMap.entrySet",                                        \
	  "java.util.concurrent.ConcurrentHashMap: iterators return elements"  \
	  " reflecting the state of the hash table; no order is given",        \
	  "an entry lost or doubled")                                          \
	X(java_concurrent_each, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,             \
	  "ConcurrentHashMap.forEach",                                         \
	  "java.util.concurrent.ConcurrentHashMap: no order of its elements"   \
	  " is given",                                                         \
	  "an entry lost or doubled")                                          \
	X(java_concurrent_enumerations, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,     \
	  "ConcurrentHashMap.keys",                                            \
	  "java.util.concurrent.ConcurrentHashMap: enumerations return"        \
	  " elements reflecting the state of the hash table; no order is"      \
	  " given (elements() likewise)",                                      \
	  "an element lost or doubled")                                        \
	X(java_concurrent_text, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,             \
	  "ConcurrentHashMap.toString",                                        \
	  "ConcurrentHashMap.toString: a list of key-value mappings (in no"    \
	  " particular order) enclosed in braces",                             \
	  "a mapping lost or doubled")                                         \
	X(java_hashtable_keys, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,              \
	  "Hashtable.keySet",                                                  \
	  "java.util.Map: the order of a map is that of the iterators of its"  \
	  " views; Hashtable gives none",                                      \
	  "a key lost or doubled")                                             \
	X(java_hashtable_values, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,            \
	  "Hashtable.values",                                                  \
	  "java.util.Map: the order of a map is that of the iterators of its"  \
	  " views; Hashtable gives none",                                      \
	  "a value lost or doubled")                                           \
	X(java_hashtable_entries, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,           \
	  "Hashtable.entrySet",                                                \
	  "java.util.Map: the order of a map is that of the iterators of its"  \
	  " views; Hashtable gives none",                                      \
	  "an entry lost or doubled")                                          \
	X(java_hashtable_each, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,              \
	  "Hashtable.forEach",                                                 \
	  "java.util.Map: the order of a map is that of the iterators of its"  \
	  " views; Hashtable gives none",                                      \
	  "an entry lost or doubled")                                          \
	X(java_hashtable_enumerations, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,      \
	  "Hashtable.keys",                                                    \
	  "Hashtable.keys, elements: an enumeration of the keys or values; no" \
	  " order is given",                                                   \
	  "an element lost or doubled")                                        \
	X(java_set_of, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                      \
	  "Set.of",                                                            \
	  "java.util.Set: the iteration order of set elements is unspecified"  \
	  " and is subject to change",                                         \
	  "an element lost or doubled")                                        \
	X(java_map_of, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                      \
	  "Map.of",                                                            \
	  "java.util.Map: the iteration order of mappings is unspecified and"  \
	  " is subject to change",                                             \
	  "an entry lost or doubled")

#define WIRE_MODELS_JAVA_QUEUES(X)                                             \
	X(java_priority_queue, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,              \
	  "PriorityQueue.iterator",                                            \
	  "java.util.PriorityQueue: the iterator is not guaranteed to"         \
	  " traverse the elements of the priority queue in any particular"     \
	  " order",                                                            \
	  "what poll() and peek() give, an element lost or doubled")           \
	X(java_priority_array, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,              \
	  "PriorityQueue.toArray",                                             \
	  "PriorityQueue.toArray: the elements are in no particular order",    \
	  "what poll() and peek() give")                                       \
	X(java_priority_blocking, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,           \
	  "PriorityBlockingQueue",                                             \
	  "java.util.concurrent.PriorityBlockingQueue: the iterator is not"    \
	  " guaranteed to traverse the elements in any particular order;"      \
	  " toArray: in no particular order",                                  \
	  "what poll() and take() give")                                       \
	X(java_delay_queue, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                 \
	  "DelayQueue",                                                        \
	  "java.util.concurrent.DelayQueue: the iterator is not guaranteed to" \
	  " traverse the elements of the DelayQueue in any particular order",  \
	  "what poll() and take() give")

#define WIRE_MODELS_JAVA_REFLECTION(X)                                         \
	X(java_get_methods, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                 \
	  "Class.getMethods",                                                  \
	  "Class.getMethods: the elements in the returned array are not"       \
	  " sorted and are not in any particular order",                       \
	  "a method lost or doubled")                                          \
	X(java_get_fields, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                  \
	  "Class.getFields",                                                   \
	  "Class.getFields: the elements in the returned array are not sorted" \
	  " and are not in any particular order",                              \
	  "a field lost or doubled")                                           \
	X(java_get_constructors, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,            \
	  "Class.getConstructors",                                             \
	  "Class.getConstructors: returns an array containing all the public"  \
	  " constructors; no order is given",                                  \
	  "a constructor lost or doubled")                                     \
	X(java_get_classes, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                 \
	  "Class.getClasses",                                                  \
	  "Class.getClasses: returns an array of all the public classes and"   \
	  " interfaces that are members; no order is given",                   \
	  "a class lost or doubled")                                           \
	X(java_get_declared_methods, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,        \
	  "Class.getDeclaredMethods",                                          \
	  "Class.getDeclaredMethods: the elements in the returned array are"   \
	  " not sorted and are not in any particular order",                   \
	  "a method lost or doubled")                                          \
	X(java_get_declared_fields, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,         \
	  "Class.getDeclaredFields",                                           \
	  "Class.getDeclaredFields: the elements in the returned array are"    \
	  " not sorted and are not in any particular order",                   \
	  "a field lost or doubled")                                           \
	X(java_get_declared_constructors, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,   \
	  "Class.getDeclaredConstructors",                                     \
	  "Class.getDeclaredConstructors: the elements in the array returned"  \
	  " are not sorted and are not in any particular order",               \
	  "a constructor lost or doubled")                                     \
	X(java_get_declared_classes, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,        \
	  "Class.getDeclaredClasses",                                          \
	  "Class.getDeclaredClasses: returns an array of all the classes and"  \
	  " interfaces declared as members; no order is given",                \
	  "a class lost or doubled")                                           \
	X(java_get_permitted, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,               \
	  "Class.getPermittedSubclasses",                                      \
	  "Class.getPermittedSubclasses: the order of such elements is"        \
	  " unspecified",                                                      \
	  "a class lost or doubled")                                           \
	X(java_get_annotations, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,             \
	  "getAnnotations",                                                    \
	  "AnnotatedElement.getAnnotations: returns annotations that are"      \
	  " present on this element; no order is given",                       \
	  "an annotation lost or doubled")                                     \
	X(java_get_declared_annotations, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,    \
	  "getDeclaredAnnotations",                                            \
	  "AnnotatedElement.getDeclaredAnnotations: returns annotations that"  \
	  " are directly present; no order is given",                          \
	  "an annotation lost or doubled")                                     \
	X(java_get_exceptions, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,              \
	  "getExceptionTypes",                                                 \
	  "Executable.getExceptionTypes: the types of exceptions declared to"  \
	  " be thrown; no order is given",                                     \
	  "a type lost or doubled; types of parameters and interfaces, whose"  \
	  " order is given")                                                   \
	X(java_get_generic_exceptions, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,      \
	  "getGenericExceptionTypes",                                          \
	  "Executable.getGenericExceptionTypes: the exceptions declared to be" \
	  " thrown; no order is given",                                        \
	  "a type lost or doubled")

#define WIRE_MODELS_JAVA_SYSTEM(X)                                             \
	X(java_file_list, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                   \
	  "File.list",                                                         \
	  "File.list: there is no guarantee that the name strings in the"      \
	  " resulting array will appear in any specific order",                \
	  "a name lost or doubled")                                            \
	X(java_file_list_files, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,             \
	  "File.listFiles",                                                    \
	  "File.listFiles: there is no guarantee that the name strings in the" \
	  " resulting array will appear in any specific order",                \
	  "a file lost or doubled")                                            \
	X(java_directory_stream, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,            \
	  "Files.newDirectoryStream",                                          \
	  "DirectoryStream.iterator: the elements returned by the iterator"    \
	  " are in no specific order (also of Files.list, Files.walk)",        \
	  "an entry lost or doubled, a file before its directory")             \
	X(java_locales, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                     \
	  "getAvailableLocales",                                               \
	  "Locale.getAvailableLocales: returns an array of all installed"      \
	  " locales; no order is given (also of java.text)",                   \
	  "a locale lost or doubled")                                          \
	X(java_countries, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                   \
	  "Locale.getISOCountries",                                            \
	  "Locale.getISOCountries: returns a list of all country codes; no"    \
	  " order is given",                                                   \
	  "a code lost or doubled")                                            \
	X(java_languages, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                   \
	  "Locale.getISOLanguages",                                            \
	  "Locale.getISOLanguages: returns a list of all language codes; no"   \
	  " order is given",                                                   \
	  "a code lost or doubled")                                            \
	X(java_time_zones, WIRE_PERMUTE, WIRE_ONE, WIRE_JAVA,                  \
	  "TimeZone.getAvailableIDs",                                          \
	  "TimeZone.getAvailableIDs: gets all the available IDs supported; no" \
	  " order is given",                                                   \
	  "an ID lost or doubled")                                             \
	X(java_zone_strings, WIRE_EXTEND, WIRE_ONE, WIRE_JAVA,                 \
	  "DateFormatSymbols.getZoneStrings",                                  \
	  "DateFormatSymbols.getZoneStrings: each row contains at least the"   \
	  " five strings that are listed; setZoneStrings: m is at least 5",    \
	  "the first five strings of a row, what setZoneStrings was given")    \
	X(java_hash_code, WIRE_RANDOM, WIRE_ONE, WIRE_JAVA,                    \
	  "Object.hashCode",                                                   \
	  "Object.hashCode: it need not remain consistent from one execution"  \
	  " of an application to another; System.identityHashCode likewise",   \
	  "another one for the same object, equal objects with different ones") \
	X(java_read, WIRE_SHORT, WIRE_ID, WIRE_JAVA,                           \
	  "InputStream.read",                                                  \
	  "InputStream.read: an attempt is made to read as many as len bytes," \
	  " but a smaller number may be read",                                 \
	  "no byte at all, less than read(byte[]) of memory gives")            \
	X(java_read_text, WIRE_SHORT, WIRE_ID, WIRE_JAVA,                      \
	  "Reader.read",                                                       \
	  "Reader.read: reads characters into a portion of an array; returns"  \
	  " the number of characters read (InputStreamReader)",                \
	  "no character at all")                                               \
	X(java_skip, WIRE_SHORT, WIRE_ID, WIRE_JAVA,                           \
	  "InputStream.skip",                                                  \
	  "InputStream.skip: it may end up skipping over some smaller number"  \
	  " of bytes, possibly 0",                                             \
	  "more bytes")                                                        \
	X(java_wait, WIRE_SPURIOUS, WIRE_ID, WIRE_JAVA,                        \
	  "Object.wait",                                                       \
	  "Object.wait: a thread can wake up without being notified,"          \
	  " interrupted, or timing out, a so-called spurious wakeup",          \
	  "a wake-up without the monitor")                                     \
	X(java_await, WIRE_SPURIOUS, WIRE_ID, WIRE_JAVA,                       \
	  "Condition.await",                                                   \
	  "java.util.concurrent.locks.Condition: when waiting upon a"          \
	  " Condition, a spurious wakeup is permitted to occur",               \
	  "a wake-up without the lock")
/* clang-format on */
