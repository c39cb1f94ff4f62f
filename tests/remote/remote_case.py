"""Parts that tests of dnn-serve share: folders of their own, a server, runs of the tools, and their records."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
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
        return server, server.stdout.readline().strip()

    def run_tool(self, *command, code=0):
        result = subprocess.run([BIN / command[0], *map(str, command[1:])], env=self.environment, capture_output=True, timeout=120)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return result

    def infer(self, device, *options, model=None, code=0):
        return self.run_tool("dnn-infer", "--device", device, *options, model or self.folder / "net.txt", "--fill", "random",
                             "--threads", "2", code=code)

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
