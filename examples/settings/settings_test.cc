#include "settings.h"

#include <gtest/gtest.h>

class Settings : public testing::Test {
protected:
	void TearDown() override { settings::clear(); }
};

TEST_F(Settings, UnknownNameIsEmpty)
{
	EXPECT_FALSE(settings::get("no.such.setting"));
}

TEST_F(Settings, SetThenGet)
{
	settings::set("colour", "green");
	EXPECT_EQ(settings::get("colour"), "green");
}

TEST_F(Settings, LaterValueWins)
{
	settings::set("editor", "ed");
	settings::set("editor", "vi");
	EXPECT_EQ(settings::get("editor"), "vi");
}

TEST_F(Settings, NamesIgnoreCase)
{
	settings::set("Log.Level", "debug");
	EXPECT_EQ(settings::get("log.level"), "debug");
}

TEST_F(Settings, NumbersAreParsed)
{
	settings::set("port", "8080");
	EXPECT_EQ(settings::number("port", 0), 8080);
}

TEST_F(Settings, BadNumberGivesFallback)
{
	settings::set("width", "wide");
	EXPECT_EQ(settings::number("width", 80), 80);
}

TEST(Retry, StopsAfterSuccess)
{
	EXPECT_EQ(retry([] { return true; }), 1);
}

// Relies on nobody having set retry.limit: true in the order in which the
// tests stand here, and by chance only.
TEST(Retry, GivesUpAfterThreeAttempts)
{
	EXPECT_EQ(retry([] { return false; }), 3);
}

// Leaves retry.limit at 1 for every test after it.
TEST(Retry, LimitIsConfigurable)
{
	settings::set("retry.limit", "1");
	EXPECT_EQ(retry([] { return false; }), 1);
}

TEST(Retry, WaitDoubles)
{
	EXPECT_EQ(retry_wait(1), 0);
	EXPECT_EQ(retry_wait(2), 50);
	EXPECT_EQ(retry_wait(3), 100);
	EXPECT_EQ(retry_wait(4), 200);
}
