"""Every dimension and variable of the results, described once.

Attributes of results come from here, and ``docs/definitions.md`` explains each term at length.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Name:
    """What a variable of a result means.

    Attributes
    ----------
    long_name : str
        In words.
    units : str
        ``"1"`` for rates, ``"attempts"``, ``"probes"``, ``"score"`` (the user's own units) ...
    iso : str
        The term of ISO/IEC 19795-1, where it has one.
    """

    long_name: str
    units: str = "1"
    iso: str = ""

    def attrs(self) -> dict[str, str]:
        """Return the attributes of a variable of this name."""
        given = {"long_name": self.long_name, "units": self.units, "iso_term": self.iso}
        return {k: v for k, v in given.items() if v}


#: Methods of an interval. Only the last two take attempts for independent.
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
    "sequence": Name("sequence"),
    "target": Name("target: an identity of the ground truth, by its id"),
    "measure": Name("what two systems are compared by"),
    "gallery_size": Name("subjects in the gallery", "subjects", "gallery size N"),
    "validation_size": Name("subjects of the part that the whole was predicted from", "subjects"),
    "unenrolled_share": Name("share of the probes that are not enrolled"),
    "repeat": Name("repeat of the partition"),
    "fold": Name("fold of a repeat, in the order of the splitter"),
}

VERIFICATION = {
    "gar": Name("genuine accept rate: accepted share of the genuine attempts", iso="1 - FNMR"),
    "frr": Name("false reject rate: rejected share of the genuine attempts", iso="FNMR"),
    "far": Name("false accept rate: accepted share of the impostor attempts", iso="FMR"),
    "grr": Name("genuine reject rate: rejected share of the impostor attempts", iso="1 - FMR"),
    "ga": Name("genuine attempts accepted", "attempts"),
    "fr": Name("genuine attempts rejected", "attempts"),
    "fa": Name("impostor attempts accepted", "attempts"),
    "gr": Name("impostor attempts rejected", "attempts"),
    "genuine_attempts": Name("genuine attempts", "attempts"),
    "impostor_attempts": Name("impostor attempts", "attempts"),
    "skipped_claims": Name("claims of subjects that are not enrolled, left out", "attempts"),
}

EQUAL_ERROR = {
    "eer": Name("equal error rate, interpolated where FAR and FRR cross"),
    "eer_threshold": Name("attainable threshold with the smallest larger rate there", "score"),
    "far_at_eer": Name("FAR at the EER threshold"),
    "frr_at_eer": Name("FRR at the EER threshold"),
    "eer_low": Name("lower end of the EER bracket (FVC)"),
    "eer_high": Name("upper end of the EER bracket (FVC)"),
}

VERIFICATION |= {
    **EQUAL_ERROR,
    "eer_hull": Name("EER on the convex hull of the ROC (ROCCH)"),
    "auc": Name("share of genuine-impostor pairs of scores in the right order, ties one half"),
    "d_prime": Name("distance of the class means over the root mean variance"),
    "zero_far": Name("smallest FRR without any false accept (ZeroFMR)", iso="FNMR at FMR 0"),
    "zero_far_threshold": Name("loosest threshold without any false accept", "score"),
    "zero_frr": Name("smallest FAR without any false reject (ZeroFNMR)", iso="FMR at FNMR 0"),
    "zero_frr_threshold": Name("strictest threshold without any false reject", "score"),
    "frr_at_far": Name("smallest FRR with FAR at most the target", iso="FNMR at FMR"),
    "threshold_at_far": Name("loosest attainable threshold with FAR at most the target", "score"),
    "expected_false_accepts": Name("false accepts expected at the target", "attempts"),
    "min_cost": Name("smallest expected cost p c_miss FRR + (1 - p) c_fa FAR", "cost"),
    "min_cost_threshold": Name("strictest threshold of the smallest cost", "score"),
    "cost_prior": Name("share p of genuine attempts expected in use"),
    "cost_miss": Name("cost c_miss of a false reject", "cost"),
    "cost_false_accept": Name("cost c_fa of a false accept", "cost"),
    "eer_at_least": Name("lower bound of the EER, from counts alone"),
    "eer_at_most": Name("upper bound of the EER, from counts alone"),
    "auc_at_least": Name("lower bound of the AUC, from counts alone"),
    "auc_at_most": Name("upper bound of the AUC, from counts alone"),
}

OPEN_SET = {
    **EQUAL_ERROR,
    "dir_at_far": Name("largest DIR with FAR at most the target", iso="TPIR(N, R, T) at FPIR"),
    "threshold_at_far": Name("loosest attainable threshold with FAR at most the target", "score"),
    "expected_false_accepts": Name("false accepts expected at the target", "attempts"),
    "eer_at_least": Name("lower bound of the EER, from the rates at the thresholds"),
    "eer_at_most": Name("upper bound of the EER, from the rates at the thresholds"),
    "dir_at_far_at_least": Name("lower bound of DIR with FAR at most the target"),
    "dir_at_far_at_most": Name("upper bound of DIR with FAR at most the target"),
    "dir": Name(
        "detection and identification rate: share of the genuine attempts whose mate is within "
        "the threshold and at the rank or better",
        iso="TPIR(N, R, T)",
    ),
    "di": Name("genuine attempts detected and identified exactly at the rank", "attempts"),
    "far": Name(
        "false accept rate: share of the impostor attempts with any candidate within the threshold",
        iso="FPIR(N, T)",
    ),
    "grr": Name("genuine reject rate: share of the impostor attempts rejected", iso="1 - FPIR"),
    "frr": Name("false reject rate: 1 - DIR at rank 1", iso="FNIR(N, 1, T)"),
    "fa": Name("impostor attempts accepted", "attempts"),
    "gr": Name("impostor attempts rejected", "attempts"),
    "genuine_attempts": Name("genuine attempts: enrolled probes with a usable mate", "attempts"),
    "impostor_attempts": Name(
        "impostor attempts: probes against a gallery without their subject", "attempts"
    ),
    "ttr": Name("true target rate: enrolled probes with any template within the threshold"),
    "ttr_identity": Name("enrolled probes with a template of their own within the threshold"),
    "ftr": Name("false target rate: other probes with any template within the threshold"),
    "target_probes": Name("probes whose subject is enrolled (denominator of TTR)", "probes"),
    "non_target_probes": Name("probes never enrolled (denominator of FTR)", "probes"),
    "tied": Name("genuine attempts with a non-mate exactly as close as the best mate", "probes"),
}

CLOSED_SET = {
    "cms": Name(
        "cumulative match score: share of the probes whose best mate has the rank or better",
        iso="TPIR(N, R, no threshold)",
    ),
    "cms_count": Name("probes whose best mate has the rank or better", "probes"),
    "recognition_rate": Name("recognition rate: CMS at rank 1", iso="TPIR(N, 1, no threshold)"),
    "attempts": Name("probes with a usable mate", "probes"),
    "skipped": Name("probes without a usable mate, left out", "probes"),
    "tied": Name("probes with a non-mate exactly as close as the best mate", "probes"),
}

RANKS = {
    "identification_rank": Name("rank of the best mate; NaN where there is none"),
    "mate_distance": Name("score of the best mate; NaN where there is none", "score"),
    "nearest_other": Name("score of the nearest candidate of another subject", "score"),
    "closer": Name("candidates of other subjects closer than the best mate", "candidates"),
    "tied": Name("candidates of other subjects exactly as close", "candidates"),
    "mates": Name("usable mates", "candidates"),
    "others": Name("usable candidates of other subjects", "candidates"),
    "enrolled": Name("whether the probe's subject is in the gallery (1) or not (0)"),
}

GALLERY_SIZE = {
    "cms": CLOSED_SET["cms"],
    "recognition_rate": CLOSED_SET["recognition_rate"],
    **{k: OPEN_SET[k] for k in ("dir", "far", "frr", "genuine_attempts", "impostor_attempts")},
    "error_share": Name("share of all searches that end in a miss or a false accept"),
    "least_error_share": Name(
        "smallest error_share of any threshold, chosen on the same data (optimistic)"
    ),
    "least_error_threshold": Name("strictest threshold of least_error_share", "score"),
    "extrapolated": Name("whether CMS, DIR and FRR are extrapolated by a model (1) or exact (0)"),
    "far_extrapolated": Name("whether FAR is extrapolated by a model (1) or exact (0)"),
    "validation_cms_error": Name("error of CMS predicted from a part of the gallery, the largest"),
    "validation_far_error": Name("error of FAR predicted from a part of the gallery, the largest"),
}

TRACKING = {
    "mota": Name("multiple object tracking accuracy: 1 - (FN + FP + IDSW) / boxes of targets"),
    "motp": Name("multiple object tracking precision: mean overlap (IoU) of the matches"),
    "motp_distance": Name("mean of 1 - IoU over the matches: MOTP as a distance"),
    "recall": Name("share of the boxes of targets that are matched"),
    "precision": Name("share of the boxes of the result that are matched"),
    "far": Name("false alarm rate of CityFlow: FN + FP + IDSW in a frame", "errors/frame"),
    "fp_per_frame": Name("false positives in a frame (FAF of MOTChallenge)", "boxes/frame"),
    "idp": Name("identification precision: IDTP / (IDTP + IDFP)"),
    "idr": Name("identification recall: IDTP / (IDTP + IDFN)"),
    "idf1": Name("identification F1: 2 IDTP / (2 IDTP + IDFP + IDFN)"),
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
    "idtp": Name("boxes of targets under the one identity that stands for the target", "boxes"),
    "idfn": Name("other boxes of targets", "boxes"),
    "idfp": Name("other boxes of the result", "boxes"),
    "ignored_truth_boxes": Name("boxes of the ground truth that are ignored", "boxes"),
    "removed_result_boxes": Name("boxes of the result left out, on ignored ground truth", "boxes"),
}

TRACKING_TARGETS = {
    "frames_present": Name("frames in which the target is", "frames"),
    "frames_covered": Name("frames in which the target is matched", "frames"),
    "coverage": Name("share of the target's frames in which it is matched"),
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
    "better": Name("1 the first system is better, -1 the second, 0 cannot be told apart"),
    "supported": Name("1, or 0 where the impostor attempts are too few for the FAR target"),
}


TOP_K = {
    "cmc": Name("cumulative match characteristic: share of the queries matched at the rank"),
    "cmc_count": Name("queries whose first match has the rank or better", "queries"),
    "rank_k_mean_ap": Name("mean over the queries of the average precision of the list cut at K"),
    "rank_k": Name("rank K at which lists are cut"),
    "mean_ap": Name("mean average precision over the whole gallery"),
    "mean_inp": Name("mean over the queries of matches over the rank of the last match"),
    "queries": Name("queries in the means", "queries"),
    "skipped": Name("queries without a match in the gallery", "queries"),
    "beyond_lists": Name("queries with more matches than a list has places", "queries"),
    "rank_k_average_precision": Name("average precision of the list cut at K; NaN without a match"),
    "first_match_rank": Name("rank of the first match; NaN where none is listed"),
}

_FOLD_RATES = {
    "far": VERIFICATION["far"],
    "grr": VERIFICATION["grr"],
    "gar": VERIFICATION["gar"],
    "frr": VERIFICATION["frr"],
    "accuracy": Name("accuracy: share of all attempts that are decided rightly"),
    "hter": Name("half total error rate: (FAR + FRR) / 2"),
    "dir": OPEN_SET["dir"],
    "cms": CLOSED_SET["cms"],
}

_FOLD_COUNTS = {
    **{name: VERIFICATION[name] for name in ("ga", "fr", "fa", "gr")},
    **{name: VERIFICATION[name] for name in ("genuine_attempts", "impostor_attempts")},
    "cms_count": CLOSED_SET["cms_count"],
    "skipped": CLOSED_SET["skipped"],
}

_OVER_FOLDS = {
    "mean": "mean over folds",
    "sd": "standard deviation over folds",
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
}
for _name, _what in {**_FOLD_RATES, **_FOLD_COUNTS}.items():
    CROSS |= {_name: _what, f"train_{_name}": _of_training(_what)}
for _rate in (f"{_part}{_k}" for _k in _FOLD_RATES for _part in ("", "train_")):
    for _key, _words in _OVER_FOLDS.items():
        _units = "folds" if _key == "folds" else "1"
        CROSS[f"{_rate}_{_key}"] = Name(
            f"{CROSS[_rate].long_name}; {_words}", _units, CROSS[_rate].iso
        )

REPEATED = {
    **_FOLD_RATES,
    **_FOLD_COUNTS,
    "di": OPEN_SET["di"],
}
for _rate, _what in _FOLD_RATES.items():
    for _key, _words in {
        "mean": "mean over partitions",
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
        "impostor attempts, each pair of a symmetric matrix once", "attempts"
    ),
    "subjects": Name("subjects of the data", "subjects"),
}
for _rule in ("3", "30"):
    STUDY |= {
        f"impostors_for_{_rule}": Name(
            f"independent impostor attempts that the rule of {_rule} asks for", "attempts"
        ),
        f"more_for_{_rule}": Name(f"how many of them are missing, rule of {_rule}", "attempts"),
        f"subjects_for_{_rule}": Name(
            f"subjects with so many impostor attempts, rule of {_rule}", "subjects"
        ),
    }
for _rate in ("far", "frr", "hter"):
    STUDY |= {f"{_rate}_{_key}": CROSS[f"{_rate}_{_key}"] for _key in _OVER_FOLDS}

REID = {
    "cmc": Name(
        "cumulative match characteristic: share of the queries whose counted match has the rank "
        "or better",
        iso="TPIR(N, R, no threshold)",
    ),
    "cmc_count": Name("queries, or shares of them, with the rank or better", "queries"),
    "mean_ap": Name("mean average precision (mAP)"),
    "mean_inp": Name("mean inverse negative penalty (mINP): matches over the last one's rank"),
    "rank_k_mean_ap": Name("mean average precision of lists cut at rank K"),
    "queries": Name("queries that the means are over", "queries"),
    "skipped": Name("queries without a match, left out of the means", "queries"),
    "unmatched": Name("queries that have no match left", "queries"),
    "not_in_gallery": Name("of these, queries whose identity is not in the gallery", "queries"),
    "removed": Name("gallery entries that queries do not see, summed over queries", "comparisons"),
    "tied": Name("queries with a non-match exactly as close as one of their matches", "queries"),
    "average_precision": Name("average precision; NaN without a match"),
    "inp": Name("matches over the rank of the last one; NaN without a match"),
    "rank_k_average_precision": Name("average precision of the cut list; NaN without a match"),
    "first_match_rank": Name("rank of the first match; NaN without one"),
    "matches": Name("matches that the query sees", "entries"),
    "removed_entries": Name("gallery entries that the query does not see", "entries"),
}

GOM = {
    "mrp": Name("mean ranking precision: AP of what is returned, over the matches returned"),
    "mvp": Name("mean verification precision: TP / (TP + FN + FP)"),
    "mrep": Name("mean re-identification precision: sqrt(VP RP)"),
    "mfr": Name("mean false rate of the queries without a match: min(FP / B, 1)"),
    "precision": Name("mean share of matches in what is returned; 0 where nothing is"),
    "recall": Name("mean share of the matches that are returned"),
    "dir": Name("queries with a match within the threshold, at the rank or better"),
    "far": Name("queries not in the gallery that get anything back"),
    "ttr": Name("queries with a match in the gallery that get anything back"),
    "ttr_identity": Name("queries with a match in the gallery that get a match back"),
    "ftr": Name("queries not in the gallery that get anything back"),
    "mrep_area": Name("area under mReP over the thresholds (MREP)"),
    "mfr_area": Name("area under mFR over the thresholds (MFR)"),
    "tau_max": Name("first threshold where mReP is largest"),
    "tau_nz": Name("first threshold where mFR is above 0"),
    "max_mrep": Name("largest mReP"),
    "max_mvp": Name("largest mVP"),
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


VERIFICATION |= _ends(VERIFICATION, ("gar", "frr", "far", "grr", "frr_at_far", "eer", "auc"))
OPEN_SET |= _ends(OPEN_SET, ("dir", "far", "grr", "frr", "dir_at_far", "eer"))
CLOSED_SET |= _ends(CLOSED_SET, ("cms", "recognition_rate"))
