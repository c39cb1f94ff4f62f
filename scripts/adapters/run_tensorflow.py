#!/usr/bin/env python3
"""run_tensorflow: frozen GraphDefs (.pb) and SavedModels (folders, TF1 or TF2) in TensorFlow."""
import os

import adapter

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
if "DNN_OTHERWISE" in os.environ:
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
try:
    import tensorflow as tf
except ImportError as error:
    adapter.absent(str(error))


def described(tensor):
    return (tensor.shape.as_list() if tensor.shape.rank is not None else [], tensor.dtype.base_dtype.name)


def count_transposes(graph_def):
    nodes = list(graph_def.node) + [n for f in graph_def.library.function for n in f.node_def]
    return sum(n.op == "Transpose" for n in nodes)


def load_graph(path):
    graph_def = tf.compat.v1.GraphDef()
    with open(path, "rb") as file:
        graph_def.ParseFromString(file.read())
    read = {i.split(":")[0].lstrip("^") for n in graph_def.node for i in n.input}
    inputs = [n.name + ":0" for n in graph_def.node if n.op == "Placeholder"]
    skip = ("Const", "Placeholder", "NoOp", "Assert")
    outputs = [n.name + ":0" for n in graph_def.node if n.name not in read and n.op not in skip]
    wrapped = tf.compat.v1.wrap_function(lambda: tf.graph_util.import_graph_def(graph_def, name=""), [])
    pruned = wrapped.prune([wrapped.graph.get_tensor_by_name(n) for n in inputs],
                           [wrapped.graph.get_tensor_by_name(n) for n in outputs])
    shapes = [described(wrapped.graph.get_tensor_by_name(n)) for n in inputs]

    def before(arrays):
        return [tf.constant(a, dtype=t) for a, (_, t) in zip(arrays, shapes)]

    run = adapter.Steps(before, lambda tensors: [y.numpy() for y in pruned(*tensors)], lambda got: got,
                        [n[:-2] for n in inputs], [n[:-2] for n in outputs])
    return shapes, run, count_transposes(graph_def)


def load_folder(path):
    model = tf.saved_model.load(path)
    function = model.signatures["serving_default"]
    names = sorted(function.structured_input_signature[1])
    specs = [function.structured_input_signature[1][n] for n in names]
    shapes = [described(s) for s in specs]

    def before(arrays):
        return {n: tf.constant(a, dtype=t) for n, a, (_, t) in zip(names, arrays, shapes)}

    def call(tensors):
        return {n: y.numpy() for n, y in function(**tensors).items()}

    ends = sorted(function.structured_outputs)
    run = adapter.Steps(before, call, lambda got: [got[n] for n in ends], names, ends)
    run.keep = model  # its variables live as long as it does
    return shapes, run, count_transposes(function.graph.as_graph_def())


def load(path, wish):
    if wish:
        tf.config.threading.set_intra_op_parallelism_threads(wish.threads)
    return (f"tensorflow {tf.__version__}", *(load_folder(path) if os.path.isdir(path) else load_graph(path)))


if __name__ == "__main__":
    adapter.main(load)
