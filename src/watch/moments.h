/*
 * What a test is the first to use, as it was when it was ready: before that it
 * is being made, after that the test leaves something in it.
 *
 * A C++ static is ready when its guard is released. What is made once, by
 * pthread_once() or std::call_once(), is ready when the function returns that
 * makes it: all variables that this function wrote.
 *
 * A moment is a fork (image/moment.h), and lives until the next point.
 */
#pragma once

#include "base/map.h"
#include "image/moment.h"
#include "state/state.h"
#include "suite/change.h"

struct memory_watch;

struct moment {
	size_t root;	 /* MOMENT_ANY: what was written since @begun */
	uint64_t number; /* for moments_made() */
	struct image_moment *begun; /* NULL: @root is known */
	struct image_moment *ready; /* NULL: not yet */
};
#define MOMENT_ANY ((size_t)-1)

struct moments {
	VEC(struct moment) all;
	uint64_t made;	      /* numbers given so far */
	struct state *state;  /* of one root at a time; NULL: not yet needed */
	struct map_u64 roots; /* guard → root plus 1; of the roots as loaded */
	bool failed;	      /* there can be none in this process */
	struct state_differences differences;
	VEC(struct state_page) pages;
};

/* Another process is watched from now on. */
void moments_start(struct moments *moments);
/* The roots are other ones from now on. */
void moments_forget_roots(struct moments *moments);
/* A new point: they are over. */
void moments_clear(struct moments *moments);
void moments_free(struct moments *moments);

/* @thread is about to release this guard. */
struct err *moments_guard(struct memory_watch *watch, struct thread *thread,
			  uint64_t guard) _must_check_;
/*
 * @thread is about to make something that is made once; *@ret (0: it is of no
 * interest) is for moments_made().
 */
struct err *moments_make(struct memory_watch *watch, struct thread *thread,
			 uint64_t *ret) _must_check_;
struct err *moments_made(struct memory_watch *watch, struct thread *thread,
			 uint64_t number) _must_check_;
/*
 * At the end of the test: changes of what was made since are replaced by what
 * was done to it afterwards. If that is nothing, it is used for the first time.
 */
struct err *moments_judge(struct memory_watch *watch,
			  struct changes *changes) _must_check_;
