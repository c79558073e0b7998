#include "pollution/crew.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "base/stream.h"

/* Others: more than that have nothing to do. */
#define OTHERS_MAX 15
/* Less work than that is done before another process has started. */
#define WORTH_NS (200 * NS_PER_MS)
/* For tests: others help with any work, and so many of them. */
#define CREW_VARIABLE "POLYGRAPH_FAULT_CREW"
/* For texts of a member; what is longer is not believed. */
#define TEXT_MAX ((size_t)1 << 20)

/* Shared by all members. */
struct crew_board {
	/* Which member took the task, plus 1; 0: none yet. */
	atomic_uchar owner[CREW_STAGES][CREW_TASKS_MAX];
};

#define NOBODY UCHAR_MAX /* it is not to be taken any more */

struct crew {
	struct pollution_search *search;
	const size_t *order;
	size_t n;
	size_t parts;
	struct crew_board *board;
	size_t size; /* as it was planned */
	size_t self; /* this member: 0 is the first */
	int fd;	     /* of another one than the first, to that */
	struct suite_beside *others[OTHERS_MAX]; /* NULL: ended */
	unsigned unheard[OTHERS_MAX]; /* what they said, or will say */
	size_t n_others;
};

/* What a member knows of a leftover; readers follow. */
struct crew_word {
	uint8_t effect, varies, readers_known, read_plainly, met;
	uint32_t again;
	uint64_t again_places;
	uint64_t came_back;
	uint64_t readers;
};

/* ---- what members tell each other ---- */

static struct err *append_text(struct str *str, const char *text)
{
	size_t n = strlen(text);
	TRY(str_append_n(str, (const char *)&n, sizeof(n)));
	return str_append_n(str, text, n);
}

static struct err *append_leftover(const struct pollution_search *search,
				   size_t i, struct str *str)
{
	const struct leftover *leftover = &search->leftovers.data[i];
	const struct change *change = &leftover->change;
	const struct crew_word word = {
		.effect = (uint8_t)leftover->effect,
		.varies = leftover->varies,
		.readers_known = leftover->readers_known,
		.read_plainly = leftover->read_plainly,
		.met = search->met && search->met[i] && search->compared,
		.again = leftover->again,
		.again_places = leftover->again_places,
		.came_back = leftover->came_back,
		.readers = leftover->readers.n,
	};
	TRY(str_append_n(str, (const char *)&word, sizeof(word)));
	TRY(str_append_n(str, (const char *)leftover->readers.data,
			 leftover->readers.n * sizeof(size_t)));
	for (size_t k = 0; word.met && k < change->n; k++) {
		TRY(append_text(str, change->paths[k].before));
		TRY(append_text(str, change->paths[k].after));
	}
	return NULL;
}

/* To the first member: all that this one knows. */
static struct err *crew_tell(const struct crew *crew)
{
	const struct pollution_search *search = crew->search;
	_cleanup_(str_freep) struct str str = STR_INIT;
	uint8_t compared = search->compared;
	TRY(str_append_n(&str, (const char *)&compared, sizeof(compared)));
	TRY(str_append_n(&str, (const char *)search->unsteady,
			 suite_count(search->suite)));
	for (size_t i = 0; i < search->leftovers.n; i++)
		TRY(append_leftover(search, i, &str));
	return stream_write(crew->fd, str.s, str.n)
		       ? NULL
		       : err_create(ERR_INTERNAL, "the first is gone");
}

static struct err *crew_lost(void)
{
	return err_create(ERR_INTERNAL, "a process beside this one is gone");
}

static struct err *crew_read_text(int fd, char **text)
{
	size_t n;
	if (!stream_read(fd, &n, sizeof(n)) || n > TEXT_MAX)
		return crew_lost();
	char *read = calloc(n + 1, 1);
	if (!read)
		return err_nomem();
	if (!stream_read(fd, read, n)) {
		free(read);
		return crew_lost();
	}
	free(*text);
	*text = read;
	return NULL;
}

static struct err *read_readers(const struct pollution_search *search, int fd,
				struct leftover *leftover, size_t n)
{
	size_t tests = suite_count(search->suite);
	for (size_t i = 0; i < n; i++) {
		size_t test;
		if (!stream_read(fd, &test, sizeof(test)) || test >= tests)
			return crew_lost();
		TRY(leftover_add_reader(leftover, test, true));
	}
	return NULL;
}

static struct err *read_leftover(struct pollution_search *search, int fd,
				 size_t i)
{
	struct leftover *leftover = &search->leftovers.data[i];
	struct change *change = &leftover->change;
	struct crew_word word;
	if (!stream_read(fd, &word, sizeof(word)) ||
	    word.effect > EFFECT_ACCUMULATES)
		return crew_lost();
	if (leftover->effect == EFFECT_UNKNOWN)
		leftover->effect = (enum leftover_effect)word.effect;
	leftover->varies |= word.varies;
	leftover->again |= word.again;
	leftover->again_places =
		MAX(leftover->again_places, (size_t)word.again_places);
	leftover->came_back |= word.came_back != 0;
	leftover->readers_known |= word.readers_known;
	leftover->read_plainly |= word.read_plainly;
	if (search->met)
		search->met[i] |= word.met != 0;
	TRY(read_readers(search, fd, leftover, word.readers));
	for (size_t k = 0; word.met && k < change->n; k++) {
		TRY(crew_read_text(fd, &change->paths[k].before));
		TRY(crew_read_text(fd, &change->paths[k].after));
	}
	return NULL;
}

