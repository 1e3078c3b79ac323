"""Identification in drawn galleries: jobs of exact means, and means of sampled galleries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bioeval.protocol.biometric_tasks import ClosedSet, OpenSet
from bioeval.results.closed_set import RANK_LIMIT, closed_set_dataset
from bioeval.results.dataset import max_ranks
from bioeval.results.open_set import DIR_LIMIT, open_set_dataset
from bioeval.results.sampled_galleries import sampled_dataset
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
