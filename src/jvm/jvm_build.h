/*
 * What a build tool says of a project: where its test classes are, and its class
 * path for tests. The tool is asked without a network.
 */
#pragma once

#include "base/err.h"

struct jvm_project {
	char *folders;	  /* of test classes, with ':' between */
	char *class_path; /* the rest */
};

void jvm_project_free(struct jvm_project *project);
struct err *jvm_ask_maven(const char *folder,
			  struct jvm_project *ret) _must_check_;
struct err *jvm_ask_gradle(const char *folder,
			   struct jvm_project *ret) _must_check_;
