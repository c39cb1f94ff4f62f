#!/usr/bin/env python3
"""Tests of Makefile.experiments on a cluster: two slurmd on this machine, one killed while it works; two hosts over ssh, both this one.

usage: cluster_test.py BIN        BIN holds the tools. Skips (77) what slurmctld, slurmd, munged or sshd are missing for.
"""
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BIN = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "build/release/bin"
SLURM_CONF = """ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={root}/munge.socket
CryptoType=crypto/munge
SlurmctldPort={port}
SlurmctldPidFile={root}/slurmctld.pid
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool.%n
SlurmdPidFile={root}/slurmd.%n.pid
SlurmdLogFile={root}/slurmd.%n.log
SlurmctldLogFile={root}/slurmctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
NodeName=n[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
# Notes the start and the end of each run; on the second node it takes for ever while there is a file that says so.
INFER = """#!/bin/sh
case "$*" in --list-devices) exec {bin}/dnn-infer "$@";; esac
echo "start ${{SLURMD_NODENAME:-ssh}} $*" >>{calls}
[ "$SLURMD_NODENAME" != n2 ] || [ ! -e {calls}.hang ] || sleep 600
{bin}/dnn-infer "$@" || exit
echo "end ${{SLURMD_NODENAME:-ssh}} $*" >>{calls}
"""


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def neighbours():
    """Two free ports in a row, as slurm.conf names them."""
    while True:
        [port] = free_ports(1)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port + 1))
                return port
            except (OSError, OverflowError):
                pass


def wait_until(what, seconds=60):
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


class Cluster(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.children = []
        self.addCleanup(self.stop)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "SLURM"))}
        self.calls, self.out = f"{self.root}/calls", f"{self.root}/out"
        self.assertTrue(os.path.exists(f"{BIN}/dnn-infer"), f"no tools in {BIN}")
        os.mkdir(f"{self.root}/bin")
        for tool in os.listdir(BIN):
            if tool.startswith("dnn-") and tool != "dnn-infer":
                os.symlink(f"{BIN}/{tool}", f"{self.root}/bin/{tool}")
        with open(f"{self.root}/bin/dnn-infer", "w") as file:
            file.write(INFER.format(bin=BIN, calls=self.calls))
        os.chmod(f"{self.root}/bin/dnn-infer", 0o755)

    def stop(self):
        for child in reversed(self.children):
            child.kill()
            child.wait()

    def daemon(self, *command):
        with open(f"{self.root}/{os.path.basename(command[0])}.said", "ab") as said:
            self.children.append(subprocess.Popen(command, env=self.environment, stdout=said, stderr=said, start_new_session=True))
        return self.children[-1]

    def make(self, goal, launcher, **settings):
        settings = {"MODELS": "tests/sample/shapes.onnx", "OPTS": "0 2 3", "DEVICES": "cpu", "RUNS": "2", "SHARDS": "2", "LOCALIZE": "",
                    "FORMATS": "", "OUT": self.out, "BIN": f"{self.root}/bin", "LAUNCHER": launcher, **settings}
        return subprocess.Popen(["make", "-f", "Makefile.experiments", "-j8", goal, *(f"{k}={v}" for k, v in settings.items())],
                                env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def noted(self, kind):
        if not os.path.exists(self.calls):
            return []
        with open(self.calls) as file:
            return [line.split(" ", 2)[2].rstrip("\n") for line in file if line.startswith(kind)]

    def nodes(self):
        if not os.path.exists(self.calls):
            return set()
        with open(self.calls) as file:
            return {line.split()[1] for line in file}

    def streams(self):
        return [os.path.join(folder, name) for folder, _, names in os.walk(self.out) for name in names if name == "run.dnns"]

    def assert_whole(self):
        """Six streams, all there, of all samples, and nothing else left behind; each shard was computed to its end once."""
        streams = self.streams()
        self.assertEqual(len(streams), 6, streams)
        subprocess.run([f"{BIN}/dnn-cat", "--check", *streams], check=True)
        ends = self.noted("end")
        self.assertEqual(len(ends), 12, ends)
        self.assertEqual(len(set(ends)), 6)  # two runs each of 3 levels x 2 shards
        self.assertEqual([f for _, _, names in os.walk(self.out) for f in names if ".tmp" in f], [])

    def start_slurm(self):
        missing = [tool for tool in ("munged", "mungekey", "slurmctld", "slurmd", "srun") if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin")]
        if missing or os.getuid() != 0:
            self.skipTest(f"no {missing[0]}: apt-get install slurm-wlm munge" if missing else "Slurm's daemons want root here")
        self.environment["PATH"] += ":/usr/sbin"
        key, munge = f"{self.root}/munge.key", f"{self.root}/munge.socket"
        subprocess.run(["mungekey", "-c", "-k", key], check=True, env=self.environment)
        # munged wants its folder to be nobody else's to write.
        os.chmod(self.root, 0o755)
        self.daemon("/usr/sbin/munged", "-F", "--force", "--key-file", key, "--socket", munge, "--pid-file", f"{self.root}/munge.pid",
                    "--log-file", f"{self.root}/munge.log", "--seed-file", f"{self.root}/munge.seed")
        self.assertTrue(wait_until(lambda: os.path.exists(munge)), "munged did not start")
        first = neighbours()
        conf = f"{self.root}/slurm.conf"
        os.mkdir(f"{self.root}/state")
        with open(conf, "w") as file:
            file.write(SLURM_CONF.format(host=socket.gethostname().split(".")[0], user=pwd.getpwuid(os.getuid()).pw_name, root=self.root,
                                         port=free_ports(1)[0], first=first, last=first + 1))
        self.environment["SLURM_CONF"] = conf
        self.daemon("/usr/sbin/slurmctld", "-D", "-c", "-f", conf)
        self.slurmd = {n: self.daemon("/usr/sbin/slurmd", "-D", "-N", n, "-f", conf) for n in ("n1", "n2")}
        idle = lambda: subprocess.run(["sinfo", "-h", "-o", "%T %D"], env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout == "idle 2\n"  # noqa: E731
        self.assertTrue(wait_until(idle), "the two nodes did not come up")

    def test_a_node_dies_and_nothing_is_computed_twice_or_lost(self):
        self.start_slurm()
        with open(f"{self.calls}.hang", "w"):
            pass
        process = self.make("execute", "srun -X -Q -N1 -n1")
        self.assertTrue(wait_until(lambda: len(self.noted("end")) >= 3 and self.nodes() == {"n1", "n2"}, 200))
        # The node falls silent: its daemon and what it runs.
        self.slurmd["n2"].kill()
        self.slurmd["n2"].wait()
        tasks, steps = self.tasks_of("n2")
        for pid in steps + tasks:
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        os.remove(f"{self.calls}.hang")
        subprocess.run(["scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=dead"], env=self.environment, check=True)
        said, _ = process.communicate(timeout=300)
        print(f"first make: exit {process.returncode}, {len(self.noted('end'))} of 12 shards computed, {len(steps)} steps killed")
        self.assertTrue(steps, "no step to kill")
        self.assertNotEqual(process.returncode, 0, said)
        before = self.noted("end")
        self.assertLess(len(before), 12)
        process = self.make("execute", "srun -X -Q -N1 -n1")
        said, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, said)
        self.assertEqual(sorted(before), sorted(self.noted("end")[:len(before)]))
        self.assert_whole()

    def tasks_of(self, node):
        """What runs on a node: its processes, and the daemons that watch over them."""
        tasks, steps = [], set()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ") as file:
                    words = file.read().split("\0")
                if f"SLURMD_NODENAME={node}" not in words or f"SLURM_CONF={self.environment['SLURM_CONF']}" not in words:
                    continue
                tasks.append(int(pid))
                with open(f"/proc/{pid}/stat") as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
                with open(f"/proc/{parent}/comm") as file:
                    if file.read().startswith("slurmstepd"):
                        steps.add(parent)
            except OSError:
                pass
        return tasks, list(steps)

    def test_hosts_over_ssh(self):
        if not os.path.exists("/usr/sbin/sshd") or not shutil.which("ssh-keygen"):
            self.skipTest("no sshd: apt-get install openssh-server")
        [port] = free_ports(1)
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{self.root}/{key}"], check=True)
        if os.getuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        with open(f"{self.root}/sshd_config", "w") as file:
            file.write(f"Port {port}\nListenAddress 127.0.0.1\nHostKey {self.root}/host\nAuthorizedKeysFile {self.root}/user.pub\n"
                       f"StrictModes no\nUsePAM no\nPidFile {self.root}/sshd.pid\nMaxStartups 100\nPasswordAuthentication no\n")
        with open(f"{self.root}/ssh_config", "w") as file:
            file.write(f"Host one two\n HostName 127.0.0.1\n Port {port}\n IdentityFile {self.root}/user\n"
                       f" StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n")
        self.daemon("/usr/sbin/sshd", "-D", "-e", "-f", f"{self.root}/sshd_config")
        ssh = f"ssh -F {self.root}/ssh_config"
        self.environment["SSH_COMMAND"] = ssh
        self.environment["XDG_RUNTIME_DIR"] = self.root
        launch = ["scripts/launch-ssh", "one:2,two:2"]
        ready = lambda: subprocess.run([*launch, "true"], env=self.environment, stderr=subprocess.DEVNULL).returncode == 0  # noqa: E731
        self.assertTrue(wait_until(ready), "sshd did not come up")
        # Words arrive as they are, and so does the exit code.
        awkward = "a 'b' \"c\" $HOME `d` \\e * \n f"
        said = subprocess.run([*launch, "sh", "-c", 'printf "%s|" "$PWD" "$@"; exit 9', "sh", awkward, ""], env=self.environment, text=True,
                              stdout=subprocess.PIPE)
        self.assertEqual((said.returncode, said.stdout), (9, f"{os.getcwd()}|{awkward}||"))
        process = self.make("execute", "scripts/launch-ssh one:2,two:2")
        said, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, said)
        self.assert_whole()
        # A host that is not there is a failure that says so.
        self.environment["SSH_COMMAND"] = ssh + " -o Port=1"
        said = subprocess.run([*launch, "true"], env=self.environment, text=True, stderr=subprocess.PIPE)
        self.assertEqual(said.returncode, 255)
        self.assertIn("launch-ssh: error: ssh to one failed", said.stderr)

    def test_launch_ssh_refuses_what_it_cannot_use(self):
        for hosts in ("", ",", "-x", "one:0", "one:two", ":3"):
            said = subprocess.run(["scripts/launch-ssh", hosts, "true"], text=True, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(said.returncode, 2, hosts)
            self.assertIn("launch-ssh: error:", said.stderr)
        self.assertEqual(subprocess.run(["scripts/launch-ssh", "one"], stderr=subprocess.DEVNULL, timeout=60).returncode, 2)


if __name__ == "__main__":
    result = unittest.main(verbosity=2, exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if len(result.skipped) == result.testsRun - 1 else 0)
