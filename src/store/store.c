#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "store/folder.h"

/* In the file's header: whose it is ("Plgr"), and of which version. */
#define APPLICATION_ID 0x506c6772
#define SCHEMA_VERSION 1

/* How long another process may keep us waiting. */
#define BUSY_MS 3000
/* On file systems where a transaction is dear. */
#define GATHER_NS (200 * NS_PER_MS)
#define GATHER_FACTS 4096
#define GATHER_BYTES ((size_t)4 << 20)
#define LIST_MAX 10000

enum query {
	QUERY_GET,
	QUERY_PUT,
	QUERY_FORGET,
	QUERY_SUITE_GET,
	QUERY_SUITE_PUT,
	QUERY_SUITE_USED,
	QUERY_SUITE_DROP,
	QUERY_SUITE_OLDEST,
	QUERY_SUITES_TRIM,
	QUERY_RUN_DROP,
	QUERY_RUN_PUT,
	QUERY_RUNS_TRIM,
	QUERY_FINDING_PUT,
	QUERY_FINDING_GET,
	QUERY_FINDING_BEGINS,
	QUERY_FINDINGS,
	QUERIES,
};

struct fact {
	char *key;
	void *value;
	size_t n;
};

struct store {
	char *folder;
	char *path;
	pid_t pid;
	sqlite3 *db;
	sqlite3_stmt *queries[QUERIES];
	dev_t dev; /* of the file */
	ino_t ino;
	bool damaged;	/* SQLite said so */
	bool read_only; /* the folder or the file: nothing new is kept */
	uint64_t bytes_max;

	int64_t suite;	  /* of the facts; 0: none, or its state was dropped */
	uint64_t pause;	  /* between two transactions of facts; 0: none */
	uint64_t flushed; /* when the last one was */
	VEC(struct fact) gathered;
	struct map_text gathered_at; /* index by key */
	size_t gathered_bytes;
};

/*
 * Suites and runs are never renumbered (AUTOINCREMENT): facts that another
 * process still puts for a state that we dropped find no suite, rather than the
 * wrong one.
 */
static const char schema[] =
	"CREATE TABLE suites (id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" name BLOB NOT NULL UNIQUE, digest BLOB NOT NULL,"
	" used INTEGER NOT NULL);"
	"CREATE TABLE facts (suite INTEGER NOT NULL REFERENCES suites (id)"
	" ON DELETE CASCADE, key BLOB NOT NULL, value BLOB NOT NULL,"
	" PRIMARY KEY (suite, key)) WITHOUT ROWID;"
	"CREATE TABLE runs (id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" suite BLOB NOT NULL, command BLOB NOT NULL,"
	" UNIQUE (suite, command));"
	"CREATE TABLE findings (run INTEGER NOT NULL REFERENCES runs (id)"
	" ON DELETE CASCADE, place INTEGER NOT NULL, id BLOB NOT NULL,"
	" json BLOB NOT NULL, replay BLOB, PRIMARY KEY (run, place))"
	" WITHOUT ROWID;"
	"CREATE INDEX findings_by_id ON findings (id);";

#define FINDINGS                                                               \
	"SELECT findings.id, command, json, replay, suite FROM findings"       \
	" JOIN runs ON runs.id = findings.run "

