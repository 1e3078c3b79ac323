"""The rows of a task: each number with its label and its threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import xarray as xr

from bioeval.document.cells import Quantity, Threshold
from bioeval.document.results import cell_of
from bioeval.document.scalars import cell_of_scalar, label_of
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Text, say
from bioeval.results.query_means import OF_MATCH
from bioeval.results.support import is_supported
from bioeval.results.variables import (
    CLOSED_SET,
    FAILURES,
    GOM_MEANS,
    GOM_POINTS,
    OPEN_SET,
    QUERY_MEANS,
    RANKED_LISTS,
    REID,
    RETRIEVED_SETS,
    TARGETS,
    VERIFICATION,
    Variable,
    best_values,
    rates_of_scripts,
)
from bioeval.views.tasks import (
    FEW,
    asked_thresholds,
    places_of,
    report_ranks,
    value_of,
    values_at,
)

#: Targets that the data do not support, and those with fewer errors than 30.
SUPPORT = ("target-not-supported", "target-uncertain")

# Bounds of what is not known exactly, by the ends of names, in words.
_ENDS = {"_at_least": "at least", "_at_most": "at most"}

# Recall levels that are shown.
_LEVELS = (0.0, 0.5, 1.0)


@dataclass(frozen=True)
class NumberRow:
    """One number of a task; `why_not` there is a value, where it is not defined."""

    label: Text
    value: Quantity
    threshold: Text | None = None
    why_not: Text = ""

    @property
    def heading(self) -> Text:
        """The label where thresholds have no column: it names a threshold that was given."""
        if self.threshold is None or "threshold" not in self.value.at:
            return self.label
        text = "{label} at threshold {threshold}"
        return say(text, label=self.label, threshold=self.threshold)


def rows_of_task(dataset: xr.Dataset) -> Iterator[NumberRow]:
    """Return the rows of the table of a task."""
    if "mrep" in dataset:
        return gom_rows(dataset)
    if "mean_ap" in dataset and "queries" in dataset:
        return reid_rows(dataset)
    if "cms" in dataset:
        return closed_set_rows(dataset)
    if "dir" in dataset or "dir_at_far" in dataset:
        return open_set_rows(dataset)
    return verification_rows(dataset)


def is_identification(dataset: xr.Dataset) -> bool:
    """Whether the rates of a task are those of identification."""
    return not {"cms", "dir", "dir_at_far"}.isdisjoint(dataset)


# The rows of verification; the best values of measures of scripts follow.
_FIRST = (
    *("eer", "frr_at_far", "far_at_frr", "frr_iso_at_far", "gfrr_at_far"),
    *("zero_far", "zero_frr", "auc", "min_dcf", "d_prime", "eer_hull"),
)

# Rates of decisions in the order of the lecture.
_DECISIONS = ("gar", "far", "frr", "grr")


def verification_rows(dataset: xr.Dataset) -> Iterator[NumberRow]:
    """Return the rows of verification."""
    table = VERIFICATION | FAILURES
    for scalar in (*(table[name] for name in _FIRST), *best_values()):
        for row in _rows(dataset, scalar):
            costs = "cost" in row.value.at
            if not costs or (row.value.at["cost"] != 0.5 and row.value.is_defined):
                yield row
    for at in _few_thresholds(dataset, "frr_at_far"):
        for scalar in (*(table[name] for name in _DECISIONS), *rates_of_scripts()):
            if scalar.name in dataset and (scalar.label or scalar.name in _DECISIONS):
                label = label_of(scalar) if scalar.label else say(f"{{{scalar.name}}}")
                yield _row(dataset, scalar, label, at)


def open_set_rows(dataset: xr.Dataset) -> Iterator[NumberRow]:
    """Return the rows of open-set identification."""
    for scalar in (OPEN_SET["eer"], OPEN_SET["dir_at_far"]):
        yield from _rows(dataset, scalar)
    # Expected rates have bounds of the operating points, between two thresholds of the result.
    instead = "dir_at_far" if "dir_at_far" in dataset else "dir_at_far_at_least"
    for at in _few_thresholds(dataset, instead):
        yield _row(dataset, OPEN_SET["dir"], say("{dir}, rank 1"), at | {"rank": (0, 1)})
        for name in _DECISIONS[1:]:
            if name in dataset:
                yield _row(dataset, VERIFICATION[name], say(f"{{{name}}}"), at)


def closed_set_rows(dataset: xr.Dataset) -> Iterator[NumberRow]:
    """Return the rows of closed-set identification."""
    for row in _rows(dataset, CLOSED_SET["cms"]):
        if row.value.at["rank"] == 1:
            row = replace(row, label=say("{label} (recognition rate)", label=row.label))
        yield row


def reid_rows(dataset: xr.Dataset) -> Iterator[NumberRow]:
    """Return the rows of re-identification."""
    why = "not offered under expected ties"
    if not value_of(dataset, "queries"):
        why = "no query has a match"
    if "beyond_lists" in dataset:
        why = "some matches are beyond the ends of the lists"
    cut = int(dataset.attrs.get("rank_k", value_of(dataset, "rank_k")) or 0)
    label = say("mAP, lists cut at rank {cut:count}", cut=cut)
    yield from _rows(dataset, QUERY_MEANS["mean_ap"], why)
    yield from _rows(dataset, QUERY_MEANS["rank_k_mean_ap"], why, label)
    yield from _cmc_rows(dataset, why)
    for name in OF_MATCH:
        yield from _rows(dataset, QUERY_MEANS[name], why)
    if dataset.attrs.get("rules"):  # folded: CMC and bounds alone
        return
    for scalar in RANKED_LISTS.values():
        yield from _rows(dataset, _capital(scalar), why)
    for i, level in enumerate(dataset["recall_level"].values.tolist()):
        if level in _LEVELS:
            label = label_of(_capital(REID["interpolated_precision"]), level=level)
            at: _At = {"recall_level": (i, level)}
            yield _row(dataset, REID["interpolated_precision"], label, at, why)
    for at in _few_thresholds(dataset, ""):
        for scalar in RETRIEVED_SETS.values():
            label = label_of(_capital(scalar), threshold=at["threshold"][1])
            yield replace(_row(dataset, scalar, label, at), threshold=None)


def gom_rows(dataset: xr.Dataset) -> Iterator[NumberRow]:
    """Return the rows of GOM: the columns of its paper's table, and the CMC at other ranks."""
    why = "no query has a match" if value_of(dataset, "queries") == 0 else ""
    opened = value_of(dataset, "open_queries")
    why_open = "the identity of every query is in the gallery" if opened == 0 else ""
    for scalar in (*GOM_POINTS.values(), *GOM_MEANS.values()):
        of_open = scalar.name in ("mfr_area", "tau_nz")
        for row in _rows(dataset, scalar, why_open if of_open else why):
            yield replace(row, threshold=None)
    yield from _cmc_rows(dataset, why)


