/* Where the library that notes state begins. */
#include "recorder/state_internal.h"

/*
 * Linked with -z initfirst: runs before every other constructor. glibc hands
 * constructors what main() gets.
 */
__attribute__((constructor)) static void
recorder_start_library(int argc, char **argv, char **envp)
{
	(void)argc;
	(void)argv;
	agent_begin();
	environment_restore(envp);
	state_begin();
}
