"""to_streams: a published study's {image: {source: [[class, "score"] x5], target: ...}} as JSON lines of two runs."""
import json
import sys

images = json.load(open(sys.argv[1], encoding="utf-8"))
for side in ("source", "target"):
    print(json.dumps({"type": "header", "stream": 1, "tool": "study", "model": {"path": side}, "label_set": "imagenet-1k"}))
    for i, (path, lists) in enumerate(images.items()):
        print(json.dumps({"type": "sample", "id": i, "path": path}))
        top_k = [{"class": c, "score": float(score)} for c, score in lists[side]]
        print(json.dumps({"type": "prediction", "sample": i, "top_k": top_k}))
    print(json.dumps({"type": "end", "records": {}}))
