"""The attempts and searches of many parts of scores, whose points are then found together.

A part has some rows and some columns of a matrix: the part ``([0, 2], [1])`` of a matrix (3, 2)
has the cells (0, 1) and (2, 1). Thousands of parts, such as repeated draws of templates, share
their scores. Then the matrix is sorted once, and each part is a mask of its rows and columns
(:class:`MaskedParts`). Other parts are selected and counted one by one (:class:`SelectedParts`).
Both have the same methods; :func:`masks_pay` says which take less time. :class:`SearchedParts` are
the searches of either.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.kinds import Layout
from bioeval.counting.operating_points import Attempts, AttemptsOfParts, RankedAttempts
from bioeval.counting.searches import Role, Searches, Searching, role_of
from bioeval.counting.sorted_matrix import (
    MOST_CELLS,
    MOST_TEMPLATES,
    SortedCells,
    SortedClasses,
    SortedMatrix,
)
from bioeval.counting.sorted_scores import SortedScores
from bioeval.counting.threshold_rules import PointsWanted
from bioeval.counting.ties import tied_ahead
from bioeval.counting.verification import Use, count_searches, to_verify
from bioeval.protocol.tasks import ImpostorProbes, Search, Ties
from bioeval.scores.distances import scored
from bioeval.scores.matrix import Scores
from bioeval.scores.people import ComparedPeople, knows_people
from bioeval.scores.provenance import Provenance
from bioeval.scores.rows import stated_memory_limit
from bioeval.scores.sampled import is_symmetric, sampled_numbers

#: The rows and the columns of a part, increasing.
PartTemplates = tuple[np.ndarray, np.ndarray]


#: The most cells of parts that are counted together.
CELLS_TOGETHER = 1 << 19

#: A part is never counted as smaller than the matrix divided by this number, because memory for all
#: attempts of the matrix is reserved for it.
SMALLEST_SHARE = 64


#: Sorting a matrix pays if its parts have each of its scores more often than this, on average, ...
OFTEN = 64
#: ... and more scores in all than are selected while the compiled loops of masks are loaded.
LOADED = 1 << 24


def masks_pay(scores: Scores, places: Iterable[PartTemplates]) -> bool:
    """Whether sorting a matrix once takes less time than selecting its parts at `places`.

    A matrix that is sorted is in memory, has labels, and is not too large.
    """
    size = math.prod(scores.shape)
    cells = sum(len(rows) * len(columns) for rows, columns in places)
    if cells <= max(OFTEN * size, LOADED):
        return False
    if scores.layout in ("pairs", "top-k") or not knows_people(scores) or scores.kind == "order":
        return False
    has_small_numbers = max(*scores.shape, len(scores.codes.values)) <= MOST_TEMPLATES
    fits = size <= MOST_CELLS and stated_memory_limit(scores) is None
    return has_small_numbers and fits and isinstance(scores.cells.source, np.ndarray)


def batches(shape: tuple[int, ...], parts: Iterable[PartTemplates]) -> Iterator[slice]:
    """Yield slices of `parts` of a matrix: runs of parts that are counted together."""
    height, width = shape
    fewest_cells = max(height * width // SMALLEST_SHARE, height + width)
    first = 0
    end = 0
    cells_together = 0
    for end, (rows, columns) in enumerate(parts, 1):
        cells = max(len(rows) * len(columns), fewest_cells)
        if cells_together and cells_together + cells > CELLS_TOGETHER:
            yield slice(first, end - 1)
            first = end - 1
            cells_together = 0
        cells_together += cells
    yield slice(first, end)


NO_ATTEMPTS = Attempts.from_scores(np.empty(0), np.empty(0))


class PeopleOfParts(NamedTuple):
    """Numbers of people in parts, int64 (parts,)."""

    probing: np.ndarray
    enrolled: np.ndarray
    both: np.ndarray  # probing and enrolled
    every: np.ndarray  # probing or enrolled


#: Values that are picked for parts, part after part, int64 (k,), and their number (parts,).
ValuesOfParts = tuple[np.ndarray, np.ndarray]


class MaskedParts:
    """Some parts of a sorted matrix: their people, attempts, claims and searches.

    All parts are counted in one pass over the sorted cells of the matrix, without sorting again:
    a cell is an attempt of a part if its row and its column are in the part.

    - `rows`, `columns` (int8 (parts, m), (parts, n)): 1 for templates in the part

    A code is the index of a distance among the distinct distances of the matrix. A key is ``part *
    (number of codes) + code``: keys are in the order of the parts, then of the distances.
    """

    def __init__(self, matrix: SortedMatrix, places: Sequence[PartTemplates]):
        self.matrix = matrix
        height, width = matrix.attempts.shape
        self.rows = np.zeros((len(places), height), dtype=np.int8)
        self.columns = np.zeros((len(places), width), dtype=np.int8)
        for part, (rows, columns) in enumerate(places):
            self.rows[part, rows] = 1
            self.columns[part, columns] = 1

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def are_same(self) -> np.ndarray:
        """Whether the probes of each part are its gallery, bool (parts,)."""
        own = self.matrix.own_column
        if self.rows.shape != self.columns.shape or not np.array_equal(own, np.arange(len(own))):
            return np.zeros(len(self), dtype=bool)
        return (self.rows == self.columns).all(axis=1)

    @cached_property
    def are_square(self) -> np.ndarray:
        """Whether every probe of each part is in its gallery, bool (parts,)."""
        own = self.matrix.own_column
        # (parts, m); a probe outside the gallery has own = -1: its last column is not used.
        is_own = (own >= 0) & (self.columns[:, own] == 1)
        return (is_own | (self.rows == 0)).all(axis=1)

    @cached_property
    def probing(self) -> np.ndarray:
        """The number of probes of each person, int32 (parts, people)."""
        return _number_of_each(self.rows, self.matrix.probe, self.matrix.people)

    @cached_property
    def enrolled(self) -> np.ndarray:
        """The number of gallery templates of each person, int32 (parts, people)."""
        return _number_of_each(self.columns, self.matrix.gallery, self.matrix.people)

    @cached_property
    def people(self) -> PeopleOfParts:
        """How many people probe and are enrolled in each part."""
        # Both bool (parts, people), without distractors and junk.
        probing = self.probing[:, self.matrix.is_person] > 0
        enrolled = self.enrolled[:, self.matrix.is_person] > 0
        return PeopleOfParts(
            probing=probing.sum(axis=1),
            enrolled=enrolled.sum(axis=1),
            both=(probing & enrolled).sum(axis=1),
            every=(probing | enrolled).sum(axis=1),
        )

    @property
    def gallery_templates(self) -> np.ndarray:
        """The number of templates in each gallery, int64 (parts,)."""
        return self.columns.sum(axis=1, dtype=np.int64)

    @property
    def gallery_subjects(self) -> np.ndarray:
        """The number of codes in each gallery that is searched, int64 (parts,)."""
        return np.count_nonzero(self.enrolled, axis=1) * self.rows.any(axis=1)

    @cached_property
    def are_symmetric(self) -> np.ndarray:
        """Which parts have the same scores in both directions, judged by a few templates."""
        are_symmetric = self.are_same & (self.rows.sum(axis=1) > 1)
        if not are_symmetric.any():
            return are_symmetric
        differs = self.matrix.differs_across_diagonal
        if not differs.any():
            return are_symmetric
        for part in np.flatnonzero(are_symmetric).tolist():
            templates = np.flatnonzero(self.rows[part])
            sample = templates[sampled_numbers(len(templates))]
            are_symmetric[part] = not differs[np.ix_(sample, sample)].any()
        return are_symmetric

    @cached_property
    def compared(self) -> ComparedPeople:
        """The people and their pairs that are compared, (parts,) each."""
        people = self.people
        # If all are compared, the numbers of people decide the numbers of pairs.
        pairs = people.probing * people.enrolled - people.both
        pairs -= people.both * (people.both - 1) // 2
        disjoint = np.minimum(np.minimum(people.probing, people.enrolled), people.every // 2)
        absent = self.matrix.absent
        if absent is not None:
            # (parts,): the absent comparisons of each part; parts that have some are counted.
            absent_by_column = self.rows.astype(np.float32) @ absent
            absent_in_part = (absent_by_column * self.columns.astype(np.float32)).sum(axis=1)
            for part in np.flatnonzero(absent_in_part).tolist():
                rows = np.flatnonzero(self.rows[part])
                columns = np.flatnonzero(self.columns[part])
                compared = ComparedPeople.from_scores(
                    self.matrix.scores.select(rows, columns), disjoint=True
                )
                assert compared is not None
                pairs[part] = compared.pairs
                disjoint[part] = compared.disjoint
        return ComparedPeople(people.every, pairs, disjoint)

    # -- attempts

    #: Whether all attempts are listed, whatever points are wanted.
    listed = True

    def attempts(
        self, fusion: str | None = None, wanted: PointsWanted | None = None
    ) -> tuple[AttemptsOfParts, int]:
        """Return the attempts of verification, and how often each of them counts.

        Attempts are comparisons of templates, which count twice if a pair of templates has the same
        score either way; or claims of the probes, fused by a rule of distances.
        """
        matrix = self.matrix
        if fusion is None:
            if matrix.is_mirrored and self.are_same.all():
                return self._attempts_within(matrix.upper, self.columns, times=2), 2
            return self._attempts_within(matrix.templates, self.columns), 1
        templates = np.bincount(matrix.gallery, minlength=matrix.people)
        if ((self.enrolled == 0) | (self.enrolled == templates)).all():
            # All parts have all templates of their people: claims of the whole gallery.
            is_claimed = self.enrolled[:, matrix.claimed] > 0
            return self._attempts_within(matrix.claims(fusion), is_claimed.astype(np.int8)), 1
        if fusion in ("best", "worst"):
            return self._at_one_template(matrix.templates, farthest=fusion == "worst"), 1
        return self._fused(fusion), 1

    def _attempts_within(
        self, classes: SortedClasses, columns: np.ndarray, times: int = 1
    ) -> AttemptsOfParts:
        """Return the attempts of each part; `columns` is the mask of targets, (parts, targets)."""
        codes = len(classes.distances)
        genuine = self._pick(classes.genuine, columns, classes.genuine.code, codes)
        impostor = self._pick(classes.impostor, columns, classes.impostor.code, codes)
        return self._attempts_of_keys(genuine, impostor, classes.distances, times)

    def _pick(
        self, cells: SortedCells, columns: np.ndarray, value: np.ndarray, step: int
    ) -> ValuesOfParts:
        """Return ``part * step + value`` for the cells in each part."""
        from bioeval.kernels.partitions import pick_attempts

        picked = np.empty(len(self) * len(cells.row) + 1, dtype=np.int64)
        sizes = np.empty(len(self), dtype=np.int64)
        pick_attempts(cells.row, cells.target, value, step, self.rows, columns, picked, sizes)
        return picked[: sizes.sum()], sizes

    def _attempts_of_keys(
        self, genuine: ValuesOfParts, impostor: ValuesOfParts, distances: np.ndarray, times: int = 1
    ) -> AttemptsOfParts:
        """Return attempts from the keys ``part * len(distances) + code`` of both classes."""
        genuine_scores, missed = self._scores_of_keys(*genuine, distances, times)
        impostor_scores, missed_impostors = self._scores_of_keys(*impostor, distances, times)
        return AttemptsOfParts(genuine_scores, impostor_scores, missed, missed_impostors)

    def _scores_of_keys(
        self, keys: np.ndarray, sizes: np.ndarray, distances: np.ndarray, times: int
    ) -> tuple[SortedScores, np.ndarray]:
        """Return the scores of parts, and how many attempts of each part failed, (parts,)."""
        failed = np.zeros(len(self), dtype=np.int64)
        if self.matrix.rejected:
            # Failures have the largest code: they are at the end of each part.
            failed_code = len(distances) - 1
            failed_keys = np.arange(len(self)) * len(distances) + failed_code
            failed = np.cumsum(sizes) - keys.searchsorted(failed_keys)
            keys = keys[keys % len(distances) != failed_code]
        starts = np.append(0, np.cumsum(sizes - failed))
        return SortedScores(keys, starts, distances, times=times), failed

    def _at_one_template(self, classes: SortedClasses, *, farthest: bool) -> AttemptsOfParts:
        """Return claims at the nearest, or `farthest`, of the claimed person's templates."""
        codes = len(classes.distances)
        genuine = self._keys_at_one_template(classes.genuine, codes, farthest=farthest)
        impostor = self._keys_at_one_template(classes.impostor, codes, farthest=farthest)
        return self._attempts_of_keys(genuine, impostor, classes.distances)

    def _keys_at_one_template(
        self, cells: SortedCells, codes: int, *, farthest: bool
    ) -> ValuesOfParts:
        """Return the key of the first attempt of each claim, from near to far or from far to near.

        The keys are increasing, and with them are the numbers of claims, (parts,).
        """
        from bioeval.kernels.partitions import first_of_claims

        matrix = self.matrix
        if farthest:
            cells = cells.backwards()
        positions = np.arange(len(cells.row), dtype=np.int32)
        # With a step of 0, the positions alone are picked.
        picked, sizes = self._pick(cells, self.columns, positions, step=0)
        # (cells,): the claim of each cell is the pair of its probe and the claimed person.
        claimed = matrix.claimed.searchsorted(matrix.gallery).astype(np.int32)
        claim = cells.row * np.int32(len(matrix.claimed)) + claimed[cells.target]
        last_part_of_claim = np.zeros(len(matrix.probe) * len(matrix.claimed), dtype=np.int32)
        first = np.empty(len(picked) + 1, np.int64)
        claims = np.empty_like(sizes)
        first_of_claims(picked, sizes, claim, last_part_of_claim, first, claims)
        code = cells.code[first[: claims.sum()]]
        keys = np.repeat(np.arange(len(self)) * codes, claims) + code
        return np.sort(keys) if farthest else keys, claims

    def _fused(self, fusion: str) -> AttemptsOfParts:
        """Return the claims of each part, which are fused, and sorted, part by part."""
        matrix = self.matrix
        genuine: list[np.ndarray] = []
        impostor: list[np.ndarray] = []
        missed = np.zeros((2, len(self)), dtype=np.int64)  # genuine and impostor claims
        by_person = np.argsort(matrix.gallery, kind="stable")
        for part in range(len(self)):
            rows = np.flatnonzero(self.rows[part])
            # The columns of the part, the templates of each person side by side.
            columns = by_person[self.columns[part, by_person] == 1]
            people, starts = np.unique(matrix.gallery[columns], return_index=True)
            claims = matrix.fused(columns, np.append(starts, len(columns)), fusion, rows)
            is_genuine = matrix.probe[rows, None] == people  # (rows, people), as the claims
            for k, is_of_class in enumerate((is_genuine, ~is_genuine)):
                distances = np.sort(claims[is_of_class & ~np.isnan(claims)])
                if matrix.rejected:
                    scores = int(distances.searchsorted(np.inf))
                    missed[k, part] = len(distances) - scores
                    distances = scored(distances[:scores])
                (genuine, impostor)[k].append(distances.astype(np.float64))
        return AttemptsOfParts.of_lists(genuine, impostor, *missed)

    # -- searches

    def searches(self, task: Search) -> SearchedParts:
        """Search the gallery of each part with all of the part's probes; rank templates.

        Ties may be treated by any policy but ``"expected"``, under which ranks are not unique.
        """
        from bioeval.kernels.partitions import rank_in_parts

        matrix = self.matrix
        ranked = np.full((5, *self.rows.shape), -1, dtype=np.int32)  # see `rank_in_parts`
        rank_in_parts(matrix.mates, matrix.non_mates, self.rows, self.columns, ranked)
        part, probe = np.nonzero(self.rows)
        best, closer, tied, before, nearest = ranked[:, part, probe]
        person = matrix.probe[probe]
        is_of_person = matrix.is_person[person]
        return SearchedParts(
            people=self.people,
            part=part,
            of_people=is_of_person,
            is_enrolled=(self.enrolled[part, person] > 0) & is_of_person,
            best=best,
            rank=1 + closer + tied_ahead(task.ties, tied, before),
            tied=tied,
            nearest=nearest,
            distances=matrix.templates.distances,
            rejected=matrix.rejected,
        )

    def most_candidates(self) -> np.ndarray:
        """Return the largest number of candidates of a probe in each part, (parts,)."""
        matrix = self.matrix
        if matrix.is_complete:
            own = matrix.own_column
            has_own = (own >= 0) & (self.columns[:, own] == 1)
            lacks_own = ((self.rows == 1) & ~has_own).any(axis=1)
            return self.columns.sum(axis=1, dtype=np.int64) - ~lacks_own
        is_attempt = (~np.isnan(matrix.attempts)).astype(np.float32)  # whole numbers below 2^24
        # (parts, m): the attempts of each probe within the gallery of each part.
        candidates = self.columns.astype(np.float32) @ is_attempt.T
        return (candidates * self.rows).max(axis=1).astype(np.int64)


