// Linked structures: what hangs off a root is compared by shape, sharing and values, never by address.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ variant static libs="-static" builds=gcc-O0,clang-O2 quick=clang-O2
//@ variant dwarf4 cflags="-gdwarf-4" builds=gcc-O2,clang-O0
//@ variant asan cflags="-fsanitize=address" libs="-fsanitize=address" builds=gcc-O0,clang-O2
//@ variant lto cflags="-flto" libs="-flto -O2" builds=gcc-O2

#include "../runner.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static NOINLINE void *checked(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

// A singly linked list.

struct node {
	int value;
	struct node *next;
};

struct list {
	struct node *head;
	unsigned length;
};

struct list queue;

static NOINLINE struct node *make_node(int value, struct node *next)
{
	struct node *node = checked(malloc(sizeof(*node)));
	node->value = value;
	node->next = next;
	return node;
}

static NOINLINE void append(struct list *list, int value)
{
	struct node **end = &list->head;
	while (*end)
		end = &(*end)->next;
	*end = make_node(value, NULL);
	list->length++;
}

static NOINLINE void clear(struct list *list)
{
	while (list->head) {
		struct node *next = list->head->next;
		free(list->head);
		list->head = next;
	}
	list->length = 0;
}

static NOINLINE void fill(struct list *list, int count)
{
	for (int i = 0; i < count; i++)
		append(list, i);
}

// From three nodes to four: nodes 0 to 2 were there.
TEST(test_list_grows) //@ pollutes test_list_grows queue queue.head->next->next->next effect=accumulates
//@ pollutes test_list_grows queue queue.length before=3 after=4 allocated=append|make_node
{
	append(&queue, 3);
}

TEST(test_list_payload) //@ pollutes test_list_payload queue queue.head->next->value before=1 after=100
{
	queue.head->next->value = 100;
}

TEST(test_list_payload_restored) //@ clean test_list_payload_restored
{
	queue.head->next->value = 5;
	TOUCH(queue.head);
	queue.head->next->value = 100;
}

// To two nodes: one less than there were at first.
TEST(test_list_shrinks) //@ pollutes test_list_shrinks queue queue.length before=4 after=2
//@ pollutes test_list_shrinks queue queue.head->next->next
{
	struct node **end = &queue.head->next->next;
	free((*end)->next);
	free(*end);
	*end = NULL;
	queue.length -= 2;
}

static NOINLINE struct node *copy_of(const struct node *node)
{
	struct node *first = NULL, **end = &first;
	for (; node; node = node->next) {
		*end = make_node(node->value, NULL);
		end = &(*end)->next;
	}
	return first;
}

TEST(test_list_copied_elsewhere) //@ clean test_list_copied_elsewhere
{
	struct node *copy = copy_of(queue.head);
	unsigned length = queue.length;
	clear(&queue);
	queue.head = copy;
	queue.length = length;
}

struct list numbers;

TEST(test_list_freed_and_rebuilt) //@ clean test_list_freed_and_rebuilt
{
	clear(&numbers);
	void *hole = checked(malloc(sizeof(struct node))); // so that it comes to lie elsewhere
	fill(&numbers, 5);
	free(hole);
}

TEST(test_list_rebuilt_with_other_values) //@ pollutes test_list_rebuilt_with_other_values numbers numbers.head->value
{
	clear(&numbers);
	for (int i = 0; i < 5; i++)
		append(&numbers, i + 1);
}

TEST(test_list_nodes_swapped_places) //@ clean test_list_nodes_swapped_places
{
	// The same values in the same order, in nodes that lie in the opposite order.
	struct node *nodes[5], *node = numbers.head;
	for (int i = 0; i < 5; i++, node = node->next)
		nodes[4 - i] = node;
	for (int i = 0; i < 5; i++) {
		nodes[i]->value = i + 1;
		nodes[i]->next = i < 4 ? nodes[i + 1] : NULL;
	}
	numbers.head = nodes[0];
}

TEST(test_list_reordered) //@ pollutes test_list_reordered numbers numbers.head->value before=1 after=2
{
	struct node *first = numbers.head, *second = first->next;
	first->next = second->next;
	second->next = first;
	numbers.head = second;
}

TEST(test_list_grown_and_shrunk) //@ clean test_list_grown_and_shrunk
{
	append(&numbers, 99);
	struct node **end = &numbers.head;
	while ((*end)->next)
		end = &(*end)->next;
	free(*end);
	*end = NULL;
	numbers.length--;
}

TEST(test_own_list) //@ clean test_own_list
{
	struct list own = { 0 };
	fill(&own, 100);
	TOUCH(&own);
	clear(&own);
}

// Nobody holds it any more: a leak, not shared state.
TEST(test_leak) //@ clean test_leak
{
	struct list lost = { 0 };
	fill(&lost, 10);
	TOUCH(&lost);
}

// Sharing.

struct shape {
	int size;
};

struct pair {
	struct shape *left, *right;
};

