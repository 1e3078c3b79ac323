"""The header of a document: facts on its data, scores and options, from the attributes of results.

A result states in its attributes on which data it was made, and how. Of the attributes ::

    {"system": "ours", "kind": "distance", "layout": "all-against-all", "probes": 40,
     "gallery_templates": 40, "probe_subjects": 20, "ties": "pessimistic"}

the header has the facts ::

    Data    ours: 40 templates of 20 subjects, all against all
    Scores  distances, accepted if <= threshold

An attribute that is missing or ``""`` gives an empty text, which is left out. The rules of tasks
stand above their tables (:mod:`bioeval.showing.rules`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bioeval.base.errors import counted, enumerated, messages_of
from bioeval.counting.threshold_rules import Rule
from bioeval.protocol.loading import CARD_OF_LAYOUT
from bioeval.scores.attempts import exclusions_in_words
from bioeval.scores.provenance import exclusions_of
from bioeval.showing.nodes import Node
from bioeval.showing.rules import ATTEMPTS, Attributes, is_stated
from bioeval.showing.text import (
    Enumeration,
    Fact,
    Facts,
    Label,
    Text,
    Vocabulary,
    fields_of,
    is_term,
    say,
)

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
    if is_stated(attrs, "adjust") and "convention" in attrs:
        facts["Measures"] = f"of re-identification, {attrs['convention']}"
    # A table of a comparison has measures of several tasks: its title does not say which attempts.
    if is_stated(attrs, "systems_compared") and "templates" in attrs:
        facts["Verification"] = f"{ATTEMPTS['single']} (single-template)"
    if is_stated(attrs, "exclude"):
        facts["Excluded"] = exclusions_in_words(exclusions_of(attrs))
    if is_stated(attrs, "cost_miss"):
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
    if is_stated(attrs, "quantile"):
        text = "best, worst: {quantile:rate} of the subjects at each end of their mean scores"
        facts["Animals"] = say(text, quantile=attrs["quantile"])
    if node.selected:  # places of a result, such as a partition
        places = [
            say("{dim:name} {label:name}", dim=dim.replace("_", " "), label=label)
            for dim, label in node.selected.items()
        ]
        facts["Selected"] = Enumeration(places, "")
    return facts


def _label(attrs: Attributes, name: str) -> Text:
    return Label(attrs[name]) if is_stated(attrs, name) else ""


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
    if not is_stated(attrs, "splitter"):
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
    if not is_stated(attrs, "chosen_on") or attrs.get("threshold_rule", "none") == "none":
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
    if not is_stated(attrs, "classes_evaluated"):
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
