/* Cases of the models of results in memory that the library uses again. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <langinfo.h>
#include <libgen.h>
#include <locale.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pwd.h>
#include <signal.h>
#include <time.h>

#include "cases.h"

static const time_t first_time = 86400, second_time = 86400 * 40;

/* ---- time ---- */

/* An object of its own, it is thought. */
static bool localtime_fragile(void)
{
	struct tm *tm = localtime(&first_time);
	return localtime(&second_time) == tm && tm->tm_mon == 1;
}

static bool localtime_correct(void)
{
	setenv("TZ", "UTC0", 1);
	tzset();
	struct tm a = *localtime(&first_time), b = *localtime(&second_time);
	return a.tm_mday == 2 && a.tm_mon == 0 && b.tm_mon == 1 &&
	       a.tm_year == 70 && mktime(&a) == first_time;
}

static bool gmtime_fragile(void)
{
	struct tm *tm = gmtime(&first_time);
	gmtime(&second_time);
	return tm->tm_mon == 1; /* it sees the second */
}

static bool gmtime_correct(void)
{
	struct tm a = *gmtime(&first_time), b = *gmtime(&second_time);
	char text[32];
	return a.tm_mday == 2 && a.tm_mon == 0 && b.tm_mon == 1 &&
	       strftime(text, sizeof(text), "%F", gmtime(&first_time)) == 10 &&
	       !strcmp(text, "1970-01-02");
}

static bool asctime_fragile(void)
{
	char *text = asctime(gmtime(&first_time));
	gmtime(&second_time); /* which has another buffer today */
	return !strcmp(text, "Fri Jan  2 00:00:00 1970\n");
}

static bool asctime_correct(void)
{
	char a[32], b[32];
	snprintf(a, sizeof(a), "%s", asctime(gmtime(&first_time)));
	snprintf(b, sizeof(b), "%s", asctime(gmtime(&second_time)));
	return !strcmp(a, "Fri Jan  2 00:00:00 1970\n") &&
	       !strcmp(b, "Tue Feb 10 00:00:00 1970\n");
}

static bool ctime_fragile(void)
{
	setenv("TZ", "UTC0", 1);
	char *text = ctime(&first_time);
	localtime(&second_time);
	char copy[32];
	snprintf(copy, sizeof(copy), "%s", text);
	ctime(&first_time);
	return !strcmp(copy, "Fri Jan  2 00:00:00 1970\n") &&
	       !strcmp(text, copy);
}

static bool ctime_correct(void)
{
	setenv("TZ", "UTC0", 1);
	return !strcmp(ctime(&first_time), "Fri Jan  2 00:00:00 1970\n") &&
	       !strcmp(ctime(&second_time), "Tue Feb 10 00:00:00 1970\n");
}

/* ---- texts ---- */

/* A pointer to the buffer shows each new result, it is thought. */
static bool inet_ntoa_fragile(void)
{
	struct in_addr a = { htonl(0x7f000001) }, b = { htonl(0x0a000001) };
	char *text = inet_ntoa(a);
	inet_ntoa(b);
	return !strcmp(text, "10.0.0.1");
}

static bool inet_ntoa_correct(void)
{
	struct in_addr a = { htonl(0x7f000001) }, b = { htonl(0x0a000001) };
	char copy[32];
	strcpy(copy, inet_ntoa(a));
	return !strcmp(inet_ntoa(b), "10.0.0.1") && !strcmp(copy, "127.0.0.1");
}

static bool getenv_fragile(void)
{
	setenv("FIRST", "one", 1);
	setenv("SECOND", "two", 1);
	const char *one = getenv("FIRST");
	/* Variables of other names. */
	setenv("SECOND", "three", 1);
	return !strcmp(one, "one");
}

static bool getenv_correct(void)
{
	setenv("FIRST", "one", 1);
	setenv("SECOND", "two", 1);
	char one[8];
	strcpy(one, getenv("FIRST"));
	/* What getenv() returned may be given to these. */
	setenv("THIRD", getenv("SECOND"), 1);
	unsetenv("FIRST");
	return !strcmp(getenv("SECOND"), "two") && !strcmp(one, "one") &&
	       !strcmp(getenv("THIRD"), "two") &&
	       !getenv("FOURTH_THAT_IS_NOT");
}

static bool basename_fragile(void)
{
	char a[] = "/usr/lib", b[] = "/etc/passwd";
	char *lib = basename(a), *passwd = basename(b);
	return !strcmp(lib, "lib") && !strcmp(passwd, "passwd");
}

static bool basename_correct(void)
{
	char a[] = "/usr/lib", b[] = "/etc/passwd", root[] = "/", copy[8];
	strcpy(copy, basename(a));
	return !strcmp(basename(b), "passwd") && !strcmp(copy, "lib") &&
	       !strcmp(basename(root), "/") && !strcmp(basename(NULL), ".");
}

static bool dirname_fragile(void)
{
	char a[] = "/usr/lib", b[] = "/etc/passwd";
	char *usr = dirname(a), *etc = dirname(b);
	return !strcmp(usr, "/usr") && !strcmp(etc, "/etc");
}

