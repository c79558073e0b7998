/*
 * Digests: of pieces that reach each other together, then of what refers to
 * them, so that each piece and each reference is visited once.
 */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/str.h"
#include "program/makeup_internal.h"

static uint64_t mix_digest(uint64_t hash, uint64_t word)
{
	return XXH3_64bits_withSeed(&word, sizeof(word), hash);
}

uint32_t makeup_next(const struct makeup *pieces, uint32_t from, size_t *at)
{
	const struct made_piece *piece = &pieces->all.data[from];
	/* A framework is looked at as a whole: all tests depend on it. */
	if (piece->framework)
		return PIECE_NONE;
	while (*at < piece->n_edges + piece->n_inits) {
		size_t i = (*at)++;
		uint32_t to =
			i < piece->n_edges
				? pieces->edges.data[piece->first_edge + i]
				: pieces->inits.data[piece->first_init + i -
						     piece->n_edges];
		/* How tests become known is no reason to depend on them. */
		if (!(piece->runner && pieces->all.data[to].owned))
			return to;
	}
	return PIECE_NONE;
}

/* ---- components, as Tarjan found out how ---- */

struct component_frame {
	uint32_t piece;
	size_t at;
};

struct components {
	struct makeup *pieces;
	uint32_t *index, *low; /* PIECE_NONE: not visited */
	bool *on_stack;
	VEC(uint32_t) stack;
	VEC(struct component_frame) frames;
	uint32_t next, component;
};

static void component_free(struct components *tarjan)
{
	free(tarjan->index);
	free(tarjan->low);
	free(tarjan->on_stack);
	vec_free(&tarjan->stack);
	vec_free(&tarjan->frames);
}

static uint64_t digest_of_target(const struct made_piece *piece)
{
	return piece->framework ? XXH3_64bits(piece->name, strlen(piece->name))
				: piece->digest;
}

/* Its own content, and the digests of what it refers to outside. */
static uint64_t digest_member(const struct makeup *pieces, uint32_t member)
{
	const struct made_piece *piece = &pieces->all.data[member];
	uint64_t digest = piece->hash;
	size_t at = 0;
	for (uint32_t to;
	     (to = makeup_next(pieces, member, &at)) != PIECE_NONE;) {
		if (pieces->all.data[to].component != piece->component)
			digest = mix_digest(
				digest,
				digest_of_target(&pieces->all.data[to]));
	}
	return digest;
}

/* All above @root on the stack are one component. */
static struct err *component_pop(struct components *tarjan, uint32_t root)
{
	struct makeup *pieces = tarjan->pieces;
	size_t first = tarjan->stack.n;
	uint64_t sum = 0;
	do {
		first--;
		pieces->all.data[tarjan->stack.data[first]].component =
			tarjan->component;
	} while (tarjan->stack.data[first] != root);
	for (size_t i = first; i < tarjan->stack.n; i++)
		sum += mix_digest(1,
				  digest_member(pieces, tarjan->stack.data[i]));
	for (size_t i = first; i < tarjan->stack.n; i++) {
		uint32_t member = tarjan->stack.data[i];
		struct made_piece *piece = &pieces->all.data[member];
		piece->digest = mix_digest(sum, piece->hash);
		tarjan->on_stack[member] = false;
		TRY(vec_push(&pieces->order, member));
	}
	tarjan->stack.n = first;
	tarjan->component++;
	return NULL;
}

static struct err *component_enter(struct components *tarjan, uint32_t piece)
{
	tarjan->index[piece] = tarjan->low[piece] = tarjan->next++;
	tarjan->on_stack[piece] = true;
	TRY(vec_push(&tarjan->stack, piece));
	return vec_push(&tarjan->frames, (struct component_frame){ piece, 0 });
}

static struct err *component_visit(struct components *tarjan, uint32_t root)
{
	TRY(component_enter(tarjan, root));
	while (tarjan->frames.n) {
		struct component_frame *frame =
			&tarjan->frames.data[tarjan->frames.n - 1];
		uint32_t piece = frame->piece;
		uint32_t to = makeup_next(tarjan->pieces, piece, &frame->at);
		if (to != PIECE_NONE && tarjan->index[to] == PIECE_NONE) {
			TRY(component_enter(tarjan, to));
			continue;
		}
		if (to != PIECE_NONE) {
			if (tarjan->on_stack[to])
				tarjan->low[piece] = MIN(tarjan->low[piece],
							 tarjan->index[to]);
			continue;
		}
		if (tarjan->low[piece] == tarjan->index[piece])
			TRY(component_pop(tarjan, piece));
		tarjan->frames.n--;
		if (tarjan->frames.n) {
			uint32_t above =
				tarjan->frames.data[tarjan->frames.n - 1].piece;
			tarjan->low[above] =
				MIN(tarjan->low[above], tarjan->low[piece]);
		}
	}
	return NULL;
}

static struct err *digest_pieces(struct makeup *pieces)
{
	size_t n = pieces->all.n;
	_cleanup_(component_free) struct components tarjan = {
		.pieces = pieces,
		.index = malloc((n + 1) * sizeof(uint32_t)),
		.low = malloc((n + 1) * sizeof(uint32_t)),
		.on_stack = calloc(n + 1, sizeof(bool)),
	};
	if (!tarjan.index || !tarjan.low || !tarjan.on_stack)
		return err_nomem();
	memset(tarjan.index, 0xff, (n + 1) * sizeof(uint32_t));
	for (size_t i = 0; i < n; i++) {
		if (tarjan.index[i] == PIECE_NONE)
			TRY(component_visit(&tarjan, (uint32_t)i));
	}
	return NULL;
}

