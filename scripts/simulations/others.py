"""Means of re-identification and of GOM.

`be.gallery_size` and galleries of `gallery="single"` have no intervals.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import bioeval as be
from simulations.claims import Cell, Claim, Interval, cells, limits
from simulations.populations import POPULATIONS, Drawn

#: Data sets by whose mean the means of searches are known.
KNOWN = 100
#: People in the gallery who search for nobody, the same in all data sets of a population.
BYSTANDERS = 150
#: Thresholds of GOM: they hold nearly all distances.
AT = np.linspace(-4, 10, 57)
#: Measure, the variable of `be.reid` or `be.gom`, and the place along its dimensions.
MEANS: tuple[tuple[str, str, str, dict[str, int]], ...] = (
    ("mAP", "reid", "mean_ap", {}),
    ("mINP", "reid", "mean_inp", {}),
    ("CMC(1)", "reid", "cmc", {"rank": 1}),
    ("CMC(5)", "reid", "cmc", {"rank": 5}),
    ("max mReP", "gom", "max_mrep", {}),
    ("mReP area", "gom", "mrep_area", {}),
)


@functools.cache
def bystanders(population: str, templates: int) -> Drawn:
    """Return the people who are in the gallery of all data sets."""
    rng = np.random.default_rng([17, ord(population), templates])
    return POPULATIONS[population].draw(rng, BYSTANDERS, templates)


def queries(cell: Cell, rng: np.random.Generator, constant: bool) -> be.Scores:
    """Return new people, searched in a gallery of themselves, or of bystanders as well."""
    drawn = POPULATIONS[cell.population].draw(rng, cell.people, cell.templates)
    if not constant:
        return drawn.scores(rng, "gallery")
    more = bystanders(cell.population, cell.templates)
    scores = Drawn(
        np.concatenate([drawn.genuine, more.genuine]),
        np.concatenate([drawn.impostor, more.impostor]),
        np.concatenate([drawn.templates, more.templates]),
    ).scores(rng, "gallery")
    query = scores.probe_labels < cell.people
    return be.Scores(scores.values[query], scores.probe_labels[query], scores.gallery_labels)


def searched(scores: be.Scores, **interval: Any) -> dict[str, Any]:
    """Return the results of re-identification and of GOM."""
    options: dict[str, Any] = {"convention": "vehicleid", "max_rank": 5, **interval}
    return {
        "reid": be.reid(scores, **options),
        "gom": be.gom(scores, thresholds=AT, scaled=False, **options),
    }


@functools.cache
def expected(cell: Cell, constant: bool) -> dict[str, float]:
    """Return the means over many data sets."""
    rng = np.random.default_rng([19, ord(cell.population), cell.people, cell.templates])
    found = []
    for _ in range(KNOWN):
        results = searched(queries(cell, rng, constant))
        found.append([results[call][name].sel(at).item() for _, call, name, at in MEANS])
    names = [name for name, *_ in MEANS]
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))


def means(cell: Cell, rng: np.random.Generator, constant: bool) -> dict[str, Interval]:
    """Return the limits of the means of searches."""
    truth = expected(cell, constant)
    results = searched(queries(cell, rng, constant), interval="people")
    return {
        measure: limits(results[call], name, truth[measure], **at)
        for measure, call, name, at in MEANS
    }


def in_this_gallery(cell: Cell, rng: np.random.Generator) -> dict[str, Interval]:
    """Return the limits for other people in the gallery of these bystanders."""
    return means(cell, rng, constant=True)


def in_other_galleries(cell: Cell, rng: np.random.Generator) -> dict[str, Interval]:
    """Return the limits where the gallery is of the new people alone."""
    return means(cell, rng, constant=False)


def for_new_people(cell: Cell, rng: np.random.Generator) -> dict[str, Interval]:
    """Return the limits that a comparison gives, whose gallery's people are left out as well."""
    truth, scores = expected(cell, constant=False), queries(cell, rng, constant=False)
    names = {"mean_ap": "mAP", "mean_inp": "mINP", "cmc=1": "CMC(1)", "cmc=5": "CMC(5)"}
    compared = be.compare(scores, scores, measures=list(names), protocol="vehicleid")
    rows = be.to_frame(compared.isel(system=[0])).query("statistic.isna()").itertuples()
    return {
        name: Interval(row.low, row.high, truth[name])
        for name, row in zip(names.values(), rows, strict=True)
    }


#: A system in use: who comes a day, how many of them are impostors, and the days that are counted.
LEAST = {"E": 0.85, "N": 0.85, "G": 0.85}

CLAIMS = (
    Claim(
        "means of re-identification, in this gallery",
        "95 % intervals hold the mean of other people in a gallery whose other people are "
        "constant, in 85 %",
        "be.reid, be.gom(interval='people')",
        in_this_gallery,
        cells(people=(50,), templates=(4,)),
        LEAST,
    ),
    # The limits are for this gallery, and say so: of another one, nothing is claimed.
    Claim(
        "means of re-identification, in other galleries",
        "not claimed: limits for this gallery, and the mean of galleries of other people",
        "be.reid, be.gom(interval='people')",
        in_other_galleries,
        cells(people=(50,), templates=(4,)),
    ),
    Claim(
        "means of re-identification, for new people",
        "95 % intervals hold the mean of galleries of other people in 85 %",
        "be.compare(protocol=...)",
        for_new_people,
        cells(people=(20, 50), templates=(4,)),
        {"E": 0.85, "N": 0.85},
    ),
)
