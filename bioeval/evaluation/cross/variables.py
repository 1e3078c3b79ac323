"""The variables of folds, of repeated partitions and of threshold studies, each described once."""

from __future__ import annotations

from bioeval.base import scalars
from bioeval.base.scalars import AVERAGED, POINTS_OF, RATES_OF, Name
from bioeval.base.variables import CLOSED_SET, OPEN_SET, VERIFICATION, picked
from bioeval.evaluation.assured import ASSURED

_FOLD_COUNTS = {
    **picked(VERIFICATION, "ga", "fr", "fa", "gr", "genuine_attempts", "impostor_attempts"),
    "cms_count": CLOSED_SET["cms_count"],
    "skipped": CLOSED_SET["skipped"],
    **picked(VERIFICATION, "fa_unenrolled", "unenrolled_attempts"),
    "ia": Name("attack attempts accepted", "attempts"),
    "attack_attempts": Name("attack attempts", "attempts"),
}

_SEEN_COUNTS = {
    f"{name}_{which}": Name(
        f"{VERIFICATION[name].long_name}: probes of subjects {also} in the training part",
        VERIFICATION[name].units,
    )
    for name in ("fr", "fa", "genuine_attempts", "impostor_attempts")
    for which, also in (("seen", "also"), ("unseen", "not"))
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


CROSS = {
    "threshold": Name("threshold chosen on the training part", "score", "threshold T"),
    "assured_threshold": Name(
        "threshold whose FAR is assured to be at most the target, from the training part", "score"
    ),
    "assured_limit": Name(
        "one-sided upper limit of its FAR on the training part, a mean over pairs of people",
        iso="FMR",
    ),
    "assured_reason": Name("why no threshold can be promised; empty where one is", ""),
    "assured_refused": Name("folds in which no threshold can be promised", "folds"),
    "train_subjects": Name("subjects of the training part (pairs without subjects: pairs)"),
    "test_subjects": Name("subjects of the test part (pairs without subjects: pairs)"),
    "crossing_pairs": Name("pairs of a subject of the test part and one outside it", "pairs"),
    "reduced_galleries": Name(
        "probes of the test part with fewer templates of their subject to be compared with than "
        "are enrolled, because of exclude",
        "probes",
    ),
}

_AT_ASSURED = {
    f"assured_{_name}": Name(f"at the assured threshold: {_what.long_name}", _what.units, _what.iso)
    for _name, _what in {**AVERAGED, **_FOLD_COUNTS}.items()
    if _name in ("far", "frr", "fa", "fr")
}

for _name, _what in {**AVERAGED, **_FOLD_COUNTS, **_AT_ASSURED}.items():
    _own = f"on the training part: {_what.long_name}"
    CROSS |= {_name: _what, f"train_{_name}": Name(_own, _what.units, _what.iso)}

CROSS |= _SEEN_COUNTS

for _rate in (
    f"{_part}{_k}" for _k in (*AVERAGED, "assured_far", "assured_frr") for _part in ("", "train_")
):
    for _key, _words in _OVER_FOLDS.items():
        _units = "folds" if _key == "folds" else "1"
        CROSS[f"{_rate}_{_key}"] = Name(
            f"{CROSS[_rate].long_name}; {_words}", _units, CROSS[_rate].iso
        )

_RATES: dict[str, Name] = {scalar.name: scalar for scalar in RATES_OF["repeats"]}
_RATES |= {"dir": scalars.DIR, "cms": scalars.CMS}

REPEATED = {**_RATES, **_FOLD_COUNTS, "di": OPEN_SET["di"]}
REPEATED["reduced_galleries"] = Name(
    "probes of the partition with fewer templates of their subject to be compared with than are "
    "enrolled, because of exclude",
    "probes",
)

_POINTS = {scalar.name: scalar for points in POINTS_OF.values() for scalar in points}

REPEATED |= _POINTS

for _rate, _what in {**_RATES, **_POINTS}.items():
    for _key, _words in {
        "mean": "mean over partitions",
        "sd": "standard deviation over partitions",
        "low": "lower end of the band over partitions",
        "high": "upper end of the band over partitions",
    }.items():
        REPEATED[f"{_rate}_{_key}"] = Name(f"{_what.long_name}; {_words}", "1", _what.iso)

STUDY = {
    "threshold": Name("threshold chosen on all data", "score", "threshold T"),
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
    "unenrolled_people": Name("people of open set who search and are not enrolled", "subjects"),
    **ASSURED,
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

for _rate, _iso in (("far", "FMR"), ("frr", "FNMR")):
    for _key, _words in _OVER_FOLDS.items():
        STUDY[f"new_assured_{_rate}_{_key}"] = Name(
            f"{_rate.upper()} on new people at assured thresholds, first division; {_words}",
            "folds" if _key == "folds" else "1",
            _iso,
        )
