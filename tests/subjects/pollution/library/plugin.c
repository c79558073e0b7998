// Loaded by a test.
int plugin_state = 3;
static int plugin_calls;

int plugin_call(void);
int plugin_call(void)
{
	plugin_state = plugin_calls;
	return ++plugin_calls;
}
