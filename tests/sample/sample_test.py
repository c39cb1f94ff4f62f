#!/usr/bin/env python3
"""Tests that the embedded sample is complete, agrees with its own tables and its README, and stays small."""
import os
import re
import unittest

MODELS = ["shapes", "shapes_opset7", "shapes_wrong", "shapes_torch", "shapes_keras", "shapes_tensorflow", "shapes_tflite"]


def rows(model):
    with open(f"expected/{model}.tsv") as f:
        head, *lines = [line.rstrip("\n").split("\t") for line in f]
    return head, [dict(zip(head, line)) for line in lines]


def near_tie(path):
    return os.path.basename(path).startswith(("tie", "close"))


class Sample(unittest.TestCase):
    def setUp(self):
        with open("labels.txt") as f:
            self.labels = f.read().split()
        self.images = sorted(os.path.join(d, f) for d, _, files in os.walk("images") for f in files)

    def test_labels_are_the_folders_and_the_output_columns(self):
        self.assertGreaterEqual(len(self.labels), 10)
        self.assertEqual(self.labels, sorted(os.listdir("images")))
        for model in MODELS:
            self.assertEqual(rows(model)[0][4:], self.labels)

    def test_every_image_has_its_row(self):
        drawn = [i for i in self.images if not near_tie(i)]
        self.assertGreaterEqual(len([i for i in drawn if i.endswith(".png")]), 100)
        self.assertGreaterEqual(len([i for i in drawn if i.endswith(".jpg")]), 20)
        for model in MODELS:
            self.assertEqual(sorted(row["path"] for row in rows(model)[1]), self.images)
            for row in rows(model)[1]:
                self.assertEqual(row["path"].split("/")[1], row["truth"])
                outputs = {label: float(row[label]) for label in self.labels}
                self.assertEqual(outputs[row["top1"]], max(outputs.values()))

    def test_figures_are_those_of_the_readme(self):
        with open("README.md") as f:
            table = dict(re.findall(r"^\| `(shapes\w*)\.\w+` \| (\d+ .*|\d+) \|", f.read(), re.M))
        right = {row["path"]: row["top1"] for row in rows("shapes")[1]}
        for model in MODELS:
            all_rows = rows(model)[1]
            hits = [row["path"] for row in all_rows if row["top1"] == row["truth"]]
            flips = [row["path"] for row in all_rows if row["top1"] != right[row["path"]]]
            stated = re.findall(r"\d+", re.sub(r"\([^)]*\)", "", table[model]))
            self.assertEqual([int(n) for n in stated[:2]], [len([p for p in hits if not near_tie(p)]), len(hits)], model)
            if model == "shapes_wrong":
                tied = len([p for p in flips if near_tie(p)])
                self.assertEqual([int(n) for n in stated[2:4]], [len(flips) - tied, tied])
                self.assertGreater(len(flips), 3)
                self.assertLess(len(flips), len(all_rows) / 2)
            else:  # other orders of summation turn over near ties, and nothing else
                self.assertTrue(all(near_tie(p) for p in flips))
                self.assertEqual(int((stated[2:4] + ["0", "0"])[1]), len(flips))

    def test_accuracy_leaves_room_and_ties_are_close(self):
        _, table = rows("shapes")
        drawn = [row for row in table if not near_tie(row["path"])]
        accuracy = sum(row["top1"] == row["truth"] for row in drawn) / len(drawn)
        self.assertGreaterEqual(accuracy, 0.9)
        self.assertLessEqual(accuracy, 0.97)
        self.assertLess(max(float(row["margin"]) for row in table if "/tie" in row["path"]), 2e-6)

    def test_it_is_small(self):
        size_bytes = sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(".") for f in files)
        self.assertLess(size_bytes, 5_000_000)


if __name__ == "__main__":
    unittest.main()
