"""Terms of tables and plots for rates: the lecture's, or those of ISO/IEC 19795-1.

Results name their rates as the lecture does, and each name has its ISO term in
:mod:`bioeval.base.variables`. A view of results made by :func:`in_terms` is written in ISO's.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from bioeval.base.scalars import ISO_NAMES, Name
from bioeval.base.variables import CLOSED_SET, OPEN_SET, VERIFICATION

if TYPE_CHECKING:
    import xarray as xr

TERMS = ("lecture", "iso")

STANDARD = "ISO/IEC 19795-1"

Results = TypeVar("Results", "xr.Dataset", "xr.DataTree")

_RATES: dict[str, Mapping[str, Name]] = {
    "verification": {name: VERIFICATION[name] for name in ("far", "frr", "gar", "grr")},
    "identification": {
        **{name: OPEN_SET[name] for name in ("far", "frr", "grr", "dir")},
        "cms": CLOSED_SET["cms"],
    },
}

# A variable of threshold studies of open set.
_OF_SEARCHES = "unenrolled_people"

_OF_IDENTIFICATION = re.compile(r"\b(DIR|CMS)\b")


def in_terms(results: Results, words: str) -> Results:
    """Return results whose tables and plots use the terms `words`, one of `TERMS`."""
    if words == "lecture":
        return results
    if hasattr(results, "map_over_datasets"):
        return results.map_over_datasets(lambda dataset: dataset.assign_attrs(terms=words))
    return results.assign_attrs(terms=words)


def words_of(dataset: xr.Dataset) -> str:
    """Return the name of the terms that the views of a dataset use."""
    return str(dataset.attrs.get("terms", "lecture"))


def term_translator(dataset: xr.Dataset, task: str | None = None) -> TermTranslator:
    """Return the translator of texts on a dataset: terms of its views, and its task or another."""
    return TermTranslator(words_of(dataset), task_of(dataset) if task is None else task)


def task_of(dataset: xr.Dataset) -> str:
    """Return the task that the rates of a dataset are from."""
    names = {"dir", "dir_mean", "cms", "cms_mean", _OF_SEARCHES}
    searches = str(dataset.attrs.get("task", "")).startswith("open-set")
    if searches or not names.isdisjoint(dataset):
        return "identification"
    return "verification"


class TermTranslator:
    """Translator of texts that name rates as the lecture does into the terms of a view.

    `words` are one of `TERMS`. `task`, ``"verification"`` or ``"identification"``, says what the
    rates are of, as FAR is FMR of one and FPIR of the other; else each text says it, by naming DIR
    or CMS or not.
    """

    def __init__(self, words: str, task: str = ""):
        self.words, self.task = words, task

    def __call__(self, text: str) -> str:
        """Return the text in these terms."""
        if self.words == "lecture":
            return text
        pattern, iso_words = _TRANSLATED[self.task_of(text)]
        return pattern.sub(lambda match: _as_begun(iso_words[match[0].lower()], match[0]), text)

    def of_list(self, text: str) -> str:
        """Return a text in these terms, each part between commas with rates of its own task."""
        return ", ".join(map(self, text.split(", ")))

    def task_of(self, text: str) -> str:
        """Return the task that the rates of a text are from."""
        of_identification = _OF_IDENTIFICATION.search(text)
        return self.task or ("identification" if of_identification else "verification")

    def like(self, text: str) -> TermTranslator:
        """Return the translator of texts whose rates are of the same task as those of a text."""
        return TermTranslator(self.words, self.task_of(text))

    def other(self, *rates: str) -> str:
        """Return the other vocabulary's terms for rates, with its name: ``ISO: FMR and FNMR``."""
        if self.words == "iso":
            return f"lecture: {' and '.join(map(str.upper, rates))}"
        return f"ISO: {' and '.join(_RATES[self.task][rate].iso for rate in rates)}"

    def others(self, shown: Mapping[str, Container[str]]) -> str:
        """Return in words the other vocabulary's term for each rate of each task."""
        parts: list[str] = []
        for task, names in shown.items():
            said = []
            for name, rate in _RATES[task].items():
                if name not in names:
                    continue
                if self.words == "lecture":
                    said.append(f"{name.upper()} is {rate.iso}")
                else:
                    said.append(f"{rate.iso} is {name.upper()}")
            if said and parts:
                said.insert(0, "of identification")
            if said:
                parts.append(", ".join(said))
        if not parts:
            return ""
        who = f"{STANDARD}; in the biometrics lecture, "
        if self.words == "lecture":
            who = f"in {STANDARD}, "
        return who + "; ".join(parts)


def _as_begun(text: str, like: str) -> str:
    """Return a text with a capital first letter if `like` has one."""
    return text[0].upper() + text[1:] if like[0].isupper() else text


def _translation(names: Mapping[str, Name]) -> tuple[re.Pattern[str], dict[str, str]]:
    """Return a pattern of the lecture's words for rates, and ISO's for each, in lower case."""
    words = {}
    for name, rate in names.items():
        ours, theirs = rate.long_name.partition(":")[0], ISO_NAMES.get(rate.symbol, "")
        words[name] = rate.symbol
        if not theirs:  # "1 - FNMR" has no name
            words[f"{ours}, {name}"] = words[ours] = rate.symbol
            continue
        words[ours] = theirs
        if ours.startswith("false"):
            singular = ours.removesuffix(" rate")
            other = theirs.removesuffix(" rate")
            words |= {
                singular: other,
                f"{singular}s": other + ("es" if other.endswith("ch") else "s"),
            }
    longest_first = sorted(words, key=len, reverse=True)
    text = "|".join(rf"\b{_either_case(key, key in names)}\b" for key in longest_first)
    return re.compile(text), words


def _either_case(words: str, abbreviation: bool) -> str:
    """Return a pattern of an abbreviation, or of words that may start a sentence."""
    if abbreviation:
        return words.upper()
    name, comma, short = words.partition(", ")
    return f"[{name[0]}{name[0].upper()}]{name[1:]}{comma}{short.upper()}"


_TRANSLATED = {task: _translation(names) for task, names in _RATES.items()}


def dictionary(datasets: Iterable[xr.Dataset]) -> str:
    """Return, for the header of a table, the other vocabulary's terms for its rates."""
    shown: dict[str, set[str]] = {"verification": set(), "identification": set()}
    words = "lecture"
    for dataset in datasets:
        words = words_of(dataset)
        if "mrep" in dataset:  # its table has none of these rates
            continue
        there = set()
        for name in ("far", "frr", "dir", "cms"):
            if name in dataset or f"{name}_mean" in dataset:
                there.add(name)
        if "dir" in there and "fold" not in dataset.dims:
            there.discard("frr")
        shown[task_of(dataset)] |= there
    return TermTranslator(words).others(shown)


def interval_method(attrs: Mapping[str, Any]) -> str:
    """Return the method of a result's confidence intervals, and their population."""
    if attrs.get("interval_for"):
        return f"{attrs['interval_method']} for {attrs['interval_for']}"
    return str(attrs["interval_method"])
