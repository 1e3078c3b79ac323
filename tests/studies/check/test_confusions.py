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
    d = values if scores.kind == "distance" else -values
    at = threshold if scores.kind == "distance" else -threshold
    probes, gallery = list(scores.probe_labels), list(scores.gallery_labels)
    found = []
    for a, b in itertools.combinations(sorted({*probes, *gallery}), 2):
        cells = []
        for i, one in enumerate(probes):
            places = [j for j, other in enumerate(gallery) if {one, other} == {a, b}]
            usable = [(d[i, j], i, j) for j in places if not np.isnan(d[i, j])]
            if rule is None:
                cells += usable
            elif usable:
                cells.append((rule([x for x, _, _ in usable]), i, -1))
        accepted = sorted(x for x in cells if x[0] <= at)
        if accepted:
            found.append((-len(accepted), (a, b), len(cells), accepted[0]))
    found.sort(key=lambda x: x[:2])
    return [(-n, attempts, {*people}, nearest) for n, people, attempts, nearest in found]


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
    who = np.repeat(np.arange(6), [1, 2, 3, 3, 2, 1])
    d = rng.integers(0, 12, (12, 12)).astype(dtype)
    d = d if kind == "distance" else -d
    names = np.array([f"p{x}" for x in who])
    scores = be.Scores(d, names, kind=kind)
    if layout == "gallery":
        scores = be.Scores(d[:, :9], names, names[:9], kind=kind)
    threshold = 4.0 if kind == "distance" else -4.0
    check = be.check_data(scores, threshold=threshold)
    wanted = oracle(scores, threshold)
    assert [x[:3] for x in wanted[:10]] == listed(check)
    lines = [line.split() for line in as_text(check).splitlines()]
    for pair in check.confusions.listed:
        assert any({pair.probe.subject, pair.claimed.subject} <= {*line} for line in lines)
    for pair, (*_, nearest) in zip(check.confusions.listed, wanted, strict=False):
        assert (pair.probe.place, pair.claimed.place) == nearest[1:]
        assert abs(pair.score) == abs(nearest[0])
    assert check.confusions.pairs == len(wanted)
    assert check.confusions.false_accepts == sum(x[0] for x in wanted)
    assert check.confusions.threshold == threshold


def test_a_rule_a_study_and_nothing():
    scores = be.simulate(30, 3, random_state=1)
    check = be.check_data(scores, threshold="far=0.01")
    at = float(be.verification(scores, far_targets=[0.01]).threshold_at_far[0])
    assert check.confusions.threshold == at
    fa = be.verification(scores, thresholds=[at]).fa[0]
    assert check.confusions.false_accepts == int(fa)
    assert be.check_data(scores, threshold=None).confusions is None
    assert be.check_data(scores, read_scores=False).confusions is None
    assert be.check_data(scores, threshold=-1).confusions.listed == ()
    one = be.Scores([[0.0, 1.0], [1.0, 0.0]], ["a", "a"])
    assert be.check_data(one).confusions is None
    mask = np.array([[0, 2, 1], [2, 0, 1], [1, 1, 0]], dtype=np.uint8)
    masked = be.Scores(np.ones((3, 3)), mask=mask)
    assert be.check_data(masked, threshold=1).confusions is None


@pytest.mark.parametrize("fusion", ["best", "mean"])
def test_templates_of_a_subject_are_fused(fusion):
    scores = be.simulate(14, 3, random_state=1)
    claims = be.claim_scores(scores, fusion=fusion)
    check = be.check_data(scores, threshold=4.0, claims=claims)
    wanted = oracle(scores, 4.0, {"best": min, "mean": np.mean}[fusion])
    assert check.confusions.false_accepts == sum(x[0] for x in wanted)
    assert check.confusions.pairs == len(wanted)
    assert sorted(x[0] for x in listed(check)) == sorted(x[0] for x in wanted[:10])
    assert {x[1] for x in listed(check)} == {6}
