/*
 * Work of one kind for choices.py: what the models that cost most have to do with.
 *
 *	choices_work strings | blocks | hashes | mixed [TIMES]
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

static uint64_t state = 1;

/* The same numbers each time. */
static unsigned number(unsigned below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return static_cast<unsigned>(state >> 33) % below;
}

static std::string word()
{
	std::string text;
	for (unsigned n = 3 + number(12); n; n--)
		text += static_cast<char>('a' + number(26));
	return text;
}

static volatile uint64_t sink;
/* So that the compiler does not know what it calls, and calls it. */
static int (*volatile compare_texts)(const char *, const char *) = strcmp;
static int (*volatile compare_bytes)(const void *, const void *,
				     size_t) = memcmp;

static int by_text(const void *a, const void *b)
{
	return strcmp(*static_cast<const char *const *>(a),
		      *static_cast<const char *const *>(b));
}

/* Comparing and sorting. */
static void strings()
{
	std::vector<std::string> words;
	std::vector<const char *> texts;
	for (int i = 0; i < 500; i++)
		words.push_back(word());
	for (const std::string &text : words)
		texts.push_back(text.c_str());
	uint64_t less = 0;
	for (const char *a : texts) {
		for (size_t i = 0; i < 20; i++) {
			const char *b = texts[number(500)];
			less += compare_texts(a, b) < 0;
			less += compare_bytes(a, b, 3) < 0;
			less += words[i].compare(a) < 0;
		}
	}
	qsort(texts.data(), texts.size(), sizeof(texts[0]), by_text);
	sink = sink + less + static_cast<uint64_t>(*texts[0]);
}

/* Blocks of many sizes, that live for a while. */
static void blocks()
{
	std::vector<void *> live(256, nullptr);
	for (int i = 0; i < 8000; i++) {
		void *&block = live[number(256)];
		free(block);
		size_t size = 8 + number(number(8) ? 200 : 3000);
		block = malloc(size);
		memset(block, i, size < 32 ? size : 32);
		std::unique_ptr<uint64_t[]> array(new uint64_t[1 + number(16)]);
		array[0] = static_cast<uint64_t>(i);
		sink = sink + array[0];
	}
	for (void *block : live)
		free(block);
}

/* Containers that hash, small and large. */
static void hashes()
{
	std::unordered_map<std::string, unsigned> counts;
	for (int i = 0; i < 1500; i++)
		counts[word().substr(0, 2)]++;
	for (int i = 0; i < 40; i++) {
		std::unordered_set<unsigned> small;
		for (int k = 0; k < 12; k++)
			small.insert(number(100));
		for (unsigned value : small)
			sink = sink + value;
	}
	for (const auto &entry : counts)
		sink = sink + entry.second;
}

struct node {
	std::string name;
	std::vector<std::unique_ptr<node>> children;
};

static std::unique_ptr<node> tree(int depth)
{
	auto made = std::make_unique<node>();
	made->name = word();
	for (int i = 0; depth && i < 4; i++)
		made->children.push_back(tree(depth - 1));
	return made;
}

static void print(const node &from, std::ostream &out)
{
	out << from.name << '(';
	for (const auto &child : from.children)
		print(*child, out);
	out << ')';
}

/* A document is made, written, read and compared: what a test does. */
static void mixed()
{
	std::unique_ptr<node> document = tree(4);
	std::ostringstream out;
	print(*document, out);
	std::string text = out.str();
	std::map<std::string, unsigned> sorted;
	std::string name;
	char line[64];
	for (char c : text) {
		if (c != '(' && c != ')') {
			name += c;
			continue;
		}
		if (!name.empty())
			sorted[name]++;
		name.clear();
	}
	for (const auto &entry : sorted) {
		snprintf(line, sizeof(line), "%s=%u", entry.first.c_str(),
			 entry.second);
		sink = sink + (compare_texts(line, name.c_str()) > 0) +
		       strtoul(strchr(line, '=') + 1, nullptr, 10);
	}
	sink = sink + text.size();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*function)();
		int times;
	} kinds[] = {
		{ "strings", strings, 100 },
		{ "blocks", blocks, 100 },
		{ "hashes", hashes, 200 },
		{ "mixed", mixed, 250 },
	};
	for (const auto &kind : kinds) {
		if (argc < 2 || strcmp(argv[1], kind.name) != 0)
			continue;
		for (int i = argc > 2 ? atoi(argv[2]) : kind.times; i; i--)
			kind.function();
		return 0;
	}
	return 2;
}
