/*
 * The types that are compared by content, each a row.
 *
 * To add one:
 *  1. Find its members in the debug information (gdb: ptype /o TYPE) of a small
 *     program, in each library and compiler that matters.
 *  2. Add a row: name, shape, and the paths to its places. Most types need no
 *     code: the shapes are in container_expand.c. Rows of one name are tried in
 *     order; the first whose places are all found is taken, so newer and older
 *     layouts are two rows, or one row with "new|old" as a path.
 *  3. If debug information of some compiler leaves its members out (clang does
 *     so for classes whose constructor is in another file), give the offsets.
 *  4. Add a variable and its expected content to
 *     tests/unit/test_containers_subject.cc, and a line to docs/containers.md.
 *
 * Layouts were read from libstdc++ 12 and libc++ 14 in C++17, older and newer
 * member names from their sources; GLib's are those of 2.32 to 2.80.
 */
#include "state/recipes.h"

#include <ctype.h>
#include <string.h>

#include "base/macro.h"
#include "base/str.h"
#include "state/containers_internal.h"

/* clang-format off */
#define FIRST(path_, at_) [PLACE_FIRST] = { .path = (path_), .at = (at_) }
#define LAST(path_, at_)  [PLACE_LAST]  = { .path = (path_), .at = (at_) }
#define COUNT(path_, at_) [PLACE_COUNT] = { .path = (path_), .at = (at_) }
#define EXTRA(path_, at_) [PLACE_EXTRA] = { .path = (path_), .at = (at_) }
#define NOWHERE 0
#define SKIP(name) { .type = (name), .shape = CONTAINER_SKIP }
#define INNER(name, path) { .type = (name), .inner = (path) }

/* What containers of one family share. */
#define TREE_LIBSTDCXX \
	.library = RECIPE_LIBSTDCXX, .shape = CONTAINER_TREE, .size = 48, \
	.node = { .next = 16, .right = 24, .header = 32 }, \
	.places = { FIRST("_M_t._M_impl._M_header._M_parent", AT(16)), \
		    COUNT("_M_t._M_impl._M_node_count", AT(40)) }
/* The flag after three pointers leaves room for a small value. */
#define TREE_LIBCXX \
	.library = RECIPE_LIBCXX, .shape = CONTAINER_TREE, .size = 24, \
	.node = { .next = 0, .right = 8, .header = 25 }, \
	.places = { FIRST("__tree_.__pair1_.__value_.__left_|" \
			  "__tree_.__end_node_.__left_", AT(8)), \
		    COUNT("__tree_.__pair3_.__value_|__tree_.__size_", AT(16)) }
#define HASH_LIBSTDCXX \
	.library = RECIPE_LIBSTDCXX, .shape = CONTAINER_CHAIN, .size = 56, \
	.unordered = true, .node = { .next = 0, .header = 8 }, \
	.places = { FIRST("_M_h._M_before_begin._M_nxt", AT(16)), \
		    COUNT("_M_h._M_element_count", AT(24)) }
#define HASH_LIBCXX \
	.library = RECIPE_LIBCXX, .shape = CONTAINER_CHAIN, .size = 40, \
	.unordered = true, .node = { .next = 0, .header = 16 }, \
	.places = { FIRST("__table_.__p1_.__value_.__next_|" \
			  "__table_.__first_node_.__next_", AT(16)), \
		    COUNT("__table_.__p2_.__value_|__table_.__size_", AT(24)) }

/* Qt 6: a std::map behind a pointer, which is null where it is empty. */
#define QT_MAP(path) \
	.shape = CONTAINER_TREE, .keys = KEYS_PAIR, \
	.node = { .next = 16, .right = 24, .header = 32 }, \
	.expand = expand_qt_map, \
	.places = { FIRST(path "_M_t._M_impl._M_header._M_parent", NOWHERE), \
		    COUNT(path "_M_t._M_impl._M_node_count", NOWHERE), \
		    EXTRA("d.d", NOWHERE) }
#define QT_MAP_LIBCXX(path) \
	.shape = CONTAINER_TREE, .keys = KEYS_PAIR, .expand = expand_qt_map, \
	.node = { .next = 0, .right = 8, .header = 25 }, \
	.places = { FIRST(path "__tree_.__pair1_.__value_.__left_|" \
			  path "__tree_.__end_node_.__left_", NOWHERE), \
		    COUNT(path "__tree_.__pair3_.__value_|" \
			  path "__tree_.__size_", NOWHERE), \
		    EXTRA("d.d", NOWHERE) }

