// Qt's containers and pointers as roots, in Qt's own test framework: what they hold counts, not how they hold it.
//
//@ subject framework=qtest lang=c++
//@ variant qt5 uses=qt5 quick=gcc-O0,clang-O2
//@ variant qt6 uses=qt6 quick=gcc-O0,clang-O2

#include <QtTest/QtTest>

struct point {
	int x, y;
};
struct small {
	int number;
};
struct wide {
	long a, b, c;
};
struct shared_data : QSharedData {
	int number = 1;
};

QString text, other_text;
QByteArray bytes;
QList<int> numbers;
QStringList names;
QList<point> points;
QList<small> smalls;
QList<wide> wides;
QVector<double> values;
QHash<int, QString> table;
QHash<QString, int> ages;
QHash<char, wide> odd;
QMultiHash<int, int> multi;
QMap<QString, int> tree;
QSet<int> set;
QSharedPointer<point> shared, shared_too;
QWeakPointer<point> weak;
QScopedPointer<point> scoped;
QSharedDataPointer<shared_data> data;
QVarLengthArray<int, 4> varying;
QVariant variant, variant_text, variant_point;
QString reserved;
QVector<int> reserved_values;
QHash<int, int> holes;
Q_DECLARE_METATYPE(point)

static int live;
struct Counted {
	Counted() { live++; }
	Counted(const Counted &) { live++; }
	~Counted() { live--; }
};
Q_DECLARE_METATYPE(Counted)

static QHash<QString, int> make_ages(bool backwards)
{
	QHash<QString, int> made;
	for (int i = 0; i < 20; i++) {
		int age = backwards ? 19 - i : i;
		made.insert(QStringLiteral("name") + QString::number(age), age);
	}
	return made;
}

class Types : public QObject {
	Q_OBJECT

private slots:
	void initTestCase();
	void text_changes();
	void text_rebuilt();
	void bytes_change();
	void bytes_rebuilt();
	void number_added();
	void numbers_rebuilt();
	void name_changes();
	void names_rebuilt();
	void point_changes();
	void points_rebuilt();
	void small_changes();
	void wide_changes();
	void wides_rebuilt();
	void value_changes();
	void values_grown();
	void table_value();
	void table_key();
	void table_rehashed();
	void age_changes();
	void ages_rebuilt();
	void odd_value();
	void odd_rebuilt();
	void multi_value();
	void multi_rebuilt();
	void tree_value();
	void tree_rebuilt();
	void set_grows();
	void set_rebuilt();
	void shared_changes();
	void shared_moved();
	void weak_expires();
	void scoped_changes();
	void scoped_moved();
	void data_changes();
	void data_detached();
	void varying_changes();
	void varying_grown();
	void variant_changes();
	void variant_rebuilt();
	void variant_text_changes();
	void variant_text_rebuilt();
	void reserved_used();
	void reserved_values_used();
	void hole_filled();
	void holes_used();
	void copies_made();
	void rows_data();
	void rows();
};

void Types::initTestCase()
{
	text = QStringLiteral("hello");
	bytes = QByteArray("bytes");
	numbers << 1 << 2 << 3;
	names << QStringLiteral("ann") << QStringLiteral("bob");
	points << point{ 1, 2 } << point{ 3, 4 };
	smalls << small{ 1 } << small{ 2 };
	wides << wide{ 1, 2, 3 };
	values << 1.5 << 2.5;
	for (int i = 0; i < 5; i++)
		table.insert(i, QString::number(i * 100));
	ages = make_ages(false);
	odd.insert('a', wide{ 1, 2, 3 });
	odd.insert('b', wide{ 4, 5, 6 });
	multi.insert(1, 10);
	multi.insert(1, 11);
	multi.insert(2, 20);
	for (int i = 0; i < 30; i++)
		tree.insert(QStringLiteral("key") + QString::number(i), i);
	for (int i = 0; i < 10; i++)
		set.insert(i);
	shared = QSharedPointer<point>::create(point{ 1, 2 });
	weak = shared;
	scoped.reset(new point{ 5, 6 });
	data = new shared_data;
	varying.append(1);
	varying.append(2);
	reserved.reserve(100);
	reserved_values.reserve(100);
	for (int i = 0; i < 10; i++)
		holes.insert(i, i);
	holes.remove(3);
	holes.remove(6);
	variant = 5;
	variant_text = QStringLiteral("a text");
	variant_point = QVariant::fromValue(point{ 7, 8 });
}