static const char *const texts[QUERIES] = {
	[QUERY_GET] = "SELECT value FROM facts WHERE suite = ?1 AND key = ?2",
	[QUERY_PUT] = "INSERT OR REPLACE INTO facts VALUES (?1, ?2, ?3)",
	[QUERY_FORGET] = "DELETE FROM facts WHERE suite = ?1",
	[QUERY_SUITE_GET] = "SELECT id, digest FROM suites WHERE name = ?1",
	[QUERY_SUITE_PUT] =
		"INSERT INTO suites (name, digest, used) VALUES (?1, ?2,"
		" (SELECT ifnull(max(used), 0) + 1 FROM suites))",
	[QUERY_SUITE_USED] =
		"UPDATE suites SET used = (SELECT max(used) + 1 FROM suites)"
		" WHERE id = ?1",
	[QUERY_SUITE_DROP] = "DELETE FROM suites WHERE id = ?1",
	[QUERY_SUITE_OLDEST] =
		"SELECT id FROM suites WHERE id <> ?1 ORDER BY used LIMIT 1",
	[QUERY_SUITES_TRIM] = "DELETE FROM suites WHERE id IN (SELECT id FROM"
			      " suites ORDER BY used DESC LIMIT -1 OFFSET ?1)",
	[QUERY_RUN_DROP] = "DELETE FROM runs WHERE suite = ?1 AND command = ?2",
	[QUERY_RUN_PUT] = "INSERT INTO runs (suite, command) VALUES (?1, ?2)",
	[QUERY_RUNS_TRIM] = "DELETE FROM runs WHERE id IN (SELECT id FROM runs"
			    " ORDER BY id DESC LIMIT -1 OFFSET ?1)",
	[QUERY_FINDING_PUT] =
		"INSERT INTO findings VALUES (?1, ?2, ?3, ?4, ?5)",
	[QUERY_FINDING_GET] =
		FINDINGS "WHERE findings.id = ?1 ORDER BY run DESC LIMIT 1",
	[QUERY_FINDING_BEGINS] =
		FINDINGS "WHERE substr(findings.id, 1, length(?1)) = ?1"
			 " ORDER BY run DESC, place",
	[QUERY_FINDINGS] = FINDINGS "ORDER BY run DESC, place LIMIT ?1",
};

/* ---- SQLite's words into ours ---- */

static bool files_are_limited(void)
{
	struct rlimit limit;
	return !getrlimit(RLIMIT_FSIZE, &limit) &&
	       limit.rlim_cur != RLIM_INFINITY;
}

static struct err *db_err(struct store *store, int code)
{
	if (code == SQLITE_NOMEM)
		return err_nomem();
	int kind = code & 0xff;
	/*
	 * The last three: what we ask for is right with tables as we make them.
	 * A file that may be written and yet is read-only to SQLite has
	 * numbers in its header that it does not know.
	 */
	if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB ||
	    kind == SQLITE_ERROR || kind == SQLITE_CONSTRAINT ||
	    (code == SQLITE_READONLY && !access(store->path, W_OK)))
		store->damaged = !store->read_only;
	const char *why = kind == SQLITE_BUSY ? "another call is using it"
			  : store->db	      ? sqlite3_errmsg(store->db)
					      : sqlite3_errstr(code);
	int number = store->db ? sqlite3_system_errno(store->db) : 0;
	/* SQLite does not keep the number of all of them. */
	if (kind == SQLITE_IOERR && !number && files_are_limited())
		number = EFBIG;
	bool system = number && (kind == SQLITE_IOERR || kind == SQLITE_FULL ||
				 kind == SQLITE_CANTOPEN);
	return system ? err_errno(number, "'%s': %s", store->path, why)
		      : err_create(ERR_INTERNAL, "'%s': %s", store->path, why);
}

static struct err *store_execute(struct store *store, const char *sql)
{
	int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
	return code == SQLITE_OK ? NULL : db_err(store, code);
}

static void store_rollbackp(struct store **store)
{
	/* Whether there still is a transaction is SQLite's to say. */
	if (*store && !sqlite3_get_autocommit((*store)->db))
		sqlite3_exec((*store)->db, "ROLLBACK", NULL, NULL, NULL);
}

/*
 *	_cleanup_(store_rollbackp) struct store *open = NULL;
 *	TRY(store_begin_transaction(store, &open));
 *	…
 *	return store_commit_transaction(&open);
 */
static struct err *store_begin_transaction(struct store *store,
					   struct store **ret_open)
{
	TRY(store_execute(store, "BEGIN IMMEDIATE"));
	*ret_open = store;
	return NULL;
}

static struct err *store_commit_transaction(struct store **open)
{
	TRY(store_execute(*open, "COMMIT"));
	*open = NULL;
	return NULL;
}

/* A prepared statement in use; its bindings stay the caller's memory. */
struct use {
	struct store *store;
	sqlite3_stmt *stmt;
};

static void use_endp(const struct use *use)
{
	sqlite3_reset(use->stmt);
	sqlite3_clear_bindings(use->stmt);
}

static struct use store_use_query(struct store *store, enum query query)
{
	return (struct use){ store, store->queries[query] };
}

static struct err *bind_bytes(const struct use *use, int at, const void *bytes,
			      size_t n)
{
	/* A pointer that is NULL would be bound as NULL. */
	int code = sqlite3_bind_blob64(use->stmt, at, n ? bytes : "", n,
				       SQLITE_STATIC);
	return code == SQLITE_OK ? NULL : db_err(use->store, code);
}

