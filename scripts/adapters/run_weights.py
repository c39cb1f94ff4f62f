#!/usr/bin/env python3
"""run_weights: state dicts (.pth) and .safetensors in PyTorch: loaded into the graph FILE.pt beside them, whose own weights are wiped."""
import run_torch  # first, for it says where PyTorch is not installed
import torch

import adapter


def tensors_of(path):
    if path.endswith(".safetensors"):
        from safetensors.torch import load_file
        return load_file(path)
    return torch.load(path, map_location="cpu", weights_only=True)


def load(path, wish):
    framework, shapes, run, transposes = run_torch.load(path + ".pt", wish)
    with torch.no_grad():
        for tensor in run.module.state_dict().values():
            tensor.zero_()
    graph = run.module.state_dict()
    # A batch norm's counter of training steps is not part of what a graph computes.
    tensors = {name: t for name, t in tensors_of(path).items() if name in graph or not name.endswith(".num_batches_tracked")}
    run.module.load_state_dict(tensors, strict=True)
    return framework, shapes, run, transposes


if __name__ == "__main__":
    adapter.main(load)
