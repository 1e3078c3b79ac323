"""The rules of a task in words, from the attributes of its result.

The attribute ``"ties": "pessimistic"`` of a closed set is the rule "at ties, the right subject
ranks last (pessimistic)". :func:`rules_of` has all rules of a task, :func:`unusual_rules_of` those
that a reader of a short view has to know. An attribute that is missing or ``""`` states no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import xarray as xr

from bioeval.base.errors import counted
from bioeval.scores.distances import parse_fusion
from bioeval.showing.sizes import candidates_in_words, parts_in_words
from bioeval.showing.text import (
    Text,
    say,
)

Attributes = Mapping[Any, Any]

#: The attempts of verification in words, by the templates that are compared. Claims have the
#: words of their own use.
ATTEMPTS = {
    "single": "an attempt compares two templates",
    "multi": "an attempt is compared with all templates of a subject",
}


def rules_of(dataset: xr.Dataset) -> list[Text]:
    """Return the parts, the gallery and the rules of a task in words; a text may be empty."""
    attrs = dataset.attrs
    rules = [words(attrs) for name, words in _RULES.items() if is_stated(attrs, name)]
    return [*parts_in_words(dataset), candidates_in_words(attrs), *rules]


def unusual_rules_of(dataset: xr.Dataset) -> list[Text]:
    """Return the rules of :func:`rules_of` of which a reader of a short view has to know."""
    attrs = dataset.attrs
    # A search of all subjects of the header is usual.
    usual = {**_USUAL, "genuine_gallery_subjects": {attrs.get("gallery_subjects")}}
    rules = [*parts_in_words(dataset), candidates_in_words(attrs)]
    for name, words in _RULES.items():
        if not is_stated(attrs, name) or name in _RULES_OF_CARDS:
            continue
        if attrs[name] not in usual.get(name, ()):
            rules.append(words(attrs))
    return rules


#: The values of rules that a short view does not state, since most evaluations have them.
_USUAL: dict[str, set[Any]] = {
    "impostors": {"leave-subject-out", "unenrolled"},
    "rank_unit": {"template"},
    "ties": {"pessimistic"},
    "fusion": {"", "none", "best"},
}

#: Rules that the title of a task, or the card in the header, stands for in a short view.
_RULES_OF_CARDS = (
    *("templates", "removes", "junk", "cmc_counts", "variant", "budget", "ap"),
    "fold_thresholds",  # the answer of a study has its threshold, and the columns say of whom
)


def is_stated(attrs: Attributes, name: str) -> bool:
    return bool(attrs.get(name, "") != "")


def _attempts(attrs: Attributes) -> Text:
    # The facts of the header have the attempts of claims and of comparisons.
    is_in_header = "use" in attrs or "systems_compared" in attrs
    return "" if is_in_header else ATTEMPTS.get(attrs["templates"], "")


def _size_of_gallery(attrs: Attributes) -> str:
    """Return the size of the gallery in words; impostors may search one subject fewer."""
    genuine = attrs["genuine_gallery_subjects"]
    impostor = attrs.get("impostor_gallery_subjects", genuine)
    if not int(genuine):
        templates = int(attrs.get("gallery_templates", 0))
        return f"gallery of {counted(templates, 'templates')} of unknown subjects"
    text = f"N = {counted(int(genuine), 'subjects')}"
    if str(impostor) == str(genuine):
        return text
    if isinstance(impostor, int):
        impostor = f"{impostor:,}"
    return f"{text} ({impostor} for impostor attempts)"


#: The entries that a convention of re-identification leaves out of the list of a query.
_ENTRIES_LEFT_OUT = {
    "same-id-same-camera": "entries of the same identity and camera",
    "same-camera": "entries of the same camera",
    "none": "none",
}


def _removed_entries(attrs: Attributes) -> str:
    removed = _ENTRIES_LEFT_OUT[attrs["removes"]]
    for_ap = _ENTRIES_LEFT_OUT[attrs.get("removes_for_ap", attrs["removes"])]
    if removed != for_ap:
        return f"removed for the CMC: {removed}; for all other measures: {for_ap}"
    if removed == "none":  # entries may still be excluded by the user
        return "no entries removed" if not attrs.get("exclude") else ""
    return f"removed: {removed}"


def _fusion(attrs: Attributes) -> str:
    """Return how the scores of a subject's templates are fused, in words of their kind."""
    fusion = str(attrs["fusion"])
    kind = str(attrs.get("kind", ""))
    if fusion == "none" or "use" in attrs:  # the use of claims says it
        return ""
    nearest, farthest = "nearest", "farthest"
    if kind == "similarity":
        nearest, farthest = "most similar", "least similar"
    method, order = parse_fusion(fusion)
    words = {
        "best": f"the score of the {nearest} template",
        "worst": f"the score of the {farthest} template",
        "kth": f"the score of template number {order} from the {nearest}",
    }
    of_all = f"the {method} {kind or 'score'} of the templates"
    return f"the score of a subject is {words.get(method, of_all)}"


