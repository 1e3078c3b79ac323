"""Data of every plot, of one to six systems with long names, and where its texts lie."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import bioeval as be
from bioeval.views.plots.registry import PLOTS

NAMES = (
    "ResNet-100, ArcFace, WebFace42M, flip-averaged",
    "ViT-B/16 fine-tuned on faces of two cameras",
    "vendor 3, release 2026-05-17, fast templates",
    "EER 0.02 baseline",
    "fusion of all systems by logistic regression",
    "periocular, left and right eye, infrared light",
)

#: Plots of one result whatever is given; the others take several by name.
ONE = {name for name, plot in PLOTS.items() if plot.one_system} - {"error_rates", "apcer", "iapar"}
ONE |= {"matrix", "ranked_lists", "row_walk", "timeline"}
MANY = sorted(set(PLOTS) - ONE)


@functools.cache
def scores(i: int = 0, dimensions: int = 20) -> be.Scores:
    """Return scores of a system, each worse than the one before."""
    within = 0.62 + 0.05 * i
    return be.simulate(30, 4, dimensions=dimensions, within=within, random_state=i)


def _with_meta(of: be.Scores, **meta: Any) -> be.Scores:
    return be.Scores(of.values, of.probe_labels, probe_meta=meta, name=of.name)


def _times(i: int) -> be.Scores:
    days = np.arange(120)
    return _with_meta(scores(i), seen_at=days, enrolled_at=days)


def _detected(i: int) -> Any:
    rng = np.random.default_rng(i)
    species = ["", "silicone mask with eye holes", "printed photograph", "replay on a tablet"]
    attack = np.repeat(species, 40)
    middle = np.repeat([3.0, 1.5, 1.0, 0.3], 40)
    return be.pad(rng.normal(middle, 1 + 0.1 * i), attack, threshold="d_eer")


def _tracked(i: int, **options: Any) -> Any:
    truth = [(f, k, 20 * k, 0, 10, 10) for f in range(1, 21) for k in (1, 2, 3)]
    shift = np.random.default_rng(i).normal(0, 1 + 0.3 * i, len(truth))
    found = [
        (f, k + 10 * (f > 12 and k == 2), x + dx, y, w, h)
        for (f, k, x, y, w, h), dx in zip(truth, shift, strict=True)
        if (f + k) % 7
    ]
    return be.tracking(truth, found, **options)


def _spoofed(i: int) -> be.Scores:
    return be.simulate(
        40, 4, within=0.7 + 0.05 * i, random_state=i,
        attacks="printed photograph=0.6,silicone mask with eye holes=0.9",
    )  # fmt: skip


def _ratios(i: int) -> Any:
    return be.calibration(be.Calibrator().fit_transform(scores(i)))


def _repeats() -> Any:
    return be.partition.ProbeGallerySplit(1, n_repeats=8, random_state=0)


def _groups() -> Any:
    sides = ["women, 18 to 30 years", "men, 18 to 30 years", "women, over 30 years"]
    return be.by_group(scores(1), np.array(sides)[np.asarray(scores(1).probe_labels) % 3])


def _lists() -> Any:
    rng = np.random.default_rng(0)
    return be.Scores(rng.random((4, 12)), [1, 2, 3, 9], np.repeat([1, 2, 3], 4))


def _morphed() -> Any:
    several = {
        name: be.Scores(np.random.default_rng(i).random((8, 3)), np.repeat([1, 2], 4), [7, 8, 9])
        for i, name in enumerate(NAMES[:3])
    }
    return be.morphing(several, [(1, 2)] * 3, threshold=0.6)


#: The result of the system of a number, by plot.
_RESULTS: dict[str, Callable[[int], Any]] = {
    **dict.fromkeys(("roc", "det", "error_rates"), lambda i: be.verification(scores(i))),
    **dict.fromkeys(("dir_far", "dir_surface"), lambda i: be.open_set(scores(i))),
    "cmc": lambda i: be.closed_set(scores(i, 6)),
    "gom": lambda i: be.gom(scores(i), convention="viper"),
    "precision_recall": lambda i: be.reid(scores(i), "viper"),
    "gallery_size": lambda i: be.gallery_size(scores(i, 8), [2, 5, 10, 30, 100]),
    "gallery_templates": lambda i: be.gallery_templates(scores(i), [1, 2, 3]),
    "over_time": lambda i: be.over_time(_times(i), 5),
    "ageing": lambda i: be.ageing(_times(i), 4, replicates=100),
    "repeated": lambda i: be.repeat(scores(i, 6), _repeats(), task="closed_set"),
    "folds": lambda i: be.cross_evaluate(scores(1), be.partition.SubjectKFold(5)),
    "spread": lambda i: be.cross_evaluate(scores(1), be.partition.SubjectKFold(5)),
    "threshold_study": lambda i: be.study_threshold(scores(1), folds=3, repeats=2),
    "assured": lambda i: be.study_threshold(
        be.simulate(80, 3, random_state=1), ("far", 0.05), folds=5, repeats=2, assure=0.95
    ),
    "extrapolated_far": lambda i: be.extrapolate_far(
        be.simulate_embeddings(60, 4, within=0.7, random_state=1).scores("l2"), "far=0.001"
    ),
    **dict.fromkeys(("zoo", "lorenz"), lambda i: be.zoo(scores(i), permutations=100)),
    "groups": lambda i: _groups(),
    "worst_pairs": lambda i: be.worst_pairs(be.datasets.faces(("eigenfaces", "pixels")[i % 2]), 5),
    **dict.fromkeys(
        ("attack_det", "iapar", "attack_scores"), lambda i: be.vulnerability(_spoofed(i))
    ),
    "epsc": lambda i: be.epsc(_spoofed(i), _spoofed(i + 1)),
    "epc": lambda i: be.epc(scores(i), scores(i + 1)),
    "error_discard": lambda i: be.error_discard(
        scores(i), np.random.default_rng(i).random(120), threshold="eer"
    ),
    **dict.fromkeys(("pad_det", "apcer"), _detected),
    "attack_potential": lambda i: _morphed(),
    "timeline": lambda i: _tracked(i, timeline=True),
    "hota": _tracked,
    **dict.fromkeys(("reliability", "tippett", "empirical_cross_entropy", "bayes_error"), _ratios),
    **dict.fromkeys(("score_distributions", "matrix"), scores),
    "ranked_lists": lambda i: _lists(),
    "row_walk": lambda i: be.explain(scores(), 0),
}

_result = functools.cache(lambda make, i: make(i))


def drawn(name: str, systems: int = 1, **options: Any) -> Any:
    """Return the display of a plot of so many systems, drawn with its canvas."""
    made = [_result(_RESULTS[name], i) for i in range(systems)]
    data = made[0] if name in ONE else dict(zip(NAMES, made, strict=False))
    if name == "ranked_lists":
        options |= {"thresholds": [0.2, 0.6], "convention": "vehicleid"}
    display = getattr(be.plot, name)(data, **options)
    display.figure_.canvas.draw()
    return display
