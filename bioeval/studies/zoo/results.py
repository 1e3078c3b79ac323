"""The zoo: statistics, errors and animals of each subject."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import xarray as xr

from bioeval.attempts.thresholds import to_user
from bioeval.base.arguments import require_number
from bioeval.base.errors import Argument, DataError, counted
from bioeval.base.messages import Message
from bioeval.base.scalars import Name
from bioeval.results.dataset import Variables, about_attrs, along, build
from bioeval.studies.zoo.counts import BySubject, SubjectTally


def _zoo() -> dict[str, Name]:
    """Describe the variables of a zoo; probes and claimed subjects differ in one word."""
    of_subject = "genuine attempts of the subject"
    roles = {
        "as_probe": "impostor attempts with probes of the subject (a wolf has many errors)",
        "as_claimed": "impostor attempts that claim the subject (a lamb has many errors)",
    }
    names = {
        "threshold": Name("threshold at which errors are counted", "score", "threshold T"),
        "genuine_mean": Name(f"mean finite score of the {of_subject}", "score"),
        "impostor_mean": Name("mean finite score of all impostor attempts of the subject", "score"),
        "genuine_attempts": Name(of_subject, "attempts"),
        "fr": Name(f"{of_subject} that are rejected", "attempts"),
        "frr": Name(f"false reject rate of the {of_subject}", iso="FNMR"),
        "fr_share": Name("proportion of all false rejects that are the subject's"),
        "frr_without": Name("false reject rate of all other subjects", iso="FNMR"),
        "far_without": Name(
            "false accept rate of the attempts without the subject on either side", iso="FMR"
        ),
        "fr_gini": Name("Gini coefficient of the false rejects over subjects"),
        "non_finite": Name("attempts with an infinite score, left out of means", "attempts"),
    }
    for role, attempts in roles.items():
        names |= {
            f"impostor_mean_{role}": Name(f"mean finite score of {attempts}", "score"),
            f"impostor_attempts_{role}": Name(attempts, "attempts"),
            f"fa_{role}": Name(f"accepted {attempts}", "attempts"),
            f"far_{role}": Name(f"false accept rate of {attempts}", iso="FMR"),
            f"fa_share_{role}": Name(f"proportion of all false accepts that are of {attempts}"),
            f"fa_gini_{role}": Name(
                f"Gini coefficient over subjects of false accepts, of {attempts}"
            ),
        }
    pair = "of the pairs of people with most false accepts"
    names |= {
        "probe_of_pair": Name(f"subject of the probes, {pair}"),
        "claimed_of_pair": Name(f"subject that they claim, {pair}"),
        "fa_of_pair": Name(f"false accepts {pair}", "attempts"),
        "fa_share_of_pair": Name(f"proportion of all false accepts, {pair}"),
        "animal_of_subject": Name("animal of the subject, or none"),
        "animal_count": Name("subjects that are of the kind", "subjects"),
        "animal_expected": Name("subjects expected if the two means were independent", "subjects"),
        "animal_p_more": Name("probability of as many or more, if the means were independent"),
        "animal_p_fewer": Name("probability of as many or fewer, if the means were independent"),
        "kruskal_p": Name(
            "p-value of Kruskal and Wallis for genuine scores by subject; assumes independent "
            "scores, and rejects far too often where scores share templates"
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
        names[f"{animal}_correlation"] = Name(
            f"{kind} over subjects of mean {scores} in two halves without a {apart} in common"
        )
        names[f"{animal}_p"] = Name(
            f"one-sided p-value by permutation: subjects differ in {scores} ({animal}s exist)"
        )
    return names


ZOO = {"animal": Name("animal of the zoo of Yager and Dunstone (2010)"), **_zoo()}

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


def most_errors(errors: np.ndarray, number: int) -> list[int]:
    """Return the subjects with the most errors, the most first; none without an error."""
    order = np.argsort(-errors, kind="stable")[:number]
    return order[errors[order] > 0].tolist()


#: Pairs of people that a result lists.
PAIRS = 3

_SUBJECT = ("subject",)


@dataclass(frozen=True)
class Quantile:
    """The proportion of subjects that are best, and worst, by its decimal value."""

    value: Fraction

    @classmethod
    def parse(cls, quantile: Any) -> Quantile:
        """Return a proportion above 0, at most one half."""
        require_number("quantile", quantile, above=0.0, high=0.5)
        return cls(Fraction(str(quantile)))

    def of(self, subjects: int) -> int:
        """Return the numbers of best and of worst subjects; 0 of 0 subjects."""
        number = math.ceil(self.value * subjects)
        if 2 * number > subjects:
            raise DataError(
                Argument("quantile"),
                f" {float(self.value):g} of {counted(subjects, 'subjects')} with both genuine and "
                f"impostor scores are {number} best and {number} worst, more than there are; "
                f"expected at least {2 * number} subjects, or a smaller quantile",
            )
        return number


def zoo_dataset(
    tally: SubjectTally, quantile: Quantile, tests: Variables, warnings: list[Message]
) -> xr.Dataset:
    """Return the dataset of :func:`bioeval.zoo`; `tests` are those of the existence of kinds."""
    kind = tally.about.kind
    genuine, probe, claimed = tally.genuine, tally.as_probe, tally.as_claimed
    either = BySubject(*map(np.add, probe, claimed))
    means = {
        "genuine_mean": _mean(genuine),
        "impostor_mean_as_probe": _mean(probe),
        "impostor_mean_as_claimed": _mean(claimed),
        "impostor_mean": _mean(either),
    }
    rejected = genuine.attempts - genuine.within
    lost = genuine.infinite + probe.infinite
    variables = {
        "threshold": to_user(tally.threshold, kind),
        **{name: (_SUBJECT, to_user(mean, kind)) for name, mean in means.items()},
        **along(
            _SUBJECT,
            genuine_attempts=genuine.attempts,
            impostor_attempts_as_probe=probe.attempts,
            impostor_attempts_as_claimed=claimed.attempts,
        ),
        "non_finite": lost,
        **_errors("fr", "", rejected, genuine.attempts),
        **_errors("fa", "_as_probe", probe.within, probe.attempts),
        **_errors("fa", "_as_claimed", claimed.within, claimed.attempts),
        "frr_without": (_SUBJECT, _without(rejected, genuine.attempts, rejected, genuine.attempts)),
        "far_without": (
            _SUBJECT,
            _without(probe.within, probe.attempts, either.within, either.attempts),
        ),
        **_pairs(tally),
        **_animals(means["genuine_mean"], means["impostor_mean"], quantile),
        **tests,
    }
    if lost:
        warnings.append(Message("infinite-scores-left-out", attempts=int(lost)))
    attrs = about_attrs(tally.about, "zoo", "zoo", warnings)
    coordinates = {"subject": _labels(tally.names), "animal": np.array([*ANIMALS])}
    return build(variables, ZOO, coordinates, attrs)


def gini(counts: np.ndarray) -> float:
    """Return the Gini coefficient, ``sum_ij |x_i - x_j| / (2 n^2 mean)``; NaN where all are 0."""
    n, total = len(counts), float(counts.sum())
    if not total:
        return math.nan
    place = 2 * np.arange(1, n + 1) - n - 1
    return float(place @ np.sort(counts)) / (n * total)


def _mean(attempts: BySubject) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return attempts.total / attempts.finite


def _errors(name: str, role: str, errors: np.ndarray, attempts: np.ndarray) -> Variables:
    """Return the errors of one role: counts, rates, proportions of all, and their inequality."""
    with np.errstate(invalid="ignore", divide="ignore"):
        rate, share = errors / attempts, errors / errors.sum()
    return {
        f"{name}{role}": (_SUBJECT, errors),
        f"{name}r{role}": (_SUBJECT, rate),
        f"{name}_share{role}": (_SUBJECT, share),
        f"{name}_gini{role}": gini(errors[attempts > 0]),
    }


def _pairs(tally: SubjectTally) -> Variables:
    """Return the pairs of people with most false accepts, and their proportion of all."""
    worst, subjects = tally.accepted.worst(PAIRS), _labels(tally.names)
    return along(
        ("pair",),
        probe_of_pair=subjects[worst.probe],
        claimed_of_pair=subjects[worst.claimed],
        fa_of_pair=worst.accepted,
        fa_share_of_pair=worst.accepted / (tally.accepted.accepted.sum() or 1),
    )


def _without(
    errors: np.ndarray,
    attempts: np.ndarray,
    subject_errors: np.ndarray,
    subject_attempts: np.ndarray,
) -> np.ndarray:
    """Return the rate over all attempts without those of each subject."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return (errors.sum() - subject_errors) / (attempts.sum() - subject_attempts)


