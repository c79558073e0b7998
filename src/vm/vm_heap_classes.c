/* Classes: their names, kinds and fields, and where fields lie. */
#include <stdlib.h>
#include <string.h>

#include "vm/vm_heap_internal.h"
#include "vm/vm_heap_locals.h"
#include "vm/vm_heap_put.h"
#include "vm/vm_heap_raw.h"

/* Where fields begin in nodes whose bytes we lay out. */
#define FIRST_OFFSET 16

#define ACC_STATIC 0x0008
#define ACC_FINAL 0x0010
#define ACC_TRANSIENT 0x0080
#define ACC_ENUM 0x4000

/* ---- names ---- */

static const char *primitive_name(char type)
{
	switch (type) {
	case 'Z':
		return "boolean";
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'S':
		return "short";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'F':
		return "float";
	case 'D':
		return "double";
	default:
		return "void";
	}
}

/* "[Ljava/util/Map$Entry;" is java.util.Map$Entry[]. */
static char *name_of_signature(const char *signature)
{
	struct heap_string name = {};
	size_t arrays = strspn(signature, "[");
	signature += arrays;
	if (*signature == 'L') {
		size_t n = strlen(++signature);
		heap_append(&name, signature, n ? n - 1 : 0);
		for (size_t i = 0; i < name.n; i++)
			name.data[i] =
				(char)(name.data[i] == '/' ? '.'
							   : name.data[i]);
	} else {
		heap_appendf(&name, "%s", primitive_name(*signature));
	}
	for (; arrays; arrays--)
		heap_append(&name, "[]", 2);
	return name.data;
}

/* As a path below a folder of sources. */
static char *class_source_file(jclass mirror, const char *name)
{
	char *file = NULL;
	if ((*heap.jvmti)->GetSourceFileName(heap.jvmti, mirror, &file))
		return NULL;
	struct heap_string path = {};
	const char *dot = strrchr(name, '.');
	heap_append(&path, name, dot ? (size_t)(dot - name) + 1 : 0);
	for (size_t i = 0; i < path.n; i++)
		path.data[i] = (char)(path.data[i] == '.' ? '/' : path.data[i]);
	heap_appendf(&path, "%s", file);
	(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)file);
	return path.data;
}

/* ---- the registry ---- */

static bool loader_is_of_jdk(JNIEnv *env, jclass mirror)
{
	static jobject platform;
	jobject loader = NULL;
	(*heap.jvmti)->GetClassLoader(heap.jvmti, mirror, &loader);
	if (!loader)
		return true;
	if (!platform) {
		jclass class = (*env)->FindClass(env, "java/lang/ClassLoader");
		jmethodID get = (*env)->GetStaticMethodID(
			env, class, "getPlatformClassLoader",
			"()Ljava/lang/ClassLoader;");
		jobject found =
			get ? (*env)->CallStaticObjectMethod(env, class, get)
			    : NULL;
		(*env)->ExceptionClear(env);
		platform = (*env)->NewGlobalRef(env, found);
	}
	bool same = (*env)->IsSameObject(env, loader, platform);
	(*env)->DeleteLocalRef(env, loader);
	return same;
}

static enum heap_local local_of_class(const struct heap_class *class)
{
	if (!strcmp(class->name, "java.lang.ThreadLocal"))
		return HEAP_LOCAL;
	if (!strcmp(class->name, "java.lang.InheritableThreadLocal"))
		return HEAP_INHERITABLE;
	return class->super && !class->element ? class->super->local
					       : HEAP_NOT_LOCAL;
}

/* Those of the JDK and of test frameworks are nothing that tests share. */
static bool local_is_foreign(const struct heap_class *class)
{
	return class->local &&
	       (class->jdk ? strncmp(class->name, "java.lang.",
				     strlen("java.lang.")) != 0
			   : heap_class_framework(class->name) != NULL);
}

static enum heap_kind kind_of_class(const struct heap_class *class,
				    jint modifiers)
{
	if (class->element)
		return HEAP_ARRAY;
	if (modifiers & ACC_ENUM ||
	    (class->super && class->super->kind == HEAP_ENUM))
		return HEAP_ENUM;
	if (local_is_foreign(class))
		return HEAP_SKIP;
	if (!class->jdk)
		return class->recipe && class->recipe->shape == SHAPE_SKIP
			       ? HEAP_SKIP
			       : HEAP_PLAIN;
	if (heap_package_is_skipped(class->name) && !class->recipe)
		return HEAP_SKIP;
	if (class->super && class->super->kind == HEAP_SKIP)
		return HEAP_SKIP;
	return heap_kind_for(class->name);
}

