/*
 * Graphs by JVMTI: any VM and any collector, at about a microsecond an object.
 *
 * All values of roots go into one array, from which the VM follows references.
 * Its callbacks must not call it, so that they only take notes: objects become
 * nodes, numbered by their tags, and what is in them is a list of notes, out of
 * which the bytes of nodes are made afterwards.
 *
 * Values of thread-locals that earlier walks met are in that array, too, behind the
 * roots. A walk that meets others is done again.
 */
#include <stdlib.h>
#include <string.h>

#include "vm/vm_heap_internal.h"
#include "vm/vm_heap_locals.h"

#define WALKS_MAX 64

struct tag_note {
	uint32_t node;
	uint32_t number; /* of a field in JVMTI's counting, or an index */
	uint64_t value;	 /* or a node's tag */
	char type;
};

struct tag_walk {
	struct heap_graph *graph;
	struct {
		struct tag_note *data;
		size_t n, cap;
	} notes;
	jlong base;	  /* tags of this walk begin after it */
	uint64_t *values; /* of thread-locals: tags */
	bool stranger; /* there was an object of a class that is not known, */
	bool unready;  /* or whose fields are not */
};

/* Tags of a walk are larger than those of the walk before, and never reused. */
static jlong last_tag = 1;

/* Thread-locals that walks met. */
static struct {
	struct tag_local {
		jweak object;
		bool inheritable;
	} * data;
	size_t n, cap;
} known_locals;

static const struct heap_class *class_of_tag(jlong tag)
{
	return tag > CLASS_TAG && (size_t)(tag - CLASS_TAG) < heap.classes.n
		       ? heap.classes.data[tag - CLASS_TAG]
		       : NULL;
}

/* What earlier walks left is forgotten on the way. */
static uint32_t node_of_tag(const struct tag_walk *walk, jlong *tag)
{
	if (*tag <= walk->base)
		*tag = 0;
	return *tag && *tag < CLASS_TAG
		       ? heap_graph_find(walk->graph, (uint64_t)*tag)
		       : 0;
}

static bool is_leaf(const struct heap_class *class)
{
	return !class || class->kind == HEAP_SKIP || class->kind == HEAP_MIRROR;
}

static bool field_is_followed(const struct heap_class *class, uint32_t number)
{
	for (size_t i = 0; i < class->n_fields; i++) {
		if (class->fields[i].number == number)
			return class->fields[i].followed;
	}
	return false;
}

/* Mirrors have their class's tag already: as nodes they are found by it. */
static uint32_t tag_walk_object(struct tag_walk *walk, jlong class_tag,
				jlong *tag, jint length, bool *ret_new)
{
	const struct heap_class *class = class_of_tag(class_tag);
	*ret_new = false;
	if (*tag > CLASS_TAG) {
		uint32_t mirror = heap_graph_find(walk->graph, (uint64_t)*tag);
		if (mirror)
			return mirror;
		mirror = heap_graph_add(walk->graph, (uint64_t)*tag);
		struct heap_node *it = &walk->graph->nodes.data[mirror];
		it->class = class ? class->id : 0;
		it->length = (uint32_t)(*tag - CLASS_TAG);
		return mirror;
	}
	uint32_t node = node_of_tag(walk, tag);
	if (node)
		return node;
	*tag = ++last_tag;
	node = heap_graph_add(walk->graph, (uint64_t)*tag);
	walk->graph->nodes.data[node].class = class ? class->id : 0;
	walk->graph->nodes.data[node].length =
		length > 0 ? (uint32_t)length : 0;
	walk->stranger |= !class;
	walk->unready |= class && !class->ready && !is_leaf(class);
	*ret_new = true;
	return node;
}

