"""quantize_peers: one job in a framework's own Python, for bench/quantize: quantise a network as the framework does, or run a file.

PYTHON bench/quantize_peers.py JOB.json: {"do": what, "model": FILE, "output": FILE, "inputs": FILE.npy, ...}. The array is float32
[images, channels, height, width]; a network with channels last gets it turned. What is printed: one JSON object.
"""
import json
import os
import sys
import tempfile

import numpy as np


def turned(array, shape):
    """[n, c, h, w] as an input of that shape wants it: channels last where its last extent is the number of channels."""
    last = len(shape) == 4 and shape[-1] == array.shape[1] and shape[1] != array.shape[1]
    return np.ascontiguousarray(array.transpose(0, 2, 3, 1)) if last else array


# ------------------------------------------------------------------------------------------------ ONNX Runtime
def ort_quantize(job):
    import onnxruntime
    from onnxruntime import quantization as q
    from onnxruntime.quantization.shape_inference import quant_pre_process
    arrays = np.load(job["inputs"], mmap_mode="r")

    class Reader(q.CalibrationDataReader):
        def __init__(self, path):
            entry = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).get_inputs()[0]
            self.name, self.shape, self.at = entry.name, entry.shape, 0

        def get_next(self):
            if self.at == len(arrays):
                return None
            self.at += 1
            return {self.name: turned(arrays[self.at - 1:self.at], self.shape)}

    types = {"s8": q.QuantType.QInt8, "u8": q.QuantType.QUInt8}
    methods = {"minmax": q.CalibrationMethod.MinMax, "percentile": q.CalibrationMethod.Percentile,
               "entropy": q.CalibrationMethod.Entropy}
    forms = {"qdq": q.QuantFormat.QDQ, "qoperator": q.QuantFormat.QOperator}
    with tempfile.TemporaryDirectory() as folder:
        prepared = os.path.join(folder, "prepared.onnx")
        quant_pre_process(job["model"], prepared)
        q.quantize_static(prepared, job["output"], Reader(prepared), quant_format=forms[job.get("form", "qdq")],
                          activation_type=types[job.get("type", "s8")], weight_type=q.QuantType.QInt8, per_channel=True,
                          calibrate_method=methods[job.get("method", "minmax")])
    return {"version": f"onnxruntime {onnxruntime.__version__}"}


def ort_run(job):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Without VNNI, its kernels saturate sums of two products in 16 bits; with this they compute what the file says on any processor.
    options.add_session_config_entry("session.x64quantprecision", "1")
    if not job.get("optimised", True):
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(job["model"], options, providers=["CPUExecutionProvider"])
    entry = session.get_inputs()[0]
    arrays = turned(np.load(job["inputs"], mmap_mode="r"), entry.shape)
    outputs = [session.run(None, {entry.name: arrays[i:i + 1]})[0].ravel() for i in range(len(arrays))]
    np.save(job["output"], np.stack(outputs))
    return {"version": f"onnxruntime {onnxruntime.__version__}"}


# ------------------------------------------------------------------------------------------------ OpenVINO and NNCF
def nncf_quantize(job):
    import nncf
    import openvino
    core = openvino.Core()
    model = core.read_model(job["model"])
    shape = [d.get_length() if d.is_static else 1 for d in model.inputs[0].partial_shape]
    model.reshape(shape)
    arrays = np.load(job["inputs"], mmap_mode="r")
    data = nncf.Dataset(range(len(arrays)), lambda i: turned(arrays[i:i + 1], shape))
    preset = {"default": nncf.QuantizationPreset.PERFORMANCE, "mixed": nncf.QuantizationPreset.MIXED}[job.get("preset", "default")]
    extra = {"model_type": nncf.ModelType.TRANSFORMER} if job.get("transformer") else {}
    openvino.save_model(nncf.quantize(model, data, preset=preset, subset_size=len(arrays), **extra), job["output"], compress_to_fp16=False)
    return {"version": f"nncf {nncf.__version__}, openvino {openvino.__version__.split('-')[0]}"}


def openvino_run(job):
    import openvino
    core = openvino.Core()
    model = core.read_model(job["model"])
    shape = [d.get_length() if d.is_static else 1 for d in model.inputs[0].partial_shape]
    model.reshape(shape)
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    arrays = turned(np.load(job["inputs"], mmap_mode="r"), shape)
    request = compiled.create_infer_request()
    outputs = [request.infer([arrays[i:i + 1]])[compiled.outputs[0]].ravel().copy() for i in range(len(arrays))]
    np.save(job["output"], np.stack(outputs))
    return {"version": f"openvino {openvino.__version__.split('-')[0]}"}


# ------------------------------------------------------------------------------------------------ TensorFlow
def tflite_quantize(job):
    import keras
    import tensorflow as tf
    model = keras.models.load_model(job["model"], compile=False, safe_mode=True)
    shape = [1, *model.inputs[0].shape[1:]]
    arrays = turned(np.load(job["inputs"], mmap_mode="r"), shape)
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([arrays[i:i + 1]] for i in range(len(arrays)))
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    with open(job["output"], "wb") as file:
        file.write(converter.convert())
    return {"version": f"tensorflow {tf.__version__}"}


def tflite_run(job):
    import tensorflow as tf
    interpreter = tf.lite.Interpreter(job["model"])
    entry = interpreter.get_input_details()[0]
    interpreter.resize_tensor_input(entry["index"], [1, *entry["shape"][1:]])
    interpreter.allocate_tensors()
    result = interpreter.get_output_details()[0]
    arrays, outputs = turned(np.load(job["inputs"], mmap_mode="r"), list(entry["shape"])), []
    for i in range(len(arrays)):
        x = arrays[i:i + 1]
        if entry["dtype"] != np.float32:
            scale, zero = entry["quantization"]
            limits = np.iinfo(entry["dtype"])
            x = np.clip(np.rint(x / scale) + zero, limits.min, limits.max).astype(entry["dtype"])
        interpreter.set_tensor(entry["index"], x)
        interpreter.invoke()
        y = interpreter.get_tensor(result["index"]).ravel()
        if result["dtype"] != np.float32:
            y = (y.astype(np.float32) - result["quantization"][1]) * result["quantization"][0]
        outputs.append(y.copy())
    np.save(job["output"], np.stack(outputs))
    return {"version": f"tensorflow {tf.__version__}"}


JOBS = {job.__name__: job for job in (ort_quantize, ort_run, nncf_quantize, openvino_run, tflite_quantize, tflite_run)}

if __name__ == "__main__":
    with open(sys.argv[1]) as description:
        wanted = json.load(description)
    done = JOBS[wanted["do"]](wanted)
    print(json.dumps(done))