def _cmc_rows(dataset: xr.Dataset, why: str) -> Iterator[NumberRow]:
    """Return the rows of the CMC at the ranks that are shown, also where it is not defined."""
    of_ranks = replace(REID["cmc"], label="Rank {rank}")
    if "cmc" in dataset:
        yield from _rows(dataset, of_ranks, why)
        return
    for rank in report_ranks(dataset):
        cell = cell_of_scalar(of_ranks, math.nan, at={"rank": rank})
        yield NumberRow(label_of(of_ranks, rank=rank), cell, why_not=why)


def precision_of_queries(dataset: xr.Dataset) -> xr.DataArray:
    """Return the average precision of each query; for top-K lists, of the cut lists."""
    if "average_precision" in dataset:
        return dataset["average_precision"]
    return dataset["rank_k_average_precision"]


# ------------------------------------------------------------------------ of a scalar

#: Places along dimensions, each with its label.
_At = dict[str, tuple[int, Any]]


def _capital(scalar: Variable) -> Variable:
    return replace(scalar, label=f"{scalar.label[0].upper()}{scalar.label[1:]}")


def _rows(
    dataset: xr.Dataset, scalar: Variable, why: str = "", label: Text = ""
) -> Iterator[NumberRow]:
    """Yield the rows of the bounds of a scalar that is not known exactly, and of its values."""
    for suffixes in ([*_ENDS], [""]):
        names = {x: f"{scalar.name}{x}" for x in suffixes if f"{scalar.name}{x}" in dataset}
        if not names:
            continue
        for text, at in places_of(dataset, scalar, next(iter(names.values()))):
            for suffix, name in names.items():
                shown = label or _named(dataset, scalar, text, at)
                if suffix:
                    shown = say("{label}, {end}", label=shown, end=_ENDS[suffix])
                yield _row(dataset, scalar, shown, at, why, name)


