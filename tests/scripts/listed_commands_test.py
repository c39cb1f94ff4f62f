"""scripts/listed-commands finds what the listed packages bring and no more; with these commands alone every script says its --help."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = [line.split()[:2] for line in (ROOT / "scripts/packages.txt").read_text().splitlines() if line[0] != "#"]
BUILD = [package for group, package in ROWS if group == "build"]


class Machine:
    """A folder that looks like a Debian: packages with fields and commands."""

    def __init__(self, root):
        self.root, self.status = root, ""
        for folder in ("usr/bin", "usr/sbin", "etc/alternatives", "var/lib/dpkg/info"):
            (root / folder).mkdir(parents=True)
        (root / "bin").symlink_to("usr/bin")
        for package in BUILD:
            self.add(package)

    def add(self, package, *paths, status="install ok installed", **fields):
        named = "".join(f"{key.replace('_', '-')}: {value}\n" for key, value in fields.items())
        self.status += f"Package: {package}\nStatus: {status}\n{named}\n"
        (self.root / "var/lib/dpkg/status").write_text(self.status)
        (self.root / f"var/lib/dpkg/info/{package}.list").write_text("".join(f"/{path}\n" for path in ("usr", "usr/bin", *paths)))
        for path in paths:
            (self.root / path).write_text("#!/bin/sh\n")
            (self.root / path).chmod(0o755)


class ListedCommands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.machine = Machine(self.folder / "root")

    def run_script(self, *words):
        return subprocess.run([ROOT / "scripts/listed-commands", *words], capture_output=True, text=True, timeout=60)

    def found(self, *words):
        out = self.folder / f"out{len(list(self.folder.iterdir()))}"
        done = self.run_script("--root", self.machine.root, *words, out)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return {entry.name for entry in out.iterdir()}

    def test_listed_essential_and_what_they_depend_on(self):
        add = self.machine.add
        add("coreutils", "usr/bin/ls", Essential="yes")
        add("util-linux", "bin/lsblk", Priority="required")  # the package says /bin, which is a link to usr/bin
        add("apt", "usr/bin/apt-get", Depends="libapt (>= 1)")
        add("libapt", "usr/bin/apt-helper")
        add("jq", "usr/bin/jq")
        add("gone", "usr/bin/gone", status="deinstall ok config-files", Essential="yes")
        self.assertEqual(self.found(), {"ls", "lsblk", "apt-get", "apt-helper"})

    def test_alternatives_and_virtual_packages(self):
        add = self.machine.add
        add("base", Essential="yes", Pre_Depends="awk", Depends="absent | second, first:any | third")
        add("mawk", "usr/bin/mawk", Provides="awk, other (= 1)")
        add("first", "usr/bin/first")
        add("second", "usr/bin/second")
        add("third", "usr/bin/third")
        (self.machine.root / "etc/alternatives/awk").symlink_to("/usr/bin/mawk")
        (self.machine.root / "usr/bin/awk").symlink_to("../../etc/alternatives/awk")
        (self.machine.root / "usr/bin/nawk").symlink_to("/usr/bin/mawk")
        self.assertEqual(self.found(), {"mawk", "nawk", "awk", "first", "second"})

    def test_groups(self):
        for group, package in ROWS:
            if group != "build":
                self.machine.add(package, f"usr/bin/of-{package}")
        self.assertEqual(self.found(), set())
        self.assertEqual(self.found("--group", "build", "--group", "python"), {"of-python3-venv", "of-ca-certificates"})
        self.assertEqual(self.run_script("--group", "nothing", self.folder / "x").returncode, 2)

    def test_machines_that_cannot_tell(self):
        done = self.run_script("--root", self.machine.root, "--group", "python", self.folder / "x")
        self.assertEqual((done.returncode, done.stdout), (77, "SKIP: not installed: ca-certificates python3-venv\n"))
        done = self.run_script("--root", self.folder, self.folder / "x")
        self.assertEqual(done.returncode, 77)
        self.assertFalse((self.folder / "x").exists())

    def test_every_script_says_its_help(self):
        commands = self.folder / "commands"
        if self.run_script(commands).returncode == 77:
            commands = os.environ["PATH"]
        scripts = [path for path in sorted((ROOT / "scripts").iterdir()) if path.is_file() and os.access(path, os.X_OK)]
        self.assertGreater(len(scripts), 25)
        for path in scripts:
            done = subprocess.run([path, "--help"], env={"PATH": str(commands), "HOME": str(self.folder)}, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), path.name)
            self.assertIn(path.name.split(".")[0], done.stdout, path.name)


if __name__ == "__main__":
    unittest.main()
