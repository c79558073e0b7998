#include "files/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file_state.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/path.h"
#include "base/vec.h"

/* More names than that are not remembered. */
#define INPUTS_MAX ((size_t)200000)
#define CHUNK ((size_t)256 << 10)

/* What was asked for, as bits. */
enum asked {
	ASKED_CONTENT = 1 << 0,
	ASKED_TIMES = 1 << 1,
	ASKED_NAMES = 1 << 2,
	ASKED_TO_CHANGE = 1 << 3,
};

struct input {
	char *name;
	uint8_t asked;
};

struct inputs {
	pthread_mutex_t lock;
	struct map_text numbers; /* by name, in all */
	VEC(struct input) all;
	char *own;
	atomic_bool begun, lost;
};

struct err *inputs_create(const char *own, struct inputs **ret)
{
	struct inputs *inputs = calloc(1, sizeof(*inputs));
	if (!inputs)
		return err_nomem();
	pthread_mutex_init(&inputs->lock, NULL);
	struct err *err = str_copy(own, &inputs->own);
	if (err) {
		inputs_destroy(inputs);
		return err;
	}
	*ret = inputs;
	return NULL;
}

void inputs_destroy(struct inputs *inputs)
{
	if (!inputs)
		return;
	for (size_t i = 0; i < inputs->all.n; i++)
		free(inputs->all.data[i].name);
	vec_free(&inputs->all);
	map_text_free(&inputs->numbers);
	free(inputs->own);
	pthread_mutex_destroy(&inputs->lock);
	free(inputs);
}

void inputs_lose(struct inputs *inputs)
{
	atomic_store(&inputs->lost, true);
}

void inputs_begin(struct inputs *inputs)
{
	atomic_store(&inputs->begun, true);
}

/* ---- which names ---- */

static bool input_is_pseudo(const char *name)
{
	static const char *const folders[] = { "/proc", "/sys", "/dev" };
	if (path_is_below(name, "/dev/shm"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (!strcmp(name, folders[i]) ||
		    path_is_below(name, folders[i]))
			return true;
	}
	return false;
}

static bool input_is_own(const char *own, const char *name)
{
	return !strcmp(name, own) || path_is_below(name, own);
}

static struct err *add_input(struct inputs *inputs, const char *name,
			     uint8_t asked)
{
	uint64_t number;
	if (map_text_get(&inputs->numbers, name, &number)) {
		inputs->all.data[number].asked |= asked;
		return NULL;
	}
	if (inputs->all.n >= INPUTS_MAX)
		return err_create(ERR_SUITE, "too many names");
	struct input input = { .name = strdup(name), .asked = asked };
	if (!input.name)
		return err_nomem();
	struct err *err = vec_push(&inputs->all, input);
	if (err) {
		free(input.name);
		return err;
	}
	return map_text_put(&inputs->numbers, name, inputs->all.n - 1);
}

static void note_input(struct inputs *inputs, const char *name, uint8_t asked)
{
	if (input_is_pseudo(name) || input_is_own(inputs->own, name))
		return;
	pthread_mutex_lock(&inputs->lock);
	struct err *err = add_input(inputs, name, asked);
	pthread_mutex_unlock(&inputs->lock);
	if (!err)
		return;
	err_ignore(err);
	inputs_lose(inputs);
}

static uint8_t asked_by(const struct follow_event *event)
{
	if (event->kind == FOLLOW_LIST)
		return ASKED_NAMES;
	if (event->kind < FOLLOW_READ)
		return ASKED_CONTENT | ASKED_TO_CHANGE;
	if (event->kind == FOLLOW_READ)
		return ASKED_CONTENT;
	switch (event->number) {
	case SYS_stat:
	case SYS_lstat:
	case SYS_newfstatat:
	case SYS_statx:
		return ASKED_TIMES;
	default:
		return 0;
	}
}

void inputs_sink(void *data, const struct follow_event *event)
{
	struct inputs *inputs = data;
	if (event && event->kind > FOLLOW_LIST)
		return;
	const char *name = !event	  ? NULL
			   : event->given ? event->given
					  : event->path;
	if (!name) {
		log_debug(LOG_FILES, "inputs: a name is not known");
		inputs_lose(inputs);
		return;
	}
	const char *name2 = event->given2 ? event->given2 : event->path2;
	note_input(inputs, name, asked_by(event));
	if (name2)
		note_input(inputs, name2, asked_by(event));
}

/* ---- their states ---- */

static void input_hash_content(XXH3_state_t *state, int fd)
{
	char *chunk = malloc(CHUNK);
	ssize_t n = -1;
	while (chunk && ((n = read(fd, chunk, CHUNK)) > 0 ||
			 (n < 0 && errno == EINTR))) {
		if (n > 0)
			XXH3_64bits_update(state, chunk, (size_t)n);
	}
	int end = n < 0 ? errno : 0;
	XXH3_64bits_update(state, &end, sizeof(end));
	free(chunk);
}

/* Not every file system tells it. */
static unsigned char input_entry_type(DIR *folder, const struct dirent *entry)
{
	struct stat status;
	if (entry->d_type != DT_UNKNOWN ||
	    fstatat(dirfd(folder), entry->d_name, &status,
		    AT_SYMLINK_NOFOLLOW) < 0)
		return entry->d_type;
	return (unsigned char)IFTODT(status.st_mode);
}

/* In any order: a folder is read as it comes. */
static void input_hash_names(XXH3_state_t *state, const char *own, int fd)
{
	DIR *folder = fdopendir(fd);
	uint64_t sum = 0;
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		if (!strcmp(entry->d_name, path_base(own)))
			continue;
		sum += XXH3_64bits_withSeed(entry->d_name,
					    strlen(entry->d_name),
					    input_entry_type(folder, entry));
	}
	XXH3_64bits_update(state, &sum, sizeof(sum));
	if (folder)
		closedir(folder);
	else
		close(fd);
}

