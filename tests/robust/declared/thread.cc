// Linked to a test program, a thread that keeps it from being copied: each process is started anew.
#include <thread>
#include <unistd.h>

namespace {
struct Starts {
	Starts()
	{
		std::thread([] {
			for (;;)
				pause();
		}).detach();
	}
} starts;
} // namespace
