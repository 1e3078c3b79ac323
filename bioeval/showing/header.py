"""Attributes of results in words: the header of a document, and the rules of a task.

A result states in its attributes on which data it was made, and how. Of the attributes ::

    {"system": "ours", "kind": "distance", "layout": "all-against-all", "probes": 40,
     "gallery_templates": 40, "probe_subjects": 20, "ties": "pessimistic"}

the header has the facts ::

    Data    ours: 40 templates of 20 subjects, all against all
    Scores  distances, accepted if <= threshold

and a rule of its closed set is "at ties, the right subject ranks last (pessimistic)". An attribute
that is missing or ``""`` gives an empty text, which is left out.

Facts come first, from :func:`header_of`, then :func:`rules_of` a task, and the sizes of its data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import counted, enumerated, messages_of
from bioeval.counting.threshold_rules import Rule
from bioeval.protocol.loading import CARD_OF_LAYOUT
from bioeval.scores.attempts import exclusions_in_words
from bioeval.scores.distances import parse_fusion
from bioeval.scores.provenance import exclusions_of
from bioeval.showing.nodes import OVER, Node
from bioeval.showing.text import (
    Count,
    Enumeration,
    Fact,
    Facts,
    Label,
    Number,
    Score,
    Text,
    Vocabulary,
    fields_of,
    is_term,
    say,
)

Attributes = Mapping[Any, Any]

#: Longer texts of a splitter are cut to so many characters: two lines of a terminal.
_LONGEST_SPLITTER = 160

#: The header names no systems if there are more: they would fill it, and tables name them.
_MOST_NAMED = 8

#: The side of a threshold on which scores are accepted, by the kind of the scores.
_SCORES = {
    "distance": "distances, accepted if <= threshold",
    "similarity": "similarities, accepted if >= threshold",
    "order": "order within each row; no thresholds",
}


def header_of(nodes: Sequence[Node], is_short: bool = False) -> Facts:
    """Return the facts that the attributes of results state of their data, scores and options.

    A system has the facts of its first result. A fact that is not of all systems names its systems.
    """
    node_of_system: dict[str, Node] = {}
    for node in nodes:
        node_of_system.setdefault(node.name_of_system(), node)

    # The systems, and their data if all have the same.
    names = [name for name in node_of_system if name]
    if not names:
        dataset = nodes[0].dataset
        names = [str(dataset.attrs.get("system", ""))]
        if "system" in dataset.dims and "system" in dataset.variables:
            names = list(map(str, dataset.variables["system"].values.tolist()))
    sides = {sides_in_words(node.dataset.attrs) for node in node_of_system.values()}
    facts = [data_fact(names, sides.pop() if len(sides) == 1 else "")]

    # Each fact of all systems; every system has the same names of facts, in the same order.
    facts_of = {system: _facts_of(node, is_short) for system, node in node_of_system.items()}
    for name in facts_of[nodes[0].name_of_system()]:
        texts = joined_texts({system: [texts[name]] for system, texts in facts_of.items()})
        facts += ((name, text) for text in texts)

    facts += [("Terms", Vocabulary(is_short)), ("Left out", _tasks_left_out(nodes))]
    return Facts(facts)


def data_fact(systems: Sequence[str], data: str) -> Fact:
    """Return the fact with the names of the systems, if not too many, and the data."""
    names: list[Text] = [Label(name) for name in systems if name]
    if not 1 <= len(names) <= _MOST_NAMED:
        return "Data", data
    text = "{names}: {data}" if data else "{names}"
    separator = ";" if any("," in name for name in systems) else ""
    return "Data", say(text, names=Enumeration(names, separator), data=data)


def joined_texts(by_system: Mapping[str, Iterable[Text]]) -> list[Text]:
    """Return the texts of systems, each once; a text not of all systems names its systems."""
    systems_of: dict[str, tuple[Text, list[str]]] = {}
    for system, texts in by_system.items():
        for text in texts:
            if text != "":
                key = repr(text)  # texts may hold lists, which cannot be keys
                systems_of.setdefault(key, (text, []))[1].append(system)
    joined = []
    for text, systems in systems_of.values():
        with_names = say("{systems:names}: {text}", systems=systems, text=text)
        joined.append(text if len(systems) == len(by_system) else with_names)
    return joined


# ------------------------------------------------------------------------------------------- facts


def _facts_of(node: Node, is_short: bool) -> dict[str, Text]:
    """Return the facts of a system by their names, in the order of the header; "" has no words."""
    attrs = node.dataset.attrs
    attempts = str(attrs.get("use", ""))
    if is_short:  # the kind of claim, without remarks on unequal numbers of tries
        attempts = attempts.partition(";")[0]
    facts: dict[str, Text] = {
        "Training set": _label(attrs, "train_system"),
        "Made of": _label(attrs, "origin"),
        "Attempts": attempts,
        "Scores": scores_in_words(str(attrs.get("kind", "")), str(attrs.get("protocol", ""))),
        "Measures": "",
        "Verification": "",
        "Read": _label(attrs, "reading"),
        "Groups": _groups(attrs),
        "Excluded": "",
        "Partition": _partition(attrs),
        "Experiment": str(attrs.get("experiment", "")),
        "Threshold": _threshold(attrs, is_short),
        "Thresholds": _label(attrs, "thresholds_of_systems"),
        "Costs": "",
        "Classes": _classes(attrs),
        "Match": "",
        "MT": "",
        "Animals": "",
        "Selected": "",
        "Left out": _comparisons_left_out(attrs),
    }
    if _is_stated(attrs, "adjust") and "convention" in attrs:
        facts["Measures"] = f"of re-identification, {attrs['convention']}"
    # A table of a comparison has measures of several tasks: its title does not say which attempts.
    if _is_stated(attrs, "systems_compared") and "templates" in attrs:
        facts["Verification"] = f"{_ATTEMPTS['single']} (single-template)"
    if _is_stated(attrs, "exclude"):
        facts["Excluded"] = exclusions_in_words(exclusions_of(attrs))
    if _is_stated(attrs, "cost_miss"):
        facts["Costs"] = say(
            "a miss costs {cost_miss:digits 6} and a false accept {cost_false_accept:digits 6}",
            cost_miss=attrs["cost_miss"],
            cost_false_accept=attrs["cost_false_accept"],
        )
    if attrs.get("pairing") in _PAIRINGS:
        text = f"overlap (IoU) of {{iou:digits 6}} or more; {_PAIRINGS[attrs['pairing']]}"
        facts["Match"] = say(text, iou=attrs["iou"])
    if attrs.get("mostly_tracked") == "more-than":
        facts["MT"] = "covered for more than 80 % of the frames"
    if _is_stated(attrs, "quantile"):
        text = "best, worst: {quantile:rate} of the subjects at each end of their mean scores"
        facts["Animals"] = say(text, quantile=attrs["quantile"])
    if node.selected:  # places of a result, such as a partition
        places = [
            say("{dim:name} {label:name}", dim=dim.replace("_", " "), label=label)
            for dim, label in node.selected.items()
        ]
        facts["Selected"] = Enumeration(places, "")
    return facts


def _is_stated(attrs: Attributes, name: str) -> bool:
    return bool(attrs.get(name, "") != "")


def _label(attrs: Attributes, name: str) -> Text:
    return Label(attrs[name]) if _is_stated(attrs, name) else ""


def scores_in_words(kind: str, protocol: str = "") -> Text:
    """Return the kind of scores with its side of acceptance, and the protocol card."""
    scores: Text = _SCORES.get(kind, kind)
    if protocol:
        text = "{scores}; protocol {card:name}" if kind else "protocol {card:name}"
        scores = say(text, scores=scores, card=protocol)
    return scores


def _groups(attrs: Attributes) -> Text:
    if attrs.get("groups_of") == "attempts":
        return say("{by:name}, of attempts by the value of the probe", by=attrs["by"])
    if attrs.get("groups_of") == "people":
        return say("{by:name}, one value for each person", by=attrs["by"])
    return ""


#: The folds of splitters that take the fold of each sample from a list, in words.
_LISTED_FOLDS = {
    "PredefinedFolds": "folds as given, one for each template",
    "PredefinedPairFolds": "folds as given, one for each pair",
}


def _partition(attrs: Attributes) -> Text:
    if not _is_stated(attrs, "splitter"):
        return ""
    if attrs.get("splitter_class") in _LISTED_FOLDS:
        return _LISTED_FOLDS[attrs["splitter_class"]]
    splitter = str(attrs["splitter"])
    end = " ..."
    if len(splitter) > _LONGEST_SPLITTER:
        splitter = splitter[: _LONGEST_SPLITTER - len(end)] + end
    return Label(splitter)


def _threshold(attrs: Attributes, is_short: bool) -> Text:
    """Return the rule of the threshold, and the data on which it was chosen."""
    if not _is_stated(attrs, "chosen_on") or attrs.get("threshold_rule", "none") == "none":
        return ""
    chosen_on = str(attrs["chosen_on"])
    if is_short:
        chosen_on = chosen_on.partition(", so errors")[0]
    choice: Text = chosen_on
    if chosen_on != "given":
        choice = say("{rule}, chosen on {data}", rule=rule_in_words(rule_of(attrs)), data=chosen_on)
    if "assure" in attrs:
        return say("by the rule, only for comparison: {choice}", choice=choice)
    return choice


def _classes(attrs: Attributes) -> Text:
    """Return which classes of boxes a tracking result was evaluated on."""
    if not _is_stated(attrs, "classes_evaluated"):
        return ""
    evaluated, ignored = str(attrs["classes_evaluated"]), str(attrs["classes_ignored"])
    if evaluated == "without class" and ignored in ("", "without class"):
        text = "no row states one; all are evaluated"
    else:
        text = f"{evaluated} evaluated"
        if ignored:
            text += f"; {ignored} ignored"
    sequences = int(attrs["world_coordinates"])  # sequences whose files have them in column 8
    if not sequences:
        return text
    why = (
        "; in {sequences:count sequences} column 8 is a world coordinate and no class (`classes` "
        "reads it as a class)"
    )
    return say("{text}{why}", text=text, why=say(why, sequences=sequences))


#: The pairings of targets that are kept from frame to frame, by the attribute `pairing`.
_PAIRINGS = {
    "last-known": "each target's last pairing is kept (last-known)",
    "previous-frame": "pairings of the previous frame are kept (previous-frame)",
}

#: The attempts of verification in words, by the templates that are compared. Claims have the
#: words of their own use.
_ATTEMPTS = {
    "single": "an attempt compares two templates",
    "multi": "an attempt is compared with all templates of a subject",
}


# ------------------------------------------------------------------------------------------- rules


def rules_of(dataset: xr.Dataset) -> list[Text]:
    """Return the parts, the gallery and the rules of a task in words; a text may be empty."""
    attrs = dataset.attrs
    rules = [_rule_in_words(name, attrs) for name in _RULES if _is_stated(attrs, name)]
    return [*_parts_in_words(dataset), candidates_in_words(attrs), *rules]


def unusual_rules_of(dataset: xr.Dataset) -> list[Text]:
    """Return the rules of :func:`rules_of` of which a reader of a short view has to know."""
    attrs = dataset.attrs
    # A search of all subjects of the header is usual.
    usual = {**_USUAL, "genuine_gallery_subjects": {attrs.get("gallery_subjects")}}
    rules = [*_parts_in_words(dataset), candidates_in_words(attrs)]
    for name in _RULES:
        if not _is_stated(attrs, name) or name in _RULES_OF_CARDS:
            continue
        if attrs[name] not in usual.get(name, ()):
            rules.append(_rule_in_words(name, attrs))
    return rules


#: The attributes that state rules of a task, in the order of their words.
_RULES = (
    *("templates", "genuine_gallery_subjects", "impostors", "gallery", "removes", "junk"),
    *("cmc_counts", "variant", "budget", "rank_unit", "ties", "ap", "fusion", "claims"),
    *("people_here", "fold_thresholds", "fta", "fte"),
)

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


def _rule_in_words(name: str, attrs: Attributes) -> Text:
    """Return the rule of a task that an attribute states; "" for a value without words."""
    value = attrs[name]
    match name:
        case "impostors" | "cmc_counts" | "variant" | "ties":
            return _WORDS_OF_VALUES[name].get(str(value), "")
        case "templates":
            # The facts of the header have the attempts of claims and of comparisons.
            is_in_header = "use" in attrs or "systems_compared" in attrs
            return "" if is_in_header else _ATTEMPTS.get(value, "")
        case "genuine_gallery_subjects":
            return _size_of_gallery(attrs)
        case "gallery":
            return (
                "1 template of each subject, drawn anew for each probe; exact mean over all draws"
            )
        case "removes":
            return _removed_entries(attrs)
        case "junk":
            return f"junk {value}"
        case "claims":
            return "" if value == "all" else f"claims {value}"
        case "budget":
            return f"B = {int(value):,}"
        case "rank_unit":
            return f"rank k: the right subject is among the k nearest {value}s"
        case "ap":
            return f"AP: {value}"
        case "fusion":
            return _fusion(attrs)
        case "people_here":
            return (
                f"these data have {value}; attempts that share a person are not independent, so "
                "more people than listed may be needed"
            )
        case "fold_thresholds":
            return _thresholds_of_study(attrs)
        case "fta" | "fte":
            return f"{name.upper()} {100 * float(value):g} %"
        case _:
            raise KeyError(name)


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


# ---------------------------------------------------------------------------------------- left out

#: The messages on comparisons of a template with itself, and their argument with the number.
WITH_ITSELF = {"templates-on-both-sides": "templates", "self-comparisons-left-out": "comparisons"}


def _comparisons_left_out(attrs: Attributes) -> str:
    """Return how many comparisons of a template with itself are no attempts, in words.

    Those of claims are not counted: each claim leaves out its own templates.
    """
    if "use" in attrs:
        return ""
    layout, probes = str(attrs.get("layout", "")), int(attrs.get("probes", 0))
    if layout == "all-against-all":
        number = probes
    else:
        messages = [x for x in messages_of(attrs) if x.code in WITH_ITSELF]
        if not messages:
            return ""
        number = messages[0].arguments[WITH_ITSELF[messages[0].code]]
    text = f"{number:,} of a template with itself"
    if layout in ("all-against-all", "probe-against-gallery"):
        text = f"of {probes:,} x {int(attrs['gallery_templates']):,} comparisons, {text}"
    return text


#: Tasks of the cards of the course.
_TASKS_OF_COURSE = {
    "verification/single": "single-template verification",
    "verification/multi": "multi-template verification",
    "open_set": "open set",
    "closed_set": "closed set",
}


def _tasks_left_out(nodes: Sequence[Node]) -> str:
    """Return the tasks that the card has and the scores do not support, with reasons."""
    attrs = nodes[0].dataset.attrs
    layout = str(attrs.get("layout"))
    if layout == "pairs" or attrs.get("protocol", "") != CARD_OF_LAYOUT.get(layout):
        return ""
    evaluated = {node.task for node in nodes}
    tasks = [words for path, words in _TASKS_OF_COURSE.items() if path not in evaluated]
    if not tasks:
        return ""
    if attrs.get("kind") == "order":
        return f"{enumerated(tasks)}; scores that only order a row have no common thresholds"
    if not attrs.get("probe_subjects") and not attrs.get("gallery_subjects"):
        return f"{enumerated(tasks)}; a mask does not give the subjects of the templates"
    return ""


# ------------------------------------------------------------------------------ rules of thresholds

#: The points that rules choose, in words.
_POINTS = {
    "eer": "equal {far} and {frr} (equal error rate)",
    "far": "smallest {frr} where {far} is at most {value:rate}",
    "frr": "smallest {far} where {frr} is at most {value:rate}",
    "cost": "the least cost, prior {prior:digits 6}, c_miss {miss:digits 6}, c_fa {fa:digits 6}",
    "accuracy": "the largest accuracy",
    "fixed": "the threshold {value:threshold}",
    "none": "no threshold",
}


def rule_in_words(rule: Rule) -> Text:
    template = _POINTS[rule.name]
    # The fields that are no rates take the values of the rule in order.
    names = [name for name in fields_of(template) if not is_term(name)]
    return say(template, **dict(zip(names, rule.values, strict=True)))


def rule_of(attrs: Mapping[Any, Any]) -> Rule:
    return Rule.written(str(attrs.get("threshold_rule", "none")))


# ----------------------------------------------------------------------------------- sizes of data


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


def candidates_in_words(attrs: Mapping[Any, Any]) -> str:
    """Return with how many templates probes were compared, in words, if not with the gallery."""
    if "candidates" not in attrs:
        return ""
    smallest, largest = int(attrs["candidates_least"]), int(attrs["candidates_most"])
    number = f"{smallest:,}" if smallest == largest else f"{smallest:,} to {largest:,}"
    candidates = counted(int(attrs["candidates"]), "gallery templates")
    return f"each probe was compared with {number} of {candidates}"


def sample_size(dataset: xr.Dataset, *, is_short: bool = False) -> Text:
    """Return the attempts and subjects of a result in words; over folds, sums of test parts.

    In short, subjects are left out where all subjects of the header made attempts.
    """
    queries, attempts = _total(dataset, "queries"), _total(dataset, "attempts")
    genuine, impostor = _total(dataset, "genuine_attempts"), _total(dataset, "impostor_attempts")
    subjects = _total(dataset, "subjects")
    if queries is not None:
        text = counted(queries, "queries")
    elif attempts is not None:
        text = f"{attempts:,} genuine attempts"
    elif genuine is None or impostor is None:
        return _sizes_of_tracks(dataset)
    else:
        impostor_attempts = counted(impostor, "impostor attempts")
        text = f"{genuine:,} genuine and {impostor_attempts}"
        # Subjects of all attempts or, if they are not known, of each class.
        genuine_subjects = _total(dataset, "genuine_subjects")
        impostor_subjects = _total(dataset, "impostor_subjects")
        if subjects is None and genuine_subjects is not None and impostor_subjects is not None:
            if genuine_subjects == impostor_subjects:
                subjects = impostor_subjects
            elif not is_short:
                genuine_attempts = counted(genuine, "genuine attempts")
                of_genuine = counted(genuine_subjects, "subjects")
                text = f"{genuine_attempts} of {of_genuine} and {impostor_attempts}"
                subjects = impostor_subjects  # stand behind the impostor attempts
    # Of folds, only attempts can be added: the same subjects may be in several test parts.
    if "fold" in dataset.dims:
        repeats = dataset.sizes.get("repeat", 1)
        return f"{text} in total, in {repeats} divisions" if repeats > 1 else f"{text} in total"
    if not subjects or (is_short and subjects == dataset.attrs.get("probe_subjects")):
        return text
    return f"{text} of {counted(subjects, 'subjects')}"


def _sizes_of_tracks(dataset: xr.Dataset) -> str:
    """Return the numbers of tracks and boxes of a tracking result; "" for another result."""
    targets, boxes = _total(dataset, "targets"), _total(dataset, "truth_boxes")
    identities, result_boxes = _total(dataset, "identities"), _total(dataset, "result_boxes")
    if targets is None or boxes is None or identities is None or result_boxes is None:
        return ""
    truth = f"{counted(targets, 'targets')} with {counted(boxes, 'boxes')}"
    result = f"{counted(identities, 'identities')} with {counted(result_boxes, 'boxes')}"
    return f"{truth}; {result} in the result"


def lacking(dataset: xr.Dataset) -> list[str]:
    """Return the classes of which a result has no attempt: ``["0 impostor attempts"]``."""
    class_of = {
        "genuine_attempts": "genuine",
        "attempts": "genuine",
        "impostor_attempts": "impostor",
    }
    return [f"0 {name} attempts" for count, name in class_of.items() if _total(dataset, count) == 0]


def _total(dataset: xr.Dataset, name: str) -> int | None:
    """Return a count, summed over folds; None if the count is missing or cannot be summed."""
    variable = dataset.variables.get(name)
    if variable is None:
        return None
    if not variable.dims:  # a mean of counts is no count
        return int(variable.values) if float(variable.values).is_integer() else None
    if not {*variable.dims} <= {"repeat", "fold", "part"} or name.endswith("subjects"):
        return None
    values = variable.values
    if "part" in variable.dims:
        parts = dataset.variables["part"].values.tolist()
        if "test" not in parts:
            return None
        values = values.take(parts.index("test"), axis=variable.dims.index("part"))
    return int(np.nansum(values))


def _parts_in_words(dataset: xr.Dataset) -> Iterator[Text]:
    """Yield how often the data were divided, with the subjects of each part, and the thresholds."""
    over = [dataset.sizes[dim] for dim in OVER if dim in dataset.dims]
    if "partitions" in dataset.attrs and (over or "statistic" in dataset.dims):
        yield _partitions_in_words(dataset, over)
    if {"repeat", "fold", "part"} <= {*dataset.dims} and "subjects" in dataset:
        yield _folds_in_words(dataset)
        thresholds = (
            dataset.variables["threshold"].values if "threshold" in dataset else np.empty(0)
        )
        thresholds = thresholds[np.isfinite(thresholds)]
        if len({*thresholds}) > 1:
            least, most = Score(thresholds.min(), digits=4), Score(thresholds.max(), digits=4)
            yield say("thresholds from {least} to {most}", least=least, most=most)


def _partitions_in_words(dataset: xr.Dataset, sizes: Sequence[int]) -> Text:
    """Return the number of partitions, and the size of their galleries.

    `sizes` are those of the dimensions over partitions; some of the partitions may be selected.
    """
    number = int(dataset.attrs["partitions"])
    if sizes:
        number = min(number, math.prod(sizes))
    people = _range_of(dataset, "gallery_subjects")
    templates = _range_of(dataset, "gallery_templates")
    text = "{partitions}"
    if templates is not None:
        text += "; each gallery: {templates} templates"
        if people is not None:
            text += " of {people} subjects"
    partitions = counted(number, "partitions")
    return say(text, partitions=partitions, templates=templates, people=people)


def _folds_in_words(dataset: xr.Dataset) -> Text:
    """Return the number of folds, and the range of the subjects in training and test parts."""
    attrs = dataset.attrs
    if "experiment" in attrs:
        divided = "{repeats:count repeats}"
    elif dataset.sizes["repeat"] > 1:
        divided = "{repeats:count divisions} into {folds:count folds}"
    else:
        divided = "{folds:count folds}"
    is_validation = str(attrs.get("chosen_on", "")).startswith("the validation")
    other_part = "validation" if is_validation else "training"
    text = f"{divided}; {{sizes_are_of}}: {{train}} in {other_part}, {{test}} in test"

    subjects = dataset.variables["subjects"]
    axis = subjects.dims.index("part")
    parts = dataset.variables["part"].values.tolist()
    return say(
        text,
        repeats=dataset.sizes["repeat"],
        folds=dataset.sizes["fold"],
        sizes_are_of=str(attrs.get("sizes_are_of", "subjects")),
        train=_range(subjects.values.take(parts.index("train"), axis)),
        test=_range(subjects.values.take(parts.index("test"), axis)),
    )


def _range_of(dataset: xr.Dataset, name: str) -> Text | None:
    """Return the smallest and the largest number of all parts; of statistics, the mean."""
    numbers = dataset.variables.get(name)
    if numbers is None or not numbers.size or not np.nanmax(numbers.values):
        return None
    if "statistic" not in numbers.dims:
        return _range(numbers.values)
    statistics = dataset.variables["statistic"].values.tolist()
    if "mean" not in statistics or numbers.ndim > 1:
        return None
    mean = float(numbers.values[statistics.index("mean")])
    return Count(mean) if mean.is_integer() else say("on average {mean}", mean=Number(mean))


def _range(numbers: np.ndarray) -> Text:
    least, most = int(np.nanmin(numbers)), int(np.nanmax(numbers))
    return Count(least) if least == most else say("{a} to {b}", a=least, b=most)