class SelectedParts:
    """Some parts of scores that are counted one by one; None is a part without comparisons.

    If it is not a single part, its attempts must be few enough to be listed.
    """

    def __init__(
        self,
        scores: Sequence[Scores | None],
        about: Provenance | None = None,
        claims: Sequence[Any] | None = None,
    ):
        """Take the parts, the provenance of all scores, and the claims drawn for each part."""
        self.scores = scores
        self.about = about
        self.claims = [None] * len(scores) if claims is None else claims
        self._attempts: dict[str | None, list[Attempts]] = {}
        self._searches: dict[tuple[str, str], list[Searches | None]] = {}
        #: By fusion rule, the scores of drawn claims by probes of each part who are not enrolled.
        self.unenrolled: dict[str | None, list[np.ndarray]] = {}
        self.are_square = np.array(
            [x is not None and x.layout == "all-against-all" for x in scores]
        )
        self.gallery_templates = np.array([0 if x is None else x.shape[-1] for x in scores])

    def count(
        self,
        fusions: Sequence[str | None] = (),
        tasks: Iterable[Search] = (),
        wanted: PointsWanted | None = None,
    ) -> None:
        """Count the attempts by some rules of fusion, and some searches, each part in one pass."""
        parts = len(self.scores)
        tasks_by_key = {(task.rank_unit, task.fusion): task for task in tasks}
        for fusion in fusions:
            self._attempts[fusion] = [NO_ATTEMPTS] * parts
            self.unenrolled[fusion] = [np.empty(0)] * parts
        for key in tasks_by_key:
            self._searches[key] = [None] * parts
        for part, (scores, claims) in enumerate(zip(self.scores, self.claims, strict=True)):
            if scores is None:
                continue
            verifying = []
            for fusion in fusions:
                use = Use("multi", fusion) if fusion else Use()
                verifying.append(
                    to_verify(scores, use, wanted=wanted, claims=claims, about=self.about)
                )
            searching = {
                key: Searching(scores, task, self.about) for key, task in tasks_by_key.items()
            }
            verified_of_part, all_searches = count_searches(scores, verifying, searching)
            for key, searches in all_searches.items():
                self._searches[key][part] = searches
            for fusion, verified in zip(fusions, verified_of_part, strict=True):
                self._attempts[fusion][part] = verified.attempts
                if verified.unenrolled is not None:
                    self.unenrolled[fusion][part] = verified.unenrolled

    @cached_property
    def people(self) -> PeopleOfParts:
        """How many people probe and are enrolled in each part."""
        sides = np.zeros((4, len(self.scores)), dtype=np.int64)
        for part, scores in enumerate(self.scores):
            if scores is not None:
                codes = scores.codes
                probing = codes.people(codes.probe)
                enrolled = codes.people(codes.gallery)
                both = np.intersect1d(probing, enrolled, assume_unique=True)
                every = len(probing) + len(enrolled) - len(both)
                sides[:, part] = len(probing), len(enrolled), len(both), every
        return PeopleOfParts(*sides)

    @property
    def gallery_subjects(self) -> np.ndarray:
        """The number of codes in each gallery that is searched, int64 (parts,)."""
        return np.array([0 if x is None else len(x.gallery_order.subjects) for x in self.scores])

    def attempts(
        self, fusion: str | None = None, wanted: PointsWanted | None = None
    ) -> tuple[AttemptsOfParts, int]:
        """Return the attempts of verification; of a large part, `wanted` points are exact."""
        if fusion not in self._attempts or not self.listed:
            self.count([fusion], wanted=wanted)
        attempts = self._attempts[fusion]
        if len(attempts) == 1:
            return attempts[0].points, 1
        of_parts = AttemptsOfParts.of_lists(
            [x.genuine for x in attempts],
            [x.impostor.keys for x in attempts],
            np.array([x.missed for x in attempts]),
            np.array([x.missed_impostors for x in attempts]),
        )
        return of_parts, 1

    @property
    def listed(self) -> bool:
        """Whether all attempts that were counted are listed."""
        return all(x.listed for attempts in self._attempts.values() for x in attempts)

    def searches(self, task: Search) -> SearchedParts:
        """Search the gallery of each part with all of the part's probes."""
        key = task.rank_unit, task.fusion
        if key not in self._searches:
            self.count(tasks=[task])
        return SearchedParts.of_searches(self._searches[key], task.ties, self.people)

    # -- parts that all have comparisons, of people

    @cached_property
    def are_symmetric(self) -> np.ndarray:
        """Which parts have the same scores in both directions, judged by a few templates."""
        return np.array([x is not None and is_symmetric(x) for x in self.scores])

    @cached_property
    def compared(self) -> ComparedPeople:
        """The people and their pairs that are compared, (parts,) each."""
        numbers = np.zeros((2, len(self.scores)), dtype=np.int64)
        for part, scores in enumerate(self.scores):
            assert scores is not None
            counted = ComparedPeople.from_scores(scores, disjoint=True)
            assert counted is not None
            numbers[:, part] = counted.pairs, counted.disjoint
        return ComparedPeople(self.people.every, *numbers)

    def most_candidates(self) -> np.ndarray:
        """Return the largest number of candidates of a probe in each part, (parts,)."""
        of_parts, *_ = self._searches.values()
        return np.array([0 if x is None else (x.mates + x.others).max() for x in of_parts])


