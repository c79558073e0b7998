/*
 * File operations that the agent logs; see same.h. Each word runs in an empty
 * folder of its own.
 */
#include "same.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FILES polygraph_agent_files
#define RING ((struct wire_ring *)(uintptr_t)FILES.ring)

static char folder[PATH_MAX];

/* The next record, as the controller reads it; NULL: there is none. */
static struct wire_file *next_record(void)
{
	for (;;) {
		struct wire_ring *ring = RING;
		struct wire_file *record =
			(struct wire_file *)&ring
				->data[ring->tail % WIRE_FILES_SIZE];
		if (ring->tail == ring->head)
			return NULL;
		MUST(record->position == ring->tail + 1);
		MUST(record->bytes >= WIRE_FILE_ALIGN &&
		     record->bytes % WIRE_FILE_ALIGN == 0);
		ring->tail += record->bytes;
		if (record->call != WIRE_CALL_NONE)
			return record;
	}
}

static void no_record(int line)
{
	if (AGENT)
		must(!next_record(), "no record", line);
}
#define NO_RECORD() no_record(__LINE__)

static const char *path_of(const struct wire_file *record, unsigned i)
{
	return record->data + (i ? record->path[0] + 1 : 0);
}

static const char *text_of(const struct wire_file *record, unsigned i)
{
	return record->data + record->path[0] + record->path[1] + 2 +
	       (i ? record->before[0].text : 0);
}

/* The record is there, and its first name is @name, in this folder. */
static struct wire_file *record_of(enum wire_call call, const char *name,
				   int line)
{
	char path[2 * PATH_MAX];
	struct wire_file *record = next_record();
	must(!!record, "a record", line);
	must(record->call == call, "its call", line);
	must(record->pid == getpid(), "its process", line);
	snprintf(path, sizeof(path), "%s%s%s", *name == '/' ? "" : folder,
		 *name == '/' ? "" : "/", name);
	must(!strcmp(path_of(record, 0), path), "its path", line);
	must(record->path[0] == strlen(path), "its length", line);
	return record;
}

/* What it was: @content; NULL: nothing. */
static void was(const struct wire_file *record, unsigned i,
		const char *content, int line)
{
	const struct wire_file_state *before = &record->before[i];
	if (!content) {
		must(!before->mode && !before->hashed && !before->text,
		     "absent", line);
		return;
	}
	size_t n = strlen(content);
	must(S_ISREG(before->mode) && before->size == n, "a file", line);
	must(before->hashed && before->hash == XXH3_64bits(content, n),
	     "its hash", line);
	must(n > WIRE_FILE_TEXT ? !before->text :
				  before->text == n &&
					  !memcmp(text_of(record, i), content,
						  n),
	     "its text", line);
}

