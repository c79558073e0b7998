/* Runs that look for readers of places (watch/places.h). */
#include "native/session.h"
#include "native/verdict.h"
#include "watch/places.h"

struct err *session_run_places(struct suite *suite, const size_t *order,
			       size_t n, const struct suite_place *list,
			       size_t n_places,
			       const struct suite_observer *observer)
{
	struct session *session = (struct session *)suite;
	const struct watch_host host = session_host(session);
	_cleanup_(places_destroyp) struct places *places = NULL;
	TRY(places_create(&host, list, n_places, &places));
	session->places = places;
	struct err *err = session_run(suite, order, n, 0, observer);
	session->places = NULL;
	return err;
}

/* A verdict may need the watchpoints itself. */
struct err *session_run_adding(struct suite *suite, const size_t *order,
			       size_t n, const struct suite_observer *observer)
{
	struct session *session = (struct session *)suite;
	TRY(verdict_learn(session));
	if (verdict_uses_watchpoints(session))
		return session_run(suite, order, n, 0, observer);
	return session_run_places(suite, order, n, NULL, 0, observer);
}

bool session_add_place(struct suite *suite, const struct suite_place *place,
		       size_t test)
{
	const struct session *session = (const struct session *)suite;
	return session->places && places_add(session->places, place, test);
}

struct err *session_run_rest(struct suite *suite, const size_t *order, size_t n,
			     const struct suite_place *list, size_t n_places,
			     const struct suite_observer *observer)
{
	struct session *session = (struct session *)suite;
	session->rest = true;
	struct err *err =
		session_run_places(suite, order, n, list, n_places, observer);
	session->rest = false;
	return err;
}
