#!/usr/bin/env python3
"""run_torch: TorchScript (.pt) and exported programs (.pt2) in PyTorch (with DNN_OTHERWISE=1, without oneDNN)."""
import os

import adapter

os.environ.pop("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", None)
os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"  # torch.export.load() tries again with pickles else
try:
    import torch
except ImportError as error:
    adapter.absent(str(error))


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    values = value.values() if isinstance(value, dict) else value
    return [t for v in values if v is not None for t in flat(v)]


def load_exported(path):
    program = torch.export.load(path)
    module = program.module()
    placeholders = {n.name: n for n in program.graph.nodes if n.op == "placeholder"}
    tensors = [placeholders[name].meta["val"] for name in program.graph_signature.user_inputs]
    shapes = [([d if isinstance(d, int) else None for d in t.shape], str(t.dtype).split(".")[1]) for t in tensors]
    text = [str(n.target) for n in program.graph.nodes if n.op == "call_function"]
    return module, shapes, sum("permute" in t or "aten.transpose" in t for t in text)


def load_script(path):
    module = torch.jit.load(path, map_location="cpu").eval()
    graph = module.inlined_graph if hasattr(module, "inlined_graph") else module.graph
    shapes = []
    for value in list(graph.inputs())[1:]:
        sizes = value.type().sizes() if value.type().kind() == "TensorType" else None
        shapes.append((list(sizes) if sizes else [], "float32"))
    kinds = [n.kind() for n in graph.nodes()]
    return module, shapes, sum(k in ("aten::permute", "aten::transpose") for k in kinds)


def load(path, wish):
    torch.set_num_threads(wish.threads if wish else 2)
    module, shapes, transposes = load_exported(path) if path.endswith(".pt2") else load_script(path)

    def call(tensors):
        with torch.no_grad(), torch.backends.mkldnn.flags(enabled="DNN_OTHERWISE" not in os.environ):
            return module(*tensors)

    run = adapter.Steps(lambda arrays: [torch.from_numpy(a) for a in arrays], call, lambda got: [y.detach().numpy() for y in flat(got)])
    run.module = module
    if not path.endswith(".pt2"):
        run.names = [a.name for a in module.forward.schema.arguments[1:]]
    return f"torch {torch.__version__.split('+')[0]}", shapes, run, transposes


if __name__ == "__main__":
    adapter.main(load)
