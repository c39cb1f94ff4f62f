#!/usr/bin/env python3
"""check_layers: holds lib/ to the layers of lib/LAYERS, and the sources to the house rules a script can judge.

usage: check_layers.py [ROOT]

One line per breach on stdout, exit 1 if there is any. Breaches: an include that goes up or sideways, a folder that
LAYERS does not name, a library file that prints, exits or reads the environment (lib/cli and lib/c, which
stand where a program does, may),
an instruction set, processor or device named in a string, or a level compared with a number, where rows of lib/target should be asked,
a Transpose's "perm" that is read without its default, a value that is called otherwise past rename_value(),
a tool that writes to standard error past lib/cli, which makes names out of files visible,
a tool above 120 lines, a source file above 800, a class of lib or tools above 300, a function
of theirs above 60, more of what decision 0084 counts than it allows, a first line that does not say what the file is, a note to
self in place of the work.
"""
import functools
import pathlib
import re
import sys

import usage

LINE_LIMIT = 800
TOOL_LIMIT = 120  # a tool shows its data path; options and work are the library's (docs/decisions/0081)
CLASS_LIMIT = 300  # lines between its braces
FUNCTION_LIMIT = 60  # likewise; a member function counts like any other
ROW = r"(\d+) (\w+) ->((?: \w+)*)(?:  # .+)?"  # of lib/LAYERS
FORBIDDEN = {
    r"\bstd::c(out|err|log)\b|(?<![\w:])(std::)?(printf|puts|perror)\(|fprintf\(std(out|err)": "prints",
    r"(?<![\w.>])(std::)?(abort|exit|quick_exit)\(": "ends the process",
    r"\b(secure_)?getenv\(": "reads the environment",
}
# Where machines and levels are asked for, and not named: by rows of lib/target's tables.
ASKING = ("codegen", "compile", "devices", "infer", "loops", "package", "passes", "tune", "tools")
AMBIGUOUS = {"float16"}  # a row of OpenCL's, and an element type
LEVEL = re.compile(r"\b(opt|level)\s*(>=|<=|==|!=|<|>)\s*\d")
RENAMES = re.compile(r"\bvalue\([^;]*\)\.name = ")
NAMING = ("lib/formats/draft.cc", "lib/faults/names.cc", "lib/convert/architectures/modules.cc")  # values that no body knows yet
TO_ERRORS = r"\bstd::c(err|log)\b|fprintf\(stderr|\bSTDERR_FILENO\b|(?<![\w:])perror\("
COMMENT = {".cc": "// ", ".h": "// ", ".def": "// ", ".py": '"""', ".cmake": "# ", ".txt": "# ", "": "# "}


# The most that there may be, and what stands in its place (docs/decisions/0084).
COUNTS = {"casts to size_t": (300, "subscripts and arguments take int64_t as it is"),
          "lists of dtypes": (3, "is_float() and others of tensor/dtype.h ask what a dtype is"),
          'files that name "Conv"': (6, "Trait::Weighted is what layers have in common")}


