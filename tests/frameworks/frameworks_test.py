"""The sample network in each real framework that dnn-infer --list-devices shows: the same predictions as the interpreter's."""
import json
import os
import pathlib
import shutil
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
MAY_HOLD_CODE = {"tensorflow", "keras", "torch"}  # get their own files only where they are trusted
# Models that do something else when their framework loads or runs them: make a file. Ours reads each of them.
CODE = {"torch": """
import os, pickle, sys, zipfile, torch
folder = sys.argv[1]
class Payload:
    def __reduce__(self):
        return (os.mkdir, (f"{folder}/ran.pt2",))
class Evil(torch.nn.Module):
    def __init__(self, path: str):
        super().__init__()
        self.path = path
    @torch.jit.export
    def __getstate__(self):
        return (self.path, self.training)
    @torch.jit.export
    def __setstate__(self, state: tuple[str, bool]) -> None:
        self.path, self.training = state[0], state[1]
        torch.save(torch.ones(1), self.path)
    def forward(self, x: torch.Tensor):
        return x
class Net(torch.nn.Module):
    def __init__(self, evil):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.evil = evil
    def forward(self, x: torch.Tensor):
        return torch.relu(self.linear(x))
torch.jit.save(torch.jit.script(Net(Evil(f"{folder}/ran.pt")).eval()), f"{folder}/code.pt")
torch.export.save(torch.export.export(Net(torch.nn.Identity()).eval(), (torch.ones(1, 3),)), f"{folder}/clean.pt2")
with zipfile.ZipFile(f"{folder}/clean.pt2") as clean, zipfile.ZipFile(f"{folder}/code.pt2", "w") as code:
    for name in clean.namelist():
        code.writestr(name, pickle.dumps(Payload()) if "sample_inputs" in name else clean.read(name))
""", "tensorflow": """
import sys, tensorflow as tf
folder = sys.argv[1]
class Net(tf.Module):
    def __init__(self):
        self.w = tf.Variable(tf.ones([3, 2]))
    @tf.function(input_signature=[tf.TensorSpec([1, 3], tf.float32, name="x")])
    def serve(self, x):
        with tf.control_dependencies([tf.io.write_file(f"{folder}/ran.savedmodel", "x")]):
            return {"y": tf.nn.relu(tf.matmul(x, self.w))}
net = Net()
tf.saved_model.save(net, f"{folder}/code.savedmodel", signatures={"serving_default": net.serve})
"""}
TRAINED = {"onnxruntime": "x.onnx", "tflite": "x.tflite", "tensorflow": "x.savedmodel", "keras": "x.keras", "torch": "x.pt"}
# A log as TensorBoard itself reads it: {run/tag: values by step}.
TENSORBOARD = """
import json, sys
try:
    from tensorboard.backend.event_processing.event_multiplexer import EventMultiplexer
except ImportError:
    sys.exit(77)
log = EventMultiplexer().AddRunsFromDirectory(sys.argv[1])
log.Reload()
found = {}
for run, tags in log.Runs().items():
    found.update({f"{run}/{tag}": [event.value for event in log.Scalars(run, tag)] for tag in tags["scalars"]})
    found.update({f"{run}/{tag}": [list(event.tensor_proto.float_val) for event in log.Tensors(run, tag)] for tag in tags["tensors"]})
print(json.dumps(found))
"""
MOST = 1e-4  # of the largest output, as dnn-convert's tolerance


def run(*words, **options):
    return subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, **options)


