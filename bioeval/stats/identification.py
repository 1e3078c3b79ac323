"""Confidence intervals of identification: for new people, or other probes in the same gallery.

If each person is both probe and gallery, intervals are for new people. If the gallery has other
templates, or if people are drawn again, intervals are for the same gallery: only the people who
search are drawn, since copies of a person in the gallery would find each other.
"""

from __future__ import annotations

import numpy as np
import xarray as xr

from bioeval.base.messages import Message
from bioeval.counting.identification import Searches
from bioeval.counting.left_out import LeftOut
from bioeval.protocol.choices import ImpostorProbes, Ties
from bioeval.results.support import independent_trials, searching_people
from bioeval.results.variables import CLOSED_SET, OPEN_SET, RANKS
from bioeval.stats.curve_limits import open_at_targets
from bioeval.stats.limits import Limits
from bioeval.stats.options import IntervalMethod
from bioeval.stats.search_columns import SearchColumns


def closed_set_intervals(
    dataset: xr.Dataset,
    searches: Searches,
    subjects: np.ndarray | None,
    options: IntervalMethod,
    left_out: LeftOut | None = None,
) -> xr.Dataset:
    """Return a result of closed-set identification with confidence intervals.

    `subjects` has the subject of each probe, or is None for methods that do not use it. With
    `left_out`, intervals by subject are for new people; otherwise the gallery is fixed.
    """
    options = _of_population(options, left_out)
    if options.by_subject:
        columns = _columns(dataset, searches, subjects, options, left_out)
        low, high = columns.limits_at_ranks(dataset["rank"].values, dataset["cms"].values)
        remarks = columns.messages(dataset.sizes["rank"])
    else:
        attempts = int(dataset["attempts"])
        low, high = options.independent_limits(dataset["cms_count"].values, attempts)
        remarks = [options.independence("probes")]
    limits = {"cms": (low, high), "recognition_rate": (low[0], high[0])}
    return options.added_to(dataset, limits, CLOSED_SET, remarks)


def open_set_intervals(
    dataset: xr.Dataset,
    searches: Searches,
    subjects: np.ndarray | None,
    options: IntervalMethod,
    left_out: LeftOut | None = None,
) -> xr.Dataset:
    """Return a result of open-set identification with confidence intervals.

    Intervals by subject over ranks are computed at :data:`RANKS`, and NaN at other ranks.
    `subjects` and `left_out` are as for :func:`closed_set_intervals`.
    """
    options = _of_population(options, left_out)
    if options.by_subject:
        columns = _columns(dataset, searches, subjects, options, left_out)
        limits, remarks = _open_set_by_subject(dataset, columns, searches)
    else:
        limits = _open_set_independent(dataset, options)
        remarks = [options.independence("probes")]
    limits["grr"] = 1 - limits["far"][1], 1 - limits["far"][0]
    return options.added_to(dataset, limits, OPEN_SET, remarks)


def _open_set_by_subject(
    dataset: xr.Dataset, columns: SearchColumns, searches: Searches
) -> tuple[dict[str, Limits], list[Message]]:
    limits = columns.limits(dataset)
    people = searching_people(searches.about, dataset.attrs["impostors"])
    limits["dir_at_far"], unsupported = open_at_targets(
        limits["dir_at_far"],
        "lower",
        dataset["far_target"].values,
        independent_trials(int(dataset["impostor_attempts"]), people),
        rate="dir",
        task="identification",
    )
    remarks = columns.messages(min(max(RANKS), dataset.sizes["rank"]))
    return limits, remarks + unsupported


def _open_set_independent(dataset: xr.Dataset, options: IntervalMethod) -> dict[str, Limits]:
    genuine = int(dataset["genuine_attempts"])
    impostor = int(dataset["impostor_attempts"])
    low, high = options.independent_limits(dataset["dir"].values * genuine, genuine)
    at_far = options.independent_limits(dataset["dir_at_far"].values * genuine, genuine)
    return {
        "dir": (low, high),
        "frr": (1 - high[:, 0], 1 - low[:, 0]),
        "far": options.independent_limits(dataset["fa"].values, impostor),
        "dir_at_far": at_far,
    }


def _columns(
    dataset: xr.Dataset,
    searches: Searches,
    subjects: np.ndarray | None,
    options: IntervalMethod,
    left_out: LeftOut | None,
) -> SearchColumns:
    ties: Ties = dataset.attrs["ties"]
    impostors: ImpostorProbes = dataset.attrs.get("impostors", "auto")
    if left_out is not None:
        return SearchColumns.for_new_people(searches, ties, options, impostors, left_out=left_out)
    return SearchColumns.for_probes(searches, ties, options, impostors, subjects=subjects)


def _of_population(options: IntervalMethod, left_out: LeftOut | None) -> IntervalMethod:
    return options.for_this_gallery if left_out is None else options.for_new_people
