"""Rates of verification from scores of pairs that come batch by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval import DataError, PairScores
from bioeval.base import Kind, received, require_integer, scalar_registry
from bioeval.results import verification_dataset, verification_scalars
from bioeval.scores import BlockReader, NanPolicy
from bioeval.studies.training.names import flat_numbers
from bioeval.tallies import (
    FAR_TARGETS,
    KeptScores,
    PointsWanted,
    VerificationCounter,
    VerificationTally,
    at_most_kept,
    check_targets,
    count_together,
)

if TYPE_CHECKING:
    import xarray as xr

# Pairs that wait to be counted together: a batch of a few is not counted alone.
WAITING = 1 << 16

# Impostor scores that are kept by default: 8 MiB.
MOST_KEPT = 1 << 20


class PairMeter:
    """The rates of verification, from scores of pairs that come batch by batch.

    Genuine scores are kept, and impostor scores are counted: by cells of fixed edges, and one by
    one around the operating points. So the memory is bounded but for the genuine scores.

    Parameters
    ----------
    kind : {"distance", "similarity", "llr"}
        Whether smaller or larger scores are closer.
    far_targets : sequence of float, optional
        FRR is given where FAR is at most each of these.
    keep : int
        The largest number of impostor scores to keep. Up to it all numbers are those of
        :func:`summary` of all pairs to the last bit; d' is summed over sorted scores, and may
        differ in its last digits. Beyond it the scores closest to the operating points are kept: a
        point is exact if they include it, which is checked; else bounds take its place, such as
        ``eer_at_least`` and ``eer_at_most``. d' then is left out.
    nan : {"raise", "reject", "exclude"}
        As for :class:`Scores`.

    Raises
    ------
    DataError
        If an option is wrong.

    Notes
    -----
    Counts and exact points are the same in whichever batches the pairs come. Beyond `keep`, the
    order may decide which points are exact.

    Examples
    --------
    >>> import bioeval as be
    >>> meter = be.PairMeter(kind="similarity")
    >>> meter.update([0.9, 0.8, 0.3], [True, True, False])
    >>> meter.update([0.7, 0.1, 0.2], [True, False, False])
    >>> numbers = meter.compute()
    >>> numbers["verification/single/eer"], numbers["verification/single/impostor_attempts"]
    (0.0, 3)
    """

    def __init__(
        self,
        kind: Kind = "distance",
        *,
        far_targets: Sequence[float] | None = None,
        keep: int = MOST_KEPT,
        nan: NanPolicy = "raise",
    ):
        """Check the options; there are no pairs yet."""
        one_pair = PairScores([0.0], [True], kind=kind, nan=nan)
        nothing = VerificationCounter(BlockReader(one_pair)).result()
        nothing.about = replace(nothing.about, probes=0, fingerprints=())
        self._nothing = nothing
        self._kind = kind
        self._nan = nan
        self._targets = check_targets(FAR_TARGETS if far_targets is None else far_targets)
        self._rare = far_targets is None
        self._keep = require_integer("keep", keep, low=1)
        self.reset()

    def __repr__(self) -> str:
        return f"PairMeter(kind={self._kind!r}, pairs={self._pairs})"

    def update(self, scores: Any, genuine: Any) -> None:
        """Take a batch of pairs.

        Parameters
        ----------
        scores : array_like, shape (p,)
        genuine : array_like of bool or 0/1, shape (p,)
            Whether both templates of a pair are of one subject.

        Raises
        ------
        DataError
            As for :meth:`Scores.from_pairs`; then the batch is not taken.
        """
        if np.shape(scores) == (0,) and np.shape(genuine) == (0,):
            return
        batch = PairScores(scores, genuine, kind=self._kind, nan=self._nan)
        values = np.array(batch.values)
        if self._nan == "raise" and np.isnan(values).any():
            missing = int(np.isnan(values).sum())
            raise DataError(
                f"{missing} of {len(values)} scores are NaN; compute them, or give nan='reject' or "
                "nan='exclude'"
            )
        self._waiting.append((values, batch.genuine.copy()))
        self._pairs += len(values)
        if sum(len(waiting) for waiting, _ in self._waiting) >= WAITING:
            self._count()

    def compute(self) -> dict[str, float | int]:
        """Return the numbers of all pairs so far.

        Returns
        -------
        dict of str to float or int
            The numbers of :func:`verification` by flat names, such as
            ``"verification/single/eer"`` and ``"verification/single/frr_at_far_0.01"``; in place of
            a point that is not exact, its bounds.

        Raises
        ------
        DataError
            If there are no pairs.
        """
        scalars = verification_scalars(self._counted())
        return flat_numbers({"verification/single": scalars.plain(())})

    def result(self) -> xr.Dataset:
        """Return the rates of all pairs so far over the threshold, as :func:`verification` does.

        Raises
        ------
        DataError
            If there are no pairs.
        """
        return verification_dataset(self._counted())

    def reset(self) -> None:
        """Forget all pairs, before those of another epoch."""
        self._tally = replace(self._nothing, kept=self._kept(np.empty(0)))
        self._waiting: list[tuple[np.ndarray, np.ndarray]] = []
        self._pairs = 0

    def merge(self, other: PairMeter | Mapping[str, Any]) -> None:
        """Take the pairs of another meter as well; it stays as it is.

        Parameters
        ----------
        other : PairMeter or dict
            A meter, or its :meth:`state_dict` from another process. Each pair counts, so that no
            pair may be in both.

        Raises
        ------
        DataError
            If the state is none of a meter of pairs.
        DataError
            If kinds, FAR targets or rules for NaN differ, or `other` is no meter.
        """
        if other is self:
            raise DataError("a meter cannot be merged with itself")
        state = other.state_dict() if isinstance(other, PairMeter) else other
        tally = self._tally_of(state)
        self._pairs += tally.about.probes
        self._include(tally)

    def state_dict(self) -> dict[str, Any]:
        """Return the counts and the scores that are kept, as NumPy arrays and plain values.

        Returns
        -------
        dict
            Scores are distances there: similarities with their sign changed.
        """
        self._count()
        tally = self._tally
        cells, kept = tally.impostor, tally.kept
        assert kept is not None
        return {
            "kind": self._kind,
            "nan": self._nan,
            "pairs": self._pairs,
            "far_targets": self._targets.copy(),
            "rare": self._rare,
            "genuine": tally.genuine.copy(),
            "exponent": cells.exponent,
            "first": cells.first,
            "counts": cells.counts.copy(),
            "negative_infinite": cells.negative_infinite,
            "positive_infinite": cells.positive_infinite,
            "lows": kept.lows.copy(),
            "highs": kept.highs.copy(),
            "below": kept.below.copy(),
            "scores": kept.scores.copy(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take the pairs of a :meth:`state_dict` in place of those that are here.

        Raises
        ------
        DataError
            If the state is none of a meter of pairs.
        DataError
            If it is of another kind, of other FAR targets, or of another rule for NaN.
        """
        tally = self._tally_of(state)
        self.reset()
        self._pairs = tally.about.probes
        self._include(tally)

    def _kept(self, impostors: np.ndarray) -> KeptScores:
        """Return all finite scores of impostors, as scores that are kept."""
        return KeptScores(
            lows=np.array([-np.inf]),
            highs=np.array([np.inf]),
            below=np.array([np.count_nonzero(impostors == -np.inf)]),
            scores=np.sort(impostors[np.isfinite(impostors)]),
            targets=self._targets,
            costs=np.array(PointsWanted.COSTS),
            rare=self._rare,
        )

    def _count(self) -> None:
        """Count the pairs that wait."""
        if not self._waiting:
            return
        scores = np.concatenate([values for values, _ in self._waiting])
        genuine = np.concatenate([flags for _, flags in self._waiting])
        self._waiting = []
        pairs = PairScores(scores, genuine, kind=self._kind, nan=self._nan)
        counter = VerificationCounter(BlockReader(pairs))
        (tally,) = count_together(counter.reader, [counter])
        tally.about = replace(tally.about, fingerprints=())
        tally.kept = self._kept(counter.impostor_scores())
        self._include(tally)

    def _include(self, tally: VerificationTally) -> None:
        """Add counts, and keep no more scores than are wanted."""
        merged = self._tally.merge(tally)
        self._tally = at_most_kept(merged, self._keep, scalar_registry().optima)

    def _counted(self) -> VerificationTally:
        """Return the counts of all pairs."""
        if not self._pairs:
            raise DataError("there are no pairs yet; call update() with the batches")
        self._count()
        return self._tally

    def _tally_of(self, state: Any) -> VerificationTally:
        """Return the counts of a state."""
        if not isinstance(state, Mapping):
            raise DataError(f"a PairMeter cannot be merged with {received(state)}")
        expected = self.state_dict()
        if state.keys() != expected.keys():
            missing = sorted(expected.keys() ^ state.keys())
            raise DataError(f"this is no state of a PairMeter: {', '.join(missing)}")
        for name in ("kind", "nan", "rare", "far_targets"):
            if not np.array_equal(state[name], expected[name]):
                raise DataError(
                    f"{name} of these pairs is {state[name]}, of those here {expected[name]}"
                )
        impostor = replace(
            self._nothing.impostor,
            exponent=int(state["exponent"]),
            first=int(state["first"]),
            counts=np.array(state["counts"]),
            negative_infinite=int(state["negative_infinite"]),
            positive_infinite=int(state["positive_infinite"]),
        )
        kept = replace(
            self._kept(np.empty(0)),
            lows=np.array(state["lows"]),
            highs=np.array(state["highs"]),
            below=np.array(state["below"]),
            scores=np.array(state["scores"]),
        )
        return replace(
            self._nothing,
            about=replace(self._nothing.about, probes=int(state["pairs"])),
            genuine=np.array(state["genuine"]),
            impostor=impostor,
            kept=kept,
        )
