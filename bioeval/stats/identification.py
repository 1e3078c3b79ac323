"""Intervals of identification: people who probe are resampled, the gallery stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bioeval.base.variables import CLOSED_SET, OPEN_SET
from bioeval.results.open_set import impostor_probes, impostor_role
from bioeval.scores.matrix import PairScores, Scores
from bioeval.stats.analytic import ratio_variances
from bioeval.stats.binomial import clopper_pearson, wilson
from bioeval.stats.bootstrap import sample_of
from bioeval.stats.bootstrap_limits import ends, never_closed
from bioeval.stats.interval_variables import (
    Ends,
    by_subject,
    few_people,
    normal_ends,
    with_intervals,
)
from bioeval.stats.options import Asked
from bioeval.stats.resampling import linear_forms, ratio, weight_columns
from bioeval.stats.verification import equal_error
from bioeval.tallies.by_subject import require_people
from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.thresholds import to_internal
from bioeval.tallies.tie_policies import rank_weights

if TYPE_CHECKING:
    import xarray as xr

#: Ranks of open set whose intervals are found.
RANKS = 10

# Values of a temporary array.
_ROOM = 1 << 22


def closed_set_intervals(
    dataset: xr.Dataset, tally: IdentificationTally, scores: Scores, asked: Asked
) -> xr.Dataset:
    """Return a result of closed-set identification with the intervals that were asked for."""
    attempts = int(dataset["attempts"])
    count = dataset.sizes["rank"]
    remarks = []
    if asked.by_subject:
        probing = _Probing(tally, scores, str(dataset.attrs["ties"]), asked)
        low, high = probing.cms(count)
        remarks = few_people(probing.people, asked)
    else:
        low, high = _independent(asked)(dataset["cms_count"].values, attempts, asked.confidence)
        remarks = [_INDEPENDENT.format(asked.method)]
    found = {"cms": (low, high), "recognition_rate": (low[0], high[0])}
    over = {"cms": ("rank",), "recognition_rate": ()}
    return with_intervals(dataset, found, over, CLOSED_SET, asked, remarks)


def open_set_intervals(
    dataset: xr.Dataset, tally: IdentificationTally, scores: Scores, asked: Asked
) -> xr.Dataset:
    """Return a result of open-set identification with the intervals that were asked for.

    Of the ranks the first ten have intervals; the others are NaN.
    """
    kind = tally.about.kind
    ranks = min(RANKS, dataset.sizes["rank"])
    if asked.by_subject:
        probing = _Probing(
            tally, scores, str(dataset.attrs["ties"]), asked, str(dataset.attrs["impostors"])
        )
        grid = to_internal(dataset["threshold"].values, kind)
        found = probing.curves(grid, ranks)
        if kind == "similarity":
            found = {name: (low[::-1], high[::-1]) for name, (low, high) in found.items()}
        found |= probing.points(dataset, ranks)
        remarks = few_people(probing.people, asked)
    else:
        found = _independent_open_set(dataset, ranks, asked)
        remarks = [_INDEPENDENT.format(asked.method)]
    for name in ("dir", "dir_at_far"):
        low, high = found[name]
        beyond = ((0, 0), (0, dataset.sizes["rank"] - ranks))
        low, high = (np.pad(x, beyond, constant_values=np.nan) for x in (low, high))
        found[name] = low, high
    found["grr"] = 1 - found["far"][1], 1 - found["far"][0]
    over = {name: tuple(map(str, dataset[name].dims)) for name in found}
    return with_intervals(dataset, found, over, OPEN_SET, asked, remarks)


# ------------------------------------------------------------------------- independent attempts

_INDEPENDENT = (
    "{} intervals take all probes for independent; those of one person are not, and the intervals "
    "are then too narrow: take subject-bootstrap"
)


def _independent(asked: Asked) -> Callable[..., Ends]:
    return wilson if asked.method == "wilson" else clopper_pearson


def _independent_open_set(dataset: xr.Dataset, ranks: int, asked: Asked) -> dict[str, Ends]:
    method = _independent(asked)
    genuine, impostor = (int(dataset[f"{x}_attempts"]) for x in ("genuine", "impostor"))

    def of(rate: np.ndarray) -> Ends:
        low, high = method(np.where(np.isnan(rate), 0.0, rate * genuine), genuine, asked.confidence)
        return np.where(np.isnan(rate), np.nan, low), np.where(np.isnan(rate), np.nan, high)

    dir_ = of(dataset["dir"].values[:, :ranks])
    return {
        "dir": dir_,
        "frr": (1 - dir_[1][:, 0], 1 - dir_[0][:, 0]),
        "far": method(dataset["fa"].values, impostor, asked.confidence),
        "dir_at_far": of(dataset["dir_at_far"].values[:, :ranks]),
    }


# ------------------------------------------------------------------------- by subject


def identification_replicates(
    tally: IdentificationTally,
    scores: Scores,
    ties: str,
    impostors: str,
    targets: np.ndarray,
    asked: Asked,
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Return the recognition rate and DIR at each FAR target, at rank 1, and how many people.

    Returns
    -------
    recognised : float64 array, shape (columns,)
    at_far : float64 array, shape (targets, columns)
    people, trials : int
        All who probe, and those of them with genuine attempts (0 of a single one).
    """
    probing = _Probing(tally, scores, ties, asked, impostors)
    found = probing.genuine.up_to(1)
    hits = np.bincount(found.person, found.weight, minlength=probing.people)
    recognised = ratio(linear_forms(hits[None], probing.weights)[0], probing.all_genuine)
    at_far, _ = probing.drawn_points(targets, 1)
    return recognised, at_far[:, 0], probing.people, probing.trials[0]


