"""One row of scores as sorted lists: of templates, or of subjects by their fused scores."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bioeval.counting.identification import place_weights
from bioeval.counting.thresholds import to_user
from bioeval.protocol.choices import Ties
from bioeval.scores.excluded import excluded
from bioeval.scores.exclusions import NO_PERSON_TWICE
from bioeval.scores.labels import plain
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores
from bioeval.scores.names import in_words
from bioeval.scores.people import knows_people
from bioeval.scores.rows import among_distances, read_rows
from bioeval.showing.cells import Label, Score
from bioeval.showing.text import Enumeration, Text, say
from bioeval.showing.writers.lines import written

#: What an entry of a list is for the probe.
Role = Literal["genuine", "impostor", "left out"]
GENUINE: Role = "genuine"
IMPOSTOR: Role = "impostor"
LEFT_OUT: Role = "left out"

#: If a subject has at most so many templates, their scores are listed beside its fused score.
MOST_LISTED = 3


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One entry of a list: a gallery template, or a subject.

    Attributes
    ----------
    place : int or None
        Its place in the list, from 1; None if it is left out.
    column : int
        The index of the gallery template, from 0; for a subject, that of its nearest template.
    template, subject : str
        Names of the template and of its subject. The subject is empty if a mask decides what is
        genuine.
    score : float or None
        The score in the units of the scores; None where there is none.
    distance : float
        The score as a distance, which is smaller for closer templates; NaN if it is left out.
    role : str
        ``"genuine"``, ``"impostor"`` or ``"left out"``, which is not an attempt.
    accepted : bool or None
        Whether the threshold accepts the score; None without a threshold.
    failed : bool
        Whether the comparison failed: then no threshold accepts it, and it has no rank.
    reason : Text
        Why it is left out, or which scores were fused.
    """

    place: int | None
    column: int
    template: str
    subject: str
    score: float | None
    distance: float
    role: Role
    accepted: bool | None
    failed: bool
    reason: Text = ""

    @property
    def outcome(self) -> str:
        """The counter of verification that counts it: ``"GA"``, ``"FR"``, ``"FA"`` or ``"GR"``.

        Without a threshold, both counters that are possible; empty if it is left out.
        """
        if self.role == LEFT_OUT:
            return ""
        outcomes = ("GA", "FR") if self.role == GENUINE else ("FA", "GR")
        return " | ".join(outcomes) if self.accepted is None else outcomes[not self.accepted]


@dataclass(frozen=True)
class RankedList:
    """The entries of a row from near to far, followed by those that are left out.

    Attributes
    ----------
    unit : str
        What an entry is: ``"template"`` or ``"subject"``.
    entries : tuple of Entry
    """

    unit: str
    entries: tuple[Entry, ...]

    def with_role(self, *roles: Role) -> list[Entry]:
        """Return the entries with these roles, in order."""
        return [entry for entry in self.entries if entry.role in roles]

    def ranks_of_mate(self, ties: Ties) -> list[tuple[int, float]]:
        """Return the ranks of the nearest mate with their weights; none without a mate.

        There are several ranks only with expected ties, where the weight of a rank is its
        probability.
        """
        mates, impostors = self.with_role(GENUINE), self.with_role(IMPOSTOR)
        if not mates:
            return []
        best = min(mates, key=lambda entry: (entry.distance, entry.column))
        tied = [entry for entry in impostors if entry.distance == best.distance]
        _, ranks, weights = place_weights(
            np.array([sum(entry.distance < best.distance for entry in impostors)]),
            np.array([len(tied)]),
            np.array([sum(entry.column < best.column for entry in tied)]),
            np.array([sum(entry.distance == best.distance for entry in mates)]),
            ties,
        )
        return list(zip(ranks.tolist(), weights.tolist(), strict=True))


