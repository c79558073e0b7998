/*
 * The Java heap as graphs: what can be reached from the static fields of loaded
 * classes, at one moment, copied out of the heap.
 *
 * A graph has nodes, one an object, and the bytes of each. There are two sources
 * of graphs: the heap's memory itself (vm_heap_walk.c; HotSpot only) and JVMTI
 * (vm_heap_tags.c; any VM, slow). Both fill the same structures: what differs is
 * where a field lies in a node's bytes and how a reference is written there. All
 * else - comparison, containers, texts - knows graphs only, and no VM.
 *
 * Invariants:
 *  1. Node 0 is null.
 *  2. Roots are numbered once and for all; a graph has the values of the first
 *     n_roots of them. Those that two graphs have in common are compared.
 *  3. Classes are never forgotten, and a global reference keeps each loaded.
 */
#pragma once

#include <jni.h>
#include <jvmti.h>
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/vm_heap.h"

/* ---- memory; where there is none, the VM ends ---- */

void *heap_room(void *data, size_t n, size_t *cap, size_t size);
char *heap_text(const char *text);
void *heap_zeroed(size_t n, size_t size);
/* Zeroes that cost nothing until they are written; given back by size. */
void *heap_sparse(size_t size);
void heap_sparse_free(void *data, size_t size);
int heap_compare_numbers(const void *x, const void *y); /* uint32_t, qsort(3) */
/* Room for one more at the end of @vec: a struct with data, n and cap. */
#define HEAP_PUSH(vec, value)                                                  \
	do {                                                                   \
		(vec)->data = heap_room((vec)->data, (vec)->n, &(vec)->cap,    \
					sizeof(*(vec)->data));                 \
		(vec)->data[(vec)->n++] = (value);                             \
	} while (0)

