"""The numbers of tasks in many parts of the same scores, as arrays over ``partition``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, get_args

import numpy as np

from bioeval.base.errors import BioevalError, ProtocolError
from bioeval.base.memory import require_memory
from bioeval.base.progress import Tell, reporter, rows_reported, rows_reported_to
from bioeval.counting.masks import MaskedParts, PartTemplates, SearchedParts, batches, masks_pay
from bioeval.counting.operating_points import COST_LABELS
from bioeval.counting.sorted_matrix import SortedClasses, SortedMatrix, may_be_sorted
from bioeval.counting.threshold_rules import point_values
from bioeval.counting.thresholds import is_supported, to_user, with_rare_targets
from bioeval.protocol.card import Protocol
from bioeval.protocol.fields import PlainTies
from bioeval.protocol.pairs import with_exclusions
from bioeval.protocol.tasks import ClosedSet, OpenSet
from bioeval.results.dataset import Scalars, in_order
from bioeval.results.stacking import Stack
from bioeval.results.support import independent_searches, supported
from bioeval.results.variables import RANKS, TASKS, described
from bioeval.results.verification import in_units
from bioeval.scores.attempts import left_out_rows, may_lack_comparisons
from bioeval.scores.matrix import Scores
from bioeval.scores.people import ComparedPeople
from bioeval.scores.provenance import Provenance
from bioeval.scores.rows import stated_memory_limit
from bioeval.scores.sampled import sampled_numbers
from bioeval.scores.score_data import require_scores
from bioeval.tasks.card_scores import resolve_card
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.plan import CardTasks
from bioeval.tasks.reid.candidates import convention_of
from bioeval.tasks.verification_task import VerificationTask

# The numbers of tasks in many parts of a matrix that is sorted once; see ``counting/masks.py``.


PARTITION = "partition"

#: Numbers as arrays by name, the parts first.
Numbers = dict[str, np.ndarray]

#: The numbers with a dimension of ranks, which is their last.
OVER_RANKS = {"cms", "cms_count", "dir_at_far", "threshold_at_far", "threshold_at_far_next"}

#: The numbers with a dimension of FAR targets, which follows the parts.
OVER_TARGETS = {
    *("frr_at_far", "frr_at_far_supported", "expected_false_accepts"),
    *("threshold_at_far", "threshold_at_far_next"),
}


class _Counted(NamedTuple):
    """The numbers of a task in some parts."""

    numbers: Numbers
    #: bool (parts, ranks): whether a rank is reported; None of verification.
    is_reported: np.ndarray | None = None


class _PeopleOfParts(NamedTuple):
    """The people of each part, int64 (parts,)."""

    subjects: np.ndarray
    pairs: np.ndarray  # pairs of different people that are compared
    disjoint: np.ndarray  # the most of these pairs that share no person


def may_be_masks(scores: Scores, selections: Sequence[tuple[Any, ...]]) -> bool:
    """Return whether parts are many, and are rows and columns of a matrix in increasing order."""
    if not may_be_sorted(scores):
        return False
    are_increasing = all(len(sides) == 2 for sides in selections) and all(
        _are_increasing(indices, size)
        for sides in selections
        for indices, size in zip(sides, scores.shape, strict=True)
    )
    if not are_increasing:
        return False
    cells = sum(len(rows) * len(columns) for rows, columns in selections)
    return masks_pay(math.prod(scores.shape), len(selections), cells)


def _are_increasing(indices: Any, size: int) -> bool:
    if not isinstance(indices, np.ndarray) or indices.dtype != np.int64 or not len(indices):
        return False
    return indices[0] >= 0 and indices[-1] < size and bool((indices[1:] > indices[:-1]).all())


def numbers_by_masks(
    tasks: CardTasks, scores: Scores, places: Sequence[PartTemplates], tell: Tell
) -> dict[str, Scalars] | None:
    """Return the numbers of tasks by node, the parts first; None if masks cannot count them.

    `tasks` are the checked tasks of a card in one of the parts; `places` are the rows and columns
    of each part.
    """
    card, options = tasks.card, tasks.options
    searches = [*tasks.searching.values()]
    if (
        tasks.retrieval
        or card.claims is not None
        or options.extra_thresholds is not None
        or (card.verification is not None and card.verification.pairs != "ordered")
        or any(x.gallery != "all" or x.rank_unit != "template" for x in searches)
        or any(x.ties not in get_args(PlainTies) for x in searches)
    ):
        return None
    remaining = with_exclusions(scores, card)
    return MaskedTasks(tasks, remaining, SortedMatrix.from_scores(remaining), places).numbers(tell)


class MaskedTasks:
    """The tasks of a card in parts of one layout, counted by masks."""

    def __init__(
        self,
        tasks: CardTasks,
        scores: Scores,
        matrix: SortedMatrix,
        places: Sequence[PartTemplates],
    ):
        self.tasks, self.scores, self.matrix, self.places = tasks, scores, matrix, places
        #: The FAR targets of all parts; rare targets, which only some parts support, come last.
        self.targets = tasks.far_targets
        if tasks.rare:
            self.targets = with_rare_targets(tasks.far_targets, np.inf)
        self.wanted = replace(tasks.wanted, targets=self.targets)
        self.claims: dict[str, SortedClasses] = {}
        for verification in tasks.verifying.values():
            if verification.use.fused is not None:
                self.claims[verification.use.fused] = matrix.claims(verification.use.fused)

    def numbers(self, tell: Tell) -> dict[str, Scalars] | None:
        """Return the numbers of all tasks by node; None if a part must be evaluated by itself."""
        nodes: dict[str, list[_Counted]] = {}
        for batch in batches(self.matrix, self.places):
            counted_by_node = self._count(self.places[batch])
            if counted_by_node is None:
                return None
            for node, counted in counted_by_node.items():
                nodes.setdefault(node, []).append(counted)
            tell(batch.stop, len(self.places))
        return {node: self._scalars(node, counted) for node, counted in nodes.items()}

    def _count(self, places: Sequence[PartTemplates]) -> dict[str, _Counted] | None:
        """Count some parts by node; return None if one must be evaluated by itself."""
        parts = MaskedParts(self.matrix, places)
        layout = self.tasks.scores.layout
        has_other_layout = parts.are_square != (layout == "all-against-all")
        if has_other_layout.any():  # another layout may have another card
            return None
        if not parts.people.every.all():  # a part without people
            return None
        by_node: dict[str, _Counted] = {}
        for node, verification in self.tasks.verifying.items():
            by_node[node] = _Counted(self._verification(parts, places, verification))
        if not self.tasks.searching:
            return by_node
        searches = self._searches(parts)
        return None if searches is None else by_node | searches

    # -- verification

    def _verification(
        self, parts: MaskedParts, places: Sequence[PartTemplates], verification: VerificationTask
    ) -> Numbers:
        """Return the numbers of each part, (parts, ...), by the name of the variable."""
        fusion = verification.use.fused
        times = 1  # how often each of the `attempts` counts
        is_symmetric = np.zeros(len(parts), dtype=bool)  # pairs count in both directions
        if fusion is None:
            attempts = parts.attempts()
            times = parts.times
            is_symmetric = self._are_symmetric(parts)
        else:
            attempts = parts.claims(fusion, self.claims[fusion])
        genuine = times * attempts.genuine_attempts
        impostor = times * attempts.impostor_attempts
        # The people; if all are compared, their numbers decide the numbers of pairs.
        counted_people = parts.people
        pairs = (
            counted_people.probing * counted_people.enrolled
            - counted_people.both
            - counted_people.both * (counted_people.both - 1) // 2
        )
        disjoint = np.minimum(
            np.minimum(counted_people.probing, counted_people.enrolled), counted_people.every // 2
        )
        if self._absent is not None:
            # The pairs of people are counted in parts with a comparison that is no attempt.
            rows, columns = (x.astype(np.float32) for x in (parts.rows, parts.columns))
            for part in np.flatnonzero(((rows @ self._absent) * columns).sum(axis=1)).tolist():
                compared = ComparedPeople.from_scores(
                    self.scores.select(*places[part]), disjoint=True
                )
                assert compared is not None
                pairs[part], disjoint[part] = compared.pairs, compared.disjoint
        people = _PeopleOfParts(counted_people.every, pairs, disjoint)
        _, values = point_values(attempts, self.wanted, is_symmetric)
        values["expected_false_accepts"] *= times
        values["impostor_pairs"] = impostor // (1 + is_symmetric)
        numbers: Numbers = {
            "genuine_attempts": genuine,
            "impostor_attempts": impostor,
            "skipped_claims": np.zeros(len(parts), dtype=np.int64),
            "subjects": people.subjects,
            "disjoint_pairs": people.disjoint,
        } | in_units(values, self.scores.kind)
        independent = np.minimum(impostor / (1 + is_symmetric), people.pairs)
        numbers["frr_at_far_supported"] = supported(self.targets, independent)
        if len(frr_targets := self.wanted.frr_targets):
            independent = np.minimum(genuine / (1 + is_symmetric), people.subjects)
            numbers["far_at_frr_supported"] = supported(frr_targets, independent)
        return numbers

    @cached_property
    def _absent(self) -> np.ndarray | None:
        """1 where a comparison of two people is no attempt, float32 (m, n); None without any."""
        scores, matrix = self.scores, self.matrix
        if not may_lack_comparisons(scores):
            return None
        is_of_people = matrix.is_person[matrix.probe][:, None] & matrix.is_person[matrix.gallery]
        absent = np.isnan(matrix.attempts) & is_of_people & ~matrix.is_mate
        return absent.astype(np.float32) if absent.any() else None

    def _are_symmetric(self, parts: MaskedParts) -> np.ndarray:
        """Return which parts have equal scores in both directions, judged by a few templates."""
        symmetric = parts.are_same & (parts.rows.sum(axis=1) > 1)
        if not symmetric.any() or not self._differs_across_diagonal.any():
            return symmetric
        for part in np.flatnonzero(symmetric):
            templates = np.flatnonzero(parts.rows[part])
            sample = templates[sampled_numbers(len(templates))]
            symmetric[part] = not self._differs_across_diagonal[np.ix_(sample, sample)].any()
        return symmetric

    @cached_property
    def _differs_across_diagonal(self) -> np.ndarray:
        """Whether a cell differs from its mirror image, bool (m, m); NaN is like NaN."""
        raw = self.scores.cells.values()
        differs = (raw != raw.T) & ~((raw != raw) & (raw != raw).T)
        if self.scores.exclude or self.scores.cells.mask is not None:
            left_out = left_out_rows(self.scores, 0, len(raw))
            if left_out is not None:
                differs |= left_out != left_out.T
        return differs

    # -- identification

    def _searches(self, parts: MaskedParts) -> dict[str, _Counted] | None:
        """Count searches by node; return None if probes without a mate are an error."""
        longest = np.maximum(parts.most_candidates(), 1)
        sizes = {
            "gallery_templates": parts.columns.sum(axis=1, dtype=np.int64),
            "gallery_subjects": parts.people.enrolled,
        }
        by_ties: dict[str, SearchedParts] = {}
        by_node: dict[str, _Counted] = {}
        for node, task in self.tasks.searching.items():
            if task.ties not in by_ties:
                by_ties[task.ties] = parts.searches(task.ties)
            searches = by_ties[task.ties]
            if isinstance(task, OpenSet):
                counted = self._open_set(searches, task, longest)
            elif self._unmated_may_be_skipped(searches, task):
                counted = self._closed_set(searches, task, longest)
            else:
                return None
            by_node[node] = _Counted(counted.numbers | sizes, counted.is_reported)
        return by_node

    def _unmated_may_be_skipped(self, searches: SearchedParts, task: ClosedSet) -> bool:
        is_square = self.tasks.scores.layout == "all-against-all"
        if task.unmated == "skip" or (task.unmated == "auto" and is_square):
            return True
        is_of_person = self.matrix.is_person[self.matrix.probe[searches.probe]]
        return not (is_of_person & ~searches.is_mated).any()

    def _ranks_to_report(self, limit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ranks, and a mask (parts, ranks): the rank is reported and within the limit."""
        reported = self.tasks.card.report.ranks or RANKS
        ranks = np.union1d(reported, 1)
        is_reported = (ranks <= limit[:, None]) & np.isin(ranks, reported)
        is_reported[:, 0] |= ~is_reported.any(axis=1)
        return ranks, is_reported

    def _open_set(self, searches: SearchedParts, task: OpenSet, longest: np.ndarray) -> _Counted:
        last = max(self.tasks.card.report.ranks, default=RANKS[-1])
        ranks, is_reported = self._ranks_to_report(
            np.minimum(longest, min(last, task.max_rank or last))
        )
        targets, kind = self.tasks.far_targets, self.scores.kind
        roles = searches.roles(task.impostors)
        ranked = searches.attempts(searches.impostors(roles))
        attempts = ranked.every
        error = ranked.first.equal_error()
        # DIR and thresholds are (parts, targets, ranks).
        dir_, threshold = ranked.dir_at_far(targets, ranks)
        has_rank = is_reported[:, None]
        threshold = np.where(has_rank, threshold, np.nan)
        searching = searches.searching_people(roles)
        mated, enrolled = searches.is_mated, searches.is_enrolled
        impostor_attempts = attempts.impostor_attempts
        numbers = {
            "genuine_attempts": attempts.genuine_attempts,
            "impostor_attempts": impostor_attempts,
            "tied": searches.number(mated & (searches.tied > 0)),
            "target_probes": searches.number(enrolled),
            "non_target_probes": searches.number(~enrolled),
            **in_units(error.values(), kind),
            "eer_threshold_next": to_user(attempts.next_scores(error.eer_threshold), kind),
            "dir_at_far": np.where(has_rank, dir_, np.nan),
            "threshold_at_far": to_user(threshold, kind),
            "threshold_at_far_next": to_user(attempts.next_scores(threshold), kind),
            "expected_false_accepts": targets * impostor_attempts[:, None],
            "dir_at_far_supported": supported(
                targets, independent_searches(impostor_attempts, searching)
            ),
            "genuine_subjects": searches.parts.people.both,
            "impostor_subjects": searching,
        }
        return _Counted(numbers, is_reported)

    def _closed_set(
        self, searches: SearchedParts, task: ClosedSet, longest: np.ndarray
    ) -> _Counted:
        limit = longest if task.max_rank is None else np.full_like(longest, task.max_rank)
        ranks, is_reported = self._ranks_to_report(limit)
        mated = searches.is_mated
        attempts = searches.number(mated)
        # (parts, ranks): the number of probes whose mate is at each rank or before it.
        is_found = [searches.is_ranked & (searches.rank <= k) for k in ranks.tolist()]
        count = np.stack([searches.number(x) for x in is_found], axis=1)
        with np.errstate(invalid="ignore"):
            rate = count / attempts[:, None]
        numbers = {
            "cms": np.where(is_reported, rate, np.nan),
            "cms_count": count,
            "recognition_rate": rate[:, 0],
            "attempts": attempts,
            "skipped": searches.number(~mated),
            "tied": searches.number(mated & (searches.tied > 0)),
            "subjects": searches.parts.people.both,
        }
        return _Counted(numbers, is_reported)

    # -- all parts

    def _scalars(self, node: str, batches: list[_Counted]) -> Scalars:
        table = TASKS[node.partition("/")[0]]
        numbers = {
            name: np.concatenate([x.numbers[name] for x in batches]) for name in batches[0].numbers
        }
        masks = [x.is_reported for x in batches if x.is_reported is not None]
        labels: dict[str, np.ndarray] = {}
        costs: dict[str, Any] = {}
        if node.startswith("verification"):
            labels["far_target"] = self._without_rare(numbers)
            if len(self.wanted.frr_targets):
                labels["frr_target"] = self.wanted.frr_targets
            if len(self.wanted.costs) and self.wanted.every_score:
                columns = zip(COST_LABELS, self.wanted.costs.T, strict=True)
                costs = {name: (("cost",), values) for name, values in columns}
        elif node == "open_set":
            labels["far_target"] = self.tasks.far_targets
        if masks:
            labels["rank"] = self._reported_ranks(numbers, np.concatenate(masks))
        variables: dict[str, Any] = {}
        for name, values in numbers.items():
            dims = described(table, name).dims if values.ndim > 1 else ()
            variables[name] = (PARTITION, *dims), values
        labels[PARTITION] = np.arange(len(self.places))
        return Scalars(in_order(variables | costs), labels, table)

    def _reported_ranks(self, numbers: Numbers, is_reported: np.ndarray) -> np.ndarray:
        """Remove ranks that no part reports from the numbers, and return the ranks that remain."""
        in_some_part = is_reported.any(axis=0)
        if "cms_count" in numbers and not is_reported[:, in_some_part].all():
            numbers["cms_count"] = np.where(is_reported, numbers["cms_count"], np.nan)
        for name in numbers.keys() & OVER_RANKS:
            numbers[name] = numbers[name][..., in_some_part]
        ranks, _ = self._ranks_to_report(np.ones(1, dtype=np.int64))
        return ranks[in_some_part]

    def _without_rare(self, numbers: Numbers) -> np.ndarray:
        """Remove rare FAR targets from the numbers, and return the targets that remain.

        A rare target remains if a part supports it; in all other parts it has NaN.
        """
        usual = len(self.tasks.far_targets)
        pairs = numbers["impostor_pairs"]
        has_target = np.ones((len(pairs), len(self.targets)), dtype=bool)  # (parts, targets)
        has_target[:, usual:] = is_supported(self.targets[usual:], pairs[:, None])
        remains = has_target.any(axis=0)
        for name in OVER_TARGETS & numbers.keys():
            numbers[name] = numbers[name][:, remains]
            if not has_target[:, remains].all():
                numbers[name] = np.where(has_target[:, remains], numbers[name], np.nan)
        return self.targets[remains]