#define ABSL_HASH(shape_, expand_) \
	.shape = CONTAINER_##shape_, .unordered = true, .expand = expand_, \
	.places = { FIRST("slots_", NOWHERE), LAST("capacity_", NOWHERE), \
		    COUNT("size_", NOWHERE), EXTRA("ctrl_", NOWHERE) }
/* In the order of their keys: what moves in a node has not changed. */
#define ABSL_BTREE \
	.shape = CONTAINER_BLOCKS, .unordered = true, \
	.expand = expand_absl_btree, \
	.places = { FIRST("tree_.root_", NOWHERE), \
		    COUNT("tree_.size_", NOWHERE) }
#define BOOST_VECTOR \
	.shape = CONTAINER_SEQUENCE, .element = "#0", \
	.places = { FIRST("m_holder.m_start", NOWHERE), \
		    COUNT("m_holder.m_size", NOWHERE) }
#define BOOST_FLAT \
	.shape = CONTAINER_BLOCKS, .unordered = true, \
	.expand = expand_keyed_sequence, \
	.places = { FIRST("m_flat_tree.m_data.m_seq.m_holder.m_start|" \
			  "m_data.m_seq.m_holder.m_start", NOWHERE), \
		    COUNT("m_flat_tree.m_data.m_seq.m_holder.m_size|" \
			  "m_data.m_seq.m_holder.m_size", NOWHERE) }
#define BOOST_HASH \
	.shape = CONTAINER_TABLE, .unordered = true, \
	.expand = expand_boost_unordered, .node = { .header = 16 }, \
	.places = { FIRST("table_.buckets_", NOWHERE), \
		    EXTRA("table_.bucket_count_", NOWHERE), \
		    COUNT("table_.size_", NOWHERE) }