static struct err *crew_listen(const struct crew *crew, int fd)
{
	struct pollution_search *search = crew->search;
	uint8_t compared;
	if (!stream_read(fd, &compared, sizeof(compared)))
		return crew_lost();
	for (size_t i = 0; i < suite_count(search->suite); i++) {
		uint8_t unsteady;
		if (!stream_read(fd, &unsteady, sizeof(unsteady)))
			return crew_lost();
		search->unsteady[i] |= unsteady;
	}
	for (size_t i = 0; i < search->leftovers.n; i++)
		TRY(read_leftover(search, fd, i));
	search->compared |= compared;
	return NULL;
}

/* ---- the others ---- */

static struct err *crew_hear_effects(const struct crew *crew)
{
	struct pollution_search *search = crew->search;
	uint8_t compares;
	if (!stream_read(crew->fd, &compares, sizeof(compares)))
		return crew_lost();
	for (size_t i = 0; i < search->leftovers.n; i++) {
		uint8_t word[2];
		struct leftover *leftover = &search->leftovers.data[i];
		if (!stream_read(crew->fd, word, sizeof(word)))
			return crew_lost();
		leftover->effect = (enum leftover_effect)word[0];
		leftover->varies = word[1];
	}
	return compares ? search_values_begin(search) : NULL;
}

static struct err *crew_help(void *data, struct suite *suite, int fd)
{
	static const struct suite_observer nobody;
	struct crew *crew = data;
	struct pollution_search *search = crew->search;
	crew->fd = fd;
	search->suite = suite;
	search->outer = &nobody;
	if (search->options->effect) {
		TRY(suite_watch(suite, &search->memory));
		TRY(search_effects(search));
	}
	if (!search->options->readers)
		return NULL;
	TRY(crew_hear_effects(crew));
	return search_readers(search, crew->order, crew->n);
}

void crew_share(struct crew *crew)
{
	const struct pollution_search *search = crew->search;
	_cleanup_(str_freep) struct str str = STR_INIT;
	uint8_t compares = search->met != NULL;
	struct err *err =
		str_append_n(&str, (const char *)&compares, sizeof(compares));
	for (size_t i = 0; !err && i < search->leftovers.n; i++) {
		const struct leftover *leftover = &search->leftovers.data[i];
		char word[2] = { (char)leftover->effect, leftover->varies };
		err = str_append_n(&str, word, sizeof(word));
	}
	for (size_t i = 0; !err && i < crew->n_others; i++) {
		if (crew->others[i])
			stream_write(suite_beside_socket(search->suite,
							 crew->others[i]),
				     str.s, str.n);
	}
	err_ignore(err); /* they wait until they are ended */
}

/* ---- the crew ---- */

static bool is_all_memory(const struct pollution_search *search)
{
	for (size_t i = 0; i < search->leftovers.n; i++) {
		if (search->leftovers.data[i].change.where != CHANGE_MEMORY)
			return false;
	}
	return true;
}

/* How many others have something to do, where readers need so many runs. */
static size_t count_useful(const struct pollution_search *search, size_t runs,
			   uint64_t effects_ns)
{
	const char *asked = getenv(CREW_VARIABLE);
	const struct pollution_options *options = search->options;
	size_t at_once = suite_places_max(search->suite);
	size_t jobs = suite_jobs(search->suite), useful = 0;
	/* Others are not initialised before their first test. */
	if (!is_all_memory(search) || options->eager || jobs < 2)
		return 0;
	if (options->effect)
		useful = (size_t)(effects_ns / WORTH_NS);
	if (options->readers && at_once && search->first_ns >= WORTH_NS)
		useful = MAX(useful,
			     MAX(runs, (size_t)1) - 1 + !!search->middle);
	if (asked)
		return MIN((size_t)strtoul(asked, NULL, 10),
			   (size_t)OTHERS_MAX);
	return MIN(MIN(useful, (size_t)OTHERS_MAX), jobs - 1);
}

static struct err *start_others(struct crew *crew, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct suite_beside *beside = NULL;
		crew->self = i + 1; /* in that process */
		struct err *err = suite_beside_start(crew->search->suite,
						     crew_help, crew, &beside);
		crew->self = 0;
		TRY(err);
		if (!beside)
			break;
		crew->others[crew->n_others++] = beside;
	}
	if (crew->n_others)
		log_debug(LOG_POLLUTION, "%zu processes share the runs",
			  crew->n_others + 1);
	return NULL;
}

