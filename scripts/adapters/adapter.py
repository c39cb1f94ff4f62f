"""adapter: what every framework's adapter shares: the command line, arrays in and out, and the line of JSON at the end.

An adapter is one script that runs a model in its own framework:

  run_x.py describe MODEL                    {"framework": "x 1.2", "inputs": [{"shape": [1, 3, 224, 224], "dtype": "float32"}]}
  run_x.py run MODEL INPUT.npz OUTPUT.npz    {"framework": "x 1.2", "seconds": 0.31, "transposes": 1}

INPUT.npz holds the inputs by position, i0, i1, ..., each with a first axis of samples; OUTPUT.npz gets the outputs, o0, o1, ...,
likewise. A model whose batch is fixed at 1 is run sample by sample. Extents that a model leaves open are null. `transposes`
counts the operators that only reorder axes, as the framework itself shows them. Exit codes: 0; 77 where the framework is not
installed, with the reason on stderr; anything else is the framework's own refusal, the last line of stderr its reason.
"""
import json
import sys
import time


def absent(reason):
    print(reason, file=sys.stderr)
    sys.exit(77)


try:
    import numpy as np
except ImportError as missing:
    absent(str(missing))


def main(load):
    """load(path) gives (framework and version, [(shape, dtype)], run(list of arrays) -> list of arrays, transposes)."""
    words = sys.argv[1:]
    if len(words) not in (2, 4) or words[0] != ("describe" if len(words) == 2 else "run"):
        print(f"usage: {sys.argv[0]} describe MODEL | run MODEL INPUT.npz OUTPUT.npz", file=sys.stderr)
        sys.exit(2)
    try:
        framework, inputs, run, transposes = load(words[1])
        if words[0] == "describe":
            print(json.dumps({"framework": framework, "transposes": transposes,
                              "inputs": [{"shape": list(s), "dtype": d} for s, d in inputs]}))
            return
        with np.load(words[2]) as file:
            arrays = [file[f"i{k}"] for k in range(len(file.files))]
        start = time.perf_counter()
        outputs = batched(run, [s for s, _ in inputs], arrays)
        seconds = time.perf_counter() - start
        np.savez(words[3], **{f"o{k}": y for k, y in enumerate(outputs)})
        print(json.dumps({"framework": framework, "seconds": seconds, "transposes": transposes}))
    except Exception as error:  # the framework's refusal, in one line
        text = " ".join(str(error).split()) or "no reason given"
        print(f"{type(error).__name__}: {text[:600]}", file=sys.stderr)
        sys.exit(1)


def batched(run, shapes, arrays):
    """All samples, as many at a time as the model's first extents allow."""
    count = len(arrays[0])
    fixed = [s[0] for s in shapes if len(s) and s[0] is not None]
    size = fixed[0] if fixed else 1
    if any(n != size for n in fixed) or count % size:
        raise ValueError(f"{count} samples do not fill batches of {fixed}")
    parts = []
    for at in range(0, count, size):
        parts.append([np.asarray(y) for y in run([a[at:at + size] for a in arrays])])
    return [np.concatenate([p[k].reshape(size, -1) if p[k].ndim == 0 or p[k].shape[0] != size else p[k] for p in parts])
            for k in range(len(parts[0]))]
