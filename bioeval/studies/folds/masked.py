"""The numbers of many folds of a matrix that is sorted once; see ``counting/masks.py``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.kinds import Kind
from bioeval.base.progress import Tell
from bioeval.counting.masks import MaskedParts, SearchedParts, batches, masks_pay
from bioeval.counting.sorted_matrix import SortedClasses, SortedMatrix, may_be_sorted
from bioeval.counting.threshold_rules import Rule, choose_of_parts
from bioeval.scores.matrix import Scores
from bioeval.studies.folds.options import Detected, FoldOptions, Numbers, judged
from bioeval.studies.folds.splits import IndexSet, Split, SplitPlan, SplitSides

#: The parts of a fold: training and test.
Both = tuple[MaskedParts, MaskedParts]


class MaskedFolds:
    """Folds of a sorted matrix; training and test parts are masks of its rows and columns."""

    def __init__(self, matrix: SortedMatrix, plan: SplitPlan, sides: SplitSides, kind: Kind):
        self.matrix, self.sides, self.kind = matrix, sides, kind
        self.splits = [*plan.splits.values()]
        self._claims: dict[str, SortedClasses] = {}

    @classmethod
    def from_scores(cls, scores: Scores, plan: SplitPlan, sides: SplitSides) -> MaskedFolds | None:
        """Return the folds of scores; None if selecting every part is cheaper."""
        if not may_be_sorted(scores):
            return None
        rows, columns = scores.shape
        parts = [part for split in plan.splits.values() for part in (split.train, split.test)]
        cells = sum(len(part.probes) * len(part.gallery) for part in parts)
        # Without masks, both parts of a fold would be read together, as fast as one selected part.
        if not masks_pay(rows * columns, len(plan.splits), cells):
            return None
        try:
            return cls(SortedMatrix.from_scores(scores), plan, sides, scores.kind)
        except DataError:  # a part may be without this fault, or raises the error itself
            return None

    def numbers(self, options: FoldOptions, tell: Tell) -> Numbers:
        """Return the numbers of a task in every split."""
        counted: list[Numbers] = []
        rule = options.rule.as_distance(self.kind)
        for batch in batches(self.matrix, (train for train, _ in self._indices)):
            train, test = zip(*self._indices[batch], strict=True)
            parts = MaskedParts(self.matrix, train), MaskedParts(self.matrix, test)
            if options.task == "verification":
                numbers = self._verification(parts, options, rule)
            else:
                numbers = self._identification(parts, options, rule)
            counted.append(numbers | self._number_of_subjects(parts, self.splits[batch]))
            tell(batch.stop, len(self.splits))
        return {name: np.concatenate([x[name] for x in counted]) for name in counted[0]}

    @cached_property
    def _indices(self) -> list[tuple[IndexSet, IndexSet]]:
        indices = self.sides.indices
        return [(indices(split.train), indices(split.test)) for split in self.splits]

    def _verification(self, parts: Both, options: FoldOptions, rule: Rule) -> Numbers:
        fusion = options.fused(self.kind)
        if fusion is None:
            attempts = [x.attempts() for x in parts]
            times = [x.times for x in parts]
        else:
            if fusion not in self._claims:
                self._claims[fusion] = self.matrix.claims(fusion)
            attempts = [x.claims(fusion, self._claims[fusion]) for x in parts]
            times = [1, 1]
        numbers = judged(choose_of_parts(rule, attempts[0]), attempts, times)
        if options.far_targets is None:
            return numbers
        return numbers | options.points(attempts[1])

    def _identification(self, parts: Both, options: FoldOptions, rule: Rule) -> Numbers:
        searches = [x.searches(options.search.ties) for x in parts]
        if options.task == "closed_set":
            numbers = self._closed_set(searches, options)
        else:
            numbers = self._open_set(searches, options, rule)
        test = searches[1]
        return numbers | {
            "gallery_subjects": _both_parts(
                [np.count_nonzero(x.enrolled, axis=1) * x.rows.any(axis=1) for x in parts]
            ),
            "tied": test.number(test.is_mated & (test.tied > 0)),
        }

    def _closed_set(self, searches: Sequence[SearchedParts], options: FoldOptions) -> Numbers:
        test = searches[1]
        accept_all = np.full(len(test.parts), np.inf)
        attempts = _both_parts([x.number(x.is_mated) for x in searches])
        numbers = {
            "cms_count": _detected(searches, accept_all, options.ranks).up_to_rank,
            "attempts": attempts,
            "skipped": _both_parts([x.number(~x.is_mated) for x in searches]),
        }
        if options.far_targets is None:
            return numbers
        at_rank_1 = test.number(test.is_ranked & (test.rank == 1))
        with np.errstate(invalid="ignore"):
            return numbers | {"recognition_rate": at_rank_1 / attempts[:, 1]}

    def _open_set(
        self, searches: Sequence[SearchedParts], options: FoldOptions, rule: Rule
    ) -> Numbers:
        roles = [options.search.impostors] * len(self.splits)
        open_set = [x.attempts(x.impostors(roles[: len(x.parts)])) for x in searches]
        attempts = [x.first for x in open_set]
        chosen = choose_of_parts(rule, attempts[0])
        detected = _detected(searches, chosen.threshold, options.ranks)
        numbers = judged(chosen, attempts)
        numbers |= {"di": detected.at_rank, "detected": detected.up_to_rank}
        numbers["searching"] = searches[1].searching_people(roles[: len(searches[1].parts)])
        if options.far_targets is None:
            return numbers
        dir_at_far, _ = open_set[1].dir_at_far(options.far_targets, options.ranks)
        return numbers | {"eer": attempts[1].equal_error().eer, "dir_at_far": dir_at_far}

    def _number_of_subjects(self, parts: Both, splits: Sequence[Split]) -> Numbers:
        if any(split.fitted is not split.train.probes for split in splits):
            sizes = [self.sides.sizes(split) for split in splits]
            return {name: np.array([x[name] for x in sizes]) for name in sizes[0]}
        train, test = ((x.probing + x.enrolled > 0) & self.matrix.is_person for x in parts)
        subjects = _both_parts([x.sum(axis=1) for x in (train, test)])
        return {"subjects": subjects, "shared_subjects": (train & test).sum(axis=1)}


def _both_parts(numbers: Sequence[np.ndarray]) -> np.ndarray:
    """Return the numbers of the training and the test part over (split, part, ...)."""
    return np.stack(numbers, axis=1)


def _detected(
    searches: Sequence[SearchedParts], thresholds: np.ndarray, ranks: np.ndarray
) -> Detected:
    """Return the numbers of accepted mates, (splits, part, ranks)."""
    at_rank, up_to_rank = [], []
    for part in searches:
        accepted = part.accepted(thresholds)
        mates_at = [part.number(accepted & (part.rank == k)) for k in ranks.tolist()]
        mates_up_to = [part.number(accepted & (part.rank <= k)) for k in ranks.tolist()]
        at_rank.append(np.stack(mates_at, axis=1))
        up_to_rank.append(np.stack(mates_up_to, axis=1))
    return Detected(_both_parts(at_rank), _both_parts(up_to_rank))
