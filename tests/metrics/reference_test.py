#!/usr/bin/env python3
"""reference_test: the values of dnn-eval against those of scipy and scikit-learn, on random and on degenerate runs.

usage: reference_test.py [--bin FOLDER]

Wants scipy 1.12 and scikit-learn 1.3 at least: older ones refuse what some checks ask. Where this Python lacks them, the one
that DNN_PYTHON_SCIPY names is taken, or that of scripts/setup --conformance; without one the test is skipped (exit 77).
"""
import base64
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
try:
    import numpy as np
    import scipy
    import sklearn
    from scipy import stats
    from sklearn import metrics as sk
    for package, oldest in ((scipy, (1, 12)), (sklearn, (1, 3))):
        if tuple(map(int, package.__version__.split(".")[:2])) < oldest:
            raise ImportError(f"{package.__name__} {package.__version__} is too old")
except ImportError as missing:
    other = os.environ.get("DNN_PYTHON_SCIPY", ROOT / ".venv-onnx/bin/python")
    if os.access(other, os.X_OK) and os.environ.get("DNN_PYTHON_SCIPY_TRIED") is None:
        os.environ["DNN_PYTHON_SCIPY_TRIED"] = "1"
        os.execv(other, [other, *sys.argv])
    print(f"SKIP: {missing}; scripts/setup --conformance makes a Python with scipy and scikit-learn, or DNN_PYTHON_SCIPY names one")
    sys.exit(77)

BIN = ROOT / "build/release/bin"
NEAR = 1e-9


def stream(name, truth, scores=None, predicted=None, times=None, dense=True):
    """A run's records: sample i is i.png. Scores are [samples, classes]; without them the best label is given alone."""
    yield {"type": "header", "stream": 1, "tool": "test", "model": {"path": name}, "label_set": "set"}
    for i, label in enumerate(truth):
        sample = {"type": "sample", "id": i, "path": f"{i}.png"}
        if label is not None:
            sample["truth"] = int(label)
        yield sample
        record = {"type": "prediction", "sample": i}
        if scores is not None:
            row = np.asarray(scores[i], dtype=np.float64)
            order = np.argsort(-np.nan_to_num(row, nan=-np.inf), kind="stable")
            record["top_k"] = [{"class": int(c), "score": float(row[c]) if np.isfinite(row[c]) else str(row[c])}
                               for c in order[:5]]
            if dense:
                data = base64.b64encode(row.tobytes()).decode()
                record["outputs"] = {"out": {"dtype": "float64", "shape": [1, len(row)], "data": data}}
        else:
            record["top_k"] = [{"class": int(predicted[i]), "score": 3.0}]
        if times is not None:
            record["latency_ns"] = int(times[i])
        yield record
    yield {"type": "end"}


