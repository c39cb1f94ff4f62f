"""scripts/setup installs what is missing and nothing else, asks on a terminal, and says what stops it (exit code 5)."""
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
USED = "bash env awk sort sed comm dirname cat cmp grep rm cp mktemp nproc tr wc mkdir paste basename cut".split()
PACKAGES = [line.split()[:2] for line in (ROOT / "scripts/packages.txt").read_text().splitlines() if line[0] != "#"]
BUILD = sorted(package for group, package in PACKAGES if group == "build")
PYTHON = sorted(package for group, package in PACKAGES if group == "python")


class Setup(unittest.TestCase):
    def setUp(self):
        """A PATH of its own, where dpkg-query, apt-get, id and sudo are stand-ins and sudo is missing."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bin, self.log = pathlib.Path(folder.name, "bin"), pathlib.Path(folder.name, "log")
        self.bin.mkdir()
        for name in USED:
            (self.bin / name).symlink_to(shutil.which(name))
        self.installed(BUILD)
        self.stand_in("id", "echo 0")
        self.stand_in("apt-get", f'echo "$@" >> "{self.log}"')

    def stand_in(self, name, text):
        (self.bin / name).write_text(f"#!{shutil.which('bash')}\n{text}\n")
        (self.bin / name).chmod(0o755)

    def installed(self, packages):
        """Packages that dpkg-query reports; one removed package is there with its configuration only."""
        rows = "".join(f"ii {package}\\n" for package in packages)
        self.stand_in("dpkg-query", f"printf 'rc libpng-dev\\n{rows}'; exit 1")

    def setup(self, *arguments, **options):
        return subprocess.run([ROOT / "scripts/setup", "--no-build", *arguments], env={"PATH": str(self.bin)}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, **options)

    def asked_of_apt(self):
        return self.log.read_text() if self.log.exists() else ""

    def test_nothing_missing_installs_nothing(self):
        done = self.setup()
        self.assertEqual((done.returncode, self.asked_of_apt(), done.stderr), (0, "", ""))

    def test_installs_exactly_what_is_missing(self):
        self.installed([package for package in BUILD if package not in ("libpng-dev", "ccache")])
        self.assertEqual(self.setup().returncode, 0)
        update, install = self.asked_of_apt().splitlines()
        self.assertTrue(update.endswith("update"), update)
        self.assertTrue(install.endswith("--no-install-recommends -o Dpkg::Use-Pty=0 install ccache libpng-dev"), install)

    def test_tools_alone_need_no_library_of_tests(self):
        self.installed([package for package in BUILD if package not in ("libgtest-dev", "ccache")])
        self.stand_in("cmake", f'echo cmake "$@" >> "{self.log}"')
        for words, packages, tests in ((["--no-tests"], "ccache", 0), ([], "ccache libgtest-dev", 1)):
            self.log.unlink(missing_ok=True)
            done = subprocess.run([ROOT / "scripts/setup", *words], env={"PATH": str(self.bin)}, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            calls = self.asked_of_apt().splitlines()
            self.assertTrue(calls[1].endswith(f" install {packages}"), calls)
            self.assertEqual(calls[2], f"cmake --preset release -DDNN_BUILD_TESTS={tests}")
            self.assertIn("if it is interrupted, run scripts/setup again", done.stderr)

    def test_dev_adds_its_group(self):
        self.assertEqual(self.setup("--dev").returncode, 0)
        self.assertIn("clang-format-14", self.asked_of_apt())

    def test_no_install_names_what_is_missing(self):
        self.installed(BUILD[1:])
        done = self.setup("--no-install")
        self.assertEqual((done.returncode, self.asked_of_apt()), (5, ""))
        self.assertIn(f"apt-get install {BUILD[0]}", done.stderr)

    def test_neither_root_nor_sudo(self):
        self.installed(BUILD[1:])
        self.stand_in("id", "echo 1000")
        done = self.setup()
        self.assertEqual((done.returncode, self.asked_of_apt()), (5, ""))
        self.assertIn("needs root", done.stderr)

    def test_sudo_is_used_without_root(self):
        self.installed(BUILD[1:])
        self.stand_in("id", "echo 1000")
        self.stand_in("sudo", f'echo "sudo $1" >> "{self.log}"; shift; exec "$@"')
        self.assertEqual(self.setup().returncode, 0)
        self.assertEqual(self.asked_of_apt().count("sudo -n"), 2)

    def test_no_network(self):
        self.installed(BUILD[1:])
        self.stand_in("apt-get", '[[ "$*" != *install* ]] || exit 100')
        done = self.setup()
        self.assertEqual(done.returncode, 5)
        self.assertIn("no network?", done.stderr)

    def test_no_debian(self):
        (self.bin / "apt-get").unlink()
        done = self.setup()
        self.assertEqual(done.returncode, 5)
        self.assertIn("libprotobuf-dev", done.stderr)

    def test_unknown_option(self):
        self.assertEqual(self.setup("--frobnicate").returncode, 2)

    def frameworks(self, *arguments, python="3.11"):
        """setup --frameworks where python3 makes environments whose pip does what `pip` says; its result and the folder."""
        folder = self.bin.parent / "frameworks"
        self.installed(BUILD + PYTHON)
        self.stand_in("python3", f'[[ $1 == -m ]] || {{ echo {python}; exit; }}; mkdir -p "$3/bin"; cp "{self.bin}/pip" "$3/bin/pip"')
        done = subprocess.run([ROOT / "scripts/setup", "--no-build", *arguments], env={"PATH": str(self.bin), "DNN_FRAMEWORKS": str(folder)},
                              text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        return done, folder

    def test_environments_need_their_packages(self):
        for option in ("--frameworks", "--conformance"):
            done = self.setup("--no-install", option)
            self.assertEqual(done.returncode, 5)
            self.assertIn("apt-get install ca-certificates python3-venv\n", done.stderr)

    def test_frameworks_are_made_once(self):
        self.stand_in("pip", f'echo "$@" >> "{self.log}"')
        done, folder = self.frameworks("--frameworks")
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = self.asked_of_apt().splitlines()
        self.assertEqual(len(calls), 4)
        for call in calls:
            self.assertRegex(call, r" --require-hashes -r \S+\.lock$")
        self.assertEqual((folder / "torch/made-from.txt").read_text(), (ROOT / "scripts/frameworks/torch.lock").read_text())
        done, _ = self.frameworks("--frameworks")
        self.assertEqual((done.returncode, done.stderr.count(" is there: ")), (0, 4), done.stderr)
        self.assertEqual(len(self.asked_of_apt().splitlines()), 4)
        (folder / "torch/made-from.txt").write_text("torch==1.0\n")
        done, _ = self.frameworks("--frameworks=torch,openvino")
        self.assertEqual((done.returncode, done.stderr.count("installing torch==")), (0, 1), done.stderr)
        self.assertEqual(sorted(p.name for p in folder.iterdir()), ["onnxruntime", "openvino", "tensorflow", "torch"])

    def test_without_hashes_only_where_asked(self):
        self.stand_in("pip", f'echo "$@" >> "{self.log}"')
        done, _ = self.frameworks("--frameworks=torch", python="3.12")
        self.assertEqual((done.returncode, self.asked_of_apt()), (5, ""))
        self.assertIn("scripts/frameworks/torch.lock has the hashes of packages for Python 3.11, and python3 is 3.12; --no-verify", done.stderr)
        done, _ = self.frameworks("--frameworks=torch", "--no-verify", python="3.12")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("--require-hashes", self.asked_of_apt())
        self.assertIn("scripts/frameworks/torch.txt", self.asked_of_apt())

    def test_frameworks_that_are_not_to_be_had(self):
        self.stand_in("pip", r"""case "$*" in *torch.lock) printf "Collecting x\nWARNING: Retrying (Retry(total=0)) after connection broken by 'SSLError(1)': /simple/x\n" >&2
                      printf "ERROR: Could not find a version of x\nERROR: No matching distribution found for x\n[notice] get a new pip\n\n" >&2; exit 1;; esac""")
        done, folder = self.frameworks("--frameworks")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("torch cannot be installed: ERROR: Could not find a version of x (connection broken by 'SSLError(1)': /simple/x); "
                      f"all that was said: {folder}/torch.log\n", done.stderr)
        self.assertIn("[notice]", (folder / "torch.log").read_text())
        self.assertIn("without: torch;", done.stderr)
        self.assertEqual(sorted(p.name for p in folder.iterdir()), ["onnxruntime", "openvino", "tensorflow", "torch.log"])
        done, _ = self.frameworks("--frameworks=torch")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.stand_in("pip", "exit 0")
        self.frameworks("--frameworks=torch")
        self.assertFalse((folder / "torch.log").exists())
        for nothing in ("--frameworks=caffe", "--frameworks=", "--frameworks=,", "--frameworks=../packages"):
            self.assertEqual(self.frameworks(nothing)[0].returncode, 2, nothing)

    def test_why_there_is_no_venv(self):
        self.stand_in("pip", "")
        self.frameworks("--frameworks=torch")
        folder = self.bin.parent / "frameworks"
        shutil.rmtree(folder / "torch")
        self.stand_in("python3", '[[ $1 == -m ]] || { echo 3.11; exit; }; printf "ensurepip is not\\navailable.\\n\\nFailing command: x\\n"; exit 1')
        done = subprocess.run([ROOT / "scripts/setup", "--no-build", "--frameworks=torch"], env={"PATH": str(self.bin), "DNN_FRAMEWORKS": str(folder)},
                              text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 5)
        self.assertIn("torch cannot be installed: ensurepip is not available.", done.stderr)

    def test_locks_hold_their_pins(self):
        pins = [ROOT / "scripts/conformance-requirements.txt", *(ROOT / "scripts/frameworks").glob("*.txt")]
        self.assertEqual(len(pins), 5)
        for file in pins:
            option, *rows = [line for line in file.with_suffix(".lock").read_text().splitlines() if line[0] != "#"]
            self.assertEqual(option, "--only-binary :all:")
            for row in rows:
                self.assertRegex(row, r'^[a-z0-9-]+==[\w.+]+( ; platform_machine == "x86_64")?( --hash=sha256:[0-9a-f]{64})+$')
            locked = {row.split(" ")[0] for row in rows}
            wanted = {line.strip().lower().replace("_", "-") for line in file.read_text().splitlines() if line[0] != "#"}
            self.assertLessEqual(wanted, locked, f"{file.name}: run scripts/lock-requirements")

    def answer(self, text):
        """Exit code and apt-get's arguments of a run on a terminal where a person types `text`."""
        self.installed(BUILD[1:])
        controller, terminal = pty.openpty()
        run = subprocess.Popen([ROOT / "scripts/setup", "--no-build"], env={"PATH": str(self.bin)}, stdin=terminal, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.write(controller, text.encode())
        code = run.wait(timeout=60)
        os.close(controller), os.close(terminal)
        return code, self.asked_of_apt()

    def test_asks_on_a_terminal(self):
        self.assertEqual(self.answer("n\n"), (1, ""))
        code, asked = self.answer("y\n")
        self.assertEqual(code, 0)
        self.assertIn(f"install {BUILD[0]}", asked)


if __name__ == "__main__":
    unittest.main()
