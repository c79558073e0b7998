/*
 * Roots as they were before the first test: the state there is kept, as a graph and
 * references to its objects, and written back into these very objects.
 *
 * All fields are kept and written, whatever of them is compared, so that each object
 * is whole. What is never compared (locks, threads) stays as it is.
 */
#include "vm/vm_heap_put.h"

#include <stdlib.h>
#include <string.h>

#include "vm/vm_heap_locals.h"

static struct {
	uint32_t entry; /* before which roots are restored, + 1; 0: never */
	struct {
		char **data;
		size_t n, cap;
	} names; /* of roots, or of what a VM has of its own */
	bool kept;
	struct heap_graph graph;
	struct {
		uint32_t *data;
		size_t n, cap;
	} nodes;	  /* that can be reached from those roots */
	jobject *objects; /* by node; NULL: not among them */
} put;

void heap_put_message(struct heap_reader *reader)
{
	put.entry = heap_reader_u32(reader) + 1;
	uint32_t n = heap_reader_u32(reader);
	for (uint32_t i = 0; i < n && reader->at < reader->end; i++)
		HEAP_PUSH(&put.names, heap_reader_text(reader));
}

bool heap_put_is_wanted(void)
{
	return put.entry != 0;
}

/* "system-property[a]": all properties, since one object has them. */
static bool root_is_wanted(const struct heap_root *root)
{
	for (size_t i = 0; i < put.names.n; i++) {
		const char *name = put.names.data[i];
		size_t n = root->by_key ? strcspn(name, "[") : strlen(name);
		const char *its = root->label ? root->label : root->name;
		if (strlen(its) == n && !strncmp(its, name, n))
			return true;
	}
	return false;
}

/* ---- keeping ---- */

static bool node_is_written(const struct heap_class *class)
{
	return class && class->kind != HEAP_SKIP &&
	       class->kind != HEAP_STRING && class->kind != HEAP_BOX &&
	       class->kind != HEAP_MIRROR;
}

static void put_reach(bool *reached, uint32_t node)
{
	if (!node || reached[node])
		return;
	reached[node] = true;
	HEAP_PUSH(&put.nodes, node);
}

static void put_reach_from(bool *reached, uint32_t node)
{
	const struct heap_class *class = heap_class_at(&put.graph, node);
	if (!node_is_written(class))
		return;
	uint32_t n =
		class->element == 'L' ? put.graph.nodes.data[node].length : 0;
	for (uint32_t i = 0; i < n; i++)
		put_reach(reached, heap_element(&put.graph, node, i));
	for (size_t i = 0; i < class->n_links; i++)
		put_reach(reached,
			  heap_follow(&put.graph, heap_bytes(&put.graph, node) +
							  class->links[i]));
}

static void put_find_nodes(void)
{
	bool *reached = heap_zeroed(put.graph.nodes.n + 1, sizeof(*reached));
	for (size_t i = 0; i < put.graph.n_roots; i++) {
		const struct heap_root *root = &heap.roots.data[i];
		if (root->field.type == 'L' && root_is_wanted(root))
			put_reach(
				reached,
				heap_follow(
					&put.graph,
					(const uint8_t *)&put.graph.roots[i]));
	}
	for (size_t i = 0; i < put.nodes.n; i++)
		put_reach_from(reached, put.nodes.data[i]);
	free(reached);
}

static void put_find_objects(JNIEnv *env)
{
	jlong *tags = heap_zeroed(put.nodes.n + 1, sizeof(*tags));
	jobject *objects = NULL;
	jlong *found = NULL;
	jint n = 0;
	for (size_t i = 0; i < put.nodes.n; i++)
		tags[i] =
			(jlong)put.graph.nodes.data[put.nodes.data[i]].address;
	put.objects = heap_zeroed(put.graph.nodes.n + 1, sizeof(*put.objects));
	if (!(*heap.jvmti)
		     ->GetObjectsWithTags(heap.jvmti, (jint)put.nodes.n, tags,
					  &n, &objects, &found)) {
		for (jint i = 0; i < n; i++) {
			uint32_t node =
				heap_graph_find(&put.graph, (uint64_t)found[i]);
			if (node)
				put.objects[node] =
					(*env)->NewGlobalRef(env, objects[i]);
			(*env)->DeleteLocalRef(env, objects[i]);
		}
		(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)objects);
		(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)found);
	}
	free(tags);
}

