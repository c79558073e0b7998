/*
 * What the commands share: options that all of them take, opening the suite
 * that they ask for, and the selection of its tests.
 */
#pragma once

#include <stdint.h>

#include "cli/option.h"
#include "suite/suite.h"

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* First member of every command's values. */
struct common_options {
	/* suite */
	char *ctest;
	char *meson;
	char *commands;
	char *test_classes;
	char *maven;
	char *gradle;
	char *classpath;
	char *java;
	char *framework;
	struct option_list tests;
	struct option_list test_functions;
	uint64_t timeout_ns; /* 0: not given */
	uint64_t jobs;	     /* 0: the cores */
	/* output */
	struct option_list formats;
	struct option_list outputs;
	unsigned color; /* enum color */
	bool all;
	bool quiet;
	bool verbose;
	/* sandbox */
	unsigned sandbox; /* enum sandbox_mode */
	struct option_list write_through;
	/* general */
	char *config;
	bool help;
	bool usage;
	bool version;
	/* Set by `replay` alone; NULL: findings are kept. */
	struct results_look *look;
};

#define COMMON_DEFAULTS                                                        \
	{                                                                      \
	}

extern const struct option_group common_suite_group;
extern const struct option_group common_output_group;
extern const struct option_group common_general_group;
/* For commands that run nothing: only --help and --version. */
extern const struct option_group common_bare_group;

#define COMMON_GLOBS_MAX 64
#define COMMON_WORDS_MAX 256

/* The suite that options and words ask for; says where that is not one. */
struct common_suite {
	struct suite_options options;
	char *words[COMMON_WORDS_MAX]; /* "--ctest", "build" */
	/* For the options: "test_*" comes before those that only exclude. */
	const char *test_functions[COMMON_GLOBS_MAX + 2];
	char *const *command; /* as a report shows it; ends with NULL */
};

struct err *common_suite_choose(const struct options *options, int argc,
				char **argv,
				struct common_suite *ret) _must_check_;

/* An empty suite is an error. */
struct err *common_suite_open(const struct common_suite *choice,
			      struct suite **ret) _must_check_;

/* The --seed that was given, or one that is drawn. */
struct err *common_seed_choose(const struct options *options, uint64_t given,
			       uint64_t *ret) _must_check_;
/* As users write it: "90s", "10m". */
void common_budget_format(uint64_t ns, char out[32]);
