// Commands, each a process, that share files: victims, brittle ones, one that fails the second time; pollution that nobody
// minds; one that fails at random.
//
//@ subject framework=functions lang=c suite=commands
//@ variant plain builds=gcc-O0 quick=gcc-O0
//@ run default twice=yes
//@ run one-job --jobs 1 quick=no

#include "../steps.h"

//@ victim "./commands absent lock" polluters="./commands write lock" polluted=lock
//@ cleaned "./commands absent lock" after="./commands write lock" by="./commands remove lock"
//@ brittle "./commands present config" setters="./commands write config"
//@ brittle "./commands present built" setters="./commands write base,./commands build base built"
//@ brittle "./commands build base built" setters="./commands write base"
//@ non-idempotent "./commands make folder"
//@ victim "./commands absent trap" polluters="./commands write bait,./commands copy bait trap"
//@ random "./commands random"

int main(int argc, char **argv)
{
	return steps(argc, argv);
}
