"""Views of scores: parts, other values, another mask, kind or policy; no score is copied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn, Self

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError
from bioeval.base.kinds import KINDS, Kind, NanPolicy
from bioeval.base.progress import stage
from bioeval.scores.arrays import as_array, named_choice
from bioeval.scores.cells import Cells
from bioeval.scores.completeness import Completeness
from bioeval.scores.excluded import as_exclusions, failed_cells
from bioeval.scores.making import MEMORY_LIMIT, checked_words
from bioeval.scores.masks import as_mask
from bioeval.scores.requirements import require_all_scores
from bioeval.scores.score_data import ScoreData
from bioeval.scores.selecting import chosen_sides, selected
from bioeval.scores.sides import index_of, table_in_order


class ScoreViews(ScoreData):
    """Scores with the methods that return views of them."""

    def excluding(self, *exclusions: str) -> Self:
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
    ) -> Self:
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
        if self.layout == "pairs":
            failed = [self.genuine[np.isnan(self.values)]]
        else:
            failed = [genuine for _, _, genuine in failed_cells(self)]
        same = sum(int(np.count_nonzero(genuine)) for genuine in failed)
        return same, sum(map(len, failed)) - same

    def select(self, *index: Any, probes: Any = None, gallery: Any = None) -> Self:
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
        return selected(scores, probes, gallery)

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
        brought = table_in_order(mask, (self.keys(0), self.keys(1)), "`mask`")
        masked = self.cells.masked(as_mask(brought.values, self.cells.shape, codes))
        return self._with(_source=masked).with_remarks(*brought.remarks)

    def with_values(self, values: Any, kind: Kind) -> Self:
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
        view = self._with(_source=Cells(values, self.mask), kind=kind, _tries=None)
        return view.with_remarks(*remarks) if remarks else view

    def derived(self, values: np.ndarray, kind: Kind, origin: str) -> Self:
        """Return values computed from these scores; `origin` says how, in words."""
        return self.with_values(values, kind)._with(origin=origin, metric="", is_derived=True)

    def loaded(self) -> Self:
        """Return a view with a container's values in memory, for more than one pass.

        The scores are returned as they are if a memory limit is stated, if the values would take
        more than a matrix of embeddings may, if rows are selected, or if there is a mask without
        labels, since the last digits of its d' depend on the blocks of rows.
        """
        if self._limited or not self._labelled or not self.cells.is_stored:
            return self
        with stage("reading"):
            return self._with(_source=self.cells.loaded(MEMORY_LIMIT))

    def __getitem__(self, index: Any) -> Self:
        if isinstance(index, tuple) and named_choice(index) is None:
            return self.select(*index)
        return self.select(index)

    __iter__: None = None  # scores are no sequence of rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise DataError(f"{type(self).__name__} are no array; give scores.values")
