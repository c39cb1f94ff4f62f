#!/usr/bin/env python3
"""Tests of Makefile.experiments with stand-in tools: resuming, -j, failing cells, launchers, missing tools and devices."""
import glob
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

# Each stand-in notes its call and does the least that the real tool would; FAIL names a word at which it gives up.
PROLOGUE = """#!/bin/sh
echo "$(basename $0) $*" >>"$CALLS"
for word; do case "$FAIL" in ?*) case $word in *$FAIL*) echo "$(basename $0): error: $FAIL is broken" >&2; exit 4;; esac;; esac; done
"""
TOOLS = {
    "dnn-compile": 'while [ "$1" != -o ]; do shift; done; echo package >"$2"',
    "dnn-infer": 'case "$*" in --list-devices) printf "reference\\tinterpreter\\ncpu\\tgenerated C\\nlib:onnxruntime\\t1.2\\nlib:tflite\\t2.3\\n";; *) echo stream of "$*";; esac',
    "dnn-eval": 'n=0; for w; do case $w in --json=*) cp "$REPORT" "${w#--json=}";; *.dnns) n=$((n+1));; esac; done; echo "eval $n: $*"',
    "dnn-localize": 'echo "first divergent layer: conv"; exit 1',
    "dnn-report": 'while [ "$1" != -o ]; do shift; done; echo "page of $*" >"$2"',
    "dnn-convert": 'while [ "$1" != -o ]; do shift; done; echo converted >"$2"',
    "dnn-train": 'while [ "$1" != -o ]; do shift; done; echo trained >"$2"',
    "dnn-quantize": 'while [ "$1" != -o ]; do shift; done; echo quantised >"$2"',
    "dnn-cat": """printf '%s\\n' '{"type":"sample","id":0,"path":"imgs/a/x.png"}' '{"type":"sample","id":1,"path":"imgs/b/y.png"}' \
 '{"type":"prediction","sample":0,"top_k":[{"class":7,"score":1.5},{"class":2,"score":-0.25}],"latency_ns":2500000}' \
 '{"type":"prediction","sample":0,"top_k":[],"latency_ns":3500000}' \
 '{"type":"prediction","sample":1,"top_k":[{"class":3,"score":"nan"}],"latency_ns":1000}'""",
}
REPORT = {
    "runs": [{"run": "A", "header": {"model": {"path": "m/one.onnx"}, "opt": 0, "device": "cpu"},
              "values": {"top1_accuracy": 93.8888, "latency_median": 1.25}},
             {"run": "B", "header": {"model": {"path": "m/one.onnx"}, "opt": 3, "device": "opencl:0"}, "values": {}},
             {"run": "C", "header": {}, "values": {}}],
    "pairs": [{"base": "A", "run": "B", "values": {"top1_agreement": 99.5, "flips": 1, "near_ties": 2, "output_max_rel": 2e-6,
                                                   "time_change": -40.04}},
              {"base": "B", "run": "C", "values": {"top1_agreement": 1}}],
}


