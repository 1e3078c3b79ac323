"""What was compared with what: scores with labels and metadata, as a matrix or as pairs.

A :class:`Scores` is made from a matrix, from embeddings or from pairs; protocols read it in blocks
of rows. :class:`PairScores` is in the same file, since each of the two makes the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NoReturn, Self

import numpy as np

from bioeval.base.errors import Argument, DataError, ProtocolError, require_choice
from bioeval.base.kinds import KINDS
from bioeval.base.memory import require_bytes
from bioeval.base.panels import panel
from bioeval.scores.arrays import IGNORE, as_array, as_index
from bioeval.scores.coded_sides import CodedSides
from bioeval.scores.description import lines_of_matrix, lines_of_pairs
from bioeval.scores.embeddings import EmbeddingSource, Metric, as_embeddings, describe_metric
from bioeval.scores.growing_column import PIECE, release, taken
from bioeval.scores.labelled_matrix import MEMORY_LIMIT, NAN_POLICIES, LabelledMatrix
from bioeval.scores.labels import Codes, as_labels, as_meta, digest
from bioeval.scores.listed_templates import (
    ListedTemplates,
    ListRules,
    Where,
    note_on_infinite,
    places,
    require_classes,
)
from bioeval.scores.template_averages import average_embeddings


class Scores(LabelledMatrix):
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
    mask : array_like of int, shape (m, n), optional
        For each cell 0 (ignore), 1 (impostor) or 2 (genuine). Without labels, the mask alone
        decides what is genuine, and a square matrix is all-against-all where its whole diagonal is
        ignored; with labels it may only leave cells out.
    probe_meta, gallery_meta : mapping of str to sequence, optional
        Columns such as ``camera``, ``session`` or ``group``, one value a template. In
        all-against-all, `probe_meta` serves both sides.
    name : str, optional
        The system's name, for tables and plots.
    exclude : sequence of str
        Metadata columns. Two templates of one subject with the same value in any of them are
        not compared: ``exclude=("session",)`` leaves out genuine pairs of one session, which
        flatter the system. Impostor pairs stay. ``"not-enrolled"`` compares each probe with the
        templates enrolled when it is seen: ``enrolled_at <= seen_at < withdrawn_at``, numbers or
        dates, where a missing value or column means always.

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
        memory_limit: int | str = MEMORY_LIMIT,
        nan: str = "raise",
        mask: Any = None,
        probe_meta: Mapping[str, Any] | None = None,
        gallery_meta: Mapping[str, Any] | None = None,
        name: str | None = None,
        exclude: Sequence[str] = (),
        average: Sequence[str] = (),
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
        memory_limit : int or str
            Bytes, or text such as ``"2 GiB"``. A matrix that would take more is never made: its
            rows are computed whenever they are read (the attribute ``streams`` is then true), in
            blocks that stay well below the limit.
        nan, mask, probe_meta, gallery_meta, name, exclude
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
        left = as_embeddings(probe, "probe embeddings")
        if (gallery is None) != (gallery_labels is None):
            given = "gallery_labels" if gallery is None else "gallery"
            other = "gallery" if gallery is None else "gallery_labels"
            raise DataError(f"{given} is given without {other}; expected both or neither")
        labels = as_labels(probe_labels, "probe_labels", len(left))
        right = left if gallery is None else as_embeddings(gallery, "gallery embeddings")
        if gallery is not None:
            gallery_labels = as_labels(gallery_labels, "gallery_labels", len(right))
        rows, names = len(left), (average,) if isinstance(average, str) else tuple(average)
        if names:
            left, labels, probe_meta = _averaged(left, labels, probe_meta, names, "probe")
            if gallery is None:
                right = left
            else:
                right, gallery_labels, gallery_meta = _averaged(
                    right, gallery_labels, gallery_meta, names, "gallery"
                )
        source = EmbeddingSource(left, right, metric, dtype)
        memory_limit = require_bytes("memory_limit", memory_limit)
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
        made._embedded, made.origin = left, describe_metric(metric, left)
        if names:
            made.origin += f", means by {' and '.join(names)} of {rows} embeddings of probes"
        made.memory_limit = memory_limit
        return made

    def _repr_html_(self) -> str:
        return panel(type(self).__name__, lines_of_matrix(self))

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
        templates: Any = None,
        keep: str | Sequence[str] = (),
        unordered: bool = False,
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
        templates : array_like, shape (p, 2), optional
            The names of the templates of both sides of each pair. With them a pair that is listed
            again with the same score counts once, and comparisons of a template with itself are
            left out, which results say; :func:`compare` and :func:`fuse` align systems by them.
        keep : {"self", "repeated"}, or several of them
            What to count nevertheless: comparisons of a template with itself, and pairs as often
            as they are listed.
        unordered : bool
            Count a-b and b-a as one attempt, which both orders then have the same score for. By
            default they are two, as in a matrix.

        Returns
        -------
        PairScores
            Scores of layout ``"pairs"``: verification only.

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
        found = PairScores(
            scores, genuine, kind=kind, nan=nan, subjects=subjects, folds=folds, name=name,
            templates=templates,
        )  # fmt: skip
        return found.attempts(rules, lambda rows: places("pair", rows))

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

        def refuse(wrong: np.ndarray, what: str) -> None:
            if wrong.any():
                first = int(np.argmax(wrong))
                raise DataError(
                    f"{int(wrong.sum())} pairs {what}, the first is pair {first} (row "
                    f"{i[first]}, column {j[first]})"
                )

        refuse(self.probe_ids[i] == self.gallery_ids[j], "compare a template with itself")
        if genuine is None:
            if not self.labelled:
                raise DataError("genuine is missing: these scores have no labels to derive it from")
            genuine = self.codes.probe[i] == self.codes.gallery[j]
        elif self.labelled and np.shape(genuine) == i.shape:
            require_classes(
                np.asarray(genuine) == 1, self.codes.probe[i], self.codes.gallery[j],
                lambda rows: places("pair", rows),
            )  # fmt: skip
        rows, columns = self.base_rows(i), self.base_columns(j)
        if self._mask is not None:
            refuse(self._mask[rows, columns] == IGNORE, "are cells that the mask ignores")
        refuse(self.excluded(i, j), f"are left out by exclude={', '.join(self.exclude)}")
        self.verify()
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
            values, genuine, kind=self.kind, nan=self.nan, subjects=who, folds=folds, name=self.name
        )
        pairs.origin, pairs.reading = self.origin, self.reading
        pairs.pair_ids = np.column_stack([self.probe_ids[i], self.gallery_ids[j]])
        return pairs


def _averaged(
    values: np.ndarray, labels: np.ndarray, meta: Any, names: tuple[str, ...], side: str
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return the templates that embeddings are averaged to, their labels and their metadata."""
    columns = {"": labels, **as_meta(meta, len(values), f"{side}_meta")}
    found, shared = average_embeddings(values, columns, names, side)
    return found, shared.pop(""), shared


