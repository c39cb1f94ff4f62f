#!/usr/bin/env python3
"""What a file brings along is not run: by no framework unless the model is trusted, by no name of an INPUT, by no name of an option.

The frameworks are stand-ins that run whatever code they find in the file that they are given: it is a command to make a file. So a
file that reaches one leaves its mark, as a pickle, a Lambda or a WriteFile would (tests/frameworks has these, in the real ones).
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

BIN = pathlib.Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else pathlib.Path("build/release/bin").resolve()
ADAPTERS = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "adapters"
MODEL = 'graph "g" {\n opset 17\n input x: float32[1,3]\n y: float32[1,3] = Add(x, x) @sum\n output y\n}\n'
STAND_IN = """#!/usr/bin/env python3
import os, sys
sys.path.insert(0, {adapters!r})
import records
source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
path = records.read_record(source)["model"]["path"]
files = [os.path.join(f, n) for f, _, names in os.walk(path) for n in names] if os.path.isdir(path) else [path]
for file in files:
    data = open(file, "rb").read()
    if b"<run>" in data:
        open(data.split(b"<run>")[1].split(b"</run>")[0], "w").close()
records.write_record(sink, {{"type": "header", "stream": 1, "tool": "f", "isa": "f", "threads": 1, "host": {{"file": os.path.basename(path)}}}})
while (record := records.read_record(source)) is not None:
    if record["type"] == "tensor":
        given = record
    if record["type"] == "sample":
        records.write_prediction(sink, record["id"], {{"y": {{k: given[k] for k in ("dtype", "shape", "data")}}}}, 1)
