#!/usr/bin/env python3
"""run_ncnn: ONNX files in ncnn, through its own converter pnnx, in float32: everything of half precision is switched off."""
import importlib.util
import os
import shutil
import subprocess
import tempfile

import adapter

try:
    import ncnn
    import numpy as np
except ImportError as error:
    adapter.absent(str(error))

# Its package would load torch, of which the converter itself needs nothing.
PNNX = importlib.util.find_spec("pnnx")
if PNNX is None:
    adapter.absent("No module named 'pnnx'")
MAX_WORDS = 60


def converted(path, folder):
    """The network as pnnx makes it, of float32 weights; its input shapes are the file's own."""
    model = f"{folder}/model.onnx"
    shutil.copyfile(path, model)
    program = os.path.join(PNNX.submodule_search_locations[0], "pnnx")
    done = subprocess.run([program, model, "fp16=0"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    parameters, weights = f"{folder}/model.ncnn.param", f"{folder}/model.ncnn.bin"
    if done.returncode or not os.path.exists(parameters):
        raise ValueError("pnnx: " + " ".join(done.stdout.decode(errors="replace").split()[-MAX_WORDS:]))
    return parameters, weights


def load(path, wish):
    net = ncnn.Net()
    for name in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_storage", "use_bf16_packed", "use_vulkan_compute"):
        if hasattr(net.opt, name):
            setattr(net.opt, name, False)
    net.opt.num_threads = wish.threads if wish else 1
    with tempfile.TemporaryDirectory() as folder:
        parameters, weights = converted(path, folder)
        if net.load_param(parameters) or net.load_model(weights):
            raise ValueError("ncnn does not load what pnnx made")
    by_number = lambda name: int(name.lstrip("inout"))  # noqa: E731  in0, in1, ... as pnnx names them
    inputs, outputs = sorted(net.input_names(), key=by_number), sorted(net.output_names(), key=by_number)

    def before(arrays):  # ncnn knows no batches: one after another
        return [[ncnn.Mat(np.ascontiguousarray(a[i])) for a in arrays] for i in range(len(arrays[0]))]

    def call(samples):
        got = []
        for mats in samples:
            extractor = net.create_extractor()
            for name, mat in zip(inputs, mats):
                extractor.input(name, mat)
            got.append([extractor.extract(name)[1] for name in outputs])
        return got

    run = adapter.Steps(before, call, lambda got: [np.stack([np.array(mats[k]) for mats in got]) for k in range(len(outputs))])
    return f"ncnn {ncnn.__version__}", [], run, 0


if __name__ == "__main__":
    adapter.main(load)
