"""Every scalar of a result, described once.

One :class:`Scalar` says what a number means, how it is computed, how a table shows it and how two
systems are compared by it. Datasets, tables, JSON and CSV, comparisons, folds and repeated
partitions read it here: a new scalar is one entry, in this file or in that of its study.
:mod:`bioeval.base.registry` collects them.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self, get_args

import numpy as np

from bioeval.base.arguments import require_callable, require_flag, require_integer, require_text
from bioeval.base.errors import Argument, DataError, received, require_choice
from bioeval.base.rate_functions import tried_function

#: A rate as a quotient: the counts above and the attempts below, each summed.
Quotient = tuple[tuple[str, ...], tuple[str, ...]]


#: The abbreviations of ISO/IEC 19795-1 and ISO/IEC 30107-3 in full.
ISO_NAMES = {
    "FMR": "false match rate",
    "FNMR": "false non-match rate",
    "FPIR": "false-positive identification rate",
    "FNIR": "false-negative identification rate",
    "TPIR": "true-positive identification rate",
    "IAPAR": "impostor attack presentation accept rate",
    "RIAPAR": "relative impostor attack presentation accept rate",
    "APCER": "attack presentation classification error rate",
    "BPCER": "bona fide presentation classification error rate",
    "APNRR": "attack presentation non-response rate",
    "BPNRR": "bona fide presentation non-response rate",
}

#: What a value is: a proportion in per cent, a threshold in the units of the scores ...
ValueKind = Literal["rate", "number", "cost", "score", "count"]

#: What a label may have besides terms: where a value is.
PLACES = ("target", "prior", "rank", "level", "threshold")

#: What is stated of a threshold and holds at the number that is printed: a bound of ``"frr"``, so
#: that it is rounded to the looser side; of ``"far"``, to the stricter one, as all others are; what
#: the ``"rule"`` of the result bounds; or the rates at the ``"exact"`` number.
Kept = Literal["far", "frr", "exact", "rule"]

#: The results that may have a scalar.
RESULTS = ("task", "comparison", "folds", "gom")


@dataclass(frozen=True)
class Name:
    """Meaning of a variable of a result: words, units, and the term of ISO/IEC 19795-1.

    The unit ``"score"`` is that of a value whose sign and order turn with the kind of the scores,
    such as a threshold; a difference of two scores has ``"score difference"``. A table has the
    variable below its `heading`, a template, `shown` as a rate, a p-value, a count or a number of
    ``"3"`` digits where its ISO term, unit and type do not say what it is; a rate is `out_of` the
    variable with its denominator. A threshold says what it `keeps` when it is printed.
    """

    long_name: str
    units: str = "1"
    iso: str = ""
    heading: str = ""
    shown: Literal["", "rate", "p", "count", "3", "6"] = ""
    out_of: str = ""
    keeps: Kept | Literal[""] = ""

    @cached_property
    def _attrs(self) -> dict[str, str]:
        attrs = {"long_name": self.long_name, "units": self.units, "iso_term": self.iso}
        attrs |= {"heading": self.heading, "shown": self.shown, "out_of": self.out_of}
        attrs["keeps"] = self.keeps
        return {k: v for k, v in attrs.items() if v}

    def attrs(self) -> dict[str, str]:
        """Return the attributes of a variable of this name."""
        return self._attrs.copy()

    @property
    def symbol(self) -> str:
        """The ISO term without its arguments: ``TPIR`` of ``TPIR(N, R, T)``."""
        return self.iso.partition("(")[0]

    def bounds_of(self, name: str) -> dict[str, Name]:
        """Name the bounds of the variable `name` of this meaning, not known exactly."""
        return {
            f"{name}_at_least": Name(f"lower bound of {self.long_name}", self.units),
            f"{name}_at_most": Name(f"upper bound of {self.long_name}", self.units),
        }

    def ends_of(self, name: str) -> dict[str, Name]:
        """Name the confidence limits of the variable `name` of this meaning."""
        where = f"end of the interval (attribute interval_method) of {name}"
        return {
            f"{name}_low": Name(f"lower {where}", self.units),
            f"{name}_high": Name(f"upper {where}", self.units),
        }


@dataclass(frozen=True, kw_only=True)
class Scalar(Name):
    """A number of a result: its meaning, its computation and its presentation.

    It is computed in one of three ways: the attribute `name` of the operating points, a quotient
    of counts (`quotient`), or a function of FAR and FRR (`of_rates`), which must be monotone in
    each. The results that have it: ``"folds"`` at the threshold of each fold, ``"task"`` at each
    threshold, or, of a number of the task, once; ``"comparison"`` as a number.
    """

    name: str  # of the variable in datasets, JSON and CSV
    quotient: Quotient | None = None  # of a rate at one threshold
    of_rates: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    best: Literal["", "max", "min"] = ""  # which value over all operating points a task has
    threshold: str = ""  # variable of its threshold
    #: In tables and comparisons: a template with rates as terms of a document, and with
    #: :data:`PLACES`, such as ``"{frr} at {far} <= {target}"``.
    label: str = ""
    also: str = ""  # another name in use
    kind: ValueKind = "rate"  # what a reader is shown: a rate is in per cent
    #: In tables; of a class: enough to make one of its attempts visible.
    decimals: int | Literal["genuine", "impostor"] = "genuine"
    bounds: tuple[float, float] = (0.0, 1.0)  # smallest and largest possible value
    undefined: str = ""  # why it is not defined although there are attempts of both classes
    larger_is_better: bool = False
    #: Whether limits of its difference between two systems are by the studentised jackknife, where
    #: percentiles of the bootstrap hold too seldom; or the wider of both.
    jackknife: Literal["", "alone", "wider"] = ""
    results: tuple[str, ...] = ("task",)

    def __post_init__(self) -> None:
        """Refuse one name for the best value over all thresholds and the value at one of them."""
        if unknown := set(self.results) - set(RESULTS):
            raise TypeError(f"{self.name} has no results {sorted(unknown)}; expected of {RESULTS}")
        if (self.units == "score") != (self.kind == "score"):
            raise TypeError(f"{self.name} is a {self.kind} in the unit {self.units!r}")
        if self.kind in ("number", "cost") and not isinstance(self.decimals, int):
            raise TypeError(f"{self.name} is not in per cent; give its number of decimals")
        if not self.best:
            return
        if "folds" in self.results:
            raise TypeError(
                f"{self.name} is the best value over all thresholds, but folds have the value at "
                "one threshold; declare a separate scalar without best"
            )
        if not self.name.startswith(f"{self.best}_"):
            raise TypeError(f"the name is {self.name}; expected {self.best}_{self.name}")

    def with_threshold(self) -> tuple[Scalar, ...]:
        """Return the scalar and, of a best value, the threshold at which it is reached."""
        if not self.best:
            return (self,)
        name = f"{self.name}_threshold"
        words = f"strictest threshold at which {self.name} is reached"
        return replace(self, threshold=name), threshold_scalar(words, name)

    @property
    def places(self) -> tuple[str, ...]:
        """The places in the label, such as ``("target",)``."""
        fields = [name for _, name, _, _ in string.Formatter().parse(self.label)]
        return tuple(name for name in fields if name in PLACES)

    def require_free(self, taken: Container[str]) -> None:
        """Raise :class:`DataError` if a variable of the scalar has a name that cannot be used."""
        name = require_text("name", self.name)
        if not name.isidentifier():
            raise DataError(
                f"{Argument('name', name)} is no name of a variable; expected as in max_f1"
            )
        import xarray as xr

        for variable in (x.name for x in self.with_threshold()):
            if variable in taken:
                raise DataError(f"{Argument('name', name)}: there is a variable {variable} already")
            if hasattr(xr.Dataset, variable):
                raise DataError(f"{Argument('name', name)}: datasets have a method {variable}")

    def checked(self, taken: Container[str]) -> Self:
        """Return the scalar of a script, its function tried.

        Raise :class:`DataError` unless its names are free and its parts are usable.
        """
        self.require_free(taken)
        require_text("meaning", self.long_name)
        require_text("label", self.label)
        require_choice("kind", self.kind, get_args(ValueKind))
        require_flag("larger_is_better", self.larger_is_better)
        if self.decimals not in ("genuine", "impostor"):
            require_integer("decimals", self.decimals, low=0)
        bounds = _checked_bounds(self.bounds)
        if self.of_rates is not None and self.quotient is not None:
            raise DataError(f"expected one of {Argument('of_rates')} and {Argument('quotient')}")
        if self.best and self.of_rates is None:
            raise DataError(f"{Argument('best', self.best)} needs {Argument('of_rates')}")
        quotient = self.quotient
        if quotient is not None:
            quotient = _checked_quotient(quotient)
        of_rates = require_callable("of_rates", self.of_rates)
        if of_rates is not None:
            of_rates = tried_function(of_rates, bounds)
        return replace(self, bounds=bounds, quotient=quotient, of_rates=of_rates)

    def place_of_best(self, far: np.ndarray, frr: np.ndarray) -> int:
        """Return the first operating point, of those in increasing order, with the best value."""
        values = self._of_points(far, frr)
        if self.best == "max":
            return int(values.argmax())
        return int(values.argmin())

    def _of_points(self, far: np.ndarray, frr: np.ndarray) -> np.ndarray:
        if self.of_rates is None or not self.best:
            raise TypeError(f"{self.name} is not the best value of a function of FAR and FRR")
        return self.of_rates(far, frr)

    def over_points(self, far: np.ndarray, frr: np.ndarray) -> np.ndarray:
        """Return the best value over operating points, the first axis of `far` and `frr`."""
        values = self._of_points(far, frr)
        if self.best == "max":
            return values.max(axis=0)
        return values.min(axis=0)

    def scaled(self, values: np.ndarray) -> np.ndarray:
        """Return values as proportions of the way from the smallest possible to the largest."""
        low, high = self.bounds
        return (values - low) / (high - low)

    def unscaled(self, proportions: np.ndarray) -> np.ndarray:
        """Return the values of proportions made by :meth:`scaled`."""
        low, high = self.bounds
        return low + proportions * (high - low)


def threshold_scalar(meaning: str, name: str, keeps: Kept = "far") -> Scalar:
    """Return the scalar of a threshold of an operating point."""
    return Scalar(meaning, "score", name=name, kind="score", keeps=keeps)


def _checked_bounds(bounds: Any) -> tuple[float, float]:
    """Return the smallest and the largest possible value."""
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not low < high:
        raise DataError(
            f"{Argument('bounds')} is {received(bounds)}; expected two increasing numbers"
        )
    return low, high


def _checked_quotient(quotient: Any) -> Quotient:
    """Return the names of counts above and below."""
    try:
        above, below = map(tuple, quotient)
    except (TypeError, ValueError):
        above, below = (), ()
    unknown = [x for x in (*above, *below) if x not in COUNTS]
    if unknown or not above or not below or isinstance(quotient[0], str):
        listed = ", ".join(COUNTS)
        raise DataError(
            f"{Argument('quotient')} is {received(quotient)}; expected two tuples of the counts "
            f"{listed}"
        )
    return above, below


@dataclass(frozen=True, kw_only=True)
class MeanOverQueries(Scalar):
    """A mean over the queries of re-identification; its table row follows those declared before it.

    An infinite bound is the number of entries in the gallery, as of a rank. Queries without a match
    count 0 where a convention has them count; unless larger is better the mean is then NaN.
    """

    #: What a match adds to its query, from its place among the matches, its rank and the number of
    #: matches. It must be monotone in the rank: top-K lists have it where they determine it.
    of_match: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray] | None = None
    of_query: tuple[str, str]  # name and meaning of the value of each
    #: Whether what a match adds depends on its rank and the number of matches alone: under expected
    #: ties the mean over all orders of the tied is then the mean over their ranks.
    of_rank: bool = False
    cut: bool = False  # of lists cut at rank K
    larger_is_better: bool = True
    jackknife: Literal["", "alone", "wider"] = "alone"
    results: tuple[str, ...] = ("task", "comparison")  # and "gom"

    @property
    def each(self) -> Name:
        """The value of each query."""
        return Name(f"{self.of_query[1]}; NaN without a match")

    def within(self, entries: int) -> Scalar:
        """Return the mean with its largest possible value in a gallery of some entries."""
        low, high = self.bounds
        return replace(self, bounds=(low, min(high, max(entries, low + 1.0))))


_GENUINE, _IMPOSTOR = ("genuine_attempts",), ("impostor_attempts",)

# ------------------------------------------------------------------------- rates at a threshold

VERIFICATION_RATES = (
    Scalar(
        "false accept rate: proportion of the impostor attempts that are accepted",
        iso="FMR",
        name="far",
        quotient=(("fa",), _IMPOSTOR),
        label="{far}",
        decimals="impostor",
        results=("task", "folds"),
    ),
    Scalar(
        "genuine reject rate: proportion of the impostor attempts that are rejected",
        iso="1 - FMR",
        name="grr",
        quotient=(("gr",), _IMPOSTOR),
        larger_is_better=True,
        results=("task", "folds"),
    ),
    Scalar(
        "genuine accept rate: proportion of the genuine attempts that are accepted",
        iso="1 - FNMR",
        name="gar",
        quotient=(("ga",), _GENUINE),
        larger_is_better=True,
        results=("task", "folds"),
    ),
    Scalar(
        "false reject rate: proportion of the genuine attempts that are rejected",
        iso="FNMR",
        name="frr",
        quotient=(("fr",), _GENUINE),
        label="{frr}",
        results=("task", "folds"),
    ),
    Scalar(
        "accuracy: proportion of all attempts that are classified correctly",
        name="accuracy",
        quotient=(("ga", "gr"), (*_GENUINE, *_IMPOSTOR)),
        label="accuracy",
        larger_is_better=True,
        results=("folds",),
    ),
    Scalar(
        "half total error rate: (FAR + FRR) / 2",
        name="hter",
        of_rates=lambda far, frr: (far + frr) / 2,
        label="HTER",
        results=("folds",),
    ),
)

# ----------------------------------------------------------------------------- operating points

EQUAL_ERROR = (
    Scalar(
        "equal error rate, interpolated where FAR and FRR cross",
        name="eer",
        threshold="eer_threshold",
        label="EER",
        results=("task", "comparison"),
    ),
    threshold_scalar("attainable threshold with the smallest larger rate there", "eer_threshold"),
    Scalar("FAR at the EER threshold", name="far_at_eer"),
    Scalar("FRR at the EER threshold", name="frr_at_eer"),
    Scalar("lower end of the EER bracket (FVC)", name="eer_bracket_low"),
    Scalar("upper end of the EER bracket (FVC)", name="eer_bracket_high"),
)

#: EER where one may draw between two thresholds.
EER_HULL = Scalar(
    "EER on the convex hull of the ROC (ROCCH)",
    name="eer_hull",
    label="EER on the hull",
    results=("task", "comparison"),
    jackknife="wider",
)

_OTHER_POINTS = (
    EER_HULL,
    Scalar(
        "area under the ROC: probability that a genuine score ranks above an impostor score, ties "
        "one half (Mann-Whitney)",
        name="auc",
        label="AUC",
        kind="number",
        decimals=5,
        larger_is_better=True,
        results=("task", "comparison"),
        jackknife="alone",
    ),
    Scalar(
        "absolute difference of the class means over the root mean of the class variances (d')",
        name="d_prime",
        label="d'",
        kind="number",
        decimals=3,
        bounds=(0.0, np.inf),
        undefined="the scores of both classes have no spread",
        larger_is_better=True,
    ),
    Scalar(
        "smallest FRR without any false accept (ZeroFMR)",
        iso="FNMR at FMR 0",
        name="zero_far",
        threshold="zero_far_threshold",
        label="{frr} at {far} = 0",
        also="ZeroFMR",
    ),
    threshold_scalar("loosest threshold without any false accept", "zero_far_threshold"),
    Scalar(
        "smallest FAR without any false reject (ZeroFNMR)",
        iso="FMR at FNMR 0",
        name="zero_frr",
        threshold="zero_frr_threshold",
        label="{far} at {frr} = 0",
        also="ZeroFNMR",
        decimals="impostor",
    ),
    threshold_scalar("strictest threshold without any false reject", "zero_frr_threshold", "frr"),
)

#: Those at each FAR or FRR target and at each cost of a decision.
FRR_AT_FAR = Scalar(
    "smallest FRR with FAR at most the target",
    iso="FNMR at FMR",
    name="frr_at_far",
    threshold="threshold_at_far",
    label="{frr} at {far} <= {target}",
    results=("task", "comparison"),
)

FAR_AT_FRR = Scalar(
    "smallest FAR with FRR at most the target",
    iso="FMR at FNMR",
    name="far_at_frr",
    threshold="threshold_at_frr",
    label="{far} at {frr} <= {target}",
    decimals="impostor",
    results=("task", "comparison"),
)

#: FRR at a FAR with failures to acquire and to enrol.
WITH_FAILURES = (
    Scalar(
        "smallest FTA + FRR (1 - FTA) with FAR at most the target",
        iso="FRR at FMR",
        name="frr_iso_at_far",
        threshold="threshold_at_far",
        label="{frr} with FTA at {far} <= {target}",
    ),
    Scalar(
        "smallest FTE + (1 - FTE) (FTA + FRR (1 - FTA)) with FAR at most the target",
        iso="GFRR at FMR",
        name="gfrr_at_far",
        threshold="threshold_at_far",
        label="GFRR at {far} <= {target}",
    ),
)

MIN_DCF = Scalar(
    "smallest expected cost min_cost, divided by that of the better trivial decision, "
    "min(p c_miss, (1 - p) c_fa)",
    "cost",
    name="min_dcf",
    threshold="min_cost_threshold",
    label="minDCF at prior {prior}",
    kind="cost",
    decimals=4,
    bounds=(0.0, 1.0),  # the trivial decisions are among those that it is the least of
    results=("task", "comparison"),
    jackknife="wider",
)

# ------------------------------------------------------------------------------- identification

DIR = Scalar(
    "detection and identification rate: proportion of the genuine attempts whose mate is within "
    "the threshold and at rank R or better",
    iso="TPIR(N, R, T)",
    name="dir",
    quotient=(("di",), _GENUINE),
    label="{dir}",
    larger_is_better=True,
    results=("task", "folds"),
)

CMS = Scalar(
    "cumulative match score: proportion of the probes whose best mate is at rank R or better",
    iso="TPIR(N, R, no threshold)",
    name="cms",
    quotient=(("cms_count",), ("attempts",)),
    label="{cms}",
    larger_is_better=True,
    results=("task", "folds"),
)

RECOGNITION_RATE = Scalar(
    "recognition rate: CMS at rank 1",
    iso="TPIR(N, 1, no threshold)",
    name="recognition_rate",
    label="recognition rate",
    larger_is_better=True,
    results=("task", "comparison"),
    jackknife="alone",
)

DIR_AT_FAR = Scalar(
    "largest DIR with FAR at most the target",
    iso="TPIR(N, R, T) at FPIR",
    name="dir_at_far",
    threshold="threshold_at_far",
    label="{dir} at {far} <= {target}, rank 1",
    larger_is_better=True,
    results=("task", "comparison"),
    jackknife="wider",
)

OPEN_SET_EER = replace(
    EQUAL_ERROR[0], label="EER, rank 1", undefined="{far} and 1 - {dir} do not cross"
)

# ---------------------------------------------------------------------------- re-identification

CMC = Scalar(
    "cumulative match characteristic: proportion of the queries whose first counted match is "
    "at rank R or better",
    iso="TPIR(N, R, no threshold)",
    name="cmc",
    label="CMC({rank})",
    larger_is_better=True,
    results=("task", "comparison"),
    jackknife="alone",
)


def _ndcg(place: np.ndarray, rank: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return what a match adds to NDCG, over the sum of an ideal ranking of all matches."""
    ideal = np.cumsum(1 / np.log2(1.0 + np.arange(1, number.max(initial=0) + 1)))
    return 1 / np.log2(1.0 + rank) / ideal[number - 1]


