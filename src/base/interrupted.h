/*
 * The user wants to stop (suite_interrupt()): code that waits or works for long
 * checks this whenever it wakes up. Set in signal handlers, cleared only by
 * tests.
 */
#pragma once

extern volatile int interrupted;
