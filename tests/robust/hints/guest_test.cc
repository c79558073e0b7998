// What is initialised when it is first used, and a map that only its class can name.
#include <gtest/gtest.h>

#include <map>
#include <string>

std::string &user()
{
	static std::string name = "guest";
	return name;
}

class Registry {
public:
	static Registry &instance()
	{
		static Registry registry;
		return registry;
	}
	void add(const std::string &name, int kilos) { carriers_[name].kilos = kilos; }
	bool remove(const std::string &name) { return carriers_.erase(name) != 0; }
	size_t size() const { return carriers_.size(); }

private:
	struct Carrier {
		int kilos;
		std::string comment;
	};
	std::map<std::string, Carrier> carriers_;
};

TEST(Login, Ada)
{
	user() = "ada";
	EXPECT_EQ(user().size(), 3u);
}

TEST(Visitor, IsGuest)
{
	EXPECT_EQ(user(), "guest");
}

TEST(Carriers, AreNone)
{
	EXPECT_EQ(Registry::instance().size(), 0u);
}

TEST(Carriers, CanBeRemoved)
{
	Registry::instance().add("ups", 70);
	EXPECT_TRUE(Registry::instance().remove("ups"));
}

TEST(Carriers, CanBeAdded)
{
	Registry::instance().add("dhl", 31);
	EXPECT_EQ(Registry::instance().size(), 1u);
}