static struct err *bind_text(const struct use *use, int at, const char *text)
{
	return text ? bind_bytes(use, at, text, strlen(text)) : NULL;
}

static struct err *bind_number(const struct use *use, int at, int64_t number)
{
	int code = sqlite3_bind_int64(use->stmt, at, number);
	return code == SQLITE_OK ? NULL : db_err(use->store, code);
}

/* The next row, or the end. */
static struct err *store_step_query(const struct use *use, bool *ret_row)
{
	int code = sqlite3_step(use->stmt);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		return db_err(use->store, code);
	*ret_row = code == SQLITE_ROW;
	return NULL;
}

static struct err *store_run_query(const struct use *use)
{
	bool row;
	return store_step_query(use, &row);
}

static struct err *column_bytes(const struct use *use, int at, void **ret,
				size_t *ret_n)
{
	const void *bytes = sqlite3_column_blob(use->stmt, at);
	size_t n = (size_t)sqlite3_column_bytes(use->stmt, at);
	if (!bytes && n)
		return err_nomem();
	char *copy = malloc(n + 1);
	if (!copy)
		return err_nomem();
	if (n)
		memcpy(copy, bytes, n);
	copy[n] = '\0';
	*ret = copy;
	if (ret_n)
		*ret_n = n;
	return NULL;
}

static struct err *column_text(const struct use *use, int at, char **ret)
{
	void *text = NULL;
	if (sqlite3_column_type(use->stmt, at) == SQLITE_NULL)
		return NULL;
	TRY(column_bytes(use, at, &text, NULL));
	*ret = text;
	return NULL;
}

static struct err *ask_number(struct store *store, const char *sql,
			      int64_t *ret)
{
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_step(stmt);
	if (code == SQLITE_ROW)
		*ret = sqlite3_column_int64(stmt, 0);
	struct err *err = code == SQLITE_ROW ? NULL : db_err(store, code);
	sqlite3_finalize(stmt);
	return err;
}

/* ---- open and close ---- */

static void close_db(struct store *store)
{
	for (size_t i = 0; i < QUERIES; i++)
		sqlite3_finalize(take_ptr(store->queries[i]));
	sqlite3_close(take_ptr(store->db));
}

/*
 * Checking whether the file is one of ours, creating it and moving it aside
 * happen under a lock. Without such locks, two processes that do this at the
 * same moment lose what one of them keeps.
 */
static int lock_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX) < 0)
		log_debug(LOG_STORE, "cannot lock '%s': %s", folder,
			  strerror(errno));
	return fd;
}

static struct err *move_aside(struct store *store, const char *why)
{
	/* What SQLite keeps beside a file belongs to it. */
	static const char *const beside[] = { "", "-wal", "-journal" };
	for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
		_cleanup_(str_freep) struct str from = STR_INIT, to = STR_INIT;
		TRY(str_appendf(&from, "%s%s", store->path, beside[i]));
		TRY(str_appendf(&to, "%s.old%s", store->path, beside[i]));
		if (unlink(to.s) < 0 && errno != ENOENT)
			return err_errno(errno, "'%s'", to.s);
		if (rename(from.s, to.s) < 0 && errno != ENOENT)
			return err_errno(errno, "cannot move '%s' aside",
					 from.s);
	}
	_cleanup_(str_freep) struct str shared = STR_INIT;
	TRY(str_appendf(&shared, "%s-shm", store->path));
	unlink(shared.s);
	log_warn("'%s' %s; it is '%s.old' now", store->path, why,
		 path_base(store->path));
	return NULL;
}

static bool store_folder_is_local(const char *folder)
{
	/* Of linux/magic.h; those that some versions of it lack as numbers. */
	static const unsigned long remote[] = {
		NFS_SUPER_MAGIC,
		SMB_SUPER_MAGIC,
		AFS_SUPER_MAGIC,
		CODA_SUPER_MAGIC,
		NCP_SUPER_MAGIC,
		V9FS_MAGIC,
		FUSE_SUPER_MAGIC,
		0xff534d42 /* CIFS */,
		0xfe534d42 /* SMB2 */,
		0x00c36400 /* Ceph */,
		0x786f4256 /* VirtualBox */,
	};
	const char *fault = getenv("POLYGRAPH_FAULT_REMOTE");
	struct statfs status;
	if ((fault && *fault) || statfs(folder, &status) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(remote); i++) {
		if (((unsigned long)status.f_type & 0xffffffff) == remote[i])
			return false;
	}
	return true;
}

