// GLib: data that several tests get, and that only the framework points to: one changes it, one frees it.
//
//@ subject framework=glib lang=c header=glib.h
//@ variant plain pkg=glib-2.0 quick=gcc-O0,gcc-O2

#include <glib.h>
#include <string.h>

typedef struct {
	int level;
	const char *name;
} Server;

typedef struct {
	const char *text;
	gsize length;
} Message;

static void server_is_calm(gconstpointer data) //@ victim /server/calm polluters=/server/excites polluted=data
{
	const Server *server = data;
	g_assert_cmpint(server->level, ==, 0);
}

static void server_excites(gconstpointer data)
{
	Server *server = (Server *)data;
	server->level = 7;
}

static void server_named(gconstpointer data) // not affected
{
	const Server *server = data;
	g_assert_cmpstr(server->name, ==, "main");
}

static void message_length(gconstpointer data) //@ victim /message/length polluters=/message/last polluted=data
{
	const Message *message = data;
	g_assert_cmpuint(strlen(message->text), ==, message->length);
}

// Both get the same, and the framework frees it after this one.
static void message_last(gconstpointer data)
{
	const Message *message = data;
	g_assert_nonnull(message->text);
}

typedef struct {
	const char *text;
	long sum;
	int length;
} Sum;

// Freeing overwrites the first words of a block, and nothing else: with another length it would not look at them.
static void sum_checked(gconstpointer data) //@ victim /sum/checked polluters=/sum/last polluted=data
{
	const Sum *expected = data;
	long sum = 0;
	for (int i = 0; i < expected->length; i++)
		sum += expected->text[i];
	g_assert_true(expected->length <= 0 || sum == expected->sum);
}

static void sum_last(gconstpointer data)
{
	const Sum *expected = data;
	g_assert_cmpint(expected->length, ==, 2);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	Server *server = g_new0(Server, 1);
	Message *message = g_new0(Message, 1);
	server->name = "main";
	message->text = "hello";
	message->length = 5;
	g_test_add_data_func("/server/calm", server, server_is_calm);
	g_test_add_data_func("/server/excites", server, server_excites);
	g_test_add_data_func("/server/named", server, server_named);
	g_test_add_data_func("/message/length", message, message_length);
	g_test_add_data_func_full("/message/last", message, message_last, g_free);
	Sum *sum = g_new0(Sum, 1);
	sum->text = "ab";
	sum->sum = 'a' + 'b';
	sum->length = 2;
	g_test_add_data_func("/sum/checked", sum, sum_checked);
	g_test_add_data_func_full("/sum/last", sum, sum_last, g_free);
	return g_test_run();
}
