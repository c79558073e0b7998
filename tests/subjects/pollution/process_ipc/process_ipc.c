// Shared memory, semaphores and message queues, of System V and of POSIX: they outlive the process. Names are made of the
// working directory, so that subjects that run at the same time do not meet; the word `clean` removes everything.
//
//@ subject framework=functions lang=c where=process after=clean
//@ variant plain libs="-lrt -pthread" quick=gcc-O0

#define _GNU_SOURCE
#include "../files.h"
#include "../runner.h"

#include <mqueue.h>
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

static unsigned number;

static key_t key(int which)
{
	return (key_t)((number & 0x7fffff0) | which);
}

struct name {
	char text[64];
};

static struct name make_name(const char *which)
{
	struct name name;
	snprintf(name.text, sizeof(name.text), "/subject-%x-%s", number, which);
	return name;
}

#define NAME(which) make_name(which).text

TEST(test_shmget) //@ pollutes test_shmget shared-memory[...] ... before=absent
{
	shmget(key(1), 4096, IPC_CREAT | 0600);
}

TEST(test_shmget_and_back) //@ clean test_shmget_and_back
{
	int id = shmget(key(2), 4096, IPC_CREAT | 0600);
	void *at = shmat(id, NULL, 0);
	shmdt(at);
	shmctl(id, IPC_RMID, NULL);
}

//@ pollutes test_shm_private shared-memory[...] ... before=absent
//@ pollutes test_shm_private mapping[...] ... may=yes
TEST(test_shm_private)
{
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	shmat(id, NULL, 0);
	shmctl(id, IPC_RMID, NULL); /* goes with the process, but is attached until then */
}

TEST(test_semget) //@ pollutes test_semget semaphore[...] ... before=absent
{
	semget(key(3), 1, IPC_CREAT | 0600);
}

TEST(test_semget_and_back) //@ clean test_semget_and_back
{
	semctl(semget(key(4), 1, IPC_CREAT | 0600), 0, IPC_RMID);
}

TEST(test_msgget) //@ pollutes test_msgget message-queue[...] ... before=absent
{
	msgget(key(5), IPC_CREAT | 0600);
}

TEST(test_msgget_and_back) //@ clean test_msgget_and_back
{
	msgctl(msgget(key(6), IPC_CREAT | 0600), IPC_RMID, NULL);
}

TEST(test_shm_open) //@ pollutes test_shm_open shared-memory[/subject-...-shm] ... before=absent
{
	int fd = shm_open(NAME("shm"), O_RDWR | O_CREAT, 0600);
	(void)!ftruncate(fd, 4096);
	close(fd);
}

TEST(test_shm_open_and_back) //@ clean test_shm_open_and_back
{
	close(shm_open(NAME("short"), O_RDWR | O_CREAT, 0600));
	shm_unlink(NAME("short"));
}

TEST(test_sem_open) //@ pollutes test_sem_open semaphore[/subject-...-sem] ... before=absent
{
	sem_t *semaphore = sem_open(NAME("sem"), O_CREAT, 0600, 1);
	sem_close(semaphore);
}

TEST(test_sem_open_and_back) //@ clean test_sem_open_and_back
{
	sem_t *semaphore = sem_open(NAME("short"), O_CREAT, 0600, 1);
	sem_close(semaphore);
	sem_unlink(NAME("short"));
}

// They can be listed only where /dev/mqueue is mounted.
TEST(test_mq_open) //@ pollutes test_mq_open message-queue[/subject-...-mq] ... before=absent may=yes
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	mq_close(mq_open(NAME("mq"), O_CREAT | O_RDWR, 0600, &attr));
}

TEST(test_mq_open_and_back) //@ clean test_mq_open_and_back
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	mq_close(mq_open(NAME("short"), O_CREAT | O_RDWR, 0600, &attr));
	mq_unlink(NAME("short"));
}

static void clean(void)
{
	shmctl(shmget(key(1), 0, 0), IPC_RMID, NULL);
	semctl(semget(key(3), 0, 0), 0, IPC_RMID);
	msgctl(msgget(key(5), 0), IPC_RMID, NULL);
	shm_unlink(NAME("shm"));
	sem_unlink(NAME("sem"));
	mq_unlink(NAME("mq"));
}

int main(int argc, char **argv)
{
	(void)argv;
	char folder[4096] = "";
	(void)!getcwd(folder, sizeof(folder));
	number = 5381;
	for (const char *at = folder; *at; at++)
		number = number * 33 + (unsigned char)*at;
	clean();
	return argc > 1 ? 0 : runner_main();
}
