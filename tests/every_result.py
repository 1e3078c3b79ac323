"""Results of every kind, small and each made once: by their names, what makes them."""

from functools import cache
from typing import Any

import numpy as np
import xarray as xr

import bioeval as be

FOLDS = be.partition.SubjectKFold(4, shuffle=True, random_state=1)
BOOTSTRAP = be.stats.IntervalMethod("subject-bootstrap", replicates=200, random_state=2)


def scores_of(made: be.Scores, values: np.ndarray, **options: Any) -> be.Scores:
    """Scores without the last digits, in which machines differ."""
    if made.layout != "all-against-all":
        options |= {"probe_meta": made.probe_meta, "gallery_meta": made.gallery_meta}
        options["gallery_labels"] = made.gallery_labels
    return be.Scores(np.round(values, 4), made.probe_labels, **options)


@cache
def square(kind: str = "distance", within: float = 0.9) -> be.Scores:
    simulated = be.simulate(40, 4, within=within, random_state=3)
    return scores_of(
        simulated, simulated.values if kind == "distance" else -simulated.values, kind=kind
    )


@cache
def searches() -> be.Scores:
    """Similarities of a watch list, each person under two cameras; some comparisons failed."""
    simulated = be.simulate(
        30, 3, layout="probe-against-gallery", probes=3, unenrolled=8, within=1.2, random_state=4
    )
    values = -np.array(simulated.values)
    values[::7, ::5] = np.nan
    return scores_of(simulated, values, kind="similarity", nan="reject")


@cache
def streets() -> be.Scores:
    options = {"layout": "probe-against-gallery", "probes": 2, "cameras": 3}
    simulated = be.simulate(30, 5, within=1.0, random_state=5, **options)
    return scores_of(simulated, np.round(simulated.values, 1))


def pairs() -> be.Scores:
    genuine = np.arange(600) % 4 == 0
    values = np.round(np.random.default_rng(6).normal(size=600) + 2 * genuine, 2)
    return be.Scores.from_pairs(values, genuine, kind="similarity")


def tracks() -> tuple[list, list]:
    frames = [
        (frame, who, 60 * who + frame, 5 * who) for frame in range(1, 31) for who in range(1, 5)
    ]
    truth = [(frame, who, x, y, 40, 80) for frame, who, x, y in frames if (frame + who) % 9]
    result = [
        (frame, who if frame < 20 else who % 4 + 1, x + frame % 5 * 3, y, 40, 80)
        for frame, who, x, y in frames
        if (2 * frame + who) % 7
    ]
    return truth, result


def group_of(scores: be.Scores) -> np.ndarray:
    return np.where(scores.probe_labels % 3 == 0, "a", "b")


CALLS = {
    "verification": lambda: be.verification(square(), frr_targets=[0.1], interval="people"),
    "verification, drawn": lambda: be.verification(square("similarity"), interval=BOOTSTRAP),
    "verification, mean": lambda: be.verification(searches(), templates="multi", fusion="mean"),
    "verification of pairs": lambda: be.verification(pairs(), interval="clopper-pearson"),
    "open set": lambda: be.open_set(searches(), interval="people"),
    "open set, drawn": lambda: be.open_set(square(), rank_unit="subject", interval=BOOTSTRAP),
    "closed set": lambda: be.closed_set(
        searches(), ties="expected", unmated="skip", interval="people"
    ),
    "closed set, single": lambda: be.closed_set(square(), gallery="single"),
    "evaluation": lambda: be.evaluate(searches(), interval="people"),
    "ranks": lambda: be.ranks(searches()),
    **{
        card: lambda card=card: be.reid(streets(), card)
        for card in ("market1501", "cuhk03", "open-reid", "identity-dedup", "viper")
    },
    "gom": lambda: be.gom(streets()),
    "conventions": lambda: be.conventions(streets()),
    "folds": lambda: be.cross_evaluate(square(), FOLDS, threshold="far=0.01", far_targets=[0.1]),
    "folds, open set": lambda: be.cross_evaluate(square("similarity"), FOLDS, task="open_set"),
    "card with folds": lambda: be.evaluate(square(), "course-kfold"),
    "partitions": lambda: be.repeat(
        square(), be.partition.ProbeGallerySplit(1, n_repeats=3, random_state=0)
    ),
    "judged": lambda: be.judge_threshold(
        square(), square(within=1.1), "far=0.01", interval="people"
    ),
    "study": lambda: be.study_threshold(square("similarity"), "far=0.05", assure=0.95),
    "compare": lambda: be.compare(square(), square(within=1.1), frr_targets=[0.1]),
    "compare searches": lambda: be.compare(
        {"a": searches(), "b": searches()}, measures=["dir_at_far"]
    ),
    "zoo": lambda: be.zoo(square("similarity"), threshold="far=0.01", permutations=200),
    "groups": lambda: be.by_group(square(), group_of(square()), interval="people"),
    "gallery size": lambda: be.gallery_size(searches(), [5, 20]),
    "tracking": lambda: be.tracking(*tracks()),
    "claims": lambda: be.verification(be.claim_scores(square(), enrol="first:2")),
    "fused": lambda: be.verification(be.fuse({"a": square(), "b": square(within=1.1)})),
    "worst pairs": lambda: be.worst_pairs(square(), 5),
}


@cache
def result_of(name: str) -> xr.Dataset | xr.DataTree:
    return CALLS[name]()


def datasets_of(name: str) -> dict[str, xr.Dataset]:
    """The datasets of a result by their paths."""
    result = result_of(name)
    if isinstance(result, xr.Dataset):
        return {"": result}
    return {node.path: node.to_dataset() for node in result.subtree if node.data_vars}
