"""Who is confused with whom: compared with loops over the comparisons of each pair of people."""

import itertools

import numpy as np
import pytest
from result_text import as_text

import bioeval as be


def oracle(scores, threshold, rule=None):
    """False accepts, attempts and the nearest cell of each pair of people, the most first.

    With a `rule` of fusion, of claims of a subject's templates; the cell is then not looked for.
    """
    values = np.asarray(scores.values, dtype=float)
    distances = values if scores.kind == "distance" else -values
    distance_threshold = threshold if scores.kind == "distance" else -threshold
    probes, gallery = list(scores.probe_labels), list(scores.gallery_labels)
    confusions = []
    for first, second in itertools.combinations(sorted({*probes, *gallery}), 2):
        cells = []
        for i, probe_subject in enumerate(probes):
            places = [
                j for j, other in enumerate(gallery) if {probe_subject, other} == {first, second}
            ]
            usable = [(distances[i, j], i, j) for j in places if not np.isnan(distances[i, j])]
            if rule is None:
                cells += usable
            elif usable:
                cells.append((rule([x for x, _, _ in usable]), i, -1))
        accepted = sorted(x for x in cells if x[0] <= distance_threshold)
        if accepted:
            confusions.append((-len(accepted), (first, second), len(cells), accepted[0]))
    confusions.sort(key=lambda x: x[:2])
    return [(-n, attempts, {*people}, nearest) for n, people, attempts, nearest in confusions]


def listed(check):
    return [
        (x.false_accepts, x.attempts, {x.probe.subject, x.claimed.subject})
        for x in check.confusions.listed
    ]


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("layout", ["square", "gallery"])
def test_pairs_are_those_of_the_definition(kind, dtype, layout):
    rng = np.random.default_rng(5)
    subject = np.repeat(np.arange(6), [1, 2, 3, 3, 2, 1])
    distances = rng.integers(0, 12, (12, 12)).astype(dtype)
    distances = distances if kind == "distance" else -distances
    names = np.array([f"p{x}" for x in subject])
    scores = be.Scores(distances, names, kind=kind)
    if layout == "gallery":
        scores = be.Scores(distances[:, :9], names, names[:9], kind=kind)
    threshold = 4.0 if kind == "distance" else -4.0
    check = be.check_data(scores, threshold=threshold)
    expected = oracle(scores, threshold)
    assert [x[:3] for x in expected[:10]] == listed(check)
    lines = [line.split() for line in as_text(check).splitlines()]
    for pair in check.confusions.listed:
        assert any({pair.probe.subject, pair.claimed.subject} <= {*line} for line in lines)
    for pair, (*_, nearest) in zip(check.confusions.listed, expected, strict=False):
        assert (pair.probe.place, pair.claimed.place) == nearest[1:]
        assert abs(pair.score) == abs(nearest[0])
    assert check.confusions.pairs == len(expected)
    assert check.confusions.false_accepts == sum(x[0] for x in expected)
    assert check.confusions.threshold == threshold


def test_a_rule_a_study_and_nothing():
    scores = be.simulate(30, 3, random_state=1)
    check = be.check_data(scores, threshold="far=0.01")
    chosen_threshold = float(be.verification(scores, far_targets=[0.01]).threshold_at_far[0])
    assert check.confusions.threshold == chosen_threshold
    fa = be.verification(scores, thresholds=[chosen_threshold]).fa[0]
    assert check.confusions.false_accepts == int(fa)
    assert be.check_data(scores, threshold=None).confusions is None
    assert be.check_data(scores, read_scores=False).confusions is None
    assert be.check_data(scores, threshold=-1).confusions.listed == ()
    one_subject = be.Scores([[0.0, 1.0], [1.0, 0.0]], ["a", "a"])
    assert be.check_data(one_subject).confusions is None
    mask = np.array([[0, 2, 1], [2, 0, 1], [1, 1, 0]], dtype=np.uint8)
    masked = be.Scores(np.ones((3, 3)), mask=mask)
    assert be.check_data(masked, threshold=1).confusions is None


@pytest.mark.parametrize("fusion", ["best", "mean"])
def test_templates_of_a_subject_are_fused(fusion):
    scores = be.simulate(14, 3, random_state=1)
    claims = be.claim_scores(scores, fusion=fusion)
    check = be.check_data(scores, threshold=4.0, claims=claims)
    expected = oracle(scores, 4.0, {"best": min, "mean": np.mean}[fusion])
    assert check.confusions.false_accepts == sum(x[0] for x in expected)
    assert check.confusions.pairs == len(expected)
    assert sorted(x[0] for x in listed(check)) == sorted(x[0] for x in expected[:10])
    assert {x[1] for x in listed(check)} == {6}
