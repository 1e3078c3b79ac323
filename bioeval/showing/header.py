"""Attributes of results in words: the facts of the header, sizes of the data, rules of a task."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import counted, enumerated, messages_of
from bioeval.counting.threshold_rules import Rule
from bioeval.protocol.loading import CARD_OF_LAYOUT
from bioeval.scores.attempts import exclusions_in_words
from bioeval.scores.distances import parse_fusion
from bioeval.scores.provenance import exclusions_of
from bioeval.showing.rows import OVER, Node
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

#: An attribute in words: a template with attributes, a template for each of some values (other
#: values have no words), or a function that words all attributes.
Wording = str | Mapping[str, str] | Callable[[Attributes], Text]

#: Longer texts of a splitter are cut to so many characters.
_LONGEST_SPLITTER = 160

#: The header names no systems if there are more.
_MOST_NAMED = 8

#: The side of a threshold on which scores are accepted, by the kind of the scores.
_SCORES = {
    "distance": "distances, accepted if <= threshold",
    "similarity": "similarities, accepted if >= threshold",
    "order": "order within each row; no thresholds",
}

#: The folds of splitters that take the fold of each sample from a list, in words.
_LISTED_FOLDS = {
    "PredefinedFolds": "folds as given, one for each template",
    "PredefinedPairFolds": "folds as given, one for each pair",
}


def header_of(nodes: Sequence[Node], is_short: bool = False) -> Facts:
    """Return the facts that the attributes of results state of their data, scores and options."""
    by_system: dict[str, xr.Dataset] = {}
    for node in nodes:
        by_system.setdefault(node.name_of_system(), node.dataset)
    names = [x for x in by_system if x]
    if not names:
        dataset = nodes[0].dataset
        names = [str(dataset.attrs.get("system", ""))]
        if "system" in dataset.dims and "system" in dataset.variables:
            names = list(map(str, dataset.variables["system"].values.tolist()))
    sides = {sides_in_words(x.attrs) for x in by_system.values()}
    facts = [data_fact(names, "" if len(sides) > 1 else sides.pop())]
    for name, attribute, wording in _FACTS:
        texts = {k: [_in_words(attribute, wording, x.attrs)] for k, x in by_system.items()}
        if is_short and name == "Attempts":
            texts = {k: [str(x).partition(";")[0] for x in of_k] for k, of_k in texts.items()}
        if is_short and name == "Threshold":
            texts = {k: [_threshold(x.attrs, is_short)] for k, x in by_system.items()}
        facts += ((name, text) for text in joined_texts(texts))
    selected: dict[str, list[Text]] = {}  # places of a result, such as a partition
    for node in reversed(nodes):
        places = [
            say("{dim:name} {label:name}", dim=dim.replace("_", " "), label=label)
            for dim, label in node.selected.items()
        ]
        selected[node.name_of_system()] = [Enumeration(places, "") if places else ""]
    facts += (("Selected", text) for text in joined_texts(selected))
    left_out = {k: [_comparisons_left_out(x.attrs)] for k, x in by_system.items()}
    facts += (("Left out", text) for text in joined_texts(left_out))
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


def scores_in_words(kind: str, protocol: str = "") -> Text:
    """Return the kind of scores with its side of acceptance, and the protocol card."""
    scores: Text = _SCORES.get(kind, kind)
    if protocol:
        text = "{scores}; protocol {card:name}" if kind else "protocol {card:name}"
        scores = say(text, scores=scores, card=protocol)
    return scores


def rules_of(dataset: xr.Dataset) -> list[Text]:
    """Return the parts, the gallery and the rules of a task in words; a text may be empty."""
    attrs = dataset.attrs
    rules = [*_parts_in_words(dataset), candidates_in_words(attrs)]
    return [*rules, *(_in_words(name, wording, attrs) for name, wording in _RULES.items())]


def unusual_rules_of(dataset: xr.Dataset) -> list[Text]:
    """Return the rules of :func:`rules_of` of which a reader of a short view has to know."""
    attrs = dataset.attrs
    usual = {**_USUAL, "genuine_gallery_subjects": {attrs.get("gallery_subjects")}}
    rules = [*_parts_in_words(dataset), candidates_in_words(attrs)]
    for name, wording in _RULES.items():
        if name in attrs and name not in _RULES_OF_CARDS and attrs[name] not in usual.get(name, ()):
            rules.append(_in_words(name, wording, attrs))
    return rules


def joined_texts(by_system: Mapping[str, Iterable[Text]]) -> list[Text]:
    """Return the texts of systems, each once; a text not of all systems names its systems."""
    systems_of: dict[str, tuple[Text, list[str]]] = {}
    for system, texts in by_system.items():
        for text in texts:
            if text != "":
                systems_of.setdefault(repr(text), (text, []))[1].append(system)
    joined = []
    for text, systems in systems_of.values():
        with_names = say("{systems:names}: {text}", systems=systems, text=text)
        joined.append(text if len(systems) == len(by_system) else with_names)
    return joined


def _in_words(attribute: str, wording: Wording, attrs: Attributes) -> Text:
    """Return an attribute in words; empty without the attribute."""
    if attribute and attrs.get(attribute, "") == "":
        return ""
    if callable(wording):
        return wording(attrs)
    template = wording if isinstance(wording, str) else wording.get(str(attrs[attribute]), "")
    if not template:
        return ""
    values = {x: attrs[x] for x in attrs if x.removesuffix("_next") in fields_of(template)}
    if any(form for _, _, form, _ in string.Formatter().parse(template)):
        return say(template, **values)
    return template.format(**values)


# ------------------------------------------------------------------------------------------- facts


def _partition(attrs: Attributes) -> Text:
    if attrs.get("splitter_class") in _LISTED_FOLDS:
        return _LISTED_FOLDS[attrs["splitter_class"]]
    splitter = str(attrs["splitter"])
    end = " ..."
    if len(splitter) > _LONGEST_SPLITTER:
        splitter = splitter[: _LONGEST_SPLITTER - len(end)] + end
    return Label(splitter)


def _threshold(attrs: Attributes, is_short: bool = False) -> Text:
    if attrs.get("threshold_rule", "none") == "none":
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
    evaluated, ignored = str(attrs["classes_evaluated"]), str(attrs["classes_ignored"])
    text = f"{evaluated or 'none'} evaluated" + (f"; {ignored} ignored" if ignored else "")
    if {evaluated, ignored} <= {"", "without class"}:
        text = "no row states one; all are evaluated"
    world = int(attrs["world_coordinates"])
    why = (
        "; in {sequences:count sequences} column 8 is a world coordinate and no class (`classes` "
        "reads it as a class)"
    )
    return say("{text}{why}", text=text, why=say(why, sequences=world) if world else "")


#: The attempts of verification in words, by the templates that are compared. Claims have the
#: words of their own use.
_ATTEMPTS = {
    "single": "an attempt compares two templates",
    "multi": "an attempt is compared with all templates of a subject",
}

#: The facts of the header: name, the attribute without which the fact is left out, and its wording.
_FACTS: tuple[tuple[str, str, Wording], ...] = (
    ("Training set", "train_system", "{train_system:name}"),
    ("Made of", "origin", "{origin:name}"),
    ("Attempts", "use", "{use}"),
    (
        "Scores",
        "",
        lambda attrs: scores_in_words(str(attrs.get("kind", "")), str(attrs.get("protocol", ""))),
    ),
    (
        "Measures",
        "adjust",
        lambda attrs: (
            f"of re-identification, {attrs['convention']}" if "convention" in attrs else ""
        ),
    ),
    (
        "Verification",
        "systems_compared",
        lambda attrs: f"{_ATTEMPTS['single']} (single-template)" if "templates" in attrs else "",
    ),
    ("Read", "reading", "{reading:name}"),
    (
        "Groups",
        "groups_of",
        {
            "attempts": "{by:name}, of attempts by the value of the probe",
            "people": "{by:name}, one value for each person",
        },
    ),
    ("Excluded", "exclude", lambda attrs: exclusions_in_words(exclusions_of(attrs))),
    ("Partition", "splitter", _partition),
    ("Experiment", "experiment", "{experiment}"),
    ("Threshold", "chosen_on", _threshold),
    ("Thresholds", "thresholds_of_systems", "{thresholds_of_systems:name}"),
    (
        "Costs",
        "cost_miss",
        "a miss costs {cost_miss:digits 6} and a false accept {cost_false_accept:digits 6}",
    ),
    ("Classes", "classes_evaluated", _classes),
    (
        "Match",
        "pairing",
        {
            "last-known": "overlap (IoU) of {iou:digits 6} or more; each target's last pairing is "
            "kept (last-known)",
            "previous-frame": "overlap (IoU) of {iou:digits 6} or more; pairings of the previous "
            "frame are kept (previous-frame)",
        },
    ),
    ("MT", "mostly_tracked", {"more-than": "covered for more than 80 % of the frames"}),
    (
        "Animals",
        "quantile",
        "best, worst: {quantile:rate} of the subjects at each end of their mean scores",
    ),
)


# ------------------------------------------------------------------------------------------- rules

#: The entries that a convention of re-identification leaves out of the list of a query.
_ENTRIES_LEFT_OUT = {
    "same-id-same-camera": "entries of the same identity and camera",
    "same-camera": "entries of the same camera",
    "none": "none",
}


def _fusion(attrs: Attributes) -> str:
    # How the scores of a subject's templates are fused, in words of their kind.
    fusion = str(attrs["fusion"])
    kind = str(attrs.get("kind", ""))
    if fusion in ("", "none") or "use" in attrs:  # the use of claims says it
        return ""
    near, far = ("most", "least") if kind == "similarity" else ("nearest", "farthest")
    alike = " similar" if kind == "similarity" else ""
    method, order = parse_fusion(fusion)
    words = {
        "best": f"the score of the {near}{alike} template",
        "worst": f"the score of the {far}{alike} template",
        "kth": f"the score of template number {order} from the {near}{alike}",
    }
    of_all = f"the {method} {kind or 'score'} of the templates"
    return f"the score of a subject is {words.get(method, of_all)}"


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


def _removed_entries(attrs: Attributes) -> str:
    removed = _ENTRIES_LEFT_OUT[attrs["removes"]]
    for_ap = _ENTRIES_LEFT_OUT[attrs.get("removes_for_ap", attrs["removes"])]
    if removed != for_ap:
        return f"removed for the CMC: {removed}; for all other measures: {for_ap}"
    if removed == "none":
        return "no entries removed" if not attrs.get("exclude") else ""
    return f"removed: {removed}"


def _thresholds_of_study(attrs: Attributes) -> Text:
    names = ("rates_at_threshold", "rates_at_threshold_next", "fold_thresholds")
    text = (
        "same data: at the threshold {rates_at_threshold:threshold}, chosen on them; in folds: "
        "mean and standard deviation (sd) over the test parts, at thresholds chosen without them "
        "({fold_thresholds:name})"
    )
    if attrs["fold_thresholds"] == "given":
        text = (
            "all rates are at the given threshold, {rates_at_threshold:threshold}; in folds: mean "
            "and standard deviation (sd) over the test parts"
        )
    return say(text, **{name: attrs[name] for name in names if name in attrs})


#: The rules of a task in words, by their attribute.
_RULES: dict[str, Wording] = {
    "templates": lambda attrs: (
        "" if {"use", "systems_compared"} & {*attrs} else _ATTEMPTS.get(attrs["templates"], "")
    ),
    "genuine_gallery_subjects": _size_of_gallery,
    "impostors": {
        "leave-subject-out": "impostors search without their own subject (leave-subject-out)",
        "unenrolled": "impostors are people who are not enrolled",
        "both": "impostors are people who are not enrolled, and all others without the templates "
        "of their own subject (both)",
    },
    "gallery": "1 template of each subject, drawn anew for each probe; exact mean over all draws",
    "removes": _removed_entries,
    "junk": "junk {junk}",
    "cmc_counts": {
        "first-match": "CMC counts the first match",
        "allshots": "CMC counts all matches",
        "single-gallery-shot": "CMC counts one entry of each identity (single shot), other "
        "measures all",
        "identity-dedup": "CMC counts distinct identities, other measures all entries",
    },
    "variant": {"reference": "as the authors' program"},
    "budget": lambda attrs: f"B = {int(attrs['budget']):,}",
    "rank_unit": "rank k: the right subject is among the k nearest {rank_unit}s",
    "ties": {
        "pessimistic": "at ties, the right subject ranks last (pessimistic)",
        "optimistic": "at ties, the right subject ranks first (optimistic)",
        "expected": "at ties, means over all orders (expected)",
        "stable": "at ties, the order of the gallery (stable)",
    },
    "ap": "AP: {ap}",
    "fusion": _fusion,
    "claims": lambda attrs: "" if attrs["claims"] == "all" else f"claims {attrs['claims']}",
    "people_here": "these data have {people_here}; attempts that share a person are not "
    "independent, so more people than listed may be needed",
    "fold_thresholds": _thresholds_of_study,
    "fta": lambda attrs: f"FTA {100 * float(attrs['fta']):g} %",
    "fte": lambda attrs: f"FTE {100 * float(attrs['fte']):g} %",
}

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

# ---------------------------------------------------------------------------------------- left out

#: The messages on comparisons of a template with itself, and their argument with the number.
WITH_ITSELF = {"templates-on-both-sides": "templates", "self-comparisons-left-out": "comparisons"}


def _comparisons_left_out(attrs: Attributes) -> str:
    """Return how many comparisons of a template with itself are no attempts, in words.

    Those of claims are not counted: each claim leaves out its own templates.
    """
    layout, probes = str(attrs.get("layout", "")), int(attrs.get("probes", 0))
    numbers = [
        x.arguments[WITH_ITSELF[x.code]] for x in messages_of(attrs) if x.code in WITH_ITSELF
    ]
    if layout == "all-against-all":
        numbers = [probes]
    if not numbers or "use" in attrs:
        return ""
    text = f"{numbers[0]:,} of a template with itself"
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
    names = [name for name in fields_of(template) if not is_term(name)]
    return say(template, **dict(zip(names, rule.values, strict=True)))


def rule_of(attrs: Mapping[Any, Any]) -> Rule:
    return Rule.written(str(attrs.get("threshold_rule", "none")))


#: The counts of a title.
_COUNTED = ("genuine_attempts", "impostor_attempts", "attempts", "queries")


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
    counts = {x: n for x in _COUNTED if (n := _total(dataset, x)) is not None}
    people = {role: _total(dataset, f"{role}subjects") for role in ("", "genuine_", "impostor_")}
    if "queries" in counts:
        text = counted(counts["queries"], "queries")
    elif "attempts" in counts:
        text = f"{counts['attempts']:,} genuine attempts"
    elif len(counts) == 2:
        genuine, impostor = counts.values()
        text = f"{genuine:,} genuine and {counted(impostor, 'impostor attempts')}"
        genuine_people, impostor_people = people["genuine_"], people["impostor_"]
        if people[""] is None and genuine_people is not None and impostor_people is not None:
            if genuine_people != impostor_people and not is_short:
                attempts = counted(genuine, "genuine attempts")
                text = f"{attempts} of {counted(genuine_people, 'subjects')}"
                text += f" and {counted(impostor, 'impostor attempts')}"
            people[""] = None if genuine_people != impostor_people and is_short else impostor_people
    else:
        names = "targets", "truth_boxes", "identities", "result_boxes"
        of_tracks = [_total(dataset, x) for x in names]
        if None in of_tracks:
            return ""
        targets, boxes, identities, found = (x or 0 for x in of_tracks)
        truth = f"{counted(targets, 'targets')} with {counted(boxes, 'boxes')}"
        result = f"{counted(identities, 'identities')} with {counted(found, 'boxes')}"
        return f"{truth}; {result} in the result"
    if "fold" in dataset.dims:
        repeats = dataset.sizes.get("repeat", 1)
        return f"{text} in total" + (f", in {repeats} divisions" if repeats > 1 else "")
    if is_short and people[""] == dataset.attrs.get("probe_subjects"):
        return text
    return f"{text} of {counted(people[''], 'subjects')}" if people[""] else text


def lacking(dataset: xr.Dataset) -> list[str]:
    classes = {
        "genuine_attempts": "genuine",
        "attempts": "genuine",
        "impostor_attempts": "impostor",
    }
    return [f"0 {role} attempts" for name, role in classes.items() if _total(dataset, name) == 0]


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
        number = int(dataset.attrs["partitions"])
        partitions = counted(min(number, math.prod(over)) if over else number, "partitions")
        people = _range_of(dataset, "gallery_subjects")
        templates = _range_of(dataset, "gallery_templates")
        text = "{partitions}"
        text += "; each gallery: {templates} templates" if templates is not None else ""
        text += " of {people} subjects" if templates is not None and people is not None else ""
        yield say(text, partitions=partitions, templates=templates, people=people)
    if not {"repeat", "fold", "part"} <= {*dataset.dims} or "subjects" not in dataset:
        return
    divided = "{repeats:count repeats}"
    if "experiment" not in dataset.attrs:
        divisions = "{repeats:count divisions} into "
        divided = divisions * (dataset.sizes["repeat"] > 1) + "{folds:count folds}"
    sizes: dict[str, Any] = {"repeats": dataset.sizes["repeat"], "folds": dataset.sizes["fold"]}
    validates = str(dataset.attrs.get("chosen_on", "")).startswith("the validation")
    part = "validation" if validates else "training"
    text = f"{divided}; {{sizes_are_of}}: {{train}} in {part}, {{test}} in test"
    subjects = dataset.variables["subjects"]
    parts = dataset.variables["part"].values.tolist()
    for part in ("train", "test"):
        of_part = subjects.values.take(parts.index(part), axis=subjects.dims.index("part"))
        sizes[part] = _range(of_part)
    yield say(text, sizes_are_of=str(dataset.attrs.get("sizes_are_of", "subjects")), **sizes)
    thresholds = dataset.variables["threshold"].values if "threshold" in dataset else np.empty(0)
    thresholds = thresholds[np.isfinite(thresholds)]
    if len({*thresholds}) > 1:
        least, most = (Score(x, digits=4) for x in (thresholds.min(), thresholds.max()))
        yield say("thresholds from {least} to {most}", least=least, most=most)


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
