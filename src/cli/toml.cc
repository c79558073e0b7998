/*
 * TOML by toml11, behind a C interface.
 *
 * Why C++ here, and only here: Debian 12 has no TOML library for C (libtoml11-dev
 * and libtomlplusplus-dev, both C++), and writing a TOML reader by hand is what
 * we do not do. toml11 is headers only, so nothing of C++ but the standard
 * library is linked. No exception leaves this file.
 *
 * toml11 calls itself for nested arrays and tables without a limit; text that
 * nests deeper than we will ever need is turned away before it sees it.
 */
#include "cli/toml.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <toml.hpp>

namespace
{

constexpr unsigned nesting_limit = 32;
constexpr unsigned dots_limit = 32;

using value = toml::basic_value<toml::discard_comments, std::map, std::vector>;

struct problem {
	unsigned line;
	std::string message;
};

struct json_deleter {
	void operator()(json_t *json) const
	{
		json_decref(json);
	}
};
using json = std::unique_ptr<json_t, json_deleter>;

/* Past the string that begins at @p, or @end; @line counts on. */
const char *skip_string(const char *p, const char *end, unsigned &line)
{
	char quote = *p;
	size_t fence = end - p >= 3 && p[1] == quote && p[2] == quote ? 3 : 1;
	for (p += fence; p < end; p++) {
		if (*p == '\n') {
			if (fence == 1)
				return p;
			line++;
		} else if (*p == '\\' && quote == '"') {
			if (++p < end && *p == '\n')
				line++;
		} else if (*p == quote &&
			   (fence == 1 ||
			    (end - p >= 3 && p[1] == quote && p[2] == quote))) {
			return p + fence;
		}
	}
	return end;
}

/* Brackets open at once, and dots in one line outside of strings. */
void check_nesting(const char *p, const char *end)
{
	unsigned depth = 0, dots = 0, line = 1;
	while (p < end) {
		switch (*p) {
		case '"':
		case '\'':
			p = skip_string(p, end, line);
			continue;
		case '#':
			p = std::find(p, end, '\n');
			continue;
		case '\n':
			line++;
			dots = 0;
			break;
		case '.':
			dots++;
			break;
		case '[':
		case '{':
			depth++;
			break;
		case ']':
		case '}':
			depth -= depth ? 1 : 0;
			break;
		default:
			break;
		}
		if (depth > nesting_limit || dots > dots_limit)
			throw problem{ line, "nested too deeply" };
		p++;
	}
}

unsigned line_of(const value &v)
{
	return static_cast<unsigned>(v.location().line());
}

json checked_json(json_t *made, const value &v)
{
	if (!made)
		throw problem{ line_of(v), "text that is not UTF-8" };
	return json(made);
}

json text_json(const std::string &text, const value &v)
{
	return checked_json(json_stringn(text.data(), text.size()), v);
}

json table_json(const value &v);

json plain_json(const value &v)
{
	switch (v.type()) {
	case toml::value_t::boolean:
		return checked_json(json_boolean(v.as_boolean()), v);
	case toml::value_t::integer:
		return checked_json(json_integer(v.as_integer()), v);
	case toml::value_t::floating:
		/* nan and inf have no JSON; nor an option that takes them. */
		if (!std::isfinite(v.as_floating()))
			throw problem{ line_of(v), "not a number" };
		return checked_json(json_real(v.as_floating()), v);
	case toml::value_t::string:
		return text_json(v.as_string().str, v);
	case toml::value_t::table:
		return table_json(v);
	case toml::value_t::array: {
		json array(json_array());
		for (const value &item : v.as_array()) {
			if (json_array_append_new(array.get(),
						  plain_json(item).release()))
				throw std::bad_alloc();
		}
		return array;
	}
	default:
		return text_json(toml::format(v), v);
	}
}

json table_json(const value &v)
{
	std::vector<std::pair<unsigned, const std::string *>> keys;
	for (const auto &entry : v.as_table())
		keys.emplace_back(line_of(entry.second), &entry.first);
	std::stable_sort(
		keys.begin(), keys.end(),
		[](const auto &a, const auto &b) { return a.first < b.first; });
	json object(json_object());
	for (const auto &key : keys) {
		const value &item = v.as_table().at(*key.second);
		if (key.second->find('\0') != std::string::npos)
			throw problem{ key.first, "a NUL in a key" };
		json entry(json_pack("{s:i, s:o}", "line",
				     static_cast<int>(key.first), "value",
				     plain_json(item).release()));
		if (!entry)
			throw std::bad_alloc();
		if (json_object_set_new(object.get(), key.second->c_str(),
					entry.release()))
			throw problem{ key.first, "a key that is not UTF-8" };
	}
	return object;
}

/* "[error] toml::parse_value: reason\n --> …" is a picture; the reason is ours. */
std::string parse_reason(const char *what)
{
	std::string text(what, std::strcspn(what, "\n"));
	for (const char *mark : { "[error] ", "toml::" }) {
		if (text.compare(0, std::strlen(mark), mark) == 0)
			text.erase(0, std::strlen(mark));
	}
	size_t colon = text.find(": ");
	if (colon != std::string::npos &&
	    text.find(' ') == colon + 1) /* "parse_value: " */
		text.erase(0, colon + 2);
	return text.empty() ? "not valid TOML" : text;
}

} // namespace

json_t *toml_to_json(const char *text, size_t n, unsigned *ret_line,
		     char **ret_message)
{
	*ret_line = 0;
	*ret_message = nullptr;
	try {
		try {
			check_nesting(text, text + n);
			std::istringstream in(std::string(text, n));
			value parsed =
				toml::parse<toml::discard_comments, std::map,
					    std::vector>(in, "configuration");
			return table_json(parsed).release();
		} catch (const problem &p) {
			*ret_line = p.line;
			*ret_message = strdup(p.message.c_str());
		} catch (const toml::exception &e) {
			*ret_line = static_cast<unsigned>(e.location().line());
			*ret_message = strdup(parse_reason(e.what()).c_str());
		} catch (const std::bad_alloc &) {
			return nullptr;
		} catch (const std::exception &e) {
			*ret_message = strdup(parse_reason(e.what()).c_str());
		}
	} catch (...) {
		/* Out of memory while telling what was wrong. */
	}
	return nullptr;
}
