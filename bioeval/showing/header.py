"""What attributes of results say: facts of the header, rules of a task, its sample size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal, localcontext
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import counted, enumerated
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.protocol.loading import CARD_OF_LAYOUT
from bioeval.results.words import excluded_in_words
from bioeval.scores.fusion_rules import parse_fusion
from bioeval.showing.blocks import Fact, Facts, Vocabulary
from bioeval.showing.cells import Count, Label, Threshold
from bioeval.showing.facts import (
    candidates_in_words,
    data_fact,
    scores_in_words,
    sides_in_words,
    threshold_choice,
)
from bioeval.showing.nodes import Node
from bioeval.showing.terms import rates_are_of
from bioeval.showing.text import Text, say

Attributes = Mapping[Any, Any]

_LONGEST = 160  # characters of a splitter that are shown

#: Splitters that list the fold of each sample.
_LISTED = {
    "PredefinedFolds": "folds as given, one for each template",
    "PredefinedPairFolds": "folds as given, one for each pair",
}


def _text_of(name: str) -> Callable[[Attributes], Text]:
    return lambda attrs: str(attrs.get(name, ""))


def _label_of(name: str) -> Callable[[Attributes], Text]:
    return lambda attrs: Label(attrs[name]) if attrs.get(name) else ""


def _scores(attrs: Attributes) -> Text:
    return scores_in_words(str(attrs.get("kind", "")), str(attrs.get("protocol", "")))


def _partition(attrs: Attributes) -> Text:
    """Return how the data were divided, not too long."""
    if attrs.get("splitter_class") in _LISTED:
        return _LISTED[attrs["splitter_class"]]
    splitter = str(attrs.get("splitter", ""))
    shortened = f"{splitter[: _LONGEST - 4]} ..."
    return Label(shortened if len(splitter) > _LONGEST else splitter)


def _threshold(attrs: Attributes) -> Text:
    is_chosen = attrs.get("threshold_rule", "none") != "none" and "chosen_on" in attrs
    if not is_chosen:
        return ""
    choice = threshold_choice(attrs)
    if "assure" in attrs:
        return say("only for comparison, without assurance: {choice}", choice=choice)
    return choice


def _groups(attrs: Attributes) -> Text:
    if "groups_of" not in attrs:
        return ""
    of_attempts = attrs["groups_of"] == "attempts"
    text = "{by}, of attempts by the value of the probe" if of_attempts else "{by}, of people"
    return say(text, by=Label(attrs["by"]))


def _attacks(attrs: Attributes) -> Text:
    if "counted" not in attrs:
        return ""
    unit = str(attrs["counted"]).removesuffix("s")
    return say("rates are by {unit}; RIAPAR is {riapar}", unit=unit, riapar=str(attrs["riapar"]))


#: What becomes of presentations without a response.
_NO_RESPONSE = {"exclude": "left out of APCER and BPCER", "reject": "rejected at every threshold"}


def _classes(attrs: Attributes) -> Text:
    """Return which classes of the ground truth are evaluated, or why there are none."""
    if "classes_evaluated" not in attrs:
        return ""
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


#: Which pairings of targets with boxes are kept.
_PAIRING = {
    "last-known": "each target's last pairing is kept (last-known)",
    "previous-frame": "pairings of the previous frame are kept (previous-frame)",
}


def _match(attrs: Attributes) -> Text:
    if "pairing" not in attrs:
        return ""
    kept = _PAIRING[str(attrs["pairing"])]
    return say(
        "overlap (IoU) of {iou:digits 6} or more; {kept}", iou=float(attrs["iou"]), kept=kept
    )


def _cameras(attrs: Attributes) -> Text:
    several = int(attrs.get("cameras", 1)) > 1 and "pairing" in attrs
    return f"{attrs['cameras']} with common identities" if several else ""


def _mostly_tracked(attrs: Attributes) -> Text:
    is_more = attrs.get("mostly_tracked", "at-least") != "at-least"
    return "covered for more than 80 % of the frames" if is_more else ""


def _costs(attrs: Attributes) -> Text:
    if "cost_miss" not in attrs:
        return ""
    return say(
        "a miss costs {miss:digits 6} and a {false accept} {accept:digits 6}",
        miss=float(attrs["cost_miss"]),
        accept=float(attrs["cost_false_accept"]),
    )


def _people_of_a_day(attrs: Attributes) -> Text:
    if "impostor_share" not in attrs:
        return ""
    return say(
        "{people:count people} a day, {share:rate} of them {role}",
        people=int(attrs["people"]),
        share=float(attrs["impostor_share"]),
        role="not on the list" if attrs["rates"] == "fpir fnir" else "impostors",
    )


def _ranges(attrs: Attributes) -> Text:
    if "impostor_share" not in attrs:
        return ""
    text = "the number of errors in {share:rate} of the periods, if people are independent"
    return say(text, share=float(attrs["confidence"]))


def _alarms(attrs: Attributes) -> Text:
    """Return the rate at which a number of false alarms is expected, if it was given."""
    if "alarms_per_day" not in attrs:
        return ""
    with localcontext(prec=4, rounding=ROUND_FLOOR):  # never above what the alarms allow
        per_cent = float(+Decimal(f"{100 * float(attrs['far']):.12g}"))
    return say(
        "{alarms:digits 4} a day, expected at a {rate} of {per_cent:digits 4} %",
        alarms=float(attrs["alarms_per_day"]),
        rate="FPIR" if attrs["rates"] == "fpir fnir" else say("{far}"),
        per_cent=per_cent,
    )


def _operating_point(attrs: Attributes) -> Text:
    """Return the threshold, or the target, whose errors are counted in use."""
    if "impostor_share" not in attrs:
        return ""
    if "far_target" in attrs:
        task = rates_are_of(attrs, searches=attrs["rates"] == "fpir fnir")
        return say("{far} at most {target:rate}", task=task, target=float(attrs["far_target"]))
    if "threshold" not in attrs:
        return "" if "alarms_per_day" in attrs else "rates as given"
    after = {x: float(attrs[x]) for x in ("threshold", "threshold_next") if x in attrs}
    return say("the threshold {threshold:threshold}", **after)


def _planned_interval(attrs: Attributes) -> Text:
    if "frr_width" not in attrs:
        return ""
    return say(
        "{confidence:rate} interval of the {frr} by subject, at most {width:digits 4} pp "
        "(percentage points) wide with a probability of {assurance:rate}",
        confidence=float(attrs["confidence"]),
        width=100 * float(attrs["frr_width"]),
        assurance=float(attrs["assurance"]),
    )


def _limits_of_differences(attrs: Attributes) -> Text:
    if "adjust" not in attrs:
        return ""
    several = int(attrs.get("systems_compared", 2)) > 2
    pairs = " hold for all pairs of systems together, and" if several else " hold"
    adjusted = "not corrected for the number of measures"
    if attrs["adjust"] == "holm":
        adjusted = "conclusions are adjusted for the number of measures (Holm)"
    return f"of differences{pairs} for each measure by itself; {adjusted}"


def _measures_of(attrs: Attributes) -> Text:
    """Return the convention of re-identification that measures were compared by."""
    is_compared = "convention" in attrs and "adjust" in attrs
    return f"of re-identification, {attrs['convention']}" if is_compared else ""


def _animals(attrs: Attributes) -> Text:
    """Return how many subjects are best, and worst, by each of the means that make animals."""
    if "quantile" not in attrs:
        return ""
    text = "the best and the worst {share:rate} of the subjects by each mean"
    return say(text, share=float(attrs["quantile"]))


#: The facts of the header, and what attributes say of each.
_FACTS: dict[str, Callable[[Attributes], Text]] = {
    "Training set": _label_of("train_system"),
    "People": _people_of_a_day,
    "False alarms": _alarms,
    "Operating point": _operating_point,
    "In brackets": _ranges,
    "Interval": _planned_interval,
    "Made of": _label_of("origin"),
    "Attempts": _text_of("use"),
    "Scores": _scores,
    "Measures": _measures_of,
    "Limits": _limits_of_differences,
    "Read": _label_of("reading"),
    "No response": lambda attrs: _NO_RESPONSE.get(str(attrs.get("non_response")), ""),
    "Groups": _groups,
    "Attacks": _attacks,
    "Excluded": lambda attrs: excluded_in_words({"": attrs}),
    "Partition": _partition,
    "Experiment": _text_of("experiment"),
    "Threshold": _threshold,
    "Costs": _costs,
    "Cameras": _cameras,
    "Classes": _classes,
    "Match": _match,
    "MT": _mostly_tracked,
    "Animals": _animals,
}


def header_of(nodes: Sequence[Node], *, verbose: bool) -> Facts:
    """Return what the attributes of results say of their data, scores and options.

    Terms of the other vocabulary are in a `verbose` one.
    """
    by_system: dict[str, xr.Dataset] = {}
    for node in nodes:
        by_system.setdefault(node.name_of_system(), node.dataset)
    names = [x for x in by_system if x] or _systems_of(nodes[0].dataset)
    sides = {sides_in_words(x.attrs) for x in by_system.values()}
    facts = [data_fact(names, "" if len(sides) > 1 else sides.pop())]
    for name, reading in _FACTS.items():
        facts += _fact_of_each(name, {k: reading(x.attrs) for k, x in by_system.items()})
    facts += [Fact("Terms", Vocabulary())] if verbose else []
    return Facts((*facts, Fact("Left out", tasks_left_out(nodes))))


def _systems_of(dataset: xr.Dataset) -> list[str]:
    """Return the systems of a dataset: its labels, or the one of its attributes."""
    if "system" in dataset.dims and "system" in dataset.variables:
        return list(map(str, dataset.variables["system"].values.tolist()))
    return [str(dataset.attrs.get("system", ""))]


def _fact_of_each(name: str, texts: Mapping[str, Text]) -> Iterator[Fact]:
    """Yield a fact about all systems, or one about those that are alike."""
    alike: dict[str, tuple[Text, list[str]]] = {}
    for system, text in texts.items():
        alike.setdefault(repr(text), (text, []))[1].append(system)
    for text, systems in alike.values():
        if len(alike) > 1 and text != "":
            text = say("{systems:names}: {text}", systems=systems, text=text)
        yield Fact(name, text)


# ------------------------------------------------------------------------------------------- rules

#: What the policies of ties mean.
_TIES = {
    "pessimistic": "ties: the mate ranks last (pessimistic)",
    "optimistic": "ties: the mate ranks first (optimistic)",
    "expected": "ties: means over all orders (expected)",
    "stable": "ties: in the order of the gallery (stable)",
}

#: Which searches make impostor attempts of identification.
_IMPOSTORS = {
    "leave-subject-out": "impostors search without their own subject (leave-subject-out)",
    "unenrolled": "impostors are people who are not enrolled",
    "both": "impostors are people who are not enrolled, and all others without the templates of "
    "their own subject (both)",
}

#: What a convention of re-identification leaves out of the list of a query, and what it counts.
_REMOVED = {
    "same-id-same-camera": "entries of the same identity and camera",
    "same-camera": "entries of the same camera",
    "none": "none",
}
_CMC = {
    "first-match": "the first match",
    "allshots": "all matches",
    "single-gallery-shot": "one entry of each identity (single shot), other measures all",
    "identity-dedup": "distinct identities, other measures all entries",
}


def _percent(name: str) -> Callable[[str], str]:
    return lambda x: f"{name} {100 * float(x):g} %"


def _of_attrs(attribute: str, value: str, attrs: Attributes) -> str:
    """Return what the rules of a task say that need other attributes."""
    if attribute == "genuine_gallery_subjects":
        return _searched(attrs)
    if attribute == "fusion":
        return fusion_in_words(value, str(attrs.get("kind", "")))
    return _removed(attrs)


#: The rules of a task by attribute, and how each reads.
_RULES: dict[str, Callable[[str], Text] | None] = {
    "genuine_gallery_subjects": None,
    "gallery": lambda _: (
        "1 template of each subject, drawn anew for each probe; exact mean over all draws"
    ),
    "removes": None,
    "junk": lambda x: f"junk {x}",
    "cmc_counts": lambda x: f"CMC counts {_CMC.get(x, x)}",
    "variant": lambda x: {"reference": "as the authors' program"}.get(x, ""),
    "budget": lambda x: f"B = {int(x):,}",
    "rank_unit": lambda x: f"the rank counts {x}s",
    "ties": lambda x: _TIES.get(x, f"{x} ties"),
    "ap": lambda x: f"AP: {x}",
    "impostors": lambda x: "" if x == "auto" else _IMPOSTORS.get(x, f"impostors {x}"),
    "fusion": None,
    "claims": lambda x: "" if x in ("", "all") else f"claims {x}",
    "people_here": lambda x: (
        f"these data have {x}; attempts that share a person are not "
        "independent, so these are lower bounds"
    ),
    "fold_thresholds": lambda x: (
        f"same data: optimistic; new people: mean and sd over the test parts of "
        f"folds, at thresholds from {x}"
    ),
    "fta": _percent("FTA"),
    "fte": _percent("FTE"),
    "alpha": lambda x: say("weight of {far} in FDR and GARBE: {x:digits 6}", x=float(x)),
}


def rules_of(dataset: xr.Dataset) -> list[Text]:
    """Return the parts, the gallery and the rules of a task in words."""
    attrs = dataset.attrs
    rules: list[Text] = [parts_in_words(dataset), candidates_in_words(attrs)]
    for name, reading in _RULES.items():
        if name in attrs:
            text = str(attrs[name])
            rules.append(reading(text) if reading else _of_attrs(name, text, attrs))
    return list(filter(None, rules))


def fusion_in_words(fusion: str, kind: str) -> str:
    """Return how the scores of a subject's templates are fused, in words of their kind."""
    if fusion in ("", "none"):
        return ""
    near, far = ("most", "least") if kind in LARGER_IS_CLOSER else ("nearest", "farthest")
    alike = " similar" if kind in LARGER_IS_CLOSER else ""
    method, order = parse_fusion(fusion)
    words = {
        "best": f"that of its {near}{alike} template",
        "worst": f"that of its {far}{alike} template",
        "kth": f"that of its template number {order} from the {near}{alike}",
    }
    of_all = f"the {method} {kind or 'score'} of its templates"
    return f"the score of a subject is {words.get(method, of_all)}"


