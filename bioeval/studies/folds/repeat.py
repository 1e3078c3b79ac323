"""Curves over repeated partitions, on a common grid, with their mean and a band."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import scipy
import xarray as xr

from bioeval import partition
from bioeval.attempts.counts import ImpostorProbes, VerificationTally
from bioeval.attempts.identification_counter import IdentificationCounter, RankUnit, check_max_rank
from bioeval.attempts.passes import count_together
from bioeval.attempts.points import FAR_TARGETS, check_priors, check_targets
from bioeval.attempts.threshold_rules import Rule
from bioeval.attempts.thresholds import check_thresholds, require_values, to_internal, to_user
from bioeval.attempts.tied_places import Ties
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.arguments import require_text
from bioeval.base.errors import ProtocolError, require_choice
from bioeval.base.kinds import larger_is_closer
from bioeval.base.messages import Message
from bioeval.base.progress import reporter, rows_reported, rows_reported_to
from bioeval.base.registry import names_of, scalar_registry
from bioeval.base.scalars import POINTS_OF_PARTS, Name, rates_of
from bioeval.partition.base import SplitterLike
from bioeval.protocol.tasks import Search
from bioeval.results.dataset import about_attrs, build, rate
from bioeval.scores.arrays import FusionRule
from bioeval.scores.blocks import BlockReader
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, are_pairs, codes_of, knows_people, require_scores
from bioeval.stats.options import IntervalMethod
from bioeval.studies.folds.options import (
    RESULT_TYPES,
    FoldOptions,
    FoldTask,
    parse_ranks,
    task_in_words,
)
from bioeval.studies.folds.parts import FoldSide, PartAttempts, counted_parts
from bioeval.studies.folds.results import (
    FOLD_COUNTS,
    dims_of_point,
    splitter_attrs,
    without_attempts,
)
from bioeval.studies.folds.splits import (
    ReducedGalleries,
    SplitSides,
    require_square,
    selected,
)
from bioeval.tasks.task_counts import TaskCounts


def repeated_names() -> dict[str, Name]:
    """Describe the variables of results over repeated partitions."""
    rates: dict[str, Name] = {
        scalar.name: scalar for scalar in scalar_registry().at_threshold["repeats"]
    }
    rates |= names_of(scalar_registry(), "dir", "cms")
    names = {**rates, **FOLD_COUNTS, **names_of("open_set", "di")}
    names["reduced_galleries"] = Name(
        "probes of the partition with fewer templates of their subject to be compared with than "
        "are enrolled, because of exclude",
        "probes",
    )
    points: dict[str, Name] = {}
    for scalars in POINTS_OF_PARTS.values():
        points |= {scalar.name: scalar for scalar in scalars}
    names |= points
    for name, quantity in {**rates, **points}.items():
        for key, words in {
            "mean": "mean over partitions",
            "sd": "standard deviation over partitions",
            "low": "lower end of the band over partitions",
            "high": "upper end of the band over partitions",
        }.items():
            names[f"{name}_{key}"] = Name(f"{quantity.long_name}; {words}", "1", quantity.iso)
    return names


RepeatBand = Literal["quantile", "normal"]
BANDS: tuple[RepeatBand, ...] = get_args(RepeatBand)

# Default number of ranks of closed-set curves; open set reports rank 1.
CMC_RANKS = 50

_COUNTS = {
    "verification": ("ga", "fa", "genuine_attempts", "impostor_attempts"),
    "open_set": ("di", "fa", "genuine_attempts", "impostor_attempts"),
    "closed_set": ("cms_count", "attempts", "skipped"),
}


@leaves_out_attacks
def repeat(
    scores: Scores,
    splitter: SplitterLike,
    *,
    task: FoldTask = "verification",
    thresholds: Any = None,
    max_rank: int | None = None,
    fusion: FusionRule = "min",
    rank_unit: RankUnit = "template",
    ties: Ties = "pessimistic",
    impostors: ImpostorProbes = "auto",
    claims: partition.ClaimSampler | None = None,
    far_targets: Sequence[float] = FAR_TARGETS,
    frr_targets: Sequence[float] = (),
    priors: Sequence[float] = (),
    band: RepeatBand = "quantile",
    confidence: float = 0.95,
) -> xr.Dataset:
    """Evaluate with each partition of a splitter: all curves, their mean, and a band.

    Parameters
    ----------
    scores : Scores
        A matrix with labels.
    splitter : splitter
        Of gallery and probes (``ProbeGallerySplit``, ``EnrolledSplit``): the probes are compared
        with the gallery. Of training and test: the test part is compared with itself. Of an
        ``Experiment`` the test part, with its own gallery and probes.
    task : {"verification", "open_set", "closed_set"}
    thresholds : None, int or increasing array of float
        The grid that all curves share. None: about 1,000 from the smallest to the largest score
        of the whole matrix. For open set 100, over the nearest distances in the whole gallery; in
        smaller galleries these are larger, so give thresholds to see the curves to their end.
    max_rank : int, optional
        Number of ranks; None: 50 for closed set, 1 for open set. Beyond the list of a small
        gallery, a curve keeps its last value.
    rank_unit, fusion, ties, impostors
        As for :func:`bioeval.open_set`.
    claims : ClaimSampler, optional
        Of verification: claims drawn anew for each partition, in place of all.
    far_targets, frr_targets : sequence of float
        Of the operating points; FRR targets of verification only.
    priors : sequence of float
        Of verification, also the least normalised cost of each partition (``min_dcf``) at these
        proportions of genuine attempts.
    band : {"quantile", "normal"}
        The central quantiles of the curves at each point; or the normal band, mean plus and minus
        a multiple of the standard deviation, within the possible values.
    confidence : float
        The proportion of the curves within the band.

    Returns
    -------
    xarray.Dataset
        Over ``repeat, fold`` and ``threshold`` or ``rank``: ``gar frr far grr`` and counts ``ga
        fa``; or ``dir far`` and ``di fa``; or ``cms`` and ``cms_count``; and the attempts of each
        partition. Of each rate ``<rate>_mean``, ``<rate>_low`` and ``<rate>_high`` over all
        partitions. The operating points of each partition, at its scores themselves: ``eer``,
        ``auc``, ``frr_at_far``, ``far_at_frr`` and ``min_dcf``; ``eer`` and ``dir_at_far``; or
        ``recognition_rate``; with their ``_mean``, ``_sd``, ``_low`` and ``_high``. NaN where no
        partition has an attempt; those without are left out. Of galleries, where pairs are
        excluded, ``reduced_galleries``: the probes with fewer templates of their subject to be
        compared with than are enrolled.

    Notes
    -----
    The band is pointwise, and shows how the curve depends on the partition of these very
    subjects. It does not show how it would differ for others: that takes resampling of subjects.
    Averages are at the same threshold (or rank), not at the same FAR: "threshold averaging" of
    Fawcett, T. (2006). An introduction to ROC analysis. *Pattern Recognition Letters* 27, 861-874.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(30, 4, random_state=1)
    >>> galleries = be.partition.ProbeGallerySplit(1, n_repeats=20, random_state=0)
    >>> ds = be.repeat(scores, galleries, task="closed_set", max_rank=5)
    >>> dict(ds.sizes)
    {'repeat': 20, 'fold': 1, 'rank': 5}
    >>> bool((ds.cms_low <= ds.cms_mean).all())
    True
    """
    require_choice("band", band, BANDS)
    search = Search(rank_unit=rank_unit, fusion=fusion, ties=ties)
    confidence = IntervalMethod.check_confidence(confidence)
    if are_pairs(scores):
        raise ProtocolError("a list of pairs has no templates to divide; be.cross_evaluate does")
    require_scores(scores)
    require_text("task", task)
    if not knows_people(scores):
        raise ProtocolError("partitions need the subjects of the templates. Give labels")
    if isinstance(splitter, partition.Experiment):
        require_square(scores)
    check_max_rank(max_rank, scores.shape[1])
    if task != "closed_set":
        require_values(scores, task.replace("_", "-"))
    part = FoldOptions(
        task=task,
        rule=Rule.parse("eer"),
        ranks=parse_ranks(1),
        fusion=fusion,
        rank_unit=rank_unit,
        impostors=impostors,
        claims=claims,
        far_targets=check_targets(far_targets),
        frr_targets=check_targets(frr_targets, "frr_targets"),
        priors=check_priors(priors),
    )
    parts = SplitSides(scores).partitions(splitter)
    if not parts.enrols:
        part = part.with_role(splitter, scores)
    curves = _Curves(scores, part, search.ties, thresholds, max_rank)
    arrays = {}
    shape = parts.shape
    total = shape[0] * shape[1]
    left = ReducedGalleries(shape) if parts.enrols and scores.exclude else None
    tasks = []
    if search.ties != "expected":
        tasks.append(replace(part, ties=search.ties))
    placed = zip(parts.places, parts.sets, strict=True)
    counted = counted_parts(scores, placed, tasks)
    with rows_reported():
        tell = reporter()
    with rows_reported_to(None):
        for done, (place, chosen, attempts) in enumerate(counted, 1):
            view = selected(scores, chosen)
            if left is not None:
                left.add(place, view)
            for name, values in curves.of(view, attempts, done - 1).items():
                if name not in arrays:
                    arrays[name] = np.zeros((*shape, *values.shape), values.dtype)
                arrays[name][place] = values
            tell(done, total)
    made = _dataset(arrays, curves, scores, splitter, band=band, confidence=confidence)
    if left is None:
        return made
    return left.added_to(made, repeated_names())


class _Curves:
    """The counts of each partition on a common grid of scores, empty for a closed set."""

    def __init__(
        self, scores: Scores, part: FoldOptions, ties: str, thresholds: Any, max_rank: int | None
    ):
        """Choose the grid: the thresholds given, or over the whole matrix, or the ranks."""
        self.kind, self.part, self.ties = scores.kind, part, ties
        self.roles: set[str] = set()
        self.grid = np.empty(0)
        closed = part.task == "closed_set"
        self.max_rank = max_rank or 1
        if max_rank is None and closed:
            candidates = scores.shape[1]
            if part.rank_unit == "subject":
                candidates = len(np.unique(codes_of(scores).gallery))
            self.max_rank = max(1, min(CMC_RANKS, candidates - 1))
        chosen = check_thresholds(thresholds)
        if isinstance(chosen, np.ndarray):
            self.grid = chosen
        elif not closed:
            self.grid = self._whole_grid(scores, chosen)

    def _verified(self, scores: Scores, thresholds: Any) -> VerificationTally:
        reader = BlockReader(scores)
        counter = VerificationCounter(reader, thresholds=thresholds)
        return count_together(reader, [counter])[0]

    def _whole_grid(self, scores: Scores, count: int | None) -> np.ndarray:
        """Return thresholds over the range of the whole matrix, in the units of the scores."""
        if self.part.task == "verification":
            grid = to_user(self._verified(scores, count).thresholds, self.kind)
            if larger_is_closer(self.kind):
                return grid[::-1]
            return grid
        reader = BlockReader(scores)
        (tally,) = count_together(reader, [IdentificationCounter(reader, self.part.search())])
        whole = TaskCounts(tally, {"thresholds": count or 100, "max_rank": 1}).dataset("open_set")
        return whole["threshold"].values

    def of(self, view: Scores | None, counted: PartAttempts, number: int) -> dict[str, np.ndarray]:
        """Return the counts of one partition over the grid, and its operating points."""
        task = self.part.task
        if view is None:
            return self._nothing()
        if task == "verification":
            drawn = None
            if self.part.claims is not None:
                drawn = self.part.claims.draw(view, number)
            return self._verification(view, FoldSide(view, drawn, counted=counted))
        part, most = FoldSide(view, counted=counted), self.max_rank
        whole = self.ties != "expected"
        role = part.role(self.part)
        searched = part.searched(replace(self.part, impostors=role), self.ties)
        counts = {"attempts": searched.genuine, "skipped": searched.skipped}
        if task == "closed_set":
            ranked = searched.ranked(most, whole=whole)
            points = {"recognition_rate": rate(ranked, searched.genuine)[0]}
            return _arrays({"cms_count": ranked, **counts, **points})
        self.roles.add(role)
        points_of, grid = searched.open_set(), to_internal(self.grid, self.kind)
        curves = {
            "di": points_of.detected_at(grid, most, whole=whole),
            "fa": np.searchsorted(points_of.other, grid, side="right").astype(np.int64),
        }
        totals = {"genuine_attempts": searched.genuine, "impostor_attempts": len(searched.other)}
        points = {
            "eer": points_of.equal_error().eer,
            "dir_at_far": points_of.at_far(self.part.targets, most)[0],
        }
        return _arrays({**self._over_grid(curves), **totals, **points})

    def _verification(self, view: Scores, part: FoldSide) -> dict[str, np.ndarray]:
        """Return the counts of verification over the grid, and its operating points."""
        grid = to_internal(self.grid, self.kind)
        if part.listed:
            attempts = part.attempts(self.part)
            genuine, fa = attempts.genuine, attempts.false_accepts(grid)
            points, impostors = part.points(self.part, attempts), attempts.impostor_attempts
        else:
            tally = self._verified(view, self.grid)
            genuine, fa = tally.genuine, tally.accepted
            points, impostors = part.points(self.part, None), tally.impostors
        counts = {"ga": np.searchsorted(genuine, grid, side="right").astype(np.int64), "fa": fa}
        if part.claims is not None:
            unenrolled = part.unenrolled_probes
            counts["fa_unenrolled"] = unenrolled.false_accepts(grid)
        counts = self._over_grid(counts)
        if part.claims is not None:
            counts["unenrolled_attempts"] = np.array(unenrolled.impostor_attempts)
        totals = {"genuine_attempts": len(genuine), "impostor_attempts": impostors}
        return _arrays({**counts, **totals, **points})

    def _over_grid(self, curves: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return curves over increasing distances as they are over the grid."""
        if larger_is_closer(self.kind):
            return {name: values[::-1] for name, values in curves.items()}
        return curves

    def _nothing(self) -> dict[str, np.ndarray]:
        """Return the counts of a partition without scores: 0, and its points undefined."""
        task = self.part.task
        t, k, f = len(self.grid), self.max_rank, len(self.part.targets)
        shapes = {"ga": (t,), "fa": (t,), "di": (t, k), "cms_count": (k,)}
        shapes |= {"far_at_frr": self.part.frr_targets.shape, "min_dcf": self.part.priors.shape}
        shapes |= {"frr_at_far": (f,), "dir_at_far": (f, k), "fa_unenrolled": (t,)}
        names = list(_COUNTS[task])
        if self.part.claims is not None:
            names += ["fa_unenrolled", "unenrolled_attempts"]
        nothing = {name: np.zeros(shapes.get(name, ()), np.int64) for name in names}
        for scalar in POINTS_OF_PARTS[task]:
            nothing[scalar.name] = np.full(shapes.get(scalar.name, ()), np.nan)
        if not len(self.part.frr_targets):
            nothing.pop("far_at_frr", None)
        if not len(self.part.priors):
            nothing.pop("min_dcf", None)
        return nothing

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """The dimensions of each rate, within a partition."""
        if self.part.task == "closed_set":
            return {"cms": ("rank",)}
        over = ("threshold",)
        if self.part.task == "open_set":
            return {"dir": ("threshold", "rank"), "far": over}
        rates = [scalar.name for scalar in scalar_registry().at_threshold["repeats"]]
        return dict.fromkeys(("gar", "frr", "far", "grr", *rates), over)


