/*
 * The user wants to stop (suite_interrupt()): whoever waits or works for long
 * looks at this whenever it wakes up. Set in signal handlers, never cleared but
 * by tests.
 */
#pragma once

extern volatile int interrupted;
