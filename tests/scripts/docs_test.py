#!/usr/bin/env python3
"""scripts/docs hands docs/ to MkDocs with every warning a failure, installs by hash, and empties no folder of somebody's."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MKDOCS = """#!/bin/sh
echo "$@" >"$LOG"; while [ "$1" != -f ]; do shift; done; cat "$2" >>"$LOG"; exit ${CODE:-0}
"""


class Docs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        venv = self.root / "cache/dnn-tools/docs-python"
        (venv / "bin").mkdir(parents=True)
        (venv / "bin/mkdocs").write_text(MKDOCS)
        (venv / "bin/mkdocs").chmod(0o755)
        (venv / "made-from.txt").write_bytes((ROOT / "scripts/docs-requirements.lock").read_bytes())

    def docs(self, *words, **variables):
        return subprocess.run([ROOT / "scripts/docs", *words], capture_output=True, text=True, cwd=self.root,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.root / "cache"), "LOG": str(self.root / "log"), **variables})

    def test_warnings_are_failures(self):
        done = self.docs("-o", "site")
        self.assertEqual((done.returncode, done.stderr), (0, f"docs: wrote {self.root}/site/index.html\n"))
        log = (self.root / "log").read_text()
        self.assertIn("build -q --strict", log)
        self.assertIn("anchors: warn", log)
        self.assertIn(f'docs_dir: "{ROOT}/docs"', log)
        self.assertEqual(self.docs("-o", "site", CODE="1").returncode, 1)

    def test_a_folder_of_something_else_stays(self):
        (self.root / "mine").mkdir()
        (self.root / "mine/letter.txt").write_text("x")
        done = self.docs("-o", "mine")
        self.assertEqual((done.returncode, (self.root / "log").exists()), (2, False))
        self.assertIn("holds something else than a site", done.stderr)

    def test_it_is_installed_by_hash(self):
        (self.root / "cache/dnn-tools/docs-python/made-from.txt").write_text("older")
        (self.root / "bin").mkdir()
        (self.root / "bin/python3").write_text('#!/bin/sh\nmkdir -p "$3/bin"; printf "#!/bin/sh\\necho \\"\\$@\\" >$LOG; exit 1\\n" >"$3/bin/pip"; chmod +x "$3/bin/pip"\n')
        (self.root / "bin/python3").chmod(0o755)
        done = self.docs("-o", "site", PATH=f"{self.root}/bin:{os.environ['PATH']}")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("--require-hashes -r ", (self.root / "log").read_text())


if __name__ == "__main__":
    unittest.main()
