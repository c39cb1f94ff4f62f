"""scripts/test-fresh refuses what it cannot do; .ci/run tells a machine where it cannot be done from one where it failed."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class TestFresh(unittest.TestCase):
    def run_script(self, *words, **options):
        return subprocess.run([ROOT / "scripts/test-fresh", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, **options)

    def test_usage(self):
        for words in (["--frobnicate"], ["--mirror"], ["--without"], ["--without", "jq"], ["--without", "python"], ["--without", ".*"]):
            done = self.run_script(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("test-fresh: error: ", done.stderr)

    @unittest.skipUnless(os.getuid() == 0, "of root's, whom this test takes the rights from")
    def test_without_root(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "scripts")
            copy.mkdir()
            os.chmod(folder, 0o755)
            for name in ("test-fresh", "packages.txt"):
                (copy / name).write_bytes((ROOT / "scripts" / name).read_bytes())
                (copy / name).chmod(0o755)
            done = subprocess.run([copy / "test-fresh", "--here"], capture_output=True, text=True, timeout=60, user=65534, group=65534)
        self.assertEqual((done.returncode, done.stderr), (5, "test-fresh: error: chroot needs root: sudo scripts/test-fresh\n"))

    def ci(self, functions, text):
        """Runs the named functions of .ci/run in a shell that `text` continues."""
        source = (ROOT / ".ci/run").read_text()
        bodies = [re.search(rf"^{name}\(\) \{{.*?^\}}\n", source, re.DOTALL | re.MULTILINE)[0] for name in functions]
        with tempfile.TemporaryDirectory() as folder:
            setting = f"logs={folder} jobs=2 passed=0 failed=0 skipped=0 broken=() report=()\ndeclare -A status_of=()\n"
            pathlib.Path(folder, "scripts").mkdir()
            return subprocess.run(["bash", "-c", "set -uo pipefail\n" + setting + "".join(bodies) + text], cwd=folder, capture_output=True, text=True, timeout=60)

    def test_a_machine_without_a_root_is_skipped_and_says_why(self):
        fresh = "printf '#!/bin/sh\\necho \"test-fresh: error: {}\" >&2\\nexit {}\\n' >scripts/test-fresh; chmod +x scripts/test-fresh\n"
        end = 'step "bare machine" bare_machine; echo "verdict ${status_of["bare machine"]} ${#broken[@]} ${report[0]}"'
        said = self.ci(["step", "bare_machine"], fresh.format("no debootstrap here", 5) + end).stdout
        self.assertRegex(said, r"verdict 77 0 \d+ s  bare machine: skipped: SKIP: no bare machine can be made here: test-fresh: error: no debootstrap here\n")
        said = self.ci(["step", "bare_machine"], fresh.format("x", 1) + end).stdout
        self.assertRegex(said, r"verdict 1 1 \d+ s  bare machine: FAILED \(1\)\n")

    def test_what_the_bare_machine_skipped_is_run_here(self):
        stand_ins = 'ctest() { echo "ctest $*"; }\nprintf "#!/bin/sh\\necho all of them\\n" >scripts/test; chmod +x scripts/test\n'
        log = """cat >"$logs/bare machine" <<'END'
  1/130 Test #106: layers ...........................   Passed    1.25 sec
 12/130 Test  #12: format ...........................***Skipped   0.01 sec
 13/130 Test   #9: cuda .............................***Skipped   0.01 sec
END
"""
        done = self.ci(["fast_tests"], stand_ins + log + 'status_of["bare machine"]=0; fast_tests')
        self.assertEqual(done.stdout, "ctest --preset release -L ^(fast|long)$ -R ^(format|cuda)$ --parallel 2 --timeout 300 --no-tests=error\n", done.stderr)
        done = self.ci(["fast_tests"], stand_ins + log + 'status_of["bare machine"]=77; fast_tests')
        self.assertEqual(done.stdout, "all of them\n", done.stderr)
        done = self.ci(["fast_tests"], stand_ins + ': >"$logs/bare machine"; status_of["bare machine"]=1; fast_tests; echo $?')
        self.assertEqual(done.stdout, "SKIP: the bare machine left none out\n77\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
