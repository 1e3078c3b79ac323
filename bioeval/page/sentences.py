"""The answer of a page: sentences in words for a manager that a reviewer accepts, and a table.

Of one system the numbers move with the threshold; several are in a table, each at its own
threshold, under what their paired comparison shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import xarray as xr

from bioeval.attempts.threshold_rules import Rule
from bioeval.document.blocks import Column, Paragraph, Section, Table, walk
from bioeval.document.cells import Count, Label, Quantity, Rate, Score, threshold_to_install
from bioeval.document.results import rule_of, threshold_rule
from bioeval.document.text import Term, Text, say
from bioeval.page.parts import (
    OF_SYSTEMS,
    Chosen,
    LivePart,
    LiveRow,
    LiveState,
    PageItem,
    attempts_of,
    grouped,
    searches_of,
    systems_of,
)
from bioeval.page.tables import at_part, live_count, live_threshold, live_value
from bioeval.page.writer import PART
from bioeval.views.tasks import value_of

# What each task is searched for, in the order in which a page speaks of them.
_ORDER = ("verification/single", "verification/multi", "open_set", "closed_set", "reid", "gom")

#: Systems with sentences of their own, at most.
MOST = 8


@dataclass(frozen=True)
class Headline:
    """The answer at the top of a page: sentences, or a table of several systems, best first."""

    sentences: list[Text]
    table: Table | None = None
    systems: list[tuple[str, list[Text]]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say."""
        return not (self.sentences or self.table or self.systems)


def headline(
    parts: list[PageItem], state: LiveState, studies: list[tuple[str, Section]]
) -> Headline:
    """Return the answer of a page: those of its studies, with their systems, come first."""
    systems = systems_of(parts)
    answers: dict[str, list[Text]] = {}
    for system, section in studies:
        answers.setdefault(system, []).extend(answers_of(section))
    shared = [x for name, said in answers.items() if name not in systems for x in said]
    if len(systems) <= 1:
        own = [x for said in answers.values() for x in said]
        moving = list(_of_moving(parts, state)) if systems else []
        return Headline([*own, *moving])
    of_each = grouped(parts, lambda part: part.system)
    by_system = {system: of_each[system] for system in systems[:MOST]}
    ranked = _ranked(by_system, state)
    table = _table(ranked, parts, state) or _rank_table(by_system, state)
    sentences = [*shared]
    if table is not None and not any(part.task == OF_SYSTEMS for part in parts):
        sentences.append(
            "Whether these systems differ was not tested here: bioeval compare pairs their "
            "attempts."
        )
    if ranked:
        sentences += _common(ranked, parts, state)
    said = []
    for system, own_parts in by_system.items():
        own = answers.get(system, [])
        if table is None:
            own = [*own, *_of_moving(own_parts, state)]
        if own:
            said.append((system, own))
    return Headline(sentences, table, said)


def answers_of(section: Section) -> Iterator[Text]:
    """Yield the answers of a section."""
    for _, block in walk(section):
        if isinstance(block, Paragraph) and block.role == "answer":
            yield block.text


def _moving(parts: list[PageItem], state: LiveState) -> LiveRow | None:
    """Return the row of the part of a system that the page is about."""
    tasks = [part for part in parts if part.task in _ORDER]
    first = min(tasks, key=lambda part: _ORDER.index(part.task), default=None)
    return state.row_of(first)


def _has_rates(live: LivePart) -> bool:
    return len(live.thresholds) > 0 and {"far", "frr"} <= set(live.columns)


def _of_moving(parts: list[PageItem], state: LiveState) -> Iterator[Text]:
    """Describe a system at its threshold, or at its rank."""
    at = _moving(parts, state)
    if at is None:
        return
    if _has_rates(at.live):
        said = [_rates(at)]
        if state.leader is not None and at.part.system == state.leader.part.system:
            said.append(_opened(state, str(at.part.dataset.attrs.get("chosen_on", ""))))
        yield from said
        on_new_people = list(filter(_is_on_new_people, parts))
        yield from filter(None, map(_of_new_people, on_new_people))
        # A given threshold was chosen on no data: its intervals are for new people already.
        given = state.chosen is not None and state.chosen.fixed
        if not on_new_people and not given:
            yield _NOT_ON_NEW_PEOPLE
    elif at.live.by_rank:
        yield from _ranks(at)
    if "mean_ap" in at.part.dataset and "queries" in at.part.dataset:
        mean = value_of(at.part.dataset, "mean_ap")
        cell = Rate(float(mean or 0), variable="mean_ap", at=at_part(at.part))
        queries = int(at.part.dataset["queries"])
        yield say(
            "Mean average precision (mAP) is {mean}, over {queries:count queries}.",
            mean=cell,
            queries=queries,
        )