def evaluate(*runs, options=()):
    """The report of dnn-eval with these options on runs, each the records of stream()."""
    lines = "".join(json.dumps(record) + "\n" for run in runs for record in run)
    with tempfile.NamedTemporaryFile() as file:
        binary = subprocess.run([BIN / "dnn-cat", "--from-json"], input=lines.encode(), stdout=file, check=True)
        assert binary.returncode == 0
        done = subprocess.run([BIN / "dnn-eval", "--json", *options, file.name], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def predicted_by(scores):
    return np.argsort(-np.asarray(scores), axis=1, kind="stable")[:, 0]


class Near(unittest.TestCase):
    def near(self, value, expected, what):
        if expected is None or math.isnan(expected):
            self.assertIsNone(value, what)
        else:
            self.assertIsNotNone(value, what)
            self.assertLessEqual(abs(value - expected), NEAR * max(1, abs(expected)), f"{what}: {value}, not {expected}")


def class_values(truth, predicted):
    """What scikit-learn says of labels against the truth."""
    sensitivities = sk.recall_score(truth, predicted, labels=np.unique(truth), average=None)
    return {
        "top1_accuracy": 100 * sk.accuracy_score(truth, predicted),
        "macro_precision": 100 * sk.precision_score(truth, predicted, average="macro", zero_division=0),
        "macro_sensitivity": 100 * sk.recall_score(truth, predicted, average="macro", zero_division=0),
        "macro_f1": 100 * sk.f1_score(truth, predicted, average="macro", zero_division=0),
        "balanced_accuracy": 100 * sk.balanced_accuracy_score(truth, predicted),
        "g_mean": 100 * stats.gmean(sensitivities),
        "matthews": sk.matthews_corrcoef(truth, predicted),
    }


def roc_area(truth, scores):
    """scikit-learn's area of each class in the truth against the rest, mean; None where one class is all there is."""
    classes = np.unique(truth)
    if len(classes) < 2 or np.isnan(scores).any():
        return None
    return np.mean([sk.roc_auc_score(truth == c, scores[:, c]) for c in classes])


def calibration_error(truth, scores):
    """By numpy's own bins: (edge, next edge], the first with its lower edge."""
    best = predicted_by(scores)
    p = scores[np.arange(len(truth)), best]
    bins = np.clip(np.digitize(p, np.linspace(0, 1, 16), right=True) - 1, 0, 14)
    right = (best == truth).astype(float)
    return 100 * sum((bins == b).mean() * abs(right[bins == b].mean() - p[bins == b].mean()) for b in np.unique(bins))


class AgainstTruth(Near):
    def check(self, truth, scores, what):
        truth, scores = np.asarray(truth), np.asarray(scores, dtype=np.float64)
        run = evaluate(stream("m", truth, scores))["runs"][0]
        best = predicted_by(np.nan_to_num(scores, nan=-np.inf))
        for key, expected in class_values(truth, best).items():
            self.near(run["values"][key], expected, f"{what}: {key}")
        self.near(run["values"]["roc_auc"], roc_area(truth, scores), f"{what}: roc_auc")
        listed = np.sort(scores, axis=1)[:, ::-1][:, :5]
        if np.isnan(scores).any() or listed.min() < 0 or listed.max() > 1:
            self.assertIsNone(run["values"]["calibration_error"], what)
        else:
            self.near(run["values"]["calibration_error"], calibration_error(truth, scores), f"{what}: ECE")
        matrix = sk.confusion_matrix(truth, best)
        labels = np.unique(np.concatenate([truth, best]))
        cells = [[int(labels[i]), int(labels[j]), int(matrix[i, j])] for i, j in zip(*np.nonzero(matrix))]
        self.assertEqual(run["confusion"], cells, what)
        each = sk.precision_recall_fscore_support(truth, best, labels=labels, zero_division=np.nan)
        for row, label, precision, sensitivity, f1, support in zip(run["classes"], labels, *each):
            self.assertEqual((row["class"], row["n_true"]), (label, support), what)
            self.near(row["precision"], precision, f"{what}: precision of {label}")
            self.near(row["sensitivity"], sensitivity, f"{what}: sensitivity of {label}")
            self.near(row["f1"], f1, f"{what}: F1 of {label}")
        return run

    def test_random_runs(self):
        for seed in range(12):
            rng = np.random.default_rng(seed)
            n, n_classes = int(rng.integers(5, 400)), int(rng.integers(2, 30))
            truth = rng.integers(0, n_classes, n)
            scores = rng.normal(size=(n, n_classes))
            scores[np.arange(n), truth] += rng.uniform(0, 4)
            if seed % 3 == 1:
                scores = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
            if seed % 3 == 2:
                scores = np.round(scores)  # many ties
            self.check(truth, scores, f"seed {seed}")

    def test_probabilities_of_all_classes_equal_scikit_learns_own_macro(self):
        rng = np.random.default_rng(1)
        truth = np.arange(200) % 7
        scores = np.exp(rng.normal(size=(200, 7)))
        scores /= scores.sum(axis=1, keepdims=True)
        run = self.check(truth, scores, "softmax")
        self.near(run["values"]["roc_auc"], sk.roc_auc_score(truth, scores, multi_class="ovr"), "roc_auc")

    def test_degenerate_runs(self):
        rng = np.random.default_rng(2)
        scores = rng.uniform(size=(20, 6))
        self.check(np.zeros(20, int), scores, "one class in the truth")
        self.check(np.arange(20) % 6, np.tile(np.arange(6.0)[::-1], (20, 1)), "one class predicted")
        self.check(np.zeros(20, int), np.tile(np.arange(6.0)[::-1], (20, 1)), "one class in both")
        self.check(np.arange(20) % 6, np.full((20, 6), 0.5), "all scores tied")
        self.check([0], [[0.25, 0.75]], "one sample")
        self.check([1, 0], [[0.0, 1.0], [1.0, 0.0]], "certain and right")
        with_nan = scores[:, :5].copy()  # all of them are listed
        with_nan[3, 4] = np.nan
        self.check(np.arange(20) % 5, with_nan, "a NaN among the scores")

    def test_no_truth(self):
        run = evaluate(stream("m", [None] * 4, predicted=[1, 2, 3, 4]))["runs"][0]
        for key, value in run["values"].items():
            self.assertIsNone(value, key)
        self.assertEqual((run["confusion"], run["classes"]), ([], []))

    def test_without_outputs_there_is_no_area(self):
        truth, scores = np.array([0, 1, 0]), np.array([[1, 2.0], [3, 2], [1, 0]])
        values = evaluate(stream("m", truth, scores, dense=False))["runs"][0]["values"]
        self.assertIsNone(values["roc_auc"])

    def test_intervals_of_the_accuracy(self):
        for n_right, n in [(0, 7), (7, 7), (1, 1), (3, 10), (977, 1000)]:
            truth = [0] * n_right + [1] * (n - n_right)
            values = evaluate(stream("m", truth, predicted=[0] * n))["runs"][0]["values"]
            interval = stats.binomtest(n_right, n).proportion_ci(method="wilson")
            self.near(values["top1_accuracy_low"], 100 * interval.low, f"{n_right} of {n}")
            self.near(values["top1_accuracy_high"], 100 * interval.high, f"{n_right} of {n}")


def listed(scores):
    """The best five of a row of scores, best first, as (class, score)."""
    row = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-np.nan_to_num(row, nan=-np.inf), kind="stable")[:5]
    return [(int(c), row[c]) for c in order]


