"""Small and large matrices against the definition, on both sides of 2^18 cells.

The definition is written here with sorted arrays, since plain loops over 300,000 cells are slow:
a rate is the number of attempts of a class that are accepted, over the attempts of that class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bioeval as be

SMALL, LARGE = 12, 110
TARGETS = (0.1, 0.01, 0.001)
THRESHOLDS = np.linspace(0.5, 6.0, 23)


def population(subjects: int, layout: str, form: str) -> dict[str, Any]:
    """Distances between points of people with 3 to 7 templates; some forms have ties or NaN."""
    rng = np.random.default_rng(5)
    who = np.repeat(np.arange(subjects), 3 + np.arange(subjects) % 5)
    x = rng.normal(size=(subjects, 6))[who] + 0.8 * rng.normal(size=(who.size, 6))
    d = np.round(np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=-1)), 5)
    if form == "ties":
        d = np.floor(4 * d) / 4
    if form == "nan":
        d[rng.random(d.shape) < 0.03] = np.nan
    gallery = np.ones(who.size, bool)
    label = who.copy()
    if layout == "probe-against-gallery":
        gallery = rng.random(who.size) < 0.5
        label[~gallery & (who % 6 == 0)] += 1000
        d = d[np.ix_(~gallery, gallery)]
        return {"d": d, "probe": label[~gallery], "gallery": label[gallery], "square": False}
    return {"d": d, "probe": label, "gallery": label, "square": True}


def scores_of(case: dict[str, Any], dtype: str, kind: str = "distance") -> be.Scores:
    """Return the scores of a case; similarities are negated distances."""
    values = case["d"].astype(dtype) * (-1 if kind == "similarity" else 1)
    gallery = None if case["square"] else case["gallery"]
    return be.Scores(values, case["probe"], gallery, kind=kind, nan="reject")


def compared(case: dict[str, Any], dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return distances (a failed one is infinite), which cells are mates, which are compared."""
    d = case["d"].astype(dtype).astype(np.float64)
    d[np.isnan(d)] = np.inf
    mates = case["probe"][:, None] == case["gallery"]
    real = ~np.eye(*d.shape, dtype=bool) if case["square"] else np.ones(d.shape, bool)
    return d, mates & real, real


def per_subject(case: dict[str, Any], dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest distance to each enrolled subject (NaN: no attempt), and the subjects."""
    d, _, real = compared(case, dtype)
    people = np.unique(case["gallery"])
    fused = np.full((len(d), len(people)), np.nan)
    for j, person in enumerate(people):
        of = case["gallery"] == person
        there = real[:, of].any(axis=1)
        fused[there, j] = np.where(real[:, of], d[:, of], np.inf).min(axis=1)[there]
    return fused, people


def frr_at_far(genuine: np.ndarray, impostor: np.ndarray, target: float) -> float:
    """Return the smallest FRR of a threshold whose FAR is at most the target."""
    points = np.unique(np.concatenate([genuine, impostor]))
    far = np.searchsorted(np.sort(impostor), points, side="right") / len(impostor)
    accepted = np.searchsorted(np.sort(genuine), points, side="right")
    frr = 1 - accepted / len(genuine)
    return float(min([1.0, *frr[far <= target]]))


@pytest.fixture(params=[SMALL, LARGE], ids=["small", "large"])
def subjects(request) -> int:
    return request.param


FORMS = [
    ("all-against-all", "float32", "", "distance"),
    ("all-against-all", "float64", "ties", "similarity"),
    ("all-against-all", "float16", "nan", "distance"),
    ("probe-against-gallery", "float64", "", "similarity"),
    ("probe-against-gallery", "float32", "ties", "distance"),
    ("probe-against-gallery", "float32", "nan", "distance"),
]


@pytest.mark.parametrize(("layout", "dtype", "form", "kind"), FORMS)
@pytest.mark.cases(4)
def test_evaluation_equals_the_definition(subjects, layout, dtype, form, kind):
    case = population(subjects, layout, form)
    thresholds = THRESHOLDS if kind == "distance" else -THRESHOLDS[::-1]
    found = be.evaluate(
        scores_of(case, dtype, kind), thresholds=thresholds, far_targets=TARGETS, max_rank=5
    )
    turned = slice(None) if kind == "distance" else slice(None, None, -1)
    d, mates, real = compared(case, dtype)
    fused, people = per_subject(case, dtype)
    own = case["probe"][:, None] == people
    there = ~np.isnan(fused)
    attempts = {
        "single": (d[mates], d[real & ~mates]),
        "multi": (fused[own & there], fused[~own & there]),
    }
    for templates, (genuine, impostor) in attempts.items():
        ds = found[f"verification/{templates}"].to_dataset()
        assert (int(ds.genuine_attempts), int(ds.impostor_attempts)) == (
            len(genuine),
            len(impostor),
        )
        np.testing.assert_array_equal(ds.ga[turned], [(genuine <= t).sum() for t in THRESHOLDS])
        np.testing.assert_array_equal(ds.fa[turned], [(impostor <= t).sum() for t in THRESHOLDS])
        expected = [frr_at_far(genuine, impostor, t) for t in TARGETS]
        np.testing.assert_allclose(ds.frr_at_far, expected, rtol=0, atol=1e-12)
    opened, closed = found["open_set"].to_dataset(), found["closed_set"].to_dataset()
    mate = np.where(mates, d, np.inf).min(axis=1)
    other = np.where(real & ~mates, d, np.inf).min(axis=1)
    has = mates.any(axis=1)
    rank = 1 + ((real & ~mates) & (d <= mate[:, None])).sum(axis=1)  # pessimistic
    enrolled = np.isin(case["probe"], people)
    impostors = other if case["square"] or enrolled.all() else other[~enrolled]
    assert int(opened.genuine_attempts) == has.sum()
    for k in (1, 3, 5):
        identified = has & (rank <= k)
        dir_ = [(identified & (mate <= t)).sum() / has.sum() for t in THRESHOLDS]
        np.testing.assert_array_equal(opened.dir.sel(rank=k)[turned], dir_)
        assert float(closed.cms.sel(rank=k)) == identified.sum() / has.sum()
    far = [(impostors <= t).sum() / len(impostors) for t in THRESHOLDS]
    np.testing.assert_array_equal(opened.far[turned], far)