static void was_first(enum wire_call call, const char *name,
		      const char *content, int line)
{
	if (AGENT) {
		was(record_of(call, name, line), 0, content, line);
		must(!next_record(), "one record", line);
	}
}
#define WAS(call, name, content)                                               \
	was_first(WIRE_CALL_##call, name, content, __LINE__)

static void put(const char *path, const char *content)
{
	/* Around the agent. */
	int fd = (int)syscall(SYS_open, path, O_WRONLY | O_CREAT | O_TRUNC,
			      0644);
	size_t n = strlen(content);
	MUST(fd >= 0 && write(fd, content, n) == (ssize_t)n && !close(fd));
}

static void show(const char *path)
{
	char content[256] = "";
	int fd = open(path, O_RDONLY);
	if (fd >= 0) {
		ssize_t n = read(fd, content, sizeof(content) - 1);
		content[n < 0 ? 0 : n] = '\0';
		close(fd);
	}
	printf("%s: %s\n", path, fd >= 0 ? content : "absent");
}

static void told(const char *what, long result)
{
	printf("%s: %ld, %s\n", what, result, result < 0 ? strerror(errno) : "");
}

static void opens(void)
{
	static const struct {
		const char *name;
		int flags;
	} tries[] = {
		{ "old", O_WRONLY },
		{ "old", O_RDWR | O_CLOEXEC },
		{ "old", O_WRONLY | O_APPEND },
		{ "old", O_WRONLY | O_TRUNC },
		{ "old", O_RDONLY | O_CREAT },
		{ "new", O_WRONLY | O_CREAT },
		{ "new2", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC },
		{ "new3", O_RDONLY | O_CREAT },
	};
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		put("old", "old content\n");
		unlink("new");
		if (AGENT)
			while (next_record())
				;
		errno = 4711;
		int fd = open(tries[i].name, tries[i].flags, 0640);
		MUST(errno == 4711);
		struct stat st;
		MUST(fd >= 0 && !fstat(fd, &st));
		printf("%d %d %o %ld %x %x\n", (int)i, fd, st.st_mode,
		       (long)st.st_size, fcntl(fd, F_GETFL),
		       fcntl(fd, F_GETFD));
		if (AGENT) {
			struct wire_file *record = record_of(
				WIRE_CALL_OPEN, tries[i].name, __LINE__);
			was(record, 0, i < 5 ? "old content\n" : NULL,
			    __LINE__);
			MUST(record->flags == (unsigned)tries[i].flags);
			MUST(record->mode ==
			     (tries[i].flags & O_CREAT ? 0640 : 0));
			if (i < 5) {
				MUST(record->before[0].inode == st.st_ino);
				MUST(record->before[0].device == st.st_dev);
				MUST(record->before[0].links == 1);
				MUST(record->before[0].uid == getuid());
			}
		}
		NO_RECORD();
		close(fd);
	}
	/* The other functions. */
	int fd = creat("created", 0600);
	WAS(OPEN, "created", NULL);
	close(fd);
	fd = creat64("created", 0600);
	WAS(OPEN, "created", "");
	close(fd);
	fd = open64("created", O_WRONLY);
	WAS(OPEN, "created", "");
	close(fd);
	fd = openat(AT_FDCWD, "created", O_RDWR);
	WAS(OPEN, "created", "");
	close(fd);
	fd = openat64(AT_FDCWD, "created4", O_RDWR | O_CREAT, 0600);
	WAS(OPEN, "created4", NULL);
	close(fd);
	/* Those that fail. */
	told("no folder", open("a/b", O_WRONLY | O_CREAT, 0600));
	WAS(OPEN, "a/b", NULL);
	told("absent", open("nothing", O_WRONLY));
	told("excluded", open("old", O_WRONLY | O_CREAT | O_EXCL, 0600));
	told("not a folder", open("old/x", O_WRONLY | O_CREAT, 0600));
	/* Reading is none of it. */
	close(open("old", O_RDONLY));
	close(open("/", O_RDONLY | O_DIRECTORY));
	NO_RECORD();
}

static void sizes(void)
{
	/* Around the limits of what is read in one piece, or at all. */
	static const size_t all[] = { 1,	 1023,	    1024,      1025,
				      65535,	 65536,	    65537,     200000,
				      1048575,	 1048576,   1048577 };
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char *content = malloc(all[i] + 1);
		for (size_t k = 0; k < all[i]; k++)
			content[k] = (char)('a' + k * 31 / 7 % 26);
		content[all[i]] = '\0';
		put("sized", content);
		MUST(!truncate("sized", 3));
		if (all[i] <= WIRE_FILE_LARGEST)
			WAS(TRUNCATE, "sized", content);
		NO_RECORD();
		show("sized");
		free(content);
	}
}

