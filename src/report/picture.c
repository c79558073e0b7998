#include "report/picture.h"

#include <dlfcn.h>
#include <graphviz/gvc.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/str.h"

/* Tests of a sort that are drawn, and places of memory. */
#define DRAWN_MAX 8
#define PLACES_MAX 12
#define PARTS_MAX 16 /* of an access path */
/* Characters of a name; the rest is "…". */
#define LABEL_MAX 44

struct pictures {
	GVC_t *gvc;
};

/*
 * The tarball has its own plug-ins (packaging/package.py). Those of a system
 * may be of another Graphviz than the libraries that came with us, or missing,
 * so they are not looked for where ours are. What was loaded stays loaded.
 */
static const lt_symlist_t *bundled_plugins(void)
{
	static const char *const names[] = { "core", "dot_layout" };
	static char symbols[ARRAY_SIZE(names)][48];
	static lt_symlist_t plugins[ARRAY_SIZE(names) + 1];
	const char *self = proc_own_folder();
	if (!*self)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(freep) char *path = NULL;
		if (asprintf(&path,
			     "%s/../lib/polygraph/bundled/libgvplugin_%s.so",
			     self, names[i]) < 0) {
			path = NULL;
			return NULL;
		}
		void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!library)
			return NULL;
		snprintf(symbols[i], sizeof(symbols[i]),
			 "gvplugin_%s_LTX_library", names[i]);
		plugins[i].name = symbols[i];
		plugins[i].address = dlsym(library, symbols[i]);
		if (!plugins[i].address)
			return NULL;
	}
	return plugins;
}

struct err *pictures_create(struct pictures **ret)
{
	struct pictures *pictures = calloc(1, sizeof(*pictures));
	if (!pictures)
		return err_nomem();
	/* Warnings about fonts are no business of the user's. */
	agseterr(AGMAX);
	const lt_symlist_t *bundled = bundled_plugins();
	pictures->gvc = bundled ? gvContextPlugins(bundled, 0) : gvContext();
	if (!pictures->gvc) {
		log_debug(LOG_REPORT, "Graphviz cannot start: no pictures");
		free(pictures);
		return NULL;
	}
	*ret = pictures;
	return NULL;
}

void pictures_destroy(struct pictures *pictures)
{
	if (!pictures)
		return;
	gvFreeContext(pictures->gvc);
	free(pictures);
}

/* ---- labels ---- */

/*
 * Graphviz takes escapes ("\N") and entities ("&lt;") in labels for its own.
 * Control characters have no shape.
 */
static struct err *append_label(struct str *label, const char *text)
{
	_cleanup_(freep) char *shown = str_escape(text);
	if (!shown)
		return err_nomem();
	size_t n = strlen(shown), characters = 0;
	for (size_t i = 0; i < n;) {
		size_t length = str_utf8_length(shown + i, n - i);
		if (!length)
			return NULL;
		if (characters++ == LABEL_MAX)
			return str_append(label, "…");
		if (shown[i] == '\\')
			TRY(str_append(label, "\\\\"));
		else if (shown[i] == '&')
			TRY(str_append(label, "&amp;"));
		else
			TRY(str_append_n(label, shown + i, length));
		i += length;
	}
	return NULL;
}

static void set_attribute(void *object, const char *key, const char *value)
{
	agsafeset(object, (char *)key, (char *)value, (char *)"");
}

/* Numbered, so that no name is a name of Graphviz's. */
static Agnode_t *draw_node(Agraph_t *graph, const char *label,
			   const char *class)
{
	char name[24];
	snprintf(name, sizeof(name), "n%d", agnnodes(agroot(graph)));
	Agnode_t *node = agnode(graph, name, 1);
	set_attribute(node, "label", label);
	set_attribute(node, "class", class);
	return node;
}

static void draw_edge(Agraph_t *graph, Agnode_t *from, Agnode_t *to,
		      const char *label, const char *class)
{
	Agedge_t *edge = agedge(graph, from, to, NULL, 1);
	if (*label)
		set_attribute(edge, "label", label);
	set_attribute(edge, "class", class);
}