_QUERY_MEANS = (
    MeanOverQueries(
        "mean average precision (mAP)",
        name="mean_ap",
        of_query=("average_precision", "average precision"),
        label="mAP",
        results=("task", "comparison", "gom"),
    ),
    MeanOverQueries(
        "mean average precision of lists cut at rank K (its divisor: attribute rank_k_over)",
        name="rank_k_mean_ap",
        of_query=("rank_k_average_precision", "average precision of the cut list"),
        label="rank-{rank} mAP",
        cut=True,
    ),
    MeanOverQueries(
        "mean inverse negative penalty (mINP): matches over the last one's rank",
        name="mean_inp",
        of_match=lambda place, rank, number: np.where(place == number, number / rank, 0.0),
        of_query=("inp", "matches over the rank of the last one"),
        label="mINP",
        results=("task", "comparison", "gom"),
    ),
    MeanOverQueries(
        "mean reciprocal rank (MRR): 1 over the rank of the first match",
        name="mrr",
        of_match=lambda place, rank, number: np.where(place == 1, 1 / rank, 0.0),
        of_query=("reciprocal_rank", "1 over the rank of the first match"),
        label="MRR",
    ),
    MeanOverQueries(
        "R-precision: proportion of matches among the first R entries, R the number of matches of "
        "the query; mean over the queries",
        name="r_precision",
        of_match=lambda place, rank, number: (rank <= number) / number,
        of_rank=True,
        of_query=(
            "query_r_precision",
            "proportion of matches among the first R entries, R their number",
        ),
        label="R-precision",
    ),
    MeanOverQueries(
        "MAP@R: sum of the precision at each match among the first R entries, over R, the number "
        "of matches of the query; mean over the queries",
        name="mean_ap_at_r",
        of_match=lambda place, rank, number: np.where(rank <= number, place / rank / number, 0.0),
        of_query=(
            "query_ap_at_r",
            "sum of the precision at each match among the first R entries, over R, their number",
        ),
        label="MAP@R",
    ),
    MeanOverQueries(
        "normalised discounted cumulative gain (NDCG): sum of 1 / log2(1 + rank) of the matches, "
        "over that of an ideal ranking; mean over the queries",
        name="ndcg",
        of_match=_ndcg,
        of_rank=True,
        of_query=("query_ndcg", "normalised discounted cumulative gain of the query"),
        label="NDCG",
    ),
)