static void streams(void)
{
	static const char *const modes[] = {
		"w",  "wb",  "w+",  "wb+", "w+b", "wx",	 "wbx", "a",
		"ab", "a+",  "ab+", "r+",  "r+b", "rb+", "we",	"w,ccs=UTF-8",
		"r",  "rb",  "q",   "",	   "wm",  "wc",	 "a+x", "rx",
	};
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		for (int there = 0; there < 2; there++) {
			const char *mode = modes[i];
			syscall(SYS_unlink, "s");
			if (there)
				put("s", "0123456789");
			errno = 4711;
			FILE *stream = i % 2 ? fopen("s", mode) :
					       fopen64("s", mode);
			printf("%s %d: %d %d", mode, there, !!stream, errno);
			if (stream) {
				int fd = fileno(stream);
				printf(" %d %x %x %ld %ld", fd,
				       fcntl(fd, F_GETFL), fcntl(fd, F_GETFD),
				       (long)lseek(fd, 0, SEEK_CUR),
				       ftell(stream));
				printf(" %d", fputs("abc", stream));
				printf(" %ld", ftell(stream));
				printf(" %d", fseek(stream, 2, SEEK_SET));
				printf(" %d", fgetc(stream));
				printf(" %d", fseek(stream, 4, SEEK_SET));
				printf(" %d", fputs("xyz", stream));
				printf(" %d", fclose(stream));
			}
			puts("");
			show("s");
			if (AGENT)
				while (next_record())
					;
		}
	}
	FILE *stream = fopen("logged", "w");
	MUST(stream && fputs("text", stream) >= 0 && !fclose(stream));
	WAS(OPEN, "logged", NULL);
	MUST((stream = fopen("logged", "a")) && !fclose(stream));
	WAS(OPEN, "logged", "text");
	MUST((stream = fopen("logged", "r")) && !fclose(stream));
	MUST(!fopen("logged", "wx") && errno == EEXIST);
	NO_RECORD();
	/* Opened anew, it is another file of the same kind. */
	stream = fopen("logged", "w");
	MUST(stream && (stream = freopen("other", "w", stream)));
	MUST(fputs("other text", stream) >= 0 && !fclose(stream));
	show("other");
}

static void removes(void)
{
	put("a", "1");
	put("b", "2");
	put("c", "3");
	mkdir("d", 0700);
	mkdir("e", 0700);
	put("e/f", "6");
	if (AGENT)
		while (next_record())
			;
	MUST(!unlink("a"));
	WAS(UNLINK, "a", "1");
	MUST(!unlinkat(AT_FDCWD, "b", 0));
	WAS(UNLINK, "b", "2");
	MUST(!remove("c"));
	WAS(UNLINK, "c", "3");
	/* Where it fails by what it is there is nothing to tell. */
	told("absent", unlink("a"));
	told("absent", remove("a"));
	told("absent", rmdir("a"));
	told("a folder", unlink("d"));
	NO_RECORD();
	told("full", rmdir("e"));
	if (AGENT)
		MUST(S_ISDIR(record_of(WIRE_CALL_RMDIR, "e", __LINE__)
				     ->before[0]
				     .mode));
	told("full", remove("e"));
	if (AGENT)
		record_of(WIRE_CALL_RMDIR, "e", __LINE__);
	told("a file", rmdir("e/f"));
	NO_RECORD();
	errno = 4711;
	MUST(!remove("d"));
	printf("errno %d\n", errno);
	if (AGENT)
		record_of(WIRE_CALL_RMDIR, "d", __LINE__);
	MUST(!unlink("e/f"));
	WAS(UNLINK, "e/f", "6");
	MUST(!unlinkat(AT_FDCWD, "e", AT_REMOVEDIR));
	if (AGENT)
		record_of(WIRE_CALL_RMDIR, "e", __LINE__);
	MUST(!mkdirat(AT_FDCWD, "g", 0750));
	if (AGENT) {
		struct wire_file *record =
			record_of(WIRE_CALL_MKDIR, "g", __LINE__);
		was(record, 0, NULL, __LINE__);
		MUST(record->mode == 0750);
	}
	told("there", mkdir("g", 0700));
	NO_RECORD();
	told("wrong flags", unlinkat(AT_FDCWD, "g", 1 << 20));
}

