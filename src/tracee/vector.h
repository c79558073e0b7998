/*
 * The vector registers in which functions get and keep floating-point values,
 * of a stopped thread. Control and status words stay as they are.
 */
#pragma once

#include "tracee/tracee.h"

/* Those for arguments come first. */
#define VECTOR_ARGUMENTS ((size_t)8 * 16)
#define VECTOR_ALL ((size_t)16 * 16)

struct err *vector_read(const struct thread *thread,
			uint8_t out[VECTOR_ALL]) _must_check_;
/* The first @n bytes of them. */
struct err *vector_write(const struct thread *thread, const uint8_t *bytes,
			 size_t n) _must_check_;
