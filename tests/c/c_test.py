"""dnn.h: the C and the ctypes example against dnn-infer, and what a caller can do wrong. c_test.py RUN LIBRARY BIN [SANITIZERS]"""
import ctypes
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "docs/howto/programs"))
import run as example

RUN, LIBRARY, BIN = sys.argv[1:4]
SANITIZED = len(sys.argv) > 4
MODEL = ROOT / "tests/sample/shapes.onnx"
USAGE, MALFORMED, UNSUPPORTED, ENVIRONMENT = 2, 3, 4, 5


def float32(number):
    return struct.unpack("<f", struct.pack("<f", float(number)))[0]


def best_of_infer():
    """The class that dnn-infer ranks first on an input of ones, and its score."""
    run = subprocess.run([f"{BIN}/dnn-infer", "--fill", "ones", "-n", "1", "--threads", "1", "-q", MODEL], capture_output=True, check=True)
    shown = subprocess.run([f"{BIN}/dnn-cat"], input=run.stdout, capture_output=True, check=True).stdout
    best = next(record for record in map(json.loads, shown.splitlines()) if record["type"] == "prediction")["top_k"][0]
    return best["class"], float32(best["score"])


def best_of(text):
    found = re.fullmatch(r"\S+:(?: \d+)+\nlargest: element (\d+), (\S+)\n", text)
    assert found, text
    return int(found[1]), float32(found[2])


