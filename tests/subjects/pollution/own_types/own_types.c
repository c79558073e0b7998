// Containers of the project's own: what counts in them, said by recipes on the command line or in a configuration file.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ run recipes --container "ring: sequence first=items count=used" --container "registry: chain first=head next=next value=id unordered" --container "statistics: skip"
//@ run configured --config $HERE/own_types.toml

#include "../runner.h"

#include <stdlib.h>
#include <string.h>

static NOINLINE void *checked(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

// An array that grows.

struct ring {
	int *items;
	size_t used, capacity;
	unsigned generation;
} ring;

static NOINLINE void ring_add(struct ring *ring, int item)
{
	if (ring->used == ring->capacity) {
		ring->capacity = ring->capacity ? 2 * ring->capacity : 4;
		ring->items = checked(realloc(ring->items, ring->capacity * sizeof(*ring->items)));
		ring->generation++;
	}
	ring->items[ring->used++] = item;
}

TEST(test_ring_item) //@ pollutes test_ring_item ring ring.items[1] in=default before=2 after=20
//@ pollutes test_ring_item ring ring[1]|ring.items[1] in=recipes,configured before=2 after=20
{
	ring.items[1] = 20;
}

TEST(test_ring_grows) //@ pollutes test_ring_grows ring ... effect=accumulates
{
	ring_add(&ring, 9);
}

// More room, and what it says of itself: nothing for who knows what counts.
TEST(test_ring_room) //@ pollutes test_ring_room ring ring.capacity in=default //@ clean test_ring_room in=recipes,configured
{
	for (int i = 0; i < 100; i++)
		ring_add(&ring, i);
	ring.used -= 100;
}

// A list whose order does not count.

struct entry {
	int id;
	unsigned used;
	struct entry *next;
};

struct registry {
	struct entry *head;
	unsigned long lookups;
} registry;

static NOINLINE void registry_add(int id)
{
	struct entry *entry = checked(calloc(1, sizeof(*entry)));
	entry->id = id;
	entry->next = registry.head;
	registry.head = entry;
}

TEST(test_registry_lookup) //@ pollutes test_registry_lookup registry registry.lookups in=default //@ clean test_registry_lookup in=recipes,configured
{
	registry.lookups++;
	registry.head->used++;
}

TEST(test_registry_order) //@ pollutes test_registry_order registry ... in=default //@ clean test_registry_order in=recipes,configured
{
	struct entry *first = registry.head;
	registry.head = first->next;
	struct entry **end = &registry.head;
	while (*end)
		end = &(*end)->next;
	*end = first;
	first->next = NULL;
}

TEST(test_registry_grows) //@ pollutes test_registry_grows registry ... effect=accumulates
{
	registry_add(77);
}

TEST(test_registry_restored) //@ clean test_registry_restored
{
	struct entry *first = registry.head;
	registry_add(5);
	free(registry.head);
	registry.head = first;
}

// Never looked at.

struct statistics {
	unsigned long calls, bytes;
} statistics;

struct service {
	int level;
	struct statistics inside;
} service;

TEST(test_statistics) //@ pollutes test_statistics statistics ... in=default //@ clean test_statistics in=recipes,configured
{
	statistics.calls++;
	TOUCH(&statistics);
}

TEST(test_statistics_inside) //@ pollutes test_statistics_inside service service.inside.bytes in=default //@ clean test_statistics_inside in=recipes,configured
{
	service.inside.bytes += 100;
	TOUCH(&service);
}

TEST(test_beside_statistics) //@ pollutes test_beside_statistics service service.level before=0 after=1
{
	service.level = 1;
	TOUCH(&service);
}

int main(void)
{
	for (int i = 1; i < 4; i++) {
		ring_add(&ring, i);
		registry_add(i);
	}
	return runner_main();
}
