/* The kinds of suites whose tests run in a Java VM (suite/suite.h). */
#pragma once

#include <stddef.h>

struct suite_kind;

extern const struct suite_kind java_suite_kind;
extern const struct suite_kind maven_suite_kind;
extern const struct suite_kind gradle_suite_kind;

/* What --framework takes for them; one after the other, then NULL. */
const char *java_framework_name(size_t i);