/* Safe against a loss of power, too; the log is only synced when it is emptied. */
static struct err *set_up_journal(struct store *store)
{
	bool log = false;
	if (store_folder_is_local(store->folder)) {
		sqlite3_stmt *stmt = NULL;
		int code = sqlite3_prepare_v2(store->db,
					      "PRAGMA journal_mode = WAL", -1,
					      &stmt, NULL);
		if (code == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
			const char *mode =
				(const char *)sqlite3_column_text(stmt, 0);
			log = mode && !strcmp(mode, "wal");
		}
		sqlite3_finalize(stmt);
	}
	if (!log)
		TRY(store_execute(store, "PRAGMA journal_mode = TRUNCATE"));
	store->pause = log ? 0 : GATHER_NS;
	return store_execute(store, "PRAGMA synchronous = NORMAL");
}

static struct err *bound_size(struct store *store)
{
	int64_t page = 0;
	const char *fault = getenv("POLYGRAPH_FAULT_STORE_BYTES");
	store->bytes_max = STORE_BYTES_MAX;
	if (fault && !str_to_u64(fault, 10, &store->bytes_max))
		store->bytes_max = STORE_BYTES_MAX;
	TRY(ask_number(store, "PRAGMA page_size", &page));
	_cleanup_(str_freep) struct str sql = STR_INIT;
	TRY(str_appendf(&sql, "PRAGMA max_page_count = %llu",
			(unsigned long long)(store->bytes_max /
					     (uint64_t)MAX(page, 512))));
	sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, (int)STORE_VALUE_MAX);
	return store_execute(store, sql.s);
}

static struct err *make_schema(struct store *store)
{
	_cleanup_(store_rollbackp) struct store *open = NULL;
	_cleanup_(str_freep) struct str sql = STR_INIT;
	TRY(str_appendf(&sql,
			"PRAGMA application_id = %d; PRAGMA user_version = %d",
			APPLICATION_ID, SCHEMA_VERSION));
	TRY(store_begin_transaction(store, &open));
	TRY(store_execute(store, schema));
	TRY(store_execute(store, sql.s));
	return store_commit_transaction(&open);
}

/* @ret_why: what is wrong with the file, where it is not one of ours. */
static struct err *store_look_at_file(struct store *store, const char **ret_why)
{
	int64_t application = 0, version = 0, tables = 0;
	*ret_why = NULL;
	TRY(ask_number(store, "PRAGMA application_id", &application));
	TRY(ask_number(store, "PRAGMA user_version", &version));
	TRY(ask_number(store, "SELECT count(*) FROM sqlite_schema", &tables));
	if (!application && !version && !tables && !store->read_only)
		return make_schema(store);
	if (application != APPLICATION_ID)
		*ret_why = "is not a file of polygraph";
	else if (version != SCHEMA_VERSION)
		*ret_why = "is from another version of polygraph";
	return NULL;
}

static struct err *store_prepare_queries(struct store *store,
					 const char **ret_why)
{
	for (size_t i = 0; i < QUERIES; i++) {
		int code = sqlite3_prepare_v3(store->db, texts[i], -1,
					      SQLITE_PREPARE_PERSISTENT,
					      &store->queries[i], NULL);
		if (code == SQLITE_ERROR)
			*ret_why = "has other tables than it should";
		if (code != SQLITE_OK)
			return db_err(store, code);
	}
	return NULL;
}

/* Another process has it open, and what it wrote is not in the file yet. */
static bool has_log(const struct store *store)
{
	struct stat status;
	_cleanup_(str_freep) struct str path = STR_INIT;
	struct err *err = str_appendf(&path, "%s-wal", store->path);
	err_ignore(err);
	return path.s && !stat(path.s, &status) && status.st_size;
}

/*
 * SQLite shares memory with others through a file beside this one, unless it is
 * told that nobody can write it ("immutable").
 */