def _dataset(
    arrays: dict[str, np.ndarray],
    curves: _Curves,
    scores: Scores,
    splitter: Any,
    *,
    band: str,
    confidence: float,
) -> xr.Dataset:
    """Return counts and points of all partitions, with their rates and bands over partitions."""
    each, part = ("repeat", "fold"), curves.part
    points = {}
    for scalar in POINTS_OF_PARTS[part.task]:
        if scalar.name in arrays:
            points[scalar.name] = arrays.pop(scalar.name)
    if "attempts" in arrays:
        arrays["genuine_attempts"] = arrays.pop("attempts")
    genuine = _or_nan(arrays["genuine_attempts"])
    rates = {}
    if "cms_count" in arrays:
        rates["cms"] = arrays["cms_count"] / genuine
    else:
        impostor = _or_nan(arrays["impostor_attempts"])
        rates["far"] = arrays["fa"] / impostor
        if "ga" in arrays:
            genuine_attempts = arrays["genuine_attempts"][..., None]
            impostor_attempts = arrays["impostor_attempts"][..., None]
            counts = {
                "genuine_attempts": genuine_attempts,
                "impostor_attempts": impostor_attempts,
                "ga": arrays["ga"],
                "fr": genuine_attempts - arrays["ga"],
                "fa": arrays["fa"],
                "gr": impostor_attempts - arrays["fa"],
            }
            rates["grr"] = 1 - rates["far"]
            rates |= rates_of(scalar_registry().at_threshold["repeats"], counts | rates)
        else:
            rates["dir"] = np.cumsum(arrays["di"], axis=-1) / genuine[..., None]
    dims = curves.dims
    variables = {}
    averaged = rates | points
    for name in (*dims, *points):
        over = dims.get(name, dims_of_point(name))
        variables[name] = ((*each, *over), averaged[name])
        statistics = _band(
            averaged[name], band, confidence, scalar_registry().averaged[name].bounds
        )
        for key in ("mean", "low", "high", "sd") if name in points else ("mean", "low", "high"):
            variables[f"{name}_{key}"] = (over, statistics[key])
    of_count = {"ga": "gar", "fa": "far", "fa_unenrolled": "far", "di": "dir", "cms_count": "cms"}
    for name, values in arrays.items():
        over = dims.get(of_count.get(name, ""), ())
        variables[name] = ((*each, *over), values)
    shape = arrays["genuine_attempts"].shape
    coordinates: dict[str, np.ndarray]
    coordinates = {"repeat": np.arange(shape[0]), "fold": np.arange(shape[1])}
    if part.task != "closed_set":
        coordinates["threshold"] = curves.grid
    if part.task != "verification":
        coordinates["rank"] = np.arange(1, curves.max_rank + 1)
    if part.task != "closed_set":
        coordinates["far_target"] = part.targets
    if len(part.frr_targets):
        coordinates["frr_target"] = part.frr_targets
    if len(part.priors):
        coordinates["cost"] = part.priors
    about = BlockReader(scores).about
    task = task_in_words(part.task, part.templates)
    found = [Message("impostors-differ")] if len(curves.roles) > 1 else []
    found += without_attempts(arrays, int(np.prod(shape)), "partition")
    attrs = about_attrs(about, RESULT_TYPES[part.task], f"{task}, over partitions", found)
    attrs |= {
        **splitter_attrs(splitter),
        "partitions": int(np.prod(shape)),
        "band": band,
        "interval_unit": "partitions",
        "interval_for": "these people",
        "confidence": confidence,
        "band_shows": "pointwise spread over partitions of the same subjects",
    }
    if part.claims is not None:
        attrs["claims"] = repr(part.claims)
    if part.task != "verification":
        attrs |= {"rank_unit": part.rank_unit, "ties": curves.ties}
    if part.task == "open_set":
        attrs["impostors"] = " or ".join(sorted(curves.roles))
    return build(variables, repeated_names(), coordinates, attrs)


