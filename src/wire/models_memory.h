/* Models of memory: addresses and contents: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_MEMORY(X)                                                  \
	X(malloc_contents, WIRE_RANDOM, WIRE_ONE, 0, "malloc-contents",        \
	  "C17 7.22.3.4: allocates space for an object whose value is"         \
	  " indeterminate",                                                    \
	  "bytes after the requested size, or memory of calloc")               \
	X(malloc_address, WIRE_PERMUTE, WIRE_ONE, 0, "malloc-address",         \
	  "C17 7.22.3: the order and contiguity of storage allocated by"       \
	  " successive calls is unspecified",                                  \
	  "blocks that overlap, or less than 16-byte alignment")               \
	X(malloc_spacing, WIRE_EXTEND, WIRE_EQ, 0, "malloc-spacing",           \
	  "C17 7.22.3: the order and contiguity of storage allocated by"       \
	  " successive calls is unspecified",                                  \
	  "blocks that overlap")                                               \
	X(malloc_alignment, WIRE_RANDOM, WIRE_ONE, 0, "malloc-alignment",      \
	  "C17 7.22.3: suitably aligned for any object with a fundamental"     \
	  " alignment requirement (16 bytes on x86-64), no more",              \
	  "less than 16-byte alignment")                                       \
	X(malloc_zero, WIRE_RANDOM, WIRE_ONE, WIRE_OPTIONAL, "malloc-zero",    \
	  "C17 7.22.3: if the size of the space requested is zero, the"        \
	  " behavior is implementation-defined: a null pointer, or as if the"  \
	  " size were some nonzero value",                                     \
	  "operator new, which never returns a null pointer")                  \
	X(malloc_usable_size, WIRE_RANDOM, WIRE_ONE, 0, "malloc_usable_size",  \
	  "malloc_usable_size(3): may be greater than the requested size"      \
	  " because of implementation details, none of which the programmer"   \
	  " should rely on",                                                   \
	  "less than was asked for, or more than there is")                    \
	X(calloc_address, WIRE_PERMUTE, WIRE_ONE, 0, "calloc-address",         \
	  "C17 7.22.3: the order and contiguity of storage allocated by"       \
	  " successive calls is unspecified",                                  \
	  "contents that are not zero")                                        \
	X(strdup_address, WIRE_PERMUTE, WIRE_ONE, 0, "strdup-address",         \
	  "POSIX.1-2017 strdup: a pointer to a new string, allocated as if by" \
	  " malloc",                                                           \
	  "another text, or a block that overlaps another")                    \
	X(strndup_address, WIRE_PERMUTE, WIRE_ONE, 0, "strndup-address",       \
	  "POSIX.1-2017 strndup: a pointer to a new string, allocated as if"   \
	  " by malloc",                                                        \
	  "another text, or a block that overlaps another")                    \
	X(realloc_move, WIRE_RANDOM, WIRE_ONE, 0, "realloc",                   \
	  "C17 7.22.3.5: returns a pointer to a new object, which may have"    \
	  " the same value as a pointer to the old object",                    \
	  "contents lost up to the lesser of both sizes")                      \
	X(realloc_shrink, WIRE_RANDOM, WIRE_ONE, 0, "realloc-shrink",          \
	  "C17 7.22.3.5: returns a pointer to a new object, which may have"    \
	  " the same value as a pointer to the old object, whatever the size", \
	  "contents lost up to the lesser of both sizes")                      \
	X(realloc_contents, WIRE_RANDOM, WIRE_ONE, 0, "realloc-contents",      \
	  "C17 7.22.3.5: any bytes in the new object beyond the size of the"   \
	  " old object have indeterminate values",                             \
	  "bytes up to the size of the old object")                            \
	X(free_contents, WIRE_RANDOM, WIRE_FULL, 0, "free-contents",           \
	  "C17 7.22.3.3: the space is deallocated, made available for further" \
	  " allocation; its contents are unspecified",                         \
	  "memory of a block that lives")                                      \
	X(free_reuse, WIRE_EXTEND, WIRE_FULL, 0, "free-reuse",                 \
	  "C17 7.22.3.3: made available for further allocation; nothing says"  \
	  " that the next call gets it",                                       \
	  "keeping more than a bounded number of blocks")                      \
	X(aligned_alloc_contents, WIRE_RANDOM, WIRE_ONE, 0,                    \
	  "aligned_alloc-contents",                                            \
	  "C17 7.22.3.1: allocates space for an object whose value is"         \
	  " indeterminate",                                                    \
	  "bytes after the requested size")                                    \
	X(aligned_alloc_address, WIRE_PERMUTE, WIRE_ONE, 0,                    \
	  "aligned_alloc-address",                                             \
	  "C17 7.22.3: the order and contiguity of storage allocated by"       \
	  " successive calls is unspecified",                                  \
	  "less alignment than was asked for")                                 \
	X(posix_memalign_contents, WIRE_RANDOM, WIRE_ONE, 0,                   \
	  "posix_memalign-contents",                                           \
	  "POSIX.1-2017 posix_memalign: allocates size bytes aligned on a"     \
	  " boundary, and says nothing of their values",                       \
	  "bytes after the requested size")                                    \
	X(posix_memalign_address, WIRE_PERMUTE, WIRE_ONE, 0,                   \
	  "posix_memalign-address",                                            \
	  "POSIX.1-2017 posix_memalign: the order and contiguity of storage"   \
	  " allocated by successive calls is unspecified",                     \
	  "less alignment than was asked for")                                 \
	X(new_contents, WIRE_RANDOM, WIRE_ONE, 0, "operator-new-contents",     \
	  "C++17 [basic.stc.dynamic.allocation]: there are no constraints on"  \
	  " the contents of the allocated storage on return",                  \
	  "objects that are initialised")                                      \
	X(new_address, WIRE_PERMUTE, WIRE_ONE, 0, "operator-new-address",      \
	  "C++17 [basic.stc.dynamic.allocation]: the order, contiguity, and"   \
	  " initial value of storage allocated by successive calls are"        \
	  " unspecified",                                                      \
	  "blocks that overlap, or a null pointer")                            \
	X(new_spacing, WIRE_EXTEND, WIRE_EQ, 0, "operator-new-spacing",        \
	  "C++17 [basic.stc.dynamic.allocation]: the order, contiguity, and"   \
	  " initial value of storage allocated by successive calls are"        \
	  " unspecified",                                                      \
	  "blocks that overlap")                                               \
	X(new_alignment, WIRE_RANDOM, WIRE_ONE, 0, "operator-new-alignment",   \
	  "C++17 [basic.stc.dynamic.allocation]: suitably aligned for any"     \
	  " object up to __STDCPP_DEFAULT_NEW_ALIGNMENT__ (16), no more",      \
	  "less than 16-byte alignment, or operators that take an alignment")  \
	X(new_array_contents, WIRE_RANDOM, WIRE_ONE, 0,                        \
	  "operator-new[]-contents",                                           \
	  "C++17 [basic.stc.dynamic.allocation]: there are no constraints on"  \
	  " the contents of the allocated storage on return",                  \
	  "objects that are initialised")                                      \
	X(new_array_address, WIRE_PERMUTE, WIRE_ONE, 0,                        \
	  "operator-new[]-address",                                            \
	  "C++17 [basic.stc.dynamic.allocation]: the order, contiguity, and"   \
	  " initial value of storage allocated by successive calls are"        \
	  " unspecified",                                                      \
	  "blocks that overlap, or a null pointer")                            \
	X(delete_contents, WIRE_RANDOM, WIRE_FULL, 0,                          \
	  "operator-delete-contents",                                          \
	  "C++17 [basic.stc.dynamic.deallocation]: the storage is"             \
	  " deallocated, all pointers into it are rendered invalid",           \
	  "memory of a block that lives")                                      \
	X(delete_reuse, WIRE_EXTEND, WIRE_FULL, 0, "operator-delete-reuse",    \
	  "C++17 [new.delete.single]: whether storage is reclaimed by an"      \
	  " earlier delete for later calls is unspecified",                    \
	  "keeping more than a bounded number of blocks")                      \
	X(mmap_address, WIRE_RANDOM, WIRE_ONE, 0, "mmap",                      \
	  "POSIX.1-2017 mmap: without MAP_FIXED the address is"                \
	  " implementation-defined; any that is suitable",                     \
	  "an address that was asked for, or a mapping over another")          \
	X(stack_garbage, WIRE_RANDOM, WIRE_ONE, 0, "uninitialised-variables",  \
	  "C17 6.2.4p6, 6.7.9p10: the value of an object with automatic"       \
	  " storage duration that is not initialized is indeterminate",        \
	  "memory of the stack that is in use")
/* clang-format on */