static struct err *store_connect(struct store *store)
{
	_cleanup_(str_freep) struct str uri = STR_INIT;
	int flags = store->read_only
			    ? SQLITE_OPEN_READONLY
			    : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	if (store->read_only && !has_log(store)) {
		TRY(str_append(&uri, "file:"));
		for (const char *c = store->path; *c; c++)
			TRY(str_appendf(&uri,
					strchr("%?#", *c) ? "%%%02x" : "%c",
					(unsigned char)*c));
		TRY(str_append(&uri, "?immutable=1"));
		flags |= SQLITE_OPEN_URI;
	}
	int code = sqlite3_open_v2(uri.s ? uri.s : store->path, &store->db,
				   flags | SQLITE_OPEN_NOMUTEX, NULL);
	return code == SQLITE_OK ? NULL : db_err(store, code);
}

static struct err *store_open_file(struct store *store, const char **ret_why)
{
	store->damaged = false;
	TRY(store_connect(store));
	sqlite3_extended_result_codes(store->db, 1);
	sqlite3_busy_timeout(store->db, BUSY_MS);
	/* The file may come from anywhere: nothing in it may be executed. */
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	TRY(store_look_at_file(store, ret_why));
	if (*ret_why || store->read_only)
		return *ret_why ? NULL : store_prepare_queries(store, ret_why);
	TRY(set_up_journal(store));
	TRY(store_execute(store, "PRAGMA foreign_keys = ON"));
	TRY(bound_size(store));
	return store_prepare_queries(store, ret_why);
}

static struct err *open_or_anew(struct store *store)
{
	for (bool again = false;; again = true) {
		const char *why = NULL;
		struct err *err = store_open_file(store, &why);
		if (!err && !why)
			return NULL;
		if (!why && store->damaged)
			why = "is damaged, or no database";
		if (!why || again || store->read_only)
			return err ? err
				   : err_create(ERR_INTERNAL, "'%s' %s",
						store->path, why);
		err_destroy(err);
		close_db(store);
		TRY(move_aside(store, why));
		TRY(store_folder_make(store->folder));
	}
}

struct err *store_open(const char *folder, struct store **ret)
{
	_cleanup_(store_closep) struct store *store = calloc(1, sizeof(*store));
	if (!store)
		return err_nomem();
	store->pid = getpid();
	store->folder = strdup(folder);
	if (!store->folder)
		return err_nomem();
	TRY(path_join(folder, STORE_FILE, &store->path));
	TRY(store_folder_make(folder));
	store->read_only =
		access(folder, W_OK) < 0 || access(store->path, W_OK) < 0;
	_cleanup_(closep) _unused_ int lock = lock_folder(folder);
	TRY(open_or_anew(store));
	struct stat status;
	if (!stat(store->path, &status)) {
		store->dev = status.st_dev;
		store->ino = status.st_ino;
	}
	*ret = take_ptr(store);
	return NULL;
}

/* Only what we had open: another call may have created a new one. */
static void store_retire_file(struct store *store)
{
	_cleanup_(closep) _unused_ int lock = lock_folder(store->folder);
	struct stat status;
	if (!stat(store->path, &status) && status.st_dev == store->dev &&
	    status.st_ino == store->ino)
		err_ignore(move_aside(store, "is damaged"));
}

static void free_gathered(struct store *store)
{
	for (size_t i = 0; i < store->gathered.n; i++) {
		free(store->gathered.data[i].key);
		free(store->gathered.data[i].value);
	}
	vec_free(&store->gathered);
	map_text_free(&store->gathered_at);
	store->gathered_at = (struct map_text)MAP_INIT;
	store->gathered_bytes = 0;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	if (store->pid == getpid()) {
		if (store->db)
			err_ignore(store_flush(store));
		close_db(store);
		if (store->damaged && store->ino)
			store_retire_file(store);
	}
	/* In a fork SQLite's own memory is left: closing would unlock. */
	free_gathered(store);
	free(store->folder);
	free(store->path);
	free(store);
}

static bool is_ours(const struct store *store)
{
	return store->pid == getpid();
}

/* ---- findings ---- */

void store_finding_free(struct store_finding *finding)
{
	free(finding->id);
	free(finding->command);
	free(finding->json);
	free(finding->replay);
	free(finding->suite);
	*finding = (struct store_finding){};
}

void store_findings_free(struct store_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		store_finding_free(&findings->data[i]);
	vec_free(findings);
}

