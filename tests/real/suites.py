"""The real suites: Debian source packages that nobody here wrote.

To add a suite: one entry in SUITES. Choose packages that build their tests in a minute or two on two cores with few
build dependencies. Versions are not written down: whatever the machine's release has is taken, and reported.

In `build`, `programs`, `cwd` and `env`: {source} is the unpacked package, {build} a folder of the suite's own, {tmp}
its temporary folder (also TMPDIR), {jobs} the number of processors to use. Build commands run in {build}, with
`-g -O2` in CFLAGS and CXXFLAGS as Debian builds.
"""

import re
from dataclasses import dataclass, field

import plain


@dataclass
class Suite:
    name: str
    framework: str          # as for --framework; "ctest" and "meson" for suites of processes
    needs: list             # Debian packages beyond build-essential
    build: list             # shell commands
    programs: list          # globs of test executables below {build}; none for suites of processes
    package: str = None     # where it is not `name`
    cwd: str = None         # default: the folder of the executable
    env: dict = field(default_factory=dict)
    args: list = field(default_factory=list)        # for the test executable
    report_args: list = field(default_factory=list) # only when it is asked for its report
    read: object = None     # for `functions`: reads the runner's own output
    options: list = field(default_factory=list)     # for polygraph
    alone: list = field(default_factory=list)       # for `run --alone`; say why in `note`
    without: list = field(default_factory=list)     # names of executables left out; say why in `note`
    server: str = None      # shell command of a server that the tests talk to; ended afterwards
    note: str = ""

    def __post_init__(self):
        self.package = self.package or self.name


def cmake(*options, source="{source}", target=None):
    configure = f"cmake -S '{source}' -B . -DCMAKE_BUILD_TYPE=None " + " ".join(options)
    return [configure, "cmake --build . --parallel {jobs}" + (f" --target {target}" if target else "")]


def meson(*options, targets=""):
    return ["meson setup --buildtype plain . '{source}' " + " ".join(options), f"ninja -j {{jobs}} {targets}"]


def configure(*options, check="."):
    """Automake: builds all, then the check programs without running them."""
    return ["'{source}/configure' --disable-dependency-tracking " + " ".join(options), "make -j {jobs}",
            f"make -j {{jobs}} -C {check} check TESTS="]


def _expat(folder, output):
    read = plain.functions(r"(?m)^(?P<verdict>PASS|FAIL): (?P<name>\w+)", {"PASS": "pass", "FAIL": "fail"})
    tests = read(folder, output)
    # test_ns_parser_reset calls the function of another test, and then goes by that one's name.
    seen = set()
    for i, (name, outcome) in enumerate(tests):
        if name in seen and name == "test_return_ns_triplet":
            tests[i] = ("test_ns_parser_reset", outcome)
        seen.add(name)
    return tests


def _libtommath(_folder, output):
    """`TEST name`, the test's own chatter, then `FAIL name` or `NOP name` or nothing."""
    verdicts = {"FAIL": "fail", "NOP": "skip"}
    tests = []
    for piece in re.split(r"(?m)^(?=TEST \w+$)", output)[1:]:
        name = re.match(r"TEST (\w+)", piece).group(1)
        verdict = re.search(rf"(?m)^(FAIL|NOP) {name}$", piece)
        tests.append(("test_" + name, verdicts[verdict.group(1)] if verdict else "pass"))
    return tests


def _hiredis(_folder, output):
    """Its functions have no line of their own: what follows a heading of the runner, or a first line, is theirs."""
    # test_format_commands() and so on print `#NN text: PASSED`. The runner calls them in this sequence.
    local = ["format_commands", "reply_reader", "blocking_connection_errors", "free_null"]
    remote = ["blocking_connection", "blocking_connection_timeouts", "blocking_io_errors"]
    calls = [*local, *remote, "invalid_timeout_errors", "append_formatted_commands", *remote, "blocking_connection"]
    if "ALL TESTS PASSED" not in output:
        raise plain.ReportError("it does not say that all passed, nor which function failed")
    return plain.numbered([(f"test_{name}", "pass") for name in calls])