def ranks_of(best):
    """Class to rank, equal neighbours tied; NaN equals nothing."""
    ranks, last = {}, 0
    for place, (label, score) in enumerate(best):
        last = last if place and score == best[place - 1][1] else place
        ranks[label] = last
    return ranks


def tau_b(a, b):
    """scipy's tau-b of the ranks of common labels, None where it is not defined."""
    a, b = ranks_of(a), ranks_of(b)
    common = [label for label in a if label in b]
    tau = stats.kendalltau([a[label] for label in common], [b[label] for label in common]).statistic if len(common) > 1 else math.nan
    return None if math.isnan(tau) else tau


def mean_of(values):
    values = [value for value in values if value is not None]
    return np.mean(values) if values else None


class BetweenRuns(Near):
    """Agreement, rankings and outputs of pairs."""

    def check(self, a, b, what):
        a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
        n = len(a)
        values = evaluate(stream("a", [None] * n, a), stream("b", [None] * n, b))["pairs"][0]["values"]
        best = [(listed(x), listed(y)) for x, y in zip(a, b)]
        k = min(5, a.shape[1])
        self.near(values["top1_agreement"], 100 * np.mean([x[0][0] == y[0][0] for x, y in best]), f"{what}: top-1")
        self.near(values["topk_agreement"], 100 * np.mean([len({c for c, _ in x} & {c for c, _ in y}) / k for x, y in best]), f"{what}: top-k")
        self.near(values["kendall_tau"], mean_of(tau_b(x, y) for x, y in best), f"{what}: tau-b")
        if not (np.isfinite(a).all() and np.isfinite(b).all()):
            return values
        difference = np.abs(a - b)
        self.near(values["output_max_abs"], difference.max(), f"{what}: max abs")
        self.near(values["output_l2"], np.mean(np.linalg.norm(a - b, axis=1)), f"{what}: L2")
        if (difference.max(axis=1) == 0).all() or np.abs(a).max(axis=1).all():
            self.near(values["output_max_rel"], max(d / m if d else 0 for d, m in zip(difference.max(axis=1), np.abs(a).max(axis=1))), f"{what}: max rel")
        norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        if norms.all():
            self.near(values["output_cosine"], min(1, np.min(np.einsum("ij,ij->i", a, b) / norms)), f"{what}: cosine")
        return values

    def test_random_outputs(self):
        for seed in range(9):
            rng = np.random.default_rng(seed)
            n, n_classes = int(rng.integers(1, 60)), int(rng.integers(1, 12))
            a = rng.normal(size=(n, n_classes))
            b = a + rng.normal(scale=[0.01, 1, 3][seed % 3], size=a.shape)
            if seed % 2:
                a, b = np.round(a, 1), np.round(b, 1)  # ties
            self.check(a, b, f"seed {seed}")

    def test_ulps_are_numpys(self):
        a = np.random.default_rng(1).uniform(1, 2, (4, 3))
        b = a.copy()
        for _ in range(7):
            b[2, 1] = np.nextafter(b[2, 1], 3)
        self.assertEqual(self.check(a, b, "seven steps")["output_max_ulp"], 7)

    def test_degenerate_outputs(self):
        rng = np.random.default_rng(3)
        a = rng.normal(size=(6, 5))
        same = self.check(a, a, "the same")
        self.assertEqual((same["top1_agreement"], same["rbo"], same["output_max_ulp"]), (100, 1, 0))
        tied = self.check(np.full((4, 5), 0.25), np.full((4, 5), 0.25), "all tied in both")
        self.assertIsNone(tied["kendall_tau"])
        self.near(tied["rbo"], 1, "all tied: RBO")
        self.assertIsNone(self.check(np.full((6, 5), 0.25), a, "all tied in one")["kendall_tau"])
        one = self.check(a[:, :1], a[:, :1] + 1, "one class")
        self.assertIsNone(one["kendall_tau"])
        self.assertEqual((one["top1_agreement"], one["rbo"]), (100, 1))
        self.check(a[:1], a[:1][:, ::-1], "one sample, turned round")
        zero = self.check(np.zeros((2, 5)), np.zeros((2, 5)), "zeros")
        self.assertEqual((zero["output_cosine"], zero["output_max_rel"]), (1, 0))
        self.assertEqual(self.check(np.zeros((2, 5)), a[:2], "zeros against others")["output_max_rel"], "inf")

    def test_nan_scores(self):
        a = np.random.default_rng(4).normal(size=(6, 5))
        b = a.copy()
        b[2, 3] = math.nan
        values = self.check(a, b, "one NaN")
        self.assertEqual((values["output_nan"], values["output_max_ulp"]), (1, None))
        self.assertEqual(values["output_max_abs"], "inf")
        same = self.check(b, b, "the same NaN")
        self.assertEqual((same["output_max_abs"], same["top1_agreement"]), (0, 100))
        self.check(np.full((3, 5), math.nan), a[:3], "all NaN in one")

    def test_runs_without_predictions(self):
        empty = [{"type": "header", "stream": 1, "label_set": "set"}, {"type": "end"}]
        full = list(stream("m", [1, 2], predicted=[1, 2], times=[5, 7]))
        report = evaluate(empty, full, empty)
        for run in (report["runs"][0], report["runs"][2]):
            self.assertEqual({value for value in run["values"].values()}, {None})
        for pair in report["pairs"]:
            self.assertEqual({value for value in pair["values"].values()}, {None}, pair)
            self.assertEqual((pair["n_common"], pair["note"]), (0, "no sample in common"))
        self.assertEqual({value for value in report["values"].values()}, {None})

    def test_predictions_without_labels(self):
        bare = [{"type": "header", "stream": 1, "label_set": "set"}, {"type": "sample", "id": 0, "path": "0.png", "truth": 1},
                {"type": "prediction", "sample": 0, "top_k": []}, {"type": "end"}]
        report = evaluate(bare, stream("m", [1], predicted=[1]))
        self.assertEqual({value for value in report["runs"][0]["values"].values()}, {None})
        self.assertEqual({value for value in report["pairs"][0]["values"].values()}, {None})