static void renames(void)
{
	put("a", "1");
	put("b", "2");
	MUST(!rename("a", "b"));
	if (AGENT) {
		struct wire_file *record =
			record_of(WIRE_CALL_RENAME, "a", __LINE__);
		was(record, 0, "1", __LINE__);
		was(record, 1, "2", __LINE__);
		MUST(!strcmp(strrchr(path_of(record, 1), '/'), "/b"));
	}
	MUST(!renameat(AT_FDCWD, "b", AT_FDCWD, "c"));
	if (AGENT) {
		struct wire_file *record =
			record_of(WIRE_CALL_RENAME, "b", __LINE__);
		was(record, 0, "1", __LINE__);
		was(record, 1, NULL, __LINE__);
	}
	told("absent", rename("a", "c"));
	MUST(!mkdir("d", 0700));
	if (AGENT)
		record_of(WIRE_CALL_MKDIR, "d", __LINE__);
	told("onto a folder", rename("c", "d"));
	MUST(!rename("d", "e"));
	NO_RECORD();
	show("c");
}

/* Each of these is left to the C library. */
static void unusual(void)
{
	const char *volatile nothing = NULL;
	char long_path[PATH_MAX + 10];
	memset(long_path, 'x', sizeof(long_path));
	long_path[sizeof(long_path) - 1] = '\0';
	put("target", "t");
	MUST(!symlink("target", "link") && !symlink("nowhere", "dangling"));
	MUST(!mkfifo("fifo", 0600) && !link("target", "second"));
	put("marked", "m");
	int marked = setxattr("marked", "user.x", "1", 1, 0);
	int here = open(".", O_RDONLY | O_DIRECTORY);
	int null = open("/dev/null", O_WRONLY);
	MUST(null >= 0 && write(null, "x", 1) == 1);

	told("link", close(open("link", O_WRONLY)));
	told("dangling", close(open("dangling", O_WRONLY | O_CREAT, 0600)));
	told("unlink of a link", unlink("link"));
	told("fifo", close(open("fifo", O_RDWR)));
	told("long", open(long_path, O_WRONLY | O_CREAT, 0600));
	told("empty", open("", O_WRONLY | O_CREAT, 0600));
	told("NULL", open(nothing, O_WRONLY | O_CREAT, 0600));
	told("nowhere", unlink((char *)16));
	told("nowhere", rename("target", (char *)16));
	told("nowhere", mkdir((char *)-16, 0700));
	told("folder", open(".", O_WRONLY));
	told("temporary", open(".", O_TMPFILE | O_RDWR, 0600) >= 0 ? 0 : -1);
	told("path only", close(open("target", O_PATH | O_RDWR)));
	told("openat", close(openat(here, "target", O_RDWR)));
	told("unlinkat", unlinkat(here, "second", 0));
	told("mkdirat", mkdirat(here, "made", 0700));
	told("renameat", renameat(here, "target", here, "target2"));
	told("proc", close(open("/proc/self/comm", O_WRONLY)));
	told("no descriptor", openat(-7, "x", O_RDWR | O_CREAT, 0600));
	if (!marked)
		MUST(!truncate("marked", 0));
	else if (!unlink("marked") && AGENT)
		record_of(WIRE_CALL_UNLINK, "marked", __LINE__);
	NO_RECORD();
	show("nowhere");
}

static void relative(void)
{
	MUST(!mkdir("in", 0700) && !chdir("in"));
	if (AGENT)
		while (next_record())
			;
	int fd = open("f", O_WRONLY | O_CREAT, 0600);
	WAS(OPEN, "in/f", NULL);
	close(fd);
	fd = open("../g", O_WRONLY | O_CREAT, 0600);
	WAS(OPEN, "in/../g", NULL);
	close(fd);
	MUST(!rename("./f", "../h"));
	if (AGENT)
		MUST(strstr(path_of(record_of(WIRE_CALL_RENAME, "in/./f",
					      __LINE__),
				    1),
			    "/in/../h"));
	MUST(!chdir("/"));
	told("root", mkdir("proc", 0700));
	char absolute[2 * PATH_MAX];
	snprintf(absolute, sizeof(absolute), "%s/g", folder);
	MUST(!unlink(absolute));
	WAS(UNLINK, absolute, "");
	snprintf(absolute, sizeof(absolute), "%s/in", folder);
	MUST(!chdir(absolute));
	MUST(!rmdir(absolute));
	if (AGENT)
		record_of(WIRE_CALL_RMDIR, absolute, __LINE__);
	told("in a folder that is gone", mkdir("x", 0700));
	NO_RECORD();
}

