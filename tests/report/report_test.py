#!/usr/bin/env python3
"""Tests of dnn-report: pages that stand alone and that everyone can read, whatever the streams say."""
import argparse
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from page import Page

try:
    import docutils.core
except ImportError:
    docutils = None
try:
    import markdown_it
except ImportError:
    markdown_it = None

ARGUMENTS = argparse.ArgumentParser()
ARGUMENTS.add_argument("--bin", required=True)
HOSTILE = ["<script>alert(1)</script>", "\"'><img src=x onerror=alert(1)>", "a\nb\r\x00\x1b[31m", "\u202egnp.exe", "</title></svg></style>",
           "| pipe `tick` *star* _under_ [link](javascript:1)", ".. raw:: html", "&lt;&amp;", "x" * 3000, "\ufffe\ud7ff", "${IFS} $(id) %s %n"]


def run(*words, stdin=None):
    return subprocess.run([f"{BIN}/dnn-report", *words], input=stdin, capture_output=True)


def stream(*records):
    lines = "\n".join(json.dumps(r) for r in records)
    return subprocess.run([f"{BIN}/dnn-cat", "--from-json"], input=lines.encode(), capture_output=True, check=True).stdout


def header(model, **more):
    return {"type": "header", "stream": 1, "tool": "dnn-infer", "model": {"path": model}, "device": "cpu", "opt": 0, "label_set": "set", **more}


def one_run(model, best, labels=("cat", "dog", "cow"), n=40, truth=True, path="imgs/{}.png", **more):
    """A run over n samples; best(i) is the class that it finds in sample i."""
    yield header(model, **more)
    for i in range(n):
        yield {"type": "sample", "id": i, "path": path.replace("{}", str(i)), **({"truth": i % len(labels)} if truth else {})}
        first = best(i)
        order = [first] + [c for c in range(len(labels)) if c != first]
        yield {"type": "prediction", "sample": i, "latency_ns": 1000000 + 7919 * i % 500000,
               "top_k": [{"class": c, "score": 2.5 - k, "label": labels[c]} for k, c in enumerate(order)]}
    yield {"type": "end"}