class NumbersOfParts(NamedTuple):
    """The numbers of all parts by node, and the distinct cards by which they were evaluated."""

    by_node: dict[str, Scalars]
    cards: list[Protocol]
    about: Provenance  # of the whole data
    options: dict[str, dict[str, Any]]  # the attributes on the options of each task, by node


def numbers_of_parts(
    scores: Scores,
    selections: Sequence[tuple[Any, ...]],
    protocol: str | Protocol,
    options: EvaluationOptions,
    *,
    curves: bool = False,
) -> NumbersOfParts:
    """Return the numbers of every task in each part of the scores, ``partition`` first.

    `selections` has the arguments of :meth:`Scores.select` for each part. Variables and their other
    dimensions are the same as in a single evaluation:

    - without `curves`: at the ranks that the card reports
    - with `curves`: over the thresholds and the ranks of the options
    - the prior and the costs of ``cost``: without ``partition``
    - a variable, or a label of a dimension, that a part lacks: NaN; counts are then float64
    """
    with rows_reported():
        tell = reporter()
    provenance = Provenance.from_scores(scores)

    def tasks_of_part(selection: tuple[Any, ...]) -> CardTasks:
        return tasks_of(scores.select(*selection), protocol, options, provenance)

    # Many parts of a matrix are masks of attempts that are sorted once.
    if not curves and may_be_masks(scores, selections):
        try:
            tasks = tasks_of_part(selections[0])
            by_masks = numbers_by_masks(tasks, scores, selections, tell)
        except BioevalError:
            by_masks = None  # the part itself raises the error again, with its number
        if by_masks is not None:
            return NumbersOfParts(by_masks, [tasks.card], provenance, _options_of(tasks, by_masks))

    # Other parts are selected one by one.
    stacks: dict[str, Stack] = {}
    cards: list[Protocol] = []
    with rows_reported_to(None):
        for part, selection in enumerate(selections):
            try:
                tasks = tasks_of_part(selection)
                numbers_of_part = _numbers_of_part(tasks, curves=curves)
            except BioevalError as error:
                raise error.preceded_by(f"partition {part}: ") from error
            if not part:
                parts = len(selections)
                number = sum(
                    values.size
                    for numbers in numbers_of_part.values()
                    for _, values in numbers.arrays().values()
                )
                require_memory(
                    8 * parts * number,
                    f"the results of {parts:,} partitions",
                    "expected fewer `n_thresholds` or `thresholds`, or a smaller `max_rank`",
                    limit=stated_memory_limit(scores),
                )
            for node, numbers in numbers_of_part.items():
                table = TASKS[node.partition("/")[0]]
                stacks.setdefault(node, Stack(len(selections), table)).put(part, numbers)
            if tasks.card not in cards:
                cards.append(tasks.card)
            tell(part + 1, len(selections))
    labels = np.arange(len(selections))
    by_node = {node: stack.result(PARTITION, labels) for node, stack in stacks.items()}
    return NumbersOfParts(by_node, cards, provenance, _options_of(tasks, by_node))