struct err *crew_create(struct pollution_search *search, const size_t *order,
			size_t n, struct crew **ret)
{
	struct crew *crew = calloc(1, sizeof(*crew));
	if (!crew)
		return err_nomem();
	crew->search = search;
	crew->order = order;
	crew->n = n;
	void *board = mmap(NULL, sizeof(*crew->board), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED) {
		free(crew);
		return err_errno(errno, "cannot share memory");
	}
	crew->board = board;
	uint64_t effects_ns = search_effects_ns(search);
	size_t others = count_useful(
		search, search_reader_runs(search, order, n), effects_ns);
	crew->size = others + 1;
	bool divided = effects_ns >= WORTH_NS || getenv(CREW_VARIABLE);
	crew->parts = divided ? others + 1 : 1;
	*ret = crew;
	return start_others(crew, others);
}

void crew_destroy(struct crew *crew)
{
	if (!crew)
		return;
	for (size_t i = 0; i < crew->n_others; i++)
		suite_beside_end(crew->search->suite, crew->others[i]);
	munmap(crew->board, sizeof(*crew->board));
	free(crew);
}

size_t crew_size(const struct crew *crew)
{
	return crew->size;
}

size_t crew_effect_parts(const struct crew *crew)
{
	return crew->parts;
}

/* ---- work ---- */

static size_t count_tasks(const struct crew_work *work)
{
	return MIN(work->n, CREW_TASKS_MAX);
}

static bool take_this(struct crew *crew, const struct crew_work *work,
		      size_t task, unsigned char owner)
{
	unsigned char none = 0;
	return atomic_compare_exchange_strong(
		&crew->board->owner[work->stage][task], &none, owner);
}

/* Of pairs, the first member begins with what only it can do. */
static bool take_task(struct crew *crew, const struct crew_work *work,
		      size_t *ret)
{
	unsigned char owner = (unsigned char)(crew->self + 1);
	size_t step = work->pairs ? 2 : 1;
	for (size_t at = step; at-- > 0;) {
		if (at && crew->self)
			continue;
		for (size_t i = at; i < count_tasks(work); i += step) {
			if (!take_this(crew, work, i, owner))
				continue;
			*ret = i;
			return true;
		}
	}
	return false;
}

/*
 * No task is taken any more, but for the other halves of what was begun, which
 * the first member takes now; false: there is none.
 */
static bool take_half(struct crew *crew, const struct crew_work *work,
		      size_t *ret)
{
	const atomic_uchar *owner = crew->board->owner[work->stage];
	for (size_t i = 0; work->pairs && i < count_tasks(work); i++) {
		size_t other = i ^ 1;
		if (other >= count_tasks(work) || owner[other] == 0 ||
		    owner[other] == NOBODY || owner[i] != NOBODY)
			continue;
		crew->board->owner[work->stage][i] = 1;
		*ret = i;
		return true;
	}
	return false;
}

static size_t close_stage(struct crew *crew, const struct crew_work *work)
{
	size_t taken = 0;
	for (size_t i = 0; i < count_tasks(work); i++)
		taken += !take_this(crew, work, i, NOBODY);
	return taken;
}

static bool has_task(const struct crew *crew, const struct crew_work *work,
		     size_t member)
{
	for (size_t i = 0; i < count_tasks(work); i++) {
		if (crew->board->owner[work->stage][i] == member + 1)
			return true;
	}
	return false;
}

/* Waits for what another one has to say. */
static struct err *crew_hear(struct crew *crew, size_t other)
{
	int fd = suite_beside_socket(crew->search->suite, crew->others[other]);
	for (; crew->unheard[other]; crew->unheard[other]--)
		TRY(crew_listen(crew, fd));
	return NULL;
}

/* What the others found out, or what they were to. */
static struct err *crew_gather(struct crew *crew, const struct crew_work *work)
{
	for (size_t i = 0; i < crew->n_others; i++) {
		crew->unheard[i]++;
		if (!crew->others[i] || !has_task(crew, work, i + 1))
			continue;
		struct err *err = crew_hear(crew, i);
		if (!err)
			continue;
		log_debug(LOG_POLLUTION, "%s", err_message(err));
		err_ignore(err);
		suite_beside_end(crew->search->suite,
				 take_ptr(crew->others[i]));
		for (size_t task = 0; task < count_tasks(work); task++) {
			if (crew->board->owner[work->stage][task] == i + 2)
				TRY(work->run(work->data, task));
		}
	}
	return NULL;
}

struct err *crew_run(struct crew *crew, const struct crew_work *work,
		     size_t *ret_done)
{
	size_t task;
	while (!(work->enough && work->enough(work->data)) &&
	       take_task(crew, work, &task))
		TRY(work->run(work->data, task));
	if (crew->self)
		return crew_tell(crew);
	size_t done = close_stage(crew, work);
	for (; take_half(crew, work, &task); done++)
		TRY(work->run(work->data, task));
	*ret_done = done;
	return crew_gather(crew, work);
}
