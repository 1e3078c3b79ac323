"""The answer of a page: sentences in words for a manager that a reviewer accepts, and a table.

A sentence is a list of texts and numbers. Of one system the numbers move with the threshold;
several are in a table, each at its own threshold, under what their paired comparison shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base import counted
from bioeval.studies.assurance.words import threshold_to_install
from bioeval.studies.page import words
from bioeval.studies.page.parts import LivePart, LiveState, PageItem, systems_of
from bioeval.studies.page.words import Bounded, Number, PageTable, Text, attempts_of
from bioeval.tallies import per_cent
from bioeval.views import term_translator, value_of
from bioeval.views.tables import decimals_for

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
    by_system: dict[str, list[tuple[int, PageItem]]] = {system: [] for system in systems[:MOST]}
    for i, part in enumerate(parts):
        if part.system in by_system:
            by_system[part.system].append((i, part))
    at = {live.number: (live, threshold, row) for live, threshold, row in state.rows()}
    if len(systems) == 1:
        own = next(iter(by_system.values()))
        return Headline(_in_terms(own, [*_of_system(own, at, state), *_of_studies(own)]))
    ranked = _ranked(by_system, at)
    table = _table(ranked, parts, state) or _rank_table(by_system, at, state.rank)
    sentences = [*_verdicts(parts, state, ask=table is not None)]
    if ranked:
        sentences += _common(ranked, parts, state)
    said = []
    for system, own in by_system.items():
        if table is not None:
            moved = []
        else:
            moved = [*_of_system(own, at, state)]
        studies = [x for x in _of_studies(own) if ranked or table is None]
        if each := _in_terms(own, [*moved, *studies]):
            said.append((system, each))
    return Headline(sentences, table, said)


def _in_terms(own: list[tuple[int, PageItem]], sentences: list[Sentence]) -> list[Sentence]:
    """Return sentences in the terms of a system."""
    translate = term_translator(own[0][1].dataset)

    def in_terms(sentence: Sentence) -> Sentence:
        return [translate(x) if isinstance(x, str) else x for x in sentence]

    return [*map(in_terms, sentences)]


def _moving(own: list[tuple[int, PageItem]], at: dict) -> tuple[LivePart | None, float, int]:
    """Return the part of a system that the page is about, its threshold and its row."""
    tasks = {part.task: i for i, part in own}
    first = next((task for task in _ORDER if task in tasks), "")
    return at.get(tasks.get(first, -1), (None, np.nan, -1))


def _has_rates(live: LivePart) -> bool:
    return len(live.thresholds) > 0 and {"far", "frr"} <= set(live.columns)


def _of_system(own: list, at: dict, state: LiveState) -> Iterator[Sentence]:
    """Describe a system at its threshold, or at its rank."""
    live, threshold, row = _moving(own, at)
    if live is None:
        return
    if _has_rates(live):
        yield _rates(live, threshold, row)
        if state.leader is not None and live.part.system == state.leader.part.system:
            yield _opened(state, str(live.part.dataset.attrs.get("chosen_on", "")))
        studies = [part for _, part in own if _is_study(part)]
        for study in studies:
            if promised := study.dataset.attrs.get("assured_sentence"):
                yield [str(promised)]
        if not any(part.task.startswith("folds/") for part in studies):  # which speak themselves
            yield _on_new_people(next(iter(studies), None))
    elif live.by_rank:
        yield _ranks(live, state.rank)


def _of_studies(own: list[tuple[int, PageItem]]) -> Iterator[Sentence]:
    for _, part in own:
        yield from _others(part)


# ------------------------------------------------------------------------------ one system


def _rates(live: LivePart, threshold: float, row: int) -> Sentence:
    """Return the sentence on impostors accepted and genuine attempts rejected.

    The threshold is that of the row, whose counts they are.
    """
    part = live.part
    moved = Number(part, "threshold", threshold, live=True, strong=True)
    impostors, verb = ("impostor attempts", "are accepted")
    if "dir" in live.ranked:
        impostors, verb = "searches by people who are not enrolled", "raise a false alarm"
    said: Sentence = ["At the threshold ", moved, ", ", rate_of(live, "far", row, strong=True)]
    said += [f" of {impostors} {verb}"]
    said += _bracketed(_ends(live, "far", row), _of_counts(live, "fa", "impostor_attempts", row))
    said += [", and ", rate_of(live, "frr", row, strong=True), " of genuine attempts are rejected"]
    said += _bracketed(_ends(live, "frr", row), _of_counts(live, "fr", "genuine_attempts", row))
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


def rate_of(live: LivePart, name: str, row: int, end: str = "", **how: Any) -> Number:
    """Return a rate, or an end of its interval, in per cent: every rate of a page is."""
    role = "genuine_attempts"
    if name == "far":
        role = "impostor_attempts"
    decimals = decimals_for(attempts_of(live.part, role))
    value = live.value(f"{name}{end}", row, 1)
    return Number(live.part, f"{name}{end}", value, "percent", decimals, live=True, **how)


def _ends(live: LivePart, name: str, row: int) -> list[Any]:
    """Return the interval of a rate."""
    if f"{name}_low" not in live.columns:
        return []
    low = rate_of(live, name, row, "_low", unit=False)
    return [_level(live.part), low, " to ", rate_of(live, name, row, "_high")]


def _level(part: PageItem, over: str = "") -> str:
    return f"{100 * float(part.dataset.attrs.get('confidence', 0.95)):g}\u00a0%{over}: "


def _of_counts(live: LivePart, count: str, attempts: str, row: int) -> list[Any]:
    if count not in live.columns:
        return []
    total = attempts_of(live.part, attempts)
    value = live.value(count, row, 1)
    return [Number(live.part, count, value, "count", live=True), f" of {total:,}"]


def _opened(state: LiveState, chosen_on: str) -> Sentence:
    """Return the sentence on the threshold at which the page opens."""
    chosen = state.chosen
    assert chosen is not None and state.leader is not None
    part = state.leader.part
    opened = _score(chosen.threshold, part)
    said: Sentence = ["The threshold that this page opens with, ", opened, ", "]
    if not np.isfinite(chosen.exact):
        return [*said, "is one in the middle of the scores; no operating point is known."]
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
    """Return why the page opens at its FAR target, as a sentence."""
    chosen = state.chosen
    if chosen is None or chosen.target is None or not chosen.why:
        return ""
    return f" FAR {per_cent(chosen.target)} is {chosen.why}."


def _score(value: float, part: PageItem) -> Text:
    """Return a threshold, rounded to the stricter side: whoever copies it accepts no more."""
    if np.isfinite(value):
        text = threshold_to_install(value, part.kind)
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
    if "assured_sentence" in ds.attrs:
        begin = "The threshold without assurance: on new people, "
    said: Sentence = [begin, _mean(study, "far"), " of impostor attempts are accepted"]
    said += _between(study, "far")
    if missed := _missed(study, "far"):
        said += [", ", missed]
    said += [", and ", _mean(study, "frr"), " of genuine attempts are rejected"]
    said += _between(study, "frr")
    if missed := _missed(study, "frr"):
        said += [", ", missed]
    return [*said, f": {rule}, chosen on other people in {folds}."]


def _mean(study: PageItem, name: str) -> Number:
    value = float(study.dataset[f"{name}_mean"])
    return Number(study, f"{name}_mean", value, "percent", _fine(value), strong=True)


def _fine(value: float) -> int:
    """Return as many decimals of a per cent as show two digits of a small rate, two to four."""
    if not value > 0:
        return 2
    return min(4, max(2, int(np.ceil(-np.log10(value))) - 1))


# Ratio to an equal error rate above which a rate on new people is reported as missed: where the
# threshold is chosen at it, one of both rates is above it more often than not.
_CLEARLY = 1.1


def _missed(study: PageItem, rate: str) -> Text | None:
    """Say that the target of FAR or FRR was not kept on new people."""
    ds = study.dataset
    target, said = _target_of(study, rate)
    if target is None or not float(ds[f"{rate}_mean"]) > target:
        return None
    if float(ds[f"{rate}_low"]) <= target:
        return Text(f"{said}, but the interval contains it", warns=False)
    return Text(said, warns=True)


def _target_of(study: PageItem, rate: str) -> tuple[float | None, str]:
    """Return the rate that the threshold of folds was chosen for, and what is more; None if none.

    The target of both rates is the equal error rate of the data that it was chosen on.
    """
    ds = study.dataset
    name, _, value = str(ds.attrs.get("threshold_rule", "")).partition("=")
    if name == rate and value:
        said = f"more than the {per_cent(float(value))} that the threshold was chosen for"
        return float(value), said
    names = ("train_far_mean", "train_frr_mean")
    if "optimistic_far" in ds:
        names = ("optimistic_far", "optimistic_frr")
    chosen = [value_of(ds, x) for x in names]
    if name != "eer" or None in chosen:
        return None, ""
    eer = float(np.mean(np.array(chosen, dtype=float)))
    if not float(ds[f"{rate}_mean"]) > _CLEARLY * eer:
        return None, ""
    return eer, f"more than the EER of {words.percent(eer)} where the threshold was chosen"


def _interval(study: PageItem, name: str) -> tuple[Number, Number] | None:
    """Return the interval of a mean over folds, with its decimals; None without one."""
    low = value_of(study.dataset, f"{name}_low")
    high = value_of(study.dataset, f"{name}_high")
    if low is None or high is None or np.isnan([low, high]).any():
        return None
    decimals = _fine(float(study.dataset[f"{name}_mean"]))
    return (
        Number(study, f"{name}_low", low, "percent", decimals, unit=False),
        Number(study, f"{name}_high", high, "percent", decimals),
    )


def _between(study: PageItem, name: str) -> list[Any]:
    ends = _interval(study, name)
    if ends is None:
        return []
    low, high = ends
    return [" (", _level(study, " over folds"), low, " to ", high, ")"]


def _ranks(live: LivePart, rank: int) -> Sentence:
    """Return the sentence on how often the right person is among the first."""
    name = next((n for n in ("cms", "cmc") if n in live.by_rank), "")
    if not name:
        return []
    total = attempts_of(live.part, "attempts") or attempts_of(live.part, "queries")
    rate = _at_rank(live, name, rank)
    said: Sentence = [
        "In ",
        rate.number,
        " of searches the right person is found at rank ",
        Text(str(rank), rank=True),
        " or better",
    ]
    if rate.low is not None:
        said += [" (", _level(live.part), rate.low, " to ", rate.high, ")"]
    return [*said, f", of {counted(total, 'searches')}." if total else "."]


# -------------------------------------------------------------------------- several systems


def _ranked(by_system: dict[str, list], at: dict) -> list[tuple[LivePart, float, int]]:
    """Return the moving part of each system, the one with the smallest FRR first.

    Nothing unless all are of one task, with rates at thresholds.
    """
    moving = [_moving(own, at) for own in by_system.values()]
    rated = [(live, t, row) for live, t, row in moving if live is not None and _has_rates(live)]
    if len(rated) < len(moving) or len({live.part.task for live, *_ in rated}) > 1:
        return []

    def frr(one: tuple[LivePart, float, int]) -> float:
        live, _, row = one
        return float(np.nan_to_num(live.value("frr", row, 1), nan=np.inf))

    return sorted(rated, key=frr)


def _table(
    ranked: list[tuple[LivePart, float, int]], parts: list[PageItem], state: LiveState
) -> PageTable | None:
    """Return the systems at the FAR of the page, the one with the smallest FRR first."""
    if not ranked or state.chosen is None:
        return None
    task, translate = ranked[0][0].part, term_translator(ranked[0][0].part.dataset)
    heads = ["System", *map(translate, ("FRR", "FAR")), "Threshold used", "EER"]
    studies = {part.system: part for part in parts if _is_study(part)}
    if studies:
        heads += [translate(f"{rate} on new people") for rate in ("FAR", "FRR")]
    body = []
    for live, threshold, row in ranked:
        part = live.part
        frr = rate_of(live, "frr", row, strong=True)
        far = rate_of(live, "far", row, strong=True)
        bounds: list[Any] = [frr, far]
        if "frr_low" in live.columns:
            low = rate_of(live, "frr", row, "_low", unit=False)
            bounds[0] = Bounded(frr, low, rate_of(live, "frr", row, "_high"))
        used = Text(words.threshold(threshold, live.part.kind), used=live.number, right=True)
        cells: list[Any] = [Text(part.system, swatch=True), *bounds, used, _eer(part)]
        if studies:
            cells += _study_cells(studies.get(part.system))
        body.append(cells)
    rule = "equal error rate"
    if state.chosen.target is not None:
        rule = per_cent(state.chosen.target)
    caption = translate(f"{task.title}, each system at the same FAR")
    note = translate(
        f"The page opens at {'the ' if state.chosen.target is None else 'FAR at most '}{rule}; in "
        "the order of FRR there."
    )
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
    if any("frr_low" in live.columns for live, *_ in ranked):
        note += translate(" The interval of FRR keeps the threshold fixed.")
    if studies:
        note += " Intervals on new people are over folds; the others are for these data."
    return PageTable("systems", caption, heads, body, note, live=True)


def _rank_table(by_system: dict[str, list], at: dict, rank: int) -> PageTable | None:
    """Return systems that have rates over ranks alone, the one with the largest mAP first."""
    moving = [_moving(own, at)[0] for own in by_system.values()]
    lives = [live for live in moving if live is not None]
    name = next((x for x in ("cms", "cmc") if all(x in live.by_rank for live in lives)), "")
    if len(lives) < len(moving) or not name or len({live.part.task for live in lives}) > 1:
        return None
    first = ""
    if all("mean_ap" in live.part.dataset for live in lives):
        first = "mean_ap"

    def place(live: LivePart) -> float:
        value = live.part.dataset[first] if first else live.value(name, -1, rank)
        return -float(np.nan_to_num(float(value), nan=-1.0))

    body: list[list[Any]] = []
    for live in sorted(lives, key=place):
        part = live.part
        bounded = _at_rank(live, name, rank)
        if first:
            mean = [Number(part, first, float(part.dataset[first]), "percent", 2)]
        else:
            mean = []
        body.append([Text(part.system, swatch=True), *mean, bounded])
    heads = ["System", *(["mAP"] if first else []), f"{name.upper()} at the rank"]
    note = f"In the order of {'mAP' if first else f'{name.upper()} at rank 1'}."
    return PageTable(
        "systems", f"{lives[0].part.title} of each system", heads, body, note, live=True
    )


def _at_rank(live: LivePart, name: str, rank: int) -> Bounded:
    """Return a rate at the rank of the page, with its interval where it has one."""
    total = attempts_of(live.part, "attempts") or attempts_of(live.part, "queries")

    def value(end: str = "", **how: Any) -> Number:
        rate = live.value(f"{name}{end}", -1, rank)
        decimals = decimals_for(total)
        return Number(live.part, f"{name}{end}", rate, "percent", decimals, live=True, **how)

    if f"{name}_low" not in live.by_rank:
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
        mean, given = _mean(study, name), _interval(study, name)
        cells.append(Bounded(mean, *given) if given else Bounded(mean))
    for i, name in enumerate(("far", "frr")):
        if (missed := _missed(study, name)) is not None and missed.warns:
            cells[i] = Bounded(cells[i].number, cells[i].low, cells[i].high, warns=True)
    return cells


def _common(
    ranked: list[tuple[LivePart, float, int]], parts: list[PageItem], state: LiveState
) -> Iterator[Sentence]:
    """Say once what holds for the thresholds of all systems."""
    assert state.chosen is not None
    translate = term_translator(ranked[0][0].part.dataset)
    rule = "its equal error rate"
    if state.chosen.target is not None:
        rule = f"FAR at most {per_cent(state.chosen.target)}"
    chosen_on = str(ranked[0][0].part.dataset.attrs.get("chosen_on", ""))
    where = "on these data, so the rates are optimistic"
    if chosen_on:
        where = f"on {chosen_on}"
    said = f"Each system is at its own loosest threshold with {rule}, chosen {where}."
    yield [translate(said + _why(state))]
    if not any(_is_study(part) for part in parts):
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
    first = {str(part.dataset.attrs.get("system_a")) for part in compared}
    short = len(compared) > 1 and len(first) == 1  # all with one system
    if short:
        one, measure = _compared_at(compared[0], state)
        best = _number(compared[0], one, "value_a", strong=True)
        each = (_compared_at(part, state)[0] for part in compared)
        smallest = all(x["value_a"] <= x["value_b"] for x in each)
        if smallest:
            said = f"{measure} is smallest for {{}}, "
        else:
            said = f"{measure} of {{}}: "
        yield [said.format(first.pop()), best, "."]
    for part in compared:
        if not short and "answer" in part.dataset.attrs:
            translate = term_translator(part.dataset, "")
            yield [Text(translate.of_list(part.dataset.attrs["answer"]), strong=True)]
        yield _verdict(part, state, short)


def _compared_at(part: PageItem, state: LiveState) -> tuple[xr.Dataset, str]:
    """Return the compared measure that the page is about, and its name in a sentence."""
    measures = [str(x) for x in part.dataset["measure"].values]
    target = None
    if state.chosen is not None:
        target = state.chosen.target
    wanted = "EER"
    if target is not None:
        wanted = f"FRR at FAR <= {per_cent(target)}"
    if wanted in measures:
        name = wanted
    else:
        name = measures[0]
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
        lines = str(ds.attrs.get("conclusions", "")).splitlines()
        yield from ([line.rstrip(".") + "."] for line in lines[:3])
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
        if reason := str(ds.attrs["reason"]):
            yield [f"The model gives no threshold below the measurable FAR: {reason}."]
        elif ds.sizes["threshold"] == 1:
            yield [
                "By a model, not measured: at the threshold ",
                _score(float(ds["threshold"].values[0]), part),
                ", at most ",
                f"{words.percent(float(ds['far_high'].values[0]), 3)} of impostor attempts are "
                "accepted.",
            ]
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
