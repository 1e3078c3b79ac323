"""Confidence intervals of the result of a task, from its tally and the subjects of its attempts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bioeval.results.gom import GOM
from bioeval.results.reid import REID
from bioeval.tallies.by_subject import SubjectAttempts, require_people

if TYPE_CHECKING:
    from bioeval.evaluation.task_counts import TaskCounts
    from bioeval.scores.blocks import BlockReader
    from bioeval.scores.matrix import Scores
    from bioeval.stats.options import IntervalOptions


def with_intervals(
    dataset: xr.Dataset, counts: TaskCounts, job: Any, reader: BlockReader, options: IntervalOptions
) -> xr.Dataset:
    """Return the result of a task with confidence intervals; `job` made the counts."""
    tally: Any = counts.tally
    if tally.form == "galleries":
        note = "means over drawn galleries have no confidence intervals"
        known = dataset.attrs["warnings"]
        return dataset.assign_attrs(warnings=f"{known}\n{note}" if known else note)
    if options.by_subject:
        require_people(reader.scores, options.method)
    if tally.form == "verification":
        from bioeval.stats.verification import verification_intervals

        attempts = SubjectAttempts(job, reader) if options.by_subject else None
        return verification_intervals(dataset, tally, attempts, options)
    subjects = reader.scores.codes.probe if options.by_subject else None
    options_of_means = replace(options, band="pointwise")  # they have no simultaneous bands
    if tally.form in ("reid", "gom"):
        from bioeval.results.gom import GomOptions, gom_measures
        from bioeval.results.reid import ReidOptions, reid_measures
        from bioeval.stats.query_means import query_mean_intervals

        if tally.form == "reid":
            measures = reid_measures(tally, ReidOptions(**counts.options))
            return query_mean_intervals(dataset, measures, subjects, REID, options_of_means)
        measures = gom_measures(tally, GomOptions(**counts.options))
        return query_mean_intervals(dataset, measures, subjects, GOM, options_of_means)
    from bioeval.stats.identification import closed_set_intervals, open_set_intervals
    from bioeval.tallies.left_out import LeftOut

    add = closed_set_intervals if "cms" in dataset else open_set_intervals  # none are folded
    left_out = None
    if options.by_subject and _same_people(reader.scores):
        ties = str(dataset.attrs["ties"])
        if ties not in job.left_out:  # open and closed set may share the job
            job.left_out[ties] = LeftOut.of(tally, reader, ties)
        left_out = job.left_out[ties]
    return add(dataset, tally, subjects, options, left_out)


def _same_people(scores: Scores) -> bool:
    """Whether probes and gallery are of the same people."""
    same = np.array_equal(np.unique(scores.codes.probe), np.unique(scores.codes.gallery))
    return scores.layout == "all-against-all" and same