static Agraph_t *begin_graph(void)
{
	static const struct {
		int kind;
		const char *key, *value;
	} defaults[] = {
		{ AGRAPH, "rankdir", "LR" },
		{ AGRAPH, "bgcolor", "transparent" },
		{ AGRAPH, "nodesep", "0.18" },
		{ AGRAPH, "ranksep", "0.7" },
		{ AGRAPH, "pad", "0.1" },
		{ AGNODE, "shape", "box" },
		{ AGNODE, "style", "rounded,filled" },
		{ AGNODE, "fontname", "Helvetica" },
		{ AGNODE, "fontsize", "11" },
		{ AGNODE, "height", "0.32" },
		{ AGNODE, "margin", "0.16,0.06" },
		{ AGNODE, "label", "" },
		{ AGNODE, "class", "" },
		{ AGEDGE, "fontname", "Helvetica" },
		{ AGEDGE, "fontsize", "9" },
		{ AGEDGE, "arrowsize", "0.7" },
		{ AGEDGE, "label", "" },
		{ AGEDGE, "class", "" },
	};
	Agraph_t *graph = agopen((char *)"g", Agdirected, NULL);
	for (size_t i = 0; graph && i < ARRAY_SIZE(defaults); i++)
		agattr(graph, defaults[i].kind, (char *)defaults[i].key,
		       (char *)defaults[i].value);
	return graph;
}

static void graph_closep(Agraph_t **graph)
{
	if (*graph)
		agclose(*graph);
}

static struct err *draw_graph(struct pictures *pictures, Agraph_t *graph,
			      char **ret)
{
	char *data = NULL;
	unsigned n = 0;
	if (gvLayout(pictures->gvc, graph, "dot")) {
		log_debug(LOG_REPORT, "Graphviz cannot lay out a picture");
		return NULL;
	}
	if (!gvRenderData(pictures->gvc, graph, "svg", &data, &n) && data) {
		const char *svg = memmem(data, n, "<svg", 4);
		*ret = svg ? strndup(svg, n - (size_t)(svg - data)) : NULL;
	}
	gvFreeRenderData(data);
	gvFreeLayout(pictures->gvc, graph);
	return NULL;
}

/* ---- a cause ---- */

struct cause_sort {
	const struct cause_tests *tests;
	const char *class, *edge;
	bool towards; /* the edge leads to the root */
};

static struct err *draw_tests(Agraph_t *graph, Agnode_t *root,
			      const struct roster *roster,
			      const struct cause_sort *sort)
{
	size_t n = sort->tests->n;
	size_t drawn = n <= DRAWN_MAX + 1 ? n : DRAWN_MAX;
	for (size_t i = 0; i < drawn + (drawn < n); i++) {
		_cleanup_(str_freep) struct str label = STR_INIT;
		if (i < drawn)
			TRY(append_label(
				&label,
				roster_name(roster, sort->tests->data[i])));
		else
			TRY(str_appendf(&label, "and %zu more", n - drawn));
		Agnode_t *node =
			draw_node(graph, label.s ? label.s : "", sort->class);
		draw_edge(graph, sort->towards ? node : root,
			  sort->towards ? root : node, i ? "" : sort->edge,
			  sort->class);
	}
	return NULL;
}

struct err *picture_of_cause(struct pictures *pictures,
			     const struct cause *cause,
			     const struct roster *roster, char **ret)
{
	const struct cause_sort sorts[] = {
		{ &cause->leave, "leave", "leaves it changed", true },
		{ &cause->misled, "misled", "decides about", false },
		{ &cause->could, "could", "is read by", false },
		{ &cause->cleaners, "cleaner", "undoes it", true },
	};
	_cleanup_(str_freep) struct str name = STR_INIT;
	if (!pictures)
		return NULL;
	_cleanup_(graph_closep) Agraph_t *graph = begin_graph();
	if (!graph)
		return err_nomem();
	TRY(append_label(&name, cause->name));
	Agnode_t *root = draw_node(graph, name.s ? name.s : "", "root");
	for (size_t i = 0; i < ARRAY_SIZE(sorts); i++)
		TRY(draw_tests(graph, root, roster, &sorts[i]));
	return draw_graph(pictures, graph, ret);
}

