#!/usr/bin/env python3
"""convert_torch_onnx: TorchScript to ONNX by torch.onnx.export."""
import converter

try:
    import torch
except ImportError as error:
    converter.absent(str(error))


def convert(source, target, shapes):
    module = torch.jit.load(source, map_location="cpu").eval()
    torch.onnx.export(module, tuple(torch.zeros(s) for s in shapes), target, opset_version=17)


if __name__ == "__main__":
    converter.main(convert)
