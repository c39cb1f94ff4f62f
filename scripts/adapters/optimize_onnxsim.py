#!/usr/bin/env python3
"""optimize_onnxsim: ONNX models by the steps of the package onnxsim: constants folded, then onnxoptimizer's passes in it."""
import optimizer

try:
    import onnx
    import onnxsim
except ImportError as error:
    optimizer.absent(str(error))

STEPS = {"constant-folding": "skip_constant_folding", "shape-inference": "skip_shape_inference", "fusion-and-elimination": "perform_optimization"}


def passes():
    return list(STEPS)


def apply(source, target, names):
    model = onnx.load(source)
    if names:
        model, _ = onnxsim.simplify(model, perform_optimization="fusion-and-elimination" in names, skip_constant_folding="constant-folding" not in names,
                                    skip_shape_inference="shape-inference" not in names)
    onnx.save(model, target)


if __name__ == "__main__":
    optimizer.main(passes, apply)