def _arrays(values: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.asarray(value) for name, value in values.items()}


def _or_nan(attempts: np.ndarray) -> np.ndarray:
    """Return attempts as a denominator: NaN where there are none."""
    return np.where(attempts == 0, np.nan, attempts.astype(np.float64))[..., None]


def _band(
    values: np.ndarray, band: str, confidence: float, bounds: tuple[float, float]
) -> dict[str, np.ndarray]:
    """Return mean, standard deviation and band at each point, over partitions that have a value."""
    flat = values.reshape((math.prod(values.shape[:2]), *values.shape[2:]))
    flat = flat[~np.isnan(flat).reshape(len(flat), math.prod(values.shape[2:])).all(axis=1)]
    nothing = np.full(values.shape[2:], np.nan)
    if not len(flat):
        return {key: nothing.copy() for key in ("mean", "sd", "low", "high")}
    mean = flat.mean(axis=0)
    sd = flat.std(axis=0, ddof=1) if len(flat) > 1 else nothing
    if band == "quantile":
        low, high = np.quantile(flat, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    else:
        half = float(scipy.special.ndtri(0.5 + confidence / 2)) * sd
        low, high = np.maximum(mean - half, bounds[0]), np.minimum(mean + half, bounds[1])
    return {"mean": mean, "sd": sd, "low": low, "high": high}
