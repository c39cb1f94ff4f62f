"""preprocess: dnn-infer --preprocess "exec:python3 docs/howto/programs/preprocess.py": the top left corner of an image, its pixels from -1 to 1."""
import array
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts" / "adapters"))
import records  # noqa: E402: streams in plain Python; copy it beside your program

asked = records.read_record(sys.stdin.buffer)
shape = asked["preprocess"]["inputs"][0]["shape"]  # [1, 3, H, W]
records.write_record(sys.stdout.buffer, {"type": "header", "stream": 1, "tool": "preprocess.py"})
while (sample := records.read_record(sys.stdin.buffer)) is not None:
    pixels, width = sample["tensor"]["data"], sample["tensor"]["shape"][1]  # uint8 [height, width, 3]
    _, channels, rows, columns = shape
    planes = array.array("f")
    for c in range(channels):
        for y in range(rows):
            planes.extend(pixels[(y * width + x) * 3 + c] / 127.5 - 1 for x in range(columns))
    sample["tensor"] = {"dtype": "float32", "shape": shape, "data": planes.tobytes()}
    records.write_record(sys.stdout.buffer, sample)  # the same sample, with the network's input
