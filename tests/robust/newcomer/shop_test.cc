/* A small shop and its tests, as newcomers write them: six things are wrong, one of each kind. */
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace shop
{

struct Catalog {
	std::vector<std::string> items;
	static Catalog &instance()
	{
		static Catalog catalog;
		return catalog;
	}
};

const char *currency()
{
	const char *locale = std::getenv("SHOP_LOCALE");
	return locale && std::string(locale) == "de" ? "EUR" : "USD";
}

void log_order(const std::string &order)
{
	std::ofstream("orders.log", std::ios::app) << order << "\n";
}

int logged_orders()
{
	std::ifstream log("orders.log");
	int n = 0;
	for (std::string line; std::getline(log, line);)
		n++;
	return n;
}

/* Prices with tax that were asked for already. */
std::map<std::string, int> &prices()
{
	static std::map<std::string, int> cache;
	return cache;
}

int price_with_tax(const std::string &item, int price)
{
	auto known = prices().find(item);
	if (known != prices().end())
		return known->second;
	return prices()[item] = price * 120 / 100;
}

std::string tags(const std::unordered_map<std::string, int> &all)
{
	std::string text;
	for (const auto &tag : all)
		text += (text.empty() ? "" : ",") + tag.first;
	return text;
}

} // namespace shop

/* The singleton. */
TEST(CatalogStart, IsEmpty)
{
	EXPECT_EQ(shop::Catalog::instance().items.size(), 0u);
}

TEST(Catalog, AddsAnItem)
{
	shop::Catalog::instance().items.push_back("tea");
	EXPECT_EQ(shop::Catalog::instance().items.back(), "tea");
}

/* The file. */
TEST(OrderStart, HasNoOrders)
{
	EXPECT_EQ(shop::logged_orders(), 0);
}

TEST(OrderLog, Appends)
{
	int before = shop::logged_orders();
	shop::log_order("2 tea");
	EXPECT_EQ(shop::logged_orders(), before + 1);
}

/* The environment variable. */
TEST(LocaleStart, DefaultIsDollar)
{
	EXPECT_STREQ(shop::currency(), "USD");
}

TEST(Locale, GermanPaysInEuro)
{
	setenv("SHOP_LOCALE", "de", 1);
	EXPECT_STREQ(shop::currency(), "EUR");
}

/* The static cache. */
TEST(PriceStart, NothingIsCached)
{
	EXPECT_EQ(shop::prices().count("tea"), 0u);
}

TEST(Price, HasTax)
{
	EXPECT_EQ(shop::price_with_tax("tea", 100), 120);
}

/* The order of an unordered_map. */
TEST(Tags, AreListed)
{
	std::unordered_map<std::string, int> all;
	for (const char *tag : { "green", "black", "white" })
		all[tag] = 1;
	EXPECT_EQ(shop::tags(all), "white,black,green");
}

/* The race. */
TEST(Checkout, ShipsInTheBackground)
{
	bool shipped = false;
	std::thread worker([&] { shipped = true; });
	std::this_thread::sleep_for(std::chrono::milliseconds(1));
	EXPECT_TRUE(shipped);
	worker.join();
}

/* And two that can be trusted. */
TEST(Sum, OfTwo)
{
	EXPECT_EQ(1 + 1, 2);
}

TEST(Names, AreTexts)
{
	EXPECT_EQ(std::string("tea").size(), 3u);
}
