"""The sample network in each real framework that dnn-infer --list-devices shows: the same predictions as the interpreter's."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv.pop()).resolve()
SAMPLE = pathlib.Path(__file__).resolve().parents[1] / "sample"
# framework -> the sample as it loads it, and with what; each also gets the ONNX file, which is converted for it
OWN = {"onnxruntime": ["shapes.onnx"], "tflite": ["shapes_tflite.tflite"], "tensorflow": ["shapes_tensorflow.savedmodel"],
       "keras": ["shapes_keras.keras"], "torch": ["shapes_torch.pt", "--shape", "1x3x56x56"], "openvino": ["shapes.onnx"], "ncnn": ["shapes.onnx"]}
ONNX = {"onnxruntime", "openvino", "ncnn"}  # load it
MOST = 1e-4  # of the largest output, as dnn-convert's tolerance


def run(*words, **options):
    return subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, **options)


def here():
    lines = run(BIN / "dnn-infer", "--list-devices").stdout.decode().splitlines()
    return [line.split("\t")[0][4:] for line in lines if line.startswith("lib:")]


class Frameworks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.images = [SAMPLE / "images" / kind / "00.png" for kind in ("ring", "star", "hexagon", "spiral", "cross", "heart")]

    def stream(self, device, model, *words):
        path = self.folder / "run.dnns"
        done = run(BIN / "dnn-infer", "-q", "--device", device, "--preprocess", "imagenet-torch", "--outputs", *words, "-o", path,
                   SAMPLE / model, *self.images)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""), f"{device} {model}")
        return path.read_bytes()

    def header(self, stream):
        return json.loads(run(BIN / "dnn-cat", input=stream).stdout.splitlines()[0])

    def compare(self, framework, model, *words):
        """The header of the framework's run, whose outputs are the interpreter's."""
        device = "lib:" + framework
        got, shape = self.stream(device, model, *words), [w for w in words if not w.startswith(("-O", "--batch"))]
        done = run(BIN / "dnn-eval", "--json", input=self.stream("reference", model, *shape) + got)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        values = report["pairs"][0]["values"]
        self.assertEqual(values["top1_agreement"], 100, f"{device} {model}")
        self.assertLess(values["output_max_rel"], MOST, f"{device} {model}")
        self.assertGreater(report["runs"][1]["values"]["latency_min"], 0)
        return self.header(got)

    def test_each_framework_computes_the_same(self):
        for framework in here():
            with self.subTest(framework):
                header = self.compare(framework, *OWN[framework])
                self.assertNotIn("converted", header["host"])
                self.assertIn("the framework's own call", header["latency_contains"])
                self.assertEqual(header.get("opt"), 3 if framework == "onnxruntime" else None)
                header = self.compare(framework, "shapes.onnx", "--batch=3")
                self.assertEqual("converted" in header["host"], framework not in ONNX)

    def test_traces(self):
        """Every value between, too, is the interpreter's."""
        expected = self.folder / "reference.dnns"
        expected.write_bytes(self.stream("reference", "shapes.onnx", "--trace"))
        for framework in here():
            with self.subTest(framework):
                found = self.folder / "framework.dnns"
                found.write_bytes(self.stream("lib:" + framework, "shapes.onnx", "--trace"))
                records = [json.loads(line) for line in run(BIN / "dnn-cat", found).stdout.splitlines()]
                between = [r for r in records if r["type"] == "tensor" and r["role"] == "activation" and not r.get("recomputed")]
                self.assertGreater(len(between), 30 * len(self.images), framework)
                done = run(BIN / "dnn-localize", expected, found)
                self.assertEqual(done.returncode, 0, done.stdout.decode() + done.stderr.decode())

    def test_levels_of_onnxruntime(self):
        if "onnxruntime" not in here():
            self.skipTest("no ONNX Runtime here")
        for level in range(5):
            self.assertEqual(self.compare("onnxruntime", "shapes.onnx", f"-O{level}")["opt"], level)

    def test_options_that_the_framework_does_not_have(self):
        if "onnxruntime" not in here():
            self.skipTest("no ONNX Runtime here")
        done = run(BIN / "dnn-infer", "--device", "lib:onnxruntime:ep=Abacus", "--fill", "ones", "-o", self.folder / "x", SAMPLE / "shapes.onnx")
        self.assertEqual(done.returncode, 4)
        self.assertIn("no execution provider Abacus; it has", done.stderr.decode())
        self.assertFalse(os.path.exists(self.folder / "x"))


if __name__ == "__main__":
    if not here():
        print("SKIP: no framework here: DNN_PYTHON_ONNXRUNTIME and others name Pythons that have one")
        sys.exit(77)
    print("here:", *here())
    unittest.main()
