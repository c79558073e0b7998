"""What tests expect of the process they run in, and waiting for something to happen.

Whoever starts the tests may have other settings: `nohup` ignores SIGHUP, a shell script's background job ignores SIGINT, a
careful user has umask 077. Children inherit all of that, so every script calls start() before it does anything else.
"""

import os
import shutil
import signal
import time

# How many times longer than usual things take here; the machines of tests/kernel set it.
SLOWNESS = int(os.environ.get("POLYGRAPH_TEST_SLOWNESS", "1"))
USUAL = (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU,
         signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)


def start():
    for number in USUAL:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o022)


def wait_for(condition, seconds=60):
    """Whether the condition became true; the limit is for the broken case only, so it is generous."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def size_of(path):
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def copy_tool(source, folder):
    """The program with what it looks for beside itself."""
    for name in ("polygraph", "libpolygraph-agent.so", "libpolygraph-choices.so"):
        shutil.copy2(os.path.join(source, name), folder)
    for name in ("libpolygraph-jvm.so", "polygraph-jvm.jar"):  # where there is a JDK
        if os.path.exists(os.path.join(source, name)):
            shutil.copy2(os.path.join(source, name), folder)
    if os.path.isdir(os.path.join(source, "xx_XX.UTF-8")):
        shutil.copytree(os.path.join(source, "xx_XX.UTF-8"), os.path.join(folder, "xx_XX.UTF-8"))
