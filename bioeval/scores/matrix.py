"""Scores of comparisons with labels and metadata, as a matrix or as pairs.

A :class:`Scores` is made from a matrix, from embeddings or from pairs; protocols read it in blocks
of rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import require_array, require_list, require_text
from bioeval.base.array_libraries import joined_labels
from bioeval.base.errors import (
    Argument,
    DataError,
    Part,
    ProtocolError,
    counted,
    require_choice,
)
from bioeval.base.kinds import KINDS, Kind
from bioeval.base.messages import Message
from bioeval.base.options import OPTIONS
from bioeval.scores.arrays import Mask, as_index, named_choice
from bioeval.scores.labelled_matrix import (
    MEMORY_LIMIT,
    LabelledMatrix,
    NanPolicy,
    length_of,
    memory_attributes,
)
from bioeval.scores.labels import Codes, as_labels, as_meta, plain
from bioeval.scores.listed_templates import ListRules, places, require_classes
from bioeval.scores.pairs import PairList
from bioeval.scores.template_names import NamedTemplates
from bioeval.scores.top_k import OwnEntries, TopKLists

if TYPE_CHECKING:
    from bioeval.scores.embeddings import FloatType, Metric
    from bioeval.scores.listed_templates import Kept


class Scores(LabelledMatrix):
    """A matrix of scores with the labels of its rows (probes) and columns (gallery).

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
        its index and columns.
    gallery_labels : sequence, shape (n,), optional
        The subject of each gallery template. If left out, the same templates are on both
        sides (all-against-all): the matrix must be square, and its diagonal is never read.
    kind : {"distance", "similarity", "llr", "order"}
        ``"distance"``: smaller is closer, a claim is accepted iff ``d <= t``. ``"similarity"``:
        accepted iff ``s >= t``. ``"llr"``: a similarity that is a natural log-likelihood ratio,
        for :func:`bioeval.calibration`. ``"order"``: each row holds only the order of its distances
        (1 = nearest); ranks are right, thresholds across rows are refused.
    nan : {"raise", "reject", "exclude"}
        What a NaN, a comparison that failed, means: an error; an attempt at an infinite
        distance; or no attempt at all.
    mask : array_like of bool or int, shape (m, n), optional
        True where a cell is an attempt, the contrary of the mask of NumPy's masked arrays; or
        for each cell 0 (ignore), 1 (impostor) or 2 (genuine). Without labels, these numbers alone
        decide what is genuine, and a square matrix is all-against-all where its whole diagonal is
        ignored; with labels a mask may only leave cells out.
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
    distractor_ids : sequence of int
        Labels of templates of no labelled person, such as 0 in Market-1501: wrong entries for every
        probe, each other too, in every task; no subjects. Divisions never split them: they are in
        the gallery of every part, and no probes of any.

    Attributes
    ----------
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
        distractor_ids: Sequence[int] = (),
    ) -> Scores:
        """Compare embeddings by a metric.

        A matrix that is larger than the memory limit of :class:`bioeval.set_options` is never made:
        its rows are computed whenever they are read.

        Parameters
        ----------
        probe : array_like, shape (m, f)
            One embedding a row: an array of any library, or a list of batches.
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
        nan, mask, probe_meta, gallery_meta, name, exclude, distractor_ids
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
        )

    @classmethod
    def _from_embeddings(
        cls,
        probe: Any,
        labels: Any,
        gallery: Any = None,
        gallery_labels: Any = None,
        *,
        metric: Metric = "cosine",
        kind: Kind | None = None,
        dtype: FloatType = "float64",
        probe_meta: Mapping[str, Any] | None = None,
        gallery_meta: Mapping[str, Any] | None = None,
        average: Sequence[str] = (),
        as_read: bool = False,
        **described: Any,
    ) -> Scores:
        """Compare embeddings; with `as_read` no matrix is made, however small it is.

        `described` are further arguments of :class:`Scores`.
        """
        from bioeval.scores.embeddings import (
            EmbeddingSource,
            as_embeddings,
            describe_metric,
            kind_of_metric,
        )

        left = as_embeddings(probe, "probe embeddings")
        labels = joined_labels(labels, "labels")
        if (gallery is None) != (gallery_labels is None):
            option = "gallery_labels" if gallery is None else "gallery"
            other = "gallery" if gallery is None else "gallery_labels"
            raise DataError(f"{option} is given without {other}; expected both or neither")
        if len(left) != length_of(labels) == left.shape[1]:
            raise DataError(
                f"the probe embeddings have shape {left.shape}, but there are "
                f"{left.shape[1]:,} labels: are they transposed? Expected a row for each "
                "template; give embeddings.T"
            )
        subjects = as_labels(labels, "labels", len(left))
        right = left
        if gallery is not None:
            right = as_embeddings(gallery, "gallery embeddings")
        if gallery is not None:
            gallery_labels = as_labels(gallery_labels, "gallery_labels", len(right))
        listed = [average]
        if not isinstance(average, str):
            listed = require_list("average", average)
        rows, names = len(left), tuple(require_text("average", name) for name in listed)
        if names:
            left, subjects, probe_meta = _averaged(left, subjects, probe_meta, names, "probe")
            if gallery is None:
                right = left
            else:
                right, gallery_labels, gallery_meta = _averaged(
                    right, gallery_labels, gallery_meta, names, "gallery"
                )
        source = EmbeddingSource(left, right, metric, dtype)
        kind = kind_of_metric(metric, kind)
        limit = OPTIONS["memory_limit"] or MEMORY_LIMIT
        small = math.prod(source.shape) * source.dtype.itemsize <= limit
        values = source.matrix() if small and not as_read else source
        made = cls(
            values,
            subjects,
            gallery_labels,
            kind=kind,
            probe_meta=probe_meta,
            gallery_meta=gallery_meta,
            **described,
        )
        origin = describe_metric(source.metric, left)
        if names:
            origin += f", means by {' and '.join(names)} of {rows} embeddings of probes"
        return made._with(
            _origin=origin,
            _metric=source.metric if isinstance(source.metric, str) else "",
        )

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

        Returns
        -------
        Scores
            Scores of layout ``"pairs"``: verification only. They have `genuine`, `pair_folds`,
            `pair_subjects` and `pair_templates`, `attack` (the attack instrument species of each
            pair, empty for bona fide presentations), `pair_ids` (the position of each pair in the
            list, or the identities of its two templates), `unordered`, and `missing` (pairs of a
            published list of which a template is missing).

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
        listed = PairList.of(
            scores,
            genuine,
            subjects=subjects,
            pair_folds=pair_folds,
            pair_templates=pair_templates,
            meta=meta,
        )
        require_choice("kind", kind, KINDS)
        listed, notes = listed.attempts(rules, kind, lambda rows: places("pair", rows))
        return cls._of_pairs(listed, kind=kind, nan=nan, name=name, remarks=notes)

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
        made._set_words(kind, nan, name)
        made._set(**memory_attributes(), _base=pairs, _labelled=False, _remarks=tuple(remarks))
        return made._with_pairs(pairs)

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
        probe_meta, gallery_meta, name
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
        if gallery_labels is None:
            gallery_labels = labels
            gallery_meta = probe_meta if gallery_meta is None else gallery_meta
            leave_out_query = True if leave_out_query is None else leave_out_query
        enrolled = as_labels(gallery_labels, Argument("gallery_labels"))
        n = len(enrolled)
        if n == 0:
            raise DataError(f"the gallery is empty: {Argument('gallery_labels')} has no entries")
        lists = TopKLists.of(indices, distances, n, kind)
        q = len(lists.indices)
        searched = as_labels(labels, Argument("labels"))
        if len(searched) != q:
            raise DataError(
                f"{Argument('labels')} has {len(searched)} labels for {q} lists; expected one per "
                "query"
            )
        made = cls.__new__(cls)
        made._set_words(kind, "raise", name)
        codes = Codes(searched, enrolled)
        columns = as_meta(probe_meta, q, "probe_meta"), as_meta(gallery_meta, n, "gallery_meta")
        named = NamedTemplates.of(*columns, (searched, enrolled))
        own = OwnEntries(lists, codes, kind, leave_out_query, query_positions, named)
        entry, remarks = own.find()
        probe_ids = np.arange(n, n + q, dtype=np.int64)
        if entry is not None:
            lists, probe_ids = lists.without(entry), np.where(entry >= 0, entry, probe_ids)
        made._set(
            **memory_attributes(),
            _base=lists,
            probe_labels=searched,
            gallery_labels=enrolled,
            probe_ids=probe_ids,
            gallery_ids=np.arange(n, dtype=np.int64),
            _probe_meta=columns[0],
            _gallery_meta=columns[1],
            _codes=codes,
            _remarks=remarks,
        )
        return made

    @property
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

    @property
    def attack(self) -> np.ndarray | None:
        """Of pairs: the attack instrument species; empty for bona fide presentations."""
        return self.pairs.attack

    @property
    def unordered(self) -> bool:
        """Of pairs: whether both orders of two templates were merged."""
        return self.pairs.unordered

    @property
    def missing(self) -> int:
        """Of pairs: those of a published list that are not there, for want of a template."""
        return self.pairs.missing

    def _distances(self, piece: np.ndarray | None = None) -> np.ndarray:
        """Return the scores of pairs, or those of a piece, as distances under the policy of NaN."""
        return self.pairs.distances(self.kind, self.nan, piece)

    def _require_subjects(self, input_name: Part, instead: Part = "") -> None:
        """Raise :class:`ProtocolError` unless the subjects of the pairs are known."""
        if not self._knows_subjects:
            raise ProtocolError(
                f"{input_name} needs the subjects of both sides of each pair: in a file, the "
                "columns subject_a and subject_b (.csv) or the array subjects (.npz), or "
                f"--subject-from '{self._subject_pattern}' where the names of templates hold them; "
                f"in Python, subjects= to Scores.from_pairs{instead}"
            )

    @property
    def _lists(self) -> TopKLists:
        """The lists of scores of layout ``"top-k"``."""
        if not isinstance(self._source, TopKLists):
            raise AttributeError(
                f"these scores have the layout {self.layout}; indices, distances, depth and "
                "gallery_size are of top-K lists (Scores.from_top_k)"
            )
        return self._source

    @property
    def indices(self) -> np.ndarray:
        """Of top-K lists: the gallery entries of each query, nearest first; -1 behind the end."""
        return self._lists.indices

    @property
    def distances(self) -> np.ndarray | None:
        """Of top-K lists: the scores of the entries, if they were given."""
        return self._lists.distances

    @property
    def depth(self) -> int:
        """Of top-K lists: their length."""
        return self._lists.depth

    @property
    def gallery_size(self) -> int:
        """Of top-K lists: the number of gallery entries, listed or not."""
        return self._lists.gallery_size

    def at_pairs(
        self, probe_index: Any, gallery_index: Any, genuine: Any = None, pair_folds: Any = None
    ) -> Scores:
        """Take a list of cells as fixed trials, such as the LFW view 2 pairs.

        Parameters
        ----------
        probe_index, gallery_index : array_like of int, shape (p,)
            The rows and columns of the cells.
        genuine : array_like of bool, shape (p,), optional
            If left out, a pair is genuine iff its labels are equal.
        pair_folds : array_like, shape (p,), optional
            The fold of each pair, where the publisher of a list gives it.

        Returns
        -------
        Scores
            Scores of layout ``"pairs"``.
        """
        i = as_index(probe_index, self.shape[0], "probe_index")
        j = as_index(gallery_index, self.shape[1], "gallery_index")
        if len(i) != len(j):
            raise DataError(f"probe_index has {len(i)} entries and gallery_index {len(j)}")

        def refuse(wrong: np.ndarray, input_name: Part) -> None:
            if wrong.any():
                first = int(np.argmax(wrong))
                raise DataError(
                    f"the list has {counted(int(wrong.sum()), 'pairs')} {input_name}, the first is "
                    f"pair {first} (row {i[first]}, column {j[first]})"
                )

        refuse(self.probe_ids[i] == self.gallery_ids[j], "of a template with itself")
        if genuine is None:
            if not self._labelled:
                raise DataError("genuine is missing: these scores have no labels to derive it from")
            genuine = self._codes.probe[i] == self._codes.gallery[j]
        elif self._labelled and require_array("genuine", genuine).shape == i.shape:
            require_classes(
                np.asarray(genuine) == 1,
                self._codes.probe[i],
                self._codes.gallery[j],
                lambda rows: places("pair", rows),
            )
        rows, columns = self._base_rows(i), self._base_columns(j)
        if self._mask is not None:
            refuse(self._mask[rows, columns] == Mask.IGNORE, "in cells that the mask ignores")
        refuse(self._excluded(i, j), f"left out by exclude={', '.join(self.exclude)}")
        values = self._cells(i, j)
        who = None
        if self._labelled:
            who = np.empty((len(i), 2), dtype=object)
            who[:, 0], who[:, 1] = self.gallery_labels[j], self.probe_labels[i]
        pairs = PairList.of(values, genuine, subjects=who, pair_folds=pair_folds)
        ids = np.column_stack([self.gallery_ids[j], self.probe_ids[i]])
        made = self._of_pairs(replace(pairs, ids=ids), kind=self.kind, nan=self.nan, name=self.name)
        return made._with(
            _origin=self._origin,
            _metric=self._metric,
            _reading=self._reading,
            distractor_ids=self.distractor_ids,
            _junk_ids=self._junk_ids,
            _excluded_before=(*self._excluded_before, *self.exclude),
            _claims=self._claims,
            _tries=self._tries,
        )

    def _places(self, chosen: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows and the columns that an index of both sides, or a pair, chooses.

        What a splitter yields is taken by its names.
        """
        sides = named_choice(chosen)
        if sides is None:
            pair = isinstance(chosen, tuple | list) and len(chosen) == 2
            sides = chosen if pair and not any(map(np.isscalar, chosen)) else (chosen,)
        probes, gallery = sides if len(sides) == 2 else self._sides_of_one(*sides)
        columns = as_index(gallery, self.shape[1], "gallery")
        same = probes is gallery and self.shape[0] == self.shape[1]
        rows = as_index(probes, self.shape[0], "probes") if not same else columns
        if (np.diff(columns) <= 0).any() and len(np.unique(columns)) != len(columns):
            self.select(gallery=columns)  # raises
        return rows, columns


