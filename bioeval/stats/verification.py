"""Confidence intervals of verification: curves and operating points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bioeval.base.messages import Message
from bioeval.counting.verification import Verified
from bioeval.results.variables import VERIFICATION
from bioeval.scores.people import require_people
from bioeval.stats.limits import Limits
from bioeval.stats.options import IntervalMethod
from bioeval.stats.verification_columns import VerificationColumns

if TYPE_CHECKING:
    import xarray as xr


def verification_intervals(
    dataset: xr.Dataset,
    verified: Verified,
    options: IntervalMethod,
) -> xr.Dataset:
    """Return a result of verification with confidence intervals; `verified` has its counts."""
    subjects = None
    if not options.by_subject:
        limits, remarks = _independent(dataset, options)
    else:
        require_people(verified.scores, method=options.method)
        columns = VerificationColumns.count(verified, options)
        limits, remarks = columns.limits()
        limits |= {"far": columns.curve.far.limits_at(dataset["far"].values)}
        limits |= {"frr": columns.curve.frr.limits_at(dataset["frr"].values)}
        people = int(np.count_nonzero(~columns.people.no_person))
        remarks = [*options.few_people(people), *options.groups(people), *remarks]
        subjects = columns.subjects
    limits |= {
        "gar": (1 - limits["frr"][1], 1 - limits["frr"][0]),
        "grr": (1 - limits["far"][1], 1 - limits["far"][0]),
    }
    out = options.added_to(dataset, limits, VERIFICATION, remarks)
    if subjects is None:
        return out
    import xarray as xr

    attrs = VERIFICATION["genuine_subjects"].attrs
    number = np.asarray(subjects, np.int64)
    return out.assign(genuine_subjects=xr.Variable((), number, attrs, fastpath=True))


def _independent(
    dataset: xr.Dataset, options: IntervalMethod
) -> tuple[dict[str, Limits], list[Message]]:
    genuine = int(dataset["genuine_attempts"])
    impostor = int(dataset["impostor_attempts"])
    limits = {
        "frr": options.independent_limits(dataset["fr"].values, genuine),
        "far": options.independent_limits(dataset["fa"].values, impostor),
    }
    if "frr_at_far" in dataset:
        errors = np.rint(dataset["frr_at_far"].values * genuine)
        limits["frr_at_far"] = options.independent_limits(errors, genuine)
    if "far_at_frr" in dataset:
        errors = np.rint(dataset["far_at_frr"].values * impostor)
        limits["far_at_frr"] = options.independent_limits(errors, impostor)
    return limits, [options.independence("attempts")]
