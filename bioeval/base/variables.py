"""Every dimension and variable of the results, described once.

Attributes of results come from here, and ``docs/definitions.md`` explains each term at length.
"""

from __future__ import annotations

from collections.abc import Iterable

from bioeval.base import scalars
from bioeval.base.scalars import (
    EQUAL_ERROR,
    VERIFICATION_POINTS,
    Name,
    Scalar,
)


def by_name(found: Iterable[Scalar]) -> dict[str, Name]:
    """Describe scalars by their names, as variables of a task."""
    return {scalar.name: of_task(scalar) for scalar in found}


def of_task(scalar: Scalar) -> Name:
    """Describe a scalar as a variable of a task: of what has a best value, the best."""
    if not scalar.best:
        return scalar
    which = {"max": "largest", "min": "smallest"}[scalar.best]
    return Name(f"{scalar.long_name}; the {which} of any threshold", scalar.units, scalar.iso)


def bounds(name: str, words: str, units: str = "1") -> dict[str, Name]:
    """Name the bounds of a value that is not known exactly."""
    return {
        f"{name}_at_least": Name(f"lower bound of {words}", units),
        f"{name}_at_most": Name(f"upper bound of {words}", units),
    }


#: Methods of an interval. Only the last two assume independent attempts.
INTERVALS = (
    "subject-bootstrap",
    "subject-bootstrap-bca",
    "subject-bootstrap-logit",
    "analytic",
    "wilson",
    "clopper-pearson",
)

COORDINATES = {
    "threshold": Name("decision threshold", "score", "threshold T"),
    "rank": Name("rank", "1", "rank R"),
    "far_target": Name("largest false accept rate allowed", iso="FMR or FPIR"),
    "probe": Name("probe, by its row"),
    "run": Name("everything, or a smaller evaluation"),
    "sequence": Name("sequence"),
    "target": Name("target: an identity of the ground truth, by its id"),
    "localisation_threshold": Name("localisation threshold alpha: smallest IoU of a match"),
    "measure": Name("measure that two systems are compared by"),
    "gallery_size": Name("subjects in the gallery", "subjects", "gallery size N"),
    "recall_level": Name("recall level"),
    "validation_size": Name("subjects of the part that the whole was predicted from", "subjects"),
    "unenrolled_share": Name("proportion of the probes that are not enrolled"),
    "prior": Name("prior probability of a genuine attempt"),
    "prior_log_odds": Name("natural log odds of the prior"),
    "llr": Name("natural log-likelihood ratio"),
    "pav_block": Name("block of scores of equal posterior, from the strictest on"),
    "repeat": Name("repeat of the partition"),
    "time": Name("time at which probes were seen: start of the bin", ""),
    "age": Name("age of the template when the probe was seen: start of the bin", ""),
    "fold": Name("fold of a repeat, in the order of the splitter"),
    "subject": Name("subject, by its label"),
    "animal": Name("animal of the zoo of Yager and Dunstone (2010)"),
    "event": Name(
        "error of the system: false-alarm, an impostor accepted or somebody who is not "
        "on the list found there; rejected, a genuine person rejected or a listed one missed"
    ),
    "days": Name("length of the period", "days"),
    "templates": Name("templates of each subject", "templates"),
    "group": Name("group of the subject; of an impostor attempt, of the probe's"),
    "claimed_group": Name("group of the claimed subject"),
    "alpha": Name("weight of FAR; 1 - alpha is that of FRR"),
    "fraction": Name("proportion of the samples that are discarded, those of lowest quality"),
    "pair": Name("worst pair: the nearest impostors, then the farthest genuine ones"),
    "suspect": Name("template with a suspected label error, the most likely first"),
}

_RATES = {scalar.name: scalar for scalar in scalars.VERIFICATION_RATES}
_EQUAL_ERROR = by_name(EQUAL_ERROR)

