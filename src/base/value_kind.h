/*
 * What a value that changed is like. A number that only grew, or is as mixed as a
 * random one, or tells the time of day, is worth less than another.
 */
#pragma once

enum value_kind {
	VALUE_OTHER = 1 << 0, /* no number, or not known */
	VALUE_GREW = 1 << 1,
	VALUE_SHRANK = 1 << 2,
	VALUE_MIXED = 1 << 3, /* many of its bits differ */
	VALUE_TIME = 1 << 4,  /* about when the test ran */
};