def _row(
    dataset: xr.Dataset, scalar: Variable, label: Text, at: _At, why: str = "", name: str = ""
) -> NumberRow:
    """Return the row of a value, with its interval, its threshold and its attempts."""
    name = name or scalar.name
    places = {dim: place for dim, (place, _) in at.items()}
    labels = {dim: shown for dim, (_, shown) in at.items()}

    def value(variable: str) -> float:
        # By numpy, since xarray takes long and may load dask to find it.
        return float(values_at(dataset[variable].variable, places))

    ends = None
    if f"{name}_low" in dataset and f"{name}_high" in dataset:
        ends = value(f"{name}_low"), value(f"{name}_high")
    threshold: Text | None = None
    if "threshold" in at:  # it was given, and is shown as it is
        threshold = Threshold(at["threshold"][1], variable="threshold", at=labels)
    limits = next((TARGETS[dim] for dim in at if dim in TARGETS), scalar.threshold)
    if limits and limits in dataset and name == scalar.name:
        threshold = cell_of(dataset, limits, places)
    numbers = [value_of(dataset, x) for x in scalar.denominator]
    attempts = int(sum(filter(None, numbers))) if numbers and None not in numbers else None
    supported = is_supported(dataset, name, labels)
    if isinstance(threshold, Quantity):
        threshold = replace(threshold, supported=supported)
    about: dict[str, Any] = {"interval": ends, "variable": name, "at": labels}
    about["supported"] = supported
    cell = cell_of_scalar(scalar, value(name), attempts=attempts, **about)
    return NumberRow(label, cell, threshold, why or _lacking(dataset) or say(_why(scalar)))


def _why(scalar: Variable) -> str:
    return scalar.undefined or "not defined"


def _lacking(dataset: xr.Dataset) -> str:
    """Return the classes without an attempt, in words."""
    classes = {"genuine": "genuine_attempts", "impostor": "impostor_attempts"}
    if "cms" in dataset:
        classes = {"genuine": "attempts"}
    none = [name for name, variable in classes.items() if value_of(dataset, variable) == 0]
    return f"0 {' and 0 '.join(none)} attempts" if none else ""


def _named(dataset: xr.Dataset, scalar: Variable, label: Text, at: _At) -> Text:
    """Return the label of a value, with another name in use."""
    name = scalar.also
    if scalar is VERIFICATION["frr_at_far"] and rates_are_of(dataset.attrs) == "verification":
        name = fvc_name(at["far_target"][1])  # which is of matches
    return say("{label} ({name})", label=label, name=name) if name else label


def fvc_name(target: float) -> str:
    """Return the name that FVC gave to FNMR at a FMR target: 0.01 is ``FMR100``."""
    power = round(-math.log10(target)) if target > 0 else 0
    if power in (2, 3) and math.isclose(target, 10.0**-power):
        return f"FMR{10**power}"
    return ""


def _few_thresholds(dataset: xr.Dataset, instead: str) -> Iterator[_At]:
    """Yield those that were asked for, or all if they are few.

    Else three, unless the table has `instead`.
    """
    if "threshold" not in dataset.coords:
        return
    thresholds = dataset["threshold"].values.reshape(-1).tolist()
    places = list(range(len(thresholds)))
    if asked := asked_thresholds(dataset):
        places = list(map(thresholds.index, asked))
    elif len(places) > FEW:
        places = [round(i * (len(places) - 1) / 4) for i in (1, 2, 3)]
        if instead in dataset:
            places = []
    for i in places:
        yield {"threshold": (i, thresholds[i])}


def attempts_of_task(dataset: xr.Dataset) -> tuple[int, int, int]:
    """Return the genuine and impostor attempts of a task, and whose probes made them.

    Genuine attempts are those of subjects that are in the gallery. In verification every probe
    makes impostor attempts; in open set, those that the option ``impostors`` says.
    """
    attrs = dataset.attrs
    genuine = value_of(dataset, "attempts" if "cms" in dataset else "genuine_attempts")
    impostor = value_of(dataset, "impostor_attempts")
    everyone = int(attrs.get("probe_subjects", 0))
    alike = everyone if attrs.get("layout") == "all-against-all" else 0
    enrolled = int(attrs.get("enrolled_subjects", alike))
    if "cms" in dataset or attrs.get("impostors") == "leave-subject-out":
        everyone = enrolled
    return int(genuine or 0), int(impostor or 0), everyone
