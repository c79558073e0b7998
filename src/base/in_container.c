#include "base/in_container.h"

#include <stdlib.h>
#include <unistd.h>

/* Docker's file; Podman's; the variable of Podman, LXC and systemd-nspawn. */
bool in_container(void)
{
	const char *said = getenv("container");
	return !access("/.dockerenv", F_OK) ||
	       !access("/run/.containerenv", F_OK) || (said && *said);
}
