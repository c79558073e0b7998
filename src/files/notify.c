/*
 * Looking at 100,000 names takes 60 ms and more on two processors, however it
 * is done: a statx(2) costs 1.3 µs. inotify(7) reports which of them need it,
 * no matter who touched them.
 *
 * What it does not report is looked at each time: writing through another name
 * outside (files with several), writing to mapped memory (files that somebody
 * has open, where opening was seen), file systems that others change over a
 * network. Another name made outside for a file that had one is not seen. Where
 * events were lost or there are too many folders, everything is.
 */
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/statfs.h>

#include "base/path.h"
#include "files/walk_internal.h"

#define BUFFER 65536
#define READS_MAX 1024	     /* an end, whatever the others do meanwhile */
#define XFS_MAGIC 0x58465342 /* <linux/magic.h> got it late */
#define MASK_LIST (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
#define MASK_LOOK (IN_MODIFY | IN_ATTRIB | IN_CLOSE | IN_OPEN)

struct notify {
	int fd;
	struct map_u64 folders; /* watch → struct walk_folder * */
	struct map_u64 local;	/* st_dev → bool */
};

struct notify *notify_create(void)
{
	if (getenv("POLYGRAPH_FAULT_INOTIFY"))
		return NULL;
	struct notify *notify = calloc(1, sizeof(*notify));
	if (!notify)
		return NULL;
	notify->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (notify->fd >= 0)
		return notify;
	free(notify);
	return NULL;
}

void notify_destroy(struct notify *notify)
{
	if (!notify)
		return;
	close(notify->fd);
	map_u64_free(&notify->folders);
	map_u64_free(&notify->local);
	free(notify);
}

/* Changed through this kernel only, as far as is known. */
static bool notify_is_local(struct notify *notify, uint64_t dev,
			    const char *path)
{
	static const long types[] = {
		EXT4_SUPER_MAGIC, XFS_MAGIC,	    BTRFS_SUPER_MAGIC,
		TMPFS_MAGIC,	  F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC
	};
	uint64_t known;
	struct statfs fs;
	bool local = false;
	if (map_u64_get(&notify->local, dev, &known))
		return known;
	if (statfs(path, &fs) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(types) && !local; i++)
		local = (long)fs.f_type == types[i];
	struct err *err = map_u64_put(&notify->local, dev, local);
	if (err)
		err_ignore(err);
	return local;
}

static struct walk_folder *notify_folder_of(const struct notify *notify,
					    int watch)
{
	uint64_t value;
	if (watch < 0 ||
	    !map_u64_get(&notify->folders, (uint64_t)watch, &value))
		return NULL;
	return (struct walk_folder *)(uintptr_t)value;
}

void notify_watch(struct walk *walk, struct walk_folder *folder, uint64_t dev)
{
	struct notify *notify = walk->notify;
	if (!notify || !notify_is_local(notify, dev, folder->path))
		return;
	int watch = inotify_add_watch(notify->fd, folder->path,
				      MASK_LIST | MASK_LOOK | IN_ONLYDIR |
					      IN_DONT_FOLLOW | IN_EXCL_UNLINK);
	if (watch < 0) {
		/* No more of them: then none are of much use. */
		if (errno == ENOSPC || errno == ENOMEM) {
			notify_destroy(notify);
			walk->notify = NULL;
		}
		return;
	}
	/* The same folder under its old name, or mounted twice. */
	struct walk_folder *other = notify_folder_of(notify, watch);
	if (other)
		other->watch = -1;
	struct err *err = map_u64_put(&notify->folders, (uint64_t)watch,
				      (uint64_t)(uintptr_t)folder);
	if (err) {
		err_ignore(err);
		inotify_rm_watch(notify->fd, watch);
		return;
	}
	folder->watch = watch;
}

void notify_forget(struct walk *walk, struct walk_folder *folder)
{
	struct notify *notify = walk->notify;
	if (!notify || notify_folder_of(notify, folder->watch) != folder)
		return;
	map_u64_remove(&notify->folders, (uint64_t)folder->watch);
	inotify_rm_watch(notify->fd, folder->watch);
	folder->watch = -1;
}

static bool notify_mark_entry(struct walk *walk, struct walk_folder *folder,
			      struct walk_entry *entry)
{
	if (entry->marked)
		return true;
	size_t i = (size_t)(entry - folder->entries);
	struct range range = { .folder = folder, .from = i, .to = i + 1 };
	struct err *err = vec_push(&walk->spots, range);
	if (err) {
		err_ignore(err);
		return false;
	}
	entry->marked = true;
	return true;
}