class RowLists:
    """Reads the rows of a matrix as sorted lists.

    - `scores`: the scores that a protocol card compares
    - `original`: the scores before the card left any out
    - `threshold`: a distance, or None
    - `ties`: pessimistic ties put other subjects first among entries at equal distances, and
      optimistic ties the probe's own; then entries are in the order of their columns
    """

    def __init__(self, scores: Scores, original: Scores, threshold: float | None, ties: Ties):
        self.scores, self.original = scores, original
        self.threshold, self.ties = threshold, ties
        self.names = in_words(original.gallery_names, original.shape[1])
        self.subjects = [""] * original.shape[1]
        if knows_people(original):
            self.subjects = list(map(str, original.gallery_labels.tolist()))

    def templates(self, i: int) -> RankedList:
        """Return the list of templates of row `i`."""
        block = read_rows(self.scores, slice(i, i + 1))
        distance = np.full(self.scores.shape[1], np.nan)
        distance[block.candidates] = block.values[0]
        genuine = np.zeros(len(distance), dtype=bool)
        genuine[block.genuine()[1]] = True
        is_itself = self.scores.probe_ids[i] == self.scores.gallery_ids
        stored = self.scores.cells.read(i, i + 1)[0].tolist()
        reasons = self._reasons_for_leaving_out(i)
        entries = []
        for column, value in enumerate(distance.tolist()):
            reason: Text = ""
            if math.isnan(value):
                reason = reasons[column]
            elif math.isnan(stored[column]):
                reason = "failed comparison (NaN): an attempt that no threshold accepts"
            score = None if is_itself[column] else stored[column]
            entries.append(
                self._entry_without_place(column, value, bool(genuine[column]), score, reason)
            )
        return self._ranked("template", entries)

    def by_subject(self, i: int, fusion: str) -> RankedList:
        """Return the list of the subjects of row `i`, by their fused scores."""
        templates = {entry.column: entry for entry in self.templates(i).entries}
        block = read_rows(self.scores, slice(i, i + 1))
        gallery = self.scores.gallery_order
        entries = []
        for group, value in enumerate(block.by_person(fusion).values[0].tolist()):
            low, high = gallery.starts[group : group + 2]
            of_subject = [templates[column] for column in block.candidates[low:high].tolist()]
            attempts = [entry for entry in of_subject if entry.role != LEFT_OUT]
            nearest = min(attempts or of_subject, key=lambda entry: (entry.distance, entry.column))
            score = None
            if not math.isnan(value):
                score = float(to_user(np.float64(value), self.scores.kind)) + 0.0
            reason = _fused_from(attempts, fusion)
            if not attempts:
                reasons = list({written(x.reason): x.reason for x in of_subject}.values())
                text = "no template of the subject is left ({reasons})"
                reason = say(text, reasons=Enumeration(reasons, ";"))
            genuine = bool(group == gallery.probe_group[i])
            entries.append(self._entry_without_place(nearest.column, value, genuine, score, reason))
        return self._ranked("subject", entries)

    def _entry_without_place(
        self, column: int, distance: float, genuine: bool, score: float | None, reason: Text
    ) -> Entry:
        accepted, role = None, LEFT_OUT
        if not math.isnan(distance):
            role = GENUINE if genuine else IMPOSTOR
            if self.threshold is not None:
                accepted = bool(distance <= among_distances(self.scores, self.threshold))
        return Entry(
            place=None,
            column=column,
            template=self.names[column],
            subject=self.subjects[column],
            score=score,
            distance=distance,
            role=role,
            accepted=accepted,
            failed=self.scores.nan == "reject" and distance == np.inf,
            reason=reason,
        )

    def _reasons_for_leaving_out(self, i: int) -> list[Text]:
        scores, columns = self.scores, np.arange(self.scores.shape[1])
        is_itself = scores.probe_ids[i] == scores.gallery_ids
        is_masked = _is_masked(self.original, i)
        is_excluded = excluded(scores, np.full(len(columns), i), columns)
        is_masked_by_protocol = _is_masked(scores, i)
        reasons: list[Text] = []
        for j in columns.tolist():
            reason: Text = "failed comparison (NaN)"
            if is_itself[j]:
                reason = "the probe itself: a template is never compared with itself"
            elif is_masked[j]:
                reason = "left out by the mask"
            elif is_excluded[j]:
                reason = Enumeration(self._exclusions_between(i, j), ";")
            elif is_masked_by_protocol[j]:
                reason = "left out by the protocol"
            reasons.append(reason)
        return reasons

    def _exclusions_between(self, i: int, j: int) -> list[Text]:
        scores, codes = self.scores, self.scores.codes
        are_mates = codes.probe[i] == codes.gallery[j]
        reasons: list[Text] = []
        for rule in scores.exclusions.rules:
            exclusion = rule.exclusion
            if not (rule.holds(i, j) and (are_mates or exclusion.of_all)):
                continue
            if exclusion is NO_PERSON_TWICE:
                reasons.append("both templates are of no person")
                continue
            text = "same {column:name} ({probe:name})"
            if exclusion.values is not None:
                text = "{column:name} {probe:name} (probe) and {gallery:name} (gallery)"
            elif exclusion.differs:
                text = "different {column:name} ({probe:name} and {gallery:name})"
            if not exclusion.of_all:
                text = f"same subject and {text}"
            column = exclusion.column
            probe, gallery = scores.probe_meta[column][i], scores.gallery_meta[column][j]
            reasons.append(say(text, column=column, probe=plain(probe), gallery=plain(gallery)))
        return reasons

    def _ranked(self, unit: str, entries: list[Entry]) -> RankedList:
        sign = {"pessimistic": 1, "optimistic": -1}.get(self.ties, 0)
        ordered = sorted(
            (entry for entry in entries if entry.role != LEFT_OUT),
            key=lambda entry: (entry.distance, sign * (entry.role == GENUINE), entry.column),
        )
        placed = [replace(entry, place=k) for k, entry in enumerate(ordered, start=1)]
        left_out = [entry for entry in entries if entry.role == LEFT_OUT]
        return RankedList(unit, (*placed, *left_out))


def _fused_from(fused: list[Entry], fusion: str) -> Text:
    """Return in words which scores were fused; empty for a single score."""
    if len(fused) < 2:
        return ""
    method = {"best": "nearest", "worst": "farthest"}.get(fusion, fusion)
    if len(fused) > MOST_LISTED:
        return say("{method} of {number:count templates}", method=method, number=len(fused))
    scores = [
        say("{name}: {score}", name=Label(entry.template), score=Score(float(entry.score or 0.0)))
        for entry in sorted(fused, key=lambda entry: entry.column)
    ]
    return say("{method} of {scores}", method=method, scores=Enumeration(scores, ""))


def _is_masked(scores: Scores, i: int) -> np.ndarray:
    if not scores.has_mask:
        return np.zeros(scores.shape[1], dtype=bool)
    return scores.cells.read_mask(i, i + 1)[0] == Mask.IGNORE
