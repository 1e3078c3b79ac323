"""The tests of the zoo: how often they reject where nobody differs, and where some do.

Scores share templates, as they do in real data: each template has an offset of its own, which all
its scores have in common.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

import bioeval as be
from simulations.claims import Cell, Claim, Verdict, cells
from simulations.populations import TEMPLATE
from simulations.rates import known_scores

LEVEL = 0.05
TESTS = ("goat", "wolf", "lamb")
DIMENSIONS = (8, 32, 128)


def cosines(cell: Cell, rng: np.random.Generator, dimensions: int) -> be.Scores:
    """Draw cosine similarities of people without wolves, who lie around the origin."""
    people = rng.normal(size=(cell.people, 1, dimensions))
    each = people + rng.normal(size=(cell.people, cell.templates, dimensions))
    each = each.reshape(-1, dimensions)
    each /= np.linalg.norm(each, axis=1, keepdims=True)
    who = np.repeat(np.arange(cell.people), cell.templates)
    return be.Scores(each @ each.T, who, kind="similarity")


def with_offsets(scores: be.Scores, rng: np.random.Generator) -> be.Scores:
    """Add an offset of each template to all its scores."""
    rows = rng.normal(scale=TEMPLATE, size=scores.shape[0])
    square = scores.layout == "all-against-all"
    columns = rows if square else rng.normal(scale=TEMPLATE, size=scores.shape[1])
    return be.Scores(
        scores.values + rows[:, None] + columns, scores.probe_labels,
        None if square else scores.gallery_labels,
    )  # fmt: skip


def alike(cell: Cell, rng: np.random.Generator, templates: object, **more: object) -> be.Scores:
    """Draw people who are alike, but for effects of goats, wolves and lambs that are given."""
    seed = int(rng.integers(1 << 30))
    more = {"model": "gaussian-scores", "random_state": seed, **more}
    return with_offsets(be.simulate(cell.people, templates, **more), rng)


def around_one_centre(
    cell: Cell, rng: np.random.Generator, templates: object, **more: object
) -> be.Scores:
    """Draw embeddings that all scatter around one centre, and compare them."""
    seed = int(rng.integers(1 << 30))
    return be.simulate(cell.people, templates, between=0.0, random_state=seed, **more)


SIDES = {"layout": "probe-against-gallery", "probes": 6}

ALIKE: dict[str, Callable[[Cell, np.random.Generator], be.Scores]] = {
    "2 to 12 templates": lambda *x: alike(*x, (2, 12)),
    "6 probes, 6 templates": lambda *x: alike(*x, 6, **SIDES),
    "6 probes, 2 to 12 templates": lambda *x: alike(*x, (2, 12), **SIDES),
    "embeddings, 4 to 12 templates": lambda *x: around_one_centre(*x, (4, 12)),
    "embeddings, 4 sessions of 2": lambda *x: around_one_centre(*x, 8, sessions=4, session_sd=0.5),
}

#: Standard deviations of effects of people, where that of a score is 1.
STRENGTHS = (0.1, 0.2, 0.4)


def p_values(scores: be.Scores, rng: np.random.Generator) -> dict[str, float]:
    """Return the p-values of the tests; errors are counted at any threshold."""
    seed = int(rng.integers(1 << 30))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = be.zoo(scores, threshold=0.0, permutations=399, random_state=seed)
    return {f"{x}_p": result["p"].sel(test=x).item() for x in TESTS}


def nobody_differs(cell: Cell, rng: np.random.Generator) -> dict[str, Verdict]:
    """Return whether tests do not reject; cosines have goats by chance of their directions."""
    each = p_values(known_scores(cell, rng), rng)
    measured = {
        f"{name}, templates with offsets": Verdict(p > LEVEL, p == p) for name, p in each.items()
    }
    for dimensions in DIMENSIONS:
        p = p_values(cosines(cell, rng, dimensions), rng)["wolf_p"]
        measured[f"wolf_p, cosines in {dimensions} dimensions"] = Verdict(p > LEVEL, p == p)
    return measured


def other_designs(cell: Cell, rng: np.random.Generator) -> dict[str, Verdict]:
    """Return whether tests do not reject with other numbers of templates, sides and sessions."""
    return {
        f"{name}, {design}": Verdict(p > LEVEL, p == p)
        for design, draw in ALIKE.items()
        for name, p in p_values(draw(cell, rng), rng).items()
    }


def by_strength(cell: Cell, rng: np.random.Generator) -> dict[str, Verdict]:
    """Return whether the test of an animal rejects, by the spread of what its people add."""
    measured = {}
    for animal in ("goat", "wolf", "lamb"):
        for strength in STRENGTHS:
            scores = alike(cell, rng, 6, **{f"{animal}_sd": strength})
            p = p_values(scores, rng)[f"{animal}_p"]
            measured[f"{animal}_p, {animal}_sd {strength:g}"] = Verdict(p <= LEVEL, p == p)
    return measured


def some_differ(cell: Cell, rng: np.random.Generator) -> dict[str, Verdict]:
    """Return whether tests reject."""
    each = p_values(known_scores(cell, rng), rng)
    return {f"{name} rejects": Verdict(p <= LEVEL, p == p) for name, p in each.items()}


CLAIMS = (
    Claim(
        "zoo where nobody differs",
        "tests at 5 % do not reject in at least 94 %",
        "be.zoo",
        nobody_differs,
        cells("E", people=(20, 50, 100), templates=(4, 10)),
        {"E": 0.94},
    ),
    Claim(
        "zoo where nobody differs, other designs",
        "tests at 5 % do not reject in at least 94 %",
        "be.zoo",
        other_designs,
        cells("E", people=(50,), templates=(6,)),
        {"E": 0.94},
    ),
    Claim(
        "zoo by strength",
        "tests at 5 % reject: in per cent, as often as shown",
        "be.zoo",
        by_strength,
        cells("E", people=(50,), templates=(6,)),
    ),
    Claim(
        "zoo where people differ",
        "tests at 5 % reject: in per cent, as often as shown",
        "be.zoo",
        some_differ,
        cells("NGRH", people=(20, 50, 100), templates=(4,)),
    ),
)
