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
# In float64 a network gives 1.25 times what its framework gives, the model "wrong" 1.5 times in the target's.
INFER = """#!{python}
import base64, json, sys
import numpy as np
assert sys.argv[1:6] == ["-q", "-O0", "--device", "cpu:f64", "--outputs"]
x = np.load(sys.argv[-3])["i0"].astype(np.float64) * 1.25
with open(sys.argv[-1], "w") as stream:
    for row in x:
        tensor = {{"dtype": "float64", "shape": [1, 3], "data": base64.b64encode(row.tobytes()).decode()}}
        print(json.dumps({{"type": "prediction", "outputs": {{"y": tensor}}}}), file=stream)
"""
# An adapter: the first word of a model says what the framework makes of it.
FRAMEWORK = """#!{python}
import json, os, sys
import numpy as np
script = sys.argv[1]
if "{absent}" and "{absent}" in script: print("not here", file=sys.stderr); sys.exit(77)
print("started", script, file=open("{starts}", "a"))
def answer(action, model, *files):
    word = open(model).read().split()[0]
    if word == "dies": print("killed", file=sys.stderr); os._exit(9)
    if word == "invalid" and "{target}" in script: return {{"error": "bad file"}}
    if action == "describe": return {{"framework": "f 1", "transposes": 0, "inputs": [{{"shape": [None, 3], "dtype": "float32"}}]}}
    x = np.load(files[0])["i0"]
    scale = 1.5 if word == "wrong" and "{target}" in script else 1 + 1e-6 * ("DNN_OTHERWISE" in os.environ)
    np.savez(files[1], o0=x * scale)
    return {{"framework": "f 1", "seconds": 0.1, "transposes": 2 if "{target}" in script else 0}}
for line in sys.stdin:
    print(json.dumps({{**answer(*json.loads(line)), "mib": {mib}}}), flush=True)
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

    def check(self, models, *words, absent="", mib=1, seen=None):
        """(exit code, table, rows, table as RST); `seen` gets what was started and said, and rows to resume from come out of it."""
        seen = {} if seen is None else seen
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "bin").mkdir()
            (root / "zoo").mkdir()
            for name, text in (("bin/dnn-convert", CONVERT), ("bin/dnn-cat", '#!/bin/sh\ncat "$1"\n'),
                               ("bin/dnn-infer", INFER.format(python=sys.executable)),
                               ("python", FRAMEWORK.format(python=sys.executable, absent=absent, target="tflite", mib=mib,
                                                          starts=f"{folder}/starts"))):
                (root / name).write_text(text)
                (root / name).chmod(0o755)
            paths = []
            for model in models:
                paths.append(str(root / "zoo" / f"{model}.onnx"))
                pathlib.Path(paths[-1]).write_text(f"{model} model\n")
            if "rows" in seen:
                (root / "o.json").write_text(json.dumps({"rows": seen["rows"]}))
            env = {**os.environ, **{f"DNN_PYTHON_{v}": str(root / "python") for v in ("ONNXRUNTIME", "TENSORFLOW", "TF2ONNX")}}
            done = subprocess.run([sys.executable, str(SCRIPT), *paths, "--bin", str(root / "bin"), "--json", f"{folder}/o.json",
                                   "--rst", f"{folder}/o.rst", *words], text=True, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            starts = root / "starts"
            seen.update(said=done.stderr, starts=len(starts.read_text().splitlines()) if starts.exists() else 0)
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

    def test_what_is_above_the_tolerance_is_held_against_float64(self):
        rows = self.check(["good", "wrong"])[2]
        self.assertEqual([r["from_float64"] is None for r in rows], [True, True, True, False])
        source, target = rows[3]["from_float64"]
        self.assertAlmostEqual(source, target, places=6)  # one is as much below as the other is above
        self.assertAlmostEqual(source / rows[3]["difference"], 0.5 / 1.25, places=5)
        self.assertIn(f"from float64 the source is {source:.1e}, the target {target:.1e}", rows[3]["reason"])

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

    def test_a_framework_is_started_once_for_all_models(self):
        seen = {}
        rows = self.check(["good", "wrong"], seen=seen)[2]
        self.assertEqual(seen["starts"], 3)  # onnxruntime, the same otherwise, tf.lite
        self.assertAlmostEqual(rows[0]["floor"] / 1e-6, 1, delta=3)

    def test_a_framework_that_grows_is_started_again(self):
        seen = {}
        self.assertEqual({r["state"] for r in self.check(["good"], mib=9999, seen=seen)[2]}, {"supported"})
        self.assertEqual(seen["starts"], 5)  # described, run, otherwise, and the two targets

    def test_a_framework_that_dies_is_started_again_for_the_next_model(self):
        seen = {}
        rows = self.check(["dies", "good"], seen=seen)[2]
        self.assertEqual([r["state"] for r in rows], ["unverified"] * 2 + ["supported"] * 2)
        self.assertIn("no yardstick: killed", seen["said"])

    def test_good_rows_are_taken_from_the_run_before(self):
        rows = self.check(["good", "wrong"])[2]
        for row in rows:
            row["framework"] = "earlier"
        seen = {"rows": rows}
        rows = self.check(["good", "wrong"], "--resume", seen=seen)[2]
        self.assertEqual([(r["model"].split("/")[1], r["target"]) for r in rows if r["framework"] != "earlier"],
                         [("wrong.onnx", ".tflite")])
        self.assertEqual(len(rows), 4)

    def test_conversions_go_on_from_what_was_converted(self):
        _, table, rows, _ = self.check(["good"], "--also-from", ".tflite .onnx")
        self.assertEqual([(r["model"].split("/")[1], r["source"], r["target"], r["state"]) for r in rows],
                         [("good.onnx", ".onnx", ".onnx", "supported"), ("good.onnx", ".onnx", ".tflite", "supported"),
                          ("good.onnx as .tflite", ".tflite", ".onnx", "supported"),
                          ("good.onnx as .tflite", ".tflite", ".tflite", "supported")])
        self.assertRegex(table, r"\| ONNX \| TFLite \| 1 \| 1 \| 1 \| 0.0e\+00 \| .* \| 0 \| 2 \| - \|")
        self.assertRegex(table, r"\| TFLite \| ONNX \| 1 \| 1 \| 1 \|")


if __name__ == "__main__":
    unittest.main()
