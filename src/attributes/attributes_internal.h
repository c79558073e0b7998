/*
 * Inside of process state; for attributes/ alone.
 *
 * A capture goes in two steps. Probes look at sources as cheaply as they can and
 * say which may have changed (a bit each: what was followed, memory, signals,
 * descriptors, …). Then the rows of the table that need one of these are read:
 * their items, as text, are compared with those of the last point.
 *
 * To add an attribute: see rows.h. All that comes from the tested process is
 * hostile: whatever is counted there is bounded here.
 */
#pragma once

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "attributes/attributes.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "wire/state.h"

/* Sources; the states of enum follow_state are the lower ones. */
enum source {
	SOURCE_ENVIRONMENT = 1 << 17,
	SOURCE_STDIO = 1 << 18,
	SOURCE_ZONE = 1 << 19,
	SOURCE_STREAMS = 1 << 20,
	SOURCE_RANDOM = 1 << 21,
	SOURCE_DRAND48 = 1 << 22,
	SOURCE_LOCALE = 1 << 23,
	SOURCE_EXITS = 1 << 24,
	SOURCE_HOOKS = 1 << 25,
	SOURCE_HANDLERS = 1 << 26,
	SOURCE_MEMORY = ((1 << 27) - 1) & ~((1 << 17) - 1),
	SOURCE_SIGNALS = 1 << 27,
	SOURCE_DESCRIPTORS = 1 << 28,
	SOURCE_FLOATS = 1 << 29,
	SOURCE_TASKS = 1 << 30,
	SOURCE_FILES = 1U << 31, /* libraries, folders of POSIX objects */
};
#define SOURCE_ALL 0xffffffffU
#define MEMORY_SHIFT 17
#define MEMORY_GROUPS 10
#define GROUP_HOOKS (25 - MEMORY_SHIFT)

#define ITEM_FIELDS 10
#define ITEMS_MAX 4096
#define CHANGES_MAX 64		/* of one attribute at one point, one by one */
#define TEXT_MAX 160		/* a value as it is shown */
#define MQUEUE_MAGIC 0x19800202 /* linux/magic.h has it since 6.0 */

/* One value of an attribute, or several named ones. */
struct item {
	char *key; /* NULL: the attribute has just this */
	/* Of what it is; 0 until items_finish(): that of the texts. */
	uint64_t digest;
	bool pristine; /* not used yet: a change of it is the first use */
	/* Of an object of the system. */
	uint32_t user;
	pid_t creator;		/* 0: not known */
	int64_t changed;	/* in seconds */
	uint64_t device, inode; /* of a POSIX one */
	bool queue;
	bool held; /* open or mapped in the process */
	struct {
		const char *name; /* NULL: the main one */
		char *text;
	} fields[ITEM_FIELDS];
	unsigned n;
};

struct items {
	VEC(struct item) list;
	size_t left_out;
	bool live;    /* may change without anything being noticed */
	bool unknown; /* could not be read: as it was */
	bool known;   /* was read at some point */
	bool silent;  /* what it is now is another row's doing */
};

void items_free(struct items *items);
static inline void items_freep(struct items *items)
{
	items_free(items);
}
/* The item lives until the next one is added; @key is copied. */
struct err *items_add(struct items *items, const char *key,
		      struct item **ret) _must_check_;
struct err *item_text(struct item *item, const char *field,
		      const char *text) _must_check_;
struct err *item_textf(struct item *item, const char *field, const char *fmt,
		       ...) _printf_(3, 4) _must_check_;
/* The one item of an attribute without keys. */
struct err *items_one(struct items *items, const char *text) _must_check_;
/* Sorts; of equal keys the later ones get a number, or go. */
struct err *items_finish(struct items *items, bool unique) _must_check_;
const struct item *items_find(const struct items *items, const char *key);
uint64_t items_digest(const struct items *items);
uint64_t digest_of(const void *bytes, size_t n, uint64_t seed);
/* @n bytes in quotes, cut where they are long. */
struct err *text_quoted(struct str *out, const char *bytes,
			size_t n) _must_check_;
/* Appends ", " where there is something before. */
struct err *text_comma(struct str *out, const char *word) _must_check_;

struct attribute;
struct ipc_owner;
/* @owner: of objects of the system, only what is its doing; NULL: all. */
struct err *items_compare(const struct attribute *row,
			  const struct ipc_owner *owner,
			  const struct items *before, const struct items *after,
			  struct changes *ret) _must_check_;

