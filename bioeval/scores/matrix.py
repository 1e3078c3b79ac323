"""Scores of comparisons: two sides, and a source of values.

A matrix is made from values or from embeddings (:class:`Cells`), fixed trials are a list of pairs
(:class:`PairList`), and searches have their nearest entries alone (:class:`TopKLists`); `layout`
says which. A template has an identity, a number: by it no template is compared with itself, in a
square matrix and in any selection of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError, ProtocolError, received
from bioeval.base.kinds import KINDS, LARGER_IS_CLOSER, Kind
from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.scores.arrays import (
    as_array,
    as_mask,
    as_values,
    doubt_of_square,
    named_choice,
)
from bioeval.scores.blocks import GalleryOrder
from bioeval.scores.cells import Cells
from bioeval.scores.completeness import Completeness
from bioeval.scores.excluded import as_exclusions, failed_cells
from bioeval.scores.exclusions import Exclusions
from bioeval.scores.labels import Codes, digest, fixed, ids_of_no_person, present
from bioeval.scores.listed_templates import ListRules, places
from bioeval.scores.making import (
    MEMORY_LIMIT,
    OF_EMBEDDINGS,
    NanPolicy,
    as_ids,
    checked_words,
    compared_embeddings,
    memory_attributes,
    searched_lists,
    sides_of_matrix,
)
from bioeval.scores.names import RowOrder, as_names, index_of, table_in_order
from bioeval.scores.pairs import PairList
from bioeval.scores.people import marking
from bioeval.scores.selecting import chosen_sides, pairs_at, selected
from bioeval.scores.top_k import TopKLists

if TYPE_CHECKING:
    import pandas as pd

    from bioeval.scores.embeddings import FloatType, Metric
    from bioeval.scores.fusion_rules import FewTemplates
    from bioeval.scores.listed_templates import Kept

# Arrays that are read-only in all scores, also in copies and after unpickling.
_FIXED = ("probe_labels", "gallery_labels", "probe_ids", "gallery_ids")


class Scores:
    """A matrix of scores with the labels of its rows (probes) and columns (gallery).

    Embeddings are compared by :meth:`from_embeddings`; fixed trials are taken by
    :meth:`from_pairs`, and searches of which the nearest entries alone are known by
    :meth:`from_top_k`.

    Parameters
    ----------
    values : array_like, shape (m, n)
        Scores of any integer or float dtype: row = probe template, column = gallery template.
        An ndarray (strided, read-only or memory-mapped) is used as it is, not copied: what you
        change in it afterwards changes the scores. Labels and metadata are copies that cannot be
        changed. zarr and h5py arrays are read in blocks of rows.
    labels : sequence, shape (m,)
        The subject of each row, any hashable values that define when two of them are equal; an
        array or tensor of no dimension is the value that it holds, here and in metadata. May be
        left out where `mask` is given, and where `values` is a DataFrame of pandas with labels as
        its index and columns. Labels, metadata and a mask are joined with `values` by the names of
        the templates where both have them, in any order: an index of pandas, the coordinate of an
        xarray dimension, or a column of names; else they are taken in order, which results say.
    gallery_labels : sequence, shape (n,), optional
        The subject of each gallery template. If left out, the same templates are on both
        sides (all-against-all): the matrix must be square, and its diagonal is never read.
    kind : {"distance", "similarity", "llr", "order"}
        ``"distance"``: smaller is closer, a claim is accepted iff ``d <= t``. ``"similarity"``:
        accepted iff ``s >= t``. ``"llr"``: a similarity that is a natural log-likelihood ratio,
        for :func:`bioeval.calibration`. ``"order"``: each row holds only the order of its distances
        (1 = nearest); ranks are right, thresholds across rows are refused.
    nan : {"raise", "reject", "exclude"}
        What a NaN, a comparison that failed, means: an error; an attempt that no threshold
        accepts; or no attempt at all.
    mask : array_like of bool or int, shape (m, n), optional
        True where a cell is an attempt, the contrary of the mask of NumPy's masked arrays; or
        for each cell 0 (ignore), 1 (impostor) or 2 (genuine). Without labels, these numbers alone
        decide what is genuine, and a square matrix is all-against-all where its whole diagonal is
        ignored and there is no `gallery_meta`; with labels a mask may only leave cells out.
    probe_meta, gallery_meta : mapping of str to sequence, optional
        Columns such as ``camera``, ``session`` or ``group``, one value a template. In
        all-against-all, `probe_meta` serves both sides.
    name : str, optional
        The system's name, for tables and plots.
    exclude : sequence of str
        Comparisons that are left out, by a metadata column of both sides. ``"session"``: those of
        mates (two templates of one subject) with the same session, which flatter the system;
        ``"clothes!="``: those of mates whose clothes are not the same; ``"camera=3/2"``: those of
        mates, camera 3 as probe and 2 in the gallery. With ``all:`` in front, as
        ``"all:camera=3/2"``, all such pairs and not mates alone.
    distractor_ids : sequence of int or str, optional
        Labels of templates of no known person, numbers or texts in any case; an empty one says that
        all labels are names. By default -1, ``nan``, ``null``, ``none``, ``n/a``, ``unknown``,
        ``unidentified`` and ``new_individual``. A missing label (None, NaN, empty) is of no person
        in any case. In every task these are impostors to every person (strangers as probes,
        distractors in the gallery), two of them make no attempt, and they are no subjects;
        results say how many they are. Divisions never split them: they are in the gallery of every
        part, and no probes of any.
    names : {"auto", None}, str, sequence, or tuple of two sequences
        The names of the templates: equal names on both sides are one template. ``"auto"``: the
        index of `values`, else a column of metadata such as ``name``, ``template`` or ``file``;
        a string is the column, None says that no column names templates. A sequence is of both
        sides of all-against-all, a tuple of the probes and of the gallery.

    Attributes
    ----------
    probe_names, gallery_names : pandas.Index or None
        The names of the templates.
    probe_ids, gallery_ids : ndarray of int64
        The templates: those with one number are the same, and are not compared with each other.

    Raises
    ------
    DataError
        If shapes, lengths, dtypes or labels do not fit; the message says which and where.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0.0, 0.2, 0.9], [0.2, 0.0, 0.8], [0.9, 0.8, 0.0]]
    >>> scores = be.Scores(d, ["ann", "ann", "bob"])
    >>> scores.layout, scores.shape
    ('all-against-all', (3, 3))

    Notes
    -----
    Definitions: ``docs/definitions.md``, "Input". Scores do not change: :meth:`replace`,
    :meth:`with_values`, :meth:`with_mask` and :meth:`select` make new ones, and setting an
    attribute raises :class:`AttributeError`. An array of values stays the one that was given.
    """

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
    _probe_names: pd.Index | None = None
    _gallery_names: pd.Index | None = None
    #: Of pairs: what the index of their scores calls each; None without one.
    pair_names: pd.Index | None = None
    _without_gallery_labels = False  # whether a matrix is all against all for want of others
    origin = ""
    metric = ""  # that of bioeval by which the scores were computed from embeddings
    is_derived = False  # whether they were made of other scores, by fusion or calibration
    _memory_limit = MEMORY_LIMIT
    _limited = False  # whether the limit was stated, and holds for all that is counted
    _labelled = True
    exclude: tuple[str, ...] = ()
    #: What the scores that these were made of left out.
    _excluded_before: tuple[str, ...] = ()
    #: What an attempt of claim scores is, in words; empty: a comparison.
    claims = ""
    #: What the rates of claim scores are of, for a title.
    claims_title = ""
    #: The tries of an attempt, at most.
    tries = 1
    #: Identities of probe and gallery of incomplete claims, int64 (k, 2).
    _incomplete: np.ndarray | None = None
    #: Claims that have fewer templates than their fusion needs.
    _too_few: FewTemplates | None = None
    #: The tries of claims of several, as `Tries` of `claim_scores.py`.
    _tries: Any = None
    #: What was found when a file was read or the scores were made, for every result.
    remarks: tuple[Message, ...] = ()
    #: Attack presentations that were left out.
    _attacks_left_out = 0
    #: Columns of a table of templates that are no metadata, and why.
    _columns_left_out: Mapping[str, str] = {}
    #: How a file was read, for the description of the data: phrases.
    reading: tuple[str, ...] = ()
    #: Labels that mark distractors and junk: as given, or as the names of images say; None: the
    #: words for unknown people, and -1.
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
        """Set attributes of scores that are being made."""
        for name in _FIXED:
            if isinstance(attributes.get(name), np.ndarray):
                fixed(attributes[name])
        self.__dict__.update(attributes)

    def _with(self, **attributes: Any) -> Self:
        """Return a view with other attributes; what was computed of the former ones is dropped."""
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
        distractor_ids: Sequence[int | str] | None = None,
        names: Any = "auto",
    ):
        """Check what is given, and mark what is left out."""
        made = as_values(values)
        self._set(**checked_words(kind, nan, name), **memory_attributes())
        distractors = as_ids(distractor_ids)
        metas = probe_meta, gallery_meta
        sides = sides_of_matrix(
            values,
            made.shape,
            (labels, gallery_labels),
            mask,
            metas,
            names,
            ids_of_no_person(distractors),
        )
        self._set(_source=Cells(made, sides.pop("mask")), distractor_ids=distractors, **sides)
        self._set(exclude=as_exclusions(self, exclude))

    @classmethod
    def from_embeddings(
        cls,
        probe: Any,
        labels: Any,
        gallery: Any = None,
        gallery_labels: Any = None,
        *,
        metric: Metric = "cosine",
        kind: Kind | None = None,
        dtype: FloatType = "float64",
        nan: NanPolicy = "raise",
        mask: Any = None,
        probe_meta: Mapping[str, Any] | None = None,
        gallery_meta: Mapping[str, Any] | None = None,
        name: str | None = None,
        exclude: Sequence[str] = (),
        average: Sequence[str] = (),
        distractor_ids: Sequence[int | str] | None = None,
        names: Any = "auto",
    ) -> Scores:
        """Compare embeddings by a metric.

        A matrix that is larger than the memory limit of :class:`bioeval.set_options` is never made:
        its rows are computed whenever they are read.

        Parameters
        ----------
        probe : array_like, shape (m, f)
            One embedding a row: an array of any library, a table, or a list of batches. A first
            column that counts the rows, or has one value for each person while no other column
            has, is refused; in a table whose columns have names, it is a feature.
        labels : sequence, shape (m,)
            The subject of each probe.
        gallery : array_like, shape (n, f), optional
            If left out, all probes are compared with each other (all-against-all).
        gallery_labels : sequence, shape (n,), optional
        metric : {"cosine", "l2", "l1", "linf", "bhattacharyya"} or callable
            Distances: ``cosine`` is ``1 - cos``; ``l2``, ``l1`` and ``linf`` may be called
            ``euclidean``, ``manhattan`` (or ``cityblock``) and ``chebyshev``; ``bhattacharyya`` is
            ``-ln sum sqrt(p q)`` of the normalised non-negative features. A callable takes two
            blocks of rows, ``(b, f)`` and ``(c, f)``, and returns their scores, ``(b, c)``.
        kind : {"distance", "similarity", "llr"}, optional
            Kind of the scores that a callable returns, and needed with it: whether smaller or
            larger ones are closer. The named metrics give distances.
        dtype : {"float64", "float32"}
            In which distances are computed; float32 is about twice as fast.
        nan, mask, probe_meta, gallery_meta, name, exclude, distractor_ids, names
            As for :class:`Scores`. A NaN in an embedding makes all its comparisons NaN.
        average : sequence of str
            Metadata columns by which several embeddings become one template, outermost first:
            ``("template", "media")`` averages within each medium of a template, then over its
            media, on both sides. Rows that failed (NaN) are left out of the means; metadata that
            differ within a template are dropped.

        Returns
        -------
        Scores

        Examples
        --------
        >>> import numpy as np, bioeval as be
        >>> x = np.array([[0.0, 1.0], [0.1, 1.0], [1.0, 0.0]])
        >>> be.Scores.from_embeddings(x, ["ann", "ann", "bob"], metric="l2").values.round(2)
        array([[0.  , 0.1 , 1.41],
               [0.1 , 0.  , 1.35],
               [1.41, 1.35, 0.  ]])
        """
        return cls._from_embeddings(
            probe,
            labels,
            gallery,
            gallery_labels,
            metric=metric,
            kind=kind,
            dtype=dtype,
            nan=nan,
            mask=mask,
            probe_meta=probe_meta,
            gallery_meta=gallery_meta,
            name=name,
            exclude=exclude,
            average=average,
            distractor_ids=distractor_ids,
            names=names,
        )

    @classmethod
    def _from_embeddings(
        cls, *sides: Any, as_read: bool = False, named: bool = False, **how: Any
    ) -> Scores:
        """Compare embeddings; with `as_read` no matrix is made, however small it is.

        Columns of the probes that are `named` are features, whatever they hold.
        """
        of_metric = {name: how.pop(name) for name in OF_EMBEDDINGS if name in how}
        of_metric |= {"as_read": as_read, "named": named}
        exclude = how.pop("exclude", ())  # which may name a column that is left out
        made, arguments, attributes = compared_embeddings(*sides, **of_metric)
        scores = cls(made[0], made[1], made[2], **arguments, **how)
        remarks = tuple(dict.fromkeys([*attributes.pop("remarks"), *scores.remarks]))
        scores = scores._with(**attributes, remarks=remarks)
        scores._set(exclude=as_exclusions(scores, exclude))
        return scores

    @classmethod
    def from_pairs(
        cls,
        scores: Any,
        genuine: Any,
        *,
        kind: Kind = "distance",
        nan: NanPolicy = "raise",
        subjects: Any = None,
        pair_folds: Any = None,
        name: str | None = None,
        pair_templates: Any = None,
        keep: Kept | Sequence[Kept] = (),
        unordered: bool = False,
        meta: Mapping[str, Any] | None = None,
        distractor_ids: Sequence[int | str] | None = None,
    ) -> Scores:
        """Take fixed trials: one score per pair, and whether the pair is genuine.

        Parameters
        ----------
        scores : array_like, shape (p,)
        genuine : array_like of bool or 0/1, shape (p,)
        kind, nan, name
            As for :class:`Scores`.
        subjects : array_like, shape (p, 2), optional
            The subjects of both sides of each pair, the enrolled one first and the probe's second,
            as of `pair_templates` and `meta`; intervals by subject need them.
        pair_folds : array_like, shape (p,), optional
            The fold of each pair, where the publisher of a list gives it.
        pair_templates : array_like, shape (p, 2), optional
            The names of the templates of both sides of each pair, else the columns `template` or
            `name` of `meta`. With them a pair that is listed
            again with the same score counts once, and comparisons of a template with itself are
            left out, which results say; :func:`compare` and :func:`fuse` align systems by them.
        keep : {"self", "repeated"}, or several of them
            What to count nevertheless: comparisons of a template with itself, and pairs as often
            as they are listed.
        unordered : bool
            Count a-b and b-a as one attempt, which both orders then have the same score for. By
            default they are two, as in a matrix.
        meta : mapping of str to array_like, shape (p, 2), optional
            Metadata columns of both templates of each pair, as for :func:`by_group`.
        distractor_ids : sequence of int or str, optional
            As for :class:`Scores`: who is no subject. What is an attempt, `genuine` decides.

        Returns
        -------
        Scores
            Scores of layout ``"pairs"``: verification only. They have `genuine`, `pair_folds`,
            `pair_subjects`, `pair_templates`, and `pair_ids`: the position of each pair in the
            list, or the identities of its two templates.

        Raises
        ------
        DataError
            If `genuine` contradicts `subjects`, a pair is both genuine and impostor, or is listed
            again with another score.

        Examples
        --------
        >>> import bioeval as be
        >>> be.Scores.from_pairs([0.1, 0.8, 0.4], [True, False, True]).genuine.sum()
        np.int64(2)
        """
        rules = ListRules.parse(keep, unordered)
        if pair_templates is None and isinstance(meta, Mapping):
            named = [meta[name] for name in ("template", "name") if name in meta]
            pair_templates = next(iter(named), None)
        order = RowOrder(scores)
        listed = PairList.of(
            scores,
            order.bring(genuine, "`genuine`"),
            subjects=order.bring(subjects, "`subjects`"),
            pair_folds=order.bring(pair_folds, "`pair_folds`"),
            pair_templates=order.bring(pair_templates, "`pair_templates`"),
            meta=order.bring_each(meta, "`meta`"),
        )
        require_choice("kind", kind, KINDS)
        ids = as_ids(distractor_ids)
        where = lambda rows: places("pair", rows)  # noqa: E731
        listed, kept, notes = listed.attempts(rules, kind, where, ids_of_no_person(ids))
        remarks = [*order.remarks, *notes]
        made = cls._of_pairs(listed, kind=kind, nan=nan, name=name, remarks=remarks)
        if order.names is not None:
            made = made._with(pair_names=order.names[kept])
        return marking(made, ids)

    @classmethod
    def _of_pairs(
        cls,
        pairs: PairList,
        *,
        kind: Kind,
        nan: NanPolicy = "raise",
        name: str | None = None,
        remarks: Sequence[Message] = (),
    ) -> Scores:
        """Return the scores of a list of pairs, of which each is an attempt."""
        made = cls.__new__(cls)
        made._set(**checked_words(kind, nan, name), **memory_attributes())
        made._set(_labelled=False, remarks=tuple(remarks))
        return made.with_pairs(pairs)

    @classmethod
    def from_top_k(
        cls,
        indices: Any,
        labels: Any,
        gallery_labels: Any = None,
        *,
        distances: Any = None,
        kind: Kind = "distance",
        probe_meta: Mapping[str, Any] | None = None,
        gallery_meta: Mapping[str, Any] | None = None,
        name: str | None = None,
        leave_out_query: bool | None = None,
        query_positions: Any = None,
        distractor_ids: Sequence[int | str] | None = None,
    ) -> Scores:
        """Take for each query its K nearest gallery entries alone, as a search returns them.

        Parameters
        ----------
        indices : array_like of int, shape (q, k)
            Columns of the gallery, from 0, nearest first, none of them twice in a row: what FAISS
            and ``torch.topk`` return second, hnswlib and ScaNN first. -1, wherever in a row, is a
            place for which nothing was found.
        labels : sequence, shape (q,)
            The identity of each query.
        gallery_labels : sequence, shape (n,), optional
            The identity of every gallery entry, listed or not: average precision divides by all
            matches in the gallery. If left out, queries and entries are the same templates, and
            each query is left out of its own list.
        distances : array_like, shape (q, k), optional
            The scores of the entries, in the order of the list.
        kind : {"distance", "similarity", "llr"}
            What `distances` are: ``"similarity"`` for inner products.
        probe_meta, gallery_meta, name, distractor_ids
            As for :class:`Scores`.
        leave_out_query : bool, optional
            Whether a query that is itself a gallery entry is left out of its list and of its
            matches: an index that is searched with its own vectors returns each of them as its own
            nearest. True takes query i as entry i; by default only without `gallery_labels`.
        query_positions : array_like of int, shape (q,), optional
            The gallery entry that each query is itself, -1 for none, where the queries are other
            rows of the index than the first ones. They are left out of their lists.

        Returns
        -------
        Scores
            Scores of layout ``"top-k"``: re-identification alone, for which they have `indices`
            (int64 (q, depth), -1 at the end of shorter lists), `distances` or None, `depth` and
            `gallery_size`.

        Raises
        ------
        DataError
            If indices are outside of the gallery or repeated, or distances are not in the order of
            the list; if `leave_out_query` is True and the queries are not the gallery's first
            entries.

        Warns
        -----
        BioevalWarning
            If nearly every list begins with the entry at the place of its query, and
            `leave_out_query` is not given.

        Examples
        --------
        >>> import bioeval as be
        >>> be.Scores.from_top_k([[2, 0], [1, 2]], ["ann", "bob"], ["ann", "bob", "ann"])
        <Scores 2 queries, the nearest 2 of 3 gallery entries, 2 subjects>

        Three vectors of an index, searched with themselves:

        >>> who = ["ann", "ann", "bob"]
        >>> be.Scores.from_top_k([[0, 1], [1, 0], [2, 0]], who).indices
        array([[1],
               [0],
               [0]])
        """
        made = cls.__new__(cls)
        made._set(**checked_words(kind, "raise", name), **memory_attributes())
        metas, queries = (probe_meta, gallery_meta), (leave_out_query, query_positions)
        made._set(
            **searched_lists(indices, labels, gallery_labels, distances, kind, *metas, *queries)
        )
        return marking(made, as_ids(distractor_ids))

    def at_pairs(
        self, probe_index: Any, gallery_index: Any, genuine: Any = None, pair_folds: Any = None
    ) -> Scores:
        """Take a list of cells as fixed trials, such as the LFW view 2 pairs.

        Parameters
        ----------
        probe_index, gallery_index : array_like of int, shape (p,)
            The rows and columns of the cells.
        genuine : array_like of bool, shape (p,), optional
            If left out, a pair is genuine iff its labels are equal, and pairs of two templates of
            no person are left out.
        pair_folds : array_like, shape (p,), optional
            The fold of each pair, where the publisher of a list gives it.

        Returns
        -------
        Scores
            Scores of layout ``"pairs"``.
        """
        pairs, notes = pairs_at(self, probe_index, gallery_index, genuine, pair_folds)
        made = self._of_pairs(pairs, kind=self.kind, nan=self.nan, name=self.name)
        return made._with(
            origin=self.origin,
            metric=self.metric,
            reading=self.reading,
            distractor_ids=self.distractor_ids,
            junk_ids=self.junk_ids,
            _excluded_before=(*self._excluded_before, *self.exclude),
            claims=self.claims,
            claims_title=self.claims_title,
            tries=self.tries,
            remarks=tuple(notes),
        )

    # ---------------------------------------------------------------- what it is

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
        return self._source.whole_mask() if self.has_mask else None

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
        return self._names_of_side(1, self._probe_names)

    @property
    def gallery_names(self) -> pd.Index | None:
        """The names of the gallery templates, of pairs those of each pair; None without names."""
        return self._names_of_side(0, self._gallery_names)

    def _names_of_side(self, side: int, names: pd.Index | None) -> pd.Index | None:
        if self.layout != "pairs" or self.pairs.templates is None:
            return names
        return as_names(self.pairs.templates.side(side))

    @cached_property
    def layout(self) -> str:
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
        """The layout, with a word where the probes are some of the gallery's templates."""
        square = self.layout == "all-against-all"
        some = square and not np.array_equal(np.sort(self.probe_ids), np.sort(self.gallery_ids))
        if some:
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
        """The labels of junk and of distractors, with the empty one for those that are missing."""
        return (*self.junk_ids, *ids_of_no_person(self.distractor_ids))

    @property
    def subjects(self) -> np.ndarray:
        """The distinct labels of both sides; distractors and junk are none."""
        if self.layout == "pairs":
            known = self.pairs.people is not None
            return self.pairs.distinct_subjects(self.codes) if known else np.array([])
        return self._codes.values[self._codes.people(self._codes.probe, self._codes.gallery)]

    @property
    def fingerprint(self) -> str:
        """Shape, dtype, kind, and digests of labels and scores: enough to detect other data."""
        kind = f"{self.dtype.name} {self.kind}"
        if self.layout == "pairs":
            return self.pairs.fingerprint(kind)
        m, n = self.shape
        # Each time: the array may have changed.
        values = self._source.digest(self.probe_ids, self.gallery_ids)
        return f"{m}x{n} {kind} labels:{self._digest_of_labels} values:{values}"

    @cached_property
    def _digest_of_labels(self) -> str:
        return digest(self.probe_labels, self.gallery_labels)

    def __repr__(self) -> str:
        """Return the layout, size, dtype and kind in a line."""
        if self.layout == "top-k":
            return f"<Scores {self.lists.in_words()}, {len(self.subjects)} subjects>"
        if self.layout == "pairs":
            what, who = f"{self.pairs.in_words()}, ", ""
        else:
            what = f"{self.layout_in_words}, {self.shape[0]} x {self.shape[1]} "
            who = f"{len(self.subjects)} subjects, " if self._labelled else ""
        without = f", exclude={', '.join(self.exclude)!r}" if self.exclude else ""
        return f"<Scores {what}{self.dtype} {self.kind}, {who}nan={self.nan!r}{without}>"

    # ---------------------------------------------------------------- the source, and what only
    # tasks and studies need (CONTRIBUTING.md, "The inner interface")

    @cached_property
    def cells(self) -> Cells:
        """The matrix of values; a :class:`ProtocolError` where there is none."""
        if isinstance(self._source, TopKLists):
            self._source.made()
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
        """Of pairs: whether each is genuine."""
        return self.pairs.genuine

    @property
    def pair_folds(self) -> np.ndarray | None:
        """Of pairs: the fold of each, if it was given."""
        return self.pairs.folds

    @property
    def pair_subjects(self) -> np.ndarray | None:
        """Of pairs: the subjects of both sides, the enrolled one first, if they are known."""
        return self.pairs.subjects

    @property
    def pair_templates(self) -> np.ndarray | None:
        """Of pairs: the names of the templates of both sides, if they are known."""
        return None if self.pairs.templates is None else self.pairs.templates.objects()

    @property
    def pair_ids(self) -> np.ndarray:
        """Of pairs: the position of each in the list, or the identities of its two templates."""
        return self.pairs.pair_ids

    def pair_distances(self, piece: np.ndarray | None = None) -> np.ndarray:
        """Return the scores of pairs, or those of a piece, as distances under the policy of NaN."""
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
        """Of top-K lists: the gallery entries of each query, nearest first; -1 behind the end."""
        return self.lists.indices

    @property
    def distances(self) -> np.ndarray | None:
        """Of top-K lists: the scores of the entries, if they were given."""
        return self.lists.distances

    @property
    def depth(self) -> int:
        """Of top-K lists: their length."""
        return self.lists.depth

    @property
    def gallery_size(self) -> int:
        """Of top-K lists: the number of gallery entries, listed or not."""
        return self.lists.gallery_size

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
        words = checked_words(
            self.kind if kind is None else kind,
            self.nan if nan is None else nan,
            self.name if name is None else name,
        )
        self._source.require_kind(words["kind"])
        view = self._with(**words)
        if exclude is not None:
            view._set(exclude=as_exclusions(self, exclude))
        return view

    def _require_kept(self, column: Any, argument: str, *sides: Mapping[str, Any]) -> None:
        """Raise where a column is not among the metadata of sides, as it has several values."""
        if not isinstance(column, str) or all(column in meta for meta in sides):
            return
        if column in self._columns_left_out:
            raise DataError(
                f"`{argument}` is {received(column)}, and this column "
                f"{self._columns_left_out[column]}; give each template one value"
            )

    @cached_property
    def exclusions(self) -> Exclusions:
        """What `exclude` and the labels of no person leave out, as codes of both sides."""
        subjects = self.codes if self._labelled else None
        return Exclusions.parse(self.exclude, self.probe_meta, self.gallery_meta, subjects)

    @cached_property
    def gallery_order(self) -> GalleryOrder:
        """The gallery with the templates of each subject side by side."""
        return GalleryOrder(self)

    @cached_property
    def completeness(self) -> Completeness:
        """Whether each probe was compared with all of the gallery."""
        return Completeness.of(self)

    @cached_property
    def failures(self) -> tuple[int, int]:
        """How many genuine and how many impostor comparisons failed (NaN)."""
        if self.layout == "top-k" or self.dtype.kind != "f":
            return 0, 0
        if self.layout == "pairs":
            failed = [self.genuine[np.isnan(self.values)]]
        else:
            failed = [genuine for _, _, genuine in failed_cells(self)]
        same = sum(int(np.count_nonzero(genuine)) for genuine in failed)
        return same, sum(map(len, failed)) - same

    def select(self, *index: Any, probes: Any = None, gallery: Any = None) -> Scores:
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
        scores, probes, gallery = chosen_sides(self, index, probes, gallery)
        if probes is None and gallery is None:
            return self
        return selected(scores, probes, gallery)

    def __getitem__(self, index: Any) -> Scores:
        if isinstance(index, tuple) and named_choice(index) is None:
            return self.select(*index)
        return self.select(index)

    __iter__: None = None  # scores are no sequence of rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise DataError(f"{type(self).__name__} are no array; give scores.values")

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
        codes = self.codes if self._labelled else None
        mask, _, remarks = table_in_order(mask, (self.probe_names, self.gallery_names), "`mask`")
        masked = self.cells.masked(as_mask(mask, self.cells.shape, codes))
        return self._with(_source=masked).with_remarks(*remarks)

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
        require_all_scores(self)
        require_choice("kind", kind, KINDS)
        sides = [self.probe_names, self.gallery_names]
        if self.layout == "pairs":
            sides = [self.pair_names]
        values, _, remarks = table_in_order(values, sides, "`values`")
        if remarks or not hasattr(values, "shape") or index_of(values) is not None:
            values = as_array(values, "values")
        if tuple(values.shape) != self.shape:
            raise DataError(
                f"values has shape {tuple(values.shape)}; expected {self.shape}, as the scores"
            )
        if self.layout == "pairs":
            return self._with(_source=replace(self.pairs, values=values), kind=kind)
        made = self._with(_source=Cells(values, self.mask), kind=kind, _tries=None)
        return made.with_remarks(*remarks) if remarks else made

    def derived(self, values: np.ndarray, kind: Kind, origin: str) -> Self:
        """Return values that were computed from these scores and perhaps others, and how."""
        return self.with_values(values, kind)._with(origin=origin, metric="", is_derived=True)

    def with_remarks(self, *remarks: Message) -> Self:
        """Return the same scores with more remarks, each once, for every result."""
        return self._with(remarks=tuple(dict.fromkeys([*self.remarks, *remarks])))

    def held(self) -> Self:
        """Return a view of the values of a container in memory, for more than one pass.

        The same scores where a limit is stated, the values would take more than a matrix of
        embeddings may, some rows are selected, or there is a mask without labels: the last digits
        of its d' depend on the blocks of rows.
        """
        if self._limited or not self._labelled or not self.cells.is_stored:
            return self
        with stage("reading"):
            return self._with(_source=self.cells.held(MEMORY_LIMIT))


def require_scores(scores: Any, input_name: str = "scores") -> None:
    """Raise :class:`DataError` unless these are :class:`Scores`."""
    if not isinstance(scores, Scores):
        raise DataError(
            f"{input_name} is {type(scores).__name__}; expected bioeval.Scores(values, labels, "
            "gallery_labels), with the kind of the values"
        )


def require_all_scores(scores: Any) -> None:
    """Raise unless these are :class:`Scores`, complete for the gallery: no top-K lists."""
    require_scores(scores)
    if scores.layout == "top-k":
        scores.lists.made()


def require_subjects(scores: Scores, input_name: str) -> None:
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


def require_templates(scores: Scores, task: str) -> None:
    """Raise :class:`ProtocolError` of claim scores, which have no templates to rank."""
    if scores.claims:
        raise ProtocolError(
            f"{task} ranks the templates of a gallery, and these are claim scores, which are for "
            "verification; give the scores that the claims were made of"
        )
