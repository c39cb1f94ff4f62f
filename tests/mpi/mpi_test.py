"""dnn-train --mpi under mpirun, 2 and 4 ranks on this machine: the same bits, kills and resumes, failures of one rank and of all.

usage: mpi_test.py BIN        BIN holds the tools. Skips (77) without mpirun, and where the tools were built without MPI.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build/release/bin").resolve()
SAMPLE = pathlib.Path(__file__).resolve().parents[1] / "sample"
MODULE = BIN.parent / "lib/dnn-tools/dnn-mpi.so"
HEAD = ["--replace-head", "16:0.5", "--freeze", "*", "--batch-size", "8", "--augment", "flip"]
# All layers: of 20 images in batches of 6 the last batch has 2, so that of four ranks two get none of it.
WHOLE = ["--replace-head", "8:0.5", "--batch-size", "6", "--augment", "flip,shift:2"]
WAIT_S = 120


def wait_until(what, seconds=WAIT_S):
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def processes_below(parent):
    """{rank: process} of dnn-train that mpirun started."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = pathlib.Path("/proc", pid, "stat").read_text()
            if int(stat.rsplit(")", 1)[1].split()[1]) != parent:
                continue
            words = pathlib.Path("/proc", pid, "environ").read_text().split("\0")
        except (OSError, UnicodeDecodeError):
            continue
        found.update({int(word.split("=")[1]): int(pid) for word in words if word.startswith("OMPI_COMM_WORLD_RANK=")})
    return found


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class MpiCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("ring", "star"):
            self.copy_images("data", name, 10)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_COMM", "PMI", "SLURM"))}
        # This machine alone, and no shared pages between processes that a container may forbid.
        self.environment |= {"PATH": f"{BIN}:{os.environ['PATH']}", "OMPI_MCA_btl": "vader,self", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
                             "OMPI_MCA_plm": "isolated"}
        self.fixed = ["dnn-train", str(SAMPLE / "shapes.onnx"), "--data", "data", "--preprocess", "imagenet-torch"]

    def copy_images(self, data, name, count):
        (self.folder / data / name).mkdir(parents=True)
        for path in sorted((SAMPLE / "images" / name).glob("*.png"))[:count]:
            shutil.copy(path, self.folder / data / name)

    def mpirun(self, ranks, *command):
        return ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", str(ranks), *command]

    def run_command(self, command, code=0):
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=WAIT_S)
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}{done.stderr}")
        return done.stderr

    def train(self, ranks, out, *options, code=0, quiet=True):
        """Standard error of a run; `ranks` None: without mpirun."""
        words = [*self.fixed, *(["-q"] if quiet else []), "-o", out, *options]
        return self.run_command(words if ranks is None else self.mpirun(ranks, *words, "--mpi"), code)

    def start(self, ranks, out, *options):
        process = subprocess.Popen(self.mpirun(ranks, *self.fixed, "-q", "--mpi", "-o", out, *options), cwd=self.folder, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def kill_all(self, process):
        """kill -9 of mpirun and of all ranks at once."""
        pids = [process.pid, *processes_below(process.pid).values()]
        for pid in pids:
            os.kill(pid, 9)
        process.wait()
        self.assertTrue(wait_until(lambda: not any(map(is_running, pids))))
        return len(pids) - 1

    def bytes_of(self, name):
        return (self.folder / name).read_bytes()

    def epoch_of(self, checkpoint):
        try:
            with open(self.folder / checkpoint, "rb") as file:
                return json.loads(file.readline())["epoch"]
        except OSError:
            return 0

    def losses(self, said):
        return [json.loads(line.removeprefix("json_stats: "))["loss"] for line in said.splitlines() if line.startswith("json_stats: ")]

    def lines_of_tool(self, said):
        return [line for line in said.splitlines() if line.startswith("dnn-train")]

    def assert_said(self, said, pattern):
        """One line of dnn-train, which the pattern matches from its start."""
        lines = self.lines_of_tool(said)
        self.assertEqual(len(lines), 1, said)
        self.assertRegex(lines[0], "^" + pattern)


class Mpi(MpiCase):
    def test_same_bits_on_any_number_of_threads(self):
        for ranks in (2, 4):
            for name, options in (("head", [*HEAD, "--epochs", "3", "--validate", "0.2"]), ("whole", [*WHOLE, "--epochs", "3", "--validate", "0.2"])):
                with self.subTest(ranks=ranks, trained=name):
                    for run, threads in enumerate((1, 1, 3)):
                        self.train(ranks, f"{run}.onnx", *options, "--threads", str(threads))
                    self.assertEqual(self.bytes_of("0.onnx"), self.bytes_of("1.onnx"))
                    self.assertEqual(self.bytes_of("0.onnx"), self.bytes_of("2.onnx"))

    def test_supernet_and_teacher_have_the_same_bits(self):
        (self.folder / "ranges.yaml").write_text("DEVICES: [cpu, dsp]\n")
        self.copy_images("data", "heart", 2)
        for name in sorted(path.name for path in (SAMPLE / "images").iterdir()):
            if not (self.folder / "data" / name).exists():
                self.copy_images("data", name, 2)
        for options in (["--supernet", "ranges.yaml", "--batch-size", "12", "--epochs", "1", "--learning-rate", "1e-4"],
                        ["--teacher", str(SAMPLE / "shapes_wrong.onnx"), "--accumulate", "2", "--clip-norm", "0.5", "--batch-size", "7", "--epochs", "1"]):
            for threads in (1, 2):
                self.train(2, f"{threads}.onnx", *options, "--threads", str(threads))
            self.assertEqual(self.bytes_of("1.onnx"), self.bytes_of("2.onnx"))

    def test_losses_are_those_of_one_rank(self):
        """But for rounding, where no norm takes statistics of a share: a head on frozen features, with dropout."""
        options = [*HEAD, "--epochs", "4", "--validate", "0.2", "--precision", "float64"]
        alone = self.losses(self.train(None, "alone.onnx", *options, quiet=False))
        self.assertEqual(len(alone), 8)
        for ranks in (2, 4):
            together = self.losses(self.train(ranks, "together.onnx", *options, quiet=False))
            self.assertEqual(len(together), 8)
            for one, other in zip(alone, together):
                self.assertAlmostEqual(one, other, delta=1e-4)  # as printed

    def test_one_rank_is_a_run_without_mpi(self):
        self.train(None, "alone.onnx", *WHOLE, "--epochs", "2")
        self.train(1, "launched.onnx", *WHOLE, "--epochs", "2")
        self.assertEqual(self.bytes_of("alone.onnx"), self.bytes_of("launched.onnx"))

    def test_kill_and_resume(self):
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                part = f"part{ranks}.onnx"
                process = self.start(ranks, part, *HEAD, "--epochs", "1000000")
                self.assertTrue(wait_until(lambda: self.epoch_of(part + ".checkpoint") >= 2), "no checkpoint")  # noqa: B023
                self.assertEqual(self.kill_all(process), ranks)
                self.assertFalse((self.folder / part).exists())
                shutil.copy(self.folder / f"{part}.checkpoint", self.folder / "kept")
                epochs = str(self.epoch_of(part + ".checkpoint") + 2)
                # Another number of ranks adds up in another order.
                for others, way_out in ((3, f"go on with mpirun -n {ranks}"), (None, f"go on with mpirun -n {ranks}")):
                    said = self.train(others, part, *HEAD, "--epochs", epochs, "--resume", code=2)
                    self.assert_said(said, f"dnn-train: error: {part}.checkpoint: it is of a run with {ranks} ranks, this one has {others or 1}: {way_out}")
                self.assertEqual(self.bytes_of("kept"), self.bytes_of(f"{part}.checkpoint"))
                self.train(ranks, part, *HEAD, "--epochs", epochs, "--resume", "--threads", "2")
                self.train(ranks, "straight.onnx", *HEAD, "--epochs", epochs)
                self.assertEqual(self.bytes_of(part), self.bytes_of("straight.onnx"))
                self.assertFalse((self.folder / f"{part}.checkpoint").exists())

    def test_fifty_steps_with_kills(self):
        options = [*WHOLE, "--batch-size", "4"]  # the last --batch-size counts
        for threads in ("2", "1"):  # without end, so that no run is over before it is killed
            before = self.epoch_of("part.onnx.checkpoint")
            process = self.start(2, "part.onnx", *options, "--epochs", "1000000", "--threads", threads, "--resume")
            self.assertTrue(wait_until(lambda: self.epoch_of("part.onnx.checkpoint") > before), "no checkpoint")  # noqa: B023
            self.assertEqual(self.kill_all(process), 2)
        behind = self.epoch_of("part.onnx.checkpoint")
        options += ["--epochs", str(max(10, behind + 1))]  # of five steps
        print(f"killed twice, the last time behind epoch {behind} of {options[-1]}")
        self.train(2, "part.onnx", *options, "--resume")
        for threads in ("1", "2", "8"):
            self.train(2, f"{threads}.onnx", *options, "--threads", threads)
            self.assertEqual(self.bytes_of(f"{threads}.onnx"), self.bytes_of("part.onnx"), f"{threads} threads")

    def test_rank_0_alone_writes_and_says(self):
        said = self.train(4, "out.onnx", *HEAD, "--epochs", "2", "--validate", "0.2", "--logdir", "log", quiet=False)
        self.assertEqual(len(self.losses(said)), 4, said)
        self.assertEqual(len([line for line in said.splitlines() if line.startswith("a step of")]), 1, said)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["data", "log", "out.onnx"])
        for name in ("train", "validation", "steps"):
            self.assertEqual(len(list((self.folder / "log" / name).iterdir())), 1)

    def test_sandbox(self):
        self.train(2, "auto.onnx", *HEAD, "--epochs", "1")
        for mode in ("on", "off"):
            if mode == "on" and subprocess.run(["dnn-doctor"], env=self.environment, capture_output=True, text=True).stdout.count("--sandbox auto goes without"):
                self.skipTest("this kernel does not keep the box")
            self.train(2, f"{mode}.onnx", *HEAD, "--epochs", "1", "--sandbox", mode)
            self.assertEqual(self.bytes_of("auto.onnx"), self.bytes_of(f"{mode}.onnx"))

    def test_failures_of_all_ranks_are_said_once(self):
        self.fixed[1] = "missing.onnx"
        self.assert_said(self.train(4, "out.onnx", code=5), "dnn-train: error: missing.onnx: ")
        self.fixed[1] = str(SAMPLE / "shapes.onnx")
        said = self.train(4, "out.onnx", "--replace-head", "linear", "--batch-size", "3", code=2)
        self.assert_said(said, "dnn-train: error: --batch-size 3: 4 ranks share out each batch, so give at least as many")
        said = self.train(2, "out.onnx", "--replace-head", "linear", "--optimizer", "sgd", "--learning-rate", "1e30", code=1)
        self.assert_said(said, "dnn-train: error: the loss is not finite in epoch ")

    def two_kinds(self, first, second):
        """Standard error and exit code of two ranks with other options."""
        done = subprocess.run([*self.mpirun(1, *self.fixed, "-q", "--mpi", "-o", "out.onnx", *first), ":", "-n", "1", *self.fixed, "-q", "--mpi", "-o", "out.onnx", *second],
                              cwd=self.folder, env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=WAIT_S)
        return done.stderr, done.returncode

    def test_ranks_that_do_not_agree(self):
        said, code = self.two_kinds([*HEAD, "--seed", "1"], [*HEAD, "--seed", "2"])
        self.assertEqual(code, 5, said)
        self.assert_said(said, "dnn-train: error: before the first step rank 1 has other settings or images than rank 0: ")
        self.assertFalse((self.folder / "out.onnx").exists())

    def test_a_file_that_one_rank_cannot_read(self):
        shutil.copytree(self.folder / "data", self.folder / "broken")
        broken = next(iter(sorted((self.folder / "broken/star").iterdir())))
        broken.write_bytes(broken.read_bytes()[:100])
        for options in (HEAD, WHOLE):
            said, code = self.two_kinds(options, [*options, "--data", "broken"])
            self.assertEqual(code, 3, said)
            self.assert_said(said, f"dnn-train, rank 1: error: broken/star/{broken.name}: ")

    def test_a_checkpoint_that_cannot_be_written_ends_all(self):
        (self.folder / "gone").mkdir()
        process = self.start(2, "gone/out.onnx", *HEAD, "--epochs", "1000000")
        self.assertTrue(wait_until(lambda: (self.folder / "gone/out.onnx.checkpoint").exists()))
        (self.folder / "gone").rename(self.folder / "elsewhere")
        said = process.communicate(timeout=WAIT_S)[1]
        self.assertEqual(process.returncode, 5, said)
        self.assert_said(said, "dnn-train: error: gone/out.onnx.checkpoint: ")

    def test_a_rank_that_dies_ends_all(self):
        process = self.start(4, "out.onnx", *HEAD, "--epochs", "1000000")
        self.assertTrue(wait_until(lambda: (self.folder / "out.onnx.checkpoint").exists()))
        ranks = processes_below(process.pid)
        self.assertEqual(sorted(ranks), [0, 1, 2, 3])
        os.kill(ranks[2], 9)
        said = process.communicate(timeout=WAIT_S)[1]
        self.assertNotEqual(process.returncode, 0, said)
        self.assertTrue(wait_until(lambda: not any(map(is_running, ranks.values()))), "ranks go on")

    def test_several_processes_want_the_option(self):
        said = self.run_command(self.mpirun(2, *self.fixed, "-o", "out.onnx", *HEAD), 2)
        for line in self.lines_of_tool(said):
            self.assertRegex(line, r"^dnn-train: error: 2 processes were started \(OMPI_COMM_WORLD_SIZE\), and each would train the whole network: --mpi")
        self.assertGreater(len(self.lines_of_tool(said)), 0)
        self.assertFalse((self.folder / "out.onnx").exists())

    def test_without_the_module_one_line_says_what_to_install(self):
        (self.folder / "bin").mkdir()
        shutil.copy((BIN / "dnn-train").resolve(), self.folder / "bin/dnn-train")
        self.fixed[0] = str(self.folder / "bin/dnn-train")
        said = self.train(None, "out.onnx", *HEAD, "--mpi", code=5)
        self.assert_said(said, re.escape(f"dnn-train: error: --mpi: no {self.folder}/lib/dnn-tools/dnn-mpi.so, which a build makes where MPI's headers are: "))
        (self.folder / "lib/dnn-tools").mkdir(parents=True)
        (self.folder / "lib/dnn-tools/dnn-mpi.so").write_text("no library")
        said = self.train(None, "out.onnx", *HEAD, "--mpi", code=5)
        self.assert_said(said, ".*cannot be loaded, it wants Open MPI: apt-get install openmpi-bin")


if __name__ == "__main__":
    if not shutil.which("mpirun"):
        print("SKIP: no mpirun: apt-get install openmpi-bin")
        sys.exit(77)
    if not MODULE.exists():
        print(f"SKIP: no {MODULE}: the tools were built without MPI (apt-get install libopenmpi-dev, then scripts/setup)")
        sys.exit(77)
    unittest.main()
