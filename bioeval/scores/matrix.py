"""What was compared with what: scores, the labels of both sides, and metadata.

A :class:`Scores` holds the values as they are (never copied, never converted); protocols read
them in blocks of rows. A template is known by its identity, a number: that is how a template is
never compared with itself, in a square matrix and in any selection of one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.base.errors import Argument, DataError, ProtocolError, nearest_name, require_choice
from bioeval.scores.arrays import (
    IGNORE,
    as_array,
    as_index,
    as_mask,
    as_values,
    read_block,
    subjects_of_mask,
)
from bioeval.scores.embeddings import EmbeddingSource, Metric, as_embeddings, describe_metric
from bioeval.scores.labels import Codes, as_labels, as_meta, digest

# A matrix of distances between embeddings is made if it takes no more bytes than this.
MEMORY_LIMIT = 1 << 30

KINDS = ("distance", "similarity", "order")
NAN_POLICIES = ("raise", "reject", "exclude")


class Scores:
    """A matrix of scores with the labels of its rows (probes) and columns (gallery).

    Parameters
    ----------
    values : array_like, shape (m, n)
        Scores of any integer or float dtype: row = probe template, column = gallery template.
        An ndarray (strided, read-only or memory-mapped) is used as it is; zarr, h5py and dask
        arrays are read in blocks of rows.
    probe_labels : sequence, shape (m,)
        The subject of each probe, any hashable values. May be left out where `mask` is given.
    gallery_labels : sequence, shape (n,), optional
        The subject of each gallery template. If left out, the same templates stand on both
        sides (all-against-all): the matrix must be square, and its diagonal is never read.
    kind : {"distance", "similarity", "order"}
        ``"distance"``: smaller is closer, a claim is accepted iff ``d <= t``. ``"similarity"``:
        accepted iff ``s >= t``. ``"order"``: each row holds only the order of its distances
        (1 = nearest); ranks are right, thresholds across rows are refused.
    nan : {"raise", "reject", "exclude"}
        What a NaN, a comparison that failed, means: an error; an attempt at an infinite
        distance; or no attempt at all.
    mask : array_like of int, shape (m, n), optional
        For each cell 0 (ignore), 1 (impostor) or 2 (genuine). Without labels, the mask alone
        says what is genuine, and a square matrix is all-against-all where its whole diagonal is
        ignored; with labels it may only leave cells out.
    probe_meta, gallery_meta : mapping of str to sequence, optional
        Columns such as ``camera``, ``session`` or ``group``, one value a template. In
        all-against-all, `probe_meta` serves both sides.
    name : str, optional
        The system's name, for tables and plots.
    exclude : sequence of str
        Metadata columns. Two templates of one subject with the same value in any of them are
        not compared: ``exclude=("session",)`` leaves out genuine pairs of one session, which
        flatter the system. Impostor pairs stay.

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
    """

    def __init__(
        self,
        values: Any,
        probe_labels: Any = None,
        gallery_labels: Any = None,
        *,
        kind: str = "distance",
        nan: str = "raise",
        mask: Any = None,
        probe_meta: Mapping[str, Any] | None = None,
        gallery_meta: Mapping[str, Any] | None = None,
        name: str | None = None,
        exclude: Sequence[str] = (),
    ):
        require_choice("kind", kind, KINDS)
        require_choice("nan", nan, NAN_POLICIES)
        self.kind, self.nan, self.name = kind, nan, name
        self._base = as_values(values)
        self.origin = ""
        self.memory_limit = MEMORY_LIMIT
        self._rows: np.ndarray | None = None
        self._columns: np.ndarray | None = None
        m, n = self._base.shape
        self._mask = None if mask is None else as_mask(mask, (m, n))
        self.labelled = probe_labels is not None
        if not self.labelled:
            self._init_from_mask(gallery_labels)
        elif gallery_labels is None:
            self._init_square(probe_labels, gallery_meta)
        else:
            self.probe_labels = as_labels(probe_labels, str(Argument("probe_labels")), m)
            self.gallery_labels = as_labels(gallery_labels, str(Argument("gallery_labels")), n)
            self.probe_ids = np.arange(n, n + m, dtype=np.int64)
            self.gallery_ids = np.arange(n, dtype=np.int64)
        self.probe_meta = as_meta(probe_meta, m, "probe_meta")
        square = self.probe_ids is self.gallery_ids
        self.gallery_meta = self.probe_meta if square else as_meta(gallery_meta, n, "gallery_meta")
        if self.labelled:
            self.codes = Codes(self.probe_labels, self.gallery_labels)
        self.exclude = self._as_columns(exclude)

    def _as_columns(self, exclude: Sequence[str]) -> tuple[str, ...]:
        """Return names of metadata columns that both sides have."""
        names = (exclude,) if isinstance(exclude, str) else tuple(exclude)
        known = [name for name in self.probe_meta if name in self.gallery_meta]
        for name in names:
            if name not in known:
                side = "gallery" if name in self.probe_meta else "probe"
                raise DataError(
                    f"exclude names {name!r}, which is not in the {side} metadata; "
                    f"{'both sides have: ' + ', '.join(known) if known else 'there are none'}."
                    f"{nearest_name(str(name), known)}"
                )
        if names and not self.labelled:
            raise DataError("exclude needs labels: a mask alone does not say who is who")
        return tuple(dict.fromkeys(names))

    def _init_square(self, probe_labels: Any, gallery_meta: Any) -> None:
        m, n = self._base.shape
        if m != n:
            raise DataError(
                f"the scores have shape ({m}, {n}), which is not square; without "
                f"{Argument('gallery_labels')} rows and columns are the same templates. Give "
                f"{Argument('gallery_labels')} for a probe-against-gallery matrix"
            )
        if gallery_meta is not None:
            raise DataError(
                f"gallery_meta without {Argument('gallery_labels')}; probe_meta serves both sides"
            )
        self.probe_labels = as_labels(probe_labels, str(Argument("probe_labels")), m)
        self.gallery_labels = self.probe_labels
        self.probe_ids = self.gallery_ids = np.arange(n, dtype=np.int64)

    def _init_from_mask(self, gallery_labels: Any) -> None:
        if self._mask is None:
            raise DataError(
                f"{Argument('probe_labels')} is missing; labels can be left out only with a mask"
            )
        if gallery_labels is not None:
            raise DataError(
                f"{Argument('gallery_labels')} is given without {Argument('probe_labels')}; "
                "expected both"
            )
        m, n = self._base.shape
        square = m == n and not self._mask.diagonal().any()
        probe, gallery, self._mask_is_consistent = subjects_of_mask(self._mask, square)
        self.probe_labels, self.gallery_labels = probe, gallery
        self.codes = Codes(probe, gallery)
        self.gallery_ids = np.arange(n, dtype=np.int64)
        self.probe_ids = self.gallery_ids if square else np.arange(n, n + m, dtype=np.int64)

    # ---------------------------------------------------------------- other ways in

    @classmethod
    def from_embeddings(
        cls,
        probe: Any,
        probe_labels: Any,
        gallery: Any = None,
        gallery_labels: Any = None,
        *,
        metric: Metric = "cosine",
        dtype: str = "float64",
        memory_limit: int = MEMORY_LIMIT,
        nan: str = "raise",
        mask: Any = None,
        probe_meta: Mapping[str, Any] | None = None,
        gallery_meta: Mapping[str, Any] | None = None,
        name: str | None = None,
        exclude: Sequence[str] = (),
    ) -> Scores:
        """Compare embeddings by a metric.

        Parameters
        ----------
        probe : array_like, shape (m, f)
            One embedding a row.
        probe_labels : sequence, shape (m,)
        gallery : array_like, shape (n, f), optional
            If left out, all probes are compared with each other (all-against-all).
        gallery_labels : sequence, shape (n,), optional
        metric : {"cosine", "l2", "l1", "linf", "bhattacharyya"} or callable
            Distances: ``cosine`` is ``1 - cos``; ``bhattacharyya`` is
            ``-ln sum sqrt(p q)`` of the normalised non-negative features. A callable takes two
            blocks of rows and returns their distances.
        dtype : {"float64", "float32"}
            In which distances are computed; float32 is about twice as fast.
        memory_limit : int
            Bytes. A matrix that would take more is never made: its rows are computed whenever
            they are read (the attribute ``streams`` is then true), in blocks that stay well
            below the limit.
        nan, mask, probe_meta, gallery_meta, name, exclude
            As for :class:`Scores`. A NaN in an embedding makes all its comparisons NaN.

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
        left = as_embeddings(probe, "probe embeddings")
        if (gallery is None) != (gallery_labels is None):
            given = "gallery_labels" if gallery is None else "gallery"
            other = "gallery" if gallery is None else "gallery_labels"
            raise DataError(f"{given} is given without {other}; expected both or neither")
        labels = as_labels(probe_labels, "probe_labels", len(left))
        right = left if gallery is None else as_embeddings(gallery, "gallery embeddings")
        if gallery is not None:
            as_labels(gallery_labels, "gallery_labels", len(right))
        source = EmbeddingSource(left, right, metric, dtype)
        if not isinstance(memory_limit, (int, np.integer)) or memory_limit < 1:
            raise DataError(f"memory_limit is {memory_limit!r}; expected a number of bytes >= 1")
        small = math.prod(source.shape) * source.dtype.itemsize <= memory_limit
        values = source.whole() if small else source
        made = cls(
            values,
            labels,
            gallery_labels,
            nan=nan,
            mask=mask,
            probe_meta=probe_meta,
            gallery_meta=gallery_meta,
            name=name,
            exclude=exclude,
        )
        made.origin = describe_metric(metric, left)
        made.memory_limit = int(memory_limit)
        return made

    @staticmethod
    def from_pairs(
        scores: Any,
        genuine: Any,
        *,
        kind: str = "distance",
        nan: str = "raise",
        subjects: Any = None,
        folds: Any = None,
        name: str | None = None,
    ) -> PairScores:
        """Take fixed trials: one score a pair, and whether the pair is genuine.

        Parameters
        ----------
        scores : array_like, shape (p,)
        genuine : array_like of bool or 0/1, shape (p,)
        kind, nan, name
            As for :class:`Scores`.
        subjects : array_like, shape (p, 2), optional
            The subjects of both sides of each pair; intervals by subject need them.
        folds : array_like, shape (p,), optional
            The fold of each pair, where the publisher of a list gives it.

        Returns
        -------
        PairScores
            Scores of layout ``"pairs"``: verification only.

        Examples
        --------
        >>> import bioeval as be
        >>> be.Scores.from_pairs([0.1, 0.8, 0.4], [True, False, True]).genuine.sum()
        np.int64(2)
        """
        return PairScores(
            scores, genuine, kind=kind, nan=nan, subjects=subjects, folds=folds, name=name
        )

    def at_pairs(
        self, probe_index: Any, gallery_index: Any, genuine: Any = None, folds: Any = None
    ) -> PairScores:
        """Take a list of cells as fixed trials, such as the LFW view 2 pairs.

        Parameters
        ----------
        probe_index, gallery_index : array_like of int, shape (p,)
            The rows and columns of the cells.
        genuine : array_like of bool, shape (p,), optional
            If left out, a pair is genuine iff its labels are equal.
        folds : array_like, shape (p,), optional
            The fold of each pair, where the publisher of a list gives it.

        Returns
        -------
        PairScores
        """
        i = as_index(probe_index, self.shape[0], "probe_index")
        j = as_index(gallery_index, self.shape[1], "gallery_index")
        if len(i) != len(j):
            raise DataError(f"probe_index has {len(i)} entries and gallery_index {len(j)}")
        own = self.probe_ids[i] == self.gallery_ids[j]
        if own.any():
            raise DataError(
                f"{int(own.sum())} pairs compare a template with itself, the first is pair "
                f"{int(np.argmax(own))} (template {int(i[np.argmax(own)])})"
            )
        if genuine is None:
            if not self.labelled:
                raise DataError("genuine is missing: these scores have no labels to tell it from")
            genuine = self.codes.probe[i] == self.codes.gallery[j]
        rows, columns = self.base_rows(i), self.base_columns(j)
        if self._mask is not None and (self._mask[rows, columns] == IGNORE).any():
            ignored = self._mask[rows, columns] == IGNORE
            raise DataError(
                f"{int(ignored.sum())} pairs are cells that the mask ignores, the first is pair "
                f"{int(np.argmax(ignored))}"
            )
        removed = self.excluded(i, j)
        if removed.any():
            raise DataError(
                f"{int(removed.sum())} pairs are excluded for their {' or '.join(self.exclude)}, "
                f"the first is pair {int(np.argmax(removed))}"
            )
        if isinstance(self._base, np.ndarray):
            values = self._base[rows, columns]
        else:
            cells = zip(rows, columns, strict=True)
            values = np.array([np.asarray(self._base[r])[c] for r, c in cells])
        who = None
        if self.labelled:
            who = np.empty((len(i), 2), dtype=object)
            who[:, 0], who[:, 1] = self.probe_labels[i], self.gallery_labels[j]
        pairs = PairScores(
            values,
            genuine,
            kind=self.kind,
            nan=self.nan,
            subjects=who,
            folds=folds,
            name=self.name,
        )
        pairs.origin = self.origin
        return pairs

    # ---------------------------------------------------------------- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of probes and of gallery templates."""
        return len(self.probe_ids), len(self.gallery_ids)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the values as given."""
        return np.dtype(self._base.dtype)

    @property
    def values(self) -> np.ndarray:
        """The values as an array; of a selection, a copy of the selected cells."""
        if self._rows is None and self._columns is None:
            return self._base if isinstance(self._base, np.ndarray) else np.asarray(self._base[:])
        return self.read_rows(0, self.shape[0])

    @property
    def mask(self) -> np.ndarray | None:
        """The mask as an array, or None."""
        return None if self._mask is None else self.read_mask(0, self.shape[0])

    @cached_property
    def layout(self) -> str:
        """Either ``"all-against-all"`` or ``"probe-against-gallery"``.

        It is all-against-all where every probe is itself one of the gallery's templates.
        """
        if self.probe_ids is self.gallery_ids:
            return "all-against-all"
        inside = np.isin(self.probe_ids, self.gallery_ids).all()
        return "all-against-all" if inside else "probe-against-gallery"

    @property
    def subjects(self) -> np.ndarray:
        """The distinct labels of both sides."""
        present = np.union1d(self.codes.probe, self.codes.gallery)
        return self.codes.values[present]

    @cached_property
    def fingerprint(self) -> str:
        """Shape, dtype, kind and a digest of the labels: enough to notice other data."""
        m, n = self.shape
        labels = digest(self.probe_labels, self.gallery_labels)
        return f"{m}x{n} {self.dtype.name} {self.kind} labels:{labels}"

    def __repr__(self) -> str:
        m, n = self.shape
        who = f"{len(self.subjects)} subjects, " if self.labelled else ""
        what = f"{self.layout}, {m} x {n} {self.dtype} {self.kind}"
        return f"<Scores {what}, {who}nan={self.nan!r}>"

    # ---------------------------------------------------------------- views

    def excluding(self, *columns: str) -> Scores:
        """Leave out pairs of one subject with the same value in any of these metadata columns.

        Parameters
        ----------
        *columns : str
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
        if isinstance(self, PairScores):
            raise ProtocolError("a pair list has no metadata to exclude by; leave the pairs out")
        view = self.select()
        view.exclude = self._as_columns(columns)
        return view

    def masked(self, mask: np.ndarray) -> Scores:
        """Return a view with another mask, uint8, of the shape of the base."""
        view = self.select()
        view._mask = as_mask(mask, self._base.shape)
        return view

    def excluded(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Say which of the cells ``(i, j)`` are pairs that `exclude` leaves out."""
        found = np.zeros(len(i), dtype=bool)
        for name in self.exclude:
            codes = Codes(self.probe_meta[name], self.gallery_meta[name])
            found |= codes.probe[i] == codes.gallery[j]
        return found & (self.codes.probe[i] == self.codes.gallery[j]) if self.exclude else found

    def select(self, probes: Any = None, gallery: Any = None) -> Scores:
        """Take some probes and some gallery templates, without copying any score.

        Parameters
        ----------
        probes, gallery : array_like of int or bool, optional
            Indices (or a boolean choice) of rows and of columns, in the order wanted. None
            keeps all.

        Returns
        -------
        Scores
            A view that keeps template identities: what stands on both sides goes on being
            excluded from comparison with itself, also where the view is not square. Its layout
            is all-against-all while every probe is itself in the gallery, and
            probe-against-gallery otherwise; who plays the impostor in open set follows from that.

        Examples
        --------
        >>> import numpy as np, bioeval as be
        >>> scores = be.Scores(np.ones((4, 4)), ["a", "a", "b", "b"])
        >>> scores.select(probes=[1, 3], gallery=[0, 1, 2]).shape
        (2, 3)
        """
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__)
        for found in ("fingerprint", "layout"):  # of the whole, found when first asked for
            view.__dict__.pop(found, None)
        view.codes = object.__new__(Codes)
        view.codes.__dict__.update(self.codes.__dict__)
        if probes is not None:
            index = as_index(probes, self.shape[0], "probes")
            view._rows = self.base_rows(index)
            view.probe_ids = self.probe_ids[index]
            view.probe_labels = self.probe_labels[index]
            view.probe_meta = {k: v[index] for k, v in self.probe_meta.items()}
            view.codes.probe = self.codes.probe[index]
        if gallery is not None:
            index = as_index(gallery, self.shape[1], "gallery")
            if len(np.unique(index)) != len(index):
                raise DataError("gallery selects a template more than once")
            view._columns = self.base_columns(index)
            view.gallery_ids = self.gallery_ids[index]
            view.gallery_labels = self.gallery_labels[index]
            view.gallery_meta = {k: v[index] for k, v in self.gallery_meta.items()}
            view.codes.gallery = self.codes.gallery[index]
        return view

    def with_mask(self, mask: Any) -> Scores:
        """Return a view with another mask, an array or what is read like one by rows.

        Its rows and columns are those of this view.
        """
        view = self.select()
        if self._rows is not None or self._columns is not None:
            view._base = _Selected(self)
            view._rows = view._columns = None
        view._mask = mask
        return view

    @property
    def base(self) -> Any:
        """The values as they were given, of which a selection is a view."""
        return self._base

    @property
    def streams(self) -> bool:
        """Whether the rows are computed from embeddings each time they are read."""
        return isinstance(self._base, EmbeddingSource)

    @property
    def reads_in_place(self) -> bool:
        """Whether reading rows copies nothing: all of an array of floats as kernels want it."""
        base = self._base
        plain = isinstance(base, np.ndarray) and base.dtype in (np.float32, np.float64)
        plain = plain and base.flags.c_contiguous and base.dtype.isnative
        whole = self._rows is None and self._columns is None
        return plain and whole and self.kind != "similarity"

    @property
    def has_mask(self) -> bool:
        """Whether a mask was given."""
        return self._mask is not None

    @property
    def selects_columns(self) -> bool:
        """Whether only some columns of the base, or another order of them, are meant."""
        return self._columns is not None

    @property
    def selects_rows(self) -> bool:
        """Whether only some rows of the base, or another order of them, are meant."""
        return self._rows is not None

    def base_rows(self, index: np.ndarray) -> np.ndarray:
        """Return the rows of the base that stand at these places."""
        return index if self._rows is None else self._rows[index]

    def base_columns(self, index: np.ndarray) -> np.ndarray:
        """Return the columns of the base that stand at these places."""
        return index if self._columns is None else self._columns[index]

    def same_both_ways(self, i: np.ndarray, j: np.ndarray) -> bool:
        """Say whether cells ``(i, j)`` and ``(j, i)`` hold the same values, NaN included."""
        if isinstance(self._base, EmbeddingSource):
            return not callable(self._base.metric)  # the named metrics are symmetric
        if not isinstance(self._base, np.ndarray):
            return False
        rows, columns = self.base_rows(i), self.base_columns(j)
        back_rows, back_columns = self.base_rows(j), self.base_columns(i)
        a, b = self._base[rows, columns], self._base[back_rows, back_columns]
        return bool(((a == b) | ((a != a) & (b != b))).all())

    # ---------------------------------------------------------------- reading

    def require_matrix(self) -> None:
        """Raise :class:`ProtocolError` where only a part of the scores is there (top-K lists)."""

    def read_rows(self, low: int, high: int, order: np.ndarray | None = None) -> np.ndarray:
        """Return the raw values of rows ``low:high``, with the columns in `order`."""
        columns = self._columns if order is None else self.base_columns(order)
        return read_block(self._base, self._rows, low, high, columns)

    def read_mask(self, low: int, high: int, order: np.ndarray | None = None) -> np.ndarray:
        """Return the mask of rows ``low:high``, with the columns in `order`."""
        columns = self._columns if order is None else self.base_columns(order)
        return read_block(self._mask, self._rows, low, high, columns)

    @property
    def row_chunk(self) -> int:
        """The number of rows that a chunked source stores together; 1 for arrays."""
        chunks = getattr(self._base, "chunks", None)
        if not chunks or self._rows is not None:
            return 1
        first = chunks[0]
        return int(first[0] if isinstance(first, tuple) else first)

    @property
    def derives_subjects(self) -> bool:
        """Whether identification has subjects to work with: labels, or a consistent mask."""
        return self.labelled or self._mask_is_consistent


class _Selected:
    """A selection as something that is read by rows, so that a mask of its own can stand beside."""

    ndim = 2

    def __init__(self, scores: Scores):
        self.scores, self.shape, self.dtype = scores, scores.shape, scores.dtype

    def __getitem__(self, rows: Any) -> np.ndarray:
        index = np.arange(self.shape[0])[rows]
        base, columns = self.scores.base, self.scores._columns
        return read_block(base, self.scores.base_rows(index), 0, len(index), columns)


class PairScores(Scores):
    """Fixed trials: one score a pair; see :meth:`Scores.from_pairs`.

    Attributes
    ----------
    genuine : ndarray of bool, shape (p,)
    pair_subjects : ndarray, shape (p, 2), or None
    pair_folds : ndarray, shape (p,), or None
    missing : int
        Pairs of a published list that are not among these, since a template of theirs is missing.
    """

    missing = 0

    def __init__(
        self,
        scores: Any,
        genuine: Any,
        *,
        kind: str = "distance",
        nan: str = "raise",
        subjects: Any = None,
        folds: Any = None,
        name: str | None = None,
    ):
        require_choice("kind", kind, KINDS)
        require_choice("nan", nan, NAN_POLICIES)
        self.kind, self.nan, self.name = kind, nan, name
        array = as_array(scores, "scores")
        if array.ndim != 1 or len(array) == 0:
            raise DataError(f"scores has shape {array.shape}; expected one score a pair")
        flags = np.asarray(genuine)
        if flags.shape != array.shape:
            raise DataError(
                f"genuine has shape {flags.shape}; expected {array.shape}, one value a pair"
            )
        if flags.dtype.kind not in "biuf" or not np.isin(flags, (0, 1)).all():
            raise DataError("genuine has values other than 0 and 1 (or False and True)")
        self._base = array
        self.origin = ""
        self.genuine = flags.astype(bool)
        self.pair_subjects = None
        if subjects is not None:
            columns = np.asarray(subjects)
            if columns.shape != (len(array), 2):
                raise DataError(
                    f"subjects has shape {columns.shape}; expected ({len(array)}, 2), both sides"
                )
            self.pair_subjects = columns
        self.pair_folds = None if folds is None else as_labels(folds, "folds")
        if self.pair_folds is not None and len(self.pair_folds) != len(array):
            raise DataError(
                f"folds has {len(self.pair_folds)} values; expected {len(array)}, one a pair"
            )
        self.labelled = False
        self.exclude = ()
        self._mask = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of pairs."""
        return self._base.shape

    @property
    def values(self) -> np.ndarray:
        """One score a pair."""
        return self._base

    @property
    def mask(self) -> None:
        """None: pairs have no mask."""
        return None

    @cached_property
    def layout(self) -> str:
        """Always ``"pairs"``."""
        return "pairs"

    @property
    def subjects(self) -> np.ndarray:
        """The distinct subjects of both sides; empty where they were not given."""
        if self.pair_subjects is None:
            return np.array([])
        distinct = list(dict.fromkeys(self.pair_subjects.ravel().tolist()))
        found = np.empty(len(distinct), dtype=object)
        found[:] = distinct
        return found

    @cached_property
    def fingerprint(self) -> str:
        """Number of pairs, dtype, kind and a digest of the genuine flags."""
        flags = digest(self.genuine.astype(np.int64))
        return f"{len(self._base)} pairs {self.dtype.name} {self.kind} genuine:{flags}"

    def __repr__(self) -> str:
        return (
            f"<PairScores {len(self._base)} pairs, {int(self.genuine.sum())} genuine, "
            f"{self.dtype} {self.kind}, nan={self.nan!r}>"
        )

    def select(self, probes: Any = None, gallery: Any = None) -> PairScores:
        """Take some pairs (`probes` indexes them); pairs have no gallery."""
        if gallery is not None:
            raise ProtocolError("a pair list has no gallery to select from; give probes= alone")
        if probes is None:
            return self
        index = as_index(probes, len(self._base), "probes")
        who = None if self.pair_subjects is None else self.pair_subjects[index]
        return PairScores(
            self._base[index],
            self.genuine[index],
            kind=self.kind,
            nan=self.nan,
            subjects=who,
            folds=None if self.pair_folds is None else self.pair_folds[index],
            name=self.name,
        )
