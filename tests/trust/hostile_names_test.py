#!/usr/bin/env python3
"""Names out of files on their way to a terminal or a log: none steers it, none begins a line, whatever holds the name and shows it.

A hostile name stands in each place of a model of each format, of a stream, of a label file and of a file's own name; every tool
shows it in every form of text that it has, messages included.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unicodedata
import unittest

BIN = pathlib.Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else pathlib.Path("build/release/bin").resolve()
# A new line that is a command to GitHub, a carriage return, a cleared screen, a bell, a C1 control, DEL, and writing from right to left.
# And characters that nobody sees: a tag, a soft hyphen, a filler.
HOSTILE = "\n::error::x\r\x1b[2J\x07\u009b31m\x7f\u202e\u2066\U000e0041\u00ad\u3164"
KINDS = (".onnx", ".tflite", ".keras", ".h5", ".pt", ".pt2", ".savedmodel", ".pb", ".pth", ".safetensors", ".txt")
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u00ad\u3164\U000e0000-\U000e0fff]")


def quoted(text):
    return '"' + "".join(c if " " <= c <= "~" and c not in '"\\' else "".join(f"\\x{b:02x}" for b in c.encode("utf-8", "surrogateescape"))
                         for c in text) + '"'


def graph_text(place):
    """A network whose name of that kind is hostile ("all": each is)."""
    def name(kind, plain):
        return quoted(plain + HOSTILE) if place in (kind, "all") else quoted(plain)
    return (f"graph {name('graph', 'g')} {{\n opset 17\n metadata {name('key', 'k')} {name('metadata', 'm')}\n"
            f" input {name('input', 'x')}: float32[1,4]\n"
            f" const {name('constant', 'w')}: float32[4,3] = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}\n"
            f" {name('value', 'h')}: float32[1,3] = MatMul({name('input', 'x')}, {name('constant', 'w')}) @{name('node', 'a')}\n"
            f" {name('output', 'y')}: float32[1,3] = Relu({name('value', 'h')}) @{name('node', 'b')}\n output {name('output', 'y')}\n}}\n")


def onnx_of(op):
    """An ONNX file of one node, byte by byte: what the text form cannot name."""
    def field(number, data):
        return bytes([number << 3 | 2, len(data) & 0x7F | 0x80, len(data) >> 7]) + data
    node = field(1, b"x") + field(2, b"y") + field(3, (op + "n").encode()) + field(4, op.encode()) + field(7, op.encode())
    value = lambda n: field(1, n) + field(2, field(1, b"\x08\x01"))  # noqa: E731  float32
    graph = field(1, node) + field(2, op.encode()) + field(11, value(b"x")) + field(12, value(b"y"))
    return b"\x08\x08" + field(7, graph) + field(8, field(1, b"") + b"\x10\x11")


class HostileNames(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.shown = 0
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("DNN_")}
        self.environment["XDG_CACHE_HOME"] = str(self.folder / "cache")

    def show(self, tool, *words, input=None):
        """Runs it; whatever it says is visible, on lines of our own."""
        words = [os.fsencode(w) for w in words]
        done = subprocess.run([BIN / tool, *words], cwd=self.folder, env=self.environment, input=input, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)
        self.assertIn(done.returncode, (0, 1, 2, 3, 4, 5), f"{tool} {words}: {done.stderr}")
        for what, data in (("standard output", done.stdout), ("standard error", done.stderr)):
            with self.subTest(f"{tool} {b' '.join(words)!r}: {what}"):
                text = data.decode("utf-8")  # or it is not UTF-8
                self.assertIsNone(UNSEEN.search(text), repr(text[:2000]))
                for line in text.splitlines():
                    self.assertNotRegex(line, r"^\s*(::[a-z]|##\[)", repr(text[:2000]))
                self.shown += "[2J" in text
        return done

    def write(self, name, text):
        (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
        return name

    def show_model(self, model):
        """Each way in which a tool shows a model."""
        self.show("dnn-cat", model)
        self.show("dnn-cat", "--types", "--weights", model)
        self.show("dnn-cat", "--diff", model, "plain.txt")
        self.show("dnn-infer", "-v", "--device", "reference", "--fill", "ones", "-o", "run.dnns", model)
        self.show("dnn-infer", "--device", "reference", "--fill", "ones", "-o", "run.dnns", "--output", "none", model)
        self.show("dnn-infer", "--device", "reference", "-o", "run.dnns", model, "none=x.npy")
        self.show("dnn-localize", model, "plain.txt", "samples.npy")
        self.show("dnn-localize", "--csv=-", model, model, "samples.npy")
        self.show("dnn-convert", model, "-o", "out.onnx", "--rename", "none=other")

    def test_names_of_models(self):
        self.write("plain.txt", graph_text("none"))
        self.write("samples.npy", b"\x93NUMPY\x01\x00\x46\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4), }".ljust(69) + b"\n" + bytes(16))
        for place in ("graph", "key", "metadata", "input", "constant", "value", "node", "output", "all"):
            self.write("model.txt", graph_text(place))
            for kind in KINDS if place == "all" else (".onnx", ".txt"):
                done = self.show("dnn-convert", "model.txt", "-o", "m" + kind, "--no-certificate")
                if done.returncode == 0 and place != "all":
                    self.show_model("m" + kind)
                elif done.returncode == 0:
                    self.show("dnn-cat", "m" + kind)
                    self.show("dnn-convert", "m" + kind, "-o", "again.onnx")
        self.assertGreater(self.shown, 40, "the names are not shown at all")

    def test_how_a_model_is_compiled(self):
        self.write("model.txt", graph_text("all"))
        self.show("dnn-compile", "-O0", "--device", "reference", "-v", "--explain", "model.txt", "-o", "m.dnnpkg")
        for words in (("m.dnnpkg",), ("--text", "m.dnnpkg")):
            self.show("dnn-cat", *words)
        self.show("dnn-infer", "--device", "cpu", "-q", "--fill", "ones", "--profile", "-o", "run.dnns", "model.txt")
        self.assertGreater(self.shown, 1)

    def test_what_is_not_supported_is_named(self):
        self.write("odd.onnx", onnx_of(HOSTILE))
        self.show("dnn-cat", "odd.onnx")
        self.show("dnn-convert", "odd.onnx", "-o", "out.onnx")
        self.assertGreater(self.shown, 0)

    def test_names_of_files(self):
        for name in ("\n::error::x\r\x1b[2J.onnx", "\udcff\udcfe\x1b[2J.txt", HOSTILE + ".dnns"):
            for tool in ("dnn-cat", "dnn-eval", "dnn-report"):
                self.show(tool, name)
            self.show("dnn-infer", "--fill", "ones", "-o", "run.dnns", name)
            self.show("dnn-convert", name, "-o", "out.onnx")
            self.show("dnn-compile", name, "-o", "out.dnnpkg")
            self.show("dnn-localize", name, name)
            self.write(name, "nothing of ours")
            for tool in ("dnn-cat", "dnn-eval", "dnn-report"):
                self.show(tool, name)
            self.show("dnn-infer", "--fill", "ones", "-o", "run.dnns", name)
            self.show("dnn-localize", name, name)
            self.show("dnn-infer", "--unknown" + name)
        self.assertGreater(self.shown, 30)

    def test_labels_and_samples(self):
        self.write("model.txt", graph_text("none"))
        self.write("labels.txt", f"cat{HOSTILE.replace(chr(10), '')}\ndog\ncow\n")
        self.write("list.txt", f"no{HOSTILE[11:]}.png dog\n")
        self.show("dnn-infer", "--device", "reference", "--labels", "labels.txt", "--fill", "ones", "-o", "run.dnns", "model.txt")
        for words in (("run.dnns",), ("--text", "run.dnns")):
            self.show("dnn-cat", *words)
        self.show("dnn-eval", "run.dnns", "run.dnns")
        self.show("dnn-infer", "--device", "reference", "--labels", "labels.txt", "--preprocess", "none", "-o", "run.dnns", "model.txt", "list.txt")
        self.assertGreater(self.shown, 1)

    def test_every_text_of_a_stream(self):
        """A hostile text in each place of a header, a sample, a prediction and a tensor, in each tool that reads streams."""
        head = {"type": "header", "stream": 1, "tool": "t", "command": ["c"], "model": {"path": "m", "sha256": "s", "format": "f"}, "device": "d",
                "isa": "i", "dtype": "float32", "label_set": "l", "passes": "p", "shard": "", "affinity": "a", "latency_contains": "w",
                "preprocess": {"name": "n"}, "host": {"k": "v"}}
        places = [("tool",), ("command", 0), ("model", "path"), ("model", "sha256"), ("model", "format"), ("device",), ("isa",), ("dtype",),
                  ("label_set",), ("passes",), ("affinity",), ("latency_contains",), ("preprocess", "name"), ("host", "k"), "host key",
                  "sample", "label", "output", "tensor", "node"]
        for place in places:
            runs = []
            for best in range(2):
                header = json.loads(json.dumps(head))
                if isinstance(place, tuple):
                    at = header
                    for key in place[:-1]:
                        at = at[key]
                    at[place[-1]] = "z" + HOSTILE
                elif place == "host key":
                    header["host"]["z" + HOSTILE] = "v"
                word = lambda kind: "z" + HOSTILE if place == kind else "z"  # noqa: E731
                tensor = {"dtype": "float32", "shape": [1], "data": "AACAPw=="}
                runs += [header, {"type": "sample", "id": 0, "path": word("sample"), "truth": 0},
                         {"type": "prediction", "sample": 0, "latency_ns": 5, "outputs": {word("output"): tensor},
                          "top_k": [{"class": best, "score": 2, "label": word("label")}, {"class": 1 - best, "score": 1, "label": "b"}]},
                         {"type": "tensor", "name": word("tensor"), "node": word("node"), "sample": 0, "role": "activation", **tensor}, {"type": "end"}]
            packed = self.packed_of(runs)
            self.write("run.dnns", packed)
            for words in (("run.dnns",), ("--text", "run.dnns")):
                self.show("dnn-cat", *words)
            for words in ((), ("--disagreements",), ("--confusion",), ("--json",), ("--markdown=-",), ("--junit=-",), ("--sarif=-",),
                          ("--by", "model,device,host.k"), ("--require", "top1_accuracy >= 101", "--atol", "0")):
                self.show("dnn-eval", *words, "run.dnns")
            for form in ("html", "md", "rst"):
                self.show("dnn-report", "--format", form, "run.dnns")
            self.show("dnn-localize", "run.dnns", "run.dnns")
            self.show("dnn-localize", "--csv=-", "run.dnns", "run.dnns")
        self.assertGreater(self.shown, 100)

    def packed_of(self, records):
        done = subprocess.run([BIN / "dnn-cat", "--from-json"], input="\n".join(map(json.dumps, records)).encode(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Unseen(unittest.TestCase):
    def test_the_hostile_name_is_hostile(self):
        self.assertEqual(len(UNSEEN.findall(HOSTILE)), 10)
        self.assertEqual({unicodedata.category(c) for c in UNSEEN.findall(HOSTILE)}, {"Cc", "Cf", "Lo"})


if __name__ == "__main__":
    unittest.main()
