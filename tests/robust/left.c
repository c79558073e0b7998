/*
 * What shell commands leave behind, for suites of processes:
 *
 *     left make|remove shm|sem|msg KEY      System V IPC
 *     left listen|stay                      a process in the background: with a port, or with nothing
 */
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

static int ipc(int make, const char *what, key_t key)
{
	int flags = make ? IPC_CREAT | 0600 : 0;
	if (!strcmp(what, "shm")) {
		int id = shmget(key, make ? 4096 : 0, flags);
		return make ? id : shmctl(id, IPC_RMID, NULL);
	}
	if (!strcmp(what, "sem")) {
		int id = semget(key, make, flags);
		return make ? id : semctl(id, 0, IPC_RMID);
	}
	int id = msgget(key, flags);
	return make ? id : msgctl(id, IPC_RMID, NULL);
}

int main(int argc, char **argv)
{
	if (argc == 4)
		return ipc(!strcmp(argv[1], "make"), argv[2], (key_t)strtol(argv[3], NULL, 0)) < 0;
	if (argc != 2)
		return 2;
	if (!strcmp(argv[1], "listen")) {
		struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1))
			return 1;
	}
	if (fork())
		return 0;
	setsid();
	alarm(60); /* whatever happens */
	for (;;)
		pause();
}
