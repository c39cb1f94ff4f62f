"""Makes steps of training with Keras for bench/train: PYTHON bench/train_keras.py NET.keras BATCH THREADS

The file is dnn-convert's, of the network that torch and dnn-train start from; Adam, random images, NHWC, float32, one call of
train_on_batch a step, as a TensorFlow graph: compiled by XLA, which is Keras' default, a step takes several times as long on a CPU. The first
line of the output names the versions. Each line of standard input says how many steps; the answer is their milliseconds and the process's
memory in MiB.
"""
import json
import os
import resource
import sys
import time

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", KERAS_BACKEND="tensorflow", OMP_NUM_THREADS=sys.argv[3])
import keras
import tensorflow as tf

path, batch, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
tf.config.threading.set_intra_op_parallelism_threads(threads)
tf.config.threading.set_inter_op_parallelism_threads(1)
model = keras.models.load_model(path, compile=False, safe_mode=True)
model.trainable = True
model.compile(keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
images = tf.random.uniform((batch, *model.inputs[0].shape[1:]))
labels = tf.range(batch) % 10
print(json.dumps({"keras": keras.__version__, "tensorflow": tf.__version__}), flush=True)
for line in sys.stdin:
    times = []
    for _ in range(int(line)):
        start = time.perf_counter()
        model.train_on_batch(images, labels)
        times.append(1000 * (time.perf_counter() - start))
    print(json.dumps({"ms": times, "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}), flush=True)