#: Over the ranks, besides the CMC.
RANKED_LISTS = (
    Scalar(
        "precision at rank K: matches at rank K or better, over K (or over the smaller of K and "
        "the query's matches: attribute precision_over); mean over the queries",
        name="precision_at_k",
        label="precision at rank {rank}",
        larger_is_better=True,
    ),
    Scalar(
        "recall at rank K: proportion of a query's matches at rank K or better; mean over the "
        "queries",
        name="recall_at_k",
        label="recall at rank {rank}",
        larger_is_better=True,
    ),
)

INTERPOLATED_PRECISION = Scalar(
    "largest precision at a recall level or beyond; mean over the queries",
    name="interpolated_precision",
    label="interpolated precision at recall {level}",
    larger_is_better=True,
)

#: Of what a query retrieves within a threshold.
RETRIEVED_SETS = (
    Scalar(
        "mean proportion of matches among the retrieved entries; 0 where none is retrieved",
        name="precision",
        label="precision within {threshold}",
        larger_is_better=True,
    ),
    Scalar(
        "mean proportion of the matches that are retrieved",
        name="recall",
        label="recall within {threshold}",
        larger_is_better=True,
    ),
    Scalar(
        "mean F1 of the queries: 2 TP / (2 TP + FP + FN) of the entries that each retrieves",
        name="f1",
        label="F1 within {threshold}",
        larger_is_better=True,
    ),
    Scalar(
        "F1 of the entries that all queries retrieve together, those without a match included",
        name="micro_f1",
        label="micro F1 within {threshold}",
        larger_is_better=True,
    ),
)

