/*
 * Source files as text: bodies, statements, literals, declarations, and changes
 * of them as unified diffs.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "repair/fixtures.h"
#include "repair/source.h"

static struct source_file read_text(const char *path, const char *text)
{
	struct source_file source = {};
	assert_null(source_take(path, text, strlen(text), &source));
	return source;
}

static void bodies_end_where_they_end(void **state)
{
	(void)state;
	static const char text[] = "/* { */\n"
				   "TEST(a, \"}\")\n"
				   "{\n"
				   "\tf('}'); // }\n"
				   "\tg(R\"x(})\" })x\");\n"
				   "\t{ h(); }\n"
				   "}\n"
				   "int next;\n";
	struct source_file source = read_text("a.cc", text);
	struct source_span body;
	assert_true(source.cxx);
	assert_true(source_body(&source, 2, &body));
	assert_int_equal(source_line(&source, body.from), 2);
	assert_int_equal(source_line(&source, body.to), 6);
	assert_false(source_body(&source, 8, &body));
	assert_false(source_body(&source, 99, &body));
	source_free(&source);
}

static void statements_are_told_apart(void **state)
{
	(void)state;
	static const char text[] = "void t(void)\n"
				   "{\n"
				   "\tint a = f(1, \"x;y\"), b[] = { 1, 2 };\n"
				   "\tfor (int i = 0; i < 3; i++) { g(i); }\n"
				   "\tif (a) h(); else { k(); }\n"
				   "\tASSERT_EQ(reset(3), p->drop(\"z\"));\n"
				   "}\n";
	struct source_file source = read_text("a.c", text);
	struct source_span body;
	struct source_spans spans = {};
	struct strv calls = {};
	struct strv texts = {}, numbers = {};
	assert_true(source_body(&source, 1, &body));
	assert_null(source_statements(&source, body, &spans));
	assert_int_equal(spans.n, 4);
	assert_true(source_is_declaration(&source, spans.data[0]));
	assert_false(source_is_declaration(&source, spans.data[1]));
	assert_false(source_is_declaration(&source, spans.data[3]));
	char *flat = source_flat(&source, spans.data[2]);
	assert_string_equal(flat, "if (a) h(); else { k(); }");
	free(flat);
	assert_null(source_inner_calls(&source, spans.data[3], &calls));
	assert_int_equal(calls.n, 2);
	assert_string_equal(calls.data[0], "reset(3)");
	assert_string_equal(calls.data[1], "p->drop(\"z\")");
	assert_null(source_literals(&source, body, &texts, &numbers));
	assert_int_equal(texts.n, 2);
	assert_string_equal(texts.data[0], "\"x;y\"");
	assert_string_equal(numbers.data[0], "1");
	strv_free(&calls);
	strv_free(&texts);
	strv_free(&numbers);
	vec_free(&spans);
	source_free(&source);
}

static void declarations_are_taken(void **state)
{
	(void)state;
	static const char text[] = "#include <check.h>\n"
				   "#include \"app.h\"\n"
				   "#define TWO \\\n"
				   "\t2\n"
				   "struct point { int x; };\n"
				   "static int level = 3;\n"
				   "static void helper(int n)\n"
				   "{\n"
				   "\tlevel = n;\n"
				   "}\n"
				   "START_TEST(a) { helper(1); } END_TEST\n";
	struct source_file source = read_text("a.c", text);
	struct strv lines = {};
	assert_null(source_declarations(&source, &lines));
	assert_int_equal(lines.n, 5);
	assert_string_equal(lines.data[0], "#include \"app.h\"");
	assert_string_equal(lines.data[1], "#define TWO \t2");
	assert_string_equal(lines.data[2], "struct point { int x; };");
	assert_string_equal(lines.data[3], "extern int level;");
	assert_string_equal(lines.data[4], "void helper(int n);");
	assert_true(source_includes(&source, "app.h"));
	assert_false(source_includes(&source, "pp.h"));
	strv_free(&lines);
	source_free(&source);
}