/* ---- tests ---- */

/* Does it make tests known? Then it is not part of them. */
static bool registers_tests(const struct makeup *pieces,
			    const struct made_piece *piece)
{
	for (size_t i = 0; i < piece->n_edges; i++) {
		uint32_t to = pieces->edges.data[piece->first_edge + i];
		if (pieces->all.data[to].owned)
			return true;
	}
	return false;
}

/* Code that a framework or what registers tests refers to, but for tests. */
static void each_called(struct makeup *pieces, const struct made_piece *piece,
			void (*visit)(struct makeup *pieces, uint32_t piece))
{
	for (size_t i = 0; i < piece->n_edges; i++) {
		uint32_t to = pieces->edges.data[piece->first_edge + i];
		const struct made_piece *called = &pieces->all.data[to];
		if (called->code && !called->owned && !called->framework)
			visit(pieces, to);
	}
}

/*
 * Visits what every test depends on. Code that runs before main() and does
 * nothing but set variables concerns those who reach these; of code that makes
 * tests known, what it calls may be called for any test.
 */
static void each_common(struct makeup *pieces,
			void (*visit)(struct makeup *pieces, uint32_t piece))
{
	for (size_t i = 0; i < pieces->all.n; i++) {
		const struct made_piece *piece = &pieces->all.data[i];
		bool is_main = piece->name && !strcmp(piece->name, "main");
		bool registers = piece->init && registers_tests(pieces, piece);
		bool effects = piece->init && (registers ? piece->impure
							 : piece->calls_impure);
		if (piece->framework || is_main || effects)
			visit(pieces, (uint32_t)i);
		if (piece->framework || registers)
			each_called(pieces, piece, visit);
	}
}

static void add_common(struct makeup *pieces, uint32_t at)
{
	const struct made_piece *piece = &pieces->all.data[at];
	log_debug(LOG_PROGRAM, "every test depends on %s: %016llx",
		  piece->name ? piece->name : "a constant",
		  (unsigned long long)(piece->framework ? piece->hash
							: piece->digest));
	pieces->common +=
		mix_digest(3, piece->framework ? piece->hash : piece->digest);
}

struct err *makeup_digest_all(struct makeup *pieces)
{
	TRY(digest_pieces(pieces));
	each_common(pieces, add_common);
	for (size_t i = 0; i < pieces->tests.n; i++) {
		struct test_pieces *test = &pieces->tests.data[i];
		test->digest = pieces->common;
		for (size_t j = 0; j < test->all.n; j++)
			test->digest += mix_digest(
				4, pieces->all.data[test->all.data[j]].digest);
		test->digest = mix_digest(5, test->digest);
	}
	for (size_t i = 0; log_enabled(LOG_PROGRAM) && i < pieces->all.n; i++) {
		const struct made_piece *piece = &pieces->all.data[i];
		log_debug(LOG_PROGRAM, "piece %s: own %016llx, all %016llx",
			  piece->name ? piece->name : "-",
			  (unsigned long long)piece->hash,
			  (unsigned long long)piece->digest);
	}
	return NULL;
}

bool makeup_digest(const struct makeup *pieces, size_t test, uint64_t *ret)
{
	const struct test_pieces *found = &pieces->tests.data[test];
	if (!found->all.n || !pieces->files.data[0].symtab)
		return false;
	*ret = found->digest;
	return true;
}

/* ---- what reaches a change ---- */

static void reach_common(struct makeup *pieces, uint32_t at)
{
	const struct made_piece *piece = &pieces->all.data[at];
	pieces->common_reached |=
		piece->framework ? piece->changed : piece->reaches;
}

void makeup_reach(struct makeup *pieces)
{
	/* One component after the other, each after those that it refers to. */
	for (size_t i = 0; i < pieces->order.n;) {
		uint32_t component =
			pieces->all.data[pieces->order.data[i]].component;
		bool reaches = false;
		size_t end = i;
		for (; end < pieces->order.n; end++) {
			uint32_t member = pieces->order.data[end];
			const struct made_piece *piece =
				&pieces->all.data[member];
			size_t at = 0;
			if (piece->component != component)
				break;
			reaches |= piece->changed;
			for (uint32_t to;
			     !reaches && (to = makeup_next(pieces, member,
							   &at)) != PIECE_NONE;)
				reaches |= pieces->all.data[to].reaches;
		}
		for (; i < end; i++)
			pieces->all.data[pieces->order.data[i]].reaches =
				reaches;
	}
	each_common(pieces, reach_common);
	for (size_t i = 0; i < pieces->tests.n; i++) {
		struct test_pieces *test = &pieces->tests.data[i];
		test->reached = pieces->common_reached || !test->all.n;
		for (size_t j = 0; j < test->all.n; j++)
			test->reached |=
				pieces->all.data[test->all.data[j]].reaches;
	}
}

bool makeup_reached(const struct makeup *pieces, size_t test)
{
	return pieces->tests.data[test].reached;
}
