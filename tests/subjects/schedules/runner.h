/* The hand-written runner of the subjects of pollution serves here, too; a failed assert() ends the process. */
#pragma once

#include "../pollution/runner.h"
