"""Confidence intervals of the result of a task, from its tally and the subjects of its attempts."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.variables import GOM, REID
from bioeval.evaluation.task_counts import TaskCounts
from bioeval.results.gom import GomOptions, gom_measures
from bioeval.results.reid import ReidOptions, reid_measures
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import Scores
from bioeval.stats.identification import closed_set_intervals, open_set_intervals
from bioeval.stats.options import IntervalOptions
from bioeval.stats.query_means import query_mean_intervals
from bioeval.stats.verification import verification_intervals
from bioeval.tallies.by_subject import SubjectAttempts, require_people
from bioeval.tallies.counts import IdentificationTally, VerificationTally
from bioeval.tallies.left_out import LeftOut
from bioeval.tallies.random_galleries.counts import GalleryTally
from bioeval.tallies.reid_counts import GomTally, ReidTally


def with_intervals(
    dataset: xr.Dataset, counts: TaskCounts, job: Any, reader: BlockReader, options: IntervalOptions
) -> xr.Dataset:
    """Return the result of a task with confidence intervals; `job` made the counts."""
    tally = counts.tally
    if isinstance(tally, GalleryTally):
        note = "means over drawn galleries have no confidence intervals"
        known = dataset.attrs["warnings"]
        return dataset.assign_attrs(warnings=f"{known}\n{note}" if known else note)
    if options.by_subject:
        require_people(reader.scores, options.method)
    if isinstance(tally, VerificationTally):
        attempts = SubjectAttempts(job, reader) if options.by_subject else None
        return verification_intervals(dataset, tally, attempts, options)
    subjects = reader.scores.codes.probe if options.by_subject else None
    if isinstance(tally, ReidTally):
        measures = reid_measures(tally, ReidOptions(**counts.options))
        return query_mean_intervals(dataset, measures, subjects, REID, options)
    if isinstance(tally, GomTally):
        measures = gom_measures(tally, GomOptions(**counts.options))
        return query_mean_intervals(dataset, measures, subjects, GOM, options)
    assert isinstance(tally, IdentificationTally)  # folded ones have no subjects
    add = closed_set_intervals if "cms" in dataset else open_set_intervals
    left_out = None
    if options.by_subject and _same_people(reader.scores):
        ties = str(dataset.attrs["ties"])
        if ties not in job.left_out:  # open and closed set may share the job
            job.left_out[ties] = LeftOut.of(tally, reader, ties)
        left_out = job.left_out[ties]
    return add(dataset, tally, subjects, options, left_out)


def _same_people(scores: Scores) -> bool:
    """Return whether the same people are probes and gallery, whom new people may replace."""
    same = np.array_equal(np.unique(scores.codes.probe), np.unique(scores.codes.gallery))
    return scores.layout == "all-against-all" and same
