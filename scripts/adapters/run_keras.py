#!/usr/bin/env python3
"""run_keras: .keras and .h5 models in Keras 3, or, with DNN_KERAS=tf_keras, in tf_keras (Keras 2)."""
import importlib
import os

import adapter

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
if "DNN_OTHERWISE" in os.environ:
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
NAME = os.environ.get("DNN_KERAS", "keras")
try:
    keras = importlib.import_module(NAME)
except ImportError as error:
    adapter.absent(str(error))


def count_transposes(model):
    count = 0
    for layer in getattr(model, "layers", []):
        count += int(type(layer).__name__ in ("Permute", "Transpose"))
        count += count_transposes(layer)
    return count


def load(path, wish):
    if wish and keras.backend.backend() == "tensorflow":
        import tensorflow
        tensorflow.config.threading.set_intra_op_parallelism_threads(wish.threads)
    keras.backend.clear_session()  # a server keeps nothing of the model before
    model = keras.models.load_model(path, compile=False, safe_mode=True)
    tensors = model.inputs
    shapes = [([None if d is None else int(d) for d in t.shape], str(getattr(t.dtype, "name", t.dtype))) for t in tensors]

    def before(arrays):
        arrays = [a.astype(t, copy=False) for a, (_, t) in zip(arrays, shapes)]
        return arrays[0] if len(arrays) == 1 else arrays

    def after(got):
        flat = list(got.values()) if isinstance(got, dict) else got if isinstance(got, (list, tuple)) else [got]
        return [y if hasattr(y, "tobytes") else y.numpy() for y in flat]

    # As a device by what Keras compiles for predict(); a check of the file wants the layers as they stand.
    run = adapter.Steps(before, model.predict_on_batch if wish else lambda x: model(x, training=False), after,
                        [t.name for t in tensors])
    return f"{NAME} {keras.__version__}", shapes, run, count_transposes(model)


if __name__ == "__main__":
    adapter.main(load)
