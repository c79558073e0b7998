#include "native/isolation.h"

#include "base/str.h"
#include "keep/save.h"
#include "native/aside.h"
#include "native/chooser.h"
#include "native/framework.h"
#include "native/saving.h"

/* So many are run once more. */
#define CHECKED_MAX 256
/* So many of them are named. */
#define NAMED_MAX 3

struct isolation_passes {
	const struct session *session;
	struct str names;
	size_t n;
	struct err *err;
};

void isolation_note_failure(struct session *session, size_t test)
{
	/* While they are run once more, the list is in use. */
	if (session->isolates && !session->told_isolation &&
	    session->failed.n < CHECKED_MAX)
		err_ignore(vec_push(&session->failed, test));
}

static void isolation_on_finished(void *data, const struct suite_result *result)
{
	struct isolation_passes *passes = data;
	const struct suite *suite = &passes->session->suite;
	if (result->outcome != OUTCOME_PASS || passes->err)
		return;
	if (passes->n++ < NAMED_MAX)
		passes->err = str_appendf(&passes->names, "%s%s",
					  passes->n > 1 ? ", " : "",
					  suite->tests.data[result->test].name);
}

struct err *isolation_check(struct session *session,
			    struct err *(*run_alone)(struct session *session,
						     const size_t *order,
						     size_t n))
{
	if (!session->failed.n || session->told_isolation || session->watch ||
	    session->places || chooser_chooses(session->chooser))
		return NULL;
	session->told_isolation = true;
	struct isolation_passes passes = { .session = session };
	const struct suite_observer observer = {
		.finished = isolation_on_finished,
		.data = &passes,
	};
	struct session_aside aside;
	struct saved *files = NULL;
	/* What the order left in files stays. */
	TRY(saving_take(session, &files));
	session_step_aside(session, &observer, OUTPUT_IGNORED, &aside);
	struct err *err =
		run_alone(session, session->failed.data, session->failed.n);
	session_step_back(session, &aside);
	struct err *failed = saving_put_back_to(session, files);
	saved_destroy(files);
	if (!err)
		err = take_ptr(failed);
	if (!err)
		err = take_ptr(passes.err);
	err_ignore(failed);
	if (!err && passes.n)
		suite_limit(session->observer,
			    "%s runs each test in a process of its own; here "
			    "they share one (%s), and %zu fail%s only because "
			    "of that: %s%s; --alone runs each in its own",
			    session->framework->own.title,
			    session->framework->isolation, passes.n,
			    passes.n == 1 ? "s" : "", passes.names.s,
			    passes.n > NAMED_MAX ? " …" : "");
	err_ignore(passes.err);
	str_free(&passes.names);
	return err;
}
