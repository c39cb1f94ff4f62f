#!/usr/bin/env python3
"""What others put into a folder that we write to or read: links, pipes and devices are refused in one line, and nothing beyond is touched."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else pathlib.Path("build/release/bin").resolve()
SAMPLE = pathlib.Path(__file__).resolve().parent.parent / "sample"
CONFIG = ("MODEL: {TYPE: mbanynet, NUM_CLASSES: 5}\nANYNET: {BLOCK_TYPE: res_basic_block, STRIDES: [[1]], DEPTHS: [[1]], WIDTHS: [[8]], "
          "DEVICES: [cpu], ORIGINAL_WIDTHS: [8]}\nTRAIN: {IM_SIZE: 32}\n")


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("DNN_")}
        self.environment.update(XDG_CACHE_HOME=str(self.folder / "cache"), XDG_CONFIG_HOME=str(self.folder / "config"))
        for name in ("ring", "star"):
            (self.folder / "data" / name).mkdir(parents=True)
            for i in range(4):
                shutil.copy(SAMPLE / "images" / name / f"0{i}.png", self.folder / "data" / name)

    def run_tool(self, *words):
        done = subprocess.run([BIN / words[0], *words[1:]], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
        return done.returncode, done.stderr.decode()

    def refuses(self, code, text, *words):
        got, said = self.run_tool(*words)
        self.assertEqual(got, code, said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn(text, said)

    def plant(self, name):
        """A link to a file, one to nothing and a pipe under that name, one after another."""
        path, victim = self.folder / name, self.folder / "victim"
        path.parent.mkdir(parents=True, exist_ok=True)
        for target in (victim, self.folder / "nowhere"):
            victim.write_text("keep")
            path.symlink_to(target)
            yield "is a symbolic link"
            path.unlink()
            self.assertEqual(victim.read_text(), "keep")
            self.assertFalse((self.folder / "nowhere").exists())
        os.mkfifo(path)
        yield "is no regular file"
        path.unlink()

    def test_a_pack_that_is_being_made(self):
        for reason in self.plant("data.dnnd.partial"):
            for more in ((), ("--resume",)):
                self.refuses(5, f"data.dnnd.partial: {reason}", "dnn-pack", "-q", "data", "-o", "data.dnnd", *more)

    def test_a_class_that_is_a_link(self):
        (self.folder / "private").mkdir()
        shutil.copy(SAMPLE / "images/ring/00.png", self.folder / "private/secret.png")
        (self.folder / "data/linked").symlink_to(self.folder / "private")
        (self.folder / "data/star/one.png").symlink_to(self.folder / "private/secret.png")
        code, said = self.run_tool("dnn-pack", "data", "-o", "data.dnnd")
        self.assertEqual(code, 0, said)
        self.assertIn("2 of 10 images lie outside data, behind links as data/linked", said)
        (self.folder / "data/linked").unlink()
        (self.folder / "data/linked").symlink_to("/")
        self.refuses(3, "data/linked: a link to a folder that holds this one", "dnn-pack", "-q", "data", "-o", "again.dnnd")

    def test_a_log_of_training(self):
        for reason in self.plant("log/train.log"):
            self.refuses(5, f"log/train.log: {reason}", "dnn-train", "-q", SAMPLE / "shapes.onnx", "--preprocess", "imagenet-torch", "--data", "data",
                         "--replace-head", "linear", "--freeze", "*", "--epochs", "1", "--logdir", "log", "-o", "out.onnx")

    def test_a_table_that_is_added_to(self):
        (self.folder / "net.yaml").write_text(CONFIG)
        eval_ = ("dnn-branch", "eval", "-q", "net.yaml", "--devices", "C=reference", "-o", "rows.csv")
        for name in ("rows.csv", "rows.json"):
            (self.folder / "rows.csv").write_text("cfg,latency,energy\n")
            path = self.folder / name
            path.unlink(missing_ok=True)
            os.mkfifo(path)
            self.refuses(5, f"{name}: not a regular file", *eval_)
            path.unlink()
            path.symlink_to("/dev/zero")
            self.refuses(5, f"{name}: not a regular file", *eval_)
            path.unlink()

    def test_a_configuration(self):
        os.mkfifo(self.folder / "net.yaml")
        self.refuses(5, "net.yaml: not a regular file", "dnn-branch", "--flops", "net.yaml")


if __name__ == "__main__":
    unittest.main()