def read_layers(path):
    """{folder: (floor, set of folders it may include, itself among them)} and the breaches inside LAYERS."""
    layers, breaches = {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        row = re.fullmatch(ROW, line.strip())
        if not row:
            if line.strip() and not line.startswith("#"):
                breaches.append(f"lib/LAYERS:{number}: not a row 'floor folder -> folders  # what it holds': {line}")
            continue
        floor, folder, below = int(row[1]), row[2], row[3].split()
        allowed = {folder}
        for other in below:
            if other not in layers or layers[other][0] >= floor:
                breaches.append(f"lib/LAYERS:{number}: {folder} (floor {floor}) builds on {other}, which is not on a floor below")
            else:
                allowed |= layers[other][1]
        layers[folder] = (floor, allowed)
    return layers, breaches


@functools.lru_cache(maxsize=1)  # each check of a file asks for it
def code_of(text):
    """The source with comments, string and character literals blanked, line numbers kept."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    return re.sub(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|\'(?:\\.|[^\'\\\n])\'|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.DOTALL)


def read_targets(folder):
    """The pattern of literals that name a row of lib/target, or that tell a device by its kind; None where there are no rows."""
    names, devices = set(), set()
    for table, macros in (("isas.def", r"DNN_ISA(?:_EXTENSION)?\(Language::\w+, (?:\"[^\"]*\", )?"), ("processors.def", r"DNN_PROCESSOR(?:_MODELS)?\(")):
        path = folder / table
        if path.exists():
            names |= set(re.findall(r"^" + macros + r'"([^"]+)"', path.read_text(), re.MULTILINE))
            names |= set(re.findall(r'"(-m[^"]+)"', path.read_text()))
    if (folder / "processor.h").exists():
        names |= set(re.findall(r'\*?kG\w+ = "(\w+)"', (folder / "processor.h").read_text()))
    if (folder / "backends.def").exists():
        for row in re.findall(r"^DNN_BACKEND\((.*)\)", (folder / "backends.def").read_text(), re.MULTILINE):
            devices |= set(re.findall(r'"(\w+)"', row))
    if not names:
        return None
    alternatives = lambda words: "|".join(re.escape(word) for word in sorted(words))
    return re.compile(rf'"({alternatives(names - AMBIGUOUS)})"|[=!]= *"({alternatives(devices)})"')


def check_asking(name, text, targets):
    """Lines that name what a row of lib/target should be asked for."""
    uncommented = re.sub(r"//[^\n]*", "", text)
    for number, line in enumerate(uncommented.splitlines(), 1):
        found = targets.search(line) if targets else None
        if found:
            yield f"{name}:{number}: names {found[0]}; ask a row of lib/target"
    for number, line in enumerate(code_of(text).splitlines(), 1):
        if LEVEL.search(line):
            yield f"{name}:{number}: compares a level with a number; ask a promise of lib/target/level.h"


def check_library_file(name, text, layers):
    folder = name.split("/")[1]
    for number, line in enumerate(text.splitlines(), 1):
        include = re.match(r'\s*#\s*include\s+"([^"/]+)/', line)
        if include and include[1] not in layers:
            yield f"{name}:{number}: includes from {include[1]}/, a folder that lib/LAYERS does not name"
        elif include and folder in layers and include[1] not in layers[folder][1]:
            direction = "sideways" if layers[include[1]][0] == layers[folder][0] else \
                "up" if layers[include[1]][0] > layers[folder][0] else "past its row"
            yield f"{name}:{number}: {folder} includes {direction}: {include[1]} is not below it in lib/LAYERS"
    if folder in ("cli", "c"):
        return
    for number, line in enumerate(code_of(text).splitlines(), 1):
        for pattern, what in FORBIDDEN.items():
            if re.search(pattern, line):
                yield f"{name}:{number}: a library file {what}; throw dnn::Error or return a value"
    for number, line in enumerate(text.splitlines(), 1):
        if 'attribute_ints("perm"' in line:
            yield f"{name}:{number}: perm may be left out; transpose_permutation() has what holds then"
        if RENAMES.search(line) and "/graph/" not in name and name not in NAMING:
            yield f"{name}:{number}: bodies know a value by its name; rename_value() tells them"


def check_tool(name, text):
    if "/dnn-" in name and len(text.splitlines()) > TOOL_LIMIT:
        yield f"{name}: {len(text.splitlines())} lines, above {TOOL_LIMIT}; options and work belong to the library"
    for number, line in enumerate(code_of(text).splitlines(), 1):
        if re.search(TO_ERRORS, line):
            yield f"{name}:{number}: a tool writes to standard error itself; cli::say(), warn(), note() and show() make it visible text"


def classes_of(text):
    """(name, line, lines between its braces) of each class and struct at column 0."""
    code = code_of(text)
    for head in re.finditer(r"^(?:template\b[^;{]*>\s*)?(?:class|struct)\s+(\w+)\b[^;{]*\{", code, re.MULTILINE):
        end = re.compile(r"^\}.*;", re.MULTILINE).search(code, head.end())
        if end and "\n" in code[head.end():end.start()]:
            yield head[1], code.count("\n", 0, head.start()) + 1, code.count("\n", head.end(), end.start()) - 1


def check_classes(name, text):
    for found, line, lines in classes_of(text):
        if lines > CLASS_LIMIT:
            yield f"{name}:{line}: {found} has {lines} lines, above {CLASS_LIMIT}; take it apart by concern"


def opened_by(head, outer):
    """Tells what a brace opens by the text between the last statement and it: "scope" (of declarations), "values", or "body"."""
    if re.search(r"\b(namespace|class|struct|union|enum)\b[^()]*$|^extern$", head):
        return "scope"
    if (head or outer != "scope") and not re.search(r"([)\]]|\bconst|\bnoexcept|\boverride|\bfinal|\bmutable|->[^()]*)$", head):
        return "values"
    return "body"


def name_of(head):
    """The function whose body follows this text."""
    named = re.search(r"(\w+) = \[|(operator\W+|[\w:~]+)\s*\(", head)
    return named[1] or named[2] if named else "a function"


def functions_of(text):
    """(name, line, lines between its braces) of each function, member function, and lambda that stands in no function."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda match: re.sub(r"[^\n]", " ", match[0]), code_of(text), flags=re.MULTILINE)
    outer, body, deep, head = [], None, 0, 0  # open scopes and values; of the function at hand: its name and brace, and braces within
    for mark in re.finditer(r"[{};]", code):
        at, before, head = mark.start(), head, mark.end()
        if body:
            deep += {"{": 1, "}": -1, ";": 0}[mark[0]]
            if deep == 0:
                yield body[0], code.count("\n", 0, body[1]) + 1, max(0, code.count("\n", body[1], at) - 1)
                body = None
        elif mark[0] == "{":
            text_before = code[before:at].strip()
            opened = opened_by(text_before, outer[-1] if outer else "scope")
            if opened == "body":
                body, deep = (name_of(text_before), at), 1
            else:
                outer.append(opened)
        elif mark[0] == "}" and outer:
            outer.pop()


def check_functions(name, text):
    if text.count("\n") <= FUNCTION_LIMIT:
        return
    for found, line, lines in functions_of(text):
        if lines > FUNCTION_LIMIT:
            yield f"{name}:{line}: {found} has {lines} lines, above {FUNCTION_LIMIT}; let each step be a function with a name"


def check_source(name, suffix, text):
    lines = text.splitlines()
    if len(lines) > LINE_LIMIT:
        yield f"{name}: {len(lines)} lines, above {LINE_LIMIT}; split it by noun"
    first = 1 if lines and lines[0].startswith("#!") else 0
    if len(lines) <= first or not re.match(re.escape(COMMENT[suffix]) + r"\S+(\s+\S+){2}|" + re.escape('"""') + r"\S", lines[first]):
        yield f"{name}:{first + 1}: the first line does not say what the file is ({COMMENT[suffix]}one sentence)"
    for number, line in enumerate(lines, 1):
        if re.search(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b", line):
            yield f"{name}:{number}: a note to self; do it or open an issue"


def check_counts(counted):
    """Holds decision 0084: what may be in few places, in all of lib and tools."""
    for what, places in counted.items():
        most, way_out = COUNTS[what]
        if len(places) > most:
            yield f"{len(places)} {what}, above {most}; {way_out}: {', '.join(sorted(set(places)))}"


def count(name, text, counted):
    """Adds the places of a file."""
    code = code_of(text)
    counted["casts to size_t"] += [name] * code.count("static_cast<size_t>")
    counted["lists of dtypes"] += [name] * code.count("== DType::Float32 ||")
    if re.search(r'^(?!\s*//).*"Conv"', text, re.M) and not name.startswith(("lib/ops/", "lib/formats/")):
        counted['files that name "Conv"'].append(name)


def is_source(path, root):
    parts = path.relative_to(root).parts
    if path.suffix in (".cc", ".h", ".def", ".py", ".cmake"):
        return True
    return path.name == "CMakeLists.txt" or (path.suffix == "" and parts[0] in ("scripts", ".ci"))


def main(root):
    layers, breaches = read_layers(root / "lib" / "LAYERS")
    for folder in sorted(p.name for p in (root / "lib").iterdir() if p.is_dir() and p.name != "__pycache__"):
        if folder not in layers:
            breaches.append(f"lib/{folder}: a folder that lib/LAYERS does not name")
    targets = read_targets(root / "lib" / "target")
    counted = {what: [] for what in COUNTS}
    for top in ("lib", "tools", "tests", "bench", "scripts", "cmake", ".ci"):
        for path in sorted((root / top).rglob("*")):
            if not path.is_file() or not is_source(path, root):
                continue
            name, text = path.relative_to(root).as_posix(), path.read_text(errors="replace")
            if top == "lib" and path.suffix in (".cc", ".h", ".def") and name.count("/") > 1:
                breaches += check_library_file(name, text, layers)
            if path.suffix in (".cc", ".h") and ("tools" if top == "tools" else name.split("/")[1]) in ASKING and top in ("lib", "tools"):
                breaches += check_asking(name, text, targets)
            if top == "tools" and path.suffix == ".cc":
                breaches += check_tool(name, text)
            if top in ("lib", "tools") and path.suffix in (".cc", ".h"):
                breaches += check_classes(name, text)
                breaches += check_functions(name, text)
            if top in ("lib", "tools") and path.suffix in (".cc", ".h", ".def"):
                count(name, text, counted)
            breaches += check_source(name, path.suffix, text)
    breaches += check_counts(counted)
    for breach in breaches:
        print(breach)
    return 1 if breaches else 0


if __name__ == "__main__":
    usage.answer_help(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../..").resolve()))