def _options_of(tasks: CardTasks, nodes: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the attributes of results that say how attempts are made and ranked, by node."""
    attrs: dict[str, dict[str, Any]] = {}
    for node in nodes:
        if (verification := tasks.verifying.get(node)) is not None:
            attrs[node] = {**verification.use.attrs, "claims": verification.claims_of}
        elif (search := tasks.searching.get(node)) is not None:
            attrs[node] = {"rank_unit": search.rank_unit, "fusion": search.fused}
            attrs[node]["ties"] = search.ties
            of_task = "impostors" if isinstance(search, OpenSet) else "unmated"
            attrs[node][of_task] = search[of_task]
        else:
            rules = convention_of(tasks.card, (node,))
            attrs[node] = {**rules.attrs(), "ties": rules.ties} if node == "reid" else {}
    return attrs


def _numbers_of_part(tasks: CardTasks, *, curves: bool) -> dict[str, Scalars]:
    about = tasks.about
    by_node = {}
    for node, task in tasks.count(curves=curves).items():
        if curves:
            numbers = Scalars.of_dataset(task.dataset(), curves=True)
        else:
            numbers = task.scalars().at_ranks(tasks.card.report.ranks)
        by_node[node] = numbers
        if not node.startswith("verification"):
            numbers.variables["gallery_templates"] = np.int64(about.gallery_templates)
            if about.people is not None:
                numbers.variables["gallery_subjects"] = np.int64(about.gallery_subjects)
    return by_node


def tasks_of(
    scores: Scores,
    protocol: str | Protocol,
    options: EvaluationOptions,
    whole: Provenance | None = None,
) -> CardTasks:
    """Return the tasks of a protocol; `whole` describes the whole data if `scores` are a part."""
    require_scores(scores)
    card = options.applied_to(resolve_card(scores, protocol))
    if card.has_folds:
        raise ProtocolError(
            f"protocol {card.name} has folds, and each fold has rates of its own: use be.evaluate"
        )
    return CardTasks(scores, card, options, automatic=protocol == "auto", whole=whole)
