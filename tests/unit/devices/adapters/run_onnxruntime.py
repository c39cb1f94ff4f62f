#!/usr/bin/env python3
"""A stand-in for a framework's adapter, without a framework: gives its inputs back doubled, or, with ep=WHAT, does what is wrong."""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "scripts", "adapters"))
import records  # noqa: E402

source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
header = records.read_record(source)
what = header["device"].split("=")[1] if "=" in header["device"] else ""


def refuse(line, code):
    print("noise before\n" + line, file=sys.stderr)
    sys.exit(code)


def doubled(tensor):
    form = {"float32": "f", "int64": "q"}[tensor["dtype"]]
    values = memoryview(tensor["data"]).cast(form)
    if len(values) > 1 << 16:  # given back as it is
        return tensor
    data = b"".join(memoryview(records.struct.pack("<" + form, v * 2)) for v in values)
    return {"dtype": tensor["dtype"], "shape": tensor["shape"], "data": data}


def broken(outputs):
    """The answer to a run as `what` wants it."""
    name = next(iter(outputs))
    if what == "fewer":
        del outputs[name]
    if what == "shape":
        outputs[name]["shape"] = outputs[name]["shape"] + [2]
        outputs[name]["data"] *= 2
    if what == "ones":
        outputs[name]["shape"] = [1] + outputs[name]["shape"] + [1]
    if what == "dtype":
        outputs[name]["dtype"] = "int32"
    if what == "reversed":
        return dict(reversed(outputs.items()))
    if what == "renamed":
        return {"o_" + n: t for n, t in outputs.items()}
    return outputs


if what == "absent":
    refuse("No module named 'onnxruntime'", 77)
if what == "refuse":
    refuse("ValueError: no operator of that name", 1)
if header["model"]["path"].endswith(".h5"):
    refuse("TypeError: this file is too old", 1)
if what == "garbage":
    os.write(1, b"Loading...\n")
if what == "hang":
    time.sleep(1000)
if what == "silent":
    sys.exit(3)
records.write_record(sink, {"type": "header", "stream": 1, "tool": "fake", "isa": f"fake {header.get('opt')}", "threads": header["threads"],
                            "host": {"file": os.path.basename(header["model"]["path"]), "fell_back": "half of it"}})
if what == "deaf":
    time.sleep(1000)
given = {}
while (record := records.read_record(source)) is not None:
    if record["type"] == "tensor":
        given[record["name"]] = doubled(record)
    if record["type"] == "sample":
        if what == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "fail":
            refuse("RuntimeError: out of cheese", 1)
        outputs = broken({n.replace("x", "y"): t for n, t in given.items()})
        given = {}
        records.write_prediction(sink, record["id"] + (what == "other"), outputs, 1234 if what != "untimed" else None)
