"""What documents say of every result: its data, its intervals, its messages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import counted
from bioeval.base.messages import Message, messages_of
from bioeval.counting.threshold_rules import Rule
from bioeval.results.variables import NEXT
from bioeval.results.words import method_in_words
from bioeval.scores.kind_check import KIND_DOUBTS
from bioeval.showing.blocks import (
    Fact,
    Messages,
    Paragraph,
    ResultsBySystem,
)
from bioeval.showing.cells import (
    Label,
    Number,
    Threshold,
    cell_of_number,
)
from bioeval.showing.text import Enumeration, Phrase, Text, say

#: What is accepted at a threshold, by the kind of the scores.
_SCORES = {
    "distance": "distances, accepted at or below the threshold",
    "similarity": "similarities, accepted at or above the threshold",
    "llr": "log-likelihood ratios, accepted at or above the threshold",
    "order": "order within each row; no thresholds",
}


#: Systems, at most, that the header names.
_NAMED = 8


def data_fact(systems: Sequence[str], data: str) -> Fact:
    """Return the fact with the names of the systems, if not too many, and the data."""
    names: list[Text] = [Label(name) for name in systems if name]
    if not 1 <= len(names) <= _NAMED:
        return Fact("Data", data)
    text = "{names}: {data}" if data else "{names}"
    between = ";" if any("," in name for name in systems) else ""
    return Fact("Data", say(text, names=Enumeration(names, between), data=data))


def scores_in_words(kind: str, protocol: str = "") -> Text:
    """Return the kind of scores with its side of acceptance, and the protocol card."""
    scores: Text = _SCORES.get(kind, kind)
    if protocol:
        text = "{scores}; protocol {card:name}" if kind else "protocol {card:name}"
        scores = say(text, scores=scores, card=protocol)
    return scores


def sides_in_words(attrs: Mapping[Any, Any]) -> str:
    """Return the templates and the subjects of both sides in words."""
    layout = str(attrs.get("layout", ""))
    if not layout:
        return ""
    probes, subjects = int(attrs.get("probes", 0)), int(attrs.get("probe_subjects", 0))
    templates = int(attrs.get("gallery_templates", 0))
    gallery = int(attrs.get("gallery_subjects", 0))
    unknown = "" if subjects or gallery else "; subjects unknown"
    if layout == "pairs":
        return f"{_of(probes, 'pairs', subjects)}{unknown}"
    if layout == "all-against-all" and probes == templates:
        return f"{_of(probes, 'templates', subjects)}, all against all{unknown}"
    probing = _of(probes, "attempts" if "use" in attrs else "probes", subjects)
    enrolled = _of(templates, "gallery templates", gallery)
    if "use" in attrs and templates == gallery:  # claims, of which each subject has one column
        enrolled = counted(gallery, "enrolled subjects")
    return f"{probing} against {enrolled}{unknown}"


def _of(count: int, nouns: str, subjects: int) -> str:
    people = f" of {counted(subjects, 'subjects')}" if subjects else ""
    return counted(count, nouns) + people


def interval_note(
    results: ResultsBySystem, where: str = "In brackets", more: Text = ""
) -> Iterator[Paragraph]:
    """Yield the methods of the intervals of results, with their tasks where they differ."""
    by_method: dict[str, list[str]] = {}
    methods: dict[str, Text] = {}
    for dataset in results.values():
        attrs = dataset.attrs
        if "interval_method" not in attrs:
            continue
        method = _interval_method(attrs)
        by_method.setdefault(str(method), []).append(str(attrs.get("task", "")))
        methods[str(method)] = method
    texts = list(methods.values())
    for i, tasks in list(enumerate(by_method.values()))[1:]:
        named = Enumeration(list(dict.fromkeys(filter(None, tasks))))
        texts[i] = say("of {tasks}: {method}", method=texts[i], tasks=named)
    if texts:
        note = say(
            "{where}: {methods}{more}.{ends}",
            where=where,
            methods=Enumeration(texts, ";"),
            more=more,
            ends=one_sided(*results.values()),
        )
        yield Paragraph(note, "note")


def one_sided(*datasets: xr.Dataset) -> str:
    """Return a sentence on one-sided limits if a number with limits is 0 or 1; else nothing."""
    for dataset in datasets:
        for name, value in dataset.data_vars.items():
            if f"{name}_low" not in dataset or {"threshold", "rank"} & {*value.dims}:
                continue
            if not {*value.dims} <= {*dataset[f"{name}_low"].dims}:
                continue  # of statistics, the mean has limits
            low = dataset[f"{name}_low"].transpose(*value.dims).values
            if (np.isin(value.values, [0, 1]) & ~np.isnan(low)).any():  # isin would import dask
                return " At 0 or 100 % it is one-sided."
    return ""


#: What else attributes say of intervals, with the words before it.
_OF_INTERVALS = {
    "left_out": "left out in turn: ",
    "interval_threshold": "",
    "interval_of_test": "new people: ",
    "interval_of_largest": "of the largest over species: ",
    "interval_of_inequality": "FDR, GARBE and quotients of rates: ",
    "interval_of_differences": "differences: ",
}

#: What intervals are of, where the population that data name does not say it to readers.
_POPULATIONS = {
    "new people": "for the population of such people",
    "folds like these": "of the test mean",
}


def _interval_method(attrs: Mapping[Any, Any]) -> Phrase:
    """Return the method of a result's confidence intervals, and their population."""
    limits = "one-sided confidence limits"
    if attrs.get("limits") != "one-sided":
        limits = "interval" if attrs["interval_method"] == "quantile" else "confidence interval"
    population = str(attrs.get("interval_for", ""))
    of_population = " {population}" if population else ""
    text = f"{{level:rate}} {limits}{of_population}, by {{method}}"
    if "interval_of_test" in attrs:  # of a threshold study: columns say the populations
        text = f"{{level:rate}} {limits}; same data: {{method}}"
    arguments: dict[str, Any] = {
        "level": float(attrs["confidence"]),
        "method": method_in_words(str(attrs["interval_method"])),
        "population": _POPULATIONS.get(population, f"for {population}"),
    }
    for name, words in _OF_INTERVALS.items():
        if name in attrs:
            text += f"; {words}{{{name}}}"
            arguments[name] = str(attrs[name])
    if "replicates" in attrs and attrs["interval_method"] != "people":
        text += " ({replicates:count replicates})"
        arguments["replicates"] = int(attrs["replicates"])
    return say(text, **arguments)