static bool dirname_correct(void)
{
	char a[] = "/usr/lib", b[] = "/etc/passwd", copy[8];
	strcpy(copy, dirname(a));
	return !strcmp(dirname(b), "/etc") && !strcmp(copy, "/usr");
}

static bool strerror_buffer_fragile(void)
{
	char expected[128];
	const char *missing = strerror(ENOENT);
	snprintf(expected, sizeof(expected), "%s", missing);
	const char *refused = strerror(EACCES);
	return !strcmp(missing, expected) && *refused;
}

static bool strerror_buffer_correct(void)
{
	char missing[128];
	snprintf(missing, sizeof(missing), "%s", strerror(ENOENT));
	return strcmp(missing, strerror(EACCES)) != 0 &&
	       !strcmp(missing, strerror(ENOENT));
}

static bool strsignal_buffer_fragile(void)
{
	char expected[128];
	const char *one = strsignal(SIGINT);
	snprintf(expected, sizeof(expected), "%s", one);
	const char *other = strsignal(SIGTERM);
	return !strcmp(one, expected) && *other;
}

static bool strsignal_buffer_correct(void)
{
	char one[128];
	snprintf(one, sizeof(one), "%s", strsignal(SIGINT));
	return strcmp(one, strsignal(SIGTERM)) != 0 &&
	       !strcmp(one, strsignal(SIGINT));
}

/* The well-known way to put a locale back that does not. */
static bool setlocale_fragile(void)
{
	char *old = setlocale(LC_ALL, NULL);
	setlocale(LC_ALL, "POSIX");
	return setlocale(LC_ALL, old) != NULL;
}

static bool setlocale_correct(void)
{
	char *old = strdup(setlocale(LC_ALL, NULL));
	bool good = setlocale(LC_ALL, "POSIX") && setlocale(LC_ALL, old) &&
		    !strcmp(setlocale(LC_ALL, NULL), old) &&
		    setlocale(LC_ALL, setlocale(LC_ALL, NULL)) &&
		    !setlocale(LC_ALL, "no_SUCH.locale");
	free(old);
	return good;
}

static bool nl_langinfo_fragile(void)
{
	const char *a = nl_langinfo(DAY_1), *b = nl_langinfo(DAY_2);
	return !strcmp(a, "Sunday") && !strcmp(b, "Monday");
}

static bool nl_langinfo_correct(void)
{
	char a[32];
	strcpy(a, nl_langinfo(DAY_1));
	return !strcmp(a, "Sunday") && !strcmp(nl_langinfo(DAY_2), "Monday");
}

static bool localeconv_fragile(void)
{
	struct lconv *a = localeconv(), *b = localeconv();
	return !strcmp(a->decimal_point, ".") && !strcmp(b->decimal_point, ".");
}

static bool localeconv_correct(void)
{
	bool good = !strcmp(localeconv()->decimal_point, ".");
	return good && !strcmp(localeconv()->decimal_point, ".");
}

/* ---- entries ---- */

static bool getpwnam_fragile(void)
{
	struct passwd *root = getpwnam("root");
	struct passwd *other = getpwuid(1); /* has another buffer today */
	return root && other && root->pw_uid == 0 &&
	       !strcmp(root->pw_name, "root");
}

static bool getpwnam_correct(void)
{
	struct passwd *root = getpwnam("root");
	return root && root->pw_uid == 0 && !strcmp(root->pw_name, "root") &&
	       !strcmp(root->pw_dir, "/root") && !getpwnam("no such user");
}

static bool getpwuid_fragile(void)
{
	struct passwd *root = getpwuid(0);
	struct passwd *other = getpwnam("daemon");
	return root && other && root->pw_uid == 0 &&
	       !strcmp(root->pw_name, "root");
}

static bool getpwuid_correct(void)
{
	struct passwd *root = getpwuid(0);
	if (!root || strcmp(root->pw_name, "root"))
		return false;
	struct passwd *other = getpwuid(1);
	return other && other->pw_uid == 1 && *other->pw_name;
}

static bool getgrnam_fragile(void)
{
	struct group *root = getgrnam("root");
	struct group *other = getgrgid(1);
	return root && other && root->gr_gid == 0 &&
	       !strcmp(root->gr_name, "root");
}

static bool getgrnam_correct(void)
{
	struct group *root = getgrnam("root");
	return root && root->gr_gid == 0 && !strcmp(root->gr_name, "root") &&
	       root->gr_mem;
}

static bool getgrgid_fragile(void)
{
	struct group *root = getgrgid(0);
	struct group *other = getgrnam("daemon");
	return root && other && root->gr_gid == 0 &&
	       !strcmp(root->gr_name, "root");
}

static bool getgrgid_correct(void)
{
	struct group *root = getgrgid(0);
	if (!root || strcmp(root->gr_name, "root"))
		return false;
	struct group *other = getgrgid(1);
	return other && other->gr_gid == 1;
}

static bool getservbyname_fragile(void)
{
	struct servent *http = getservbyname("http", "tcp");
	struct servent *ssh = getservbyport(htons(22), "tcp");
	return http && ssh && !strcmp(http->s_name, "http") &&
	       http->s_port == htons(80);
}

