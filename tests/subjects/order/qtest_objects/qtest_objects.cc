// Qt Test: several test objects in one program, each with a fixture of its own (initTestCase(), cleanupTestCase()) that
// surrounds its tests; rows of data, also of all functions of an object; an object whose fixture fails.
//
//@ subject framework=qtest lang=c++
//@ variant qt5 uses=qt5 quick=gcc-O0
//@ variant qt6 uses=qt6 quick=clang-O2

#include <QtTest/QtTest>

static bool verbose; // outlives the objects

class First : public QObject {
	Q_OBJECT
	QList<int> buffer; // made anew by the fixture

private slots:
	void initTestCase()
	{
		buffer = QList<int>() << 1 << 2;
	}

	void starts_whole() //@ victim First::starts_whole() polluters=First::drops(one)|First::drops(more) polluted=this
	{
		QCOMPARE(buffer.size(), 2);
	}

	void drops_data()
	{
		QTest::addColumn<int>("count");
		QTest::newRow("none") << 0;
		QTest::newRow("one") << 1;
		QTest::newRow("more") << 2;
	}

	void drops()
	{
		QFETCH(int, count);
		while (count-- && !buffer.isEmpty())
			buffer.removeLast();
	}

	void is_quiet() //@ victim First::is_quiet() polluters=First::talks() polluted=verbose
	{
		QVERIFY(!verbose);
	}

	void talks()
	{
		verbose = true;
	}
};

class Second : public QObject {
	Q_OBJECT
	int prepared = 0;

private slots:
	void initTestCase_data()
	{
		QTest::addColumn<int>("level");
		QTest::newRow("low") << 1;
		QTest::newRow("high") << 2;
	}

	void prepares()
	{
		QFETCH_GLOBAL(int, level);
		prepared = level;
	}

	//@ brittle Second::needs(low:two) setters=Second::prepares(low)|Second::prepares(high) polluted=this
	//@ brittle Second::needs(high:two) setters=Second::prepares(low)|Second::prepares(high) polluted=this
	void needs_data()
	{
		QTest::addColumn<bool>("strict");
		QTest::newRow("one") << false;
		QTest::newRow("two") << true;
	}

	void needs()
	{
		QFETCH(bool, strict);
		QVERIFY(prepared || !strict);
	}

	//@ victim Second::is_quiet(low) polluters=First::talks()|Second::talks_more(low)|Second::talks_more(high)
	//@ victim Second::is_quiet(high) polluters=First::talks()|Second::talks_more(low)|Second::talks_more(high)
	void is_quiet()
	{
		QVERIFY(!verbose);
	}

	void talks_more()
	{
		verbose = true;
	}
};

class Broken : public QObject {
	Q_OBJECT

private slots:
	void initTestCase()
	{
		QFAIL("no fixture");
	}

	void one()
	{
	}

	void other()
	{
	}
};

int main(int argc, char **argv)
{
	int failed = 0;
	{
		First first;
		failed += QTest::qExec(&first, argc, argv);
	}
	{
		Second second;
		failed += QTest::qExec(&second, argc, argv);
	}
	{
		Broken broken;
		failed += QTest::qExec(&broken, argc, argv);
	}
	return failed;
}
#include "qtest_objects.moc"
