#!/usr/bin/env python3
"""from_help: makes a man page or shell completion out of what the tools' own --help says, so that they cannot drift.

usage: from_help.py man TOOL OUT.gz       the gzipped man page of one tool
       from_help.py bash|zsh OUT TOOL...  completion of options, of their values and of files, for all tools

TOOL is the executable. Exit codes: 0 done, 2 usage, 5 a tool did not print its help.
"""
import gzip
import pathlib
import re
import subprocess
import sys

import completion
import usage

HEADING = re.compile(r"^(\S.*):$")
EXIT_CODES = "Exit codes: "


def run(tool, option):
    done = subprocess.run([tool, option], capture_output=True, text=True, check=False)
    if done.returncode != 0 or not done.stdout.strip():
        sys.stderr.write(f"from_help: error: {tool} {option}: exit code {done.returncode}: {done.stderr.strip()}\n")
        sys.exit(5)
    return done.stdout


def parse(text):
    """(usage lines, description lines, [(heading, lines)]) of a help text."""
    usage, description, sections = [], [], []
    current, lines = usage, text.splitlines()
    for line in lines:
        heading = HEADING.match(line)
        if re.match(r"usage:", line, re.IGNORECASE):
            current = usage
            line = re.sub(r"(?i)^usage:", "", line)
            if not line.strip():
                continue
        elif heading:
            sections.append((heading[1], []))
            current = sections[-1][1]
            continue
        elif line.startswith(EXIT_CODES):  # the only one whose text begins beside it
            sections.append((EXIT_CODES[:-2], []))
            current = sections[-1][1]
            line = "  " + line[len(EXIT_CODES):]
        elif current is usage and usage and (not line.strip() or not line.startswith(" ")):
            current = description
        current.append(line)
    return [line.strip() for line in usage if line.strip()], description, sections


def roff(text):
    """Text as roff shows it unchanged."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return "\\&" + text if text.startswith(".") else text


def summary(description):
    """The first sentence of the description, as the NAME section wants it."""
    paragraph = " ".join(" ".join(description).split())
    return re.split(r"[.:;] |[.:;]$", paragraph)[0] if paragraph else "a tool of dnn-tools"


def roff_lines(lines):
    out, fill = [], True
    for line in lines:
        option = completion.OPTION.match(line)
        indented = line.startswith(" ") and not option
        if option:
            out += ([] if fill else [".fi"]) + [".TP", ".B " + roff(option[1])] + ([roff(option[2])] if option[2] else [])
            fill = True
        elif not line.strip():
            out.append(".PP" if fill else "")
        elif indented and out and any(row == ".TP" for row in out[-6:]) and re.match(r" {9,}", line):
            out.append(roff(line.strip()))  # the option's text goes on
        else:
            if indented == fill:
                out.append(".nf" if indented else ".fi")
                fill = not indented
            out.append(roff(line.rstrip()))
    return out + ([] if fill else [".fi"])


def man_page(name, version, text):
    usage, description, sections = parse(text)
    first = re.sub(rf"^{re.escape(name)}\s*(?:-{{1,2}}|:)\s+", "", summary(description))
    out = [f'.TH {name.upper().replace("-", chr(92) + "-")} 1 "" "{roff(version)}" "dnn-tools"', ".nh", ".ad l", ".SH NAME", f"{roff(name)} \\- {roff(first)}", ".SH SYNOPSIS"]
    for line in usage:
        out += [".B " + roff(line), ".br"]
    out += [".SH DESCRIPTION"] + roff_lines([line for line in description])
    for heading, lines in sections:
        out += [".SH " + roff(heading.upper())] + roff_lines(lines)
    squeezed = [row for i, row in enumerate(out) if not (row == ".PP" and (i + 1 == len(out) or out[i + 1].startswith((".SH", ".TP", ".PP", ".nf"))))]
    return "\n".join(squeezed) + "\n"


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "man":
        tool, out = arguments[1:]
        name = pathlib.Path(tool).name
        version = " ".join(run(tool, "--version").split()[:2])
        with open(out, "wb") as file:
            file.write(gzip.compress(man_page(name, version, run(tool, "--help")).encode(), 9, mtime=0))
    elif len(arguments) > 2 and arguments[0] in ("bash", "zsh"):
        helps = [(pathlib.Path(tool).name, run(tool, "--help")) for tool in arguments[2:]]
        programs = {pathlib.Path(tool).name: tool for tool in arguments[2:]}
        shell = completion.zsh if arguments[0] == "zsh" else completion.bash
        made = shell(helps, completion.lists_of(helps, programs, run), completion.endings_of(helps, programs, run))
        pathlib.Path(arguments[1]).write_text(made)
    else:
        sys.stderr.write(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    usage.answer_help(__doc__)
    sys.exit(main(sys.argv[1:]))