static struct err *put_finding(struct store *store, int64_t run_id,
			       size_t place,
			       const struct store_finding *finding)
{
	_cleanup_(use_endp) struct use put =
		store_use_query(store, QUERY_FINDING_PUT);
	TRY(bind_number(&put, 1, run_id));
	TRY(bind_number(&put, 2, (int64_t)place));
	TRY(bind_text(&put, 3, finding->id));
	TRY(bind_text(&put, 4, finding->json));
	TRY(bind_text(&put, 5, finding->replay));
	return store_run_query(&put);
}

static struct err *put_run(struct store *store, const char *suite,
			   const char *command, int64_t *ret)
{
	_cleanup_(use_endp) struct use drop =
		store_use_query(store, QUERY_RUN_DROP);
	TRY(bind_text(&drop, 1, suite));
	TRY(bind_text(&drop, 2, command));
	TRY(store_run_query(&drop));
	_cleanup_(use_endp) struct use put =
		store_use_query(store, QUERY_RUN_PUT);
	TRY(bind_text(&put, 1, suite));
	TRY(bind_text(&put, 2, command));
	TRY(store_run_query(&put));
	*ret = sqlite3_last_insert_rowid(store->db);
	_cleanup_(use_endp) struct use trim =
		store_use_query(store, QUERY_RUNS_TRIM);
	TRY(bind_number(&trim, 1, STORE_RUNS_MAX));
	return store_run_query(&trim);
}

static struct err *put_findings(struct store *store, const char *suite,
				const char *command,
				const struct store_finding *findings, size_t n)
{
	_cleanup_(store_rollbackp) struct store *open = NULL;
	int64_t run_id = 0;
	TRY(store_begin_transaction(store, &open));
	TRY(put_run(store, suite, command, &run_id));
	for (size_t i = 0; i < n; i++)
		TRY(put_finding(store, run_id, i, &findings[i]));
	return store_commit_transaction(&open);
}

struct err *store_put_findings(struct store *store, const char *suite,
			       const char *command,
			       const struct store_finding *findings, size_t n)
{
	if (!is_ours(store))
		return NULL;
	struct err *err = put_findings(store, suite, command, findings, n);
	if (!err || (sqlite3_errcode(store->db) & 0xff) != SQLITE_FULL)
		return err;
	/* Facts can be computed again; findings are what they were for. */
	err_destroy(err);
	TRY(store_execute(store, "DELETE FROM facts"));
	return put_findings(store, suite, command, findings, n);
}

static struct err *read_finding(const struct use *use,
				struct store_finding *ret)
{
	struct store_finding finding = {};
	char **const texts_of[] = { &finding.id, &finding.command,
				    &finding.json, &finding.replay,
				    &finding.suite };
	for (int i = 0; i < (int)ARRAY_SIZE(texts_of); i++) {
		struct err *err = column_text(use, i, texts_of[i]);
		if (err) {
			store_finding_free(&finding);
			return err;
		}
	}
	*ret = finding;
	return NULL;
}

static struct err *find_exactly(struct store *store, const char *id,
				bool *ret_found, struct store_finding *ret)
{
	_cleanup_(use_endp) struct use get =
		store_use_query(store, QUERY_FINDING_GET);
	TRY(bind_text(&get, 1, id));
	TRY(store_step_query(&get, ret_found));
	return *ret_found ? read_finding(&get, ret) : NULL;
}

static struct err *find_beginning(struct store *store, const char *id,
				  bool *ret_found, struct store_finding *ret)
{
	_cleanup_(use_endp) struct use get =
		store_use_query(store, QUERY_FINDING_BEGINS);
	struct store_finding first = {};
	TRY(bind_text(&get, 1, id));
	TRY(store_step_query(&get, ret_found));
	if (!*ret_found)
		return NULL;
	TRY(read_finding(&get, &first));
	struct err *err = NULL;
	for (bool row = true; !err && row;) {
		_cleanup_(freep) char *other = NULL;
		err = store_step_query(&get, &row);
		if (!err && row)
			err = column_text(&get, 0, &other);
		if (!err && row && (!other || strcmp(other, first.id) != 0))
			err = err_create(ERR_USAGE,
					 "more than one finding begins with "
					 "'%s'",
					 id);
	}
	if (err) {
		store_finding_free(&first);
		return err;
	}
	*ret = first;
	return NULL;
}

struct err *store_get_finding(struct store *store, const char *id,
			      struct store_finding *ret)
{
	bool found = false;
	if (*id && is_ours(store)) {
		TRY(find_exactly(store, id, &found, ret));
		if (!found)
			TRY(find_beginning(store, id, &found, ret));
	}
	return found ? NULL
		     : err_create(ERR_USAGE, "there is no finding '%s'", id);
}

