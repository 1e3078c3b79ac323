"""Findings of a check of data, one for each aspect; who is confused with whom."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bioeval.base.errors import DataError, ProtocolError
from bioeval.base.kinds import Kept
from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.counting.threshold_rules import Rule
from bioeval.counting.thresholds import to_user
from bioeval.document.cells import Label
from bioeval.document.results import rule_in_words
from bioeval.document.text import Enumeration, Text, say
from bioeval.scores.labels import NAME_COLUMNS, plain
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.rows import attempted
from bioeval.stats.people import people_counts
from bioeval.tasks.threshold_choice import chosen_threshold
from bioeval.views.writers.lines import written


@dataclass(frozen=True)
class Side:
    """A template of a pair: its place, its subject, and its names by column of the metadata."""

    place: int
    subject: Any
    names: Mapping[str, str]

    @classmethod
    def of(cls, labels: np.ndarray, meta: Mapping[str, np.ndarray], place: int) -> Self:
        """Return a template; one of its columns may name its image."""
        names = {name: str(values[place]) for name, values in meta.items()}
        return cls(place, plain(labels[place]), names)


@dataclass(frozen=True)
class ConfusedPair:
    """Two people that are taken for each other: their false accepts, and the nearest templates.

    Attributes
    ----------
    false_accepts, attempts : int
        Impostor attempts between the two that are accepted, and all of them, in both directions.
    score : float
        The score of the nearest templates of the two.
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
        In the units of the scores; `at` says where it comes from, and `keeps` what holds at the
        number that is printed.
    false_accepts, pairs : int
        All false accepts, and the pairs of people that make them.
    listed : tuple of ConfusedPair
        The first of these pairs.
    use : str
        What an attempt is, of claims; empty where it is a single comparison.
    """

    threshold: float
    keeps: Kept
    kind: str
    at: Text
    false_accepts: int
    pairs: int
    listed: tuple[ConfusedPair, ...]
    use: str


@stage("looking who is confused with whom")
def confusions_at(
    scores: Scores, threshold: Any, most: int, claims: Scores | None
) -> Confusions | None:
    """Return who is confused with whom at a threshold; None where nobody can be named.

    Up to `most` pairs of people are listed. `threshold` is a number or a rule. The errors are those
    of the `claims`, whose nearest templates are looked for in the scores.
    """
    known = scores.layout not in ("pairs", "top-k") and knows_people(scores)
    if not known or scores.kind == "order":
        return None
    compared, rule = scores if claims is None else claims, Rule.parse(threshold)
    try:
        distance = chosen_threshold(compared, rule)
        at = float(to_user(np.float64(distance), scores.kind))
        counts = people_counts(compared, [at])
    except (DataError, ProtocolError):
        return None  # without attempts of both classes, or with failures that findings name
    if math.isnan(at):
        return None
    people = len(counts.people)
    low, high = np.sort(np.stack([counts.probe, counts.claimed]).astype(np.int64), axis=0)
    pair, place = np.unique(low * people + high, return_inverse=True)
    errors, attempts = (
        np.bincount(place, x, minlength=len(pair)).astype(np.int64)
        for x in (counts.impostor_accepted[0], counts.impostor_attempts)
    )
    listed = []
    for i in np.lexsort((pair, -errors))[:most].tolist():
        if errors[i]:
            who = [counts.people[person] for person in divmod(int(pair[i]), people)]
            listed.append(ConfusedPair(int(errors[i]), int(attempts[i]), *_nearest(scores, who)))
    return Confusions(
        at,
        rule.keeps,
        scores.kind,
        ""
        if rule.name == "fixed"
        else say("{rule}, chosen on these data", rule=rule_in_words(rule)),
        int(errors.sum()),
        int((errors > 0).sum()),
        tuple(listed),
        compared.claims,
    )


def _nearest(scores: Scores, people: list[Any]) -> tuple[float, Side, Side]:
    """Return the nearest templates of two people, with their score."""
    probes = np.flatnonzero(np.isin(scores.probe_labels, people))
    gallery = np.flatnonzero(np.isin(scores.gallery_labels, people))
    values = attempted(scores.select(probes, gallery), 0, len(probes))
    values[scores.probe_labels[probes][:, None] == scores.gallery_labels[gallery]] = np.nan
    row, column = divmod(int(np.nanargmin(values)), values.shape[1])
    score = float(to_user(values[row, column], scores.kind))
    probe = Side.of(scores.probe_labels, scores.probe_meta, int(probes[row]))
    return score, probe, Side.of(scores.gallery_labels, scores.gallery_meta, int(gallery[column]))


#: What the rates of findings are of.
TASK = "verification"

#: From harmless to serious; with an error, a result of the data would mislead.
SEVERITIES = ("ok", "note", "warning", "error")


@dataclass(frozen=True)
class Finding:
    """One aspect of the data that was checked, and what was found.

    Attributes
    ----------
    check : str
        What was looked at, such as ``"duplicates"``.
    severity : {"ok", "note", "warning", "error"}
    found : Message or Text
        What was found, a message unless the severity is ``"ok"``: its ``code`` and ``arguments``.
    count : int
        In how many places; 0 where nothing was found.
    places : Text
        The first places: rows, columns, labels or names.
    code, message, where : str
        The code of what was found; what was found, and the first places, as plain text.
    """

    check: str
    severity: str
    found: Text
    count: int = 0
    places: Text = ""

    @property
    def code(self) -> str:
        """The code of what was found; empty where nothing is wrong."""
        return self.found.code if isinstance(self.found, Message) else ""

    @property
    def message(self) -> str:
        """What was found, as plain text."""
        return written(self.found, TASK)

    @property
    def where(self) -> str:
        """The first places, as plain text."""
        return written(self.places, TASK)


def passed(check: str) -> Finding:
    """Return the finding of a check that found nothing."""
    return Finding(check, "ok", "nothing found")


@dataclass(frozen=True)
class LabelError:
    """A template whose label is likely wrong.

    Attributes
    ----------
    side : {"both", "probe", "gallery"}
        Where the template is; ``"both"`` of an all-against-all matrix, whose rows are judged.
    template : Side
        Its row, or the column of a gallery template, the label that it has, and its names.
    nearest_label : label
        The label that it is nearest to.
    own_score, nearest_score : float
        The lower median distance (of similarities, the upper median) to the templates of its own
        label and of the nearest one, in the units of the scores.
    certain : bool
        Whether this is beyond what chance, and two people who look alike, explain.
    nearest : Side
        The nearest of the templates of that label.
    """

    side: str
    template: Side
    nearest_label: Any
    own_score: float
    nearest_score: float
    certain: bool
    nearest: Side


def listed(places: Iterable[Text | int], most: int = 3) -> Text:
    """Return the first places."""
    texts = [Label(place) if isinstance(place, int) else place for place in places]
    if not texts:
        return ""
    if len(texts) > most:
        texts[most:] = ["..."]
    return Enumeration(texts, "")


def listed_pairs(places: Iterable[Any]) -> Text:
    """Return the first pairs of a list in words."""
    return listed(say("pair {place:name}", place=int(i)) for i in places)


def place_in_words(place: int, meta: Mapping[str, np.ndarray]) -> Text:
    """Return the place of a template, with its name where a column of the metadata has names."""
    for column in NAME_COLUMNS:
        if column in meta:
            return say("{place:name} ({name:name})", place=place, name=meta[column][place])
    return Label(place)
