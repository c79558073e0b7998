// Commands, each a process, among them a shell script that starts the program: what APIs leave open in processes that
// are started counts as well; those of the shell do not.
//
//@ subject framework=functions lang=c suite=commands
//@ variant plain cflags="-fno-builtin" builds=gcc-O0,clang-O2 quick=gcc-O0
//@ run one-job --jobs 1 quick=no
//@ run zone --api TZ --level one
//@ unmet qsort strcmp in=zone

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct pair {
	int key, number;
};

static int compare_keys(const void *a, const void *b)
{
	return ((const struct pair *)a)->key - ((const struct pair *)b)->key;
}

//@ assumption "./commands hour" api=TZ line=any

static int sort(int look_at)
{
	struct pair pairs[] = { { 2, 1 }, { 2, 2 }, { 1, 3 }, { 1, 4 } };
	qsort(pairs, 4, sizeof(*pairs), compare_keys); //@ assumption "./commands stable" api=qsort thread=other in=default,one-job //@ assumption "sh script.sh stable" api=qsort thread=other in=default,one-job
	return look_at ? pairs[0].number == 3 && pairs[2].number == 1 : pairs[0].key == 1 && pairs[3].key == 2;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const char *volatile a = "abd", *volatile b = "abc";
	time_t moment = 1700000000;
	struct tm parts;
	if (what[0] == 's')
		return !sort(what[1] == 't');
	if (what[0] == 'c')
		return what[1] == 'o' ? strcmp(a, b) != 1 : strcmp(a, b) <= 0; //@ assumption "./commands compare" api=strcmp thread=other in=default,one-job
	localtime_r(&moment, &parts);
	if (what[0] == 'h')
		return parts.tm_hour != 22;
	return mktime(&parts) != moment;
}
