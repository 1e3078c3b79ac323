"""Evaluation of identification over galleries drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import require_choice
from bioeval.results.closed_set import RANK_LIMIT, UNMATED, closed_set_dataset
from bioeval.results.dataset import max_ranks
from bioeval.results.open_set import DIR_LIMIT, IMPOSTORS, open_set_dataset
from bioeval.results.random_galleries import closed_set_expected, open_set_expected
from bioeval.results.sampled_galleries import sampled_dataset
from bioeval.scores.blocks import BlockReader, Progress
from bioeval.scores.matrix import Scores
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
    """Check the options before the scores are read."""
    require_choice("ties", ties, TIES)
    check_max_rank(max_rank)
    require_drawable(scores, drawn, rank_unit, fusion)
