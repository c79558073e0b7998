// Variables of every scalar and aggregate kind: changed, and put back.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ variant dwarf4 cflags="-gdwarf-4" builds=gcc-O0,clang-O2 quick=clang-O2
//@ variant split cflags="-gsplit-dwarf" builds=gcc-O2,clang-O0
//@ variant lto cflags="-flto" libs="-flto -O2" builds=gcc-O2 quick=gcc-O2
//@ variant compressed cflags="-gz" libs="-gz" builds=gcc-O0
//@ variant separate debug=separate builds=gcc-O2
//@ variant static libs="-static" builds=gcc-O2,clang-O0 quick=gcc-O2
//@ variant nopie cflags="-fno-pie" libs="-no-pie" builds=gcc-O2
//@ variant coverage cflags="--coverage" libs="--coverage" builds=gcc-O0,clang-O0 quick=gcc-O0
//@ variant asan cflags="-fsanitize=address" libs="-fsanitize=address" builds=gcc-O0,clang-O2 quick=clang-O2

#include "../runner.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Integers.

int count;
short small = -3;
long long large = 1;
unsigned char byte_value;
_Bool enabled;
char letter = 'a';
unsigned __int128 huge;

TEST(test_int) //@ pollutes test_int count count before=0 after=1 effect=accumulates
{
	count++;
}

TEST(test_int_restored) //@ clean test_int_restored
{
	int saved = count;
	count = 42;
	TOUCH(&count);
	count = saved;
}

TEST(test_short) //@ pollutes test_short small small before=-3 after=-4
{
	small--;
}

TEST(test_long_long) //@ pollutes test_long_long large large before=1 after=1099511627776
{
	large = 1LL << 40;
	TOUCH(&large);
}

TEST(test_unsigned_char) //@ pollutes test_unsigned_char byte_value byte_value
{
	byte_value = 200;
	TOUCH(&byte_value);
}

TEST(test_bool) //@ pollutes test_bool enabled enabled before=false after=true effect=settles
{
	enabled = 1;
}

TEST(test_char) //@ pollutes test_char letter letter
{
	letter = 'b';
	TOUCH(&letter);
}

TEST(test_int128) //@ pollutes test_int128 huge huge
{
	huge += (unsigned __int128)1 << 100;
}

TEST(test_same_value) //@ clean test_same_value
{
	enabled = 1;
	letter = 'b';
	byte_value = 200;
	TOUCH(&enabled);
}

// Floating point.

float ratio = 0.5f;
double temperature = 1.5;
long double precise = 1.0L;
double not_a_number;
double zero;
float complex signal_value;

TEST(test_float) //@ pollutes test_float ratio ratio before=0.5 after=0.25
{
	ratio /= 2;
}

TEST(test_double) //@ pollutes test_double temperature temperature before=1.5 after=-2
{
	temperature = -2;
	TOUCH(&temperature);
}

TEST(test_long_double) //@ pollutes test_long_double precise precise
{
	precise *= 3;
}

// The six bytes behind the ten of an x87 number are padding.
TEST(test_long_double_padding) //@ clean test_long_double_padding
{
	memset((char *)&precise + 10, 0x5a, 6);
	TOUCH(&precise);
}

TEST(test_becomes_nan) //@ pollutes test_becomes_nan not_a_number not_a_number
{
	not_a_number = zero / zero;
}

TEST(test_nan_stays_nan) //@ clean test_nan_stays_nan
{
	double other = not_a_number;
	TOUCH(&other);
	not_a_number = other;
}

TEST(test_complex) //@ pollutes test_complex signal_value signal_value...
{
	signal_value += 2.0f * I;
}

// Enumerations, also with a value that none has.

enum colour { RED, GREEN, BLUE = 7 };
enum colour colour;
enum colour strange_colour = BLUE;

TEST(test_enum) //@ pollutes test_enum colour colour before=RED after=GREEN
{
	colour = GREEN;
	TOUCH(&colour);
}

TEST(test_enum_without_name) //@ pollutes test_enum_without_name strange_colour strange_colour before=BLUE
{
	strange_colour = (enum colour)5;
	TOUCH(&strange_colour);
}

// Bit-fields.

struct flags {
	unsigned ready : 1;
	unsigned mode : 3;
	int level : 5;
	unsigned long long wide : 37;
} flags = { .mode = 2, .level = -1 };

TEST(test_bit_field) //@ pollutes test_bit_field flags flags.mode before=2 after=5
{
	flags.mode = 5;
}

TEST(test_bit_field_signed) //@ pollutes test_bit_field_signed flags flags.level before=-1 after=-2
{
	flags.level--;
}

TEST(test_bit_field_wide) //@ pollutes test_bit_field_wide flags flags.wide before=0
{
	flags.wide = 0x100000001ULL;
}

TEST(test_bit_field_restored) //@ clean test_bit_field_restored
{
	flags.ready = 1;
	TOUCH(&flags);
	flags.ready = 0;
}

// The bits between the last field and the end are nobody's.
TEST(test_bit_field_padding) //@ clean test_bit_field_padding
{
	((unsigned char *)&flags)[sizeof(flags) - 1] ^= 0x80;
	TOUCH(&flags);
}

// Structs, padding, unions.

struct limits {
	char kind;
	// seven bytes of padding
	double max;
	short steps;
	// six bytes of padding
};

