"""The terms for rates: the lecture's, and beside them, once, those of ISO/IEC 19795-1.

Results name their rates as the lecture does, and each name has its ISO term in
:mod:`bioeval.results.variables`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bioeval.results.attributes import THRESHOLD_STUDY
from bioeval.results.variables import CLOSED_SET, OPEN_SET, VERIFICATION, Variable

if TYPE_CHECKING:
    import xarray as xr

#: The task of verification rates if an attempt may have several tries.
TRANSACTIONS = "transactions"

#: The rates of each task that have a term in the standard.
RATES: dict[str, Mapping[str, Variable]] = {
    "verification": {name: VERIFICATION[name] for name in ("far", "frr", "gar", "grr")},
    "identification": {
        **{name: OPEN_SET[name] for name in ("far", "frr", "grr", "dir")},
        "cms": CLOSED_SET["cms"],
    },
}


#: The names of these rates in results; in capital letters, their abbreviations.
_ABBREVIATED = {name for rates in RATES.values() for name in rates}
_IN_PROSE = re.compile(rf"(?<![\w-])({'|'.join(map(str.upper, sorted(_ABBREVIATED)))})(?![\w-])")


def rates_are_of(attrs: Mapping[Any, Any], *, searches: bool = False) -> str:
    """Return the task that names the rates of a result; `searches` are of identification."""
    if searches:
        return "identification"
    return TRANSACTIONS if int(attrs.get("most_tries", 1)) > 1 else "verification"


def template_of(sentence: str) -> str:
    """Return a sentence as a template with the rates that it names."""
    literal = sentence.replace("{", "{{").replace("}", "}}")
    return _IN_PROSE.sub(lambda found: f"{{{found[0].lower()}}}", literal)


def is_term(name: str) -> bool:
    """Whether a name in a template is a rate with a term in the standard."""
    return name in _ABBREVIATED


def names_in_full(shown: Mapping[str, set[str]]) -> dict[str, tuple[str, str]]:
    """Return the name in full and ISO's term of each rate that is shown, by its abbreviation.

    `shown` are the rates of each task. Rates of transactions have the same names in the standard,
    and an empty term here.
    """
    names: dict[str, str] = {}
    iso: dict[str, list[str]] = {}
    for task, rates in RATES.items():
        for name, rate in rates.items():
            if name in shown.get(task, ()):
                iso.setdefault(name.upper(), []).append(rate.iso.partition("(")[0])
            elif task != "verification" or name not in shown.get(TRANSACTIONS, ()):
                continue
            names.setdefault(name.upper(), rate.long_name.partition(":")[0])
    return {short: (name, " or ".join(iso.get(short, ()))) for short, name in names.items()}


def task_of(dataset: xr.Dataset) -> str:
    is_of_study = dataset.attrs.get("result_type", THRESHOLD_STUDY) == THRESHOLD_STUDY
    is_of_searches = is_of_study and "rank_unit" in dataset.attrs
    is_open_set = dataset.attrs.get("result_type") == "open-set"
    if is_of_searches or is_open_set or not {"dir", "cms"}.isdisjoint(dataset):
        return "identification"
    return rates_are_of(dataset.attrs)
