"""postprocess: dnn-infer --postprocess "exec:python3 docs/howto/programs/postprocess.py": scores become probabilities, by softmax."""
import array
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts" / "adapters"))
import records  # noqa: E402: streams in plain Python; copy it beside your program

records.read_record(sys.stdin.buffer)
records.write_record(sys.stdout.buffer, {"type": "header", "stream": 1, "tool": "postprocess.py"})
while (prediction := records.read_record(sys.stdin.buffer)) is not None:
    scores = array.array("f", next(iter(prediction["outputs"].values()))["data"])
    top = max(scores)
    total = sum(math.exp(s - top) for s in scores)
    for entry in prediction["top_k"]:
        entry["score"] = math.exp(entry["score"] - top) / total
    prediction["outputs"] = {}  # what stands here stands in the stream
    records.write_record(sys.stdout.buffer, prediction)
