"""Every dimension and variable of the results, described once.

Attributes of results come from here, and ``docs/definitions.md`` explains each term at length.
"""

from __future__ import annotations

from collections.abc import Iterable

from bioeval.base import scalars
from bioeval.base.scalars import (
    AVERAGED,
    EQUAL_ERROR,
    POINTS_OF,
    RATES_OF,
    VERIFICATION_POINTS,
    Name,
    Scalar,
)


def _by_name(found: Iterable[Scalar]) -> dict[str, Name]:
    return {scalar.name: _of_task(scalar) for scalar in found}


def _of_task(scalar: Scalar) -> Name:
    """Describe a scalar as a variable of a task: of what has a best value, the best."""
    if not scalar.best:
        return scalar
    which = {"max": "largest", "min": "smallest"}[scalar.best]
    return Name(f"{scalar.long_name}; the {which} of any threshold", scalar.units, scalar.iso)


def _bounds(name: str, words: str, units: str = "1") -> dict[str, Name]:
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
_EQUAL_ERROR = _by_name(EQUAL_ERROR)

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
    **_by_name(VERIFICATION_POINTS),
    "frr_at_far": scalars.FRR_AT_FAR,
    "threshold_at_far": Name("loosest attainable threshold with FAR at most the target", "score"),
    "expected_false_accepts": Name("false accepts expected at the target", "attempts"),
    "min_cost": scalars.MIN_COST,
    "min_cost_threshold": Name("strictest threshold of the smallest cost", "score"),
    "cost_prior": Name("proportion p of genuine attempts expected in use"),
    "cost_miss": Name("cost c_miss of a false reject", "cost"),
    "cost_false_accept": Name("cost c_fa of a false accept", "cost"),
    **_bounds("eer", "the EER, from counts alone"),
    **_bounds("auc", "the AUC, from counts alone"),
    **_bounds("zero_far", "the smallest FRR without any false accept"),
    **_bounds("zero_frr", "the smallest FAR without any false reject"),
    **_bounds("frr_at_far", "the smallest FRR with FAR at most the target"),
    **_bounds("min_cost", "the smallest expected cost", "cost"),
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
    **_bounds("eer", "the EER, from the rates at the thresholds"),
    **_bounds("dir_at_far", "DIR with FAR at most the target"),
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

