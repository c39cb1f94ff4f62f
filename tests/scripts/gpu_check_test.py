"""scripts/gpu-check packs what it needs, judges it on a CUDA device (here the stand-in of tests/cuda), and tells a wrong result."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["DNN_BIN"]).parent
SAMPLE = ROOT / "tests/sample"
STAND_IN = {"DNN_CUDA": str(BUILD / "tests/cuda/libfake_cuda.so"), "DNN_NVRTC": str(BUILD / "tests/cuda/libfake_nvrtc.so")}


class GpuCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, script, *arguments, **variables):
        return subprocess.run([script, *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=self.folder,
                              env={**os.environ, "DNN_FAKE_CUDA_FOLDER": str(self.folder), "TMPDIR": str(self.folder), **variables})

    def packed(self):
        images = sorted((SAMPLE / "images").rglob("*.png"))[:3]
        done = self.call(ROOT / "scripts/gpu-check", "--pack", "check.tar.gz", "--build", BUILD, "--cases", "none", "--precisions", "float32,int8",
                         "--calibrate", SAMPLE / "images", f"{SAMPLE}/shapes.onnx,--preprocess=imagenet-torch", "--", *images)
        self.assertEqual(done.returncode, 0, done.stderr)
        subprocess.run(["tar", "-xf", "check.tar.gz"], cwd=self.folder, check=True)
        return self.folder / "gpu-check/gpu-check"

    def test_judges_a_device(self):
        script = self.packed()
        done = self.call(script, "-o", "result.json", "--only", "labels", **STAND_IN)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        result = json.loads((self.folder / "result.json").read_text())
        self.assertEqual([(row["precision"], row["level"], row["labels_differ"]) for row in result["labels"]],
                         [(precision, level, 0) for precision in ("float32", "int8") for level in (0, 3, 4)])
        self.assertTrue(all(row["output_max_rel"] == 0 for row in result["labels"] if row["precision"] == "int8"))

        # Another network's outputs are told.
        expected = self.folder / "gpu-check/expected"
        (expected / "shapes-float32-O3").write_bytes((expected / "shapes-int8-O0").read_bytes())
        done = self.call(script, "-o", "result.json", "--only", "labels", **STAND_IN)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("4 of 6 checks hold: not shapes float32 -O3, shapes float32 -O4", done.stdout)

        for wrong, text in (["--only", "zzz"], "--only zzz: choose from tests"), (["--peers", "x"], "--peers x: choose from"), (["--zzz"], "unexpected argument '--zzz'"):
            done = self.call(script, *wrong, **STAND_IN)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(text, done.stderr)

        done = self.call(script, DNN_CUDA="/nowhere/libcuda.so")
        self.assertEqual((done.returncode, done.stdout[:31]), (77, "SKIP gpu-check: no CUDA device "))

    def test_refuses_what_it_cannot_pack(self):
        done = self.call(ROOT / "scripts/gpu-check", "--pack", "x.tar.gz", "--precisions", "float32", "m.onnx", "--", "a.png")
        self.assertEqual((done.returncode, done.stderr), (5, "gpu-check: error: m.onnx: no such file\n"))
        for arguments, text in ([["--pack", "x.tar.gz"], "give MODEL"], [["--pack", "x.tar.gz", "m.onnx", "--", "a.png"], "int8 wants --calibrate"],
                                [[], "give --pack FILE.tar.gz"]):
            done = self.call(ROOT / "scripts/gpu-check", *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