struct err *store_list_findings(struct store *store, struct store_findings *ret)
{
	struct store_findings all = {};
	if (!is_ours(store))
		return NULL;
	_cleanup_(use_endp) struct use list =
		store_use_query(store, QUERY_FINDINGS);
	struct err *err = bind_number(&list, 1, LIST_MAX);
	while (!err) {
		struct store_finding finding = {};
		bool row = false;
		err = store_step_query(&list, &row);
		if (!err && !row)
			break;
		if (!err)
			err = read_finding(&list, &finding);
		if (!err)
			err = vec_push(&all, finding);
		if (err)
			store_finding_free(&finding);
	}
	if (err) {
		store_findings_free(&all);
		return err;
	}
	*ret = all;
	return NULL;
}

/* ---- facts ---- */

static struct err *drop_suite(struct store *store, int64_t id)
{
	_cleanup_(use_endp) struct use drop =
		store_use_query(store, QUERY_SUITE_DROP);
	TRY(bind_number(&drop, 1, id));
	return store_run_query(&drop);
}

static struct err *used_bytes(struct store *store, uint64_t *ret)
{
	int64_t page = 0, all = 0, empty = 0;
	TRY(ask_number(store, "PRAGMA page_size", &page));
	TRY(ask_number(store, "PRAGMA page_count", &all));
	TRY(ask_number(store, "PRAGMA freelist_count", &empty));
	*ret = (uint64_t)(all - MIN(all, empty)) * (uint64_t)page;
	return NULL;
}

/* Half of the space, so that this suite's facts have the other. */
static struct err *store_make_room(struct store *store, int64_t keep)
{
	_cleanup_(use_endp) struct use trim =
		store_use_query(store, QUERY_SUITES_TRIM);
	TRY(bind_number(&trim, 1, STORE_SUITES_MAX));
	TRY(store_run_query(&trim));
	for (size_t i = 0; i < STORE_SUITES_MAX; i++) {
		uint64_t bytes = 0;
		bool found = false;
		int64_t oldest = 0;
		TRY(used_bytes(store, &bytes));
		if (bytes <= store->bytes_max / 2)
			return NULL;
		_cleanup_(use_endp) struct use find =
			store_use_query(store, QUERY_SUITE_OLDEST);
		TRY(bind_number(&find, 1, keep));
		TRY(store_step_query(&find, &found));
		if (!found)
			return NULL;
		oldest = sqlite3_column_int64(find.stmt, 0);
		TRY(drop_suite(store, oldest));
	}
	return NULL;
}

/* @ret 0: there is none in this state. */
static struct err *find_suite(struct store *store, const char *suite,
			      const char *digest, int64_t *ret)
{
	_cleanup_(freep) char *known = NULL;
	bool found = false;
	int64_t id = 0;
	*ret = 0;
	{
		_cleanup_(use_endp) struct use get =
			store_use_query(store, QUERY_SUITE_GET);
		TRY(bind_text(&get, 1, suite));
		TRY(store_step_query(&get, &found));
		if (!found)
			return NULL;
		id = sqlite3_column_int64(get.stmt, 0);
		TRY(column_text(&get, 1, &known));
	}
	if (!known || strcmp(known, digest) != 0)
		return drop_suite(store, id);
	_cleanup_(use_endp) struct use used =
		store_use_query(store, QUERY_SUITE_USED);
	TRY(bind_number(&used, 1, id));
	*ret = id;
	return store_run_query(&used);
}

struct err *store_begin(struct store *store, const char *suite,
			const char *digest)
{
	_cleanup_(store_rollbackp) struct store *open = NULL;
	int64_t id = 0;
	if (!is_ours(store))
		return NULL;
	TRY(store_flush(store));
	TRY(store_begin_transaction(store, &open));
	TRY(find_suite(store, suite, digest, &id));
	if (!id) {
		_cleanup_(use_endp) struct use put =
			store_use_query(store, QUERY_SUITE_PUT);
		TRY(bind_text(&put, 1, suite));
		TRY(bind_text(&put, 2, digest));
		TRY(store_run_query(&put));
		id = sqlite3_last_insert_rowid(store->db);
	}
	TRY(store_make_room(store, id));
	TRY(store_commit_transaction(&open));
	store->suite = id;
	return NULL;
}

