"""Fixed trials: a list of pairs of templates, with a score and a class for each pair.

::

    ann-1  ann-2  0.31  1    genuine: both templates are of one subject
    ann-1  bob-1  0.74  0    impostor

:class:`PairList` holds such a list. Its columns of names, subjects and metadata are
:class:`~bioeval.scores.codes.Codes`, with the enrolled template as `gallery` and the second as
`probe`. :meth:`PairList.attempts` tells which lines are attempts: a pair has one class, whatever
its order. With names, the same ordered pair counts once, and a comparison of a template with itself
is not an attempt, as in a matrix; :class:`ListRules` may say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from bioeval.base.arguments import joined, require_array, require_choice, require_flag, require_list
from bioeval.base.digests import digest, digest_of_values
from bioeval.base.errors import DataError, Message, ProtocolError, counted, received
from bioeval.base.kinds import LARGER_IS_CLOSER, Kind, Layout, NanPolicy
from bioeval.scores.arrays import as_array
from bioeval.scores.codes import Codes
from bioeval.scores.distances import as_distances, with_failures
from bioeval.scores.labels import (
    NO_PERSON,
    are_of_no_person,
    as_labels,
    as_objects,
    as_subjects,
    one_dimensional,
    read_only,
    with_whole_numbers,
)
from bioeval.scores.metadata import natural_places
from bioeval.scores.same import Scored, confirm_names


@dataclass(frozen=True, eq=False)
class PairList:
    """A list of pairs: the source of scores of layout ``"pairs"``.

    The first side of a pair is the enrolled template, the second the probe.
    """

    values: np.ndarray  # (p,)
    genuine: np.ndarray  # bool (p,)
    folds: np.ndarray | None = None  # (p,)
    people: Codes | None = None  # the subjects of both sides; None: unknown
    templates: Codes | None = None  # the names of the templates of both sides
    meta: Mapping[str, Codes] = field(default_factory=dict)
    #: int64, (p, 2): the identities of both templates; or (p, 1): the position of the pair in the
    #: list from which it was selected; None for a whole list.
    ids: np.ndarray | None = None
    unordered: bool = False  # whether both orders of two templates were merged
    missing: int = 0  # number of pairs of a published list that are not in this list
    #: The place of the first failed comparison in the list, and its line in words.
    failed_at: tuple[int, str] | None = None

    layout: ClassVar[Layout] = "pairs"

    def __post_init__(self) -> None:
        for array in (self.genuine, self.folds, self.ids):
            if isinstance(array, np.ndarray):
                read_only(array)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, x.name) for x in fields(self))

    @classmethod
    def from_arrays(
        cls,
        scores: Any,
        genuine: Any,
        *,
        subjects: Any = None,
        pair_folds: Any = None,
        pair_templates: Any = None,
        meta: Mapping[str, Any] | None = None,
    ) -> PairList:
        array = as_array(joined(scores, "scores", 1), "scores")
        if array.ndim != 1 or len(array) == 0:
            raise DataError(f"scores has shape {array.shape}; expected one score per pair")
        flags = require_array("genuine", joined(genuine, "genuine", 1))
        if flags.shape != array.shape:
            raise DataError(
                f"genuine has shape {flags.shape}; expected {array.shape}, one value per pair"
            )
        is_boolean = flags.dtype == bool
        if not is_boolean and (flags.dtype.kind not in "biuf" or not np.isin(flags, (0, 1)).all()):
            raise DataError("genuine has values other than 0 and 1 (or False and True)")
        templates = _as_codes(pair_templates, "pair_templates", len(array), as_labels)
        people = _as_codes(subjects, "subjects", len(array), as_subjects)
        folds = None
        if pair_folds is not None:
            folds = as_labels(pair_folds, "pair_folds")
            if len(folds) != len(array):
                raise DataError(
                    f"pair_folds has {counted(len(folds), 'values')}; expected "
                    f"{len(array)}, one per pair"
                )
        if not isinstance(meta, Mapping | None):
            raise DataError(f"meta is {received(meta)}; expected a mapping of names to columns")
        columns = {
            str(name): _as_codes(column, f"meta {name!r}", len(array), one_dimensional, name)
            for name, column in (meta or {}).items()
        }
        return cls(array, flags.astype(bool), folds, people, templates, columns)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    def require_kind(self, kind: Kind) -> None:
        """Any kind fits a list of pairs."""

    def in_words(self) -> str:
        return f"{len(self.values)} pairs, {int(self.genuine.sum())} genuine"

    def fingerprint(self, dtype_and_kind: str) -> str:
        flags = digest(self.genuine.view(np.uint8))
        values = digest_of_values([self.values])
        return f"{len(self.values)} pairs {dtype_and_kind} genuine:{flags} values:{values}"

    @cached_property
    def pair_ids(self) -> np.ndarray:
        """The position of each pair in the list, or the identities of its two templates."""
        if self.ids is not None:
            return self.ids
        return read_only(np.arange(len(self.values), dtype=np.int64)[:, None])

    @cached_property
    def subjects(self) -> np.ndarray | None:
        """The subjects of both sides of each pair, (p, 2)."""
        if self.people is None:
            return None
        labels = self.people.labels
        if labels.dtype.kind not in "biuf":  # texts as objects: each text is in memory once
            labels = labels.astype(object)
        return read_only(labels[np.column_stack([self.people.gallery, self.people.probe])])

    @cached_property
    def codes(self) -> Codes:
        """The subjects as codes: the second of a pair is the probe's, the first is enrolled."""
        assert self.people is not None
        return self.people.of_subjects()

    def distinct_subjects(self, codes: Codes) -> np.ndarray:
        """Return the distinct subjects in the order of the list, without templates of no person."""
        if self.subjects is None:
            return np.array([])
        is_person = ~codes.no_person[np.column_stack([codes.gallery, codes.probe])]  # (p, 2)
        return as_objects(list(dict.fromkeys(self.subjects[is_person].tolist())))

    def meta_of(self, side: int) -> Mapping[str, np.ndarray]:
        """Return the metadata columns of the enrolled template (0) or of the probe (1)."""
        return _MetaOfSide(self.meta, side)

    def select(self, rows: np.ndarray, gallery: Any) -> PairList:
        """Return some pairs, which keep their positions in the list."""
        if gallery is not None:
            raise ProtocolError("a pair list has no gallery to select from; give probes= alone")
        return replace(self.take(rows), ids=self.pair_ids[rows])

    def take(self, rows: np.ndarray) -> PairList:
        """Return the list of some pairs, by their places or by a boolean selection."""

        def part_of(codes: Codes | None) -> Codes | None:
            return None if codes is None else codes.take(rows)

        return replace(
            self,
            values=self.values[rows],
            genuine=self.genuine[rows],
            folds=None if self.folds is None else self.folds[rows],
            people=part_of(self.people),
            templates=part_of(self.templates),
            meta={name: column.take(rows) for name, column in self.meta.items()},
            ids=None if self.ids is None else self.ids[rows],
            missing=0,
            failed_at=None,
        )

    def exchanged(self, is_exchanged: np.ndarray) -> PairList:
        """Return the pairs with the sides of some pairs exchanged; the argument is bool (p,)."""
        templates, people = (
            None if sides is None else sides.exchanged(is_exchanged)
            for sides in (self.templates, self.people)
        )
        meta = {name: column.exchanged(is_exchanged) for name, column in self.meta.items()}
        return replace(self, templates=templates, people=people, meta=meta)

    def attempts(
        self,
        rules: ListRules,
        kind: Kind,
        describe_rows: DescribeRows,
        no_person: Sequence[Any] = NO_PERSON,
    ) -> tuple[PairList, np.ndarray | None, list[Message]]:
        """Return the pairs that are attempts, which pairs these are (None: all), and notes.

        `describe_rows` names the places of pairs, for messages. Subjects must agree with the
        classes, except in pairs with a subject that is `no_person`.
        """
        is_attempt = np.ones(len(self.values), dtype=bool)
        notes: list[Message] = []

        # Classes agree with subjects. A pair without any person is no attempt.
        people = self.people
        if people is not None:
            is_nobody = are_of_no_person(people.labels, no_person)  # of each code
            is_nobody_enrolled, is_nobody_probe = is_nobody[people.gallery], is_nobody[people.probe]
            are_people = ~(is_nobody_enrolled | is_nobody_probe)
            require_classes(self.genuine, people.gallery, people.probe, are_people, describe_rows)
            is_attempt = ~(is_nobody_enrolled & is_nobody_probe)
            number = int(np.count_nonzero(~is_attempt))
            if number:
                notes.append(Message("pairs-of-no-person", pairs=number))

        # Infinite scores are beyond every threshold.
        for end in (np.inf, -np.inf):
            infinite = np.flatnonzero(self.values == end)
            if len(infinite):
                is_nearest = (kind in LARGER_IS_CLOSER) == (end > 0)
                accepted = "every" if is_nearest else "no"
                first = f" ({describe_rows([int(infinite[0])])})"
                message = Message(
                    "infinite-scores", scores=len(infinite), accepted=accepted, first=first
                )
                notes.append(message)

        # Names of templates tell which lines are the same pair, or compare a template with itself.
        if self.templates is not None:
            if people is not None:
                require_one_subject(self.templates, people.gallery, people.probe, describe_rows)
            if "self" not in rules.keep:
                self._confirm_names(kind, rules.shared)
            is_pair_of_names, notes_on_names = _attempts_of_templates(self, rules, describe_rows)
            is_attempt &= is_pair_of_names
            notes += notes_on_names
        elif rules.unordered:
            raise DataError(
                "`unordered` needs the names of the templates of both sides of each "
                "pair, such as columns template_a and template_b"
            )
        are_all = bool(is_attempt.all())
        pairs = self if are_all else self.take(is_attempt)
        if pairs.unordered != rules.unordered:
            pairs = replace(pairs, unordered=rules.unordered)
        return pairs, None if are_all else is_attempt, notes

    def _confirm_names(self, kind: Kind, shared: bool | None) -> None:
        """Raise where scores deny that equal names of both sides are one template."""
        names = self.templates
        assert names is not None
        with_itself = names.gallery[names.gallery == names.probe]
        if not len(with_itself):
            return
        partner = np.full(len(names.values), -1)  # the template with the name of each template
        partner[with_itself] = with_itself
        codes = None if self.people is None else self.codes
        confirm_names(Scored.of_pairs(self, kind, codes), partner, names.values, shared=shared)

    def distances(self, kind: Kind, nan: NanPolicy, piece: np.ndarray | None = None) -> np.ndarray:
        """Return all scores, or a piece of them, as distances, with failures as `nan` says."""
        values = self.values if piece is None else piece
        distances = as_distances(values[None], kind)[0]
        failed = np.isnan(distances)
        if nan == "reject":
            return with_failures(distances, failed)
        if not failed.any() or nan == "exclude":
            return distances
        place = f"at position {int(np.argmax(failed))}"
        if self.failed_at is not None and np.isnan(self.values[self.failed_at[0]]):
            place = self.failed_at[1]
        raise DataError(
            f"the scores hold {int(failed.sum())} NaN, the first {place}; choose how to treat "
            'failed comparisons: `nan="reject"` or `nan="exclude"`'
        )