def _averaged(
    values: np.ndarray, labels: np.ndarray, meta: Any, names: tuple[str, ...], side: str
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return the templates averaged from embeddings, with their labels and metadata."""
    from bioeval.scores.embeddings import average_embeddings

    columns = {"": labels, **as_meta(meta, len(values), f"{side}_meta")}
    means, shared = average_embeddings(values, columns, names, side)
    return means, shared.pop(""), shared


def codes_of(scores: Scores) -> Codes:
    """Return the subjects of both sides as codes; the second name of a listed pair is the probe.

    Raise :class:`DataError` where the subjects of pairs contradict the classes (attacks).
    """
    if scores.layout != "pairs":
        return scores._codes
    codes = scores._pair_codes
    wrong = (codes.probe == codes.gallery) != scores.genuine
    if wrong.any():
        i = int(np.argmax(wrong))
        a = plain(codes.values[codes.gallery[i]])
        b = plain(codes.values[codes.probe[i]])
        raise DataError(
            f"{int(wrong.sum())} pairs contradict their subjects, the first is pair {i}: "
            f"subjects {a!r} and {b!r}, genuine {bool(scores.genuine[i])}"
        )
    return codes


def require_scores(scores: Any, input_name: Part = "scores") -> None:
    """Raise :class:`DataError` unless these are :class:`Scores`."""
    if not isinstance(scores, Scores):
        raise DataError(
            f"{input_name} is {type(scores).__name__}; expected bioeval.Scores(values, labels, "
            "gallery_labels), with the kind of the values"
        )


def knows_people(scores: Scores) -> bool:
    """Whether the subjects of all attempts are known."""
    return scores._knows_subjects