void Types::text_changes() //@ pollutes Types::text_changes() text text before="u\"hello\"" after="u\"hello, world\""
{
	text += QStringLiteral(", world");
}

void Types::text_rebuilt() //@ clean Types::text_rebuilt()
{
	QString again = text;
	text.clear();
	text.reserve(1000);
	text += again;
}

void Types::bytes_change() //@ pollutes Types::bytes_change() bytes bytes before="\"bytes\"" after="\"Bytes\""
{
	bytes[0] = 'B';
}

void Types::bytes_rebuilt() //@ clean Types::bytes_rebuilt()
{
	QByteArray again(bytes.constData(), bytes.size());
	again.reserve(500);
	bytes = again;
}

void Types::number_added() //@ pollutes Types::number_added() numbers ...numbers...
{
	numbers << 4;
}

void Types::numbers_rebuilt() //@ clean Types::numbers_rebuilt()
{
	QList<int> again;
	again.reserve(100);
	for (int number : qAsConst(numbers))
		again << number;
	numbers = again;
}

void Types::name_changes() //@ pollutes Types::name_changes() names "names[1]" before="u\"bob\"" after="u\"bill\""
{
	names[1] = QStringLiteral("bill");
}

void Types::names_rebuilt() //@ clean Types::names_rebuilt()
{
	QStringList again;
	for (const QString &name : qAsConst(names))
		again.prepend(name + QString());
	std::reverse(again.begin(), again.end());
	names = again;
}

void Types::point_changes() //@ pollutes Types::point_changes() points "points[1].y" before=4 after=5
{
	points[1].y = 5;
}

void Types::points_rebuilt() //@ clean Types::points_rebuilt()
{
	QList<point> again;
	for (const point &p : qAsConst(points))
		again << point{ p.x, p.y };
	points = again;
}

void Types::small_changes() //@ pollutes Types::small_changes() smalls "smalls[0].number" before=1 after=9
{
	smalls[0].number = 9;
}

void Types::wide_changes() //@ pollutes Types::wide_changes() wides "wides[0].c" before=3 after=4
{
	wides[0].c = 4;
}

void Types::wides_rebuilt() //@ clean Types::wides_rebuilt()
{
	wide first = wides[0];
	wides.clear();
	wides << first;
}

void Types::value_changes() //@ pollutes Types::value_changes() values "values[0]" before=1.5 after=0.5
{
	values[0] = 0.5;
}

void Types::values_grown() //@ clean Types::values_grown()
{
	values.reserve(values.size() + 1000);
}

void Types::table_value() //@ pollutes Types::table_value() table "table[2]" before="u\"200\"" after="u\"two\""
{
	table[2] = QStringLiteral("two");
}

void Types::table_key() //@ pollutes Types::table_key() table ...table[77]...
{
	table.insert(77, QStringLiteral("new"));
}

void Types::table_rehashed() //@ clean Types::table_rehashed()
{
	for (int i = 1000; i < 3000; i++)
		table.insert(i, QStringLiteral("temporary"));
	for (int i = 1000; i < 3000; i++)
		table.remove(i);
}

void Types::age_changes() //@ pollutes Types::age_changes() ages "ages[u\"name7\"]" before=7 after=8
{
	ages[QStringLiteral("name7")]++;
}

void Types::ages_rebuilt() //@ clean Types::ages_rebuilt()
{
	int age = ages[QStringLiteral("name7")];
	ages = make_ages(true);
	ages[QStringLiteral("name7")] = age;
}

void Types::odd_value() //@ pollutes Types::odd_value() odd "odd['b'].b" before=5 after=50
{
	odd['b'].b = 50;
}

void Types::odd_rebuilt() //@ clean Types::odd_rebuilt()
{
	wide a = odd['a'], b = odd['b'];
	odd.clear();
	odd.insert('b', b);
	odd.insert('a', a);
}

void Types::multi_value() //@ pollutes Types::multi_value() multi ...
{
	multi.insert(2, 21);
}

