#!/usr/bin/env python3
"""Networks on a device of another machine, over every transport: the same predictions and bits as here, compiled with and without passes; and
what dnn-infer, dnn-localize and dnn-compile do with such a device, over ssh. With DNN_TEST_DATA real networks, four of float32 and one quantised,
on one image, or on as many as DNN_REMOTE_IMAGES says; else the sample one. DNN_REMOTE_RESULT is a file for what each cell came to."""
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import unittest

from remote_case import BIN, ROOT, SAMPLE, RemoteCase

DATA = pathlib.Path(os.environ["DNN_TEST_DATA"]) if "DNN_TEST_DATA" in os.environ else None
NETWORKS = ("derived/squeezenet1_1_torch1.13_opset13.onnx", "derived/squeezenet1.1_rebuilt_opset7.onnx", "derived/mobilenet_v1_0.25_224_tf2onnx.onnx",
            "derived/mobilenetV1X0.25_torch1.13_opset13.onnx", "models/mobilenet_v2_quant_onnx/mobilenet_v2_quant.onnx")


class Transports(RemoteCase):
    def ways(self):
        """A device of each transport, and the options that it takes."""
        here, there = self.serial_line()
        _, unix = self.serve("--unix", self.folder / "s.sock")
        _, keyed = self.serve("--tcp", "127.0.0.1:0", "--key", self.folder / "key")
        self.serve("--serial", there)
        ways = {"--stdio": ("ssh://me@board/cpu", [], {}), "tcp with key": (f"{keyed}/cpu", ["--key", self.folder / "key"], {}),
                "unix": (f"{unix}/cpu", [], {}), "serial": (f"serial:{here}/cpu", [], {})}
        self.deploy_by_adb()
        ways["adb"] = ("adb://emulator-5554/cpu", [], {})
        plain = {name: self.environment.get(name) for name in ("DNN_SSH", "DNN_SERVE")}
        try:
            self.start_sshd()
        except unittest.SkipTest as skip:
            print(f"without ssh: {skip}", flush=True)
        else:
            ways["ssh"] = ("ssh://board/cpu", [], {name: self.environment.get(name) for name in plain})
            for name, value in plain.items():
                self.set_variable(name, value)
        return ways

    def deploy_by_adb(self):
        """The static program where it is built, else this build's own."""
        static = ROOT / "build" / "target-x86-64" / "bin" / "dnn-serve-target"
        program = static if static.exists() else BIN / "dnn-serve"
        done = subprocess.run([ROOT / "scripts" / "deploy", "adb://emulator-5554"], capture_output=True, text=True, timeout=60,
                              env={**self.environment, "DNN_SERVE_TARGET": str(program)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def models(self):
        if DATA is None:
            return [(SAMPLE / "shapes.onnx", ["--preprocess", "imagenet-torch", SAMPLE / "images" / "star"])]
        images = sorted((DATA / "images" / "imagenet200").iterdir())[:int(os.environ.get("DNN_REMOTE_IMAGES", 1))]
        return [(DATA / name, ["--preprocess", "imagenet-torch", *images]) for name in NETWORKS]

    def over(self, way, *command):
        """A run of dnn-infer over a way."""
        device, options, variables = way
        before = {variable: self.environment.get(variable) for variable in variables}
        self.environment.update(variables)
        try:
            return self.run_tool("dnn-infer", "--device", device, *options, "--outputs", "--threads", "2", *command)
        finally:
            for variable, value in before.items():
                self.set_variable(variable, value)

    def test_same_bits_over_every_transport(self):
        ways, cells = self.ways(), []
        for model, inputs in self.models():
            for level in ("0", "3"):
                package = self.folder / f"{model.stem}-O{level}.dnnpkg"
                self.run_tool("dnn-compile", "-O", level, model, "-o", package)
                local = self.comparable(self.over(("cpu", [], {}), package, *inputs).stdout)
                self.assertTrue([r for r in local[1] if r.get("outputs")])
                for name, way in ways.items():
                    with self.subTest(way=name, model=model.name, level=level):
                        there = self.over(way, package, *inputs).stdout
                        self.assertEqual(self.comparable(there), local)
                        header, *records = self.records(there)
                        self.assertEqual(header["device"], way[0])
                        predictions = [r for r in records if r["type"] == "prediction"]
                        self.assertTrue(all(r["latency_ns"] > 0 and r["transport_ns"] > 0 for r in predictions))
                        cells.append({"model": model.name, "level": level, "way": name, "predictions": len(predictions),
                                      "sha256": hashlib.sha256(json.dumps(self.comparable(there)[1]).encode()).hexdigest(),
                                      "transport_ms": statistics.median(r["transport_ns"] for r in predictions) / 1e6})
        if "DNN_REMOTE_RESULT" in os.environ:
            pathlib.Path(os.environ["DNN_REMOTE_RESULT"]).write_text(json.dumps({"cells": cells}, indent=1) + "\n")

    def test_all_that_a_device_is_for_over_ssh(self):
        self.start_sshd()
        device, images = "ssh://board/cpu", ["--preprocess", "imagenet-torch", SAMPLE / "images" / "star"]
        model, wrong = SAMPLE / "shapes.onnx", SAMPLE / "shapes_wrong.onnx"
        runs = lambda *options: [self.run_tool("dnn-infer", "--device", where, *options, "--threads", "2", model, *images) for where in ("cpu", device)]
        for level in ("0", "3"):
            local, there = runs("-O", level, "--trace", "--outputs")
            self.assertEqual(self.comparable(there.stdout), self.comparable(local.stdout))
        # The same steps, each with as many runs; what they took is their own.
        local, there = ([line.split()[-2:] for line in run.stderr.decode().splitlines() if "conv" in line] for run in runs("--profile", "-n", "3"))
        self.assertEqual(there, local)
        self.assertTrue(there)
        self.check_usage(*runs("--usage=1", "-n", "40"))
        local, there = (self.run_tool("dnn-localize", "-q", "--device", where, model, wrong, *images, code=1) for where in ("cpu", device))
        self.assertEqual(there.stdout, local.stdout)
        bisected = [json.loads(self.run_tool("dnn-bisect", "-q", "-O4", "--pass=+fast-math", "--atol", "0", "--rtol", "1e-9", "--json",
                                             "--device", where, model, *images, code=1).stdout) for where in ("cpu", device)]
        here, there = ({key: value for key, value in report.items() if key not in ("source", "target", "seconds")} for report in bisected)
        self.assertEqual(there, here)

    def check_usage(self, local, there):
        header, *records = self.records(there.stdout)
        own_header, *own = self.records(local.stdout)
        usage = [r for r in records if r["type"] == "usage"]
        self.assertGreaterEqual(len(usage), 2)
        self.assertEqual({key for r in usage for key in r}, {key for r in own if r["type"] == "usage" for key in r})
        for key in ("energy", "gpus", "usage_every_ms"):
            self.assertEqual(header["host"][key], own_header["host"][key])
        self.assertGreater(usage[-1]["cpu_time_ns"], usage[0]["cpu_time_ns"])
        self.assertGreater(usage[-1]["memory_bytes"], 0)
        self.assertIn(b"usage: processors", there.stderr)

    def test_schedules_are_searched_on_the_other_machine(self):
        self.start_sshd()
        package, log = self.folder / "tuned.dnnpkg", self.folder / "tuned.jsonl"
        tuned = self.run_tool("dnn-compile", "--device", "ssh://board/cpu", "--tune=100", "--trials", "1", "--tuning-log", log, "--threads", "2",
                              SAMPLE / "shapes.onnx", "-o", package)
        self.assertIn(b"times faster by the median", tuned.stderr)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertTrue([line for line in lines if line["type"] == "trial"])
        images = ["--preprocess", "imagenet-torch", SAMPLE / "images" / "star", "--outputs", "--threads", "2"]
        there = self.run_tool("dnn-infer", "--device", "ssh://board/cpu", package, *images)
        header, *predictions = self.records(there.stdout)
        self.assertEqual({line["cpu"] for line in lines}, {header["host"]["cpu"]})
        untuned = self.run_tool("dnn-infer", "--device", "cpu", SAMPLE / "shapes.onnx", *images)
        self.assertEqual(self.comparable(there.stdout)[1], self.comparable(untuned.stdout)[1])

    def test_a_package_is_compiled_for_the_other_machine(self):
        package = self.folder / "there.dnnpkg"
        self.run_tool("dnn-compile", "--device", "ssh://me@board/cpu", self.folder / "net.txt", "-o", package)
        self.assertEqual(self.comparable(self.infer("ssh://me@board/cpu", "--outputs", model=package).stdout),
                         self.comparable(self.infer("cpu", "--outputs", model=package).stdout))
        refused = self.run_tool("dnn-compile", "--device", "ssh://me@board/cpu", "--isa", "avx2", self.folder / "net.txt", "-o", package, code=2)
        self.assertIn(b"leave out --isa", refused.stderr)

    def test_adb(self):
        first, second = self.deploy_by_adb(), self.deploy_by_adb()
        self.assertIn("has it already", second.stderr)
        self.assertEqual(first.stdout, "dnn-infer --device adb://emulator-5554/cpu MODEL INPUT...\n")
        program = self.folder / "android" / "data" / "local" / "tmp" / "dnn-tools" / "dnn-serve-target"
        self.assertEqual(program.stat().st_mode & 0o777, 0o700)
        local, there = (self.infer(device, "--trace", "--outputs") for device in ("cpu", "adb://emulator-5554/cpu"))
        self.assertEqual(self.comparable(there.stdout), self.comparable(local.stdout))
        self.assertIn(b"cpu\t", self.run_tool("dnn-infer", "--list-devices", "--device", "adb://emulator-5554").stdout)
        self.assertTrue([p for p in (program.parent / "served").iterdir() if p.suffix == ".dnnpkg"])
        self.assertIn(b"device 'other' not found", self.infer("adb://other/cpu", code=5).stderr)
        program.unlink()
        self.assertIn(b"scripts/deploy", self.infer("adb://emulator-5554/cpu", code=5).stderr)
        self.assertIn(b"write it as adb://SERIAL", self.infer("adb://-s/cpu", code=2).stderr)

    def test_adb_of_another_machine(self):
        self.addCleanup(self.set_variable, "ADB_STAND_IN", self.environment["ADB_STAND_IN"])
        self.environment["ADB_STAND_IN"] += " lab:5037"
        self.assertIn(b"cannot connect to daemon", self.infer("adb://emulator-5554/cpu", code=5).stderr)
        self.set_variable("DNN_ADB_HOST", "lab")
        self.deploy_by_adb()
        self.infer("adb://emulator-5554/cpu")
        self.set_variable("DNN_ADB_HOST", None)
        self.infer("adb://emulator-5554/cpu", "--adb-host", "lab:5037")
        self.assertIn(b"--adb-host lab:x", self.infer("adb://emulator-5554/cpu", "--adb-host", "lab:x", code=2).stderr)

    def test_a_key_of_the_environment(self):
        """So that a matrix runs over devices with and without one."""
        _, keyed = self.serve("--tcp", "127.0.0.1:0", "--key", self.folder / "env.key")
        self.addCleanup(self.set_variable, "DNN_KEY", None)
        self.environment["DNN_KEY"] = str(self.folder / "env.key")
        for device in ("cpu", "ssh://me@board/cpu", keyed):
            self.infer(device)


if __name__ == "__main__":
    unittest.main(verbosity=2)
