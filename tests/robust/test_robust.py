#!/usr/bin/env python3
"""What a tested program, a user or a system may do to the tool: nothing lost, nothing left behind.

usage: test_robust.py --polygraph PATH [-v] [TEST…]

The one command that runs a failing test again is this one with its name, e.g. Robust.test_interrupt.
"""
import json
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import runner
from fresh import wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
POLYGRAPH = None
FOLDER = None



def compile_c(name, source, *flags):
    path = os.path.join(FOLDER, name)
    subprocess.run(["cc", "-g", "-O2", "-D_GNU_SOURCE", "-w", "-o", path, source, *flags, "-pthread"], check=True)
    return path


def compile_text(name, text, *flags):
    source = os.path.join(FOLDER, name + ".c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    return compile_c(name, source, *flags)


def processes(word):
    """Processes whose command line has this word (zombies have none)."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if word.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def written_by(pid):
    """Bytes that a process that runs leaves.c wrote."""
    try:
        if os.path.basename(os.readlink(f"/proc/{pid}/exe")) != "leaves":
            return 0
        with open(f"/proc/{pid}/io", encoding="ascii") as file:
            return int(dict(line.split() for line in file)["wchar:"])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


class Robust(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.behaves = compile_c("behaves", os.path.join(HERE, "behaves.c"))
        cls.leaves = compile_c("leaves", os.path.join(HERE, "leaves.c"))

    def run_it(self, *args, status=0, prefix=(), **options):
        options.setdefault("cwd", FOLDER)
        done = subprocess.run([*prefix, POLYGRAPH, *args], capture_output=True, timeout=120, check=False, **options)
        self.assertEqual(done.returncode, status, (done.stdout + done.stderr).decode(errors="replace"))
        return done

    def outcomes(self, *args, status=0, **options):
        done = self.run_it("run", "--format", "json", *args, status=status, **options)
        return {test["name"]: test["outcome"] for test in json.loads(done.stdout)["tests"]}

    def refused(self, *args, status, says, **options):
        done = self.run_it(*args, status=status, **options)
        text = done.stderr.decode()
        for words in says:
            self.assertIn(words, text)
        self.assertEqual(text.count("\n"), 2, "one sentence and what to do: " + text)

    # Everything a program may do.

    def all_pass(self, *args, program=None, **options):
        environment = {**os.environ, "EXPECTED_CPUS": str(len(os.sched_getaffinity(0)))}
        program = program or self.behaves
        result = self.outcomes(*args, program, env=environment, **options)
        self.assertGreater(len(result), 20)
        self.assertEqual(set(result.values()), {"pass"}, result)

    def test_behaviour_natural(self):
        self.all_pass()

    def test_behaviour_reversed(self):
        self.all_pass("--reverse")

    def test_behaviour_shuffled(self):
        for seed in range(5):
            self.all_pass("--shuffle", "--seed", str(seed))

    def test_behaviour_alone(self):
        self.all_pass("--alone", "--jobs", "1")

    def test_behaviour_side_by_side(self):
        self.all_pass("--alone", "--jobs", "4")

    def test_behaviour_twice(self):
        self.all_pass("--repeat", "2")

    def test_behaviour_when_stepping(self):
        """Where no instruction can be executed elsewhere, all are stepped over in place."""
        os.environ["POLYGRAPH_FAULT_STEP"] = "1"
        try:
            self.all_pass("--reverse")
        finally:
            del os.environ["POLYGRAPH_FAULT_STEP"]

    def test_kinds_of_executables(self):
        source = os.path.join(HERE, "behaves.c")
        for name, flags in {"static": ["-static"], "static-pie": ["-static-pie"], "no-pie": ["-no-pie"],
                            "no-debug": ["-g0"], "now": ["-Wl,-z,now"]}.items():
            with self.subTest(name):
                self.all_pass("--reverse", program=compile_c("behaves-" + name, source, *flags))

    def test_sanitizers(self):
        """Programs built with sanitizers; the leak checker cannot work in a traced program and must not fail it."""
        source = os.path.join(FOLDER, "sanitized.c")
        with open(source, "w", encoding="ascii") as file:
            file.write("""
                #include <stdlib.h>
                static char *volatile kept;
                void __attribute__((noinline)) test_fine(void) { __asm__(""); }
                void __attribute__((noinline)) test_leak(void) { kept = malloc(10); kept = NULL; }
                void __attribute__((noinline)) test_overflow(void) { kept = malloc(10); kept[10] = 1; }
                int main(void) { test_fine(); test_leak(); test_overflow(); return 0; }
            """)
        path = compile_c("sanitized", source, "-fsanitize=address")
        expected = {"test_fine": "pass", "test_leak": "pass", "test_overflow": "crash"}
        self.assertEqual(self.outcomes(path, status=3), expected)
        self.assertEqual(self.outcomes("--alone", path, status=3), expected)

    def test_container(self):
        restrict = compile_c("restrict", os.path.join(HERE, "restrict.c"))
        self.all_pass("--reverse", prefix=[restrict])

    def test_container_without_checkpoints(self):
        """Each start has other addresses then: tests are found again, or that cannot be is said."""
        restrict = compile_c("restrict", os.path.join(HERE, "restrict.c"))
        source = os.path.join(FOLDER, "threads.cc")
        with open(source, "w", encoding="ascii") as file:
            file.write("""
                #include <gtest/gtest.h>
                #include <pthread.h>
                #include <unistd.h>
                static void *wait(void *arg) { for (;;) pause(); return arg; }
                TEST(Suite, A) {}
                TEST(Suite, B) { abort(); }
                TEST(Suite, C) {}
                extern "C" void __attribute__((noinline)) test_function(void) { __asm__(""); }
                int main(int argc, char **argv) {
                    testing::InitGoogleTest(&argc, argv);
                    pthread_t thread;
                    pthread_create(&thread, NULL, wait, NULL);
                    test_function();
                    return RUN_ALL_TESTS();
                }
            """)
        path = os.path.join(FOLDER, "threads")
        subprocess.run(["c++", "-g", "-o", path, source, "-lgtest", "-pthread"], check=True)
        result = self.outcomes(path, status=3, prefix=[restrict])
        self.assertEqual(result, {"Suite.A": "pass", "Suite.B": "crash", "Suite.C": "pass"})
        # Its list is complete although gtest's own tests end it.
        self.refused("run", "--framework", "functions", "--quiet", path, status=3,
                     says=["functions lie elsewhere", "personality"], prefix=[restrict])

    def test_ordinary_user(self):
        if os.geteuid() != 0:
            self.skipTest("all tests run as an ordinary user already")
        nobody = pwd.getpwnam("nobody")
        if not shutil.which("setpriv"):
            self.skipTest("there is no setpriv")
        become = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
        # A folder of root's own cannot be entered by others: work in copies.
        with tempfile.TemporaryDirectory(prefix="polygraph-user-") as folder:
            os.chmod(folder, 0o755)
            if subprocess.run([*become, "ls", folder], capture_output=True, check=False).returncode:
                self.skipTest("the temporary folder is closed to other users")
            for path in (POLYGRAPH, self.behaves, self.leaves):
                shutil.copy(path, folder)
            result = subprocess.run(
                [*become, "./" + os.path.basename(POLYGRAPH), "run", "--format", "json", "--reverse", "./behaves"],
                cwd=folder, capture_output=True, timeout=120, check=False)
            tests = json.loads(result.stdout)["tests"]
            self.assertEqual({test["outcome"] for test in tests}, {"pass"}, result.stdout.decode())

    # Everything a program may do to itself.

    def test_ways_to_leave(self):
        result = self.outcomes("--timeout", "1s", self.leaves, status=3)
        self.assertEqual(result, {
            "test_kill_self": "crash", "test_kill_group": "crash", "test_terminate_group": "crash",
            "test_close_all": "pass", "test_trace_me": "pass", "test_flood": "timeout", "test_exec": "crash",
            "test_daemon": "pass", "test_child_left": "pass", "test_exit": "crash", "test_stop_self": "timeout",
            "test_killed_by_child": "crash", "test_stack_overflow": "crash", "test_fine": "pass",
        })
        self.assertEqual(processes(self.leaves), [])

    def test_killed_at_any_moment(self):
        done = self.run_it("run", "--format", "json", "--tests", "test_killed_by_child", "--tests", "test_fine",
                           "--repeat", "40", self.leaves, status=3)
        outcomes = [test["outcome"] for test in json.loads(done.stdout)["tests"]]
        self.assertEqual(outcomes, ["crash"] * 40 + ["pass"] * 40)

    def test_unwritten_output_of_a_crash_is_kept(self):
        program = compile_text("buffered", """
            #include <stdio.h>
            static int *volatile nowhere;
            void __attribute__((noinline)) test_crash(void) { printf("last words"); *nowhere = 0; }
            int main(void) { test_crash(); return 0; }
        """)
        done = self.run_it("run", "--format", "json", "--verbose", program, status=3)
        test, = json.loads(done.stdout)["tests"]
        self.assertEqual(test["output"], "last words")

    def test_program_with_threads_before_its_tests(self):
        """No checkpoint: every process is started anew, and that is said."""
        program = compile_text("threaded", """
            #include <pthread.h>
            #include <stdlib.h>
            #include <unistd.h>
            static void *wait(void *arg) { for (;;) pause(); return arg; }
            void __attribute__((noinline)) test_a(void) { __asm__(""); }
            static volatile int yes = 1;
            void __attribute__((noinline)) test_b(void) { if (yes) abort(); }
            void __attribute__((noinline)) test_c(void) { __asm__ volatile("nop"); }
            int main(void) {
                pthread_t thread;
                pthread_create(&thread, NULL, wait, NULL);
                test_a(); test_b(); test_c();
                return 0;
            }
        """)
        expected = {"test_a": "pass", "test_b": "crash", "test_c": "pass"}
        self.assertEqual(self.outcomes(program, status=3), expected)
        self.assertEqual(self.outcomes("--alone", program, status=3), expected)
        done = self.run_it("run", program, status=3, env={**os.environ, "POLYGRAPH_LOG": "tracee"})
        self.assertIn(b"several threads", done.stderr)

    def test_library_loaded_at_run_time(self):
        library = compile_text("plugin.so", """
            void __attribute__((noinline)) test_in_library(void) { __asm__(""); }
        """, "-shared", "-fPIC")
        program = compile_text("loader", f"""
            #include <dlfcn.h>
            void __attribute__((noinline)) test_first(void) {{ __asm__(""); }}
            int main(void) {{
                void (*test)(void) = dlsym(dlopen("{library}", RTLD_NOW), "test_in_library");
                test_first();
                test();
                return 0;
            }}
        """)
        result = self.outcomes("--reverse", program)
        self.assertEqual(result, {"test_in_library": "pass", "test_first": "pass"})

    # Everything a user may do.

    def start_hanging(self, word, *options):
        child = subprocess.Popen([POLYGRAPH, "run", "--timeout", "100s", "--tests", "test_fine", "--tests", "test_flood",
                                  *options, self.leaves, word],
                                 cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        started = wait_for(lambda: any(written_by(pid) > 10000 for pid in processes(word)))
        if not started:
            child.kill()
        self.assertTrue(started, "test_flood did not start")
        return child

    def ended(self, child, word):
        child.communicate(timeout=60)
        self.assertTrue(wait_for(lambda: not processes(word)), f"left running: {processes(word)}")
        return child.returncode

    def test_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            word = f"interrupt-{number}-{os.getpid()}"
            child = self.start_hanging(word)
            child.send_signal(number)
            self.assertEqual(self.ended(child, word), 130)

    def test_interrupt_from_the_terminal(self):
        word = f"terminal-{os.getpid()}"
        child = self.start_hanging(word)
        os.killpg(child.pid, signal.SIGINT)
        self.assertEqual(self.ended(child, word), 130)

    def test_interrupt_side_by_side(self):
        word = f"workers-{os.getpid()}"
        child = self.start_hanging(word, "--alone", "--repeat", "8", "--jobs", "2")
        child.send_signal(signal.SIGINT)
        self.assertEqual(self.ended(child, word), 130)

    def test_killed(self):
        """kill -9 of the process the user sees."""
        word = f"killed-{os.getpid()}"
        child = self.start_hanging(word)
        child.kill()
        self.assertEqual(self.ended(child, word), -signal.SIGKILL)

    def test_children_of_another_program_stay(self):
        """Executed in the place of a shell that has a child: that one is not ours to end."""
        done = subprocess.run(["sh", "-c", 'sleep 1000 >/dev/null 2>&1 & echo $!; exec "$0" list "$1"', POLYGRAPH, self.leaves],
                              capture_output=True, timeout=60, check=True)
        child = int(done.stdout.split()[0])
        os.kill(child, signal.SIGKILL)  # raises where it is gone

    def test_controller_killed(self):
        """kill -9 of the process that traces."""
        word = f"controller-{os.getpid()}"
        child = self.start_hanging(word)
        with open(f"/proc/{child.pid}/task/{child.pid}/children", encoding="ascii") as file:
            controller = int(file.read().split()[0])
        os.kill(controller, signal.SIGKILL)
        self.assertEqual(self.ended(child, word), 4)

    def test_suspended(self):
        """Stopped by the terminal and continued: the time between is nobody's."""
        program = compile_text("sleeper", """
            #include <fcntl.h>
            #include <stdlib.h>
            #include <time.h>
            #include <unistd.h>
            void __attribute__((noinline)) test_sleep(void) {
                struct timespec left = { 2, 0 };
                close(creat(getenv("ASLEEP"), 0600));
                while (nanosleep(&left, &left) != 0)
                    ;
            }
            int main(void) { test_sleep(); return 0; }
        """)
        asleep = os.path.join(FOLDER, "asleep")
        child = subprocess.Popen([POLYGRAPH, "run", "--timeout", "4s", "--format", "json", program],
                                 env=dict(os.environ, ASLEEP=asleep), stdout=subprocess.PIPE, start_new_session=True)
        self.assertTrue(wait_for(lambda: os.path.exists(asleep)))
        os.killpg(child.pid, signal.SIGTSTP)
        self.assertTrue(wait_for(lambda: state_of(child.pid) == "T"))
        time.sleep(5)
        os.killpg(child.pid, signal.SIGCONT)
        out, _ = child.communicate(timeout=60)
        self.assertEqual(json.loads(out)["tests"][0]["outcome"], "pass")
        self.assertEqual(child.returncode, 0)

    # Everything that may be given instead of a test executable.

    def test_not_an_executable(self):
        path = os.path.join(FOLDER, "text")
        with open(path, "w", encoding="ascii") as file:
            file.write("hello\n")
        os.chmod(path, 0o755)
        self.refused("run", path, status=2, says=["not an ELF executable"])

    def test_empty_file(self):
        path = os.path.join(FOLDER, "empty")
        open(path, "w", encoding="ascii").close()
        os.chmod(path, 0o755)
        self.refused("list", path, status=2, says=["not an ELF executable"])

    def test_missing(self):
        self.refused("run", "./no-such-file", status=2, says=["No such file"])
        self.refused("run", "no-such-program-in-path", status=2, says=["there is no"])

    def test_folder(self):
        self.refused("run", FOLDER, status=2, says=["not a regular file"])

    def test_script(self):
        path = os.path.join(FOLDER, "script")
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\necho hello\n")
        os.chmod(path, 0o755)
        self.refused("run", path, status=2, says=["is a script", "--commands"])
        with open(path, "a", encoding="ascii") as file:
            file.write("# Generated by libtool\n")
        self.refused("run", path, status=2, says=["is a script", "--mode=execute"])

    def test_no_permission(self):
        path = shutil.copy(self.leaves, os.path.join(FOLDER, "locked"))
        os.chmod(path, 0o644)
        self.refused("run", path, status=2, says=["no execute permission", "chmod +x"])

    def test_another_architecture(self):
        path = os.path.join(FOLDER, "foreign")
        with open(self.leaves, "rb") as file:
            data = bytearray(file.read())
        data[18] = 183  # e_machine: AArch64
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, 0o755)
        self.refused("run", path, status=2, says=["AArch64"])

    def test_library(self):
        path = compile_text("library.so", "int answer = 42;", "-shared", "-fPIC")
        self.refused("run", path, status=2, says=["library"])

    def test_damaged(self):
        """Cut and scrambled executables: a message, never a crash of ours."""
        with open(self.leaves, "rb") as file:
            data = file.read()
        path = os.path.join(FOLDER, "damaged")
        for i in range(24):
            damaged = bytearray(data[:64 + i * len(data) // 24] if i % 2 else data)
            for j in range(40):
                damaged[(i * 7919 + j * 104729) % len(damaged) if j > 5 or i % 2 == 0 else 16 + j] ^= 1 + (i * j) % 255
            with open(path, "wb") as file:
                file.write(damaged)
            os.chmod(path, 0o755)
            done = subprocess.run([POLYGRAPH, "list", "--timeout", "2s", path], capture_output=True, timeout=60,
                                  check=False, cwd=FOLDER)
            self.assertIn(done.returncode, (0, 2, 3), f"round {i}: {done.stderr.decode(errors='replace')}")

    def test_stripped(self):
        path = shutil.copy(self.leaves, os.path.join(FOLDER, "stripped"))
        subprocess.run(["strip", path], check=True)
        self.refused("run", path, status=3, says=["no test framework", "stripped"])

    def test_set_user_id(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a set-user-ID program of another user")
        path = shutil.copy(self.leaves, os.path.join(FOLDER, "setuid"))
        os.chown(path, pwd.getpwnam("nobody").pw_uid, -1)
        os.chmod(path, 0o755 | stat.S_ISUID)
        self.refused("run", path, status=2, says=["set-user-ID"])

    def test_no_tests_at_all(self):
        path = compile_text("no-tests", "int main(void) { return 0; }")
        self.refused("run", path, status=3, says=["no test framework", "--test-functions"])

    def test_leaves_before_its_tests(self):
        path = compile_text("early", """
            #include <stdio.h>
            void __attribute__((noinline)) test_a(void) { __asm__(""); }
            int main(int argc, char **argv) { if (argc > 1) test_a(); puts("no licence"); return 5; }
        """)
        self.refused("run", path, status=3, says=["before it started a test", "exit status 5", "no licence"])

    def test_silent_and_gone(self):
        path = compile_text("silent", """
            #include <signal.h>
            void __attribute__((noinline)) test_a(void) { __asm__(""); }
            int main(int argc, char **argv) { if (argc > 1) test_a(); return raise(SIGKILL); }
        """)
        self.refused("run", path, status=3, says=["before it started a test", "SIGKILL"])

    def test_hangs_before_its_tests(self):
        path = compile_text("stuck", """
            #include <unistd.h>
            void __attribute__((noinline)) test_a(void) { __asm__(""); }
            int main(int argc, char **argv) { if (argc < 2) for (;;) pause(); test_a(); return 0; }
        """)
        self.refused("run", "--timeout", "1s", path, status=3, says=["did not start a test", "--timeout"])
        self.assertEqual(processes(path), [])

    def test_unknown_tests_in_an_order(self):
        order = os.path.join(FOLDER, "order")
        with open(order, "w", encoding="ascii") as file:
            file.write("test_fine\ntest_fina\n")
        done = self.run_it("run", "--order", order, self.leaves, status=2)
        self.assertIn(b"test_fina", done.stderr)

    def test_a_test_named_twice_runs_twice(self):
        order = os.path.join(FOLDER, "order")
        with open(order, "w", encoding="ascii") as file:
            file.write("test_fine\ntest_trace_me\ntest_fine\n")
        done = self.run_it("run", "--order", order, "--format", "json", self.leaves)
        self.assertEqual([test["name"] for test in json.loads(done.stdout)["tests"]],
                         ["test_fine", "test_trace_me", "test_fine"])

    # Everything in numbers.

    def test_many_tests(self):
        count = 20000
        source = "".join(f"void __attribute__((noinline)) test_{i:05}(void) {{ __asm__ volatile(\"\" :: \"i\"({i})); }}\n"
                         for i in range(count))
        source += "int main(void) {\n" + "".join(f"test_{i:05}();\n" for i in range(count)) + "return 0; }\n"
        path = os.path.join(FOLDER, "many.c")
        with open(path, "w", encoding="ascii") as file:
            file.write(source)
        subprocess.run(["cc", "-g", "-O0", "-fno-ipa-icf", "-o", path[:-2], path], check=True)
        for options in ([], ["--shuffle", "--seed", "1"]):
            result = self.outcomes(*options, path[:-2])
            self.assertEqual(len(result), count)
            self.assertEqual(set(result.values()), {"pass"})

    def test_slow_reader(self):
        """Whoever reads our output may take time: nothing of it is lost."""
        path = compile_text("talker", "".join(f"""
            void __attribute__((noinline)) test_{i:04}(void) {{ __asm__ volatile("" :: "i"({i})); }}""" for i in range(2000))
            + "int main(void) {" + "".join(f"test_{i:04}();" for i in range(2000)) + "return 0; }")
        child = subprocess.Popen([POLYGRAPH, "run", "--format", "json", path], stdout=subprocess.PIPE)
        time.sleep(2)
        out = child.stdout.read()
        child.stdout.close()
        self.assertEqual(child.wait(), 0)
        self.assertEqual(len(json.loads(out)["tests"]), 2000)

    def test_processes_with_odd_names(self):
        """Names are command lines here: any byte but a line's end."""
        commands = os.path.join(FOLDER, "commands")
        with open(commands, "w", encoding="utf-8") as file:
            file.write("true 'with space'\ntrue \"quo'te\"\ntrue ünïcödé 中文\nfalse \\* \t tab\n")
        result = self.outcomes("--commands", commands, status=3)
        self.assertEqual(len(result), 4)
        for name, outcome in result.items():  # in any order: they run side by side
            self.assertEqual(outcome, "fail" if name.startswith("false") else "pass", name)


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder


if __name__ == "__main__":
    sys.exit(runner.main("robust", prepare))
