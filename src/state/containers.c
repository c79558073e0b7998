/*
 * Which types are containers, and where each finds its places: asked for once
 * a type, then remembered by its number.
 */
#include "state/containers.h"

#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "state/containers_internal.h"

static const struct container ordinary;

static void container_contents_clear(struct container_contents *contents)
{
	contents->n = 0;
	contents->unordered = false;
	contents->run = contents->stride = 0;
	memset(contents->words, 0, sizeof(contents->words));
	contents->n_words = 0;
	contents->structure.n = 0;
}

void container_contents_free(struct container_contents *contents)
{
	free(contents->data);
	vec_free(&contents->structure);
	*contents = (struct container_contents){};
}

struct err *containers_create(struct type_pool *pool,
			      const struct container_user *users, size_t n,
			      struct containers **ret)
{
	_cleanup_(containers_destroyp) struct containers *containers =
		calloc(1, sizeof(*containers));
	if (!containers)
		return err_nomem();
	containers->pool = pool;
	TRY(container_users_add(containers, users, n));
	*ret = take_ptr(containers);
	return NULL;
}

void containers_destroy(struct containers *containers)
{
	if (!containers)
		return;
	for (size_t i = 0; i < containers->by_type.n; i++) {
		if (containers->by_type.data[i] != &ordinary)
			free((void *)containers->by_type.data[i]);
	}
	vec_free(&containers->by_type);
	for (size_t i = 0; i < containers->texts.n; i++)
		free(containers->texts.data[i]);
	vec_free(&containers->texts);
	map_u64_free(&containers->opaque);
	map_u64_free(&containers->held);
	free(containers->users);
	free(containers);
}

void containers_set_symbols(struct containers *containers,
			    bool (*symbol)(void *data, uint64_t address,
					   char *out, size_t n),
			    void *data)
{
	containers->symbol = symbol;
	containers->symbol_data = data;
}

static const struct container *
container_lookup_type(struct containers *containers, type_id type);

/*
 * Pointers of the library's own making (fancy ones, debug iterators) are
 * structs: what is in them is not for us to guess.
 */
static bool is_pointer(const struct containers *containers,
		       const struct container *container)
{
	type_id type = container->places[PLACE_FIRST].type;
	enum type_kind kind = type_get(containers->pool, type)->kind;
	switch (container->recipe->shape) {
	case CONTAINER_SEQUENCE:
	case CONTAINER_TEXT:
	case CONTAINER_CHAIN:
	case CONTAINER_TREE:
	case CONTAINER_POINTER:
		return kind != TYPE_STRUCT && kind != TYPE_UNION;
	default:
		return true;
	}
}

static void not_there(const struct container *container, const char *path,
		      const char *name)
{
	if (container->recipe->user)
		log_warn("container '%s': '%s' has no member '%s' that could "
			 "be read; it is compared by its members",
			 container->recipe->type, name, path);
}

/* All of the recipe's places, or none of it. */
static bool container_find_places(const struct containers *containers,
				  struct container *container)
{
	const struct container_recipe *recipe = container->recipe;
	const struct type *type = type_get(containers->pool, container->type);
	for (unsigned i = 0; i < PLACES; i++) {
		const struct recipe_place *want = &recipe->places[i];
		struct container_place *place = &container->places[i];
		if (!want->path ||
		    place_resolve(containers->pool, container->type, want->path,
				  place))
			continue;
		if (!want->at || (type->size && type->size != recipe->size)) {
			if (recipe->user)
				log_warn("container '%s': '%s' has no member "
					 "'%s' that could be read; it is "
					 "compared by its members",
					 recipe->type, type->name, want->path);
			return false;
		}
		*place = (struct container_place){ .known = true,
						   .n = 1,
						   .size = 8 };
		place->offsets[0] = want->at - AT(0);
	}
	if (is_pointer(containers, container))
		return true;
	not_there(container, recipe->places[PLACE_FIRST].path, type->name);
	return false;
}

/* What PLACE_FIRST points to or, an array, consists of. */
static type_id first_target(const struct containers *containers,
			    const struct container *container)
{
	const struct container_place *first = &container->places[PLACE_FIRST];
	const struct type *type = type_get(containers->pool, first->type);
	return type->kind == TYPE_POINTER || type->kind == TYPE_ARRAY
		       ? type->target
		       : TYPE_UNKNOWN;
}

