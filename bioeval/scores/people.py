"""The people of both sides, and the templates of one person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from bioeval.base.errors import ProtocolError, counted
from bioeval.base.messages import Message
from bioeval.scores.codes import Codes, places_of_ids, present
from bioeval.scores.gallery_order import cells_between
from bioeval.scores.image_names import EXAMPLE_PATTERN
from bioeval.scores.labels import without_type

if TYPE_CHECKING:
    from bioeval.scores.score_data import AnyScores, ScoreData


class People:
    """The people of attempts, numbered from 0 in the order of their codes.

    - `number` (int): the number of people; `names` (list): their labels
    - `no_person` (bool (number,)): which of them are distractors or junk, which are counted too
    - `of_code` (int64 (codes,)): the person of each code, -1 for codes without attempts
    """

    def __init__(self, codes: Codes, probe: np.ndarray, claimed: np.ndarray):
        people = np.unique(np.concatenate([probe, claimed]))
        self.number = len(people)
        self.names = codes.values[people].tolist()
        self.no_person = codes.no_person[people]
        self.of_code = np.full(len(codes.values), -1, dtype=np.int64)
        self.of_code[people] = np.arange(len(people))

    def count(self, people: np.ndarray) -> int:
        """Return the number of distinct people, without distractors and junk."""
        return int(np.count_nonzero(~self.no_person[np.unique(people)]))


def knows_people(scores: ScoreData) -> bool:
    """Whether the subjects of all attempts are known."""
    return scores._labelled if scores.layout != "pairs" else scores.pairs.people is not None


def has_subjects(scores: ScoreData) -> bool:
    """Whether a matrix has subjects, by labels or by a consistent mask, for identification."""
    return scores._labelled or scores._mask_is_consistent


def require_people(scores: ScoreData, purpose: str = "", *, method: str | None = None) -> None:
    """Raise :class:`ProtocolError` unless the subjects of all attempts are known.

    The message names the `method` of an interval, or another `purpose`.
    """
    if knows_people(scores):
        return
    instead = ""
    if method is not None:
        purpose = f'`interval="{method}"`'
        wilson = '`interval="wilson"`'
        independent = "pairs" if scores.layout == "pairs" else "attempts"
        instead = f"; or give {wilson} to take all {independent} as independent"
    if scores.layout != "pairs":
        raise ProtocolError(
            f"{purpose} needs the subjects of probes and gallery; a mask does not give the "
            f"subjects of the templates. Give labels{instead}"
        )
    raise ProtocolError(
        f"{purpose} needs the subjects of both sides of each pair: in a file, the columns "
        "subject_a and subject_b (.csv) or the array subjects (.npz), or --subject-from "
        f"'{subject_pattern_of(scores)}' where the names of templates hold them; in Python, "
        f"subjects= to Scores.from_pairs{instead}"
    )


def subject_pattern_of(scores: ScoreData) -> str:
    """Return a pattern that takes the subject from the names of templates, for `subject_from`."""
    return scores.pairs.subject_pattern if scores.layout == "pairs" else EXAMPLE_PATTERN


def marking(
    scores: AnyScores, distractor_ids: Sequence[Any] | None, junk_ids: Sequence[Any] = ()
) -> AnyScores:
    ids = None if distractor_ids is None else tuple(distractor_ids)
    view = scores._with(distractor_ids=ids, junk_ids=tuple(junk_ids))
    if scores._labelled:
        codes = scores.codes.apart(view.no_person_ids, scores.probe_ids, scores.gallery_ids)
        view._set(_codes=codes)
    return view


class LearntFrom(NamedTuple):
    """The fingerprint and the people of scores that a model was fitted to."""

    fingerprint: str
    people: frozenset[Any]  # empty if unknown

    @classmethod
    def from_scores(cls, scores: ScoreData) -> Self:
        subjects = scores.subjects.tolist() if knows_people(scores) else []
        return cls(scores.fingerprint, frozenset(map(without_type, subjects)))

    def people_in(self, judged: ScoreData) -> list[Message]:
        """Return a message if `judged` are the same scores, or have some of the same people."""
        judged_set = self.from_scores(judged)
        if self.fingerprint == judged_set.fingerprint:
            return [Message("people-of-both-sets", who="all attempts")]
        if not (shared := len(self.people & judged_set.people)):
            return []
        share = f"{shared:,} of {counted(len(judged_set.people), 'subjects')}"
        return [Message("people-of-both-sets", who=share)]


def people_of_probes(scores: ScoreData) -> np.ndarray:
    """Return the subject code of each probe; -1 for probes of no person."""
    codes = scores.codes
    return np.where(codes.no_person[codes.probe], -1, codes.probe)


def are_enrolled(scores: ScoreData) -> np.ndarray:
    """Return which probes are of an enrolled person."""
    codes = scores.codes
    return (present(codes.gallery, len(codes.values)) & ~codes.no_person)[codes.probe]


def mate_cells(scores: ScoreData, probes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells of probes and their mates: places in `probes`, and columns."""
    gallery = scores.codes.gallery
    subjects = scores.codes.probe[probes]
    order = np.argsort(gallery, kind="stable")
    start = np.searchsorted(gallery[order], subjects, side="left")
    stop = np.searchsorted(gallery[order], subjects, side="right")
    place, position = cells_between(start, stop)
    column = order[position]
    is_other_template = scores.probe_ids[probes[place]] != scores.gallery_ids[column]
    return place[is_other_template], column[is_other_template]


def comparisons(scores: ScoreData) -> tuple[int, int]:
    """Return the numbers of genuine and impostor comparisons by the labels, without a mask."""
    (probe_count, gallery_count), codes = scores.shape, scores.codes
    probe, gallery = (
        np.bincount(side, minlength=len(codes.values)) for side in (codes.probe, codes.gallery)
    )
    itself = int(np.isin(scores.probe_ids, scores.gallery_ids).sum())
    same = probe * gallery
    nobody = codes.no_person
    genuine = int(same.sum())
    pairs_of_nobody = int(probe[nobody].sum() * gallery[nobody].sum() - same[nobody].sum())
    return genuine - itself, probe_count * gallery_count - genuine - pairs_of_nobody


def columns_of_probes(scores: ScoreData) -> np.ndarray:
    """Return the column of each probe's own template, -1 if the gallery lacks the template."""
    return places_of_ids(scores.probe_ids, scores.gallery_ids)