def _searched(attrs: Attributes) -> str:
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


def _removed(attrs: Attributes) -> str:
    """Return in words which entries a convention leaves out, of each list where there are two."""
    removed = _REMOVED[attrs["removes"]]
    for_ap = _REMOVED[attrs.get("removes_for_ap", attrs["removes"])]
    if removed != for_ap:
        return f"removed for the CMC: {removed}; for all other measures: {for_ap}"
    if removed == "none":
        return "no entries removed" if not attrs.get("exclude") else ""
    return f"removed: {removed}"


# ------------------------------------------------------------------------------------- sample size


def sample_size(dataset: xr.Dataset) -> Text:
    """Return the attempts and subjects of a result in words; of folds, those of all test parts.

    Of the rates at a threshold, the threshold.
    """
    attrs = dataset.attrs
    if "rates_at_threshold" in attrs:
        after = attrs.get("rates_at_threshold_next", np.nan)
        return Threshold(attrs["rates_at_threshold"], next=after)
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
            if genuine_people != impostor_people:
                attempts = counted(genuine, "genuine attempts")
                text = f"{attempts} of {counted(genuine_people, 'subjects')}"
                text += f" and {counted(impostor, 'impostor attempts')}"
            people[""] = impostor_people
    else:
        return _tracks(dataset)
    if "part" in dataset.dims:
        repeats = dataset.sizes.get("repeat", 1)
        divisions = f" of {repeats} divisions" if repeats > 1 else ""
        return f"{text} summed over the test folds{divisions}"
    return f"{text} of {counted(people[''], 'subjects')}" if people[""] else text