/* ---- memory ---- */

/* Where the next part of an access path begins: at ".", "->" or "[". */
static size_t part_length(const char *path)
{
	size_t n = strspn(path, ".->[");
	bool quoted = false;
	for (; path[n]; n++) {
		if (path[n] == '"')
			quoted = !quoted;
		if (!quoted && (path[n] == '.' || path[n] == '[' ||
				!strncmp(path + n, "->", 2)))
			break;
	}
	return n;
}

/* One side: its nodes, by the part of the access path that leads to them. */
struct memory_side {
	Agraph_t *graph;
	struct map_text nodes;
	const char *class; /* of what changes */
};

static struct err *append_path_part(struct str *text, const char *part,
				    size_t n)
{
	_cleanup_(freep) char *copy = strndup(part, n);
	return copy ? append_label(text, copy) : err_nomem();
}

/* The node of the first @length bytes of @path, below the one before. */
static struct err *draw_part(struct memory_side *side, const char *path,
			     size_t from, size_t length, const char *value,
			     Agnode_t **parent)
{
	_cleanup_(freep) char *key = strndup(path, length);
	_cleanup_(str_freep) struct str label = STR_INIT;
	uint64_t known;
	if (!key)
		return err_nomem();
	if (!value && map_text_get(&side->nodes, key, &known)) {
		*parent = (Agnode_t *)(uintptr_t)known;
		return NULL;
	}
	bool pointer = !strncmp(path + from, "->", 2);
	TRY(append_path_part(&label, path + from, length - from));
	if (value) {
		TRY(str_append(&label, "\\n"));
		TRY(append_label(&label, value));
	}
	Agnode_t *node = draw_node(side->graph, label.s ? label.s : "",
				   value ? side->class : "same");
	if (*parent)
		draw_edge(side->graph, *parent, node, "",
			  pointer ? "pointer" : "part");
	*parent = node;
	return map_text_put(&side->nodes, key, (uintptr_t)node);
}

static struct err *draw_path(struct memory_side *side, const char *path,
			     const char *value)
{
	Agnode_t *parent = NULL;
	size_t from = 0, parts = 0;
	while (path[from] && parts < PARTS_MAX) {
		size_t n = part_length(path + from);
		if (!n)
			break;
		/* What is left of a path that goes on and on is one part. */
		if (++parts == PARTS_MAX)
			n = strlen(path + from);
		bool last = !path[from + n];
		TRY(draw_part(side, path, from, from + n, last ? value : NULL,
			      &parent));
		from += n;
	}
	return NULL;
}

struct err *picture_of_memory(struct pictures *pictures, const json_t *finding,
			      const char *side, char **ret)
{
	const json_t *paths = json_object_get(finding, "paths");
	if (!pictures || !json_array_size(paths))
		return NULL;
	_cleanup_(graph_closep) Agraph_t *graph = begin_graph();
	if (!graph)
		return err_nomem();
	struct memory_side drawn = {
		.graph = graph,
		.nodes = MAP_INIT,
		.class = strcmp(side, "before") ? "changed" : "was",
	};
	struct err *err = NULL;
	size_t n = MIN(json_array_size(paths), (size_t)PLACES_MAX);
	for (size_t i = 0; !err && i < n; i++) {
		const json_t *one = json_array_get(paths, i);
		const char *path =
			json_string_value(json_object_get(one, "path"));
		const char *value =
			json_string_value(json_object_get(one, side));
		if (path && value)
			err = draw_path(&drawn, path, value);
	}
	map_text_free(&drawn.nodes);
	return err ? err : draw_graph(pictures, graph, ret);
}