class Latency(Near):
    def check(self, times, what):
        values = evaluate(stream("m", [None] * len(times), predicted=[0] * len(times), times=times))["runs"][0]["values"]
        ms = np.asarray(times) * 1e-6
        self.near(values["latency_mean"], ms.mean(), f"{what}: mean")
        self.near(values["latency_std"], ms.std(ddof=1) if len(ms) > 1 else None, f"{what}: std")
        for key, q in (("min", 0), ("median", 50), ("p50", 50), ("p90", 90), ("p95", 95), ("p99", 99), ("max", 100)):
            self.near(values[f"latency_{key}"], np.percentile(ms, q), f"{what}: {key}")
        self.near(values["throughput"], len(ms) / ms.sum() * 1000 if ms.sum() else None, f"{what}: throughput")

    def test_random(self):
        for seed in range(8):
            rng = np.random.default_rng(seed)
            self.check(rng.lognormal(12, 1, int(rng.integers(1, 900))).astype(np.int64), f"seed {seed}")

    def test_degenerate(self):
        self.check([7], "one")
        self.check([0, 0, 0], "no time at all")
        self.check([5] * 40, "all equal")
        self.check([0, 10**15], "far apart")


def holm(p):
    """Holm's correction as its definition reads, p by p."""
    p = np.asarray(p)
    order = np.argsort(p)
    steps = np.minimum(1, (len(p) - np.arange(len(p))) * p[order])
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


