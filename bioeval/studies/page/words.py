"""Numbers and texts of a page, as its script writes them, and labels of variables."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import compress
from typing import Any

from bioeval.base import larger_is_closer, scalar_registry
from bioeval.studies.page.parts import PageItem
from bioeval.views import in_six_digits

#: Short labels of what has none of its own.
_LABELS = {
    "min_dcf": "minDCF",
    "min_cost": "smallest cost, not normalised",
    "min_cost_threshold": "at threshold",
    "cost_prior": "genuine attempts, proportion",
    "cost_miss": "cost of a false reject",
    "cost_false_accept": "cost of a false accept",
    "gar": "GAR",
    "grr": "GRR",
    "ga": "genuine accepted",
    "fr": "genuine rejected",
    "fa": "impostors accepted",
    "gr": "impostors rejected",
    "assured_fr": "genuine rejected, assured",
    "assured_fa": "impostors accepted, assured",
    "assured_threshold": "assured threshold",
    "assured_far": "FAR at the assured threshold",
    "assured_far_attempts": "FAR there, of all attempts",
    "assured_frr": "FRR at the assured threshold",
    "frr_price": "FRR, price of the assurance",
    "new_assured_far": "FAR on new people, assured",
    "new_assured_frr": "FRR on new people, assured",
    "fold_far": "FAR",
    "fold_frr": "FRR",
    "point_far": "FAR",
    "point_frr": "FRR",
    "fold_threshold": "threshold",
    "point_threshold": "threshold",
    "subjects_for_3": "people needed, rule of 3",
    "subjects_for_30": "people needed, rule of 30",
    "impostors_for_3": "pairs needed, rule of 3",
    "impostors_for_30": "pairs needed, rule of 30",
    "more_for_3": "pairs missing, rule of 3",
    "more_for_30": "pairs missing, rule of 30",
    "people_needed": "people needed, guaranteed promise without a false accept",
    "people_estimated": "people needed, estimated promise",
    "people_guaranteed": "people needed, guaranteed promise",
    "di": "DI, exactly at the rank",
    "cms": "CMS",
    "cmc": "CMC",
    "ttr": "TTR",
    "ttr_identity": "TTR, own identity",
    "ftr": "FTR",
    "eer_hull": "EER of the convex hull",
    "eer_bracket_low": "EER bracket, low",
    "eer_bracket_high": "EER bracket, high",
    "mrp": "mRP",
    "mvp": "mVP",
    "mrep": "mReP",
    "mfr": "mFR",
    "apcer": "APCER, the largest over the species",
    "apcer_of_species": "APCER",
    "apcer_pooled": "APCER, pooled",
    "bpcer": "BPCER",
    "bpcer_at_apcer": "BPCER",
    "d_eer": "D-EER",
    "acer": "ACER, no measure of ISO/IEC 30107-3",
    "apnrr_of_species": "APNRR",
    "bpnrr": "BPNRR",
    "iapar_of_species": "IAPAR",
    "riapar_of_species": "RIAPAR",
    "attack_eer": "EER against attacks (SPF-EER)",
    "sasv_eer": "EER against all negatives (SASV-EER)",
    "min_a_dcf": "min a-DCF",
    "ia": "attacks accepted",
    "ia_of_species": "attacks accepted",
    "attack_attempts_of_species": "attack attempts",
    "presentations_of_species": "presentations",
    "non_responses_of_species": "without a response",
    "mmpmr": "MMPMR",
    "mmpmr_prod": "MMPMR, ProdAvg",
    "mmpmr_at_far": "MMPMR",
    "rmmr": "RMMR",
    "rmmr_at_far": "RMMR",
    "map": "MAP",
}


_ENDS = (
    *("_low", "_high", "_mean", "_sd", "_se", "_pooled", "_at_threshold"),
    *("_at_eer", "_at_far"),
    *("_overall", "_without", "_as_probe", "_as_claimed", "_share", "_share_as_probe"),
    *("_share_as_claimed", "_at_threshold"),
)

# Parts of names that are abbreviations.
_SHORT = re.compile(
    r"\b(far|frr|gar|grr|dir|eer|hter|auc|cms|cmc|fdr|garbe|fta|fte|far|map|apcer|bpcer|iapar|riapar)\b"
)


def label(name: str) -> str:
    """Return the label of a variable, or its name where there is no shorter one."""
    if name.startswith("train_"):
        return f"{label(name.removeprefix('train_'))}, training"
    scalar = scalar_registry().get(name)
    if name not in _LABELS and scalar is not None and scalar.label and "{" not in scalar.label:
        return scalar.label
    plain = name.replace("_", " ")
    return _LABELS.get(name, _SHORT.sub(lambda match: match[0].upper(), plain))


def has_label(name: str) -> bool:
    """Whether a variable has its own label, and is shown among the first."""
    scalar = scalar_registry().get(name)
    return name in _LABELS or (scalar is not None and bool(scalar.label))


def is_rate(name: str, units: str = "1") -> bool:
    """Whether a variable is a proportion, shown in per cent."""
    name = name.removeprefix("train_")
    for end in _ENDS:
        stem = name.removesuffix(end)
        if stem != name and (stem in scalar_registry() or stem in _LABELS):
            name = stem
            break
    scalar = scalar_registry().get(name.removeprefix("optimistic_"))
    if scalar is not None:
        return scalar.percent
    return units == "1" and name in _LABELS


def digits(value: Any) -> str:
    """Return a number with all its digits, as in ``data-value``."""
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return "nan"
        if value > 0:
            return "inf"
        return "-inf"
    if isinstance(value, int | str):
        return str(value)
    return repr(float(value))


def fixed(value: float, decimals: int) -> str:
    """Return a number with decimals, halves rounded away from 0 as in a browser."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