static struct err *find_pair(struct containers *containers,
			     struct container *container, bool *ret_found)
{
	struct container_place place;
	if (!place_resolve(containers->pool, container->element, "first",
			   &place)) {
		type_id key, value;
		TRY(container_argument(containers, container->type, 0, &key));
		TRY(container_argument(containers, container->type, 1, &value));
		*ret_found = false;
		if (key == TYPE_UNKNOWN || value == TYPE_UNKNOWN)
			return NULL;
		TRY(container_pair(containers, key, value,
				   &container->element));
		place = (struct container_place){ .type = key };
	}
	container->key = place.type;
	container->key_offset = place.offsets[0];
	*ret_found = true;
	return NULL;
}

static struct err *find_element(struct containers *containers,
				struct container *container, bool *ret_found)
{
	const struct container_recipe *recipe = container->recipe;
	struct type_pool *pool = containers->pool;
	*ret_found = true;
	if (recipe->element)
		TRY(container_named(containers, container->type,
				    recipe->element, &container->element));
	if (recipe->user && recipe->element &&
	    container->element == TYPE_UNKNOWN) {
		log_warn("container '%s': there is no type '%s'; it is "
			 "compared by its members",
			 recipe->type, recipe->element);
		*ret_found = false;
		return NULL;
	}
	if (container->element == TYPE_UNKNOWN &&
	    recipe->shape == CONTAINER_OPTIONAL)
		container->element = container->places[PLACE_FIRST].type;
	if (container->element == TYPE_UNKNOWN &&
	    (recipe->shape == CONTAINER_SEQUENCE ||
	     recipe->shape == CONTAINER_TEXT ||
	     recipe->shape == CONTAINER_POINTER))
		container->element = first_target(containers, container);
	if (recipe->keys == KEYS_PAIR)
		TRY(find_pair(containers, container, ret_found));
	else if (recipe->keys == KEYS_SELF)
		container->key = container->element;
	const struct type *element = type_get(pool, container->element);
	/* unique_ptr<T[]>: how many there are its block says. */
	if (recipe->shape == CONTAINER_POINTER && element->kind == TYPE_ARRAY &&
	    element->count == TYPE_NO_COUNT) {
		container->element = element->target;
		element = type_get(pool, container->element);
	}
	container->element_size = element->size;
	container->next = recipe->node.next;
	container->right = recipe->node.right;
	container->value = container_align(recipe->node.header, element->align);
	switch (recipe->shape) {
	case CONTAINER_SEQUENCE:
	case CONTAINER_TEXT:
	case CONTAINER_BLOCKS:
		*ret_found = *ret_found && container->element_size;
		break;
	case CONTAINER_CHAIN:
	case CONTAINER_TREE:
		*ret_found = *ret_found && container->element != TYPE_UNKNOWN;
		break;
	default:
		break;
	}
	return NULL;
}

/* Users name the members of a node. */
static bool find_node(const struct containers *containers,
		      struct container *container)
{
	const struct container_recipe *recipe = container->recipe;
	if (!recipe->user || recipe->shape != CONTAINER_CHAIN)
		return true;
	struct container_place next, value;
	type_id node = first_target(containers, container);
	const char *missing = NULL;
	if (!place_resolve(containers->pool, node, recipe->next, &next) ||
	    next.n > 1)
		missing = recipe->next;
	else if (recipe->value && (!place_resolve(containers->pool, node,
						  recipe->value, &value) ||
				   value.n > 1))
		missing = recipe->value;
	if (missing) {
		log_warn("container '%s': the nodes have no member '%s' that "
			 "could be read; it is compared by its members",
			 recipe->type, missing);
		return false;
	}
	container->next = next.offsets[0];
	container->value = recipe->value ? value.offsets[0] : 0;
	if (container->element == TYPE_UNKNOWN)
		container->element = recipe->value ? value.type : node;
	return true;
}

static struct err *container_resolve_recipe(struct containers *containers,
					    struct container *container,
					    bool *ret_fits)
{
	const struct container_recipe *recipe = container->recipe;
	*ret_fits = true;
	if (recipe->shape == CONTAINER_SKIP)
		return NULL;
	*ret_fits = false;
	if (recipe->inner) {
		struct container_place place;
		if (!place_resolve(containers->pool, container->type,
				   recipe->inner, &place) ||
		    place.n > 1)
			return NULL;
		container->inner =
			container_lookup_type(containers, place.type);
		container->inner_offset = place.offsets[0];
		*ret_fits = container->inner;
		return NULL;
	}
	if (!container_find_places(containers, container) ||
	    !find_node(containers, container))
		return NULL;
	uint64_t next = container->next, value = container->value;
	TRY(find_element(containers, container, ret_fits));
	if (recipe->user) {
		container->next = next;
		container->value = value;
	}
	return NULL;
}