static void children(void)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		close(open("of_child", O_WRONLY | O_CREAT, 0600));
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child && !status);
	if (AGENT) {
		struct wire_file *record = next_record();
		MUST(record && record->pid == child);
		MUST(!strcmp(strrchr(path_of(record, 0), '/'), "/of_child"));
	}
	MUST(!mkdir("there", 0700));
	if (AGENT)
		next_record();
	child = vfork();
	if (child == 0) {
		chdir("there");
		close(open("of_vfork", O_WRONLY | O_CREAT, 0600));
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child && !status);
	if (AGENT) {
		struct wire_file *record = next_record();
		MUST(record && record->pid == child);
		MUST(strstr(path_of(record, 0), "/there/of_vfork"));
	}
	/* Many at once; each record is whole. */
	enum { CHILDREN = 4, EACH = 300 };
	for (int i = 0; i < CHILDREN; i++) {
		if (fork())
			continue;
		for (int k = 0; k < EACH; k++) {
			char name[32];
			snprintf(name, sizeof(name), "%d.%d", i, k);
			MUST(close(creat(name, 0600)) == 0 && !unlink(name));
		}
		_exit(0);
	}
	for (int i = 0; i < CHILDREN; i++)
		MUST(wait(&status) > 0 && !status);
	if (!AGENT)
		return;
	int n = 0;
	while (next_record())
		n++;
	MUST(n == 2 * CHILDREN * EACH);
	MUST(!RING->refused && !RING->lost);
}

/* What the log has is not looked at again, until somebody has read it. */
static void again(void)
{
	put("x", "first");
	MUST(!close(open("x", O_WRONLY | O_TRUNC)));
	MUST(!close(open("x", O_RDWR)) && !truncate("./x", 1));
	MUST(!unlink("x") && !close(open("x", O_WRONLY | O_CREAT, 0600)));
	told("there", open("x", O_WRONLY | O_CREAT | O_EXCL, 0600));
	if (AGENT) {
		was(record_of(WIRE_CALL_OPEN, "x", __LINE__), 0, "first",
		    __LINE__);
		MUST(record_of(WIRE_CALL_OPEN, "x", __LINE__)->before[0].seen);
		/* By another path it is another name. */
		was(record_of(WIRE_CALL_TRUNCATE, "./x", __LINE__), 0, "",
		    __LINE__);
		MUST(record_of(WIRE_CALL_UNLINK, "x", __LINE__)
			     ->before[0]
			     .seen);
		MUST(record_of(WIRE_CALL_OPEN, "x", __LINE__)->before[0].seen);
		record_of(WIRE_CALL_OPEN, "x", __LINE__);
	}
	NO_RECORD();
	MUST(!unlink("x"));
	WAS(UNLINK, "x", "");
	/* Bad paths are found out all the same. */
	told("nowhere", unlink((char *)16));
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(pages != MAP_FAILED && !mprotect(pages + 4096, 4096, PROT_NONE));
	memset(pages, 'x', 4096);
	told("cut off", unlink(pages + 4000));
	told("cut off", open(pages + 4095, O_WRONLY | O_CREAT, 0600));
	pages[4095] = '\0';
	told("at the end", open(pages + 4094, O_WRONLY | O_CREAT, 0600) >= 0);
	WAS(OPEN, "x", NULL);
}