/* Places in memory that are read together at each point. */
struct attribute_span {
	uint64_t address;
	uint32_t n;
	uint32_t at; /* in the copy */
	unsigned group;
};
struct attribute_spans {
	VEC(struct attribute_span) list;
	VEC(uint8_t) last;
	VEC(uint8_t) now;
	uint32_t counts[MEMORY_GROUPS];
	unsigned always; /* groups with too many to watch */
	bool planned;
	VEC(struct memory_span) plan;
	size_t need;
};

struct descriptor {
	int number;
	bool seen;
	bool queue; /* a POSIX message queue */
	/* Its file below fdinfo, kept open; 0: not (yet). */
	int info;
	char raw[96]; /* what that said; "" where it is not enough */
	uint64_t device, inode;
	uint32_t type; /* S_IFMT */
	uint32_t mode; /* access and status flags, as of F_GETFL */
	uint64_t rdev;
	/* Of its file: inode numbers are used again at once. 0: not known. */
	uint64_t birth;
	bool unlinked;
	uint64_t thing; /* a digest of what it refers to */
	int64_t offset; /* -1: it has none */
	bool cloexec;
	char *path;   /* as the kernel shows it; NULL: not looked up */
	char *socket; /* "tcp 127.0.0.1:80"; NULL: none */
	char *port;   /* of one that is bound or listens; NULL: none */
	bool listening;
};

/* What is known of whose doing a change of the system's objects is. */
struct ipc_owner {
	pid_t pid; /* it, and what it started; 0: what we started */
	uint32_t user;
	bool followed;	       /* then these cover all that it did: */
	bool asked;	       /* System V and queues */
	bool all;	       /* more than we could note */
	int64_t last_time;     /* of the last point, in seconds */
	VEC(char *) names;     /* in the folder of shared memory */
	pthread_mutex_t mutex; /* for those of the next point: */
	VEC(char *) touched;
	bool touched_all;
};

struct child_name {
	pid_t pid;
	bool seen; /* this time */
	char name[64];
};

struct attributes {
	struct attributes_options options;
	int *own;
	atomic_uint dirty;

	/* The process that the files below belong to; 0: none yet. */
	pid_t pid;
	int pidfd;
	int proc; /* its folder */
	int descriptors_dir;
	int status;
	int shm, queues; /* folders of POSIX objects */
	unsigned infos;	 /* kept open */
	bool no_getfd;	 /* refused here */

	/* Of this capture; NULL: it is looked at from outside. */
	struct thread *thread;
	struct tracee *tracee;
	struct str status_text;
	bool has_status;

	/* As probed. */
	struct attribute_spans spans;
	VEC(struct descriptor) descriptors;
	bool many_descriptors;
	uint64_t pending[2], mask;
	/* Without the agent: what each signal does, as it was asked. */
	uint64_t caught, ignored;
	struct wire_signal actions[WIRE_SIGNALS];
	uint32_t float_control, float_status;
	uint32_t float_mxcsr;
	uint64_t tasks;	    /* digest of the list of threads */
	uint64_t libraries; /* likewise */
	uint64_t folders;
	bool has_agent;
	struct wire_state *wire; /* without reads */
	uint64_t stream_buffers[8];
	bool streams_known;
	struct ipc_owner ipc;
	/* Children by the names that they had when they were seen first. */
	VEC(struct child_name) children;
	VEC(struct attributes_file) files;
	/* Files that are written through memory; their paths are owned. */
	VEC(struct attributes_file) mapped;
	struct map_text symbols;
	/* Shared anonymous memory from before: of the tool, or
	   indistinguishable from it. */
	VEC(uint64_t) old_shared;
	bool stdio_covers[3]; /* its row says where they go */

	/* The digest of TZ as it was at the last point; 0: it was not set. */
	uint64_t zone_variable;
	/* Filters of system calls, as of the first point; more: it is sealed. */
	uint64_t filter_mode, filters;
	bool sealed;
	bool refused;	  /* because of these something was not asked */
	bool ids_moved;	  /* at this point */
	unsigned changed; /* likewise: sources */
	bool captured;
	struct items *rows; /* as many as the table has */
};

struct attribute {
	const char *name;
	const char *what;
	const char *how;
	const char *absent;
	struct err *(*read)(struct attributes *a, struct items *items);
	unsigned needs;	 /* sources; one of them changed: it is read again */
	unsigned looked; /* enum follow_state: asking for it is reported */
	enum change_weight weight;
	bool unique; /* of equal keys the first counts */
	bool once; /* appearing for the first time counts as a first use only */
	bool shared; /* of the system: others change it, too */
};
extern const struct attribute attribute_table[];
extern const size_t attribute_count;

/* Where it is; 0: the program has none. Remembered until libraries change. */
uint64_t attributes_symbol(struct attributes *a, const char *name);
/* The name of the function at @address, or the address. */
void attributes_function(const struct attributes *a, uint64_t address,
			 char *out, size_t n);