/* As an entry of the one above; the watched ones are always looked at. */
static bool mark_folder(struct walk *walk, struct walk_folder *folder)
{
	struct walk_folder *above = folder->parent;
	if (!above || !above->path[0])
		return true;
	struct walk_entry *entry = walk_find(above, path_base(folder->path));
	return !entry || notify_mark_entry(walk, above, entry);
}

static bool notify_add_name(struct walk *walk, struct walk_folder *folder,
			    const char *name)
{
	struct added added = { .folder = folder, .name = strdup(name) };
	struct err *err =
		added.name ? vec_push(&walk->added, added) : err_nomem();
	if (!err)
		return true;
	err_ignore(err);
	free(added.name);
	return false;
}

static bool take_event(struct walk *walk, const struct inotify_event *event)
{
	struct walk_folder *folder = notify_folder_of(walk->notify, event->wd);
	if (event->mask & (IN_Q_OVERFLOW | IN_UNMOUNT))
		return false;
	if (event->mask & IN_IGNORED) {
		map_u64_remove(&walk->notify->folders, (uint64_t)event->wd);
		if (folder)
			folder->watch = -1;
		return true;
	}
	if (!folder || folder->dead)
		return true;
	/* Somebody lists a folder: that changes nothing. */
	if ((event->mask & IN_ISDIR) &&
	    !(event->mask & (MASK_LIST | IN_ATTRIB)))
		return true;
	struct walk_entry *entry =
		event->len ? walk_find(folder, event->name) : NULL;
	if (entry && (event->mask & IN_OPEN))
		entry->open = true;
	if (entry && (event->mask & IN_CLOSE))
		entry->open = false;
	if (entry && !notify_mark_entry(walk, folder, entry))
		return false;
	if (!(event->mask & MASK_LIST))
		return true;
	if (event->len && (event->mask & (IN_CREATE | IN_MOVED_TO)) &&
	    !notify_add_name(walk, folder, event->name))
		return false;
	/* Its own stat data are to be those of now, too. */
	return mark_folder(walk, folder);
}

/* What is looked at each time, reported or not. */
static bool mark_special(struct walk *walk, struct walk_folder *folder)
{
	bool any = folder->watch < 0, marked = true;
	if (!folder->special || folder->dead)
		return true;
	for (size_t i = 0; i < folder->n && marked; i++) {
		struct walk_entry *entry = &folder->entries[i];
		bool links = entry->snap.type == SNAP_FILE &&
			     entry->snap.stat.nlink > 1;
		if (folder->watch >= 0 && !links && !entry->open &&
		    !(entry->snap.flags & SNAP_CHANGING))
			continue;
		any = true;
		marked = notify_mark_entry(walk, folder, entry);
	}
	folder->special = any;
	return marked && (folder->watch >= 0 || mark_folder(walk, folder));
}

static int compare_spots(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	if (x->folder != y->folder)
		return (uintptr_t)x->folder < (uintptr_t)y->folder ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* Neighbours together, so that a folder is opened once. */
static void join_spots(struct walk *walk)
{
	size_t kept = 0;
	if (walk->spots.n < 2)
		return;
	qsort(walk->spots.data, walk->spots.n, sizeof(*walk->spots.data),
	      compare_spots);
	for (size_t i = 1; i < walk->spots.n; i++) {
		struct range *last = &walk->spots.data[kept];
		const struct range *range = &walk->spots.data[i];
		if (range->folder == last->folder && range->from == last->to)
			last->to = range->to;
		else
			walk->spots.data[++kept] = *range;
	}
	walk->spots.n = kept + 1;
}

static bool read_events(struct walk *walk)
{
	_Alignas(struct inotify_event) char buffer[BUFFER];
	bool told = true;
	for (int reads = 0; reads < READS_MAX; reads++) {
		ssize_t n = read(walk->notify->fd, buffer, sizeof(buffer));
		if (n <= 0)
			return told;
		/* All are read even where some were lost: they are old. */
		for (size_t at = 0; at < (size_t)n;) {
			const struct inotify_event *event =
				(const void *)(buffer + at);
			told &= take_event(walk, event);
			at += sizeof(*event) + event->len;
		}
	}
	return false;
}

bool notify_read(struct walk *walk)
{
	bool told = read_events(walk);
	for (size_t i = 0; i < walk->folders.n && told; i++)
		told = mark_special(walk, walk->folders.data[i]);
	for (size_t i = 0; i < walk->spots.n; i++) {
		const struct range *range = &walk->spots.data[i];
		range->folder->entries[range->from].marked = false;
	}
	join_spots(walk);
	return told;
}
