/* Which tests there are: one VM is asked, and ends. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupted.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/map.h"
#include "jvm/jvm_suite.h"
#include "jvm/kinds.h"
#include "process/capture.h"
#include "suite/declare.h"

/* Whatever initialisers of classes and methods that give parameters do. */
#define LIST_NS (300 * NS_PER_S)
#define LISTED_MAX ((size_t)1 << 22)
/* Bytes: all of it is kept. */
#define LISTED_BYTES ((uint64_t)1 << 30)

struct jvm_listing {
	struct jvm_suite *suite;
	struct jvm_vm *vm;
	struct capture capture; /* what it prints, for where it fails */
	struct map_text tests;	/* id to number */
	struct map_text groups;
	/* Of each test the ids of others: to be found when all are known. */
	VEC(struct strv) after, needs;
	struct strv frameworks;
	uint64_t bytes; /* of messages */
	bool asked, listed;
};

static void jvm_listing_free(struct jvm_listing *listing)
{
	jvm_vm_destroy(listing->vm);
	capture_free(&listing->capture);
	map_text_free(&listing->tests);
	map_text_free(&listing->groups);
	for (size_t i = 0; i < listing->after.n; i++)
		strv_free(&listing->after.data[i]);
	for (size_t i = 0; i < listing->needs.n; i++)
		strv_free(&listing->needs.data[i]);
	vec_free(&listing->after);
	vec_free(&listing->needs);
	strv_free(&listing->frameworks);
}

static struct err *jvm_listing_is_broken(void)
{
	return err_create(ERR_SUITE, "the list of tests that the Java VM sent "
				     "is broken");
}

/* ---- one test ---- */

/* The innermost of them. */
static struct err *jvm_listing_group(struct jvm_listing *listing,
				     const struct strv *names, size_t *ret)
{
	size_t group = SUITE_NO_GROUP;
	for (size_t i = 0; i < names->n; i++) {
		uint64_t known;
		if (map_text_get(&listing->groups, names->data[i], &known)) {
			group = known;
			continue;
		}
		TRY(declare_group(&listing->suite->suite, group, &group));
		TRY(map_text_put(&listing->groups, names->data[i], group));
	}
	*ret = group;
	return NULL;
}

/* "JUnit4\t…": which framework it is of. */
static struct err *jvm_listing_note_framework(struct jvm_listing *listing,
					      const char *id)
{
	size_t n = strcspn(id, "\t");
	for (size_t i = 0; i < listing->frameworks.n; i++) {
		if (!strncmp(listing->frameworks.data[i], id, n) &&
		    !listing->frameworks.data[i][n])
			return NULL;
	}
	return strv_addf(&listing->frameworks, "%.*s", (int)n, id);
}

static struct err *jvm_listing_add(struct jvm_listing *listing,
				   struct message_reader *reader)
{
	struct jvm_suite *suite = listing->suite;
	_cleanup_(freep) char *id = NULL, *name = NULL, *file = NULL;
	_cleanup_(strv_freep) struct strv groups = {}, after = {}, needs = {};
	TRY(message_text(reader, &id));
	TRY(message_text(reader, &name));
	TRY(message_text(reader, &file));
	uint32_t line = message_number(reader);
	uint32_t disabled = message_number(reader);
	TRY(message_texts(reader, &groups));
	TRY(message_texts(reader, &after));
	TRY(message_texts(reader, &needs));
	if (reader->broken || !id || !name ||
	    suite->suite.tests.n >= LISTED_MAX)
		return jvm_listing_is_broken();
	size_t test = suite->suite.tests.n, group;
	TRY(jvm_listing_note_framework(listing, id));
	TRY(map_text_put(&listing->tests, id, test));
	TRY(suite_add_test(&suite->suite, name, file, line, disabled != 0));
	TRY(strv_take(&suite->ids, take_ptr(id)));
	TRY(jvm_listing_group(listing, &groups, &group));
	suite->suite.tests.data[test].group = group;
	TRY(vec_push(&listing->after, after));
	after = (struct strv){};
	TRY(vec_push(&listing->needs, needs));
	needs = (struct strv){};
	return NULL;
}

static struct err *jvm_listing_relate(struct jvm_listing *listing)
{
	struct suite *suite = &listing->suite->suite;
	for (size_t i = 0; i < suite->tests.n; i++) {
		const struct strv *after = &listing->after.data[i];
		const struct strv *needs = &listing->needs.data[i];
		uint64_t other;
		for (size_t j = 0; j < after->n; j++) {
			if (map_text_get(&listing->tests, after->data[j],
					 &other))
				TRY(declare_after(suite, i, other));
		}
		for (size_t j = 0; j < needs->n; j++) {
			if (map_text_get(&listing->tests, needs->data[j],
					 &other))
				TRY(declare_needs(suite, i, other));
		}
	}
	return NULL;
}

/* ---- the conversation ---- */

