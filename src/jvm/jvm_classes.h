/* Classes that lie in folders of a class path: those of the project itself. */
#pragma once

#include "base/strv.h"

/* Their binary names ("com.acme.Outer$Inner"), in alphabetical order. */
struct err *jvm_classes_find(const char *class_path,
			     struct strv *ret) _must_check_;
