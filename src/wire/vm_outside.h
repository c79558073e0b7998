/*
 * What the part of the VM's agent says that lets the controller look at the VM
 * from outside: kinds of messages as in wire/vm.h.
 */
#pragma once

#include "wire/vm.h"

enum wire_outside_kind {
	/*
	 * From the VM: enum wire_vm_point (uint32_t). It waits for WIRE_VM_GO.
	 * Not of WIRE_VM_AFTER_TEARDOWN: there WIRE_VM_ENDED follows, and waits.
	 */
	WIRE_OUTSIDE_POINT = WIRE_VM_OUTSIDE,
};

/* The option "outside": at which points it waits. */
enum wire_outside_option {
	WIRE_OUTSIDE_ALL = 1,
	/*
	 * All but the beginning of a test that follows another: it was looked at
	 * when that one ended.
	 */
	WIRE_OUTSIDE_KNOWN,
};
