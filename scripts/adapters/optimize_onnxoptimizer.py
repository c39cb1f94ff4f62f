#!/usr/bin/env python3
"""optimize_onnxoptimizer: ONNX models by the passes of the package onnxoptimizer, each once, in its own order."""
import optimizer

try:
    import onnx
    import onnxoptimizer
except ImportError as error:
    optimizer.absent(str(error))


def passes():
    return onnxoptimizer.get_fuse_and_elimination_passes()


def apply(source, target, names):
    model = onnx.load(source)
    onnx.save(onnxoptimizer.optimize(model, names) if names else model, target)


if __name__ == "__main__":
    optimizer.main(passes, apply)
