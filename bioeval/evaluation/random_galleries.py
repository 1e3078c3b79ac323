"""Identification in drawn galleries: jobs of exact means, and means of sampled galleries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bioeval.base.variables import Name
from bioeval.protocol.biometric_tasks import ClosedSet, OpenSet
from bioeval.results.closed_set import RANK_LIMIT, closed_set_dataset
from bioeval.results.dataset import max_ranks
from bioeval.results.open_set import DIR_LIMIT, open_set_dataset
from bioeval.results.random_galleries import drawn_attrs
from bioeval.scores.blocks import BlockReader, Progress
from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.random_galleries.counts import GalleryJob
from bioeval.tallies.random_galleries.options import Drawn, require_drawable
from bioeval.tallies.random_galleries.sampled import SampledJob
from bioeval.tallies.random_galleries.thresholds import grid_over
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.thresholds import to_user

if TYPE_CHECKING:
    import xarray as xr


def closed_set_job(reader: BlockReader, drawn: Drawn, task: ClosedSet) -> tuple[GalleryJob, str]:
    """Return the job of the exact mean of closed-set identification, and a note on its ranks."""
    require_drawable(reader.scores, drawn, task.rank_unit, task.fusion)
    count, note = max_ranks(len(reader.gallery.subjects), 1, task.max_rank, RANK_LIMIT)
    none = np.empty(0)
    return GalleryJob(reader, size=drawn.size, ties=task.ties, thresholds=none, ranks=count), note


def open_set_job(
    reader: BlockReader, drawn: Drawn, task: OpenSet, thresholds: np.ndarray | int | None
) -> tuple[GalleryJob, str]:
    """Return the job of the exact mean of open-set identification, and a note on its ranks."""
    require_drawable(reader.scores, drawn, task.rank_unit, task.fusion)
    grid = grid_over(reader, thresholds)
    subjects = len(reader.gallery.subjects)
    count, note = max_ranks(subjects, len(grid), task.max_rank, DIR_LIMIT)
    return GalleryJob(reader, size=drawn.size, ties=task.ties, thresholds=grid, ranks=count), note


def sampled_closed_set(
    job: GalleryJob, options: Mapping[str, Any], drawn: Drawn, progress: Progress | None
) -> xr.Dataset:
    """Evaluate closed-set identification in galleries drawn at random.

    `job` has the ranks of the exact mean, `options` those of its result.
    """
    one = partial(closed_set_dataset, max_rank=job.ranks, ties=job.ties, unmated=options["unmated"])
    return _sampled(job.reader, one, drawn, options["note"], progress)


def sampled_open_set(
    job: GalleryJob, options: Mapping[str, Any], drawn: Drawn, progress: Progress | None
) -> xr.Dataset:
    """Evaluate open-set identification in galleries drawn at random.

    `job` has the thresholds and ranks of the exact mean, `options` those of its result.
    """
    kind = job.reader.scores.kind
    given = to_user(job.thresholds, kind)
    one = partial(
        open_set_dataset,
        thresholds=given[::-1] if kind == "similarity" else given,
        max_rank=job.ranks,
        ties=job.ties,
        impostors=options["impostors"],
        far_targets=options["far_targets"],
    )
    return _sampled(job.reader, one, drawn, options["note"], progress)


def _sampled(
    reader: BlockReader,
    evaluate: Callable[[IdentificationTally], xr.Dataset],
    drawn: Drawn,
    note: str,
    progress: Progress | None,
) -> xr.Dataset:
    (tallies,) = run_jobs(reader.scores, reader, [SampledJob(reader, drawn)], progress)
    return sampled_dataset(tallies, evaluate, drawn, note)


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