def significant(value: float, figures: int) -> float:
    """Return a number rounded to significant digits, halves as in :func:`fixed`."""
    return float(Context(prec=figures, rounding=ROUND_HALF_UP).create_decimal(Decimal(value)))


def percent(value: float, decimals: int = 2, unit: str = " %") -> str:
    """Return a proportion in per cent; only exact 0 and 1 are written as 0 % and 100 %."""
    if math.isnan(value):
        return "n/a"
    text, least = fixed(100 * value, decimals), 10.0**-decimals
    if value > 0 and float(text) == 0:
        return f"< {least:.{decimals}f}{unit}"
    if value < 1 and float(text) == 100:
        return f"> {100 - least:.{decimals}f}{unit}"
    return f"{text}{unit}"


def score(value: float) -> str:
    """Return a score with six digits."""
    if not math.isfinite(value):
        return {"nan": "n/a"}.get(digits(value), digits(value))
    return f"{significant(value, 6):.6g}"


def threshold(value: float, kind: str) -> str:
    """Return a threshold as :func:`score` does, rounded so that it accepts no more."""
    if math.isfinite(value):
        value = in_six_digits(value, up=larger_is_closer(kind))
    return score(value)


def count(value: float) -> str:
    """Return a count with thousands separators; an expected count with two decimals."""
    if not math.isfinite(value):
        return "n/a"
    if value == int(value):
        return f"{int(value):,}"
    whole, _, rest = fixed(value, 2).partition(".")
    return f"{int(whole):,}.{rest}"


#: How a number is written; the script of the page has the same.
FORMATS = {"count": count, "score": score}


#: Rows of a table that a page shows at once.
LONG = 24


@dataclass(frozen=True)
class Number:
    """A number on a page; a live number changes with the threshold or the rank."""

    part: PageItem
    variable: str
    value: Any
    shape: str = "score"  # percent, points, count, score, out-of, times
    decimals: int = 2
    live: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)  # further data attributes
    strong: bool = False  # an estimate in a sentence, not the end of its interval
    unit: bool = True  # whether a proportion has its sign of per cent
    right = True  # where it is set in a cell

    @property
    def text(self) -> str:
        """The number as text for the reader."""
        if isinstance(self.value, str):
            return self.value
        if self.shape == "points":
            return percent(float(self.value), self.decimals, " pp")
        if self.shape == "percent":
            return percent(float(self.value), self.decimals, " %" if self.unit else "")
        if self.variable in ("threshold", "assured_threshold"):  # which people install
            return threshold(float(self.value), self.part.kind)
        return FORMATS[self.shape](float(self.value))

    @property
    def attributes(self) -> dict[str, str]:
        """The data attributes of its element."""
        given = {
            "data-task": self.part.task,
            "data-variable": self.variable,
            "data-system": self.part.system,
            "data-value": digits(self.value),
        }
        for key, value in self.more.items():
            given[f"data-{key.replace('_', '-')}"] = digits(value)
        if self.live:
            given["data-live"] = ""
            given["data-format"] = self.shape
            given["data-decimals"] = str(self.decimals)
            if not self.unit:
                given["data-bare"] = ""
        return given


