/* The tests that adapters add, and what they declare about them (run.h). */
#include <stdio.h>

#include "native/framework.h"
#include "native/session.h"
#include "suite/declare.h"

/*
 * A test that was listed before, by its name: in another start they may come in
 * another sequence. Those of the same name keep theirs.
 */
static struct err *find_listed(struct session *session, const char *name,
			       size_t *ret)
{
	for (unsigned i = 1; i <= session->suite.tests.n; i++) {
		_cleanup_(freep) char *numbered = NULL;
		uint64_t index;
		if (i > 1 && asprintf(&numbered, "%s#%u", name, i) < 0)
			return err_nomem();
		if (!map_text_get(session->relisting,
				  numbered ? numbered : name, &index))
			break;
		BUG_ON(index >= session->handles.n);
		if (session->handles.data[index].handle)
			continue;
		session->resequenced |= index != session->relisted;
		session->relisted++;
		*ret = index;
		return NULL;
	}
	return err_create(ERR_SUITE,
			  "started again, the program has a test '%s' more",
			  name);
}

struct err *run_add_test(struct run *run, const char *name, const char *file,
			 unsigned line, bool disabled, uint64_t handle,
			 uint64_t group)
{
	struct session *session = run->session;
	size_t index = session->handles.n;
	uint64_t known;
	if (session->relisting) {
		TRY(find_listed(session, name, &index));
		session->handles.data[index] =
			(struct test_handle){ handle, group };
	} else {
		TRY(suite_add_test(&session->suite, name, run_source(run, file),
				   line, disabled));
		if (map_u64_get(&session->declared, group, &known))
			session->suite.tests.data[index].group = (size_t)known;
		TRY(vec_push(&session->handles,
			     (struct test_handle){ handle, group }));
	}
	if (map_u64_get(&session->by_handle, handle, &known))
		return NULL;
	return map_u64_put(&session->by_handle, handle, index);
}

void run_isolate_test(struct run *run)
{
	struct session *session = run->session;
	struct suite_test *last =
		&session->suite.tests.data[session->suite.tests.n - 1];
	if (!session->relisting)
		last->isolated_by = session->framework->own.title;
	session->isolates |= !session->relisting;
}

struct err *run_add_group(struct run *run, uint64_t group, uint64_t parent)
{
	return map_u64_put(&run->session->group_parents, group, parent);
}

uint64_t run_group_parent(const struct run *run, uint64_t group)
{
	uint64_t parent = 0;
	map_u64_get(&run->session->group_parents, group, &parent);
	return parent;
}

struct err *run_declare_group(struct run *run, uint64_t group, uint64_t parent)
{
	struct session *session = run->session;
	uint64_t known = SUITE_NO_GROUP;
	size_t declared;
	if (session->relisting ||
	    map_u64_get(&session->declared, group, &known))
		return NULL;
	if (parent)
		map_u64_get(&session->declared, parent, &known);
	TRY(declare_group(&session->suite, (size_t)known, &declared));
	return map_u64_put(&session->declared, group, declared);
}

struct err *run_declare_needs(struct run *run, size_t test, size_t earlier)
{
	struct session *session = run->session;
	return session->relisting
		       ? NULL
		       : declare_needs(&session->suite, test, earlier);
}

void run_declare_priority(struct run *run, size_t test, int64_t priority)
{
	struct session *session = run->session;
	if (!session->relisting)
		declare_priority(&session->suite, test, priority);
}

bool run_disabled(const struct run *run, size_t test)
{
	return run->session->suite.tests.data[test].disabled;
}

size_t run_tests(const struct run *run)
{
	return run->session->suite.tests.n;
}

const char *run_name(const struct run *run, size_t test)
{
	return run->session->suite.tests.data[test].name;
}

uint64_t run_handle(const struct run *run, size_t test)
{
	return run->session->handles.data[test].handle;
}

uint64_t run_group(const struct run *run, size_t test)
{
	return run->session->handles.data[test].group;
}

size_t run_test_by_handle(const struct run *run, uint64_t handle)
{
	uint64_t index;
	return map_u64_get(&run->session->by_handle, handle, &index)
		       ? (size_t)index
		       : RUN_NONE;
}

bool run_again(const struct run *run, size_t test)
{
	return run->begun && run->begun[test];
}
