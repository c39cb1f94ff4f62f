#!/usr/bin/env python3
"""experiments_status: where the matrix of Makefile.experiments stands: a row per model and level, a column per device.

usage: experiments_status.py LIST

LIST has a line per cell, NAME|LEVEL|DEVICE|FOLDER|RUNS|SHARDS, and one per converted model, NAME|||FILE||. A cell is done when
its streams are there, failed when an attempt left error_log.txt, running while a result is being written aside: then it says how
many seconds ago something was last written, for what was killed looks the same.
"""
import glob
import os
import sys
import time

import usage
from printable import clean


def newest(folder, now):
    """How long ago a result that is written aside in the folder grew, or None."""
    times = []
    for path in glob.glob(os.path.join(glob.escape(folder), "*.tmp*")):
        try:
            times.append(os.path.getmtime(path))
        except OSError:
            pass
    return max(0, int(now - max(times))) if times else None


class Cell:
    def __init__(self, folder, n_runs, n_shards, now):
        runs = [folder] + [f"{folder}/run{i}" for i in range(2, n_runs + 1)]
        self.n_runs = n_runs
        self.n_done = sum(os.path.exists(f"{run}/run.dnns") for run in runs)
        parts = [f"{run}/shard{i}of{n_shards}" for run in runs for i in range(1, n_shards + 1)] if n_shards > 1 else []
        self.n_shards, self.n_shards_done = len(parts), sum(os.path.exists(f"{part}/run.dnns") for part in parts)
        self.logs = [f"{place}/error_log.txt" for place in runs + parts if os.path.exists(f"{place}/error_log.txt")]
        ages = [age for age in (newest(place, now) for place in runs + parts) if age is not None]
        self.age = min(ages) if ages else None
        self.built = os.path.exists(f"{folder}/model.dnnpkg")

    def state(self):
        if self.n_done == self.n_runs and not self.logs:
            return "done"
        return "failed" if self.logs else "running" if self.age is not None else "built" if self.built else "waiting"

    def text(self):
        state = self.state()
        if state == "running":
            state += f" {self.age}s"
        if self.n_runs > 1 and 0 < self.n_done < self.n_runs:
            state += f" {self.n_done}/{self.n_runs}"
        if self.n_shards_done:
            state += f" shards {self.n_shards_done}/{self.n_shards}"
        return state


def last_line(path):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            lines = [line.strip() for line in file if line.strip()]
    except OSError:
        return ""
    return lines[-1] if lines else ""


def main(path):
    now = time.time()
    with open(path) as file:
        lines = [line.rstrip("\n").split("|") for line in file if line.strip()]
    cells, devices, rows, logs, missing = {}, [], [], [], []
    for name, level, device, folder, n_runs, n_shards in lines:
        if not device:
            log = os.path.join(os.path.dirname(folder), "error_log.txt")
            if os.path.exists(log):
                logs.append(log)
            elif not os.path.exists(folder):
                missing.append(name)
            continue
        cell = Cell(folder, int(n_runs), int(n_shards), now)
        cells[(name, level), device] = cell
        logs += cell.logs
        if device not in devices:
            devices.append(device)
        if (name, level) not in rows:
            rows.append((name, level))
    table = [["model", "level", *devices]]
    for row in rows:
        name, level = row
        label = level if level == "native" else f"-O{level[:1]} {level[1:]}".strip()
        table.append([name, label, *(cells[row, d].text() if (row, d) in cells else "-" for d in devices)])
    table = [[clean(text) for text in line] for line in table]
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    for line in table:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())
    counts = {}
    for cell in cells.values():
        counts[cell.state()] = counts.get(cell.state(), 0) + 1
    print(f"\n{len(cells)} cell{'s' * (len(cells) != 1)}: " + ", ".join(f"{counts[s]} {s}" for s in ("done", "failed", "running", "built", "waiting") if s in counts))
    if missing:
        print(f"{len(missing)} conversions not made yet: {clean(' '.join(missing))}")
    for log in logs:
        print(clean(f"  {log}: {last_line(log)}"))


if __name__ == "__main__":
    usage.answer_help(__doc__)
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(sys.argv[1])
