"""metric: dnn-eval --metric "exec:python3 docs/howto/programs/metric.py": how many classes a run ever names first, and its mean best score."""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts" / "adapters"))
import records  # noqa: E402: streams in plain Python; copy it beside your program


def value(name, number):
    """One metric of the run: a tensor with one number, under the metric's name."""
    return {"type": "tensor", "name": name, "role": "output", "dtype": "float64", "shape": [], "data": struct.pack("<d", number)}


classes, scores = set(), []
while (record := records.read_record(sys.stdin.buffer)) is not None:
    if record["type"] == "prediction" and record["top_k"]:
        classes.add(record["top_k"][0]["class"])
        scores.append(record["top_k"][0]["score"])
    elif record["type"] == "end":  # of a run: answer with a run
        answer = [value("classes_named", len(classes))] + ([value("mean_best", sum(scores) / len(scores))] if scores else [])
        for r in [{"type": "header", "stream": 1, "tool": "metric.py"}, *answer, {"type": "end", "records": {"tensor": len(answer)}}]:
            records.write_record(sys.stdout.buffer, r)
        classes, scores = set(), []
