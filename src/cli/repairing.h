/*
 * What `polygraph repair` asks for, out of stored findings: records of the store
 * (replay/record.h) as requests of the search for patches, and writing files
 * outside of the sandbox.
 */
#pragma once

#include "repair/repair.h"
#include "replay/record.h"
#include "store/store.h"

/* Nothing in the store is trusted: what is not whole is ERR_USAGE. */
struct err *repairing_request(const struct suite *suite,
			      const struct store_finding *finding,
			      const struct record *record,
			      struct repair_request *ret) _must_check_;
/* If the same roots mislead both, @other's test is one of @request's kin. */
struct err *repairing_relate(struct repair_request *request,
			     const struct repair_request *other) _must_check_;
/*
 * What a test leaves, of that suite, in a root that the request is about: the test
 * is one of its leavers. Other findings change nothing.
 */
struct err *repairing_add_leaver(const struct suite *suite,
				 const struct store_finding *finding,
				 struct repair_request *request) _must_check_;
/* The folder that source files of this suite lie in, as far as that shows. */
struct err *repairing_project(const char *program, char **ret) _must_check_;
/*
 * Writes @content over the file at the absolute @path, below the folder that
 * @root is open for ("/", from before the sandbox); not if it is no longer
 * @original.
 */
struct err *repairing_write(int root, const char *path, const char *original,
			    const char *content) _must_check_;
