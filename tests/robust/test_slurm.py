#!/usr/bin/env python3
"""Shares of a build as an array of jobs on a Slurm cluster of one node, which this starts: their union is the whole.

Usage: test_slurm.py --polygraph PROGRAM

Needs root and Debian's packages slurmctld, slurmd, slurm-client and munge; without them it is skipped.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import runner
import fresh  # noqa: E402

POLYGRAPH = None
NEEDED = ("slurmctld", "slurmd", "sbatch", "scontrol", "munged")
SUITE = r"""
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
int level;
static void raises(void **state) { (void)state; level = LEFT; }
static void is_zero(void **state) { (void)state; assert_int_equal(level, 0); }
int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(is_zero), cmocka_unit_test(raises) };
	return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
"""
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmdPort={daemon}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SchedulerType=sched/backfill
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    def __init__(self, folder):
        self.folder, self.processes = folder, []
        for name in ("munge", "state", "spool"):
            (folder / name).mkdir()
            (folder / name).chmod(0o755)
        key = folder / "munge" / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge/socket",
                   f"--pid-file={folder}/munge/pid", f"--log-file={folder}/munge/log", f"--seed-file={folder}/munge/seed")
        if not fresh.wait_for((folder / "munge/socket").exists):
            raise AssertionError("munged did not start")
        self.configuration = folder / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(host=socket.gethostname().split(".")[0], folder=folder,
                                                           control=free_port(), daemon=free_port(), cpus=os.cpu_count()))
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration)}
        self.start("slurmctld", "-D", "-c", "-f", self.configuration)
        self.start("slurmd", "-D", "-c", "-f", self.configuration)

    def start(self, *words):
        with open(self.folder / f"{words[0]}.out", "wb") as log:
            self.processes.append(subprocess.Popen([str(word) for word in words], stdout=log, stderr=log,
                                                   stdin=subprocess.DEVNULL, env=getattr(self, "environment", os.environ)))

    def is_idle(self):
        done = subprocess.run(["scontrol", "show", "node"], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True)
        return "State=IDLE" in done.stdout

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def logs(self):
        return "\n".join(f"{path.name}:\n{path.read_text(errors='replace')[-2000:]}" for path in self.folder.glob("*.[lo][ou][gt]"))


class Slurm(unittest.TestCase):
    def setUp(self):
        missing = [name for name in NEEDED if not shutil.which(name)]
        if os.geteuid():
            self.skipTest("not root: a cluster cannot be started")
        if missing:
            self.skipTest(f"not installed: {', '.join(missing)}")
        folder = tempfile.TemporaryDirectory(prefix="polygraph-slurm-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.folder.chmod(0o755)
        for name, left in (("a", 1), ("b", 0), ("c", 1)):
            (self.folder / "suite.c").write_text(SUITE)
            subprocess.run(["cc", "-g", f"-DLEFT={left}", "-o", f"{name}_test", "suite.c", "-lcmocka"], cwd=self.folder, check=True)
        self.cluster = Cluster(self.folder)
        self.addCleanup(self.cluster.end)
        if not fresh.wait_for(self.cluster.is_idle, 90):
            self.skipTest(f"the cluster does not start here: {self.cluster.logs()}")

    def found(self, *words):
        done = subprocess.run([POLYGRAPH, words[0], "--format", "json", *words[1:]], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        return sorted((finding["suite"], finding["id"]) for finding in json.loads(done.stdout)["findings"])

    def test_an_array_of_jobs(self):
        command = (f"{POLYGRAPH} check --program './*_test' --shard $SLURM_ARRAY_TASK_ID/3 --format json "
                   "--output share-$SLURM_ARRAY_TASK_ID.json || [ $? -eq 1 ]")
        done = subprocess.run(["sbatch", "--array=1-3", "--wait", "--output=job-%a.out", "--wrap", command], cwd=self.folder,
                              env=self.cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
        said = "".join(path.read_text() for path in self.folder.glob("job-*.out"))
        self.assertEqual(done.returncode, 0, done.stdout + said + self.cluster.logs())
        merged = self.found("merge", *(f"share-{index}.json" for index in (1, 2, 3)))
        self.assertEqual(merged, self.found("check", "--program", "./*_test"))
        self.assertEqual({suite for suite, _ in merged}, {"a_test", "c_test"})


def prepare(polygraph, _):
    global POLYGRAPH
    POLYGRAPH = polygraph


if __name__ == "__main__":
    sys.exit(runner.main("slurm", prepare))
