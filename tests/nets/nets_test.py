#!/usr/bin/env python3
"""Tests of scripts/make-nets: a net meets its bounds, comes out the same twice, and is kept once it is there."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's torch


def make_nets(*words):
    done = subprocess.run([PYTHON, "scripts/make-nets", "--images", "", *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout, done.stderr


class Nets(unittest.TestCase):
    def test_bounds_repetition_and_resuming(self):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for run in ("a", "b"):
                status, table, errors = make_nets("-o", f"{folder}/{run}", "shufflenet_v2_x1_0")
                self.assertEqual(status, 0, table + errors)
                with open(f"{folder}/{run}/shufflenet_v2_x1_0.onnx", "rb") as f:
                    files.append(f.read())
            self.assertEqual(files[0], files[1])
            self.assertIn(b"BatchNormalization", files[0])
            with open(f"{folder}/a/shufflenet_v2_x1_0.json") as f:
                found = json.load(f)
            self.assertGreaterEqual(found["labels"], 20)
            self.assertGreaterEqual(found["variation"], 0.1)
            self.assertLessEqual(found["rounding"], 1e-4)
            when = os.stat(f"{folder}/a/shufflenet_v2_x1_0.onnx").st_mtime_ns
            self.assertEqual(make_nets("-o", f"{folder}/a", "shufflenet_v2_x1_0")[0], 0)
            self.assertEqual(os.stat(f"{folder}/a/shufflenet_v2_x1_0.onnx").st_mtime_ns, when)

    def test_a_network_of_text(self):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for run in ("a", "b"):
                status, table, errors = make_nets("-o", f"{folder}/{run}", "bert_small")
                self.assertEqual(status, 0, table + errors)
                with open(f"{folder}/{run}/bert_small.onnx", "rb") as f:
                    files.append(f.read())
            self.assertEqual(files[0], files[1])
            for name in (b"input_ids", b"attention_mask", b"token_type_ids", b"last_hidden_state", b"pooler_output"):
                self.assertIn(name, files[0])
            with open(f"{folder}/a/bert_small.json") as f:
                found = json.load(f)
            self.assertEqual(found["params"], 28763648)  # as published: 28.8 million
            self.assertGreaterEqual(found["labels"], 20)

    def test_pairs_of_sentences(self):
        program = """if True:
            from importlib.machinery import SourceFileLoader
            nets = SourceFileLoader("make_nets", "scripts/make-nets").load_module()
            inputs = nets.sentences(128, 50)
            ids, mask, types = (inputs[name] for name in nets.TEXT_INPUTS)
            assert ids.shape == (50, 128) and ids.dtype.name == "int64"
            assert ((ids >= 0) & (ids < nets.VOCABULARY)).all()
            assert (ids[:, 0] == nets.CLS).all() and ((ids == nets.SEP).sum(1) == 2).all()
            assert ((ids != 0) == (mask == 1)).all()
            assert (types <= mask).all() and (types.sum(1) > 0).all()
            assert (nets.sentences(128, 2)["input_ids"] == ids[:2]).all()
        """
        done = subprocess.run([PYTHON, "-c", program], text=True, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_another_python_gets_the_same_samples(self):
        program = """if True:
            import os, sys, tempfile, numpy as np
            from importlib.machinery import SourceFileLoader
            nets = SourceFileLoader("make_nets", "scripts/make-nets").load_module()
            samples = [[np.full((1, 3, 2, 2), i, np.float32), np.full((1, 4), -i, np.int64)] for i in range(5)]
            with tempfile.TemporaryDirectory() as folder:
                other = os.path.join(folder, "python")
                with open(other, "w") as file:
                    file.write(f'''#!{sys.executable}
import sys, numpy as np
words = sys.argv[2:]
option = dict(zip(words[::2], words[1::2]))
x = np.load(option["--inputs"])
assert option["--run"] == "net.onnx" and "--images" not in option
np.save(option["-o"], x[x.files[0]].sum((1, 2, 3)) + 100 * x[x.files[1]][:, 3])
''')
                os.chmod(other, 0o755)
                assert nets.run_elsewhere(other, "net.onnx", samples).tolist() == [-88.0 * i for i in range(5)]
        """
        done = subprocess.run([PYTHON, "-c", program], text=True, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_zoo_has_each_kind_of_file(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([PYTHON, "scripts/make-zoo", "torch", "--images", "", "-o", folder, "small"], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertNotIn("left out", done.stdout)
            self.assertEqual(sorted(os.listdir(f"{folder}/small")),
                             ["frozen.pt", "inputs.npz", "model.onnx", "outputs.npz", "scripted.pt", "traced.pt", "weights.pth"])
            self.assertRegex(done.stdout, r"[2-8] labels on 8 photos")

    def test_unknown_nets_are_refused(self):
        status, _, errors = make_nets("-o", "/nonexistent", "lenet")
        self.assertEqual(status, 2)
        self.assertIn("unknown net 'lenet'", errors)

    def test_samples_are_for_run_alone(self):
        status, _, errors = make_nets("-o", "/nonexistent", "--inputs", "x.npz", "resnet18")
        self.assertEqual(status, 2)
        self.assertIn("--inputs is for --run", errors)


if __name__ == "__main__":
    if subprocess.run([PYTHON, "-c", "import torch, torchvision, numpy, PIL"], stderr=subprocess.DEVNULL).returncode:
        print(f"SKIP: {PYTHON} has no torch and torchvision (packages python3-torch, python3-torchvision)")
        sys.exit(77)
    unittest.main()