static bool getservbyname_correct(void)
{
	struct servent *http = getservbyname("http", "tcp");
	return http && !strcmp(http->s_name, "http") &&
	       !strcmp(http->s_proto, "tcp") && http->s_port == htons(80);
}

static bool getservbyport_fragile(void)
{
	struct servent *ssh = getservbyport(htons(22), "tcp");
	struct servent *http = getservbyname("http", "tcp");
	return http && ssh && !strcmp(ssh->s_name, "ssh");
}

static bool getservbyport_correct(void)
{
	struct servent *ssh = getservbyport(htons(22), "tcp");
	return ssh && !strcmp(ssh->s_name, "ssh") && ssh->s_aliases;
}

static bool getprotobyname_fragile(void)
{
	struct protoent *tcp = getprotobyname("tcp");
	struct protoent *udp = getprotobynumber(17);
	return tcp && udp && tcp->p_proto == 6 && !strcmp(tcp->p_name, "tcp");
}

static bool getprotobyname_correct(void)
{
	struct protoent *tcp = getprotobyname("tcp");
	return tcp && tcp->p_proto == 6 && !strcmp(tcp->p_name, "tcp") &&
	       tcp->p_aliases;
}

static bool getprotobynumber_fragile(void)
{
	struct protoent *udp = getprotobynumber(17);
	struct protoent *tcp = getprotobyname("tcp");
	return tcp && udp && udp->p_proto == 17 && !strcmp(udp->p_name, "udp");
}

static bool getprotobynumber_correct(void)
{
	struct protoent *udp = getprotobynumber(17);
	return udp && udp->p_proto == 17 && !strcmp(udp->p_name, "udp");
}

/* ---- more texts, seen through the first pointer ---- */

static bool ptsname_fragile(void)
{
	int a = posix_openpt(O_RDWR), b = posix_openpt(O_RDWR);
	char *one = ptsname(a), *two = ptsname(b);
	return one && two && !strcmp(one, two);
}

static bool ptsname_correct(void)
{
	int a = posix_openpt(O_RDWR), b = posix_openpt(O_RDWR);
	char one[64];
	snprintf(one, sizeof(one), "%s", ptsname(a));
	return strcmp(one, ptsname(b)) != 0 && !strcmp(one, ptsname(a)) &&
	       !ptsname(open("/dev/null", O_RDONLY));
}

static bool l64a_fragile(void)
{
	char *one = l64a(1000), *two = l64a(77777);
	return !strcmp(one, two);
}

static bool l64a_correct(void)
{
	return a64l(l64a(1000)) == 1000 && a64l(l64a(77777)) == 77777 &&
	       a64l(l64a(0)) == 0;
}

static bool ecvt_fragile(void)
{
	int point, sign;
	char *one = ecvt(1.5, 3, &point, &sign);
	ecvt(2.5, 3, &point, &sign);
	return !strcmp(one, "250");
}

static bool ecvt_correct(void)
{
	int point, sign;
	return !strcmp(ecvt(1.5, 3, &point, &sign), "150") && point == 1 &&
	       !strcmp(ecvt(-2.5, 3, &point, &sign), "250") && sign;
}

static bool fcvt_fragile(void)
{
	int point, sign;
	char *one = fcvt(1.5, 3, &point, &sign);
	fcvt(2.5, 3, &point, &sign);
	return !strcmp(one, "2500");
}

static bool fcvt_correct(void)
{
	int point, sign;
	return !strcmp(fcvt(1.5, 3, &point, &sign), "1500") && point == 1 &&
	       !sign;
}

static bool ether_ntoa_fragile(void)
{
	struct ether_addr a = { { 1, 2, 3, 4, 5, 6 } };
	struct ether_addr b = { { 6, 5, 4, 3, 2, 1 } };
	char *one = ether_ntoa(&a);
	return one == ether_ntoa(&b) && !strcmp(one, "6:5:4:3:2:1");
}

static bool ether_ntoa_correct(void)
{
	struct ether_addr a = { { 1, 2, 3, 4, 5, 6 } };
	struct ether_addr b = { { 6, 5, 4, 3, 2, 1 } };
	bool good = !strcmp(ether_ntoa(&a), "1:2:3:4:5:6");
	return good && !strcmp(ether_ntoa(&b), "6:5:4:3:2:1");
}

CASES(CASE(localtime), CASE(gmtime), CASE(asctime), CASE(ctime),
      CASE(inet_ntoa), CASE(getenv), CASE(basename), CASE(dirname),
      CASE(getpwnam), CASE(getpwuid), CASE(getgrnam), CASE(getgrgid),
      CASE(strerror_buffer), CASE(strsignal_buffer), CASE(setlocale),
      CASE(nl_langinfo), CASE(localeconv), CASE(getservbyname),
      CASE(getservbyport), CASE(getprotobyname), CASE(getprotobynumber),
      CASE(ptsname), CASE(l64a), CASE(ecvt), CASE(fcvt), CASE(ether_ntoa))
