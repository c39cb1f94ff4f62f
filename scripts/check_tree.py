#!/usr/bin/env python3
"""check_tree: every file that a .def table should name is named there, every row has its file, every type and helper its own name.

usage: check_tree.py [ROOT]

One line per breach on stdout, exit 1 if there is any. A row `DNN_OP(Softmax, nn, softmax)` of lib/ops/ops.def owns
lib/ops/nn/softmax.cc (or all files of the folder lib/ops/nn/softmax/); the other tables work alike. Two headers that define
one name in one namespace are two types that the linker takes for one. Sources of one folder, or of one row of lib/TOGETHER, are compiled together, so no two of them
may define one name for themselves, but for operators, whose files have a namespace each. A tests/unit/FOLDER/long names tests of its folder.
The root holds the files of ROOT_FILES and no other that git knows: a test that is tried by hand there leaves its files behind.
"""
import pathlib
import re
import shutil
import subprocess
import sys

import usage
from check_layers import code_of

ROOT_FILES = {"CHANGELOG.md", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "LICENSE", "Makefile.experiments", "README.md", "SECURITY.md"}

# (table, macro, fields of the row that make the file's path, folder of the files, files there that are no row's)
TABLES = [
    ("lib/ops/ops.def", "DNN_OP", slice(1, 3), "lib/ops", r"lib/ops/[^/]+\.(cc|h)"),
    ("lib/metrics/metrics.def", "DNN_METRIC", slice(6, 7), "lib/metrics", r"lib/metrics/(metric|evaluation|baseline|bounds|confusion|eval_args|families|predictions|groups|present|modes|program|quantiles|ranking|scores|shelf|statistics\w*|table)\.cc"),
]


def check_table(root, table, macro, path_fields, folder, others):
    if not (root / table).exists():
        return
    owned = set()
    for number, line in enumerate((root / table).read_text().splitlines(), 1):
        row = re.match(rf"{macro}\((.*)\)", line)
        if not row:
            continue
        fields = [field.strip() for field in row[1].split(",")]
        if len(fields) < path_fields.stop:
            yield f"{table}:{number}: a row without a file: {line}"
            continue
        file = "/".join(fields[path_fields])
        name = f"{folder}/{file}"
        owned.add(name)
        if not (root / f"{name}.cc").exists() and not (root / name).is_dir():
            yield f"{table}:{number}: names {file}, but {name}.cc does not exist"
    for path in sorted((root / folder).rglob("*.cc")) if others else []:
        name = path.relative_to(root).as_posix()
        if not re.fullmatch(others, name) and name[:-3] not in owned and str(pathlib.PurePosixPath(name).parent) not in owned:
            yield f"{name}: no row of {table} names it"


def check_passes(root):
    """Every file of lib/passes defines a function that a row of passes.def names, but the runner and those with a header of their name,
    which serve a pass. Files may share rows."""
    folder = root / "lib/passes"
    if not (folder / "passes.def").exists():
        return
    rows = re.findall(r"^DNN_PASS\(\d+, \"[^\"]*\", (\w+),", (folder / "passes.def").read_text(), re.MULTILINE)
    for path in sorted(folder.rglob("*.cc")):
        defined = re.findall(r"^std::vector<Patch> (\w+)\(const Graph&", path.read_text(), re.MULTILINE)
        serves = path.name == "run.cc" or path.with_suffix(".h").exists()
        if not serves and not set(defined) & set(rows):
            yield f"{path.relative_to(root).as_posix()}: no row of lib/passes/passes.def names a pass of it"


def types_of_headers(root):
    """{namespace::name of a struct, class or enum: the headers that define it}"""
    owners = {}
    for path in sorted((root / "lib").rglob("*.h")):
        space = ""
        for line in path.read_text().splitlines():
            opened = re.match(r"namespace (dnn[\w:]*) \{", line)
            space = opened[1] if opened else space
            defined = re.match(r"(?:struct|class|enum class) (\w+)[^;]*\{", line)
            if defined:
                owners.setdefault(f"{space}::{defined[1]}", set()).add(path.relative_to(root).as_posix())
    return owners


def check_names(root):
    """No two headers define a struct, class or enum of one name in one namespace."""
    for name, paths in types_of_headers(root).items():
        if len(paths) > 1:
            yield f"{name} is defined in {' and '.join(sorted(paths))}"