struct heap_class *heap_class_of(JNIEnv *env, jclass mirror)
{
	jlong tag = 0;
	if (!mirror)
		return NULL;
	(*heap.jvmti)->GetTag(heap.jvmti, mirror, &tag);
	if (tag > CLASS_TAG && (size_t)(tag - CLASS_TAG) < heap.classes.n)
		return heap.classes.data[tag - CLASS_TAG];
	char *signature = NULL;
	if ((*heap.jvmti)
		    ->GetClassSignature(heap.jvmti, mirror, &signature, NULL))
		return NULL;
	struct heap_class *class = heap_zeroed(1, sizeof(*class));
	jclass super = (*env)->GetSuperclass(env, mirror);
	class->super = heap_class_of(env, super);
	(*env)->DeleteLocalRef(env, super);
	class->mirror = (*env)->NewGlobalRef(env, mirror);
	class->name = name_of_signature(signature);
	class->name_hash = heap_hash(3, class->name, strlen(class->name));
	class->jdk = loader_is_of_jdk(env, mirror);
	if (signature[0] == '[')
		class->element =
			(char)(signature[1] == '[' ? 'L' : signature[1]);
	(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)signature);
	jint modifiers = 0;
	(*heap.jvmti)->GetClassModifiers(heap.jvmti, mirror, &modifiers);
	class->recipe = class->element ? NULL : heap_recipe_for(class->name);
	if (!class->recipe && class->super)
		class->recipe = class->super->recipe;
	class->local = local_of_class(class);
	class->kind = kind_of_class(class, modifiers);
	if (!heap.classes.n)
		HEAP_PUSH(&heap.classes, NULL);
	class->id = (uint32_t)heap.classes.n;
	HEAP_PUSH(&heap.classes, class);
	(*heap.jvmti)->SetTag(heap.jvmti, mirror, CLASS_TAG + class->id);
	if (heap.raw)
		class->klass = heap_raw_klass(class);
	return class;
}

/* ---- fields ---- */

/* Is @name one of the words of the comma-separated @list? */
static bool list_has(const char *list, const char *name)
{
	size_t n = strlen(name);
	for (const char *at = list; at && *at;) {
		size_t word = strcspn(at, ",");
		if (word == n && !strncmp(at, name, n))
			return true;
		at += word + (at[word] == ',');
	}
	return false;
}

static bool recipe_names(const struct heap_recipe *recipe, const char *name)
{
	return list_has(recipe->first, name) || list_has(recipe->count, name) ||
	       list_has(recipe->next, name) || list_has(recipe->key, name) ||
	       list_has(recipe->value, name) || list_has(recipe->hash, name);
}

static bool field_has_foreign_local(const struct heap_field *field)
{
	return (!strcmp(field->signature, "Ljava/lang/ThreadLocal;") ||
		!strcmp(field->signature,
			"Ljava/lang/InheritableThreadLocal;")) &&
	       (field->owner->jdk || heap_class_framework(field->owner->name));
}

static void field_decide(struct heap_field *field, jint modifiers)
{
	const struct heap_class *owner = field->owner;
	const struct heap_recipe *recipe = owner->recipe;
	field->followed = field->compared = true;
	if (recipe) {
		field->followed = recipe_names(recipe, field->name);
		field->compared =
			field->followed && recipe->shape == SHAPE_FIELDS;
		/* What a class adds to a container that it derives from. */
		if (owner->super && owner->super->recipe == recipe &&
		    !owner->jdk)
			field->followed = field->compared = true;
	} else if (owner->jdk && (modifiers & ACC_TRANSIENT)) {
		field->followed = field->compared = false;
	}
	if (heap_put_is_wanted())
		field->followed = true;
	if (field_has_foreign_local(field))
		field->followed = field->compared = false;
	if (owner->kind == HEAP_SKIP)
		field->followed = field->compared = false;
	/* The keys of weak maps; nothing else that is weak. */
	if (!strcmp(owner->name, "java.lang.ref.Reference")) {
		field->followed = !strcmp(field->name, "referent");
		field->compared = false;
	}
}

/* Fields of all interfaces of a class, each once: JVMTI numbers them first. */
struct interfaces {
	uint32_t *data;
	size_t n, cap;
};

static uint32_t count_interface_fields(JNIEnv *env, jclass mirror,
				       struct interfaces *seen)
{
	uint32_t count = 0;
	jint n = 0;
	jclass *list = NULL;
	jclass super = (*env)->GetSuperclass(env, mirror);
	if (super)
		count += count_interface_fields(env, super, seen);
	(*env)->DeleteLocalRef(env, super);
	if ((*heap.jvmti)
		    ->GetImplementedInterfaces(heap.jvmti, mirror, &n, &list))
		return count;
	for (jint i = 0; i < n; i++) {
		const struct heap_class *class = heap_class_of(env, list[i]);
		bool known = !class;
		for (size_t j = 0; !known && j < seen->n; j++)
			known = seen->data[j] == class->id;
		if (!known) {
			jint fields = 0;
			jfieldID *ids = NULL;
			HEAP_PUSH(seen, class->id);
			count += count_interface_fields(env, list[i], seen);
			if (!(*heap.jvmti)
				     ->GetClassFields(heap.jvmti, list[i],
						      &fields, &ids))
				count += (uint32_t)fields;
			(*heap.jvmti)
				->Deallocate(heap.jvmti, (unsigned char *)ids);
		}
		(*env)->DeleteLocalRef(env, list[i]);
	}
	(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)list);
	return count;
}

