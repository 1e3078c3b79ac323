"""Independent units beside attempts: subjects, disjoint pairs of them, each pair once."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from twins import one_thread  # noqa: F401

import bioeval as be

UNITS = ("impostor_pairs", "subjects", "disjoint_pairs", "genuine_subjects", "impostor_subjects")


def units(ds) -> dict[str, int]:
    return {name: ds[name].item() for name in UNITS if name in ds}


def most_disjoint(left: set, right: set) -> int:
    """The most pairs of one of each side of which no two share a subject, by trying."""
    best = 0
    for a in left:
        for b in right - {a}:
            best = max(best, 1 + most_disjoint(left - {a, b}, right - {a, b}))
    return best


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_verification_by_hand(seed, claimed):
    rng = np.random.default_rng(seed)
    probes, gallery = rng.integers(0, 4, 6), rng.integers(1, 4, 5)
    scores = be.Scores(rng.random((6, 5)), probes, gallery)
    left, right, claims = set(probes.tolist()), set(gallery.tolist()), None
    if claimed:
        who = rng.choice(gallery, 3)
        claims = [0, 1, 4], who
        left, right = set(probes[[0, 1, 4]].tolist()), set(who.tolist())
    for templates in ("single", "multi"):
        ds = be.verification(scores, templates=templates, claims=claims)
        most = min(most_disjoint(left, right), len(left | right) // 2)
        if claimed:  # among the pairs that were compared
            listed = zip(probes[claims[0]].tolist(), who.tolist(), strict=True)
            pairs = [{p, g} for p, g in listed if p != g]
            chosen = (x for n in range(4) for x in itertools.combinations(pairs, n))
            most = max(len(x) for x in chosen if len(set().union(*x)) == 2 * len(x))
        assert units(ds) == {
            "impostor_pairs": ds.impostor_attempts,
            "subjects": len(left | right),
            "disjoint_pairs": most,
        }


@pytest.mark.parametrize("interval", [None, "subject-bootstrap", "wilson"])
@pytest.mark.cases(1)
def test_with_and_without_intervals(interval):
    scores = be.simulate(20, 3, random_state=1)
    ds = be.verification(scores, interval=interval)
    found = {"impostor_pairs": 60 * 57 // 2, "subjects": 20, "disjoint_pairs": 10}
    if interval == "subject-bootstrap":
        found["genuine_subjects"] = 20
    assert units(ds) == found
    assert be.verification(scores, templates="multi").impostor_pairs == 60 * 19


@pytest.mark.parametrize(
    ("impostors", "expected"), [("unenrolled", 2), ("leave-subject-out", 3), ("both", 5)]
)
@pytest.mark.cases(1)
def test_identification(impostors, expected):
    probes, gallery = ["a", "a", "b", "c", "x", "x", "y"], ["a", "b", "c", "d"]
    scores = be.Scores(np.arange(28.0).reshape(7, 4), probes, gallery)
    for size in ("all", "single"):
        ds = be.open_set(scores, impostors=impostors, gallery=size)
        assert units(ds) == {"genuine_subjects": 3, "impostor_subjects": expected}
        assert units(be.closed_set(scores, unmated="skip", gallery=size)) == {"subjects": 3}
    assert units(be.reid(scores, removed="none")) == {"subjects": 3}  # x and y are skipped
