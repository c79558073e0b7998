/*
 * The part of the agent that tells what tests leave changed in the heap: a graph
 * at a point of a test, another at a later point, and what differs.
 */
#include "vm/vm_heap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vm/vm_heap_internal.h"
#include "vm/vm_heap_locals.h"
#include "vm/vm_heap_message.h"
#include "vm/vm_heap_put.h"
#include "vm/vm_heap_raw.h"
#include "vm/vm_heap_reads.h"

/* As the controller's enum change_where and change_weight. */
enum { WHERE_MEMORY, WHERE_PROCESS = 2 };
enum { WEIGHT_LOW = 2 };
#define LISTED_MAX (1U << 20)

static struct {
	uint32_t from, to; /* enum wire_vm_point */
	uint32_t
		span; /* entry + 1 up to whose start all is one; 0: each test */
	struct heap_graph graph; /* at the last point that was looked at */
	bool begun;		 /* there is one */
	size_t first_roots;	 /* at @from: those after it are of this test */
	uint64_t ns, longest;
	uint32_t looks, changed, everywhere, walks;
} watch;

/* ---- messages ---- */

void heap_message_text(struct heap_message *message, const char *text)
{
	size_t n = text ? strlen(text) : 0;
	heap_message_u32(message, (uint32_t)n);
	if (n)
		heap_append(&message->bytes, text, n);
}

void heap_message_send(struct heap_message *message, uint16_t kind)
{
	vm_send(kind, message->bytes.data, message->bytes.n);
	free(message->bytes.data);
	*message = (struct heap_message){};
}

uint32_t heap_reader_u32(struct heap_reader *reader)
{
	uint32_t value = 0;
	if ((size_t)(reader->end - reader->at) < sizeof(value)) {
		reader->at = reader->end;
		return 0;
	}
	memcpy(&value, reader->at, sizeof(value));
	reader->at += sizeof(value);
	return value;
}

char *heap_reader_text(struct heap_reader *reader)
{
	uint32_t n = heap_reader_u32(reader);
	if (n > (size_t)(reader->end - reader->at))
		n = 0;
	struct heap_string text = {};
	heap_append(&text, (const char *)reader->at, n);
	reader->at += n;
	return text.data;
}

void heap_says(const char *text)
{
	struct heap_message message = {};
	heap_message_text(&message, text);
	heap_message_send(&message, WIRE_VM_SAYS);
}

/* ---- what differs ---- */

static void message_add_path(struct heap_message *message,
			     const struct heap_path *path)
{
	heap_message_u32(message, path->kind);
	heap_message_u32(message, path->depth);
	heap_message_text(message, path->path);
	heap_message_text(message, path->before);
	heap_message_text(message, path->after);
	heap_message_text(message, path->type);
	heap_message_text(message, path->place);
}

static void message_add_change(struct heap_message *message,
			       const struct heap_change *change)
{
	const struct heap_root *root = &heap.roots.data[change->root];
	heap_message_u32(message, root->label ? WHERE_PROCESS : WHERE_MEMORY);
	heap_message_u32(message, 0);
	heap_message_u32(message, change->matters ? root->weight : WEIGHT_LOW);
	heap_message_u32(message, (uint32_t)change->more);
	heap_message_u32(message, change->kinds);
	heap_message_u64(message, change->digest_before);
	heap_message_u64(message, change->digest);
	struct heap_string name = {};
	heap_appendf(&name, "%s", root->label ? root->label : root->name);
	if (change->key)
		heap_appendf(&name, "[%s]", change->key);
	heap_message_text(message, name.data);
	free(name.data);
	heap_message_text(message, root->class->file);
	heap_message_u32(message, (uint32_t)change->paths.n);
	for (size_t i = 0; i < change->paths.n; i++)
		message_add_path(message, &change->paths.data[i]);
}

static void message_add_first(struct heap_message *message,
			      const struct heap_root *root)
{
	heap_message_u32(message, WHERE_MEMORY);
	heap_message_u32(message, 1);
	heap_message_u32(message, 0);
	heap_message_u32(message, 0);
	heap_message_u32(message, 0);
	heap_message_u64(message, 0);
	heap_message_u64(message, 0);
	heap_message_text(message, root->name);
	heap_message_text(message, root->class->file);
	heap_message_u32(message, 0);
}

/* Locale.setDefault() sets three: that is one thing. */
static bool is_part_of_locale(const struct heap_changes *changes, size_t i)
{
	const char *label = heap.roots.data[changes->data[i].root].label;
	if (!label || (strcmp(label, "default-display-locale") != 0 &&
		       strcmp(label, "default-format-locale") != 0))
		return false;
	for (size_t j = 0; j < changes->n; j++) {
		const char *other =
			heap.roots.data[changes->data[j].root].label;
		if (other && !strcmp(other, "default-locale"))
			return true;
	}
	return false;
}

