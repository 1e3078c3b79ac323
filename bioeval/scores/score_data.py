"""Attributes of scores, whether their source is a matrix, a list of pairs or top-K lists.

Tasks and studies refuse scores that lack what they need by the functions at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import DataError, Message, ProtocolError, received
from bioeval.base.kinds import LARGER_IS_CLOSER, Kind, Layout, NanPolicy
from bioeval.base.options import MEMORY_LIMIT
from bioeval.scores.arrays import digest, doubt_of_square
from bioeval.scores.cells import Cells
from bioeval.scores.codes import Codes, GalleryOrder, present
from bioeval.scores.exclusions import Exclusions
from bioeval.scores.labels import read_only
from bioeval.scores.missing import ids_of_no_person
from bioeval.scores.pairs import PairList
from bioeval.scores.sides import Keys, as_names
from bioeval.scores.top_k import TopKLists

if TYPE_CHECKING:
    import pandas as pd


# Arrays that are read-only in all scores, also in copies and after unpickling.
_FIXED = ("probe_labels", "gallery_labels", "probe_ids", "gallery_ids")


class ScoreData:
    """Attributes of scores, which nothing changes: a view with other attributes is a new object."""

    kind: Kind
    nan: NanPolicy
    name: str | None
    probe_labels: np.ndarray
    gallery_labels: np.ndarray
    probe_ids: np.ndarray
    gallery_ids: np.ndarray
    _source: Any  # Cells, PairList or TopKLists
    _codes: Codes
    _mask_is_consistent: bool
    _probe_meta: Mapping[str, np.ndarray] = {}
    _gallery_meta: Mapping[str, np.ndarray] = {}
    _probe_keys = Keys()
    _gallery_keys = Keys()
    #: The keys of pairs, from the index of their scores.
    pair_keys = Keys()
    _without_gallery_labels = False  # whether the probes' labels stand for the gallery's
    origin = ""
    metric = ""  # the metric of bioeval that compared embeddings, if any
    is_derived = False  # whether the values come from other scores, by fusion or normalisation
    _memory_limit = MEMORY_LIMIT
    _limited = False  # whether the memory limit was stated, and so holds for counting, too
    _held = 0  # bytes of values that a file was read into, which the limit includes
    _labelled = True
    exclude: tuple[str, ...] = ()
    #: The exclusions of the scores from which these scores were computed.
    _excluded_before: tuple[str, ...] = ()
    #: What an attempt of claim scores is, in words; empty if an attempt is a comparison.
    claims = ""
    #: The same in a few words, for a title.
    claims_title = ""
    #: The same in a word: visits, or claims.
    claims_name = ""
    #: The metadata column whose values make tries an attempt; empty if an attempt is one probe.
    visits_of = ""
    #: The largest number of tries of an attempt.
    tries = 1
    #: The identities of the row and the column, int64 (k, 2), of claims that lack tries, and of
    #: claims that have fewer templates than their fusion needs.
    _incomplete = _too_few = np.zeros((0, 2), dtype=np.int64)
    _needed = 1  # templates that the fusion of claims needs
    #: The `Tries` of claims, if attempts have several.
    _tries: Any = None
    #: Remarks from reading the file or computing the scores, for every result.
    remarks: tuple[Message, ...] = ()
    #: Why columns are left out of the metadata, by their names.
    _columns_left_out: Mapping[str, str] = {}
    #: Whether the user says that no column names the templates.
    _has_no_names = False
    #: The first texts of columns of a list that are not read, by their titles; they may be names.
    _unread_texts: Mapping[str, Sequence[str]] = {}
    #: Phrases on how a file was read, for the description of the data.
    reading: tuple[str, ...] = ()
    #: Whether the user says which entry of the gallery each query is, or that it is none.
    _own_entries_are_stated = False
    #: Labels of no person, as given, or by the names of images; None: the labels of `NO_PERSON`.
    distractor_ids: tuple[int | str, ...] | None = None
    junk_ids: tuple[int, ...] = ()

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        self._refuse_change(name)

    def __delattr__(self, name: str) -> NoReturn:
        self._refuse_change(name)

    def _refuse_change(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{type(self).__name__} do not change: {name} cannot be set; scores.replace, "
            "with_values, with_mask and select make other ones"
        )

    def _set(self, **attributes: Any) -> None:
        for name in _FIXED:
            if isinstance(attributes.get(name), np.ndarray):
                read_only(attributes[name])
        self.__dict__.update(attributes)

    def _with(self, **attributes: Any) -> Self:
        view = object.__new__(type(self))
        for name, value in self.__dict__.items():
            if not isinstance(getattr(type(self), name, None), cached_property):
                view.__dict__[name] = value
        view._set(**attributes)
        return view

    def with_pairs(self, pairs: PairList, **attributes: Any) -> Self:
        """Return a view of other pairs."""
        meta = {"_probe_meta": pairs.meta_of(1), "_gallery_meta": pairs.meta_of(0)}
        return self._with(_source=pairs, **meta, **attributes)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)
        for columns in (self._probe_meta, self._gallery_meta):
            for column in columns.values():
                read_only(column)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of probes and of gallery templates, or of pairs."""
        if self.layout == "pairs":
            return self._source.shape
        return len(self.probe_ids), len(self.gallery_ids)

    @cached_property
    def dtype(self) -> np.dtype:
        """The dtype of the values that were given."""
        return self._source.dtype

    @property
    def values(self) -> np.ndarray:
        """The values as an array; of a selection, a copy of the selected cells."""
        return self.pairs.values if self.layout == "pairs" else self.cells.values()

    @property
    def mask(self) -> np.ndarray | None:
        """The mask as an array, or None."""
        return self._source.read_mask(0, self.shape[0]) if self.has_mask else None

    @property
    def probe_meta(self) -> Mapping[str, np.ndarray]:
        """The metadata of the probes, a column by its name; read-only."""
        return MappingProxyType(self._probe_meta)

    @property
    def gallery_meta(self) -> Mapping[str, np.ndarray]:
        """The metadata of the gallery, a column by its name; read-only."""
        return MappingProxyType(self._gallery_meta)

    @property
    def probe_names(self) -> pd.Index | None:
        """The names of the probes, of pairs the name of each pair's probe; None without names."""
        return self.keys(0).names

    @property
    def gallery_names(self) -> pd.Index | None:
        """The names of the gallery templates, of pairs the enrolled names; None without names."""
        return self.keys(1).names

    def keys(self, side: int) -> Keys:
        """Return the keys of the probes (0) or of the gallery templates (1); see `probe_names`."""
        side = require_integer("side", side, low=0, high=1)
        if self.layout != "pairs":
            return (self._probe_keys, self._gallery_keys)[side]
        templates = self.pairs.templates
        names = None if templates is None else as_names(templates.side(1 - side))
        return Keys(names, self.pair_keys.numbers)

    @cached_property
    def layout(self) -> Layout:
        """``"all-against-all"``, ``"probe-against-gallery"``, ``"pairs"`` or ``"top-k"``.

        A matrix is all-against-all where every probe is itself one of the gallery's templates.
        """
        if not isinstance(self._source, Cells):
            return self._source.layout
        if self.probe_ids is self.gallery_ids:
            return "all-against-all"
        number = 1 + max(self.probe_ids.max(initial=0), self.gallery_ids.max(initial=0))
        if present(self.gallery_ids, number)[self.probe_ids].all():
            return "all-against-all"
        return "probe-against-gallery"

    @property
    def layout_in_words(self) -> str:
        """The layout, in other words where the probes are a part of the gallery."""
        square = self.layout == "all-against-all"
        are_a_part = square and not np.array_equal(
            np.sort(self.probe_ids), np.sort(self.gallery_ids)
        )
        if are_a_part:
            return "probes from the gallery"
        return self.layout

    @cached_property
    def doubt_of_square(self) -> str:
        """Why an array without `gallery_labels` seems not to be of all against all, as a code."""
        values = self._source.source if self._without_gallery_labels else None
        if not isinstance(values, np.ndarray) or values.shape[0] != values.shape[1]:
            return ""
        return doubt_of_square(values, self.kind in LARGER_IS_CLOSER)

    @cached_property
    def codes(self) -> Codes:
        """The subjects of both sides as codes; the second of a pair is the probe's."""
        if self.layout != "pairs":
            return self._codes
        codes = self.pairs.codes
        return codes.apart(self.no_person_ids, 2 * codes.probe + 1, 2 * codes.gallery)

    @property
    def no_person_ids(self) -> tuple[Any, ...]:
        """The labels of junk and distractors; the empty label stands for a missing label."""
        return (*self.junk_ids, *ids_of_no_person(self.distractor_ids))

    @property
    def subjects(self) -> np.ndarray:
        """The distinct labels of both sides, without distractors and junk."""
        if self.layout == "pairs":
            are_known = self.pairs.people is not None
            return self.pairs.distinct_subjects(self.codes) if are_known else np.array([])
        return self._codes.values[self._codes.people(self._codes.probe, self._codes.gallery)]

    @property
    def fingerprint(self) -> str:
        """Shape, dtype, kind, and digests of labels and scores: enough to detect other data."""
        kind = f"{self.dtype.name} {self.kind}"
        if self.layout == "pairs":
            return self.pairs.fingerprint(kind)
        probe_count, gallery_count = self.shape
        # Each time: the array may have changed.
        values = self._source.digest(self.probe_ids, self.gallery_ids)
        return (
            f"{probe_count}x{gallery_count} {kind} labels:{self._digest_of_labels} values:{values}"
        )

    @cached_property
    def _digest_of_labels(self) -> str:
        return digest(self.probe_labels, self.gallery_labels)

    def __repr__(self) -> str:
        """Return the layout, size, dtype and kind in a line."""
        people = ""
        if self.layout == "top-k":
            return f"<Scores {self.lists.in_words()}, {len(self.subjects)} subjects>"
        if self.layout == "pairs":
            source = f"{self.pairs.in_words()}, "
        else:
            source = f"{self.layout_in_words}, {self.shape[0]} x {self.shape[1]} "
            people = f"{len(self.subjects)} subjects, " if self._labelled else ""
        exclusions = f", exclude={', '.join(self.exclude)!r}" if self.exclude else ""
        return f"<Scores {source}{self.dtype} {self.kind}, {people}nan={self.nan!r}{exclusions}>"

    @cached_property
    def cells(self) -> Cells:
        """The matrix of values; other layouts raise :class:`ProtocolError`."""
        if isinstance(self._source, TopKLists):
            self._source.refuse_matrix()
        if isinstance(self._source, PairList):
            raise ProtocolError("this needs a matrix of scores; these are fixed pairs")
        return self._source

    @cached_property
    def has_mask(self) -> bool:
        """Whether a mask says which cells are attempts."""
        return isinstance(self._source, Cells) and self._source.mask is not None

    @cached_property
    def streams(self) -> bool:
        """Whether the rows are computed from embeddings each time they are read."""
        return isinstance(self._source, Cells) and self._source.streams

    @cached_property
    def pairs(self) -> PairList:
        """The list of pairs that scores of layout ``"pairs"`` are made of."""
        if not isinstance(self._source, PairList):
            raise AttributeError(
                f"these scores have the layout {self.layout}; genuine, pair_folds, pair_subjects "
                "and the like are of lists of pairs (Scores.from_pairs, at_pairs)"
            )
        return self._source

    @property
    def genuine(self) -> np.ndarray:
        """Whether each pair is genuine, of pairs alone."""
        return self.pairs.genuine

    @property
    def pair_folds(self) -> np.ndarray | None:
        """The fold of each pair, of pairs alone; None if not given."""
        return self.pairs.folds

    @property
    def pair_subjects(self) -> np.ndarray | None:
        """The subjects of both sides of pairs, the enrolled one first; None if unknown."""
        return self.pairs.subjects

    @property
    def pair_templates(self) -> np.ndarray | None:
        """The names of the templates of both sides of pairs; None if unknown."""
        return None if self.pairs.templates is None else self.pairs.templates.objects()

    @property
    def pair_ids(self) -> np.ndarray:
        """The places of pairs in the list, or the identities of both templates, of pairs alone."""
        return self.pairs.pair_ids

    def pair_distances(self, piece: np.ndarray | None = None) -> np.ndarray:
        """Return all scores of pairs, or a piece, as distances under the policy of NaN."""
        return self.pairs.distances(self.kind, self.nan, piece)

    @cached_property
    def lists(self) -> TopKLists:
        """The top-K lists that scores of layout ``"top-k"`` are made of."""
        if not isinstance(self._source, TopKLists):
            raise AttributeError(
                f"these scores have the layout {self.layout}; indices, distances, depth and "
                "gallery_size are of top-K lists (Scores.from_top_k)"
            )
        return self._source

    @property
    def indices(self) -> np.ndarray:
        """The gallery entries in the top-K list of each query, nearest first; -1 behind the end."""
        return self.lists.indices

    @property
    def distances(self) -> np.ndarray | None:
        """The scores of the entries of top-K lists; None if there are none."""
        return self.lists.distances

    @property
    def depth(self) -> int:
        """The length of top-K lists."""
        return self.lists.depth

    @property
    def gallery_size(self) -> int:
        """The number of gallery entries behind top-K lists, listed or not."""
        return self.lists.gallery_size

    @cached_property
    def exclusions(self) -> Exclusions:
        """The comparisons that `exclude` and labels of no person leave out, as codes."""
        subjects = self.codes if self._labelled else None
        return Exclusions.parse(self.exclude, self.probe_meta, self.gallery_meta, subjects)

    @cached_property
    def gallery_order(self) -> GalleryOrder:
        """The gallery with the templates of each subject side by side."""
        return GalleryOrder(self.codes, self.probe_ids, self.gallery_ids)

    def with_remarks(self, *remarks: Message) -> Self:
        """Return the same scores with more remarks, each once, for every result."""
        return self._with(remarks=tuple(dict.fromkeys([*self.remarks, *remarks])))


