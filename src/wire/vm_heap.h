/*
 * What the part of the VM's agent that compares heaps says, and is told: kinds of
 * messages as in wire/vm.h, with its texts and numbers.
 */
#pragma once

#include <stdint.h>

#include "wire/vm.h"

enum wire_heap_kind {
	/*
	 * To the VM: flags, point from, point to, paths, span (uint32_t each),
	 * then
	 * four lists, each a uint32_t and that many texts: roots to include, to
	 * exclude, fields to exclude (regular expressions), containers (type,
	 * shape, first, count, next, value: six texts each, an empty one is
	 * not given; then 1 where it is unordered). Span, plus 1: only what
	 * differs between the start of the first test and that of this entry
	 * is told.
	 */
	WIRE_HEAP_WATCH = WIRE_VM_HEAP,
	/* To the VM: a list of binary names of classes to initialise. */
	WIRE_HEAP_EAGER,
	/*
	 * To the VM, before WIRE_HEAP_WATCH: entry (uint32_t), a list of roots
	 * that are restored before it as they were before the first test.
	 */
	WIRE_HEAP_PUT_BACK,
	/* To the VM: a list of places (struct heap_path.place) to watch. */
	WIRE_HEAP_PLACES,
	/*
	 * From the VM, before WIRE_VM_ENDED: entry and n; each change is where
	 * (enum change_where), flags (1: first use), weight (enum
	 * change_weight), more, kinds (uint32_t each), digest before and after (uint64_t), root, file; then n paths:
	 * kind and depth (uint32_t), path, before, after, type, place.
	 */
	WIRE_HEAP_CHANGES = WIRE_VM_HEAP + 16,
	WIRE_HEAP_LEFT_OUT, /* name, why */
	WIRE_HEAP_READ,	    /* entry, place, 1: by code that fills it */
	/*
	 * At the end of the VM, for the log: how often the heap was looked at,
	 * found changed, compared as a whole, walked as a whole; nodes at the
	 * end; microseconds of all that, and of the longest; milliseconds of
	 * processor time of the VM (uint32_t each).
	 */
	WIRE_HEAP_COST,
};

enum wire_heap_flags {
	WIRE_HEAP_ON = 1 << 0,
	WIRE_HEAP_MEMORY = 1 << 1,  /* static fields */
	WIRE_HEAP_PROCESS = 1 << 2, /* what a VM has of its own */
	WIRE_HEAP_CONSECUTIVE = 1 << 3,
	WIRE_HEAP_EVERYTHING = 1 << 4, /* also statics of frameworks */
	WIRE_HEAP_SLOW = 1 << 5,       /* graphs by JVMTI */
};