VERIFICATION: dict[str, Name] = {
    **{name: _RATES[name] for name in ("gar", "frr", "far", "grr")},
    "ga": Name("genuine attempts accepted", "attempts"),
    "fr": Name("genuine attempts rejected", "attempts"),
    "fa": Name("impostor attempts accepted", "attempts"),
    "gr": Name("impostor attempts rejected", "attempts"),
    "genuine_attempts": Name("genuine attempts", "attempts"),
    "impostor_attempts": Name("impostor attempts", "attempts"),
    "impostor_pairs": Name(
        "impostor attempts, each pair of a symmetric matrix once; they share subjects, and the "
        "rules of 3 and 30 count them",
        "attempts",
    ),
    "subjects": Name("subjects of the attempts, on either side", "subjects"),
    "genuine_subjects": Name("subjects with a genuine attempt: independent trials", "subjects"),
    "disjoint_pairs": Name(
        "pairs of subjects of which no two share one, of listed pairs at least so many: "
        "independent trials of an impostor decision, on which the bound without an error rests",
        "pairs",
    ),
    "far_unenrolled": scalars.FAR_UNENROLLED,
    "fa_unenrolled": Name("claims by probes who are not enrolled that are accepted", "attempts"),
    "unenrolled_attempts": Name("claims by probes who are not enrolled", "attempts"),
    "skipped_claims": Name("claims of subjects that are not enrolled, left out", "attempts"),
    **_EQUAL_ERROR,
    **by_name(VERIFICATION_POINTS),
    "frr_at_far": scalars.FRR_AT_FAR,
    "threshold_at_far": Name("loosest attainable threshold with FAR at most the target", "score"),
    "expected_false_accepts": Name("false accepts expected at the target", "attempts"),
    "min_cost": scalars.MIN_COST,
    "min_cost_threshold": Name("strictest threshold of the smallest cost", "score"),
    "cost_prior": Name("proportion p of genuine attempts expected in use"),
    "cost_miss": Name("cost c_miss of a false reject", "cost"),
    "cost_false_accept": Name("cost c_fa of a false accept", "cost"),
    **bounds("eer", "the EER, from counts alone"),
    **bounds("auc", "the AUC, from counts alone"),
    **bounds("zero_far", "the smallest FRR without any false accept"),
    **bounds("zero_frr", "the smallest FAR without any false reject"),
    **bounds("frr_at_far", "the smallest FRR with FAR at most the target"),
    **bounds("min_cost", "the smallest expected cost", "cost"),
}

