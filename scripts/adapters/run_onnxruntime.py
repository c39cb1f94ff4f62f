#!/usr/bin/env python3
"""run_onnxruntime: ONNX files in ONNX Runtime, its graph optimisation off, so that the file itself is what runs (with DNN_OTHERWISE=1, on)."""
import os

import adapter

try:
    import onnxruntime
except ImportError as error:
    adapter.absent(str(error))

TYPES = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(double)": "float64", "tensor(int64)": "int64",
         "tensor(int32)": "int32", "tensor(uint8)": "uint8", "tensor(int8)": "int8", "tensor(bool)": "bool"}


def provider_of(wish):
    """The execution provider of an option ep=NAME, which may leave out the names' common end."""
    there = onnxruntime.get_available_providers()
    wanted = wish.options.get("ep", "CPU") if wish else "CPU"
    found = [p for p in there if p.lower() in (wanted.lower(), wanted.lower() + "executionprovider")]
    if not found:
        raise ValueError(f"this ONNX Runtime has no execution provider {wanted}; it has {', '.join(there)}")
    return found[0]


def load(path, wish):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if "DNN_OTHERWISE" in os.environ else level.ORT_DISABLE_ALL
    provider = provider_of(wish)
    if wish:
        levels = [level.ORT_DISABLE_ALL, level.ORT_ENABLE_BASIC, level.ORT_ENABLE_EXTENDED, level.ORT_ENABLE_ALL, level.ORT_ENABLE_ALL]
        options.graph_optimization_level = levels[wish.opt]
        options.intra_op_num_threads = wish.threads
    session = onnxruntime.InferenceSession(path, options, providers=list(dict.fromkeys([provider, "CPUExecutionProvider"])))
    if wish:
        wish.facts["providers"] = ", ".join(session.get_providers())
        if provider not in session.get_providers():
            wish.facts["fell_back"] = f"ONNX Runtime could not use {provider} and runs on {session.get_providers()[0]}"
    inputs = session.get_inputs()
    shapes = [([d if isinstance(d, int) else None for d in i.shape], TYPES.get(i.type, i.type)) for i in inputs]

    def before(arrays):
        return {i.name: a.astype(t, copy=False) for (_, t), i, a in zip(shapes, inputs, arrays)}

    run = adapter.Steps(before, lambda named: session.run(None, named), lambda got: got, [i.name for i in inputs],
                        [o.name for o in session.get_outputs()])

    try:
        import onnx
        transposes = sum(n.op_type == "Transpose" for n in onnx.load(path, load_external_data=False).graph.node)
    except ImportError:
        transposes = None
    return f"onnxruntime {onnxruntime.__version__}", shapes, run, transposes


if __name__ == "__main__":
    adapter.main(load)
