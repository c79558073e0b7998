#include "native/aside.h"

void session_step_aside(struct session *session,
			const struct suite_observer *observer,
			enum output_use use, struct session_aside *ret)
{
	*ret = (struct session_aside){
		.observer = session->observer,
		.watch = take_ptr(session->watch),
		.places = take_ptr(session->places),
		.tries = take_ptr(session->tries),
		.points = session->points,
		.reported = session->reported,
		.unhappy = session->unhappy,
		.timeout_ns = session->suite.options.timeout_ns,
		.keeps_origin = session->keeps_origin,
		.use = output_set_use(session->output, use),
		.hand_over = take_ptr(session->suite.hand_over),
	};
	session->observer = observer;
	session->keeps_origin |= ret->watch != NULL;
	session->points = 0;
	session->reported = 0;
	session->unhappy = false;
}

void session_step_back(struct session *session,
		       const struct session_aside *aside)
{
	output_set_use(session->output, aside->use);
	session->observer = aside->observer;
	session->watch = aside->watch;
	session->places = aside->places;
	session->tries = aside->tries;
	session->points = aside->points;
	session->reported = aside->reported;
	session->unhappy = aside->unhappy;
	session->suite.options.timeout_ns = aside->timeout_ns;
	session->keeps_origin = aside->keeps_origin;
	session->suite.hand_over = aside->hand_over;
}