#: Of claims drawn at random, by probes of subjects who are not enrolled.
FAR_UNENROLLED = Scalar(
    "proportion of the claims by probes who are not enrolled that are accepted",
    name="far_unenrolled",
    quotient=(("fa_unenrolled",), ("unenrolled_attempts",)),
    label="{far} of probes not enrolled",
    decimals="impostor",
    results=("folds",),
)

#: GOM: the curves mReP, mVP and mFR over the thresholds as one number each.
GOM_POINTS = (
    Scalar("largest mVP", name="max_mvp", label="max mVP", larger_is_better=True),
    Scalar(
        "largest mReP",
        name="max_mrep",
        threshold="tau_max",
        label="max mReP",
        larger_is_better=True,
    ),
    Scalar(
        "first threshold where mReP is largest",
        name="tau_max",
        label="tau_max",
        kind="number",
        decimals=2,
    ),
    Scalar(
        "first threshold where mFR is above 0",
        name="tau_nz",
        label="tau_nz",
        kind="number",
        decimals=2,
        undefined="mFR is nowhere above 0",
    ),
    Scalar(
        "area under mReP over the thresholds (MREP)",
        name="mrep_area",
        label="MREP",
        larger_is_better=True,
    ),
    Scalar("area under mFR over the thresholds (MFR)", name="mfr_area", label="MFR"),
    Scalar(
        "largest mean F1 of the queries",
        name="max_f1",
        threshold="tau_f1",
        label="max F1",
        larger_is_better=True,
    ),
    Scalar(
        "first threshold where the mean F1 of the queries is largest",
        name="tau_f1",
        label="tau_f1",
        kind="number",
        decimals=2,
    ),
)

