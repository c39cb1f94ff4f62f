#!/usr/bin/env python3
"""Makefile.experiments over this machine, one behind ssh and one behind TCP with a key: one make, killed three times and begun again, gives
the same predictions on each device; and so it does while the server is stopped and killed at random moments."""
import os
import pathlib
import random
import signal
import socket
import subprocess
import threading
import time
import unittest

from remote_case import BIN, ROOT, SAMPLE, RemoteCase


class Matrix(RemoteCase):
    def free_port(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def start_make(self, out, devices, infer_flags, **settings):
        settings = {"MODELS": f"{SAMPLE}/shapes.onnx {SAMPLE}/shapes_opset7.onnx", "INPUT": f"{SAMPLE}/images", "OPTS": "0 3", "DEVICES": devices, "OUT": out,
                    "BIN": BIN, "INFER_FLAGS": f"--preprocess imagenet-torch --threads 1 {infer_flags}", **settings}
        clean = {k: v for k, v in self.environment.items() if not k.startswith("MAKE")}
        return subprocess.Popen(["make", "-f", "Makefile.experiments", "execute", *(f"{k}={v}" for k, v in settings.items())], cwd=ROOT, env=clean,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def check(self, out, n_devices, repeats):
        """That each cell is whole, and holds what the cell of this machine holds; how many cells there are."""
        cells = sorted(pathlib.Path(out).glob("*/opt*/*/run.dnns"))
        by_level = {}
        for cell in cells:
            header, *records = self.records(cell.read_bytes())
            predictions = [r for r in records if r["type"] == "prediction"]
            ranked = [(p["sample"], p["top_k"]) for p in predictions if p.get("top_k")]
            self.assertEqual(len({sample for sample, _ in ranked}), len(ranked), f"{cell}: a sample is there twice")
            self.assertEqual(len(predictions), len(ranked) * repeats, f"{cell}: repeats are lost or there twice")
            by_level.setdefault(cell.parents[1], {})[header["device"]] = ranked
        for level, devices in by_level.items():
            self.assertEqual(len(devices), n_devices, level)
            for device, ranked in devices.items():
                self.assertEqual(ranked, devices["cpu"], f"{level} on {device}")
        self.assertEqual(list(pathlib.Path(out).glob("**/error_log.txt")), [])
        return len(cells)

    def with_key(self):
        self.environment["DNN_KEY"] = str(self.folder / "matrix.key")
        self.addCleanup(self.environment.pop, "DNN_KEY")
        return ["--key", self.folder / "matrix.key"]

    def test_one_make_that_is_killed_three_times(self):
        self.start_sshd()
        _, address = self.serve("--tcp", "127.0.0.1:0", *self.with_key())
        out = self.folder / "killed"
        devices = f"cpu ssh://localhost/cpu {address}/cpu"
        draw = random.Random(4)
        for _ in range(3):
            make = self.start_make(out, devices, "-n 2")
            time.sleep(draw.uniform(0.5, 2.5))
            os.killpg(make.pid, signal.SIGKILL)
            make.communicate()
        make = self.start_make(out, devices, "-n 2")
        said, _ = make.communicate(timeout=300)
        self.assertEqual(make.returncode, 0, said)
        self.assertEqual(self.check(out, 3, 2), 2 * 2 * 3)

    def test_a_server_that_is_stopped_and_killed_at_random_moments(self):
        port, key = self.free_port(), self.with_key()
        self.environment["DNN_ADAPTER_TIMEOUT"] = "20"
        self.addCleanup(self.environment.pop, "DNN_ADAPTER_TIMEOUT")
        address, over, done = f"tcp://127.0.0.1:{port}", threading.Event(), {"stopped": 0, "killed": 0}
        self.serve("--tcp", f"127.0.0.1:{port}", *key)  # makes the key
        server = [self.last_server]
        def harm():
            draw = random.Random(5)
            while not over.wait(draw.uniform(0.05, 0.4)):
                try:
                    targets = [server[0].pid, *self.children_of(server[0])]
                    if draw.random() < 0.6:
                        target = draw.choice(targets)
                        os.kill(target, signal.SIGSTOP)
                        over.wait(draw.uniform(0.01, 0.2))
                        os.kill(target, signal.SIGCONT)
                        done["stopped"] += 1
                    else:
                        os.kill(draw.choice(targets), signal.SIGKILL)
                        done["killed"] += 1
                except (OSError, ValueError):
                    pass  # it has just ended
                if server[0].poll() is not None and not over.is_set():
                    self.serve("--tcp", f"127.0.0.1:{port}", *key)
                    server[0] = self.last_server
        harmer = threading.Thread(target=harm)
        harmer.start()
        out, tries, said = self.folder / "harmed", 0, ""
        try:
            while tries < 12:  # a cell that found no server at its beginning has failed, and says so: make takes it up again
                tries += 1
                make = self.start_make(out, f"cpu {address}/cpu", "-n 3")
                said, _ = make.communicate(timeout=300)
                logs = [log.read_text() for log in out.glob("**/error_log.txt")]
                self.assertEqual(make.returncode == 0, not logs, said)
                self.assertTrue(all(address in log for log in logs), logs)
                if make.returncode == 0:
                    break
        finally:
            over.set()
            harmer.join(30)
        self.assertEqual(make.returncode, 0, said)
        self.assertGreater(done["stopped"], 3)
        self.assertGreater(done["killed"], 3)
        print(f"stopped {done['stopped']} times, killed {done['killed']} times; {tries} times make", flush=True)
        self.assertEqual(self.check(out, 2, 3), 2 * 2 * 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