/* The log goes round; when it is full nothing is lost but speed. */
static void full(void)
{
	int records = 0, rounds = 0;
	for (int i = 0; i < 20000; i++) {
		MUST(!close(creat("again", 0600)));
		if (i % 50)
			continue;
		rounds++;
		while (AGENT && next_record())
			records++;
	}
	NOTED(records >= 19900 && !RING->refused);
	NOTED(RING->head > 2 * WIRE_FILES_SIZE);
	for (int i = 0; i < 20000; i++)
		MUST(!close(creat("again", 0600)));
	NOTED(RING->refused > 1000 && !RING->lost);
	NOTED(RING->head - RING->tail <= WIRE_FILES_SIZE);
	uint64_t head = AGENT ? RING->head : 0;
	MUST(!mkdir("still", 0700) && !rmdir("still"));
	FILE *stream = fopen("still", "w");
	MUST(stream && !fclose(stream) && !rename("still", "not"));
	NOTED(RING->head == head);
	for (records = 0; AGENT && next_record();)
		records++;
	NOTED(records > 1000);
	MUST(!remove("not"));
	WAS(UNLINK, "not", "");
	printf("%d\n", rounds);
}

static void *idle(void *argument)
{
	pause();
	return argument;
}

static void threads(void)
{
	pthread_t thread;
	MUST(!pthread_create(&thread, NULL, idle, NULL));
	MUST(!close(creat("by_libc", 0600)));
	NO_RECORD();
	MUST(!pthread_cancel(thread) && !pthread_join(thread, NULL));
}

static void *create_when_cancelled(void *argument)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	while (!*(volatile int *)argument)
		usleep(100);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	creat("never", 0600);
	return NULL;
}

static void on_end(void)
{
	show("never");
	fflush(stdout);
}

static void cancels(void)
{
	pthread_t thread;
	void *result;
	static volatile int go;
	MUST(!pthread_create(&thread, NULL, create_when_cancelled,
			     (void *)&go));
	MUST(!pthread_cancel(thread));
	go = 1;
	MUST(!pthread_join(thread, &result) && result == PTHREAD_CANCELED);
	show("never");
	/* The only thread there is, itself. */
	atexit(on_end);
	pthread_cancel(pthread_self());
	creat("never", 0600);
	puts("not cancelled");
}