bool heap_field_read(struct heap_class *class, jfieldID id,
		     struct heap_field *ret, jint *ret_modifiers)
{
	char *name = NULL, *signature = NULL;
	if ((*heap.jvmti)
		    ->GetFieldName(heap.jvmti, class->mirror, id, &name,
				   &signature, NULL) ||
	    (*heap.jvmti)
		    ->GetFieldModifiers(heap.jvmti, class->mirror, id,
					ret_modifiers))
		return false;
	*ret = (struct heap_field){
		.name = heap_text(name),
		.signature = heap_text(signature),
		.owner = class,
		.id = id,
		.type = (char)(signature[0] == '[' ? 'L' : signature[0]),
		.is_final = *ret_modifiers & ACC_FINAL,
	};
	(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)name);
	(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)signature);
	return true;
}

/* Fields that instances have from this class itself. */
static void class_add_fields(JNIEnv *env, struct heap_class *class,
			     uint32_t number, const jfieldID *ids, jint n)
{
	for (jint i = 0; i < n; i++) {
		struct heap_field field;
		jint modifiers = 0;
		if (!heap_field_read(class, ids[i], &field, &modifiers))
			continue;
		if (modifiers & ACC_STATIC) {
			free(field.name);
			free(field.signature);
			continue;
		}
		field.number = number + (uint32_t)i;
		field_decide(&field, modifiers);
		if (heap.raw) {
			field.offset = heap_raw_offset(env, &field, false);
		} else {
			field.offset = class->size;
			class->size += (uint32_t)sizeof(uint64_t);
		}
		uint32_t end = field.offset + heap_type_size(field.type);
		class->size = class->size > end ? class->size : end;
		class->fields[class->n_fields++] = field;
	}
}

/* What get() returns, as if it were a field. */
static void class_add_local(struct heap_class *class)
{
	struct heap_field field = {
		.name = heap_text("get()"),
		.signature = heap_text("Ljava/lang/Object;"),
		.owner = class,
		.number = LOCAL_NUMBER,
		.type = 'L',
	};
	field_decide(&field, 0);
	class->fields[class->n_fields++] = field;
}

void heap_class_prepare(JNIEnv *env, struct heap_class *class)
{
	if (class->ready)
		return;
	class->ready = true;
	if (class->super)
		heap_class_prepare(env, class->super);
	if (class->element || class->kind == HEAP_MIRROR)
		return;
	class->file = class->jdk
			      ? NULL
			      : class_source_file(class->mirror, class->name);
	const struct heap_class *super = class->super;
	size_t inherited = super ? super->n_fields : 0;
	jint n = 0;
	jfieldID *ids = NULL;
	if ((*heap.jvmti)->GetClassFields(heap.jvmti, class->mirror, &n, &ids))
		n = 0;
	class->fields =
		heap_zeroed(inherited + (size_t)n + 1, sizeof(*class->fields));
	class->size = super && super->size ? super->size : FIRST_OFFSET;
	uint32_t above =
		0; /* fields of the classes above it, and of interfaces */
	uint32_t moved = 0;
	if (!heap.raw) {
		struct interfaces seen = {};
		class->interface_fields =
			count_interface_fields(env, class->mirror, &seen);
		free(seen.data);
		above = super ? super->own_fields : 0;
		moved = class->interface_fields -
			(super ? super->interface_fields : 0);
	}
	class->own_fields = above + (uint32_t)n;
	for (size_t i = 0; i < inherited; i++) {
		class->fields[i] = super->fields[i];
		class->fields[i].number += moved;
	}
	class->n_fields = inherited;
	class_add_fields(env, class, class->interface_fields + above, ids, n);
	if (class->local && super && !super->local)
		class_add_local(class);
	(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)ids);
	heap_class_find_links(class);
}

/* A String's hash code is computed when it is first asked for. */
static bool field_is_cache(const struct heap_class *class,
			   const struct heap_field *field)
{
	return class->kind == HEAP_STRING && strcmp(field->name, "value") != 0;
}

/* What a walk follows, and what shows that an object changed. */
void heap_class_find_links(struct heap_class *class)
{
	class->links = heap_zeroed(class->n_fields, sizeof(*class->links));
	class->link_fields =
		heap_zeroed(class->n_fields, sizeof(*class->link_fields));
	class->spans = heap_zeroed(class->n_fields, sizeof(*class->spans));
	for (size_t i = 0; i < class->n_fields; i++) {
		const struct heap_field *field = &class->fields[i];
		if (field->followed && field->type == 'L') {
			class->link_fields[class->n_links] = field;
			class->links[class->n_links++] = field->offset;
		}
		if ((field->followed || field->compared) &&
		    !field_is_cache(class, field) &&
		    !heap_field_is_local(field))
			class->spans[class->n_spans++] = (struct heap_span){
				field->offset, heap_type_size(field->type)
			};
	}
}

bool heap_patterns_match(const struct heap_patterns *patterns, const char *text)
{
	for (size_t i = 0; i < patterns->n; i++) {
		if (!regexec(&patterns->data[i], text, 0, NULL, 0))
			return true;
	}
	return false;
}
