"""Comparisons that failed: attempts that no threshold accepts, an infinite one neither.

Everything is held to slow loops over the attempts, in which a failure is no number. The scores are
small whole numbers, infinite ones among them, so that there are ties of all kinds.
"""

import math
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import naive
import numpy as np
import pytest

import bioeval as be
from bioeval.counting import counted as cells
from bioeval.scores import blocks

NAN, INF = math.nan, math.inf
FAILED = naive.FAILED
RULES = ("eer", "far=0.2", "far=1.0", "frr=0.1", "frr=0.5", "frr=1.0", "hter", "accuracy")


def world(seed: int, kind: str, dtype: Any = float) -> tuple[be.Scores, dict[str, Any]]:
    """Scores of seven people with failures and infinities, and the arguments of the twins."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(7), rng.integers(1, 5, 7))
    values = rng.integers(0, 6, (len(who), len(who))).astype(dtype)
    values += 2 * (who[:, None] != who) * (1 if kind == "distance" else -1)
    share = rng.choice([0.05, 0.3, 0.6])
    for value, part in ((INF, 0.06), (-INF, 0.03), (NAN, share)):
        values[rng.random(values.shape) < part] = value
    options = {"kind": kind, "nan": "reject"}
    case = {"values": values.tolist(), "probe_labels": who.tolist(), **options}
    return be.Scores(values, who, **options), case


@contextmanager
def way_of(name: str):
    """Sort all attempts, or count them in few cells."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "LISTED", 0 if name == "counted" else 1 << 18)
        if name == "counted":
            patch.setattr(cells, "LEAST_CELLS", 8)
            patch.setattr(cells, "MOST_CELLS", 8)
        yield


each_way = pytest.mark.parametrize("way", ["listed", "counted"])
each_world = pytest.mark.parametrize("seed", range(3))
each_kind = pytest.mark.parametrize("kind", ["distance", "similarity"])


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found, float), float(expected), rtol=1e-12, atol=1e-12)


def attempts_of(case: dict[str, Any], templates: str = "single") -> tuple[list, list]:
    if templates == "single":
        return naive.attempts_single(**case)
    return naive.attempts_multi(**case)


def threshold_of(rule: str, genuine: list, impostor: list, kind: str) -> float | None:
    """The threshold of a rule, by going through all points; None where there is none."""
    points = naive.roc_points(genuine, impostor, kind)
    name, _, target = rule.partition("=")
    if name == "eer":
        found = naive.crossing(points)
        return None if math.isnan(found.value) else found.threshold
    if name == "far":
        return [p.threshold for p in points if float(p.far) <= float(target)][-1]
    if name == "frr":
        return next((p.threshold for p in points if float(p.frr) <= float(target)), None)
    weights = (len(genuine), len(impostor)) if name == "accuracy" else (1, 1)
    return min(points, key=lambda p: weights[0] * p.frr + weights[1] * p.far).threshold


def errors_at(threshold: float, genuine: list, impostor: list, kind: str) -> tuple[int, int]:
    """False accepts and false rejects; NaN rejects all."""
    fa = sum(naive.accepted(x, threshold, kind) for x in impostor)
    return fa, sum(not naive.accepted(x, threshold, kind) for x in genuine)


def test_a_failed_genuine_attempt_bounds_frr():
    """FRR is never below 1/3: no threshold has FRR at most 10 %."""
    given = [0.9, 0.8, NAN, 0.1, 0.2, 0.3], [1, 1, 1, 0, 0, 0]
    scores = be.Scores.from_pairs(*given, kind="similarity", nan="reject")
    ds = be.verification(scores, frr_targets=[0.1, 0.4])
    assert np.isnan(ds.far_at_frr[0]) and np.isnan(ds.threshold_at_frr[0])
    assert (ds.far_at_frr[1], ds.threshold_at_frr[1]) == (0, 0.8)
    assert ds.frr.min() == 1 / 3 and ds.failed_attempts == 1 and np.isnan(ds.zero_frr)
    assert ds.auc == 2 / 3
    with pytest.raises(be.ProtocolError, match="accepts 1 of 3 genuine and 0 of 3 impostor"):
        be.judge_threshold(scores, scores, "frr=0.1")
    study = be.study_threshold(scores, "frr=0.1", folds=2, repeats=1)
    assert np.isnan(study.threshold) and "no-threshold" in study.attrs["messages"]


