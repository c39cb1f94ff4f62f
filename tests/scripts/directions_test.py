#!/usr/bin/env python3
"""directions: the study's fifteen, each by converters that have its legs; percentages, verdicts and what is found, with stand-in tools."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "directions"
try:
    import numpy as np
except ImportError:
    np = None

CONVERT = """#!/bin/sh
cp "$2" "$4"
"""
# Of four images two have another label where the preprocessing is not the source's, and one where the file was converted wrongly.
INFER = """#!{python}
import json, sys
words, model = sys.argv[1:], None
out = words[words.index("-o") + 1]
model = words[words.index("-o") + 2]
if "--sample-tensors" in words:
    records = [{{"type": "sample", "tensor": {{"shape": [1, 4, 4, 3]}}}}]
else:
    text = open(model).read()
    wrong = 2 * (("--preprocess={right}" not in words) and "stored" not in text) + ("bad" in text)
    records = [{{"type": "prediction", "sample": i, "top_k": [{{"class": int(i < wrong)}}]}} for i in range(4)]
open(out, "w").write("".join(json.dumps(r) + "\\n" for r in records))
"""
LOCALIZE = """#!{python}
import json, sys
words = sys.argv[1:]
own = [w.split("=", 1)[1] for w in words if w.startswith("--target-preprocess")]
if "--preprocessing" in words:
    print(json.dumps({{"verdict": "explained", "found": {{"spec": "{right} channels=rgb"}}}}))
    sys.exit(1)
out = words[words.index("-o") + 1]
text = open([w for w in words if not w.startswith("-")][2]).read()
stored = bool(own) and out.endswith(".keras")
if "bad" not in text and not own:
    print(json.dumps({{"verdict": "healthy", "edits": [], "written": None, "why_not": ""}}))
    sys.exit(0)
if own and not stored:
    print(json.dumps({{"verdict": "not repaired", "edits": [{{"kind": "preprocess"}}], "written": out, "why_not": "does not keep"}}))
    sys.exit(1)
open(out, "w").write("stored" if stored else "good")
edits = [{{"kind": "preprocess" if stored else "constant"}}]
print(json.dumps({{"verdict": "repaired", "edits": edits, "written": out, "why_not": ""}}))
"""
# A converter: what it makes of "bad" stays bad, and "odd" it refuses.
FOREIGN = """#!{python}
import sys
text = open(sys.argv[2]).read()
if "odd" in text: print("unknown op Odd", file=sys.stderr); sys.exit(4)
open(sys.argv[3], "w").write(text)
"""


@unittest.skipIf(np is None, "no numpy")
class Directions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        loader = importlib.machinery.SourceFileLoader("directions", str(SCRIPT))
        cls.module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        sys.dont_write_bytecode = True
        loader.exec_module(cls.module)
        cls.module.GRID.exec_module(cls.module.check)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name)
        for name, text in (("dnn-convert", CONVERT), ("dnn-infer", INFER), ("dnn-localize", LOCALIZE), ("dnn-repair", LOCALIZE), ("python", FOREIGN),
                           ("dnn-cat", '#!/bin/sh\ncat "$2"\n')):
            path = self.at / name
            path.write_text(text.format(python=sys.executable, right="imagenet-tf") if "{" in text and "{python}" in text else text)
            path.chmod(0o755)

    def tearDown(self):
        self.folder.cleanup()

    def run_script(self, *words):
        environment = {**os.environ, **{f"DNN_PYTHON_{n}": str(self.at / "python") for n in ("TENSORFLOW", "TORCH", "TF2ONNX")}}
        return subprocess.run([sys.executable, str(SCRIPT), *words], env=environment, text=True, capture_output=True)

    def rows(self, content, network, only):
        model = self.at / "model.keras"
        model.write_text(content)
        found = self.at / "rows.json"
        done = self.run_script(f"{network}:{model}", "--bin", str(self.at), "--only", only, "--json", str(found), "--", "a.png")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertIn("| network | direction |", done.stdout)
        return json.loads(found.read_text())["rows"], done.returncode

    def test_there_are_fifteen_and_each_leg_has_its_converter(self):
        directions = [(n, s, t) for n, rows in self.module.STUDY.items() for s, t, _, _ in rows]
        self.assertEqual(len(set(directions)), 15)
        for network, source, target in directions:
            self.module.preprocess_of(source, network), self.module.preprocess_of(target, network)
            kind, legs = self.module.EXTENSIONS[source], self.module.legs_of(source, target)
            self.assertEqual(legs[-1][1], self.module.EXTENSIONS[target])
            for converter, extension in legs:
                if converter != "dnn":
                    _, _, sources, targets = self.module.check.CONVERTERS[converter]
                    self.assertIn(kind, sources)
                    self.assertIn(extension, targets)
                kind = extension

    def test_a_healthy_conversion_with_both_preprocessings(self):
        rows, code = self.rows("fine", "mobilenet_v2", "keras-tflite")
        self.assertEqual(code, 0)
        self.assertEqual([(r["preprocess"], r["before"], r["after"], r["verdict"], r["study"]) for r in rows],
                         [("source", 0, 0, "healthy", 0.33), ("target", 50, 0, "preprocessing found", 48.9)])
        self.assertEqual(rows[1]["edits"], ["imagenet-tf channels=rgb"])

    def test_a_format_that_holds_the_preprocessing_keeps_it(self):
        rows, _ = self.rows("fine", "inception_v3", "torch-keras")
        self.assertEqual(rows[1]["edits"], ["preprocess"])
        self.assertEqual((rows[1]["verdict"], rows[1]["of_source"], rows[1]["of_target"]), ("repaired", "imagenet-torch", "imagenet-tf"))

    def test_layers_that_are_wrong_are_repaired(self):
        rows, _ = self.rows("fine", "mobilenet_v2", "keras-torch")
        self.assertEqual(rows[0]["verdict"], "healthy")
        with open(self.at / "dnn-convert", "w") as file:  # ours makes it bad
            file.write('#!/bin/sh\necho bad >"$4"\n')
        rows, code = self.rows("fine", "mobilenet_v2", "keras-torch")
        self.assertEqual((rows[0]["before"], rows[0]["after"], rows[0]["edits"]), (25, 0, ["constant"]))
        self.assertEqual((rows[1]["verdict"], rows[1]["after"]), ("preprocessing found", 25))  # which mends no layer
        self.assertEqual(code, 1)

    def test_a_converter_that_refuses_says_why(self):
        rows, code = self.rows("odd", "mobilenet_v2", "keras-tflite")
        self.assertEqual([r["error"] for r in rows], ["tflite-converter: unknown op Odd"])
        self.assertEqual(code, 0)

    def test_usage(self):
        model = self.at / "m.onnx"
        model.write_text("")
        for words in ([f"vgg:{model}", "--", "a.png"], [f"resnet101:{model}"], ["resnet101:none.onnx", "--", "a.png"],
                      [f"resnet101:{model}", "--only", "onnx-tf", "--", "a.png"]):
            self.assertEqual(self.run_script(*words).returncode, 2, words)


if __name__ == "__main__":
    unittest.main()