void Types::multi_rebuilt() //@ clean Types::multi_rebuilt()
{
	multi.insert(500, 1);
	multi.remove(500);
}

void Types::tree_value() //@ pollutes Types::tree_value() tree "tree[u\"key3\"]" before=3 after=33
{
	tree[QStringLiteral("key3")] = 33;
}

void Types::tree_rebuilt() //@ clean Types::tree_rebuilt()
{
	QMap<QString, int> again;
	const QStringList keys = tree.keys();
	for (int i = keys.size() - 1; i >= 0; i--)
		again.insert(keys[i], tree[keys[i]]);
	tree = again;
}

void Types::set_grows() //@ pollutes Types::set_grows() set ...
{
	set.insert(100);
}

void Types::set_rebuilt() //@ clean Types::set_rebuilt()
{
	QSet<int> again;
	again.reserve(1000);
	for (int i : qAsConst(set))
		again.insert(i);
	set = again;
}

void Types::shared_changes() //@ pollutes Types::shared_changes() shared|weak shared->y|weak->y before=2 after=3
{
	shared->y = 3;
}

void Types::shared_moved() //@ clean Types::shared_moved()
{
	QSharedPointer<point> again = QSharedPointer<point>::create(*shared);
	shared = again;
	weak = shared;
}

void Types::weak_expires() //@ pollutes Types::weak_expires() weak ...weak...
{
	weak = QSharedPointer<point>::create(point{ 1, 1 });
}

void Types::scoped_changes() //@ pollutes Types::scoped_changes() scoped ...scoped...x before=5 after=50
{
	scoped->x = 50;
}

void Types::scoped_moved() //@ clean Types::scoped_moved()
{
	scoped.reset(new point(*scoped));
}

void Types::data_changes() //@ pollutes Types::data_changes() data ...data...number before=1 after=2
{
	data->number = 2;
}

void Types::data_detached() //@ clean Types::data_detached()
{
	QSharedDataPointer<shared_data> copy = data;
	data.detach();
}

void Types::varying_changes() //@ pollutes Types::varying_changes() varying "varying[1]" before=2 after=7
{
	varying[1] = 7;
}

void Types::varying_grown() //@ clean Types::varying_grown()
{
	varying.reserve(100);
}

void Types::variant_changes() //@ pollutes Types::variant_changes() variant ...
{
	variant = 6;
}

void Types::variant_rebuilt() //@ clean Types::variant_rebuilt()
{
	variant = QVariant(variant.toInt());
}

void Types::variant_text_changes() //@ pollutes Types::variant_text_changes() variant_text ...
{
	variant_text = QStringLiteral("another text");
}

void Types::variant_text_rebuilt() //@ clean Types::variant_text_rebuilt()
{
	variant_text = QVariant(variant_text.toString() + QString());
}

void Types::reserved_used() //@ pollutes Types::reserved_used() reserved reserved before="u\"\"" after="u\"used\""
{
	reserved += QStringLiteral("used");
}

void Types::reserved_values_used() //@ pollutes Types::reserved_values_used() reserved_values ...
{
	reserved_values << 1;
}

void Types::hole_filled() //@ pollutes Types::hole_filled() holes ...holes[33]...
{
	holes.insert(33, 34);
}

void Types::holes_used() //@ clean Types::holes_used()
{
	holes.insert(55, 56);
	holes.remove(55);
	int five = holes.take(5);
	holes.insert(5, five);
}

// Sharing what they hold changes the counters of references, and nothing that a program sees.
void Types::copies_made() //@ clean Types::copies_made()
{
	other_text = text;
	other_text.clear();
	const QHash<int, QString> copy = table;
	const QSharedPointer<point> owner = shared;
	QVERIFY(!copy.isEmpty() && owner);
}

// The rows live until the last of them has run, and their type gets a number: neither is a test's doing.
void Types::rows_data()
{
	QTest::addColumn<Counted>("counted");
	QTest::newRow("a") << Counted();
	QTest::newRow("b") << Counted();
}

void Types::rows() //@ clean Types::rows(a) //@ clean Types::rows(b)
{
	QFETCH(Counted, counted);
	QVERIFY(live >= 2);
}

QTEST_APPLESS_MAIN(Types)
#include "qtest_types.moc"
