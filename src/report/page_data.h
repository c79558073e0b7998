/* The page of report/page/, as make_page.py puts it into the program. */
#pragma once

extern const char page_style[];
extern const char page_script[];
/* What the page may do: run this script, and nothing else. */
extern const char page_policy[];
