// CTest: an order that is declared, by fixtures and by DEPENDS, is kept unless --any-order lifts that.
//
//@ subject framework=functions lang=c suite=ctest needs=fixtures
//@ variant plain builds=gcc-O0 quick=gcc-O0
//@ run any-order --any-order

#include "../steps.h"

//@ victim no_lock polluters=leaves_lock
//@ brittle needs_config setters=writes_config
// That it needs the other is declared, and so no news.
//@ brittle after_base setters=makes_base in=any-order
// The other one never comes first, as it DEPENDS on this one.
//@ victim looks_first polluters=leaves_trace in=any-order
//@ brittle uses_server setters=server_up in=any-order

int main(int argc, char **argv)
{
	return steps(argc, argv);
}