static void put_keep(JNIEnv *env)
{
	put.kept = true;
	heap_roots_update(env);
	if (!put.names.n || !heap_tags(env, &put.graph))
		return;
	put_find_nodes();
	put_find_objects(env);
}

/* ---- writing ---- */

static jobject put_object(const uint8_t *slot)
{
	uint32_t node = heap_follow(&put.graph, slot);
	return node ? put.objects[node] : NULL;
}

#define WRITE(Type, member)                                                    \
	do {                                                                   \
		memcpy(&value.member, slot, sizeof(value.member));             \
		if (object)                                                    \
			(*env)->Set##Type##Field(env, object, field->id,       \
						 value.member);                \
		else                                                           \
			(*env)->SetStatic##Type##Field(                        \
				env, field->owner->mirror, field->id,          \
				value.member);                                 \
	} while (0)

/* @object NULL: it is static. */
static void put_back_field(JNIEnv *env, jobject object,
			   const struct heap_field *field, const uint8_t *slot)
{
	jvalue value = {};
	if (heap_field_is_local(field)) {
		heap_local_put(env, object, put_object(slot));
		return;
	}
	switch (field->type) {
	case 'Z':
		WRITE(Boolean, z);
		break;
	case 'B':
		WRITE(Byte, b);
		break;
	case 'C':
		WRITE(Char, c);
		break;
	case 'S':
		WRITE(Short, s);
		break;
	case 'I':
		WRITE(Int, i);
		break;
	case 'J':
		WRITE(Long, j);
		break;
	case 'F':
		WRITE(Float, f);
		break;
	case 'D':
		WRITE(Double, d);
		break;
	default:
		value.l = put_object(slot);
		if (object)
			(*env)->SetObjectField(env, object, field->id, value.l);
		else
			(*env)->SetStaticObjectField(env, field->owner->mirror,
						     field->id, value.l);
	}
}

static void put_back_array(JNIEnv *env, jobject array,
			   const struct heap_class *class, uint32_t node)
{
	const uint8_t *data =
		heap_bytes(&put.graph, node) + heap_array_base(class->element);
	jsize n = (jsize)put.graph.nodes.data[node].length;
	if (class->element != 'L') {
		void *to = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
		if (to)
			memcpy(to, data,
			       (size_t)n * heap_type_size(class->element));
		if (to)
			(*env)->ReleasePrimitiveArrayCritical(env, array, to,
							      0);
		return;
	}
	for (jsize i = 0; i < n; i++) {
		(*env)->SetObjectArrayElement(
			env, array, i,
			put_object(data + (size_t)i * heap.layout.reference));
		(*env)->ExceptionClear(env);
	}
}

static void put_back_node(JNIEnv *env, uint32_t node)
{
	const struct heap_class *class = heap_class_at(&put.graph, node);
	jobject object = put.objects[node];
	if (!object || !node_is_written(class))
		return;
	if (class->kind == HEAP_ARRAY) {
		put_back_array(env, object, class, node);
		return;
	}
	for (size_t i = 0; i < class->n_fields; i++) {
		const struct heap_field *field = &class->fields[i];
		if (field->followed)
			put_back_field(env, object, field,
				       heap_bytes(&put.graph, node) +
					       field->offset);
	}
}

static void put_back(JNIEnv *env)
{
	if (!put.objects)
		return;
	for (size_t i = 0; i < put.nodes.n; i++)
		put_back_node(env, put.nodes.data[i]);
	for (size_t i = 0; i < put.graph.n_roots; i++) {
		const struct heap_root *root = &heap.roots.data[i];
		if (root_is_wanted(root))
			put_back_field(env, NULL, &root->field,
				       (const uint8_t *)&put.graph.roots[i]);
	}
}

void heap_put_test(JNIEnv *env, uint32_t entry)
{
	if (!put.entry)
		return;
	if (!put.kept)
		put_keep(env);
	if (entry + 1 == put.entry)
		put_back(env);
}
