"""adapter: what every framework's adapter shares: the command line or a line of JSON per request, arrays in and out, the answer.

An adapter is one script that runs models in its own framework:

  run_x.py describe MODEL                    {"framework": "x 1.2", "inputs": [{"shape": [1, 3, 224, 224], "dtype": "float32"}]}
  run_x.py run MODEL INPUT.npz OUTPUT.npz    {"framework": "x 1.2", "seconds": 0.31, "transposes": 1}
  run_x.py serve                             the same words as a JSON list per line of standard input, an answer per line
  run_x.py stream                            a device of dnn-infer: records in, records out, as lib/devices/library.h says

INPUT.npz holds the inputs by position, i0, i1, ..., each with a first axis of samples; OUTPUT.npz gets the outputs, o0, o1, ...,
likewise. A model whose batch is fixed at 1 is run sample by sample. Extents that a model leaves open are null. `transposes`
counts the operators that only reorder axes, as the framework itself shows them; `names` are the inputs' where no shapes are said. Exit codes: 0; 77 where the framework is not
installed, with the reason on stderr; anything else is the framework's own refusal, the last line of stderr its reason. A server
says `"error"` in place of a refusal, and in each answer `"mib"`, the memory it holds: who asks may end it and start another.

An adapter's process is closed before its framework is imported (box.py): no network, no files but those that it needs.

What an adapter loads, the framework may execute: dnn-infer hands it our own conversion of a model, or a file of a format that is
data alone, and the user's own file only with --trust-model; whoever calls an adapter otherwise decides so, too. Nothing here
unpickles (weights_only=True, allow_pickle=False), and Keras always loads in its safe mode (ctest -R adapters holds them to it).
"""
import gc
import json
import os
import sys
import time

import box
import records


def absent(reason):
    print(reason, file=sys.stderr)
    sys.exit(77)


def asked():
    """The stream's records and the header that began them, where this process is a device; the process is closed (box.py) either way."""
    if sys.argv[1:] != ["stream"]:
        box.close_for_many(sys.argv[4:])
        return None, None
    source = os.fdopen(os.dup(0), "rb")
    header = records.read_record(source)
    if header is None:
        sys.exit(0)
    options = Wish(header).options.values()
    box.close_for_model(header["model"]["path"], header.get("host", {}).get("scratch", ""), options)
    return source, header


class Wish:
    """How a model is to run as a device; None in its place: so that the file itself is what runs, as check-conversions wants it."""

    def __init__(self, header):
        self.opt, self.threads = header.get("opt"), header.get("threads")
        option = header.get("device", "").split(":", 2)[2:]
        self.options = dict(o.split("=", 1) for o in option if "=" in o)
        self.facts = {}  # what the run's header says of it: {"fell_back": "CUDA is not there: CPU"}


SOURCE, HEADER = asked() if os.path.basename(sys.argv[0]).startswith("run_") else (None, None)
try:
    import numpy as np
except ImportError as missing:
    absent(str(missing))


class Steps:
    """A run in three: what must be done to the arrays before, the framework's own call, which alone is timed, and what is done after."""

    def __init__(self, before, call, after, inputs=(), outputs=()):
        self.before, self.call, self.after, self.inputs, self.outputs = before, call, after, list(inputs), list(outputs)

    def __call__(self, arrays):
        return self.after(self.call(self.before(arrays)))


def main(load):
    """load(path, wish) gives (framework and version, [(shape, dtype)], Steps, transposes), or a function in place of Steps."""
    words = sys.argv[1:]
    if words == ["stream"]:
        stream(load)
        return
    if words == ["serve"]:
        serve(load)
        return
    if len(words) not in (2, 4) or words[0] != ("describe" if len(words) == 2 else "run"):
        print(f"usage: {sys.argv[0]} describe MODEL | run MODEL INPUT.npz OUTPUT.npz | serve | stream", file=sys.stderr)
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


def stream(load):
    """Runs what comes as records; the first line of a refusal is the last of standard error."""
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        wish = Wish(HEADER)
        framework, _, run, _ = load(HEADER["model"]["path"], wish)
        records.write_record(sink, {"type": "header", "stream": 1, "tool": os.path.basename(sys.argv[0]), "isa": framework,
                                    "threads": wish.threads or 1, "host": {**wish.facts, **box.facts()}})
        given = {}
        while (record := records.read_record(SOURCE)) is not None:
            if record["type"] == "tensor":
                given[record["name"]] = array_of(record)
            elif record["type"] == "sample":
                arrays = [given[n] for n in run.inputs] if sorted(run.inputs) == sorted(given) else list(given.values())
                given = {}
                records.write_prediction(sink, record["id"], *timed(run, arrays))
    except BrokenPipeError:  # nobody wants the rest
        sys.exit(0)
    except Exception as error:
        print(reason_of(error), file=sys.stderr, flush=True)
        sys.stderr.flush()
        os._exit(1)  # what the framework says as it goes must not be the last line


def timed(run, arrays):
    """The outputs as tensors of records, by name, and how long the framework took."""
    ready = run.before(arrays)
    start = time.perf_counter_ns()
    got = run.call(ready)
    took = time.perf_counter_ns() - start
    outputs = [np.ascontiguousarray(y) for y in run.after(got)]
    names = run.outputs if len(run.outputs) == len(outputs) else [f"o{k}" for k in range(len(outputs))]
    return {n: {"dtype": y.dtype.name, "shape": list(y.shape), "data": y.tobytes()} for n, y in zip(names, outputs)}, took


def array_of(tensor):
    if "strings" in tensor:
        return np.array(tensor["strings"], object).reshape(tensor["shape"])
    return np.frombuffer(bytearray(tensor["data"]), np.dtype(tensor["dtype"])).reshape(tensor["shape"])


def reason_of(error):
    text = " ".join(str(error).split()) or "no reason given"
    return f"{type(error).__name__}: {text[:600]}"


def memory():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def answer(load, words):
    """What the model is or gave; or the framework's refusal, in one line."""
    try:
        framework, inputs, run, transposes = load(words[1], None)
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
        return {"error": reason_of(error)}


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