struct {
	struct limits soft, hard;
	int uses;
} config = { .hard = { .max = 10 } };

TEST(test_struct_member) //@ pollutes test_struct_member config config.hard.max before=10 after=11
{
	config.hard.max++;
}

TEST(test_struct_members) //@ pollutes test_struct_members config config.uses
//@ pollutes test_struct_members config config.soft.steps
{
	config.soft.steps = 3;
	config.uses++;
}

TEST(test_padding) //@ clean test_padding
{
	memset((char *)&config.soft + 1, 0x77, 7);
	memset((char *)&config.hard + offsetof(struct limits, steps) + 2, 0x77, 6);
	TOUCH(&config);
}

struct limits copies[3];

TEST(test_padding_in_array) //@ clean test_padding_in_array
{
	for (int i = 0; i < 3; i++)
		memset((char *)&copies[i] + 1, i + 1, 7);
	TOUCH(copies);
}

union number {
	int integer;
	float real;
	unsigned char bytes[8];
} number;

TEST(test_union) //@ pollutes test_union number number...
{
	number.real = 1.5f;
}

TEST(test_union_restored) //@ clean test_union_restored
{
	union number saved = number;
	number.bytes[7] = 9;
	TOUCH(&number);
	number = saved;
}

// Arrays.

int table[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
double grid[3][4];
struct limits rules[4];
char name[16] = "start";
char raw[4] = { 'a', 'b', 'c', 'd' };

TEST(test_array) //@ pollutes test_array table table[3] before=4 after=40
{
	table[3] = 40;
}

TEST(test_array_permuted_and_back) //@ clean test_array_permuted_and_back
{
	for (int i = 0; i < 4; i++) {
		int other = table[i];
		table[i] = table[7 - i];
		table[7 - i] = other;
	}
	TOUCH(table);
	for (int i = 0; i < 4; i++) {
		int other = table[i];
		table[i] = table[7 - i];
		table[7 - i] = other;
	}
}

TEST(test_array_of_arrays) //@ pollutes test_array_of_arrays grid grid[1][2] before=0 after=0.5
{
	grid[1][2] = 0.5;
}

TEST(test_array_of_structs) //@ pollutes test_array_of_structs rules rules[2].steps before=0 after=9
{
	rules[2].steps = 9;
	TOUCH(rules);
}

TEST(test_char_array) //@ pollutes test_char_array name name|name[0] before="\"start\"" after="\"go\""
{
	strcpy(name, "go");
}

// What lies behind the end of the string is left over from before.
TEST(test_char_array_stale_bytes) //@ clean test_char_array_stale_bytes
{
	memset(name + 3, 'x', sizeof(name) - 3);
	TOUCH(name);
}

TEST(test_char_array_without_end) //@ pollutes test_char_array_without_end raw raw|raw[2]|raw[3]
{
	raw[3] = 'z';
	TOUCH(raw);
}

// Function pointers.

static int twice(int value)
{
	return value * 2;
}

static int thrice(int value)
{
	return value * 3;
}

int (*operation)(int) = twice;
int (*hooks[3])(int);

TEST(test_function_pointer) //@ pollutes test_function_pointer operation operation
{
	operation = thrice;
}

TEST(test_function_pointer_restored) //@ clean test_function_pointer_restored
{
	int (*saved)(int) = operation;
	operation = twice;
	assert(operation(2) == 4);
	TOUCH(&operation);
	operation = saved;
}

TEST(test_hook_installed) //@ pollutes test_hook_installed hooks hooks[1]
{
	hooks[1] = twice;
	TOUCH(hooks);
}

// Where variables live.

static int file_static;

NOINLINE int file_static_value(void)
{
	return file_static;
}

TEST(test_file_static) //@ pollutes test_file_static file_static file_static before=0 after=7
{
	file_static = 7;
	TOUCH(&file_static);
}

NOINLINE int next_id(void)
{
	static int last;
	return ++last;
}

TEST(test_function_static) //@ pollutes test_function_static next_id::last ... effect=accumulates
{
	int id = next_id();
	assert(id > 0);
}

_Thread_local int per_thread = 5;
static _Thread_local long hidden_per_thread;

NOINLINE long hidden_per_thread_value(void)
{
	return hidden_per_thread;
}

TEST(test_thread_local) //@ pollutes test_thread_local per_thread per_thread before=5 after=6
{
	per_thread++;
}

TEST(test_thread_local_static) //@ pollutes test_thread_local_static hidden_per_thread hidden_per_thread
{
	hidden_per_thread = 1;
	TOUCH(&hidden_per_thread);
}

TEST(test_thread_local_restored) //@ clean test_thread_local_restored
{
	per_thread++;
	TOUCH(&per_thread);
	per_thread--;
}

_Atomic int atomic_count;
volatile int device_register;

TEST(test_atomic) //@ pollutes test_atomic atomic_count atomic_count before=0 after=1
{
	atomic_count++;
}

TEST(test_volatile) //@ pollutes test_volatile device_register device_register before=0 after=3
{
	device_register = 3;
}

TEST(test_nothing) //@ clean test_nothing
{
}

// Reads are not changes.
TEST(test_reads_everything) //@ clean test_reads_everything
{
	volatile double sum = count + small + table[0] + grid[0][0] + config.uses + flags.mode;
	(void)sum;
	file_static_value();
	hidden_per_thread_value();
}

RUNNER_MAIN()