static int other_may_lock(const char *path)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		struct flock lock = { .l_type = F_WRLCK };
		int fd = (int)syscall(SYS_open, path, O_RDWR);
		_exit(fcntl(fd, F_GETLK, &lock) < 0 ? 9 :
			      lock.l_type == F_UNLCK);
	}
	MUST(waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Locks are given up when any descriptor of the file is closed. */
static void locks(void)
{
	put("locked", "l");
	int fd = open("locked", O_RDWR);
	WAS(OPEN, "locked", "l");
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	MUST(!fcntl(fd, F_SETLK, &lock));
	MUST(!other_may_lock("locked"));
	int second = open("locked", O_RDWR);
	MUST(!other_may_lock("locked"));
	NO_RECORD();
	close(second);
	MUST(other_may_lock("locked"));
}
static void locks_by_lockf(void)
{
	put("locked", "l");
	int fd = open("locked", O_RDWR);
	MUST(!lockf(fd, F_LOCK, 0));
	int second = open("locked", O_RDWR | O_TRUNC);
	MUST(second >= 0 && !other_may_lock("locked"));
}

static void inactive(void)
{
	if (AGENT)
		FILES.active = 0;
	MUST(!close(creat("x", 0600)) && !unlink("x") && !mkdir("y", 0700));
	FILE *stream = fopen("z", "w");
	MUST(stream && !fclose(stream) && !truncate("z", 3));
	NO_RECORD();
}

/* Without descriptors left it fails as it always does. */
static void exhausted(void)
{
	put("x", "content");
	while (dup(1) >= 0)
		;
	told("none left", open("x", O_WRONLY));
	told("none left", open("new", O_WRONLY | O_CREAT, 0600));
	told("none left", fopen("x", "w") ? 0 : -1);
	told("needs none", unlink("x"));
	if (AGENT)
		while (next_record())
			;
}

/* A handler that comes in between works on files, too. */
static volatile sig_atomic_t handled;
static void on_alarm(int number)
{
	(void)number;
	int fd = creat("by_handler", 0600);
	MUST(fd >= 0);
	close(fd);
	MUST(!unlink("by_handler"));
	handled++;
}
static void handlers(void)
{
	struct sigaction action = { .sa_handler = on_alarm,
				    .sa_flags = SA_RESTART };
	sigaction(SIGUSR1, &action, NULL);
	pid_t parent = getpid(), child = fork();
	if (child == 0) {
		if (AGENT)
			FILES.active = 0;
		for (;;) {
			kill(parent, SIGUSR1);
			usleep(50);
		}
	}
	put("x", "content");
	/* Until a signal came, on a busy machine. */
	for (int i = 0; i < 3000 || !handled; i++) {
		MUST(!close(open("x", O_WRONLY)));
		while (AGENT && next_record())
			;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	show("x");
}

/*
 * With a filter as the controller's: what is logged is done by the one
 * instruction, everything else is not.
 */
static void exempt(void)
{
	put("x", "content");
	uint64_t behind = AGENT ? FILES.call_end : 0;
	static const int calls[] = { SYS_open,	   SYS_openat, SYS_creat,
				     SYS_unlink,   SYS_unlinkat, SYS_rename,
				     SYS_renameat, SYS_renameat2, SYS_mkdir,
				     SYS_mkdirat,  SYS_rmdir,	SYS_truncate };
	enum { N = sizeof(calls) / sizeof(calls[0]) };
	struct sock_filter filter[N + 8] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, instruction_pointer)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)behind, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, instruction_pointer) +
				 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(behind >> 32),
			 N + 1, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
	};
	for (int i = 0; i < N; i++)
		filter[5 + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i],
			(uint8_t)(N - i), 0);
	filter[5 + N] =
		(struct sock_filter)BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW);
	filter[6 + N] = (struct sock_filter)BPF_STMT(
		BPF_RET, SECCOMP_RET_ERRNO | ENOTRECOVERABLE);
	struct sock_fprog program = { 7 + N, filter };
	if (!AGENT)
		return;
	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	MUST(open("x", O_RDONLY) < 0 && errno == ENOTRECOVERABLE);
	MUST(syscall(SYS_unlink, "x") < 0 && errno == ENOTRECOVERABLE);
	MUST(open("x", O_WRONLY) >= 0);
	MUST(creat("y", 0600) >= 0);
	MUST(fopen("z", "w"));
	MUST(!rename("y", "z") && !unlink("z") && !mkdir("d", 0700));
	MUST(!remove("d") && !truncate("x", 0));
	MUST(unlink("x") == 0 && unlink("x") < 0 && errno == ENOENT);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*function)(void);
	} words[] = {
		{ "opens", opens },	      { "sizes", sizes },
		{ "streams", streams },	      { "removes", removes },
		{ "renames", renames },	      { "unusual", unusual },
		{ "relative", relative },     { "children", children },
		{ "again", again },	      { "full", full },	      { "threads", threads },
		{ "cancels", cancels },	      { "locks", locks },
		{ "lockf", locks_by_lockf },  { "inactive", inactive },
		{ "exhausted", exhausted },   { "handlers", handlers },
		{ "exempt", exempt },
	};
	MUST(getcwd(folder, sizeof(folder)));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (argc < 2) {
			puts(words[i].word);
		} else if (!strcmp(words[i].word, argv[1])) {
			umask(022);
			NOTED(FILES.magic == WIRE_FILES_MAGIC);
			NOTED(FILES.version == WIRE_FILES_VERSION);
			NOTED(!FILES.active && FILES.ring);
			NOTED(FILES.size == WIRE_FILES_SIZE);
			if (AGENT)
				FILES.active = 1;
			words[i].function();
		}
	}
	return 0;
}