@each_kind
@each_world
@each_way
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.cases()
def test_rules(seed, kind, way, rule):
    """A threshold chosen on all data, and judged there; by all pairs of the list, too."""
    scores, case = world(seed, kind)
    genuine, impostor = attempts_of(case)
    threshold = threshold_of(rule, genuine, impostor, kind)
    values = np.array(case["values"])
    off = ~np.eye(len(values), dtype=bool)
    who = np.array(case["probe_labels"])
    mates = np.equal.outer(who, who)[off]
    pairs = be.Scores.from_pairs(values[off], mates, kind=kind, nan="reject")
    for given in (scores, pairs):
        with way_of(way):
            if threshold is None:
                with pytest.raises(be.ProtocolError, match="because none accepts"):
                    be.judge_threshold(given, given, rule, interval="wilson")
                continue
            ds = be.judge_threshold(given, given, rule, interval="wilson")
        same(ds.threshold, threshold if not math.isnan(threshold) else ds.threshold)
        fa, fr = errors_at(threshold, genuine, impostor, kind)
        assert (ds.fa, ds.fr) == (fa, fr)
        same(ds.far, Fraction(fa, len(impostor)))


@each_kind
@each_world
def test_people_and_groups(seed, kind):
    """Tables of people, of groups and of the zoo at the threshold that accepts every score."""
    scores, case = world(seed, kind)
    at = -INF if kind == "similarity" else INF
    who = np.array(case["probe_labels"])
    rows = naive.read(**case).rows
    attempts = np.zeros((7, 7), int)
    accepted = np.zeros((7, 7), int)
    for i, row in enumerate(rows):
        for cell in row:
            attempts[who[i], cell.subject] += 1
            accepted[who[i], cell.subject] += cell.distance is not FAILED
    counts = be.stats.people_counts(scores, [at])
    others = ~np.eye(7, dtype=bool)
    assert (counts.table(counts.impostor_attempts) == attempts * others).all()
    assert (counts.table(counts.impostor_accepted[0]) == accepted * others).all()
    assert (counts.genuine_attempts == np.diag(attempts)).all()
    assert (counts.genuine_accepted[0] == np.diag(accepted)).all()
    group = np.where(who < 3, "a", "b")
    ds = be.by_group(scores, group.tolist(), threshold=at)
    small = np.arange(7) < 3
    mine = np.diag(accepted)[small].sum(), np.diag(attempts)[small].sum()
    same(ds.frr.sel(group="a"), Fraction(int(mine[1] - mine[0]), int(mine[1])))
    zoo = be.zoo(scores, threshold=at)
    assert zoo.fr.values.tolist() == (np.diag(attempts) - np.diag(accepted)).tolist()


@each_kind
def test_attacks_that_failed_are_rejected(kind):
    at = -INF if kind == "similarity" else INF
    scores, _ = world(3, kind)
    attacks = be.Scores(
        [[NAN, 1.0], [NAN, NAN], [INF * (1 if kind == "distance" else -1), NAN]],
        [0, 0, 0], [0, 1], kind=kind, nan="reject", probe_meta={"attack": ["mask"] * 3},
    )  # fmt: skip
    gallery = be.Scores(
        [[1.0, NAN], [NAN, 2.0], [NAN, NAN]], [0, 1, 1], [0, 1], kind=kind, nan="reject"
    )
    ds = be.vulnerability(gallery, attacks, threshold=at)
    assert ds.attack_attempts == 3 and ds.iapar_pooled_at_threshold == 1 / 3
    assert ds.frr_at_threshold == 1 / 3 and ds.far_at_threshold == 0


def test_intervals_have_no_point_that_accepts_all():
    """With three of four genuine attempts failed and few false accepts there is no EER."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(12), 3)
    values = rng.random((36, 36)) + 3.0 * (who[:, None] != who)
    values[rng.random(values.shape) < 0.7] = NAN
    scores = be.Scores(values, who, nan="reject")
    ds = be.verification(scores, interval="subject-bootstrap", frr_targets=[0.5])
    assert np.isnan([ds.eer, ds.eer_low, ds.eer_high]).all()
    assert np.isnan([ds.far_at_frr_low, ds.far_at_frr_high]).all()
    assert (ds.frr_high >= ds.frr - 1e-12).all() and ds.auc_low <= ds.auc <= ds.auc_high