def own_names(text):
    """All that a source defines for itself, in unnamed namespaces, static, or as macros that outlive it: {name: its line, of an alias}.

    It takes the house format for granted: definitions begin in the first column, and a comment says where a namespace ends.
    """
    names, inside = {}, False
    for line, written in zip(code_of(text).splitlines(), text.splitlines()):
        line = re.sub(r"^(template <.*> )?((static|inline|constexpr|const|DNN_\w+|\[\[\w+\]\]|__attribute__\(\(.*?\)\)\)) )*", "", line) if inside else line
        if written.startswith("namespace {"):
            inside = True
        elif written == "}  // namespace":
            inside = False
        elif macro := re.match(r"#\s*define (\w+)", written):
            if not re.search(rf"#\s*(undef {macro[1]}\b|include \".*\.def\")", text):
                names[macro[1]] = None
        elif not (inside or line.startswith("static ")) or not re.match(r"(?![A-Z0-9_]+\(|static_assert)\w", line):
            continue
        elif alias := re.match(r"(?:using|namespace) (?:\w+::)*(\w+)( =.*)?;", line):
            names[alias[1]] = line.strip()
        elif kind := re.match(r"(?:struct|class|enum class|enum|union) (\w+)(?=.*\{|[^;]*$)", line):
            names[kind[1]] = None
        elif function := re.match(r"[^=({]*?\b(\w+)\(", line):
            names[function[1]] = None
        elif not line.startswith(("using ", "template <")):
            bare = re.sub(r"\{.*?(\}|$)|\[.*?\]|\(.*?\)|<.*>", "", line)
            for name in re.findall(r"(?:[\s*&]|^)(\w+)\s*(?==|;|,|$)", re.sub(r"=[^,]*", "=", bare)):
                names[name] = None
    return names


def check_own_names(root):
    """No two sources that are compiled together define one name for themselves, nor one that a header gives to a type."""
    types, rows = types_of_headers(root), {}
    for row in (root / "lib/TOGETHER").read_text().splitlines() if (root / "lib/TOGETHER").exists() else ():
        if not row.startswith("#"):
            rows.update({f"lib/{folder}": row for folder in row.split()})
            yield from (f"lib/TOGETHER: {folder} is no folder of lib" for folder in row.split() if not (root / "lib" / folder).is_dir())
    for top in ("lib", "tests/unit", "tests/fuzz"):
        owners = {}
        for path in sorted((root / top).rglob("*.cc")):
            folder = path.parent.relative_to(root).as_posix()
            if folder.startswith("lib/ops/"):
                continue
            text = path.read_text()
            spaces = set(re.findall(r"^namespace (dnn[\w:]*) \{", text, re.MULTILINE))
            for name, alias in own_names(text).items():
                for space in spaces if alias is None else ():
                    for header in types.get(f"{space}::{name}", ()):
                        yield f"{path.relative_to(root).as_posix()}: defines {name}, which is a type of {header}; sources are compiled together, so name it for what it is"
                first, as_first = owners.setdefault((rows.get(folder, folder), name), (path, alias))
                if first != path and (alias is None or alias != as_first):
                    shown = first.name if first.parent == path.parent else first.relative_to(root).as_posix()
                    yield f"{folder}: {shown} and {path.name} both define {name}, and are compiled together; let a header define it, or name both for what they are"


def check_long_tests(root):
    """Every row of a tests/unit/FOLDER/long names a test of that folder, once: the fast tier leaves it out, and the long one runs it."""
    for path in sorted((root / "tests/unit").glob("*/long")):
        sources = "".join(source.read_text() for source in sorted(path.parent.rglob("*_test.cc")))
        tests = {".".join(found) for found in re.findall(r"^TEST(?:_F)?\((\w+), (\w+)\)", sources, re.MULTILINE)}
        seen = set()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.startswith("#"):
                continue
            row = re.fullmatch(r"(\w+\.\w+)  # .+", line)
            where = f"{path.relative_to(root).as_posix()}:{number}"
            if not row or row[1] not in tests:
                yield f"{where}: not a row 'Suite.Test  # why it takes long' of a test here: {line}"
            elif row[1] in seen:
                yield f"{where}: names {row[1]} again"
            else:
                seen.add(row[1])


def check_root(root):
    """Nothing but ROOT_FILES, names with a dot in front and folders stands at the root; only git knows what is the project's."""
    if not (root / ".git").exists() or not shutil.which("git"):
        return
    files = subprocess.run(["git", "-C", root, "ls-files", "-z", ":(glob)*"], stdout=subprocess.PIPE, text=True, check=False).stdout
    for name in filter(None, files.split("\0")):
        if name not in ROOT_FILES and not name.startswith("."):
            yield f"{name}: no file of the root; a file that a test wrote belongs to the test's folder, another to ROOT_FILES of check_tree"


def main(root):
    breaches = [breach for row in TABLES for breach in check_table(root, *row)]
    breaches += [*check_passes(root), *check_names(root), *check_own_names(root), *check_long_tests(root), *check_root(root)]
    for breach in breaches:
        print(breach)
    return 1 if breaches else 0


if __name__ == "__main__":
    usage.answer_help(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../..").resolve()))