def _mbedtls(folder, output):
    """`description .... PASS`; the data and the table of functions beside the program say which function that was."""
    program = folder.name.removesuffix(".report")
    tests_folder = folder.parents[1] / "build/tests"
    data = (tests_folder / f"{program}.datax").read_text(encoding="utf-8", errors="replace")
    source = (tests_folder / f"{program}.c").read_text(encoding="utf-8", errors="replace")
    table = source[source.index("TestWrapper_t test_funcs"):]
    functions = re.findall(r"Function Id: \d+ \*/.*?(test_\w+_wrapper)", table[:table.index("};")], re.S)
    numbers = []
    for case in re.split(r"\n\n+", data.strip()):
        lines = [line for line in case.split("\n")[1:] if not line.startswith("depends_on:")]
        numbers.append(int(lines[0].split(":", 1)[0]))
    verdicts = re.findall(r"(?m)^.+ (PASS|----|FAILED)$", output)
    if len(verdicts) != len(numbers):
        raise plain.ReportError(f"{len(verdicts)} verdicts for {len(numbers)} cases")
    # Where it says "----", the function is not called.
    return plain.numbered([(functions[number], "pass" if verdict == "PASS" else "fail")
                           for number, verdict in zip(numbers, verdicts) if verdict != "----"])


_MBEDTLS = "asn1parse base64".split()  # the library is most of the work; the others are no different
_CMARK = ("version constructor accessors free_parent node_check iterator iterator_delete create_tree custom_nodes "
          "hierarchy parser render_html render_xml render_man render_latex render_commonmark utf8 line_endings "
          "numeric_entities test_cplusplus test_safe test_feed_across_line_ending source_pos source_pos_inlines "
          "ref_source_pos").split()


def _cmark(_folder, output):
    """Only the sum: where all passed, each function did."""
    if not re.search(r"(?m)^\d+ tests passed, 0 failed", output):
        raise plain.ReportError("it says that some failed, but not in which function")
    return [(name, "pass") for name in _CMARK]


# Not fileutils: run by root it makes folders in /usr, and ends there.
_GLIB_TESTS = ("array-test base64 bytes checksum date environment gdatetime guuid hash hmac hook keyfile list "
               "logging mainloop markup-subparser node option-context queue regex shell slist strfuncs string thread "
               "tree uri utils").split()

