/* Models of results in memory that the library uses again: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_STATICS(X)						\
	X(localtime, WIRE_RANDOM, WIRE_FULL, 0, "localtime",		\
	  "POSIX localtime(): execution of any of"		\
	  " asctime(), ctime(), gmtime(), localtime() may overwrite"	\
	  " what any other of them returned",				\
	  "results that no such call has followed")			\
	X(gmtime, WIRE_RANDOM, WIRE_FULL, 0, "gmtime",			\
	  "POSIX gmtime(): execution of any of asctime(),"	\
	  " ctime(), gmtime(), localtime() may overwrite what any"	\
	  " other of them returned",					\
	  "results that no such call has followed")			\
	X(asctime, WIRE_RANDOM, WIRE_FULL, 0, "asctime",		\
	  "POSIX asctime(): execution of any of"		\
	  " asctime(), ctime(), gmtime(), localtime() may overwrite"	\
	  " what any other of them returned",				\
	  "results that no such call has followed")			\
	X(ctime, WIRE_RANDOM, WIRE_FULL, 0, "ctime",			\
	  "POSIX ctime(): execution of any of asctime(),"	\
	  " ctime(), gmtime(), localtime() may overwrite what any"	\
	  " other of them returned",					\
	  "results that no such call has followed")			\
	X(inet_ntoa, WIRE_RANDOM, WIRE_FULL, 0, "inet_ntoa",		\
	  "POSIX inet_ntoa(): may point to static data that may be"	\
	  " overwritten by subsequent calls",				\
	  "results that no such call has followed")			\
	X(getenv, WIRE_RANDOM, WIRE_FULL, WIRE_OPTIONAL, "getenv",	\
	  "POSIX getenv(): the string might be overwritten by a"	\
	  " subsequent call to getenv(), setenv(), unsetenv() or"	\
	  " putenv()",							\
	  "results that no such call has followed")			\
	X(basename, WIRE_RANDOM, WIRE_FULL, 0, "basename",		\
	  "POSIX basename(): may return a pointer to internal storage"	\
	  " that a subsequent call overwrites",				\
	  "results that no such call has followed")			\
	X(dirname, WIRE_RANDOM, WIRE_FULL, 0, "dirname",		\
	  "POSIX dirname(): may return a pointer to internal storage"	\
	  " that a subsequent call overwrites",				\
	  "results that no such call has followed")			\
	X(getpwnam, WIRE_RANDOM, WIRE_FULL, 0, "getpwnam",		\
	  "POSIX getpwnam(): may point to a static area which is"	\
	  " overwritten by a subsequent call to getpwent(),"		\
	  " getpwnam(), or getpwuid()",					\
	  "results that no such call has followed")			\
	X(getpwuid, WIRE_RANDOM, WIRE_FULL, 0, "getpwuid",		\
	  "POSIX getpwuid(): may point to a static area which is"	\
	  " overwritten by a subsequent call to getpwent(),"		\
	  " getpwnam(), or getpwuid()",					\
	  "results that no such call has followed")			\
	X(getgrnam, WIRE_RANDOM, WIRE_FULL, 0, "getgrnam",		\
	  "POSIX getgrnam(): may point to a static area which is"	\
	  " overwritten by a subsequent call to getgrent(),"		\
	  " getgrgid(), or getgrnam()",					\
	  "results that no such call has followed")			\
	X(getgrgid, WIRE_RANDOM, WIRE_FULL, 0, "getgrgid",		\
	  "POSIX getgrgid(): may point to a static area which is"	\
	  " overwritten by a subsequent call to getgrent(),"		\
	  " getgrgid(), or getgrnam()",					\
	  "results that no such call has followed")			\
	X(strerror_buffer, WIRE_RANDOM, WIRE_FULL, 0, "strerror-result",	\
	  "C17 7.24.6.2: the array may be overwritten by a subsequent"	\
	  " call to strerror()",					\
	  "results that no such call has followed")			\
	X(strsignal_buffer, WIRE_RANDOM, WIRE_FULL, 0, "strsignal-result",	\
	  "POSIX strsignal(): the string might be overwritten by a"	\
	  " subsequent call to strsignal()",				\
	  "results that no such call has followed")			\
	X(setlocale, WIRE_RANDOM, WIRE_FULL, 0, "setlocale",		\
	  "C17 7.11.1.1: the string may be overwritten by a"		\
	  " subsequent call to setlocale()",				\
	  "results that no such call has followed")			\
	X(nl_langinfo, WIRE_RANDOM, WIRE_FULL, 0, "nl_langinfo",	\
	  "POSIX nl_langinfo(): the string might be overwritten by a"	\
	  " subsequent call to nl_langinfo() or setlocale()",		\
	  "results that no such call has followed")			\
	X(localeconv, WIRE_RANDOM, WIRE_FULL, 0, "localeconv",		\
	  "C17 7.11.2.1: the structure may be overwritten by a"		\
	  " subsequent call to localeconv()",				\
	  "results that no such call has followed")			\
	X(getservbyname, WIRE_RANDOM, WIRE_FULL, 0, "getservbyname",	\
	  "POSIX getservbyname(): the pointer and the string it"	\
	  " contains might be overwritten by a subsequent call to any"	\
	  " function of its group",					\
	  "results that no such call has followed")			\
	X(getservbyport, WIRE_RANDOM, WIRE_FULL, 0, "getservbyport",	\
	  "POSIX getservbyport(): the pointer and the string it"	\
	  " contains might be overwritten by a subsequent call to any"	\
	  " function of its group",					\
	  "results that no such call has followed")			\
	X(getprotobyname, WIRE_RANDOM, WIRE_FULL, 0, "getprotobyname",	\
	  "POSIX getprotobyname(): the pointer and the string it"	\
	  " contains might be overwritten by a subsequent call to any"	\
	  " function of its group",					\
	  "results that no such call has followed")			\
	X(getprotobynumber, WIRE_RANDOM, WIRE_FULL, 0, "getprotobynumber", \
	  "POSIX getprotobynumber(): the pointer and the string it"	\
	  " contains might be overwritten by a subsequent call to any"	\
	  " function of its group",					\
	  "results that no such call has followed")			\
	X(ptsname, WIRE_RANDOM, WIRE_FULL, 0, "ptsname",		\
	  "POSIX ptsname(): may point to static data that is"		\
	  " overwritten by each call",					\
	  "results that no such call has followed")			\
	X(l64a, WIRE_RANDOM, WIRE_FULL, 0, "l64a",			\
	  "POSIX l64a(): may point into a static buffer; subsequent"	\
	  " calls may overwrite it",					\
	  "results that no such call has followed")			\
	X(ecvt, WIRE_RANDOM, WIRE_FULL, 0, "ecvt",			\
	  "POSIX.1-2001 ecvt(): may point to static data that may be"	\
	  " overwritten by subsequent calls to ecvt() or fcvt()",	\
	  "results that no such call has followed")			\
	X(fcvt, WIRE_RANDOM, WIRE_FULL, 0, "fcvt",			\
	  "POSIX.1-2001 fcvt(): may point to static data that may be"	\
	  " overwritten by subsequent calls to ecvt() or fcvt()",	\
	  "results that no such call has followed")			\
	X(ether_ntoa, WIRE_RANDOM, WIRE_FULL, 0, "ether_ntoa",		\
	  "ether_aton(3): in a statically allocated buffer, which"	\
	  " subsequent calls will overwrite",				\
	  "results that no such call has followed")
/* clang-format on */