def _tracks(dataset: xr.Dataset) -> str:
    """Return the numbers of targets, of identities and of their boxes; empty without them."""
    counts = [_total(dataset, x) for x in ("targets", "truth_boxes", "identities", "result_boxes")]
    if None in counts:
        return ""
    targets, boxes, identities, found = (x or 0 for x in counts)
    truth = f"{counted(targets, 'targets')} with {counted(boxes, 'boxes')}"
    result = f"{counted(identities, 'identities')} with {counted(found, 'boxes')}"
    return f"{truth}; {result} in the result"


def lacking(dataset: xr.Dataset) -> list[str]:
    """Return the classes without an attempt, in words."""
    classes = {
        "genuine_attempts": "genuine",
        "attempts": "genuine",
        "impostor_attempts": "impostor",
    }
    return [f"0 {role} attempts" for name, role in classes.items() if _total(dataset, name) == 0]


#: The counts of a title.
_COUNTED = ("genuine_attempts", "impostor_attempts", "attempts", "queries")


def _total(dataset: xr.Dataset, name: str) -> int | None:
    """Return a count, of folds the sum; None if there is none, or one of each group or so."""
    variable = dataset.variables.get(name)
    if variable is None or not variable.dims:
        return None if variable is None else int(variable.values)
    if not {*variable.dims} <= {"repeat", "fold", "part"} or name.endswith("subjects"):
        return None
    values = variable.values
    if "part" in variable.dims:
        place = dataset.variables["part"].values.tolist().index("test")
        values = values.take(place, axis=variable.dims.index("part"))
    return int(np.nansum(values))


