"""Fixed trials: one score per pair, listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn, Self

import numpy as np

from bioeval.base.arguments import require_array
from bioeval.base.array_libraries import joined
from bioeval.base.errors import Argument, DataError, Part, ProtocolError, received
from bioeval.base.kinds import Kind
from bioeval.base.messages import Message
from bioeval.scores.arrays import as_array, as_distances, as_index, with_failures
from bioeval.scores.columns import PIECE, CodedSides
from bioeval.scores.labelled_matrix import NanPolicy, memory_attributes
from bioeval.scores.labels import (
    Codes,
    as_labels,
    as_objects,
    digest,
    digest_of_values,
    fixed,
    one_dimensional,
    plain,
    require_one_type,
)
from bioeval.scores.listed_templates import (
    ListedTemplates,
    ListRules,
    Where,
    note_on_infinite,
    require_classes,
    require_one_subject,
    subject_pattern,
)
from bioeval.scores.matrix import Scores


class PairScores(Scores):
    """Fixed trials: one score per pair; see :meth:`Scores.from_pairs`.

    Attributes
    ----------
    genuine : ndarray of bool, shape (p,)
    pair_subjects : ndarray, shape (p, 2), or None
        The subjects of both sides of each pair, the enrolled one first.
    pair_folds : ndarray, shape (p,), or None
    pair_ids : int64 array, shape (p, 1) or (p, 2)
        The position of each pair in the list, or the identities of its two templates.
    pair_templates : ndarray, shape (p, 2), or None
        The names of the templates of both sides of each pair: enrolled template, probe.
    unordered : bool
        Whether both orders of two templates were merged.
    attack : ndarray, shape (p,), or None
        The attack instrument species of each pair; empty for bona fide presentations.
    probe_meta, gallery_meta : mapping of str to ndarray, shape (p,)
        Metadata columns of the second template of each pair, which is the probe, and of the first,
        which is enrolled.
    missing : int
        Pairs of a published list that are not among these, since one of their templates is missing.
    """

    genuine: np.ndarray
    pair_folds: np.ndarray | None
    missing = 0
    unordered = False
    attack: np.ndarray | None = None
    _layout = "pairs"
    _labelled = False
    _subjects: Any
    _templates: Any
    _meta: Mapping[str, CodedSides] = {}
    _pair_ids: np.ndarray | None = None
    #: The first failed comparison of a file, and its place there, for messages.
    _failed_at: tuple[int, str] | None = None

    def __init__(
        self,
        scores: Any,
        genuine: Any,
        *,
        kind: Kind = "distance",
        nan: NanPolicy = "raise",
        subjects: Any = None,
        pair_folds: Any = None,
        name: str | None = None,
        pair_templates: Any = None,
        meta: Mapping[str, Any] | None = None,
    ):
        """Check what is given of each pair."""
        self._set_words(kind, nan, name)
        self._set(**memory_attributes())
        array = as_array(joined(scores, "scores", 1), "scores")
        if array.ndim != 1 or len(array) == 0:
            raise DataError(f"scores has shape {array.shape}; expected one score per pair")
        flags = require_array("genuine", joined(genuine, "genuine", 1))
        if flags.shape != array.shape:
            raise DataError(
                f"genuine has shape {flags.shape}; expected {array.shape}, one value per pair"
            )
        known = flags.dtype == bool
        if not known and (flags.dtype.kind not in "biuf" or not np.isin(flags, (0, 1)).all()):
            raise DataError("genuine has values other than 0 and 1 (or False and True)")
        coded = _both_sides(pair_templates, "pair_templates", len(array))
        if isinstance(coded, np.ndarray):
            coded = CodedSides.of(coded, "pair_templates")
        people = _both_sides(subjects, "subjects", len(array))
        if isinstance(people, np.ndarray):
            require_one_type(people[:, 0], people[:, 1], "subjects")
        fold_of_pair = None
        if pair_folds is not None:
            fold_of_pair = as_labels(pair_folds, "pair_folds")
            if len(fold_of_pair) != len(array):
                raise DataError(
                    f"pair_folds has {len(fold_of_pair)} values; expected {len(array)}, one per "
                    "pair"
                )
        self._set(
            _base=array,
            genuine=flags.astype(bool),
            pair_folds=fold_of_pair,
            _subjects=people,
            _templates=coded,
            _meta=_meta_of_pairs(meta, len(array)),
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of pairs."""
        return self._base.shape

    @property
    def _knows_subjects(self) -> bool:
        """Whether the subjects of the pairs are known."""
        return self._subjects is not None

    @cached_property
    def pair_subjects(self) -> np.ndarray | None:
        """The subjects of both sides of each pair."""
        subjects = self._subjects
        if isinstance(subjects, CodedSides):
            subjects = subjects.objects()
        if subjects is None:
            return None
        return fixed(subjects)

    @property
    def pair_templates(self) -> np.ndarray | None:
        """The names of the templates of both sides of each pair."""
        return None if self._templates is None else self._templates.objects()

    @property
    def probe_meta(self) -> Mapping[str, np.ndarray]:
        """The metadata columns of the probe, the second template of each pair."""
        return _MetaOfSide(self._meta, 1)

    @property
    def gallery_meta(self) -> Mapping[str, np.ndarray]:
        """The metadata columns of the enrolled template, the first of each pair."""
        return _MetaOfSide(self._meta, 0)

    @property
    def _sides(self) -> CodedSides | None:
        """The subjects of both sides, each name once; None where they are not known."""
        if isinstance(self._subjects, np.ndarray):
            return CodedSides.of(self._subjects, "subjects")
        return self._subjects

    @cached_property
    def _pair_codes(self) -> Codes:
        """The subjects as codes: the second of a pair is the probe's, the first is enrolled."""
        if isinstance(self._subjects, CodedSides):
            codes = self._subjects.codes()
        else:
            enrolled, probes = self._subjects.T.tolist()
            codes = Codes(as_labels(probes, "subjects"), as_labels(enrolled, "subjects"))
        if not self._ids_of_no_person:
            return codes
        return codes.apart(self._ids_of_no_person, 2 * codes.probe + 1, 2 * codes.gallery)

    @property
    def _no_person(self) -> np.ndarray:
        return self._pair_codes.no_person

    def _distances(self, piece: np.ndarray | None = None) -> np.ndarray:
        """Return the scores, or those of a piece, as distances under the policy of NaN."""
        values = self.values if piece is None else piece
        distances = as_distances(values[None], self.kind)[0]
        failed = np.isnan(distances)
        if self.nan == "reject":
            return with_failures(distances, failed)
        if not failed.any() or self.nan == "exclude":
            return distances
        place = f"at position {int(np.argmax(failed))}"
        if self._failed_at is not None and np.isnan(self.values[self._failed_at[0]]):
            place = self._failed_at[1]
        raise DataError(
            f"the scores hold {int(failed.sum())} NaN, the first {place}; choose how to treat "
            f"failed comparisons: {Argument('nan', 'reject')} or {Argument('nan', 'exclude')}"
        )

    @property
    def _agreeing_codes(self) -> Codes:
        """The subjects as codes; raise :class:`DataError` where they contradict the classes."""
        codes = self._pair_codes
        wrong = (codes.probe == codes.gallery) != self.genuine
        if wrong.any():
            i = int(np.argmax(wrong))
            a = plain(codes.values[codes.gallery[i]])
            b = plain(codes.values[codes.probe[i]])
            raise DataError(
                f"{int(wrong.sum())} pairs contradict their subjects, the first is pair {i}: "
                f"subjects {a!r} and {b!r}, genuine {bool(self.genuine[i])}"
            )
        return codes

    @property
    def _subject_pattern(self) -> str:
        """A pattern that takes the subject from the names of templates, for `subject_from`."""
        sides = self._templates
        if sides is None:
            return super()._subject_pattern
        return subject_pattern(sides.values, (sides.a, sides.b, self.genuine))

    def _require_subjects(self, input_name: Part, instead: Part = "") -> None:
        """Raise :class:`ProtocolError` unless the subjects of the pairs are known."""
        if not self._knows_subjects:
            raise ProtocolError(
                f"{input_name} needs the subjects of both sides of each pair: in a file, the "
                "columns subject_a and subject_b (.csv) or the array subjects (.npz), or "
                f"--subject-from '{self._subject_pattern}' where the names of templates hold them; "
                f"in Python, subjects= to Scores.from_pairs{instead}"
            )

    @cached_property
    def pair_ids(self) -> np.ndarray:
        """The position of each pair in the list, or the identities of its two templates."""
        if self._pair_ids is not None:
            return self._pair_ids
        return fixed(np.arange(len(self._base), dtype=np.int64)[:, None])

    def _pieces(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the scores of pairs and their classes, in pieces, until the end of the list."""
        for low in range(0, len(self._base), PIECE):
            yield self._base[low : low + PIECE], self.genuine[low : low + PIECE]

    @property
    def subjects(self) -> np.ndarray:
        """The distinct subjects of both sides; empty where they were not given."""
        if self.pair_subjects is None:
            return np.array([])
        none = self._pair_codes.no_person
        sides = [self._pair_codes.gallery, self._pair_codes.probe]
        listed = self.pair_subjects[~none[np.column_stack(sides)]]
        return as_objects(list(dict.fromkeys(listed.tolist())))

    @property
    def fingerprint(self) -> str:
        """Number of pairs, dtype, kind, and digests of the genuine flags and of the scores."""
        flags = digest(self.genuine.view(np.uint8))
        kind = f"{self.dtype.name} {self.kind}"
        values = digest_of_values([self.values])
        return f"{len(self._base)} pairs {kind} genuine:{flags} values:{values}"

    def __repr__(self) -> str:
        return (
            f"<PairScores {len(self._base)} pairs, {int(self.genuine.sum())} genuine, "
            f"{self.dtype} {self.kind}, nan={self.nan!r}>"
        )

    def _as_exclusions(self, exclude: Sequence[str]) -> NoReturn:
        """Raise: pairs are left out, not excluded by metadata."""
        raise ProtocolError("a pair list excludes nothing by metadata; leave the pairs out")

    def select(self, *index: Any, probes: Any = None, gallery: Any = None) -> Self:
        """Take some pairs: one index, or `probes`; pairs have no gallery."""
        probes, gallery = self._chosen(index, probes, gallery)
        if gallery is not None:
            raise ProtocolError("a pair list has no gallery to select from; give probes= alone")
        if probes is None:
            return self
        places = as_index(probes, len(self._base), "probes")
        return self._taking(places)._with(_pair_ids=self.pair_ids[places])

    def _sides_of_one(self, index: Any) -> tuple[Any, Any]:
        """Return what a single index chooses: pairs."""
        return index, None

    def _taking(self, rows: np.ndarray) -> Self:
        """Return some pairs, by their places or by a boolean selection, without remarks."""
        who, folds = self._subjects, self.pair_folds
        if who is not None:
            who = who.take(rows) if isinstance(who, CodedSides) else who[rows]
        view = type(self)(
            self._base[rows],
            self.genuine[rows],
            kind=self.kind,
            nan=self.nan,
            subjects=who,
            pair_folds=None if folds is None else folds[rows],
            name=self.name,
            pair_templates=None if self._templates is None else self._templates.take(rows),
            meta={name: column.take(rows) for name, column in self._meta.items()},
        )
        view._set(unordered=self.unordered, _reading=self._reading)
        view._set(_origin=self._origin, _metric=self._metric)
        if self.attack is not None:
            view._set(attack=self.attack[rows])
        if self._pair_ids is not None:
            view._set(_pair_ids=self._pair_ids[rows])
        return view

    def _with_sides_exchanged(self, turned: np.ndarray) -> Self:
        """Return a view in which the two sides of some pairs are exchanged."""
        templates, subjects = self._templates, self._subjects
        if templates is not None:
            templates = templates.exchanged(turned)
        if isinstance(subjects, CodedSides):
            subjects = subjects.exchanged(turned)
        elif subjects is not None:
            subjects = np.where(turned[:, None], subjects[:, ::-1], subjects)
        meta = {name: column.exchanged(turned) for name, column in self._meta.items()}
        return self._with(_templates=templates, _subjects=subjects, _meta=meta)

    def _with_all_sides_exchanged(self) -> Self:
        """Return a view in which the two sides of all pairs are exchanged."""
        return self._with_sides_exchanged(np.ones(self.shape[0], dtype=bool))

    def _attempts(self, rules: ListRules, where: Where) -> Self:
        """Return the pairs that are attempts, with remarks on the others; see :meth:`examined`."""
        keep, notes = self._examined(rules, where)
        kept = self._taking(keep) if keep is not None else self
        return kept._with(unordered=rules.unordered, _remarks=tuple(notes))

    def _examined(
        self, rules: ListRules, where: Where, classes: bool = True
    ) -> tuple[np.ndarray | None, list[Message]]:
        """Return which pairs are attempts (None: all), and notes on the others.

        `where` names the places of pairs, for messages; without `classes`, an impostor pair of one
        subject is none that contradicts its subjects.

        Raises
        ------
        DataError
            If a pair contradicts its subjects or another pair.
        """
        who = self._subjects
        if who is not None and classes:
            a, b = (who.a, who.b) if isinstance(who, CodedSides) else (who[:, 0], who[:, 1])
            require_classes(self.genuine, a, b, where)
        notes = note_on_infinite(self._base, self.kind, where)
        keep = None
        if self._templates is not None and who is not None and classes:
            if not isinstance(who, CodedSides):
                a, b = self._pair_codes.labelled.gallery, self._pair_codes.labelled.probe
            require_one_subject(self._templates, a, b, where)
        if self._templates is not None:
            listed = ListedTemplates(self._templates, self._base, self.genuine, where)
            keep, more = listed.kept(rules)
            notes += more
        elif rules.unordered:
            raise DataError(
                f"{Argument('unordered')} needs the names of the templates of both sides of each "
                "pair, such as columns template_a and template_b"
            )
        return keep, notes


class _MetaOfSide(Mapping[str, np.ndarray]):
    """The metadata of one side of pairs; a column is made when it is asked for."""

    def __init__(self, columns: Mapping[str, CodedSides], side: int):
        self._columns, self._side = columns, side

    def __getitem__(self, name: str) -> np.ndarray:
        return fixed(self._columns[name].side(self._side))

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def _meta_of_pairs(meta: Mapping[str, Any] | None, length: int) -> dict[str, CodedSides]:
    """Return metadata columns of both sides of pairs, checked."""
    if meta is None:
        return {}
    if not isinstance(meta, Mapping):
        raise DataError(f"meta is {received(meta)}; expected a mapping of names to columns")
    columns = {}
    for name, column in meta.items():
        sides = _both_sides(column, f"meta {name!r}", length)
        if not isinstance(sides, CodedSides):
            sides = CodedSides.of(sides, name, one_dimensional)
        columns[str(name)] = sides
    return columns


def _both_sides(names: Any, input_name: str, length: int) -> Any:
    """Return names of both sides as coded sides, or as an array, (p, 2)."""
    if names is None or isinstance(names, CodedSides):
        return names
    array = require_array(input_name, names)
    if array.shape != (length, 2):
        raise DataError(
            f"{input_name} has shape {array.shape}; expected ({length}, 2), both sides of each pair"
        )
    if array.dtype.kind == "O":
        array = one_dimensional(array.ravel(), input_name).reshape(array.shape)
    return fixed(array, names)
