// Qt Test: members of the test object, which lies on the stack of main() or on the heap, and which the framework calls.
//
//@ subject framework=qtest lang=c++
//@ variant qt5 uses=qt5 quick=gcc-O0,gcc-O2
//@ variant qt6 uses=qt6 quick=

#include <QtTest/QtTest>

class OnStack : public QObject {
	Q_OBJECT
	int level = 0;
	QList<int> numbers;
	QString name;

private slots:
	void initTestCase()
	{
		numbers << 1 << 2;
	}

	void sets_level() //@ pollutes OnStack::sets_level() this this->level before=0 after=4
	{
		level = 4;
	}

	void reads_level() //@ clean OnStack::reads_level()
	{
		QVERIFY(level >= 0);
	}

	void puts_back() //@ clean OnStack::puts_back()
	{
		int before = level;
		level = 17;
		QCOMPARE(level, 17);
		level = before;
	}

	void appends() //@ pollutes OnStack::appends() this this->numbers... effect=accumulates
	{
		numbers << 3;
	}

	// What the object itself is, to Qt, is not the test's.
	void names_itself() //@ clean OnStack::names_itself()
	{
		setObjectName(objectName());
		QObject child(this);
		QCOMPARE(children().size(), 1);
	}
};

class OnHeap : public QObject {
	Q_OBJECT
	QString name;

private slots:
	void renames() //@ pollutes OnHeap::renames() this this->name... after="u\"other\""
	{
		name = "other";
	}

	void reads() //@ clean OnHeap::reads()
	{
		QVERIFY(name.size() < 10);
	}
};

int main(int argc, char **argv)
{
	OnStack first;
	int failed = QTest::qExec(&first, argc, argv);
	auto *second = new OnHeap;
	failed += QTest::qExec(second, argc, argv);
	delete second;
	return failed;
}

#include "qtest_object.moc"
