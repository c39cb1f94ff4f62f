#!/usr/bin/env python3
"""Reading is held to what a file is worth: memory, time, keys of JSON and of YAML, levels of nesting; one line and a documented exit code."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

BIN = pathlib.Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else pathlib.Path("build/release/bin").resolve()
MODEL = 'graph "g" {\n opset 17\n input x: float32[1,3]\n y: float32[1,3] = Add(x, x) @sum\n output y\n}\n'
MIB = 1 << 20


class Limits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("DNN_")}
        self.environment.update(XDG_CACHE_HOME=str(self.folder / "cache"), XDG_CONFIG_HOME=str(self.folder / "config"))
        self.sanitized = b"__asan_init" in (BIN / "dnn-cat").read_bytes()
        self.write("net.txt", MODEL)

    def write(self, name, text):
        (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    def run_tool(self, *words, input=None):
        """Exit code, messages, seconds."""
        begin = time.monotonic()
        done = subprocess.run([BIN / words[0], *words[1:]], cwd=self.folder, env=self.environment, input=input, stdin=None if input else subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300)
        return done.returncode, done.stderr.decode(), time.monotonic() - begin

    def archive_that_expands(self):
        """A TorchScript of 64 MiB of weights that are all alike, in some 100 kB."""
        self.write("large.txt", 'graph "g" {\n opset 17\n input x: float32[1,4096]\n const w: float32[4096,4096] = {1, ...}\n'
                                " y: float32[1,4096] = MatMul(x, w) @m\n output y\n}\n")
        self.assertEqual(self.run_tool("dnn-convert", "-q", "--no-certificate", "large.txt", "-o", "large.pt")[0], 0)
        with zipfile.ZipFile(self.folder / "large.pt") as whole, zipfile.ZipFile(self.folder / "small.pt", "w", zipfile.ZIP_DEFLATED) as packed:
            for entry in whole.infolist():
                packed.writestr(entry.filename, whole.read(entry))
        self.assertLess((self.folder / "small.pt").stat().st_size, MIB)
        return "small.pt"

    def test_memory(self):
        model = self.archive_that_expands()
        self.assertEqual(self.run_tool("dnn-cat", model)[0], 0)
        if self.sanitized:
            self.skipTest("a sanitizer's own memory counts, too")
        code, said, _ = self.run_tool("dnn-cat", "--max-memory", str(16 * MIB), model)
        self.assertEqual((code, said), (4, "dnn-cat: error: small.pt: to read it takes more than 17 MB of memory; --max-memory BYTES allows more\n"))

    def test_probes_of_a_certificate(self):
        """A file of a few bytes describes gigabytes: it is converted, without the certificate that nobody asked the memory for."""
        self.write("wide.txt", 'graph "g" {\n opset 17\n input x: float32[1,1,8,8]\n const w: float32[4,1,1,1] = {1, 2, 3, 4}\n'
                               " c = Conv(x, w) @c {pads = [0, 33554432, 0, 0]}\n y = GlobalMaxPool(c) @y\n output y\n}\n")
        if self.sanitized:
            self.skipTest("a sanitizer's own memory counts, too")
        code, said, _ = self.run_tool("dnn-convert", "wide.txt", "-o", "wide.onnx")
        self.assertEqual(code, 0, said)
        self.assertIn("no certificate: ", said)
        self.assertIn("it takes more than 269 MB of memory; --max-memory BYTES allows more", said)

    def test_time(self):
        lines = "".join(f" v{i}: float32[1,3] = Add(x, x) @n{i}\n" for i in range(100_000))
        self.write("long.txt", f'graph "g" {{\n opset 17\n input x: float32[1,3]\n{lines} output v0\n}}\n')
        code, said, _ = self.run_tool("dnn-cat", "--max-memory", "0,0.02", "long.txt")
        self.assertEqual((code, said), (4, "dnn-cat: error: long.txt: to read it takes more than 0 s of processor time; --max-memory BYTES,SECONDS allows more\n"))

    def test_what_is_given_is_a_number(self):
        for text, what in (("x", "'x' is no number of bytes"), ("-1", "'-1' is no number of bytes"), ("1,", "'' is no number of seconds"),
                           ("1,0", "'0' is no number of seconds"), ("1,nan", "'nan' is no number of seconds")):
            code, said, _ = self.run_tool("dnn-cat", "--max-memory", text, "net.txt")
            self.assertEqual((code, what in said), (2, True), said)

    def test_an_image_is_held_to_its_file(self):
        self.write("images.txt", MODEL.replace("[1,3]", "[1,3,8,8]"))
        self.write("large.ppm", b"P6\n12000 9000\n255\n")
        code, said, _ = self.run_tool("dnn-infer", "--device", "reference", "--preprocess", "none", "images.txt", "large.ppm", "-o", "x.dnns")
        self.assertNotEqual(code, 0)
        self.assertIn("12000x9000 pixels; the limit is 89478509 pixels for a file of that size (--max-memory)", said)

    def test_a_million_keys(self):
        """Each key was compared with all before it: minutes."""
        keys = ",".join(f'"k{i}":{i}' for i in range(400_000))
        header = {"type": "header", "stream": 1, "tool": "t", "isa": "i"}
        line = json.dumps(header)[:-1] + "," + keys + "}\n"
        self.assertEqual(self.run_tool("dnn-cat", "--from-json", "-", input=line.encode())[:2], (0, ""))
        self.write("many.json", '{"edits":[],' + keys + "}")
        self.write("many.state", "{" + keys + "}")
        self.write("many.yaml", "".join(f"k{i}:\n" for i in range(120_000)))
        for words in (("dnn-repair", "-q", "-o", "o.onnx", "--apply", "many.json", "net.txt", "net.txt"),
                      ("dnn-quantize", "-q", "net.txt", "--state", "many.state", "-o", "o.onnx"), ("dnn-branch", "--flops", "many.yaml")):
            code, said, seconds = self.run_tool(*words)
            self.assertIn(code, (0, 1, 2, 3, 4), said)
            self.assertLess(seconds, 60, words)

    def test_deep_nesting(self):
        deep = "[" * 2_000_000 + "]" * 2_000_000
        header = '{"type":"header","stream":1,"tool":"t","isa":"i","preprocess":' + deep + "}\n"
        code, said, _ = self.run_tool("dnn-cat", "--from-json", "-", input=header.encode())
        self.assertEqual(code, 3, said)
        for name, words in (("deep.json", ("dnn-repair", "-q", "-o", "o.onnx", "--apply", "deep.json", "net.txt", "net.txt")),
                            ("deep.state", ("dnn-quantize", "-q", "net.txt", "--state", "deep.state", "-o", "o.onnx")),
                            ("deep.json", ("dnn-eval", "--against", "deep.json")), ("deep.json", ("dnn-report", "deep.json"))):
            self.write(name, '{"edits":' + deep + "}")
            code, said, _ = self.run_tool(*words)
            self.assertIn(code, (2, 3, 4), said[:400])


if __name__ == "__main__":
    unittest.main()