#: Parts with their attempts and searches.
PartsOfScores = MaskedParts | SelectedParts


@dataclass(frozen=True)
class SearchedParts:
    """The search of each probe of some parts, the probes of a part side by side.

    The arrays from `part` to `nearest` are (searches,).
    """

    people: PeopleOfParts
    part: np.ndarray  # index of the part
    of_people: np.ndarray  # whether the probe is of a person
    is_enrolled: np.ndarray  # whether the probe is of a person in the gallery of the part
    best: np.ndarray  # code of the distance of the best mate; -1 without a mate
    rank: np.ndarray  # rank of the best mate
    tied: np.ndarray  # other candidates exactly as close as the best mate
    nearest: np.ndarray  # code of the distance of the nearest other candidate; -1 without any
    distances: np.ndarray  # the distance of each code, (codes,)
    rejected: bool  # whether the last code is of failed searches, which have no distance

    @classmethod
    def of_searches(
        cls, searches: Sequence[Searches | None], ties: Ties, people: PeopleOfParts
    ) -> SearchedParts:
        """Return the searches of parts that were searched one by one; None is a part without."""
        sizes = [0 if x is None else len(x.mate) for x in searches]

        def joined(name: str) -> np.ndarray:
            """Return an array of all searches, part after part."""
            arrays = [getattr(x, name) for x in searches if x is not None]
            return np.concatenate([np.empty(0, np.int64), *arrays])

        mate = joined("mate")
        other = joined("other")
        tied = joined("tied")
        # Failed searches have the code of NaN, the last.
        distances = np.unique(np.concatenate([mate, other, [np.nan]]))
        return cls(
            people=people,
            part=np.repeat(np.arange(len(sizes)), sizes),
            of_people=joined("of_people").astype(bool),
            is_enrolled=joined("enrolled").astype(bool),
            best=np.where(joined("mates") > 0, distances.searchsorted(mate), -1),
            rank=1 + joined("closer") + tied_ahead(ties, tied, joined("tied_before")),
            tied=tied,
            nearest=np.where(joined("others") > 0, distances.searchsorted(other), -1),
            distances=distances,
            rejected=True,
        )

    @property
    def parts(self) -> int:
        """The number of parts."""
        return len(self.people.probing)

    @property
    def is_mated(self) -> np.ndarray:
        """Which probes have a mate to find."""
        return self.best >= 0

    def number(self, flags: np.ndarray) -> np.ndarray:
        """Return how many probes of each part are flagged, (parts,)."""
        return np.bincount(self.part[flags], minlength=self.parts)

    def roles(self, layout: Layout, impostors: ImpostorProbes) -> list[Role]:
        """Return which probes of each part are impostors; all parts have a layout."""
        all_enrolled = self.number(~self.is_enrolled) == 0
        return [role_of(layout, impostors, every) for every in all_enrolled.tolist()]

    def impostors(self, roles: Sequence[str]) -> np.ndarray:
        """Return which probes make an impostor attempt: of their part's role, with a non-mate."""
        role = np.array(roles)[self.part]
        is_of_role = (role == "both") | (self.is_enrolled == (role == "leave-subject-out"))
        return is_of_role & (self.nearest >= 0)

    def searching_people(self, roles: Sequence[str]) -> np.ndarray:
        """Return how many people are impostors, by the role of their part, (parts,)."""
        people = self.people
        conditions = [np.array(roles) == x for x in ("unenrolled", "leave-subject-out")]
        return np.select(conditions, [people.probing - people.both, people.both], people.probing)

    def found(
        self, ranks: np.ndarray, thresholds: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return how many mates are at each rank, and at the rank or before it, (parts, ranks).

        They are the mates that the threshold of their part (parts,) accepts, none at NaN; without
        thresholds, all that did not fail.
        """
        distances = np.append(self.distances, np.nan)  # without a mate
        limits = np.inf if thresholds is None else thresholds[self.part]
        is_accepted = distances[self.best] <= limits
        at_rank = [self.number(is_accepted & (self.rank == k)) for k in ranks.tolist()]
        up_to_rank = [self.number(is_accepted & (self.rank <= k)) for k in ranks.tolist()]
        return np.stack(at_rank, axis=1), np.stack(up_to_rank, axis=1)

    def attempts(self, impostors: np.ndarray) -> RankedAttempts:
        """Return the attempts of open-set identification; `impostors` flags impostor probes."""
        mates, places = self._sorted_scores(self.best, self.is_mated)
        impostor, _ = self._sorted_scores(self.nearest, impostors)
        sizes = self.number(self.is_mated), self.number(impostors)
        return RankedAttempts(mates, self.rank[places], impostor, *sizes)

    def _sorted_scores(
        self, codes: np.ndarray, probes: np.ndarray
    ) -> tuple[SortedScores, np.ndarray]:
        distances = self.distances
        index = np.flatnonzero(probes & (codes < len(distances) - self.rejected))
        keys = self.part[index] * len(distances) + codes[index]  # keys as in SortedScores
        order = np.argsort(keys)
        return SortedScores.of_keys(keys[order], distances, self.parts), index[order]


def _number_of_each(mask: np.ndarray, person: np.ndarray, people: int) -> np.ndarray:
    """Return how many templates of each person a mask (parts, templates) has, (parts, people)."""
    # Templates of a person are put side by side for reduceat.
    order = np.argsort(person, kind="stable")
    codes, first = np.unique(person[order], return_index=True)
    numbers = np.zeros((len(mask), people), dtype=np.int32)
    numbers[:, codes] = np.add.reduceat(mask[:, order], first, axis=1, dtype=np.int32)
    return numbers
