"""Every variable of every result is described in the registry, and every scalar is consistent."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
import xarray as xr
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.base import scalars, variables
from bioeval.base.scalars import Name
from bioeval.evaluation.identification import RANKS
from bioeval.results.dataset import build
from bioeval.results.threshold_lookup import AT
from bioeval.studies.attacks.vulnerability import VULNERABILITY
from bioeval.studies.compare.compare import COMPARISON
from bioeval.studies.epc.epc import EPC, EPSC
from bioeval.studies.folds.repeat import REPEATED
from bioeval.studies.folds.results import CROSS
from bioeval.studies.galleries.gallery_size import GALLERY_SIZE
from bioeval.studies.groups.group_rates import GROUPS
from bioeval.studies.lists.results import TOP_K
from bioeval.studies.quality.error_discard import ERROR_DISCARD
from bioeval.studies.reid.results import GOM, REID
from bioeval.studies.thresholds.threshold_study import STUDY
from bioeval.studies.time.over_time import AGEING, OVER_TIME
from bioeval.studies.tracking.tracking import TRACKING, TRACKING_SPELLS, TRACKING_TARGETS
from bioeval.studies.worst_pairs.worst_pairs import WORST_PAIRS
from bioeval.studies.zoo.results import ZOO

DRAWN = ("_by_gallery", "_sd", "_se")  # of a described variable, over galleries drawn at random


def attacked() -> be.Scores:
    return be.simulate(8, 3, attacks="print=0.6,mask=0.9", random_state=3)


def square() -> be.Scores:
    return be.simulate(8, 4, random_state=3)


def seen() -> be.Scores:
    times = {"seen_at": np.arange(32), "enrolled_at": np.arange(32)}
    return be.Scores(square().values, square().probe_labels, probe_meta=times)


def folds(task: str) -> xr.Dataset:
    return be.cross_evaluate(square(), be.partition.SubjectKFold(2), task=task, ranks=[1, 2])


def repeats(task: str) -> xr.Dataset:
    return be.repeat(square(), be.partition.SubjectKFold(2), task=task, thresholds=[5.0, 9.0]
                     if task != "closed_set" else None)  # fmt: skip


def queries() -> be.Scores:
    rng = np.random.default_rng(0)
    return be.Scores(
        rng.random((6, 9)), list("aabbxy"), list("aaabbbccc"),
        probe_meta={"camera": [1, 2] * 3}, gallery_meta={"camera": [1, 2, 3] * 3},
    )  # fmt: skip


def listed() -> be.TopKScores:
    return be.TopKScores([[0, 1], [2, 0]], ["a", "b"], ["a", "b", "b"])


def tracked() -> xr.Dataset:
    boxes = np.array([[1, 1, 0, 0, 2, 2], [2, 1, 0, 0, 2, 2]], dtype=float)
    return be.tracking(boxes, boxes)


RESULTS: dict[str, tuple[Callable[[], xr.Dataset], Mapping[str, Name]]] = {
    "worst pairs": (lambda: be.worst_pairs(square(), 2), WORST_PAIRS),
    "verification": (
        lambda: be.verification(square(), interval="subject-bootstrap", replicates=100),
        variables.VERIFICATION,
    ),
    "without a second pass": (
        lambda: (
            be.tally(square().select(probes=range(16)))
            .merge(be.tally(square().select(probes=range(16, 32))))
            .dataset("verification/single")
        ),
        variables.VERIFICATION,
    ),
    "at a threshold": (
        lambda: be.at(be.verification(square()), [5.0]),
        {**variables.VERIFICATION, **AT},
    ),
    "open set, at a threshold": (
        lambda: be.at(be.open_set(square()), [5.0]),
        {**variables.OPEN_SET, **AT},
    ),
    "open set": (
        lambda: be.open_set(square(), interval="subject-bootstrap", replicates=100),
        variables.OPEN_SET,
    ),
    "open set, expected": (
        lambda: be.open_set(square(), gallery="single", thresholds=[5.0, 9.0]),
        variables.OPEN_SET,
    ),
    "open set, drawn": (
        lambda: be.open_set(square(), gallery="single", sampling=3, thresholds=[5.0, 9.0]),
        variables.OPEN_SET,
    ),
    "closed set": (lambda: be.closed_set(square(), interval="wilson"), variables.CLOSED_SET),
    "closed set, expected": (
        lambda: be.closed_set(square(), gallery="single"),
        variables.CLOSED_SET,
    ),
    "ranks": (lambda: be.ranks(square()), RANKS),
    "gallery size": (
        lambda: be.gallery_size(square(), [2, 4, 16], thresholds=[5.0]),
        GALLERY_SIZE,
    ),
    "over time": (
        lambda: be.over_time(seen(), 2, interval="subject-bootstrap", replicates=100),
        OVER_TIME,
    ),
    "ageing": (lambda: be.ageing(seen(), 2, replicates=100), AGEING),
    "groups": (
        lambda: be.by_group(
            square(),
            [x % 2 for x in square().probe_labels],
            interval="subject-bootstrap",
            replicates=100,
        ),
        GROUPS,
    ),
    "expected performance": (lambda: be.epc(square(), square(), alphas=[0.5]), EPC),
    "vulnerability": (lambda: be.vulnerability(attacked(), threshold="eer"), VULNERABILITY),
    "expected performance and spoofability": (
        lambda: be.epsc(attacked(), attacked(), omegas=[0.5]),
        EPSC,
    ),
    "error against discard": (
        lambda: be.error_discard(square(), range(32), threshold="eer"),
        ERROR_DISCARD,
    ),
    "comparison": (lambda: be.compare(square(), square(), replicates=100), COMPARISON),
    **{
        f"folds, {task}": (lambda task=task: folds(task), CROSS)
        for task in ("verification", "open_set", "closed_set")
    },
    **{
        f"partitions, {task}": (lambda task=task: repeats(task), REPEATED)
        for task in ("verification", "open_set", "closed_set")
    },
    "threshold study": (
        lambda: be.study_threshold(square(), "eer", folds=2, repeats=1, replicates=100),
        STUDY,
    ),
    "re-identification": (
        lambda: be.reid(queries(), per_query=True, rank_k=3, interval="analytic"),
        REID,
    ),
    "GOM": (
        lambda: be.gom(queries(), per_query=True, interval="subject-bootstrap", replicates=100),
        GOM,
    ),
    "zoo": (lambda: be.zoo(square(), permutations=9), ZOO),
    "top K": (
        lambda: be.reid(listed(), "cityflow", rank_k=2, interval="analytic"),
        TOP_K,
    ),
    "tracking": (
        tracked,
        {**TRACKING, **TRACKING_TARGETS, **TRACKING_SPELLS},
    ),
}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.cases(1)
def test_every_variable_is_described(name):
    make, table = RESULTS[name]
    dataset = make()
    for key, variable in dataset.data_vars.items():
        stem = next((key.removesuffix(x) for x in DRAWN if key.endswith(x)), key)
        assert key in table or stem in table, f"{key} of {name} is not described"
        if key in table:
            assert table[key].attrs().items() <= variable.attrs.items(), key
    assert set(dataset.coords) <= {*variables.COORDINATES, *table}


def test_a_variable_cannot_skip_the_registry():
    with pytest.raises(KeyError, match="new_rate"):
        build({"new_rate": ((), 0.5)}, variables.VERIFICATION, {}, {})


def test_a_scalar_has_one_name_one_label_and_one_computation():
    every = (*scalars.VERIFICATION_SCALARS, scalars.FRR_AT_FAR, scalars.MIN_COST, scalars.DIR,
             scalars.CMS, scalars.RECOGNITION_RATE, scalars.DIR_AT_FAR)  # fmt: skip
    names = [scalar.name for scalar in every]
    labels = [scalar.label for scalar in every if scalar.label]
    assert len(set(names)) == len(names) and len(set(labels)) == len(labels)
    for scalar in every:
        assert scalar.quotient is None or scalar.of_rates is None, scalar.name
        assert set(scalar.results) <= set(scalars.RESULTS), scalar.name
        assert bool(scalar.best) == (scalar.of_rates is not None and "task" in scalar.results)


def test_the_best_value_over_operating_points():
    """FAR and FRR of four points: (0, 1), (0.1, 0.4), (0.5, 0.3), (1, 0)."""
    far, frr = np.array([0, 0.1, 0.5, 1]), np.array([1, 0.4, 0.3, 0])
    for best, expected in (("max", 0.5), ("min", 0.25)):
        half = scalars.Scalar(
            "mean error", name=f"{best}_x", of_rates=lambda far, frr: (far + frr) / 2, best=best
        )
        assert half.over_points(far, frr) == expected
        assert half.over_points(far[:, None], frr[:, None]).tolist() == [expected]
    with pytest.raises(TypeError, match="eer is not the best value"):
        scalars.EQUAL_ERROR[0].over_points(far, frr)


def test_the_best_value_has_a_name_of_its_own():
    """Folds and repeats have the value at one threshold, tasks the best over all thresholds."""
    given = {"of_rates": lambda far, frr: far + frr, "best": "min"}
    with pytest.raises(TypeError, match="min_x is the best value .* but folds have the value at"):
        scalars.Scalar("x", name="min_x", results=("task", "folds"), **given)
    with pytest.raises(TypeError, match="the name is x; expected min_x"):
        scalars.Scalar("x", name="x", **given)
    best, threshold = scalars.Scalar("x", name="min_x", **given).with_threshold()
    assert best.threshold == threshold.name == "min_x_threshold"
    assert threshold.units == "score"
    assert best.place_of_best(np.array([0, 0.2, 0.3, 1]), np.array([1, 0.2, 0.1, 0])) == 1