static void tell_changes(uint32_t entry, const struct heap_changes *changes)
{
	struct heap_message message = {};
	size_t firsts = heap.roots.n - watch.first_roots;
	if (!changes->n && !firsts)
		return;
	size_t n = 0;
	for (size_t i = 0; i < changes->n; i++)
		n += !is_part_of_locale(changes, i);
	heap_message_u32(&message, entry);
	heap_message_u32(&message, (uint32_t)(n + firsts));
	for (size_t i = 0; i < changes->n; i++) {
		if (!is_part_of_locale(changes, i))
			message_add_change(&message, &changes->data[i]);
	}
	for (size_t i = watch.first_roots; i < heap.roots.n; i++)
		message_add_first(&message, &heap.roots.data[i]);
	heap_message_send(&message, WIRE_HEAP_CHANGES);
}

/* ---- captures ---- */

static uint64_t now_ns(void)
{
	struct timespec now = {};
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static bool heap_capture(JNIEnv *env, struct heap_graph *graph)
{
	watch.walks++;
	return heap.raw ? heap_walk(env, graph) : heap_tags(env, graph);
}

/* The heap as it is now; what differs from the last time is added to @ret. */
static void heap_update(JNIEnv *env, struct heap_changes *ret)
{
	uint64_t start = now_ns();
	struct heap_graph graph = {};
	struct heap_update update = {};
	enum heap_found found = HEAP_LOST;
	bool updated = watch.begun && heap.raw;
	heap_roots_update(env);
	if (updated)
		found = heap_walk_update(env, &watch.graph, &update);
	watch.looks++;
	watch.changed += found == HEAP_CHANGED;
	if (found == HEAP_CHANGED)
		heap_compare_update(&update, &watch.graph, ret);
	watch.everywhere += update.everywhere;
	if ((found == HEAP_LOST || update.lost) && heap_capture(env, &graph)) {
		if (watch.begun && found == HEAP_LOST)
			heap_compare(updated ? &update.before : &watch.graph,
				     &graph, ret);
		heap_walk_end_update(&watch.graph, &update);
		heap_graph_free(&watch.graph);
		watch.graph = graph;
		watch.begun = true;
	}
	heap_walk_end_update(&watch.graph, &update);
	uint64_t gone = now_ns() - start;
	watch.ns += gone;
	watch.longest = gone > watch.longest ? gone : watch.longest;
}

static void heap_at(JNIEnv *env, uint32_t point, uint32_t entry)
{
	struct heap_changes changes = {};
	bool consecutive = heap.flags & WIRE_HEAP_CONSECUTIVE;
	if (!(heap.flags & WIRE_HEAP_ON) || watch.span ||
	    (*env)->ExceptionCheck(env))
		return;
	if (point != watch.from && (consecutive || point != watch.to))
		return;
	if ((*env)->PushLocalFrame(env, 64)) {
		(*env)->ExceptionClear(env);
		return;
	}
	bool tells = consecutive ? watch.begun : point == watch.to;
	/* First: what that initialises is there before the heap is looked at. */
	if (heap.flags & WIRE_HEAP_PROCESS)
		heap_state_update(env, tells, entry);
	heap_update(env, &changes);
	if (tells)
		tell_changes(entry, &changes);
	watch.first_roots = heap.roots.n;
	heap_changes_free(&changes);
	(*env)->ExceptionClear(env);
	(*env)->PopLocalFrame(env, NULL);
}

/* Once before the first test, and once before the last. */
static void heap_at_span(JNIEnv *env, uint32_t entry)
{
	struct heap_changes changes = {};
	if (!(heap.flags & WIRE_HEAP_ON) ||
	    (watch.begun && entry + 1 != watch.span))
		return;
	bool tells = watch.begun;
	heap_update(env, &changes);
	if (!tells)
		watch.first_roots = heap.roots.n;
	else
		tell_changes(entry, &changes);
	heap_changes_free(&changes);
}

static uint32_t current_entry;

/*
 * What is there before a test that follows another was looked at when that one
 * ended. What its constructor leaves is the test's own.
 */
static bool heap_is_known(bool follows)
{
	return follows && watch.begun && watch.from == WIRE_VM_BEFORE_SETUP &&
	       watch.to == WIRE_VM_AFTER_TEARDOWN;
}

static void heap_test_starts(JNIEnv *env, uint32_t entry, bool follows)
{
	/* Consecutive tests: what differs belongs to the one before. */
	uint32_t before = current_entry;
	current_entry = entry;
	if (heap.flags & WIRE_HEAP_ON || heap_put_is_wanted())
		heap_locals_start(env);
	heap_put_test(env, entry);
	if (watch.span)
		heap_at_span(env, entry);
	else if (heap.flags & WIRE_HEAP_CONSECUTIVE)
		heap_at(env, WIRE_VM_BEFORE_SETUP, before);
	else if (!heap_is_known(follows))
		heap_at(env, WIRE_VM_BEFORE_SETUP, entry);
	heap_reads_test(true, entry);
}

static void heap_test_point(JNIEnv *env, enum wire_vm_point point)
{
	heap_at(env, point, current_entry);
}

static void heap_test_ends(JNIEnv *env, uint32_t entry)
{
	heap_reads_test(false, entry);
	heap_at(env, WIRE_VM_AFTER_TEARDOWN, entry);
}

/* ---- what is asked for ---- */

static void read_patterns(struct heap_reader *reader, struct heap_patterns *ret)
{
	uint32_t n = heap_reader_u32(reader);
	for (uint32_t i = 0; i < n && i < LISTED_MAX; i++) {
		char *text = heap_reader_text(reader);
		regex_t pattern;
		if (!regcomp(&pattern, text, REG_EXTENDED | REG_NOSUB))
			HEAP_PUSH(ret, pattern);
		free(text);
	}
}

static char *read_given(struct heap_reader *reader)
{
	char *text = heap_reader_text(reader);
	if (*text)
		return text;
	free(text);
	return NULL;
}

static void read_recipes(struct heap_reader *reader)
{
	static const struct {
		const char *word;
		enum heap_shape shape;
	} shapes[] = {
		{ "skip", SHAPE_SKIP },	      { "sequence", SHAPE_ARRAY },
		{ "chain", SHAPE_CHAIN },     { "pointer", SHAPE_FIELDS },
		{ "optional", SHAPE_FIELDS },
	};
	uint32_t n = heap_reader_u32(reader);
	for (uint32_t i = 0; i < n && i < LISTED_MAX; i++) {
		struct heap_recipe recipe = {
			.type = heap_reader_text(reader),
		};
		char *shape = heap_reader_text(reader);
		recipe.first = read_given(reader);
		recipe.count = read_given(reader);
		recipe.next = read_given(reader);
		recipe.value = read_given(reader);
		recipe.unordered = heap_reader_u32(reader) != 0;
		for (size_t j = 0; j < sizeof(shapes) / sizeof(*shapes); j++) {
			if (strcmp(shape, shapes[j].word) != 0)
				continue;
			recipe.shape = shapes[j].shape;
			HEAP_PUSH(&heap.recipes, recipe);
		}
		free(shape);
	}
}

/* Classes that were prepared for another layout are asked again. */
static void classes_forget_layout(void)
{
	for (size_t i = 1; i < heap.classes.n; i++) {
		struct heap_class *class = heap.classes.data[i];
		class->ready = false;
		class->n_fields = class->n_links = class->n_spans = 0;
		class->size = 0;
	}
}

static void heap_watch(JNIEnv *env, struct heap_reader *reader)
{
	heap.flags = heap_reader_u32(reader);
	watch.from = heap_reader_u32(reader);
	watch.to = heap_reader_u32(reader);
	heap.paths = heap_reader_u32(reader);
	watch.span = heap_reader_u32(reader);
	read_patterns(reader, &heap.include);
	read_patterns(reader, &heap.exclude);
	read_patterns(reader, &heap.exclude_fields);
	read_recipes(reader);
	bool slow = heap.flags & WIRE_HEAP_SLOW || heap_put_is_wanted();
	const char *why = slow ? "" : heap_raw_start(env);
	if (why) {
		heap_tags_start();
		classes_forget_layout();
	}
	if (why && *why) {
		struct heap_string text = {};
		heap_appendf(&text,
			     "pollution: heaps are compared the slow way: %s",
			     why);
		heap_says(text.data);
		free(text.data);
	}
	heap_classes_scan(env);
	if (heap.flags & WIRE_HEAP_PROCESS)
		heap_roots_add_attributes(env);
}

static void heap_initialise(JNIEnv *env, struct heap_reader *reader)
{
	uint32_t n = heap_reader_u32(reader);
	heap_state_eager();
	jclass loader = (*env)->FindClass(env, "java/lang/ClassLoader");
	jclass class = (*env)->FindClass(env, "java/lang/Class");
	jmethodID system =
		(*env)->GetStaticMethodID(env, loader, "getSystemClassLoader",
					  "()Ljava/lang/ClassLoader;");
	jmethodID for_name = (*env)->GetStaticMethodID(
		env, class, "forName",
		"(Ljava/lang/String;ZLjava/lang/ClassLoader;)"
		"Ljava/lang/Class;");
	jobject with = (*env)->CallStaticObjectMethod(env, loader, system);
	for (uint32_t i = 0; i < n && i < LISTED_MAX; i++) {
		char *name = heap_reader_text(reader);
		/* As in source, what is around a nested class is a package. */
		for (char *dot = name; dot; dot = strrchr(name, '.')) {
			if (*dot == '.')
				*dot = '$';
			jstring text = (*env)->NewStringUTF(env, name);
			jobject found = (*env)->CallStaticObjectMethod(
				env, class, for_name, text, JNI_TRUE, with);
			/* What cannot be initialised, a test will find out. */
			(*env)->ExceptionClear(env);
			(*env)->DeleteLocalRef(env, text);
			(*env)->DeleteLocalRef(env, found);
			if (found)
				break;
		}
		free(name);
	}
}

static void heap_message(JNIEnv *env, uint16_t kind, const uint8_t *data,
			 uint32_t size)
{
	struct heap_reader reader = { data, data + size };
	if ((*env)->PushLocalFrame(env, 256))
		return;
	if (kind == WIRE_HEAP_WATCH)
		heap_watch(env, &reader);
	else if (kind == WIRE_HEAP_EAGER)
		heap_initialise(env, &reader);
	else if (kind == WIRE_HEAP_PUT_BACK)
		heap_put_message(&reader);
	else if (kind == WIRE_HEAP_PLACES)
		heap_reads_message(env, &reader);
	(*env)->ExceptionClear(env);
	(*env)->PopLocalFrame(env, NULL);
}

/* ---- the VM ---- */

static void JNICALL on_collected(jvmtiEnv *jvmti)
{
	(void)jvmti;
	heap_raw_collected();
}

static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *env,
				     jthread thread, jclass class)
{
	(void)jvmti, (void)thread;
	heap_reads_class(env, class);
	heap_class_loaded(env, class);
}

