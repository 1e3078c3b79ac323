"""Every dimension and variable of the results, described once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from bioeval.base import scalars
from bioeval.base.scalars import (
    EQUAL_ERROR,
    VERIFICATION_SCALARS,
    Name,
    Scalar,
    points_among,
    rates_among,
)


def by_name(scalars: Iterable[Scalar]) -> dict[str, Name]:
    """Describe scalars by their names, as variables of a task."""
    return {scalar.name: of_task(scalar) for scalar in scalars}


def of_task(scalar: Scalar) -> Name:
    """Describe a scalar as a variable of a task; with a best value, it is described as the best."""
    if not scalar.best:
        return scalar
    extreme = {"max": "largest", "min": "smallest"}[scalar.best]
    return Name(f"{scalar.long_name}; the {extreme} of any threshold", scalar.units, scalar.iso)


#: Methods of an interval that resample subjects.
Bootstrap = Literal["subject-bootstrap", "subject-bootstrap-bca", "subject-bootstrap-logit"]

#: Methods of an interval. Only the last two assume independent attempts.
IntervalName = Literal[Bootstrap, "analytic", "wilson", "clopper-pearson"]
INTERVALS: tuple[IntervalName, ...] = get_args(IntervalName)

COORDINATES = {
    "threshold": Name("decision threshold", "score", "threshold T", keeps="exact"),
    "rank": Name("rank", "1", "rank R"),
    "far_target": Name("largest false accept rate allowed", iso="FMR or FPIR"),
    "frr_target": Name("largest false reject rate allowed", iso="FNMR"),
    "cost": Name("cost of decisions, by the proportion of genuine attempts expected in use"),
    "probe": Name("probe, by its row"),
    "recall_level": Name("recall level"),
    "repeat": Name("repeat of the partition"),
    "partition": Name("partition, by its place in the list, from 0"),
    "fold": Name("fold of a repeat, in the order of the splitter"),
    "statistic": Name("statistic of a rate over all folds; of training parts with train_", ""),
    "subject": Name("subject, by its label"),
    "templates": Name("templates of each subject", "templates"),
    "species": Name("attack instrument species"),
}

#: Dimensions of numbers at targets or limits of a rate, and the variables of their thresholds.
TARGETS = {"far_target": "threshold_at_far", "frr_target": "threshold_at_frr"}

_EQUAL_ERROR = by_name(EQUAL_ERROR)

VERIFICATION: dict[str, Name] = {
    **by_name((*scalars.DECISIONS, *rates_among(VERIFICATION_SCALARS)["task"])),
    "ga": Name("genuine attempts accepted", "attempts"),
    "fr": Name("genuine attempts rejected", "attempts"),
    "fa": Name("impostor attempts accepted", "attempts"),
    "gr": Name("impostor attempts rejected", "attempts"),
    "genuine_attempts": Name("genuine attempts", "attempts"),
    "impostor_attempts": Name("impostor attempts", "attempts"),
    "impostor_pairs": Name(
        "impostor attempts, each pair of a symmetric matrix once; they share subjects: the rules "
        "of 3 and 30 count pairs of people",
        "attempts",
    ),
    "subjects": Name("subjects of the attempts, on either side", "subjects"),
    "genuine_subjects": Name("subjects with a genuine attempt: independent trials", "subjects"),
    "disjoint_pairs": Name(
        "pairs of subjects without a common subject (for listed pairs, a lower bound): "
        "independent trials of an impostor decision, the basis of the zero-error bound",
        "pairs",
    ),
    "far_unenrolled": scalars.FAR_UNENROLLED,
    "fa_unenrolled": Name("claims by probes who are not enrolled that are accepted", "attempts"),
    "unenrolled_attempts": Name("claims by probes who are not enrolled", "attempts"),
    "skipped_claims": Name("claims of subjects that are not enrolled, left out", "attempts"),
    **_EQUAL_ERROR,
    **by_name(points_among(VERIFICATION_SCALARS)),
    "frr_at_far": scalars.FRR_AT_FAR,
    "threshold_at_far": Name(
        "loosest attainable threshold with FAR at most the target", "score", keeps="far"
    ),
    "expected_false_accepts": Name("false accepts expected at the target", "attempts"),
    "far_at_frr": scalars.FAR_AT_FRR,
    "threshold_at_frr": Name(
        "strictest attainable threshold with FRR at most the target", "score", keeps="frr"
    ),
    "min_dcf": scalars.MIN_DCF,
    "min_cost": Name("smallest expected cost p c_miss FRR + (1 - p) c_fa FAR", "cost"),
    "min_cost_threshold": Name("strictest threshold of the smallest cost", "score", keeps="far"),
    "cost_prior": Name("proportion p of genuine attempts expected in use"),
    "cost_miss": Name("cost c_miss of a false reject", "cost"),
    "cost_false_accept": Name("cost c_fa of a false accept", "cost"),
}

OPEN_SET: dict[str, Name] = {
    **_EQUAL_ERROR,
    "dir_at_far": scalars.DIR_AT_FAR,
    "threshold_at_far": Name(
        "loosest attainable threshold with FAR at most the target (best mates of a worse rank are "
        "not among the thresholds, so that ranks may differ at the same FAR)",
        "score",
        keeps="far",
    ),
    "expected_false_accepts": Name("false accepts expected at the target", "attempts"),
    **Name("the EER, from the rates at the thresholds").bounds_of("eer"),
    **Name("DIR with FAR at most the target").bounds_of("dir_at_far"),
    "dir": scalars.DIR,
    "di": Name("genuine attempts detected and identified exactly at the rank", "attempts"),
    "far": Name(
        "false accept rate: proportion of the impostor attempts with any candidate within the "
        "threshold",
        iso="FPIR(N, T)",
    ),
    "grr": Name(
        "genuine reject rate: proportion of the impostor attempts that are rejected", iso="1 - FPIR"
    ),
    "frr": Name("false reject rate: 1 - DIR at rank 1", iso="FNIR(N, 1, T)"),
    "fa": Name("impostor attempts accepted", "attempts"),
    "gr": Name("impostor attempts rejected", "attempts"),
    "genuine_attempts": Name(
        "genuine attempts: mated searches, of enrolled probes with a usable mate", "attempts"
    ),
    "impostor_attempts": Name(
        "impostor attempts: non-mated searches, of a gallery without the subject of the probe",
        "attempts",
    ),
    "ttr": Name("true target rate: enrolled probes with any template within the threshold"),
    "ttr_identity": Name("proportion of the enrolled probes with a mate within the threshold"),
    "ftr": Name("false target rate: other probes with any template within the threshold"),
    "genuine_subjects": Name("subjects of the probes, enrolled: independent trials", "subjects"),
    "impostor_subjects": Name(
        "subjects of the probes of impostor attempts: independent trials", "subjects"
    ),
    "target_probes": Name("probes whose subject is enrolled (denominator of TTR)", "probes"),
    "non_target_probes": Name("probes never enrolled (denominator of FTR)", "probes"),
    "tied": Name("genuine attempts with a non-mate tied with the best mate", "probes"),
}

CLOSED_SET: dict[str, Name] = {
    "cms": scalars.CMS,
    "cms_count": Name("probes whose best mate is at rank R or better", "probes"),
    "recognition_rate": scalars.RECOGNITION_RATE,
    "attempts": Name("probes with a usable mate", "probes"),
    "subjects": Name("subjects of the probes, enrolled: independent trials", "subjects"),
    "skipped": Name("probes without a usable mate, left out", "probes"),
    "tied": Name("probes with a non-mate tied with the best mate", "probes"),
}


for _name in (
    *("gar", "frr", "far", "grr", "frr_at_far", "far_at_frr", "eer", "auc"),
    *("eer_hull", "min_dcf"),
):
    VERIFICATION |= VERIFICATION[_name].ends_of(_name)
for _best in VERIFICATION_SCALARS:
    if _best.best:
        VERIFICATION |= _best.ends_of(_best.name)
for _name in ("dir", "far", "grr", "frr", "dir_at_far", "eer"):
    OPEN_SET |= OPEN_SET[_name].ends_of(_name)
for _name in ("cms", "recognition_rate"):
    CLOSED_SET |= CLOSED_SET[_name].ends_of(_name)

#: The variables of each task, without those of scalars that others add.
TASKS = {"verification": VERIFICATION, "open_set": OPEN_SET, "closed_set": CLOSED_SET}
