"""The people of both sides, the templates of one person, and pairs of people that are compared.

People are numbers here: the code of a label, from 0 to ``len(codes.values) - 1``, is the same for
probes and gallery. Codes of no person (distractors and junk) are among them, and are left out
wherever people are counted as independent. A pair of people is compared if any of their templates
are:

    probe codes 0 0 1, gallery codes 1 2        pairs of people {0, 1}, {0, 2}, {1, 2}
                                                any two share a person: 1 disjoint pair
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import scipy

from bioeval.base.errors import DataError, Message, ProtocolError, counted
from bioeval.base.options import row_spans
from bioeval.kernels.disjoint_units import match_in_order, match_most
from bioeval.scores.attempts import attempted_cells, may_lack_comparisons
from bioeval.scores.codes import Codes, cells_between, present
from bioeval.scores.image_names import EXAMPLE_PATTERN, subject_pattern
from bioeval.scores.labels import no_value, role_of, without_type
from bioeval.scores.same import people_of

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


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


def knows_people(scores: Scores) -> bool:
    """Whether the subjects of all attempts are known."""
    return scores.are_labelled if scores.layout != "pairs" else scores.pairs.people is not None


#: The most people, and the most comparisons, whose limits are quick.
MOST_PEOPLE, MOST_COMPARISONS = 1_000, 10_000_000


def has_quick_limits(scores: Scores) -> bool:
    """Whether intervals by people are quick, so that nobody needs to ask for them."""
    if scores.layout == "top-k" or not knows_people(scores):
        return False
    return len(scores.subjects) <= MOST_PEOPLE and math.prod(scores.shape) <= MOST_COMPARISONS


def has_subjects(scores: Scores) -> bool:
    return scores.are_labelled or scores.sides.mask_is_consistent


def require_people(scores: Scores, purpose: str = "", *, method: str | None = None) -> None:
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


def units_of_people(scores: Scores, column: str | None) -> np.ndarray | None:
    """Return the unit of each code, int64 (codes,): people who share a value of a column.

    If a person has several values, all people of these values are one unit. People without a known
    value are a unit each. None without a column: people are left out one by one.
    """
    if column is None:
        return None
    codes = scores.codes
    sides = [(codes.probe, scores.probe_meta), (codes.gallery, scores.gallery_meta)]
    if not any(column in meta for _, meta in sides):
        columns = sorted({*scores.probe_meta} | {*scores.gallery_meta})
        expected = ", ".join(map(repr, columns)) or "metadata, which these scores lack"
        raise DataError(
            f"`unit` is {column!r}, which is no column of the metadata; expected {expected}"
        )
    # The person and the value of each template with a value, of both sides.
    person: list[int] = []
    values: list[str] = []
    for of_template, meta in sides:
        if column in meta:
            is_known = ~no_value(meta[column], role_of(column))
            person += of_template[is_known].tolist()
            values += meta[column][is_known].astype(str).tolist()
    people = len(codes.values)
    _, value = np.unique(values, return_inverse=True)
    # A graph whose nodes are the people, then the values; an edge joins a person to a value that a
    # template of the person has. A unit is what is connected.
    size = people + int(value.max(initial=-1)) + 1
    edges = person, people + value.astype(np.int64)
    graph = scipy.sparse.csr_array((np.ones(len(person)), edges), shape=(size, size))
    _, unit = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return unit[:people]


def left_out_with(scores: Scores, subjects: np.ndarray, column: str | None) -> np.ndarray:
    """Return the codes by which subjects are left out; negative codes, of no person, stay."""
    units = units_of_people(scores, column)
    return subjects if units is None else np.where(subjects < 0, subjects, units[subjects])


def subject_pattern_of(scores: Scores) -> str:
    """Return a pattern that takes the subject from the names of templates, for `subject_from`."""
    sides = scores.pairs.templates if scores.layout == "pairs" else None
    if sides is None:
        return EXAMPLE_PATTERN
    return subject_pattern(sides.values, (sides.gallery, sides.probe, scores.pairs.genuine))


def marking(
    scores: Scores, distractor_ids: Sequence[Any] | None, junk_ids: Sequence[Any] = ()
) -> Scores:
    ids = None if distractor_ids is None else tuple(distractor_ids)
    view = scores._with(distractor_ids=ids, junk_ids=tuple(junk_ids))
    if scores.are_labelled:
        codes = scores.codes.apart(view.no_person_ids, scores.probe_ids, scores.gallery_ids)
        return view.with_codes(codes)
    return view


def people_of_both_sets(training: Scores, judged: Scores) -> list[Message]:
    """Return a message if scores are judged that a model was fitted to, or some of their people."""
    if training.fingerprint == judged.fingerprint:
        return [Message("people-of-both-sets", who="all attempts")]
    if not (knows_people(training) and knows_people(judged)):
        return []
    # The two sets may come from files that write labels as numbers and as text.
    people = {*map(without_type, training.subjects.tolist())}
    judged_people = {*map(without_type, judged.subjects.tolist())}
    shared = len(people & judged_people)
    if not shared:
        return []
    share = f"{shared:,} of {counted(len(judged_people), 'subjects')}"
    return [Message("people-of-both-sets", who=share)]


def people_of_probes(scores: Scores) -> np.ndarray:
    """Return the subject code of each probe; -1 for probes of no person."""
    return people_of(scores.codes)[0]


def are_enrolled(scores: Scores) -> np.ndarray:
    codes = scores.codes
    return (present(codes.gallery, len(codes.values)) & ~codes.no_person)[codes.probe]


def mate_cells(scores: Scores, probes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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


def comparisons(scores: Scores) -> tuple[int, int]:
    """Return the numbers of genuine and impostor comparisons by the labels, without a mask."""
    probe_count, gallery_count = scores.shape
    codes = scores.codes
    is_nobody = codes.no_person
    # Templates of each person, (people,).
    probe = np.bincount(codes.probe, minlength=len(codes.values))
    gallery = np.bincount(codes.gallery, minlength=len(codes.values))
    genuine_of_person = probe * gallery
    genuine = int(genuine_of_person.sum())
    # A template with itself is no comparison, and is counted as genuine so far.
    themselves = int(np.isin(scores.probe_ids, scores.gallery_ids).sum())
    # Nor is a pair of two templates of no person: whether they are mates is not known.
    of_nobody = int(probe[is_nobody].sum() * gallery[is_nobody].sum())
    of_nobody -= int(genuine_of_person[is_nobody].sum())
    return genuine - themselves, probe_count * gallery_count - genuine - of_nobody


# ---------------------------------------------------------------------------------- compared people


class ComparedPeople(NamedTuple):
    """Numbers of people, and of the pairs of people that are compared; of parts, (parts,)."""

    number: Any  # people on either side
    pairs: Any  # pairs of two people that are compared, each once, whatever their templates
    #: The largest number of these pairs of which no two share a person, which are independent
    #: trials; 0 if it was not counted.
    disjoint: Any = 0

    @classmethod
    def from_sides(cls, probes: int, gallery: int, number: int) -> Self:
        """Count the pairs of all probes with all of the gallery, from the numbers of people."""
        on_both_sides = probes + gallery - number
        # Of people on both sides, the pairs of a person with itself are none, and the pairs of two
        # of them, (a, b) and (b, a), are one.
        pairs = probes * gallery - on_both_sides - on_both_sides * (on_both_sides - 1) // 2
        return cls(number, pairs, min(probes, gallery, number // 2))

    @classmethod
    def from_scores(cls, scores: Scores, *, disjoint: bool = False) -> Self | None:
        """Count the pairs of people with an attempt, perhaps disjoint ones; None if unknown."""
        if not knows_people(scores):
            return None
        codes = scores.codes
        if scores.layout == "pairs":
            return cls.from_list(codes, codes.probe, codes.gallery, disjoint=disjoint)
        probe, gallery = codes.people(codes.probe), codes.people(codes.gallery)
        number = len(np.union1d(probe, gallery))
        pairs = None if scores.layout == "top-k" else pairs_in_cells(scores)
        if pairs is None:
            return cls.from_sides(len(probe), len(gallery), number)
        return cls._of_pairs(number, pairs, len(codes.values), disjoint)

    @classmethod
    def from_list(
        cls, codes: Codes, probe: np.ndarray, claimed: np.ndarray, *, disjoint: bool = False
    ) -> Self:
        """Count the pairs of people of listed attempts, given by the codes of both sides."""
        number = len(codes.people(probe, claimed))
        if codes.no_person.any():
            people = ~(codes.no_person[probe] | codes.no_person[claimed])
            probe, claimed = probe[people], claimed[people]
        pairs = distinct_pairs(probe, claimed, len(codes.values))
        return cls._of_pairs(number, pairs, len(codes.values), disjoint)

    @classmethod
    def _of_pairs(cls, number: int, pairs: np.ndarray, codes: int, disjoint: bool) -> Self:
        """Count distinct pairs of codes, (2, pairs), which are below `codes`."""
        if not disjoint:
            return cls(number, pairs.shape[1])
        partner = mates_among(pairs[0], pairs[1], codes)
        return cls(number, pairs.shape[1], int((partner >= 0).sum()) // 2)


# ------------------------------------------------------------------------- disjoint pairs of people


# Pairs that are sorted together: few, so that temporary arrays stay small, or as many as there are
# distinct pairs so far, so that the sorted pairs are not sorted again for each few new ones.
_PAIRS_AT_ONCE = 1 << 17


def distinct_pairs(probe_person: np.ndarray, claimed_person: np.ndarray, people: int) -> np.ndarray:
    """Return the pairs of two subjects among some pairs, each once in either order, (2, pairs)."""
    keys = np.empty(0, dtype=np.int64)  # of the distinct pairs so far: low * people + high, sorted
    end = 0
    while end < len(probe_person):
        begin, end = end, end + max(_PAIRS_AT_ONCE, len(keys))
        probe, claimed = probe_person[begin:end], claimed_person[begin:end]
        low, high = np.minimum(probe, claimed), np.maximum(probe, claimed)
        keys = np.concatenate([keys, (low.astype(np.int64) * people + high)[low != high]])
        keys.sort()  # several times faster than np.unique
        keys = keys[np.diff(keys, prepend=-1) > 0]
    return np.stack([keys // max(people, 1), keys % max(people, 1)])


def pairs_in_cells(scores: Scores) -> np.ndarray | None:
    """Return the pairs of subjects that a matrix compares, in the form of :func:`distinct_pairs`.

    None if all pairs are compared. The matrix is read only if a mask, an exclusion or a failure
    that is no attempt may leave out comparisons.
    """
    if not may_lack_comparisons(scores):
        return None
    codes, (probe_count, gallery_count) = scores.codes, scores.shape
    columns = np.flatnonzero(~codes.no_person[codes.gallery])
    columns = columns[np.argsort(codes.gallery[columns], kind="stable")]  # subject by subject
    subject, starts = np.unique(codes.gallery[columns], return_index=True)
    if not len(columns):
        return None  # nobody could be compared
    number = len(codes.values)
    all_compared = True
    # The distinct pairs so far, and the pairs of blocks since then, which are joined once they are
    # many.
    distinct = np.empty((2, 0), dtype=np.int64)
    waiting: list[np.ndarray] = []
    for low, high in row_spans(probe_count, gallery_count, 1 << 22):
        is_attempt = attempted_cells(scores, low, high)[:, columns]
        is_compared = np.logical_or.reduceat(is_attempt, starts, axis=1)  # (rows, subjects)
        probe = codes.probe[low:high]
        is_other_person = ~codes.no_person[probe][:, None] & (probe[:, None] != subject)
        all_compared &= bool((is_compared | ~is_other_person).all())
        row, place = np.nonzero(is_compared & is_other_person)
        waiting.append(distinct_pairs(probe[row], subject[place], number))
        if sum(pairs.shape[1] for pairs in waiting) > max(_PAIRS_AT_ONCE, distinct.shape[1]):
            probe_person, claimed_person = np.concatenate([distinct, *waiting], axis=1)
            distinct, waiting = distinct_pairs(probe_person, claimed_person, number), []
    if all_compared:
        return None
    probe_person, claimed_person = np.concatenate([distinct, *waiting], axis=1)
    return distinct_pairs(probe_person, claimed_person, number)


def mates_among(probe_person: np.ndarray, claimed_person: np.ndarray, people: int) -> np.ndarray:
    """Return each subject's partner, or -1, in the largest number of disjoint pairs.

    The subjects are those of each possible pair; pairs of a subject with itself are left out.
    """
    pairs = distinct_pairs(probe_person, claimed_person, people)
    degree = np.bincount(pairs.ravel(), minlength=people)
    mate = np.full(people, -1, dtype=np.int64)
    # A greedy choice, with subjects that have few partners first, is nearly always the best.
    person, partner = pairs[:, np.argsort(degree[pairs].min(axis=0, initial=people))]
    match_in_order(person, partner, mate)
    # If at most one person is left, no choice is better.
    if (mate >= 0).sum() < (degree > 0).sum() - 1:
        # The partners of each person side by side, and where those of each begin.
        directed = np.concatenate([pairs, pairs[::-1]], axis=1)
        neighbour = directed[1, np.argsort(directed[0], kind="stable")]
        match_most(np.append(0, np.cumsum(degree)), neighbour, mate)
    return mate