static void namespaces_are_looked_into(void **state)
{
	(void)state;
	static const char text[] = "extern \"C\" {\n"
				   "#include \"app.h\"\n"
				   "}\n"
				   "namespace app {\n"
				   "namespace {\n"
				   "Entry entry{ 7 };\n"
				   "}\n"
				   "static void f(int n) { entry.x = n; }\n"
				   "}\n";
	static const char *const expected[] = {
		"extern \"C\" { \n#include \"app.h\"\n }",
		"namespace app { extern Entry entry; }",
		"namespace app { void f(int n); }",
		"using namespace app;",
	};
	struct source_file source = read_text("a.cc", text);
	struct strv lines = {};
	assert_null(source_declarations(&source, &lines));
	assert_int_equal(lines.n, ARRAY_SIZE(expected));
	for (size_t i = 0; i < lines.n; i++)
		assert_string_equal(lines.data[i], expected[i]);
	strv_free(&lines);
	source_free(&source);
}

/* What is defined further down is declared, above the comment of the test. */
static void declarations_are_added(void **state)
{
	(void)state;
	static const char text[] = "int a;\n"
				   "\n"
				   "/* A test. */\n"
				   "static void\n"
				   "t(void)\n"
				   "{\n"
				   "}\n"
				   "#if 1\n"
				   "static int later(int n)\n"
				   "{\n"
				   "\treturn n;\n"
				   "}\n"
				   "#endif\n";
	struct source_file source = read_text("a.c", text);
	struct source_edit edit = {};
	struct source_span body;
	struct strv code = {};
	char *prototype = NULL, *diff = NULL;
	assert_true(source_body(&source, 5, &body));
	size_t item = source_item_start(&source, body.from);
	assert_int_equal(source_line(&source, item), 3);
	size_t later = source_item_start(&source, source.lines.data[8]);
	assert_int_equal(later, source.lines.data[8]);
	assert_null(source_prototype(&source, later, &prototype));
	assert_string_equal(prototype, "static int later(int n);");
	assert_null(strv_take(&code, prototype));
	assert_null(source_edit_declare(&source, item, &code, &edit));
	assert_null(source_diff(&source, "a.c", &edit, 1, &diff));
	assert_string_equal(diff, "--- a/a.c\n+++ b/a.c\n@@ -1,5 +1,7 @@\n"
				  " int a;\n \n+static int later(int n);\n+\n"
				  " /* A test. */\n static void\n t(void)\n");
	free(diff);
	source_edit_free(&edit);
	strv_free(&code);
	source_free(&source);
}

static void expect_fixture(const char *path, const char *text, unsigned line,
			   bool before, unsigned expected)
{
	struct source_file source = read_text(path, text);
	struct source_fixture fixture = {};
	struct source_span body;
	assert_true(source_body(&source, line, &body));
	assert_int_equal(fixture_of(&source, body, before, &fixture),
			 expected != 0);
	if (expected)
		assert_int_equal(source_line(&source, fixture.name.from) + 1,
				 expected);
	source_free(&source);
}