struct heap_string {
	char *data; /* ends with a zero byte as soon as there is anything */
	size_t n, cap;
};
void heap_append(struct heap_string *string, const char *text, size_t n);
void heap_appendf(struct heap_string *string, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- classes ---- */

/* JVMTI's tags of mirrors: this and the class's id. Others are smaller. */
#define CLASS_TAG ((jlong)1 << 40)

enum heap_kind {
	HEAP_PLAIN,
	HEAP_SKIP,   /* never compared: locks, threads, class loaders */
	HEAP_STRING, /* values: identity does not matter */
	HEAP_BOX,
	HEAP_BUILDER, /* StringBuilder, StringBuffer */
	HEAP_ENUM,    /* by name: its fields are those of a static field */
	HEAP_MIRROR,  /* java.lang.Class */
	HEAP_ARRAY,
};

/* Which of a thread's maps has its values (vm_heap_locals.h). */
enum heap_local {
	HEAP_NOT_LOCAL,
	HEAP_LOCAL,
	HEAP_INHERITABLE,
};

struct heap_class;
struct heap_recipe;

struct heap_field {
	char *name;
	char *signature;
	const struct heap_class *owner;
	jfieldID id;
	uint32_t offset; /* in the bytes of a node; of statics: in the mirror */
	uint32_t number; /* in JVMTI's numbering of the class that has it */
	char type;	 /* first letter of the signature; 'L' for arrays */
	bool followed;	 /* references lead somewhere that may matter */
	bool compared;	 /* and differences count */
	bool is_final;
};

struct heap_span {
	uint32_t offset, size;
};

struct heap_class {
	uint32_t id; /* from 1 on */
	jclass mirror;
	char *name; /* as in source: "java.util.Map.Entry", "int[]" */
	uint64_t name_hash;
	char *file; /* "com/acme/Registry.java"; NULL: unknown */
	struct heap_class *super;
	enum heap_kind kind;
	enum heap_local local;
	bool jdk;		   /* of the boot or platform loader */
	bool seen;		   /* its static fields are roots, or will be */
	bool ready;		   /* all below is known */
	char element;		   /* of arrays: 'I', …, 'L' */
	struct heap_field *fields; /* of instances, inherited ones first */
	size_t n_fields;
	uint32_t size; /* of an instance in the bytes of a node */
	const struct heap_recipe *recipe; /* its own or inherited; or NULL */
	uint64_t klass;			  /* its address; 0: not known */
	uint32_t *links; /* offsets of references that are followed */
	const struct heap_field **link_fields;
	size_t n_links;
	/* As part of a container of this kind: which links lead to items. */
	const struct heap_recipe *part_of;
	uint64_t item_links;
	struct heap_span *spans; /* what shows that an instance changed */
	size_t n_spans;
	/* For JVMTI's numbers: fields of its interfaces, of it and above it. */
	uint32_t interface_fields, own_fields;
};

/* ---- containers ---- */

enum heap_shape {
	SHAPE_SKIP,
	SHAPE_FIELDS, /* only those listed in @first count */
	SHAPE_ARRAY,  /* @first, @count of them where given */
	SHAPE_RING,   /* ArrayDeque: from @count up to @next */
	SHAPE_CHAIN,  /* nodes from @first on by @next, each has @value */
	SHAPE_TABLE,  /* an array of chains; nodes have @hash, @key, @value */
	SHAPE_LINKED, /* map: nodes from @first on by @next */
	SHAPE_TREE,   /* TreeMap */
	SHAPE_PAIRS,  /* an array: key, value, key, value */
	SHAPE_INNER,  /* what the container @first has */
	SHAPE_KEYS,   /* the keys that the map @first has */
	SHAPE_ENUMS,  /* EnumMap */
	SHAPE_BITS,   /* words in @first, @count of them */
	SHAPE_SUM,    /* LongAdder */
};

struct heap_recipe {
	const char *type; /* of users: a glob */
	enum heap_shape shape;
	const char *first, *count, *next, *key, *value, *hash;
	bool unordered;
};

struct heap_item {
	uint32_t key, value; /* nodes */
	uint64_t hash;	     /* of the key; 0: not known */
	bool keyed;
};
struct heap_items {
	struct heap_item *data;
	size_t n, cap;
	bool unordered;
};

/* ---- graphs ---- */

/*
 * Parents are kept up to date for graphs out of memory only. Following them leads
 * to a root on a way that a comparison takes: a part of a container (a table, an
 * entry) has the container as its parent, whatever leads to it.
 */
struct heap_node {
	uint64_t address;     /* or JVMTI's tag */
	uint32_t bytes;	      /* where they are in the graph's, in eights */
	uint32_t class : 24;  /* 0: not known */
	uint32_t part : 1;    /* compared with its parent, not on its own */
	uint32_t changed : 1; /* its bytes were others: struct heap_past */
	uint32_t dirty : 1;   /* it changed, or leads to what did */
	uint32_t gone : 1;    /* nothing leads to it any more */
	uint32_t length; /* of arrays; of mirrors: the class they stand for */
	uint32_t parent; /* that leads to it; 0: a root; HEAP_ORPHAN */
	/*
	 * There: offset, or index; of roots: their number. Of parts: the index
	 * in the container's table, or HEAP_NO_EDGE.
	 */
	uint32_t edge;
	uint32_t references; /* that lead to it, of roots and nodes */
};
/* What led to it does not any more; what else does is not known. */
#define HEAP_ORPHAN UINT32_MAX
#define HEAP_NO_EDGE UINT32_MAX

/* What nodes had in them before an update. */
struct heap_past {
	struct {
		struct heap_old {
			uint32_t node;
			size_t bytes;
		} * data;
		size_t n, cap;
	} nodes; /* in order */
	struct {
		uint8_t *data;
		size_t n, cap;
	} bytes;
};

struct heap_graph {
	struct {
		struct heap_node *data;
		size_t n, cap;
	} nodes;
	struct {
		uint8_t *data;
		size_t n, cap;
	} bytes;
	/*
	 * Nodes by address, in chunks, so that neighbours in the heap are
	 * neighbours here. NULL: none yet.
	 */
	uint32_t **chunks;
	struct {
		size_t *data;
		size_t n, cap;
	} used; /* chunks that are there */
	struct {
		uint32_t *data;
		size_t n, cap;
	} locals;	 /* nodes: thread-locals */
	uint64_t *roots; /* values: as in bytes */
	size_t n_roots;
	size_t first_nodes; /* when it was made, and of roots since */
	/* Of a view of another graph as it was: what has changed since. */
	const struct heap_past *past;
};

/* References from one node to another. */
struct heap_ways {
	struct heap_way {
		uint32_t from, edge, to;
	} * data;
	size_t n, cap;
};

/* A graph that was brought up to date, and where to look for differences. */
struct heap_update {
	struct heap_graph before; /* a view of it as it was */
	struct heap_past past;
	struct {
		uint32_t *data;
		size_t n, cap;
	} dirty; /* nodes, by parent and edge */
	bool *dirty_roots;
	uint32_t *added; /* by node: references that are new */
	size_t added_size;
	struct heap_ways ways; /* that are new, to nodes that were there */
	bool everywhere;       /* differences may be anywhere */
	bool lost;	       /* ways to nodes are not known: make it anew */
};

/* How objects lie in the bytes of nodes. */
struct heap_layout {
	unsigned reference; /* bytes */
	unsigned shift;
	uint64_t base;
	uint32_t length;	   /* offset of an array's length */
	uint32_t array;		   /* of its first element */
	uint32_t array_references; /* likewise of references */
};

struct heap_root {
	struct heap_class *class;
	struct heap_field field;
	char *name;  /* "com.acme.Registry.instance" */
	char *label; /* of process state: its name there; NULL: a variable */
	bool by_key; /* … one attribute a key */
	bool lazy;   /* … that is made from null when it is first asked for */
	uint32_t weight; /* enum change_weight of the controller */
	uint64_t digest; /* of all that differs from the beginning */
};

struct heap_patterns {
	regex_t *data;
	size_t n, cap;
};

struct heap {
	JavaVM *vm;
	jvmtiEnv *jvmti;
	struct heap_layout layout;
	bool raw; /* graphs come from memory */

	struct {
		struct heap_class **data;
		size_t n, cap;
	} classes; /* by id; [0] is NULL */
	struct {
		struct heap_recipe *data;
		size_t n, cap;
	} recipes; /* users' */
	struct {
		struct heap_root *data;
		size_t n, cap;
	} roots;
	/* Classes whose static fields are not roots yet. */
	struct {
		struct heap_class **data;
		size_t n, cap;
	} waiting;
	struct heap_patterns include, exclude, exclude_fields;
	uint32_t flags; /* enum wire_heap_flags */
	uint32_t paths; /* of a root, at most */
};

extern struct heap heap;

/* vm_heap_classes.c */
struct heap_class *heap_class_of(JNIEnv *env, jclass mirror);
void heap_class_prepare(JNIEnv *env, struct heap_class *class);
void heap_class_find_links(struct heap_class *class);
bool heap_field_read(struct heap_class *class, jfieldID id,
		     struct heap_field *ret, jint *ret_modifiers);
const struct heap_field *heap_field_named(const struct heap_class *class,
					  const char *name);
bool heap_patterns_match(const struct heap_patterns *patterns,
			 const char *text);
/* vm_heap_roots.c: statics of classes that were initialised meanwhile. */
void heap_roots_update(JNIEnv *env);
void heap_class_loaded(JNIEnv *env, jclass mirror); /* any thread */
void heap_classes_scan(JNIEnv *env);
/* Whose class it is that comes with the tests, but is not tested; or NULL. */
const char *heap_class_framework(const char *name);
void heap_roots_add_attributes(JNIEnv *env);

/* vm_heap_state.c: what differs from the last call is told, or forgotten. */
void heap_state_update(JNIEnv *env, bool tells, uint32_t entry);
void heap_state_eager(void); /* what is not in use yet is initialised */

/* vm_heap_recipes.c */
const struct heap_recipe *heap_recipe_for(const char *type);
enum heap_kind heap_kind_for(const char *type);
bool heap_package_is_skipped(const char *type);
void heap_items_of(const struct heap_graph *graph, uint32_t node,
		   struct heap_items *ret);
/* The container that has the items of @node: itself, or the one in it. */
uint32_t heap_container_within(const struct heap_graph *graph, uint32_t node);
/* Of a hash table, only those in some of its buckets. */
void heap_items_of_buckets(const struct heap_graph *graph, uint32_t table,
			   const struct heap_recipe *recipe,
			   const uint32_t *buckets, size_t n,
			   struct heap_items *ret);

/* vm_heap_graph.c */
uint32_t heap_graph_add(struct heap_graph *graph, uint64_t address);
uint32_t heap_graph_find(const struct heap_graph *graph, uint64_t address);
void heap_graph_free(struct heap_graph *graph);
uint8_t *heap_graph_bytes(struct heap_graph *graph, uint32_t node, size_t n);
const uint8_t *heap_bytes(const struct heap_graph *graph, uint32_t node);
const struct heap_class *heap_class_at(const struct heap_graph *graph,
				       uint32_t node);
uint64_t heap_decode(const uint8_t *slot);
uint32_t heap_follow(const struct heap_graph *graph, const uint8_t *slot);
/* Of a named field, 0 where there is none. */
uint32_t heap_ref(const struct heap_graph *graph, uint32_t node,
		  const char *field);
int64_t heap_number(const struct heap_graph *graph, uint32_t node,
		    const char *field);
uint32_t heap_element(const struct heap_graph *graph, uint32_t array,
		      uint32_t i);
unsigned heap_type_size(char type);
uint32_t heap_array_base(char element);
int64_t heap_integer(char type, const uint8_t *slot);
/* The text of a String or StringBuilder as UTF-8; false: it makes no sense. */
bool heap_string_text(const struct heap_graph *graph, uint32_t node,
		      struct heap_string *ret);

/* Sources. False: not now (the VM ends) or not here. */
bool heap_walk(JNIEnv *env, struct heap_graph *graph);
enum heap_found {
	HEAP_SAME,    /* but for roots that are new: these were added */
	HEAP_CHANGED, /* it is up to date again */
	HEAP_LOST,    /* objects have moved: it has to be made anew */
};
/* Only of the last graph of heap_walk(). @ret is to be ended in any case. */
enum heap_found heap_walk_update(JNIEnv *env, struct heap_graph *graph,
				 struct heap_update *ret);
void heap_walk_end_update(struct heap_graph *graph, struct heap_update *update);
void heap_tags_start(void);
bool heap_tags(JNIEnv *env, struct heap_graph *graph);

/* vm_heap_text.c */
/* "com.acme.Outer.Inner" */
void heap_class_shown(const struct heap_class *class, struct heap_string *ret);
void heap_value(const struct heap_graph *graph, uint32_t node,
		struct heap_string *ret);
void heap_slot_value(char type, const uint8_t *slot, struct heap_string *ret);
uint64_t heap_digest(const struct heap_graph *graph, uint32_t node);
uint64_t heap_hash(uint64_t hash, const void *data, size_t n);

/* vm_heap_compare.c */
struct heap_path {
	char *path, *before, *after, *type, *place;
	uint32_t kind; /* enum value_kind of the controller */
	uint32_t depth;
	uint64_t hash_before, hash_after;
};
struct heap_change {
	size_t root;
	char *key; /* of attributes by key; or NULL */
	struct {
		struct heap_path *data;
		size_t n, cap;
	} paths;
	size_t more;
	uint32_t kinds;
	/*
	 * There is more than soft and weak references, which can go any time,
	 * and than objects that are equal but not the same any more.
	 */
	bool matters;
	uint64_t digest_before, digest;
};
struct heap_changes {
	struct heap_change *data;
	size_t n, cap;
};
void heap_compare(const struct heap_graph *before,
		  const struct heap_graph *after, struct heap_changes *ret);
/* @after as it was before @update, and as it is. Sets @everywhere. */
void heap_compare_update(struct heap_update *update,
			 const struct heap_graph *after,
			 struct heap_changes *ret);
void heap_changes_free(struct heap_changes *changes);
