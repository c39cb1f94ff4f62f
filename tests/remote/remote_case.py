"""Parts that tests of dnn-serve share: folders of their own, a server, runs of the tools, and their records."""
import json
import os
import pathlib
import pty
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tty
import unittest

BIN = pathlib.Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else pathlib.Path("build/release/bin").resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "sample"
# Convolutions, a branch, a pool and a product, with weights that no format rounds.
NET = """graph "net" {
 opset 17
 input x: float32[2,3,8,8]
 const w: float32[4,3,3,3] = {%s}
 const v: float32[4,5] = {%s}
 h: float32[2,4,8,8] = Conv(x, w) @conv {pads = [1, 1, 1, 1]}
 r: float32[2,4,8,8] = Relu(h) @relu
 s: float32[2,4,8,8] = Add(r, h) @add
 p: float32[2,4,1,1] = GlobalAveragePool(s) @pool
 f: float32[2,4] = Flatten(p) @flatten
 y: float32[2,5] = MatMul(f, v) @product
 output y
 output s
}
""" % (", ".join(str((i * 37 % 19 - 9) / 16) for i in range(108)), ", ".join(str((i * 11 % 7 - 3) / 8) for i in range(20)))


class RemoteCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.environment = {k: v for k, v in os.environ.items() if not k.startswith("DNN_")}
        cls.environment["XDG_CACHE_HOME"] = str(cls.folder / "cache")
        cls.environment["XDG_CONFIG_HOME"] = str(cls.folder / "config")
        cls.environment["PATH"] = f"{BIN}:{cls.environment['PATH']}"
        # ssh hands a command over like this: the words behind the host go to a shell there.
        ssh = cls.folder / "ssh"
        ssh.write_text('#!/bin/sh\nwhile [ "$1" = -p ]; do shift 2; done\nhost=$1; shift\n[ "$host" = me@board ] || exit 255\nexec sh -c "$*"\n')
        ssh.chmod(0o755)
        cls.environment["DNN_SSH"] = str(ssh)
        # An adb of one device, whose files lie in a folder here.
        cls.environment["DNN_ADB"] = f"{sys.executable} {pathlib.Path(__file__).with_name('adb_stand_in.py')}"
        cls.environment["ADB_STAND_IN"] = f"emulator-5554 {cls.folder / 'android'}"
        (cls.folder / "net.txt").write_text(NET)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def serve(self, *options):
        """The process and its address."""
        server = subprocess.Popen([BIN / "dnn-serve", *map(str, options)], env=self.environment, stdout=subprocess.PIPE, text=True)
        def end():
            server.kill()
            server.wait()
            server.stdout.close()
        self.addCleanup(end)
        self.last_server = server
        return server, server.stdout.readline().strip()

    def children_of(self, process):
        """Numbers of the processes that it has started: a server's, of its clients."""
        path = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        return [int(pid) for pid in path.read_text().split()]

    def run_tool(self, *command, code=0):
        result = subprocess.run([BIN / command[0], *map(str, command[1:])], env=self.environment, capture_output=True, timeout=300)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return result

    def infer(self, device, *options, model=None, code=0):
        return self.run_tool("dnn-infer", "--device", device, *options, model or self.folder / "net.txt", "--fill", "random",
                             "--threads", "2", code=code)

    def start_sshd(self):
        """An sshd of this test's own, on a free port and with keys of its own: the host "board" of DNN_SSH. Skips where none is installed."""
        if not os.path.exists("/usr/sbin/sshd") or not shutil.which("ssh-keygen") or not shutil.which("ssh"):
            self.skipTest("no sshd: scripts/setup --dev installs openssh-server")
        if os.getuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        root = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", root / key], check=True)
        (root / "sshd_config").write_text(f"Port {port}\nListenAddress 127.0.0.1\nHostKey {root}/host\nAuthorizedKeysFile {root}/user.pub\n"
                                          f"StrictModes no\nUsePAM no\nPidFile {root}/pid\nPasswordAuthentication no\n")
        (root / "ssh_config").write_text(f"Host board localhost\n HostName 127.0.0.1\n Port {port}\n IdentityFile {root}/user\n"
                                         " StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n")
        sshd = self.sshd = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", root / "sshd_config"], stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (sshd.kill(), sshd.wait()))
        # Nothing of this environment crosses, so that the server's folders are named on its command line.
        over = {"DNN_SSH": f"ssh -F {root}/ssh_config", "DNN_SERVE": f"env XDG_CACHE_HOME={root}/cache {BIN}/dnn-serve"}
        before = {name: self.environment.get(name) for name in over}
        self.addCleanup(lambda: [self.set_variable(name, value) for name, value in before.items()])
        self.environment.update(over)
        deadline = time.monotonic() + 20
        while subprocess.run([*over["DNN_SSH"].split(), "board", "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.assertLess(time.monotonic(), deadline, "sshd did not come up")
            time.sleep(0.1)
        return sshd

    def set_variable(self, name, value):
        if value is None:
            self.environment.pop(name, None)
        else:
            self.environment[name] = value

    def serial_line(self):
        """Two terminals: bytes that are written to one are read from the other."""
        ends = [pty.openpty() for _ in range(2)]
        for _, slave in ends:
            tty.setraw(slave)
        def carry(source, sink):
            try:
                while data := os.read(source, 65536):
                    while data:
                        data = data[os.write(sink, data):]
            except OSError:  # the test has ended
                pass
        masters = [master for master, _ in ends]
        for source, sink in (masters, masters[::-1]):
            threading.Thread(target=carry, args=(source, sink), daemon=True).start()
        def close():
            for end in ends:
                for fd in end:
                    try:
                        os.close(fd)
                    except OSError:
                        pass
        self.addCleanup(close)
        return [os.ttyname(slave) for _, slave in ends]

    def records(self, stream):
        text = subprocess.run([BIN / "dnn-cat", "-"], input=stream, capture_output=True, env=self.environment, check=True).stdout
        return [json.loads(line) for line in text.splitlines()]

    def comparable(self, stream):
        """The part that is the same on every machine of one kind."""
        header, *records = self.records(stream)
        for record in records:
            record.pop("latency_ns", None)
            record.pop("transport_ns", None)
        return {k: header[k] for k in ("isa", "opt", "dtype", "threads", "model")}, records