#: Scores of the class that a function is given and returns.
AnyScores = TypeVar("AnyScores", bound=ScoreData)


# ---------------------------------------------------------------- requirements of tasks and studies


def require_scores(scores: Any, input_name: str = "scores") -> None:
    if not isinstance(scores, ScoreData):
        raise DataError(
            f"{input_name} is {type(scores).__name__}; expected bioeval.Scores(values, labels, "
            "gallery_labels), with the kind of the values"
        )


def require_all_scores(scores: Any) -> None:
    """Raise unless `scores` are :class:`bioeval.Scores` of the whole gallery: no top-K lists."""
    require_scores(scores)
    if scores.layout == "top-k":
        scores.lists.refuse_matrix()


def require_subjects(scores: ScoreData, input_name: str) -> None:
    """Raise :class:`ProtocolError` unless scores are a matrix of subjects, as a task needs."""
    if scores.layout == "pairs":
        raise ProtocolError(
            f"{input_name} needs a matrix of scores with labels; these are fixed pairs, for "
            "verification alone. A list that names both templates of a pair, in columns such as "
            'template_a and template_b, is read as a matrix with `lists={"as": "matrix"}`'
        )
    if not scores._labelled:
        raise ProtocolError(
            f"{input_name} needs the subjects of probes and gallery; a mask does not give the "
            "subjects of the templates. Give labels"
        )
    require_all_scores(scores)


def require_templates(scores: ScoreData, task: str) -> None:
    """Raise :class:`ProtocolError` of claim scores, which have no templates to rank."""
    if scores.claims:
        raise ProtocolError(
            f"{task} ranks the templates of a gallery, and these are claim scores, which are for "
            "verification; give the scores that the claims were made of"
        )


def require_kept(scores: ScoreData, column: Any, argument: str, *sides: Mapping[str, Any]) -> None:
    """Raise where an argument names a column that was left out of the metadata of both sides."""
    if not isinstance(column, str) or all(column in meta for meta in sides):
        return
    if column in scores._columns_left_out:
        raise DataError(
            f"`{argument}` is {received(column)}, and this column "
            f"{scores._columns_left_out[column]}; give each template one value"
        )
