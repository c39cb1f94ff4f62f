"""converter: what the adapters of foreign converters share: the command line, and the reason in one line where one refuses.

  convert_x.py SOURCE TARGET INPUT.npz     TARGET's name says the format; INPUT.npz has the shapes that a source does not say

Exit codes: 0; 4 where the converter refuses an operator or model by name; 77 where it is not installed; 1 for anything else.
"""
import os
import sys

import box

REFUSALS = ("unsupported", "not supported", "not implemented", "notimplemented", "no converter", "unknown op", "unrecognized",
            "cannot convert", "failed to convert")


def absent(reason):
    print(reason, file=sys.stderr)
    sys.exit(77)


if os.path.basename(sys.argv[0]).startswith("convert_"):
    box.close_for_many(sys.argv[2:3])  # before the framework is imported


def main(convert):
    """convert(source, target, shapes) writes the target; `shapes` are those of one sample, first axis 1."""
    if len(sys.argv) != 4:
        print(f"usage: {sys.argv[0]} SOURCE TARGET INPUT.npz", file=sys.stderr)
        sys.exit(2)
    try:
        import numpy as np
        with np.load(sys.argv[3]) as file:
            shapes = [[1, *file[f"i{k}"].shape[1:]] for k in range(len(file.files))]
        convert(sys.argv[1], sys.argv[2], shapes)
    except ImportError as error:  # what it needs for this format
        absent(str(error))
    except Exception as error:
        text = " ".join(str(error).split()) or "no reason given"
        print(f"{type(error).__name__}: {text[:600]}", file=sys.stderr)
        sys.exit(4 if any(word in f"{type(error).__name__} {text}".lower() for word in REFUSALS) else 1)