static jint JNICALL tag_reference(jvmtiHeapReferenceKind kind,
				  const jvmtiHeapReferenceInfo *info,
				  jlong class_tag, jlong referrer_class,
				  jlong size, jlong *tag, jlong *referrer,
				  jint length, void *data)
{
	(void)size;
	struct tag_walk *walk = data;
	if (kind != JVMTI_HEAP_REFERENCE_FIELD &&
	    kind != JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT)
		return 0;
	const struct heap_class *owner = class_of_tag(referrer_class);
	uint32_t from = referrer ? node_of_tag(walk, referrer) : 0;
	uint32_t number = kind == JVMTI_HEAP_REFERENCE_FIELD
				  ? (uint32_t)info->field.index
				  : (uint32_t)info->array.index;
	if (from && is_leaf(owner))
		return 0;
	if (from && kind == JVMTI_HEAP_REFERENCE_FIELD && owner->ready &&
	    !field_is_followed(owner, number))
		return 0;
	bool new;
	uint32_t node = tag_walk_object(walk, class_tag, tag, length, &new);
	if (new) {
		walk->graph->nodes.data[node].parent = from;
		walk->graph->nodes.data[node].edge = number;
	}
	const struct tag_note note = {
		.node = from,
		.number = number,
		.value = walk->graph->nodes.data[node].address,
		.type = 'L',
	};
	HEAP_PUSH(&walk->notes, note);
	return is_leaf(class_of_tag(class_tag)) ? 0 : JVMTI_VISIT_OBJECTS;
}

static jint JNICALL tag_primitive(jvmtiHeapReferenceKind kind,
				  const jvmtiHeapReferenceInfo *info,
				  jlong class_tag, jlong *tag, jvalue value,
				  jvmtiPrimitiveType type, void *data)
{
	(void)class_tag;
	struct tag_walk *walk = data;
	uint32_t node = node_of_tag(walk, tag);
	if (kind != JVMTI_HEAP_REFERENCE_FIELD || !node)
		return 0;
	struct tag_note note = {
		.node = node,
		.number = (uint32_t)info->field.index,
		.type = (char)type,
	};
	memcpy(&note.value, &value, sizeof(note.value));
	HEAP_PUSH(&walk->notes, note);
	return 0;
}

static jint JNICALL tag_array(jlong class_tag, jlong size, jlong *tag,
			      jint count, jvmtiPrimitiveType type,
			      const void *elements, void *data)
{
	(void)size;
	struct tag_walk *walk = data;
	uint32_t node = node_of_tag(walk, tag);
	const struct heap_class *class = class_of_tag(class_tag);
	if (!node || !class || count < 0)
		return 0;
	size_t n = (size_t)count * heap_type_size((char)type);
	uint32_t base = heap_array_base((char)type);
	uint8_t *bytes = heap_graph_bytes(walk->graph, node, base + n);
	memset(bytes, 0, base);
	memcpy(bytes + base, elements, n);
	walk->graph->nodes.data[node].length = (uint32_t)count;
	return 0;
}

/* ---- bytes ---- */

/* The value of a root as @graph has it; its object goes into @array. */
static uint64_t root_read(JNIEnv *env, const struct heap_root *root,
			  jobjectArray array, size_t i)
{
	jclass class = root->class->mirror;
	jfieldID id = root->field.id;
	uint64_t value = 0;
	jvalue it = {};
	switch (root->field.type) {
	case 'L': {
		jobject object = (*env)->GetStaticObjectField(env, class, id);
		if (object)
			(*env)->SetObjectArrayElement(env, array, (jsize)i,
						      object);
		(*env)->DeleteLocalRef(env, object);
		return 0;
	}
	case 'Z':
		it.z = (*env)->GetStaticBooleanField(env, class, id);
		break;
	case 'B':
		it.b = (*env)->GetStaticByteField(env, class, id);
		break;
	case 'C':
		it.c = (*env)->GetStaticCharField(env, class, id);
		break;
	case 'S':
		it.s = (*env)->GetStaticShortField(env, class, id);
		break;
	case 'I':
		it.i = (*env)->GetStaticIntField(env, class, id);
		break;
	case 'J':
		it.j = (*env)->GetStaticLongField(env, class, id);
		break;
	case 'F':
		it.f = (*env)->GetStaticFloatField(env, class, id);
		break;
	case 'D':
		it.d = (*env)->GetStaticDoubleField(env, class, id);
		break;
	}
	memcpy(&value, &it, heap_type_size(root->field.type));
	return value;
}