# ------------------------------------------------------------------------------ one system

_NOT_ON_NEW_PEOPLE = (
    "Rates for new people were not estimated: bioeval threshold chooses the threshold on some of "
    "the people and tests it on the others."
)


def _rates(at: LiveRow) -> Text:
    """Return the sentence on accepted impostors and rejected genuine attempts at a row."""
    what = "impostor attempts are accepted"
    if "dir" in at.live.ranked:
        what = "searches by people who are not enrolled raise a false alarm"
    far, frr = live_value(at, "far"), live_value(at, "frr")
    intervals: Text = ""
    if far.interval is not None:
        intervals = say(
            " In square brackets: {level:rate} intervals.",
            level=float(at.part.dataset.attrs.get("confidence", 0.95)),
        )
    return say(
        "At the threshold {threshold}, {accepted} of {what}{fa}, and {rejected} of genuine "
        "attempts are rejected{fr}.{intervals}",
        threshold=live_threshold(at),
        accepted=far,
        what=what,
        fa=_of_counts(at, "fa", "impostor_attempts"),
        rejected=frr,
        fr=_of_counts(at, "fr", "genuine_attempts"),
        intervals=intervals,
    )


def _of_counts(at: LiveRow, count: str, attempts: str) -> Text:
    if count not in at.live.columns:
        return ""
    total = attempts_of(at.part, attempts)
    return say(" ({count} of {total:count})", count=live_count(at, count), total=total)


def _opened(state: LiveState, chosen_on: str) -> Text:
    """Return the sentence on the threshold at which the page opens."""
    chosen = state.chosen
    assert chosen is not None and state.leader is not None
    part = state.leader.part
    opened = _score(chosen.threshold, part)
    begin = say("The threshold that this page opens with, {opened}, ", opened=opened)
    if not np.isfinite(chosen.exact):
        rest = "is one in the middle of the scores; no operating point is known."
        return say("{begin}{rest}", begin=begin, rest=rest)
    if chosen.given:
        return say("{begin}is {rule} of these results.", begin=begin, rule=chosen.rule)
    where = f"on {chosen_on}." if chosen_on else "on these data, so the rates are optimistic."
    nearest: Text = "is "
    if chosen.exact != chosen.threshold:
        nearest = say(
            "is the nearest threshold of these results that is not looser than {exact}, ",
            exact=_score(chosen.exact, part),
        )
    if chosen.fixed:
        return say("{begin}{nearest}{rule}.", begin=begin, nearest=nearest, rule=chosen.rule)
    return say(
        "{begin}{nearest}{rule}, chosen {where}{why}",
        begin=begin,
        nearest=nearest,
        rule=_rule_of(chosen),
        where=where,
        why=_why(chosen),
    )


def _rule_of(chosen: Chosen) -> Text:
    """Return the point that a threshold was chosen for."""
    if chosen.target is not None:
        return say("the loosest with {far} at most {target:rate}", target=chosen.target)
    return chosen.rule or "that of the equal error rate"


def _why(chosen: Chosen) -> Text:
    """Return how far the data support the point at which the page opens, after a space."""
    return say(" {why}", why=chosen.why) if chosen.why else ""


def _score(value: float, part: PageItem) -> Score:
    """Return a threshold, rounded to the stricter side: whoever copies it accepts no more."""
    return threshold_to_install(value, part.kind)


def _is_on_new_people(study: PageItem) -> bool:
    """Whether a result has the rates of thresholds that were chosen on other people."""
    ds = study.dataset
    means = [ds[name].ndim for name in ("far_mean", "frr_mean") if name in ds]
    return means == [0, 0] and "threshold_rule" in ds.attrs


def _of_new_people(study: PageItem) -> Text:
    """Return the sentence on the rates of thresholds that were chosen on other people, if any."""
    ds = study.dataset
    far, frr = _mean(study, "far"), _mean(study, "frr")
    if far is None or frr is None:
        return ""
    level: Text = ""
    if far.interval or frr.interval:
        confidence = float(ds.attrs.get("confidence", 0.95))
        level = say(" In square brackets: {level:rate} intervals over folds.", level=confidence)
    return say(
        "On {people}, {far} of impostor attempts are accepted{missed}, and {frr} of genuine "
        "attempts are rejected{missed_too}: {how}.{level}",
        people=f"new {_divided(ds)}",
        far=replace(far, flagged=False),
        frr=replace(frr, flagged=False),
        missed=_missed(far),
        missed_too=_missed(frr),
        how=_how_new(ds),
        level=level,
    )


