#!/usr/bin/env python3
"""stream_to_text: one text file per image from a stream's JSON lines (dnn-cat): the five best classes and the time.

usage: stream_to_text.py LINES.jsonl FOLDER

FOLDER/<image>.txt holds five lines "class, score", a blank line and the latency in seconds per image: the mean where a sample
ran repeatedly, nothing where it was not timed. Classes are the model's own numbers, a background class included. Numbers have all their
digits, so that import-published reads back what was written. Images keep their place below the folder that they have in common.
"""
import json
import os
import sys

import usage
from printable import clean


def main(lines, folder):
    paths, top, latencies_ns = {}, {}, {}
    with open(lines) as f:
        for line in f:
            record = json.loads(line)
            if record["type"] == "sample":
                paths[record["id"]] = record.get("path", str(record["id"]))
            elif record["type"] == "prediction":
                # Repeated runs state their latency alone.
                top[record["sample"]] = top.get(record["sample"]) or record.get("top_k", [])[:5]
                if "latency_ns" in record:
                    latencies_ns.setdefault(record["sample"], []).append(record["latency_ns"] / record.get("batch", 1))
    if not top:
        sys.exit(f"stream_to_text: error: {clean(lines)}: no predictions")
    full = {i: os.path.normpath("/" + paths.get(i, str(i))) for i in top}
    common = os.path.commonpath([os.path.dirname(p) for p in full.values()])
    for i, path in full.items():
        out = os.path.join(folder, os.path.relpath(path, common) + ".txt")
        os.makedirs(os.path.dirname(out), exist_ok=True)
        with open(out, "w") as f:
            f.writelines(f"{best['class']}, {float(best['score'])!r}\n" for best in top[i])
            times = latencies_ns.get(i)
            f.write(f"\n{int(sum(times) / len(times)) / 1e9:.9f}\n" if times else "\n")


if __name__ == "__main__":
    usage.answer_help(__doc__)
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(sys.argv[1], sys.argv[2])
