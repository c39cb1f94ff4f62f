"""scripts/check-bits: a build agrees with itself; one that compiles or computes something else is found, and the case named."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("DNN_BIN", ROOT / "build/release/bin"))
MODEL = str(ROOT / "tests/sample/shapes.onnx")


def check(new, *arguments):
    done = subprocess.run([sys.executable, ROOT / "scripts/check-bits", BIN, new, *arguments, MODEL], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@unittest.skipUnless((BIN / "dnn-infer").exists(), "no tools built")
class CheckBits(unittest.TestCase):
    def other_build(self, folder, tool, extra):
        """The tools under another name, of which `tool` does as if `extra` had been asked for."""
        for path in BIN.glob("dnn-*"):
            pathlib.Path(folder, path.name).symlink_to(path)
        wrapper = pathlib.Path(folder, tool)
        wrapper.unlink()
        wrapper.write_text(f'#!/bin/sh\nexec {BIN}/{tool} "$@" {extra}\n')
        wrapper.chmod(0o755)

    def test_a_build_agrees_with_itself(self):
        self.assertEqual(check(BIN, "--levels", "0", "--machines", "cpu,cuda,opencl"), (0, "3 cases, 0 differ, 0 that both builds refuse alike\n", ""))

    def test_another_package_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            self.other_build(folder, "dnn-compile", "--pass +fuse-ops")
            code, out, _ = check(folder, "--levels", "0", "--machines", "cuda")
        self.assertEqual(code, 1)
        self.assertRegex(out, r"DIFFER shapes.onnx -O0 cuda: package, .*\n1 cases, 1 differ")

    def test_other_outputs_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            self.other_build(folder, "dnn-infer", "--seed 7")
            code, out, _ = check(folder, "--levels", "0", "--machines", "reference", "--run")
        self.assertEqual(code, 1)
        self.assertIn("DIFFER shapes.onnx -O0 run reference: sample 0\n", out)

    def test_usage(self):
        self.assertEqual(check(BIN, "--machines", "z80")[0], 2)
        self.assertEqual(check("/nowhere")[0], 2)


if __name__ == "__main__":
    unittest.main()
