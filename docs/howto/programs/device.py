"""device: a device for dnn-infer, --device "exec:python3 docs/howto/programs/device.py": runs a network that doubles its inputs."""
import array
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts" / "adapters"))
import records  # noqa: E402: streams in plain Python; copy it beside your program

asked = records.read_record(sys.stdin.buffer)
model = pathlib.Path(asked["model"]["path"])  # load it here
if not model.exists():
    sys.exit(f"no model {model}")  # the last line of standard error is the reason that the user sees
records.write_record(sys.stdout.buffer, {"type": "header", "stream": 1, "tool": "device.py", "isa": "doubles", "threads": 1})

inputs = {}
while (record := records.read_record(sys.stdin.buffer)) is not None:
    if record["type"] == "tensor":  # an input of the run, by the graph's name
        inputs[record["name"]] = record
    elif record["type"] == "sample":  # all inputs are there: run
        start = time.perf_counter_ns()
        x = next(iter(inputs.values()))
        values = array.array("f", (2 * v for v in array.array("f", x["data"])))
        took = time.perf_counter_ns() - start
        output = {"dtype": "float32", "shape": x["shape"], "data": values.tobytes()}
        records.write_prediction(sys.stdout.buffer, record["id"], {"y": output}, took)
        inputs = {}
