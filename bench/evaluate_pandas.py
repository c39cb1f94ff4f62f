#!/usr/bin/env python3
"""evaluate_pandas: what dnn-eval states of runs and pairs of runs, as a script on pandas and scipy states it; for bench/evaluate.

usage: bench/evaluate_pandas.py STREAM...        needs msgpack, numpy, pandas and scipy

Per run accuracy, means over the classes and latencies; per pair agreement of best classes and of lists, Kendall's tau-b and
rank-biased overlap of the lists, McNemar, bootstrap and Wilson intervals, Mann-Whitney and Wilcoxon of the times, Holm's correction.
Vectorised where pandas and numpy can be; kendalltau and the overlap are called once a sample, as scipy offers it.
"""
import itertools
import sys

import msgpack
import numpy as np
import pandas as pd
from scipy import stats


def load(path):
    samples, rows = {}, []
    with open(path, "rb") as file:
        for record in msgpack.Unpacker(file, raw=False):
            if record["type"] == "sample":
                samples[record["id"]] = (record["path"], record.get("truth"))
            elif record["type"] == "prediction":
                rows.append((*samples[record["sample"]], *[c["class"] for c in record["top_k"]], record["latency_ns"]))
    return pd.DataFrame(rows, columns=["path", "truth", "c0", "c1", "c2", "c3", "c4", "latency"]).set_index("path")


def of_run(run):
    cells = pd.crosstab(run.truth, run.c0)
    labels = cells.index.union(cells.columns)
    cells = cells.reindex(index=labels, columns=labels, fill_value=0)
    both, n_true, n_predicted = np.diag(cells), cells.sum(axis=1).to_numpy(), cells.sum(axis=0).to_numpy()
    lists = run[["c0", "c1", "c2", "c3", "c4"]].to_numpy()
    return {"top1": (run.c0 == run.truth).mean(), "top5": (lists == run.truth.to_numpy()[:, None]).any(1).mean(),
            "precision": np.nan_to_num(both / np.maximum(n_predicted, 1)).mean(), "f1": (2 * both / (n_true + n_predicted)).mean(),
            "balanced": (both / np.maximum(n_true, 1))[n_true > 0].mean(), "mean": run.latency.mean(), "std": run.latency.std(),
            **run.latency.quantile([0, 0.5, 0.9, 0.95, 0.99, 1]).to_dict()}


def overlap(a, b, p=0.9):
    total, weight = 0.0, 1.0
    for depth in range(1, len(a) + 1):
        weight *= p
        shared = len(set(a[:depth]) & set(b[:depth]))
        total += shared / depth * weight
    return (1 - p) / p * total + shared / len(a) * weight


def tau(a, b):
    common = [c for c in a if c in b]
    return stats.kendalltau(range(len(common)), [b.index(c) for c in common]).statistic if len(common) > 1 else np.nan


def of_pair(a, b, random):
    both = a.join(b, lsuffix="_a", rsuffix="_b", how="inner")
    same = (both.c0_a == both.c0_b).to_numpy()
    right_a, right_b = (both.c0_a == both.truth_a).to_numpy(), (both.c0_b == both.truth_b).to_numpy()
    lists_a = both[[f"c{i}_a" for i in range(5)]].to_numpy().tolist()
    lists_b = both[[f"c{i}_b" for i in range(5)]].to_numpy().tolist()
    only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    n = len(both)
    drawn = random.multinomial(n, [only_a / n, only_b / n, 1 - (only_a + only_b) / n], 10000)
    low, high = np.quantile((drawn[:, 1] - drawn[:, 0]) / n, [0.025, 0.975])
    return {"agreement": same.mean(), "topk": np.mean([len(set(x) & set(y)) / 5 for x, y in zip(lists_a, lists_b)]),
            "tau": np.nanmean([tau(x, y) for x, y in zip(lists_a, lists_b)]),
            "rbo": np.mean([overlap(x, y) for x, y in zip(lists_a, lists_b)]),
            "wilson": stats.binomtest(int(same.sum()), n).proportion_ci(method="wilson"),
            "mcnemar": stats.binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1, "bootstrap": (low, high),
            "mann_whitney": stats.mannwhitneyu(both.latency_a, both.latency_b).pvalue,
            "wilcoxon": stats.wilcoxon(both.latency_a, both.latency_b).pvalue,
            "time_change": (both.latency_b / both.latency_a - 1).mean()}


def main():
    runs = [load(path) for path in sys.argv[1:]]
    for run in runs:
        print(of_run(run))
    random = np.random.default_rng(0)
    pairs = [of_pair(a, b, random) for a, b in itertools.combinations(runs, 2)]
    for key in ("mcnemar", "mann_whitney", "wilcoxon"):
        for family in (pairs[:len(runs) - 1], pairs[len(runs) - 1:]):  # with the first run, and the others
            p = np.array([pair[key] for pair in family])
            order = np.argsort(p)
            adjusted = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
            for place, value in zip(order, adjusted):
                family[place][key + "_holm"] = value
    for pair in pairs:
        print(pair)
    print(stats.kruskal(*[run.latency for run in runs]))


if __name__ == "__main__":
    main()
