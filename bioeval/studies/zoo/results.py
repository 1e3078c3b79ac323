"""The variables of a zoo, its animals, and the message on the subjects with most errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, counted
from bioeval.base.messages import Message
from bioeval.results.dataset import threshold_with_next
from bioeval.results.variables import COORDINATES, Variable

#: The errors of a subject: false rejects, false accepts of its probes (a wolf has many), and false
#: accepts of claims to be the subject (a lamb has many).
ERRORS = ("fr", "fa_as_probe", "fa_as_claimed")

#: The animals whose existence is tested.
TESTED = ("goat", "wolf", "lamb")

#: Animals exist if their p-value, corrected for the number of tests, is at most this.
LEVEL = 0.05

#: Names of the tested animals in messages.
_TESTED_ANIMALS = ("goats", "wolves", "lambs")

#: Each animal, and whether it is best or worst by its genuine and by its impostor mean.
ANIMALS = {
    "dove": ("best", "best"),
    "worm": ("worst", "worst"),
    "chameleon": ("best", "worst"),
    "phantom": ("worst", "best"),
}

NO_ANIMAL = "none"

#: Number of subjects that are named for each kind of error, and for each animal.
NAMED = 3

#: Dimensions of a value of each subject, for each kind of error.
_EACH = ("error", "subject")

_BY_CHANCE = "if the two means were independent"

_rate = partial(Variable, units="proportion", direction="smaller")

ZOO = {
    "animal": Variable(
        "animal of the zoo of Yager and Dunstone (2010)",
        label="animal",
        title="Animals by mean scores, not errors (p: probability by chance of as many or more, as "
        "many or fewer)",
        labels={
            "dove": "dove: best genuine and impostor mean",
            "worm": "worm: worst genuine and impostor mean",
            "chameleon": "chameleon: best genuine, worst impostor mean",
            "phantom": "phantom: worst genuine, best impostor mean",
        },
    ),
    "subject": replace(
        COORDINATES["subject"],
        title="Subjects with the highest rates",
    ),
    "error": Variable(
        "kind of error: fr, false rejects of a subject; fa_as_probe, false accepts of its probes "
        "(a wolf has many); fa_as_claimed, false accepts that claim it (a lamb has many)",
        label="error",
        title="Concentration of errors",
        labels={
            "fr": "false rejects",
            "fa_as_probe": "false accepts by probe",
            "fa_as_claimed": "false accepts by claim",
            "fa_as_probe_fa_as_claimed": "false accepts by probe or claim",
        },
    ),
    "test": Variable(
        "animal whose existence is tested",
        label="animal",
        title="Do goats, wolves and lambs exist?",
        labels={
            "goat": "goats: do subjects differ in genuine scores?",
            "wolf": "wolves: in scores of their probes against others?",
            "lamb": "lambs: in scores of others' probes against them?",
        },
    ),
    "threshold": Variable(
        "threshold at which errors are counted",
        "score",
        "threshold T",
        shown="threshold",
        label="threshold",
    ),
    "genuine_mean": Variable(
        "mean finite score of the genuine attempts of the subject",
        "score",
        detail="data",
        label="genuine mean",
    ),
    "impostor_mean": Variable(
        "mean finite score of all impostor attempts of the subject",
        "score",
        detail="data",
        label="impostor mean",
    ),
    "impostor_mean_as_probe": Variable(
        "mean finite score of impostor attempts with probes of the subject",
        "score",
        detail="data",
        label="impostor mean as probe",
    ),
    "impostor_mean_as_claimed": Variable(
        "mean finite score of impostor attempts that claim the subject",
        "score",
        detail="data",
        label="impostor mean as claimed",
    ),
    "errors": Variable(
        "errors of the subject", "attempts", dims=_EACH, threshold="threshold", label="errors"
    ),
    "attempts": Variable(
        "attempts of the subject that may be such an error",
        "attempts",
        detail="verbose",
        label="attempts",
    ),
    "rate": _rate(
        "error rate of the subject",
        iso="FNMR, FMR",
        dims=_EACH,
        out_of="attempts",
        threshold="threshold",
        label="rate",
    ),
    "share": Variable(
        "proportion of all such errors that are the subject's",
        "proportion",
        label="share of all",
        out_of="all_errors",
    ),
    "rate_without": _rate(
        "error rate of all attempts without the subject, on either side",
        iso="FNMR, FMR",
        dims=_EACH,
        threshold="threshold",
        label="rate without the subject",
        detail="verbose",
    ),
    "gini": Variable(
        "Gini coefficient of the errors over subjects; 0: all have the same number",
        "1",
        label="Gini",
        detail="verbose",
    ),
    "half_of_errors": Variable(
        "fewest subjects that have half of the errors",
        "subjects",
        label="subjects with half of them",
    ),
    "all_errors": Variable(
        "errors of all subjects", "attempts", threshold="threshold", label="errors"
    ),
    "all_attempts": Variable("attempts of all subjects", "attempts", label="attempts"),
    "all_rate": _rate(
        "error rate of all subjects together",
        iso="FNMR, FMR",
        out_of="all_attempts",
        threshold="threshold",
        label="rate",
    ),
    "non_finite": Variable(
        "attempts with an infinite score, left out of means",
        "attempts",
        label="attempts with an infinite score, left out of means",
        detail="verbose",
    ),
    "animal_of_subject": Variable("animal of the subject, or none", label="animal", detail="data"),
    "animal_count": Variable("subjects that are of the kind", "subjects", label="subjects"),
    "animal_expected": Variable(f"subjects expected {_BY_CHANCE}", "subjects", label="expected"),
    "animal_p_more": Variable(
        f"probability of as many or more, {_BY_CHANCE}", "p", label="p, more"
    ),
    "animal_p_fewer": Variable(
        f"probability of as many or fewer, {_BY_CHANCE}", "p", label="p, fewer"
    ),
    "correlation": Variable(
        "correlation over subjects of their mean scores in two halves that share no template; of "
        "wolves and lambs, the halves share no opponent either; of goats, correlation of ranks",
        "1",
        label="correlation",
        detail="verbose",
    ),
    "p": Variable(
        "one-sided p-value by permutation: subjects differ, the animals exist",
        "p",
        label="p, uncorrected",
        detail="verbose",  # the answer has the corrected conclusion
    ),
    "kruskal_p": Variable(
        "p-value of Kruskal and Wallis for genuine scores by subject; assumes independent "
        "scores, and rejects far too often where scores share templates",
        "p",
        label="p of Kruskal and Wallis (assumes independent scores)",
        detail="verbose",
    ),
}


def highest_rates(errors: np.ndarray, rates: np.ndarray, number: int) -> list[int]:
    """Return the subjects with the highest error rates; among equal rates, most errors first.

    Rates are compared, since a subject with more attempts has more errors. Subjects without an
    error are left out.
    """
    order = np.lexsort((-errors, -np.where(errors > 0, rates, 0.0)))[:number]
    return order[errors[order] > 0].tolist()


def answers_of_zoo(ds: xr.Dataset) -> Iterator[Message]:
    """Yield which subjects have the highest FRR and FAR, and which animals exist."""
    if of_rejects := _highest(ds, "fr"):
        of_accepts = _highest(ds, "fa_as_probe")
        accepts = {f"far_{name}": x for name, x in of_accepts.items()}
        yield Message("most-errors", **of_rejects, **accepts, **threshold_with_next(ds))
    p_values = dict(zip(_TESTED_ANIMALS, ds["p"].values.tolist(), strict=True))
    existing, others = _existing(p_values)
    if existing or others:
        not_found = {"others": others} if others else {}
        yield Message("animals-tested", animals=existing or ["none"], **not_found)


def _existing(p_values: dict[str, float]) -> tuple[list[str], list[str]]:
    """Return the animals that exist by Holm's step-down method, and the others that were tested.

    Both lists are in order of the p-values; NaN is no test.
    """
    tested = [animal for animal, p in p_values.items() if not math.isnan(p)]
    tested.sort(key=p_values.__getitem__)
    for i, animal in enumerate(tested):
        if p_values[animal] * (len(tested) - i) > LEVEL:
            return tested[:i], tested[i:]
    return tested, []


def _highest(ds: xr.Dataset, error: str) -> dict[str, Any]:
    """Return the subjects with the highest rate of an error, with their errors; empty of none."""
    of_error = ds.sel(error=error)
    errors = of_error["errors"].values
    rates = of_error["rate"].values
    ranked = highest_rates(errors, rates, len(rates))
    if not ranked:
        return {}
    highest = [i for i in ranked if rates[i] == rates[ranked[0]]]
    return {
        "subjects": ds["subject"].values[highest].tolist(),
        "number": len(highest),
        "rate": float(rates[highest[0]]),
        "errors": int(errors[highest].sum()),
        "attempts": int(of_error["attempts"].values[highest].sum()),
        "share": float(errors[highest].sum() / errors.sum()),
    }


def number_of_best(quantile: float, subjects: int) -> int:
    """Return the number of best subjects, which is also the number of the worst.

    It is the `quantile` of all subjects, rounded up.
    """
    number = math.ceil(Fraction(str(quantile)) * subjects)  # exact: 0.1 of 30 is 3
    if 2 * number > subjects:
        raise DataError(
            f"`quantile` {quantile:g} of {counted(subjects, 'subjects')} with both "
            f"genuine and impostor scores are {number} best and {number} worst, more than there "
            f"are; expected at least {2 * number} subjects, or a smaller quantile"
        )
    return number