def _animals(genuine: np.ndarray, impostor: np.ndarray, quantile: Quantile) -> Variables:
    """Return the animals by two mean distances, and the probabilities of their numbers."""
    from scipy.stats import hypergeom

    known = np.flatnonzero(~(np.isnan(genuine) | np.isnan(impostor)))
    total, h = len(known), quantile.of(len(known))
    sides = []
    for distance in (genuine[known], -impostor[known]):
        order = known[np.argsort(distance, kind="stable")]
        sides.append({"best": order[:h], "worst": order[total - h :]})
    of_subject = np.full(len(genuine), NO_ANIMAL, dtype=f"<U{max(map(len, ANIMALS))}")
    count = np.zeros(len(ANIMALS), dtype=np.int64)
    for i, (animal, (by_genuine, by_impostor)) in enumerate(ANIMALS.items()):
        members = np.intersect1d(sides[0][by_genuine], sides[1][by_impostor])
        of_subject[members], count[i] = animal, len(members)
    expected = more = fewer = np.full(len(ANIMALS), np.nan)
    if total:
        chance = hypergeom(total, h, h)
        expected = np.full(len(ANIMALS), h * h / total)
        more, fewer = chance.sf(count - 1), chance.cdf(count)
    return {
        "animal_of_subject": (_SUBJECT, of_subject),
        **along(
            ("animal",),
            animal_count=count,
            animal_expected=expected,
            animal_p_more=more,
            animal_p_fewer=fewer,
        ),
    }


def _labels(names: list) -> np.ndarray:
    """Return labels as an array that a file can hold: whole numbers, or text."""
    if all(type(name) is int and abs(name) < 2**63 for name in names):
        return np.array(names, dtype=np.int64)
    if not all(isinstance(name, str) for name in names):
        names = list(map(repr, names))
    return np.array(names, dtype=str)