def _thresholds_of_study(attrs: Attributes) -> Text:
    """Return at which thresholds the columns of a threshold study are."""
    arguments = {
        name: attrs[name]
        for name in ("rates_at_threshold", "rates_at_threshold_next", "fold_thresholds")
        if name in attrs
    }
    if attrs["fold_thresholds"] == "given":
        text = (
            "all rates are at the given threshold, {rates_at_threshold:threshold}; in folds: mean "
            "and standard deviation (sd) over the test parts"
        )
    else:
        text = (
            "same data: at the threshold {rates_at_threshold:threshold}, chosen on them; in folds: "
            "mean and standard deviation (sd) over the test parts, at thresholds chosen without "
            "them ({fold_thresholds:name})"
        )
    return say(text, **arguments)


#: Rules whose attribute has one of few values, by attribute and value; other values have no words.
_WORDS_OF_VALUES = {
    "impostors": {
        "leave-subject-out": "impostors search without their own subject (leave-subject-out)",
        "unenrolled": "impostors are people who are not enrolled",
        "both": "impostors are people who are not enrolled, and all others without the templates "
        "of their own subject (both)",
    },
    "cmc_counts": {
        "first-match": "CMC counts the first match",
        "allshots": "CMC counts all matches",
        "single-gallery-shot": "CMC counts one entry of each identity (single shot), other "
        "measures all",
        "identity-dedup": "CMC counts distinct identities, other measures all entries",
    },
    "variant": {"reference": "as the authors' program"},
    "ties": {
        "pessimistic": "at ties, the right subject ranks last (pessimistic)",
        "optimistic": "at ties, the right subject ranks first (optimistic)",
        "expected": "at ties, means over all orders (expected)",
        "stable": "at ties, the order of the gallery (stable)",
    },
}


def _of_value(name: str) -> Callable[[Attributes], Text]:
    """Return the function that has words for the values of an attribute."""
    return lambda attrs: _WORDS_OF_VALUES[name].get(str(attrs[name]), "")


#: The rules of a task in words, by the attribute that states each, in the order in which they are
#: shown. A rule that needs no words is an empty text.
_RULES: dict[str, Callable[[Attributes], Text]] = {
    "templates": _attempts,
    "genuine_gallery_subjects": _size_of_gallery,
    "impostors": _of_value("impostors"),
    "gallery": lambda _: (
        "1 template of each subject, drawn anew for each probe; exact mean over all draws"
    ),
    "removes": _removed_entries,
    "junk": lambda attrs: f"junk {attrs['junk']}",
    "cmc_counts": _of_value("cmc_counts"),
    "variant": _of_value("variant"),
    "budget": lambda attrs: f"B = {int(attrs['budget']):,}",
    "rank_unit": lambda attrs: (
        f"rank k: the right subject is among the k nearest {attrs['rank_unit']}s"
    ),
    "ties": _of_value("ties"),
    "ap": lambda attrs: f"AP: {attrs['ap']}",
    "fusion": _fusion,
    "claims": lambda attrs: "" if attrs["claims"] == "all" else f"claims {attrs['claims']}",
    "people_here": lambda attrs: (
        f"these data have {attrs['people_here']}; attempts that share a person are not "
        "independent, so more people than listed may be needed"
    ),
    "fold_thresholds": _thresholds_of_study,
    "fta": lambda attrs: f"FTA {100 * float(attrs['fta']):g} %",
    "fte": lambda attrs: f"FTE {100 * float(attrs['fte']):g} %",
}


def use_of_threshold(attrs: Attributes, is_short: bool = False) -> Text:
    """Return which attempts a chosen threshold is for and, not in short, why not for others."""
    if "rank_unit" in attrs:
        return "The threshold is for searches of this gallery: another gallery needs another one."
    if "use" in attrs:
        text = (
            "The threshold is for claims of this kind: {use}. Other numbers of templates or tries "
            "need another threshold."
        )
        return say(text, use=str(attrs["use"]))
    is_list = attrs["layout"] == "pairs"
    attempt = "as in the list of pairs" if is_list else "one template against one"
    text = "The threshold is for single comparisons ({attempt})."
    if not is_short:
        text += (
            " Where the best of several comparisons decides, {far} is higher: choose another "
            "threshold for such attempts."
        )
    return say(text, attempt=attempt)