class FromC(unittest.TestCase):
    def test_bits_of_dnn_infer(self):
        done = subprocess.run([RUN, MODEL], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(best_of(done.stdout), best_of_infer())

    def test_missing_file(self):
        done = subprocess.run([RUN, "none.onnx"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (ENVIRONMENT, ""))
        self.assertRegex(done.stderr, r"^run: error: .*none\.onnx.*\n$")


@unittest.skipIf(SANITIZED, "Python cannot load a library that is built with sanitizers")
class FromPython(unittest.TestCase):
    def setUp(self):
        self.network = example.Network(MODEL, "threads=1", library=LIBRARY)
        self.c = self.network.c

    def load(self, file, *options):
        """The status and message of loading, which must leave no network when it fails."""
        handle = ctypes.c_void_p(1)
        texts = (ctypes.c_char_p * (len(options) + 1))(*[option.encode() for option in options], None)
        status = self.c.dnn_load(str(file).encode(), texts, ctypes.byref(handle))
        message = self.c.dnn_error().decode()
        if status == 0:
            self.c.dnn_free(handle)
        else:
            self.assertIsNone(handle.value)
            self.assertEqual(message.splitlines(), [message])
        return status, message

    def run_with(self, inputs, outputs):
        groups = [(example.Buffer * len(sizes))(*[example.Buffer(ctypes.cast(ctypes.create_string_buffer(max(s, 1)), ctypes.c_void_p), s) for s in sizes])
                  for sizes in (inputs, outputs)]
        status = self.c.dnn_run(self.network.handle, groups[0], len(inputs), groups[1], len(outputs))
        return status, self.c.dnn_error().decode()

    def test_example(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "docs/howto/programs/run.py", MODEL, LIBRARY], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(best_of(done.stdout), best_of_infer())

    def test_library_shows_its_own_functions_alone(self):
        header = (ROOT / "lib/c/dnn.h").read_text()
        declared = set(re.findall(r"^DNN_API .*?(dnn_\w+)\(", header, re.MULTILINE))
        shown = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertEqual({line.split()[-1] for line in shown.splitlines()}, declared)

    def test_version(self):
        self.c.dnn_version.restype = ctypes.c_char_p
        self.assertIn(self.c.dnn_version().decode(), subprocess.run([f"{BIN}/dnn-cat", "--version"], capture_output=True, text=True).stdout)

    def test_levels_and_devices(self):
        ones = [1.0] * (self.network.inputs[0][1][2] * self.network.inputs[0][1][3] * self.network.inputs[0][1][1])
        want = self.network.run(ones)[0]
        plain, reference = (example.Network(MODEL, *options, library=LIBRARY).run(ones)[0] for options in (["opt=0"], ["device=reference"]))
        self.assertEqual(plain, reference)  # -O0 has the interpreter's bits
        self.assertEqual(len(plain), len(want))
        self.assertTrue(all(abs(a - b) < 1e-4 for a, b in zip(plain, want)))

    def test_no_such_tensor(self):
        for tensor_of in (self.c.dnn_input, self.c.dnn_output):
            self.assertFalse(tensor_of(self.network.handle, 1))
            self.assertFalse(tensor_of(None, 0))

    def test_options_that_are_none(self):
        for options, words in [(["threads"], "name=value"), (["threads=0"], "threads"), (["threads=two"], "threads"), (["colour=red"], "colour"),
                               (["trust=1"], "yes or no"), (["opt=7"], "choose from 0 to 4"), (["device=toaster"], "toaster"),
                               (["device=lib:onnxruntime"], "dnn-infer"), (["batch=0"], "batch")]:
            with self.subTest(options=options):
                status, message = self.load(MODEL, *options)
                self.assertEqual(status, USAGE)
                self.assertIn(words, message)

    def test_files_that_are_none(self):
        with tempfile.TemporaryDirectory() as folder:
            damaged = pathlib.Path(folder, "damaged\n.onnx")
            damaged.write_bytes(MODEL.read_bytes()[:-100])
            self.assertEqual(self.load(damaged)[0], MALFORMED)
            self.assertEqual(self.load(pathlib.Path(folder, "none.onnx"))[0], ENVIRONMENT)
        self.assertEqual(self.c.dnn_load(None, None, ctypes.byref(ctypes.c_void_p())), USAGE)
        self.assertEqual(self.c.dnn_load(b"x.onnx", None, None), USAGE)

    def test_buffers_that_do_not_fit(self):
        (_, shape), = self.network.inputs
        (_, result), = self.network.outputs
        size, out = 4 * shape[0] * shape[1] * shape[2] * shape[3], 4 * result[0] * result[1]
        self.assertEqual(self.run_with([size], [out])[0], 0)
        for inputs, outputs, words in [([size - 4], [out], str(size)), ([size + 4], [out], str(size)), ([size], [out - 1], str(out)), ([], [out], "1 input"),
                                       ([size], [], "1 output"), ([size, size], [out], "2 are given")]:
            with self.subTest(inputs=inputs, outputs=outputs):
                status, message = self.run_with(inputs, outputs)
                self.assertEqual(status, USAGE)
                self.assertIn(words, message)
        nothing = (example.Buffer * 1)(example.Buffer(None, size))
        self.assertEqual(self.c.dnn_run(self.network.handle, nothing, 1, nothing, 1), USAGE)
        self.assertEqual(self.c.dnn_run(None, None, 0, None, 0), USAGE)
        self.c.dnn_free(None)

    def test_a_package_of_another_user(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "shapes.dnnpkg")
            environment = {"XDG_CONFIG_HOME": folder, "XDG_CACHE_HOME": folder, "PATH": "/usr/bin:/bin"}
            subprocess.run([f"{BIN}/dnn-compile", "-q", MODEL, "-o", package], env=environment, check=True)
            self.assertEqual(self.load(package)[0], ENVIRONMENT)  # not signed by this user, and no model beside it
            self.assertEqual(self.load(package, "trust=yes")[0], 0)

    def test_a_package_brings_its_devices(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "reference.dnnpkg")
            subprocess.run([f"{BIN}/dnn-compile", "-q", "--device", "reference", MODEL, "-o", package], check=True)
            self.assertEqual(self.load(package)[0], 0)
            placed = pathlib.Path(folder, "placed.dnnpkg")
            rules = pathlib.Path(folder, "rules.txt")
            rules.write_text("C *\n")
            subprocess.run([f"{BIN}/dnn-compile", "-q", "--place", rules, "--devices", "C=cpu", MODEL, "-o", placed], check=True)
            self.assertEqual(self.load(placed)[0], 0)
            for option in ("threads=1", "device=cpu"):
                status, message = self.load(placed, option)
                self.assertEqual(status, USAGE)
                self.assertIn("is placed on C=cpu", message)

    def test_errors_are_each_threads_own(self):
        self.load(MODEL, "colour=red")
        other = []
        thread = threading.Thread(target=lambda: other.append(self.load(MODEL, "taste=sweet")[1]))
        thread.start()
        thread.join()
        self.assertIn("taste", other[0])
        self.assertIn("colour", self.c.dnn_error().decode())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
