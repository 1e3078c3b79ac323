"""Fixed trials: one score per pair, listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import require_array
from bioeval.base.array_libraries import joined
from bioeval.base.errors import DataError, ProtocolError, received
from bioeval.base.kinds import Kind, NanPolicy
from bioeval.base.messages import Message
from bioeval.scores.arrays import as_array
from bioeval.scores.coded_sides import CodedSides
from bioeval.scores.codes import Codes
from bioeval.scores.distances import as_distances, with_failures
from bioeval.scores.fingerprints import digest, digest_of_values
from bioeval.scores.image_names import EXAMPLE_PATTERN, subject_pattern
from bioeval.scores.labels import (
    as_labels,
    as_objects,
    as_subjects,
    one_dimensional,
    read_only,
    require_one_type,
    with_whole_numbers,
)
from bioeval.scores.listed_templates import (
    DescribeRows,
    ListedTemplates,
    ListRules,
    note_on_infinite,
    require_classes,
    require_one_subject,
)
from bioeval.scores.missing import NO_PERSON, are_of_no_person
from bioeval.scores.same import Scored, confirm_names


@dataclass(frozen=True, eq=False)
class PairList:
    """A list of pairs: the source of scores of layout ``"pairs"``.

    The first side of a pair is the enrolled template, the second the probe.
    """

    values: np.ndarray  # (p,)
    genuine: np.ndarray  # bool (p,)
    folds: np.ndarray | None = None  # (p,)
    people: Any = None  # the subjects of both sides, as an array (p, 2) or coded; None: unknown
    templates: CodedSides | None = None  # the names of the templates of both sides
    meta: Mapping[str, CodedSides] = field(default_factory=dict)
    #: int64, (p, 2): the identities of both templates; or (p, 1): the position of the pair in the
    #: list from which it was selected; None for a whole list.
    ids: np.ndarray | None = None
    unordered: bool = False  # whether both orders of two templates were merged
    missing: int = 0  # number of pairs of a published list that are not in this list
    #: The place of the first failed comparison in the list, and its line in words.
    failed_at: tuple[int, str] | None = None

    layout = "pairs"

    def __post_init__(self) -> None:
        for array in (self.genuine, self.folds, self.people, self.ids):
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
        coded = _both_sides(pair_templates, "pair_templates", len(array))
        if isinstance(coded, np.ndarray):
            coded = CodedSides.from_names(coded, "pair_templates")
        people = _both_sides(subjects, "subjects", len(array))
        if isinstance(people, np.ndarray):
            people = read_only(as_subjects(people.reshape(-1), "subjects").reshape(people.shape))
            typed = [side[~are_of_no_person(side, NO_PERSON)] for side in people.T]
            require_one_type(typed[0], typed[1], "subjects")
        folds = None
        if pair_folds is not None:
            folds = as_labels(pair_folds, "pair_folds")
            if len(folds) != len(array):
                raise DataError(
                    f"pair_folds has {len(folds)} values; expected {len(array)}, one per pair"
                )
        columns = _meta_of_pairs(meta, len(array))
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
    def sides(self) -> CodedSides | None:
        """The subjects of both sides, each name once; None where they are not known."""
        if isinstance(self.people, np.ndarray):
            return CodedSides.from_names(self.people, "subjects", as_subjects, NO_PERSON)
        return self.people

    @cached_property
    def subjects(self) -> np.ndarray | None:
        """The subjects of both sides of each pair, (p, 2)."""
        if isinstance(self.people, CodedSides):
            return read_only(self.people.objects())
        return self.people

    @cached_property
    def codes(self) -> Codes:
        """The subjects as codes: the second of a pair is the probe's, the first is enrolled."""
        if isinstance(self.people, CodedSides):
            return self.people.codes()
        enrolled, probes = (as_subjects(side, "subjects") for side in self.people.T.tolist())
        return Codes(probes, enrolled, of_any_type=NO_PERSON)

    def distinct_subjects(self, codes: Codes) -> np.ndarray:
        """Return the distinct subjects in the order of the list, without templates of no person."""
        if self.subjects is None:
            return np.array([])
        listed = self.subjects[~codes.no_person[np.column_stack([codes.gallery, codes.probe])]]
        return as_objects(list(dict.fromkeys(listed.tolist())))

    def meta_of(self, side: int) -> Mapping[str, np.ndarray]:
        """Return the metadata columns of the enrolled template (0) or of the probe (1)."""
        return _MetaOfSide(self.meta, side)

    @property
    def subject_pattern(self) -> str:
        """A pattern that takes the subject from the names of templates, for `subject_from`."""
        sides = self.templates
        if sides is None:
            return EXAMPLE_PATTERN
        return subject_pattern(sides.values, (sides.a, sides.b, self.genuine))

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
            return array.take(rows) if isinstance(array, CodedSides) else array[rows]

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
        templates, people = self.templates, self.people
        if templates is not None:
            templates = templates.exchanged(is_exchanged)
        if isinstance(people, CodedSides):
            people = people.exchanged(is_exchanged)
        elif people is not None:
            people = np.where(is_exchanged[:, None], people[:, ::-1], people)
        meta = {name: column.exchanged(is_exchanged) for name, column in self.meta.items()}
        return replace(self, templates=templates, people=people, meta=meta)

    def attempts(
        self,
        rules: ListRules,
        kind: Kind,
        describe_rows: DescribeRows,
        no_person: Sequence[Any] = NO_PERSON,
    ) -> ListedAttempts:
        """Return the pairs that are attempts; the arguments are those of :meth:`examined`."""
        is_attempt, notes = self.examined(rules, kind, describe_rows, no_person)
        places = np.arange(len(self.values))
        pairs = self
        if is_attempt is not None:
            places = places[is_attempt]
            pairs = self.take(is_attempt)
        return ListedAttempts(replace(pairs, unordered=rules.unordered), places, tuple(notes))

    def examined(
        self,
        rules: ListRules,
        kind: Kind,
        describe_rows: DescribeRows,
        no_person: Sequence[Any] = NO_PERSON,
    ) -> tuple[np.ndarray | None, list[Message]]:
        """Return which pairs are attempts (None: all), and notes on the pairs left out.

        `describe_rows` names the places of pairs, for messages. Subjects must agree with the
        classes, except in pairs with a subject that is `no_person`.

        Raises
        ------
        DataError
            If a pair contradicts its subjects or another pair.
        """
        subjects = self._codes_of_sides() if self.people is not None else None
        of_somebody: np.ndarray | None = None  # pairs with a person on a side
        notes: list[Message] = []
        if subjects is not None:
            nobody = self.codes.of_no_person(no_person)
            are_nobody = nobody[self.codes.gallery], nobody[self.codes.probe]
            are_people = ~(are_nobody[0] | are_nobody[1])
            require_classes(self.genuine, *subjects, are_people, describe_rows)
            if (of_nobody := are_nobody[0] & are_nobody[1]).any():
                of_somebody = ~of_nobody
                notes.append(Message("pairs-of-no-person", pairs=int(of_nobody.sum())))
        notes += note_on_infinite(self.values, kind, describe_rows)
        if self.templates is None:
            if rules.unordered:
                raise DataError(
                    "`unordered` needs the names of the templates of both sides of each "
                    "pair, such as columns template_a and template_b"
                )
            return of_somebody, notes
        if subjects is not None:
            require_one_subject(self.templates, *subjects, describe_rows)
        itself = self.templates.a[self.templates.a == self.templates.b]
        if len(itself) and "self" not in rules.keep:
            partner = np.full(len(self.templates.values), -1)
            partner[itself] = itself
            codes = None if self.people is None else self.codes
            scored = Scored.of_pairs(self, kind, codes)
            confirm_names(scored, partner, self.templates.values, shared=rules.shared)
        listed = ListedTemplates(self.templates, self.values, self.genuine, rules, describe_rows)
        is_attempt, further_notes = listed.attempts()
        if of_somebody is not None:
            is_attempt = of_somebody if is_attempt is None else is_attempt & of_somebody
        return is_attempt, notes + further_notes

    def _codes_of_sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers of the enrolled subjects and of the probes' subjects, (p,) each."""
        if isinstance(self.people, CodedSides):
            return self.people.a, self.people.b
        return self.codes.gallery, self.codes.probe

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