# ------------------------------------------------------------------------------------ selections

VERIFICATION_SCALARS = tuple(
    scalar
    for declared in (*VERIFICATION_RATES, *EQUAL_ERROR, *_OTHER_POINTS)
    for scalar in declared.with_threshold()
)

#: The rates of a decision over the threshold, in the order of their variables.
_BY_NAME = {scalar.name: scalar for scalar in VERIFICATION_SCALARS}
DECISIONS = tuple(_BY_NAME[name] for name in ("gar", "frr", "far", "grr"))


#: Every scalar of the tasks.
CORE_SCALARS = (
    *(*VERIFICATION_SCALARS, FRR_AT_FAR, FAR_AT_FRR, *WITH_FAILURES),
    MIN_DCF,
    *(DIR, CMS, RECOGNITION_RATE, DIR_AT_FAR, CMC, *_QUERY_MEANS, *RANKED_LISTS),
    *(INTERPOLATED_PRECISION, *RETRIEVED_SETS, FAR_UNENROLLED, *GOM_POINTS),
)


def points_among(scalars: Iterable[Scalar]) -> tuple[Scalar, ...]:
    """Return the scalars that are one number of a task, besides those of the EER."""
    points = []
    for scalar in scalars:
        is_point = scalar.quotient is None and (scalar.of_rates is None or scalar.best)
        if is_point and scalar not in EQUAL_ERROR:
            points.append(scalar)
    return tuple(points)