static void input_hash_status(XXH3_state_t *state, const struct stat *status,
			      uint8_t asked)
{
	const uint64_t always[] = { status->st_mode, status->st_uid,
				    status->st_gid, status->st_rdev };
	XXH3_64bits_update(state, always, sizeof(always));
	if (!(asked & ASKED_TIMES) || !S_ISREG(status->st_mode))
		return;
	const int64_t times[] = { status->st_size, status->st_mtim.tv_sec,
				  status->st_mtim.tv_nsec };
	XXH3_64bits_update(state, times, sizeof(times));
}

static uint64_t input_state(const char *own, const char *name, uint8_t asked)
{
	XXH3_state_t state;
	struct stat status;
	char target[PATH_MAX];
	XXH3_64bits_reset(&state);
	ssize_t n = readlink(name, target, sizeof(target));
	if (n > 0)
		XXH3_64bits_update(&state, target, (size_t)n);
	int missing = stat(name, &status) < 0 ? errno : 0;
	XXH3_64bits_update(&state, &missing, sizeof(missing));
	if (!missing)
		input_hash_status(&state, &status, asked);
	bool file = !missing && S_ISREG(status.st_mode);
	bool folder = !missing && S_ISDIR(status.st_mode);
	if ((file && asked & ASKED_CONTENT) ||
	    (folder && asked & ASKED_NAMES)) {
		int fd = open(name,
			      O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		int error = fd < 0 ? errno : 0;
		XXH3_64bits_update(&state, &error, sizeof(error));
		if (fd >= 0 && folder) {
			input_hash_names(&state, own, fd);
		} else if (fd >= 0) {
			input_hash_content(&state, fd);
			close(fd);
		}
	}
	return XXH3_64bits_digest(&state);
}

/* Somebody else changed what was only read, after the first test had read it. */
static bool is_younger(const struct input *input, int64_t began)
{
	struct stat status;
	return input->asked & ASKED_CONTENT &&
	       !(input->asked & ASKED_TO_CHANGE) &&
	       !stat(input->name, &status) && S_ISREG(status.st_mode) &&
	       file_time_ns(status.st_ctim) > began;
}

/* ---- as text: for each what was asked for, its state, its name and a NUL ---- */

#define FIRST "inputs" /* so that it is not empty */

struct err *inputs_pack(const struct inputs *inputs, int64_t began,
			struct str *ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	if (!atomic_load(&inputs->begun) || atomic_load(&inputs->lost))
		return NULL;
	TRY(str_append_n(&text, FIRST, sizeof(FIRST)));
	for (size_t i = 0; i < inputs->all.n; i++) {
		const struct input *input = &inputs->all.data[i];
		if (is_younger(input, began)) {
			log_debug(LOG_FILES, "'%s' changed while tests ran",
				  input->name);
			return NULL;
		}
		uint64_t state =
			input_state(inputs->own, input->name, input->asked);
		TRY(str_append_n(&text, (const char *)&input->asked, 1));
		TRY(str_append_n(&text, (const char *)&state, sizeof(state)));
		TRY(str_append_n(&text, input->name, strlen(input->name) + 1));
	}
	*ret = text;
	text = (struct str)STR_INIT;
	return NULL;
}

struct packed_input {
	uint8_t asked;
	uint64_t state;
	const char *name;
};

/* @at moves on; false: there is none. */
static bool next_packed(const char *text, size_t n, size_t *at,
			struct packed_input *ret)
{
	size_t name = *at + 1 + sizeof(ret->state);
	const char *end = name < n ? memchr(text + name, '\0', n - name) : NULL;
	if (!end)
		return false;
	ret->asked = (uint8_t)text[*at];
	memcpy(&ret->state, text + *at + 1, sizeof(ret->state));
	ret->name = text + name;
	*at = (size_t)(end - text) + 1;
	return true;
}

static bool is_packed(const char *text, size_t n)
{
	return n >= sizeof(FIRST) && !memcmp(text, FIRST, sizeof(FIRST));
}

struct err *inputs_add(struct inputs *inputs, const char *text, size_t n)
{
	struct packed_input input;
	size_t at = sizeof(FIRST);
	while (is_packed(text, n) && next_packed(text, n, &at, &input))
		TRY(add_input(inputs, input.name, input.asked));
	return NULL;
}

bool inputs_hold(const char *own, const char *text, size_t n)
{
	struct packed_input input;
	size_t at = sizeof(FIRST);
	if (!is_packed(text, n))
		return false;
	while (next_packed(text, n, &at, &input)) {
		if (input_state(own, input.name, input.asked) == input.state)
			continue;
		log_debug(LOG_FILES, "'%s' is not as it was", input.name);
		return false;
	}
	return at == n;
}