class ListedAttempts(NamedTuple):
    """The attempts of a list of pairs."""

    pairs: PairList
    places: np.ndarray  # int64: their places in the list
    notes: tuple[Message, ...]  # on the pairs left out


def classes_of_subjects(
    enrolled: np.ndarray, probes: np.ndarray, no_person: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Return which pairs of labels are genuine, and which are attempts.

    A pair of two labels of no person is no attempt.
    """
    codes = Codes(probes, enrolled, "subjects", of_any_type=no_person)
    is_nobody = codes.of_no_person(no_person)
    is_enrolled_nobody, is_probe_nobody = is_nobody[codes.gallery], is_nobody[codes.probe]
    genuine = (codes.probe == codes.gallery) & ~is_probe_nobody
    return genuine, ~(is_enrolled_nobody & is_probe_nobody)


class _MetaOfSide(Mapping[str, np.ndarray]):
    """The metadata of one side of pairs; a column is made when it is read."""

    def __init__(self, columns: Mapping[str, CodedSides], side: int):
        self._columns = columns
        self._side = side

    def __getitem__(self, name: str) -> np.ndarray:
        return read_only(self._columns[name].side(self._side))

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def _meta_of_pairs(meta: Mapping[str, Any] | None, length: int) -> dict[str, CodedSides]:
    if meta is None:
        return {}
    if not isinstance(meta, Mapping):
        raise DataError(f"meta is {received(meta)}; expected a mapping of names to columns")
    columns = {}
    for name, column in meta.items():
        sides = _both_sides(column, f"meta {name!r}", length, are_labels=False)
        if not isinstance(sides, CodedSides):
            sides = CodedSides.from_names(sides, name, one_dimensional)
        columns[str(name)] = sides
    return columns


def _both_sides(names: Any, input_name: str, length: int, *, are_labels: bool = True) -> Any:
    """Return names of both sides as coded sides, or as an array (p, 2); None if not given."""
    if names is None or isinstance(names, CodedSides):
        return names
    array = require_array(input_name, names)
    if array.shape != (length, 2):
        raise DataError(
            f"{input_name} has shape {array.shape}; expected ({length}, 2), both sides of each pair"
        )
    values = array.ravel()
    if array.dtype.kind == "O":
        values = one_dimensional(values, input_name)
    if are_labels:
        values = with_whole_numbers(values, f"`{input_name}`")
    return read_only(values.reshape(array.shape), names)