def parts_in_words(dataset: xr.Dataset) -> Text:
    """Return how often the data were divided, and how many subjects each part has."""
    if "partitions" in dataset.attrs:
        partitions = counted(int(dataset.attrs["partitions"]), "partitions")
        people = _range_of(dataset, "gallery_subjects")
        templates = _range_of(dataset, "gallery_templates")
        if templates is None:
            return partitions
        text = "{partitions}; each gallery: {templates} templates"
        text += " of {people} subjects" if people is not None else ""
        return say(text, partitions=partitions, templates=templates, people=people)
    if not {"repeat", "fold", "part"} <= {*dataset.dims}:
        return ""
    divided = "{repeats:count repeats}"
    if "experiment" not in dataset.attrs:
        divided = "{repeats:count divisions} into {folds:count folds}"
    sizes: dict[str, Any] = {"repeats": dataset.sizes["repeat"], "folds": dataset.sizes["fold"]}
    text = f"{divided}; {{sizes_are_of}}: {{train}} in training, {{test}} in test"
    subjects = dataset.variables["subjects"]
    parts = dataset.variables["part"].values.tolist()
    for part in ("train", "test"):
        of_part = subjects.values.take(parts.index(part), axis=subjects.dims.index("part"))
        sizes[part] = _range(of_part)
    if "threshold" in dataset.variables and (thresholds := _range_of_thresholds(dataset)):
        text += "; thresholds from {least} to {most}"
        sizes |= thresholds
    return say(text, sizes_are_of=str(dataset.attrs.get("sizes_are_of", "subjects")), **sizes)


