// A program with a shared library of its own, and one that a test loads.
//
//@ subject framework=functions lang=c
//@ variant plain sources=library.c shared=parts.c plugins=plugin.c libs="-ldl" quick=gcc-O0,clang-O2
//@ variant nopie sources=library.c shared=parts.c plugins=plugin.c cflags="-fno-pie" libs="-no-pie -ldl" builds=gcc-O2,clang-O0 quick=gcc-O2

#define _GNU_SOURCE
#include "../runner.h"
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(test_public_variable) //@ pollutes test_public_variable library_public library_public before=1 after=2
{
	library_public++;
}

TEST(test_hidden_variables) //@ pollutes test_hidden_variables hidden hidden after=5 //@ pollutes test_hidden_variables hidden_global hidden_global after=5
{
	library_set_hidden(5);
}

TEST(test_hidden_variables_read) //@ clean test_hidden_variables_read
{
	assert(library_hidden() == 10);
}

TEST(test_static_of_library_function) //@ pollutes test_static_of_library_function library_next::last ... effect=accumulates
{
	library_next();
}

TEST(test_structure_of_library) //@ pollutes test_structure_of_library library_settings library_settings->level before=0 after=4
{
	library_settings->level = 4;
}

TEST(test_structure_rebuilt) //@ clean test_structure_rebuilt
{
	library_rebuild();
}

TEST(test_thread_local_of_library) //@ pollutes test_thread_local_of_library thread_value ...
{
	*library_thread_value() = 9;
}

TEST(test_before_plugin) //@ clean test_before_plugin
{
}

static int (*plugin_call)(void);

// What comes with a library that was not there before is new, not changed.
TEST(test_loads_plugin) //@ pollutes test_loads_plugin plugin_call ... effect=settles //@ first test_loads_plugin plugin_state
{
	if (!plugin_call) {
		char path[4096];
		Dl_info info;
		if (!dladdr((void *)(size_t)test_loads_plugin, &info))
			abort();
		snprintf(path, sizeof(path), "%s", info.dli_fname);
		char *slash = strrchr(path, '/');
		snprintf(slash ? slash + 1 : path, 32, "libplugin.so");
		void *handle = dlopen(path, RTLD_NOW);
		if (!handle)
			abort();
		plugin_call = (int (*)(void))(size_t)dlsym(handle, "plugin_call");
	}
	TOUCH(&plugin_call);
}

TEST(test_plugin_changes) //@ pollutes test_plugin_changes plugin_state plugin_state before=3 after=0 //@ pollutes test_plugin_changes plugin_calls plugin_calls before=0 after=1
{
	plugin_call();
}

TEST(test_plugin_rests) //@ clean test_plugin_rests
{
	assert(plugin_call);
}

// Loaded and unloaded again: nothing remains.
TEST(test_library_comes_and_goes) //@ clean test_library_comes_and_goes
{
	void *handle = dlopen("libm.so.6", RTLD_NOW);
	if (handle)
		dlclose(handle);
}

RUNNER_MAIN()