def rates_among(scalars: Iterable[Scalar]) -> dict[str, list[Scalar]]:
    """Return the scalars that are rates at a threshold, by the results that have them."""
    rates: dict[str, list[Scalar]] = {"folds": [], "task": []}
    for scalar in scalars:
        if (scalar.quotient or scalar.of_rates) and not scalar.best:
            for result in rates.keys() & scalar.results:
                rates[result].append(scalar)
    return rates


#: The counts that a quotient of verification may have.
COUNTS = ("ga", "fr", "fa", "gr", *_GENUINE, *_IMPOSTOR)

#: Operating points of each test part by itself, averaged over folds and repeats, by task.
POINTS_OF_PARTS: Mapping[str, tuple[Scalar, ...]] = {
    "verification": (EQUAL_ERROR[0], _BY_NAME["auc"], FRR_AT_FAR, FAR_AT_FRR, MIN_DCF),
    "open_set": (OPEN_SET_EER, DIR_AT_FAR),
    "closed_set": (RECOGNITION_RATE,),
}

#: The means over queries by name and, of these, what is a sum over the matches of a query.
QUERY_MEANS = {scalar.name: scalar for scalar in _QUERY_MEANS}
MATCH_SUMS = {scalar.name: scalar for scalar in _QUERY_MEANS if scalar.of_match}


