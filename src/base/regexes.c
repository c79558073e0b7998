#include "base/regexes.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"

/*
 * What one may take, in processor time and memory. Ordinary ones take less than
 * a millisecond.
 */
#define REGEX_US 500000
#define REGEX_BYTES ((rlim_t)512 << 20)

/* A sanitizer has terabytes. */
static rlim_t own_address_space(void)
{
	_cleanup_(freep) char *text = NULL;
	err_ignore(file_read("/proc/self/statm", 4096, &text, NULL));
	return text ? strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE)
		    : 0;
}

/*
 * regcomp() copies what an interval repeats: a{1,255}{1,255}{1,255} is 16
 * million letters, and where copies can be empty, time and memory grow much
 * faster. That cannot be seen from outside, so a child tries it.
 */
static bool regex_is_dear(const char *expression)
{
	const struct itimerval timer = { .it_value.tv_usec = REGEX_US };
	regex_t regex;
	setitimer(ITIMER_PROF, &timer, NULL);
	int code = regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB);
	if (code)
		return code == REG_ESPACE;
	bool dear = regexec(&regex, expression, 0, NULL, 0) == REG_ESPACE;
	regfree(&regex);
	return dear;
}

/* @at: which one is tried; all of them were if it exits with 0. */
static void _noreturn_ regexes_try(const char *const *expressions,
				   volatile size_t *at)
{
	const rlim_t bytes = own_address_space() + REGEX_BYTES;
	const struct rlimit memory = { bytes, bytes };
	const struct rlimit none = { 0, 0 };
	signal(SIGPROF, SIG_DFL);
	signal(SIGSEGV, SIG_DFL); /* it recurses over groups */
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_AS, &memory);
	for (; expressions[*at]; ++*at) {
		if (regex_is_dear(expressions[*at]))
			_exit(1);
	}
	_exit(0);
}

/* One child for all of them: there may be thousands. */
static struct err *regexes_try_all(const char *option,
				   const char *const *expressions)
{
	int status = 0;
	volatile size_t *at = mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return err_nomem();
	pid_t pid = fork();
	if (!pid)
		regexes_try(expressions, at);
	int failed = pid < 0 ? errno : 0;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && !failed)
		failed = errno == EINTR ? 0 : errno;
	const char *last = expressions[*at];
	munmap((void *)at, sizeof(*at));
	if (failed)
		return err_errno(failed, "cannot try %s in a child", option);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return NULL;
	return err_hint(err_create(ERR_USAGE,
				   "%s '%s' takes too much time or memory",
				   option, last ? last : ""),
			"repeat less: {1,20} rather than {1,255}");
}

struct err *regexes_check(const char *option, const char *const *expressions)
{
	struct regexes compiled = {};
	if (expressions && *expressions)
		TRY(regexes_try_all(option, expressions));
	struct err *err = regexes_add(&compiled, option, expressions);
	regexes_free(&compiled);
	return err;
}

struct err *regexes_add(struct regexes *regexes, const char *option,
			const char *const *expressions)
{
	for (size_t i = 0; expressions && expressions[i]; i++) {
		regex_t regex;
		int code = regcomp(&regex, expressions[i],
				   REG_EXTENDED | REG_NOSUB);
		if (code) {
			char text[128];
			regerror(code, &regex, text, sizeof(text));
			return err_create(ERR_USAGE, "%s '%s': %s", option,
					  expressions[i], text);
		}
		struct err *err = vec_push(regexes, regex);
		if (err) {
			regfree(&regex);
			return err;
		}
	}
	return NULL;
}

void regexes_free(struct regexes *regexes)
{
	for (size_t i = 0; i < regexes->n; i++)
		regfree(&regexes->data[i]);
	vec_free(regexes);
}

bool regexes_match(const struct regexes *regexes, const char *text)
{
	for (size_t i = 0; i < regexes->n; i++) {
		if (!regexec(&regexes->data[i], text, 0, NULL, 0))
			return true;
	}
	return false;
}
