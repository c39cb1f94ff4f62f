"""adapter: what every framework's adapter shares: the command line or a line of JSON per request, arrays in and out, the answer.

An adapter is one script that runs models in its own framework:

  run_x.py describe MODEL                    {"framework": "x 1.2", "inputs": [{"shape": [1, 3, 224, 224], "dtype": "float32"}]}
  run_x.py run MODEL INPUT.npz OUTPUT.npz    {"framework": "x 1.2", "seconds": 0.31, "transposes": 1}
  run_x.py serve                             the same words as a JSON list per line of standard input, an answer per line

INPUT.npz holds the inputs by position, i0, i1, ..., each with a first axis of samples; OUTPUT.npz gets the outputs, o0, o1, ...,
likewise. A model whose batch is fixed at 1 is run sample by sample. Extents that a model leaves open are null. `transposes`
counts the operators that only reorder axes, as the framework itself shows them; `names` are the inputs' where no shapes are said. Exit codes: 0; 77 where the framework is not
installed, with the reason on stderr; anything else is the framework's own refusal, the last line of stderr its reason. A server
says `"error"` in place of a refusal, and in each answer `"mib"`, the memory it holds: who asks may end it and start another.
"""
import gc
import json
import os
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
    if words == ["serve"]:
        serve(load)
        return
    if len(words) not in (2, 4) or words[0] != ("describe" if len(words) == 2 else "run"):
        print(f"usage: {sys.argv[0]} describe MODEL | run MODEL INPUT.npz OUTPUT.npz | serve", file=sys.stderr)
        sys.exit(2)
    found = answer(load, words)
    if "error" in found:
        print(found["error"], file=sys.stderr)
        sys.exit(1)
    print(json.dumps(found))


def serve(load):
    answers = os.fdopen(os.dup(1), "w")  # what the framework itself prints must not come between
    os.dup2(2, 1)
    for line in sys.stdin:
        found = answer(load, json.loads(line))
        gc.collect()
        print(json.dumps({**found, "mib": memory()}), file=answers, flush=True)


def memory():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def answer(load, words):
    """What the model is or gave; or the framework's refusal, in one line."""
    try:
        framework, inputs, run, transposes = load(words[1])
        found = {"framework": framework, "transposes": transposes, "names": getattr(run, "names", [])}
        if words[0] == "describe":
            return {**found, "inputs": [{"shape": list(s), "dtype": d} for s, d in inputs]}
        with np.load(words[2]) as file:
            arrays = [file[f"i{k}"] for k in range(len(file.files))]
        start = time.perf_counter()
        outputs = batched(run, [s for s, _ in inputs], arrays)
        found["seconds"] = time.perf_counter() - start
        np.savez(words[3], **{f"o{k}": y for k, y in enumerate(outputs)})
        return found
    except Exception as error:
        text = " ".join(str(error).split()) or "no reason given"
        return {"error": f"{type(error).__name__}: {text[:600]}"}


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
