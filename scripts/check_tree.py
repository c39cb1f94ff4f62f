#!/usr/bin/env python3
"""check_tree: every file that a .def table should name is named there, every row has its file, and every type its own name.

usage: check_tree.py [ROOT]

One line per breach on stdout, exit 1 if there is any. A row `DNN_OP(Softmax, nn/softmax)` of lib/ops/ops.def owns
lib/ops/nn/softmax.cc (or all files of the folder lib/ops/nn/softmax/); the other tables work alike. Two headers that define
one name in one namespace are two types that the linker takes for one.
"""
import pathlib
import re
import sys

import usage

# (table, macro, position of the file in the row, folder of the files, files there that are no row's)
TABLES = [
    ("lib/ops/ops.def", "DNN_OP", 1, "lib/ops", r"lib/ops/[^/]+\.(cc|h)"),
    ("lib/metrics/metrics.def", "DNN_METRIC", 6, "lib/metrics", r"lib/metrics/(metric|evaluation|baseline|bounds|confusion|families|predictions|groups|present|modes|program|quantiles|ranking|scores|shelf|statistics\w*|table)\.cc"),
]


def check_table(root, table, macro, position, folder, others):
    if not (root / table).exists():
        return
    owned = set()
    for number, line in enumerate((root / table).read_text().splitlines(), 1):
        row = re.match(rf"{macro}\((.*)\)", line)
        if not row:
            continue
        fields = [field.strip() for field in row[1].split(",")]
        if len(fields) <= position:
            yield f"{table}:{number}: a row without a file: {line}"
            continue
        name = f"{folder}/{fields[position]}"
        owned.add(name)
        if not (root / f"{name}.cc").exists() and not (root / name).is_dir():
            yield f"{table}:{number}: names {fields[position]}, but {name}.cc does not exist"
    for path in sorted((root / folder).rglob("*.cc")) if others else []:
        name = path.relative_to(root).as_posix()
        if not re.fullmatch(others, name) and name[:-3] not in owned and str(pathlib.PurePosixPath(name).parent) not in owned:
            yield f"{name}: no row of {table} names it"


def check_passes(root):
    """Every file of lib/passes but the runner defines a function that a row of passes.def names; files may share rows."""
    folder = root / "lib/passes"
    if not (folder / "passes.def").exists():
        return
    rows = re.findall(r"^DNN_PASS\(\d+, \"[^\"]*\", (\w+),", (folder / "passes.def").read_text(), re.MULTILINE)
    for path in sorted(folder.rglob("*.cc")):
        defined = re.findall(r"^std::vector<Patch> (\w+)\(const Graph&", path.read_text(), re.MULTILINE)
        if path.name != "run.cc" and not set(defined) & set(rows):
            yield f"{path.relative_to(root).as_posix()}: no row of lib/passes/passes.def names a pass of it"


def check_names(root):
    """No two headers define a struct, class or enum of one name in one namespace."""
    owners = {}
    for path in sorted((root / "lib").rglob("*.h")):
        space = ""
        for line in path.read_text().splitlines():
            opened = re.match(r"namespace (dnn[\w:]*) \{", line)
            space = opened[1] if opened else space
            defined = re.match(r"(?:struct|class|enum class) (\w+)[^;]*\{", line)
            if defined:
                owners.setdefault(f"{space}::{defined[1]}", set()).add(path.relative_to(root).as_posix())
    for name, paths in owners.items():
        if len(paths) > 1:
            yield f"{name} is defined in {' and '.join(sorted(paths))}"


def main(root):
    breaches = [breach for row in TABLES for breach in check_table(root, *row)]
    breaches += [*check_passes(root), *check_names(root)]
    for breach in breaches:
        print(breach)
    return 1 if breaches else 0


if __name__ == "__main__":
    usage.answer_help(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../..").resolve()))