def classes_of_subjects(
    enrolled: np.ndarray, probes: np.ndarray, no_person: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Return which pairs of labels are genuine, and which are attempts: those with a person.

    A pair that is no attempt has no class.
    """
    codes = Codes(probes, enrolled, "subjects", of_any_type=no_person)
    is_nobody = codes.of_no_person(no_person)
    is_attempt = ~(is_nobody[codes.gallery] & is_nobody[codes.probe])
    return codes.probe == codes.gallery, is_attempt


class _MetaOfSide(Mapping[str, np.ndarray]):
    """The metadata of one side of pairs; a column is made when it is read."""

    def __init__(self, columns: Mapping[str, Codes], side: int):
        self._columns = columns
        self._side = side  # 0: the enrolled templates; 1: the probes

    def __getitem__(self, name: str) -> np.ndarray:
        codes = self._columns[name]
        return read_only(codes.values[codes.probe if self._side else codes.gallery])

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def _as_codes(
    values: Any, input_name: str, length: int, check: Callable[..., np.ndarray], column: Any = None
) -> Any:
    """Return names, subjects, or the metadata `column` of both sides as codes; None for None.

    `check` makes labels of the values of one side.
    """
    if values is None or isinstance(values, Codes):
        return values
    array = require_array(input_name, values)
    if array.shape != (length, 2):
        raise DataError(
            f"{input_name} has shape {array.shape}; expected ({length}, 2), both sides of each pair"
        )
    labels = array.ravel()
    if array.dtype.kind == "O":
        labels = one_dimensional(labels, input_name)
    if column is not None:
        return Codes.of_pairs(labels.reshape(array.shape), column, check)
    labels = with_whole_numbers(labels, f"`{input_name}`")
    if check is not as_subjects:
        return Codes.of_pairs(labels.reshape(array.shape), input_name, check)
    labels = as_subjects(labels, input_name)  # of both sides together, so that they are one type
    return Codes.of_pairs(labels.reshape(array.shape), input_name, check, NO_PERSON)


# ----------------------------------------------------------------- contradictory and repeated pairs


#: Lines of a list that are left out unless `keep` names them.
Kept = Literal["self", "repeated"]
KEEP: tuple[Kept, ...] = get_args(Kept)

# The pairs that a message shows.
_EXAMPLES = 3

#: The least share of pairs that counts as nearly all.
MOSTLY = 0.9

# A system that computes a-b and b-a in float32 may give two scores. They are equal but for rounding
# if they differ by at most this share of the largest score of the list.
_ROUNDING = 1e-5

#: A function that names the places of pairs: ``line 3``, ``lines 3 and 9``.
DescribeRows = Callable[[Sequence[int]], str]


def places_in_words(noun: str, numbers: Sequence[int]) -> str:
    """Return ``line 3``, or ``lines 3, 4 and 9``."""
    words = [f"{number:,}" if noun == "pair" else str(number) for number in numbers]
    if len(words) == 1:
        return f"{noun} {words[0]}"
    return f"{noun}s {', '.join(words[:-1])} and {words[-1]}"


@dataclass(frozen=True)
class ListRules:
    """Rules for the lines of a list that are left out, or stand for the same attempt."""

    #: Lines that are attempts nevertheless: ``"self"``, comparisons of a template with itself, and
    #: ``"repeated"``, pairs that are listed again.
    keep: tuple[Kept, ...] = ()
    unordered: bool = False  # whether a-b and b-a are one attempt
    shared: bool | None = None  # whether equal names are one template; None: the scores decide

    @classmethod
    def parse(
        cls,
        keep: Kept | Sequence[Kept] | None,
        unordered: bool | None,
        shared: bool | None = None,
    ) -> ListRules:
        if shared is not None and not require_flag("shared", shared):
            raise DataError(
                "`shared` is False, but equal names of a list are one template; give the templates "
                'names of their own, or `keep="self"` to count these comparisons'
            )
        unordered = require_flag("unordered", unordered)
        words = () if keep is None else keep
        keep_words = (words,) if isinstance(words, str) else tuple(require_list("keep", words))
        for word in keep_words:
            require_choice("keep", word, KEEP)
        if unordered and "repeated" in keep_words:
            raise DataError(
                "`unordered` counts each pair once, and "
                '`keep="repeated"` counts it as often as it is listed; leave one of '
                "the two out"
            )
        return cls(keep_words, unordered, shared)


def _repetitions(keys: np.ndarray) -> np.ndarray:
    """Return the lines that repeat a key, int64 (2, k): its first line, and the line itself.

    Keys 7, 5, 7, 7 have the repetitions (0, 2) and (0, 3).
    """
    ordered = np.sort(keys)  # several times faster than argsort
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    del ordered
    if not len(repeated):
        return np.zeros((2, 0), dtype=np.int64)
    # The lines with repeated keys, sorted by key. If these are few, looking them up is faster than
    # to sort all lines.
    if 8 * len(repeated) < len(keys):
        place = np.minimum(repeated.searchsorted(keys), len(repeated) - 1)
        lines = np.flatnonzero(repeated[place] == keys)
        order = lines[np.argsort(keys[lines], kind="stable")]
    else:
        order = np.argsort(keys, kind="stable")
    keys = keys[order]
    is_first = np.append(True, keys[1:] != keys[:-1])
    first = order[is_first][np.cumsum(is_first) - 1]
    return np.stack([first, order])[:, ~is_first]


def _attempts_of_templates(
    pairs: PairList, rules: ListRules, describe_rows: DescribeRows
) -> tuple[np.ndarray, list[Message]]:
    """Return which pairs of named templates are attempts, bool (p,), and notes on the others."""
    names, values, genuine = pairs.templates, pairs.values, pairs.genuine
    assert names is not None
    is_attempt = np.ones(len(genuine), dtype=bool)

    # The lines that repeat a pair of templates in any order, and those in the same order.
    low, high = np.minimum(names.gallery, names.probe), np.maximum(names.gallery, names.probe)
    keys = low.astype(np.int64) * len(names.values) + high
    same_pair = _repetitions(keys)
    same_order = same_pair
    if same_pair.size:
        same_order = _repetitions(2 * keys + (names.gallery > names.probe))

    # All lines of a pair have one class.
    first, line = same_pair
    contradictory = same_pair[:, genuine[line] != genuine[first]]
    if contradictory.size:
        problem = _repetitions_in_words(
            pairs, contradictory, "both genuine and impostor", describe_rows
        )
        raise DataError(f"{problem}; give each pair of templates one class")

    # They have one score as well, unless they are attempts of their own. Of lines in one order, the
    # first counts; if `unordered`, of a-b and b-a the one in natural order.
    advice = 'give `keep="repeated"` if these are separate attempts'
    repeated = merged = rounded = 0  # lines that are left out, and those with rounded scores
    contradictory = same_pair[:, :0]
    if "repeated" not in rules.keep:
        first, line = same_order
        is_attempt[line] = False
        repeated = len(line)
        have_failed = np.isnan(values[first]) & np.isnan(values[line])
        contradictory = same_order[:, (values[first] != values[line]) & ~have_failed]
    if rules.unordered:
        advice = "leave out `unordered`, so that a-b and b-a are two attempts"
        if same_pair.size:
            other_order = same_pair[:, is_attempt[same_pair[1]]]  # a line for each pair
            is_equal, rounded = _have_equal_scores(values, other_order)
            contradictory = np.append(contradictory, other_order[:, ~is_equal], axis=1)
            is_attempt[_in_unnatural_order(names, other_order)] = False
            merged = other_order.shape[1]
    if contradictory.size:
        problem = _repetitions_in_words(
            pairs,
            contradictory,
            "listed more than once with different scores",
            describe_rows,
            with_scores=True,
        )
        raise DataError(
            f"{problem}; list each pair once, or {advice}. Where the names are those of subjects, "
            "call their columns subject_a and subject_b in a first line"
        )

    # A comparison of a template with itself is genuine, but no attempt unless it is kept.
    with_itself = np.flatnonzero((names.gallery == names.probe) & is_attempt)
    impostors = with_itself[~genuine[with_itself]].tolist()
    if impostors:
        compare = "compares" if len(impostors) == 1 else "compare"
        raise DataError(
            f"{counted(len(impostors), 'impostor pairs')} {compare} a template with itself "
            f"({_first(len(impostors), describe_rows, impostors[:_EXAMPLES])}); correct the list, "
            "or give each template its own name"
        )
    keeps_self = "self" in rules.keep
    is_attempt[with_itself] = keeps_self
    if not is_attempt.any():
        raise DataError(
            "every pair compares a template with itself, which is not an attempt; give "
            '`keep="self"` to count such pairs'
        )

    notes = []
    if repeated:
        option = '; `keep="repeated"` counts each line'
        notes.append(Message("repeated-pairs", pairs=repeated, how="", option=option))
    if len(with_itself) and not keeps_self:
        about = {"comparisons": len(with_itself), "option": '`keep="self"`'}
        notes.append(Message("self-comparisons-left-out", **about))
    if merged:
        how = " in the other order"
        if rounded:
            how += f" ({rounded:,} with a score that differs by rounding)"
        notes.append(Message("repeated-pairs", pairs=merged, how=how, option=""))
    # In a list that was drawn by chance, some pairs are listed in both orders; a note is due where
    # nearly all pairs are.
    distinct = len(keys) - same_pair.shape[1] - len(np.unique(names.gallery[with_itself]))
    in_both_orders = same_pair.shape[1] - same_order.shape[1]
    if not rules.unordered and MOSTLY * distinct <= in_both_orders < distinct:
        numbers = {"one_order": distinct - in_both_orders, "pairs": distinct}
        consequence = ", the others in both, as two attempts each"
        about = {"consequence": consequence, "option": "`unordered=True`"}
        notes.append(Message("pairs-in-one-order", **numbers, **about))
    return is_attempt, notes


def _have_equal_scores(values: np.ndarray, lines: np.ndarray) -> tuple[np.ndarray, int]:
    """Return where two lines, (2, k), have one score but for rounding; and how many are rounded."""
    score, other_score = values[lines].astype(np.float64)
    with np.errstate(invalid="ignore"):
        gap = np.where(score == other_score, 0.0, np.abs(score - other_score))  # inf - inf is NaN
    gap[np.isnan(score) & np.isnan(other_score)] = 0.0
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    is_equal = gap <= _ROUNDING * largest
    return is_equal, int(np.count_nonzero(gap[is_equal] > 0))


def _in_unnatural_order(names: Codes, lines: np.ndarray) -> np.ndarray:
    """Return the line of a-b and b-a, (2, k), in which the names are not in natural order.

    So the line that is kept does not depend on the order of the list.
    """
    first, line = lines
    place = natural_places(names.values)
    is_descending = place[names.gallery[first]] > place[names.probe[first]]
    return np.where(is_descending, first, line)


def _repetitions_in_words(
    pairs: PairList,
    lines: np.ndarray,
    problem: str,
    describe_rows: DescribeRows,
    with_scores: bool = False,
) -> str:
    """Return how many pairs have repetitions (2, k) with a problem, and some of their lines."""
    names = pairs.templates
    assert names is not None
    first_lines, place = np.unique(lines[0], return_index=True)
    examples = []
    for first, line in lines[:, place[:_EXAMPLES]].T.tolist():
        text = describe_rows([first, line])
        if with_scores:
            text += f": {float(pairs.values[first])!r} and {float(pairs.values[line])!r}"
        name, other_name = names.values[names.gallery[first]], names.values[names.probe[first]]
        examples.append(f"{name!r} and {other_name!r} ({text})")
    number = len(first_lines)
    are = "is" if number == 1 else "are"
    ending = " and others" if number > len(examples) else ""
    return f"{counted(number, 'pairs')} {are} {problem}: {', '.join(examples)}{ending}"


def require_classes(
    genuine: np.ndarray,
    enrolled: np.ndarray,
    probe: np.ndarray,
    are_people: np.ndarray,
    describe_rows: DescribeRows,
) -> None:
    """Raise where a class contradicts the two subjects of a pair of people (`are_people`)."""
    wrong = np.flatnonzero(((enrolled == probe) != genuine) & are_people)
    if len(wrong):
        contradict = "contradicts" if len(wrong) == 1 else "contradict"
        classes = f"{counted(len(wrong), 'pairs')} {contradict} their subjects"
        raise DataError(
            f"{classes}, as impostors of one subject or as genuine pairs of two "
            f"({_first(len(wrong), describe_rows, wrong[:_EXAMPLES].tolist())}); correct their "
            "class or their subjects"
        )


def require_one_subject(
    names: Codes, enrolled: np.ndarray, probe: np.ndarray, describe_rows: DescribeRows
) -> None:
    """Raise where a template has two subjects, whose codes are `enrolled` and `probe`, (p,)."""
    subject_of_name = np.full(len(names.values), -1, dtype=np.int64)
    subject_of_name[names.probe[::-1]] = probe[::-1]
    subject_of_name[names.gallery[::-1]] = enrolled[::-1]
    for codes, subjects in ((names.gallery, enrolled), (names.probe, probe)):
        for row in np.flatnonzero(subject_of_name[codes] != subjects)[:1]:
            code = codes[row]
            first_row = np.flatnonzero((names.gallery == code) | (names.probe == code))[0]
            rows = sorted({int(first_row), int(row)})
            raise DataError(
                f"the template {names.values[code]!r} is of two subjects ({describe_rows(rows)}); "
                "equal names are one template: correct the subjects, or give each template its own "
                "name"
            )


def _first(number: int, describe_rows: DescribeRows, rows: Sequence[int]) -> str:
    return ("first: " if number > len(rows) else "") + describe_rows(rows)
