/* The kinds of suites whose tests are processes (suite/suite.h). */
#pragma once

struct suite_kind;

extern const struct suite_kind commands_suite_kind;
extern const struct suite_kind ctest_suite_kind;
extern const struct suite_kind meson_suite_kind;
