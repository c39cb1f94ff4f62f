#!/usr/bin/env python3
"""import-published: published predictions become streams that compare as the study says; and what is refused, in one line."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
BIN = pathlib.Path(os.environ.get("DNN_BIN", SCRIPTS.parent / "build" / "release" / "bin"))
PUBLISHED = pathlib.Path(os.environ.get("DNN_TEST_DATA", "/nowhere")) / "published"


def imported(*words):
    return subprocess.run([sys.executable, SCRIPTS / "import-published", *map(str, words)], capture_output=True, text=True, check=False)


def compared(*lines):
    """dnn-eval's first pair of the streams of these JSON lines."""
    stream = subprocess.run([BIN / "dnn-cat", "--from-json"], input="".join(lines).encode(), capture_output=True, check=True).stdout
    done = subprocess.run([BIN / "dnn-eval", "--json"], input=stream, capture_output=True, check=True)
    return json.loads(done.stdout)["pairs"][0]


class ImportPublished(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def test_source_and_target_are_two_runs(self):
        path = self.write("x.json", json.dumps({"a.jpg": {"source": [[3, "0.5"], [1, "0.25"]], "target": [[3, "0.5"]]},
                                                "b.jpg": {"source": [[3, "0.5"]], "target": [[4, "0.5"]]}}))
        lines = imported(path).stdout
        records = [json.loads(line) for line in lines.splitlines()]
        self.assertEqual([r["type"] for r in records], ["header", "sample", "prediction", "sample", "prediction", "end"] * 2)
        self.assertEqual(records[2]["top_k"], [{"class": 3, "score": 0.5}, {"class": 1, "score": 0.25}])
        self.assertEqual([r["model"]["path"] for r in records if r["type"] == "header"], [f"{path}:source", f"{path}:target"])
        pair = compared(lines)
        self.assertEqual((pair["n_common"], pair["values"]["top1_agreement"]), (2, 50))

    def test_a_background_class_moves_the_labels_only(self):
        for image, best in (("one", 7), ("two", 0), ("three", 9)):
            self.write(f"keras/mutations/ts_1_cpu/{image}.txt", f"{best}, 0.75\n5, 0.125\n\n0.25\n")
            self.write(f"slim/mutations/ts_1_cpu/{image}.txt", f"{best + 1}, 0.75\n6, 0.125\n\n0.5\n")
        self.write("slim/execution_log.txt", "Total: 3 s\n")
        plain, shifted = imported(self.folder / "keras").stdout, imported("--label-offset", 1, self.folder / "slim").stdout
        pair = compared(plain, shifted)
        self.assertEqual((pair["n_common"], pair["values"]["top1_agreement"], pair["values"]["time_change"]), (3, 100, 100))
        self.assertEqual(compared(plain, imported(self.folder / "slim").stdout)["values"]["top1_agreement"], 0)

    def test_what_the_matrix_writes_reads_back(self):
        lines = imported(self.write("x.json", json.dumps({f"d/{n}.jpg": {
            "source": [[n, "0.5"], [n + 1, "0.25"]], "target": [[n + n % 3, "0.5"], [n + 1, "0.25"]]} for n in range(9)}))).stdout
        first, second = (lines[:lines.index('{"type": "header"', 1)], lines[lines.index('{"type": "header"', 1):])
        for name, run in (("a", first), ("b", second)):
            text = self.write(f"{name}.jsonl", run)
            subprocess.run([sys.executable, SCRIPTS / "stream_to_text.py", text, self.folder / name], check=True)
        again = compared(imported(self.folder / "a").stdout, imported(self.folder / "b").stdout)
        before = compared(lines)
        self.assertEqual(before["n_common"], 9)
        for key in ("top1_agreement", "topk_agreement", "kendall_tau", "rbo"):
            self.assertEqual(before["values"][key], again["values"][key], key)

    def test_a_tree_of_the_label_offset_kind_reads_back_to_the_same_comparison(self):
        """Nets of 1000 and 1001 classes, as streams, as trees of text files, and as streams again."""
        draw = random.Random(1)
        images = [f"n{c:04}/{i:02}.JPEG" for c in range(12) for i in range(9)]  # names that only their folders tell apart

        def lines_of(name, offset, best_of):
            yield {"type": "header", "stream": 1, "tool": "test", "model": {"path": f"{name}.onnx"}, "label_set": "imagenet-1k",
                   **({"label_offset": offset} if offset else {})}
            for i, image in enumerate(images):
                yield {"type": "sample", "id": i, "path": f"/data/{name}/{image}"}
                # Probabilities far below what six decimals show, and ties.
                scores = sorted((draw.choice([1e-9, 2e-9, draw.random() * 1e-6, draw.random()]) for _ in range(5)), reverse=True)
                yield {"type": "prediction", "sample": i, "latency_ns": draw.randrange(10**6, 10**9), "top_k": [
                    {"class": c + offset, "score": s} for c, s in zip(best_of(i), scores)]}
            yield {"type": "end"}

        ranked = [draw.sample(range(1000), 5) for _ in images]
        other = [labels if draw.random() < 0.6 else draw.sample(labels[:4] + [draw.randrange(1000)], 5) for labels in ranked]
        other = [labels if len(set(labels)) == 5 else ranked[i] for i, labels in enumerate(other)]
        streams, again, unmoved = [], [], []
        for name, offset, best in (("keras", 0, ranked), ("slim", 1, other)):
            text = "".join(json.dumps(record) + "\n" for record in lines_of(name, offset, lambda i, best=best: best[i]))
            streams.append(text)
            subprocess.run([sys.executable, SCRIPTS / "stream_to_text.py", self.write(f"{name}.jsonl", text), self.folder / name], check=True)
            again.append(imported("--nested", "--label-offset", offset, self.folder / name).stdout)
            unmoved.append(imported("--nested", self.folder / name).stdout)
        before, after = compared(*streams), compared(*again)
        self.assertEqual(before["n_common"], len(images))
        self.assertTrue(50 < before["values"]["top1_agreement"] < 100)
        self.assertIsNotNone(before["values"]["wilcoxon_p"])
        self.assertEqual(before["values"], after["values"])
        self.assertEqual([{**d, "sample": d["sample"].removeprefix("/data/keras/")} for d in before["disagreements"]], after["disagreements"])
        self.assertLess(compared(*unmoved)["values"]["top1_agreement"], 1)  # the offset is what makes them agree

    def test_what_is_no_such_file_is_refused(self):
        for name, text, said in (("x.json", "{", "x.json: not JSON"), ("y.json", "[1]", "not an object of images"),
                                 ("z.json", '{"a": {"source": [[1, "0.5"]]}}', 'z.json: a: no "target"'),
                                 ("w.json", '{"a": {"source": [[1]], "target": []}}', "w.json: a: source: not pairs"),
                                 ("v.json", '{"a": {"source": [[-1, "0.5"]], "target": []}}', "class -1 is negative"),
                                 ("t/a.txt", "hello\n", "a.txt: not pairs"), ("u/a.txt", "1, 0.5\n\nsoon\n", "the time in seconds"),
                                 ("s/readme.md", "", "no folder below it holds files")):
            path = self.write(name, text)
            done = imported(path if name.endswith(".json") else path.parent)
            self.assertEqual(done.returncode, 3, name)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertIn(said, done.stderr)
        self.assertEqual(imported(self.folder / "nothing.json").returncode, 2)

    @unittest.skipUnless(PUBLISHED.is_dir(), "DNN_TEST_DATA is not set")
    def test_three_published_conversions(self):
        expected = {"InceptionV3_torch_to_keras_target_preprocessing": 32.38, "MobileNetV2_keras_to_torch_target_preprocessing": 83.42,
                    "MobileNetV2_keras_to_torch_source_preprocessing": 0}
        for name, disagreement in expected.items():
            pair = compared(imported(PUBLISHED / f"{name}.json").stdout)
            self.assertEqual(pair["n_common"], 5500)
            self.assertAlmostEqual(100 - pair["values"]["top1_agreement"], disagreement, delta=0.005)


if __name__ == "__main__":
    unittest.main()
