/*
 * TOML by toml++, behind a C interface.
 *
 * Why C++ here, and only here: Debian has no TOML library for C, and writing a
 * TOML reader by hand is what we do not do. Of toml++ only the headers are used,
 * so nothing of C++ but the standard library is linked. No exception leaves this
 * file.
 *
 * toml++ makes a table for every dot of a key and calls itself to destroy them,
 * without a limit; text that nests deeper than we will ever need is turned away
 * before it sees it.
 */
#include "cli/toml.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace
{

constexpr unsigned nesting_limit = 32;
constexpr unsigned dots_limit = 32;

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

unsigned line_of(const toml::source_region &source)
{
	return source.begin.line;
}

json checked_json(json_t *made, const toml::node &node)
{
	if (!made)
		throw problem{ line_of(node.source()),
			       "text that is not UTF-8" };
	return json(made);
}

json text_json(const std::string &text, const toml::node &node)
{
	return checked_json(json_stringn(text.data(), text.size()), node);
}

template <typename time> json time_json(const toml::value<time> &value)
{
	std::ostringstream text;
	text << value.get();
	return text_json(text.str(), value);
}

json table_json(const toml::table &table);

json array_json(const toml::array &array);

json plain_json(const toml::node &node)
{
	switch (node.type()) {
	case toml::node_type::boolean:
		return checked_json(json_boolean(node.as_boolean()->get()),
				    node);
	case toml::node_type::integer:
		return checked_json(json_integer(node.as_integer()->get()),
				    node);
	case toml::node_type::floating_point:
		/* nan and inf have no JSON; nor an option that takes them. */
		if (!std::isfinite(node.as_floating_point()->get()))
			throw problem{ line_of(node.source()), "not a number" };
		return checked_json(json_real(node.as_floating_point()->get()),
				    node);
	case toml::node_type::string:
		return text_json(node.as_string()->get(), node);
	case toml::node_type::date:
		return time_json(*node.as_date());
	case toml::node_type::time:
		return time_json(*node.as_time());
	case toml::node_type::date_time:
		return time_json(*node.as_date_time());
	case toml::node_type::array:
		return array_json(*node.as_array());
	default:
		return table_json(*node.as_table());
	}
}

json array_json(const toml::array &array)
{
	json made(json_array());
	for (const toml::node &item : array) {
		if (json_array_append_new(made.get(),
					  plain_json(item).release()))
			throw std::bad_alloc();
	}
	return made;
}

json table_json(const toml::table &table)
{
	struct entry {
		const toml::key *key;
		const toml::node *node;
	};
	std::vector<entry> entries;
	for (auto &&[key, node] : table)
		entries.push_back({ &key, &node });
	std::stable_sort(entries.begin(), entries.end(),
			 [](const entry &a, const entry &b) {
				 return line_of(a.key->source()) <
					line_of(b.key->source());
			 });
	json object(json_object());
	for (const entry &e : entries) {
		unsigned line = line_of(e.key->source());
		std::string key(e.key->str());
		if (key.find('\0') != std::string::npos)
			throw problem{ line, "a NUL in a key" };
		json made(json_pack("{s:i, s:o}", "line",
				    static_cast<int>(line), "value",
				    plain_json(*e.node).release()));
		if (!made)
			throw std::bad_alloc();
		if (json_object_set_new(object.get(), key.c_str(),
					made.release()))
			throw problem{ line, "a key that is not UTF-8" };
	}
	return object;
}

/* "Error while parsing array: …": our errors begin in lower case. */
std::string parse_reason(std::string text)
{
	if (text.rfind("Error ", 0) == 0)
		text[0] = 'e';
	return text;
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
			return table_json(
				       toml::parse(std::string_view(text, n)))
				.release();
		} catch (const problem &p) {
			*ret_line = p.line;
			*ret_message = strdup(p.message.c_str());
		} catch (const toml::parse_error &e) {
			*ret_line = line_of(e.source());
			*ret_message = strdup(parse_reason(e.what()).c_str());
		} catch (const std::bad_alloc &) {
			return nullptr;
		} catch (const std::exception &e) {
			*ret_message = strdup(e.what());
		}
	} catch (...) {
		/* Out of memory while telling what was wrong. */
	}
	return nullptr;
}