const struct container_recipe recipes[] = {
	/* Text. */
	{ .type = "std::__cxx11::basic_string", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_TEXT, .element = "#0", .size = 32,
	  .places = { FIRST("_M_dataplus._M_p", AT(0)),
		      COUNT("_M_string_length", AT(8)) } },
	/* Versioned namespaces have it without __cxx11. */
	{ .type = "std::basic_string", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_TEXT, .element = "#0",
	  .places = { FIRST("_M_dataplus._M_p", NOWHERE),
		      COUNT("_M_string_length", NOWHERE) } },
	/* Before C++11: shared until written. */
	{ .type = "std::basic_string", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_TEXT, .element = "#0", .size = 8,
	  .expand = expand_string_cow,
	  .places = { FIRST("_M_dataplus._M_p", AT(0)) } },
	{ .type = "std::basic_string", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_TEXT, .element = "#0", .size = 24,
	  .expand = expand_string_libcxx,
	  .places = { FIRST("__r_.__value_.__l.__data_|__rep_.__l.__data_",
			    AT(16)) } },
	{ .type = "std::basic_string_view", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_TEXT, .element = "#0", .size = 16,
	  .places = { FIRST("_M_str", AT(8)), COUNT("_M_len", AT(0)) } },
	{ .type = "std::basic_string_view", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_TEXT, .element = "#0", .size = 16,
	  .places = { FIRST("__data|__data_", AT(0)),
		      COUNT("__size|__size_", AT(8)) } },
	INNER("std::filesystem::path", "_M_pathname|__pn_"),
	INNER("std::experimental::filesystem::v1::path", "_M_pathname"),

	/* Sequences. */
	{ .type = "std::vector<bool", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_BITS, .element = "unsigned char", .size = 40,
	  .expand = expand_bits_libstdcxx,
	  .places = { FIRST("_M_impl._M_start._M_p", AT(0)),
		      LAST("_M_impl._M_finish._M_p", AT(16)),
		      EXTRA("_M_impl._M_finish._M_offset", AT(24)) } },
	{ .type = "std::vector<bool", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_BITS, .element = "unsigned char", .size = 24,
	  .expand = expand_bits_libcxx,
	  .places = { FIRST("__begin_", AT(0)), COUNT("__size_", AT(8)) } },
	{ .type = "std::vector", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_SEQUENCE, .element = "#0", .size = 24,
	  .places = { FIRST("_M_impl._M_start", AT(0)),
		      LAST("_M_impl._M_finish", AT(8)) } },
	{ .type = "std::vector", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_SEQUENCE, .element = "#0", .size = 24,
	  .places = { FIRST("__begin_", AT(0)), LAST("__end_", AT(8)) } },
	{ .type = "std::span", .shape = CONTAINER_SEQUENCE, .element = "#0",
	  .places = { FIRST("_M_ptr|__data|__data_", NOWHERE),
		      COUNT("_M_extent._M_extent_value|__size|__size_",
			    NOWHERE) } },
	/* The same, its length part of the type. */
	{ .type = "std::span", .shape = CONTAINER_SEQUENCE, .element = "#0",
	  .expand = expand_span,
	  .places = { FIRST("_M_ptr|__data|__data_", NOWHERE) } },
	{ .type = "std::valarray", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_SEQUENCE, .element = "#0", .size = 16,
	  .places = { FIRST("_M_data", AT(8)), COUNT("_M_size", AT(0)) } },
	{ .type = "std::valarray", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_SEQUENCE, .element = "#0", .size = 16,
	  .places = { FIRST("__begin_", AT(0)), LAST("__end_", AT(8)) } },
	{ .type = "std::deque", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_BLOCKS, .element = "#0", .size = 80,
	  .expand = expand_deque_libstdcxx,
	  .places = { FIRST("_M_impl._M_start", AT(16)),
		      LAST("_M_impl._M_finish", AT(48)) } },
	{ .type = "std::deque", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_BLOCKS, .element = "#0", .size = 48,
	  .expand = expand_deque_libcxx,
	  .places = { FIRST("__map_.__begin_", AT(8)),
		      LAST("__map_.__end_", AT(16)),
		      EXTRA("__start_", AT(32)),
		      COUNT("__size_.__value_|__size_", AT(40)) } },
	{ .type = "std::list", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_CHAIN, .element = "#0", .size = 24,
	  .node = { .next = 0, .header = 16 },
	  .places = { FIRST("_M_impl._M_node._M_next", AT(0)),
		      COUNT("_M_impl._M_node._M_size|_M_impl._M_node._M_data|"
			    "_M_impl._M_node._M_storage", AT(16)) } },
	/* Before C++11 it did not know its size. */
	{ .type = "std::list", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_CHAIN, .element = "#0", .size = 16,
	  .node = { .next = 0, .header = 16 },
	  .places = { FIRST("_M_impl._M_node._M_next", AT(0)) } },
	{ .type = "std::list", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_CHAIN, .element = "#0", .size = 24,
	  .node = { .next = 8, .header = 16 },
	  .places = { FIRST("__end_.__next_", AT(8)),
		      COUNT("__size_alloc_.__value_|__size_", AT(16)) } },
	{ .type = "std::forward_list", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_CHAIN, .element = "#0", .size = 8,
	  .node = { .next = 0, .header = 8 },
	  .places = { FIRST("_M_impl._M_head._M_next", AT(0)) } },
	{ .type = "std::forward_list", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_CHAIN, .element = "#0", .size = 8,
	  .node = { .next = 0, .header = 8 },
	  .places = { FIRST("__before_begin_.__value_.__next_|"
			    "__before_begin_.__next_", AT(0)) } },
	INNER("std::stack", "c"),
	INNER("std::queue", "c"),
	INNER("std::priority_queue", "c"),

	/* Sets and maps. */
	{ .type = "std::set", TREE_LIBSTDCXX, .element = "#0",
	  .keys = KEYS_SELF },
	{ .type = "std::multiset", TREE_LIBSTDCXX, .element = "#0",
	  .keys = KEYS_SELF },
	{ .type = "std::map", TREE_LIBSTDCXX, .element = "#3.#0",
	  .keys = KEYS_PAIR },
	{ .type = "std::multimap", TREE_LIBSTDCXX, .element = "#3.#0",
	  .keys = KEYS_PAIR },
	{ .type = "std::set", TREE_LIBCXX, .element = "#0",
	  .keys = KEYS_SELF },
	{ .type = "std::multiset", TREE_LIBCXX, .element = "#0",
	  .keys = KEYS_SELF },
	{ .type = "std::map", TREE_LIBCXX, .element = "#3.#0",
	  .keys = KEYS_PAIR },
	{ .type = "std::multimap", TREE_LIBCXX, .element = "#3.#0",
	  .keys = KEYS_PAIR },
	{ .type = "std::unordered_set", HASH_LIBSTDCXX, .element = "#0",
	  .keys = KEYS_SELF },
	{ .type = "std::unordered_multiset", HASH_LIBSTDCXX, .element = "#0",
	  .keys = KEYS_SELF },
	{ .type = "std::unordered_map", HASH_LIBSTDCXX, .element = "#4.#0",
	  .keys = KEYS_PAIR },
	{ .type = "std::unordered_multimap", HASH_LIBSTDCXX,
	  .element = "#4.#0", .keys = KEYS_PAIR },
	{ .type = "std::unordered_set", HASH_LIBCXX, .element = "#0",
	  .keys = KEYS_SELF },
	{ .type = "std::unordered_multiset", HASH_LIBCXX, .element = "#0",
	  .keys = KEYS_SELF },
	{ .type = "std::unordered_map", HASH_LIBCXX, .element = "#4.#0",
	  .keys = KEYS_PAIR },
	{ .type = "std::unordered_multimap", HASH_LIBCXX, .element = "#4.#0",
	  .keys = KEYS_PAIR },

	/* Smart pointers. */
	{ .type = "std::shared_ptr", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_POINTER, .element = "#0", .size = 16,
	  .expand = expand_shared,
	  .places = { FIRST("_M_ptr", AT(0)),
		      EXTRA("_M_refcount._M_pi", AT(8)) } },
	{ .type = "std::shared_ptr", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_POINTER, .element = "#0", .size = 16,
	  .expand = expand_shared,
	  .places = { FIRST("__ptr_", AT(0)), EXTRA("__cntrl_", AT(8)) } },
	{ .type = "std::weak_ptr", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_POINTER, .element = "#0", .size = 16,
	  .expand = expand_weak,
	  .places = { FIRST("_M_ptr", AT(0)),
		      EXTRA("_M_refcount._M_pi", AT(8)) } },
	{ .type = "std::weak_ptr", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_POINTER, .element = "#0", .size = 16,
	  .expand = expand_weak,
	  .places = { FIRST("__ptr_", AT(0)), EXTRA("__cntrl_", AT(8)) } },
	/* The deleter, where it has state, is the tuple's other head. */
	{ .type = "std::unique_ptr", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_POINTER, .element = "#0", .size = 8,
	  .places = { FIRST("_M_t._M_t.@std::_Head_base<0._M_head_impl|"
			    "_M_t.@std::_Head_base<0._M_head_impl", AT(0)) } },
	{ .type = "std::unique_ptr", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_POINTER, .element = "#0", .size = 8,
	  .places = { FIRST("__ptr_.__value_|__ptr_", AT(0)) } },
	{ .type = "std::__exception_ptr::exception_ptr",
	  .library = RECIPE_LIBSTDCXX, .shape = CONTAINER_OPTIONAL, .size = 8,
	  .expand = expand_presence,
	  .places = { FIRST("_M_exception_object", AT(0)) } },
	{ .type = "std::exception_ptr", .shape = CONTAINER_OPTIONAL, .size = 8,
	  .expand = expand_presence,
	  .places = { FIRST("_M_exception_object|__ptr_", AT(0)) } },

	/* Values that may be there or not, or of one type or another. */
	{ .type = "std::optional", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_OPTIONAL, .element = "#0",
	  .places = { FIRST("_M_payload._M_payload._M_value|"
			    "_M_payload._M_payload", NOWHERE),
		      COUNT("_M_payload._M_engaged|_M_engaged", NOWHERE) } },
	{ .type = "std::optional", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_OPTIONAL, .element = "#0",
	  .places = { FIRST("__val_", NOWHERE),
		      COUNT("__engaged_", NOWHERE) } },
	{ .type = "std::variant", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_VARIANT,
	  .places = { FIRST("_M_u", NOWHERE), COUNT("_M_index", NOWHERE) } },
	{ .type = "std::variant", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_VARIANT,
	  .places = { FIRST("__impl.__data|__impl_.__data", NOWHERE),
		      COUNT("__impl.__index|__impl_.__index", NOWHERE) } },
	{ .type = "std::function", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_FUNCTION, .size = 32, .expand = expand_function,
	  .places = { FIRST("_M_functor", AT(0)), COUNT("_M_manager", AT(16)),
		      EXTRA("_M_invoker", AT(24)) } },
	{ .type = "std::function", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_FUNCTION, .size = 48,
	  .expand = expand_function_libcxx,
	  .places = { FIRST("__f_.__f_", AT(32)) } },
	{ .type = "std::any", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_FUNCTION, .size = 16, .expand = expand_any,
	  .places = { FIRST("_M_storage", AT(8)),
		      COUNT("_M_manager", AT(0)) } },
	{ .type = "std::any", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_FUNCTION, .size = 32, .expand = expand_any,
	  .places = { FIRST("__s", AT(8)), COUNT("__h", AT(0)) } },
	{ .type = "std::thread", .shape = CONTAINER_OPTIONAL, .size = 8,
	  .expand = expand_presence,
	  .places = { FIRST("_M_id._M_thread|__t_", AT(0)) } },

	/* GLib. GList and GSList hold nothing but content: ordinary structs. */
	{ .type = "_GString", .shape = CONTAINER_TEXT, .element = "char",
	  .places = { FIRST("str", NOWHERE), COUNT("len", NOWHERE) } },
	{ .type = "_GPtrArray", .shape = CONTAINER_SEQUENCE,
	  .element = "void *",
	  .places = { FIRST("pdata", NOWHERE), COUNT("len", NOWHERE) } },
	{ .type = "_GByteArray", .shape = CONTAINER_SEQUENCE,
	  .element = "unsigned char",
	  .places = { FIRST("data", NOWHERE), COUNT("len", NOWHERE) } },
	{ .type = "_GArray", .shape = CONTAINER_SEQUENCE, .element = "void *",
	  .expand = expand_garray,
	  .places = { FIRST("data", NOWHERE), COUNT("len", NOWHERE) } },
	{ .type = "_GQueue", .shape = CONTAINER_CHAIN, .element = "void *",
	  .node = { .next = 8, .header = 0 },
	  .places = { FIRST("head", NOWHERE), COUNT("length", NOWHERE) } },
	{ .type = "_GHashTable", .shape = CONTAINER_TABLE,
	  .element = "void *", .unordered = true, .expand = expand_ghash },

	/*
	 * String streams: what was written, or is left to read. Their members
	 * come after those of one or two streams, of which debug information
	 * often has only the names.
	 */
	{ .type = "std::basic_ostringstream", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_TEXT, .element = "#0", .size = 376,
	  .places = { FIRST("_M_stringbuf._M_out_beg", AT(40)),
		      LAST("_M_stringbuf._M_out_cur", AT(48)) } },
	{ .type = "std::basic_stringstream", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_TEXT, .element = "#0", .size = 392,
	  .places = { FIRST("_M_stringbuf._M_out_beg", AT(56)),
		      LAST("_M_stringbuf._M_out_cur", AT(64)) } },
	{ .type = "std::basic_istringstream", .library = RECIPE_LIBSTDCXX,
	  .shape = CONTAINER_TEXT, .element = "#0", .size = 384,
	  .places = { FIRST("_M_stringbuf._M_in_cur", AT(32)),
		      LAST("_M_stringbuf._M_in_end", AT(40)) } },
	{ .type = "std::basic_ostringstream", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_TEXT, .element = "#0", .size = 264,
	  .places = { FIRST("__sb_.__bout_", AT(48)),
		      LAST("__sb_.__nout_", AT(56)) } },
	{ .type = "std::basic_stringstream", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_TEXT, .element = "#0", .size = 280,
	  .places = { FIRST("__sb_.__bout_", AT(64)),
		      LAST("__sb_.__nout_", AT(72)) } },
	{ .type = "std::basic_istringstream", .library = RECIPE_LIBCXX,
	  .shape = CONTAINER_TEXT, .element = "#0", .size = 272,
	  .places = { FIRST("__sb_.__ninp_", AT(40)),
		      LAST("__sb_.__einp_", AT(48)) } },

	/* Qt 6, then Qt 5. Its classes that derive from these need no row. */
	{ .type = "QString", .shape = CONTAINER_TEXT, .element = "char16_t",
	  .places = { FIRST("d.ptr", NOWHERE), COUNT("d.size", NOWHERE) } },
	{ .type = "QString", .shape = CONTAINER_TEXT, .element = "char16_t",
	  .expand = expand_qt_array,
	  .places = { FIRST("d", NOWHERE) } },
	{ .type = "QByteArray", .shape = CONTAINER_TEXT, .element = "char",
	  .places = { FIRST("d.ptr", NOWHERE), COUNT("d.size", NOWHERE) } },
	{ .type = "QByteArray", .shape = CONTAINER_TEXT, .element = "char",
	  .expand = expand_qt_array,
	  .places = { FIRST("d", NOWHERE) } },
	{ .type = "QStringView", .shape = CONTAINER_TEXT,
	  .element = "char16_t",
	  .places = { FIRST("m_data", NOWHERE), COUNT("m_size", NOWHERE) } },
	{ .type = "QList", .shape = CONTAINER_SEQUENCE, .element = "#0",
	  .places = { FIRST("d.ptr", NOWHERE), COUNT("d.size", NOWHERE) } },
	{ .type = "QList", .shape = CONTAINER_BLOCKS, .element = "#0",
	  .expand = expand_qt_list, .size = 8,
	  .places = { FIRST("d", AT(0)) } },
	{ .type = "QVector", .shape = CONTAINER_SEQUENCE, .element = "#0",
	  .expand = expand_qt_array,
	  .places = { FIRST("d", NOWHERE) } },
	{ .type = "QVarLengthArray", .shape = CONTAINER_SEQUENCE,
	  .element = "#0",
	  .places = { FIRST("ptr", NOWHERE), COUNT("s", NOWHERE) } },
	{ .type = "QMap", QT_MAP("d.d.m.") },
	{ .type = "QMultiMap", QT_MAP("d.d.m.") },
	{ .type = "QMap", QT_MAP_LIBCXX("d.d.m.") },
	{ .type = "QMultiMap", QT_MAP_LIBCXX("d.d.m.") },
	{ .type = "QMap", .shape = CONTAINER_TREE, .keys = KEYS_PAIR,
	  .node = { .next = 8, .right = 16, .header = 24 },
	  .expand = expand_qt_map,
	  .places = { FIRST("d.header.left", NOWHERE),
		      COUNT("d.size", NOWHERE), EXTRA("d", NOWHERE) } },
	{ .type = "QHash", .shape = CONTAINER_BLOCKS, .unordered = true,
	  .expand = expand_qt_hash_spans, .keys = KEYS_PAIR,
	  .places = { FIRST("d", NOWHERE), EXTRA("d.spans", NOWHERE) } },
	{ .type = "QHash", .shape = CONTAINER_TABLE, .unordered = true,
	  .expand = expand_qt_hash_chained, .size = 8,
	  .places = { FIRST("d", AT(0)) } },
	{ .type = "QMultiHash", .shape = CONTAINER_TABLE, .unordered = true,
	  .expand = expand_qt_hash_multi,
	  .places = { FIRST("d", NOWHERE), EXTRA("d.spans", NOWHERE),
		      COUNT("m_size", NOWHERE) } },
	{ .type = "QSet", .shape = CONTAINER_BLOCKS, .unordered = true,
	  .expand = expand_qt_hash_spans, .keys = KEYS_SELF, .element = "#0",
	  .places = { FIRST("q_hash.d", NOWHERE),
		      EXTRA("q_hash.d.spans", NOWHERE) } },
	{ .type = "QSet", .shape = CONTAINER_TABLE, .unordered = true,
	  .expand = expand_qt_hash_chained, .keys = KEYS_SELF,
	  .element = "#0", .size = 8,
	  .places = { FIRST("q_hash.d", AT(0)) } },
	{ .type = "QSharedPointer", .shape = CONTAINER_POINTER,
	  .element = "#0", .size = 16, .expand = expand_qt_shared,
	  .places = { FIRST("value", AT(0)), EXTRA("d", AT(8)) } },
	{ .type = "QWeakPointer", .shape = CONTAINER_POINTER,
	  .element = "#0", .size = 16, .expand = expand_qt_weak,
	  .places = { FIRST("value", AT(8)), EXTRA("d", AT(0)) } },
	INNER("QPointer", "wp"),
	{ .type = "QScopedPointer", .shape = CONTAINER_POINTER,
	  .element = "#0", .size = 8, .places = { FIRST("d", AT(0)) } },
	{ .type = "QSharedDataPointer", .shape = CONTAINER_POINTER,
	  .element = "#0", .size = 8, .places = { FIRST("d", AT(0)) } },
	{ .type = "QExplicitlySharedDataPointer", .shape = CONTAINER_POINTER,
	  .element = "#0", .size = 8, .places = { FIRST("d", AT(0)) } },
	{ .type = "QVariant", .shape = CONTAINER_VARIANT,
	  .expand = expand_qt_variant,
	  .places = { FIRST("d.packedType", NOWHERE) } },
	{ .type = "QVariant", .shape = CONTAINER_VARIANT,
	  .expand = expand_qt_variant_number,
	  .places = { FIRST("d.is_shared", NOWHERE) } },
	SKIP("QSharedData"),
	SKIP("QBasicMutex"),
	SKIP("QMutex"),
	SKIP("QRecursiveMutex"),
	SKIP("QReadWriteLock"),
	SKIP("QWaitCondition"),

	/* Abseil until 2022. */
	{ .type = "absl::flat_hash_set", ABSL_HASH(BLOCKS, expand_absl_flat),
	  .element = "#0", .keys = KEYS_SELF },
	{ .type = "absl::flat_hash_map", ABSL_HASH(BLOCKS, expand_absl_flat),
	  .element = "#4.#0", .keys = KEYS_PAIR },
	{ .type = "absl::node_hash_set", ABSL_HASH(TABLE, expand_absl_node),
	  .element = "#0", .keys = KEYS_SELF },
	{ .type = "absl::node_hash_map", ABSL_HASH(TABLE, expand_absl_node),
	  .element = "#4.#0", .keys = KEYS_PAIR },
	{ .type = "absl::btree_set", ABSL_BTREE, .element = "#0",
	  .keys = KEYS_SELF },
	{ .type = "absl::btree_multiset", ABSL_BTREE, .element = "#0",
	  .keys = KEYS_SELF },
	{ .type = "absl::btree_map", ABSL_BTREE, .element = "#3.#0",
	  .keys = KEYS_PAIR },
	{ .type = "absl::btree_multimap", ABSL_BTREE, .element = "#3.#0",
	  .keys = KEYS_PAIR },
	{ .type = "absl::InlinedVector", .shape = CONTAINER_SEQUENCE,
	  .element = "#0", .expand = expand_absl_inlined,
	  .places = { FIRST("storage_.metadata_.value", NOWHERE) } },

	/* Boost. */
	{ .type = "boost::container::vector", BOOST_VECTOR },
	/* It derives from the vector, and has room for elements of its own. */
	{ .type = "boost::container::small_vector", BOOST_VECTOR },
	{ .type = "boost::container::flat_set", BOOST_FLAT, .element = "#0",
	  .keys = KEYS_SELF },
	{ .type = "boost::container::flat_multiset", BOOST_FLAT,
	  .element = "#0", .keys = KEYS_SELF },
	{ .type = "boost::container::flat_map", BOOST_FLAT,
	  .keys = KEYS_PAIR },
	{ .type = "boost::container::flat_multimap", BOOST_FLAT,
	  .keys = KEYS_PAIR },
	{ .type = "boost::unordered::unordered_set", BOOST_HASH,
	  .element = "#0", .keys = KEYS_SELF },
	{ .type = "boost::unordered::unordered_multiset", BOOST_HASH,
	  .element = "#0", .keys = KEYS_SELF },
	{ .type = "boost::unordered::unordered_map", BOOST_HASH,
	  .element = "#4.#0", .keys = KEYS_PAIR },
	{ .type = "boost::unordered::unordered_multimap", BOOST_HASH,
	  .element = "#4.#0", .keys = KEYS_PAIR },
	{ .type = "boost::circular_buffer", .shape = CONTAINER_BLOCKS,
	  .element = "#0", .expand = expand_boost_circular,
	  .places = { FIRST("m_first", NOWHERE), LAST("m_end", NOWHERE),
		      EXTRA("m_buff", NOWHERE), COUNT("m_size", NOWHERE) } },
	{ .type = "boost::optional", .shape = CONTAINER_OPTIONAL,
	  .element = "#0",
	  .places = { FIRST("m_storage", NOWHERE),
		      COUNT("m_initialized", NOWHERE) } },
	{ .type = "boost::variant", .shape = CONTAINER_VARIANT,
	  .places = { FIRST("storage_", NOWHERE), COUNT("which_", NOWHERE) } },
	{ .type = "boost::shared_ptr", .shape = CONTAINER_POINTER,
	  .element = "#0", .size = 16, .expand = expand_shared,
	  .places = { FIRST("px", AT(0)), EXTRA("pn.pi_", AT(8)) } },
	{ .type = "boost::weak_ptr", .shape = CONTAINER_POINTER,
	  .element = "#0", .size = 16, .expand = expand_weak,
	  .places = { FIRST("px", AT(0)), EXTRA("pn.pi_", AT(8)) } },
	{ .type = "boost::scoped_ptr", .shape = CONTAINER_POINTER,
	  .element = "#0", .size = 8, .places = { FIRST("px", AT(0)) } },
	{ .type = "boost::intrusive_ptr", .shape = CONTAINER_POINTER,
	  .element = "#0", .size = 8, .places = { FIRST("px", AT(0)) } },

	/* Never compared: locks, what is the library's own, buffers. */
	SKIP(CONTAINER_STRUCTURE),
	SKIP("std::basic_ostringstream"),
	SKIP("std::basic_stringstream"),
	SKIP("std::basic_istringstream"),
	SKIP("std::basic_ios"),
	SKIP("std::ios_base"),
	SKIP("std::basic_istream"),
	SKIP("std::basic_ostream"),
	SKIP("std::basic_iostream"),
	SKIP("std::basic_ifstream"),
	SKIP("std::basic_ofstream"),
	SKIP("std::basic_fstream"),
	SKIP("std::basic_streambuf"),
	SKIP("std::basic_filebuf"),
	SKIP("std::basic_stringbuf"),
	SKIP("std::locale"),
	SKIP("std::mutex"),
	SKIP("std::timed_mutex"),
	SKIP("std::recursive_mutex"),
	SKIP("std::recursive_timed_mutex"),
	SKIP("std::shared_mutex"),
	SKIP("std::shared_timed_mutex"),
	SKIP("std::condition_variable"),
	SKIP("std::condition_variable_any"),
	SKIP("std::once_flag"),
	SKIP("std::random_device"),
	SKIP("std::pmr::monotonic_buffer_resource"),
	SKIP("std::pmr::unsynchronized_pool_resource"),
	SKIP("std::pmr::synchronized_pool_resource"),
	SKIP("pthread_mutex_t"),
	SKIP("pthread_cond_t"),
	SKIP("pthread_rwlock_t"),
	SKIP("pthread_barrier_t"),
	SKIP("__jmp_buf_tag"),
	SKIP("_IO_FILE"),
	SKIP("_GMutex"),
	SKIP("_GRecMutex"),
	SKIP("_GRWLock"),
	SKIP("_GCond"),
	SKIP("_GPrivate"),
};
/* clang-format on */
const size_t n_recipes = ARRAY_SIZE(recipes);

