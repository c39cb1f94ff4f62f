"""scripts/launch-ssh keeps its locks in a folder that is nobody else's, and gives the command's exit code."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class LaunchSsh(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.places = self.folder / f"dnn-launch-ssh.{os.getuid()}"
        self.ssh = self.folder / "ssh"
        self.ssh.write_text('#!/bin/sh\nfor line; do :; done\nexec sh -c "$line"\n')
        self.ssh.chmod(0o755)

    def launch(self, *command):
        return subprocess.run([ROOT / "scripts/launch-ssh", "one", *command], capture_output=True, text=True, timeout=60, cwd=self.folder,
                              env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(self.folder), "SSH_COMMAND": str(self.ssh)})

    def test_runs_the_command(self):
        done = self.launch("sh", "-c", "echo 'here it is'; exit 7")
        self.assertEqual((done.returncode, done.stdout), (7, "here it is\n"), done.stderr)
        self.assertEqual(self.places.stat().st_mode & 0o777, 0o700)
        self.assertEqual([entry.name for entry in self.places.iterdir()], ["one.1"])

    def refused(self):
        done = self.launch("touch", "ran")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn("is not a folder of your own with mode 700", done.stderr)
        self.assertFalse((self.folder / "ran").exists())

    def test_follows_no_link(self):
        """A link at the guessable name must not lead the locks, which are emptied when they are opened, elsewhere."""
        own = self.folder / "own"
        own.mkdir(mode=0o700)
        (own / "one.1").write_text("precious")
        self.places.symlink_to(own)
        self.refused()
        self.assertEqual((own / "one.1").read_text(), "precious")

    def test_uses_no_folder_that_others_may_write(self):
        self.places.mkdir()
        self.places.chmod(0o777)
        self.refused()
        self.places.rmdir()
        self.places.write_text("")
        self.refused()

    @unittest.skipUnless(os.getuid() == 0, "only root can give a folder away")
    def test_uses_no_folder_of_another(self):
        self.places.mkdir(mode=0o700)
        os.chown(self.places, 65534, 65534)
        self.refused()


if __name__ == "__main__":
    unittest.main()
