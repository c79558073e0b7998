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
    without: list = field(default_factory=list)     # names of executables left out; say why in `note`
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
]
