#!/usr/bin/env python3
"""families_test: the sample as each framework wrote it, and what dnn-convert makes of it, gives that framework's outputs.

usage: families_test.py BIN read | BIN convert

`read` runs each file as it is, `convert` each in each family's format. Outputs may be 1e-5 of the largest away from what the
source's own framework gave (expected/<model>.tsv), and labels differ only where the margin is no larger than twice that.
"""
import array
import base64
import json
import os
import subprocess
import sys
import tempfile

FAMILIES = {"shapes": ".onnx", "shapes_tflite": ".tflite", "shapes_tensorflow": ".savedmodel", "shapes_keras": ".keras",
            "shapes_torch": ".pt"}
SHAPES = {"shapes_torch.pt": ["--shape", "1x3x56x56"]}  # TorchScript has none
TOLERANCE = 1e-5


def expected(model):
    """path -> outputs"""
    with open(f"expected/{model}.tsv") as file:
        return {row[0]: [float(v) for v in row[4:]] for row in (line.split("\t") for line in list(file)[1:])}


def outputs(tools, path):
    run = [f"{tools}/dnn-infer", "--quiet", "--device", "reference", "--preprocess", "imagenet-torch", "--outputs",
           *SHAPES.get(path, []), path, "images"]
    stream = subprocess.run(run, check=True, stdout=subprocess.PIPE).stdout
    lines = subprocess.run([f"{tools}/dnn-cat"], input=stream, check=True, stdout=subprocess.PIPE).stdout.decode().splitlines()
    records = [json.loads(line) for line in lines]
    names = {r["id"]: r["path"] for r in records if r["type"] == "sample"}
    data = {names[r["sample"]]: list(r["outputs"].values())[0]["data"] for r in records if r["type"] == "prediction"}
    return {name: array.array("f", base64.b64decode(text)).tolist() for name, text in data.items()}


def breaches(model, path, tools):
    want, got = expected(model), outputs(tools, path)
    if set(want) != set(got):
        return [f"{len(got)} images in place of {len(want)}"]
    allowed = TOLERANCE * max(abs(v) for row in want.values() for v in row)
    found = []
    for image, row in want.items():
        apart = max(abs(a - b) for a, b in zip(row, got[image], strict=True))
        first, second = sorted(row)[:-3:-1]
        other = row.index(max(row)) != got[image].index(max(got[image]))
        if not apart <= allowed or (other and first - second > 2 * allowed):
            found.append(f"{image}: {apart:.2g} apart, {allowed:.2g} allowed{', another label' if other else ''}")
    return found


def main(tools, mode):
    count = 0
    for model, kind in FAMILIES.items():
        cases = [(model + kind, None)] if mode == "read" else [(f"{model}_to{target}", target) for target in FAMILIES.values()]
        for name, target in cases:
            with tempfile.TemporaryDirectory() as folder:
                path = model + kind
                if target is not None:
                    path = f"{folder}/{name}"
                    subprocess.run([f"{tools}/dnn-convert", "--no-certificate", *SHAPES.get(model + kind, []), model + kind, "-o", path],
                                   check=True)
                found = breaches(model, path, tools)
            count += bool(found)
            print(f"{name}: {'; '.join(found[:3]) or 'as expected'}")
    return 1 if count else 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in ("read", "convert"):
        sys.exit(__doc__)
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2]))