class Experiments(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = self.folder.name
        self.bin, self.out, self.calls = f"{self.root}/bin", f"{self.root}/out", f"{self.root}/calls"
        os.mkdir(self.bin)
        for name, body in TOOLS.items():
            self.script(f"bin/{name}", PROLOGUE + body)
        with open(f"{self.root}/report.json", "w") as f:
            json.dump(REPORT, f)
        for model in ("one", "two"):
            with open(f"{self.root}/{model}.onnx", "w") as f:
                f.write(model)

    def script(self, name, text):
        with open(f"{self.root}/{name}", "w") as f:
            f.write(text + "\n")
        os.chmod(f"{self.root}/{name}", 0o755)

    def make(self, *words, fail="", **settings):
        """Runs make in the project's root over two models, two levels, one device; (status, everything it said)."""
        with self.start(*words, fail=fail, **settings) as process:
            said, _ = process.communicate(timeout=300)
        return process.returncode, said

    def start(self, *words, fail="", environment=None, **settings):
        settings = {"MODELS": f"{self.root}/one.onnx {self.root}/two.onnx", "INPUT": "images", "OPTS": "0 3",
                    "DEVICES": "cpu", "OUT": self.out, "BIN": self.bin, **settings}
        clean = {k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k not in settings}
        return subprocess.Popen(["make", "-f", "Makefile.experiments", *words, *(f"{k}={v}" for k, v in settings.items() if v is not None)],
                                env={**clean, **(environment or {}), "CALLS": self.calls, "FAIL": fail, "REPORT": f"{self.root}/report.json"},
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    def called(self, tool):
        """The calls of one tool since the last question."""
        with open(self.calls) as f:
            lines = f.read().splitlines()
        os.remove(self.calls)
        return [line for line in lines if line.startswith(tool) and "--list-devices" not in line]

    def exists(self, path):
        return os.path.exists(f"{self.out}/{path}")

    def text(self, path):
        with open(f"{self.out}/{path}") as f:
            return f.read()

    def leftovers(self):
        return [f for _, _, files in os.walk(self.out) for f in files if ".tmp" in f]

    def test_all_makes_the_tree_and_ends_with_the_results(self):
        status, said = self.make("all")
        self.assertEqual(status, 0, said)
        for model in ("one", "two"):
            for level in (0, 3):
                self.assertTrue(self.exists(f"{model}/opt{level}/cpu/model.dnnpkg"))
                self.assertTrue(self.exists(f"{model}/opt{level}/cpu/execution_log.txt"))
                self.assertIn("--device cpu", self.text(f"{model}/opt{level}/cpu/run.dnns"))
            self.assertIn("eval 2:", self.text(f"{model}/analysis.txt"))
            self.assertEqual(self.text(f"{model}/analysis.json"), json.dumps(REPORT))
        self.assertIn("one/opt0/cpu/run.dnns", self.text("models.txt"))
        self.assertIn("two/opt0/cpu/run.dnns", self.text("models.txt"))
        self.assertEqual(said.strip().splitlines()[-1], f"results: {self.out}")
        self.assertRegex(said, r"(?m)^one +-O0 +cpu +93.89 +- +1.250 +- +- +- +- +- +-$")
        self.assertRegex(said, r"(?m)^one +-O3 +opencl:0 +- +- +- +- +99.50 +1 +2 +2.0e-06 +-40.0$")
        self.assertRegex(said, r"(?m)^\? +- +- +- +- +- +- +- +- +- +- +-$")
        self.assertEqual(self.leftovers(), [])

    def test_it_says_how_far_it_is(self):
        status, said = self.make("all", fail="one.onnx")
        self.assertEqual(re.findall(r"\((\d+) of (\d+)", said), [(str(n), "8") for n in range(1, 7)], said)
        status, said = self.make("all")
        self.assertEqual(re.findall(r"^done .*run.dnns \((\d+) of (\d+)", said, re.MULTILINE), [("2", "4"), ("4", "4")], said)
        status, said = self.make("all")
        self.assertNotRegex(said, r"\(\d+ of")
        # Time is left where the first cell took some.
        self.script("bin/dnn-compile", PROLOGUE + "sleep 1.2; " + TOOLS["dnn-compile"])
        said = self.make("build", OUT=f"{self.root}/slow", OPTS="0")[1]
        self.assertRegex(said, r"\(1 of 2, \d+ (s|min) left\)")

    def test_a_preprocessing_that_nobody_named_is_named(self):
        note = "preprocessing: imagenet-torch, as nothing names one; PREPROCESS=NAME"
        self.assertIn(note, self.make("execute")[1])
        for words in ({"PREPROCESS": "imagenet-tf"}, {"PREPROCESS": "imagenet-torch"}, {"INFER_FLAGS": "--preprocess none"}):
            self.assertNotIn("nothing names", self.make("execute", **words)[1])

    def test_a_matrix_in_a_file(self):
        with open(f"{self.root}/my.mk", "w") as f:
            f.write(f"MODELS = {self.root}/two.onnx\nOPTS = 1 2\nDEVICES = cpu lib:tflite\nINPUT = photos\nCOMPILE_FLAGS = --pass=-fuse-ops\n")
        unset = dict.fromkeys(("MODELS", "OPTS", "DEVICES", "INPUT"))
        status, said = self.make("execute", MATRIX=f"{self.root}/my.mk", **unset)
        self.assertEqual(status, 0, said)
        self.assertFalse(self.exists("one"))
        for cell in ("opt1/cpu", "opt2/cpu", "optnative/lib-tflite"):
            self.assertIn("photos", self.text(f"two/{cell}/run.dnns"))
        self.assertIn("--pass=-fuse-ops", self.called("dnn-compile")[0])
        status, said = self.make("execute", MATRIX=f"{self.root}/my.mk", **{**unset, "OPTS": "4"})  # the command line counts
        self.assertTrue(self.exists("two/opt4/cpu/run.dnns"), said)
        status, said = self.make("execute", MATRIX=f"{self.root}/none.mk")
        self.assertNotEqual(status, 0)
        self.assertIn("none.mk", said)

    def test_a_second_run_makes_nothing_and_a_lost_stream_is_made_again(self):
        self.assertEqual(self.make("all")[0], 0)
        self.called("")
        self.assertEqual(self.make("all")[0], 0)
        self.assertEqual(self.called("dnn-"), [])
        os.remove(f"{self.out}/two/opt3/cpu/run.dnns")
        self.assertEqual(self.make("all")[0], 0)
        again = self.called("dnn-")
        self.assertEqual(len([c for c in again if c.startswith("dnn-infer")]), 1)
        self.assertEqual(len([c for c in again if c.startswith("dnn-eval") and "/one/" in c and "/two/" not in c]), 0)

    def test_changed_settings_make_again_what_depends_on_them(self):
        self.assertEqual(self.make("all")[0], 0)
        self.called("")
        self.assertEqual(self.make("all", INPUT="other")[0], 0)
        calls = self.called("dnn-")
        self.assertEqual([len([c for c in calls if c.startswith(t)]) for t in ("dnn-compile", "dnn-infer")], [0, 4])
        self.assertEqual(self.make("all", INPUT="other", COMPILE_FLAGS="--pass +a,-b")[0], 0)
        compiles = self.called("dnn-compile")
        self.assertEqual(len(compiles), 4)
        self.assertIn("--pass +a,-b", compiles[0])

    def test_report_is_of_all_streams_that_there_are(self):
        status, said = self.make("report", fail="two.onnx", REPORT_FLAGS="--title 'A matrix'")
        self.assertNotEqual(status, 0)
        page = self.text("report.html")
        self.assertIn("one/opt0/cpu/run.dnns", page)
        self.assertNotIn("two/opt0/cpu/run.dnns", page)
        self.assertIn("--title A matrix -o", [c for c in self.called("dnn-report")][0])
        self.assertEqual(self.make("report", REPORT_FLAGS="--title 'A matrix'")[0], 0)
        self.assertIn("two/opt3/cpu/run.dnns", self.text("report.html"))
        self.assertEqual(len(self.called("dnn-report")), 1)
        self.assertEqual(self.make("report", REPORT_FLAGS="--title 'A matrix'")[0], 0)
        self.assertEqual(self.called("dnn-"), [])
        self.assertEqual(self.make("report", REPORT_FLAGS="--title 'it >is'")[0], 0)
        self.assertEqual(len(self.called("dnn-report")), 1)
        self.make("clean")
        self.assertFalse(self.exists("report.html") or self.exists("report.settings"))

    def test_parallel(self):
        status, said = self.make("-j4", "all")
        self.assertEqual(status, 0, said)
        self.assertNotIn("jobserver", said)
        self.assertEqual(len(self.called("dnn-infer")), 4)
        self.assertEqual(self.leftovers(), [])

    def test_jobs_overlap(self):
        self.script("slow", 'touch "$CALLS.$$"; n=0; while [ $(ls "$CALLS".* | wc -l) -lt 2 ]; do n=$((n+1)); '
                    '[ $n -lt 200 ] || exit 9; sleep 0.05; done; exec "$@"')
        status, said = self.make("-j4", "build", LAUNCHER=f"{self.root}/slow")
        self.assertEqual(status, 0, said)

    def test_a_failing_cell_stops_no_other_and_is_reported(self):
        status, said = self.make("all", fail="O3")
        self.assertNotEqual(status, 0)
        self.assertIn("2 failed, of 4", said)
        log = self.text("one/opt3/cpu/error_log.txt")
        self.assertIn("dnn-compile: error: O3 is broken", log)
        self.assertIn("exit code: 4", log)
        self.assertIn("command:", log)
        self.assertFalse(self.exists("one/opt3/cpu/model.dnnpkg"))
        self.assertTrue(self.exists("two/opt0/cpu/run.dnns"))
        self.assertIn("eval 1:", self.text("one/analysis.txt"))
        self.assertIn(f"results: {self.out}", said)
        self.assertEqual(self.leftovers(), [])
        status, said = self.make("all")
        self.assertEqual(status, 0, said)
        self.assertFalse(self.exists("one/opt3/cpu/error_log.txt"))
        self.assertIn("eval 2:", self.text("one/analysis.txt"))

    def test_a_killed_run_leaves_no_half_result_and_is_taken_up_again(self):
        self.script("bin/dnn-infer", PROLOGUE + 'case "$*" in --list-devices) ;; *) echo half; sleep 100;; esac')
        with self.start("all") as process:
            half = f"{self.out}/one/opt0/cpu/run.dnns.*.tmp"
            deadline = time.monotonic() + 300
            while not any(self.size(path) for path in glob.glob(half)):
                self.assertLess(time.monotonic(), deadline, "no half result")
                time.sleep(0.02)
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        self.assertFalse(self.exists("one/opt0/cpu/run.dnns"))
        self.assertTrue(self.leftovers())
        self.script("bin/dnn-infer", PROLOGUE + TOOLS["dnn-infer"])
        status, said = self.make("all")
        self.assertEqual(status, 0, said)
        self.assertIn("stream of", self.text("one/opt0/cpu/run.dnns"))
        self.assertEqual(self.leftovers(), [])

    def test_a_missing_model_fails_but_the_other_runs(self):
        self.script("bin/dnn-compile", PROLOGUE + "[ -e \"$4\" ] || { echo no $4 >&2; exit 5; }; " + TOOLS["dnn-compile"])
        status, said = self.make("all", MODELS=f"{self.root}/none.onnx {self.root}/one.onnx")
        self.assertNotEqual(status, 0)
        self.assertIn("2 failed, of 4", said)
        self.assertIn("none.onnx", self.text("none/opt0/cpu/error_log.txt"))
        self.assertTrue(self.exists("one/opt3/cpu/run.dnns"))

    def test_a_failing_comparison_is_a_failure(self):
        whole = TOOLS["dnn-eval"]
        self.script("bin/dnn-eval", PROLOGUE + whole + "; exit 1")
        status, said = self.make("all", EVAL_FLAGS="--max-disagreement=0")
        self.assertNotEqual(status, 0)
        self.assertIn("dnn-eval said 1", said)
        self.assertIn("--max-disagreement=0", self.text("one/analysis.txt.failed"))
        self.assertFalse(self.exists("one/analysis.txt"))
        self.assertTrue(self.exists("two/analysis.txt.failed"))
        self.script("bin/dnn-eval", PROLOGUE + whole)
        self.assertEqual(self.make("all", EVAL_FLAGS="--max-disagreement=0")[0], 0)
        self.assertFalse(self.exists("one/analysis.txt.failed"))

    def test_launcher_wraps_each_cell(self):
        self.script("launch", 'echo "$#" >>"$CALLS.launched"; exec "$@"')
        self.assertEqual(self.make("execute", LAUNCHER=f"{self.root}/launch")[0], 0)
        with open(self.calls + ".launched") as f:
            self.assertEqual(f.read().split(), ["3"] * 8)  # sh -c COMMAND

    def test_a_launcher_that_claims_success_is_not_believed(self):
        self.script("dead", "exit 0")
        status, said = self.make("execute", LAUNCHER=f"{self.root}/dead")
        self.assertNotEqual(status, 0)
        self.assertIn("no result", self.text("one/opt0/cpu/error_log.txt"))

    def test_a_launcher_that_eats_stdin_harms_nothing(self):
        self.script("eater", 'cat >/dev/null; exec "$@"')
        self.assertEqual(self.make("execute", LAUNCHER=f"{self.root}/eater")[0], 0)

    def test_missing_tools_name_setup(self):
        os.remove(f"{self.bin}/dnn-eval")
        status, said = self.make("all")
        self.assertEqual(status, 2)
        self.assertIn("dnn-eval", said)
        self.assertIn("scripts/setup", said)
        self.assertFalse(os.path.exists(self.out))

    def test_frameworks_run_models_and_need_no_package(self):
        devices = "cpu lib:onnxruntime lib:tflite lib:onnxruntime:ep=CUDA lib:torch kenning://board:7"
        status, said = self.make("all", DEVICES=devices, COMPILE_FLAGS="--shape 1x3", MODELS=f"{self.root}/one.onnx")
        self.assertEqual(status, 0, said)
        self.assertIn("skipped device lib:torch", said)
        self.assertNotIn("skipped device lib:onnx", said)
        runs = [c.split(" --warmup")[0] for c in self.called("dnn-infer")]
        self.assertIn("dnn-infer --device kenning://board:7 --shape 1x3", runs)
        self.assertFalse(self.exists("one/optnative/kenning---board-7/model.dnnpkg"))
        self.assertEqual(sorted(r for r in runs if "lib:" in r), sorted(
            f"dnn-infer --device {d}{level} --shape 1x3" for d, level in [
                ("lib:onnxruntime", " -O0"), ("lib:onnxruntime", " -O3"), ("lib:onnxruntime:ep=CUDA", " -O0"),
                ("lib:onnxruntime:ep=CUDA", " -O3"), ("lib:tflite", "")]))
        self.assertTrue(self.exists("one/optnative/lib-tflite/run.dnns"))
        self.assertIn("one.onnx images", self.text("one/opt3/lib-onnxruntime/run.dnns"))
        self.assertFalse(self.exists("one/opt3/lib-onnxruntime/model.dnnpkg"))
        self.assertEqual(self.make("build", DEVICES=devices, MODELS=f"{self.root}/one.onnx")[0], 0)

    def test_a_framework_gets_a_model_itself_where_it_is_ours_or_trusted(self):
        settings = {"DEVICES": "lib:tflite", "MODELS": f"{self.root}/one.onnx", "FORMATS": "tflite"}
        self.assertEqual(self.make("execute", **settings)[0], 0)
        calls = self.called("dnn-infer")
        self.assertEqual(sorted(("one_to_tflite" in c, "--trust-model" in c) for c in calls if "lib:" in c), [(False, False), (True, True)])
        self.assertEqual(self.make("execute", TRUST_MODEL="1", **settings)[0], 0)
        calls = self.called("dnn-infer")
        self.assertEqual(["--trust-model" in c for c in calls if "lib:" in c], [True, True])

    def test_absent_devices_are_skipped_with_a_reason(self):
        status, said = self.make("all", DEVICES="reference cpu opencl:0")
        self.assertEqual(status, 0, said)
        self.assertIn("skipped device opencl:0", said)
        self.assertFalse(self.exists("one/opt0/opencl-0"))
        self.assertTrue(self.exists("one/opt0/reference/run.dnns"))
        self.assertFalse(self.exists("one/opt3/reference"))
        status, said = self.make("execute", DEVICES="tcp://far:7000")
        self.assertEqual(status, 0, said)
        self.assertTrue(self.exists("one/opt0/tcp---far-7000/run.dnns"))

    def test_nothing_to_do_is_a_failure(self):
        for settings in ({"DEVICES": "opencl:0"}, {"MODELS": ""}, {"OPTS": ""}):
            status, said = self.make("all", **settings)
            self.assertEqual(status, 2)
            self.assertIn("nothing to do", said)

    def test_a_folder_that_make_would_cut_into_words_is_refused(self):
        os.makedirs(f"{self.root}/my/one")
        for out, why in ((f"{self.root}/my out", "one folder is wanted"), (f"{self.root}/it's", "which holds '"),
                         (f'{self.root}/a"b', 'which holds "'), ("", "one folder is wanted")):
            for goal in ("clean", "all"):
                status, said = self.make(goal, OUT=out)
                self.assertEqual(status, 2)
                self.assertIn(why, said)
        self.assertTrue(os.path.exists(f"{self.root}/my/one"))

    def refused(self, why, *words, environment=None, **settings):
        """make refuses the settings in one line that says why, and what their names hold was not run."""
        with self.start(*words, environment=environment, **settings) as process:
            said, _ = process.communicate(timeout=300)
        self.assertEqual((process.returncode, len(said.splitlines())), (2, 1), (said, settings))
        self.assertRegex(said, why, settings)
        self.assertFalse(glob.glob(f"{self.root}/RAN*") or os.path.exists("RAN"), settings)
        self.assertFalse(re.search(r"[\x00-\x09\x0b-\x1f\x7f]", said), "no name may write to the terminal")

    NAMED = ("MODELS", "INPUT", "LABELS", "LOCALIZE", "LOCALIZE_INPUT", "DEVICES", "CONVERTED_DEVICES", "OUT", "BIN", "CONVERT", "FORMATS",
             "TRAIN", "TRAIN_DATA", "VALIDATE", "OPTS", "OPTS_reference", "PASSES", "ABLATE", "PRECISIONS", "CALIBRATE", "PREPROCESS", "RUNS", "SHARDS", "TUNE", "CONVERTERS", "DIRECTIONS",
             "MATRIX")

    def test_each_variable_of_a_person_is_looked_at(self):
        """A new variable that names files is in the list that is looked at before make expands anything."""
        text = open("Makefile.experiments").read()
        names = re.search(r"^NAMES := (.*?[^\\])\n", text, re.M | re.S)[1].replace("\\\n", " ").split()
        given = set(re.findall(r"^([A-Z]\w*) *\?=", text, re.M)) - {"LAUNCHER"}
        self.assertGreater(len(given), 20)
        self.assertEqual({name for name in given if "FLAGS" not in name} - set(names), set())

    def test_names_that_are_commands_are_refused(self):
        run = f"touch {self.root}/RAN"
        for name in self.NAMED:
            self.refused(rf"{name} holds a '\$'", "help", **{name: f"x$(shell {run}).onnx"})
            self.refused(rf"{name} names .*, which holds `", "help", **{name: f"x`{run}`.onnx"})
            self.refused(rf"{name} names .*, which holds the end of a line", "help", **{name: f"x\n\t{run}"})
        for name in ("MODELS", "INPUT", "COMPILE_FLAGS", "INFER_FLAGS_one", "LAUNCHER"):
            self.refused(rf"{name} holds a '\$'", "build", environment={name: f"$(shell {run})"}, **({name: None} if name in ("MODELS", "INPUT") else {}))
        self.refused(r"INFER_FLAGS holds a '`'", "execute", INFER_FLAGS=f"--labels `{run}`")

    def test_names_that_a_matrix_file_finds_are_refused(self):
        """What $(wildcard) finds comes from the file system, however trusted the matrix file is."""
        os.mkdir(f"{self.root}/found")
        hostile = f"{self.root}/found/$(shell touch RAN).onnx"
        with open(hostile, "w"), open(f"{self.root}/my.mk", "w") as matrix:
            matrix.write(f"MODELS = $(wildcard {self.root}/found/*)\n")
        unset = {"MODELS": None, "MATRIX": f"{self.root}/my.mk"}
        self.refused(r'MODELS names ".*/found/\$\(shell", which holds \$', "build", **unset)
        os.rename(hostile, f"{self.root}/found/;touch RAN;.onnx".replace(" ", "\x1b"))
        self.refused("which holds a character that cannot be seen", "build", **unset)
        os.remove(glob.glob(f"{self.root}/found/*")[0])
        with open(f"{self.root}/found/fine.onnx", "w"):
            pass
        self.assertEqual(self.make("build", **unset)[0], 0)

    def test_each_character_is_taken_or_refused(self):
        """Every byte of ASCII between the letters of a model's name: the package is made under that name, or nothing is."""
        taken = "".join(chr(c) for c in range(128) if chr(c).isalnum()) + "._-+,@/~"
        models = []
        for c in taken + "\u00e9":
            models.append(f"{self.root}/m{ord(c)}_{c}_.onnx")
            os.makedirs(os.path.dirname(models[-1]), exist_ok=True)
            with open(models[-1], "w"):
                pass
        status, said = self.make("build", MODELS=" ".join(models), OPTS="0")
        self.assertEqual(status, 0, said)
        for model in models:
            stem = os.path.basename(model)[:-len(".onnx")]
            self.assertTrue(self.exists(f"{stem}/opt0/cpu/model.dnnpkg"), stem)
        for c in map(chr, range(1, 128)):
            if c not in taken + " \t":
                self.refused("MODELS (names|holds)", "help", MODELS=f"x{c}y.onnx")
        for name, value in (("MODELS", "-o.onnx"), ("MODELS", "~x.onnx"), ("INPUT", "--device=exec:x"), ("MODELS", "..onnx"), ("MODELS", "x/.onnx"),
                            ("OUT", "a=b"), ("OUT", "a:b"), ("LOCALIZE", "a=b.onnx:c.onnx"), ("CONVERT", "a:b.onnx")):
            self.refused(f"{name} names", "help", **{name: value})

    def test_quotes_in_flags_are_the_shell_s(self):
        settings = {"MODELS": f"{self.root}/one.onnx", "OPTS": "3", "INFER_FLAGS": "--labels 'my labels.txt' --title \"it's\""}
        status, said = self.make("execute", **settings)
        self.assertEqual(status, 0, said)
        self.assertIn("--labels my labels.txt --title it's", self.text("one/opt3/cpu/run.dnns"))
        self.called("")
        self.assertEqual(self.make("execute", **settings)[0], 0)
        self.assertFalse(os.path.exists(self.calls) and self.called("dnn-infer"), "nothing changed")

    def test_devices_as_a_tool_lists_them_are_no_commands(self):
        self.script("bin/dnn-infer", PROLOGUE + """case "$*" in --list-devices) printf 'cpu\\nopencl:0\\t$(shell touch RAN)`touch RAN`\\n';; *) echo stream;; esac""")
        status, said = self.make("execute", DEVICES="cpu opencl:0", OPTS="0", MODELS=f"{self.root}/one.onnx")
        self.assertEqual(status, 0, said)
        self.assertTrue(self.exists("one/opt0/opencl-0/run.dnns"))
        self.assertFalse(os.path.exists("RAN"))

    def test_text_files(self):
        status, said = self.make("execute", TEXT="1")
        self.assertEqual(status, 0, said)
        self.assertEqual(self.text("one/opt3/cpu/text/a/x.png.txt"), "7, 1.5\n2, -0.25\n\n0.003000000\n")
        self.assertEqual(self.text("one/opt3/cpu/text/b/y.png.txt"), "3, nan\n\n0.000001000\n")
        self.assertEqual(self.leftovers(), [])

    def test_conversions_join_the_matrix(self):
        status, said = self.make("all", FORMATS="tflite")
        self.assertEqual(status, 0, said)
        self.assertEqual(self.text("one_to_tflite/one_to_tflite.tflite"), "converted\n")
        self.assertTrue(self.exists("two_to_tflite/opt3/cpu/run.dnns"))
        self.assertIn("eval 4:", self.text("two/analysis.txt"))  # beside what it was made from
        self.assertIn("eval 2:", self.text("models.txt"))

    def test_flags_of_one_model(self):
        status, said = self.make("all", COMPILE_FLAGS_two="--shape 1x3x8x8", COMPILE_FLAGS="--pass -a")
        self.assertEqual(status, 0, said)
        calls = [c for c in self.called("dnn-compile")]
        self.assertEqual([("--shape" in c, "--pass -a" in c) for c in sorted(calls, key=lambda c: "two.onnx" in c)],
                         [(False, True)] * 2 + [(True, True)] * 2)

    def test_preprocessing_of_one_model(self):
        settings = {"INFER_FLAGS": "--preprocess a", "INFER_FLAGS_two": "--preprocess b", "DEVICES": "cpu lib:tflite"}
        status, said = self.make("execute", **settings)
        self.assertEqual(status, 0, said)
        calls = self.called("dnn-infer")
        self.assertEqual(sorted(("/two" in c, "--preprocess a --preprocess b" in c) for c in calls), [(False, False)] * 3 + [(True, True)] * 3)
        self.assertEqual(self.make("execute", **settings)[0], 0)
        self.assertEqual(self.called("dnn-infer"), [])
        self.assertEqual(self.make("execute", **{**settings, "INFER_FLAGS_two": "--preprocess c"})[0], 0)
        self.assertIn("--preprocess c", self.called("dnn-infer")[-1])

    def test_conversions_may_run_in_fewer_cells(self):
        status, said = self.make("all", FORMATS="tflite pt", CONVERT=f"{self.root}/two.onnx", CONVERTED_OPTS="3")
        self.assertEqual(status, 0, said)
        self.assertFalse(self.exists("one_to_tflite"))
        self.assertFalse(self.exists("two_to_pt/opt0"))
        self.assertIn("two_to_pt/opt3/cpu/run.dnns", self.text("two/analysis.txt"))
        self.assertIn("eval 2:", self.text("one/analysis.txt"))
        self.assertEqual(self.make("clean", FORMATS="tflite pt")[0], 0)
        self.assertFalse(self.exists("two_to_pt"))

    def test_repeated_runs_and_single_passes(self):
        settings = {"MODELS": f"{self.root}/one.onnx", "RUNS": "3", "PASSES": "-fold-constant +fast-math,-fuse-ops",
                    "DEVICES": "cpu reference lib:tflite lib:onnxruntime"}
        status, said = self.make("all", **settings)
        self.assertEqual(status, 0, said)
        with open(self.calls) as f:
            calls = f.read()
        self.assertIn("dnn-compile -O3 --pass=+fast-math,-fuse-ops --device cpu", calls)
        self.assertIn("dnn-compile -O3 --pass=-fold-constant --device cpu", calls)
        self.assertEqual(calls.count("--pass="), 2)  # neither the interpreter nor frameworks have our passes
        # cpu at 0, 3 and twice 3 with a change, the interpreter once, TFLite once, ONNX Runtime twice; each three times.
        self.assertEqual(calls.count("\ndnn-infer --device"), 3 * (4 + 1 + 1 + 2))
        self.assertTrue(self.exists("one/opt3-fold-constant/cpu/run3/run.dnns"))
        self.assertIn("eval 24:", self.text("one/analysis.txt"))
        status, said = self.make("all", **{**settings, "RUNS": "4"})
        self.assertEqual(status, 0, said)
        self.assertIn("eval 32:", self.text("one/analysis.txt"))
        self.called("")
        self.assertEqual(self.make("all", **{**settings, "RUNS": "4"})[0], 0)
        self.assertEqual(self.called("dnn-"), [])
        for wrong in ({"RUNS": "0"}, {"RUNS": "two"}, {"SHARDS": "1 2"}, {"SHARDS": "-1"}, {"RUNS": ""}):
            status, said = self.make("all", **wrong)
            self.assertEqual(status, 2)
            self.assertIn("whole numbers from 1 on are wanted", said)

    def test_precisions_are_an_axis(self):
        settings = {"MODELS": f"{self.root}/one.onnx", "OPTS": "0 3", "PASSES": "-fuse-ops", "PRECISIONS": "f32 bf16 int8",
                    "DEVICES": "cpu reference lib:onnxruntime", "CALIBRATE": "more/"}
        status, said = self.make("all", **settings)
        self.assertEqual(status, 0, said)
        with open(self.calls) as f:
            calls = f.read()
        self.assertEqual(calls.count("\ndnn-quantize"), 1, calls)
        self.assertIn(f"one.onnx --calibrate more/ -o {self.root}/out/one/int8/one_int8.onnx", calls)
        self.assertIn("dnn-compile -O3 --precision bf16 --device cpu", calls)
        self.assertRegex(calls, r"dnn-compile -O3 --device cpu .*/one/int8/one_int8.onnx -o .*/opt3-int8/cpu/")
        self.assertEqual(calls.count("--precision"), 3)  # cpu at 0 and 3, the interpreter
        for cell in ("opt0-f32/cpu", "opt3-bf16/cpu", "opt3-int8/cpu", "opt0-bf16/reference", "opt3-fuse-ops/cpu", "opt3/lib-onnxruntime"):
            self.assertTrue(self.exists(f"one/{cell}/run.dnns"), cell)
        self.assertIn("eval 12:", self.text("one/analysis.txt"))
        self.called("")
        self.assertEqual(self.make("all", **settings)[0], 0)
        self.assertEqual(self.called("dnn-"), [])
        self.assertEqual(self.make("execute", **{**settings, "QUANTIZE_FLAGS": "--preprocess other"})[0], 0)
        self.assertEqual(len(self.called("dnn-quantize")), 1)
        status, said = self.make("all", **{**settings, "PRECISIONS": "f32 int4"})
        self.assertEqual(status, 2)
        self.assertIn('PRECISIONS names "int4": choose from f32 bf16 f16 int8', said)

    def test_training_comes_before_all_else(self):
        settings = {"MODELS": f"{self.root}/one.onnx", "TRAIN": "head mine", "TRAIN_FLAGS_mine": "--epochs 3", "TRAIN_DATA": "flowers/train",
                    "VALIDATE": "flowers/test", "FORMATS": "tflite", "OPTS": "3", "LABELS": "names.txt"}
        self.assertEqual(self.make("train", **settings)[0], 0)
        calls = self.called("dnn-")
        self.assertEqual([c.split()[0] for c in calls], ["dnn-train", "dnn-train"])
        flags = "--resume --preprocess imagenet-torch --data flowers/train --validate flowers/test --logdir"
        self.assertIn(f"dnn-train {flags} {self.out}/one_head/log --replace-head linear --freeze * {self.root}/one.onnx -o {self.out}/one_head/training", calls[0])
        self.assertIn(f"{self.out}/one_mine/log --epochs 3 {self.root}/one.onnx -o {self.out}/one_mine/training", calls[1])
        status, said = self.make("all", **settings)
        self.assertEqual(status, 0, said)
        calls = self.called("dnn-")
        self.assertFalse([c for c in calls if c.startswith("dnn-train")], "trained once")
        for name in ("one", "one_to_tflite", "one_head", "one_head_to_tflite", "one_mine", "one_mine_to_tflite"):
            self.assertTrue(self.exists(f"{name}/opt3/cpu/run.dnns"), name)
        self.assertIn("--labels names.txt", self.text("one/opt3/cpu/run.dnns"))
        self.assertNotIn("--labels", self.text("one_head/opt3/cpu/run.dnns"))  # it has classes of its own
        self.assertIn("eval 2:", self.text("one_head/analysis.txt"))
        # Other data: trained anew, and all that comes of it.
        self.assertEqual(self.make("execute", **{**settings, "TRAIN_DATA": "other"})[0], 0)
        calls = self.called("dnn-")
        self.assertEqual([len([c for c in calls if c.startswith(t)]) for t in ("dnn-train", "dnn-convert", "dnn-infer")], [2, 2, 4])
        # What fails stops nothing else.
        status, said = self.make("execute", fail="epochs", **{**settings, "TRAIN_DATA": "more", "TRAIN_FLAGS_mine": "--epochs 4"})
        self.assertNotEqual(status, 0)
        self.assertIn("one_mine/error_log.txt: dnn-train: error: epochs is broken", said)
        self.assertTrue(self.exists("one_head/opt3/cpu/run.dnns"))
        status, said = self.make("train", **{**settings, "TRAIN": "head foot"})
        self.assertEqual(status, 2)
        self.assertIn('TRAIN names "foot": choose from head whole scratch kenning-pets, or say what it is as TRAIN_FLAGS_foot', said)
        self.assertEqual(self.leftovers(), [])

    def test_shards_are_cells_of_their_own_and_are_joined(self):
        settings = {"MODELS": f"{self.root}/one.onnx", "OPTS": "3", "SHARDS": "3"}
        status, said = self.make("execute", fail="1/3", **settings)
        self.assertNotEqual(status, 0)
        self.assertIn("1/3 is broken", self.text("one/opt3/cpu/shard2of3/error_log.txt"))
        self.assertTrue(self.exists("one/opt3/cpu/shard3of3/run.dnns"))
        self.assertFalse(self.exists("one/opt3/cpu/run.dnns"))
        status, table = self.make("status", **settings)
        self.assertEqual(status, 0, table)
        self.assertRegex(table, r"(?m)^one +-O3 +failed shards 2/3$")
        self.called("")
        status, said = self.make("execute", **settings)
        self.assertEqual(status, 0, said)
        self.assertEqual(len(self.called("dnn-infer")), 1)  # the one that was missing
        self.assertEqual([line.split("images ")[1] for line in self.text("one/opt3/cpu/run.dnns").splitlines()],
                         ["--shard 0/3", "--shard 1/3", "--shard 2/3"])
        self.assertFalse(self.exists("one/opt3/cpu/shard1of3"))
        self.assertEqual(self.leftovers(), [])
        self.assertEqual(self.make("execute", **settings)[0], 0)
        self.assertEqual(self.called("dnn-infer") if os.path.exists(self.calls) else [], [])

    def test_a_stream_that_is_cut_off_is_a_failure(self):
        self.script("bin/dnn-cat", PROLOGUE + 'case "$*" in --check*) echo "dnn-cat: error: truncated" >&2; exit 3;; esac')
        status, said = self.make("execute")
        self.assertNotEqual(status, 0)
        self.assertIn("truncated", self.text("one/opt0/cpu/error_log.txt"))
        self.assertFalse(self.exists("one/opt0/cpu/run.dnns"))

    def test_what_an_earlier_attempt_still_writes_stays_out(self):
        """A job that its make lost sight of ends later: what it moves is its own file, or none."""
        self.script("bin/dnn-infer", PROLOGUE + 'case "$*" in --list-devices) ;; *) echo early; n=0; while [ ! -e "$CALLS.go" ]; do '
                    'n=$((n+1)); [ $n -lt 600 ] || exit 9; sleep 0.05; done; echo late;; esac')
        with self.start("execute", MODELS=f"{self.root}/one.onnx", OPTS="3", LAUNCHER="setsid -w") as process:
            self.assertTrue(self.wait_for(lambda: any("run.dnns" in name for name in self.leftovers())))
            os.killpg(process.pid, signal.SIGKILL)  # which the job under setsid outlives
            process.communicate()
        self.script("bin/dnn-infer", PROLOGUE + TOOLS["dnn-infer"])
        status, said = self.make("execute", MODELS=f"{self.root}/one.onnx", OPTS="3")
        self.assertEqual(status, 0, said)
        with open(self.calls + ".go", "w"):
            pass
        time.sleep(0.5)
        self.assertIn("stream of", self.text("one/opt3/cpu/run.dnns"))
        self.assertNotIn("late", self.text("one/opt3/cpu/run.dnns"))

    @staticmethod
    def size(path):
        """In bytes; 0 where the file was renamed meanwhile."""
        try:
            return os.path.getsize(path)
        except FileNotFoundError:
            return 0

    def wait_for(self, what):
        deadline = time.monotonic() + 60
        while not what() and time.monotonic() < deadline:
            time.sleep(0.02)
        return what()

    def test_status_tells_where_each_cell_stands(self):
        self.script("bin/dnn-infer", PROLOGUE + 'case "$*" in --list-devices) printf "reference\\ncpu\\n";; *opt3/cpu*two*|*two/opt3*) '
                    'echo half; n=0; while [ ! -e "$CALLS.go" ]; do n=$((n+1)); [ $n -lt 6000 ] || exit 9; sleep 0.05; done;; *) echo stream;; esac')
        settings = {"DEVICES": "cpu opencl:0", "OPTS": "0 3", "FORMATS": "tflite"}
        status, table = self.make("status", **settings)
        self.assertEqual(status, 0, table)
        self.assertRegex(table, r"(?m)^model +level +cpu\none +-O0 +waiting$")
        self.assertIn("8 cells: 8 waiting", table)
        self.assertIn("2 conversions not made yet: one_to_tflite two_to_tflite", table)
        with self.start("execute", fail="one/opt3", **settings) as process:
            rows = [r"(?m)^two +-O3 +running \d+s$", r"(?m)^one +-O0 +done$", r"(?m)^one +-O3 +failed$"]
            table = ""

            def all_rows():
                nonlocal table
                table = self.make("status", **settings)[1]
                return all(re.search(row, table) for row in rows)

            self.assertTrue(self.wait_for(all_rows), table)
            self.assertIn("one/opt3/cpu/error_log.txt: dnn-compile: error: one/opt3 is broken", table)
            with open(self.calls + ".go", "w"):
                pass
            process.communicate(timeout=300)
        self.assertIn("7 done, 1 failed", self.make("status", **settings)[1])

    def test_the_grid_is_printed_and_kept(self):
        self.script("check", '#!/bin/sh\necho "check $*" >>"$CALLS"; echo "| model | source |"; exit ${VERDICT:-1}')
        settings = {"CHECK_CONVERSIONS": f"{self.root}/check", "CONVERTERS": "dnn tf2onnx", "GRID_FLAGS": "--samples 2"}
        status, said = self.make("grid", **settings)
        self.assertEqual(status, 0, said)
        self.assertIn("| model | source |", said)
        self.assertEqual(self.text("grid.md"), "| model | source |\n")
        call = self.called("check")[0]
        for words in (f"{self.root}/two.onnx", "--converters dnn tf2onnx --grid", "--samples 2", f"--json {self.out}/grid.json"):
            self.assertIn(words, call)
        self.script("check", "#!/bin/sh\nexit 2")
        self.assertNotEqual(self.make("grid", **settings)[0], 0)
        self.assertEqual(self.make("clean")[0], 0)
        self.assertFalse(self.exists("grid.md"))

    def test_models_are_tuned_one_after_another(self):
        sides = {side: {f"{f}_ms": ms for f in ("mean", "median", "max", "min", "std")} for side, ms in (("before", 3), ("after", 2.5))}
        summary = {"type": "summary", "model": "a.onnx", "isa": "avx2", "threads": 2, "trials": 7, "seconds": 8.4, **sides}
        self.script("summary", json.dumps(summary))
        self.script("bin/dnn-compile", PROLOGUE + 'while [ "$1" != --tuning-log ]; do shift; done; echo "{}" >"$2"; cat "$ROOT/summary" >>"$2"')
        status, said = self.make("tune", OPTS="0 3-fuse-ops,-winograd", TUNE="60", TUNE_FLAGS="--tuner grid", ROOT=self.root)
        self.assertEqual(status, 0, said)
        calls = self.called("dnn-compile")
        self.assertEqual(len(calls), 2)
        for words in ("-O3 --pass=-fuse-ops,-winograd", "--tune=60 --tuner grid", f"{self.out}/two/tuning.jsonl", f"-o {self.out}/two/tuned.dnnpkg"):
            self.assertIn(words, calls[1])
        self.assertEqual(len([line for line in said.splitlines() if line.split() == "a.onnx avx2 2".split() + ["3.000"] * 5 + ["2.500"] * 5 + ["1.200", "7", "8"]]), 2, said)
        status, said = self.make("tune", fail="one", ROOT=self.root)
        self.assertNotEqual(status, 0)
        self.assertEqual(len(self.called("dnn-compile")), 2, "a model that fails stops no other")
        self.assertEqual(self.make("clean")[0], 0)
        self.assertFalse(self.exists("two"))

    def test_branched_networks_are_measured_and_reported(self):
        self.script("bin/dnn-branch", PROLOGUE + 'while [ "$1" != -o ]; do shift; done; echo cfg,latency,energy >"$2"; echo "{}" >"${2%.csv}.json"')
        status, said = self.make("stretch", BRANCHED="configs/mi net.onnx", BRANCH_DEVICES="C=cpu@0,G=opencl:0", STRETCH_FLAGS="--runs 7")
        self.assertEqual(status, 0, said)
        self.assertIn("cfg,latency,energy", said)
        call = self.called("dnn-branch")[0]
        for words in ("eval configs/mi net.onnx --devices C=cpu@0,G=opencl:0 --runs 7", f"-o {self.out}/stretch/result.csv"):
            self.assertIn(words, call)
        self.assertIn(f"{self.out}/stretch/result.json", self.text("stretch/report.html"))
        self.assertEqual(self.make("all")[0], 0)
        self.assertIn("stretch/result.json", self.text("report.html"))
        self.assertEqual(self.make("stretch", BRANCHED="")[0], 2)
        self.assertNotEqual(self.make("stretch", BRANCHED="configs", fail="eval")[0], 0)
        self.assertEqual(self.make("clean")[0], 0)
        self.assertFalse(self.exists("stretch"))

    def test_localisation_answers_by_exit_1(self):
        pair = f"{self.root}/one.onnx:{self.root}/two.onnx"
        status, said = self.make("all", LOCALIZE=pair, LOCALIZE_INPUT="x.png")
        self.assertEqual(status, 0, said)
        self.assertIn("first divergent layer", self.text("localize_one_two.txt"))
        self.script("bin/dnn-localize", "#!/bin/sh\nexit 3")
        os.remove(f"{self.out}/localize_one_two.txt")
        self.assertNotEqual(self.make("all", LOCALIZE=pair, LOCALIZE_INPUT="x.png")[0], 0)

    def test_clean_removes_what_it_made_and_nothing_else(self):
        self.assertEqual(self.make("all")[0], 0)
        with open(f"{self.out}/notes.txt", "w") as f:
            f.write("mine")
        self.assertEqual(self.make("clean")[0], 0)
        self.assertEqual(os.listdir(self.out), ["notes.txt"])

    def test_without_a_goal_it_explains_itself(self):
        status, said = self.make()
        self.assertEqual(status, 0)
        self.assertIn("Makefile.experiments all", said)


if __name__ == "__main__":
    unittest.main()
