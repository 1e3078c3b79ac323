"""The header of a result: its system, its data, and how they were read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bioeval.document.blocks import Fact, ResultsBySystem, Vocabulary
from bioeval.document.cells import Count, Label
from bioeval.document.text import Enumeration, Phrase, Text, say
from bioeval.results.words import excluded

_ACCEPTED = {
    "distance": "distances, accepted at or below the threshold",
    "similarity": "similarities, accepted at or above the threshold",
    "llr": "log-likelihood ratios, accepted at or above the threshold",
    "order": "order within each row; no thresholds",
}

_FAILED = {
    "reject": "failed comparisons are attempts that are always rejected",
    "exclude": "failed comparisons are not attempts",
}


def data_facts(results: ResultsBySystem) -> list[Fact]:
    """Return the header of results of the same data: what there is to say of each fact."""
    attrs = next(iter(results.values())).attrs
    names = list(filter(None, results)) or list(filter(None, [str(attrs.get("system", ""))]))
    kind, protocol = str(attrs.get("kind", "")), str(attrs.get("protocol", ""))
    return [
        Fact("System", Enumeration(list(map(Label, names)), ""), "system"),
        Fact("Data", _data(attrs) if attrs.get("layout") else ""),
        Fact("Made of", Label(attrs["origin"]) if attrs.get("origin") else "", "origin"),
        Fact("Scores", _ACCEPTED.get(kind, kind)),
        Fact("Read", Label(attrs["reading"]) if attrs.get("reading") else "", "reading"),
        Fact("NaN", _failed(attrs)),
        Fact("Excluded", excluded({"": attrs})),
        Fact("Protocol", Label(protocol) if protocol else "", "protocol"),
        Fact("Terms", Vocabulary()),
    ]


def _failed(attrs: Mapping[Any, Any]) -> Text:
    """Return what failed comparisons are, and how many there are."""
    text = _FAILED.get(str(attrs.get("nan_policy", "")), "")
    if text and "failed_comparisons" in attrs:
        return say("{text}; {number:count} failed", text=text, number=attrs["failed_comparisons"])
    return text


def _data(attrs: Mapping[Any, Any]) -> Text:
    """Return the templates and the subjects of both sides in words."""
    probes, subjects = int(attrs.get("probes", 0)), int(attrs.get("probe_subjects", 0))
    templates = int(attrs.get("gallery_templates", 0))
    gallery = int(attrs.get("gallery_subjects", 0))
    if attrs["layout"] == "pairs":
        return Count(probes, noun="pairs")
    unknown = "" if subjects or gallery else "; subjects unknown"
    if attrs["layout"] == "all-against-all" and probes == templates:
        of = _of(probes, "templates", subjects)
        return say("{of}, all against all{unknown}", of=of, unknown=unknown)
    return say(
        "{probes} against {gallery}{unknown}",
        probes=_of(probes, "probes", subjects),
        gallery=_of(templates, "gallery templates", gallery),
        unknown=unknown,
    )


def _of(number: int, noun: str, subjects: int) -> Phrase:
    if not subjects:
        return say("{number}", number=Count(number, noun=noun))
    return say(
        "{number} of {subjects:count subjects}", number=Count(number, noun=noun), subjects=subjects
    )