def _range_of_thresholds(dataset: xr.Dataset) -> dict[str, Threshold]:
    """Return the least and the most of the thresholds of folds; empty if all are equal."""
    values = dataset.variables["threshold"].values
    after = np.full(values.shape, np.nan)
    if "threshold_next" in dataset.variables:
        after = dataset.variables["threshold_next"].values
    pairs = zip(values.flat, after.flat, strict=True)
    thresholds = sorted(x for x in pairs if np.isfinite(x[0]))
    if not thresholds or thresholds[0][0] == thresholds[-1][0]:
        return {}
    least, most = (Threshold(x, next=after) for x, after in (thresholds[0], thresholds[-1]))
    return {"least": least, "most": most}


def _range_of(dataset: xr.Dataset, name: str) -> Text | None:
    """Return the smallest and the largest of a number of each partition; None without one."""
    numbers = dataset.variables.get(name)
    if numbers is None or not np.nanmax(numbers.values):
        return None
    return _range(numbers.values)


def _range(numbers: np.ndarray) -> Text:
    least, most = int(np.nanmin(numbers)), int(np.nanmax(numbers))
    return Count(least) if least == most else say("{a} to {b}", a=least, b=most)


# ---------------------------------------------------------------------------------------- left out

#: Tasks of the cards of the course.
_TASKS_OF_COURSE = {
    "verification/single": "single-template verification",
    "verification/multi": "multi-template verification",
    "open_set": "open set",
    "closed_set": "closed set",
}


def tasks_left_out(nodes: Sequence[Node]) -> str:
    """Return the tasks that the card has and the scores do not support, with reasons."""
    attrs = nodes[0].dataset.attrs
    layout = str(attrs.get("layout"))
    if layout == "pairs" or layout not in CARD_OF_LAYOUT:
        return ""
    if attrs.get("protocol") != CARD_OF_LAYOUT[layout]:
        return ""
    done = {node.task for node in nodes}
    tasks = [words for path, words in _TASKS_OF_COURSE.items() if path not in done]
    if not tasks:
        return ""
    if attrs.get("kind") == "order":
        return f"{enumerated(tasks)}; scores that only order a row have no common thresholds"
    if not attrs.get("probe_subjects") and not attrs.get("gallery_subjects"):
        return f"{enumerated(tasks)}; a mask does not give the subjects of the templates"
    return ""
