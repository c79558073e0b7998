// Qt Test: fixtures, rows of data, expected failures, tests that do not come back.
//
//@ subject framework=qtest lang=c++ packages="qtbase5-dev qt6-base-dev pkg-config"
//@ variant qt5 uses=qt5
//@ variant qt6 uses=qt6

#include <QtTest/QtTest>

#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

static void verify_in_helper(int value)
{
	QVERIFY(value < 10); //@ fails Sample::fails_in_helper()
}

static bool written;

class Sample : public QObject {
	Q_OBJECT

private:
	QByteArray *shared = nullptr; // of all tests
	int live = 0;		      // of each test

private slots:
	void initTestCase();
	void cleanupTestCase();
	void init();
	void cleanup();
	void passes();
	void fails();
	void fails_flatly();
	void fails_with_a_message();
	void fails_in_helper();
	void skips();
	void expected();
	void unexpected();
	void rows_data();
	void rows();
	void rows_skipped_data();
	void rows_skipped();
	void order_reader();
	void order_writer();
	void order_rows_data();
	void order_rows();
	void segfault();
	void aborts();
	void leaves();
	void throws();
	void fatal();
	void hangs();
	void comes_afterwards();
};

void Sample::initTestCase()
{
	shared = new QByteArray("set up");
}

void Sample::cleanupTestCase()
{
	delete shared;
}

void Sample::init()
{
	live++;
}

void Sample::cleanup()
{
	live--;
}

void Sample::passes() //@ test Sample::passes() pass
{
	QCOMPARE(*shared, QByteArray("set up"));
	QCOMPARE(live, 1);
}

void Sample::fails() //@ test Sample::fails() fail
{
	QCOMPARE(live, 2); //@ fails Sample::fails()
}

void Sample::fails_flatly() //@ test Sample::fails_flatly() fail
{
	QFAIL("a message"); //@ fails Sample::fails_flatly()
}

void Sample::fails_with_a_message() //@ test Sample::fails_with_a_message() fail
{
	QVERIFY2(live == 2, "too few"); //@ fails Sample::fails_with_a_message()
}

void Sample::fails_in_helper() //@ test Sample::fails_in_helper() fail
{
	verify_in_helper(3);
	verify_in_helper(11);
}

void Sample::skips() //@ test Sample::skips() skip
{
	QSKIP("not here");
}

void Sample::expected() //@ test Sample::expected() pass
{
	QEXPECT_FAIL("", "a known defect", Continue);
	QCOMPARE(live, 2);
}

void Sample::unexpected() //@ test Sample::unexpected() fail
{
	QEXPECT_FAIL("", "a defect of the past", Abort);
	QCOMPARE(live, 1); //@ fails Sample::unexpected()
}

void Sample::rows_data()
{
	QTest::addColumn<int>("number");
	QTest::newRow("one") << 1;
	QTest::newRow("two") << 2;
	QTest::newRow("three") << 3;
	QTest::addRow("%d", 4) << 4;
}

void Sample::rows() //@ test Sample::rows(one) pass //@ test Sample::rows(two) fail //@ test Sample::rows(three) skip //@ test Sample::rows(4) pass
{
	QFETCH(int, number);
	QCOMPARE(live, 1);
	if (number == 3)
		QSKIP("not this one");
	QVERIFY(number != 2); //@ fails Sample::rows(two)
}

void Sample::rows_skipped_data()
{
	QTest::addColumn<int>("number");
	QTest::newRow("one") << 1;
	QSKIP("no data here");
}

void Sample::rows_skipped() //@ test Sample::rows_skipped() skip
{
	QFAIL("a test without data has run");
}

// Tests whose outcome tells the order they ran in.
void Sample::order_reader() //@ test Sample::order_reader() pass after=Sample::order_writer():fail
{
	QVERIFY(!written); //@ fails Sample::order_reader()
}

void Sample::order_writer() //@ test Sample::order_writer() pass
{
	written = true;
}

void Sample::order_rows_data()
{
	QTest::addColumn<bool>("write");
	QTest::newRow("reader") << false;
	QTest::newRow("writer") << true;
}

void Sample::order_rows() //@ test Sample::order_rows(reader) pass after=Sample::order_rows(writer):fail //@ test Sample::order_rows(writer) pass
{
	static bool row_written;
	QFETCH(bool, write);
	QVERIFY(write || !row_written); //@ fails Sample::order_rows(reader)
	row_written = write;
}

// Tests that do not come back.
void Sample::segfault() //@ test Sample::segfault() crash
{
	volatile int *volatile null = nullptr;
	*null = 1; //@ fails Sample::segfault()
}

void Sample::aborts() //@ test Sample::aborts() crash
{
	abort();
}

void Sample::leaves() //@ test Sample::leaves() crash
{
	exit(0);
}

// The framework calls these failures, and then ends the process.
void Sample::throws() //@ test Sample::throws() fail ends
{
	throw std::runtime_error("nobody catches this");
}

void Sample::fatal() //@ test Sample::fatal() fail ends
{
	qFatal("a fatal message");
}

void Sample::hangs() //@ test Sample::hangs() timeout
{
	for (;;)
		pause();
}

void Sample::comes_afterwards() //@ test Sample::comes_afterwards() pass
{
}

QTEST_APPLESS_MAIN(Sample)
#include "qtest_subject.moc"
