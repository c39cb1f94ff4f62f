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


def load(path):
    options = onnxruntime.SessionOptions()
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if "DNN_OTHERWISE" in os.environ else level.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    shapes = [([d if isinstance(d, int) else None for d in i.shape], TYPES.get(i.type, i.type)) for i in inputs]

    def run(arrays):
        return session.run(None, {i.name: a.astype(t) for (_, t), i, a in zip(shapes, inputs, arrays)})

    try:
        import onnx
        transposes = sum(n.op_type == "Transpose" for n in onnx.load(path, load_external_data=False).graph.node)
    except ImportError:
        transposes = None
    return f"onnxruntime {onnxruntime.__version__}", shapes, run, transposes


if __name__ == "__main__":
    adapter.main(load)
