// One object a program: in the reverse order, each would have a process of its own, whose files are put back.
//@ points qt5 count=4 flags="-std=c++17 -DOBJECT=With" uses=qt5
//@ points qt6 count=4 flags="-std=c++17 -DOBJECT=With" uses=qt6 builds=gcc-O2
//@ points qt5-plain count=2 flags="-std=c++17 -DOBJECT=Plain" uses=qt5 builds=gcc-O2
//@ points qt6-plain count=2 flags="-std=c++17 -DOBJECT=Plain" uses=qt6 builds=gcc-O2
#include <QtTest/QtTest>

#include "note.h"

class With : public QObject {
	Q_OBJECT
private slots:
	void init() { note("setup"); }
	void cleanup() { note("teardown"); }
	void one() { note("body"); }
	void fails()
	{
		note("body");
		QFAIL("no");
	}
	void rows_data()
	{
		QTest::addColumn<int>("number");
		QTest::newRow("a") << 1;
		QTest::newRow("b") << 2;
	}
	void rows() { note("body"); }
};

class Plain : public QObject {
	Q_OBJECT
private slots:
	void one() { note("body"); }
	void fails()
	{
		note("body");
		QFAIL("no");
	}
};

QTEST_APPLESS_MAIN(OBJECT)
#include "points.moc"
