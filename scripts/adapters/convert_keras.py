#!/usr/bin/env python3
"""convert_keras: Keras models to SavedModel, .keras, .h5 and ONNX by Keras 3 itself."""
import os

import converter

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
try:
    import keras
except ImportError as error:
    converter.absent(str(error))


def convert(source, target, shapes):
    model = keras.models.load_model(source, compile=False, safe_mode=True)
    if target.endswith(".onnx"):
        model([keras.ops.zeros(s) for s in shapes] if len(shapes) > 1 else keras.ops.zeros(shapes[0]))  # or it is "never called"
        model.export(target, format="onnx", verbose=False)
    elif target.endswith(".savedmodel"):
        model.export(target, verbose=False)
    else:
        model.save(target)


if __name__ == "__main__":
    converter.main(convert)