struct pair twins;     // both point to one shape
struct pair strangers; // equal shapes, one each

TEST(test_sharing_lost) //@ pollutes test_sharing_lost twins ...
{
	struct shape *copy = checked(malloc(sizeof(*copy)));
	*copy = *twins.left;
	twins.right = copy;
}

TEST(test_sharing_begun) //@ pollutes test_sharing_begun strangers ...
{
	free(strangers.right);
	strangers.right = strangers.left;
}

TEST(test_sharing_kept_elsewhere) //@ clean test_sharing_kept_elsewhere
{
	struct shape *copy = checked(malloc(sizeof(*copy)));
	*copy = *strangers.left;
	free(strangers.left);
	strangers.left = strangers.right = copy;
}

// Two roots that share.
struct shape *first_view, *second_view;

TEST(test_roots_share_elsewhere) //@ clean test_roots_share_elsewhere
{
	struct shape *copy = checked(malloc(sizeof(*copy)));
	*copy = *first_view;
	free(first_view);
	first_view = second_view = copy;
	TOUCH(&second_view);
}

TEST(test_roots_stop_sharing) //@ pollutes test_roots_stop_sharing first_view|second_view ...
{
	struct shape *copy = checked(malloc(sizeof(*copy)));
	*copy = *first_view;
	second_view = copy;
	TOUCH(&second_view);
}

TEST(test_shared_value_changes) //@ pollutes test_shared_value_changes strangers strangers.left->size before=4 after=5
{
	strangers.left->size = 5;
}

// Cycles.

struct ring {
	int value;
	struct ring *next, *previous;
};

struct ring *ring;

static NOINLINE struct ring *make_ring(int count)
{
	struct ring *first = NULL;
	for (int i = 0; i < count; i++) {
		struct ring *fresh = checked(malloc(sizeof(*fresh)));
		fresh->value = i;
		if (!first) {
			first = fresh->next = fresh->previous = fresh;
			continue;
		}
		fresh->next = first;
		fresh->previous = first->previous;
		first->previous->next = fresh;
		first->previous = fresh;
	}
	return first;
}

static NOINLINE void free_ring(struct ring *first)
{
	struct ring *it = first;
	do {
		struct ring *next = it->next;
		free(it);
		it = next;
	} while (it != first);
}

TEST(test_ring_rebuilt) //@ clean test_ring_rebuilt
{
	struct ring *fresh = make_ring(6);
	free_ring(ring);
	ring = fresh;
}

TEST(test_ring_value) //@ pollutes test_ring_value ring ...->value before=3 after=33
{
	ring->next->next->next->value = 33;
}

TEST(test_ring_longer) //@ pollutes test_ring_longer ring ... effect=accumulates
{
	struct ring *fresh = checked(malloc(sizeof(*fresh)));
	fresh->value = 6;
	fresh->next = ring;
	fresh->previous = ring->previous;
	ring->previous->next = fresh;
	ring->previous = fresh;
}

TEST(test_ring_unrolled) //@ pollutes test_ring_unrolled ring ring->previous->next|ring->next->next->next->next->next->next->next after=NULL
{
	ring->previous->next = NULL;
}

TEST(test_ring_closed_again) //@ clean test_ring_closed_again
{
	struct ring *last = ring->previous;
	last->next = ring;
	TOUCH(ring);
	last->next = NULL;
}

// A cycle of one turns into a cycle of two equal nodes: unrolled, they look alike.
struct loop {
	int value;
	struct loop *next;
} *loop;

TEST(test_loop_unrolled) //@ pollutes test_loop_unrolled loop ...
{
	struct loop *other = checked(malloc(sizeof(*other)));
	other->value = loop->value;
	other->next = loop;
	loop->next = other;
}

// A binary tree.

struct tree {
	int key;
	struct tree *left, *right;
};

struct tree *tree;

static NOINLINE void insert(struct tree **where, int key)
{
	while (*where)
		where = key < (*where)->key ? &(*where)->left : &(*where)->right;
	*where = checked(calloc(1, sizeof(**where)));
	(*where)->key = key;
}

static NOINLINE void free_tree(struct tree *tree)
{
	if (!tree)
		return;
	free_tree(tree->left);
	free_tree(tree->right);
	free(tree);
}

static const int keys[] = { 50, 25, 75, 12, 37, 62, 87 };

static NOINLINE void plant(struct tree **where)
{
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		insert(where, keys[i]);
}

TEST(test_tree_rebuilt) //@ clean test_tree_rebuilt
{
	struct tree *fresh = NULL;
	plant(&fresh);
	free_tree(tree);
	tree = fresh;
}

TEST(test_tree_leaf_added) //@ pollutes test_tree_leaf_added tree tree->left->right->left
{
	insert(&tree, 30);
}

TEST(test_tree_key) //@ pollutes test_tree_key tree tree->right->left->key before=62 after=63
{
	tree->right->left->key = 63;
}

