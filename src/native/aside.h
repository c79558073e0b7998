/*
 * Runs beside the one that was asked for: experiments and rehearsals. Nothing
 * watches their processes, nobody but @observer hears of them, and what they
 * print is not shown; none is handed over. Afterwards the session is as it was.
 */
#pragma once

#include "native/session.h"
#include "tracee/output.h"

struct session_aside {
	const struct suite_observer *observer;
	struct watch *watch;
	struct places *places;
	struct tries *tries;
	unsigned points;
	size_t reported;
	bool unhappy;
	uint64_t timeout_ns;
	bool keeps_origin;
	enum output_use use;
	suite_taker *hand_over;
};

/* @observer may be NULL. @use: what becomes of the output meanwhile. */
void session_step_aside(struct session *session,
			const struct suite_observer *observer,
			enum output_use use, struct session_aside *ret);
void session_step_back(struct session *session,
		       const struct session_aside *aside);
