/* What the files of x86-64 share; for them alone. */
#pragma once

#include <capstone/capstone.h>

#include "tracee/arch.h"

csh x86_disassembler(void);
/* A general register or the program counter, by a number; -1: another one. */
int8_t x86_register_number(unsigned reg);
uint64_t x86_register_value(const struct regs *regs, int8_t number);
