/* Models of hash tables and search trees: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_HASH(X)                                                    \
	X(unordered_insert, WIRE_PERMUTE, WIRE_ONE, 0,                         \
	  "std::unordered_map/set (order)",                                    \
	  "C++17 [unord.req]: elements are organized into buckets by their"    \
	  " hash, in an order that is not specified; where a new element comes"\
	  " is left to the library, and rehashing changes the order of all",   \
	  "another order of the elements that were there without a rehash,"    \
	  " buckets that are not of their elements' hash, equal keys apart")   \
	X(unordered_rehash, WIRE_RANDOM, WIRE_ID, 0,                           \
	  "std::unordered_map/set (bucket count)",                             \
	  "C++17 [unord.req]: the number of buckets is increased as necessary" \
	  " to keep the load factor below the maximum, by how much is not"     \
	  " said; rehashing changes the ordering between elements",            \
	  "a rehash while (N+n) <= z * B, or a load above the maximum")        \
	X(unordered_reserve, WIRE_RANDOM, WIRE_ONE, 0,                         \
	  "std::unordered_map/set (reserve)",                                  \
	  "C++17 [unord.req]: after a.rehash(n) a.bucket_count() >= n, how much"\
	  " more is not said",                                                 \
	  "fewer buckets than were asked for")                                 \
	X(hash_bytes, WIRE_RANDOM, WIRE_ONE, WIRE_STARTUP,                     \
	  "std::hash<std::string>",                                            \
	  "C++17 [hash.requirements]: the value depends only on the argument"  \
	  " for the duration of the program; programs may have another",       \
	  "two values for equal texts in one execution")                       \
	X(g_hash_table_iter_next, WIRE_PERMUTE, WIRE_ONE, 0,                   \
	  "g_hash_table_iter_next",                                            \
	  "GLib, g_hash_table_iter_init: the iteration order of a"             \
	  " GHashTableIter over the keys/values in a hash table is not"        \
	  " defined",                                                          \
	  "pairs left out or visited twice, or removal of another pair")       \
	X(g_hash_table_foreach, WIRE_PERMUTE, WIRE_ONE, 0,                     \
	  "g_hash_table_foreach",                                              \
	  "GLib: the order in which g_hash_table_foreach() iterates over the"  \
	  " keys/values in the hash table is not defined",                     \
	  "pairs left out or visited twice")                                   \
	X(g_hash_table_find, WIRE_PERMUTE, WIRE_ONE, 0, "g_hash_table_find",   \
	  "GLib: the function is called for key/value pairs until it returns"  \
	  " TRUE; for which first is not said, a hash table being unordered",  \
	  "a pair for which the predicate is not true")                        \
	X(g_hash_table_foreach_remove, WIRE_PERMUTE, WIRE_ONE, 0,              \
	  "g_hash_table_foreach_remove",                                       \
	  "GLib: calls the function for each pair of the GHashTable, in no"    \
	  " order that would be defined",                                      \
	  "another pair removed, or a key read after the predicate")           \
	X(g_hash_table_foreach_steal, WIRE_PERMUTE, WIRE_ONE, 0,               \
	  "g_hash_table_foreach_steal",                                        \
	  "GLib: calls the function for each pair of the GHashTable, in no"    \
	  " order that would be defined",                                      \
	  "another pair removed, or a key read after the predicate")           \
	X(g_hash_table_get_keys, WIRE_PERMUTE, WIRE_ONE, 0,                    \
	  "g_hash_table_get_keys",                                             \
	  "GLib: retrieves every key; it iterates over the table, whose order" \
	  " is not defined",                                                   \
	  "keys left out or doubled")                                          \
	X(g_hash_table_get_values, WIRE_PERMUTE, WIRE_ONE, 0,                  \
	  "g_hash_table_get_values",                                           \
	  "GLib: retrieves every value; it iterates over the table, whose"     \
	  " order is not defined",                                             \
	  "values left out or doubled")                                        \
	X(g_hash_table_get_keys_as_array, WIRE_PERMUTE, WIRE_ONE, 0,           \
	  "g_hash_table_get_keys_as_array",                                    \
	  "GLib: retrieves every key as an array; it iterates over the table," \
	  " whose order is not defined",                                       \
	  "keys left out or doubled, or a NULL that is not at the end")        \
	X(tdelete, WIRE_RANDOM, WIRE_ONE, 0, "tdelete",                        \
	  "POSIX tdelete: an unspecified non-null pointer if the deleted node" \
	  " was the root node",                                                \
	  "a null pointer, or another one than the parent of any other node")
/* clang-format on */
