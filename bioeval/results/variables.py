"""The descriptions of all variables in the results of tasks, and methods of intervals in words.

The file has the class :class:`Variable`, a table of variables for each task (``VERIFICATION``,
``OPEN_SET``, ``CLOSED_SET``, ``REID``, ``GOM``), and functions that choose from them. An entry is a
name in a dataset and its description::

    far=_rate(
        "false accept rate: proportion of the impostor attempts that are accepted",
        "FMR",  # the term of ISO/IEC 19795-1
        T,  # its dimensions: the threshold
        label="{far}",  # in tables, by the user's choice of names FAR or FMR
        **_counts_over("impostor", "fa"),  # the quotient fa / impostor_attempts
    )

Variables of a single study are described beside its call; :func:`entries` takes others from here.
:func:`bioeval.results.dataset.dataset` makes a dataset from values and a table of descriptions.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

#: Methods of intervals whose name alone does not say what is done.
_METHODS = {
    "people": "jackknife over people",
    "subject-bootstrap": "bootstrap over people",
    "sequence-jackknife": "jackknife over sequences",
    "nadeau-bengio": "Nadeau and Bengio (approximate)",
    "quantile": "the middle of the values (no confidence interval)",
}


def percent(rate: float, digits: str = "") -> str:
    """Return a rate in per cent; by default with two decimals, or two digits below 0.1 %."""
    if not digits:
        digits = ".2g" if 0 < rate < 0.001 else ".2f"
    return f"{100 * rate:{digits}} %"


def method_in_words(name: str) -> str:
    return _METHODS.get(name, name)


#: The ending of the name of the nearest score that a threshold does not accept.
NEXT = "_next"

#: The ending of the name of the variable that says whether the data support a number at a target.
SUPPORTED = "_supported"

#: Units of the values of variables. Text has none; a difference has the unit of its measure.
UNITS = (
    *("proportion", "p", "score", "cost", "1", "attempts", "subjects", "templates"),
    *("probes", "pairs", "partitions", "queries", "candidates", "entries", "comparisons"),
    *("boxes", "frames", "targets", "identities", "events", "per frame"),
)

#: The places that a label may name, besides terms.
PLACES = ("target", "prior", "rank", "level", "threshold")


@dataclass(frozen=True)
class Variable:
    """The meaning of a variable of a result, its dimensions, and how it is shown and compared.

    Texts and decimals are attributes of the variable in a dataset, so that a dataset can be shown
    without a table. The unit is one of :data:`UNITS`; ``"score"`` is the unit of a value that is
    negated if scores are similarities, such as a threshold.
    """

    long_name: str
    units: str = ""
    iso: str = ""  # the term of ISO/IEC 19795-1
    dims: tuple[str, ...] = ()
    _: KW_ONLY
    name: str = ""  # name of a variable that is computed or compared by its description
    #: A count, a threshold or a number of so many digits, where unit and type do not say it.
    #: Of a dimension, whether tables have the worst places alone, the worst first.
    shown: Literal["", "count", "threshold", "3", "6", "worst"] = ""
    #: The variables whose sum is the denominator of a proportion, unless there is a `quotient`; or
    #: the attempts of a class, one of which has to be visible.
    out_of: str = ""

    #: The label of its row or column in tables: a template with rates as terms of a document, and
    #: with :data:`PLACES`, such as ``"{frr} at {far} <= {target}"``; by default, its name.
    label: str = ""
    also: str = ""  # other names in use
    #: Whether it is in every table, in verbose tables alone, or in data (frame, JSON) alone, as are
    #: all variables without a label.
    detail: Literal["", "verbose", "data"] = ""
    decimals: int | None = None  # decimals of a number; a proportion is in per cent
    threshold: str = ""  # variable of its threshold; a curve has the threshold of each place
    #: For a dimension, the title of a table with a row for each label, and how tables write labels.
    title: str = ""
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    undefined: str = ""  # why it may be undefined although there are attempts of both classes

    #: The counts and the attempts, each summed, whose quotient the variable is at a threshold.
    quotient: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    #: The function of FAR and FRR, monotone in each, that the variable is at a threshold.
    of_rates: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None

    measure: str = ""  # variable whose statistic this variable is
    statistic: str = ""  # such as a difference, a p-value, a rank

    direction: Literal["", "smaller", "larger"] = ""  # which values of a measure are better
    bounds: tuple[float, float] = (0.0, 1.0)  # smallest and largest possible value
    #: Whether its threshold is chosen on the data, so that the standard error of a difference
    #: between two systems comes from people drawn again.
    quantile: bool = False

    @cached_property
    def attrs(self) -> dict[str, str | int]:
        """The attributes of the variable in a dataset, without empty ones."""
        detail: str = self.detail
        if not detail and not self.label:
            detail = "data"
        threshold = self.threshold
        if not threshold and "threshold" in self.dims:
            threshold = "threshold"
        texts = {
            "long_name": self.long_name,
            "units": self.units,
            "iso_term": self.iso,
            "label": self.label,
            "also": self.also,
            "detail": detail,
            "shown": self.shown,
            "direction": self.direction,
            "undefined": self.undefined,
            "title": self.title,
            **{f"label_{label}": text for label, text in self.labels.items()},
            "out_of": " ".join(self.denominator),
            "threshold": threshold,
            "measure": self.measure,
            "statistic": self.statistic,
        }
        attrs: dict[str, str | int] = {name: text for name, text in texts.items() if text}
        if self.decimals is not None:
            attrs["decimals"] = self.decimals
        return attrs

    @cached_property
    def variables_named(self) -> frozenset[str]:
        """The variables that the attributes name: the denominator and the threshold."""
        return frozenset((*self.denominator, *str(self.attrs.get("threshold", "")).split()))

    def attrs_among(self, names: Collection[str]) -> dict[str, str | int]:
        """Return the attributes in a dataset of the variables `names`, naming no other variable."""
        attrs = dict(self.attrs)
        if not all(name in names for name in self.denominator):
            attrs.pop("out_of", None)
        if attrs.get("threshold") not in names:
            attrs.pop("threshold", None)
        return attrs

    @property
    def larger_is_better(self) -> bool:
        return self.direction == "larger"

    @property
    def denominator(self) -> tuple[str, ...]:
        """The variables whose sum is the denominator of a proportion."""
        if self.quotient is not None:
            return self.quotient[1]
        return tuple(self.out_of.split())

    @property
    def kind(self) -> Literal["rate", "number", "cost", "score"]:
        """The kind of number: a rate is shown in per cent, a score has the units of scores."""
        if self.units == "proportion":
            return "rate"
        if self.units == "cost":
            return "cost"
        return "score" if self.units == "score" else "number"

    @property
    def places(self) -> tuple[str, ...]:
        """The places in the label, such as ``("target",)``."""
        fields = [name for _, name, _, _ in string.Formatter().parse(self.label)]
        return tuple(name for name in fields if name in PLACES)

    def place_of_best(self, far: np.ndarray, frr: np.ndarray) -> int:
        """Return the index of the first operating point with the best value."""
        assert self.of_rates is not None
        values = self.of_rates(far, frr)
        return int(values.argmax() if self.larger_is_better else values.argmin())

    def best(self, far: np.ndarray, frr: np.ndarray) -> np.ndarray:
        """Return the best value over operating points, the first axis of `far` and `frr`."""
        assert self.of_rates is not None
        values = self.of_rates(far, frr)
        return values.max(axis=0) if self.larger_is_better else values.min(axis=0)

    def scaled(self, values: np.ndarray) -> np.ndarray:
        """Return values as proportions of the range from the smallest possible to the largest."""
        low, high = self.bounds
        return (values - low) / (high - low)

    def unscaled(self, proportions: np.ndarray) -> np.ndarray:
        """Return the values from proportions that :meth:`scaled` made."""
        low, high = self.bounds
        return low + proportions * (high - low)


#: The ranks that are shown, unless the protocol card names others.
RANKS = (1, 5, 10)

# --------------------------------------------------------------------------------------- dimensions

# Dimensions, as the tables below write them.
T, R, TR = ("threshold",), ("rank",), ("threshold", "rank")
FAR_TARGET, FRR_TARGET, COST = ("far_target",), ("frr_target",), ("cost",)
PROBE, RECALL = ("probe",), ("recall_level",)

COORDINATES = {
    "threshold": Variable(
        "decision threshold", "score", "threshold T", label="threshold", shown="threshold"
    ),
    "rank": Variable("rank", "1", "rank R", label="rank"),
    "far_target": Variable(
        "largest false accept rate allowed", "proportion", "FMR or FPIR", label="{far} at most"
    ),
    "frr_target": Variable(
        "largest false reject rate allowed", "proportion", "FNMR", label="{frr} at most"
    ),
    "cost": Variable(
        "cost of decisions, by the proportion of genuine attempts expected in use",
        "1",
        label="prior",
    ),
    "cost_prior": Variable(
        "proportion p of genuine attempts expected in use", "proportion", dims=COST
    ),
    "cost_miss": Variable("cost c_miss of a false reject", "cost", dims=COST),
    "cost_false_accept": Variable("cost c_fa of a false accept", "cost", dims=COST),
    "probe": Variable("probe, by its row", "1", label="probe"),
    "recall_level": Variable("recall level", "proportion", label="recall"),
    "repeat": Variable("repeat of the partition", "1", label="repeat"),
    "partition": Variable("partition, by its place in the list, from 0", "1", label="partition"),
    "gallery": Variable("gallery, by its name", label="gallery"),
    "fold": Variable("fold of a repeat, in the order of the splitter", "1", label="fold"),
    "part": Variable(
        "part of the data: all, train (where a threshold was chosen) or test",
        label="part",
        labels={"train": "training"},
    ),
    "statistic": Variable(
        "statistic over the dimensions in attribute aggregated_over", label="statistic"
    ),
    "subject": Variable("subject, by its label", label="subject"),
    "templates": Variable(
        "templates of each subject", "templates", label="templates of each subject"
    ),
    "rule": Variable(
        "rule of 3: so many attempts without an error show the rate; of 30: 30 errors are expected",
        "1",
        label="rule",
        labels={"3": "rule of 3", "30": "rule of 30"},
    ),
}

#: Dimensions of numbers at targets or limits of a rate, and the variables of their thresholds.
TARGETS = {"far_target": "threshold_at_far", "frr_target": "threshold_at_frr"}

# ------------------------------------------------------------------------------------ verification

#: The number of attempts of each class.
GENUINE, IMPOSTOR = "genuine_attempts", "impostor_attempts"


def _table(**variables: Variable) -> dict[str, Variable]:
    """Return variables by name, each with its name in its description."""
    table = {}
    for name, variable in variables.items():
        table[name] = variable if variable.name else replace(variable, name=name)
    return table


def _rate(long_name: str, iso: str = "", dims: tuple[str, ...] = (), **about: Any) -> Variable:
    """Return a rate of errors among genuine attempts, unless `about` says otherwise."""
    about = {"out_of": GENUINE, "direction": "smaller", **about}
    return Variable(long_name, "proportion", iso, dims, **about)


def _threshold(long_name: str, dims: tuple[str, ...] = ()) -> Variable:
    return Variable(long_name, "score", dims=dims, shown="threshold")


def _count(long_name: str, units: str = "attempts", dims: tuple[str, ...] = ()) -> Variable:
    return Variable(long_name, units, dims=dims)


def _counts_over(attempts: str, *counts: str) -> dict[str, Any]:
    """Return the `quotient` of counts over the attempts of a class, as an argument."""
    return {"quotient": (counts, (f"{attempts}_attempts",))}


#: The equal error rate and its operating point.
EQUAL_ERROR = _table(
    eer=_rate(
        "equal error rate, interpolated where FAR and FRR cross",
        label="EER",
        threshold="eer_threshold",
        quantile=True,
    ),
    eer_threshold=_threshold("attainable threshold at which the larger of FAR and FRR is smallest"),
    far_at_eer=_rate("FAR at the EER threshold", out_of=IMPOSTOR, threshold="eer_threshold"),
    frr_at_eer=_rate("FRR at the EER threshold", threshold="eer_threshold"),
    eer_bracket_low=_rate("lower end of the EER bracket (FVC)"),
    eer_bracket_high=_rate("upper end of the EER bracket (FVC)"),
)

#: Other single numbers of the operating points.
POINTS = _table(
    eer_hull=_rate(
        "EER on the convex hull of the ROC (ROCCH)", label="EER on the hull", detail="verbose"
    ),
    auc=Variable(
        "area under the ROC: probability that a genuine score ranks above an impostor score, ties "
        "one half (Mann-Whitney)",
        "1",
        label="AUC",
        decimals=5,
        direction="larger",
    ),
    d_prime=Variable(
        "absolute difference of the class means over the root mean of the class variances (d')",
        "1",
        label="d'",
        decimals=3,
        undefined="the scores of both classes have no spread",
        direction="larger",
        bounds=(0.0, np.inf),
        detail="verbose",
    ),
    zero_far=_rate(
        "smallest FRR without any false accept in these data (ZeroFMR)",
        "FNMR at FMR 0",
        label="{frr} at an observed {far} of 0",
        also="ZeroFMR",
        threshold="zero_far_threshold",
        detail="verbose",
    ),
    zero_far_threshold=_threshold("loosest threshold without any false accept"),
    zero_frr=_rate(
        "smallest FAR without any false reject (ZeroFNMR)",
        "FMR at FNMR 0",
        label="{far} at an observed {frr} of 0",
        also="ZeroFNMR",
        out_of=IMPOSTOR,
        threshold="zero_frr_threshold",
        undefined="some genuine attempts are rejected at every threshold",
        detail="verbose",
    ),
    zero_frr_threshold=_threshold("strictest threshold without any false reject"),
)

#: Measures of verification that scripts have added (:func:`bioeval.scalar`), until Python ends:
#: rates at a threshold, best values over all thresholds, and the thresholds of the best values.
ADDED: dict[str, Variable] = {}

VERIFICATION = _table(
    gar=_rate(
        "genuine accept rate: proportion of the genuine attempts that are accepted",
        "1 - FNMR",
        T,
        direction="larger",
        **_counts_over("genuine", "ga"),
        detail="verbose",
        label="{gar}",
    ),
    frr=_rate(
        "false reject rate: proportion of the genuine attempts that are rejected",
        "FNMR",
        T,
        label="{frr}",
        **_counts_over("genuine", "fr"),
    ),
    far=_rate(
        "false accept rate: proportion of the impostor attempts that are accepted",
        "FMR",
        T,
        label="{far}",
        **_counts_over("impostor", "fa"),
    ),
    grr=_rate(
        "genuine reject rate: proportion of the impostor attempts that are rejected",
        "1 - FMR",
        T,
        direction="larger",
        **_counts_over("impostor", "gr"),
        detail="verbose",
        label="{grr}",
    ),
    ga=_count("genuine attempts accepted", dims=T),
    fr=_count("genuine attempts rejected", dims=T),
    fa=_count("impostor attempts accepted", dims=T),
    gr=_count("impostor attempts rejected", dims=T),
    genuine_attempts=_count("genuine attempts"),
    impostor_attempts=_count("impostor attempts"),
    impostor_pairs=_count(
        "impostor attempts, each pair of a symmetric matrix once; they share subjects: the rules "
        "of 3 and 30 count pairs of people"
    ),
    subjects=_count("subjects of the attempts, on either side", "subjects"),
    genuine_subjects=_count("subjects with a genuine attempt: independent trials", "subjects"),
    disjoint_pairs=_count(
        "pairs of subjects without a common subject (for listed pairs, a lower bound): "
        "independent trials of an impostor decision, the basis of the zero-error bound",
        "pairs",
    ),
    far_unenrolled=_rate(
        "proportion of the claims by probes who are not enrolled that are accepted",
        dims=T,
        label="{far} of probes not enrolled",
        **_counts_over("unenrolled", "fa_unenrolled"),
        out_of=IMPOSTOR,
    ),
    fa_unenrolled=_count("claims by probes who are not enrolled that are accepted", dims=T),
    unenrolled_attempts=_count("claims by probes who are not enrolled"),
    skipped_claims=_count("claims of subjects that are not enrolled, left out"),
    **EQUAL_ERROR,
    **POINTS,
    frr_at_far=_rate(
        "smallest FRR with FAR at most the target",
        "FNMR at FMR",
        FAR_TARGET,
        label="{frr} at {far} <= {target}",
        quantile=True,
        threshold="threshold_at_far",
        also="FMR100 FMR1000",
    ),
    threshold_at_far=_threshold(
        "loosest attainable threshold with FAR at most the target", FAR_TARGET
    ),
    expected_false_accepts=_count("false accepts expected at the target", dims=FAR_TARGET),
    far_at_frr=_rate(
        "smallest FAR with FRR at most the target",
        "FMR at FNMR",
        FRR_TARGET,
        label="{far} at {frr} <= {target}",
        quantile=True,
        out_of=IMPOSTOR,
        threshold="threshold_at_frr",
    ),
    threshold_at_frr=_threshold(
        "strictest attainable threshold with FRR at most the target", FRR_TARGET
    ),
    min_dcf=Variable(
        "smallest expected cost min_cost, divided by that of the better trivial decision, "
        "min(p c_miss, (1 - p) c_fa)",
        "cost",
        dims=COST,
        label="minDCF at prior {prior}",
        direction="smaller",
        decimals=4,
        threshold="min_cost_threshold",
    ),
    min_cost=Variable(
        "smallest expected cost p c_miss FRR + (1 - p) c_fa FAR",
        "cost",
        dims=COST,
        direction="smaller",
    ),
    min_cost_threshold=_threshold("strictest threshold of the smallest cost", COST),
)

#: Variables of folds and repeated partitions alone.
FOLDS = _table(
    accuracy=_rate(
        "accuracy: proportion of all attempts that are classified correctly",
        dims=T,
        label="accuracy",
        quotient=(("ga", "gr"), ("genuine_attempts", "impostor_attempts")),
        direction="larger",
        detail="verbose",
    ),
    hter=_rate(
        "half total error rate: (FAR + FRR) / 2",
        dims=T,
        label="HTER",
        of_rates=lambda far, frr: (far + frr) / 2,
    ),
)

_ISO_RATES = {
    "frr_iso": ("FRR", "false reject rate with failures to acquire: FTA + FRR (1 - FTA)"),
    "far_iso": ("FAR", "false accept rate with failures to acquire: FAR (1 - FTA)"),
    "gfrr": ("GFRR", "generalised false reject rate: FTE + (1 - FTE) FRR_iso"),
    "gfar": ("GFAR", "generalised false accept rate: (1 - FTE) FAR_iso"),
}
_AT_FAR = "; the smallest with FAR at most the target"
_ISO_PLACES = {
    "": "",
    "_low": "; lower end of its interval, FTA and FTE taken as known",
    "_high": "; upper end of its interval, FTA and FTE taken as known",
    "_at_eer": "; at eer_threshold",
    "_at_far": _AT_FAR,
    "_at_far_low": f"{_AT_FAR}: lower end of its interval",
    "_at_far_high": f"{_AT_FAR}: upper end of its interval",
}


def _with_failures() -> dict[str, Variable]:
    """Return each rate of `_ISO_RATES` at each place of `_ISO_PLACES`."""
    variables = {}
    for name, (iso, meaning) in _ISO_RATES.items():
        attempts = IMPOSTOR if "far" in name else GENUINE
        for ending, place in _ISO_PLACES.items():
            variables[f"{name}{ending}"] = _rate(f"{meaning}{place}", iso, out_of=attempts)
    for name, label in (  # those in tables
        ("frr_iso_at_far", "{frr} with FTA at {far} <= {target}"),
        ("gfrr_at_far", "GFRR at {far} <= {target}"),
    ):
        variables[name] = replace(variables[name], label=label, threshold="threshold_at_far")
    return _table(**variables)


#: Rates that include failures to acquire and to enrol.
FAILURES = _with_failures()

# ---------------------------------------------------------------------------------- identification

_AT_TARGET = ("far_target", "rank")

OPEN_SET = _table(
    **EQUAL_ERROR
    | {
        "eer": replace(
            EQUAL_ERROR["eer"], label="EER, rank 1", undefined="{far} and 1 - {dir} do not cross"
        )
    },
    dir_at_far=_rate(
        "largest DIR with FAR at most the target",
        "TPIR(N, R, T) at FPIR",
        _AT_TARGET,
        label="{dir} at {far} <= {target}",
        threshold="threshold_at_far",
        direction="larger",
        quantile=True,
    ),
    threshold_at_far=_threshold(
        "loosest attainable threshold with FAR at most the target (best mates of a worse rank are "
        "not among the thresholds, so that ranks may differ at the same FAR)",
        _AT_TARGET,
    ),
    expected_false_accepts=_count("false accepts expected at the target", dims=FAR_TARGET),
    eer_at_least=_rate(
        "lower bound of the EER, from the rates at the thresholds", label="EER, rank 1, at least"
    ),
    eer_at_most=_rate(
        "upper bound of the EER, from the rates at the thresholds", label="EER, rank 1, at most"
    ),
    dir_at_far_at_least=_rate(
        "lower bound of DIR with FAR at most the target",
        dims=_AT_TARGET,
        label="{dir} at {far} <= {target}, rank {rank}, at least",
        direction="larger",
    ),
    dir_at_far_at_most=_rate(
        "upper bound of DIR with FAR at most the target",
        dims=_AT_TARGET,
        label="{dir} at {far} <= {target}, rank {rank}, at most",
        direction="larger",
    ),
    dir=_rate(
        "detection and identification rate: proportion of the genuine attempts whose mate is "
        "within the threshold and at rank R or better",
        "TPIR(N, R, T)",
        TR,
        label="{dir}",
        direction="larger",
        **_counts_over("genuine", "di"),
    ),
    di=_count("genuine attempts detected and identified exactly at the rank", dims=TR),
    far=_rate(
        "false accept rate: proportion of the impostor attempts with any candidate within the "
        "threshold",
        iso="FPIR(N, T)",
        dims=T,
        **_counts_over("impostor", "fa"),
        label="{far}",
    ),
    grr=_rate(
        "genuine reject rate: proportion of the impostor attempts that are rejected",
        iso="1 - FPIR",
        dims=T,
        direction="larger",
        **_counts_over("impostor", "gr"),
        label="{grr}",
        detail="verbose",
    ),
    frr=_rate(
        "false reject rate: 1 - DIR at rank 1",
        iso="FNIR(N, 1, T)",
        dims=T,
        **_counts_over("genuine", "fr"),
        label="{frr}",
    ),
    fa=_count("impostor attempts accepted", dims=T),
    gr=_count("impostor attempts rejected", dims=T),
    genuine_attempts=_count(
        "genuine attempts: mated searches, of enrolled probes with a usable mate"
    ),
    impostor_attempts=_count(
        "impostor attempts: non-mated searches, of a gallery without the subject of the probe"
    ),
    ttr=_rate(
        "true target rate: enrolled probes with any template within the threshold",
        dims=T,
        out_of="target_probes",
        direction="larger",
    ),
    ttr_identity=_rate(
        "proportion of the enrolled probes with a mate within the threshold",
        dims=T,
        out_of="target_probes",
        direction="larger",
    ),
    ftr=_rate(
        "false target rate: other probes with any template within the threshold",
        dims=T,
        out_of="non_target_probes",
    ),
    genuine_subjects=_count("subjects of the probes, enrolled: independent trials", "subjects"),
    impostor_subjects=_count(
        "subjects of the probes of impostor attempts: independent trials", "subjects"
    ),
    target_probes=_count("probes whose subject is enrolled (denominator of TTR)", "probes"),
    non_target_probes=_count("probes never enrolled (denominator of FTR)", "probes"),
    tied=_count("genuine attempts with a non-mate tied with the best mate", "probes"),
)

#: Sizes of the galleries that are searched, where there are several parts or galleries.
GALLERY = _table(
    gallery_templates=_count("gallery templates", "templates"),
    gallery_subjects=_count("subjects in the gallery", "subjects"),
    enrolled_subjects=_count("subjects of the probes, enrolled", "subjects"),
    genuine_gallery_subjects=_count("subjects in the gallery of a mated search", "subjects"),
    impostor_gallery_subjects=_count("subjects in the gallery of a non-mated search", "subjects"),
)

CLOSED_SET = _table(
    cms=_rate(
        "cumulative match score: proportion of the probes whose best mate is at rank R or better",
        "TPIR(N, R, no threshold)",
        R,
        label="{cms}",
        also="recognition rate",
        quotient=(("cms_count",), ("attempts",)),
        direction="larger",
    ),
    cms_count=_count("probes whose best mate is at rank R or better", "probes", R),
    recognition_rate=_rate(
        "recognition rate: CMS at rank 1",
        "TPIR(N, 1, no threshold)",
        label="recognition rate",
        out_of="attempts",
        direction="larger",
        detail="data",
    ),
    attempts=_count("probes with a usable mate", "probes"),
    subjects=_count("subjects of the probes, enrolled: independent trials", "subjects"),
    skipped=_count("probes without a usable mate, left out", "probes"),
    tied=_count("probes with a non-mate tied with the best mate", "probes"),
)

# ------------------------------------------------------------------------------- re-identification


def _mean(
    long_name: str, label: str = "", dims: tuple[str, ...] = (), iso: str = "", **about: Any
) -> Variable:
    about |= {"label": label, "out_of": "queries", "direction": "larger"}
    return _rate(long_name, iso, dims, **about)


def _verbose_count(long_name: str, label: str, units: str = "queries") -> Variable:
    return Variable(long_name, units, label=label, detail="verbose")


def _value_of_query(long_name: str, dims: tuple[str, ...] = PROBE) -> Variable:
    return Variable(
        f"{long_name}; NaN without a match", "proportion", dims=dims, direction="larger"
    )


#: The means over queries of all their matches.
QUERY_MEANS = _table(
    mean_ap=_mean("mean average precision (mAP)", "mAP"),
    rank_k_mean_ap=_mean(
        "mean average precision of lists cut at rank K (its divisor: attribute rank_k_over)",
        "rank-{rank} mAP",
    ),
    mean_inp=_mean(
        "mean inverse negative penalty (mINP): matches over the last one's rank", "mINP"
    ),
    mrr=_mean(
        "mean reciprocal rank (MRR): 1 over the rank of the first match", "MRR", detail="verbose"
    ),
    r_precision=_mean(
        "R-precision: proportion of matches among the first R entries, R the number of matches of "
        "the query; mean over the queries",
        "R-precision",
        detail="verbose",
    ),
    mean_ap_at_r=_mean(
        "MAP@R: sum of the precision at each match among the first R entries, over R, the number "
        "of matches of the query; mean over the queries",
        "MAP@R",
        detail="verbose",
    ),
    ndcg=_mean(
        "normalised discounted cumulative gain (NDCG): sum of 1 / log2(1 + rank) of the matches, "
        "over that of an ideal ranking; mean over the queries",
        "NDCG",
        detail="verbose",
    ),
)

#: Curves over the ranks, besides the CMC.
RANKED_LISTS = _table(
    precision_at_k=_mean(
        "precision at rank K: matches at rank K or better, over K (or over the smaller of K and "
        "the query's matches: attribute precision_over); mean over the queries",
        "precision at rank {rank}",
        R,
        detail="verbose",
    ),
    recall_at_k=_mean(
        "recall at rank K: proportion of a query's matches at rank K or better; mean over the "
        "queries",
        "recall at rank {rank}",
        R,
        detail="verbose",
    ),
)

#: Variables of the entries that a query retrieves within a threshold.
RETRIEVED_SETS = _table(
    precision=_mean(
        "mean proportion of matches among the retrieved entries; 0 where none is retrieved",
        "precision within {threshold}",
        T,
    ),
    recall=_mean(
        "mean proportion of the matches that are retrieved", "recall within {threshold}", T
    ),
    f1=_mean(
        "mean F1 of the queries: 2 TP / (2 TP + FP + FN) of the entries that each retrieves",
        "F1 within {threshold}",
        T,
    ),
    micro_f1=_rate(
        "F1 of the entries that all queries retrieve together, those without a match included",
        dims=T,
        label="micro F1 within {threshold}",
        out_of="",
        direction="larger",
    ),
)

REID = _table(
    cmc=_mean(
        "cumulative match characteristic: proportion of the queries whose first counted match is "
        "at rank R or better",
        "CMC({rank})",
        R,
        "TPIR(N, R, no threshold)",
    ),
    cmc_count=_count(
        "queries whose first counted match is at rank R or better, or expected number", "queries", R
    ),
    **QUERY_MEANS,
    **RANKED_LISTS,
    interpolated_precision=_mean(
        "largest precision at a recall level or beyond; mean over the queries",
        "interpolated precision at recall {level}",
        RECALL,
        detail="verbose",
    ),
    **RETRIEVED_SETS,
    queries=_count("queries that the means are over", "queries"),
    cmc_queries=_count(
        "queries that the CMC is over, where its list is not that of average precision", "queries"
    ),
    subjects=_count("identities of the queries that the means are over", "subjects"),
    skipped=_verbose_count(
        "queries without a match, left out of the means", "queries skipped, without a match"
    ),
    unmatched=_count("queries that have no match left", "queries"),
    not_in_gallery=_count("of these, queries whose identity is not in the gallery", "queries"),
    left_out=_count("queries that are junk or distractors, left out of the means", "queries"),
    removed=_verbose_count(
        "gallery entries excluded for a query, summed over queries",
        "comparisons removed",
        "comparisons",
    ),
    tied=_count("queries with a non-match tied with one of their matches", "queries"),
    average_precision=_value_of_query("average precision"),
    rank_k_average_precision=_value_of_query("average precision of the cut list"),
    inp=_value_of_query("matches over the rank of the last one"),
    reciprocal_rank=_value_of_query("1 over the rank of the first match"),
    query_r_precision=_value_of_query(
        "proportion of matches among the first R entries, R their number"
    ),
    query_ap_at_r=_value_of_query(
        "sum of the precision at each match among the first R entries, over R, their number"
    ),
    query_ndcg=_value_of_query("normalised discounted cumulative gain of the query"),
    identity=Variable("label of the query", dims=PROBE),
    template=Variable("name of the template of the query", dims=PROBE),
    first_match_rank=Variable("rank of the first match; NaN without one", "1", dims=PROBE),
    matches=_count("matches of the query that are not excluded", "entries", PROBE),
    removed_entries=_count("gallery entries excluded for the query", "entries", PROBE),
)


def _tau(long_name: str, label: str, **about: Any) -> Variable:
    return Variable(long_name, "1", label=label, decimals=2, **about)


#: Single numbers that follow from the curves of GOM.
GOM_POINTS = _table(
    max_mvp=_mean("largest mVP", "max mVP"),
    max_mrep=_mean("largest mReP", label="max mReP", threshold="tau_max"),
    tau_max=_tau("first threshold where mReP is largest", "tau_max"),
    tau_nz=_tau(
        "first threshold where mFR is above 0", "tau_nz", undefined="mFR is nowhere above 0"
    ),
    mrep_area=_mean("area under mReP over the thresholds (MREP)", label="MREP"),
    mfr_area=_rate("area under mFR over the thresholds (MFR)", out_of="open_queries", label="MFR"),
    max_f1=_mean("largest mean F1 of the queries", label="max F1", threshold="tau_f1"),
    tau_f1=_tau("first threshold where the mean F1 of the queries is largest", "tau_f1"),
)

#: The means over queries that GOM has, too.
GOM_MEANS = {name: QUERY_MEANS[name] for name in ("mean_ap", "mean_inp")}

GOM = _table(
    mrp=_mean(
        "mean ranking precision: AP of the retrieved entries, over the matches retrieved", dims=T
    ),
    mvp=_mean("mean verification precision: TP / (TP + FN + FP)", dims=T),
    mrep=_mean("mean re-identification precision: sqrt(VP RP)", dims=T),
    mfr=_rate(
        "mean false rate of the queries without a match: min(FP / B, 1)",
        dims=T,
        out_of="open_queries",
    ),
    **RETRIEVED_SETS,
    dir=_mean("queries with a match within the threshold, at rank R or better", dims=TR),
    far=_rate(
        "false accept rate: queries not in the gallery with any retrieved entry",
        dims=T,
        out_of="open_queries",
    ),
    ttr=_mean(
        "true target rate: queries with a match in the gallery and any retrieved entry", dims=T
    ),
    ttr_identity=_mean("queries with a match in the gallery and a retrieved match", dims=T),
    ftr=_rate("false target rate, the same proportion as FAR", dims=T, out_of="open_queries"),
    **GOM_POINTS,
    **GOM_MEANS,
    cmc=REID["cmc"],
    queries=_count("queries that mRP, mVP and mReP are over", "queries"),
    open_queries=_verbose_count(
        "queries not in the gallery (denominator of mFR)", "queries not in the gallery"
    ),
    skipped=_verbose_count(
        "queries whose matches are all removed, in neither set", "queries skipped"
    ),
    left_out=REID["left_out"],
    removed=REID["removed"],
    rp=_value_of_query("ranking precision", ("probe", "threshold")),
    vp=_value_of_query("verification precision", ("probe", "threshold")),
    rep=_value_of_query("re-identification precision", ("probe", "threshold")),
    fr=_rate(
        "false rate; NaN where the identity is in the gallery",
        dims=("probe", "threshold"),
        out_of="",
    ),
)

# ------------------------------------------------------------------------------------- selections

#: The variables of each task.
TASKS = {
    "verification": VERIFICATION,
    "open_set": OPEN_SET,
    "closed_set": CLOSED_SET,
    "reid": REID,
    "gom": GOM,
}

#: All variables by name; where tasks differ, the variables of verification.
VARIABLES = {**GOM, **REID, **CLOSED_SET, **OPEN_SET, **FAILURES, **FOLDS, **VERIFICATION}

#: Operating points that each test part has by itself.
POINTS_OF_PARTS = (
    *("eer", "auc", "frr_at_far", "far_at_frr", "min_dcf", "dir_at_far", "recognition_rate"),
)


def best_values() -> tuple[Variable, ...]:
    """Return the best values, over all thresholds, of functions that scripts have added."""
    return tuple(x for x in ADDED.values() if x.of_rates is not None and x.threshold)


def rates_of_scripts() -> tuple[Variable, ...]:
    """Return the rates at a threshold that scripts have added."""
    if not ADDED:
        return ()
    at_threshold = (x for x in ADDED.values() if x.quotient or x.of_rates)
    return tuple(x for x in at_threshold if not x.threshold)


def rates_of_folds() -> tuple[Variable, ...]:
    """Return the rates at the threshold of a fold, in the order of variables."""
    names = "far", "grr", "gar", "frr", "accuracy", "hter"
    return (*(VARIABLES[name] for name in names), *rates_of_scripts())


def averaged_over_folds() -> dict[str, Variable]:
    names = (*POINTS_OF_PARTS, "cms", "far_unenrolled")
    variables = [*(VARIABLES[name] for name in names), *rates_of_folds()]
    return {variable.name: variable for variable in variables}


# ------------------------------------------------------------------------------------------ tables


def entries(table: Mapping[str, Variable], *names: str) -> dict[str, Variable]:
    return {name: table[name] for name in names}


def limits_of(
    name: str, units: str = "proportion", dims: tuple[str, ...] = ()
) -> dict[str, Variable]:
    where = f"end of the interval (attribute interval_method) of {name}"
    ends = {f"{name}_low": f"lower {where}", f"{name}_high": f"upper {where}"}
    return {end: Variable(words, units, dims=dims, detail="data") for end, words in ends.items()}


_SUPPORT = (
    "1 where people and attempts support the target (rule of 3: no error among so many would show "
    "it at 95 %), else 0"
)


def described(table: Mapping[str, Variable], name: str) -> Variable:
    """Return the description of a variable, a dimension or a measure.

    The variable may be one that stands beside another: its limits, its support, the next score.
    """
    for variables in (table, COORDINATES, ADDED):
        if name in variables:
            return variables[name]
    for suffix in (NEXT, SUPPORTED, "_low", "_high"):
        if name.endswith(suffix):
            measure = name.removesuffix(suffix)
            return _beside(described(table, measure), measure, suffix)
    raise KeyError(f"{name} has no description: give it one in the table of its dataset")


@lru_cache(1 << 10)  # a description takes longer than the number that it describes
def _beside(about: Variable, measure: str, suffix: str) -> Variable:
    if suffix == NEXT:
        words = (
            f"nearest score that is not accepted at {measure}, or, of attempts too many to be "
            "listed, a number before this score"
        )
        return Variable(words, "score", dims=about.dims, detail="data")
    if suffix == SUPPORTED:
        dims = tuple(x for x in about.dims if x in TARGETS)
        return Variable(
            _SUPPORT, "1", dims=dims, detail="data", measure=measure, statistic="supported"
        )
    return limits_of(measure, about.units, about.dims)[measure + suffix]