@dataclass(frozen=True)
class _Attempts:
    """Attempts in the order of their distances, and whose they are."""

    distance: np.ndarray
    person: np.ndarray
    rank: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(
        cls, distance: np.ndarray, person: np.ndarray, rank: np.ndarray, weight: np.ndarray
    ) -> _Attempts:
        """Put attempts in order."""
        order = np.argsort(distance, kind="stable")
        return cls(distance[order], person[order], rank[order], weight[order])

    def up_to(self, rank: int) -> _Attempts:
        """Return the attempts at the rank or better."""
        kept = self.rank <= rank
        return _Attempts(self.distance[kept], self.person[kept], self.rank[kept], self.weight[kept])


class _Probing:
    """The attempts of identification by the people who make them.

    Attributes
    ----------
    people : int
    genuine, impostor : _Attempts
    trials : (int, int)
        People with genuine, and with impostor attempts; 0 of a single one.
    """

    def __init__(
        self,
        tally: IdentificationTally,
        scores: Scores,
        ties: str,
        asked: Asked,
        impostors: str = "auto",
    ):
        if isinstance(scores, PairScores) or not scores.labelled:
            require_people(scores, asked.method)
        self.asked = asked
        who, person = np.unique(scores.codes.probe, return_inverse=True)
        person = person.reshape(-1)
        self.people = len(who)
        chosen = np.nonzero(tally.mates > 0)[0]
        probes, ranks, weights = rank_weights(tally, chosen, ties)
        self.genuine = _Attempts.of(tally.mate[probes], person[probes], ranks, weights)
        self.genuine_of = np.bincount(person[chosen], minlength=self.people)
        others = impostor_probes(tally, impostor_role(tally, impostors))
        ones = np.ones(len(others))
        self.impostor = _Attempts.of(tally.other[others], person[others], ones, ones)
        self.impostor_of = np.bincount(person[others], minlength=self.people)
        self.trials = tuple(
            sample_of(int((x > 0).sum())) for x in (self.genuine_of, self.impostor_of)
        )
        self.weights = (
            weight_columns(self.people, asked)
            if asked.resamples
            else np.ones((self.people, 1), dtype=np.float32)
        )
        self.all_genuine = linear_forms(self.genuine_of[None], self.weights)[0]
        self.all_impostor = linear_forms(self.impostor_of[None], self.weights)[0]

    def _ends(self, layers: np.ndarray, of: np.ndarray, all_: np.ndarray, trials: int) -> Ends:
        """Return the ends of the share of attempts in all layers up to each.

        Parameters
        ----------
        layers : array, shape (k, people)
        of : int array, shape (people,)
            Attempts.
        all_ : float64 array, shape (columns,)
        """
        if not self.asked.resamples:
            reached = np.cumsum(layers, axis=0)
            share = reached.sum(axis=1) / of.sum() if of.any() else np.full(len(layers), np.nan)
            both = normal_ends(share, np.sqrt(ratio_variances(reached, of)), self.asked)
            return never_closed(share, *both, trials, self.asked.confidence)
        step = max(1, _ROOM // self.weights.shape[1])
        before, found = np.zeros(self.weights.shape[1]), []
        for low in range(0, len(layers), step):
            reached = before + np.cumsum(linear_forms(layers[low : low + step], self.weights), 0)
            before = reached[-1]
            # Weights under expected ties are fractions: nearly all is all.
            values = np.minimum(ratio(reached, all_), 1.0)
            values = np.where(np.abs(values - 1) < 1e-12, 1.0, values)
            both = ends(values, self.asked)
            found.append(never_closed(values[:, 0], *both, trials, self.asked.confidence))
        low_, high = (np.concatenate(x) for x in zip(*found, strict=True))
        return low_, high

    def cms(self, count: int) -> Ends:
        """Return the ends of CMS at the ranks from 1 to `count`."""
        step = max(1, _ROOM // self.people)  # only so many ranks at a time, those before as one
        parts = [self._cms(low, min(low + step, count)) for low in range(0, count, step)]
        low_, high = (np.concatenate(x) for x in zip(*parts, strict=True))
        return low_, high

    def _cms(self, low: int, high: int) -> Ends:
        """Return the ends of CMS at the ranks above `low`, up to `high`."""
        rank = np.maximum(self.genuine.rank - low, 0).astype(np.float64)
        layers = by_subject(
            rank, self.genuine.person, np.arange(0.0, high - low + 1), self.people,
            self.genuine.weight,
        )[:-1]  # fmt: skip
        lows, highs = self._ends(layers, self.genuine_of, self.all_genuine, self.trials[0])
        return lows[1:], highs[1:]

    def curves(self, grid: np.ndarray, ranks: int) -> dict[str, Ends]:
        """Return the ends of FAR, FRR and DIR at increasing distances."""
        impostor = by_subject(self.impostor.distance, self.impostor.person, grid, self.people)
        far = self._ends(impostor[:-1], self.impostor_of, self.all_impostor, self.trials[1])
        rates = []
        for k in range(1, ranks + 1):
            of = self.genuine.up_to(k)
            layers = by_subject(of.distance, of.person, grid, self.people, of.weight)[:-1]
            rates.append(self._ends(layers, self.genuine_of, self.all_genuine, self.trials[0]))
        low, high = (np.stack(x, axis=1) for x in zip(*rates, strict=True))
        return {
            "far": far,
            "frr": (1 - high[:, 0], 1 - low[:, 0]),
            "dir": (low, high),
        }

    def points(self, dataset: xr.Dataset, ranks: int) -> dict[str, Ends]:
        """Return the ends of the operating points, chosen anew in each replicate."""
        targets = dataset["far_target"].values
        if not self.asked.resamples:
            return {"dir_at_far": self._fixed(dataset, ranks)}
        at_far, eer = self.drawn_points(targets, ranks)
        both = never_closed(
            at_far[..., 0], *ends(at_far, self.asked), self.trials[0], self.asked.confidence
        )
        of_eer = never_closed(
            eer[0], *ends(eer, self.asked), min(self.trials), self.asked.confidence
        )
        return {"dir_at_far": both, "eer": of_eer}

    def drawn_points(self, targets: np.ndarray, ranks: int) -> tuple[np.ndarray, np.ndarray]:
        """Return DIR at FAR (targets, ranks, columns) and the EER (columns) of all weightings."""
        columns = self.weights.shape[1]
        at_far = np.full((len(targets), ranks, columns), np.nan)
        eer = np.full(columns, np.nan)
        mate, other = self.genuine.up_to(ranks), self.impostor
        if not self.genuine_of.any() or not self.impostor_of.any():
            return at_far, eer
        first = self.genuine.up_to(1)
        threshold = np.union1d(first.distance, other.distance)
        of_first = np.searchsorted(first.distance, threshold, side="right")
        of_other = np.searchsorted(other.distance, threshold, side="right")
        # Scores of one value are accepted together: a limit is the first of its value.
        value = np.searchsorted(other.distance, other.distance, side="right") - 1
        below = np.append(np.searchsorted(mate.distance, other.distance), len(mate.distance))
        step = max(1, _ROOM // (len(threshold) + len(mate.distance) + 1))
        for low in range(0, columns, step):
            part = slice(low, low + step)
            weights = self.weights[:, part].astype(np.float64)
            genuine, impostor = self.all_genuine[part], self.all_impostor[part]
            taken = _cumulative(weights, other)
            far = ratio(taken[of_other], impostor)
            found = ratio(_cumulative(weights, first)[of_first], genuine)
            eer[part] = equal_error(far, np.clip(1 - found, 0.0, 1.0))
            rate = ratio(taken[1:], impostor)[value]
            hits = weights[mate.person] * mate.weight[:, None]
            defined = (genuine > 0) & (impostor > 0)
            for i, target in enumerate(targets):
                limit = below[(rate <= target).sum(axis=0)]
                for c in np.nonzero(defined)[0]:
                    at = np.bincount(
                        mate.rank[: limit[c]] - 1, hits[: limit[c], c], minlength=ranks
                    )
                    share = np.cumsum(at) / genuine[c]
                    at_far[i, :, low + c] = np.where(share > 1 - 1e-12, 1.0, share)
        return at_far, eer

    def _fixed(self, dataset: xr.Dataset, ranks: int) -> Ends:
        """Return the ends of DIR at the thresholds of the FAR targets, taken for given."""
        rate = dataset["dir_at_far"].values[:, :ranks]
        at = dataset["threshold_at_far"].values[:, :ranks]
        at = -at if str(dataset.attrs["kind"]) == "similarity" else at
        distinct, back = np.unique(np.where(np.isnan(at), -np.inf, at), return_inverse=True)
        place = back.reshape(at.shape), np.arange(ranks)
        low, high = (x[place] for x in self.curves(distinct, ranks)["dir"])
        return np.where(np.isnan(rate), np.nan, low), np.where(np.isnan(rate), np.nan, high)


def _cumulative(weights: np.ndarray, attempts: _Attempts) -> np.ndarray:
    """Return the weight of all attempts before each, and of all of them."""
    taken = np.zeros((len(attempts.distance) + 1, weights.shape[1]))
    np.cumsum(weights[attempts.person] * attempts.weight[:, None], axis=0, out=taken[1:])
    return taken
