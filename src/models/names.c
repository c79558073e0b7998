/* Models of names: users, groups, services, hosts, interfaces, attributes. */
#include "models/order_internal.h"

#include <assert.h>
#include <grp.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <pwd.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- databases that are read entry by entry ---- */

/*
 * As with directories, the first call reads all that is left. Entries are in
 * memory of ours, each followed by its texts, until the database is opened
 * again or closed.
 */
#define ROOM ((size_t)64 << 20)
#define RECORDS 65536
#define RECORD 64 /* the largest of the structures, rounded up */

struct database {
	enum wire_model model;
	int (*read)(void *record, char *text, size_t size); /* 0, or an error */
	struct order_lock lock;
	char *memory;
	uint32_t n, at;
	uint32_t offsets[RECORDS];
};

static void database_forget(struct database *database)
{
	order_lock(&database->lock);
	order_unmap(database->memory, ROOM);
	database->memory = NULL;
	order_unlock(&database->lock);
}

static void database_read(struct database *database)
{
	size_t used = 0;
	uint64_t names = 0;
	int saved = errno;
	database->n = database->at = 0;
	database->memory = order_map(ROOM);
	while (database->memory && database->n < RECORDS) {
		size_t size = 1024;
		char *record = database->memory + used;
		int error = ERANGE;
		for (; error == ERANGE && used + RECORD + size <= ROOM;
		     size *= 2)
			error = database->read(record, record + RECORD, size);
		if (error)
			break;
		/* The first field of all of them is the name. */
		names += choose_hash_text(*(char **)record);
		database->offsets[database->n++] = (uint32_t)used;
		used += RECORD + size / 2;
	}
	errno = saved;
	if (database->n < 2)
		return;
	struct choose_keys keys = { .equal = names, .object = names };
	uint64_t pick = choose_pick(database->model,
				    choose_permutations(database->n), keys);
	choose_argument("%u entries", database->n);
	choose_did("entries came in another order");
	choose_permute(pick, database->offsets, database->n,
		       sizeof(database->offsets[0]));
}

/* The next entry; NULL: ask the library. @peek: it stays the next. */
static void *database_next(struct database *database, uintptr_t caller,
			   bool peek)
{
	void *record = NULL;
	if (!database->memory && !choose_wanted(database->model, caller))
		return NULL;
	order_lock(&database->lock);
	if (!database->memory)
		database_read(database);
	if (database->memory && database->at < database->n) {
		record = database->memory + database->offsets[database->at];
		database->at += !peek;
	}
	order_unlock(&database->lock);
	return record;
}

/* Copies of texts into a buffer of the caller's. */
struct into {
	char *at;
	size_t left;
	bool full;
};

static char *into_text(struct into *into, const char *text)
{
	if (!text)
		return NULL;
	size_t n = text_length(text) + 1;
	char *to = into->at;
	if (into->full || n > into->left) {
		into->full = true;
		return NULL;
	}
	order_copy(to, text, n);
	into->at += n;
	into->left -= n;
	return to;
}

static char **into_list(struct into *into, char **list)
{
	size_t n = 0, skip = -(uintptr_t)into->at % sizeof(char *);
	if (!list)
		return NULL;
	while (list[n])
		n++;
	size_t size = skip + (n + 1) * sizeof(char *);
	if (into->full || size > into->left) {
		into->full = true;
		return NULL;
	}
	char **to = (char **)(into->at + skip);
	into->at += size;
	into->left -= size;
	for (size_t i = 0; i < n; i++)
		to[i] = into_text(into, list[i]);
	to[n] = NULL;
	return to;
}

static void copy_pw(struct passwd *to, struct into *into)
{
	to->pw_name = into_text(into, to->pw_name);
	to->pw_passwd = into_text(into, to->pw_passwd);
	to->pw_gecos = into_text(into, to->pw_gecos);
	to->pw_dir = into_text(into, to->pw_dir);
	to->pw_shell = into_text(into, to->pw_shell);
}

static void copy_gr(struct group *to, struct into *into)
{
	to->gr_mem = into_list(into, to->gr_mem);
	to->gr_name = into_text(into, to->gr_name);
	to->gr_passwd = into_text(into, to->gr_passwd);
}

static void copy_serv(struct servent *to, struct into *into)
{
	to->s_aliases = into_list(into, to->s_aliases);
	to->s_name = into_text(into, to->s_name);
	to->s_proto = into_text(into, to->s_proto);
}

static void copy_proto(struct protoent *to, struct into *into)
{
	to->p_aliases = into_list(into, to->p_aliases);
	to->p_name = into_text(into, to->p_name);
}

