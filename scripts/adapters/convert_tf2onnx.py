#!/usr/bin/env python3
"""convert_tf2onnx: frozen GraphDefs, SavedModels, Keras 2 models and TFLite files to ONNX by tf2onnx, as its command line does."""
import os
import subprocess
import sys

import converter

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
try:
    import tensorflow as tf
    import tf2onnx
except ImportError as error:
    converter.absent(str(error))


def ends_of(path):
    """Names of the placeholders and of what nothing reads, which tf2onnx wants to be told."""
    graph = tf.compat.v1.GraphDef()
    with open(path, "rb") as file:
        graph.ParseFromString(file.read())
    read = {i.split(":")[0].lstrip("^") for n in graph.node for i in n.input}
    inputs = [n.name + ":0" for n in graph.node if n.op == "Placeholder"]
    return inputs, [n.name + ":0" for n in graph.node if n.name not in read and n.op not in ("Const", "Placeholder", "NoOp")]


def convert(source, target, shapes):
    if os.path.isdir(source):
        words = ["--saved-model", source]
    elif source.endswith(".pb"):
        inputs, outputs = ends_of(source)
        words = ["--graphdef", source, "--inputs", ",".join(inputs), "--outputs", ",".join(outputs)]
    elif source.endswith(".tflite"):
        words = ["--tflite", source]
    else:
        tf2onnx.convert.from_keras(tf.keras.models.load_model(source, compile=False, safe_mode=True), opset=17, output_path=target)
        return
    done = subprocess.run([sys.executable, "-m", "tf2onnx.convert", *words, "--opset", "17", "--output", target], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode or not os.path.exists(target):
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        raise RuntimeError(lines[-1] if lines else "it says nothing")


if __name__ == "__main__":
    converter.main(convert)
