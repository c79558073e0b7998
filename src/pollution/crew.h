/*
 * A crew: processes that share the runs of a search, on all processors.
 *
 * The work of a stage (effects, then readers) is a list of tasks; whoever is
 * free takes the next. The first member is the process that searches. Each other
 * one has the suite opened again (suite_beside_start()), begins with all that
 * the search knew then, and sends what it found out at the end of a stage. The
 * tasks of a member that ended early are done by the first.
 *
 * Others help only where all that was changed is memory: files are shared by
 * processes.
 */
#pragma once

#include "pollution/pollution_internal.h"

enum crew_stage { CREW_EFFECTS, CREW_READERS, CREW_STAGES };

struct crew_work {
	enum crew_stage stage;
	size_t n; /* tasks; those beyond CREW_TASKS_MAX are not done */
	/*
	 * Each two of them are one piece of work, both or none; the second can
	 * only be done by the first member.
	 */
	bool pairs;
	struct err *(*run)(void *data, size_t task);
	bool (*enough)(void *data); /* no more is to be taken */
	void *data;
};

#define CREW_TASKS_MAX ((size_t)256)

/* The search and @order outlive it. Others are started where they help. */
struct err *crew_create(struct pollution_search *search, const size_t *order,
			size_t n, struct crew **ret) _must_check_;
void crew_destroy(struct crew *crew); /* ends the others; NULL is fine */
/* How many are in it. */
size_t crew_size(const struct crew *crew);
/* Parts in which the effects are found out: as many as are of use. */
size_t crew_effect_parts(const struct crew *crew);
/*
 * Takes tasks until there are none. In the first member all of them are done
 * then, and the search knows what the others found out.
 */
struct err *crew_run(struct crew *crew, const struct crew_work *work,
		     size_t *ret_done) _must_check_;
/* The first member tells the others what is known of effects by now. */
void crew_share(struct crew *crew);
