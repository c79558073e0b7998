/* What to do about a call whose result a test takes for granted. */
#pragma once

/* By the name of the API, as models have it; never NULL. */
const char *hint_of_call(const char *api);
