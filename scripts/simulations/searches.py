"""Identification: rates of new people in galleries of the same size."""

from __future__ import annotations

import functools

import numpy as np

import bioeval as be
from simulations.claims import Cell, Claim, Interval, limits
from simulations.populations import POPULATIONS

#: FAR of identification at whose thresholds intervals are judged.
FAR = (0.3, 0.1, 0.02)
#: Data sets by which the rates of new people are known: searches in galleries of one size.
KNOWN = 20_000
BY_SUBJECT = {"interval": be.stats.IntervalMethod("people")}


def searches(drawn: np.ndarray, people: int, templates: int) -> tuple[np.ndarray, ...]:
    """Return the nearest other, the best mate and its rank of each probe, all against all."""
    away = drawn.copy()
    np.fill_diagonal(away, np.inf)
    own, each = np.repeat(np.arange(people), templates), np.arange(len(away))
    by_subject = away.reshape(len(away), people, templates)
    mate = by_subject[each, own].min(axis=1)
    by_subject[each, own] = np.inf
    return away.min(axis=1), mate, 1 + (away < mate[:, None]).sum(axis=1)


@functools.cache
def truth(
    population: str, people: int, templates: int
) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """Return thresholds of FAR, DIR there, and EER and CMS, of new people in such galleries."""
    rng = np.random.default_rng([11, ord(population), people, templates])
    facts = []
    for _ in range(-(-KNOWN // people)):
        drawn = POPULATIONS[population].draw(rng, people, templates).values(rng)
        facts.append(searches(drawn, people, templates))
    other, mate, rank = map(np.concatenate, zip(*facts, strict=True))
    at = np.quantile(other, FAR)
    hit = np.sort(np.where(rank == 1, mate, np.inf))
    frr = 1 - np.searchsorted(hit, np.sort(other), side="right") / len(hit)
    crossing = int(np.argmax(np.arange(1, len(other) + 1) / len(other) >= frr))
    once = {"EER": float(frr[crossing])}
    once |= {f"CMS({k})": float((rank <= k).mean()) for k in (1, 5)}
    return at, np.searchsorted(hit, at, side="right") / len(hit), once


def new_people(cell: Cell, rng: np.random.Generator) -> dict[str, Interval]:
    """Return the limits of open-set and closed-set rates, all against all."""
    at, dir_, once = truth(cell.population, cell.people, cell.templates)
    scores = POPULATIONS[cell.population].draw(rng, cell.people, cell.templates).scores(rng)
    opened = be.open_set(scores, thresholds=np.sort(at), far_targets=FAR, max_rank=5, **BY_SUBJECT)
    closed = be.closed_set(scores, max_rank=5, **BY_SUBJECT)
    measured = {}
    for far, threshold, found in zip(FAR, at, dir_, strict=True):
        words = f"{100 * far:g} %"
        of_far = limits(opened, "far", far, threshold=threshold)
        measured[f"FAR {words}"] = of_far
        measured[f"DIR at the threshold of FAR {words}"] = limits(
            opened, "dir", float(found), threshold=threshold, rank=1
        )
        measured[f"DIR at FAR {words}"] = limits(
            opened, "dir_at_far", float(found), far_target=far, rank=1
        )
    measured["EER"] = limits(opened, "eer", once["EER"])
    for k in (1, 5):
        measured[f"CMS({k})"] = limits(closed, "cms", once[f"CMS({k})"], rank=k)
    return measured


CLAIMS = (
    Claim(
        "searches of all against all, for new people",
        "95 % intervals hold the mean rates of new people in 90 % (with goats and wolves: 85 %)",
        "be.open_set, be.closed_set(interval='people')",
        new_people,
        tuple(Cell(x, n) for x in "ENGRH" for n in (20, 60, 150)),
        {"E": 0.9, "N": 0.9, "G": 0.85},
    ),
)
