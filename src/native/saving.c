#include "native/saving.h"

#include "base/log.h"
#include "files/inputs.h"
#include "keep/save.h"
#include "watch/file_guard.h"
#include "watch/places.h"
#include "watch/watch.h"

struct err *saving_create(struct session *session)
{
	struct inputs *inputs = session->suite.options.inputs;
	if (session->saver)
		return NULL;
	TRY(saver_create(&session->saver));
	if (inputs)
		saver_tell(session->saver, inputs_sink, inputs);
	return NULL;
}

void saving_destroy(struct session *session)
{
	file_guard_destroy(take_ptr(session->guard));
	if (session->saver && !session->leaves_files)
		err_ignore(saver_put_back(session->saver));
	if (session->saver)
		saver_remove_made(session->saver, !session->leaves_files);
	saver_destroy(take_ptr(session->saver));
}

struct err *saving_launched(struct session *session, struct tracee *tracee)
{
	if (!session->refusal)
		return NULL;
	/* That of another start. */
	file_guard_destroy(take_ptr(session->guard));
	return file_guard_attach_refusing(tracee_thread(tracee, 0),
					  session->saver, session->refusal,
					  &session->guard);
}

struct err *saving_started(struct session *session, const struct run *run)
{
	return session->saver
		       ? saver_add_open(session->saver, tracee_pid(run->tracee))
		       : NULL;
}

bool saving_is_guarded(const struct session *session)
{
	return session->saver && !session->refusal &&
	       !(session->watch && watch_follows(session->watch)) &&
	       !(session->places && places_follow(session->places));
}

struct err *saving_guard(struct session *session, struct run *run)
{
	file_guard_destroy(take_ptr(session->guard));
	return file_guard_attach(run->ready_thread, session->saver,
				 &session->guard);
}

void saving_hear(struct session *session)
{
	session->shares_files = true;
}

bool saving_shares_files(const struct session *session)
{
	return session->shares_files ||
	       (session->saver && (saver_path(session->saver, 0) ||
				   saver_lost(session->saver, 0)));
}

struct err *saving_put_back(struct session *session)
{
	if (!session->saver)
		return NULL;
	TRY(saver_put_back(session->saver));
	if (!saver_open_is_gone(session->saver))
		return NULL;
	log_debug(LOG_NATIVE,
		  "a file that the program has open is gone: it is started "
		  "again");
	session_forget_origin(session);
	return NULL;
}

struct err *saving_take(struct session *session, struct saved **ret)
{
	*ret = NULL;
	return session->saver ? saver_take(session->saver, ret) : NULL;
}

struct err *saving_put_back_to(struct session *session,
			       const struct saved *saved)
{
	return saved ? saver_put_back_to(session->saver, saved) : NULL;
}

/* ---- questions ---- */

struct err *saving_keep_files(struct suite *suite, const char *const *paths,
			      size_t n)
{
	struct session *session = (struct session *)suite;
	TRY(saving_put_back(session));
	session->shares_files = n;
	if (n)
		TRY(saving_create(session));
	for (size_t i = 0; i < n; i++)
		TRY(saver_add(session->saver, paths[i]));
	return NULL;
}

struct err *saving_put_back_files(struct suite *suite)
{
	return saving_put_back((struct session *)suite);
}

const char *saving_touched_file(const struct suite *suite, size_t i)
{
	const struct session *session = (const struct session *)suite;
	return session->saver ? saver_path(session->saver, i) : NULL;
}

const char *saving_unrestored(const struct suite *suite, size_t i)
{
	const struct session *session = (const struct session *)suite;
	return session->saver ? saver_lost(session->saver, i) : NULL;
}
