/* The version of the program; the build may set it. */
#pragma once

#ifndef POLYGRAPH_VERSION
#define POLYGRAPH_VERSION "0.1.0"
#endif
