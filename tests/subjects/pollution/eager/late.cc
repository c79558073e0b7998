// Loaded by a test.
int late_state = 1;

extern "C" int late_call()
{
	return ++late_state;
}