/* Namespaces that are the library's own business. */
static const struct {
	const char *name;
	enum recipe_library library;
} inline_namespaces[] = {
	{ "__1::", RECIPE_LIBCXX },	   { "__2::", RECIPE_LIBCXX },
	{ "__ndk1::", RECIPE_LIBCXX },	   { "__fs::", RECIPE_LIBCXX },
	{ "__cxx11::", RECIPE_LIBSTDCXX }, { "__cxx1998::", RECIPE_LIBSTDCXX },
	{ "__debug::", RECIPE_LIBSTDCXX }, { "__8::", RECIPE_LIBSTDCXX },
	{ "_V2::", RECIPE_LIBSTDCXX },
};

/* Length of the inline namespace that @name begins with; 0: none. */
static size_t inline_namespace(const char *name, enum recipe_library *library)
{
	if (name[0] != '_')
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(inline_namespaces); i++) {
		if (str_starts(name, inline_namespaces[i].name)) {
			if (*library != RECIPE_LIBCXX)
				*library = inline_namespaces[i].library;
			return strlen(inline_namespaces[i].name);
		}
	}
	return 0;
}

/* Abseil's says which release it is: "lts_20220623::", "debian3::". */
static size_t absl_namespace(const char *name)
{
	if (!str_starts(name, "lts_") && !str_starts(name, "debian"))
		return 0;
	const char *end = strstr(name, "::");
	return end ? (size_t)(end - name) + 2 : 0;
}

