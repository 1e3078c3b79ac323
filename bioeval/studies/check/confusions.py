"""Who is confused with whom: the pairs of people that make the false accepts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bioeval.attempts.cells import is_accepted
from bioeval.attempts.threshold_rules import Rule
from bioeval.attempts.thresholds import to_user
from bioeval.base.errors import DataError, ProtocolError
from bioeval.base.progress import stage
from bioeval.document.cells import Score, threshold_to_install
from bioeval.document.results import rule_in_words
from bioeval.document.text import Text, say
from bioeval.scores.blocks import BlockReader, threads_for
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores, are_pairs, codes_of, knows_people
from bioeval.tasks.threshold_choice import chosen_threshold

# Accepted pairs that are held before equal ones are added.
_HELD = 1 << 20


@dataclass(frozen=True)
class Side:
    """A template of a pair: its place, its subject, and its names by column of the metadata."""

    place: int
    subject: Any
    names: Mapping[str, str]


@dataclass(frozen=True)
class ConfusedPair:
    """Two people that are taken for each other: their false accepts, and the nearest of these.

    Attributes
    ----------
    false_accepts, attempts : int
        Impostor attempts between the two that are accepted, and all of them, in both directions.
    score : float
        The score of the nearest attempt. Of claims, `probe` and `claimed` are the nearest templates
        of the two people.
    probe, claimed : Side
    """

    false_accepts: int
    attempts: int
    score: float
    probe: Side
    claimed: Side


@dataclass(frozen=True)
class Confusions:
    """The pairs of people that make the false accepts at a threshold, the most first.

    Attributes
    ----------
    threshold : float
        In the units of the scores; `at` says where it comes from.
    false_accepts, pairs : int
        All false accepts, and the pairs of people that make them.
    listed : tuple of ConfusedPair
        The first of these pairs: by false accepts, of equal ones the nearest.
    use : str
        What an attempt is, of claims; empty where it is a single comparison.
    """

    threshold: float
    kind: str
    at: Text
    false_accepts: int
    pairs: int
    listed: tuple[ConfusedPair, ...]
    use: str


class _PairCounts:
    """False accepts by pair of people, with the nearest of each."""

    def __init__(self) -> None:
        self.key = np.empty(0, dtype=np.int64)
        self.count = np.empty(0, dtype=np.int64)
        self.value = np.empty(0)
        self.row = self.column = np.empty(0, dtype=np.int64)

    def add(self, key: np.ndarray, value: np.ndarray, row: np.ndarray, column: np.ndarray) -> None:
        """Add accepted attempts, one each."""
        self.key = np.concatenate([self.key, key])
        self.count = np.concatenate([self.count, np.ones(len(key), dtype=np.int64)])
        self.value = np.concatenate([self.value, value])
        self.row = np.concatenate([self.row, row])
        self.column = np.concatenate([self.column, column])
        if len(self.key) > _HELD:
            self.merge()

    def merge(self) -> None:
        """Add up the attempts of each pair, and keep the nearest: of equal ones the first."""
        order = np.lexsort((self.column, self.row, self.value, self.key))
        key = self.key[order]
        first = np.flatnonzero(np.append(True, key[1:] != key[:-1])) if len(key) else order
        counts = np.add.reduceat(self.count[order], first) if len(key) else self.count
        self.key, self.count = key[first], counts
        self.value, self.row = self.value[order][first], self.row[order][first]
        self.column = self.column[order][first]


def confusions_at(
    scores: Scores, threshold: Any, most: int, claims: Scores | None
) -> Confusions | None:
    """Return who is confused with whom at a threshold; None where nobody can be named.

    Up to `most` pairs of people are listed. `threshold` is a number or a rule. The errors are those
    of the `claims`, whose nearest templates are looked for in the scores.
    """
    known = not are_pairs(scores) and scores.layout != "top-k" and knows_people(scores)
    if not known or scores.kind == "order":
        return None
    compared, rule = scores if claims is None else claims, Rule.parse(threshold)
    try:
        at = chosen_threshold(BlockReader(compared), rule)
        if math.isnan(at):
            return None
        counts = _counted(compared, at)
    except (DataError, ProtocolError):
        return None  # without attempts of both classes, or with failures that findings name
    order = np.lexsort((counts.key, counts.value, -counts.count))[:most]
    listed = tuple(_pair(compared, counts, i) for i in order.tolist())
    if claims is not None:
        listed = tuple(_with_templates(pair, scores) for pair in listed)
    return Confusions(
        float(to_user(np.float64(at), scores.kind)),
        scores.kind,
        _chosen_here(rule),
        int(counts.count.sum()),
        len(counts.key),
        listed,
        compared._claims,
    )


def _with_templates(pair: ConfusedPair, scores: Scores) -> ConfusedPair:
    """Return a pair of people with their nearest templates in place of a claim."""
    row, column = _nearest_templates(scores, [pair.probe.subject, pair.claimed.subject])
    probe, claimed = _sides(scores, row, column)
    return replace(pair, probe=probe, claimed=claimed)


def _chosen_here(rule: Rule) -> Text:
    """Return by which rule a threshold was chosen on these data; empty for a given one."""
    if rule.name == "fixed":
        return ""
    return say("{rule}, chosen on these data", rule=rule_in_words(rule))


def _nearest_templates(scores: Scores, people: Sequence[Any]) -> tuple[int, int]:
    """Return the nearest templates of two people, by their places."""
    probes = np.flatnonzero(np.isin(scores.probe_labels, people))
    gallery = np.flatnonzero(np.isin(scores.gallery_labels, people))
    block = BlockReader(scores.select(probes, gallery)).block(0, len(probes))
    values = block.values.astype(np.float64)
    for k in range(len(values)):
        values[k, block.mate_start[k] : block.mate_stop[k]] = np.nan
    row, position = divmod(int(np.nanargmin(values)), values.shape[1])
    column = int(np.broadcast_to(block.columns, values.shape)[row, position])
    return int(probes[row]), int(gallery[column])


@stage("looking who is confused with whom")
def _counted(scores: Scores, at: float) -> _PairCounts:
    """Return the accepted impostor attempts by pair of people, in either direction."""
    codes, counts = codes_of(scores), _PairCounts()
    people = len(codes.values)
    with threads_for(scores):
        for block in BlockReader(scores).blocks():
            impostors = block.impostors()
            row, position = np.nonzero(is_accepted(impostors, at))
            value = impostors[row, position].astype(np.float64)
            column = np.broadcast_to(block.columns, block.values.shape)[row, position]
            row = block.low + row
            both = np.sort(np.stack([codes.probe[row], codes.gallery[column]]), axis=0)
            counts.add(both[0] * people + both[1], value, row, column)
    counts.merge()
    return counts


def _pair(scores: Scores, counts: _PairCounts, i: int) -> ConfusedPair:
    """Return a pair of people with its nearest attempt."""
    row, column = int(counts.row[i]), int(counts.column[i])
    people = divmod(int(counts.key[i]), len(codes_of(scores).values))
    return ConfusedPair(
        int(counts.count[i]),
        _attempts(scores, people),
        float(to_user(np.float64(counts.value[i]), scores.kind)),
        *_sides(scores, row, column),
    )


def _sides(scores: Scores, row: int, column: int) -> tuple[Side, Side]:
    """Return both templates of a comparison."""
    return (
        Side(row, plain(scores.probe_labels[row]), names_of_template(scores.probe_meta, row)),
        Side(
            column,
            plain(scores.gallery_labels[column]),
            names_of_template(scores.gallery_meta, column),
        ),
    )


def names_of_template(meta: Mapping[str, np.ndarray], place: int) -> dict[str, str]:
    """Return the metadata of a template as text; one column of them may name its image."""
    return {name: str(values[place]) for name, values in meta.items()}


def _attempts(scores: Scores, people: tuple[int, int]) -> int:
    """Return the impostor attempts between two people."""
    codes = codes_of(scores)
    probes = np.flatnonzero(np.isin(codes.probe, people))
    gallery = np.flatnonzero(np.isin(codes.gallery, people))
    part = scores.select(probes, gallery)
    block = BlockReader(part).block(0, len(probes))
    values = block.values.copy()
    for k in range(len(values)):
        values[k, block.mate_start[k] : block.mate_stop[k]] = np.nan
    return int(np.count_nonzero(~np.isnan(values)))


def install(confusions: Confusions) -> Score:
    """Return the threshold, as people may copy it."""
    return threshold_to_install(confusions.threshold, confusions.kind)