static void node_make_bytes(struct heap_graph *graph, uint32_t node)
{
	const struct heap_class *class = heap_class_at(graph, node);
	if (is_leaf(class) ||
	    (class->kind == HEAP_ARRAY && class->element != 'L' &&
	     graph->nodes.data[node].length))
		return;
	size_t n = class->kind == HEAP_ARRAY
			   ? heap_array_base(class->element) +
				     (size_t)graph->nodes.data[node].length *
					     heap.layout.reference
			   : class->size;
	memset(heap_graph_bytes(graph, node, n), 0, n);
}

static void note_apply(struct heap_graph *graph, uint64_t *values,
		       const struct tag_note *note)
{
	const struct heap_class *class = heap_class_at(graph, note->node);
	uint8_t *bytes = graph->bytes.data +
			 (size_t)graph->nodes.data[note->node].bytes * 8;
	if (!note->node) {
		if (note->number < graph->n_roots)
			graph->roots[note->number] = note->value;
		else
			values[note->number - graph->n_roots] = note->value;
		return;
	}
	if (is_leaf(class))
		return;
	if (class->kind == HEAP_ARRAY) {
		if (note->number < graph->nodes.data[note->node].length)
			memcpy(bytes + heap_array_base('L') +
				       (size_t)note->number *
					       heap.layout.reference,
			       &note->value, sizeof(note->value));
		return;
	}
	for (size_t i = 0; i < class->n_fields; i++) {
		const struct heap_field *field = &class->fields[i];
		if (field->number != note->number)
			continue;
		if (field->followed || field->compared)
			memcpy(bytes + field->offset, &note->value,
			       heap_type_size(field->type));
		return;
	}
}

/* ---- thread-locals ---- */

/* Their values go into @array; those that are gone are forgotten. */
static void locals_read(JNIEnv *env, jobjectArray array, size_t first)
{
	for (size_t i = 0; i < known_locals.n; i++) {
		const struct tag_local *it = &known_locals.data[i];
		jobject local = (*env)->NewLocalRef(env, it->object);
		jobject value =
			local ? heap_local_get(env, local, it->inheritable)
			      : NULL;
		(*env)->SetObjectArrayElement(env, array, (jsize)(first + i),
					      value);
		(*env)->DeleteLocalRef(env, value);
		(*env)->DeleteLocalRef(env, local);
	}
}

static void locals_forget_dead(JNIEnv *env)
{
	size_t kept = 0;
	for (size_t i = 0; i < known_locals.n; i++) {
		struct tag_local it = known_locals.data[i];
		if ((*env)->IsSameObject(env, it.object, NULL))
			(*env)->DeleteWeakGlobalRef(env, it.object);
		else
			known_locals.data[kept++] = it;
	}
	known_locals.n = kept;
}

/* The node of each that is known gets its value. */
static void locals_apply(JNIEnv *env, const struct tag_walk *walk, bool *has)
{
	struct heap_graph *graph = walk->graph;
	for (size_t i = 0; i < known_locals.n; i++) {
		jobject local =
			(*env)->NewLocalRef(env, known_locals.data[i].object);
		jlong tag = 0;
		if (local)
			(*heap.jvmti)->GetTag(heap.jvmti, local, &tag);
		(*env)->DeleteLocalRef(env, local);
		uint32_t node = heap_graph_find(graph, (uint64_t)tag);
		if (!node || !heap_class_at(graph, node)->local ||
		    is_leaf(heap_class_at(graph, node)))
			continue;
		has[node] = true;
		memcpy(graph->bytes.data +
			       (size_t)graph->nodes.data[node].bytes * 8,
		       &walk->values[i], sizeof(walk->values[i]));
	}
}