class PairScores(Scores):
    """Fixed trials: one score a pair; see :meth:`Scores.from_pairs`.

    Attributes
    ----------
    genuine : ndarray of bool, shape (p,)
    pair_subjects : ndarray, shape (p, 2), or None
    pair_folds : ndarray, shape (p,), or None
    pair_ids : int64 array, shape (p, 1) or (p, 2)
        The position of each pair in the list, or the identities of its two templates.
    templates : CodedSides or None
        The names of the templates of both sides.
    unordered : bool
        Whether both orders of two templates were merged.
    missing : int
        Pairs of a published list that are not among these, since one of their templates is missing.
    """

    missing = 0
    labelled = False
    unordered = False

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
        templates: Any = None,
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
        known = flags.dtype == bool
        if not known and (flags.dtype.kind not in "biuf" or not np.isin(flags, (0, 1)).all()):
            raise DataError("genuine has values other than 0 and 1 (or False and True)")
        self._base = array
        self.layout = "pairs"
        self.genuine = flags.astype(bool)
        self._subjects = _both_sides(subjects, "subjects", len(array))
        self.templates = _both_sides(templates, "templates", len(array))
        if isinstance(self.templates, np.ndarray):
            self.templates = CodedSides.of(self.templates, "templates")
        self.pair_folds = None if folds is None else as_labels(folds, "folds")
        if self.pair_folds is not None and len(self.pair_folds) != len(array):
            raise DataError(
                f"folds has {len(self.pair_folds)} values; expected {len(array)}, one a pair"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of pairs."""
        return self._base.shape

    @property
    def knows_subjects(self) -> bool:
        """Whether the subjects of the pairs are known."""
        return self._subjects is not None

    @cached_property
    def pair_subjects(self) -> np.ndarray | None:
        """The subjects of both sides of each pair."""
        coded = isinstance(self._subjects, CodedSides)
        return self._subjects.objects() if coded else self._subjects

    @property
    def pair_templates(self) -> np.ndarray | None:
        """The names of the templates of both sides of each pair."""
        return None if self.templates is None else self.templates.objects()

    @cached_property
    def pair_codes(self) -> Codes:
        """The subjects as codes: side a as probes, side b as the gallery."""
        if isinstance(self._subjects, CodedSides):
            return self._subjects.codes()
        a, b = (as_labels(side, "subjects") for side in self._subjects.T.tolist())
        return Codes(a, b)

    @cached_property
    def pair_ids(self) -> np.ndarray:
        """The position of each pair in the list."""
        return np.arange(len(self._base), dtype=np.int64)[:, None]

    def pieces(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the scores of some pairs, and which are genuine, until the end of the list."""
        for low in range(0, len(self._base), PIECE):
            yield self._base[low : low + PIECE], self.genuine[low : low + PIECE]
            release(self._base)

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
        flags = digest(self.genuine.view(np.uint8))
        return f"{len(self._base)} pairs {self.dtype.name} {self.kind} genuine:{flags}"

    def __repr__(self) -> str:
        return (
            f"<PairScores {len(self._base)} pairs, {int(self.genuine.sum())} genuine, "
            f"{self.dtype} {self.kind}, nan={self.nan!r}>"
        )

    def _repr_html_(self) -> str:
        return panel(type(self).__name__, lines_of_pairs(self))

    def excluding(self, *columns: str) -> NoReturn:
        """Refuse: pairs have no metadata."""
        raise ProtocolError("a pair list has no metadata to exclude by; leave the pairs out")

    def select(self, probes: Any = None, gallery: Any = None) -> Self:
        """Take some pairs (`probes` indexes them); pairs have no gallery."""
        if gallery is not None:
            raise ProtocolError("a pair list has no gallery to select from; give probes= alone")
        if probes is None:
            return self
        index = as_index(probes, len(self._base), "probes")
        view = self.taking(index)
        view.pair_ids = self.pair_ids[index]
        return view

    def taking(self, rows: np.ndarray) -> Self:
        """Return some pairs, by their places or as a choice, without remarks on all."""
        who, folds = self._subjects, self.pair_folds
        if who is not None:
            who = who.take(rows) if isinstance(who, CodedSides) else who[rows]
        view = type(self)(
            taken(self._base, rows),
            self.genuine[rows],
            kind=self.kind,
            nan=self.nan,
            subjects=who,
            folds=None if folds is None else folds[rows],
            name=self.name,
            templates=None if self.templates is None else self.templates.take(rows),
        )
        view.unordered, view.origin, view.reading = self.unordered, self.origin, self.reading
        if "pair_ids" in self.__dict__:
            view.pair_ids = self.pair_ids[rows]
        return view

    def with_sides_exchanged(self, turned: np.ndarray) -> Self:
        """Return a view in which the two sides of some pairs have changed places."""
        view = copy(self)
        for name in ("pair_subjects", "pair_codes", "fingerprint"):  # cached, of the others
            view.__dict__.pop(name, None)
        view.templates = None if self.templates is None else self.templates.exchanged(turned)
        if isinstance(self._subjects, CodedSides):
            view._subjects = self._subjects.exchanged(turned)
        elif self._subjects is not None:
            view._subjects = np.where(turned[:, None], self._subjects[:, ::-1], self._subjects)
        return view

    def attempts(self, rules: ListRules, where: Where) -> Self:
        """Return the pairs that are attempts, with remarks on the others; see :meth:`examined`."""
        keep, notes = self.examined(rules, where)
        found = self if keep is None else self.taking(keep)
        found.remarks = tuple(notes)
        return found

    def examined(
        self, rules: ListRules, where: Where, classes: bool = True
    ) -> tuple[np.ndarray | None, list[str]]:
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
        if self.templates is not None:
            listed = ListedTemplates(self.templates, self._base, self.genuine, where)
            keep, found = listed.kept(rules)
            notes += found
            self.unordered = rules.unordered
        elif rules.unordered:
            raise DataError(
                f"{Argument('unordered')} needs the names of the templates of both sides of each "
                "pair, such as columns template_a and template_b"
            )
        return keep, notes


def _both_sides(names: Any, what: str, length: int) -> Any:
    """Return names of both sides as they are coded, or as an array, (p, 2)."""
    if names is None or isinstance(names, CodedSides):
        return names
    array = np.asarray(names)
    if array.shape != (length, 2):
        raise DataError(
            f"{what} has shape {array.shape}; expected ({length}, 2), both sides of each pair"
        )
    return array


def require_scores(scores: Any, what: str = "scores") -> None:
    """Raise :class:`DataError` unless these are :class:`Scores`."""
    if not isinstance(scores, Scores):
        raise DataError(
            f"{what} is {type(scores).__name__}; expected bioeval.Scores, which says what the "
            "values are: bioeval.Scores(values, probe_labels, gallery_labels)"
        )
