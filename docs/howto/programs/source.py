"""source: samples for dnn-infer --fill "exec:python3 docs/howto/programs/source.py 3": so many that count up, whatever the network wants."""
import array
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts" / "adapters"))
import records  # noqa: E402: streams in plain Python; copy it beside your program

count = int(sys.argv[1])
asked = records.read_record(sys.stdin.buffer)
network = asked["preprocess"]["inputs"][0]  # {"name": "x", "dtype": "float32", "shape": [1, 3, 8, 8]}
n = math.prod(network["shape"])
records.write_record(sys.stdout.buffer, {"type": "header", "stream": 1, "tool": "source.py", "command": sys.argv})
for i in range(count):
    values = array.array("f", [float(i)] * n)
    tensor = {"dtype": "float32", "shape": network["shape"], "data": values.tobytes()}
    records.write_record(sys.stdout.buffer, {"type": "sample", "id": i, "path": f"count-{i}", "tensor": tensor})
records.write_record(sys.stdout.buffer, {"type": "end", "records": {"sample": count}})