// It is a tree of C: another shape is another state.
TEST(test_tree_rotated) //@ pollutes test_tree_rotated tree tree->key before=50 after=75
{
	struct tree *top = tree->right;
	tree->right = top->left;
	top->left = tree;
	tree = top;
}

// Intrusive lists, linked through a member in the middle: pointers into objects.

struct link {
	struct link *next, *previous;
};

struct job {
	long id;
	struct link link;
	int priority;
};

struct link jobs = { &jobs, &jobs };

static NOINLINE struct job *add_job(long id)
{
	struct job *job = checked(calloc(1, sizeof(*job)));
	job->id = id;
	job->priority = (int)id;
	job->link.next = &jobs;
	job->link.previous = jobs.previous;
	jobs.previous->next = &job->link;
	jobs.previous = &job->link;
	return job;
}

static NOINLINE struct job *job_of(struct link *link)
{
	return (struct job *)((char *)link - offsetof(struct job, link));
}

static NOINLINE void remove_job(struct job *job)
{
	job->link.next->previous = job->link.previous;
	job->link.previous->next = job->link.next;
	free(job);
}

TEST(test_intrusive_list_rebuilt) //@ clean test_intrusive_list_rebuilt
{
	while (jobs.next != &jobs)
		remove_job(job_of(jobs.next));
	void *hole = checked(malloc(sizeof(struct job)));
	for (int i = 0; i < 4; i++)
		add_job(i);
	free(hole);
}

TEST(test_intrusive_list_grows) //@ pollutes test_intrusive_list_grows jobs ... effect=accumulates
{
	add_job(4);
}

// The list's links lead into the object; what lies around them belongs to it.
// (Without knowledge of blocks, the pointer's type is all there is.)
TEST(test_intrusive_list_payload) //@ pollutes test_intrusive_list_payload jobs ...
{
	job_of(jobs.next->next)->priority = 1000;
}

TEST(test_intrusive_list_payload_restored) //@ clean test_intrusive_list_payload_restored
{
	struct job *job = job_of(jobs.next);
	int saved = job->priority;
	job->priority = 77;
	TOUCH(job);
	job->priority = saved;
}

// Pointers into arrays, to their end, and into oneself.

struct buffer {
	char *data, *read, *write, *end;
} buffer;

TEST(test_interior_pointer) //@ pollutes test_interior_pointer buffer buffer.write...|*buffer.write...
{
	buffer.write += 4;
}

TEST(test_interior_pointers_elsewhere) //@ clean test_interior_pointers_elsewhere
{
	char *data = checked(malloc(64));
	memcpy(data, buffer.data, 64);
	buffer.read = data + (buffer.read - buffer.data);
	buffer.write = data + (buffer.write - buffer.data);
	buffer.end = data + 64;
	free(buffer.data);
	buffer.data = data;
}

struct small_string {
	char *text;
	char inside[16];
} small = { small.inside, "short" };

TEST(test_pointer_into_itself) //@ clean test_pointer_into_itself
{
	small.text = NULL;
	TOUCH(&small);
	small.text = small.inside;
}

TEST(test_pointer_leaves_itself) //@ pollutes test_pointer_leaves_itself small ...
{
	small.text = checked(strdup("another"));
}

int values[4] = { 1, 2, 3, 4 };
int *current = values, *values_end = values + 4;

TEST(test_pointer_to_other_element) //@ pollutes test_pointer_to_other_element current ...
{
	current = &values[2];
	TOUCH(&current);
}

// One past the end of an array is not the next variable.
TEST(test_end_pointer_set_again) //@ clean test_end_pointer_set_again
{
	values_end = values;
	TOUCH(&values_end);
	values_end = values + 4;
}

// From one global to another.

struct service {
	const char *name;
	int uses;
	struct service *next;
};

struct service mail = { "mail", 0, NULL };
struct service web = { "web", 0, &mail };
struct service *default_service = &web;

TEST(test_changed_through_pointer) //@ pollutes test_changed_through_pointer web|default_service ...uses before=0 after=1
//@ pollutes test_changed_through_pointer web|default_service|mail ...
{
	default_service->uses++;
}

TEST(test_pointer_to_other_global) //@ pollutes test_pointer_to_other_global default_service ...
{
	default_service = &mail;
}

int main(void)
{
	fill(&queue, 3);
	fill(&numbers, 5);
	twins.left = twins.right = checked(calloc(1, sizeof(struct shape)));
	strangers.left = checked(calloc(1, sizeof(struct shape)));
	strangers.right = checked(calloc(1, sizeof(struct shape)));
	strangers.left->size = strangers.right->size = 4;
	first_view = second_view = checked(calloc(1, sizeof(struct shape)));
	ring = make_ring(6);
	loop = checked(calloc(1, sizeof(*loop)));
	loop->next = loop;
	plant(&tree);
	for (int i = 0; i < 4; i++)
		add_job(i);
	buffer.data = buffer.read = buffer.write = checked(calloc(1, 64));
	buffer.end = buffer.data + 64;
	return runner_main();
}
