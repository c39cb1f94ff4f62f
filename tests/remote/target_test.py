#!/usr/bin/env python3
"""dnn-serve-target: one static file that runs packages in an empty folder as its root, and on an emulated aarch64, to the bits of this
machine's tools."""
import array
import base64
import os
import pathlib
import shutil
import struct
import subprocess
import unittest

from remote_case import ROOT, SAMPLE, RemoteCase

DATA = pathlib.Path(os.environ["DNN_TEST_DATA"]) if "DNN_TEST_DATA" in os.environ else None
# Processors that the emulator has, plainest first, and the variant of a quantised network that is the best there.
VARIANTS = {"cortex-a53": "aarch64-neon", "cortex-a76": "aarch64-dotprod", "neoverse-n1": "aarch64-dotprod", "max": "aarch64-i8mm"}
# A product of unsigned with signed bytes.
BYTES = """graph "bytes" {
 opset 17
 input x: float32[4,64]
 const xs: float32[] = {0.0078125}
 const xz: uint8[] = {128}
 const w: int8[64,32] = {%s}
 const ws: float32[] = {0.03125}
 const wz: int8[] = {0}
 const ys: float32[] = {0.0625}
 q: uint8[4,64] = QuantizeLinear(x, xs, xz) @quantize
 y: uint8[4,32] = QLinearMatMul(q, xs, xz, w, ws, wz, ys, xz) @product
 output y
}
""" % ", ".join(str(i * 37 % 255 - 127) for i in range(64 * 32))
HOW = "cmake --workflow --preset {} builds it"


def built(name):
    """The program of a preset; skips the test where it is not built."""
    path = ROOT / "build" / name / "bin" / "dnn-serve-target"
    if not path.exists():
        raise unittest.SkipTest(HOW.format(name))
    return path


def program_headers(path):
    """Types of the segments of a program of 64 bits."""
    data = path.read_bytes()
    offset, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    return [struct.unpack_from("<I", data, offset + i * size)[0] for i in range(count)]