class Report(unittest.TestCase):
    def page(self, *words, stdin=None, status=0):
        result = run(*words, stdin=stdin)
        self.assertEqual(result.returncode, status, result.stderr.decode())
        page = Page(result.stdout.decode())
        self.assertEqual(page.problems[:10], [])
        return page

    def test_two_runs(self):
        runs = stream(*one_run("a.onnx", lambda i: i % 3), *one_run("b.onnx", lambda i: (i + (i == 7)) % 3))
        page = self.page("--title", "A & B", stdin=runs)
        said = page.visible()
        self.assertEqual(page.title, "A & B")
        self.assertIn("On 1 of 40 samples", said)
        self.assertIn("imgs/7.png", said)
        self.assertIn("97.50", said)
        self.assertIn("cow (wrong)", said)  # the second run's answer on sample 7, which is a dog
        self.assertIn("dog (right)", said)
        self.assertEqual(page.text.encode(), run("--title", "A & B", stdin=runs).stdout)

    def test_first_line_names_the_label_set(self):
        page = self.page(stdin=stream(*one_run("a.onnx", lambda i: i % 3, label_set="labels"), *one_run("b.onnx", lambda i: i % 3, label_set="labels")))
        self.assertIn('2 runs on 40 samples of imgs; label set "labels".', page.visible())

    def test_no_line_ends_behind_the_hyphen_of_an_option(self):
        page = self.page(stdin=stream(*one_run("a-b.onnx", lambda i: i % 3), *one_run("b.onnx", lambda i: i % 3, opt=3)))
        prose = re.sub(r"<svg.*?</svg>|<title>.*?</title>|<style>.*?</style>|<script>.*?</script>|<td.*?</td>| title=\"[^\"]*\"", "", page.text, flags=re.DOTALL)
        self.assertIn('A a-b <span class="option">-O0</span>', prose)
        self.assertEqual(re.findall(r"[ >(]-O\d", re.sub('<span class="option">-O[03]</span>', "", prose)), [])
        self.assertIn(".option{white-space:nowrap}", page.text)

    def test_hostile_text_is_text(self):
        for name in HOSTILE:
            runs = stream(*one_run(name, lambda i: 0, labels=(name, name + "2", name + "3"), n=3, path=name.replace("{", "(") + "{}", device=name, isa=name,
                                   label_set=name, host={name: name}, command=[name]),
                          *one_run(name + "b", lambda i: 1, labels=(name, name + "2", name + "3"), n=3, path=name.replace("{", "(") + "{}", label_set=name))
            page = self.page("--title", name.replace("\0", ""), stdin=runs)
            self.assertNotRegex(page.text, r"[\x00-\x09\x0b-\x1f\x7f\u202e\u2028]")
            self.assertEqual(page.text.count("<script"), 1)

    def test_odd_runs(self):
        end = {"type": "end"}
        sample, bare = {"type": "sample", "id": 0, "path": "x"}, {"type": "prediction", "sample": 0, "top_k": []}
        nan = {"type": "prediction", "sample": 0, "top_k": [{"class": 1, "score": "nan"}, {"class": 2, "score": "-inf"}], "latency_ns": 0}
        far = {"type": "prediction", "sample": 5, "top_k": [{"class": 2**29, "score": 1e308}], "latency_ns": 2**62}
        usage = [{"type": "usage", "time_ns": t, "cpu_percent": c} for t, c in ((2**62, 1), (-(2**62), "nan"), (0, "inf"), (5, 1e300))]
        h = header("m")
        for records in ([h, end], [h, sample, end], [h, sample, bare, end], [h, sample, nan, end], [h, far, end], [h, nan, nan, far, end],
                        [h, *usage, end], [{"type": "header", "stream": 1}, nan, end]):
            self.page(stdin=stream(*records))
            self.page(stdin=stream(*records, *records, *one_run("n", lambda i: 0)))

    def test_a_stream_that_was_cut_off_says_so(self):
        whole = stream(*one_run("a.onnx", lambda i: 0))
        page = self.page(stdin=whole[:len(whole) // 2], status=3)
        self.assertIn("Incomplete: standard input: truncated", page.visible())
        self.assertEqual(run(stdin=b"").returncode, 3)

    def test_types(self):
        runs = stream(*one_run("a.onnx", lambda i: 0), *one_run("b.onnx", lambda i: i % 3))
        for kind, own in (("performance", "times"), ("classification", "confusion"), ("comparison", "agreement")):
            page = self.page("--types", kind, stdin=runs)
            self.assertIn(own, page.ids)
            self.assertEqual(sum(t in page.ids for t in ("performance", "classification", "comparison")), 1)
        bad = run("--types", "performance,speed", stdin=runs)
        self.assertEqual((bad.returncode, bad.stdout), (2, b""))

    def test_many_runs_stay_small(self):
        runs = [r for k in range(100) for r in one_run(f"m{k // 10}.onnx", lambda i, k=k: (i + (i % 17 == k % 13)) % 3, n=200, opt=k % 5,
                                                       device=f"opencl:{k % 10 // 5}")]
        page = self.page(stdin=stream(*runs))
        self.assertLess(len(page.text), 5_000_000)
        self.assertIn("Of 4950 pairs the table holds", page.visible())

    def test_a_broken_model_among_copies_is_found(self):
        """One model is broken, one slightly different, the others are equal, in a matrix of 102 runs of the sample."""
        sample = os.path.join(os.path.dirname(__file__), "../sample")
        records = {}
        for name in ("shapes.onnx", "shapes_tflite.tflite", "shapes_wrong.onnx"):
            made = subprocess.run([f"{BIN}/dnn-infer", "-q", "--device", "reference", "--preprocess", "imagenet-torch", "--labels", f"{sample}/labels.txt",
                                   f"{sample}/{name}", f"{sample}/images"], capture_output=True, check=True).stdout
            lines = subprocess.run([f"{BIN}/dnn-cat"], input=made, capture_output=True, check=True).stdout.decode().splitlines()
            records[name] = [json.loads(line) for line in lines]

        def copy(source, name, level, shift=0):
            for record in json.loads(json.dumps(records[source])):
                if record["type"] == "header":
                    record.update(model={"path": name}, opt=level, device="cpu")
                    record.pop("command", None)
                if record["type"] == "prediction" and record["sample"] % 100 < shift:
                    best = record["top_k"]
                    best[0]["class"], best[1]["class"] = best[1]["class"], best[0]["class"]
                yield record
        models = [("shapes.onnx", f"equal{i}.onnx", 0) for i in range(14)] + [("shapes_tflite.tflite", "near.tflite", 0), ("shapes.onnx", "slight.onnx", 1),
                                                                           ("shapes_wrong.onnx", "broken.onnx", 0)]
        streams = {m: [stream(*copy(m[0], m[1], level, m[2])) for level in (0, 1, 2, 3, 4, 4)] for m in models}
        page = self.page(stdin=b"".join(s for runs in streams.values() for s in runs))
        self.assertLess(len(page.text), 2_000_000)
        said = page.visible()[:2500]
        self.assertIn("Against the baseline A equal0 -O0, 14 of 16 other models give the same predictions (1 but for near ties", said)
        self.assertIn("Within each model, 85 of 85 runs give the same predictions", said)
        with tempfile.TemporaryDirectory() as folder:
            for i, model in enumerate((models[0], models[-1])):
                with open(f"{folder}/{i}", "wb") as file:
                    file.write(streams[model][0])
            pair = json.loads(subprocess.run([f"{BIN}/dnn-eval", "--json", f"{folder}/0", f"{folder}/1"], capture_output=True, check=True).stdout)["pairs"][0]["values"]
        self.assertLess(pair["mcnemar_p"], 1e-4)
        self.assertIn(f"Worse: broken against the baseline. The label differs on {pair['flips']:.0f} of 196 samples", said)
        self.assertIn(f"Top-1 accuracy {pair['accuracy_change']:+.2f} percentage points, 95 % interval {pair['accuracy_change_low']:+.2f} to "
                      f"{pair['accuracy_change_high']:+.2f}, p = {pair['mcnemar_p']:.2g}", said)
        self.assertIn("Different: slight against the baseline. The label differs on 2 of 196 samples", said)
        self.assertIn("the test shows no change of accuracy, and rules out none within that interval", said)
        self.assertNotIn("chance", page.visible())

    def test_runs_that_are_never_right_are_judged_by_their_labels(self):
        said = self.page(stdin=stream(*one_run("a.onnx", lambda i: (i + 1) % 3), *one_run("b.onnx", lambda i: (i + 2) % 3))).visible()
        self.assertIn("Very different: b against the baseline. The label differs on 40 of 40 samples. Top-1 accuracy is the same: no sample is right", said)
        self.assertIn("top-1 0.00 % in every run. It tells nothing", said)

    def test_thumbnails(self):
        images = os.path.join(os.path.dirname(__file__), "../sample/images")
        names = ["circle/00.png", "heart/00.png", "../../../README.md", "missing.png", "/dev/zero"]
        records = [[header(m), *({"type": "sample", "id": i, "path": p} for i, p in enumerate(names)),
                    *({"type": "prediction", "sample": i, "top_k": [{"class": c, "score": 1}]} for i in range(len(names))),
                    {"type": "end"}] for c, m in enumerate("ab")]
        runs = stream(*records[0], *records[1])
        page = self.page("--images", images, stdin=runs)
        self.assertEqual(page.text.count("<img"), 2)
        self.assertIn("thumbnails of 3 samples whose image could not be read below that folder", page.visible())
        self.assertIn("only of files below the folder images (--images)", page.visible())
        page = self.page("--images", images, "--no-thumbnails", stdin=runs)
        self.assertEqual(page.text.count("<img"), 0)

    def test_thumbnails_of_images_as_long_as_images_may_be(self):
        with tempfile.NamedTemporaryFile(suffix=".pbm") as file:
            file.write(b"P4\n27000000 1\n" + bytes(27_000_000 // 8))
            file.flush()
            runs = stream(*one_run("a", lambda i: 0, n=1, path=file.name), *one_run("b", lambda i: 1, n=1, path=file.name))
            self.assertIn('width="80" height="1"', self.page("--images", os.path.dirname(file.name), stdin=runs).text)

    def test_no_picture_from_outside_the_folder(self):
        """A stream is anybody's: neither an absolute path, nor "..", nor a link gets a picture out of a private folder into the page."""
        with tempfile.TemporaryDirectory() as folder:
            inside, private = os.path.join(folder, "in"), os.path.join(folder, "private")
            os.mkdir(inside)
            os.mkdir(private, 0o700)
            with open(os.path.join(os.path.dirname(__file__), "../sample/images/circle/00.png"), "rb") as file:
                picture = file.read()
            for path in (inside + "/mine.png", private + "/secret.png", folder + "/in2.png"):
                with open(path, "wb") as file:
                    file.write(picture)
            os.symlink(private + "/secret.png", inside + "/link.png")
            os.symlink(private, inside + "/folder")
            os.symlink(inside + "/mine.png", inside + "/to_mine.png")
            shown = {"mine.png": 1, inside + "/mine.png": 1, "to_mine.png": 1, "../in/mine.png": 1, private + "/secret.png": 0,
                     "../private/secret.png": 0, "link.png": 0, "folder/secret.png": 0, "../in2.png": 0, inside + "/../in2.png": 0}
            for path, count in shown.items():
                runs = stream(*one_run("a", lambda i: 0, n=1, path=path), *one_run("b", lambda i: 1, n=1, path=path))
                for where, words in ((None, ("--images", inside)), (inside, ())):
                    done = subprocess.run([f"{BIN}/dnn-report", *words], input=runs, capture_output=True, cwd=where)
                    self.assertEqual(done.stdout.decode().count("<img"), count, f"{path} {words}")

    def test_paths_are_shown_without_folders(self):
        runs = stream(*one_run("/home/jane/nets/a.onnx", lambda i: 0, path="/home/jane/imgs/cat/{}.png", device="exec:/home/jane/d.py",
                               command=["/home/jane/bin/dnn-infer", "--labels=/home/jane/l.txt", "/home/jane/nets/a.onnx"],
                               host={"postprocess": "exec:sh /home/jane/p.sh"}),
                      *one_run("/home/jane/nets/b.onnx", lambda i: 1, path="/home/jane/imgs/cat/{}.png"))
        for form in ("html", "md", "rst"):
            with tempfile.TemporaryDirectory() as folder:
                done = run("--format", form, "-o", f"{folder}/x", stdin=runs)
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                with open(f"{folder}/x", encoding="utf-8") as file:
                    text = file.read()
                self.assertNotIn("jane", text)
                self.assertIn("labels", text)
        full = self.page("--paths", "full", stdin=runs).text
        for path in ("/home/jane/nets/a.onnx", "/home/jane/imgs/cat/3.png", "--labels=/home/jane/l.txt", "/home/jane/p.sh"):
            self.assertIn(path, full)

    def test_truth_is_of_each_label_set(self):
        """Class 1 of one set is class 2 of the other: each run is judged by its own."""
        def one(model, label_set, truth, best):
            return [header(model, label_set=label_set), {"type": "sample", "id": 0, "path": "x", "truth": truth},
                    {"type": "prediction", "sample": 0, "top_k": [{"class": best, "score": 1}]}, {"type": "end"}]
        said = self.page(stdin=stream(*one("a", "p", 1, 1), *one("b", "p", 1, 0), *one("c", "q", 2, 2), *one("d", "q", 2, 1))).visible()
        self.assertEqual([len(re.findall(w, said)) for w in (r"class 1 \(right\)", r"class 0 \(wrong\)", r"class 2 \(right\)", r"class 1 \(wrong\)")],
                         [1, 1, 1, 1])

    def test_samples_of_two_copies_meet(self):
        runs = stream(*one_run("a.onnx", lambda i: 0, path="here/imgs/{}.png"), *one_run("b.onnx", lambda i: 1, path="there/{}.png"))
        self.assertIn("On 40 of 40 samples", self.page(stdin=runs).visible())

    def tree(self, kind, runs, *words):
        """The text of a tree, its images as they are named in it; each must be there."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        result = run("--format", kind, "-o", f"{folder.name}/text.{kind}", "--img-dir", f"{folder.name}/img", *words, stdin=runs)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        with open(f"{folder.name}/text.{kind}", encoding="utf-8") as f:
            text = f.read()
        named = re.findall(r"(?m)^\.\. (?:figure|image):: (\S+)$" if kind == "rst" else r"(?m)^!\[.*\]\((\S+)\)$", text)
        self.assertEqual(sorted(os.listdir(f"{folder.name}/img")), sorted(n.removeprefix("img/") for n in named))
        for name in named:
            with open(f"{folder.name}/{name}", "rb") as f:
                content = f.read()
            if name.endswith(".svg"):
                svg = xml.etree.ElementTree.fromstring(content)
                self.assertEqual(svg.get("role"), "img")
                self.assertLessEqual({"title", "desc"}, {e.tag.split("}")[1] for e in svg})
        return text, named

    def hostile_runs(self, name):
        labels = (name, name + "2", name + "3")
        return stream(*one_run(name, lambda i: 0, labels=labels, n=3, path=name.replace("{", "(") + "{}", device=name, command=[name]),
                      *one_run(name + "b", lambda i: 1, labels=labels, n=3, path=name.replace("{", "(") + "{}"))

    def test_trees(self):
        runs = stream(*one_run("a.onnx", lambda i: i % 3), *one_run("b.onnx", lambda i: (i + (i == 7)) % 3))
        for kind in ("rst", "md"):
            text, named = self.tree(kind, runs, "--title", "Two_runs")
            self.assertIn("Two\\_runs", text)
            self.assertIn("imgs/7.png", text)
            self.assertGreaterEqual(len(named), 5)

    def test_trees_name_figures_relative_to_their_root(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("--format", "md", "-o", f"{folder}/a/b.md", "--img-dir", f"{folder}/img", "--root-dir", folder,
                         stdin=stream(*one_run("a.onnx", lambda i: 0)))
            self.assertEqual(result.returncode, 5)  # there is no folder a
            os.mkdir(f"{folder}/a")
            for words, start in (([], "../img/b_"), (["--root-dir", folder], "img/b_"), (["--root-dir", f"{folder}/img"], "b_")):
                run("--format", "md", "-o", f"{folder}/a/b.md", "--img-dir", f"{folder}/img", *words, stdin=stream(*one_run("a.onnx", lambda i: 0)))
                with open(f"{folder}/a/b.md", encoding="utf-8") as f:
                    self.assertIn(f"]({start}", f.read())
        self.assertEqual(run("--img-dir", "x", stdin=b"").returncode, 2)

    def test_figures_of_an_earlier_report_are_named(self):
        one = list(one_run("a.onnx", lambda i: 0))
        with tempfile.TemporaryDirectory() as folder:
            def write(name, runs):
                return run("--format", "md", "-o", f"{folder}/{name}.md", "--img-dir", f"{folder}/img", stdin=stream(*runs)).stderr.decode()
            self.assertEqual(write("r", one + list(one_run("b.onnx", lambda i: i % 3))), "")
            self.assertEqual(write("r", one + list(one_run("b.onnx", lambda i: i % 3))), "")
            self.assertEqual(write("r-2", one), "")
            had = len(os.listdir(f"{folder}/img"))
            said = write("r", one)
            self.assertRegex(said, r"^dnn-report: warning: \S+/img/r_accuracy-figure\.svg and \d+ more: left by an earlier report, and not shown by this one\n$")
            self.assertEqual(len(os.listdir(f"{folder}/img")), had)

    @unittest.skipUnless(docutils, "no docutils in this Python")
    def test_restructuredtext_is_read_without_a_warning(self):
        for name in HOSTILE:
            text, _ = self.tree("rst", self.hostile_runs(name), "--title", name.replace("\0", ""))
            said = io.StringIO()
            tree = docutils.core.publish_doctree(text, settings_overrides={"warning_stream": said, "halt_level": 5})
            self.assertEqual(said.getvalue()[:500], "", name)
            self.assertNotIn("raw", {n.tagname for n in tree.findall() if hasattr(n, "tagname")})
            for target in tree.findall(docutils.nodes.reference):
                self.assertTrue(target.get("refid"), target)

    @unittest.skipUnless(markdown_it, "no markdown_it in this Python")
    def test_markdown_says_what_is_meant(self):
        for name in HOSTILE:
            text, _ = self.tree("md", self.hostile_runs(name), "--title", name.replace("\0", ""))
            tokens = markdown_it.MarkdownIt("gfm-like", {"linkify": False}).parse(text)
            inside = [t for token in tokens for t in [token, *(token.children or [])]]
            self.assertFalse([t.content for t in inside if t.type in ("html_block", "html_inline") and not re.fullmatch(r"<a id=\"[\w-]+\">|</a>|<a id=\"[\w-]+\"></a>\n?", t.content)])
            self.assertFalse([t for t in inside if t.type in ("code_block", "fence", "code_inline", "em_open", "s_open")])
            for link in (t for t in inside if t.type == "link_open"):
                self.assertRegex(link.attrs["href"], r"^#sample-\d+$")
            tables = [t for t in tokens if t.type == "table_open"]
            self.assertGreater(len(tables), 3)

    def test_usage(self):
        usage = [{"type": "usage", "time_ns": 10**18 + k * 10**9, "cpu_percent": 40.0 + 20 * k, "memory_bytes": 5 << 20, "energy_mj": 7000.0 * k,
                  "cores_percent": [10.0, None, 30.0], **({"network": {"cpu_percent": 80.0, "memory_bytes": (6 + k) << 20}} if more else {})} for k in range(3) for more in (k > 0,)]
        runs = stream(header("a.onnx"), *usage, *list(one_run("a.onnx", lambda i: 0))[1:], *one_run("b.onnx", lambda i: 0))
        page = self.page("--types", "performance", stdin=runs)
        said = page.visible()
        self.assertLessEqual({"usage-cpu", "usage-cores", "usage-memory", "usage-power"}, set(page.ids))
        self.assertFalse({"usage-gpu", "usage-frequency", "usage-gpu-power"} & set(page.ids))
        self.assertIn("Power, W runrecordssecondsmeanleastgreatest A a22777", said)  # 7 J in each of two seconds
        self.assertIn("7 to 8 MiB", said)  # of the framework's process alone

    def test_graph(self):
        """The wrong layer of the sample stands out in the picture, in Model Explorer's data and in the ONNX file's metadata."""
        sample = os.path.join(os.path.dirname(__file__), "../sample")
        models = [f"{sample}/shapes.onnx", f"{sample}/shapes_wrong.onnx"]
        node, value = "/depthwise/depthwise.0/Conv", "/depthwise/depthwise.0/Conv_output_0"
        what = f"{node}: weights kernel rotated by 180 degrees"

        def layer(name, error):
            side = {"name": name + "_output_0", "node": name, "op": "Conv"}
            return {"source": side, "target": side, "error": error, "added": error, "max_abs": error}
        place = {"nodes": [node], "ops": ["Conv"], "values": [value]}
        found = {"source": "shapes.onnx", "target": "shapes_wrong.onnx", "samples": 1, "layers": [layer("/stem/stem.0/Conv", 1e-7), layer(node, 1.5)],
                 "findings": [{"what": what, "fix": "bring it into order", "source": place, "target": place}]}
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/found.json", "w", encoding="utf-8") as file:
                json.dump(found, file)
            page = self.page("--graph", models[0], "--graph", models[1], "--node-data", f"{folder}/data.json", "--annotate", f"{folder}/named.onnx",
                             f"{folder}/found.json")
            self.assertIn(what, page.visible())
            self.assertEqual(page.visible().count("WRONG"), 2)  # in the overview, and beside the layer
            self.assertEqual(page.text.count('<rect class="f2"'), 4)  # in the overview, in both networks, and in the key
            with open(f"{folder}/data.json", encoding="utf-8") as file:
                data = json.load(file)
            self.assertEqual(list(data), ["results"])  # GraphNodeData of Model Explorer: a number for each node, and colours
            self.assertEqual(data["results"][value], {"value": 1.5, "bgColor": "#c75000", "textColor": "#ffffff"})
            self.assertEqual(set(data["results"]["/stem/stem.0/Conv_output_0"]), {"value", "bgColor", "textColor"})
            with open(models[1], "rb") as file:
                model = file.read()
            with open(f"{folder}/named.onnx", "rb") as file:
                named = file.read()
            self.assertEqual(named[:len(model)], model)
            self.assertIn(what.encode(), named[len(model):])
            same = subprocess.run([f"{BIN}/dnn-cat", "--diff", models[1], f"{folder}/named.onnx"], capture_output=True)
            self.assertTrue(all(line.startswith(b"+ metadata ") for line in same.stdout.splitlines()), same.stdout)
        self.assertEqual(self.page("--graph", models[0]).problems, [])
        for words in (["--graph", models[0], "--node-data", "x"], ["--annotate", "x"], ["--graph", models[0], "--format", "md"]):
            self.assertEqual(run(*words).returncode, 2, words)

    def test_no_network(self):
        text = self.page(stdin=stream(*one_run("a.onnx", lambda i: 0))).text
        self.assertIn("default-src 'none'", text)
        self.assertIsNone(re.search(r"https?://", text))


if __name__ == "__main__":
    known, rest = ARGUMENTS.parse_known_args()
    BIN = os.path.abspath(known.bin)
    unittest.main(argv=[sys.argv[0], *rest])
