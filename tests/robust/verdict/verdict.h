/* What the programs here share. */
#pragma once

#include <stdio.h>

#define FUNCTION __attribute__((noinline))
#define KEEP() __asm__ volatile("" ::: "memory")

static volatile int level;