class Target(RemoteCase):
    def board(self, command):
        """A device that a shell command serves."""
        ssh = self.folder / f"ssh-{self._testMethodName}"
        ssh.write_text(f"#!/bin/sh\nexec {command} --stdio --store {self.folder}/board\n")
        ssh.chmod(0o755)
        before = self.environment["DNN_SSH"]
        self.environment["DNN_SSH"] = str(ssh)
        self.addCleanup(self.environment.__setitem__, "DNN_SSH", before)
        return "ssh://board/cpu"

    def emulated(self, processor):
        """A device of an emulated processor; skips the test where something is missing."""
        program = built("target-aarch64")
        if not shutil.which("qemu-aarch64-static") or not shutil.which("aarch64-linux-gnu-gcc"):
            self.skipTest("no qemu-aarch64-static or aarch64-linux-gnu-gcc; scripts/setup --cross installs them")
        return self.board(f"qemu-aarch64-static -cpu {processor} {program}")

    def test_is_one_small_file(self):
        for name in ("target-x86-64", "target-aarch64"):
            program = built(name)
            self.assertLess(program.stat().st_size, 10_000_000)
            self.assertNotIn(3, program_headers(program), "it wants a dynamic loader")  # PT_INTERP
            self.assertNotIn(2, program_headers(program), "it wants libraries")  # PT_DYNAMIC

    def test_in_an_empty_root(self):
        if os.getuid() != 0:
            self.skipTest("only root changes its root")
        program = built("target-x86-64")
        root = self.folder / "root"
        root.mkdir()
        shutil.copy(program, root / "serve")
        device = self.board(f"chroot {root} /serve")
        for level in ("0", "3"):
            local, there = (self.infer(where, "-O", level, "--trace", "--outputs") for where in ("cpu", device))
            self.assertEqual(self.comparable(there.stdout), self.comparable(local.stdout))
        self.assertIn(b"conv", self.infer(device, "--profile").stderr)
        self.assertTrue(all(r["latency_ns"] > 0 for r in self.records(there.stdout) if r["type"] == "prediction"))
        images = ["--preprocess", "imagenet-torch", SAMPLE / "shapes.onnx", SAMPLE / "images" / "star"]
        local, there = (self.run_tool("dnn-infer", "--device", where, *images, "--threads", "2") for where in ("cpu", device))
        self.assertEqual(self.comparable(there.stdout), self.comparable(local.stdout))

    def test_on_an_emulated_board(self):
        local = self.comparable(self.infer("cpu", "-O", "0", "--trace", "--outputs").stdout)[1]
        for processor in VARIANTS:
            device = self.emulated(processor)
            there = self.infer(device, "-O", "0", "--trace", "--outputs")
            header, *records = self.records(there.stdout)
            self.assertEqual(self.comparable(there.stdout)[1], local, processor)
            self.assertTrue(header["isa"].startswith("aarch64-"), header["isa"])
            self.assertEqual(header["host"]["emulated"], "true")
            predictions = [r for r in records if r["type"] == "prediction"]
            self.assertTrue(predictions)
            self.assertFalse([p for p in predictions if p.get("latency_ns") is not None])
        self.infer(device, "-O", "3")

    def test_an_emulator_measures_nothing(self):
        """Neither what a run took, nor how much longer it took over a connection, nor what its steps took."""
        device = self.emulated("max")
        there = self.infer(device, "-n", "2")
        self.assertIn(b"latency ms: mean -,", there.stderr)
        self.assertNotIn(b"transport ms", there.stderr)
        self.assertFalse([r for r in self.records(there.stdout) if "latency_ns" in r or "transport_ns" in r])
        for option in ("--profile", "--usage"):
            self.assertIn(b"an emulator's times say nothing", self.infer(device, option, code=4).stderr)
        tuned = ["dnn-compile", "--device", device, self.folder / "net.txt", "-o", self.folder / "emulated.dnnpkg"]
        self.assertIn(b"an emulator's times say nothing", self.run_tool(*tuned, "--tune=5", code=4).stderr)
        placed = self.run_tool(*tuned[:1], "--place", "auto", "--devices", f"A=cpu@0,B={device}", *tuned[3:], code=4)
        self.assertIn(b"an emulator's times say nothing", placed.stderr)

    def test_real_networks_on_emulated_boards(self):
        """Those of float32 have the bits of this machine at -O0; at -O3 the same on each processor, and this machine's but for rounding. Those
        of int8 have this machine's bits at both levels. Each on every processor, with the best variant that it has."""
        built("target-aarch64")
        if DATA is None:
            self.skipTest("DNN_TEST_DATA names no folder")
        squeezenet = DATA / "derived" / "squeezenet1_1_torch1.13_opset13.onnx"
        self.run_tool("dnn-quantize", "-q", squeezenet, "-o", self.folder / "squeezenet_int8.onnx", "--preprocess", "imagenet-torch", "--calibrate",
                      DATA / "images" / "imagenet_calib100" / "n01558993_robin.JPEG")
        for model, is_int8 in ((squeezenet, False), (DATA / "derived" / "mobilenet_v1_0.25_224_tf2onnx.onnx", False),
                               (self.folder / "squeezenet_int8.onnx", True),
                               (DATA / "models" / "mobilenet_v1_0.25_224_tflite" / "mobilenet_v1_0.25_224_quant.tflite", True)):
            for level in ("0", "3"):
                local = self.comparable(self.infer("cpu", "-O", level, "--outputs", model=model).stdout)[1]
                first = None
                for processor, isa in VARIANTS.items():
                    with self.subTest(model=model.name, level=level, processor=processor):
                        header, *records = self.records(self.infer(self.emulated(processor), "-O", level, "--outputs", model=model).stdout)
                        self.assertEqual(header["isa"], isa if is_int8 and level != "0" else header["isa"])
                        self.assertTrue(header["isa"].startswith("aarch64-"))
                        self.assertFalse([r for r in records if "latency_ns" in r or "transport_ns" in r])
                        if is_int8 or level == "0":
                            self.assertEqual(records, local)
                            continue
                        first = first or records
                        self.assertEqual(records, first)
                        self.assert_rounding(records, local)

    def assert_rounding(self, records, expected):
        """That outputs are the same but for the order of sums."""
        self.assertTrue([r for r in records if r.get("outputs")])
        for record, other in zip(records, expected, strict=True):
            for name, output in record.get("outputs", {}).items():
                ours, theirs = (array.array("f", base64.b64decode(o["data"])) for o in (output, other["outputs"][name]))
                self.assertLess(max(abs(a - b) for a, b in zip(ours, theirs, strict=True)), 1e-5 * max(map(abs, theirs)))

    def test_the_best_variant_on_each_processor(self):
        """Dot products of bytes, which have instructions of their own from ARMv8.2 on, and matrix products of bytes beyond that."""
        (self.folder / "bytes.txt").write_text(BYTES)
        for level in ("1", "3"):
            local = self.comparable(self.infer("cpu", "-O", level, "--outputs", model=self.folder / "bytes.txt").stdout)[1]
            for processor, isa in VARIANTS.items():
                device = self.emulated(processor)
                there = self.infer(device, "-O", level, "--outputs", model=self.folder / "bytes.txt")
                header, *records = self.records(there.stdout)
                self.assertEqual(header["isa"], isa, processor)
                self.assertEqual(self.comparable(there.stdout)[1], local, processor)
                self.assertFalse([r for r in records if r.get("latency_ns") is not None])
        # A variant that a processor lacks instructions for is refused, not run.
        device = self.emulated("cortex-a53")
        self.assertIn(b"aarch64-dotprod", self.infer(device, "--isa", "aarch64-dotprod", model=self.folder / "bytes.txt", code=2).stderr)

    def test_deploys_by_hash(self):
        built("target-x86-64")
        home = self.folder / "home"
        home.mkdir()
        ssh = self.folder / "ssh-deploy"  # a machine that has this folder for its user
        ssh.write_text(f'#!/bin/sh\n[ "$1" = board ] || exit 255\nshift\ncd {home} && exec sh -c "$*"\n')
        ssh.chmod(0o755)
        environment = {**self.environment, "DNN_SSH": str(ssh)}
        def deploy(host):
            return subprocess.run([ROOT / "scripts" / "deploy", host], env=environment, capture_output=True, text=True, timeout=60)
        first, second = deploy("board"), deploy("board")
        self.assertEqual((first.returncode, second.returncode), (0, 0), first.stderr)
        self.assertIn("copied", first.stderr)
        self.assertTrue(all(line.startswith("deploy: ") for line in first.stderr.splitlines()), first.stderr)
        self.assertIn("has it already", second.stderr)
        program = home / ".cache" / "dnn-tools" / "dnn-serve-target"
        self.assertEqual(program.stat().st_mode & 0o777, 0o700)
        self.assertTrue(first.stdout.startswith("DNN_SERVE=.cache/dnn-tools/dnn-serve-target "))
        program.write_bytes(program.read_bytes()[:-1])  # an older one
        self.assertIn("copied", deploy("board").stderr)
        self.assertEqual(deploy("elsewhere").returncode, 5)
        self.environment["DNN_SERVE"] = ".cache/dnn-tools/dnn-serve-target"
        self.addCleanup(self.environment.pop, "DNN_SERVE")
        before, self.environment["DNN_SSH"] = self.environment["DNN_SSH"], str(ssh)
        self.addCleanup(self.environment.__setitem__, "DNN_SSH", before)
        self.infer("ssh://board/cpu")

    def test_what_it_does_not_run(self):
        program = built("target-x86-64")
        refused = subprocess.run([program, "--tcp", "127.0.0.1:0"], capture_output=True, text=True)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--tcp needs --key FILE", refused.stderr)
        probe = subprocess.run([program, "--probe"], capture_output=True, text=True, check=True).stdout
        self.assertEqual([line.split("\t")[0] for line in probe.splitlines()], ["reference", "cpu"])


if __name__ == "__main__":
    unittest.main()
