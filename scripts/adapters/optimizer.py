"""optimizer: what the adapters of foreign optimisers share, for dnn-bisect --optimizer.

  optimize_x.py passes                                 the passes, one a line, in the order in which they are applied
  optimize_x.py apply MODEL.onnx OUT.onnx [PASS]...    what these passes make of the model

Exit codes: 0; 77 where the optimiser is not installed; 2 usage; 1 for anything else, with the reason on the last line.
"""
import os
import sys

import box

if os.path.basename(sys.argv[0]).startswith("optimize_"):
    box.close_for_many(sys.argv[3:4])  # before the optimiser is imported


def absent(reason):
    print(reason, file=sys.stderr)
    sys.exit(77)


def main(passes, apply):
    """passes(): names; apply(source, target, names) writes the target."""
    words = sys.argv[1:]
    if words[:1] == ["passes"] and len(words) == 1:
        print("\n".join(passes()))
    elif words[:1] == ["apply"] and len(words) >= 3:
        try:
            apply(words[1], words[2], words[3:])
        except Exception as error:
            print(f"{type(error).__name__}: {' '.join(str(error).split())[:600]}", file=sys.stderr)
            sys.exit(1)
    else:
        print(f"usage: {sys.argv[0]} passes | apply MODEL.onnx OUT.onnx [PASS]...", file=sys.stderr)
        sys.exit(2)
