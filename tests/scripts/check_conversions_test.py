#!/usr/bin/env python3
"""check_conversions: measures against the variation, tells the six states apart, prints its tables; with stand-in frameworks."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check-conversions"
try:
    import numpy as np
except ImportError:
    np = None

CONVERT = """#!/bin/sh
case "$1" in --list-formats) printf 'onnx\\t.onnx\\tread\\twrite\\tdata\\ntflite\\t.tflite\\tread\\twrite\\tdata\\ntext\\t.txt\\tread\\twrite\\tdata\\n'; exit;; esac
case "$1" in *odd*) echo "dnn-convert: error: $1: node 'a' (Odd) has no counterpart" >&2; exit 4;; *broken*) echo crash >&2; exit 70;; esac
cp "$1" "$3"
"""
# An adapter: the first word of a model says what the framework makes of it.
FRAMEWORK = """#!{python}
import json, sys
import numpy as np
script, action, model, *files = sys.argv[1:]
word = open(model).read().split()[0]
if "{absent}" and "{absent}" in script: print("not here", file=sys.stderr); sys.exit(77)
if word == "invalid" and "{target}" in script: print("bad file", file=sys.stderr); sys.exit(1)
if action == "describe": print(json.dumps({{"framework": "f 1", "transposes": 0, "inputs": [{{"shape": [None, 3], "dtype": "float32"}}]}})); sys.exit()
x = np.load(files[0])["i0"]
np.savez(files[1], o0=x * (1.5 if word == "wrong" and "{target}" in script else 1))
print(json.dumps({{"framework": "f 1", "seconds": 0.1, "transposes": 2 if "{target}" in script else 0}}))
"""


@unittest.skipIf(np is None, "no numpy")
class CheckConversions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        loader = importlib.machinery.SourceFileLoader("check_conversions", str(SCRIPT))
        cls.module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_conversions", loader))
        loader.exec_module(cls.module)

    def test_differences_are_relative_to_the_variation(self):
        a = np.array([[0.0, 10.0], [4.0, 10.0]])
        difference, wrong, reason = self.module.compare([a], [a + 0.02])
        self.assertAlmostEqual(difference, 0.02 / np.sqrt(2.0))
        self.assertEqual((wrong, reason), (0, ""))
        self.assertEqual(self.module.compare([a], [a.copy()])[0], 0)

    def test_another_best_class_counts_only_beyond_its_margin(self):
        a = np.array([[1.0, 1.001], [0.0, 3.0]])
        self.assertEqual(self.module.compare([a], [a + [[0.002, 0], [0, 0]]])[1], 0)
        self.assertEqual(self.module.compare([a], [a[:, ::-1] * 1.0])[1], 0)  # the error is as large as the margin
        b = np.array([[5.0, 1.0], [1.0, 5.0], [9.0, 0.0]])
        c = b.copy()
        c[0] = [2.9, 3.1]
        self.assertEqual(self.module.compare([b], [c])[1], 0)
        b[0] = [9.0, 1.0]
        c[0] = [4.9, 5.0]
        self.assertEqual(self.module.compare([b * [[1, 1], [1, 1], [9, 1]]], [c * [[1, 1], [1, 1], [9, 1]]])[1], 0)

    def test_other_shapes_and_numbers_are_reasons(self):
        a = np.zeros((2, 3))
        self.assertIn("2 outputs", self.module.compare([a], [a, a])[2])
        self.assertIn("[2, 4]", self.module.compare([a], [np.zeros((2, 4))])[2])
        self.assertIn("not finite", self.module.compare([a], [a * np.nan])[2])

    def check(self, models, *words, absent=""):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "bin").mkdir()
            for name, text in (("bin/dnn-convert", CONVERT),
                               ("python", FRAMEWORK.format(python=sys.executable, absent=absent, target="tflite"))):
                (root / name).write_text(text)
                (root / name).chmod(0o755)
            paths = []
            for model in models:
                paths.append(str(root / f"{model}.onnx"))
                pathlib.Path(paths[-1]).write_text(f"{model} model\n")
            env = {**os.environ, **{f"DNN_PYTHON_{v}": str(root / "python") for v in ("ONNXRUNTIME", "TENSORFLOW", "TF2ONNX")}}
            done = subprocess.run([sys.executable, str(SCRIPT), *paths, "--bin", str(root / "bin"), "--json", f"{folder}/o.json",
                                   "--rst", f"{folder}/o.rst", *words], text=True, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            with open(f"{folder}/o.json") as file, open(f"{folder}/o.rst") as text:
                return done.returncode, done.stdout, json.load(file)["rows"], text.read()

    def test_the_states(self):
        code, table, rows, rst = self.check(["good", "odd", "broken", "wrong", "invalid"])
        self.assertEqual(code, 1)
        states = {r["model"].split("/")[1]: r["state"] for r in rows if r["target"] == ".tflite"}
        self.assertEqual(states, {"good.onnx": "supported", "odd.onnx": "unsupported", "broken.onnx": "error", "wrong.onnx": "error",
                                  "invalid.onnx": "model invalid"})
        good = next(r for r in rows if r["model"].endswith("/good.onnx") and r["target"] == ".tflite")
        self.assertEqual((good["difference"], good["transposes"], good["framework"]), (0, 2, "f 1"))
        self.assertIn("node 'a' (Odd) has no counterpart", table)
        self.assertIn("of the variation", table)
        self.assertEqual(rst.splitlines()[0].replace("=", "").strip(), "")

    def test_absent_frameworks_leave_conversions_unverified(self):
        code, _, rows, _ = self.check(["good"], absent="tflite")
        self.assertEqual(code, 0)
        row = next(r for r in rows if r["target"] == ".tflite")
        self.assertEqual((row["state"], row["reason"]), ("unverified", "not here"))

    def test_the_grid_has_a_column_per_converter_and_target(self):
        _, table, _, _ = self.check(["good", "odd"], "--grid", "--converters", "dnn tf2onnx")
        self.assertIn("| model | source | dnn .onnx | dnn .tflite | tf2onnx .onnx | tf2onnx .tflite |", table)
        self.assertRegex(table, r"good.onnx \| .onnx \| supported \| supported \| not implemented \| not implemented \|")
        self.assertRegex(table, r"odd.onnx \| .onnx \| unsupported \| unsupported \|")


if __name__ == "__main__":
    unittest.main()
