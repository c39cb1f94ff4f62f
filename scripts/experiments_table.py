#!/usr/bin/env python3
"""experiments_table: the comparisons of dnn-eval --json in one table: a row per run, compared with its report's baseline.

usage: experiments_table.py REPORT.json...
"""
import json
import os
import sys

import usage
from printable import clean

COLUMNS = [  # (heading, where it stands, metric, how it is printed)
    ("top-1 %", "run", "top1_accuracy", "{:.2f}"), ("top-5 %", "run", "top5_accuracy", "{:.2f}"),
    ("median ms", "run", "latency_median", "{:.3f}"), ("p95 ms", "run", "latency_p95", "{:.3f}"),
    ("same top-1 %", "pair", "top1_agreement", "{:.2f}"), ("flips", "pair", "flips", "{:.0f}"),
    ("near ties", "pair", "near_ties", "{:.0f}"), ("max rel", "pair", "output_max_rel", "{:.1e}"),
    ("time %", "pair", "time_change", "{:+.1f}"),
]


def cell(values, metric, form):
    value = values.get(metric)
    return form.format(float(value)) if value is not None else "-"


def rows(report):
    runs = report.get("runs", [])
    baseline = report.get("baseline", "A")
    against_first = {p["run"]: p["values"] for p in report.get("pairs", []) if p["base"] == baseline}
    for run in runs:
        header = run.get("header", {})
        dtype = header.get("dtype", "float32")
        settings = [header.get("passes", ""), dtype if dtype != "float32" else ""]
        path = header.get("model", {}).get("path", "?")
        yield [os.path.splitext(os.path.basename(path))[0], " ".join(word for word in (f"-O{header['opt']}", *settings) if word) if "opt" in header else "-",
               header.get("device", "-"),
               *(cell(run["values"] if where == "run" else against_first.get(run["run"], {}), metric, form)
                 for _, where, metric, form in COLUMNS)]


def main(paths):
    head = ["model", "level", "device", *(c[0] for c in COLUMNS)]
    groups = []
    for path in paths:
        with open(path) as f:
            groups.append([[clean(text) for text in row] for row in rows(json.load(f))])
    widths = [max(len(row[i]) for row in [head, *(r for g in groups for r in g)]) for i in range(len(head))]
    n_runs = len(COLUMNS) + 3 - sum(where == "pair" for _, where, _, _ in COLUMNS)
    print(" " * (sum(widths[:n_runs]) + 2 * n_runs) + "against the first row of its block; flips: other labels, near ties aside")
    for row in [head, *(r for g in groups for r in [[], *g])]:
        print("  ".join(f"{text:{'<' if i < 3 else '>'}{widths[i]}}" for i, text in enumerate(row)).rstrip())


if __name__ == "__main__":
    usage.answer_help(__doc__)
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(sys.argv[1:])