static void fixtures_are_found(void **state)
{
	(void)state;
	static const char gtest[] = "class A : public Test {\n"
				    "  void SetUp() override { f(); }\n"
				    "  void TearDown() override { g(); }\n"
				    "};\n"
				    "TEST_F(A, x) { h(); }\n"
				    "TEST(B, x) { h(); }\n";
	expect_fixture("a.cc", gtest, 5, true, 2);
	expect_fixture("a.cc", gtest, 5, false, 3);
	expect_fixture("a.cc", gtest, 6, false, 0);
	static const char boost[] = "struct A {\n"
				    "  A() : n(1) { f(); }\n"
				    "  ~A() { g(); }\n"
				    "  int n;\n"
				    "};\n"
				    "BOOST_FIXTURE_TEST_CASE(x, A) { h(); }\n";
	expect_fixture("a.cc", boost, 6, true, 2);
	expect_fixture("a.cc", boost, 6, false, 3);
	static const char cmocka[] =
		"int up(void **s) { return 0; }\n"
		"int down(void **s) { return 0; }\n"
		"void x(void **s) { h(); }\n"
		"void y(void **s) { h(); }\n"
		"struct CMUnitTest all[] = {\n"
		"  cmocka_unit_test_setup_teardown(x, up, down),\n"
		"  cmocka_unit_test(y),\n"
		"};\n";
	expect_fixture("a.c", cmocka, 3, true, 1);
	expect_fixture("a.c", cmocka, 3, false, 2);
	expect_fixture("a.c", cmocka, 4, false, 0);
	static const char check[] =
		"void up(void) { f(); }\n"
		"void down(void) { g(); }\n"
		"START_TEST(x) { h(); } END_TEST\n"
		"void add(void) {\n"
		"  tcase_add_checked_fixture(c, up, down);\n"
		"  tcase_add_test(c, x);\n"
		"}\n";
	expect_fixture("a.c", check, 3, false, 2);
	static const char unity[] = "void setUp(void) { f(); }\n"
				    "void tearDown(void) {}\n"
				    "void x(void) { TEST_ASSERT(h()); }\n";
	expect_fixture("a.c", unity, 3, true, 1);
}

static void check_change(const char *text, unsigned line, bool after,
			 const char *include, const char *expected)
{
	struct source_file source = read_text("a.c", text);
	struct source_edit edits[2] = {};
	struct source_span body;
	struct strv code = {};
	char *diff = NULL, *applied = NULL;
	size_t n = 0;
	assert_true(source_body(&source, line, &body));
	assert_null(strv_add(&code, "reset();"));
	if (include)
		assert_null(source_edit_include(&source, include, source.n,
						&edits[n++]));
	assert_null(
		source_edit_begin(&source, body, after, &code, &edits[n++]));
	assert_null(source_diff(&source, "a.c", edits, n, &diff));
	assert_null(source_apply(&source, edits, n, &applied));
	assert_string_equal(diff, expected);
	assert_non_null(strstr(applied, "reset();"));
	free(diff);
	free(applied);
	for (size_t i = 0; i < n; i++)
		source_edit_free(&edits[i]);
	strv_free(&code);
	source_free(&source);
}

static void changes_are_in_the_files_style(void **state)
{
	(void)state;
	check_change("#include \"a.h\"\n\nvoid t(void)\n{\n  f();\n}\n", 3,
		     false, "#include \"b.h\"",
		     "--- a/a.c\n+++ b/a.c\n@@ -1,6 +1,8 @@\n #include "
		     "\"a.h\"\n+#include \"b.h\"\n \n void t(void)\n {\n+  "
		     "reset();\n   f();\n }\n");
	check_change("void t(void) { f(); }", 1, false, NULL,
		     "--- a/a.c\n+++ b/a.c\n@@ -1,1 +1,1 @@\n-void t(void) { "
		     "f(); }\n\\ No newline at end of file\n+void t(void) { "
		     "reset(); f(); }\n");
	check_change("void t(void)\n{\n\tint a;\n\tf();\n}\n", 1, true, NULL,
		     "--- a/a.c\n+++ b/a.c\n@@ -1,5 +1,6 @@\n void "
		     "t(void)\n {\n \tint a;\n+\treset();\n \tf();\n }\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_end_where_they_end),
		cmocka_unit_test(statements_are_told_apart),
		cmocka_unit_test(declarations_are_taken),
		cmocka_unit_test(changes_are_in_the_files_style),
		cmocka_unit_test(namespaces_are_looked_into),
		cmocka_unit_test(declarations_are_added),
		cmocka_unit_test(fixtures_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