@dataclass(frozen=True)
class Text:
    """A text on a page with attributes besides its words."""

    text: str
    title: str = ""  # what it means at length
    used: int | None = None  # the moving part whose threshold it is
    right: bool = False  # whether it is set flush right, as a number is
    code: bool = False
    rank: bool = False  # whether it is the rank of the page
    digits: str = ""  # all digits of a number that is of no dataset
    warns: bool = False  # a promise that is not kept
    strong: bool = False
    swatch: bool = False  # whether it is a system, with its colour before it


@dataclass(frozen=True)
class Bounded:
    """A number with its interval, in one cell."""

    number: Number
    low: Number | None = None
    high: Number | None = None
    warns: bool = False  # a promise that is not kept
    right = True


@dataclass(frozen=True)
class PageTable:
    """A table of a page: column headings, and rows of numbers and texts."""

    name: str  # of the file that it is saved as
    caption: str
    heads: list[str]
    rows: list[list[Any]]
    note: str = ""
    live: bool = False
    folds: bool = True  # whether it is folded where it is long
    closed: bool = False  # folded, long or not

    def trimmed(self) -> PageTable:
        """Return the table without columns that are empty."""
        kept = []
        for column in zip(*self.rows, strict=True):
            kept.append(column.count("") < len(column))
        rows = []
        for row in self.rows:
            rows.append(list(compress(row, kept)))
        return replace(self, heads=list(compress(self.heads, kept)), rows=rows)

    @property
    def numeric(self) -> set[int]:
        """The columns that hold numbers."""
        numeric = set()
        for row in self.rows:
            for i, cell in enumerate(row):
                if getattr(cell, "right", False):
                    numeric.add(i)
        return numeric

    @property
    def folded(self) -> bool:
        """Whether the table is long, and collapsed until it is opened."""
        return self.closed or (len(self.rows) > LONG and self.folds and not self.live)


_COUNTS = ("attempts", "probes", "subjects")


def shape_of(part: PageItem, name: str) -> str:
    """Return the format of a variable."""
    units, counts = "", False
    if name in part.dataset:
        units = str(part.dataset[name].attrs.get("units", ""))
        counts = part.dataset[name].dtype.kind in "iub" or units in _COUNTS
    if units != "score" and is_rate(name, units):
        if name == "frr_price":
            return "points"
        return "percent"
    if counts:
        return "count"
    return "score"


def attempts_of(part: PageItem, name: str) -> int:
    """Return the number of attempts below a rate; 0 where unknown."""
    if name in part.dataset and not part.dataset[name].ndim:
        return int(part.dataset[name])
    return 0


def searches_of(part: PageItem) -> int:
    """Return the number of searches below a rate at ranks; 0 where unknown."""
    return attempts_of(part, "attempts") or attempts_of(part, "queries")


def table_of(given: Mapping[str, Any], part: PageItem | None = None) -> PageTable:
    """Return a table that a study gives as plain data, of a part of the page or of a row."""
    rows = []
    for row in given["rows"]:
        rows.append([_given(cell, part) for cell in row])
    return PageTable(**{**given, "rows": rows})


def _given(cell: Any, part: PageItem | None) -> Any:
    """Return a cell of plain data as a number, an interval or a text; others as they are."""
    if isinstance(cell, int | float):
        return Text(score(cell), right=True, digits=digits(cell))
    if isinstance(cell, list):
        return Bounded(*[_given(x, part) for x in cell])
    if not isinstance(cell, dict):  # a text or a picture
        return cell
    if part and "variable" in cell:
        return Number(part, **cell)
    return Text(**cell)