RANKS = {
    "identification_rank": Name("rank of the best mate; NaN where there is none"),
    "mate_distance": Name("score of the best mate; NaN where there is none", "score"),
    "nearest_other": Name("score of the nearest candidate of another subject", "score"),
    "closer": Name("candidates of other subjects ranked before the best mate", "candidates"),
    "tied": Name("candidates of other subjects tied with the best mate", "candidates"),
    "mates": Name("usable mates", "candidates"),
    "others": Name("usable candidates of other subjects", "candidates"),
    "enrolled": Name("whether the probe's subject is in the gallery (1) or not (0)"),
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

_HOTA = {
    "hota": "higher order tracking accuracy: sqrt(DetA * AssA)",
    "deta": "detection accuracy: TP / (TP + FN + FP)",
    "assa": "association accuracy: mean over the TP of TPA / (TPA + FNA + FPA)",
    "detre": "detection recall: TP / (TP + FN)",
    "detpr": "detection precision: TP / (TP + FP)",
    "assre": "association recall: mean over the TP of TPA / (TPA + FNA)",
    "asspr": "association precision: mean over the TP of TPA / (TPA + FPA)",
    "loca": "localisation accuracy: mean overlap (IoU) of the TP",
}

TRACKING = {
    "mota": Name("multiple object tracking accuracy: 1 - (FN + FP + IDSW) / boxes of targets"),
    "motp": Name("multiple object tracking precision: mean overlap (IoU) of the matches"),
    "motp_distance": Name("mean of 1 - IoU over the matches: MOTP as a distance"),
    "recall": Name("proportion of the boxes of targets that are matched"),
    "precision": Name("proportion of the boxes of the result that are matched"),
    "far": Name("false alarm rate of CityFlow: FN + FP + IDSW in a frame", "errors/frame"),
    "fp_per_frame": Name("false positives in a frame (FAF of MOTChallenge)", "boxes/frame"),
    "idp": Name("identification precision: IDTP / (IDTP + IDFP)"),
    "idr": Name("identification recall: IDTP / (IDTP + IDFN)"),
    "idf1": Name("identification F1: 2 IDTP / (2 IDTP + IDFP + IDFN)"),
    **{k: Name(f"{text}; mean over localisation thresholds") for k, text in _HOTA.items()},
    **{f"{k}_by_threshold": Name(text) for k, text in _HOTA.items()},
    "tp_by_threshold": Name("true positives in the matching of HOTA", "boxes"),
    "frames": Name("frames of the sequence; where its length is not given, those with rows"),
    "frames_with_rows": Name("frames with a row in either file"),
    "targets": Name("identities of the ground truth", "targets"),
    "identities": Name("identities of the result", "identities"),
    "truth_boxes": Name("boxes of targets", "boxes"),
    "result_boxes": Name("boxes of the result", "boxes"),
    "tp": Name("true positives: boxes of targets that are matched", "boxes"),
    "fn": Name("false negatives: boxes of targets that are not matched", "boxes"),
    "fp": Name("false positives: boxes of the result that are not matched", "boxes"),
    "idsw": Name(
        "identity switches: matches with another identity than the target's last", "boxes"
    ),
    "fragmentations": Name("times a target is missed, and matched again later"),
    "resumptions": Name("times a target is matched again after being missed or away (TrackEval)"),
    "mt": Name("mostly tracked targets: covered for 80 % of their frames", "targets"),
    "pt": Name("partially tracked targets", "targets"),
    "ml": Name("mostly lost targets: covered for less than 20 % of their frames", "targets"),
    "idtp": Name("boxes of targets under the one identity assigned to the target", "boxes"),
    "idfn": Name("other boxes of targets", "boxes"),
    "idfp": Name("other boxes of the result", "boxes"),
    "ignored_truth_boxes": Name("boxes of the ground truth that are ignored", "boxes"),
    "removed_result_boxes": Name("boxes of the result left out, on ignored ground truth", "boxes"),
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

PLANNED_RUN = {
    "comparisons": Name("comparisons, those of a template with itself too", "comparisons"),
    "genuine_comparisons": Name("genuine comparisons", "comparisons"),
    "core_hours": Name("processor time", "hours"),
    "hours": Name("time on all workers, none of which is idle", "hours"),
    "embedding_bytes": Name("size of the embeddings", "bytes"),
    "matrix_bytes": Name("size of the matrix, which is not made of embeddings", "bytes"),
    "working_bytes": Name("memory of a worker that has all templates", "bytes"),
}

WORST_PAIRS = {
    "comparison": Name("impostor or genuine", ""),
    "row": Name("row of the probe in the matrix"),
    "column": Name("column of the gallery template in the matrix"),
    "probe_label": Name("subject of the probe", ""),
    "gallery_label": Name("subject of the gallery template", ""),
    "score": Name("score of the pair", "score"),
    "label_error": Name(
        "whether the two subjects are nearer to each other than to themselves, as after an error "
        "of labels"
    ),
    "suspect_templates": Name("row of a template that is nearer to another label than to its own"),
    "suspect_labels": Name("label of that template", ""),
    "nearest_labels": Name("label that it is nearest to", ""),
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

TRACKING_TARGETS = {
    "frames_present": Name("frames in which the target is present", "frames"),
    "frames_covered": Name("frames in which the target is matched", "frames"),
    "coverage": Name("proportion of the target's frames in which it is matched"),
    "target_switches": Name("identity switches of the target"),
    "target_fragmentations": Name("times the target is missed, and matched again later"),
    "state": Name("mostly tracked, partially tracked or mostly lost"),
}

TRACKING_SPELLS = {
    "spell_target": Name("target, by its id"),
    "spell_identity": Name("identity that it is followed under; -1 where it is missed"),
    "spell_camera": Name("camera"),
    "first_frame": Name("first frame of the spell"),
    "last_frame": Name("last frame of the spell"),
}


def of_sequence(name: Name) -> Name:
    """Return what a variable means that has a value for each sequence."""
    return Name(f"{name.long_name}; of each sequence", name.units, name.iso)


COMPARISON = {
    "value_a": Name("value of the first system"),
    "value_b": Name("value of the second system"),
    "difference": Name("first minus second"),
    "difference_low": Name("lower end of the interval of the difference"),
    "difference_high": Name("upper end of the interval of the difference"),
    "tolerance": Name("half the weight of one attempt: a smaller difference is rounding"),
    "p_value": Name("two-sided p-value of the difference by itself"),
    "p_adjusted": Name("p-value adjusted for the number of measures by Holm's method"),
    "discordant_subjects": Name(
        "disjoint subjects, or sets of subjects, that the systems decide differently, each at its "
        "own threshold; of the AUC, with different placements",
        "subjects",
    ),
    "discordant_at_most": Name(
        "where no subject is decided differently, upper confidence bound of their proportion"
    ),
    "better": Name("1 the first system is better, -1 the second, 0 no significant difference"),
    "undecided": Name(
        "why no system is better although p_value and interval show a difference, else empty"
    ),
    "supported": Name(
        "1, or 0 where the impostor attempts are too few for the FAR target: no conclusion then"
    ),
}


def _rates_of(result: str) -> dict[str, Name]:
    """Name the rates of folds or of repeated partitions, at their thresholds or ranks."""
    found: dict[str, Name] = {scalar.name: scalar for scalar in RATES_OF[result]}
    return found | {"dir": scalars.DIR, "cms": scalars.CMS}


_FOLD_COUNTS = {
    **{name: VERIFICATION[name] for name in ("ga", "fr", "fa", "gr")},
    **{name: VERIFICATION[name] for name in ("genuine_attempts", "impostor_attempts")},
    "cms_count": CLOSED_SET["cms_count"],
    "skipped": CLOSED_SET["skipped"],
    **{name: VERIFICATION[name] for name in ("fa_unenrolled", "unenrolled_attempts")},
}

_OVER_FOLDS = {
    "mean": "mean over folds",
    "sd": "standard deviation over folds",
    "se": "standard error of the mean, sd over the root of the folds, as in tables of LFW; too "
    "small, for folds share their training parts",
    "pooled": "counts of all folds summed",
    "low": "lower end of the interval over folds",
    "high": "upper end of the interval over folds",
    "folds": "number of folds in which it is defined",
}


def _of_training(name: Name) -> Name:
    return Name(f"on the training part: {name.long_name}", name.units, name.iso)


CROSS = {
    "threshold": Name("threshold chosen on the training part", "score", "threshold T"),
    "train_subjects": Name("subjects of the training part (pairs without subjects: pairs)"),
    "test_subjects": Name("subjects of the test part (pairs without subjects: pairs)"),
    "crossing_pairs": Name("pairs of a subject of the test part and one outside it", "pairs"),
    "reduced_galleries": Name(
        "probes of the test part with fewer templates of their subject to be compared with than "
        "are enrolled, because of exclude",
        "probes",
    ),
}
for _name, _what in {**AVERAGED, **_FOLD_COUNTS}.items():
    CROSS |= {_name: _what, f"train_{_name}": _of_training(_what)}
for _rate in (f"{_part}{_k}" for _k in AVERAGED for _part in ("", "train_")):
    for _key, _words in _OVER_FOLDS.items():
        _units = "folds" if _key == "folds" else "1"
        CROSS[f"{_rate}_{_key}"] = Name(
            f"{CROSS[_rate].long_name}; {_words}", _units, CROSS[_rate].iso
        )

REPEATED = {**_rates_of("repeats"), **_FOLD_COUNTS, "di": OPEN_SET["di"]}
_POINTS = {scalar.name: scalar for points in POINTS_OF.values() for scalar in points}
REPEATED |= _POINTS
for _rate, _what in {**_rates_of("repeats"), **_POINTS}.items():
    for _key, _words in {
        "mean": "mean over partitions",
        "sd": "standard deviation over partitions",
        "low": "lower end of the band over partitions",
        "high": "upper end of the band over partitions",
    }.items():
        REPEATED[f"{_rate}_{_key}"] = Name(f"{_what.long_name}; {_words}", "1", _what.iso)

STUDY = {
    "threshold": Name("threshold to install, chosen on all data", "score", "threshold T"),
    "optimistic_far": Name("FAR on the data that the threshold was chosen on", iso="FMR"),
    "optimistic_hter": Name("HTER on the data that the threshold was chosen on"),
    "optimistic_frr": Name("FRR on the data that the threshold was chosen on", iso="FNMR"),
    **{
        f"optimistic_{rate}_{end}": Name(
            f"{words} end of the interval by subject of {rate.upper()} at this threshold", iso=iso
        )
        for rate, iso in (("far", "FMR"), ("frr", "FNMR"), ("hter", ""))
        for end, words in (("low", "lower"), ("high", "upper"))
    },
    "fold_threshold": Name("threshold chosen on the training part of a fold", "score"),
    "fold_far": Name("FAR on the test part of a fold", iso="FMR"),
    "fold_frr": Name("FRR on the test part of a fold", iso="FNMR"),
    "genuine_attempts": VERIFICATION["genuine_attempts"],
    "impostor_attempts": VERIFICATION["impostor_attempts"],
    "independent_impostors": Name(
        "impostor attempts, each pair of a symmetric matrix once: impostor_pairs", "attempts"
    ),
    "impostor_pairs": VERIFICATION["impostor_pairs"],
    "subjects": VERIFICATION["subjects"],
    "disjoint_pairs": VERIFICATION["disjoint_pairs"],
}
for _rule in ("3", "30"):
    STUDY |= {
        f"impostors_for_{_rule}": Name(
            f"impostor_pairs required by the rule of {_rule}", "attempts"
        ),
        f"more_for_{_rule}": Name(f"how many of them are missing, rule of {_rule}", "attempts"),
        f"subjects_for_{_rule}": Name(
            f"subjects needed for as many impostor attempts, rule of {_rule}", "subjects"
        ),
    }
for _rate in ("far", "frr", "hter"):
    STUDY |= {f"{_rate}_{_key}": CROSS[f"{_rate}_{_key}"] for _key in _OVER_FOLDS}

REID = {
    "cmc": scalars.CMC,
    "cmc_count": Name(
        "queries whose first counted match is at rank R or better, or expected number", "queries"
    ),
    **_by_name(scalars.QUERY_MEANS),
    **_by_name(scalars.RANKED_LISTS),
    "interpolated_precision": scalars.INTERPOLATED_PRECISION,
    **_by_name(scalars.RETRIEVED_SETS),
    "queries": Name("queries that the means are over", "queries"),
    "subjects": Name("identities of all queries: independent trials", "subjects"),
    "skipped": Name("queries without a match, left out of the means", "queries"),
    "unmatched": Name("queries that have no match left", "queries"),
    "not_in_gallery": Name("of these, queries whose identity is not in the gallery", "queries"),
    "removed": Name("gallery entries excluded for a query, summed over queries", "comparisons"),
    "tied": Name("queries with a non-match tied with one of their matches", "queries"),
    "average_precision": Name("average precision; NaN without a match"),
    "inp": Name("matches over the rank of the last one; NaN without a match"),
    "rank_k_average_precision": Name("average precision of the cut list; NaN without a match"),
    "first_match_rank": Name("rank of the first match; NaN without one"),
    "matches": Name("matches of the query that are not excluded", "entries"),
    "removed_entries": Name("gallery entries excluded for the query", "entries"),
}

TOP_K = {
    **{name: REID[name] for name in ("cmc", "cmc_count", "mean_ap", "mean_inp", "rank_k_mean_ap")},
    **{name: REID[name] for name in ("precision_at_k", "recall_at_k", "interpolated_precision")},
    **{name: REID[name] for name in ("queries", "subjects", "skipped")},
    "rank_k_average_precision": REID["rank_k_average_precision"],
    "rank_k": Name("rank K at which lists are cut"),
    "beyond_lists": Name("queries with more matches than a list has places", "queries"),
    "first_match_rank": Name("rank of the first match; NaN where none is listed"),
}

GOM = {
    "mrp": Name("mean ranking precision: AP of the retrieved entries, over the matches retrieved"),
    "mvp": Name("mean verification precision: TP / (TP + FN + FP)"),
    "mrep": Name("mean re-identification precision: sqrt(VP RP)"),
    "mfr": Name("mean false rate of the queries without a match: min(FP / B, 1)"),
    **_by_name(scalars.RETRIEVED_SETS),
    "dir": Name("queries with a match within the threshold, at rank R or better"),
    "far": Name("false accept rate: queries not in the gallery with any retrieved entry"),
    "ttr": Name("true target rate: queries with a match in the gallery and any retrieved entry"),
    "ttr_identity": Name("queries with a match in the gallery and a retrieved match"),
    "ftr": Name("false target rate, the same proportion as FAR"),
    **_by_name(scalars.GOM_POINTS),
    "mean_ap": REID["mean_ap"],
    "mean_inp": REID["mean_inp"],
    "cmc": REID["cmc"],
    "queries": Name("queries that mRP, mVP and mReP are over", "queries"),
    "open_queries": Name("queries not in the gallery, that mFR is over", "queries"),
    "skipped": Name("queries whose every match is removed: in neither", "queries"),
    "removed": REID["removed"],
    "rp": Name("ranking precision; NaN without a match"),
    "vp": Name("verification precision; NaN without a match"),
    "rep": Name("re-identification precision; NaN without a match"),
    "fr": Name("false rate; NaN where the identity is in the gallery"),
}

CALIBRATION = {
    **_by_name(scalars.CALIBRATION_POINTS),
    "calibration_loss": Name("Cllr less its minimum", "bits"),
    "act_dcf": Name("normalised decision cost at the Bayes threshold", "cost"),
    "min_dcf": Name("normalised decision cost, the least of any threshold", "cost"),
    "bayes_threshold": Name("log-likelihood ratio from which the Bayes decision accepts"),
    "far_at_bayes": Name("FAR at the Bayes threshold", iso="FMR"),
    "frr_at_bayes": Name("FRR at the Bayes threshold", iso="FNMR"),
    "bayes_error": Name("normalised Bayes error rate: act_dcf of equal costs", "cost"),
    "min_bayes_error": Name("least normalised Bayes error rate: min_dcf of equal costs", "cost"),
    "ece": Name("empirical cross-entropy", "bits"),
    "min_ece": Name("empirical cross-entropy after isotonic regression", "bits"),
    "reference_ece": Name("cross-entropy of the prior alone, without any score", "bits"),
    "genuine_above": Name("proportion of the genuine attempts with a larger ratio"),
    "impostor_above": Name("proportion of the impostor attempts with a larger ratio"),
    "pav_llr": Name("log-likelihood ratio of a block, by isotonic regression"),
    "pav_low": Name("smallest score of a block", "score"),
    "pav_high": Name("largest score of a block", "score"),
    "pav_genuine": Name("genuine attempts in a block", "attempts"),
    "pav_impostor": Name("impostor attempts in a block", "attempts"),
    "genuine_attempts": VERIFICATION["genuine_attempts"],
    "impostor_attempts": VERIFICATION["impostor_attempts"],
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


def _ends(of: dict[str, Name], names: tuple[str, ...]) -> dict[str, Name]:
    """Name the ends of intervals after the values they are around."""
    stems = {"eer": "eer_interval"}  # eer_low and eer_high are the bracket of FVC
    return {
        f"{stems.get(name, name)}_{side}": Name(
            f"{end} end of the interval (attribute interval_method) of {name}", of[name].units
        )
        for name in names
        for side, end in (("low", "lower"), ("high", "upper"))
    }


_FAILURES = {
    "frr_iso": Name("false reject rate with failures to acquire: FTA + FRR (1 - FTA)", iso="FRR"),
    "far_iso": Name("false accept rate with failures to acquire: FAR (1 - FTA)", iso="FAR"),
    "gfrr": Name("generalised false reject rate: FTE + (1 - FTE) FRR_iso", iso="GFRR"),
    "gfar": Name("generalised false accept rate: (1 - FTE) FAR_iso", iso="GFAR"),
}

#: Variables of :func:`bioeval.with_failures`.
FAILURES = {
    f"{name}{ending}": Name(f"{what.long_name}{where}", what.units, what.iso)
    for name, what in _FAILURES.items()
    for ending, where in (
        ("", ""),
        ("_low", "; lower end of its interval, FTA and FTE taken as known"),
        ("_high", "; upper end of its interval, FTA and FTE taken as known"),
        ("_at_eer", "; at eer_threshold"),
        ("_at_far", "; the smallest with FAR at most the target"),
        ("_at_far_low", "; the smallest with FAR at most the target: lower end of its interval"),
        ("_at_far_high", "; the smallest with FAR at most the target: upper end of its interval"),
    )
}

VERIFICATION |= _ends(
    VERIFICATION,
    (
        *("gar", "frr", "far", "grr", "frr_at_far", "eer", "auc"),
        *(scalar.name for scalar in scalars.OPTIMA),
    ),
)
GROUPS |= _ends(
    GROUPS,
    (
        *("frr", "far", "frr_at_far", "threshold_at_far", "fdr", "garbe"),
        *(x for x in GROUPS if "_max_over_" in x),
    ),
)
OPEN_SET |= _ends(OPEN_SET, ("dir", "far", "grr", "frr", "dir_at_far", "eer"))
CLOSED_SET |= _ends(CLOSED_SET, ("cms", "recognition_rate"))
OVER_TIME |= _ends(OVER_TIME, ("frr", "dir", "cms"))
AGEING |= _ends(AGEING, ("frr", "slope", "slope_within"))
_RANKED = (
    *("cmc", "mean_ap", "mean_inp", "rank_k_mean_ap"),
    *("precision_at_k", "recall_at_k", "interpolated_precision"),
)
REID |= _ends(REID, (*_RANKED, "precision", "recall", "f1"))
TOP_K |= _ends(TOP_K, _RANKED)
GOM |= _ends(
    GOM,
    (
        *("mrp", "mvp", "mrep", "precision", "recall", "f1", "mfr", "far", "ttr", "ttr_identity"),
        *("ftr", "mrep_area", "mfr_area", "max_mrep", "max_mvp", "max_f1"),
        *("mean_ap", "mean_inp", "cmc"),
    ),
)

#: Rates that grow as the threshold accepts more, and those that fall.
ACCEPTED_WITH_THRESHOLD = ("gar", "far", "dir", "ttr", "ttr_identity", "ftr", "far_unenrolled")
REJECTED_WITH_THRESHOLD = ("frr", "grr")

#: Variables that :func:`bioeval.at` adds to those of a task.
AT = {
    "threshold_used": Name("threshold of the results whose rates are given", "score"),
    "threshold_next": Name("next threshold of the results, which accepts more", "score"),
    **{
        f"{rate}_{end}": Name(f"{which} bound of {rate} at the threshold")
        for rate in (*ACCEPTED_WITH_THRESHOLD, *REJECTED_WITH_THRESHOLD)
        for end, which in (("at_least", "lower"), ("at_most", "upper"))
    },
}