def here():
    lines = run(BIN / "dnn-infer", "--list-devices").stdout.decode().splitlines()
    return {line.split("\t")[0][4:]: line.split(", ")[-1] for line in lines if line.startswith("lib:")}  # with its Python


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
        got, shape = self.stream(device, model, *words), [w for w in words if not w.startswith(("-O", "--batch", "--trust"))]
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
                trust = ["--trust-model"] if framework in MAY_HOLD_CODE else []
                header = self.compare(framework, *OWN[framework], *trust)
                self.assertNotIn("converted", header["host"])
                self.assertEqual(header["host"].get("trusted_model"), "true" if trust else None)
                self.assertEqual(header["host"]["sandbox"].split("; ")[0], "files, network")
                if trust:
                    header = self.compare(framework, *OWN[framework])
                    self.assertIn("converted", header["host"])
                    self.assertNotIn("trusted_model", header["host"])
                self.assertIn("the framework's own call", header["latency_contains"])
                self.assertEqual(header.get("opt"), 3 if framework == "onnxruntime" else None)
                header = self.compare(framework, "shapes.onnx", "--batch=3")
                self.assertEqual("converted" in header["host"], framework not in ONNX)

    def train(self, *words):
        """Trains a head on 10 images of each of 4 shapes; the records of its epochs on the images that it was judged by."""
        data = self.folder / "data"
        for kind in ("ring", "star", "heart", "cross"):
            (data / kind).mkdir(parents=True, exist_ok=True)
            for image in (SAMPLE / "images" / kind).glob("0*.png"):
                shutil.copy(image, data / kind)
        done = run(BIN / "dnn-train", SAMPLE / "shapes.onnx", "--data", data, "--validate", data, "--preprocess", "imagenet-torch", "--seed", "3",
                   "--replace-head", "linear", "--freeze", "*", "--epochs", "3", "--learning-rate", "0.01", *words)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        records = [json.loads(line.removeprefix("json_stats: ")) for line in done.stderr.decode().splitlines() if line.startswith("json_stats: ")]
        return [r for r in records if r["_type"] == "test_epoch"]

    def test_trained_networks_have_their_accuracy(self):
        for framework in sorted(here().keys() & TRAINED.keys()):
            with self.subTest(framework):
                model = self.folder / TRAINED[framework]
                accuracy = 100 - self.train("-o", model)[-1]["min_top1_err"]
                words = ["--trust-model"] if framework in MAY_HOLD_CODE else []
                words += ["--shape", "1x3x56x56"] if framework == "torch" else []
                done = run(BIN / "dnn-infer", "-q", "--device", "lib:" + framework, "--preprocess", "imagenet-torch", *words, "-o",
                           self.folder / "run.dnns", model, self.folder / "data")
                self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
                report = json.loads(run(BIN / "dnn-eval", "--json", self.folder / "run.dnns").stdout)
                self.assertEqual(report["runs"][0]["n_samples"], 40)
                self.assertAlmostEqual(report["runs"][0]["values"]["top1_accuracy"], accuracy, 6)
                self.assertGreater(accuracy, 50)

    def test_tensorboard_reads_the_log(self):
        if "tensorflow" not in here():
            self.skipTest("no TensorFlow here")
        tested = self.train("-o", self.folder / "x.onnx", "--logdir", self.folder / "log")
        (self.folder / "read.py").write_text(TENSORBOARD)
        done = run(here()["tensorflow"], self.folder / "read.py", self.folder / "log")
        if done.returncode == 77:
            self.skipTest("no TensorBoard here")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        scalars = json.loads(done.stdout)
        for tag, key, value_of in (("accuracy", "top1_err", lambda e: 1 - e / 100), ("loss", "loss", lambda loss: loss)):
            values = [float(v[0] if isinstance(v, list) else v) for v in scalars["validation/epoch_" + tag]]
            self.assertEqual([round(v, 3) for v in values], [round(value_of(r[key]), 3) for r in tested], tag)
        self.assertIn("train/epoch_loss", scalars)
        self.assertIn("steps/batch_loss", scalars)

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

    def test_what_a_file_holds_does_not_run(self):
        for framework, script in CODE.items():
            if framework not in here():
                continue
            (self.folder / "make.py").write_text(script)  # TorchScript wants to read it
            done = run(here()[framework], self.folder / "make.py", self.folder)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            models = sorted(self.folder.glob("code.*"))
            self.assertTrue(models)
            for model in models:
                with self.subTest(f"{framework} {model.name}"):
                    words = ("--device", "lib:" + framework, "--fill", "ones", "--shape", "x:1x3", "-o", self.folder / "run.dnns", model)
                    mark = self.folder / ("ran" + model.suffix)
                    done = run(BIN / "dnn-infer", *words)
                    # Our reader refuses operators with effects, trusted or not; the others' code is not part of what it reads.
                    self.assertEqual(done.returncode, 4 if model.suffix == ".savedmodel" else 0, done.stderr.decode())
                    self.assertFalse(mark.exists())
                    # Trusted, it runs, but nothing is unpickled, and the box keeps it from files.
                    done = run(BIN / "dnn-infer", "--trust-model", *words)
                    self.assertFalse(mark.exists(), done.stderr.decode())
                    done = run(BIN / "dnn-infer", "--trust-model", *words, env={**os.environ, "DNN_ADAPTER_BOX": "off"})
                    self.assertEqual(mark.exists(), model.suffix not in (".pt2", ".savedmodel"), done.stderr.decode())
                model.rename(self.folder / ("done" + model.suffix))

    def test_each_framework_certifies(self):
        """Both sides of a conversion run in the frameworks of their formats; a graph that is changed on the way has none."""
        for framework in here():
            if framework in ("openvino", "ncnn", "torch"):  # no format is theirs; TorchScript's has to be given a shape
                continue
            with self.subTest(framework):
                own = SAMPLE / OWN[framework][0]
                written = self.folder / ("as_it_is.onnx" if framework != "onnxruntime" else "as_it_is.tflite")
                done = run(BIN / "dnn-convert", own, "-o", written, "--certify", "both", "--trust-model", "--tolerance", MOST,
                           "--certificate", self.folder / "c.json")
                self.assertEqual(done.returncode, 0, done.stderr)
                found = json.loads((self.folder / "c.json").read_text())
                self.assertNotIn("dnn-tools", (found["source"], found["target"]))
                self.assertEqual([o["same_top1"] for o in found["outputs"]], [8] * len(found["outputs"]))
                done = run(BIN / "dnn-convert", own, "-o", written, "--certify", "framework", "--batch", "2",
                           "--certificate", self.folder / "c.json")
                if done.returncode != 5:  # the target's framework is here
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(json.loads((self.folder / "c.json").read_text())["source"], "dnn-tools")

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
