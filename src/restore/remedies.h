/*
 * Roots that tests left changed, and how each is restored: memory (undo.h),
 * process state (attributes/put_back.h) and kept files (keep/save.h).
 *
 * What is restored is written into a copy of the process, stopped where it was
 * examined. What runs that copy, and why, is not known here.
 */
#pragma once

#include "suite/change.h"
#include "tracee/tracee.h"

struct memory_watch;
struct program;
struct remedy;
struct saved;
struct saver;

struct remedies {
	struct changes roots; /* that can be restored */
	struct remedy *all;   /* one a root */
	bool *chosen;	      /* by path of the keeper; NULL: no files */
	/* Of freed blocks that are not restored, so many bytes are overwritten. */
	size_t overwrites;
};
void remedies_free(struct remedies *remedies);

/* Where to look for what was there before. */
struct remedy_source {
	const struct program *program;
	struct memory_watch
		*memory;	/* looked at @now twice; NULL: not at all */
	bool quarantined;	/* since the first look */
	struct tracee *before;	/* a copy from the first look; NULL: none */
	struct tracee *between; /* what differs from it is meant so; or NULL */
	struct tracee *now;
};

/*
 * From now on heap blocks that are there stay what they are, where the agent can
 * see to that (*@ret).
 */
struct err *remedies_quarantine(const struct program *program,
				struct tracee *tracee, bool *ret) _must_check_;
/* Takes those of @changes that can be restored. */
struct err *remedies_find(struct remedies *remedies,
			  const struct remedy_source *source,
			  struct changes *changes) _must_check_;
/* Files of @saver that differ from what they were at first. */
struct err *remedies_find_files(struct remedies *remedies,
				const struct saver *saver,
				const struct saved *now) _must_check_;
/*
 * Freed blocks are overwritten from now on: where the allocator does so itself,
 * the next time all of them.
 */
void remedies_overwrite_more(struct remedies *remedies);
/* Into a copy of the process; @put_back has an entry for each root. */
struct err *remedies_apply(const struct remedies *remedies,
			   const bool *put_back, const struct program *program,
			   struct tracee *copy) _must_check_;
struct err *remedies_put_back_files(const struct remedies *remedies,
				    const bool *put_back, struct saver *saver,
				    const struct saved *now) _must_check_;
