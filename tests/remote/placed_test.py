#!/usr/bin/env python3
"""Parts of one network on this machine and behind dnn-serve: the bits of this machine alone, and an error that names the part where a
server dies in the middle of a run."""
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from remote_case import BIN, RemoteCase

NET = """graph "net" {
 opset 21
 input x: float32[1,3,16,16]
 const w: float32[8,3,3,3] = {%s}
 const u: float32[8,8,3,3] = {%s}
 stem = Conv(x, w) @stem {pads = [1, 1, 1, 1]}
 a = Conv(stem, u) @left {pads = [1, 1, 1, 1]}
 b = Relu(stem) @right
 c = Concat(a, b) @join {axis = 1}
 y = GlobalAveragePool(c) @pool
 output y
}
""" % (", ".join(str((i * 37 % 19 - 9) / 16) for i in range(216)), ", ".join(str((i * 11 % 7 - 3) / 8) for i in range(576)))


class Placed(RemoteCase):
    def setUp(self):
        (self.folder / "net.txt").write_text(NET)
        (self.folder / "rules.txt").write_text("C *\nD left\n")

    def compile(self, devices, package):
        self.run_tool("dnn-compile", "--place", self.folder / "rules.txt", "--devices", devices, self.folder / "net.txt", "-o", package)

    def outputs(self, stream):
        text = subprocess.run([BIN / "dnn-cat", "-"], input=stream, capture_output=True, env=self.environment, check=True).stdout
        header, *records = [json.loads(line) for line in text.splitlines()]
        return header, [r["outputs"] for r in records if r.get("outputs")]

    def test_a_part_on_another_machine(self):
        _, address = self.serve("--unix", self.folder / "s.sock")
        self.compile(f"C=cpu,D={address}/cpu", self.folder / "there.dnnpkg")
        self.compile("C=cpu,D=cpu", self.folder / "here.dnnpkg")
        there, here = (self.run_tool("dnn-infer", "--outputs", self.folder / f"{where}.dnnpkg", "--fill", "random").stdout
                       for where in ("there", "here"))
        header, outputs = self.outputs(there)
        self.assertEqual(header["device"], f"C=cpu,D={address}/cpu")
        self.assertIn("D.server", header["host"])
        self.assertEqual(outputs, self.outputs(here)[1])
        self.assertEqual(len(outputs), 1)

    def test_a_server_that_dies_is_an_error_that_names_the_part(self):
        server, address = self.serve("--unix", self.folder / "k.sock")
        self.compile(f"C=cpu,D={address}/cpu", self.folder / "killed.dnnpkg")
        run = subprocess.Popen([BIN / "dnn-infer", "-n", "100000000", self.folder / "killed.dnnpkg", "--fill", "random"], env=self.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(run.kill)
        # Once it writes predictions, it runs.
        self.assertTrue(os.read(run.stdout.fileno(), 1))
        children = self.children_of(server)
        self.assertEqual(len(children), 1)
        # A process of the server that dies is replaced, and the run goes on: more comes than a pipe held.
        os.kill(children[0], signal.SIGKILL)
        for _ in range(3):
            self.assertTrue(run.stdout.read(100_000))
        begin = time.monotonic()
        for pid in (server.pid, *self.children_of(server)):
            os.kill(pid, signal.SIGKILL)
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 5, errors)
        self.assertIn(f"part D ({address}/cpu), left: ", errors.decode())
        self.assertLess(time.monotonic() - begin, 30)

    def branched(self):
        """The path of a branched network's configuration."""
        path = self.folder / "net-CD.yaml"
        path.write_text("""MODEL: {TYPE: mbanynet, NUM_CLASSES: 5}
ANYNET:
  STEM_TYPE: res_stem_in
  STEM_W: 8
  BLOCK_TYPE: res_basic_block
  STRIDES: [[1, 1], [2, 2]]
  DEPTHS: [[1, 2], [1, 1]]
  WIDTHS: [[8, 16], [16, 8]]
  DEVICES: ["cpu", "dsp"]
  ORIGINAL_WIDTHS: [24, 24]
TRAIN: {IM_SIZE: 32}
""")
        return path

    def test_a_branch_over_a_real_ssh(self):
        self.start_sshd()
        result = self.folder / "ssh.csv"
        self.run_tool("dnn-branch", "eval", self.branched(), "--devices", "C=cpu@0,D=ssh://board/cpu", "--runs", "3", "--warmup", "1", "-o", result)
        measured, = json.loads(result.with_suffix(".json").read_text())["results"]
        self.assertEqual([part["part"] for part in measured["parts"]], ["C (cpu@0)", "D (ssh://board/cpu)"])
        self.assertEqual([alone["same_bits"] for alone in measured["alone"]], [True, True])
        self.assertGreater(measured["merges"]["copies"], 0)

    def test_a_branch_whose_server_dies_names_its_part(self):
        """The dnn-serve behind an ssh, and the sshd, die while both branches run again and again: an error, and no run that waits for ever."""
        self.start_sshd()
        run = subprocess.Popen([BIN / "dnn-branch", "eval", self.branched(), "--devices", "C=cpu@0,D=ssh://board/cpu", "--runs", "100000000",
                                "-o", self.folder / "dies.csv"], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(run.kill)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.stderr.close)
        serving = self.descendant("dnn-serve", self.sshd.pid)
        time.sleep(1)
        self.sshd.kill()  # else the branch would go on over a new connection
        os.kill(serving, signal.SIGKILL)
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 5, errors)
        self.assertIn("part D (ssh://board/cpu)", errors.decode())

    def descendant(self, name, root):
        """The process of that name below `root`, once it is there."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            waiting = [root]
            while waiting:
                pid = waiting.pop()
                try:
                    if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == name:
                        return pid
                    for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
                        waiting += map(int, children.read_text().split())
                except OSError:  # it has ended
                    pass
            time.sleep(0.05)
        self.fail(f"no {name} below process {root}")

    def test_a_server_that_is_not_there(self):
        server, address = self.serve("--unix", self.folder / "gone.sock")
        self.compile(f"C=cpu,D={address}/cpu", self.folder / "gone.dnnpkg")
        server.kill()
        server.wait()
        errors = self.run_tool("dnn-infer", self.folder / "gone.dnnpkg", "--fill", "random", code=5).stderr.decode()
        self.assertIn(f"part D ({address}/cpu): ", errors)


if __name__ == "__main__":
    unittest.main()
