/* Models of hash tables and search trees: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_HASH(X)                                                    \
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
	  "another pair removed, or a key looked at after the predicate")      \
	X(g_hash_table_foreach_steal, WIRE_PERMUTE, WIRE_ONE, 0,               \
	  "g_hash_table_foreach_steal",                                        \
	  "GLib: calls the function for each pair of the GHashTable, in no"    \
	  " order that would be defined",                                      \
	  "another pair removed, or a key looked at after the predicate")      \
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
