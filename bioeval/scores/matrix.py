"""Scores of comparisons: two sides, and a source of values.

============================  ==================  ======================================
made by                       `_source`           `layout`
============================  ==================  ======================================
``Scores``, from_embeddings   :class:`Cells`      all-against-all, probe-against-gallery
``from_pairs``, ``at_pairs``  :class:`PairList`   pairs
``from_top_k``                :class:`TopKLists`  top-k
============================  ==================  ======================================

A template has an identity, a number, by which no template is compared with itself, in a square
matrix and in any selection. Scores do not change: methods that change something return a view, in
which some attributes are others (``_with``). Labels and metadata are brought into the order of the
scores in :mod:`bioeval.scores.sides`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from bioeval.base.arguments import (
    require_array,
    require_choice,
    require_flag,
    require_integer,
    require_text,
)
from bioeval.base.digests import digest
from bioeval.base.errors import DataError, Message, ProtocolError, counted, short_name
from bioeval.base.kinds import KINDS, LARGER_IS_CLOSER, NAN_POLICIES, Kind, Layout, NanPolicy
from bioeval.base.options import MEMORY_LIMIT, OPTIONS
from bioeval.base.progress import stage
from bioeval.scores.arrays import as_array, as_index, as_values, named_choice
from bioeval.scores.attempts import (
    Completeness,
    Exclusion,
    as_exclusions,
    columns_of_probes,
    excluded,
    exclusions_of_scores,
    failed_cells,
)
from bioeval.scores.cells import Cells
from bioeval.scores.codes import Codes, GalleryOrder, present
from bioeval.scores.comparing import compare_embeddings
from bioeval.scores.joining import (
    InOrder,
    columns_in_order_of_rows,
    each_in_order,
    in_order,
    probes_first,
    table_in_order,
)
from bioeval.scores.keys import Keys, as_names, index_of, keys_of
from bioeval.scores.labels import as_ids, ids_of_no_person, one_dimensional
from bioeval.scores.masks import as_mask
from bioeval.scores.pairs import ListRules, PairList, places_in_words, require_classes
from bioeval.scores.people import marking
from bioeval.scores.same import confirm_names, refuse_other_order, scored_of
from bioeval.scores.sides import Side, Sides, sides_in_order, sides_of_matrix
from bioeval.scores.square import doubt_of_square
from bioeval.scores.stored import is_stored
from bioeval.scores.top_k import TopKLists, searched_lists

if TYPE_CHECKING:
    import pandas as pd

    from bioeval.scores.embeddings import FloatType, Metric
    from bioeval.scores.pairs import Kept


# What pairs keep of the scores whose cells they are.
_KEPT_BY_PAIRS = ("origin", "metric", "reading", "distractor_ids", "junk_ids")


@dataclass(frozen=True, eq=False)
class ClaimAttempts:
    """What an attempt is where each score is of a claim (:func:`bioeval.claim_scores`).

    The texts are empty if an attempt is a comparison of two templates.
    """

    in_words: str = ""
    title: str = ""  # the same in a few words
    name: str = ""  # the same in a word: visits, or claims
    #: The rule by which the scores of the claimed templates became one, if there are several.
    fusion: str = "none"
    #: The metadata column whose values make tries an attempt; empty if an attempt is one probe.
    visits_of: str = ""
    most_tries: int = 1  # of an attempt
    #: The identities of the row and the column, int64 (k, 2), of claims that lack tries, and of
    #: claims that have fewer templates than their fusion needs.
    incomplete: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    too_few: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    templates_needed: int = 1  # by the fusion
    tries: Any = None  # the `Tries` of the attempts, if they have several

    def of_cells(self) -> ClaimAttempts:
        """Return the description of some claims alone, without those that are no attempts."""
        return ClaimAttempts(
            self.in_words, self.title, self.name, self.fusion, most_tries=self.most_tries
        )


@dataclass(frozen=True)
class MemoryLimit:
    """The bytes that a matrix of embeddings may take and, if they are stated, counting as well."""

    size: int = MEMORY_LIMIT
    is_stated: bool = False  # by the user
    held: int = 0  # bytes of values that a file was read into, which the limit includes

    @classmethod
    def from_options(cls) -> MemoryLimit:
        stated = OPTIONS["memory_limit"]
        return cls(stated or MEMORY_LIMIT, stated is not None)

    @property
    def left(self) -> int:
        return self.size - self.held


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
        The subject of each row: any hashable values. Optional with `mask`, or if `values` is a
        pandas DataFrame with labels as index and columns.
    gallery_labels : sequence, shape (n,), optional
        The subject of each gallery template. If left out, the same templates are on both
        sides (all-against-all): the matrix must be square, and its diagonal is never read.
    kind : {"distance", "similarity", "order"}
        ``"distance"``: smaller is closer, a claim is accepted iff ``d <= t``. ``"similarity"``:
        accepted iff ``s >= t``. ``"order"``: each row holds only the order of its distances (1 =
        nearest); ranks are right, thresholds across rows are refused.
    nan : {"raise", "reject", "exclude"}
        Meaning of NaN, a comparison that failed: an error; an attempt that no threshold accepts; or
        no attempt at all.
    mask : array_like of bool or int, shape (m, n), optional
        Cells that are attempts:

        - bool: True where a cell is an attempt (masked arrays of NumPy have the opposite)
        - int: 0 (ignore), 1 (impostor) or 2 (genuine)

        With labels, a mask may only leave cells out. Without labels, the numbers decide which cells
        are genuine. A square matrix is then all-against-all if its whole diagonal is ignored and
        there is no `gallery_meta`.
    probe_meta, gallery_meta : mapping of str to sequence, optional
        Columns such as ``camera``, ``session`` or ``group``, one value a template. In
        all-against-all, `probe_meta` serves both sides.
    name : str, optional
        The system's name, for tables and plots.
    exclude : sequence of str
        Comparisons that are left out, by a metadata column of both sides. ``"session"``: mates
        (two templates of one subject) with the same session, which flatter the system;
        ``"clothes!="``: mates whose clothes are not the same; ``"camera=3/2"``: mates, with the
        probe from camera 3 and the gallery template from camera 2. With ``all:`` in front, as
        ``"all:camera=3/2"``, all such pairs and not mates alone.
    distractor_ids : sequence of int or str, optional
        Labels of templates of no known person: numbers, or texts in any case. By default -1,
        ``unidentified``, ``new_individual`` and all words for no value, such as ``nan``,
        ``n/a``, ``?`` and ``unknown``; with an empty sequence, each label is a subject. A missing
        label (None, NaN, empty) is always of no person. See Notes.
    names : {"auto", None}, str, sequence, or tuple of two sequences
        The names of the templates: equal names on both sides are one template, if the scores
        confirm it (``shared``).

        - ``"auto"``: the index of `values`, else a column of metadata such as ``name``,
          ``template`` or ``file``
        - None: no column has names
        - another string: the column of metadata that has names
        - a sequence: names of both sides of all-against-all
        - a tuple of two sequences: names of the probes, and of the gallery
    shared : bool, optional
        Whether equal names on both sides are one template, which is not compared with itself. By
        default the scores decide: embeddings are equal, the scores are symmetric under the names,
        or comparisons of equal names have one value, such as 0. Scores that deny the names are
        refused with the evidence.

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
    Definitions: ``docs/definitions.md``, "Input".

    Scores do not change: :meth:`replace`, :meth:`with_values`, :meth:`with_mask` and :meth:`select`
    make new ones, and setting an attribute raises :class:`AttributeError`. An array of values stays
    the one that was given.

    Labels, metadata, a mask, and what later calls take for each template are joined with `values`
    by names, in any order, if both have names: texts in an index of pandas, in the coordinate of
    an xarray dimension, or in a column of names. An index of whole numbers on both sides is
    aligned by these numbers, as pandas does; numbers never say that a probe and a gallery template
    are one. Otherwise rows are taken in order, and results say so if one side has names, or
    numbers other than 0, 1, 2 ... Labels in such an order that fit the scores clearly better in
    the other order are refused.

    Two labels are the same subject if they are equal. An array or tensor of no dimension, as a
    label or in metadata, is the value that it holds.

    Templates of no known person

    - are impostors to every person in every task: strangers as probes, distractors in the gallery;
    - make no attempt with each other, and are no subjects; results say how many they are;
    - are never split by divisions: they are in the gallery of every part, and never its probes.
    """

    kind: Kind
    nan: NanPolicy
    name: str | None
    _source: Cells | PairList | TopKLists
    _sides: Sides | None = None  # of a matrix, and of top-K lists; a list of pairs has its own
    pair_keys = Keys()  # of pairs: the keys in the index of their scores
    exclude: tuple[str, ...] = ()
    #: Labels of no person, as given, or by the names of images; None: the labels of `NO_PERSON`.
    distractor_ids: tuple[int | str, ...] | None = None
    junk_ids: tuple[int, ...] = ()
    claim_attempts = ClaimAttempts()
    memory = MemoryLimit()

    # How the scores were made, for the descriptions and remarks of results.

    origin = ""
    metric = ""  # the metric of bioeval that compared embeddings, if any
    is_derived = False  # whether the values come from other scores, by fusion or normalisation
    reading: tuple[str, ...] = ()  # phrases on how a file was read
    remarks: tuple[Message, ...] = ()  # on reading or computing the scores
    _excluded_before: tuple[str, ...] = ()  # exclusions of the scores from which these were made
    _without_gallery_labels = False  # whether the probes' labels stand for the gallery's
    _columns_left_out: Mapping[str, str] = {}  # why columns of metadata are left out, by name
    _has_no_names = False  # whether the user says that no column names the templates
    #: The first texts of columns of a list that are not read, by their titles; they may be names.
    _unread_texts: Mapping[str, Sequence[str]] = {}

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
        shared: bool | None = None,
    ):
        """Check the arguments, and mark the comparisons that are left out."""
        labels_of_both, metas = (labels, gallery_labels), (probe_meta, gallery_meta)
        values = probes_first(values, labels_of_both)
        if gallery_labels is None and gallery_meta is None and labels is not None:
            values = columns_in_order_of_rows(values, labels)
        matrix = as_values(values)
        self._set(**checked_words(kind, nan, name), memory=MemoryLimit.from_options())
        distractors = as_ids(distractor_ids)
        sides = sides_in_order(values, labels_of_both, metas, names, mask)
        self._take(matrix, sides, names, mask, distractors, shared)
        self._set(exclude=as_exclusions(self, exclude))

    def _take(
        self,
        matrix: Any,
        inputs: tuple[Side, Side],
        names: Any,
        mask: Any,
        distractors: tuple[int | str, ...] | None,
        shared: bool | None,
    ) -> None:
        """Set the attributes of a matrix, and confirm the identities that equal names give."""
        no_person = ids_of_no_person(distractors)
        sides, mask, remarks = sides_of_matrix(*inputs, matrix.shape, mask, names, no_person)
        probe, gallery = inputs
        self._set(
            _source=Cells(matrix, mask),
            _sides=sides,
            distractor_ids=distractors,
            remarks=remarks,
            _has_no_names=names is None,
            _without_gallery_labels=sides.are_labelled and gallery.labels is None,
        )
        if shared is not None:
            require_flag("shared", shared)
        if sides.are_one_set:
            if probe.other_order is not None and sides.are_labelled:
                refuse_other_order(scored_of(self), self.probe_labels, probe.other_order)
            return
        if self.probe_names is None:
            return
        partner = columns_of_probes(self)
        if not (partner >= 0).any():
            return
        are_shared, notes = confirm_names(scored_of(self), partner, self.probe_names, shared=shared)
        self._set(remarks=(*remarks, *notes))
        if not are_shared:
            self._set(_sides=sides.separate().apart(no_person))

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
        shared: bool | None = None,
    ) -> Scores:
        """Compare embeddings by a metric.

        A matrix that is larger than the memory limit of :class:`bioeval.set_options` is never made:
        its rows are computed whenever they are read.

        Parameters
        ----------
        probe : array_like, shape (m, f)
            One embedding a row: an array of any library, a table, or a list of batches. A first
            column that looks like an index or a label is refused: it counts the rows, or it alone
            has one value for each person. Name the columns of a table to keep it.
        labels : sequence, shape (m,)
            The subject of each probe.
        gallery : array_like, shape (n, f), optional
            Features of the gallery. Without it, all probes are compared with each other
            (all-against-all).
        gallery_labels : sequence, shape (n,), optional
        metric : {"cosine", "l2", "l1", "linf", "bhattacharyya"} or callable
            Distances: ``cosine`` is ``1 - cos``; ``l2``, ``l1`` and ``linf`` may be called
            ``euclidean``, ``manhattan`` (or ``cityblock``) and ``chebyshev``; ``bhattacharyya`` is
            ``-ln sum sqrt(p q)`` of the normalised non-negative features. A callable takes two
            blocks of rows, ``(b, f)`` and ``(c, f)``, and returns their scores, ``(b, c)``.
        kind : {"distance", "similarity"}, optional
            Kind of the scores that a callable returns, and needed with it: whether smaller or
            larger ones are closer. The named metrics give distances.
        dtype : {"float64", "float32"}
            Type in which distances are computed; float32 is about twice as fast.
        nan, mask, probe_meta, gallery_meta, name, exclude, distractor_ids, names, shared
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
            gallery,
            (labels, gallery_labels),
            (probe_meta, gallery_meta),
            names=names,
            exclude=exclude,
            nan=nan,
            name=name,
            mask=mask,
            distractor_ids=distractor_ids,
            shared=shared,
            metric=metric,
            kind=kind,
            dtype=dtype,
            average=average,
        )

    @classmethod
    def _from_embeddings(
        cls,
        probe: Any,
        gallery: Any,
        labels: tuple[Any, Any],
        metas: tuple[Any, Any],
        *,
        names: Any,
        exclude: Sequence[str] = (),
        nan: NanPolicy = "raise",
        name: str | None = None,
        mask: Any = None,
        distractor_ids: Sequence[int | str] | None = None,
        shared: bool | None = None,
        **options: Any,
    ) -> Scores:
        """Compare embeddings; `options` are further arguments of :func:`compare_embeddings`."""
        compared = compare_embeddings(
            probe, gallery, labels, metas, names=names, mask=mask, **options
        )
        scores = cls.__new__(cls)
        matrix = as_values(compared.values)
        scores._set(**checked_words(compared.kind, nan, name), memory=MemoryLimit.from_options())
        distractors = as_ids(distractor_ids)
        scores._take(matrix, (compared.probe, compared.gallery), names, mask, distractors, shared)
        scores._set(
            origin=compared.origin,
            metric=compared.metric,
            remarks=tuple(dict.fromkeys([*compared.remarks, *scores.remarks])),
            _columns_left_out=compared.left_out,
        )
        # Last, since `exclude` may name a column that averaging leaves out.
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
        shared: bool | None = None,
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
            The names of the templates of both sides of each pair; by default the column `template`
            or `name` of `meta`. With names, a pair that is listed again with the same score counts
            once, and comparisons of a template with itself are left out; results say so.
            :func:`compare` and :func:`fuse` align systems by names.
        keep : {"self", "repeated"}, or several of them
            Comparisons that are counted nevertheless: comparisons of a template with itself, and
            pairs as often as they are listed.
        unordered : bool
            Count a-b and b-a as one attempt: both orders must have the same score. By default they
            are two attempts, as in a matrix.
        meta : mapping of str to array_like, shape (p, 2), optional
            Metadata columns of both templates of each pair, as for :func:`by_group`.
        distractor_ids : sequence of int or str, optional
            As for :class:`Scores`: templates of no known person are no subjects. Whether a pair
            with a person is genuine is decided by `genuine`; a pair without one is left out.
        shared : bool, optional
            True: pairs of equal names compare a template with itself, whatever their scores say.

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
        rules = ListRules.parse(keep, unordered, shared)
        if pair_templates is None and isinstance(meta, Mapping):
            named = [meta[name] for name in ("template", "name") if name in meta]
            pair_templates = next(iter(named), None)
        keys = keys_of(scores)
        inputs = {"genuine": genuine, "subjects": subjects, "pair_folds": pair_folds}
        brought = each_in_order(inputs | {"pair_templates": pair_templates}, keys)
        columns = InOrder(meta, brought.keys)
        if isinstance(meta, Mapping):
            may_be_plain = not keys.stated
            columns = each_in_order(meta, brought.keys, "`meta`[{!r}]", may_be_plain=may_be_plain)
        listed = PairList.from_arrays(scores, **brought.values, meta=columns.values)
        require_choice("kind", kind, KINDS)
        ids = as_ids(distractor_ids)
        places_of_pairs = partial(places_in_words, "pair")
        no_person = ids_of_no_person(ids)
        listed, is_attempt, notes = listed.attempts(rules, kind, places_of_pairs, no_person)
        remarks = [*dict.fromkeys([*brought.remarks, *columns.remarks]), *notes]
        trials = cls._of_pairs(listed, kind=kind, nan=nan, name=name, remarks=remarks)
        keys = columns.keys if is_attempt is None else columns.keys.take(is_attempt)
        return marking(trials._with(pair_keys=keys), ids)

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
        trials = cls.__new__(cls)
        trials._set(**checked_words(kind, nan, name), memory=MemoryLimit.from_options())
        trials._set(_source=pairs, remarks=tuple(remarks))
        return trials

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
        first_index: int | None = None,
        distractor_ids: Sequence[int | str] | None = None,
        shared: bool | None = None,
    ) -> Scores:
        """Take for each query its K nearest gallery entries alone, as a search returns them.

        Parameters
        ----------
        indices : array_like of int, shape (q, k)
            Columns of the gallery, nearest first, none of them twice in a row. FAISS and
            ``torch.topk`` return them second, hnswlib and ScaNN first. -1, wherever in a row, is a
            place for which nothing was found.
        labels : sequence, shape (q,)
            The identity of each query.
        gallery_labels : sequence, shape (n,), optional
            The identity of every gallery entry, listed or not: average precision divides by all
            matches in the gallery. If left out, queries and entries are the same templates, and
            each query is left out of its own list.
        distances : array_like, shape (q, k), optional
            The scores of the entries, in the order of the list.
        kind : {"distance", "similarity"}
            Kind of `distances`: ``"similarity"`` for inner products.
        probe_meta, gallery_meta, name, distractor_ids, shared
            As for :class:`Scores`.
        leave_out_query : bool, optional
            Whether a query that is itself a gallery entry is left out of its list and of its
            matches: an index that is searched with its own vectors returns each of them as its own
            nearest. True takes query i as entry i; by default only without `gallery_labels`.
        query_positions : array_like of int, shape (q,), optional
            The gallery entry that each query is itself, -1 for none, where the queries are other
            rows of the index than the first ones. They are left out of their lists.
        first_index : {0, 1}, optional
            The number of the first gallery entry, in `indices` and `query_positions`. By default
            0, and lists that hold 1 and never 0, and seem to count from 1, are asked about.

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
        searches = cls.__new__(cls)
        searches._set(**checked_words(kind, "raise", name), memory=MemoryLimit.from_options())
        lists, sides, remarks = searched_lists(
            indices,
            (labels, gallery_labels),
            (probe_meta, gallery_meta),
            distances=distances,
            kind=kind,
            leave_out_query=leave_out_query,
            query_positions=query_positions,
            first_index=first_index,
            shared=shared,
        )
        searches._set(_source=lists, _sides=sides, remarks=remarks)
        return marking(searches, as_ids(distractor_ids))

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
        self.__dict__.update(attributes)

    def _with(self, **attributes: Any) -> Scores:
        """Return a view with other attributes; what was computed from the old ones is left out."""
        view = object.__new__(type(self))
        for name, value in self.__dict__.items():
            if not isinstance(getattr(type(self), name, None), cached_property):
                view.__dict__[name] = value
        view._set(**attributes)
        return view

    def with_pairs(self, pairs: PairList, **attributes: Any) -> Scores:
        """Return a view of other pairs."""
        return self._with(_source=pairs, **attributes)

    def with_codes(self, codes: Codes, **attributes: Any) -> Scores:
        """Return a view of a matrix or of lists with other codes of the subjects."""
        return self._with(_sides=replace(self.sides, codes=codes), **attributes)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)

    # -- both sides

    @property
    def sides(self) -> Sides:
        """The templates of both sides of a matrix, or of top-K lists."""
        if self._sides is None:
            raise AttributeError(
                f"these scores have the layout {self.layout}; probe_labels, probe_ids and the like "
                "are of a matrix or of top-K lists, and pair_subjects and pair_ids of pairs"
            )
        return self._sides

    @property
    def are_labelled(self) -> bool:
        """Whether labels say which comparisons are genuine, and no mask and no list of pairs."""
        return self._sides is not None and self._sides.are_labelled

    @property
    def probe_labels(self) -> np.ndarray:
        """The subject of each probe, read-only."""
        return self.sides.probe.labels

    @property
    def gallery_labels(self) -> np.ndarray:
        """The subject of each gallery template, read-only."""
        return self.sides.gallery.labels

    @property
    def probe_ids(self) -> np.ndarray:
        """The identity of each probe, int64, read-only."""
        return self.sides.probe.ids

    @property
    def gallery_ids(self) -> np.ndarray:
        """The identity of each gallery template, int64, read-only."""
        return self.sides.gallery.ids

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
        return self.cells.read_mask(0, self.shape[0]) if self.has_mask else None

    @property
    def probe_meta(self) -> Mapping[str, np.ndarray]:
        """The metadata of the probes, a column by its name; read-only."""
        return MappingProxyType(
            self.pairs.meta_of(1) if self._sides is None else self._sides.probe.meta
        )

    @property
    def gallery_meta(self) -> Mapping[str, np.ndarray]:
        """The metadata of the gallery, a column by its name; read-only."""
        return MappingProxyType(
            self.pairs.meta_of(0) if self._sides is None else self._sides.gallery.meta
        )

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
        if self._sides is not None:
            return (self._sides.probe, self._sides.gallery)[side].keys
        templates = self.pairs.templates
        if templates is None:
            return Keys(numbers=self.pair_keys.numbers)
        codes = templates.probe if side == 0 else templates.gallery
        return Keys(as_names(templates.values[codes]), self.pair_keys.numbers)

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
        is_enrolled = present(self.gallery_ids, number)  # by identity
        return "all-against-all" if is_enrolled[self.probe_ids].all() else "probe-against-gallery"

    @property
    def layout_in_words(self) -> str:
        """The layout, in other words where the probes are a part of the gallery."""
        are_equal = np.array_equal(np.sort(self.probe_ids), np.sort(self.gallery_ids))
        is_part = self.layout == "all-against-all" and not are_equal
        return "probes from the gallery" if is_part else self.layout

    @cached_property
    def doubt_of_square(self) -> str:
        """Why an array without `gallery_labels` seems not to be of all against all, as a code."""
        if not self._without_gallery_labels:
            return ""
        values = self.cells.source
        is_read = isinstance(values, np.ndarray) or is_stored(values)
        if not is_read or values.shape[0] != values.shape[1]:
            return ""
        return doubt_of_square(values, self.kind in LARGER_IS_CLOSER)

    @cached_property
    def codes(self) -> Codes:
        """The subjects of both sides as codes; the second of a pair is the probe's."""
        if self._sides is not None:
            return self._sides.codes
        codes = self.pairs.codes
        # A list does not tell templates of no person apart. Those of a side with one label have one
        # identity, odd for probes and even for enrolled templates.
        return codes.apart(self.no_person_ids, 2 * codes.probe + 1, 2 * codes.gallery)

    @property
    def claims(self) -> str:
        """What an attempt of claim scores is, in words; empty if an attempt is a comparison."""
        return self.claim_attempts.in_words

    @property
    def no_person_ids(self) -> tuple[Any, ...]:
        """The labels of junk and distractors; the empty label stands for a missing label."""
        return (*self.junk_ids, *ids_of_no_person(self.distractor_ids))

    @property
    def subjects(self) -> np.ndarray:
        """The distinct labels of both sides, without distractors and junk."""
        if self.layout == "pairs":
            if self.pairs.people is None:
                return np.array([])
            return self.pairs.distinct_subjects(self.codes)
        codes = self.sides.codes
        return codes.values[codes.people(codes.probe, codes.gallery)]

    @property
    def fingerprint(self) -> str:
        """Shape, dtype, kind, and digests of labels and scores: enough to detect other data."""
        kind = f"{self.dtype.name} {self.kind}"
        if isinstance(self._source, PairList):
            return self._source.fingerprint(kind)
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
            people = f"{len(self.subjects)} subjects, " if self.are_labelled else ""
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
    def exclusions(self) -> tuple[Exclusion, ...]:
        """The comparisons that `exclude` and labels of no person leave out, as codes."""
        if not self.are_labelled:
            return ()
        metas = self.probe_meta, self.gallery_meta
        return exclusions_of_scores(self.exclude, *metas, self.codes)

    @cached_property
    def gallery_order(self) -> GalleryOrder:
        """The gallery with the templates of each subject side by side."""
        return GalleryOrder(self.codes, self.probe_ids, self.gallery_ids)

    def with_remarks(self, *remarks: Message) -> Scores:
        """Return the same scores with more remarks, each once, for every result."""
        return self._with(remarks=tuple(dict.fromkeys([*self.remarks, *remarks])))

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
        cells, codes = self.cells, self.codes
        row = as_index(probe_index, self.shape[0], "probe_index")
        column = as_index(gallery_index, self.shape[1], "gallery_index")
        if len(row) != len(column):
            raise DataError(f"probe_index has {len(row)} entries and gallery_index {len(column)}")
        with_itself = self.probe_ids[row] == self.gallery_ids[column]
        _refuse_cells(with_itself, row, column, "of a template with itself")

        # The class of each pair. Pairs of no person are no attempts, unless `genuine` decides.
        is_nobody_probe = codes.no_person[codes.probe[row]]
        is_nobody_enrolled = codes.no_person[codes.gallery[column]]
        are_nobody = is_nobody_probe & is_nobody_enrolled
        notes = list[Message]()
        if genuine is None:
            if not self.are_labelled:
                raise DataError("genuine is missing: these scores have no labels to derive it from")
            if are_nobody.any():
                notes.append(Message("pairs-of-no-person", pairs=int(are_nobody.sum())))
                if pair_folds is not None:
                    pair_folds = one_dimensional(pair_folds, "pair_folds")
                    if len(pair_folds) == len(are_nobody):  # else there is an error below
                        pair_folds = pair_folds[~are_nobody]
                row, column = row[~are_nobody], column[~are_nobody]
                are_nobody = np.zeros(len(row), dtype=bool)
            genuine = codes.probe[row] == codes.gallery[column]
        elif self.are_labelled and require_array("genuine", genuine).shape == row.shape:
            require_classes(
                np.asarray(genuine) == 1,
                codes.gallery[column],
                codes.probe[row],
                ~(is_nobody_probe | is_nobody_enrolled),
                partial(places_in_words, "pair"),
            )

        # Cells that are no attempts of the matrix are none of the list.
        _refuse_cells(cells.is_ignored(row, column), row, column, "in cells that the mask ignores")
        is_excluded = excluded(self, row, column) & ~are_nobody
        _refuse_cells(is_excluded, row, column, f"left out by exclude={', '.join(self.exclude)}")

        subjects = None
        if self.are_labelled:
            enrolled, probe = self.gallery_labels[column], self.probe_labels[row]
            subjects = np.column_stack([enrolled.astype(object), probe.astype(object)])
        values = cells.read_cells(row, column)
        pairs = PairList.from_arrays(values, genuine, subjects=subjects, pair_folds=pair_folds)
        ids = np.column_stack([self.gallery_ids[column], self.probe_ids[row]])
        pairs = replace(pairs, ids=ids)
        trials = self._of_pairs(pairs, kind=self.kind, nan=self.nan, name=self.name)
        return trials._with(
            **{name: getattr(self, name) for name in _KEPT_BY_PAIRS},
            claim_attempts=self.claim_attempts.of_cells(),
            _excluded_before=(*self._excluded_before, *self.exclude),
            remarks=tuple(notes),
        )

    def excluding(self, *exclusions: str) -> Scores:
        """Leave out comparisons by metadata, such as comparisons of mates within a session.

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
    ) -> Scores:
        """Return the same values as scores of another kind, policy or name.

        Scores do not change: what was evaluated before keeps what it says.

        Parameters
        ----------
        kind : {"distance", "similarity"}, optional
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

    @cached_property
    def completeness(self) -> Completeness:
        """Whether each probe was compared with all of the gallery."""
        return Completeness.from_scores(self)

    @cached_property
    def failures(self) -> tuple[int, int]:
        """The numbers of genuine and of impostor comparisons that failed (NaN)."""
        if self.layout == "top-k" or self.dtype.kind != "f":
            return 0, 0
        # Whether each failed comparison is genuine, block by block.
        if self.layout == "pairs":
            blocks = [self.genuine[np.isnan(self.values)]]
        else:
            blocks = [is_genuine for _, _, is_genuine in failed_cells(self)]
        genuine = sum(int(np.count_nonzero(is_genuine)) for is_genuine in blocks)
        return genuine, sum(map(len, blocks)) - genuine

    def select(self, *index: Any, probes: Any = None, gallery: Any = None) -> Scores:
        """Take some probes and some gallery templates, without copying any score.

        ``scores[index]`` is ``scores.select(index)``, ``scores[rows, columns]`` takes both sides.

        Parameters
        ----------
        *index : array_like of int or bool, or slice
            One index takes the same templates on both sides of an all-against-all matrix; two are
            probes and gallery, in this order. The named tuple that a splitter yields, or a
            mapping, gives the probes and the gallery by name, or the test part for both sides.
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
        rows = None if probes is None else as_index(probes, self.shape[0], "probes")
        if self.layout == "pairs":
            pair = np.arange(self.shape[0]) if rows is None else rows
            keys = scores.pair_keys.take(pair)
            return scores.with_pairs(scores.pairs.select(pair, gallery), pair_keys=keys)
        columns = None
        if gallery is not None:  # of a matrix: lists have no cells
            columns = as_index(gallery, self.cells.shape[1], "gallery")
            if (np.diff(columns) <= 0).any() and len(np.unique(columns)) != len(columns):
                raise DataError("gallery selects a template more than once")
        sides = self.sides.select(rows, columns)
        if rows is not None and self.layout == "top-k":
            return scores._with(_sides=sides, _source=self.lists.select(rows))
        return scores._with(_sides=sides, _source=self.cells.select(rows, columns))

    def with_mask(self, mask: Any) -> Scores:
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
        codes = self.codes if self.are_labelled else None
        brought = table_in_order(mask, (self.keys(0), self.keys(1)), "`mask`")
        masked = self.cells.masked(as_mask(brought.values, self.cells.shape, codes))
        return self._with(_source=masked).with_remarks(*brought.remarks)

    def with_values(self, values: Any, kind: Kind) -> Scores:
        """Return other values of the same comparisons.

        Parameters
        ----------
        values : array_like, shape as that of the scores
            Perhaps an object that is read by rows.
        kind : {"distance", "similarity"}
            What these values are.

        Returns
        -------
        Scores
            Labels, metadata and what is left out are as they were.
        """
        require_all_scores(self)
        require_choice("kind", kind, KINDS)
        keys = [self.pair_keys] if self.layout == "pairs" else [self.keys(0), self.keys(1)]
        brought = table_in_order(values, keys, "`values`")
        values, remarks = brought.values, brought.remarks
        if remarks or not hasattr(values, "shape") or index_of(values) is not None:
            values = as_array(values, "values")
        if tuple(values.shape) != self.shape:
            raise DataError(
                f"values has shape {tuple(values.shape)}; expected {self.shape}, as the scores"
            )
        if self.layout == "pairs":
            return self._with(_source=replace(self.pairs, values=values), kind=kind)
        view = self._with(
            _source=Cells(values, self.mask),
            kind=kind,
            claim_attempts=replace(self.claim_attempts, tries=None),
        )
        return view.with_remarks(*remarks) if remarks else view

    def loaded(self) -> Scores:
        """Return a view with a container's values in memory, for more than one pass.

        The scores are returned as they are if a memory limit is stated, if the values would take
        more than a matrix of embeddings may, if rows are selected, or if there is a mask without
        labels, since the last digits of its d' depend on the blocks of rows.
        """
        if self.memory.is_stated or not self.are_labelled or not self.cells.is_stored:
            return self
        cells, size = self.cells, math.prod(self.cells.source.shape) * self.dtype.itemsize
        if cells.rows is not None or size > MEMORY_LIMIT:
            return self
        with stage("reading"):
            return self._with(_source=replace(cells, source=cells.source[:]))

    def __getitem__(self, index: Any) -> Scores:
        if isinstance(index, tuple) and named_choice(index) is None:
            return self.select(*index)
        return self.select(index)

    __iter__: None = None  # scores are no sequence of rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise DataError(f"{type(self).__name__} are no array; give scores.values")


# ---------------------------------------------------------------------------------- parts of scores


def checked_words(kind: Kind, nan: NanPolicy, name: Any) -> dict[str, Any]:
    require_choice("kind", kind, KINDS)
    require_choice("nan", nan, NAN_POLICIES)
    if name is not None and not isinstance(name, os.PathLike):
        require_text("name", name)
    return {"kind": kind, "nan": nan, "name": short_name(str(name)) if name else None}


def chosen_sides(
    scores: Scores, index: tuple[Any, ...], probes: Any, gallery: Any
) -> tuple[Scores, Any, Any]:
    """Return scores, perhaps with a remark, and the probes and gallery of `select`; None: all."""
    if index and (len(index) > 2 or probes is not None or gallery is not None):
        raise DataError(
            "select takes one index of both sides, two of probes and gallery, or the "
            "arguments probes= and gallery="
        )
    if len(index) == 1:  # perhaps a named tuple of both sides
        index = named_choice(index[0]) or index
    if len(index) == 2:
        probes, gallery = index
    elif len(index) == 1:
        probes = index[0]
        if scores.layout not in ("pairs", "top-k"):  # a list has rows alone
            gallery = probes
        if gallery is not None and not np.array_equal(scores.probe_ids, scores.gallery_ids):
            probe_count, gallery_count = scores.shape
            raise DataError(
                f"one index takes the same templates on both sides, but the {probe_count:,} "
                f"probes and the {gallery_count:,} gallery templates are not the same; give "
                "scores.select(probes=...) or scores.select(gallery=...)"
            )

    # An index of a boolean array with keys, as of pandas, is brought into the order of the scores.
    sides = []
    row_keys = scores.pair_keys if scores.layout == "pairs" else scores.keys(0)
    for side, keys, argument in (
        (probes, row_keys, "`probes`"),
        (gallery, scores.keys(1), "`gallery`"),
    ):
        is_boolean = getattr(getattr(side, "dtype", None), "kind", "") == "b"
        if is_boolean and index_of(side) is not None:
            in_scores_order = in_order(side, keys, argument)
            scores = scores.with_remarks(*in_scores_order.remarks)
            side = in_scores_order.values
        is_whole = isinstance(side, slice) and side == slice(None)
        sides.append(None if is_whole else side)
    return scores, sides[0], sides[1]


def _refuse_cells(is_wrong: np.ndarray, row: np.ndarray, column: np.ndarray, which: str) -> None:
    """Raise if any cell of a list is wrong; the message says of the pairs `which` they are."""
    if is_wrong.any():
        first = int(np.argmax(is_wrong))
        raise DataError(
            f"the list has {counted(int(is_wrong.sum()), 'pairs')} {which}, the first is "
            f"pair {first} (row {row[first]}, column {column[first]})"
        )


# ---------------------------------------------------------------- requirements of tasks and studies


def require_scores(scores: Any, input_name: str = "scores") -> None:
    if not isinstance(scores, Scores):
        raise DataError(
            f"{input_name} is {type(scores).__name__}; expected bioeval.Scores(values, labels, "
            "gallery_labels), with the kind of the values"
        )


def require_all_scores(scores: Any) -> None:
    """Raise unless `scores` are :class:`bioeval.Scores` of the whole gallery: no top-K lists."""
    require_scores(scores)
    if scores.layout == "top-k":
        scores.lists.refuse_matrix()


def require_subjects(scores: Scores, input_name: str) -> None:
    """Raise :class:`ProtocolError` unless scores are a matrix of subjects, as a task needs."""
    require_scores(scores)
    if scores.layout == "pairs":
        raise ProtocolError(
            f"{input_name} needs a matrix of scores with labels; these are fixed pairs, for "
            "verification alone. A list that names both templates of a pair, in columns such as "
            'template_a and template_b, is read as a matrix with `lists={"as": "matrix"}`'
        )
    if not scores.are_labelled:
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
