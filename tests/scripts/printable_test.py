#!/usr/bin/env python3
"""printable: scripts show names of others as the tools do, and each script that shows them does so."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))
import printable  # noqa: E402

HOSTILE = "z\n::error::x\r\x1b[2J\x07\u009b31m\x7f\u202e\u2066\U000e0041\u00ad\u3164\ufeff"
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u00ad\u3164\ufeff\U000e0000-\U000e0fff]")


class Printable(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, value):
        path = self.folder / name
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    def shows(self, *words, code=0):
        """A script's messages, which hold the hostile name and nothing unseen."""
        done = subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        said = done.stdout.decode()
        self.assertEqual(done.returncode, code, said)
        self.assertIsNone(UNSEEN.search(said), repr(said))
        self.assertFalse([line for line in said.split("\n") if line.startswith("::error")], said)
        self.assertIn("\\u{202E}", said)
        return said

    def test_the_table_is_that_of_the_tools(self):
        text = (ROOT / "lib/base/printable.cc").read_text()
        table = re.search(r"kUnseen\[\] = \{(.*?)\};", text, re.DOTALL)[1]
        rows = tuple((int(first, 16), int(last, 16)) for first, last in re.findall(r"\{(0x\w+), (0x\w+)\}", table))
        self.assertGreater(len(rows), 10)
        self.assertEqual(printable.UNSEEN, rows)

    def test_characters(self):
        self.assertEqual(printable.clean("caf\u00e9 \u6c34 a\\b 'x'"), "caf\u00e9 \u6c34 a\\b 'x'")
        self.assertEqual(printable.clean("a\nb\x1b\x7f\u009b\u202e\ufffe"), "a\\u{A}b\\u{1B}\\u{7F}\\u{9B}\\u{202E}\\u{FFFE}")
        self.assertEqual(printable.clean(b"a\xff".decode("utf-8", "surrogateescape") + "\ud800"), "a\\xFF\\u{D800}")

    def test_files(self):
        self.folder.joinpath("t.csv").write_bytes(("a,b\r\n" + HOSTILE.replace("\n", "") + ",\t1\n").encode() + b"\xff")
        done = subprocess.run([SCRIPTS / "printable.py", self.folder / "t.csv"], stdout=subprocess.PIPE, check=True)
        lines = done.stdout.decode().split("\n")
        self.assertEqual((lines[0], lines[2], len(lines)), ("a,b", "\\xFF", 4))
        self.assertIsNone(UNSEEN.search(lines[1].replace("\t", "")))
        done = subprocess.run([SCRIPTS / "printable.py", "-"], input=b"\x1b\n", stdout=subprocess.PIPE, check=True)
        self.assertEqual(done.stdout, b"\\u{1B}\n")
        done = subprocess.run([SCRIPTS / "printable.py", self.folder / "no"], stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (5, 1))

    def test_import_config(self):
        model = {"name": HOSTILE, "library": HOSTILE, "type": "library", "model": HOSTILE, HOSTILE: 1}
        config = self.write("c.json", {"models": [model, {"name": HOSTILE, "skip_analysis": True}], "disabled_pass": [HOSTILE], HOSTILE: HOSTILE})
        self.assertIn("ignored z\\u{A}::error", self.shows(SCRIPTS / "import-config", config))
        self.shows(SCRIPTS / "import-config", self.write("d.json", {"models": [], "devices": {"selected": HOSTILE, HOSTILE: 1}}), code=3)
        self.shows(SCRIPTS / "import-config", self.folder / HOSTILE.replace("/", ""), code=2)

    def test_hunt(self):
        nets = self.folder / "nets"
        nets.mkdir()
        (nets / (HOSTILE + ".txt")).write_text("")
        bin_ = self.folder / "bin"
        bin_.mkdir()
        for name in ("dnn-infer", "dnn-fuzz", "dnn-convert"):
            (bin_ / name).write_text("#!/bin/sh\nexit 0\n")
            (bin_ / name).chmod(0o755)
        self.shows(SCRIPTS / "hunt", "--bin", bin_, "--cells", "own", "--replay", nets)

    def test_tables_of_experiments(self):
        header = {"model": {"path": HOSTILE}, "device": HOSTILE, "passes": HOSTILE, "opt": 1, "dtype": HOSTILE}
        self.shows(SCRIPTS / "experiments_table.py", self.write("r.json", {"runs": [{"run": "A", "header": header, "values": {}}]}))
        cell = self.folder / "cell"
        cell.mkdir()
        (cell / "error_log.txt").write_text(HOSTILE + "\n")
        self.shows(SCRIPTS / "experiments_status.py", self.write("list", f"n\u202e\x1b|1|cpu|{cell}|1|1\n"))
        sides = {f"{field}_ms": 1 for field in ("mean", "median", "max", "min", "std")}
        self.shows(SCRIPTS / "tuning_table.py", self.write("t.jsonl", {"type": "summary", "model": HOSTILE, "isa": HOSTILE, "threads": 1, "trials": 1,
                                                                       "seconds": 1, "before": sides, "after": sides}))


if __name__ == "__main__":
    unittest.main()
