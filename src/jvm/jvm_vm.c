#include "jvm/jvm_vm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/interrupted.h"
#include "base/log.h"
#include "base/macro.h"
#include "jvm/jvm_outside.h"

#define FILL_SIZE ((size_t)64 << 10)
/* A VM that reads nothing for 30 s while we have something to say is stuck. */
#define SEND_TURNS 300
#define SEND_TURN_MS 100

struct err *jvm_vm_start(const struct jvm_command *command, struct jvm_vm **ret)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_errno(errno, "cannot create a pair of sockets");
	_cleanup_(closep) int ours = ends[0], theirs = ends[1];
	_cleanup_(strv_freep) struct strv argv = {};
	TRY(strv_add(&argv, command->java));
	TRY(strv_addf(&argv, "-agentpath:%s=fd=%d%s", command->agent, theirs,
		      command->options));
	TRY(strv_add_all(&argv, command->words->data));
	const struct process_spec spec = {
		.argv = argv.data,
		.inherited = theirs,
		.follow = command->follow,
	};
	_cleanup_(jvm_vm_destroyp) struct jvm_vm *vm = calloc(1, sizeof(*vm));
	if (!vm)
		return err_nomem();
	vm->process = (struct process)PROCESS_INIT;
	vm->channel = take_fd(ours);
	vm->out_open = true;
	vm->block = (struct choice_block)CHOICE_BLOCK_INIT;
	_cleanup_(freep) char *why = NULL;
	TRY(process_start(&spec, &vm->process, &why));
	if (why)
		return err_hint(
			err_create(ERR_SUITE, "%s", why),
			"give the folder of a JDK with --java, or "
			"install one (Debian: openjdk-17-jdk-headless)");
	log_debug(LOG_JVM, "started VM %d", (int)vm->process.pid);
	*ret = take_ptr(vm);
	return NULL;
}

void jvm_vm_destroy(struct jvm_vm *vm)
{
	if (!vm)
		return;
	process_reap(&vm->process);
	jvm_seen_destroy(vm->seen);
	closep(&vm->channel);
	str_free(&vm->input);
	free(vm->words);
	free(vm->version);
	strv_free(&vm->adapters);
	choice_block_free(&vm->block);
	free(vm);
}

/*
 * Until it reads on; otherwise it is ended. Turns are counted, not time: while we
 * are stopped so is the VM.
 */
static bool jvm_vm_wait_for_room(const struct jvm_vm *vm)
{
	struct pollfd fd = { .fd = vm->channel, .events = POLLOUT };
	for (int i = 0; i < SEND_TURNS && !interrupted; i++) {
		if (poll(&fd, 1, SEND_TURN_MS) > 0)
			return true;
	}
	log_debug(LOG_JVM, "VM %d does not read our messages: killed",
		  (int)vm->process.pid);
	process_kill(&vm->process);
	return false;
}

struct err *jvm_vm_send(struct jvm_vm *vm, enum wire_vm_kind kind,
			const struct str *content)
{
	const struct wire_vm_head head = {
		.size = content ? (uint32_t)content->n : 0,
		.kind = (uint16_t)kind,
		.version = WIRE_VM_VERSION,
	};
	_cleanup_(str_freep) struct str whole = STR_INIT;
	TRY(str_append_n(&whole, (const char *)&head, sizeof(head)));
	if (head.size)
		TRY(str_append_n(&whole, content->s, content->n));
	for (size_t done = 0; done < whole.n;) {
		ssize_t n = send(vm->channel, whole.s + done, whole.n - done,
				 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN && jvm_vm_wait_for_room(vm))
			continue;
		if (n < 0)
			return NULL; /* it is gone */
		done += (size_t)n;
	}
	return NULL;
}

struct err *jvm_vm_fill(struct jvm_vm *vm)
{
	char buffer[FILL_SIZE];
	if (vm->taken) {
		memmove(vm->input.s, vm->input.s + vm->taken,
			vm->input.n - vm->taken);
		vm->input.n -= vm->taken;
		vm->taken = 0;
	}
	for (;;) {
		ssize_t got =
			recv(vm->channel, buffer, sizeof(buffer), MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return NULL;
		TRY(str_append_n(&vm->input, buffer, (size_t)got));
		if ((size_t)got < sizeof(buffer) ||
		    vm->input.n > WIRE_VM_LARGEST)
			return NULL;
	}
}

struct err *jvm_vm_next(struct jvm_vm *vm, struct wire_vm_head *ret_head,
			struct message_reader *ret, bool *ret_any)
{
	size_t left = vm->input.n - vm->taken;
	*ret_any = false;
	if (left < sizeof(*ret_head))
		return NULL;
	memcpy(ret_head, vm->input.s + vm->taken, sizeof(*ret_head));
	if (ret_head->version != WIRE_VM_VERSION ||
	    ret_head->size > WIRE_VM_LARGEST)
		return err_create(ERR_SUITE,
				  "the agent in the Java VM says what nobody "
				  "understands (version %u, %u bytes)",
				  ret_head->version, ret_head->size);
	if (left - sizeof(*ret_head) < ret_head->size)
		return NULL;
	const uint8_t *content =
		(const uint8_t *)vm->input.s + vm->taken + sizeof(*ret_head);
	*ret = (struct message_reader){
		.at = content,
		.end = content + ret_head->size,
	};
	vm->taken += sizeof(*ret_head) + ret_head->size;
	*ret_any = true;
	return NULL;
}

struct err *jvm_vm_hello(struct jvm_vm *vm, struct message_reader *reader)
{
	_cleanup_(freep) char *name = NULL;
	uint32_t version = message_number(reader);
	TRY(message_text(reader, &vm->version));
	TRY(message_text(reader, &name));
	TRY(message_texts(reader, &vm->adapters));
	if (reader->broken || version != WIRE_VM_VERSION)
		return err_create(ERR_SUITE,
				  "polygraph-jvm.jar is from another version "
				  "than polygraph");
	vm->ready = true;
	log_debug(LOG_JVM, "VM %d is ready: %s %s", (int)vm->process.pid,
		  name ? name : "?", vm->version ? vm->version : "?");
	return NULL;
}
