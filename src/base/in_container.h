/*
 * Are we in a container of Docker, Podman or systemd-nspawn? Only for advice:
 * whoever makes containers decides what tells of them.
 */
#pragma once

#include <stdbool.h>

/* The flags of `docker run` and `podman run` that allow … */
#define CONTAINER_FLAG_PTRACE "--cap-add SYS_PTRACE"
#define CONTAINER_FLAGS_SANDBOX                                                \
	"--cap-add SYS_ADMIN --security-opt seccomp=unconfined "               \
	"--security-opt apparmor=unconfined"

bool in_container(void);
