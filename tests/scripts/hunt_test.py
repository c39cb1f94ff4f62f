#!/usr/bin/env python3
"""hunt: what a network's own type rounds is no difference, and what is more than that is one."""
import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
loader = importlib.machinery.SourceFileLoader("hunt", str(SCRIPTS / "hunt"))
hunt = importlib.util.module_from_spec(importlib.util.spec_from_loader("hunt", loader))
loader.exec_module(hunt)

# A norm that passes fold, and a Softmax: other orders of rounding at other levels.
NET = """graph "n" {{
  opset 17
  input x: {type}[1,3,4,5]
  const s: {type}[3] = {{0.7, 1.3, {third}}}
  const b: {type}[3] = {{0.1, -0.2, 0.3}}
  const m: {type}[3] = {{0.05, 0.01, -0.1}}
  const v: {type}[3] = {{0.5, 0.9, 1.1}}
  n = BatchNormalization(x, s, b, m, v)
  y = Softmax(n) {{axis = -1}}
  output n
  output y
}}
"""


class Noise(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.bench = hunt.Bench(pathlib.Path(os.environ["DNN_BIN"]), self.folder, frameworks=False)

    def net(self, element, third):
        (self.folder / "net.txt").write_text(NET.format(type=element, third=third))
        return "net.txt"

    def test_what_a_type_rounds(self):
        for element, least, most in (("float16", 1e-5, 2e-2), ("bfloat16", 1e-4, 2e-1), ("float32", 1e-9, 1e-5), ("float64", 0, 0)):
            with self.subTest(element):
                model = self.net(element, "2.1")
                _, noise = self.bench.yardstick(model)
                for name in ("n", "y"):
                    self.assertGreaterEqual(noise[name], least)
                    self.assertLessEqual(noise[name], most)

    def test_levels_and_formats_of_halves(self):
        model = self.net("float16", "2.1")
        yardstick = self.bench.yardstick(model)
        for cell in ("cpu:0", "cpu:1", "cpu:3", "to:onnx", "to:pt", "to:savedmodel"):
            with self.subTest(cell):
                hunt.run_cell(self.bench, cell, model, yardstick)

    def test_a_file_without_a_certificate_is_refused(self):
        self.bench.run = lambda words: None  # dnn-convert that writes no certificate
        with self.assertRaises(hunt.Refused):
            hunt.convert(self.bench, "to:pt", "net.txt", {})

    def test_faults_of_halves_are_found(self):
        ours, noise = self.bench.yardstick(self.net("float16", "2.1"))
        theirs = self.bench.outputs(self.net("float16", "2.0"), "--device", "cpu")  # 5 % off, in one channel
        for name in ours:
            with self.subTest(name), self.assertRaises(hunt.Differs):
                hunt.judge(name, *hunt.apart(ours[name], theirs[name]), noise[name], hunt.BOUND)


if __name__ == "__main__":
    unittest.main()
