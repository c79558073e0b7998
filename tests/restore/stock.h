/*
 * The same two tests in each framework, tests/subjects/NAME/restore.cc: where a
 * test is about to begin and how it ends is different in each of them. One test
 * calls pollutes(), the other one, victim, passes(). Where groups of tests have a
 * set-up, FILLED_BY_SET_UP is defined and that set-up calls prepare().
 *
 * alone: stock
 */
#pragma once

#include <cstdlib>
#include <map>
#include <string>

static int innocent;
static const std::string apples = "apples, a whole box of them";
#ifdef FILLED_BY_SET_UP
/* The set-up of the group fills it: what was there before that helps nobody. */
static std::map<std::string, int> stock;
static void prepare() { stock[apples] = 3; }
#else
static std::map<std::string, int> stock = { { apples, 3 } };
#endif

static bool pollutes()
{
	innocent++;
	stock.clear();
	for (int i = 0; i < 20; i++)
		stock["something else, not apples " + std::to_string(i)] = i;
	return true;
}

static bool passes()
{
	bool good = stock.size() == 1 && stock.count(apples);
	stock["pears"] = 1;
	stock.clear();
	return good;
}
