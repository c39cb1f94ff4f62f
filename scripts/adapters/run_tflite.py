#!/usr/bin/env python3
"""run_tflite: TFLite files in tf.lite's interpreter, with its own kernels and no delegate (with DNN_OTHERWISE=1, by XNNPACK; with
DNN_OTHERWISE=reference, by its reference kernels)."""
import os

import adapter

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
try:
    import tensorflow as tf
except ImportError as error:
    adapter.absent(str(error))


def refuse_tensorflow_operators(path):
    """Those of TensorFlow, Flex*, which this interpreter brings along: some read and write files."""
    from tensorflow.lite.python import schema_py_generated as schema
    with open(path, "rb") as file:
        model = schema.Model.GetRootAs(file.read(), 0)
    for i in range(model.OperatorCodesLength()):
        name = model.OperatorCodes(i).CustomCode() or b""
        if name.startswith(b"Flex"):
            raise ValueError(f"operator {name.decode(errors='replace')} is TensorFlow's, which may do more than compute")


def load(path, wish):
    refuse_tensorflow_operators(path)
    resolvers = tf.lite.experimental.OpResolverType
    otherwise = os.environ.get("DNN_OTHERWISE")
    kind = resolvers.BUILTIN if wish or otherwise else resolvers.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    if otherwise == "reference":
        kind = resolvers.BUILTIN_REF
    delegates = [tf.lite.experimental.load_delegate(wish.options["delegate"])] if wish and "delegate" in wish.options else None
    interpreter = tf.lite.Interpreter(path, experimental_op_resolver_type=kind, num_threads=wish.threads if wish else 2,
                                      experimental_delegates=delegates)
    interpreter.allocate_tensors()
    if wish:
        kept = [op["op_name"] for op in interpreter._get_ops_details()]
        if delegates and "DELEGATE" not in kept:
            wish.facts["fell_back"] = f"the delegate {wish.options['delegate']} took no operator"
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
    shapes = [(i["shape"].tolist(), i["dtype"].__name__) for i in inputs]

    def before(arrays):
        if any(list(a.shape) != i["shape"].tolist() for i, a in zip(inputs, arrays)):
            for i, a in zip(inputs, arrays):
                interpreter.resize_tensor_input(i["index"], a.shape)
            interpreter.allocate_tensors()
            inputs[:] = interpreter.get_input_details()
        for i, a in zip(inputs, arrays):
            scale, zero = i["quantization"]
            if scale and a.dtype.kind == "f" and i["dtype"] != a.dtype:
                info = tf.as_dtype(i["dtype"])
                a = (a / scale).round() + zero
                a = a.clip(info.min, info.max)
            interpreter.set_tensor(i["index"], a.astype(i["dtype"], copy=False))

    run = adapter.Steps(before, lambda _: interpreter.invoke(), lambda _: [interpreter.get_tensor(o["index"]) for o in outputs],
                        [i["name"] for i in inputs], [o["name"] for o in outputs])
    transposes = sum(op["op_name"] == "TRANSPOSE" for op in interpreter._get_ops_details())
    return f"tf.lite {tf.__version__}", shapes, run, transposes


if __name__ == "__main__":
    adapter.main(load)