def result_messages(dataset: xr.Dataset) -> Messages:
    """Return the messages of a result as a block."""
    return Messages(messages_of_result(dataset))


def is_doubt(message: Message) -> bool:
    """Whether a message makes all results of its scores doubtful: their labels, or their kind."""
    return message.code in KIND_DOUBTS


def messages_of_result(dataset: xr.Dataset | xr.DataTree) -> list[Message]:
    """Return the messages of a result."""
    return messages_of(dataset.attrs)


#: The points that rules choose, in words.
_POINTS = {
    "eer": "the equal error rate",
    "far": "the smallest {frr} with {far} at most {value:rate}",
    "frr": "the smallest {far} with {frr} at most {value:rate}",
    "cost": "the least cost, prior {prior}, c_miss {miss}, c_fa {false_accept}",
    "accuracy": "the largest accuracy",
    "apcer": "the smallest BPCER with APCER at most {value:rate}",
    "bpcer": "the smallest APCER with BPCER at most {value:rate}",
    "d_eer": "the detection equal error rate",
    "fixed": "the threshold {value}",
    "none": "no threshold",
}


def rule_in_words(rule: Rule) -> Text:
    """Return the point that a rule chooses."""
    template, values = _POINTS[rule.name], rule.values
    if rule.name == "cost":
        prior, miss, false_accept = (Number(x, digits=6) for x in values)
        return say(template, prior=prior, miss=miss, false_accept=false_accept)
    if rule.name == "fixed":
        return say(template, value=Threshold(values[0]))
    return say(template, value=values[0]) if values else say(template)


def threshold_rule(attrs: Mapping[Any, Any]) -> Rule:
    """Return the rule that chose the threshold of a result."""
    return Rule.written(str(attrs.get("threshold_rule", "none")))


def rule_of(attrs: Mapping[Any, Any]) -> Text:
    """Return the point that the rule of a result chooses."""
    return rule_in_words(threshold_rule(attrs))


def threshold_choice(attrs: Mapping[Any, Any]) -> Text:
    """Return how the threshold of a result was chosen, and on which data."""
    chosen_on = str(attrs["chosen_on"])
    if chosen_on == "given":
        return chosen_on
    if threshold_rule(attrs).name == "none":
        return f"chosen on {chosen_on}"
    return say("{rule}, chosen on {data}", rule=rule_of(attrs), data=chosen_on)


def candidates_in_words(attrs: Mapping[Any, Any]) -> str:
    """Return with how many templates probes were compared, in words, if not with the gallery."""
    if "candidates" not in attrs:
        return ""
    smallest, largest = int(attrs["candidates_least"]), int(attrs["candidates_most"])
    number = f"{smallest:,}" if smallest == largest else f"{smallest:,} to {largest:,}"
    candidates = counted(int(attrs["candidates"]), "gallery templates")
    return f"each probe was compared with {number} of {candidates}"


def cell_of(
    dataset: xr.Dataset,
    name: str,
    places: Mapping[str, int] | None = None,
    *,
    attempts: int | None = None,
) -> Text | None:
    """Return a value of a variable as its description says, with its interval and its flag.

    `places` are positions along its dimensions, and those of its denominator, unless its `attempts`
    are given. None of a variable that the dataset lacks.
    """
    variables, places = dataset.variables, places or {}
    if name not in variables:
        return None

    def value_at(other: str, missing: Any = None) -> Any:
        if other not in variables:
            return missing
        variable = variables[other]
        value = variable.values[tuple(places[str(dim)] for dim in variable.dims)]
        return value.item() if isinstance(value, np.generic) else value

    value, about = value_at(name), variables[name].attrs
    if isinstance(value, str | bool) or not about.get("units"):
        return Label(value)
    if name in dataset.dims and about["units"] in ("1", "proportion") and "iso_term" not in about:
        return Number(value, digits=6)
    low, high = value_at(f"{name}_low", math.nan), value_at(f"{name}_high", math.nan)
    out_of = str(about.get("out_of", "")).split()
    is_known = [x in variables and {*variables[x].dims} <= {*places} for x in out_of]
    if attempts is None and is_known and all(is_known):
        attempts = int(sum(value_at(x) for x in out_of))
    return cell_of_number(
        value,
        about,
        attempts=attempts,
        interval=None if math.isnan(low + high) else (low, high),
        flagged=bool(value_at(f"{name}_flagged")),
        next=value_at(f"{name}{NEXT}", math.nan),
    )


def threshold_of(
    dataset: xr.Dataset, name: str = "threshold", places: Mapping[Any, Any] | None = None
) -> Threshold:
    """Return a threshold of a result as a cell."""
    threshold = cell_of(dataset, name, places)
    assert isinstance(threshold, Threshold)
    return threshold
