"""The terms for rates: the lecture's, and those of ISO/IEC 19795-1 in their place.

Results name their rates as the lecture does, and each name has its ISO term in
:mod:`bioeval.results.variables`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from bioeval.results.trees import THRESHOLD_STUDY
from bioeval.results.variables import CLOSED_SET, OPEN_SET, VERIFICATION, Variable

if TYPE_CHECKING:
    import xarray as xr

#: The abbreviations of ISO/IEC 19795-1 in full.
ISO_NAMES = {
    "FMR": "false match rate",
    "FNMR": "false non-match rate",
    "FPIR": "false-positive identification rate",
    "FNIR": "false-negative identification rate",
    "TPIR": "true-positive identification rate",
}

#: Vocabularies of tables and plots.
VOCABULARIES = ("lecture", "iso")

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


#: Abbreviations of rates.
_RATE_OF = {name: name for rates in RATES.values() for name in rates}


def _capital(name: str) -> str:
    return f"{name[0].upper()}{name[1:]}"


def _words_of(task: str) -> dict[str, tuple[str, str]]:
    words = {}
    for name, rate in RATES[task].items():
        symbol = rate.iso.partition("(")[0]  # TPIR of TPIR(N, R, T)
        ours, theirs = rate.long_name.partition(":")[0], ISO_NAMES.get(symbol, "")
        words[name] = name.upper(), symbol
        words[ours] = ours, theirs or symbol  # "1 - FNMR" has no name
        in_full = f"{theirs}, {symbol}" if theirs else symbol
        words[f"{ours}, {name}"] = f"{ours}, {name.upper()}", in_full
        if theirs and ours.startswith("false"):
            our_noun, their_noun = ours.removesuffix(" rate"), theirs.removesuffix(" rate")
            words[our_noun] = our_noun, their_noun
            plural = f"{their_noun}es" if their_noun.endswith("ch") else f"{their_noun}s"
            words[f"{our_noun}s"] = f"{our_noun}s", plural
    # A name with a capital letter is a term with one.
    capitals = {_capital(x): (_capital(a), _capital(b)) for x, (a, b) in words.items()}
    return capitals | words


_WORDS = {task: _words_of(task) for task in RATES}
# FAR and FRR of transactions, of several tries each, have these names in the standard too.
_WORDS[TRANSACTIONS] = {x: (ours, ours) for x, (ours, _) in _WORDS["verification"].items()}
_ALL = _WORDS["identification"] | _WORDS["verification"]

#: The terms in the lecture's words, with their names; a name such as FAR-net is none.
_NAMES = {ours: name for name, (ours, _) in _ALL.items() if "," not in name and name[0].islower()}
_IN_PROSE = re.compile(rf"(?<![\w-])({'|'.join(sorted(_NAMES, key=len, reverse=True))})(?![\w-])")


def rates_are_of(attrs: Mapping[Any, Any], *, searches: bool = False) -> str:
    """Return the task that names the rates of a result; `searches` are of identification."""
    if searches:
        return "identification"
    return TRANSACTIONS if int(attrs.get("most_tries", 1)) > 1 else "verification"


def template_of(sentence: str) -> str:
    """Return a sentence in the lecture's words as a template with its terms."""
    literal = sentence.replace("{", "{{").replace("}", "}}")
    return _IN_PROSE.sub(lambda found: f"{{{_NAMES[found[0]]}}}", literal)


def in_lecture_words(template: str, **places: Any) -> str:
    """Return a template in the lecture's words, with its places."""
    terms = {name: name.upper() for rates in RATES.values() for name in rates}
    return template.format(**terms, **places)


def is_term(name: str) -> bool:
    """Whether a name in a template is a term, perhaps with a capital letter."""
    return name in _ALL


def rate_of_term(name: str) -> str:
    """Return the rate that an abbreviation stands for; empty of a term in words alone."""
    return _RATE_OF.get(name.lower().rpartition(", ")[2], "")


def word_for(name: str, task: str, vocabulary: str) -> str:
    """Return a term in a vocabulary; the other task gives a term that the task lacks."""
    pair = _WORDS[task or "verification"].get(name) or _ALL[name]
    return pair[vocabulary == "iso"]


def names_in_full(
    shown: Mapping[str, set[str]], vocabulary: str, *, in_both: bool
) -> dict[str, str]:
    """Return the name in full of each rate that is shown, by its abbreviation.

    The terms of the other vocabulary follow `in_both` vocabularies.
    """
    names: dict[str, str] = {}
    others: dict[str, list[str]] = {}
    is_lecture = vocabulary == "lecture"
    for task, rates in RATES.items():
        are_shown = shown.get(task, set()) | shown.get(TRANSACTIONS, set())
        for name in filter(are_shown.__contains__, rates):
            symbol = word_for(name, task, vocabulary)
            names[symbol] = ISO_NAMES.get(symbol, rates[name].long_name.partition(":")[0])
            others.setdefault(symbol, []).append(word_for(name, task, VOCABULARIES[is_lecture]))
    if in_both:
        where = "ISO" if is_lecture else "lecture"
        names |= {x: f"{names[x]} ({where}: {' or '.join(others[x])})" for x in names}
    return names


Results = TypeVar("Results", "xr.Dataset", "xr.DataTree")


def in_terms(results: Results, words: str) -> Results:
    """Return results whose tables and plots use a vocabulary of `VOCABULARIES`, e.g. ``"iso"``."""
    if words == "lecture":
        return results
    if hasattr(results, "map_over_datasets"):
        return results.map_over_datasets(lambda dataset: dataset.assign_attrs(terms=words))
    return results.assign_attrs(terms=words)


def words_of(dataset: xr.Dataset) -> str:
    """Return the name of the terms that the views of a dataset use."""
    return str(dataset.attrs.get("terms", "lecture"))


def task_of(dataset: xr.Dataset) -> str:
    """Return the task that the rates of a dataset are from."""
    is_of_study = dataset.attrs.get("result_type", THRESHOLD_STUDY) == THRESHOLD_STUDY
    is_of_searches = is_of_study and "rank_unit" in dataset.attrs
    is_open_set = dataset.attrs.get("result_type") == "open-set"
    if is_of_searches or is_open_set or not {"dir", "cms"}.isdisjoint(dataset):
        return "identification"
    return rates_are_of(dataset.attrs)
