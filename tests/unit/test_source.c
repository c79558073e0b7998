/*
 * Source files as text: bodies, statements, literals, declarations, and changes
 * of them as unified diffs.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

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
		assert_null(source_edit_include(&source, include, &edits[n++]));
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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
