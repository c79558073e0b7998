#include "base/regexes.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
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
static void _noreturn_ regex_try(const char *expression)
{
	const struct itimerval timer = { .it_value.tv_usec = REGEX_US };
	const rlim_t bytes = own_address_space() + REGEX_BYTES;
	const struct rlimit memory = { bytes, bytes };
	const struct rlimit none = { 0, 0 };
	regex_t regex;
	signal(SIGPROF, SIG_DFL);
	signal(SIGSEGV, SIG_DFL); /* it recurses over groups */
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_AS, &memory);
	setitimer(ITIMER_PROF, &timer, NULL);
	int code = regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB);
	if (!code && regexec(&regex, expression, 0, NULL, 0) == REG_ESPACE)
		code = REG_ESPACE;
	_exit(code == REG_ESPACE);
}

static struct err *regex_check(const char *option, const char *expression)
{
	int status = 0;
	pid_t pid = fork();
	if (pid < 0)
		return err_errno(errno, "cannot fork");
	if (!pid)
		regex_try(expression);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return err_errno(errno, "cannot wait for a child");
	}
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return NULL;
	return err_hint(err_create(ERR_USAGE,
				   "%s '%s' takes too much time or memory",
				   option, expression),
			"repeat less: {1,20} rather than {1,255}");
}

struct err *regexes_check(const char *option, const char *const *expressions)
{
	struct regexes compiled = {};
	for (size_t i = 0; expressions && expressions[i]; i++)
		TRY(regex_check(option, expressions[i]));
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
