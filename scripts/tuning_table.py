#!/usr/bin/env python3
"""tuning_table: the last summary of each tuning log in one table (docs/howto/tune.md), times in ms.

usage: tuning_table.py LOG.jsonl...
"""
import json
import sys

import usage
from printable import clean

FIELDS = ["mean", "median", "max", "min", "std"]


def summary(path):
    last = None
    with open(path) as f:
        for line in f:
            if '"summary"' not in line:
                continue
            try:
                record = json.loads(line)
            except ValueError:
                continue  # a line that was cut off
            last = record if record.get("type") == "summary" else last
    if last is None:
        sys.exit(f"tuning_table: {clean(path)}: holds no summary: its search did not end")
    return last


def row(s):
    sides = [f"{s[side][field + '_ms']:.3f}" for side in ("before", "after") for field in FIELDS]
    gain = s["before"]["median_ms"] / s["after"]["median_ms"]
    return [clean(s["model"]), clean(s["isa"]), clean(s["threads"]), *sides, f"{gain:.3f}", clean(s["trials"]), f"{s['seconds']:.0f}"]


def main(paths):
    head = ["model", "isa", "threads", *FIELDS, *FIELDS, "gain", "trials", "s"]
    rows = [head, *(row(summary(p)) for p in paths)]
    widths = [max(len(r[i]) for r in rows) for i in range(len(head))]
    before, after = (sum(widths[a:b]) + 2 * (b - a - 1) for a, b in ((3, 8), (8, 13)))
    print(" " * (sum(widths[:3]) + 6) + f"{'untuned':<{before}}  {'tuned':<{after}}".rstrip())
    for r in rows:
        print("  ".join(f"{t:{'<' if i < 2 else '>'}{widths[i]}}" for i, t in enumerate(r)))


if __name__ == "__main__":
    usage.answer_help(__doc__)
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(sys.argv[1:])
