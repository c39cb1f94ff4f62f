#!/usr/bin/env python3
"""printable: text of others as a person may see it, as the tools show it (lib/base/printable.h).

usage: printable.py FILE...

Writes the files (- is standard input) to standard output, line by line; whatever could steer a terminal is shown as its number.
"""
import sys

import usage

# First and last of code points that must not reach a terminal: controls, marks of writing direction, characters without a picture.
UNSEEN = (
    (0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFDD0, 0xFDEF), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF))


def shown(character):
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8, as Python keeps it
        return f"\\x{code - 0xDC00:02X}"
    if 0xD800 <= code <= 0xDFFF or code & 0xFFFE == 0xFFFE or any(first <= code <= last for first, last in UNSEEN):
        return f"\\u{{{code:X}}}"
    return character


def clean(text):
    """The text on one line."""
    return "".join(map(shown, str(text)))


def write_lines(file):
    for line in file:
        print("\t".join(map(clean, line.removesuffix("\n").removesuffix("\r").split("\t"))))


def main(paths):
    sys.stdout.reconfigure(encoding="utf-8")
    for path in paths:
        try:
            with open(0 if path == "-" else path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
                write_lines(file)
        except BrokenPipeError:  # who read it has enough
            sys.stderr.close()
            return
        except OSError as error:
            print(f"printable: error: {clean(path)}: {error.strerror}", file=sys.stderr)
            sys.exit(5)


if __name__ == "__main__":
    usage.answer_help(__doc__)
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(sys.argv[1:])
