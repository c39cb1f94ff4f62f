#!/usr/bin/env python3
"""convert_torch_onnx: TorchScript to ONNX by torch.onnx.export."""
import os

import converter

os.environ.pop("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", None)
os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"
try:
    import torch
except ImportError as error:
    converter.absent(str(error))


def convert(source, target, shapes):
    module = torch.jit.load(source, map_location="cpu").eval()
    torch.onnx.export(module, tuple(torch.zeros(s) for s in shapes), target, opset_version=17)


if __name__ == "__main__":
    converter.main(convert)
