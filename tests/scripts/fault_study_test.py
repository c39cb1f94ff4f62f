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

    def test_tables_of_several_studies_count_all_of_their_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            def row(rank, **more):
                return {"model": "m", "fault": "bn-epsilon", "state": "counted", "rank": rank, "width": 1, **more}
            paths = []
            for rows in ([row(1)] * 98, [row(1, repaired=True, repair_seconds=2.0), row(2, repaired=False, repair_seconds=4.0)]):
                paths.append(os.path.join(folder, f"{len(paths)}.json"))
                with open(paths[-1], "w") as file:
                    json.dump({"rows": rows, "healthy": [["m", ".onnx", 0.0]], "false_alarms": 0, "altered": 0}, file)
            command = [sys.executable, os.path.join(ROOT, "scripts", "fault-study"), "--table", *paths]
            done = subprocess.run(command, text=True, stdout=subprocess.PIPE)
            self.assertIn("of 100: 99.00 % ranked first, 100.00 % in the first three; 0 false alarms in 2 healthy", done.stdout)
            self.assertIn("50.00 % of 2 repaired", done.stdout)
            self.assertEqual(done.returncode, 1)  # half of the repairs is too few
            self.assertEqual(subprocess.run([*command, "--repaired", "50"], stdout=subprocess.DEVNULL).returncode, 0)
            with open(paths[0], "w") as file:
                file.write('{"rows": []}')
            for path in (paths[0], os.path.join(folder, "none.json")):
                done = subprocess.run([*command[:3], path], text=True, stderr=subprocess.PIPE)
                self.assertRegex(done.stderr, r"^fault-study: error: \S+json: no result of --json[^\n]*\n$")
            with open(paths[0], "w") as file:
                json.dump({"rows": [row(1)] * 98, "healthy": [], "false_alarms": 0}, file)
            self.assertEqual(subprocess.run([*command, "--repaired", "50", "--first", "99.5"], stdout=subprocess.DEVNULL).returncode, 1)


if __name__ == "__main__":
    unittest.main()