static void JNICALL on_death(jvmtiEnv *jvmti, JNIEnv *env)
{
	(void)jvmti, (void)env;
	struct heap_message message = {};
	if (!watch.looks)
		return;
	heap_message_u32(&message, watch.looks);
	heap_message_u32(&message, watch.changed);
	heap_message_u32(&message, watch.everywhere);
	heap_message_u32(&message, watch.walks);
	heap_message_u32(&message, (uint32_t)watch.graph.nodes.n);
	heap_message_u32(&message, (uint32_t)(watch.ns / 1000));
	heap_message_u32(&message, (uint32_t)(watch.longest / 1000));
	struct timespec all = {};
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
	heap_message_u32(&message,
			 (uint32_t)(all.tv_sec * 1000 + all.tv_nsec / 1000000));
	heap_message_send(&message, WIRE_HEAP_COST);
}

static bool heap_load(JavaVM *vm, const char *options)
{
	jvmtiCapabilities wanted = {
		.can_tag_objects = 1,
		.can_generate_garbage_collection_events = 1,
		.can_get_source_file_name = 1,
	};
	jvmtiEventCallbacks calls = {
		.GarbageCollectionFinish = on_collected,
		.ClassPrepare = on_class_prepare,
		.VMDeath = on_death,
	};
	bool reads = vm_option(options, "reads") > 0;
	if (vm_option(options, "heap") <= 0)
		return true;
	if (reads)
		heap_reads_want(&wanted, &calls);
	heap.vm = vm;
	heap.jvmti = vm_environment(vm, &wanted);
	if (!heap.jvmti || (reads && !heap_reads_load(heap.jvmti)) ||
	    (*heap.jvmti)->SetEventCallbacks(heap.jvmti, &calls, sizeof(calls)))
		return false;
	static const jvmtiEvent events[] = {
		JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
		JVMTI_EVENT_CLASS_PREPARE,
		JVMTI_EVENT_VM_DEATH,
	};
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		if ((*heap.jvmti)
			    ->SetEventNotificationMode(heap.jvmti, JVMTI_ENABLE,
						       events[i], NULL))
			return false;
	}
	return true;
}

const struct vm_part vm_heap_part = {
	.load = heap_load,
	.first = WIRE_HEAP_WATCH,
	.end = WIRE_VM_CHOICES,
	.message = heap_message,
	.test_starts = heap_test_starts,
	.test_point = heap_test_point,
	.test_ends = heap_test_ends,
};
