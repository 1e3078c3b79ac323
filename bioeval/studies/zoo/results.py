"""What the variables of a zoo mean, and what its table and its plot share."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from bioeval.base.errors import Argument, DataError, counted
from bioeval.results.variables import Variable


def _zoo() -> dict[str, Variable]:
    """Describe the variables of a zoo; probes and claimed subjects differ in one word."""
    of_subject = "genuine attempts of the subject"
    roles = {
        "as_probe": "impostor attempts with probes of the subject (a wolf has many errors)",
        "as_claimed": "impostor attempts that claim the subject (a lamb has many errors)",
    }
    names = {
        "threshold": Variable(
            "threshold at which errors are counted", "score", "threshold T", keeps="rule"
        ),
        "genuine_mean": Variable(f"mean finite score of the {of_subject}", "score"),
        "impostor_mean": Variable(
            "mean finite score of all impostor attempts of the subject", "score"
        ),
        "genuine_attempts": Variable(of_subject, "attempts"),
        "fr": Variable(f"{of_subject} that are rejected", "attempts"),
        "frr": Variable(
            f"false reject rate of the {of_subject}",
            iso="FNMR",
            shown="rate",
            out_of="genuine_attempts",
        ),
        "fr_share": Variable(
            "proportion of all false rejects that are the subject's", shown="rate"
        ),
        "frr_without": Variable(
            "false reject rate of all other subjects", iso="FNMR", shown="rate"
        ),
        "far_without": Variable(
            "false accept rate of the attempts without the subject on either side",
            iso="FMR",
            shown="rate",
        ),
        "fr_gini": Variable("Gini coefficient of the false rejects over subjects"),
        "non_finite": Variable("attempts with an infinite score, left out of means", "attempts"),
    }
    for role, attempts in roles.items():
        names |= {
            f"impostor_mean_{role}": Variable(f"mean finite score of {attempts}", "score"),
            f"impostor_attempts_{role}": Variable(attempts, "attempts"),
            f"fa_{role}": Variable(f"accepted {attempts}", "attempts"),
            f"far_{role}": Variable(
                f"false accept rate of {attempts}",
                iso="FMR",
                shown="rate",
                out_of=f"impostor_attempts_{role}",
            ),
            f"fa_share_{role}": Variable(
                f"proportion of all false accepts that are of {attempts}", shown="rate"
            ),
            f"fa_gini_{role}": Variable(
                f"Gini coefficient over subjects of false accepts, of {attempts}"
            ),
        }
    names |= {
        "animal_of_subject": Variable("animal of the subject, or none"),
        "animal_count": Variable("subjects that are of the kind", "subjects", heading="subjects"),
        "animal_expected": Variable(
            "subjects expected if the two means were independent", "subjects", heading="expected"
        ),
        "animal_p_more": Variable(
            "probability of as many or more, if the means were independent",
            heading="p of at least as many",
            shown="p",
        ),
        "animal_p_fewer": Variable(
            "probability of as many or fewer, if the means were independent",
            heading="p of at most as many",
            shown="p",
        ),
        "kruskal_p": Variable(
            "p-value of Kruskal and Wallis for genuine scores by subject; assumes independent "
            "scores, and rejects far too often where scores share templates",
            shown="p",
        ),
    }
    for animal, scores in {
        "goat": "genuine scores",
        "wolf": "scores of their probes against others",
        "lamb": "scores of others' probes against them",
    }.items():
        kind, apart = "correlation", "template or an opponent"
        if animal == "goat":
            kind, apart = "rank correlation", "template"
        names[f"{animal}_correlation"] = Variable(
            f"{kind} over subjects of mean {scores} in two halves without a {apart} in common"
        )
        names[f"{animal}_p"] = Variable(
            f"one-sided p-value by permutation: subjects differ in {scores} ({animal}s exist)",
            shown="p",
        )
    return names


ZOO = {"animal": Variable("animal of the zoo of Yager and Dunstone (2010)"), **_zoo()}

#: Each animal, and whether it is best or worst by its genuine and by its impostor mean.
ANIMALS = {
    "dove": ("best", "best"),
    "worm": ("worst", "worst"),
    "chameleon": ("best", "worst"),
    "phantom": ("worst", "best"),
}

NO_ANIMAL = "none"

#: Subjects that are named for each kind of error, and for each animal.
NAMED = 3


def highest_rates(errors: np.ndarray, rates: np.ndarray, number: int) -> list[int]:
    """Return the subjects with the highest error rates, the most errors first of equal ones.

    Subjects have unequal numbers of attempts, so that the most errors are those of who was
    compared most. A subject without an error is none.
    """
    order = np.lexsort((-errors, -np.where(errors > 0, rates, 0.0)))[:number]
    return order[errors[order] > 0].tolist()


def number_of_best(quantile: float, subjects: int) -> int:
    """Return how many of the subjects are best, and how many are worst."""
    number = math.ceil(Fraction(str(quantile)) * subjects)  # 0.1 of 30 is 3, and not more
    if 2 * number > subjects:
        raise DataError(
            f"{Argument('quantile')} {quantile:g} of {counted(subjects, 'subjects')} with both "
            f"genuine and impostor scores are {number} best and {number} worst, more than there "
            f"are; expected at least {2 * number} subjects, or a smaller quantile"
        )
    return number
