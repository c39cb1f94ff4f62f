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


if __name__ == "__main__":
    if subprocess.run([PYTHON, "-c", "import torch, torchvision, numpy, PIL"], stderr=subprocess.DEVNULL).returncode:
        print(f"SKIP: {PYTHON} has no torch and torchvision (packages python3-torch, python3-torchvision)")
        sys.exit(77)
    unittest.main()
