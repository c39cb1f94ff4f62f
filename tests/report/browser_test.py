#!/usr/bin/env python3
"""The sample's report and graph in Chromium, held to axe-core's rules; a page with faults, which the check must find; two runs side by side."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BIN = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests/sample"
FAULTS = '<!DOCTYPE html><title>x</title><body style="width:2000px"><p style="color:#ccc;background:#fff">pale</p><img src="data:,">'
RULES = {"color-contrast", "html-has-lang", "image-alt", "no-sideways-scrolling"}


def tool(name, *arguments, expected=0):
    done = subprocess.run([BIN / name, *arguments], capture_output=True, check=False)
    assert done.returncode == expected, (name, done.stderr.decode())
    return done.stdout


def check(*pages):
    return subprocess.run([os.environ.get("DNN_AXE_PYTHON", sys.executable), ROOT / "scripts/check-page", *pages],
                          capture_output=True, text=True, check=False)


def shown(*arguments):
    return subprocess.run([os.environ.get("DNN_AXE_PYTHON", sys.executable), pathlib.Path(__file__).with_name("side_by_side.py"), *arguments],
                          capture_output=True, text=True, check=True).stdout


def check_side_by_side(report, runs):
    """The page shows of two chosen runs what dnn-eval says of them; without a script the same numbers are in its tables."""
    table = json.loads(shown(report, "A", "C"))
    assert table["runs"] == ["A shapes -O0", "C shapes_wrong -O3"], table["runs"]
    rows = table["rows"]
    evaluated = json.loads(tool("dnn-eval", "--json", runs[0], runs[2]))
    first, second = (f'{run["values"]["top1_accuracy"]:.2f}' for run in evaluated["runs"])
    assert rows["top-1 %"] == [first, second, f"{float(second) - float(first):+.4g}"], rows["top-1 %"]
    pair = evaluated["pairs"][0]["values"]
    assert rows["p top-1, C against A"] == [f'{pair["mcnemar_p"]:.2g}'], rows
    assert rows["flips, C against A"] == [f'{pair["flips"]:.0f}'], rows
    assert json.loads(shown(report, "C", "A"))["rows"]["flips, C against A"] == rows["flips, C against A"]
    assert not any("against" in row for row in json.loads(shown(report, "B", "B"))["rows"])
    plain = shown("--without-script", report)
    assert "side by side" not in plain
    for number in (first, second, f'{pair["mcnemar_p"]:.2g}', f'{pair["flips"]:.0f} of 196 samples'):
        assert number in plain, number


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        faulty = folder / "faulty.html"
        faulty.write_text(FAULTS)
        done = check(faulty)
        if done.returncode == 77:
            print(done.stdout, end="")
            return 77
        assert done.returncode == 1, done.stderr
        for width in ("1280 light", "1280 dark", "390 light", "390 dark"):
            found = {line.split(": ")[2] for line in done.stdout.splitlines() if line.startswith(f"{faulty}: {width}: ")}
            assert RULES <= found, (width, found)
        images, models = SAMPLE / "images", [SAMPLE / "shapes.onnx", SAMPLE / "shapes_wrong.onnx"]
        runs = []
        for level, model in (("-O0", models[0]), ("-O3", models[0]), ("-O3", models[1])):
            runs.append(folder / f"{len(runs)}.dnns")
            runs[-1].write_bytes(tool("dnn-infer", "-q", level, "--preprocess", "imagenet-torch", "--labels", SAMPLE / "labels.txt", model, images))
        layers = folder / "layers.json"
        tool("dnn-localize", f"--json={layers}", "--preprocess", "imagenet-torch", *models, images / "star", expected=1)
        report, graph = folder / "report.html", folder / "graph.html"
        tool("dnn-report", "-o", report, "--images", images, *runs, layers)
        tool("dnn-report", "-o", graph, "--graph", models[0], "--graph", models[1], layers)
        check_side_by_side(report, runs)
        done = check(report, graph)
        print(done.stdout, done.stderr, sep="", end="")
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
