#!/usr/bin/env python3
"""fault-study --resume: a study that was ended goes on where it was, and says what it says without a break."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get("DNN_BIN", os.path.join(ROOT, "build", "release", "bin"))


def study(*words):
    command = [sys.executable, os.path.join(ROOT, "scripts", "fault-study"), os.path.join(ROOT, "tests", "sample", "shapes.onnx"), "--bin", BIN,
               "--formats", ".onnx .tflite", "--seed", "3", "--localize=--preprocess=imagenet-torch", *words, "--",
               os.path.join(ROOT, "tests", "sample", "images", "star", "00.png")]
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class Resume(unittest.TestCase):
    def test_goes_on_behind_a_line_that_was_cut_off(self):
        with tempfile.TemporaryDirectory() as folder:
            log, result = os.path.join(folder, "study.jsonl"), os.path.join(folder, "study.json")
            first = study("--count", "3", "--resume", log)
            self.assertEqual(first.returncode, 0, first.stdout)
            with open(log) as file:
                kept = [json.loads(line) for line in file if line.strip()]
            made = [entry["result"] for entry in kept if entry["job"][0] == "one" and entry["result"]["state"] != "not here"]
            self.assertGreaterEqual(len(made), 3)
            # What is taken from the file is not made again: this one could not have been.
            made[0]["what"] = "from the file"
            with open(log, "w") as file:
                for entry in kept:
                    file.write(json.dumps(entry) + "\n")
                file.write('{"job": ["one", "x')
            second = study("--count", "6", "--resume", log, "--json", result)
            self.assertEqual(second.returncode, 0, second.stdout)
            with open(result) as file:
                rows = json.load(file)["rows"]
            self.assertGreater(len(rows), len(made))
            self.assertEqual(rows[0]["what"], "from the file")
            whole = study("--count", "6", "--json", result)
            with open(result) as file:
                again = json.load(file)["rows"]
            self.assertEqual([(r["fault"], r["seed"], r["rank"]) for r in rows], [(r["fault"], r["seed"], r["rank"]) for r in again], whole.stdout)


if __name__ == "__main__":
    unittest.main()
