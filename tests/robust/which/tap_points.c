/* Points of a TAP program; END says how it goes on after the third. */
#include "libtap.h"

#include <string.h>
#include <unistd.h>
#include <fcntl.h>

static volatile int kept;

int main(void)
{
	plan(7);
	ok(kept == 0, "starts at %d", 0);
	kept = 5;
	ok(1, "leaves a number");
	ok(kept == 4, "fails"); /* not ok */
	int fd = open("point.txt", O_CREAT | O_WRONLY, 0600);
	close(fd);
	ok(fd >= 0, "leaves a file");
	ok(0, "not yet # TODO write it");
	ok(1, "not here # SKIP no network");
	if (CRASH)
		abort();
	ok(1);
	return 0;
}
