"""One task over drawn galleries: from scores to the labelled result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bioeval.base.errors import require_choice
from bioeval.base.variables import Name
from bioeval.results.closed_set import RANK_LIMIT, UNMATED, closed_set_dataset
from bioeval.results.dataset import max_ranks
from bioeval.results.open_set import DIR_LIMIT, IMPOSTORS, open_set_dataset
from bioeval.results.random_galleries import closed_set_expected, drawn_attrs, open_set_expected
from bioeval.scores.blocks import BlockReader, Progress
from bioeval.scores.matrix import Scores
from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.points import FAR_TARGETS, check_far_targets
from bioeval.tallies.random_galleries.counts import GalleryJob
from bioeval.tallies.random_galleries.options import Drawn, require_drawable
from bioeval.tallies.random_galleries.sampled import SampledJob
from bioeval.tallies.random_galleries.thresholds import grid_over
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.thresholds import to_user
from bioeval.tallies.tie_policies import TIES, check_max_rank

if TYPE_CHECKING:
    import xarray as xr


def closed_set_job(
    reader: BlockReader,
    drawn: Drawn,
    *,
    max_rank: int | None,
    rank_unit: str,
    fusion: str,
    ties: str,
) -> tuple[GalleryJob, str]:
    """Return the job of the exact mean of closed-set identification, and a note on its ranks."""
    _check(reader.scores, drawn, rank_unit, fusion, ties, max_rank)
    count, note = max_ranks(len(reader.gallery.subjects), 1, max_rank, RANK_LIMIT)
    none = np.empty(0)
    return GalleryJob(reader, size=drawn.size, ties=ties, thresholds=none, ranks=count), note


def open_set_job(
    reader: BlockReader,
    drawn: Drawn,
    *,
    thresholds: Any,
    max_rank: int | None,
    rank_unit: str,
    fusion: str,
    ties: str,
) -> tuple[GalleryJob, str]:
    """Return the job of the exact mean of open-set identification, and a note on its ranks."""
    _check(reader.scores, drawn, rank_unit, fusion, ties, max_rank)
    grid = grid_over(reader, thresholds)
    count, note = max_ranks(len(reader.gallery.subjects), len(grid), max_rank, DIR_LIMIT)
    return GalleryJob(reader, size=drawn.size, ties=ties, thresholds=grid, ranks=count), note


def drawn_closed_set(
    scores: Scores,
    drawn: Drawn,
    *,
    unmated: str = "auto",
    progress: Progress | None = None,
    **options: Any,
) -> xr.Dataset:
    """Evaluate closed-set identification over drawn galleries; see :func:`bioeval.closed_set`.

    `options` are those of :func:`closed_set_job`.
    """
    require_choice("unmated", unmated, UNMATED)
    reader = BlockReader(scores)
    job, note = closed_set_job(reader, drawn, **options)
    if drawn.repeats:
        (tallies,) = run_jobs(scores, reader, [SampledJob(reader, drawn)], progress)
        one = partial(closed_set_dataset, max_rank=job.ranks, ties=options["ties"], unmated=unmated)
        return sampled_dataset(tallies, one, drawn, note)
    (tally,) = run_jobs(scores, reader, [job], progress)
    return closed_set_expected(tally, unmated=unmated, note=note)


def drawn_open_set(
    scores: Scores,
    drawn: Drawn,
    *,
    impostors: str = "auto",
    far_targets: Sequence[float] = FAR_TARGETS,
    progress: Progress | None = None,
    **options: Any,
) -> xr.Dataset:
    """Evaluate open-set identification over drawn galleries; see :func:`bioeval.open_set`.

    `options` are those of :func:`open_set_job`.
    """
    require_choice("impostors", impostors, IMPOSTORS)
    check_far_targets(far_targets)
    reader = BlockReader(scores)
    job, note = open_set_job(reader, drawn, **options)
    if drawn.repeats:
        (tallies,) = run_jobs(scores, reader, [SampledJob(reader, drawn)], progress)
        given = to_user(job.thresholds, scores.kind)
        one = partial(
            open_set_dataset,
            thresholds=given[::-1] if scores.kind == "similarity" else given,
            max_rank=job.ranks,
            ties=options["ties"],
            impostors=impostors,
            far_targets=far_targets,
        )
        return sampled_dataset(tallies, one, drawn, note)
    (tally,) = run_jobs(scores, reader, [job], progress)
    return open_set_expected(tally, impostors=impostors, far_targets=far_targets, note=note)


def _check(
    scores: Scores, drawn: Drawn, rank_unit: str, fusion: str, ties: str, max_rank: int | None
) -> None:
    """Check what can be checked before the scores are read."""
    require_choice("ties", ties, TIES)
    check_max_rank(max_rank)
    require_drawable(scores, drawn, rank_unit, fusion)


# Curves that are also given gallery by gallery.
BY_GALLERY = ("cms", "far", "frr")


# What the attempts are is the same in all galleries; the rest is averaged.
SAME = (
    "attempts", "skipped", "genuine_attempts", "impostor_attempts", "target_probes",
    "non_target_probes", "expected_false_accepts",
)  # fmt: skip


# Means of these say nothing.
LEFT_OUT = ("eer_threshold", "threshold_at_far", "eer_low", "eer_high", "far_at_eer", "frr_at_eer")


def sampled_dataset(
    tallies: list[IdentificationTally],
    evaluate: Callable[[IdentificationTally], xr.Dataset],
    drawn: Drawn,
    note: str = "",
) -> xr.Dataset:
    """Evaluate each gallery and return means, with the spread between galleries.

    Parameters
    ----------
    tallies : list of IdentificationTally
        One a gallery.
    evaluate : callable
        Returns the dataset of one of them, all of the same shape.
    drawn : Drawn
    note : str
        A warning to add, if any.

    Returns
    -------
    xarray.Dataset
        As of one gallery, but each rate is the mean over galleries. ``<name>_sd`` is the standard
        deviation between galleries (``ddof = 1``, NaN of one gallery), ``<name>_se`` the standard
        error of the mean: how far it may lie from the exact mean over all galleries. It says
        nothing of other probes or subjects. ``<name>_by_gallery`` holds the curves of each.
    """
    mean: dict[str, np.ndarray] = {}
    square: dict[str, np.ndarray] = {}
    curves: dict[str, list[np.ndarray]] = {}
    first: xr.Dataset | None = None
    for count, tally in enumerate(tallies, 1):
        one = evaluate(tally)
        first = one if first is None else first
        for name in one.data_vars:
            key, values = str(name), one[name].values.astype(np.float64)
            if key in SAME or key in LEFT_OUT:
                continue
            if key not in mean:
                mean[key], square[key] = np.zeros(values.shape), np.zeros(values.shape)
            step = values - mean[key]
            mean[key] = mean[key] + step / count
            square[key] = square[key] + step * (values - mean[key])
            if key in BY_GALLERY:
                curves.setdefault(key, []).append(values)
    assert first is not None  # there is at least one gallery
    repeats = drawn.repeats
    variables: dict[str, Any] = {}
    for name in first.data_vars:
        key, old = str(name), first[name]
        if key in SAME:
            variables[key] = old
        if key not in mean:
            continue
        variables[key] = (old.dims, mean[key], old.attrs)
        if old.attrs.get("units") != "1":
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.sqrt(square[key] / (repeats - 1 or np.nan))
        says = old.attrs["long_name"]
        variables[f"{key}_sd"] = (old.dims, spread, Name(f"between galleries, {says}").attrs())
        about = Name(f"standard error over galleries, {says}").attrs()
        variables[f"{key}_se"] = (old.dims, spread / np.sqrt(repeats), about)
    for key, found in curves.items():
        about = Name(f"of each drawn gallery, {first[key].attrs['long_name']}").attrs()
        variables[f"{key}_by_gallery"] = (("repeat", *first[key].dims), np.stack(found), about)
    coords = {k: (k, v.values, v.attrs) for k, v in first.coords.items()}
    coords["repeat"] = ("repeat", np.arange(repeats), Name("drawn gallery").attrs())
    attrs = first.attrs | drawn_attrs(drawn)
    attrs["warnings"] = "\n".join(filter(None, [attrs["warnings"], note]))
    return xr.Dataset(variables, coords, attrs)
