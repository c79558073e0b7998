/*
 * C++: the standard streams, and the hooks. The streams' state lies in memory in
 * the layout of libstdc++ (since GCC 5) or libc++.
 */
#include <stdio.h>

#include "attributes/attributes_internal.h"

#define GROUP_STREAMS (20 - MEMORY_SHIFT)

/* ios_base and basic_ios, as offsets from their beginning. */
struct stream_layout {
	bool libcxx;
	unsigned flags, precision, width, state, exceptions, locale, buffer;
	unsigned tie, fill, size;
};

static const struct stream_layout libstdcxx = {
	.precision = 8,
	.width = 16,
	.flags = 24,
	.exceptions = 28,
	.state = 32,
	.locale = 208,
	.tie = 216,
	.fill = 224,
	.buffer = 232,
	.size = 240,
};
static const struct stream_layout libcxx = {
	.libcxx = true,
	.flags = 8,
	.precision = 16,
	.width = 24,
	.state = 32,
	.exceptions = 36,
	.buffer = 40,
	.locale = 48,
	.tie = 136,
	.fill = 144,
	.size = 152,
};

#define STREAMS 8
static const struct {
	const char *name;
	const char *symbols[2]; /* of libstdc++ and of libc++ */
	bool wide;
} streams[STREAMS] = {
	{ "std::cin", { "_ZSt3cin", "_ZNSt3__13cinE" }, false },
	{ "std::cout", { "_ZSt4cout", "_ZNSt3__14coutE" }, false },
	{ "std::cerr", { "_ZSt4cerr", "_ZNSt3__14cerrE" }, false },
	{ "std::clog", { "_ZSt4clog", "_ZNSt3__14clogE" }, false },
	{ "std::wcin", { "_ZSt4wcin", "_ZNSt3__14wcinE" }, true },
	{ "std::wcout", { "_ZSt5wcout", "_ZNSt3__15wcoutE" }, true },
	{ "std::wcerr", { "_ZSt5wcerr", "_ZNSt3__15wcerrE" }, true },
	{ "std::wclog", { "_ZSt5wclog", "_ZNSt3__15wclogE" }, true },
};

struct bit {
	uint32_t bit;
	const char *name;
};

static const struct bit format_flags[] = {
	{ 1, "boolalpha" },	{ 2, "dec" },
	{ 4, "fixed" },		{ 8, "hex" },
	{ 16, "internal" },	{ 32, "left" },
	{ 64, "oct" },		{ 128, "right" },
	{ 256, "scientific" },	{ 512, "showbase" },
	{ 1024, "showpoint" },	{ 2048, "showpos" },
	{ 4096, "skipws" },	{ 8192, "unitbuf" },
	{ 16384, "uppercase" }, {},
};
static const struct bit states[] = {
	{ 1, "bad" }, { 2, "end of file" }, { 4, "fail" }, {}
};

static struct err *add_bits(struct item *item, const char *field,
			    uint32_t value, const struct bit *bits,
			    const char *none)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	for (; bits->name; bits++) {
		if (value & bits->bit)
			TRY(text_comma(&text, bits->name));
	}
	return item_text(item, field, text.s ? text.s : none);
}

static uint32_t u32_at(const uint8_t *bytes, unsigned at)
{
	uint32_t value;
	memcpy(&value, bytes + at, sizeof(value));
	return value;
}

static uint64_t u64_at(const uint8_t *bytes, unsigned at)
{
	uint64_t value;
	memcpy(&value, bytes + at, sizeof(value));
	return value;
}

/* What it fills with; a blank is set when it is first needed. */
static uint32_t fill_of(const struct stream_layout *layout,
			const uint8_t *bytes, bool wide)
{
	uint32_t fill = u32_at(bytes, layout->fill);
	if (layout->libcxx)
		return fill == 0xffffffff ? ' ' : fill;
	bool set = bytes[layout->fill + (wide ? 4 : 1)];
	if (!set)
		return ' ';
	return wide ? fill : fill & 0xff;
}

static struct err *add_pointers(struct attributes *a, unsigned which,
				const struct stream_layout *layout,
				const uint8_t *bytes,
				const uint64_t addresses[STREAMS],
				struct item *item)
{
	uint64_t buffer = u64_at(bytes, layout->buffer);
	uint64_t tie = u64_at(bytes, layout->tie);
	if (!a->streams_known)
		a->stream_buffers[which] = buffer;
	TRY(item_text(item, "buffer",
		      !buffer				   ? "none"
		      : buffer == a->stream_buffers[which] ? "its own"
							   : "another"));
	const char *tied = tie ? "another stream" : "none";
	for (unsigned i = 0; i < STREAMS; i++) {
		if (tie && tie == addresses[i])
			tied = streams[i].name;
	}
	return item_text(item, "tie", tied);
}

