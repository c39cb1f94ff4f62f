#!/usr/bin/env python3
"""convert_tflite: SavedModels and Keras models to TFLite by tf.lite.TFLiteConverter, with nothing quantised."""
import os

import converter

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
try:
    import keras
    import tensorflow as tf
except ImportError as error:
    converter.absent(str(error))


def convert(source, target, shapes):
    if os.path.isdir(source):
        tool = tf.lite.TFLiteConverter.from_saved_model(source)
    else:
        tool = tf.lite.TFLiteConverter.from_keras_model(keras.models.load_model(source, compile=False, safe_mode=True))
    data = tool.convert()
    with open(target, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    converter.main(convert)