"""
# framework -> the formats that it loads; those that are data to it
LOADS = {"torch": [".pt", ".pt2"], "keras": [".keras", ".h5"], "tensorflow": [".savedmodel", ".pb"], "onnxruntime": [".onnx"],
         "tflite": [".tflite"], "openvino": [".onnx", ".tflite"], "ncnn": [".onnx"]}
DATA = {".onnx", ".tflite"}


def put_payload(path, payload):
    """Code in a place of the file that nothing of ours reads."""
    kind = path.suffix
    if kind == ".savedmodel":
        (path / "assets").mkdir(exist_ok=True)
        (path / "assets" / "payload").write_bytes(payload)
    elif kind in (".pt", ".pt2", ".keras"):
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(archive.namelist()[0].split("/")[0] + "/sample_inputs/payload" if kind != ".keras" else "payload", payload)
    elif kind == ".pb":
        with open(path, "ab") as file:
            file.write(b"\x9a\x06" + bytes([len(payload)]) + payload)  # a field that GraphDef has not
    else:
        with open(path, "ab") as file:
            file.write(payload)


class Trust(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.mark = self.folder / "ran"
        (self.folder / "net.txt").write_text(MODEL)
        (self.folder / "adapters").mkdir()
        for name in LOADS:
            (self.folder / "adapters" / f"run_{name}.py").write_text(STAND_IN.format(adapters=str(ADAPTERS)))
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("DNN_")}
        self.environment.update(DNN_ADAPTERS=str(self.folder / "adapters"), DNN_FRAMEWORKS=str(self.folder), XDG_CACHE_HOME=str(self.folder / "cache"))

    def run_tool(self, tool, *words):
        return subprocess.run([BIN / tool, *map(str, words)], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)

    def infer(self, *words):
        """The exit code, what was said, and the stream's header."""
        done = self.run_tool("dnn-infer", *words)
        shown = subprocess.run([BIN / "dnn-cat"], input=done.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lines = shown.stdout.decode().splitlines()
        return done.returncode, done.stderr.decode(), json.loads(lines[0]) if lines else None

    def model(self, kind, payload):
        path = self.folder / ("net" + kind)
        done = self.run_tool("dnn-convert", "-q", "net.txt", "-o", path.name, "--no-certificate")
        self.assertEqual(done.returncode, 0, f"{kind}: {done.stderr.decode()}")
        if payload:
            put_payload(path, b"<run>" + str(self.mark).encode() + b"</run>")
        return path.name

    def test_a_framework_gets_a_file_that_may_hold_code_only_if_it_is_trusted(self):
        for framework, kinds in LOADS.items():
            for kind in set(kinds) - DATA:
                with self.subTest(f"{framework} {kind}"):
                    model = self.model(kind, payload=True)
                    words = ("--device", f"lib:{framework}", "--fill", "ones", model)
                    code, said, header = self.infer(*words)
                    self.assertEqual(code, 0, said)
                    self.assertFalse(self.mark.exists(), "what the file holds has run")
                    self.assertIn("runs our conversion of it, as the file may hold code; --trust-model", said)
                    self.assertTrue(header["host"]["converted"].startswith("from "))
                    self.assertTrue(header["host"]["file"].startswith("converted"))
                    self.assertNotIn("trusted_model", header["host"])
                    code, said, header = self.infer("--trust-model", *words)
                    self.assertEqual((code, self.mark.exists()), (0, True), f"the payload is none: {said}")
                    self.assertEqual(header["host"]["trusted_model"], "true")
                    self.assertEqual(header["host"]["file"], model)
                    self.assertNotIn("converted", header["host"])
                    self.mark.unlink()

    def test_a_trace_shows_a_conversion_alone(self):
        model = self.model(".pt", payload=True)
        self.infer("--device", "lib:torch", "--fill", "ones", "--trace", model)
        self.assertFalse(self.mark.exists())

    def test_another_tool_that_opens_a_framework_keeps_to_the_same(self):
        model = self.model(".pt", payload=True)
        self.run_tool("dnn-infer", "-q", "--device", "reference", "--fill", "ones", "--sample-tensors", "net.txt", "-o", "x.dnns")
        words = ("--source-device", "lib:torch", model, "x.dnns")
        done = self.run_tool("dnn-bisect", *words)
        self.assertIn("runs our conversion", done.stderr.decode())
        self.assertFalse(self.mark.exists())
        self.run_tool("dnn-bisect", "--trust-model", *words)
        self.assertTrue(self.mark.exists())

    def test_a_format_that_is_data_to_the_framework_is_given_as_it_is(self):
        for framework, kinds in LOADS.items():
            for kind in set(kinds) & DATA:
                with self.subTest(f"{framework} {kind}"):
                    model = self.model(kind, payload=False)
                    code, said, header = self.infer("--device", f"lib:{framework}", "--fill", "ones", model)
                    self.assertEqual((code, header["host"]["file"]), (0, model), said)
                    self.assertNotIn("trusted_model", header["host"])

    def test_trust_is_for_frameworks(self):
        for device in ("cpu", "reference", "exec:cat"):
            code, said, _ = self.infer("--trust-model", "--device", device, "--fill", "ones", "net.txt")
            self.assertEqual(code, 2, said)
            self.assertIn(f"--trust-model is for frameworks, which get a conversion otherwise; {device} is none", said)

    def test_an_input_is_never_run(self):
        """A pattern brings what others named."""
        touch = f"exec:touch {self.mark.name}"
        code, said, _ = self.infer("--device", "reference", "net.txt", touch)
        self.assertEqual((code, self.mark.exists()), (2, False), said)
        self.assertIn("an INPUT is not run", said)
        self.assertIn("--fill", said)
        (self.folder / touch).write_bytes(b"\x93NUMPY\x01\x00\x46\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }".ljust(69) + b"\n" + bytes(12))
        code, said, _ = self.infer("--device", "reference", "net.txt", touch)
        self.assertEqual((code, self.mark.exists()), (0, False), said)
        code, said, _ = self.infer("--device", "reference", "net.txt", "--fill", touch)
        self.assertTrue(self.mark.exists(), "the payload is none")
        for tool, words in (("dnn-localize", ("net.txt", "net.txt", "exec:touch ran2")),
                            ("dnn-convert", ("net.txt", "-o", "o.onnx", "--probe", "exec:touch ran2"))):
            done = self.run_tool(tool, *words)
            self.assertEqual((done.returncode, (self.folder / "ran2").exists()), (2, False), done.stderr.decode())

    def test_a_file_is_no_option(self):
        for name in ("--fill=exec:touch ran", "--trust-model", "-v"):
            with self.subTest(name):
                (self.folder / name).write_text("")
                code, said, _ = self.infer("--device", "reference", "net.txt", name)
                self.assertEqual((code, self.mark.exists()), (2, False), said)
                self.assertIn("is an option, and the name of a file here: write ./", said)
                (self.folder / name).unlink()


if __name__ == "__main__":
    unittest.main()
