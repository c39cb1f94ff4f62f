#!/usr/bin/env python3
"""run_openvino: ONNX, TFLite and TensorFlow files in OpenVINO, in float32, on its CPU plugin or that of an option device=NAME."""
import os
import tempfile

import adapter

# Its telemetry looks into the user's folder, which the box keeps closed, and fails where another program of Intel's left an identifier.
os.environ["HOME"] = tempfile.gettempdir()
try:
    import openvino
except ImportError as error:
    adapter.absent(str(error))


def name_of(port):
    return min(port.get_names(), default="")


def load(path, wish):
    core = openvino.Core()
    wanted = wish.options.get("device", "CPU") if wish else "CPU"
    if wanted.split(":")[0].split(".")[0] not in {d.split(".")[0] for d in core.available_devices} | {"AUTO", "HETERO", "MULTI"}:
        raise ValueError(f"this OpenVINO has no device {wanted}; it has {', '.join(core.available_devices)}")
    settings = {} if wish and wish.options.get("precision") == "default" else {"INFERENCE_PRECISION_HINT": "f32"}
    if wish and wanted == "CPU":
        settings["INFERENCE_NUM_THREADS"] = wish.threads
    model = core.read_model(path)
    shapes = [([d.get_length() if d.is_static else None for d in p.partial_shape], p.element_type.to_dtype().name)
              for p in model.inputs]
    transposes = sum(n.get_type_name() == "Transpose" for n in model.get_ops())
    request = core.compile_model(model, wanted, settings).create_infer_request()
    if wish:
        wish.facts["openvino_device"] = ", ".join(request.get_compiled_model().get_property("EXECUTION_DEVICES"))

    def before(arrays):
        return dict(enumerate(a.astype(t, copy=False) for a, (_, t) in zip(arrays, shapes)))

    def after(got):
        return [got[k].copy() for k in range(len(model.outputs))]

    run = adapter.Steps(before, request.infer, after, [name_of(p) for p in model.inputs], [name_of(p) for p in model.outputs])
    version = openvino.__version__.split("-")[0]
    return f"openvino {version}", shapes, run, transposes


if __name__ == "__main__":
    adapter.main(load)
