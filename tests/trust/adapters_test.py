#!/usr/bin/env python3
"""Adapters unpickle nothing and load Keras models in safe mode; their box keeps a planted framework from files, sockets and processes."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.argv = sys.argv[:1]
ROOT = pathlib.Path(__file__).resolve().parents[2]
ADAPTERS = ROOT / "scripts" / "adapters"
# what a script may not say, and how it may
FORBIDDEN = [(r"\btorch\.load\((?!.*weights_only=True)", "torch.load() without weights_only=True"),
             (r"\bweights_only=False", "weights_only=False"),
             (r"\b(import|from)\s+(pickle|cPickle|dill|cloudpickle|marshal|joblib)\b", "a module that executes what it reads"),
             (r"allow_pickle=True", "allow_pickle=True"),
             (r"\bmodels\.load_model\((?!.*safe_mode=True)", "load_model() without safe_mode=True"),
             (r"safe_mode=False|enable_unsafe_deserialization", "Keras without its safe mode"),
             (r"\bmodel_from_(json|config|yaml)\(", "a Keras model of a configuration, which has no safe mode")]
BOXED = """
import fcntl, json, os, socket, subprocess, sys, termios
sys.path.insert(0, {adapters!r})
import box
box.close_for_model({model!r}, {scratch!r})
def kept(act):
    try:
        act()
        return False
    except OSError:
        return True
print(json.dumps(dict(box.facts(), **{{
    "write": kept(lambda: open({outside!r} + "/planted", "w")), "read": kept(lambda: open({outside!r} + "/secret").read()),
    "list": kept(lambda: os.listdir({outside!r})), "remove": kept(lambda: os.unlink({outside!r} + "/secret")),
    "inet": kept(lambda: socket.socket()), "unix": kept(lambda: socket.socket(socket.AF_UNIX)), "kill": kept(lambda: os.kill(os.getppid(), 0)),
    "keys": kept(lambda: fcntl.ioctl(0, termios.TIOCSTI, b"x")), "size": not kept(lambda: fcntl.ioctl(0, termios.TIOCGWINSZ, b"x" * 8)),
    "child": subprocess.run([sys.executable, "-c", "open(" + repr({outside!r} + "/planted") + ", 'w')"], stderr=subprocess.DEVNULL).returncode != 0,
    "model": not kept(lambda: open({model!r}).read()), "scratch": not kept(lambda: open({scratch!r} + "/x", "w").close()),
    "beside": not kept(lambda: open({model!r} + ".data").read()), "compute": subprocess.run([sys.executable, "-c", "import zipfile"]).returncode == 0}})))
"""


class Adapters(unittest.TestCase):
    def test_nothing_is_unpickled(self):
        folders = [ROOT / "scripts", ROOT / "bench", ROOT / "docs" / "howto" / "programs", ROOT / "tests"]
        files = [p for folder in folders for p in folder.rglob("*") if p.is_file() and p != pathlib.Path(__file__).resolve()]
        scripts = sorted(p for p in files if p.suffix == ".py" or not p.suffix and b"python3" in p.read_bytes()[:64])
        self.assertGreater(len(scripts), 100)
        for script in scripts:
            for number, line in enumerate(script.read_text(errors="replace").splitlines(), 1):
                for pattern, what in FORBIDDEN:
                    self.assertIsNone(re.search(pattern, line), f"{script.name}:{number}: {what}")
        for name in ("run_torch.py", "convert_torch_onnx.py"):  # torch.export.load() tries again without weights_only
            text = (ADAPTERS / name).read_text()
            forced = text.index('os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"')
            self.assertLess(forced, text.index("import torch\n"), name)

    def test_the_rules_find_what_they_forbid(self):
        for line in ("torch.load(f)", "torch.load(f, weights_only=False)", "import pickle", "np.load(f, allow_pickle=True)",
                     "keras.models.load_model(p, compile=False)", "load_model(p, safe_mode=False)", "from marshal import loads"):
            self.assertTrue(any(re.search(pattern, line) for pattern, _ in FORBIDDEN), line)

    def test_every_adapter_is_closed_before_its_framework_is_imported(self):
        for script in sorted(ADAPTERS.glob("run_*.py")) + sorted(ADAPTERS.glob("convert_*.py")):
            lines = [line.strip() for line in script.read_text().splitlines()]
            imports = [line.split()[1].split(".")[0] for line in lines if re.match(r"(import|from) ", line)]
            ours = next(i for i, name in enumerate(imports) if name in ("adapter", "converter", "run_torch"))
            self.assertTrue(set(imports[:ours]) <= set(sys.stdlib_module_names), script.name)

    def test_the_box(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = os.path.realpath(folder)
            paths = {name: os.path.join(folder, name) for name in ("model", "scratch", "outside")}
            for path in paths.values():
                os.mkdir(path)
            model = paths["model"] + "/net.onnx"
            for path in (model, model + ".data", paths["outside"] + "/secret"):
                pathlib.Path(path).write_text("x")
            script = BOXED.format(adapters=str(ADAPTERS), model=model, scratch=paths["scratch"], outside=paths["outside"])
            main, terminal = os.openpty()
            done = subprocess.run([sys.executable, "-c", script], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/")
            os.close(main)
            os.close(terminal)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            found = json.loads(done.stdout)
            for what in ("model", "scratch", "beside", "compute", "size"):
                self.assertTrue(found[what], f"the box keeps what is needed: {what}: {found}")
            kept = found["sandbox"].split("; not: ")[0].split(", ")
            for what in ("write", "read", "list", "remove", "child") if "files" in kept else ():
                self.assertTrue(found[what], f"{what} is not kept: {found}")
            for what in ("inet", "unix", "keys") if "network" in kept else ():
                self.assertTrue(found[what], f"{what} is not kept: {found}")
            self.assertTrue(os.path.exists(paths["outside"] + "/secret") or "files" not in kept)
            if kept != ["files", "network"]:
                self.skipTest(f"this kernel keeps less: {found['sandbox']}")

    def test_it_can_be_left_open(self):
        script = f"import sys; sys.path.insert(0, {str(ADAPTERS)!r}); import box, socket; box.close_for_model('/', '/tmp'); socket.socket(); print(box.facts())"
        done = subprocess.run([sys.executable, "-c", script], env={**os.environ, "DNN_ADAPTER_BOX": "off"}, stdout=subprocess.PIPE)
        self.assertEqual(done.stdout.decode(), "{'sandbox': 'off'}\n")


if __name__ == "__main__":
    unittest.main()