/* The first row that fits; *@ret stays where there is none. */
static struct err *container_recognise_type(struct containers *containers,
					    type_id type,
					    const struct container **ret)
{
	struct recipe_name name;
	recipe_name_parse(type_get(containers->pool, type)->name, &name);
	size_t n = containers->n_users + n_recipes;
	for (size_t i = 0; i < n; i++) {
		const struct container_recipe *recipe =
			i < containers->n_users
				? &containers->users[i]
				: &recipes[i - containers->n_users];
		if (!recipe_matches(recipe, &name))
			continue;
		_cleanup_(freep) struct container *container =
			calloc(1, sizeof(*container));
		if (!container)
			return err_nomem();
		container->recipe = recipe;
		container->type = type;
		bool fits = false;
		TRY(container_resolve_recipe(containers, container, &fits));
		if (fits) {
			*ret = take_ptr(container);
			return NULL;
		}
		log_debug(
			LOG_STATE,
			"%s is not compared by content as %s: its members are "
			"not those of the recipe",
			type_get(containers->pool, type)->name, recipe->type);
	}
	return NULL;
}

static struct err *container_remember_type(struct containers *containers,
					   type_id type,
					   const struct container **ret)
{
	while (containers->by_type.n <= type)
		TRY(vec_push(&containers->by_type, NULL));
	/* While it is examined, it counts as ordinary. */
	containers->by_type.data[type] = &ordinary;
	const struct container *found = &ordinary;
	/* A declaration, and the definition is elsewhere in the pool? */
	const struct type *t = type_get(containers->pool, type);
	type_id same = t->kind == TYPE_OPAQUE && t->name[0]
			       ? type_by_name(containers->pool, t->name)
			       : type;
	if (t->name[0])
		TRY(container_recognise_type(containers, same ? same : type,
					     &found));
	containers->by_type.data[type] = found;
	*ret = found;
	return NULL;
}

/* NULL: ordinary. */
static const struct container *
container_lookup_type(struct containers *containers, type_id type)
{
	const struct container *found = NULL;
	if (type < containers->by_type.n)
		found = containers->by_type.data[type];
	if (!found && type < type_count(containers->pool)) {
		struct err *err =
			container_remember_type(containers, type, &found);
		if (err) {
			/* Out of memory; what comes next will say so. */
			err_ignore(err);
			return NULL;
		}
	}
	return found == &ordinary ? NULL : found;
}

const struct container_recipe *container_recipe(struct containers *containers,
						type_id type)
{
	const struct container *container =
		container_lookup_type(containers, type);
	while (container && container->inner)
		container = container->inner;
	return container ? container->recipe : NULL;
}

enum container_shape
container_recipe_shape(const struct container_recipe *recipe)
{
	return recipe->shape;
}

struct err *container_expand(struct containers *containers, type_id type,
			     const struct view *view, uint64_t address,
			     size_t max, struct container_contents *ret,
			     bool *ret_sound)
{
	container_contents_clear(ret);
	*ret_sound = false;
	const struct container *container =
		container_lookup_type(containers, type);
	while (container && container->inner) {
		address += container->inner_offset;
		container = container->inner;
	}
	if (!container)
		return NULL;
	struct expansion x = { .containers = containers,
			       .container = container,
			       .view = view,
			       .address = address,
			       .max = max,
			       .out = ret };
	ret->unordered = container->recipe->unordered;
	TRY(container_expand_shape(&x));
	if (!x.sound) {
		log_debug(LOG_STATE,
			  "%s at 0x%llx is compared member by member: its "
			  "content is not consistent",
			  type_get(containers->pool, type)->name,
			  (unsigned long long)address);
		container_contents_clear(ret);
	}
	*ret_sound = x.sound;
	return NULL;
}

/*
 * What such a type is at least in size, where its row does not say: any version
 * of GLib's. The row's own size keeps its offsets valid for other declarations
 * of the type.
 */
#define DECLARED_SIZE 80

struct err *containers_complete(struct containers *containers)
{
	size_t n = type_count(containers->pool);
	for (type_id id = 1; id < n; id++) {
		const struct type *type = type_get(containers->pool, id);
		if (type->kind != TYPE_OPAQUE || type->size || !*type->name)
			continue;
		const struct container_recipe *recipe =
			container_recipe(containers, id);
		if (!recipe)
			continue;
		type = type_get(containers->pool, id); /* it may have moved */
		struct type whole = {
			.kind = TYPE_STRUCT,
			.name = type->name,
			.size = recipe->size ? recipe->size : DECLARED_SIZE,
			.align = 8,
		};
		TRY(type_set(containers->pool, id, &whole));
	}
	return NULL;
}