def rates_of(scalars: Iterable[Scalar], known: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return rates that are not given, of counts that are; NaN without attempts."""
    values_of = dict(known)
    for scalar in sorted(scalars, key=lambda x: x.of_rates is not None):
        if scalar.name in values_of:
            continue
        if scalar.quotient:
            counts, attempts = scalar.quotient
            if values_of.keys() >= {*counts, *attempts}:
                above = sum(values_of[name] for name in counts)
                below = sum(values_of[name] for name in attempts)
                values_of[scalar.name] = above / np.where(below > 0, below, np.nan)
        elif scalar.of_rates is not None:
            values_of[scalar.name] = scalar.of_rates(values_of["far"], values_of["frr"])
    return {name: values for name, values in values_of.items() if name not in known}


#: Of log-likelihood ratios that are learnt in folds, which no summed counts give.
CALIBRATION_POINTS = (
    Scalar(
        "cost of the log-likelihood ratios (Cllr)",
        "bits",
        name="cllr",
        label="Cllr",
        kind="number",
        decimals=4,
        bounds=(0.0, np.inf),
        results=("folds",),
    ),
    Scalar(
        "Cllr after isotonic regression: the least by any monotone map",
        "bits",
        name="min_cllr",
        label="min Cllr",
        kind="number",
        decimals=4,
        bounds=(0.0, 1.0),
        results=("folds",),
    ),
)