static struct err *write_fact(struct store *store, const char *key,
			      const void *value, size_t n)
{
	_cleanup_(use_endp) struct use put = store_use_query(store, QUERY_PUT);
	TRY(bind_number(&put, 1, store->suite));
	TRY(bind_text(&put, 2, key));
	TRY(bind_bytes(&put, 3, value, n));
	int code = sqlite3_step(put.stmt);
	if (code == SQLITE_DONE)
		return NULL;
	if (code != SQLITE_CONSTRAINT_FOREIGNKEY)
		return db_err(store, code);
	/* Another call has seen the suite in another, newer state. */
	log_debug(LOG_STORE, "'%s': the suite has changed", store->path);
	store->suite = 0;
	return NULL;
}

static struct err *write_gathered(struct store *store)
{
	_cleanup_(store_rollbackp) struct store *open = NULL;
	TRY(store_begin_transaction(store, &open));
	for (size_t i = 0; i < store->gathered.n && store->suite; i++) {
		const struct fact *fact = &store->gathered.data[i];
		TRY(write_fact(store, fact->key, fact->value, fact->n));
	}
	return store_commit_transaction(&open);
}

struct err *store_flush(struct store *store)
{
	if (!is_ours(store) || !store->gathered.n)
		return NULL;
	/* What cannot be written now is not tried for ever. */
	struct err *err = store->suite ? write_gathered(store) : NULL;
	free_gathered(store);
	store->flushed = clock_now();
	return err;
}

static struct err *store_gather_fact(struct store *store, const char *key,
				     const void *value, size_t n)
{
	uint64_t at = store->gathered.n;
	_cleanup_(freep) char *name = strdup(key);
	_cleanup_(freep) void *copy = malloc(n + 1);
	if (!name || !copy)
		return err_nomem();
	if (n)
		memcpy(copy, value, n);
	TRY(vec_reserve(&store->gathered, store->gathered.n + 1));
	TRY(map_text_put(&store->gathered_at, key, at));
	store->gathered.data[store->gathered.n++] = (struct fact){
		.key = take_ptr(name),
		.value = take_ptr(copy),
		.n = n,
	};
	store->gathered_bytes += n;
	if (store->gathered.n < GATHER_FACTS &&
	    store->gathered_bytes < GATHER_BYTES &&
	    clock_now() - store->flushed < store->pause)
		return NULL;
	return store_flush(store);
}

struct err *store_put(struct store *store, const char *key, const void *value,
		      size_t n)
{
	if (!is_ours(store) || !store->suite)
		return NULL;
	if (n > STORE_VALUE_MAX / 2)
		return err_create(ERR_INTERNAL,
				  "'%s': too much to keep of one "
				  "fact (%zu bytes)",
				  store->path, n);
	return store->pause ? store_gather_fact(store, key, value, n)
			    : write_fact(store, key, value, n);
}

static struct err *read_fact(struct store *store, const char *key, void **ret,
			     size_t *ret_n, bool *ret_found)
{
	_cleanup_(use_endp) struct use get = store_use_query(store, QUERY_GET);
	TRY(bind_number(&get, 1, store->suite));
	TRY(bind_text(&get, 2, key));
	TRY(store_step_query(&get, ret_found));
	if (!*ret_found)
		return NULL;
	struct err *err = column_bytes(&get, 0, ret, ret_n);
	*ret_found = !err;
	return err;
}

bool store_get(struct store *store, const char *key, void **ret, size_t *ret_n)
{
	uint64_t at = 0;
	bool found = false;
	if (!is_ours(store) || !store->suite)
		return false;
	if (map_text_get(&store->gathered_at, key, &at)) {
		const struct fact *fact = &store->gathered.data[at];
		char *copy = malloc(fact->n + 1);
		if (!copy)
			return false;
		memcpy(copy, fact->value, fact->n);
		*ret = copy;
		*ret_n = fact->n;
		return true;
	}
	err_ignore(read_fact(store, key, ret, ret_n, &found));
	return found;
}

struct err *store_forget(struct store *store)
{
	if (!is_ours(store))
		return NULL;
	free_gathered(store);
	_cleanup_(use_endp) struct use forget =
		store_use_query(store, QUERY_FORGET);
	TRY(bind_number(&forget, 1, store->suite));
	return store_run_query(&forget);
}
