/* Models of order: directories, sorting, names, readiness: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_ORDER(X)                                                   \
	WIRE_MODELS_SORTING(X)                                                 \
	WIRE_MODELS_DIRECTORIES(X)                                             \
	WIRE_MODELS_NAMES(X)                                                   \
	WIRE_MODELS_READINESS(X)

#define WIRE_MODELS_SORTING(X)                                                 \
	X(qsort, WIRE_PERMUTE, WIRE_ONE, 0, "qsort",                           \
	  "C17 7.22.5.2: if two elements compare as equal, their order in the" \
	  " resulting sorted array is unspecified",                            \
	  "elements that compare as different, or an inconsistent comparison") \
	X(qsort_r, WIRE_PERMUTE, WIRE_ONE, 0, "qsort_r",                       \
	  "qsort(3): if two members compare as equal, their order in the"      \
	  " sorted array is undefined",                                        \
	  "elements that compare as different")                                \
	X(bsearch, WIRE_RANDOM, WIRE_ONE, 0, "bsearch",                        \
	  "C17 7.22.5.1: if two elements compare as equal, which element is"   \
	  " matched is unspecified",                                           \
	  "an element that does not match, or none where one does")            \
	X(std_sort, WIRE_PERMUTE, WIRE_ONE, 0, "std::sort",                    \
	  "C++17 [sort], [algorithm.stable]: only stable_sort keeps the"       \
	  " relative order of equivalent elements",                            \
	  "elements that compare as different")                                \
	X(std_nth_element, WIRE_PERMUTE, WIRE_ONE, 0, "std::nth_element",      \
	  "C++17 [alg.nth.element]: the element at nth is the one that would"  \
	  " be there if all were sorted; the order of those before and after"  \
	  " it is not specified",                                              \
	  "a larger element before it, or a smaller one after it")             \
	X(std_partial_sort, WIRE_PERMUTE, WIRE_ONE, 0, "std::partial_sort",    \
	  "C++17 [partial.sort]: the rest of the elements is placed in an"     \
	  " unspecified order",                                                \
	  "the first elements in another order, except for equivalent ones")

#define WIRE_MODELS_DIRECTORIES(X)                                             \
	X(readdir, WIRE_PERMUTE, WIRE_ONE, WIRE_THROUGH, "readdir",            \
	  "readdir(3): the order in which filenames are read depends on the"   \
	  " filesystem implementation; it is unlikely that they are sorted",   \
	  "an entry lost or doubled, a position that seekdir does not find")   \
	X(readdir_type, WIRE_RANDOM, WIRE_ONE, 0, "readdir (d_type)",          \
	  "readdir(3): all applications must properly handle a return of"      \
	  " DT_UNKNOWN",                                                       \
	  "a wrong type")                                                      \
	X(readdir_entry, WIRE_RANDOM, WIRE_ID, 0, "readdir (entry)",           \
	  "POSIX readdir: the data may be overwritten by another call of"      \
	  " readdir on the same directory stream",                             \
	  "an entry before the next call, or of another stream")               \
	X(getdents64, WIRE_PERMUTE, WIRE_ONE, 0, "getdents64",                 \
	  "getdents(2) and readdir(3): entries come in the order of the file"  \
	  " system, which is not specified",                                   \
	  "an entry lost or doubled")                                          \
	X(scandir, WIRE_PERMUTE, WIRE_ONE, 0, "scandir",                       \
	  "POSIX scandir: without a comparison function, and among"            \
	  " entries that compare equal, the order in the array is"             \
	  " unspecified",                                                      \
	  "entries that compare as different")                                 \
	X(scandirat, WIRE_PERMUTE, WIRE_ONE, 0, "scandirat",                   \
	  "scandir(3): like scandir, which leaves the order unspecified"       \
	  " without a comparison function and among equal entries",            \
	  "entries that compare as different")                                 \
	X(glob, WIRE_PERMUTE, WIRE_ONE, 0, "glob",                             \
	  "POSIX glob: with GLOB_NOSORT the order of the pathnames returned"   \
	  " is unspecified",                                                   \
	  "paths without GLOB_NOSORT, or those of a call before")              \
	X(ftw, WIRE_PERMUTE, WIRE_ONE, 0, "ftw",                               \
	  "POSIX ftw: a directory is visited before its descendants; the"      \
	  " order of the files in it is not specified",                        \
	  "a file before its directory, one lost or doubled")                  \
	X(nftw, WIRE_PERMUTE, WIRE_ONE, 0, "nftw",                             \
	  "POSIX nftw: only the order between a directory and its files is"    \
	  " specified (FTW_DEPTH)",                                            \
	  "a file on the wrong side of its directory, one lost or doubled")    \
	X(fts_read, WIRE_PERMUTE, WIRE_ONE, 0, "fts_read",                     \
	  "fts(3): without a comparison files come in the order listed in the" \
	  " directory, which readdir(3) leaves to the file system",            \
	  "the order of the paths that fts_open is called with")

#define WIRE_MODELS_NAMES(X)                                                   \
	X(getpwent, WIRE_PERMUTE, WIRE_ONE, 0, "getpwent",                     \
	  "POSIX getpwent: entries are searched one after the other; their"    \
	  " order is not specified",                                           \
	  "an entry lost or doubled")                                          \
	X(getgrent, WIRE_PERMUTE, WIRE_ONE, 0, "getgrent",                     \
	  "POSIX getgrent: entries are searched one after the other; their"    \
	  " order is not specified",                                           \
	  "an entry lost or doubled")                                          \
	X(getservent, WIRE_PERMUTE, WIRE_ONE, 0, "getservent",                 \
	  "POSIX getservent: returns the next entry of the database, in an"    \
	  " unspecified order",                                                \
	  "an entry lost or doubled")                                          \
	X(getprotoent, WIRE_PERMUTE, WIRE_ONE, 0, "getprotoent",               \
	  "POSIX getprotoent: returns the next entry of the database, in"      \
	  " an unspecified order",                                             \
	  "an entry lost or doubled")                                          \
	X(getgroups, WIRE_PERMUTE, WIRE_ONE, 0, "getgroups",                   \
	  "POSIX getgroups: fills in the current supplementary group"          \
	  " IDs, in no specified order",                                       \
	  "another set of groups, or another number of them")                  \
	X(getgrouplist, WIRE_PERMUTE, WIRE_ONE, 0, "getgrouplist",             \
	  "getgrouplist(3): the argument group is included in the list,"       \
	  " at an unspecified position",                                       \
	  "another set of groups")                                             \
	X(getaddrinfo, WIRE_PERMUTE, WIRE_ONE, WIRE_OPTIONAL, "getaddrinfo",   \
	  "POSIX getaddrinfo: a list of addresses, in no specified"            \
	  " order (RFC 6724 and gai.conf(5) define one)",                      \
	  "ai_canonname elsewhere than in the first, another set")             \
	X(getifaddrs, WIRE_PERMUTE, WIRE_ONE, 0, "getifaddrs",                 \
	  "getifaddrs(3): a linked list of interfaces, in no specified"        \
	  " order",                                                            \
	  "another set, or another pointer to free")                           \
	X(if_nameindex, WIRE_PERMUTE, WIRE_ONE, 0, "if_nameindex",             \
	  "POSIX if_nameindex: an array of all interfaces, in no"              \
	  " specified order",                                                  \
	  "another set, or the last entry elsewhere")                          \
	X(listxattr, WIRE_PERMUTE, WIRE_ONE, 0, "listxattr",                   \
	  "listxattr(2): the list of names is returned as an unordered array"  \
	  " of null-terminated strings",                                       \
	  "another set, another length")

#define WIRE_MODELS_READINESS(X)                                               \
	X(wait, WIRE_PERMUTE, WIRE_ID, 0, "wait",                              \
	  "POSIX wait: if status is available for two or more children, the"   \
	  " order in which it is reported is unspecified",                     \
	  "a child that has not ended, or one twice")                          \
	X(waitpid, WIRE_PERMUTE, WIRE_ID, 0, "waitpid",                        \
	  "POSIX waitpid: if status is available for two or more children,"    \
	  " the order in which it is reported is unspecified",                 \
	  "another child than the one asked for, or one twice")                \
	X(wait4, WIRE_PERMUTE, WIRE_ID, 0, "wait4",                            \
	  "wait4(2): as waitpid, whose order among children that have ended"   \
	  " is unspecified",                                                   \
	  "another child than the one asked for, or one twice")                \
	X(waitid, WIRE_PERMUTE, WIRE_ID, 0, "waitid",                          \
	  "POSIX waitid: with P_ALL it waits for any child; the order among"   \
	  " those that have ended is not specified",                           \
	  "another child than the one asked for")                              \
	X(epoll_wait, WIRE_PERMUTE, WIRE_ID, 0, "epoll_wait",                  \
	  "epoll_wait(2): the order of the returned events is not specified",  \
	  "an event hidden or invented")                                       \
	X(epoll_pwait, WIRE_PERMUTE, WIRE_ID, 0, "epoll_pwait",                \
	  "epoll_wait(2): the order of the returned events is not specified",  \
	  "an event hidden or invented")                                       \
	X(select, WIRE_RANDOM, WIRE_ONE, 0, "select",                          \
	  "POSIX select: it may modify the object that timeout points to;"     \
	  " select(2): consider it undefined afterwards",                      \
	  "the sets, the result, a time-out after an error")
/* clang-format on */