def _how_new(ds: xr.Dataset) -> Text:
    """Return by which thresholds the rates on new people are, and over which folds."""
    divisions = Count(ds.sizes.get("repeat", 1), noun="divisions")
    folds: Text = Count(ds.sizes.get("fold", 1), noun="folds")
    by: Text = say("by {rule}, chosen", rule=rule_of(ds.attrs))
    rule = threshold_rule(ds.attrs)
    if rule.name == "fixed":
        return say(
            "at {rule}, which was given, over {divisions} into {folds}",
            rule=rule_of(ds.attrs),
            divisions=divisions,
            folds=folds,
        )
    return say(
        "{by} on other {others} in {divisions} into {folds}",
        by=by,
        others=_divided(ds),
        divisions=divisions,
        folds=folds,
    )


def _is_assured(ds: xr.Dataset) -> bool:
    """Whether a study answers with an assured threshold."""
    return bool(np.isfinite(ds.get("assured_threshold", np.nan)))


def _divided(ds: xr.Dataset) -> str:
    """Return what the folds divide, in the plural."""
    divided = str(ds.attrs.get("divided", ds.attrs.get("sizes_are_of", "subjects")))
    return "people" if divided == "subjects" else divided


def _missed(mean: Rate) -> Text:
    """Return that a mean is clearly above the target of its rate; empty where it is not."""
    return ", more than the threshold was chosen for" if mean.flagged else ""


def _searched(rows: list[LiveRow]) -> str:
    """Return the rate over ranks that all parts have; empty without one."""
    for name in ("cms", "cmc"):
        if all(name in at.live.by_rank for at in rows):
            return name
    return ""


def _ranks(at: LiveRow) -> Iterator[Text]:
    """Yield the sentence on how often the right person is among the first."""
    name = _searched([at])
    if not name:
        return
    rate, total = live_value(at, name), searches_of(at.part)
    level = float(at.part.dataset.attrs.get("confidence", 0.95))
    yield say(
        "In {rate} of searches the right person is found at rank {rank} or better{over}.{level}",
        rate=rate,
        rank=Count(1, variable="rank", at={PART: at.live.number}),
        over=say(", of {total:count searches}", total=total) if total else "",
        level=say(" In square brackets: the {level:rate} interval.", level=level)
        if rate.interval
        else "",
    )


# -------------------------------------------------------------------------- several systems


def _moving_of_all(by_system: dict[str, list[PageItem]], state: LiveState) -> list[LiveRow]:
    """Return the row of each system; nothing unless all have one, of one task."""
    rows = []
    for parts in by_system.values():
        if at := _moving(parts, state):
            rows.append(at)
    if len(rows) < len(by_system) or len(grouped(rows, lambda at: at.part.task)) > 1:
        return []
    return rows


def _ranked(by_system: dict[str, list[PageItem]], state: LiveState) -> list[LiveRow]:
    """Return the row of each system, smallest FRR first; none where tasks or thresholds differ."""
    rows = _moving_of_all(by_system, state)
    if not all(_has_rates(at.live) for at in rows):
        return []
    return sorted(rows, key=lambda at: float(np.nan_to_num(at.value("frr"), nan=np.inf)))


def _table(ranked: list[LiveRow], parts: list[PageItem], state: LiveState) -> Table | None:
    """Return the systems at the FAR of the page, the one with the smallest FRR first."""
    if not ranked or state.chosen is None:
        return None
    studies = {part.system: part for part in parts if _is_on_new_people(part)}
    columns = [
        Column("system", "system"),
        Column("frr", Term("frr")),
        Column("far", Term("far")),
        Column("threshold", "threshold used"),
        Column("eer", "EER"),
        Column("far_mean", say("{far} on new people")),
        Column("frr_mean", say("{frr} on new people")),
    ]
    by_study = all(at.live.group in state.of_study for at in ranked)
    rows, notes, flagged = [], [_order_of(state.chosen, by_study)], False
    for at in ranked:
        study = studies.get(at.part.system)
        new = [None, None] if study is None else [_mean(study, x) for x in ("far", "frr")]
        flagged |= any(cell is not None and cell.flagged for cell in new)
        frr, far = live_value(at, "frr"), live_value(at, "far")
        eer: Quantity | None = None
        if "eer" in at.part.dataset:
            eer = Rate(float(at.part.dataset["eer"]), variable="eer", at=at_part(at.part))
        name = Label(at.part.system)
        far = Rate(far.value, variable="far", at=far.at, attempts=getattr(far, "attempts", None))
        rows.append([name, frr, far, live_threshold(at), eer, *new])
    if any(at.live.has("frr_low") for at in ranked):
        notes.append(say("The interval of {frr} keeps the threshold fixed."))
    if flagged:
        notes.append("*: more on new people than the threshold was chosen for.")
    if studies:
        notes.append("Intervals on new people are over folds; the others are for these data.")
    shared = state.chosen.rule if state.chosen.given else say("the same {far}")
    if by_study:
        shared = "the threshold of its study"
    title = say("{title}, each system at {shared}", title=ranked[0].part.title, shared=shared)
    return Table("systems", columns, rows, title=title, notes=notes)