static struct err *cxx_streams_add(struct attributes *a, unsigned which,
				   const struct stream_layout *layout,
				   const uint8_t *bytes,
				   const uint64_t addresses[STREAMS],
				   struct items *items)
{
	struct item *item;
	TRY(items_add(items, streams[which].name, &item));
	TRY(add_bits(item, "flags", u32_at(bytes, layout->flags), format_flags,
		     "none"));
	TRY(item_textf(item, "precision", "%lld",
		       (long long)u64_at(bytes, layout->precision)));
	TRY(item_textf(item, "width", "%lld",
		       (long long)u64_at(bytes, layout->width)));
	uint32_t fill = fill_of(layout, bytes, streams[which].wide);
	if (fill >= ' ' && fill < 127)
		TRY(item_textf(item, "fill", "'%c'", (char)fill));
	else
		TRY(item_textf(item, "fill", "'\\x%02x'", fill));
	TRY(add_bits(item, "state", u32_at(bytes, layout->state), states,
		     "good"));
	TRY(add_bits(item, "exceptions", u32_at(bytes, layout->exceptions),
		     states, "none"));
	TRY(add_pointers(a, which, layout, bytes, addresses, item));
	uint64_t locale = u64_at(bytes, layout->locale);
	uint64_t what[] = { locale, u64_at(bytes, layout->buffer), 0, 0 };
	for (unsigned i = 0; i < item->n; i++)
		what[2] = digest_of(item->fields[i].text,
				    strlen(item->fields[i].text) + 1, what[2]);
	item->digest = digest_of(what, sizeof(what), 0);
	return item_textf(item, "locale", "at 0x%llx",
			  (unsigned long long)locale);
}

/* Where its basic_ios is: the virtual table of a stream says. */
static bool find_base(struct attributes *a, uint64_t stream, uint64_t *ret)
{
	uint64_t table, offset;
	if (!read_u64(a, stream, &table) || !table ||
	    !read_u64(a, table - 24, &offset) || (offset != 8 && offset != 16))
		return false;
	*ret = stream + offset;
	return true;
}

struct err *read_streams(struct attributes *a, struct items *items)
{
	uint64_t addresses[STREAMS] = {};
	ranges_forget(&a->spans, GROUP_STREAMS);
	for (unsigned library = 0; library < 2; library++) {
		const struct stream_layout *layout =
			library ? &libcxx : &libstdcxx;
		for (unsigned i = 0; i < STREAMS; i++)
			addresses[i] = attributes_symbol(
				a, streams[i].symbols[library]);
		for (unsigned i = 0; i < STREAMS; i++) {
			uint8_t bytes[256];
			uint64_t base;
			if (!addresses[i])
				continue;
			/* Not constructed yet: its virtual table comes. */
			TRY(ranges_add(&a->spans, GROUP_STREAMS, addresses[i],
				       8));
			if (!find_base(a, addresses[i], &base) ||
			    !read_bytes(a, base, bytes, layout->size))
				continue;
			TRY(ranges_add(&a->spans, GROUP_STREAMS, base,
				       layout->size));
			TRY(cxx_streams_add(a, i, layout, bytes, addresses,
					    items));
		}
		if (items->list.n)
			break;
	}
	a->streams_known = items->list.n > 0;
	return NULL;
}

/* ---- hooks ---- */

static struct err *read_hook(struct attributes *a, const char *symbol,
			     uint64_t noted, uint64_t calls,
			     struct items *items)
{
	uint64_t place = attributes_symbol(a, symbol), handler = noted;
	char name[256] = "default";
	if (!a->has_agent) {
		if (!read_u64(a, place, &handler)) {
			items->unknown = true;
			return NULL;
		}
		TRY(ranges_add(&a->spans, GROUP_HOOKS, place, 8));
		calls = 1;
	}
	if (handler && calls)
		attributes_function(a, handler, name, sizeof(name));
	/* What the C++ libraries begin with. */
	if (strstr(name, "__verbose_terminate_handler") ||
	    strstr(name, "demangling_terminate_handler") ||
	    strstr(name, "default_terminate_handler"))
		snprintf(name, sizeof(name), "default");
	return items_one(items, name);
}

struct err *read_terminate(struct attributes *a, struct items *items)
{
	ranges_forget(&a->spans, GROUP_HOOKS);
	return read_hook(a, "_ZN10__cxxabiv119__terminate_handlerE",
			 a->wire->terminate, a->wire->terminate_calls, items);
}

struct err *read_new_handler(struct attributes *a, struct items *items)
{
	return read_hook(a, "_ZN12_GLOBAL__N_113__new_handlerE",
			 a->wire->new_handler, a->wire->new_handler_calls,
			 items);
}

/*
 * std::locale::_Impl of libstdc++: a counter, facets, their number, caches, and
 * names of categories; the first of them for all where the others are none.
 */
static bool locale_name(struct attributes *a, uint64_t impl, char *out,
			size_t n)
{
	uint64_t names, first, second;
	return read_u64(a, impl + 32, &names) && read_u64(a, names, &first) &&
	       read_u64(a, names + 8, &second) &&
	       attributes_read_text(a, first, out, n) && *out;
}

struct err *read_cxx_locale(struct attributes *a, struct items *items)
{
	char name[WIRE_LOCALE_NAME];
	uint64_t place = attributes_symbol(a, "_ZNSt6locale9_S_globalE");
	uint64_t impl = a->wire->cxx_locale;
	if (!a->has_agent || (place && !impl)) {
		if (!read_u64(a, place, &impl)) {
			items->unknown = true;
			return NULL;
		}
		TRY(ranges_add(&a->spans, GROUP_HOOKS, place, 8));
	}
	struct item *item;
	TRY(items_add(items, NULL, &item));
	if (!impl || !locale_name(a, impl, name, sizeof(name)))
		snprintf(name, sizeof(name), "%s", impl ? "another" : "C");
	item->digest = digest_of(name, strlen(name), 0);
	/* Made of parts: only the object itself is compared. */
	if (strcmp(name, "C") != 0)
		item->digest = digest_of(&impl, sizeof(impl), item->digest);
	return item_text(item, NULL, name);
}