static struct err *jvm_listing_ask(struct jvm_listing *listing)
{
	_cleanup_(str_freep) struct str message = STR_INIT;
	const char *framework = listing->suite->suite.options.framework;
	TRY(jvm_suite_add_folders(listing->suite, &message));
	TRY(message_add_text(&message,
			     framework && strcmp(framework, "auto") != 0
				     ? framework
				     : NULL));
	return jvm_vm_send(listing->vm, WIRE_VM_LIST, &message);
}

static struct err *jvm_listing_take(struct jvm_listing *listing, uint16_t kind,
				    struct message_reader *reader)
{
	_cleanup_(freep) char *text = NULL;
	switch (kind) {
	case WIRE_VM_HELLO:
		if (listing->asked)
			return jvm_listing_is_broken();
		listing->asked = true;
		TRY(jvm_vm_hello(listing->vm, reader));
		return jvm_listing_ask(listing);
	case WIRE_VM_TEST:
		return jvm_listing_add(listing, reader);
	case WIRE_VM_SAYS:
		TRY(message_text(reader, &text));
		log_warn("%s", text ? text : "");
		return NULL;
	case WIRE_VM_LISTED:
		listing->listed = true;
		return NULL;
	default:
		return NULL;
	}
}

static struct err *jvm_listing_read_output(struct jvm_listing *listing)
{
	char buffer[1 << 14];
	ssize_t got = read(listing->vm->process.out, buffer, sizeof(buffer));
	if (got > 0)
		return capture_add(&listing->capture, buffer, (size_t)got);
	if (got == 0 || (errno != EAGAIN && errno != EINTR))
		listing->vm->out_open = false;
	return NULL;
}

static struct err *jvm_listing_ended(const struct jvm_listing *listing)
{
	_cleanup_(freep) char *text = NULL;
	size_t n;
	uint64_t dropped;
	TRY(capture_text(&listing->capture, &text, &n, &dropped));
	char *line = text;
	line[strcspn(line, "\n")] = '\0';
	_cleanup_(freep) char *shown = str_escape(line);
	if (!shown)
		return err_nomem();
	return err_hint(err_create(ERR_SUITE,
				   "the Java VM ended before it had listed the "
				   "tests%s%s",
				   *shown ? ": " : "", shown),
			"polygraph needs Java 17 or later: give the folder of "
			"a JDK with --java; words after -- go to the VM");
}

static struct err *jvm_listing_turn(struct jvm_listing *listing)
{
	struct jvm_vm *vm = listing->vm;
	struct pollfd fds[] = {
		{ .fd = vm->channel, .events = POLLIN },
		{ .fd = vm->out_open ? vm->process.out : -1, .events = POLLIN },
		{ .fd = vm->process.pidfd, .events = POLLIN },
	};
	if (poll(fds, ARRAY_SIZE(fds), 100) < 0 && errno != EINTR)
		return err_errno(errno, "cannot wait for the Java VM");
	if (fds[1].revents)
		TRY(jvm_listing_read_output(listing));
	TRY(jvm_vm_fill(vm));
	for (bool any = true; any && !listing->listed;) {
		struct wire_vm_head head;
		struct message_reader reader;
		TRY(jvm_vm_next(vm, &head, &reader, &any));
		if (!any)
			break;
		listing->bytes += head.size;
		if (listing->bytes > LISTED_BYTES)
			return jvm_listing_is_broken();
		TRY(jvm_listing_take(listing, head.kind, &reader));
	}
	if (!listing->listed && !fds[0].revents && process_ended(&vm->process))
		return jvm_listing_ended(listing);
	if (!listing->listed && fds[0].revents & POLLHUP &&
	    process_ended(&vm->process))
		return jvm_listing_ended(listing);
	return NULL;
}

static const char *framework_word(const struct strv *frameworks)
{
	for (size_t i = 0; frameworks->n == 1 && java_framework_name(i); i++) {
		if (!strcasecmp(java_framework_name(i), frameworks->data[0]))
			return java_framework_name(i);
	}
	return "java";
}

struct err *jvm_suite_list(struct jvm_suite *suite)
{
	_cleanup_(jvm_listing_free) struct jvm_listing listing = {
		.suite = suite,
	};
	uint64_t began = clock_now();
	capture_init(&listing.capture, CAPTURE_KEEP);
	TRY(jvm_suite_start_vm(suite, &listing.vm));
	while (!listing.listed) {
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		if (clock_now() - began > LIST_NS)
			return err_create(ERR_SUITE,
					  "the Java VM has not listed its "
					  "tests within five minutes");
		TRY(jvm_listing_turn(&listing));
	}
	suite->suite.framework = framework_word(&listing.frameworks);
	log_debug(LOG_JVM, "%zu tests listed in %.0f ms", suite->suite.tests.n,
		  (double)(clock_now() - began) / (double)NS_PER_MS);
	return jvm_listing_relate(&listing);
}
