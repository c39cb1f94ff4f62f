"""What goes wrong outside gives the documented exit code, one line that begins with the tool's name, and no half file."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop()).resolve()
SAMPLE = ROOT / "tests/sample"
MODEL = SAMPLE / "shapes.onnx"
IMAGES = SAMPLE / "images/star"
INFER = f"dnn-infer -q --preprocess imagenet-torch --labels {SAMPLE}/labels.txt {{}} {IMAGES}"
MALFORMED, ENVIRONMENT, CLOSED_OUTPUT = 3, 5, 141


class Done:
    def __init__(self, codes, out, err):
        self.codes, self.out, self.err = codes, out, err.splitlines()


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.home = pathlib.Path(cls.scratch.name, "home")
        cls.home.mkdir()
        cls.shared = pathlib.Path(cls.scratch.name, "shared")
        cls.shared.mkdir()
        done = cls.bash(f"dnn-compile -O1 --isa x86-64 --keep-source {MODEL} -o model.dnnpkg && {INFER.format('model.dnnpkg')} -o run.dnns && "
                        f"{INFER.format('model.dnnpkg')} --trace --sample-tensors -o trace.dnns", folder=cls.shared)
        assert done.codes == [0] and not done.err, done.err
        cls.package, cls.run_stream, cls.trace = (cls.shared / name for name in ("model.dnnpkg", "run.dnns", "trace.dnns"))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.scratch.name))

    @classmethod
    def bash(cls, line, folder=None, **environment):
        """Runs a pipeline; the exit code of each of its commands."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")}
        kept.update(PATH=f"{BUILD}/bin:{kept['PATH']}", HOME=str(cls.home), XDG_CACHE_HOME=f"{BUILD}/test-cache/faults",
                    LC_ALL="C.UTF-8", NO_COLOR="1")
        kept.update(environment)
        kept = {key: value for key, value in kept.items() if value is not None}
        with tempfile.TemporaryFile("w+") as codes:
            done = subprocess.run(["/bin/bash", "-c", f"{line}\necho ${{PIPESTATUS[*]}} >&{codes.fileno()}"], cwd=folder, env=kept,
                                  capture_output=True, stdin=subprocess.DEVNULL, timeout=300, pass_fds=[codes.fileno()])
            codes.seek(0)
            return Done([int(code) for code in codes.read().split()], done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    def expect(self, line, codes, tool=None, kind="error", **environment):
        """The codes, and on stderr one line of `tool`, or nothing."""
        done = self.bash(line, folder=self.folder, **environment)
        self.assertEqual(done.codes, codes, f"{line}\n{done.err}")
        if tool is None:
            self.assertEqual(done.err, [], line)
        else:
            self.assertEqual(len(done.err), 1, f"{line}\n{done.err}")
            self.assertTrue(done.err[0].startswith(f"{tool}: {kind}: "), done.err)
            self.assertNotIn("internal", done.err[0])
        return done

    def left(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def cut(self, path, size, name):
        (self.folder / name).write_bytes(path.read_bytes()[:size])

    # Pipes that work.

    def test_infer_into_eval(self):
        done = self.expect(f"{INFER.format(MODEL)} | dnn-eval", [0, 0])
        self.assertIn("top-1", done.out)

    def test_tee_keeps_the_stream_that_eval_reads(self):
        done = self.expect(f"{INFER.format(MODEL)} | tee a.dnns | dnn-eval -", [0, 0, 0])
        again = self.expect("dnn-eval - < a.dnns", [0])
        self.assertEqual(done.out, again.out)

    # Streams that stop.

    def test_truncated_streams(self):
        size = self.run_stream.stat().st_size
        for n in (0, 1, 10, 100, size // 3, size // 2, size - 20, size - 1):
            for tool in ("dnn-eval -", "dnn-cat -", "dnn-eval", "dnn-cat"):
                with self.subTest(n=n, tool=tool):
                    self.expect(f"head -c {n} {self.run_stream} | {tool} >out", [0, MALFORMED], tool.split()[0])

    def test_truncated_samples(self):
        size = self.trace.stat().st_size
        for n in (0, 1000, size // 2, size - 1):
            with self.subTest(n=n):
                self.expect(f"head -c {n} {self.trace} | dnn-infer -q {self.package} - -o out.dnns", [0, MALFORMED], "dnn-infer")
                self.assertEqual(self.left(), [])

    # Disks that are full.

    WRITERS = {
        "dnn-infer": "dnn-infer -q --trace --preprocess imagenet-torch {package} {images} -o {to}.dnns",
        "dnn-compile": "dnn-compile -q -O1 --isa x86-64 {model} -o {to}.dnnpkg",
        "dnn-convert": "dnn-convert -q {model} -o {to}.onnx",
    }
    PRINTERS = {
        "dnn-infer": "dnn-infer -q --preprocess imagenet-torch {package} {images}",
        "dnn-compile": "dnn-compile -q -O1 --isa x86-64 {model} -o -",
        "dnn-eval": "dnn-eval {run}",
        "dnn-cat": "dnn-cat {run}",
    }

    def lines(self, table, to=""):
        places = {"model": MODEL, "package": self.package, "images": IMAGES, "run": self.run_stream, "to": to}
        return [(tool, line.format(**places)) for tool, line in table.items()]

    def test_full_device_as_output(self):
        for name in ("full.dnns", "full.dnnpkg", "full.onnx"):
            (self.folder / name).symlink_to("/dev/full")
        before = self.left()
        for tool, line in self.lines(self.WRITERS, "full"):
            with self.subTest(line):
                done = self.expect(line, [ENVIRONMENT], tool)
                self.assertIn("No space left on device", done.err[0])
                self.assertEqual(self.left(), before)

    def test_full_device_as_standard_output(self):
        for tool, line in self.lines(self.PRINTERS):
            with self.subTest(line):
                self.assertIn("No space left on device", self.expect(f"{line} >/dev/full", [ENVIRONMENT], tool).err[0])

    def on_small_disk(self, line, size="64k"):
        """`line` in a private mount namespace with a small file system at ./disk."""
        return f"unshare --mount bash -c 'mount -t tmpfs -o size={size} none disk && {line}'"

    def test_full_disk(self):
        (self.folder / "disk").mkdir()
        if self.bash(self.on_small_disk("true"), folder=self.folder).codes != [0]:
            self.skipTest("only root may mount a small file system")
        for tool, line in self.lines(self.WRITERS, "disk/out"):
            with self.subTest(line):
                done = self.expect(self.on_small_disk(f"{line}; code=$?; ls -A disk; exit $code"), [ENVIRONMENT], tool)
                self.assertEqual(done.out, "", "something was left behind")
                # What had the name before is still there, whole.
                name = line.split()[-1]
                done = self.expect(self.on_small_disk(f"echo old >{name}; {line}; code=$?; cat {name}; ls -A disk; exit $code"),
                                   [ENVIRONMENT], tool)
                self.assertEqual(done.out, f"old\n{pathlib.Path(name).name}\n")
        with self.subTest("a full disk under the cache"):
            loud = INFER.format(MODEL).replace(" -q", "")
            done = self.bash(self.on_small_disk(f"{loud} -O1 >/dev/null", "4k"), folder=self.folder, XDG_CACHE_HOME=f"{self.folder}/disk")
            self.assertEqual(done.codes, [0], done.err)
            self.assertEqual(len([line for line in done.err if line.startswith("dnn-infer: warning: ")]), 1, done.err)

    # Readers that leave.

    def test_closed_pipes_end_the_tool_silently(self):
        self.expect(f"{INFER.format(self.package)} --trace | head -c 100 >/dev/null", [CLOSED_OUTPUT, 0])
        self.expect(f"dnn-cat {self.trace} | head -n 1 >/dev/null", [CLOSED_OUTPUT, 0])
        self.expect(f"{INFER.format(self.package)} --trace | dnn-cat | head -n 1 >/dev/null", [CLOSED_OUTPUT, CLOSED_OUTPUT, 0])

    # Damaged files.

    def refusals(self, name, codes=(MALFORMED,), tools=("dnn-infer", "dnn-compile", "dnn-convert", "dnn-cat")):
        commands = {
            "dnn-infer": f"dnn-infer -q --fill ones {name} -o out.dnns",
            "dnn-compile": f"dnn-compile -q -O0 {name} -o out.dnnpkg",
            "dnn-convert": f"dnn-convert -q {name} -o out.onnx",
            "dnn-cat": f"dnn-cat {name}",
        }
        before = self.left()
        for tool in tools:
            with self.subTest(commands[tool]):
                done = self.expect(commands[tool], list(codes), tool)
                self.assertIn(name, done.err[0])
                self.assertEqual(done.out, "")
                self.assertEqual(self.left(), before)

    def test_damaged_models(self):
        size = MODEL.stat().st_size
        for n in (0, 1, 200, size // 2, size - 1):
            self.cut(MODEL, n, "cut.onnx")
            self.refusals("cut.onnx")
        (self.folder / "text.onnx").write_text("no model at all\n")
        self.refusals("text.onnx")
        (self.folder / "random.onnx").write_bytes(bytes(i * i * 7919 >> 5 & 255 for i in range(5000)))
        self.refusals("random.onnx")

    def test_damaged_packages(self):
        size = self.package.stat().st_size
        for n in (8, 20, 47, 48, 1000, size // 2, size - 1):
            self.cut(self.package, n, "cut.dnnpkg")
            self.refusals("cut.dnnpkg", tools=["dnn-infer"])
        whole = bytearray(self.package.read_bytes())
        code = whole.index(b"\x7fELF") + 2000
        for place, what in ((90, "manifest"), (50, "checksum"), (code, "code"), (12, "size"), (size - 5, "weights")):
            damaged = bytearray(whole)
            damaged[place] ^= 0x55
            (self.folder / f"{what}.dnnpkg").write_bytes(damaged)
            self.refusals(f"{what}.dnnpkg", tools=["dnn-infer"])

    def test_unreadable_images_are_skipped_and_told(self):
        (self.folder / "images").mkdir()
        good = (IMAGES / "00.png").read_bytes()
        for name, content in {"a.png": good, "b.png": good[:300], "c.png": b"", "d.png": b"text", "e.png": good}.items():
            (self.folder / "images" / name).write_bytes(content)
        done = self.bash(f"dnn-infer --preprocess imagenet-torch {self.package} images -o out.dnns", folder=self.folder)
        self.assertEqual(done.codes, [MALFORMED], done.err)
        warnings = [line for line in done.err if line.startswith("dnn-infer: warning: ")]
        errors = [line for line in done.err if line.startswith("dnn-infer: error: ")]
        self.assertEqual([line.split(": ")[2] for line in warnings], [f"images/{name}.png" for name in "bcd"])
        self.assertEqual(len(errors), 1)
        self.assertIn("3 of 5", errors[0])
        self.expect("dnn-eval out.dnns", [0])
        quiet = self.expect(f"dnn-infer -q --preprocess imagenet-torch {self.package} images -o quiet.dnns", [MALFORMED], "dnn-infer")
        self.assertIn("3 of 5", quiet.err[0])
        (self.folder / "images/b.png").unlink()
        self.expect(f"dnn-infer -q --preprocess imagenet-torch {self.package} images/b.png -o none.dnns", [ENVIRONMENT], "dnn-infer")

    # Packages of others.

    def test_package_for_another_instruction_set(self):
        fill = "dnn-infer -q --fill ones -o out.dnns"
        done = self.expect(f"{fill} --isa avx2 {self.package}", [ENVIRONMENT], "dnn-infer")
        self.assertIn("x86-64", done.err[0])

    def test_foreign_and_unsigned_packages_are_compiled_anew(self):
        other = str(self.folder / "other")
        outputs = "dnn-infer -q --fill random --outputs {} {} | dnn-cat | grep -o '\"outputs\":.*}},'"
        ours = self.expect(outputs.format("", self.package), [0, 0, 0]).out
        foreign = self.expect(outputs.format("", self.package), [0, 0, 0], XDG_CONFIG_HOME=other).out
        self.assertEqual(ours, foreign)
        self.assertTrue(ours)
        # Without a compiler the code cannot be made anew; it is not run unless trusted.
        no_compiler = {"PATH": f"{BUILD}/bin", "XDG_CONFIG_HOME": other}
        done = self.expect(f"dnn-infer -q --fill random {self.package} -o out.dnns", [ENVIRONMENT], "dnn-infer", **no_compiler)
        self.assertIn("no C compiler", done.err[0])
        self.expect(f"dnn-infer -q --fill random --trust {self.package} -o out.dnns", [0], **no_compiler)
        (self.folder / "out.dnns").unlink()
        nobody = {"HOME": None, "XDG_CONFIG_HOME": None, "XDG_CACHE_HOME": None}
        self.expect(f"dnn-compile -q -O1 --isa x86-64 --keep-source {MODEL} -o unsigned.dnnpkg", [0], **nobody)
        unsigned = (self.folder / "unsigned.dnnpkg").read_bytes()
        self.assertEqual(unsigned[16:48], bytes(32))
        done = self.expect("dnn-infer -q --fill random unsigned.dnnpkg -o out.dnns", [ENVIRONMENT], "dnn-infer", PATH=f"{BUILD}/bin")
        self.assertIn("no C compiler", done.err[0])

    # Things that are not there.

    def test_missing_compiler(self):
        alone = {"PATH": f"{BUILD}/bin", "XDG_CACHE_HOME": str(self.folder / "cache")}
        for tool, line in (("dnn-compile", f"dnn-compile -O1 {MODEL} -o out.dnnpkg"), ("dnn-infer", f"dnn-infer -q --fill ones {MODEL} -o out.dnns")):
            done = self.expect(line, [ENVIRONMENT], tool, **alone)
            self.assertIn("install gcc", done.err[0])
        for compiler in ("/nowhere/cc", "/bin/false"):
            done = self.expect(f"dnn-compile --compiler {compiler} {MODEL} -o out.dnnpkg", [ENVIRONMENT], "dnn-compile")
            self.assertIn(compiler, done.err[0])
        self.assertEqual([path for path in self.left() if path.startswith("out")], [])

    def test_places_that_cannot_be_written_cost_time_only(self):
        for place in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
            for tool, line in (("dnn-compile", f"dnn-compile -O1 --isa x86-64 --keep-source {MODEL} -o out.dnnpkg"),
                               ("dnn-infer", f"dnn-infer -q --fill ones -O1 {MODEL} -o out.dnns")):
                with self.subTest(place=place, tool=tool):
                    loud = line.replace(" -q", "")
                    done = self.bash(loud, folder=self.folder, **{place: "/dev/null"})
                    self.assertEqual(done.codes, [0], done.err)
                    warnings = [text for text in done.err if text.startswith(f"{tool}: warning: ")]
                    self.assertEqual(len(warnings), 1, done.err)
                    self.assertIn("/dev/null", warnings[0])
        self.assertEqual(self.left(), ["out.dnnpkg", "out.dnns"])

    def test_missing_files_and_folders(self):
        for tool, line in (("dnn-infer", "dnn-infer --fill ones nowhere.onnx"), ("dnn-compile", "dnn-compile nowhere.onnx -o out.dnnpkg"),
                           ("dnn-convert", "dnn-convert nowhere.onnx -o out.onnx"), ("dnn-eval", "dnn-eval nowhere.dnns"),
                           ("dnn-cat", "dnn-cat nowhere.dnns"), ("dnn-compile", f"dnn-compile -O1 {MODEL} -o nowhere/out.dnnpkg"),
                           ("dnn-convert", f"dnn-convert {MODEL} -o nowhere/out.onnx"),
                           ("dnn-infer", f"dnn-infer -q --fill ones {self.package} -o nowhere/out.dnns")):
            with self.subTest(line):
                self.assertIn("nowhere", self.expect(line, [ENVIRONMENT], tool).err[0])
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    unittest.main()
