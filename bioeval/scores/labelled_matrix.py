"""A matrix of values with the labels of both sides, its selections, and its rows.

The values stay as they are (never copied, never converted) and are read in blocks of rows. A
template has an identity, a number: by it no template is compared with itself, in a square matrix
and in any selection of one.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, get_args

import numpy as np

from bioeval.base.arguments import require_integer, require_list, require_text
from bioeval.base.errors import (
    Argument,
    DataError,
    ProtocolError,
    counted,
    require_choice,
    short_name,
)
from bioeval.base.kinds import KINDS, Kind, larger_is_closer
from bioeval.base.messages import Message
from bioeval.base.options import OPTIONS
from bioeval.base.progress import stage
from bioeval.scores.arrays import (
    Mask,
    as_array,
    as_index,
    as_mask,
    as_values,
    named_choice,
    read_block,
    rows_of,
    subjects_of_mask,
    unlike_all_against_all,
)
from bioeval.scores.exclusions import Exclusion, Exclusions, Rule
from bioeval.scores.labels import (
    Codes,
    as_labels,
    as_meta,
    digest,
    digest_of_values,
    fixed,
    names_of_table,
    present,
)
from bioeval.scores.listed_templates import EXAMPLE_PATTERN
from bioeval.scores.pairs import PairList
from bioeval.scores.template_names import NamedTemplates, are_names, sides_of_table
from bioeval.scores.top_k import TopKLists

if TYPE_CHECKING:
    from bioeval.scores.completeness import Completeness
    from bioeval.scores.embeddings import EmbeddingSource

# Arrays that are read-only in all scores, also in copies and after unpickling.
_FIXED = (
    "probe_labels",
    "gallery_labels",
    "probe_ids",
    "gallery_ids",
)

# Rows, spread over the matrix, whose scores a fingerprint has a digest of.
_ROWS_OF_DIGEST = 16

# A matrix of distances between embeddings is made if it takes no more bytes than this.
MEMORY_LIMIT = 1 << 30

NanPolicy = Literal["raise", "reject", "exclude"]
NAN_POLICIES: tuple[NanPolicy, ...] = get_args(NanPolicy)


def length_of(labels: Any) -> int:
    """Return the number of labels, -1 for what has no length."""
    try:
        return len(labels)
    except TypeError:  # such as an array of no dimension
        return -1


def as_ids(ids: Any, name: str = "distractor_ids") -> tuple[int, ...]:
    """Return identities of no person; labels that are text may be these numbers, too."""
    listed = require_list(name, ids)
    return tuple(dict.fromkeys(require_integer(name, x, low=-(2**62)) for x in listed))


def memory_attributes() -> dict[str, Any]:
    """Return the attributes of scores that the memory limit of the options sets."""
    limit = OPTIONS["memory_limit"]
    return {"_memory_limit": limit or MEMORY_LIMIT, "_limited": limit is not None}


def _unless_all(index: Any) -> Any:
    return None if isinstance(index, slice) and index == slice(None) else index


class LabelledMatrix:
    """Base of :class:`bioeval.Scores`; see there for the parameters."""

    kind: Kind
    nan: NanPolicy
    name: str | None
    probe_labels: np.ndarray
    gallery_labels: np.ndarray
    probe_ids: np.ndarray
    gallery_ids: np.ndarray
    _codes: Codes
    _mask_is_consistent: bool
    _probe_meta: Mapping[str, np.ndarray] = {}
    _gallery_meta: Mapping[str, np.ndarray] = {}
    _without_gallery_labels = False  # whether a matrix is all against all for want of others
    _origin = ""
    _metric = ""  # that of bioeval by which the scores were computed from embeddings
    _is_derived = False  # whether they were made of other scores, by fusion or calibration
    _memory_limit = MEMORY_LIMIT
    _limited = False  # whether the limit was stated, and holds for all that is counted
    _labelled = True
    exclude: tuple[str, ...] = ()
    #: What the scores that these were made of left out.
    _excluded_before: tuple[str, ...] = ()
    #: What an attempt of claim scores is, in words; empty: a comparison.
    _claims = ""
    #: The tries of an attempt, at most.
    _tries = 1
    #: Identities of probe and gallery of incomplete claims, int64 (k, 2).
    _incomplete: np.ndarray | None = None
    #: What was found when a file was read or the scores were made, for every result.
    _remarks: tuple[Message, ...] = ()
    #: Attack presentations that were left out.
    _attacks_left_out = 0
    #: Columns of a table of templates that are no metadata, and why.
    _columns_left_out: Mapping[str, str] = {}
    #: How a file was read, for the description of the data: phrases.
    _reading: tuple[str, ...] = ()
    #: Identities that mark distractors and junk: as given, or as the names of images say.
    distractor_ids: tuple[int, ...] = ()
    _junk_ids: tuple[int, ...] = ()
    _mask: Any = None
    _rows: np.ndarray | None = None
    _columns: np.ndarray | None = None

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        self._refuse_change(name)

    def __delattr__(self, name: str) -> NoReturn:
        self._refuse_change(name)

    def _refuse_change(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{type(self).__name__} do not change: {name} cannot be set; scores.replace, "
            "with_values, with_mask and select make other ones"
        )

    @property
    def _base(self) -> Any:
        """The values; a matrix of embeddings that is yet to be made is made now, and kept."""
        source = self._source
        return source.made() if hasattr(source, "made") else source

    @property
    def _source(self) -> Any:
        """The values, or what they come from: embeddings, a list of pairs, top-K lists."""
        return self.__dict__["_base"]

    def _set(self, **attributes: Any) -> None:
        """Set attributes of scores that are being made."""
        for name in _FIXED:
            if isinstance(attributes.get(name), np.ndarray):
                fixed(attributes[name])
        self.__dict__.update(attributes)

    def _with(self, **attributes: Any) -> Self:
        """Return a view with other attributes; what was computed of the former ones is dropped."""
        view = copy(self)
        for name in [*view.__dict__]:
            if isinstance(getattr(type(view), name, None), cached_property):
                del view.__dict__[name]
        view._set(**attributes)
        return view

    def _with_pairs(self, pairs: PairList, **attributes: Any) -> Self:
        """Return a view of other pairs."""
        meta = {"_probe_meta": pairs.meta_of(1), "_gallery_meta": pairs.meta_of(0)}
        return self._with(_base=pairs, **meta, **attributes)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)
        for columns in (self._probe_meta, self._gallery_meta):
            for column in columns.values():
                fixed(column)

    def __init__(
        self,
        values: Any,
        labels: Any = None,
        gallery_labels: Any = None,
        *,
        kind: Kind = "distance",
        nan: NanPolicy = "raise",
        mask: Any = None,
        probe_meta: Mapping[str, Any] | None = None,
        gallery_meta: Mapping[str, Any] | None = None,
        name: str | None = None,
        exclude: Sequence[str] = (),
        distractor_ids: Sequence[int] = (),
    ):
        """Check what is given, and mark what is left out."""
        self._set_words(kind, nan, name)
        self._set(**memory_attributes(), _base=as_values(values))
        m, n = self._source.shape
        columns = as_meta(probe_meta, m, "probe_meta")
        enrolled = None if gallery_meta is None else as_meta(gallery_meta, n, "gallery_meta")
        table = None
        if labels is not None or gallery_labels is mask is None:
            table = names_of_table(values)
        if table is not None:
            has_names = NamedTemplates.of(columns, enrolled or {}, None) is not None
            are_labels = labels is None
            labels, gallery_labels, order = sides_of_table(table, labels, gallery_labels, has_names)
            if order is not None:
                gallery_labels = as_labels(labels, Argument("labels"), m)[order]
                if enrolled is None:
                    enrolled = {name: fixed(x[order]) for name, x in columns.items()}
            if are_labels or len({*table[0].tolist()}) < m or len({*table[1].tolist()}) < n:
                table = None
        self._set(_labelled=labels is not None)
        if not self._labelled:
            self._init_from_mask(mask, gallery_labels)
        elif gallery_labels is None:
            self._init_square(labels, enrolled)
        elif m != n and (length_of(labels), length_of(gallery_labels)) == (n, m):
            raise DataError(
                f"the scores have shape ({m}, {n}), but there are {counted(n, 'labels')} of probes "
                f"and {m:,} of the gallery: is the matrix transposed? Expected a row for each "
                "probe; give scores.T, or exchange the labels"
            )
        else:
            self._set(
                probe_labels=as_labels(labels, Argument("labels"), m),
                gallery_labels=as_labels(gallery_labels, Argument("gallery_labels"), n),
                probe_ids=np.arange(n, n + m, dtype=np.int64),
                gallery_ids=np.arange(n, dtype=np.int64),
            )
        self._set(_probe_meta=columns, _gallery_meta=columns)
        if self.probe_ids is not self.gallery_ids:
            self._set(_gallery_meta=enrolled or {})
        self._set(exclude=self._as_exclusions(exclude), distractor_ids=as_ids(distractor_ids))
        if self._labelled:
            self._set(_codes=Codes(self.probe_labels, self.gallery_labels))
        self._identify(table)
        if self._labelled:
            codes = self._codes
            self._set(_codes=codes.apart(self.distractor_ids, self.probe_ids, self.gallery_ids))
            if mask is not None:
                self._set(_mask=as_mask(mask, (m, n), self._codes))

    def _identify(self, table: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        """Take templates with equal names for one; `table` are the names of a table's sides."""
        labels = (self.probe_labels, self.gallery_labels) if self._labelled else None
        named = NamedTemplates.of(self._probe_meta, self._gallery_meta, labels)
        if named is None and table is not None and are_names(*table, labels):
            named = NamedTemplates("index of the table", *table)
        if named is None or self.probe_ids is self.gallery_ids:
            return
        entry = named.entries(self._codes if self._labelled else None)
        if (entry >= 0).any():
            self._set(probe_ids=np.where(entry >= 0, self.gallery_ids[entry], self.probe_ids))

    def _set_words(
        self, kind: Kind, nan: NanPolicy, name: Any, kinds: Sequence[str] = KINDS
    ) -> None:
        """Set kind, policy of NaN and name of scores that are being made."""
        require_choice("kind", kind, kinds)
        require_choice("nan", nan, NAN_POLICIES)
        if name is not None and not isinstance(name, os.PathLike):
            require_text("name", name)
        shown = short_name(str(name)) if name else None
        self._set(kind=kind, nan=nan, name=shown)

    @property
    def probe_meta(self) -> Mapping[str, np.ndarray]:
        """The metadata of the probes, a column by its name; read-only."""
        return MappingProxyType(self._probe_meta)

    @property
    def gallery_meta(self) -> Mapping[str, np.ndarray]:
        """The metadata of the gallery, a column by its name; read-only."""
        return MappingProxyType(self._gallery_meta)

    @property
    def _knows_subjects(self) -> bool:
        """Whether the subjects of all attempts are known."""
        if isinstance(self._source, PairList):
            return self._source.people is not None
        return self._labelled

    @cached_property
    def _pair_codes(self) -> Codes:
        """The subjects of pairs as codes."""
        codes, ids = self._source.codes, self._ids_of_no_person
        return codes.apart(ids, 2 * codes.probe + 1, 2 * codes.gallery) if ids else codes

    @property
    def _no_person(self) -> np.ndarray:
        """Which of the codes are of distractors or junk."""
        codes = self._pair_codes if self.layout == "pairs" else self._codes
        return codes.no_person

    @property
    def _ids_of_no_person(self) -> tuple[int, ...]:
        """The labels that mark junk and distractors."""
        return (*self._junk_ids, *self.distractor_ids)

    def _marking(self, distractor_ids: Sequence[int], junk_ids: Sequence[int]) -> Self:
        """Return the same scores, with other labels that mark distractors and junk."""
        view = self._with(distractor_ids=tuple(distractor_ids), _junk_ids=tuple(junk_ids))
        if self._labelled:
            ids = view._ids_of_no_person
            view._set(_codes=self._codes.apart(ids, self.probe_ids, self.gallery_ids))
        return view

    @property
    def _probe_people(self) -> np.ndarray:
        """The code of each probe; -1 where it is of no person."""
        return np.where(self._no_person[self._codes.probe], -1, self._codes.probe)

    def _as_exclusions(self, exclude: Sequence[str]) -> tuple[str, ...]:
        """Return the forms of `exclude`, of columns that both sides have."""
        texts = [exclude] if isinstance(exclude, str) else require_list("exclude", exclude)
        if texts and self.layout == "pairs":
            raise ProtocolError("a pair list excludes nothing by metadata; leave the pairs out")
        if texts and self.layout == "top-k":
            raise ProtocolError(
                f"{Argument('exclude')} needs a matrix of scores: top-K lists leave out by camera "
                "alone, with removed= of bioeval.reid"
            )
        for text in texts:
            require_text("exclude", text)
            Exclusion.parse(text).require(self.probe_meta, self.gallery_meta)
        if texts and not self._labelled:
            raise DataError("exclude needs labels; a mask does not identify subjects")
        return tuple(dict.fromkeys(texts))

    def _init_square(self, labels: Any, gallery_meta: Any) -> None:
        """Take the labels and identities of the rows for the columns."""
        m, n = self._source.shape
        if m != n:
            raise DataError(
                f"the scores have shape ({m}, {n}); without gallery_labels the same templates "
                "are on both sides, and the matrix must be square. Give gallery_labels for a "
                "probe-against-gallery matrix"
            )
        if gallery_meta is not None:
            raise DataError(
                f"gallery_meta without {Argument('gallery_labels')}; probe_meta serves both sides"
            )
        labels = as_labels(labels, Argument("labels"), m)
        ids = np.arange(n, dtype=np.int64)
        self._set(probe_labels=labels, gallery_labels=labels, probe_ids=ids, gallery_ids=ids)
        self._set(_without_gallery_labels=True)

    def _init_from_mask(self, mask: Any, gallery_labels: Any) -> None:
        """Take as subjects what a mask says of each cell."""
        if mask is None:
            raise DataError(
                f"{Argument('labels')} is missing; expected the subject of each row, or a mask of "
                "genuine and impostor"
            )
        if gallery_labels is not None:
            raise DataError(
                f"{Argument('gallery_labels')} is given without {Argument('labels')}; expected both"
            )
        m, n = self._source.shape
        mask = as_mask(mask, (m, n), None)
        square = m == n and not mask.diagonal().any()
        probe, gallery, consistent = subjects_of_mask(mask, square)
        gallery_ids = np.arange(n, dtype=np.int64)
        probe_ids = np.arange(n, n + m, dtype=np.int64) if not square else gallery_ids
        self._set(
            _mask=mask,
            _mask_is_consistent=consistent,
            probe_labels=probe,
            gallery_labels=gallery,
            probe_ids=probe_ids,
            gallery_ids=gallery_ids,
            _codes=Codes(probe, gallery),
        )

    # ---------------------------------------------------------------- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of probes and of gallery templates, or of pairs."""
        if isinstance(self._source, PairList):
            return self._source.shape
        return len(self.probe_ids), len(self.gallery_ids)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the values that were given."""
        return np.dtype(self._source.dtype)

    @property
    def values(self) -> np.ndarray:
        """The values as an array; of a selection, a copy of the selected cells."""
        if self._rows is None and self._columns is None:
            if isinstance(self._base, np.ndarray):
                return self._base
            return np.asarray(self._base[:])
        return self._read_rows(0, self.shape[0])

    @property
    def mask(self) -> np.ndarray | None:
        """The mask as an array, or None."""
        return None if self._mask is None else self._read_mask(0, self.shape[0])

    @cached_property
    def layout(self) -> str:
        """``"all-against-all"``, ``"probe-against-gallery"``, ``"pairs"`` or ``"top-k"``.

        A matrix is all-against-all where every probe is itself one of the gallery's templates.
        """
        if isinstance(self._source, PairList | TopKLists):
            return self._source.layout
        if self.probe_ids is self.gallery_ids:
            return "all-against-all"
        number = 1 + max(self.probe_ids.max(initial=0), self.gallery_ids.max(initial=0))
        if present(self.gallery_ids, number)[self.probe_ids].all():
            return "all-against-all"
        return "probe-against-gallery"

    @property
    def _layout_in_words(self) -> str:
        """The layout, with a word where the probes are some of the gallery's templates."""
        square = self.layout == "all-against-all"
        some = square and not np.array_equal(np.sort(self.probe_ids), np.sort(self.gallery_ids))
        if some:
            return "probes from the gallery"
        return self.layout

    @cached_property
    def _looks_like_two_sides(self) -> bool:
        """Whether an array without `gallery_labels` does not look like one of all against all."""
        values = self._source if self._without_gallery_labels else None
        if not isinstance(values, np.ndarray) or values.shape[0] != values.shape[1]:
            return False
        return unlike_all_against_all(values)[larger_is_closer(self.kind)]

    @property
    def subjects(self) -> np.ndarray:
        """The distinct labels of both sides; distractors and junk are none."""
        if isinstance(self._source, PairList):
            known = self._knows_subjects
            return self._source.distinct_subjects(self._pair_codes) if known else np.array([])
        return self._codes.values[self._codes.people(self._codes.probe, self._codes.gallery)]

    @property
    def fingerprint(self) -> str:
        """Shape, dtype, kind, and digests of labels and scores: enough to detect other data."""
        kind = f"{self.dtype.name} {self.kind}"
        if isinstance(self._source, PairList):
            return self._source.fingerprint(kind)
        m, n = self.shape
        values = self._digest_of_values()  # each time: the array may have changed
        return f"{m}x{n} {kind} labels:{self._digest_of_labels} values:{values}"

    @cached_property
    def _digest_of_labels(self) -> str:
        return digest(self.probe_labels, self.gallery_labels)

    def _digest_of_values(self) -> str:
        """Return a digest of the scores of some rows, which are spread over the matrix.

        A row has the scores of all templates of the gallery: another template changes each row.
        Which comparisons are left out is no matter: it is that of a protocol, not of the data.
        """
        if isinstance(self._source, TopKLists):
            return self._source.digest()
        m = self.shape[0]
        if not m:
            return digest_of_values([])
        rows = np.unique(np.linspace(0, m - 1, _ROWS_OF_DIGEST).astype(np.int64))
        if self._embedding_source is not None:  # a row alone would compute those around it
            few = self._few_rows(rows)
        elif isinstance(self._base, np.ndarray):
            few = read_block(self._base, self._base_rows(rows), 0, len(rows), self._columns)
        else:
            few = np.stack([self._read_rows(row, row + 1)[0] for row in rows.tolist()])
        itself = self.probe_ids[rows][:, None] == self.gallery_ids
        return digest_of_values([np.where(itself, few.dtype.type(0), few)])

    def __repr__(self) -> str:
        """Return the layout, size, dtype and kind in a line."""
        if isinstance(self._source, PairList):
            words = self._source.in_words()
            return f"<Scores {words}, {self.dtype} {self.kind}, nan={self.nan!r}>"
        m, n = self.shape
        if isinstance(self._source, TopKLists):
            return f"<Scores {self._source.in_words()}, {len(self.subjects)} subjects>"
        who = f"{len(self.subjects)} subjects, " if self._labelled else ""
        input_name = f"{self._layout_in_words}, {m} x {n} {self.dtype} {self.kind}"
        without = f", exclude={', '.join(self.exclude)!r}" if self.exclude else ""
        return f"<Scores {input_name}, {who}nan={self.nan!r}{without}>"

    # ---------------------------------------------------------------- views

    def excluding(self, *exclusions: str) -> Self:
        """Leave out comparisons by metadata, such as those of mates of one session.

        Parameters
        ----------
        *exclusions : str
            As for `exclude` of :class:`Scores`; none takes all pairs in again.

        Returns
        -------
        Scores
            A view; no score is copied.

        Examples
        --------
        >>> import numpy as np, bioeval as be
        >>> meta = {"session": [1, 1, 2, 1]}
        >>> scores = be.Scores(np.ones((4, 4)), ["a", "a", "a", "b"], probe_meta=meta)
        >>> int(be.verification(scores).genuine_attempts)
        6
        >>> int(be.verification(scores.excluding("session")).genuine_attempts)
        4
        """
        return self.replace(exclude=exclusions)

    def replace(
        self,
        *,
        kind: Kind | None = None,
        exclude: Sequence[str] | None = None,
        nan: NanPolicy | None = None,
        name: str | None = None,
    ) -> Self:
        """Return the same values as scores of another kind, policy or name.

        Scores do not change: what was evaluated before keeps what it says.

        Parameters
        ----------
        kind : {"distance", "similarity", "llr"}, optional
            What the values are; they stay as they are.
        exclude : sequence of str, optional
            As for :class:`Scores`; an empty one takes all pairs in again.
        nan : {"raise", "reject", "exclude"}, optional
        name : str, optional
            An empty one leaves the scores without a name.

        Returns
        -------
        Scores
            A view; no score is copied. What is left out stays as it is.

        Examples
        --------
        >>> import bioeval as be
        >>> scores = be.Scores([[0.9, 0.1], [0.2, 0.8]], ["a", "b"], ["a", "b"])
        >>> scores.replace(kind="similarity", name="net").kind
        'similarity'
        """
        if kind is not None and self._streams:
            from bioeval.scores.embeddings import kind_of_metric

            kind_of_metric(self._base.metric, kind)  # raises where the metric gives another one
        view = self._with()
        view._set_words(
            self.kind if kind is None else kind,
            self.nan if nan is None else nan,
            self.name if name is None else name,
            getattr(self._source, "kinds", KINDS),
        )
        if isinstance(self._source, TopKLists):
            self._source.require_order(view.kind)
        if exclude is not None:
            view._set(exclude=self._as_exclusions(exclude))
        return view

    @cached_property
    def _exclusions(self) -> Exclusions:
        """What `exclude` leaves out, as codes of both sides."""
        return Exclusions.parse(self.exclude, self.probe_meta, self.gallery_meta)

    def _leaving_out(self, codes: Codes, rules: Sequence[Rule]) -> Self:
        """Return a view with other codes of subjects that leaves out more comparisons."""
        texts = (rule.exclusion.text for rule in rules)
        view = self._with(_codes=codes, exclude=(*self.exclude, *texts))
        view._set(_exclusions=Exclusions([*self._exclusions.rules, *rules]))
        return view

    def _excluded(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return which of the cells ``(i, j)`` are pairs that `exclude` leaves out."""
        mates = self._codes.probe[i] == self._codes.gallery[j]
        return np.zeros(len(i), dtype=bool) | self._exclusions.hold(i, j, mates)

    def _excluded_rows(self, low: int, high: int, order: np.ndarray | None = None) -> np.ndarray:
        """Return which cells of rows ``low:high`` `exclude` leaves out."""
        columns = slice(None) if order is None else order
        mates = self._codes.probe[low:high, None] == self._codes.gallery[columns]
        left_out = self._exclusions.hold(np.arange(low, high)[:, None], columns, mates)
        return np.zeros(mates.shape, dtype=bool) | left_out

    def _left_out(self, low: int, high: int, order: np.ndarray | None = None) -> np.ndarray | None:
        """Return which comparisons of rows ``low:high`` a mask or `exclude` leaves out, if any."""
        left_out = None
        if self._has_mask:
            left_out = self._read_mask(low, high, order) == Mask.IGNORE
        if self.exclude:
            excluded = self._excluded_rows(low, high, order)
            left_out = excluded if left_out is None else left_out | excluded
        return left_out

    @cached_property
    def completeness(self) -> Completeness:
        """Whether each probe was compared with all of the gallery."""
        from bioeval.scores.completeness import Completeness

        return Completeness.of(self)

    @property
    def _incomplete_transactions(self) -> tuple[int, int]:
        """How many genuine and how many impostor claims are no attempts, since they lack a try."""
        if self._incomplete is None:
            return 0, 0
        probe, gallery = self._incomplete.T
        there = np.isin(probe, self.probe_ids) & np.isin(gallery, self.gallery_ids)
        sides = (
            (probe, self.probe_ids, self._codes.probe),
            (gallery, self.gallery_ids, self._codes.gallery),
        )
        subjects = []
        for wanted, ids, codes in sides:
            order = np.argsort(ids)
            subjects.append(codes[order[np.searchsorted(ids[order], wanted[there])]])
        genuine = int(np.count_nonzero(subjects[0] == subjects[1]))
        return genuine, int(np.count_nonzero(there)) - genuine

    def _missing_rows(self, low: int, high: int) -> np.ndarray:
        """Return which comparisons of rows ``low:high`` are masked, or failed and no attempts.

        What the mask of a protocol leaves out is not among them.
        """
        missing = np.zeros((high - low, self.shape[1]), dtype=bool)
        mask = getattr(self._mask, "given", self._mask)
        if mask is not None:
            missing |= read_block(mask, self._rows, low, high, self._columns) == Mask.IGNORE
        if self.nan != "exclude":
            return missing
        source = self._embedding_source
        failed = None if source is None else source.failed
        if failed is not None:
            probe = failed[0][self._base_rows(np.arange(low, high))]
            gallery = failed[1] if self._columns is None else failed[1][self._columns]
            return missing | probe[:, None] | gallery
        return missing | np.isnan(self._read_rows(low, high))

    @property
    def _columns_of_probes(self) -> np.ndarray:
        """The column of each probe that is itself in the gallery, -1 for the others."""
        column = np.full(1 + max(self.probe_ids.max(), self.gallery_ids.max()), -1, dtype=np.int64)
        column[self.gallery_ids] = np.arange(len(self.gallery_ids))
        return column[self.probe_ids]

    @property
    def _has_rules(self) -> bool:
        """Whether a protocol leaves out comparisons of two templates."""
        return bool(self.exclude) or hasattr(self._mask, "removed")

    def _left_out_by_protocol(self, rows: np.ndarray) -> np.ndarray:
        """Return which comparisons of some rows are not to be made: with itself, or excluded."""
        gone = self.probe_ids[rows, None] == self.gallery_ids
        if self.exclude:
            mates = self._codes.probe[rows, None] == self._codes.gallery
            gone |= self._exclusions.hold(rows[:, None], slice(None), mates)
        removed = getattr(self._mask, "removed", None)
        if removed is not None:
            cells = removed[self._base_rows(rows)]
            gone |= cells if self._columns is None else cells[:, self._columns]
        return gone

    def _excludes_same(self, column: str) -> bool:
        """Whether mates with the same value of a column are left out."""
        return not {column, f"all:{column}"}.isdisjoint(self.exclude)

    def _mate_cells(self, probes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rows (places in `probes`) and columns of other templates of their subject."""
        gallery = self._codes.gallery
        order = np.argsort(gallery, kind="stable")
        first = np.searchsorted(gallery[order], self._codes.probe[probes], side="left")
        last = np.searchsorted(gallery[order], self._codes.probe[probes], side="right")
        size = last - first
        place = np.repeat(np.arange(len(probes)), size)
        column = order[np.arange(len(place)) + np.repeat(first - (np.cumsum(size) - size), size)]
        other = self.probe_ids[probes[place]] != self.gallery_ids[column]
        return place[other], column[other]

    def _comparisons(self) -> tuple[int, int]:
        """Return the genuine and impostor comparisons that the labels make, masks aside."""
        m, n = self.shape
        subjects = len(self._codes.values)
        probe = np.bincount(self._codes.probe, minlength=subjects)
        gallery = np.bincount(self._codes.gallery, minlength=subjects)
        self_comparisons = int(np.isin(self.probe_ids, self.gallery_ids).sum())
        genuine = int((probe * gallery).sum())
        return genuine - self_comparisons, m * n - genuine

    def _enrolled_probes(self) -> np.ndarray:
        """Return which probes are of an enrolled subject."""
        return present(self._codes.gallery, len(self._codes.values))[self._codes.probe]

    def select(self, *index: Any, probes: Any = None, gallery: Any = None) -> Self:
        """Take some probes and some gallery templates, without copying any score.

        ``scores[index]`` is ``scores.select(index)``, ``scores[rows, columns]`` takes both sides.

        Parameters
        ----------
        *index : array_like of int or bool, or slice
            One index takes the same templates on both sides of an all-against-all matrix; two are
            probes and gallery, in this order. What a splitter yields is taken whole, by its names:
            the probes and the gallery, or the test part, on both sides. So is a mapping.
        probes, gallery : array_like of int or bool, or slice, optional
            Indices (or a boolean choice) of rows and of columns, in the order wanted. None
            keeps all.

        Returns
        -------
        Scores
            A view that keeps template identities: a template on both sides stays
            excluded from comparison with itself, also where the view is not square. Its layout
            is all-against-all while every probe is itself in the gallery, and
            probe-against-gallery otherwise, which decides the impostors of open-set
            identification.

        Raises
        ------
        DataError
            If an index does not fit, or one index is given where the sides are not the same
            templates: name the side with ``probes=`` or ``gallery=``.

        Examples
        --------
        >>> import numpy as np, bioeval as be
        >>> scores = be.Scores(np.ones((4, 4)), ["a", "a", "b", "b"])
        >>> scores.select([0, 1, 3]).shape
        (3, 3)
        >>> scores.select(probes=[1, 3], gallery=[0, 1, 2]).shape
        (2, 3)
        >>> scores.select(probes=[1, 3])
        <Scores probes from the gallery, 2 x 4 float64 distance, 2 subjects, nan='raise'>
        """
        probes, gallery = self._chosen(index, probes, gallery)
        if probes is None and gallery is None:
            return self
        if isinstance(self._source, PairList):
            places = as_index(slice(None) if probes is None else probes, self.shape[0], "probes")
            return self._with_pairs(self._source.select(places, gallery))
        codes = copy(self._codes)
        view = self._with(_codes=codes)
        if probes is not None:
            places = as_index(probes, self.shape[0], "probes")
            codes.probe = self._codes.probe[places]
            if isinstance(self._source, TopKLists):
                view._set(_base=self._source.select(places))
            else:
                view._set(_rows=self._base_rows(places))
            view._set(
                probe_ids=self.probe_ids[places],
                probe_labels=self.probe_labels[places],
                _probe_meta={k: fixed(v[places]) for k, v in self.probe_meta.items()},
            )
        if gallery is not None:
            self._require_matrix()
            places = as_index(gallery, self.shape[1], "gallery")
            if (np.diff(places) <= 0).any() and len(np.unique(places)) != len(places):
                raise DataError("gallery selects a template more than once")
            codes.gallery = self._codes.gallery[places]
            view._set(
                _columns=self._base_columns(places),
                gallery_ids=self.gallery_ids[places],
                gallery_labels=self.gallery_labels[places],
                _gallery_meta={k: fixed(v[places]) for k, v in self.gallery_meta.items()},
            )
        return view

    def __getitem__(self, index: Any) -> Self:
        if isinstance(index, tuple) and named_choice(index) is None:
            return self.select(*index)
        return self.select(index)

    __iter__: None = None  # scores are no sequence of rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise DataError(f"{type(self).__name__} are no array; give scores.values")

    def _chosen(self, index: tuple[Any, ...], probes: Any, gallery: Any) -> tuple[Any, Any]:
        """Return the probes and the gallery that :meth:`select` is given; None for all."""
        if index:
            if len(index) > 2 or probes is not None or gallery is not None:
                raise DataError(
                    "select takes one index of both sides, two of probes and gallery, or the "
                    "arguments probes= and gallery="
                )
            if len(index) == 1:
                index = named_choice(index[0]) or index
            if len(index) == 1:
                index = self._sides_of_one(index[0])
            probes, gallery = index
        return _unless_all(probes), _unless_all(gallery)

    def _sides_of_one(self, index: Any) -> tuple[Any, Any]:
        """Return what a single index chooses on both sides, or of pairs or queries alone."""
        if self.layout in ("pairs", "top-k"):
            return index, None
        if index is not None and not np.array_equal(self.probe_ids, self.gallery_ids):
            m, n = self.shape
            raise DataError(
                f"one index takes the same templates on both sides, but the {m:,} probes and the "
                f"{n:,} gallery templates are not the same; give scores.select(probes=...) or "
                "scores.select(gallery=...)"
            )
        return index, index

    def _held(self) -> Self:
        """Return a view of the values of a container in memory, for more than one pass.

        The same scores where a limit is stated, the values would take more than a matrix of
        embeddings may, some rows are selected, or there is a mask without
        labels: the last digits of its d' depend on the blocks of rows.
        """
        if not self._is_stored or self._limited or self._rows is not None:
            return self
        base = self._base
        size = math.prod(base.shape) * base.dtype.itemsize
        if not self._labelled or size > MEMORY_LIMIT:
            return self
        with stage("reading"):
            return self._with(_base=base[:])

    def _reading_selected_columns(self) -> Self:
        """Return a view that computes or inflates no columns but its own.

        Of embeddings, the last digits of a distance may be others than in a whole row.
        """
        columns, source = self._columns, self._embedding_source
        if columns is None or self._mask is not None or 2 * len(columns) > self._source.shape[1]:
            return self
        if source is not None:
            return self._with(_base=source.of_columns(columns), _columns=None)
        base = self._base
        if rows_of(base) == "container":
            low = int(columns.min())
            part = base.of_columns(low, int(columns.max()) + 1)
            return self._with(_base=part, _columns=columns - low)
        return self

    @property
    def _by_rows(self) -> SelectedRows:
        """The scores as an object that is read by rows, like an array."""
        return SelectedRows(self)

    def with_mask(self, mask: Any) -> Self:
        """Return the same values with another mask.

        Parameters
        ----------
        mask : array_like of bool or int, shape (m, n)
            As for :class:`Scores` (True: an attempt).

        Returns
        -------
        Scores
            A view; no score is copied.
        """
        codes = self._codes if self._labelled else None
        return self._masked(as_mask(mask, (self.shape[0], self.shape[1]), codes))

    def _masked(self, mask: Any) -> Self:
        """Return the same values with a mask of integers, perhaps an object read by rows."""
        view = self._with(_mask=mask)
        if self._rows is not None or self._columns is not None:
            view._set(_base=self._by_rows, _rows=None, _columns=None)
        return view

    def with_values(self, values: Any, kind: Kind) -> Self:
        """Return other values of the same comparisons.

        Parameters
        ----------
        values : array_like, shape as that of the scores
            Perhaps an object that is read by rows.
        kind : {"distance", "similarity", "llr"}
            What these values are.

        Returns
        -------
        Scores
            Labels, metadata and what is left out are as they were.
        """
        self._require_matrix()
        require_choice("kind", kind, KINDS)
        if not hasattr(values, "shape"):
            values = as_array(values, "values")
        if tuple(values.shape) != self.shape:
            raise DataError(
                f"values has shape {tuple(values.shape)}; expected {self.shape}, as the scores"
            )
        if isinstance(self._source, PairList):
            return self._with(_base=replace(self._source, values=values), kind=kind)
        return self._with(
            _base=values,
            kind=kind,
            _mask=self.mask,
            _rows=None,
            _columns=None,
        )

    @property
    def _streams(self) -> bool:
        """Whether the rows are computed from embeddings each time they are read."""
        return rows_of(self._source) == "embeddings"

    @property
    def _embedding_source(self) -> EmbeddingSource | None:
        """What computes the scores from embeddings, if they are not in memory."""
        source = self._source
        if rows_of(source) == "matrix to be made":
            return source.source
        return source if self._streams else None

    @property
    def _is_stored(self) -> bool:
        """Whether the values are in a container; its chunks are decompressed when read."""
        return rows_of(self._source) == "container"

    @property
    def _has_mask(self) -> bool:
        """Whether a mask was given."""
        return self._mask is not None

    def _base_rows(self, index: np.ndarray) -> np.ndarray:
        """Return the rows of the base at these places."""
        return index if self._rows is None else self._rows[index]

    def _base_columns(self, index: np.ndarray) -> np.ndarray:
        """Return the columns of the base at these places."""
        return index if self._columns is None else self._columns[index]

    # ---------------------------------------------------------------- reading

    @property
    def _subject_pattern(self) -> str:
        """A pattern that takes the subject from the names of templates, for `subject_from`."""
        if isinstance(self._source, PairList):
            return self._source.subject_pattern
        return EXAMPLE_PATTERN

    def _require_matrix(self) -> None:
        """Raise :class:`ProtocolError` where the scores are not complete (top-K lists)."""
        if isinstance(self._source, TopKLists):
            self._source.made()

    def _read_rows(self, low: int, high: int, order: np.ndarray | None = None) -> np.ndarray:
        """Return the raw values of rows ``low:high``, with the columns in `order`."""
        columns = self._columns if order is None else self._base_columns(order)
        return read_block(self._base, self._rows, low, high, columns)

    def _few_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return the raw values of a few rows, computed from embeddings by themselves."""
        source = self._embedding_source
        assert source is not None
        values = source.of_rows(self._base_rows(rows))
        return values if self._columns is None else values[:, self._columns]

    def _cells(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the raw values of the cells ``(rows, columns)``."""
        i, j = self._base_rows(rows), self._base_columns(columns)
        if isinstance(self._base, np.ndarray):
            return self._base[i, j]
        cells, order = np.empty(len(i), dtype=self.dtype), np.argsort(i, kind="stable")
        starts = np.flatnonzero(np.diff(i[order], prepend=-1))
        for some in np.split(order, starts[1:]) if len(order) else ():
            cells[some] = np.asarray(self._base[i[some[0]] : i[some[0]] + 1])[0, j[some]]
        return cells

    def _read_mask(self, low: int, high: int, order: np.ndarray | None = None) -> np.ndarray:
        """Return the mask of rows ``low:high``, with the columns in `order`."""
        columns = self._columns if order is None else self._base_columns(order)
        return read_block(self._mask, self._rows, low, high, columns)

    @property
    def _row_chunk(self) -> int:
        """The number of rows that a chunked source stores together; 1 for arrays."""
        if rows_of(self._base) != "container" or self._rows is not None:
            return 1
        return self._base.chunk_rows

    @property
    def _derives_subjects(self) -> bool:
        """Whether identification has subjects: labels, or a consistent mask."""
        return self._labelled or self._mask_is_consistent


class SelectedRows:
    """A selection read by rows like an array, perhaps with its own mask."""

    ndim = 2

    def __init__(self, scores: LabelledMatrix):
        self.scores, self.shape, self.dtype = scores, scores.shape, scores.dtype

    def __getitem__(self, rows: Any) -> np.ndarray:
        if isinstance(rows, slice) and rows.step in (None, 1):
            return self.scores._read_rows(*rows.indices(self.shape[0])[:2])
        index = np.arange(self.shape[0])[rows]
        base, columns = self.scores._base, self.scores._columns
        return read_block(base, self.scores._base_rows(index), 0, len(index), columns)