/* Whether what the row that is read by @read says of @key is a mere first use. */
void attributes_set_first(struct attributes *a,
			  struct err *(*read)(struct attributes *a,
					      struct items *items),
			  const char *key, bool first);

/* Its item as it was read last. */
const struct item *attributes_item(const struct attributes *a,
				   struct err *(*read)(struct attributes *a,
						       struct items *items),
				   const char *key);

/* libc.c: a digest of TZ, as it was read last; 0: it is not set. */
uint64_t zone_variable(const struct attributes *a);

/* spans.c */
void ranges_free(struct attribute_spans *spans);
void ranges_forget(struct attribute_spans *spans, unsigned group);
struct err *ranges_add(struct attribute_spans *spans, unsigned group,
		       uint64_t address, size_t n) _must_check_;
/* After rows were read: what they found is what to compare with. */
struct err *ranges_settle(struct attributes *a) _must_check_;
/* Reads all; returns the groups that differ from the last time. */
struct err *ranges_probe(struct attributes *a, unsigned *ret) _must_check_;
bool read_u64(struct attributes *a, uint64_t address, uint64_t *ret);
bool read_bytes(struct attributes *a, uint64_t address, void *out, size_t n);
/* A string as far as it goes; at most @max - 1 bytes. */
bool attributes_read_text(struct attributes *a, uint64_t address, char *out,
			  size_t max);

/* The probes. */
struct err *descriptors_probe(struct attributes *a, unsigned changed,
			      unsigned *ret) _must_check_;
void descriptors_free(struct attributes *a);
/* What an open descriptor refers to; 0: it is not open. */
uint64_t descriptor_identity(const struct attributes *a, int number,
			     const char **ret_path);
struct err *descriptor_text(const struct attributes *a, int number,
			    struct str *out) _must_check_;
void filters_probe(struct attributes *a, unsigned changed);
void signals_probe(struct attributes *a, unsigned *ret);
void floats_probe(struct attributes *a, unsigned *ret);
void tasks_probe(struct attributes *a, unsigned *ret);
void files_probe(struct attributes *a, unsigned *ret);
struct err *agent_probe(struct attributes *a, unsigned *ret) _must_check_;

/* kernel.c: a line of the status file, after "NAME:\t". */
bool status_field(struct attributes *a, const char *name, char *out, size_t n);
bool status_number(struct attributes *a, const char *name, int base,
		   uint64_t *ret);
/* A system call in the tested process; the answer is read back from @out. */
bool ask_process(struct attributes *a, long number, const uint64_t *args,
		 unsigned out_at, void *out, size_t n);

void signal_name(int number, char out[16]);

/* sockets.c: what a socket is, from a descriptor of ours. */
void socket_port_text(const char *kind, const char *address, bool six,
		      unsigned port, char *out, size_t n);
struct err *socket_describe(struct descriptor *descriptor, int fd) _must_check_;

/* children.c: what it does now. */
struct proc_status;
const char *process_text(const struct proc_status *status);

/* ipc.c */
enum ipc_kind { IPC_SHARED, IPC_SEMAPHORE, IPC_QUEUE };
/* The folder of POSIX message queues, also where it is not mounted; or -1. */
int ipc_queues(void);
struct err *ipc_list(enum ipc_kind kind, int folder,
		     struct items *items) _must_check_;
/* Is the difference its doing? */
bool ipc_is_own(const struct ipc_owner *owner, const struct item *before,
		const struct item *after);
void ipc_begin(struct ipc_owner *owner);
void ipc_end(struct ipc_owner *owner);
void ipc_touched(struct ipc_owner *owner, const char *path);
/* Takes what was touched since the last time, for this point. */
void ipc_take_touched(struct ipc_owner *owner);

#define ROW(name, what, how, absent, function, ...)                            \
	struct err *function(struct attributes *a, struct items *items)        \
		_must_check_;
#include "attributes/rows.h"
#undef ROW

/* mappings.c */
/* The same from checkout to checkout, where it lies below. */
const char *attributes_shown_path(const struct attributes *a, const char *path);
void mapped_clear(struct attributes *a);

/* kernel.c: by number; NULL: not one that is compared. */
extern const char *const limit_names[RLIM_NLIMITS];

#define MXCSR_ROUNDING 0x6000U
#define MXCSR_FLUSH 0x8000U
#define MXCSR_DENORMALS 0x0040U
#define X87_ROUNDING 0x0c00U
#define X87_PRECISION 0x0300U
/* Denormal numbers are an exception of this processor only: they do not count. */
#define FLOAT_EXCEPTIONS 0x1dU
#define FLOAT_INEXACT 0x20U
