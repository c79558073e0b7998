// Meson: what its tests declare of their order is their priority; --any-order lifts that.
//
//@ subject framework=functions lang=c suite=meson
//@ variant plain builds=gcc-O0 quick=gcc-O0
//@ run any-order --any-order

#include "../steps.h"

//@ victim "no lock" polluters="leaves lock"
//@ brittle "needs config" setters="writes config"
// That it comes after the one with the higher priority is declared, and so no news.
//@ brittle "after base" setters="makes base" in=any-order
//@ victim "looks before" polluters="leaves trace" in=any-order

int main(int argc, char **argv)
{
	return steps(argc, argv);
}
