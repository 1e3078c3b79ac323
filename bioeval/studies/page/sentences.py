"""The answer of a page: sentences in words for a manager that a reviewer accepts, and a table.

A sentence is a list of texts and numbers. Of one system the numbers move with the threshold;
several are in a table, each at its own threshold, under what their paired comparison shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base import counted, larger_is_closer
from bioeval.results import decimals_beside, threshold_text
from bioeval.studies.page import words
from bioeval.studies.page.parts import (
    LivePart,
    LiveRow,
    LiveState,
    PageItem,
    grouped,
    systems_of,
)
from bioeval.studies.page.words import Bounded, Number, PageTable, Text, attempts_of, searches_of
from bioeval.tallies import Rule, per_cent
from bioeval.views import in_six_digits, term_translator, value_of
from bioeval.views.tables import answer_to, decimals_for

# What each task is searched for, in the order in which a page speaks of them.
_ORDER = ("verification/single", "verification/multi", "open_set", "closed_set", "reid", "gom")

#: Systems with sentences of their own, at most.
MOST = 8

Sentence = list[Any]


@dataclass(frozen=True)
class Headline:
    """The answer at the top of a page: sentences, or a table of several systems, best first."""

    sentences: list[Sentence]
    table: PageTable | None = None
    systems: list[tuple[str, list[Sentence]]] = field(default_factory=list)


def headline(parts: list[PageItem], state: LiveState) -> Headline:
    """Return the answer of a page."""
    systems = systems_of(parts)
    if not systems:  # explained rows alone
        return Headline([])
    of_each = grouped(parts, lambda part: part.system)
    by_system = {system: of_each[system] for system in systems[:MOST]}
    if len(systems) == 1:
        return Headline(_of_system(by_system[systems[0]], state))
    ranked = _ranked(by_system, state)
    table = _table(ranked, parts, state) or _rank_table(by_system, state)
    sentences = [*_verdicts(parts, state, ask=table is not None)]
    if ranked:
        sentences += _common(ranked, parts, state)
    said = []
    for system, own in by_system.items():
        studies = table is None or len(ranked) > 0
        if of_system := _of_system(own, state, moved=table is None, studies=studies):
            said.append((system, of_system))
    return Headline(sentences, table, said)


def _of_system(
    parts: list[PageItem], state: LiveState, moved: bool = True, studies: bool = True
) -> list[Sentence]:
    """Return the sentences on a system in its terms: on the rates that move, and on its studies."""
    sentences: list[Sentence] = []
    if moved:
        sentences += _of_moving(parts, state)
    if studies:
        for part in parts:
            sentences += _others(part)
    translate = term_translator(parts[0].dataset)
    for sentence in sentences:
        sentence[:] = [translate(x) if isinstance(x, str) else x for x in sentence]
    return sentences


def _moving(parts: list[PageItem], state: LiveState) -> LiveRow | None:
    """Return the row of the part of a system that the page is about."""
    tasks = [part for part in parts if part.task in _ORDER]
    first = min(tasks, key=lambda part: _ORDER.index(part.task), default=None)
    return state.row_of(first)


def _has_rates(live: LivePart) -> bool:
    return len(live.thresholds) > 0 and {"far", "frr"} <= set(live.columns)


def _of_moving(parts: list[PageItem], state: LiveState) -> Iterator[Sentence]:
    """Describe a system at its threshold, or at its rank."""
    at = _moving(parts, state)
    if at is None:
        return
    if _has_rates(at.live):
        yield _rates(at)
        if state.leader is not None and at.part.system == state.leader.part.system:
            yield _opened(state, str(at.part.dataset.attrs.get("chosen_on", "")))
        studies = list(filter(_is_study, parts))
        speak = False
        for study in studies:
            if "assured_threshold" in study.dataset and "fold_threshold" in study.dataset:
                yield [answer_to(study.dataset)]
            speak |= study.task.startswith("folds/")  # which have a sentence of their own
        if not speak:
            yield _on_new_people(next(iter(studies), None))
    elif at.live.by_rank:
        yield _ranks(at)


# ------------------------------------------------------------------------------ one system


def _rates(at: LiveRow) -> Sentence:
    """Return the sentence on accepted impostors and rejected genuine attempts at a row."""
    moved = Number(at.part, "threshold", at.threshold, live=True, strong=True)
    impostors, verb = ("impostor attempts", "are accepted")
    if "dir" in at.live.ranked:
        impostors, verb = "searches by people who are not enrolled", "raise a false alarm"
    said = ["At the threshold ", moved, ", ", rate_of(at, "far", strong=True)]
    said += [f" of {impostors} {verb}"]
    said += _bracketed(_ends(at, "far"), _of_counts(at, "fa", "impostor_attempts"))
    said += [", and ", rate_of(at, "frr", strong=True), " of genuine attempts are rejected"]
    said += _bracketed(_ends(at, "frr"), _of_counts(at, "fr", "genuine_attempts"))
    return [*said, "."]


def _bracketed(*lists: list[Any]) -> list[Any]:
    """Return lists in brackets, with semicolons between them; empty lists are left out."""
    inside: list[Any] = []
    for part in lists:
        if inside and part:
            inside.append("; ")
        inside += part
    if inside:
        return [" (", *inside, ")"]
    return []


def rate_of(at: LiveRow, name: str, end: str = "", **how: Any) -> Number:
    """Return a rate, or an end of its interval, in per cent: every rate of a page is."""
    role = "impostor_attempts" if name == "far" else "genuine_attempts"
    decimals = decimals_for(attempts_of(at.part, role))
    value = at.value(f"{name}{end}")
    return Number(at.part, f"{name}{end}", value, "percent", decimals, live=True, **how)


def _ends(at: LiveRow, name: str) -> list[Any]:
    """Return the interval of a rate."""
    if f"{name}_low" not in at.live.columns:
        return []
    low = rate_of(at, name, "_low", unit=False)
    return [_level(at.part), low, " to ", rate_of(at, name, "_high")]


def _level(part: PageItem, over: str = "") -> str:
    return f"{100 * float(part.dataset.attrs.get('confidence', 0.95)):g}\u00a0%{over}: "


def _of_counts(at: LiveRow, count: str, attempts: str) -> list[Any]:
    if count not in at.live.columns:
        return []
    total = attempts_of(at.part, attempts)
    return [Number(at.part, count, at.value(count), "count", live=True), f" of {total:,}"]


def _opened(state: LiveState, chosen_on: str) -> Sentence:
    """Return the sentence on the threshold at which the page opens."""
    chosen = state.chosen
    assert chosen is not None and state.leader is not None
    part = state.leader.part
    opened = _score(chosen.threshold, part)
    said = ["The threshold that this page opens with, ", opened, ", "]
    if not np.isfinite(chosen.exact):
        return [*said, "is one in the middle of the scores; no operating point is known."]
    if chosen.given:
        return [*said, f"is {chosen.rule} of these results."]
    rule = chosen.rule or "that of the equal error rate"
    if chosen.target is not None:
        rule = f"the loosest with FAR at most {per_cent(chosen.target)}"
    where = "on these data, so the rates are optimistic."
    if chosen_on:
        where = f"on {chosen_on}."
    where += _why(state)
    if chosen.exact == chosen.threshold:
        return [*said, f"is {rule}, chosen {where}"]
    said += ["is the nearest threshold of these results that is not looser than "]
    return [*said, _score(chosen.exact, part), f", {rule}, chosen {where}"]


def _why(state: LiveState) -> str:
    """Return how far the data support the point at which the page opens, after a space."""
    if state.chosen is None or not state.chosen.why:
        return ""
    return f" {state.chosen.why}"


def _score(value: float, part: PageItem) -> Text:
    """Return a threshold, rounded to the stricter side: whoever copies it accepts no more."""
    if np.isfinite(value):
        text = threshold_text(in_six_digits(value, up=larger_is_closer(part.kind)))
    else:
        text = words.score(value)
    return Text(text, digits=words.digits(value))


def _is_study(part: PageItem) -> bool:
    return "far_mean" in part.dataset and "frr_mean" in part.dataset


def _on_new_people(study: PageItem | None) -> Sentence:
    """Return the sentence on rates with new people, from folds of subjects, or unknown."""
    if study is None:
        return [
            "Rates for new people were not estimated: ",
            Text("bioeval threshold", code=True),
            " chooses the threshold on some of the people and tests it on the others.",
        ]
    ds = study.dataset
    rule = str(ds.attrs.get("threshold_rule_in_words", "this rule"))
    repeats = counted(ds.sizes.get("repeat", 1), "divisions")
    folds = f"{repeats} into {counted(ds.sizes.get('fold', 1), 'folds')}"
    if study.task.startswith("folds/"):  # of which a page may have several
        folds += f" of {ds.attrs.get('templates', 'single')}-template verification"
    begin = "On new people, "
    if "assured_threshold" in ds and "fold_threshold" in ds:
        begin = "The threshold without assurance: on new people, "
    said = [begin, *_over_folds(study, "far", "impostor attempts are accepted")]
    said += [", and ", *_over_folds(study, "frr", "genuine attempts are rejected")]
    return [*said, f": {rule}, chosen on other people in {folds}."]


def _over_folds(study: PageItem, rate: str, what: str) -> list[Any]:
    """Return the mean of a rate in words, with its interval and a target that it misses."""
    mean = _mean(study, rate)
    said = [mean.number, f" of {what}"]
    if mean.low is not None:
        said += [" (", _level(study, " over folds"), mean.low, " to ", mean.high, ")"]
    if missed := _missed(study, rate):
        said += [", ", missed]
    return said


def _mean(study: PageItem, name: str) -> Bounded:
    """Return a mean over folds, with its interval where it has one."""
    value = float(study.dataset[f"{name}_mean"])
    low = value_of(study.dataset, f"{name}_low")
    high = value_of(study.dataset, f"{name}_high")
    decimals = _fine(value)
    target, _ = _target_of(study, name)
    if target is not None:
        for end in (value, low, high):
            if end is not None:
                decimals = decimals_beside(end, target, least=decimals)
    mean = Number(study, f"{name}_mean", value, "percent", decimals, strong=True)
    if low is None or high is None or np.isnan([low, high]).any():
        return Bounded(mean)
    return Bounded(
        mean,
        Number(study, f"{name}_low", low, "percent", decimals, unit=False),
        Number(study, f"{name}_high", high, "percent", decimals),
    )


def _fine(value: float) -> int:
    """Return as many decimals of a per cent as show two digits of a small rate, two to four."""
    return min(4, max(2, int(np.ceil(-np.log10(value))) - 1)) if value > 0 else 2


# Ratio to an equal error rate above which a rate on new people is reported as missed: where the
# threshold is chosen at it, one of both rates is above it more often than not.
_CLEARLY = 1.1


def _missed(study: PageItem, rate: str) -> Text | None:
    """Say that the target of FAR or FRR was not kept on new people."""
    ds = study.dataset
    target, said = _target_of(study, rate)
    mean = float(ds[f"{rate}_mean"])
    if target is None or not mean > target or math.isclose(mean, target, rel_tol=1e-12):
        return None
    if float(ds[f"{rate}_low"]) <= target:
        return Text(f"{said}, but the interval contains it", warns=False)
    return Text(said, warns=True)


def _target_of(study: PageItem, rate: str) -> tuple[float | None, str]:
    """Return the rate that the threshold of folds was chosen for, and what is more; None if none.

    The target of both rates is the equal error rate of the data that it was chosen on.
    """
    ds = study.dataset
    rule = Rule.written(str(ds.attrs.get("threshold_rule", "")))
    if rule.name == rate:
        (target,) = rule.values
        return target, f"more than the {per_cent(target)} that the threshold was chosen for"
    far, frr = value_of(ds, "train_far_mean"), value_of(ds, "train_frr_mean")
    if "optimistic_far" in ds:
        far, frr = value_of(ds, "optimistic_far"), value_of(ds, "optimistic_frr")
    if rule.name != "eer" or far is None or frr is None:
        return None, ""
    eer = float(np.mean([far, frr]))
    if not float(ds[f"{rate}_mean"]) > _CLEARLY * eer:
        return None, ""
    at = words.percent(eer, decimals_beside(eer, float(ds[f"{rate}_mean"])))
    return eer, f"more than the EER of {at} where the threshold was chosen"


def _searched(rows: list[LiveRow]) -> str:
    """Return the rate over ranks that all parts have; empty without one."""
    for name in ("cms", "cmc"):
        if all(name in at.live.by_rank for at in rows):
            return name
    return ""


def _ranks(at: LiveRow) -> Sentence:
    """Return the sentence on how often the right person is among the first."""
    name = _searched([at])
    if not name:
        return []
    rate = _at_rank(at, name)
    said = ["In ", rate.number, " of searches the right person is found at rank "]
    said += [Text("1", rank=True), " or better"]
    if rate.low is not None:
        said += [" (", _level(at.part), rate.low, " to ", rate.high, ")"]
    if total := searches_of(at.part):
        said.append(f", of {counted(total, 'searches')}")
    return [*said, "."]


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


def _table(ranked: list[LiveRow], parts: list[PageItem], state: LiveState) -> PageTable | None:
    """Return the systems at the FAR of the page, the one with the smallest FRR first."""
    if not ranked or state.chosen is None:
        return None
    translate = term_translator(ranked[0].part.dataset)
    heads = ["System", translate("FRR"), translate("FAR"), "Threshold used", "EER"]
    studies = {part.system: part for part in parts if _is_study(part)}
    if studies:
        heads += [translate("FAR on new people"), translate("FRR on new people")]
    body = []
    fixed = ""
    for at in ranked:
        part = at.part
        frr: Any = rate_of(at, "frr", strong=True)
        if "frr_low" in at.live.columns:
            low = rate_of(at, "frr", "_low", unit=False)
            frr = Bounded(frr, low, rate_of(at, "frr", "_high"))
            fixed = translate(" The interval of FRR keeps the threshold fixed.")
        used = Text(words.threshold(at.threshold, part.kind), used=at.live.number, right=True)
        cells = [Text(part.system, swatch=True), frr, rate_of(at, "far", strong=True)]
        cells += [used, _eer(part)]
        if studies:
            cells += _study_cells(studies.get(part.system))
        body.append(cells)
    rule = "the equal error rate"
    if state.chosen.target is not None:
        rule = f"FAR at most {per_cent(state.chosen.target)}"
    shared = "the same FAR"
    if state.chosen.given:
        rule = shared = f"{state.chosen.rule} of its results"
    caption = translate(f"{ranked[0].part.title}, each system at {shared}")
    note = translate(f"The page opens at {rule}; in the order of FRR there.")
    near: dict[str, list[str]] = {"far": [], "frr": []}  # the systems whose interval keeps it
    warned = False
    for rate, systems in near.items():
        for name, study in studies.items():
            if missed := _missed(study, rate):
                warned |= missed.warns
                if not missed.warns:
                    systems.append(name)
    if warned:
        note += " \u2717: more on new people than the threshold was chosen for."
    for rate, systems in near.items():
        if systems:
            said = f" {rate.upper()} on new people ({', '.join(systems)}) is above the target, but "
            note += translate(said) + "the interval contains it."
    note += fixed
    if studies:
        note += " Intervals on new people are over folds; the others are for these data."
    return PageTable("systems", caption, heads, body, note, live=True)


def _rank_table(by_system: dict[str, list[PageItem]], state: LiveState) -> PageTable | None:
    """Return systems that have rates over ranks alone, the one with the largest mAP first."""
    rows = _moving_of_all(by_system, state)
    name = _searched(rows)
    if not rows or not name:
        return None
    has_means = all("mean_ap" in at.part.dataset for at in rows)

    def place(at: LiveRow) -> float:
        value = at.value(name)
        if has_means:
            value = float(at.part.dataset["mean_ap"])
        return -float(np.nan_to_num(value, nan=-1.0))

    body = []
    for at in sorted(rows, key=place):
        cells = [Text(at.part.system, swatch=True), _at_rank(at, name)]
        if has_means:
            mean = float(at.part.dataset["mean_ap"])
            cells.insert(1, Number(at.part, "mean_ap", mean, "percent", 2))
        body.append(cells)
    heads = ["System", f"{name.upper()} at the rank"]
    order = f"{name.upper()} at rank 1"
    if has_means:
        heads.insert(1, "mAP")
        order = "mAP"
    caption = f"{rows[0].part.title} of each system"
    return PageTable("systems", caption, heads, body, f"In the order of {order}.", live=True)


def _at_rank(at: LiveRow, name: str) -> Bounded:
    """Return a rate at the rank of the page, with its interval where it has one."""
    decimals = decimals_for(searches_of(at.part))

    def value(end: str = "", **how: Any) -> Number:
        rate = at.value(f"{name}{end}")
        return Number(at.part, f"{name}{end}", rate, "percent", decimals, live=True, **how)

    if f"{name}_low" not in at.live.by_rank:
        return Bounded(value(strong=True))
    return Bounded(value(strong=True), value("_low", unit=False), value("_high"))


def _eer(part: PageItem) -> Any:
    if "eer" not in part.dataset:
        return ""
    value = float(part.dataset["eer"])
    return Number(part, "eer", value, "percent", 2)


def _study_cells(study: PageItem | None) -> list[Any]:
    if study is None:
        return ["", ""]
    cells = []
    for name in ("far", "frr"):
        missed = _missed(study, name)
        cells.append(replace(_mean(study, name), warns=missed is not None and missed.warns))
    return cells


def _common(ranked: list[LiveRow], parts: list[PageItem], state: LiveState) -> Iterator[Sentence]:
    """Say once what holds for the thresholds of all systems."""
    assert state.chosen is not None
    translate = term_translator(ranked[0].part.dataset)
    rule = "its equal error rate"
    if state.chosen.target is not None:
        rule = f"FAR at most {per_cent(state.chosen.target)}"
    chosen_on = str(ranked[0].part.dataset.attrs.get("chosen_on", ""))
    where = "on these data, so the rates are optimistic"
    if chosen_on:
        where = f"on {chosen_on}"
    said = f"Each system is at its own loosest threshold with {rule}, chosen {where}."
    if state.chosen.given:
        said = f"Each system is at {state.chosen.rule} of its results."
    yield [translate(said + _why(state))]
    if not any(map(_is_study, parts)):
        yield _on_new_people(None)


def _verdicts(parts: list[PageItem], state: LiveState, ask: bool) -> Iterator[Sentence]:
    """Say whether the systems differ, by their paired comparisons, or how to `ask` for these."""
    compared = [part for part in parts if part.task == "comparison"]
    if not compared and ask:
        yield [
            "Whether these systems differ was not tested here: ",
            Text("bioeval compare", code=True),
            " pairs their attempts.",
        ]
    first = grouped(compared, lambda part: str(part.dataset.attrs.get("system_a")))
    short = len(compared) > 1 and len(first) == 1  # all with one system
    if short:
        one, measure = _compared_at(compared[0], state)
        others = [_compared_at(part, state)[0] for part in compared]
        is_smallest = all(bool(other["value_a"] <= other["value_b"]) for other in others)
        said = f"{measure} of {next(iter(first))}: "
        if is_smallest:
            said = f"{measure} is smallest for {next(iter(first))}, "
        yield [said, _number(compared[0], one, "value_a", strong=True), "."]
        if is_smallest and "margin" not in one:  # which is of a system that was named beforehand
            yield [
                f"The best of {len(compared) + 1} systems on the data that chose it leads partly "
                "by chance: confirm its lead on other people."
            ]
    for part in compared:
        if not short and "answer" in part.dataset.attrs:
            translate = term_translator(part.dataset, "")
            yield [Text(translate.of_list(part.dataset.attrs["answer"]), strong=True)]
        yield _verdict(part, state, short)


def _compared_at(part: PageItem, state: LiveState) -> tuple[xr.Dataset, str]:
    """Return the compared measure that the page is about, and its name in a sentence."""
    measures = part.dataset["measure"].values.tolist()
    target = state.chosen.target if state.chosen is not None else None
    wanted = f"FRR at FAR <= {per_cent(target)}" if target is not None else "EER"
    name = wanted if wanted in measures else measures[0]
    at_measure = part.dataset.isel(measure=measures.index(name))
    return at_measure, name.replace("<=", "at most")


def _number(part: PageItem, one: xr.Dataset, name: str, **how: Any) -> Number:
    more = {"measure": str(one["measure"].item())}
    return Number(part, name, float(one[name]), "percent", 2, more=more, **how)


def _verdict(part: PageItem, state: LiveState, short: bool) -> Sentence:
    """Say by how much two systems differ, and whether that is shown; briefly, against the first."""
    one, measure = _compared_at(part, state)
    a = part.dataset.attrs.get("system_a", "a")
    b = part.dataset.attrs.get("system_b", "b")
    place = part.dataset["measure"].values.tolist().index(one["measure"].item())
    shown = Text(str(part.dataset.attrs["verdicts"]).splitlines()[place], strong=True)
    difference = [
        _number(part, one, "difference", unit=False, strong=True),
        " pp (",
        _level(part),
        _number(part, one, "difference_low", unit=False),
        " to ",
        _number(part, one, "difference_high", unit=False),
        ")",
    ]
    if short:
        return [f"Against {b}: ", *difference, ": ", shown, "."]
    first = _number(part, one, "value_a", strong=True)
    second = _number(part, one, "value_b", strong=True)
    said = [f"{measure} is ", first, f" for {a} and ", second, f" for {b}, a difference of "]
    return [*said, *difference, ": ", shown, "."]


def _others(part: PageItem) -> Iterator[Sentence]:
    """Return sentences on the findings of a comparison, of groups, of the zoo or of a model."""
    ds = part.dataset
    if "value_a" in ds:
        for line in str(ds.attrs.get("conclusions", "")).splitlines()[:3]:
            yield [line.rstrip(".") + "."]
    elif "garbe" in ds:
        rates = ds["frr"].dropna("group")
        if rates.sizes["group"]:
            order = np.argsort(rates.values, kind="stable")
            best = rates.isel(group=int(order[0]))
            worst = rates.isel(group=int(order[-1]))
            yield [
                "At the threshold ",
                _score(float(ds["threshold"]), part),
                ", the same for all groups, genuine attempts are rejected in "
                f"{words.percent(float(best))} (group {best['group'].item()}) to "
                f"{words.percent(float(worst))} (group {worst['group'].item()}).",
            ]
    elif part.task == "extrapolated_far":
        if answer := answer_to(ds):
            yield [answer]
    elif "animal_of_subject" in ds:
        share = ds["fr_share"]
        if share.notnull().any():
            most = share.isel(subject=int(np.nanargmax(share.values)))
            yield [
                "At the threshold ",
                _score(float(ds["threshold"]), part),
                f", subject {most['subject'].item()} makes {words.percent(float(most))} of all "
                "false rejects, the most of all subjects.",
            ]
    elif part.task.startswith("folds/") and _is_study(part) and "verification" in part.task:
        yield _on_new_people(part)
    elif "mean_ap" in ds and part.task == "reid":
        yield [
            f"Mean average precision (mAP) is {words.percent(float(ds['mean_ap']))}, over "
            f"{counted(int(ds['queries']), 'queries')}."
        ]