class Significance(Near):
    """Tests of pairs; p-values below 1e-9 are held to 1e-9 of themselves too."""

    def same_p(self, value, expected, what):
        self.near(value, expected, what)
        if value:
            self.near(value / expected, 1, f"{what}: ratio")

    def four(self, both, only_a, only_b, none):
        """The pair of two runs with these counts."""
        n = both + only_a + only_b + none
        a = [0] * (both + only_a) + [1] * (only_b + none)
        b = [0] * both + [1] * only_a + [0] * only_b + [1] * none
        return evaluate(*(stream(f"m{i}", [0] * n, predicted=labels) for i, labels in enumerate((a, b))))["pairs"][0]

    def test_accuracy(self):
        for counts in [(5, 3, 1, 2), (0, 0, 0, 4), (9, 0, 0, 0), (0, 12, 0, 0), (0, 0, 1, 0), (100, 30, 30, 7), (10, 800, 500, 3),
                       (0, 2000, 1000, 0)]:
            values = self.four(*counts)["values"]
            both, only_a, only_b, none = counts
            n, m = sum(counts), only_a + only_b
            self.near(values["accuracy_change"], 100 * (only_b - only_a) / n, counts)
            self.same_p(values["mcnemar_p"], stats.binomtest(only_a, m).pvalue if m else 1, counts)
            self.near(values["mcnemar_odds_ratio"], only_b / only_a if only_a else None, counts)
            agreed = stats.binomtest(both + none, n).proportion_ci(method="wilson")
            self.near(values["top1_agreement_low"], 100 * agreed.low, counts)
            self.near(values["top1_agreement_high"], 100 * agreed.high, counts)

    def test_bootstrap_interval_is_that_of_resampling(self):
        for counts in [(5, 3, 1, 2), (400, 30, 55, 15), (0, 0, 0, 4), (9000, 500, 420, 80), (10, 800, 500, 3), (0, 5, 15, 0)]:
            values = self.four(*counts)["values"]
            n = sum(counts)
            draws = np.random.default_rng(5).multinomial(n, np.array(counts) / n, size=400_000)
            differences = 100 * (draws[:, 2] - draws[:, 1]) / n
            for key, q in (("accuracy_change_low", 0.025), ("accuracy_change_high", 0.975)):
                # 10,000 draws leave the quantile a rank error of 4 standard deviations: sqrt(q (1 - q) / 10,000).
                slack = 4 * math.sqrt(0.025 * 0.975 / 10_000)
                self.assertGreaterEqual(values[key], np.quantile(differences, q - slack) - 1e-9, counts)
                self.assertLessEqual(values[key], np.quantile(differences, q + slack) + 1e-9, counts)

    def times(self, what, *runs):
        """Checks the tests of times of runs whose samples are numbered alike."""
        report = evaluate(*(stream(f"m{i}", [None] * len(t), predicted=[0] * len(t), times=t) for i, t in enumerate(runs)))
        for pair in report["pairs"]:
            a, b = (np.asarray(runs[ord(pair[end]) - ord("A")], dtype=float) for end in ("base", "run"))
            values, label = pair["values"], f"{what}: {pair['run']} against {pair['base']}"
            u = stats.mannwhitneyu(b, a)
            self.same_p(values["mann_whitney_p"], u.pvalue, f"{label}: Mann-Whitney")
            self.near(values["mann_whitney_effect"], 2 * u.statistic / (len(a) * len(b)) - 1, f"{label}: its effect")
            n = min(len(a), len(b))
            d = b[:n] - a[:n]
            # One difference of 0 is an error of scipy; it is as little evidence as several are there.
            self.same_p(values["wilcoxon_p"], stats.wilcoxon(d).pvalue if n > 1 or d[0] else 1, f"{label}: Wilcoxon")
            ranks = stats.rankdata(np.abs(d[d != 0]))
            plus = ranks[d[d != 0] > 0].sum()
            defined = len(ranks) and values["wilcoxon_p"] is not None
            self.near(values["wilcoxon_effect"], 2 * plus / ranks.sum() - 1 if defined else None, f"{label}: its effect")
        for key in ("mann_whitney_p", "wilcoxon_p"):
            for asked in (True, False):  # a family each: the pairs with the first run, and the others
                pairs = [pair["values"] for pair in report["pairs"] if pair["values"][key] is not None and (pair["base"] == "A") == asked]
                for values, expected in zip(pairs, holm([values[key] for values in pairs])):
                    self.same_p(values[key + "_holm"], expected, f"{what}: {key} corrected")
        if len(runs) > 1:
            h, p = stats.kruskal(*runs)
            if len(np.unique(np.concatenate(runs))) == 1:  # 0 / 0, which scipy's rounding can turn into an infinite H
                h = p = math.nan
            self.near(report["values"]["kruskal_wallis_h"], h, f"{what}: H")
            self.same_p(report["values"]["kruskal_wallis_p"], p, f"{what}: Kruskal-Wallis")
            self.near(report["values"]["kruskal_wallis_effect"], h / (sum(map(len, runs)) - 1), f"{what}: its effect")

    def test_times(self):
        for seed in range(20):
            rng = np.random.default_rng(seed)
            n_runs = int(rng.integers(2, 5))
            scale = [1e7, 12, 3][seed % 3]  # no ties, some, many
            lengths = rng.integers(1, [9, 30, 60, 400][seed % 4], n_runs)
            runs = [(scale * rng.lognormal(0.1 * i, 0.3, length)).astype(np.int64) for i, length in enumerate(lengths)]
            self.times(f"seed {seed}", *runs)

    def test_sizes_where_methods_change(self):
        rng = np.random.default_rng(3)
        for n in (1, 2, 8, 9, 12, 13, 14, 50, 51):
            a = 100 + rng.permutation(10_000)[:n]
            self.times(f"{n} values", a, a + rng.permutation(np.arange(1, n + 1)) * rng.choice([-1, 1], n))
            tied = rng.integers(0, 4, n)
            self.times(f"{n} tied values", a, a + tied - 1)
        self.times("8 against 3000", rng.permutation(10_000)[:8], 20_000 + rng.permutation(10_000)[:3000])

    def test_degenerate_times(self):
        for n in (1, 5, 13, 14, 60):
            self.times(f"{n} equal values", [7] * n, [7] * n)
            self.times(f"{n} of one value each", [7] * n, [9] * n)
        self.times("far apart", list(range(3000)), list(range(100_000, 103_000)))
        self.times("three alike", [1, 2, 3], [1, 2, 3], [1, 2, 3])

    def test_variance_of_times_in_the_files_of_older_systems(self):
        for seed in range(6):
            rng = np.random.default_rng(seed)
            n = int(rng.integers(2, 300))
            a, b = (rng.lognormal(10, 0.2, n).astype(np.int64) + 1000 * k * seed for k in (0, 1))
            runs = [stream(name, [None] * n, predicted=[0] * n, times=t) for name, t in (("a.onnx", a), ("b.onnx", b))]
            with tempfile.TemporaryDirectory() as folder:
                evaluate(*runs, options=["--legacy-tree", folder])
                root = pathlib.Path(folder) / "unknown"
                stats_of = json.loads((root / "library_evaluation_time_stats.json").read_text())["a_onnx_optnative"]["b_onnx_optnative"]
                shares = json.loads((root / "library_evaluation_time_percentages.json").read_text())["a_onnx_optnative"]["b_onnx_optnative"]
            f = stats.f_oneway(a * 1e-9, b * 1e-9)
            self.near(stats_of["statistic"], f.statistic, f"seed {seed}: F")
            self.same_p(stats_of["p-value"], f.pvalue, f"seed {seed}: p of F")
            np.testing.assert_allclose(shares, (b - a) / a * 100, atol=0.00501)

    def test_samples_of_one_batch_are_one_measurement(self):
        def batched(records):
            return [record | ({"batch": 2} if record["type"] == "prediction" else {}) for record in records]
        a, b = (batched(stream(name, [None] * 4, predicted=[0] * 4, times=range(at, at + 4))) for name, at in (("a", 1), ("b", 9)))
        report = evaluate(a, b)
        for key in ("mann_whitney_p", "wilcoxon_p", "wilcoxon_effect"):
            self.assertIsNone(report["pairs"][0]["values"][key])
        self.assertIsNone(report["values"]["kruskal_wallis_p"])


if __name__ == "__main__":
    if "--bin" in sys.argv:
        at = sys.argv.index("--bin")
        BIN = pathlib.Path(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    print(f"scipy {scipy.__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}")
    unittest.main(warnings="ignore")  # of undefined values, which the tests are about
