"""Draw the pictures of the README and of the pages beside this folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import bioeval as be
from bioeval.views.plots import style as look
from bioeval.views.plots.direct_labels import KeyBelow

HERE = Path(__file__).parent


def errors() -> None:
    """Write errors.png of the README: FAR and FRR of its example over the threshold."""
    results = be.verification(be.simulate(100, 5, random_state=1))
    be.plot.save(be.plot.error_rates(results), HERE / "errors.png", dpi=110)


def claims() -> None:
    """Write claims.png of definitions.md: rates by the share of genuine claims."""
    scores = be.simulate(40, 5, random_state=1)
    experiment = be.partition.Experiment(gallery_templates=2, repeats=200, random_state=0)
    shares = (0.1, 0.5, 0.9)
    names = {"frr": "FRR", "far": "FAR", "errors": "errors over all attempts"}
    values: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for share in shares:
        ds = be.cross_evaluate(
            scores, experiment, templates="multi", threshold=("fixed", 3.3),
            claims=be.partition.ClaimSampler(1, share),
        )  # fmt: skip
        found = {"frr": ds.frr, "far": ds.far, "errors": 1 - ds.accuracy}
        for name, each in found.items():
            values[name].append(100 * each.values.ravel())
    ax = look.axes_for(None, (6.4, 4.2))
    for i, (name, words) in enumerate(names.items()):
        x = np.arange(len(shares)) + 0.08 * (i - 1)
        middle = [each.mean() for each in values[name]]
        low, high = np.transpose([np.quantile(each, [0.025, 0.975]) for each in values[name]])
        marker = "osD"[i]
        ax.errorbar(
            x, middle, [middle - low, high - middle], color=look.colour(i), marker=marker,
            linestyle=look.dash(i), linewidth=1.6, capsize=4, label=words,
        )  # fmt: skip
    ax.set_xticks(range(len(shares)), [f"{100 * share:.0f} %" for share in shares])
    ax.set_ylim(bottom=0)
    look.labelled(ax, "Genuine claims among all", "Rate at one threshold, %")
    lines = ["200 draws of gallery and claims; points: mean; bars: middle 95 %"]
    look.titled(ax, "Rates divide by the attempts of their own class", lines)
    KeyBelow(ax)
    be.plot.save(ax, HERE / "claims.png", dpi=110)


def zoo() -> None:
    """Write zoo.png of who-fails.md: subjects and animals."""
    ds = be.zoo(be.simulate(100, 5, random_state=1), threshold=("far", 0.01))
    be.plot.save(be.plot.zoo(ds), HERE / "zoo.png", dpi=110)


def row() -> None:
    """Write row.png of explain.md: one row of a small matrix."""
    d = [
        [0, 2, 6, 9, 5, 8], [2, 0, 4, 7, 3, 6], [6, 4, 0, 5, 8, 4],
        [9, 7, 5, 0, 6, 9], [5, 3, 8, 6, 0, 1], [8, 6, 4, 9, 1, 0],
    ]  # fmt: skip
    names = {"name": ["a1", "a2", "b1", "b2", "c1", "c2"]}
    who = ["ann", "ann", "bob", "bob", "cat", "cat"]
    scores = be.Scores(np.array(d, dtype=float), who, probe_meta=names, name="tiny")
    be.plot.save(be.explain(scores, "b1").plot(), HERE / "row.png")


def benchmarks() -> None:
    """Write benchmarks.png of benchmarks.md: recorded seconds by comparisons of each program."""
    found = json.loads((HERE / "benchmarks.json").read_text(encoding="utf-8"))["beside"]
    ax = look.axes_for(None, (6.4, 4.2))
    names = dict.fromkeys(name for times in found.values() for name in times)
    for i, name in enumerate(names):
        points = [(int(n) * (int(n) - 1), t[name]) for n, t in found.items() if name in t]
        ax.loglog(
            *zip(*points, strict=True), color=look.colour(i), linestyle=look.dash(i),
            marker="osD^"[i], linewidth=1.6, label=name,
        )  # fmt: skip
    look.labelled(ax, "Comparisons", "Processor time, seconds")
    lines = ["EER of the same scores, one thread; bioeval: also the curve, FRR at FARs and AUC"]
    look.titled(ax, "Seconds beside other programs", lines)
    KeyBelow(ax)
    be.plot.save(ax, HERE / "benchmarks.png", dpi=110)


if __name__ == "__main__":
    errors()
    zoo()
    claims()
    row()
    benchmarks()