OPEN_SET: dict[str, Name] = {
    **_EQUAL_ERROR,
    "dir_at_far": scalars.DIR_AT_FAR,
    "threshold_at_far": Name(
        "loosest attainable threshold with FAR at most the target (best mates of a worse rank are "
        "not among the thresholds, so that ranks may differ at the same FAR)",
        "score",
    ),
    "expected_false_accepts": Name("false accepts expected at the target", "attempts"),
    **bounds("eer", "the EER, from the rates at the thresholds"),
    **bounds("dir_at_far", "DIR with FAR at most the target"),
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
    "fewer_mates": Name(
        "genuine attempts whose subject has fewer usable templates than are drawn", "probes"
    ),
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

_FLAG = "1 where {}, else 0"

GROUPS: dict[str, Name] = {
    **{name: VERIFICATION[name] for name in ("frr", "fr", "genuine_attempts")},
    **{name: VERIFICATION[name] for name in ("far", "fa", "impostor_attempts")},
    "subjects": Name("subjects of the group, on either side", "subjects"),
    "threshold": Name("threshold of all groups", "score"),
    "frr_overall": Name("FRR of all groups together", iso="FNMR"),
    "far_overall": Name("FAR of all groups together", iso="FMR"),
    "threshold_at_far": Name(
        "loosest attainable threshold with FAR at most the target within the group", "score"
    ),
    "frr_at_far": Name(
        "smallest FRR of the group with FAR at most the target within the group", iso="FNMR at FMR"
    ),
    "expected_fr": Name("false rejects expected at the overall FRR", "attempts"),
    "expected_fa": Name("false accepts expected at the overall FAR", "attempts"),
    "expected_fa_at_far": Name("false accepts expected within the group at the target", "attempts"),
    "few_subjects": Name(_FLAG.format("the group has fewer than 30 subjects")),
    "frr_flagged": Name(_FLAG.format("subjects or expected false rejects are fewer than 30")),
    "far_flagged": Name(
        _FLAG.format("subjects of either group or expected false accepts are fewer than 30")
    ),
    "frr_at_far_flagged": Name(
        _FLAG.format("subjects or false accepts expected at the target are fewer than 30")
    ),
    "fdr": Name(
        "fairness discrepancy rate: 1 less the weighted ranges of FAR and FRR over groups; 1 where "
        "all groups are alike"
    ),
    "garbe": Name(
        "Gini aggregation rate for biometric equitability: weighted Gini coefficients of FAR and "
        "FRR over groups; 0 where all groups are alike"
    ),
    **{
        f"{rate}_max_over_{other}": Name(
            f"largest {rate.upper()}{within} of a group over the {words}"
        )
        for rate, within in (("far", " within the group"), ("frr", ""))
        for other, words in (("min", "smallest"), ("geomean", "geometric mean"))
    },
}

EPC: dict[str, Name] = {
    "threshold": Name(
        "strictest threshold that minimises alpha FAR + (1 - alpha) FRR on the development set",
        "score",
    ),
    "hter": Name("half total error rate on the test set: (FAR + FRR) / 2"),
    **{name: VERIFICATION[name] for name in ("far", "frr", "fa", "fr")},
    **{name: VERIFICATION[name] for name in ("genuine_attempts", "impostor_attempts")},
    "dev_error": Name("smallest alpha FAR + (1 - alpha) FRR on the development set"),
    "dev_genuine_attempts": Name("genuine attempts of the development set", "attempts"),
    "dev_impostor_attempts": Name("impostor attempts of the development set", "attempts"),
}

ERROR_DISCARD: dict[str, Name] = {
    **{name: VERIFICATION[name] for name in ("far", "frr", "fa", "fr")},
    **{name: VERIFICATION[name] for name in ("genuine_attempts", "impostor_attempts")},
    "discarded": Name("samples discarded", "samples"),
    "samples": Name("samples of both sides, each template once", "samples"),
    "threshold": Name("decision threshold", "score", "threshold T"),
    "pauc": Name(
        "area under FRR over discarded fractions from 0 to 0.2, over 0.2 times FRR at 0: below 1 "
        "where discarding helps"
    ),
}

GALLERY_SIZE = {
    "cms": CLOSED_SET["cms"],
    "recognition_rate": CLOSED_SET["recognition_rate"],
    **{k: OPEN_SET[k] for k in ("dir", "far", "frr", "genuine_attempts", "impostor_attempts")},
    "error_share": Name("proportion of all searches that end in a miss or a false accept"),
    "least_error_share": Name(
        "smallest error_share of any threshold, chosen on the same data (optimistic)"
    ),
    "least_error_threshold": Name("strictest threshold of least_error_share", "score"),
    "extrapolated": Name("whether CMS, DIR and FRR are extrapolated by a model (1) or exact (0)"),
    "far_extrapolated": Name("whether FAR is extrapolated by a model (1) or exact (0)"),
    "validation_cms_error": Name("error of CMS predicted from a part of the gallery, the largest"),
    "validation_far_error": Name("error of FAR predicted from a part of the gallery, the largest"),
}

_AT = {name: VERIFICATION[name] for name in ("frr", "fr", "genuine_attempts")}

OVER_TIME = {
    "time_end": Name("end of the bin, which is not in it", ""),
    "probes": Name("probes seen in the bin", "probes"),
    "probes_outside": Name("probes in no bin, or without a time", "probes"),
    **_AT,
    **{name: VERIFICATION[name] for name in ("far", "fa", "impostor_attempts")},
    "gallery_templates": Name("templates enrolled when a probe is seen, mean", "templates"),
    "gallery_subjects": Name("subjects enrolled when a probe is seen, mean", "subjects"),
    "threshold": COORDINATES["threshold"],
    "dir": scalars.DIR,
    "dir_count": Name("mated searches identified within threshold and rank", "probes"),
    "cms": CLOSED_SET["cms"],
    "cms_count": CLOSED_SET["cms_count"],
    "mated_searches": OPEN_SET["genuine_attempts"],
    "open_set_far": OPEN_SET["far"],
    "open_set_fa": OPEN_SET["fa"],
    "non_mated_searches": OPEN_SET["impostor_attempts"],
}

AGEING = {
    "age_end": Name("end of the bin, which is not in it", ""),
    **_AT,
    "genuine_mean": Name("mean of the finite genuine scores", "score"),
    "genuine_sd": Name("standard deviation (ddof 0) of the finite genuine scores", "score"),
    "threshold": COORDINATES["threshold"],
    "non_finite": Name("genuine scores that are not finite, left out of means", "attempts"),
    "slope": Name("change of the genuine score with a unit of age, over all pairs", "score"),
    "intercept": Name("genuine score at age 0, by the same least squares", "score"),
    "slope_within": Name(
        "change of the genuine score with a unit of age, within subjects (fixed effects)", "score"
    ),
    "subjects": Name("subjects with a genuine score: independent trials", "subjects"),
}

WORKLOAD = {
    "rate": Name("error rate of an attempt", iso="FMR, FNMR; FPIR, FNIR"),
    "rate_low": Name("lower end of the interval of the rate; NaN where unknown"),
    "rate_high": Name("upper end of the interval of the rate; NaN where unknown"),
    "people_per_day": Name("people a day who can cause the event, on average", "people/day"),
    "per_day": Name("expected events a day", "events/day"),
    "expected": Name("expected events in the period", "events"),
    "count_low": Name("lower end of the events in the period, if the rate is exact", "events"),
    "count_high": Name("upper end of the events in the period, if the rate is exact", "events"),
    "predicted_low": Name(
        "lower end of the events in the period, the rate as uncertain as its interval; NaN without "
        "one",
        "events",
    ),
    "predicted_high": Name(
        "upper end of the events in the period, the rate as uncertain as its interval; NaN without "
        "one",
        "events",
    ),
    "none_at_all": Name("probability of no event in the period, if the rate is exact"),
}

SAMPLE_SIZE = {
    "subjects": Name("subjects for the width of the interval", "subjects"),
    "sessions": Name("sessions of each subject, at least two", "sessions"),
    "all_templates": Name("templates of all these subjects", "templates"),
    "value": Name("FRR, or EER, that is expected"),
    "subject_sd": Name("standard deviation of a subject's rate"),
    "design_effect": Name("variance of the rate over that of as many independent genuine pairs"),
    "icc": Name("correlation of two genuine errors of a subject that share no template"),
    "template_icc": Name("the same of two that share a template, less icc"),
    "trials_rule_of_3": Name("independent trials without a false accept to show the FAR", "trials"),
    "trials_rule_of_30": Name(
        "independent trials with 30 false accepts expected at the FAR", "trials"
    ),
    **{
        f"subjects_{rule}{units}": Name(f"subjects who make as many trials, {what}", "subjects")
        for rule in ("rule_of_3", "rule_of_30")
        for units, what in (
            ("", "each pair of subjects disjoint from all others: independent trials"),
            ("_all_pairs", "all pairs of subjects taken as independent, which share subjects"),
        )
    },
    "pilot_subjects": Name("subjects of the pilot with a genuine attempt", "subjects"),
}


def _zoo() -> dict[str, Name]:
    """Name the variables of a zoo; those of probes and of claimed subjects differ in a word."""
    own = "genuine attempts of the subject"
    roles = {
        "as_probe": "impostor attempts with probes of the subject (a wolf has many errors)",
        "as_claimed": "impostor attempts that claim the subject (a lamb has many errors)",
    }
    found = {
        "threshold": Name("threshold at which errors are counted", "score", "threshold T"),
        "genuine_mean": Name(f"mean finite score of the {own}", "score"),
        "impostor_mean": Name("mean finite score of all impostor attempts of the subject", "score"),
        "genuine_attempts": Name(own, "attempts"),
        "fr": Name(f"{own} that are rejected", "attempts"),
        "frr": Name(f"false reject rate of the {own}", iso="FNMR"),
        "fr_share": Name("proportion of all false rejects that are the subject's"),
        "frr_without": Name("false reject rate of all other subjects", iso="FNMR"),
        "far_without": Name(
            "false accept rate of the attempts without the subject on either side", iso="FMR"
        ),
        "fr_gini": Name("Gini coefficient of the false rejects over subjects"),
        "non_finite": Name("attempts with an infinite score, left out of means", "attempts"),
    }
    for role, attempts in roles.items():
        found |= {
            f"impostor_mean_{role}": Name(f"mean finite score of {attempts}", "score"),
            f"impostor_attempts_{role}": Name(attempts, "attempts"),
            f"fa_{role}": Name(f"accepted {attempts}", "attempts"),
            f"far_{role}": Name(f"false accept rate of {attempts}", iso="FMR"),
            f"fa_share_{role}": Name(f"proportion of all false accepts that are of {attempts}"),
            f"fa_gini_{role}": Name(
                f"Gini coefficient over subjects of false accepts, of {attempts}"
            ),
        }
    found |= {
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
        found[f"{animal}_correlation"] = Name(
            f"rank correlation over subjects of mean {scores} in two halves without a template in "
            "common"
        )
        found[f"{animal}_p"] = Name(
            f"one-sided p-value by permutation: subjects differ in {scores} ({animal}s exist)"
        )
    return found


ZOO = _zoo()


def ends(of: dict[str, Name], names: tuple[str, ...]) -> dict[str, Name]:
    """Name the ends of intervals after the values they are around."""
    stems = {"eer": "eer_interval"}  # eer_low and eer_high are the bracket of FVC
    return {
        f"{stems.get(name, name)}_{side}": Name(
            f"{end} end of the interval (attribute interval_method) of {name}", of[name].units
        )
        for name in names
        for side, end in (("low", "lower"), ("high", "upper"))
    }


VERIFICATION |= ends(
    VERIFICATION,
    (
        *("gar", "frr", "far", "grr", "frr_at_far", "eer", "auc"),
        *(scalar.name for scalar in scalars.OPTIMA),
    ),
)
GROUPS |= ends(
    GROUPS,
    (
        *("frr", "far", "frr_at_far", "threshold_at_far", "fdr", "garbe"),
        *(x for x in GROUPS if "_max_over_" in x),
    ),
)
OPEN_SET |= ends(OPEN_SET, ("dir", "far", "grr", "frr", "dir_at_far", "eer"))
CLOSED_SET |= ends(CLOSED_SET, ("cms", "recognition_rate"))
OVER_TIME |= ends(OVER_TIME, ("frr", "dir", "cms"))
AGEING |= ends(AGEING, ("frr", "slope", "slope_within"))
