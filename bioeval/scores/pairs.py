"""Fixed trials: one score per pair, listed, perhaps with the names of the templates of both sides.

A pair has one class, whatever its order. With names, the same ordered pair counts once, and a
comparison of a template with itself is not an attempt, as in a matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from bioeval.base.arguments import joined, require_array, require_choice, require_flag, require_list
from bioeval.base.errors import DataError, Message, ProtocolError, counted, received
from bioeval.base.kinds import LARGER_IS_CLOSER, Kind, NanPolicy
from bioeval.scores.arrays import as_array, digest, digest_of_values
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

    layout = "pairs"

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
        coded = _both_sides(pair_templates, "pair_templates", len(array), as_labels)
        people = _both_sides(subjects, "subjects", len(array), as_subjects)
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
            str(name): _both_sides(column, f"meta {name!r}", len(array), one_dimensional, name)
            for name, column in (meta or {}).items()
        }
        return cls(array, flags.astype(bool), folds, people, coded, columns)

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
        # Of texts, equal ones are one object.
        labels = labels if labels.dtype.kind in "biuf" else labels.astype(object)
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
        listed = self.subjects[~codes.no_person[np.column_stack([codes.gallery, codes.probe])]]
        return as_objects(list(dict.fromkeys(listed.tolist())))

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

        def rows_of(array: Any) -> Any:
            if array is None:
                return None
            return array.take(rows) if isinstance(array, Codes) else array[rows]

        names = ("values", "genuine", "folds", "people", "templates", "ids")
        return replace(
            self,
            **{name: rows_of(getattr(self, name)) for name in names},
            meta={name: column.take(rows) for name, column in self.meta.items()},
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
        subjects = None  # numbers of the enrolled subjects and of the probes' subjects, (p,) each
        of_somebody: np.ndarray | None = None  # pairs with a person on a side
        notes: list[Message] = []
        if self.people is not None:
            subjects = self.people.gallery, self.people.probe
            nobody = are_of_no_person(self.people.labels, no_person)
            are_nobody = nobody[subjects[0]], nobody[subjects[1]]
            are_people = ~(are_nobody[0] | are_nobody[1])
            require_classes(self.genuine, *subjects, are_people, describe_rows)
            if (of_nobody := are_nobody[0] & are_nobody[1]).any():
                of_somebody = ~of_nobody
                notes.append(Message("pairs-of-no-person", pairs=int(of_nobody.sum())))
        for end in (np.inf, -np.inf):
            if len(infinite := np.flatnonzero(self.values == end)):
                is_nearest = (kind in LARGER_IS_CLOSER) == (end > 0)
                where = f" ({describe_rows([int(infinite[0])])})"
                about = {"accepted": "every" if is_nearest else "no", "first": where}
                notes.append(Message("infinite-scores", scores=len(infinite), **about))
        if self.templates is None:
            if rules.unordered:
                raise DataError(
                    "`unordered` needs the names of the templates of both sides of each "
                    "pair, such as columns template_a and template_b"
                )
            pairs = self if of_somebody is None else self.take(of_somebody)
            return pairs, of_somebody, notes
        if subjects is not None:
            require_one_subject(self.templates, *subjects, describe_rows)
        itself = self.templates.gallery[self.templates.gallery == self.templates.probe]
        if len(itself) and "self" not in rules.keep:
            partner = np.full(len(self.templates.values), -1)
            partner[itself] = itself
            codes = None if self.people is None else self.codes
            scored = Scored.of_pairs(self, kind, codes)
            confirm_names(scored, partner, self.templates.values, shared=rules.shared)
        is_attempt, further_notes = _attempts_of_templates(self, rules, describe_rows)
        if of_somebody is not None:
            is_attempt = of_somebody if is_attempt is None else is_attempt & of_somebody
        pairs = self if is_attempt is None else self.take(is_attempt)
        return replace(pairs, unordered=rules.unordered), is_attempt, notes + further_notes

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
    """Return which pairs of labels are genuine, and which are attempts: not those of nobody."""
    codes = Codes(probes, enrolled, "subjects", of_any_type=no_person)
    is_nobody = codes.of_no_person(no_person)
    is_enrolled_nobody, is_probe_nobody = is_nobody[codes.gallery], is_nobody[codes.probe]
    genuine = (codes.probe == codes.gallery) & ~is_probe_nobody
    return genuine, ~(is_enrolled_nobody & is_probe_nobody)


class _MetaOfSide(Mapping[str, np.ndarray]):
    """The metadata of one side of pairs; a column is made when it is read."""

    def __init__(self, columns: Mapping[str, Codes], side: int):
        self._columns = columns
        self._side = side

    def __getitem__(self, name: str) -> np.ndarray:
        codes = self._columns[name]
        return read_only(codes.values[codes.probe if self._side else codes.gallery])

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def _both_sides(
    names: Any, input_name: str, length: int, check: Callable[..., np.ndarray], column: Any = None
) -> Any:
    """Return names, subjects or metadata of both sides as codes; None if not given."""
    if names is None or isinstance(names, Codes):
        return names
    array = require_array(input_name, names)
    if array.shape != (length, 2):
        raise DataError(
            f"{input_name} has shape {array.shape}; expected ({length}, 2), both sides of each pair"
        )
    values = array.ravel()
    if array.dtype.kind == "O":
        values = one_dimensional(values, input_name)
    if column is None:
        values = with_whole_numbers(values, f"`{input_name}`")
    are_subjects = check is as_subjects
    values = check(values, input_name) if are_subjects else read_only(values, names)
    sides = values.reshape(array.shape)
    nobody = NO_PERSON if are_subjects else ()
    return Codes.of_pairs(sides, input_name if column is None else column, check, nobody)


# ----------------------------------------------------------------- contradictory and repeated pairs


#: Lines of a list that are left out unless `keep` names them.
Kept = Literal["self", "repeated"]
KEEP: tuple[Kept, ...] = get_args(Kept)

# The pairs that a message shows.
_EXAMPLES = 3

#: The least share of pairs that counts as nearly all.
MOSTLY = 0.9

# Two scores of a pair are equal but for rounding if they differ by at most this share of the
# largest score of the list.
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


def _listed_again(keys: np.ndarray) -> np.ndarray:
    """Return the rows of lines with equal keys, int64 (2, k): the first one, and each later one."""
    ordered = np.sort(keys)  # several times faster than argsort
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    del ordered
    if not len(repeated):
        return np.zeros((2, 0), dtype=np.int64)
    if 8 * len(repeated) < len(keys):  # few: looking them up is faster than to sort all rows
        place = np.minimum(repeated.searchsorted(keys), len(repeated) - 1)
        rows = np.flatnonzero(repeated[place] == keys)
        order = rows[np.argsort(keys[rows], kind="stable")]
    else:
        order = np.argsort(keys, kind="stable")
    keys = keys[order]
    is_first = np.append(True, keys[1:] != keys[:-1])
    first = order[is_first][np.cumsum(is_first) - 1]
    return np.stack([first, order])[:, ~is_first]


def _attempts_of_templates(
    pairs: PairList, rules: ListRules, describe_rows: DescribeRows
) -> tuple[np.ndarray | None, list[Message]]:
    """Return which pairs of named templates are attempts (None: all), and notes on the others."""
    names, values, genuine = pairs.templates, pairs.values, pairs.genuine
    assert names is not None

    def described(lines: np.ndarray, scores: bool = False) -> tuple[str, str]:
        """Return how many pairs have lines (2, k) that are listed again, and some of the lines."""
        first_rows, line = np.unique(lines[0], return_index=True)
        examples = []
        for row, later in zip(first_rows[:_EXAMPLES], lines[1, line[:_EXAMPLES]], strict=True):
            text = describe_rows([int(row), int(later)])
            if scores:
                text += f": {float(values[row])!r} and {float(values[later])!r}"
            name, other_name = names.values[names.gallery[row]], names.values[names.probe[row]]
            examples.append(f"{name!r} and {other_name!r} ({text})")
        number = len(first_rows)
        ending = " and others" if number > len(examples) else ""
        are = "is" if number == 1 else "are"
        return f"{counted(number, 'pairs')} {are}", f"{', '.join(examples)}{ending}"

    # The keys of pairs are both names in any order, and the same with their order.
    low, high = np.minimum(names.gallery, names.probe), np.maximum(names.gallery, names.probe)
    keys = low.astype(np.int64) * len(names.values) + high
    same_templates = _listed_again(keys)
    same_order = same_templates
    if same_templates.size:
        same_order = _listed_again(2 * keys + (names.gallery > names.probe))
    distinct = len(keys) - same_templates.shape[1]
    in_both_orders = same_templates.shape[1] - same_order.shape[1]
    is_kept = np.ones(len(genuine), dtype=bool)
    repeated = merged = rounded = 0  # lines that are left out, and merged ones with rounding
    if same_templates.size:
        first, later = same_templates
        contradictory = same_templates[:, genuine[later] != genuine[first]]
        if contradictory.size:
            number_are, examples = described(contradictory)
            raise DataError(
                f"{number_are} both genuine and impostor: {examples}; give each pair of templates "
                "one class"
            )
        different = [same_templates[:, :0]]  # lines of the same templates with other scores
        if "repeated" not in rules.keep:
            lines = first, later = same_order
            is_kept[later] = False
            repeated = len(later)
            have_failed = np.isnan(values[first]) & np.isnan(values[later])
            different.append(lines[:, (values[first] != values[later]) & ~have_failed])
        if rules.unordered:  # pairs that are listed in the other order are the same attempt
            lines = same_templates[:, is_kept[same_templates[1]]]
            score, later_score = values[lines].astype(np.float64)
            with np.errstate(invalid="ignore"):
                gap = np.where(score == later_score, 0.0, np.abs(score - later_score))
            gap[np.isnan(score) & np.isnan(later_score)] = 0.0
            largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
            is_different = ~(gap <= _ROUNDING * float(largest))
            different.append(lines[:, is_different])
            rounded = int((gap[~is_different] > 0).sum())
            # The line with its names in natural order is kept.
            place = natural_places(names.values)
            first, later = lines
            is_descending = place[names.gallery[first]] > place[names.probe[first]]
            is_kept[np.where(is_descending, first, later)] = False
            merged = len(first)
        all_different = np.concatenate(different, axis=1)
        if all_different.size:
            number_are, examples = described(all_different, scores=True)
            advice = 'give `keep="repeated"` if these are separate attempts'
            if rules.unordered:
                advice = "leave out `unordered`, so that a-b and b-a are two attempts"
            raise DataError(
                f"{number_are} listed more than once with different scores: {examples}; list each "
                f"pair once, or {advice}. Where the names are those of subjects, call their "
                "columns subject_a and subject_b in a first line"
            )
    itself = np.flatnonzero((names.gallery == names.probe) & is_kept)
    impostors = itself[~genuine[itself]].tolist()
    if impostors:
        compare = "compares" if len(impostors) == 1 else "compare"
        raise DataError(
            f"{counted(len(impostors), 'impostor pairs')} {compare} a template with itself "
            f"({_first(len(impostors), describe_rows, impostors[:_EXAMPLES])}); correct the list, "
            "or give each template its own name"
        )
    keeps_self = "self" in rules.keep
    is_kept[itself] = keeps_self
    if not is_kept.any():
        raise DataError(
            "every pair compares a template with itself, which is not an attempt; give "
            '`keep="self"` to count such pairs'
        )

    notes = []
    if repeated:
        option = '; `keep="repeated"` counts each line'
        notes.append(Message("repeated-pairs", pairs=repeated, how="", option=option))
    if len(itself) and not keeps_self:
        about = {"comparisons": len(itself), "option": '`keep="self"`'}
        notes.append(Message("self-comparisons-left-out", **about))
    distinct -= len(np.unique(names.gallery[itself]))
    if merged:
        how = " in the other order"
        if rounded:
            how += f" ({rounded:,} with a score that differs by rounding)"
        notes.append(Message("repeated-pairs", pairs=merged, how=how, option=""))
    # In a list that was drawn by chance, some pairs are listed in both orders; a note is due where
    # nearly all pairs are.
    elif not rules.unordered and MOSTLY * distinct <= in_both_orders < distinct:
        numbers = {"one_order": distinct - in_both_orders, "pairs": distinct}
        consequence = ", the others in both, as two attempts each"
        about = {"consequence": consequence, "option": "`unordered=True`"}
        notes.append(Message("pairs-in-one-order", **numbers, **about))
    return (None if is_kept.all() else is_kept), notes


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