SUITES = [
    Suite("yaml-cpp", "gtest", ["cmake", "googletest", "libgmock-dev", "libgtest-dev"],
          cmake("-DYAML_CPP_BUILD_TESTS=ON", "-DYAML_CPP_BUILD_TOOLS=OFF", target="yaml-cpp-tests"),
          ["test/yaml-cpp-tests"], note="gmock; parametrised suites"),
    Suite("leveldb", "gtest", ["cmake", "libgmock-dev", "libgtest-dev", "libsnappy-dev"],
          cmake("-DLEVELDB_BUILD_BENCHMARKS=OFF"),
          ["*_test"], without=["autocompact_test", "c_test", "db_test", "issue178_test", "issue320_test"],
          env={"TEST_TMPDIR": "{tmp}"},
          note="files, threads; without c_test, which has no framework, and the slowest programs"),
    Suite("google-glog", "gtest", ["cmake", "libgflags-dev", "libgmock-dev", "libgtest-dev"],
          # Without libunwind-dev, which conflicts with that of libc++.
          cmake("-DWITH_UNWIND=OFF"),
          [f"{name}_unittest" for name in ("demangle", "logging", "logging_custom_prefix", "mock-log", "symbolize",
                                           "utilities")],
          note="flags, log files; without the programs that have one test, or no framework"),
    Suite("cli11", "catch2", ["cmake", "catch2"],
          # The others are as large as these together, and no different.
          cmake("-DCLI11_BUILD_EXAMPLES=OFF", "-DCLI11_BUILD_DOCS=OFF",
                target="ConfigFileTest CreationTest HelpersTest SetTest SimpleTest StringParseTest TimerTest"),
          ["tests/*Test"], note="environment variables, files"),
    Suite("spdlog", "catch2", ["cmake", "catch2", "libfmt-dev", "pkg-config"],
          cmake("-DSPDLOG_BUILD_TESTS=ON", "-DSPDLOG_BUILD_EXAMPLE=OFF", "-DSPDLOG_FMT_EXTERNAL=ON"),
          ["tests/spdlog-utests"], note="files, threads, a global registry"),
    Suite("box2d", "doctest", ["cmake", "doctest-dev"],
          cmake("-DBOX2D_BUILD_UNIT_TESTS=ON", "-DBOX2D_BUILD_TESTBED=OFF", target="unit_test"),
          ["bin/unit_test"]),
    Suite("olm", "doctest", ["cmake", "doctest-dev"],
          cmake("-DOLM_TESTS=ON"),
          ["tests/test_*"]),
    Suite("coordgenlibs", "boost", ["cmake", "libboost-dev", "libboost-filesystem-dev", "libboost-iostreams-dev",
                                    "libboost-test-dev", "libmaeparser-dev", "zlib1g-dev"],
          cmake(target="test_coordgen test_smilesparser"),
          ["test/test_*"], package="schroedinger-coordgenlibs"),
    Suite("libsignal-protocol-c", "check", ["check", "cmake", "libssl-dev", "pkg-config"],
          cmake("-DBUILD_TESTING=1", "-DBUILD_SHARED_LIBS=ON"),
          ["tests/test_*"], note="threads; key_helper runs for seconds"),
    Suite("libcork", "check", ["check", "cmake", "pkg-config", "python3"],
          # As debian/rules does: its warnings are older than this Check.
          ["sed -i s:-Werror:-Wextra: '{source}/CMakeLists.txt'",
           *cmake("-DENABLE_STATIC=NO", "-DENABLE_SHARED_TESTS=YES")],
          ["tests/test-*"], cwd="{source}/tests", note="processes and threads of its own"),
    Suite("libpipeline", "check", ["check", "pkg-config"],
          configure("--disable-shared", check="tests"),
          ["tests/*"], note="starts processes, handles SIGCHLD"),
    Suite("libyang", "cmocka", ["cmake", "libcmocka-dev", "libpcre2-dev", "pkg-config"],
          cmake("-DENABLE_TESTS=ON"),
          ["tests/utest_*"], package="libyang2"),
    Suite("nghttp2", "cunit", ["cmake", "libcunit1-dev", "pkg-config"],
          cmake("-DENABLE_LIB_ONLY=ON", "-DENABLE_STATIC_LIB=ON", target="main"),
          ["tests/main"]),
    Suite("libcoap3", "cunit", ["cmake", "libcunit1-dev", "pkg-config"],
          cmake("-DENABLE_TESTS=ON", "-DENABLE_DTLS=OFF", "-DENABLE_DOCS=OFF", "-DENABLE_EXAMPLES=OFF",
                target="testdriver"),
          ["testdriver"], note="tests of a suite go on with what those before them left"),
    Suite("glib", "glib", ["gettext", "libffi-dev", "libpcre2-dev", "meson", "pkg-config", "python3", "zlib1g-dev"],
          meson("-Dman=false", "-Dgtk_doc=false", "-Dlibmount=disabled", "-Dselinux=disabled", "-Dnls=disabled",
                targets=" ".join(f"glib/tests/{name}" for name in _GLIB_TESTS)),
          [f"glib/tests/{name}" for name in _GLIB_TESTS], package="glib2.0",
          env={"G_TEST_SRCDIR": "{source}/glib/tests", "G_TEST_BUILDDIR": "{build}/glib/tests"},
          args=["--seed=R02S0123456789abcdef0123456789abcdef"],  # it is part of a test's name
          note="threads; subprocess tests (g_test_trap_subprocess) start the program again"),
    Suite("cpputest", "cpputest", ["cmake"],
          cmake(),
          ["tests/CppUTest/CppUTestTests", "tests/CppUTestExt/CppUTestExtTests"],
          note="the framework's own tests: nested registries, crashing and forked tests inside tests"),
    Suite("cjson", "unity", ["cmake"],
          cmake("-DENABLE_CJSON_TEST=ON", "-DENABLE_CJSON_UTILS=ON"),
          ["tests/*"]),
    Suite("expat", "functions", ["cmake"],
          # Debian's security patches compare XML_DTD with 1, as only the Automake build defines it.
          [cmake("-DEXPAT_BUILD_TESTS=ON", "-DEXPAT_BUILD_DOCS=OFF", "-DEXPAT_BUILD_TOOLS=OFF",
                 "-DEXPAT_BUILD_EXAMPLES=OFF", source="{source}/expat")[0],
           "sed -i 's/^#define XML_DTD$/#define XML_DTD 1/' expat_config.h",
           "cmake --build . --parallel {jobs} --target runtests"],
          ["tests/runtests"], report_args=["-v"],
          read=_expat,
          note="its runner copies the names of Check's functions; setjmp"),
    Suite("libtommath", "functions", [],
          # Builds in its own tree only.
          ["cp -a '{source}/.' .", "make -j {jobs} test"],
          ["test"], read=_libtommath,
          note="table-driven; random numbers seeded from the clock"),
    Suite("jansson", "ctest", ["cmake"],
          cmake("-DJANSSON_BUILD_DOCS=OFF"), []),
    Suite("wayland", "meson", ["libexpat1-dev", "libffi-dev", "libxml2-dev", "meson", "pkg-config"],
          meson("-Ddocumentation=false"), [],
          note="its runner forks for each test; sockets"),
    Suite("libgit2", "clar", ["cmake", "libhttp-parser-dev", "libpcre2-dev", "pkg-config", "python3", "zlib1g-dev"],
          cmake("-DBUILD_CLI=OFF", "-DBUILD_SHARED_LIBS=OFF", "-DUSE_SSH=OFF", "-DUSE_HTTPS=OFF", "-DUSE_GSSAPI=OFF",
                "-DREGEX_BACKEND=pcre2", "-DUSE_HTTP_PARSER=system", "-DUSE_NTLMCLIENT=OFF",
                target="libgit2_tests util_tests"),
          ["libgit2_tests", "util_tests"], env={"CLAR_TMP": "/dev/shm"},
          note="a temporary folder made before the first test, thousands of files; its fixtures on a file system in memory"),
    Suite("libevent", "tinytest", ["cmake", "python3"],
          cmake("-DEVENT__DISABLE_OPENSSL=ON", "-DEVENT__DISABLE_BENCHMARK=ON", "-DEVENT__DISABLE_SAMPLES=ON",
                "-DEVENT__LIBRARY_TYPE=STATIC", target="regress"),
          ["bin/regress"], note="forks for most tests; servers and clients, timers"),
    Suite("hiredis", "functions", ["redis-server"],
          # At -O2 six of its nine functions are inlined.
          ["cp -a '{source}/.' .", "make -j {jobs} OPTIMIZATION=-O0 CFLAGS=-g hiredis-test"],
          ["hiredis-test"],
          args=["-h", "127.0.0.1", "-p", "56379", "-s", "{tmp}/../redis.sock", "--skip-throughput"],
          server="exec redis-server --port 56379 --bind 127.0.0.1 --unixsocket '{tmp}/../redis.sock' --save '' --dir '{tmp}'",
          read=_hiredis, alone=["--jobs", "1"],
          note="structures as arguments; its server has one database for all, so one test at a time; built with -O0"),
    Suite("mbedtls", "functions", ["cmake", "python3", "perl"],
          cmake("-DENABLE_PROGRAMS=OFF", target=" ".join(f"test_suite_{name}" for name in _MBEDTLS)),
          [f"tests/test_suite_{name}" for name in _MBEDTLS], options=["--test-functions", "test_*_wrapper"],
          read=_mbedtls,
          note="one function for many rows of data, which the runner reads from a file"),
    Suite("c-ares", "gtest", ["cmake"],
          cmake("-DCARES_BUILD_TESTS=ON", "-DCARES_STATIC=ON", "-DCARES_BUILD_TOOLS=OFF", target="arestest"),
          ["bin/arestest"], args=["--gtest_filter=-*Live*:*Container*"],
          note="its own GoogleTest 1.11; without the tests that need the network or other namespaces"),
    Suite("cmark", "functions", ["cmake"],
          # At -O2 all of its functions are inlined.
          cmake("-DCMAKE_C_FLAGS='-g -O0'", target="api_test"),
          ["api_test/api_test"], options=[word for name in _CMARK for word in ("--test-functions", name)], read=_cmark,
          note="each function takes the runner, which counts; built with -O0"),
    Suite("libmaxminddb", "ctest", ["cmake"],
          cmake("-DBUILD_TESTING=ON"), [],
          note="each program prints TAP"),
    Suite("kcodecs", "qtest", ["cmake", "extra-cmake-modules", "gperf", "qtbase5-dev", "qttools5-dev"],
          cmake("-DBUILD_TESTING=ON"), ["bin/*test"], env={"QT_QPA_PLATFORM": "offscreen"},
          note="data rows"),
]
