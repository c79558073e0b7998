#!/usr/bin/env python3
"""What a caller may leave the tool with: signals, limits, descriptors, paths, and files that are none.

usage: test_environment.py --polygraph PATH [-v] [TEST…]

Each test has a twin in test_usual: the same suite in the usual environment gives the same answer.
"""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import runner
from fresh import copy_tool

POLYGRAPH = None
FOLDER = None

SUITE = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int kept;
void __attribute__((noinline)) test_leaves(void) { kept++; }
void __attribute__((noinline)) test_waits(void)
{
    int status = -1;
    pid_t pid = fork();
    if (!pid)
        _exit(7);
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
        abort();
}
void __attribute__((noinline)) test_fails_if_polluted(void) { if (kept > 100) abort(); }
int main(void) { test_leaves(); test_waits(); test_fails_if_polluted(); return 0; }
"""
# Exit status and the number of findings of commands on it; check has all detectors in it.
COMMANDS = {"list": (0, 0), "run": (0, 0), "check": (1, 1)}

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
MISLEADING = "\x7f" + "".join(map(chr, range(0x80, 0xa0))) + BIDI + "\u2028\u2029\ufeff\U000e0041"


def compile_c(name, text, *flags):
    path = os.path.join(FOLDER, name)
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(["cc", "-g", "-O1", "-w", "-o", path, path + ".c", *flags], check=True)
    return path


class Environment(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.suite = compile_c("suite", SUITE)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="polygraph-environment-", dir=FOLDER)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {**os.environ, "HOME": self.folder, "XDG_CACHE_HOME": os.path.join(self.folder, "cache")}

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def run_it(self, *args, status=0, program=None, **options):
        options.setdefault("env", self.environment)
        options.setdefault("cwd", self.folder)
        if "stdout" not in options:
            options["capture_output"] = True
        done = subprocess.run([program or POLYGRAPH, *runner.failing_on_low(args)], timeout=120, check=False, **options)
        said = (done.stdout or b"") + (done.stderr or b"")
        self.assertEqual(done.returncode, status, f"{args}: {said.decode(errors='replace')[:5000]}")
        return done

    def all_commands(self, program=None, **options):
        """Every command gives the answer that it gives in the usual environment."""
        for command, (status, findings) in COMMANDS.items():
            with self.subTest(command):
                done = self.run_it(command, "--format", "json", self.suite, status=status, program=program, **options)
                result = json.loads(done.stdout)
                self.assertEqual(len(result["findings"]), findings)
                if command != "list":
                    self.assertEqual({test["outcome"] for test in result["tests"]}, {"pass"})
                self.assertEqual(self.serious(done.stderr), [])

    @staticmethod
    def serious(stderr):
        """Lines of standard error, but for where the system has no sandbox."""
        return [line for line in stderr.decode().splitlines() if "no sandbox is possible" not in line]

    def says(self, *args, status, words, **options):
        text = self.run_it(*args, status=status, **options).stderr.decode()
        for word in words:
            self.assertIn(word, text)
        self.assertLess(len(text), 5000)
        return text

    def test_usual(self):
        self.all_commands()

    # Signals

    def test_sigchld_ignored(self):
        """Children vanish without a status then (wait(2)); the caller's habit is not the tests'."""
        self.all_commands(preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN), restore_signals=False)

    def test_signals_blocked(self):
        every = set(range(1, signal.NSIG)) - {32, 33}
        self.all_commands(preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, every))

    def test_signals_ignored(self):
        def ignore():
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP, signal.SIGALRM, signal.SIGUSR1):
                signal.signal(number, signal.SIG_IGN)
        self.all_commands(preexec_fn=ignore, restore_signals=False)

    # Limits

    def limited(self, which, soft):
        return lambda: resource.setrlimit(which, (soft, soft))

    def test_small_stack(self):
        for kilobytes in (64, 256):
            with self.subTest(kilobytes):
                self.all_commands(preexec_fn=self.limited(resource.RLIMIT_STACK, kilobytes << 10))

    def test_small_files(self):
        """No file of ours is larger than this, so all works but what needs such files, and that is said."""
        limit = self.limited(resource.RLIMIT_FSIZE, 8 << 10)
        for command in ("list", "run"):
            self.run_it(command, self.suite, preexec_fn=limit)
        for command, status in (("pollution", 1), ("order", 0)):
            done = self.run_it(command, self.suite, status=status, preexec_fn=limit)
            self.assertIn(b"results are not kept", done.stderr)
            self.assertIn(b"File too large (limited by 'ulimit -f')", done.stderr)
        done = self.run_it("choices", self.suite, status=4, preexec_fn=limit)
        self.assertIn(b"File too large (limited by 'ulimit -f')", done.stderr)
        report = self.path("report.json")
        self.write("many", "".join(f"true {i} {'x' * 50}\n" for i in range(200)))
        done = self.run_it("run", "--commands", "many", "--format", "json", "--output", report, status=4, preexec_fn=limit)
        self.assertIn(b"File too large (limited by 'ulimit -f')", done.stderr)
        self.assertFalse(os.path.exists(report))
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".report")], [])

    def test_large_enough_files(self):
        self.all_commands(preexec_fn=self.limited(resource.RLIMIT_FSIZE, 64 << 20))

    def test_tested_program_keeps_limits(self):
        """What we do against a limit is for us alone."""
        program = compile_c("limits", r"""
            #include <signal.h>
            #include <stdlib.h>
            #include <sys/resource.h>
            void __attribute__((noinline)) test_limits(void) {
                struct rlimit stack, size;
                struct sigaction action;
                getrlimit(RLIMIT_STACK, &stack);
                getrlimit(RLIMIT_FSIZE, &size);
                sigaction(SIGXFSZ, NULL, &action);
                if (stack.rlim_cur != 64 << 10 || size.rlim_cur != 1 << 20 || action.sa_handler != SIG_DFL)
                    abort();
            }
            int main(void) { test_limits(); return 0; }
        """)

        def limit():
            resource.setrlimit(resource.RLIMIT_STACK, (64 << 10, 64 << 10))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        self.run_it("run", program, preexec_fn=limit)

    def test_few_descriptors(self):
        for n in (8, 16, 20, 40):
            for command in ("list", "check"):
                text = self.says(command, self.suite, status=3, words=["more files can be opened", "ulimit -n"],
                                 preexec_fn=self.limited(resource.RLIMIT_NOFILE, n))
                self.assertEqual(text.count("\n"), 2, text)
        self.all_commands(preexec_fn=self.limited(resource.RLIMIT_NOFILE, 80))

    def test_no_proc(self):
        script = 'mount -t tmpfs none /proc && exec "$@"'
        if subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", "true"], capture_output=True, check=False).returncode:
            self.skipTest("no mount namespace can be made here")
        for command in ("list", "run", "check"):
            done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", POLYGRAPH, command, self.suite],
                                  capture_output=True, cwd=self.folder, env=self.environment, timeout=60, check=False)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(b"/proc is not mounted", done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), 2, done.stderr)

    # Descriptors

    @staticmethod
    def closing(*numbers):
        def close():
            for number in numbers:
                os.close(number)
        return close

    def test_standard_output_closed(self):
        """Known before anything runs, and no file of ours gets its number."""
        for numbers in ((1,), (0, 1), (1, 2), (0, 1, 2)):
            for command in COMMANDS:
                done = self.run_it(command, self.suite, status=2, stdout=None, stderr=subprocess.PIPE,
                                   preexec_fn=self.closing(*numbers))
                self.assertFalse(os.path.exists(self.path(".polygraph")))
                if 2 not in numbers:
                    self.assertIn(b"standard output is closed", done.stderr)
                    self.assertIn(b"--output PATH", done.stderr)

    def test_standard_output_closed_but_not_needed(self):
        for command, (status, findings) in COMMANDS.items():
            self.run_it(command, "--format", "json", "--output", "report.json", self.suite, status=status, stdout=None,
                        preexec_fn=self.closing(0, 1, 2))
            with open(self.path("report.json"), encoding="utf-8") as file:
                self.assertEqual(len(json.load(file)["findings"]), findings)

    def test_other_descriptors_closed(self):
        for numbers in ((0,), (2,), (0, 2)):
            self.all_commands(preexec_fn=self.closing(*numbers))

    # Paths

    def install_below(self, name):
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        copy_tool(os.path.dirname(POLYGRAPH), folder)
        return os.path.join(folder, "polygraph")

    def left_links(self):
        return [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("polygraph-agent-")]

    def test_installed_below_blanks_and_colons(self):
        before = self.left_links()
        for name in ("with blank", "with:colon", " both : of them ", "with $ORIGIN and ${LIB}"):
            self.all_commands(program=self.install_below(name))
        # The link is private, safe, and gone.
        program = os.path.join(self.folder, "with blank", "polygraph")
        self.run_it("pollution", "--sandbox", "never", self.suite, status=1, program=program)
        self.run_it("choices", "--sandbox", "never", "--commands", self.write("list", "true\n"), program=program)
        self.assertEqual(self.left_links(), before)

    def test_installed_below_blanks_with_preload(self):
        """The caller's own libraries come after ours, and tests do not see ours."""
        library = compile_c("own.so", "int own_library = 42;", "-shared", "-fPIC")
        program = compile_c("sees", f"""
            #include <stdlib.h>
            #include <string.h>
            #include <dlfcn.h>
            void __attribute__((noinline)) test_sees(void) {{
                int *own = dlsym(RTLD_DEFAULT, "own_library");
                if (!own || *own != 42 || strcmp(getenv("LD_PRELOAD"), "{library}"))
                    abort();
            }}
            int main(void) {{ test_sees(); return 0; }}
        """)
        environment = {**self.environment, "LD_PRELOAD": library}
        for polygraph in (POLYGRAPH, self.install_below("with blank")):
            for command in ("run", "pollution", "order"):
                self.run_it(command, program, env=environment, program=polygraph)

    def test_missing_home(self):
        """It is not ours to make."""
        home = self.path("missing/home")
        environment = {key: value for key, value in os.environ.items() if key != "XDG_CACHE_HOME"}
        for value in (home, os.path.dirname(home), "", "relative/home"):
            self.all_commands(env={**environment, "HOME": value})
            self.assertEqual(sorted(set(os.listdir(self.folder)) - {".polygraph"}), [])

    def test_no_home(self):
        self.all_commands(env={key: value for key, value in os.environ.items() if key not in ("HOME", "XDG_CACHE_HOME")})

    def test_home_that_is_there(self):
        """The twin: the cache is made there, and only there."""
        home = self.path("home")
        os.mkdir(home)
        environment = {key: value for key, value in os.environ.items() if key != "XDG_CACHE_HOME"}
        self.run_it("pollution", self.suite, status=1, env={**environment, "HOME": home})
        self.assertEqual(os.listdir(home), [".cache"])
        self.assertTrue([name for name in os.listdir(os.path.join(home, ".cache/polygraph")) if name.endswith(".idx")])

    def test_project_among_system_sources(self):
        """Where a project lies says nothing of whose its variables are."""
        for place in ("/usr/src/app", "/usr/src/googletest/googletest/src", "/usr/unity/src", "/usr/catch2"):
            program = compile_c("placed", SUITE, f"-fdebug-prefix-map={FOLDER}={place}", f"-fdebug-prefix-map={os.getcwd()}={place}")
            done = self.run_it("pollution", "--format", "json", program, status=1)
            report = json.loads(done.stdout)
            self.assertEqual([finding["root"] for finding in report["findings"]], ["kept"], place)
            self.assertEqual(report["findings"][0]["declared"]["file"], place + "/placed.c")
            self.assertEqual(report["left_out"], [])

    def test_left_out_and_changed(self):
        """A variable that is not compared is no argument that a test leaves nothing."""
        text = SUITE.replace("void __attribute__((noinline)) test_waits", "int other; "
                             "void __attribute__((noinline)) test_sets(void) { other = 1; } "
                             "void __attribute__((noinline)) test_waits").replace("test_waits();", "test_sets(); test_waits();")
        program = compile_c("omits", text)
        for options, wanted in (((), "2 tests leave something, 0 of them only in what is left out"),
                                (("--exclude-roots", "^other$"), "2 tests leave something, 1 of them only in"),
                                (("--exclude-roots", "^(other|kept)$"), "2 tests leave something, 2 of them only in")):
            done = self.run_it("order", *options, program, status=0, env={**self.environment, "POLYGRAPH_LOG": "order"})
            self.assertIn(wanted, os.fsdecode(done.stderr))

    def test_shared_build_id(self):
        """Two programs of one build id and one layout: the variable has the name that it has in this program."""
        for name in ("alpha", "gamma", "alpha"):
            program = compile_c("same", SUITE.replace("kept", name), "-Wl,--build-id=0x1234abcd")
            done = self.run_it("pollution", "--format", "json", program, status=1)
            self.assertEqual([finding["root"] for finding in json.loads(done.stdout)["findings"]], [name])

    # Files that are none

    def test_fifo_as_configuration(self):
        os.mkfifo(self.path("polygraph.toml"))
        self.says("run", self.suite, status=2, words=["'polygraph.toml' is not a regular file"])

    def test_fifo_without_a_writer(self):
        """All at once: each waits for ten seconds."""
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        calls = [["run", "--config", fifo, self.suite], ["run", "--order", fifo, self.suite],
                 ["pollution", "--baseline", fifo, self.suite], ["run", "--commands", fifo]]
        children = [subprocess.Popen([POLYGRAPH, *call], cwd=self.folder, env=self.environment, stderr=subprocess.PIPE,
                                     stdout=subprocess.PIPE) for call in calls]
        for call, child in zip(calls, children):
            out, err = child.communicate(timeout=100)
            self.assertEqual(child.returncode, 2, (call, out, err))
            self.assertIn(b"is a pipe, and nothing came through it", err, call)

    def test_pipes_with_a_writer(self):
        """The twin: what comes through a pipe is read."""
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for option, text, tests in (("--config", 'tests = ["test_waits"]\n', 1), ("--order", "test_waits\n", 1),
                                    ("--commands", "true 1\ntrue 2\n", 2)):
            for late in (0, 1):
                suite = [] if option == "--commands" else [self.suite]
                with subprocess.Popen(["sh", "-c", f"sleep {late}; printf %s \"$1\" > {fifo}", "sh", text]):
                    done = self.run_it("run", "--format", "json", option, fifo, *suite)
                self.assertEqual(len(json.loads(done.stdout)["tests"]), tests, option)

    def test_interrupted_while_waiting_for_a_pipe(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        child = subprocess.Popen([POLYGRAPH, "run", "--config", fifo, self.suite], cwd=self.folder, stderr=subprocess.PIPE)
        writer = os.open(fifo, os.O_WRONLY)  # returns when the tool reads
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)
        os.close(writer)
        self.assertEqual(child.returncode, 130)

    def test_fifo_as_executable(self):
        os.mkfifo(self.path("program"))
        os.chmod(self.path("program"), 0o755)
        self.says("run", "./program", status=2, words=["not a regular file"])

    def test_output_onto_a_program(self):
        program = shutil.copy(self.suite, self.path("program"))
        with open(program, "rb") as file:
            before = file.read()
        os.symlink("program", self.path("link"))
        os.link(program, self.path("hard"))
        for output in ("program", "link", "hard", program):
            for format_ in ("text", "json", "junit"):
                self.says("run", "--format", format_, "--output", output, "./program", status=2,
                          words=["is a program; the report would replace it"])
        with open(program, "rb") as file:
            self.assertEqual(file.read(), before)
        # An older report is replaced.
        self.write("report", "old")
        self.run_it("run", "--output", "report", "./program")
        with open(self.path("report"), encoding="utf-8") as file:
            self.assertIn("3 tests: 3 passed", file.read())

    # Text

    def test_regular_expression_that_explodes(self):
        for expression in ("a{1,255}{1,255}{1,255}", "(a*b*){1,255}{1,26}", "((.*){1,100}){1,100}", "(a|)+{1,255}{1,9}",
                           "(" * 60000 + "a" + ")" * 60000):
            for option in ("--include-roots", "--exclude-roots", "--exclude-fields")[:3 if len(expression) < 30 else 1]:
                # Less memory than it would take.
                self.says("pollution", option, expression, self.suite, status=2, words=[option, "too much time or memory"],
                          preexec_fn=self.limited(resource.RLIMIT_AS, 2 << 30))
        for expression in ("^kept{1,255}$", "^(kept|[]{}[:alpha:]]{2,3}){1,9}$", "k(e|x{3}){1,20}pt", "kept|" + "x" * 9000):
            self.run_it("pollution", "--include-roots", expression, self.suite, status=1)
        self.says("pollution", "--include-roots", "a{1,", self.suite, status=2, words=["Unmatched"])

    def test_long_lines(self):
        """50 MB are not repeated in a message."""
        long = "x" * 50_000_000
        name = self.write("order", long + "\n")
        self.says("run", "--order", name, self.suite, status=2, words=["xxx", "[...]"])
        self.says("run", "--commands", self.write("commands", "true\ntrue " + long + "\n"), status=2,
                  words=["commands:2: a command of 50000005 bytes cannot be executed"])
        self.says("run", "--config", self.write("config", "x" * 900_000 + " = 1\n"), self.suite, status=2, words=["[...]"])
        self.says("run", "--config", self.write("config", 'timeout = "' + "x" * 900_000 + '"\n'), self.suite, status=2,
                  words=["[...]", "timeout"])
        self.says("x" * 100_000, status=2, words=["[...]", "neither a command nor a file"])
        done = self.run_it("run", "--commands", self.write("commands", "head -c 50000000 /dev/zero | tr '\\0' y; exit 1\n"), status=3)
        self.assertLess(len(done.stdout), 10_000)

    def check_clean(self, text):
        for character in MISLEADING:
            self.assertNotIn(character, text, f"U+{ord(character):04X}")

    def test_misleading_characters(self):
        """In names, output, messages, values and log lines, in all formats; JSON has the same text nevertheless."""
        plain = "é中\u200d\U0001f600"
        name = f"printf '{MISLEADING}{plain}'; exit 1"
        commands = self.write("commands", name + "\n")
        for format_ in ("text", "junit", "json"):
            for options in ([], ["--verbose"]):
                done = self.run_it("run", "--format", format_, *options, "--commands", commands, status=3,
                                   env={**self.environment, "POLYGRAPH_LOG": "all"})
                for text in (done.stdout.decode(), done.stderr.decode()):
                    self.check_clean(text)
                self.assertIn(plain, done.stdout.decode())
        test, = json.loads(done.stdout)["tests"]
        self.assertEqual(test["name"], name)
        self.assertEqual(test["output"], MISLEADING + plain)
        self.check_clean(self.run_it("list", "--commands", commands).stdout.decode())
        self.check_clean(self.run_it("list", "--quiet", "--commands", commands).stdout.decode())
        self.check_clean(self.run_it("run", MISLEADING, status=2).stderr.decode())
        self.check_clean(self.run_it("run", "--config", self.write("bad.toml", f'"{BIDI}" = 1\n'), self.suite, status=2)
                         .stderr.decode())

    def test_misleading_characters_in_findings(self):
        """Values of variables, paths of files and variables of the environment."""
        words = "".join(f"\\x{byte:02x}" for byte in MISLEADING.encode())
        program = compile_c("misleads", f"""
            #include <fcntl.h>
            #include <stdlib.h>
            #include <string.h>
            #include <unistd.h>
            char text[200];
            void __attribute__((noinline)) test_value(void) {{ strcpy(text, "{words}"); }}
            void __attribute__((noinline)) test_variable(void) {{ setenv("A{words}", "{words}", 1); }}
            void __attribute__((noinline)) test_file(void) {{ close(creat("b{words}", 0600)); }}
            int main(void) {{ test_value(); test_variable(); test_file(); return 0; }}
        """)
        for format_ in ("text", "junit", "json"):
            done = self.run_it("pollution", "--format", format_, program, status=1)
            self.check_clean(done.stdout.decode() + done.stderr.decode())
        findings = json.loads(done.stdout)["findings"]
        self.assertEqual(len(findings), 3)
        self.assertTrue(any(MISLEADING in finding["root"] for finding in findings), findings)
        for options in ([], ["--format", "json"]):
            done = self.run_it("replay", "--list", *options)
            self.check_clean(done.stdout.decode() + done.stderr.decode())
        for finding in findings:
            for options in ([], ["--format", "json"]):
                done = subprocess.run([POLYGRAPH, "replay", *options, finding["id"]], capture_output=True, cwd=self.folder,
                                      env=self.environment, timeout=60, check=False)
                self.check_clean(done.stdout.decode() + done.stderr.decode())


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder


if __name__ == "__main__":
    sys.exit(runner.main("environment", prepare))