/* Returns whether there are any. */
static bool locals_add_new(JNIEnv *env, const struct heap_graph *graph,
			   const bool *has)
{
	bool found = false;
	for (size_t i = 1; i < graph->nodes.n; i++) {
		const struct heap_class *class =
			heap_class_at(graph, (uint32_t)i);
		jlong tag = (jlong)graph->nodes.data[i].address;
		jobject *objects = NULL;
		jint n = 0;
		if (is_leaf(class) || !class->local || has[i] ||
		    (*heap.jvmti)
			    ->GetObjectsWithTags(heap.jvmti, 1, &tag, &n,
						 &objects, NULL))
			continue;
		for (jint k = 0; k < n; k++) {
			const struct tag_local local = {
				(*env)->NewWeakGlobalRef(env, objects[k]),
				class->local == HEAP_INHERITABLE,
			};
			HEAP_PUSH(&known_locals, local);
			(*env)->DeleteLocalRef(env, objects[k]);
			found = true;
		}
		(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)objects);
	}
	return found;
}

static bool locals_finish(JNIEnv *env, const struct tag_walk *walk)
{
	bool *has = heap_zeroed(walk->graph->nodes.n + 1, sizeof(*has));
	locals_apply(env, walk, has);
	bool found = locals_add_new(env, walk->graph, has);
	free(has);
	return found;
}

/* ---- all ---- */

static void tag_walk_finish(JNIEnv *env, struct tag_walk *walk)
{
	struct heap_graph *graph = walk->graph;
	for (size_t i = 1; i < graph->nodes.n; i++) {
		uint32_t id = graph->nodes.data[i].class;
		if (id)
			heap_class_prepare(env, heap.classes.data[id]);
		node_make_bytes(graph, (uint32_t)i);
	}
	for (size_t i = 0; i < walk->notes.n; i++)
		note_apply(graph, walk->values, &walk->notes.data[i]);
	free(walk->notes.data);
}

void heap_tags_start(void)
{
	heap.layout = (struct heap_layout){
		.reference = sizeof(uint64_t),
		.array = 16,
		.array_references = 16,
	};
}

static bool tag_walk_once(JNIEnv *env, struct heap_graph *graph,
			  jobjectArray array, bool *ret_again)
{
	static const jvmtiHeapCallbacks callbacks = {
		.heap_reference_callback = tag_reference,
		.primitive_field_callback = tag_primitive,
		.array_primitive_value_callback = tag_array,
	};
	struct tag_walk walk = {
		.graph = graph,
		.base = last_tag,
		.values = heap_zeroed(known_locals.n, sizeof(*walk.values)),
	};
	heap_graph_free(graph);
	graph->n_roots = heap.roots.n;
	graph->roots = heap_zeroed(graph->n_roots, sizeof(*graph->roots));
	for (size_t i = 0; i < graph->n_roots; i++)
		graph->roots[i] = root_read(env, &heap.roots.data[i], array, i);
	locals_read(env, array, graph->n_roots);
	bool good = !(*heap.jvmti)
			     ->FollowReferences(heap.jvmti, 0, NULL, array,
						&callbacks, &walk);
	tag_walk_finish(env, &walk);
	*ret_again = locals_finish(env, &walk) || walk.stranger || walk.unready;
	free(walk.values);
	if (walk.stranger)
		heap_classes_scan(env);
	return good;
}

bool heap_tags(JNIEnv *env, struct heap_graph *graph)
{
	jclass object = (*env)->FindClass(env, "java/lang/Object");
	bool again = true, good = true;
	for (int i = 0; i < WALKS_MAX && again && good; i++) {
		locals_forget_dead(env);
		jobjectArray array = (*env)->NewObjectArray(
			env, (jsize)(heap.roots.n + known_locals.n), object,
			NULL);
		if (!array) {
			(*env)->ExceptionClear(env);
			return false;
		}
		good = tag_walk_once(env, graph, array, &again);
		(*env)->DeleteLocalRef(env, array);
	}
	(*env)->DeleteLocalRef(env, object);
	return good;
}