def _order_of(chosen: Chosen, by_study: bool) -> Text:
    """Return where the table of systems is, and its order."""
    if by_study:
        return say("The page opens at the thresholds of the studies; in the order of {frr} there.")
    rule: Text = "the equal error rate"
    if chosen.target is not None:
        rule = say("{far} at most {target:rate}", target=chosen.target)
    if chosen.given:
        rule = f"{chosen.rule} of its results"
    return say("The page opens at {rule}; in the order of {frr} there.", rule=rule)


def _mean(study: PageItem, rate: str) -> Rate | None:
    """Return the mean of a rate on new people at thresholds of the kind that the answer has.

    It is flagged where it is clearly above its target.
    """
    ds = study.dataset
    if _is_assured(ds):  # the rates on new people are of the threshold without assurance
        return None
    mean = float(ds[f"{rate}_mean"])
    low, high = value_of(ds, f"{rate}_low"), value_of(ds, f"{rate}_high")
    interval = None
    if low is not None and high is not None and not math.isnan(low + high):
        interval = low, high
    rule = Rule.written(str(ds.attrs.get("threshold_rule", "")))
    target = rule.values[0] if rule.name == rate else math.inf
    is_missed = mean > target and (interval is None or interval[0] > target)
    return Rate(mean, interval, f"{rate}_mean", at_part(study), flagged=is_missed)


def _rank_table(by_system: dict[str, list[PageItem]], state: LiveState) -> Table | None:
    """Return systems that have rates over ranks alone, the one with the largest mAP first."""
    rows = _moving_of_all(by_system, state)
    name = _searched(rows)
    if not rows or not name:
        return None
    has_means = all("mean_ap" in at.part.dataset for at in rows)

    def place(at: LiveRow) -> float:
        value = float(at.part.dataset["mean_ap"]) if has_means else at.value(name)
        return -float(np.nan_to_num(value, nan=-1.0))

    body: list[list[Text | None]] = []
    for at in sorted(rows, key=place):
        mean = None
        if has_means:
            value = float(at.part.dataset["mean_ap"])
            mean = Rate(value, variable="mean_ap", at=at_part(at.part))
        body.append([Label(at.part.system), mean, live_value(at, name)])
    rate: Text = Term("cms") if name == "cms" else "CMC"
    columns = [
        Column("system", "system"),
        Column("mean_ap", "mAP"),
        Column(name, say("{rate} at the rank", rate=rate)),
    ]
    order = "mAP" if has_means else say("{rate} at rank 1", rate=rate)
    title = say("{title} of each system", title=rows[0].part.title)
    note = say("In the order of {order}.", order=order)
    return Table("systems", columns, body, title=title, notes=[note])


def _common(ranked: list[LiveRow], parts: list[PageItem], state: LiveState) -> Iterator[Text]:
    """Say once what holds for the thresholds of all systems."""
    chosen = state.chosen
    assert chosen is not None
    if chosen.given:
        yield say("Each system is at {rule} of its results.", rule=chosen.rule)
    elif all(at.live.group in state.of_study for at in ranked):
        yield "Each system is at the threshold of its own study."
    else:
        chosen_on = str(ranked[0].part.dataset.attrs.get("chosen_on", ""))
        rule: Text = "its equal error rate"
        if chosen.target is not None:
            rule = say("{far} at most {target:rate}", target=chosen.target)
        yield say(
            "Each system is at its own loosest threshold with {rule}, chosen {where}.{why}",
            rule=rule,
            where=f"on {chosen_on}" if chosen_on else "on these data, so the rates are optimistic",
            why=_why(chosen),
        )
    if not any(map(_is_on_new_people, parts)):
        yield _NOT_ON_NEW_PEOPLE