/* @arguments, @values: of set…ent(), which for some is whether to stay open. */
#define DATABASE(what, type, arguments, values)                                \
	static_assert(sizeof(struct type) <= RECORD, "room for a record");     \
	static int read_##what(void *record, char *text, size_t size)          \
	{                                                                      \
		struct type *result = NULL;                                    \
		CHOOSE_NEXT(get##what##ent_r, ENOSYS)                          \
		int error = next(record, text, size, &result);                 \
		return error ? error : result ? 0 : ENOENT;                    \
	}                                                                      \
	static struct database what##_database = {                             \
		.model = WIRE_MODEL_get##what##ent,                            \
		.read = read_##what,                                           \
	};                                                                     \
	_export_ struct type *get##what##ent(void)                             \
	{                                                                      \
		CHOOSE_NEXT(get##what##ent, NULL)                              \
		void *record = database_next(&what##_database,                 \
					     CHOOSE_CALLER(), false);          \
		return record ? record : next();                               \
	}                                                                      \
	_export_ int get##what##ent_r(struct type *entry, char *text,          \
				      size_t size, struct type **result)       \
	{                                                                      \
		CHOOSE_NEXT(get##what##ent_r, ENOSYS)                          \
		const struct type *record = database_next(                     \
			&what##_database, CHOOSE_CALLER(), true);              \
		if (!record)                                                   \
			return next(entry, text, size, result);                \
		struct into into = { text, size, false };                      \
		*entry = *record;                                              \
		copy_##what(entry, &into);                                     \
		*result = into.full ? NULL : entry;                            \
		if (into.full)                                                 \
			return errno = ERANGE;                                 \
		database_next(&what##_database, CHOOSE_CALLER(), false);       \
		return 0;                                                      \
	}                                                                      \
	_export_ void set##what##ent arguments                                 \
	{                                                                      \
		CHOOSE_NEXT(set##what##ent, )                                  \
		database_forget(&what##_database);                             \
		next values;                                                   \
	}                                                                      \
	_export_ void end##what##ent(void)                                     \
	{                                                                      \
		CHOOSE_NEXT(end##what##ent, )                                  \
		database_forget(&what##_database);                             \
		next();                                                        \
	}

DATABASE(pw, passwd, (void), ())
DATABASE(gr, group, (void), ())
DATABASE(serv, servent, (int stay), (stay))
DATABASE(proto, protoent, (int stay), (stay))

/* ---- groups ---- */

static void permute_groups(enum wire_model model, gid_t *groups, int n,
			   uintptr_t caller)
{
	if (n < 2 || !groups || !choose_wanted(model, caller))
		return;
	struct choose_keys keys =
		order_array_keys(groups, (size_t)n * sizeof(*groups));
	keys.object = keys.equal;
	uint64_t pick =
		choose_pick(model, choose_permutations((size_t)n), keys);
	choose_argument("%d groups", n);
	choose_did("groups came in another order");
	choose_permute(pick, groups, (size_t)n, sizeof(*groups));
}

_export_ int getgroups(int room, gid_t *groups)
{
	CHOOSE_NEXT(getgroups, -1)
	int n = next(room, groups);
	if (room)
		permute_groups(WIRE_MODEL_getgroups, groups, n,
			       CHOOSE_CALLER());
	return n;
}

int __getgroups_chk(int room, gid_t *groups, size_t size);
_export_ int __getgroups_chk(int room, gid_t *groups, size_t size)
{
	CHOOSE_NEXT(__getgroups_chk, -1)
	int n = next(room, groups, size);
	if (room)
		permute_groups(WIRE_MODEL_getgroups, groups, n,
			       CHOOSE_CALLER());
	return n;
}

_export_ int getgrouplist(const char *user, gid_t group, gid_t *groups,
			  int *count)
{
	CHOOSE_NEXT(getgrouplist, -1)
	int n = next(user, group, groups, count);
	permute_groups(WIRE_MODEL_getgrouplist, groups, n, CHOOSE_CALLER());
	return n;
}

/* ---- hosts and interfaces ---- */

#define NODES 256

_export_ int getaddrinfo(const char *host, const char *service,
			 const struct addrinfo *hints, struct addrinfo **ret)
{
	CHOOSE_NEXT(getaddrinfo, EAI_SYSTEM)
	struct addrinfo *nodes[NODES];
	size_t n = 0;
	int result = next(host, service, hints, ret);
	if (result || !choose_wanted(WIRE_MODEL_getaddrinfo, CHOOSE_CALLER()))
		return result;
	uint64_t equal = 0;
	for (struct addrinfo *node = *ret; node; node = node->ai_next) {
		if (n == NODES)
			return result;
		equal += choose_hash(node->ai_addr, node->ai_addrlen);
		nodes[n++] = node;
	}
	if (n < 2)
		return result;
	struct choose_keys keys = { .equal = equal, .object = equal };
	uint64_t pick = choose_pick(WIRE_MODEL_getaddrinfo,
				    choose_permutations(n), keys);
	choose_argument("%zu addresses of %s", n, host ? host : "(null)");
	choose_did("addresses came in another order");
	char *name = nodes[0]->ai_canonname;
	nodes[0]->ai_canonname = NULL;
	choose_permute(pick, nodes, n, sizeof(nodes[0]));
	nodes[0]->ai_canonname = name;
	for (size_t i = 0; i < n; i++)
		nodes[i]->ai_next = i + 1 < n ? nodes[i + 1] : NULL;
	*ret = nodes[0];
	return result;
}

/* The first node is what freeifaddrs(3) frees: contents change places. */
_export_ int getifaddrs(struct ifaddrs **ret)
{
	CHOOSE_NEXT(getifaddrs, -1)
	struct ifaddrs *nodes[NODES], contents[NODES];
	size_t n = 0;
	uint64_t equal = 0;
	int result = next(ret);
	if (result || !choose_wanted(WIRE_MODEL_getifaddrs, CHOOSE_CALLER()))
		return result;
	for (struct ifaddrs *node = *ret; node; node = node->ifa_next) {
		if (n == NODES)
			return result;
		equal += choose_hash_text(node->ifa_name);
		contents[n] = *node;
		nodes[n++] = node;
	}
	if (n < 2)
		return result;
	struct choose_keys keys = { .equal = equal, .object = equal };
	uint64_t pick = choose_pick(WIRE_MODEL_getifaddrs,
				    choose_permutations(n), keys);
	choose_argument("%zu addresses of interfaces", n);
	choose_did("they came in another order");
	choose_permute(pick, contents, n, sizeof(contents[0]));
	for (size_t i = 0; i < n; i++) {
		struct ifaddrs *following = nodes[i]->ifa_next;
		*nodes[i] = contents[i];
		nodes[i]->ifa_next = following;
	}
	return result;
}

_export_ struct if_nameindex *if_nameindex(void)
{
	CHOOSE_NEXT(if_nameindex, NULL)
	struct if_nameindex *list = next();
	size_t n = 0;
	uint64_t equal = 0;
	if (!list || !choose_wanted(WIRE_MODEL_if_nameindex, CHOOSE_CALLER()))
		return list;
	for (; list[n].if_index || list[n].if_name; n++)
		equal += choose_hash_text(list[n].if_name);
	if (n < 2)
		return list;
	struct choose_keys keys = { .equal = equal, .object = equal };
	uint64_t pick = choose_pick(WIRE_MODEL_if_nameindex,
				    choose_permutations(n), keys);
	choose_argument("%zu interfaces", n);
	choose_did("interfaces came in another order");
	choose_permute(pick, list, n, sizeof(*list));
	return list;
}

/* ---- extended attributes ---- */

static ssize_t permute_attributes(char *list, ssize_t bytes, uintptr_t caller)
{
	uint32_t offsets[NODES];
	size_t n = 0, used = 0;
	uint64_t equal = 0;
	if (bytes <= 0 || !choose_wanted(WIRE_MODEL_listxattr, caller) ||
	    list[bytes - 1])
		return bytes;
	for (size_t at = 0; at < (size_t)bytes; n++) {
		if (n == NODES)
			return bytes;
		offsets[n] = (uint32_t)at;
		equal += choose_hash_text(list + at);
		at += text_length(list + at) + 1;
	}
	char *copy = n > 1 ? order_map((size_t)bytes) : NULL;
	if (!copy)
		return bytes;
	order_copy(copy, list, (size_t)bytes);
	struct choose_keys keys = { .equal = equal, .object = equal };
	uint64_t pick =
		choose_pick(WIRE_MODEL_listxattr, choose_permutations(n), keys);
	choose_argument("%zu names", n);
	choose_did("names came in another order");
	choose_permute(pick, offsets, n, sizeof(offsets[0]));
	for (size_t i = 0; i < n; i++) {
		size_t length = text_length(copy + offsets[i]) + 1;
		order_copy(list + used, copy + offsets[i], length);
		used += length;
	}
	order_unmap(copy, (size_t)bytes);
	return bytes;
}

_export_ ssize_t listxattr(const char *path, char *list, size_t size)
{
	CHOOSE_NEXT(listxattr, -1)
	ssize_t bytes = next(path, list, size);
	return size ? permute_attributes(list, bytes, CHOOSE_CALLER()) : bytes;
}

_export_ ssize_t llistxattr(const char *path, char *list, size_t size)
{
	CHOOSE_NEXT(llistxattr, -1)
	ssize_t bytes = next(path, list, size);
	return size ? permute_attributes(list, bytes, CHOOSE_CALLER()) : bytes;
}

_export_ ssize_t flistxattr(int fd, char *list, size_t size)
{
	CHOOSE_NEXT(flistxattr, -1)
	ssize_t bytes = next(fd, list, size);
	return size ? permute_attributes(list, bytes, CHOOSE_CALLER()) : bytes;
}
