#include "cli/repairing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/path.h"
#include "base/str.h"

#define SOURCE_MAX ((size_t)8 << 20)

/* ---- requests ---- */

static struct err *name_tests(const struct suite *suite, struct map_text *ret)
{
	for (size_t i = 0; i < suite_count(suite); i++) {
		const char *name = suite_test(suite, i)->name;
		_cleanup_(freep) char *text = str_utf8(name, strlen(name));
		if (!text)
			return err_nomem();
		TRY(map_text_put(ret, text, i));
	}
	return NULL;
}

static struct err *find_named(const struct map_text *names, const char *name,
			      size_t *ret)
{
	uint64_t number = 0;
	if (!name || !map_text_get(names, name, &number))
		return err_hint(err_create(ERR_SUITE,
					   "the suite no longer has a test "
					   "'%s'",
					   name ? name : "?"),
				"run 'polygraph order' again");
	*ret = (size_t)number;
	return NULL;
}

static struct err *take_order(const struct map_text *names,
			      const struct strv *order, struct order_tests *ret)
{
	for (size_t i = 0; i < order->n; i++) {
		size_t test;
		TRY(find_named(names, order->data[i], &test));
		TRY(vec_push(ret, test));
	}
	return NULL;
}

/* [["A", "B"], ["C"]] */
static struct err *take_lists(const struct map_text *names, const json_t *lists,
			      struct order_lists *ret)
{
	for (size_t i = 0; i < json_array_size(lists); i++) {
		const json_t *list = json_array_get(lists, i);
		struct order_tests tests = {};
		struct err *err = NULL;
		for (size_t j = 0; !err && j < json_array_size(list); j++) {
			size_t test = 0;
			err = find_named(
				names,
				json_string_value(json_array_get(list, j)),
				&test);
			if (!err)
				err = vec_push(&tests, test);
		}
		if (!err)
			err = vec_push(ret, tests);
		if (err)
			vec_free(&tests);
		TRY(err);
	}
	return NULL;
}

static struct err *take_texts(const json_t *texts, struct strv *ret)
{
	for (size_t i = 0; i < json_array_size(texts); i++) {
		const char *text = json_string_value(json_array_get(texts, i));
		if (text)
			TRY(strv_add(ret, text));
	}
	return NULL;
}

static bool take_class(const json_t *json, enum order_class *ret)
{
	const char *class = json_string_value(json_object_get(json, "class"));
	for (int i = 0; class && i < ORDER_CLASSES; i++) {
		if (!strcmp(order_class_name((enum order_class)i), class)) {
			*ret = (enum order_class)i;
			return true;
		}
	}
	return false;
}

static struct err *take_dependence(const struct map_text *names,
				   const json_t *json,
				   const struct record *record,
				   struct repair_request *ret)
{
	if (!take_class(json, &ret->class) || record->trials.n != 2)
		return record_unreadable("class");
	TRY(take_order(names, &record->trials.data[0].order, &ret->failing));
	TRY(take_order(names, &record->trials.data[1].order, &ret->passing));
	if (!ret->failing.n || !ret->passing.n)
		return record_unreadable("order");
	TRY(take_lists(names, json_object_get(json, "polluters"),
		       &ret->polluters));
	TRY(take_lists(names, json_object_get(json, "setters"), &ret->setters));
	TRY(take_lists(names, json_object_get(json, "cleaners"),
		       &ret->cleaners));
	return take_texts(json_object_get(json, "polluted"), &ret->polluted);
}

static struct err *take_leftover(const json_t *json, struct repair_request *ret)
{
	const char *root = json_string_value(json_object_get(json, "root"));
	if (!root)
		return record_unreadable("root");
	ret->leftover = true;
	ret->class = ORDER_VICTIM;
	TRY(vec_push(&ret->failing, ret->test));
	TRY(vec_push(&ret->failing, ret->test));
	TRY(vec_push(&ret->passing, ret->test));
	return strv_add(&ret->polluted, root);
}