/* Do the arguments, which begin here, end with the name? */
static bool ends_with_arguments(const char *arguments)
{
	unsigned depth = 0;
	for (const char *p = arguments; *p; p++) {
		if (*p == '<')
			depth++;
		else if (*p == '>' && depth && !--depth)
			return !p[1];
	}
	return !depth;
}

void recipe_name_parse(const char *name, struct recipe_name *ret)
{
	*ret = (struct recipe_name){ .name = name, .n = strcspn(name, "<") };
	ret->nested = !ends_with_arguments(name + ret->n);
	bool std = str_starts(name, "std::");
	bool absl = str_starts(name, "absl::");
	if (std)
		ret->library = RECIPE_LIBSTDCXX;
	size_t out = 0;
	for (size_t i = 0; i < ret->n;) {
		size_t skip =
			std && i && name[i - 1] == ':'
				? inline_namespace(name + i, &ret->library)
			: absl && i == strlen("absl::")
				? absl_namespace(name + i)
				: 0;
		if (skip) {
			i += skip;
			continue;
		}
		if (out == sizeof(ret->plain) - 1) {
			out = 0; /* longer than any row's */
			break;
		}
		ret->plain[out++] = name[i++];
	}
	ret->plain[out] = '\0';
}

bool recipe_matches(const struct container_recipe *recipe,
		    const struct recipe_name *name)
{
	if (recipe->user)
		return str_glob(recipe->type, name->name);
	if (name->nested ||
	    (recipe->library != RECIPE_ANY && recipe->library != name->library))
		return false;
	const char *want = recipe->type;
	size_t n = strcspn(want, "<");
	bool plain = !strncmp(name->plain, want, n) && !name->plain[n];
	/* A row may ask for an inline namespace. */
	if (!plain && (name->n != n || memcmp(name->name, want, n)))
		return false;
	const char *arguments = name->name + name->n;
	size_t more = strlen(want + n);
	return !strncmp(arguments, want + n, more) &&
	       (!more || (!isalnum((unsigned char)arguments[more]) &&
			  arguments[more] != '_'));
}