struct err *repairing_request(const struct suite *suite,
			      const struct store_finding *finding,
			      const struct record *record,
			      struct repair_request *ret)
{
	_cleanup_(map_text_freep) struct map_text names = MAP_INIT;
	_cleanup_(repair_request_freep) struct repair_request request = {};
	_cleanup_(json_freep) json_t *json =
		json_loads(finding->json ? finding->json : "", 0, NULL);
	const char *kind = json_string_value(json_object_get(json, "kind"));
	if (!kind)
		return record_unreadable("kind");
	TRY(name_tests(suite, &names));
	TRY(find_named(&names, record->test, &request.test));
	TRY(str_copy(finding->id, &request.id));
	if (!strcmp(kind, "order-dependent"))
		TRY(take_dependence(&names, json, record, &request));
	else if (!strcmp(kind, "pollution"))
		TRY(take_leftover(json, &request));
	else
		return err_hint(err_create(ERR_USAGE,
					   "'%s' is not a finding that a patch "
					   "can fix",
					   finding->id),
				"give the id of an order-dependent test or of "
				"what a test leaves changed");
	*ret = request;
	request = (struct repair_request){};
	return NULL;
}

struct err *repairing_relate(struct repair_request *request,
			     const struct repair_request *other)
{
	bool same = false;
	if (request->leftover || other->leftover ||
	    request->class == ORDER_BRITTLE || other->class == ORDER_BRITTLE ||
	    request->test == other->test)
		return NULL;
	for (size_t i = 0; i < request->polluted.n; i++) {
		for (size_t j = 0; j < other->polluted.n; j++)
			same |= !strcmp(request->polluted.data[i],
					other->polluted.data[j]);
	}
	return same ? vec_push(&request->kin, other->test) : NULL;
}

struct err *repairing_add_leaver(const struct suite *suite,
				 const struct store_finding *finding,
				 struct repair_request *request)
{
	_cleanup_(map_text_freep) struct map_text names = MAP_INIT;
	_cleanup_(json_freep) json_t *json =
		json_loads(finding->json ? finding->json : "", 0, NULL);
	const char *root = json_string_value(json_object_get(json, "root"));
	const char *test = json_string_value(json_object_get(json, "test"));
	uint64_t number;
	for (size_t i = 0; root && test && i < request->polluted.n; i++) {
		if (strcmp(root, request->polluted.data[i]) != 0)
			continue;
		TRY(name_tests(suite, &names));
		return map_text_get(&names, test, &number)
			       ? vec_push(&request->leavers, (size_t)number)
			       : NULL;
	}
	return NULL;
}

/* ---- files ---- */

/* The outermost folder above the program that looks like a project's. */
struct err *repairing_project(const char *program, char **ret)
{
	static const char *const signs[] = { ".git",	    ".hg",
					     ".svn",	    "CMakeLists.txt",
					     "meson.build", "configure",
					     "Makefile" };
	_cleanup_(freep) char *at = realpath(program, NULL);
	_cleanup_(freep) char *cwd = getcwd(NULL, 0);
	const char *home = getenv("HOME");
	if (!at)
		TRY(str_copy(cwd ? cwd : "/", &at));
	TRY(str_copy(cwd ? cwd : "/", ret));
	for (char *slash; (slash = strrchr(at, '/')) && slash != at;) {
		*slash = '\0';
		if (home && !strcmp(at, home))
			break;
		for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
			_cleanup_(freep) char *sign = NULL;
			TRY(path_join(at, signs[i], &sign));
			if (access(sign, F_OK) != 0)
				continue;
			free(*ret);
			*ret = NULL;
			TRY(str_copy(at, ret));
			break;
		}
	}
	return NULL;
}

struct err *repairing_write(int root, const char *path, const char *original,
			    const char *content)
{
	_cleanup_(closep) int fd =
		openat(root, path + 1, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	_cleanup_(freep) char *now = NULL;
	size_t n = strlen(content), done = 0;
	if (fd < 0)
		return err_errno(errno, "cannot write '%s'", path);
	TRY(file_read_fd(fd, path, SOURCE_MAX, &now, NULL));
	if (strcmp(now, original) != 0)
		return err_create(ERR_USAGE,
				  "'%s' was changed in the meantime: the "
				  "patch is not applied",
				  path);
	if (lseek(fd, 0, SEEK_SET) < 0 || ftruncate(fd, 0) < 0)
		return err_errno(errno, "cannot write '%s'", path);
	while (done < n) {
		ssize_t wrote = write(fd, content + done, n - done);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return err_errno(errno, "cannot write '%s'", path);
		done += (size_t)wrote;
	}
	return NULL;
}
