"""What is said of compared systems: who is better, values, ranks, letters and differences."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.document.blocks import (
    Block,
    Column,
    Fact,
    Facts,
    Messages,
    ResultsBySystem,
    Section,
    Table,
    Vocabulary,
)
from bioeval.document.cells import Count, Label, Number, Probability, Quantity
from bioeval.document.results import answers, data_fact, is_doubt, result_messages, sides_in_words
from bioeval.document.scalars import cell_of_scalar
from bioeval.document.text import Enumeration, Strong, Text, say
from bioeval.results.words import excluded_in_words, method_in_words
from bioeval.studies.compare.outcomes import MeasureOfSystems, has_limits, measures_of
from bioeval.studies.tracking.measures import FEWEST
from bioeval.studies.tracking.section import classes_fact

#: Of three systems and more, readers are shown the ranks of up to this many measures.
SHOWN = 4

#: Differences of all pairs are shown of up to so many systems; data have those of more.
FEW_SYSTEMS = 4

#: A rank, and the limits of the ranks that a system may have.
_RANKS = ("rank", "rank_low", "rank_high")


def comparison_section(results: ResultsBySystem) -> Section:
    """Return what is said of a comparison."""
    ds = results[""]
    messages = result_messages(results).messages
    measures = measures_of(ds)
    two = ds.sizes["system"] == 2
    shown = len(measures) if two or len(measures) <= SHOWN else 1
    blocks: list[Block] = [
        _header(ds),
        Messages([x for x in messages if is_doubt(x)], alarm=True),
        *answers(results),
    ]
    if not two and (supported := [x for x in measures if x.supported]):
        blocks.append(_overview(supported))
    # What a comparison is made for comes first, of two systems and in data.
    ranks = _ranks(ds, measures, 0 if two else shown)
    blocks += [_differences(ds, measures, shown), ranks, _against_first(measures)]
    blocks.append(Messages([x for x in messages if not is_doubt(x)]))
    title = say("Comparison of {systems:count systems}", systems=ds.sizes["system"])
    return Section("comparison", title, blocks)


def _made(measure: MeasureOfSystems) -> str:
    """Return how the limits were made, and for whom they are."""
    about = measure.dataset[measure.variable("difference")].attrs
    return f"{method_in_words(about['interval_method'])} for {about['interval_for']}"


def _at(measure: MeasureOfSystems, i: int, *other: int) -> dict[str, Any]:
    """Return where the numbers of a system, or of a pair, are in the dataset."""
    names = zip(("system", "other_system"), (i, *other), strict=False)
    return measure.coordinates | {name: measure.systems[k] for name, k in names}


def _value(measure: MeasureOfSystems, i: int, *, interval: bool = False) -> Quantity:
    """Return the value of a system, with its interval if wanted."""
    more: dict[str, Any] = {}
    if interval:
        more["interval"] = measure.number("low", i), measure.number("high", i)
    return cell_of_scalar(measure.scalar, measure.number("", i), at=_at(measure, i), **more)


def _difference(measure: MeasureOfSystems, i: int, j: int) -> Quantity:
    """Return the difference of two systems, with its limits."""
    return cell_of_scalar(
        measure.scalar,
        measure.number("difference", i, j),
        variable=measure.variable("difference"),
        at=_at(measure, i, j),
        interval=(measure.number("difference_low", i, j), measure.number("difference_high", i, j)),
        difference=True,
    )


def _conclusion(measure: MeasureOfSystems, i: int, j: int) -> Text:
    """Return which of two systems is better, or why neither is."""
    if better := measure.number("separated", i, j):
        name = measure.systems[i if better > 0 else j]
        return Strong(say("{system:name} is better", system=name))
    if np.isnan(measure.number("difference", i, j)):
        return "not defined"
    if not measure.limited:
        return _FEW_SEQUENCES.lower()
    if not measure.supported:
        return "no conclusion: too few people or attempts for the target"
    if measure.too_few(i, j):
        text = f"too few to decide: they differ on {{discordant:count {measure.noun}}}"
        return say(text, discordant=int(measure.number("discordant", i, j)))
    if np.isnan(measure.number("difference_low", i, j)):
        return "no conclusion: the uncertainty of the difference is not known"
    return "no significant difference"


def _verdict(measure: MeasureOfSystems, i: int) -> str:
    """Return whether a system is shown to be worse than the first; empty where nothing is."""
    is_defined = not np.isnan(measure.number("difference", i, 0))
    if not (measure.supported and measure.limited and is_defined):
        return ""
    return {1: "better", -1: "worse"}.get(int(measure.number("separated", i, 0)), "open")


_FEW_SEQUENCES = f"No conclusion: fewer than {FEWEST} sequences"


def _with_limits(ds: xr.Dataset, name: str, ends: str) -> Text:
    """Return the heading of a column, with what its limits are, if any."""
    level = float(ds.attrs["confidence"])
    return say(f"{name} [{{level:rate}} {ends}]", level=level) if has_limits(ds) else name


def _header(ds: xr.Dataset) -> Facts:
    """Return what was compared."""
    attrs = ds.attrs
    data = data_fact(ds["system"].values.tolist(), sides_in_words(attrs))
    if "sequences" in attrs:
        data = Fact("Data", Count(int(attrs["sequences"]), noun="sequences"))
    task: Text = ""
    if "convention" in attrs:
        task = say("re-identification, {name:name}", name=str(attrs["convention"]))
    facts = [
        data,
        *([classes_fact(attrs)] if "classes_evaluated" in attrs else []),
        Fact("Attempts", str(attrs.get("use", ""))),
        Fact("Excluded", excluded_in_words({"": attrs})),
        Fact("Task", task),
        Fact("Terms", Vocabulary()),
    ]
    return Facts(facts)


def _overview(measures: Sequence[MeasureOfSystems]) -> Table:
    """Return the values of all measures, a row for each system, the best in bold."""
    columns = [Column("system", "system", only="readers")]
    for i, measure in enumerate(measures):
        priority = 0 if i < SHOWN else i
        columns.append(Column(f"measure_{i}", measure.name, priority, only="readers"))
    rows: list[list[Text | None]] = []
    for i in measures[0].order:
        cells: list[Text | None] = [Label(measures[0].systems[i])]
        for measure in measures:
            cell: Text = _value(measure, i)
            if (letters := measure.letters(i)) and measure.limited:
                cell = say("{value} {letters}", value=cell, letters=letters)
            is_decided = len(measure.best) < len(measure.systems)
            cells.append(Strong(cell) if is_decided and i in measure.best else cell)
        rows.append(cells)
    return Table(
        "overview",
        columns,
        rows,
        title="Measures that the people and attempts support",
        notes=[
            "Systems that share a letter do not differ significantly. Bold: no other system is "
            "shown to be better."
        ]
        if measures[0].limited
        else [],
    )


def _ranks(ds: xr.Dataset, measures: Sequence[MeasureOfSystems], shown: int) -> Table:
    """Return values, intervals and ranks, from the best to the worst in each measure."""
    columns = [
        Column("name", only="data"),
        Column("measure", "measure", grouped=True),
        Column("system", "system"),
        Column("value", _with_limits(ds, "value", "interval")),
        *(Column(name, only="data") for name in _RANKS),
        Column("ranks", "may have rank", only="readers"),
        Column("letters", "letters", only="" if has_limits(ds) else "data"),
    ]
    rows: list[list[Text | None]] = []
    for measure in measures:
        for i in measure.order:
            numbers = [measure.number(name, i) for name in _RANKS]
            is_supported = measure.supported
            ranks = [
                None if np.isnan(x) else Count(int(x), supported=is_supported) for x in numbers
            ]
            _, low, high = numbers
            limits = "" if np.isnan(low) or not measure.limited else f"{low:.0f}-{high:.0f}"
            rows.append(
                [
                    Label(measure.key),
                    measure.name,
                    Label(measure.systems[i]),
                    replace(_value(measure, i, interval=True), supported=is_supported),
                    *ranks,
                    f"{low:.0f}" if low == high else limits,
                    measure.letters(i),
                ]
            )
    note = (
        "The interval is for each value by itself. The ranks that a system may have, and the "
        "letters, follow from the tests of all differences."
    )
    shown *= ds.sizes["system"]
    return Table(
        "ranking", columns, rows, title="Ranks", notes=[note] * has_limits(ds), shown=shown
    )


#: Numbers of a pair of systems that data have.
_OF_PAIRS = ("p_value", "p_adjusted", "separated", "discordant")


def _differences(ds: xr.Dataset, measures: Sequence[MeasureOfSystems], shown: int) -> Table:
    """Return the differences of all pairs of systems, the better one first.

    Of two systems the first one is first, with the values of both.
    """
    k, systems = ds.sizes["system"], measures[0].systems
    holm = ds.attrs["adjust"] == "holm"
    names = [
        Column("system", "system", grouped=True, only="" if k > 2 else "data"),
        Column("other_system", "other system", only="" if k > 2 else "data"),
    ]
    if k == 2:
        for i, name in enumerate(systems):
            names.append(Column(f"value_{i}", Label(name), only="readers"))
    columns = [
        Column("name", only="data"),
        Column("measure", "measure", grouped=True),
        *names,
        Column("difference", _with_limits(ds, "difference", "limits")),
        Column("p_value", "p-value", 1, only="data" if holm else ""),
        Column("p_adjusted", "adjusted p", 1, only="" if holm else "data"),
        *(Column(name, only="data") for name in _OF_PAIRS[2:]),
        Column("conclusion", "conclusion", only="data" if k == 2 else ""),
    ]
    rows: list[list[Text | None]] = []
    for measure in measures:
        for i, j in itertools.combinations(measure.order if k > 2 else range(2), 2):
            p, adjusted, *whole = (measure.number(name, i, j) for name in _OF_PAIRS)
            numbers: list[Quantity] = [
                *([_value(measure, i), _value(measure, j)] if k == 2 else []),
                _difference(measure, i, j),
                Probability(p),
                Probability(adjusted),
                *(Number(int(x), decimals=0) for x in whole),
            ]
            numbers = [replace(x, supported=measure.supported) for x in numbers]
            named = Label(systems[i]), Label(systems[j])
            rows.append(
                [Label(measure.key), measure.name, *named, *numbers, _conclusion(measure, i, j)]
            )
    return Table(
        "differences",
        columns,
        rows,
        title="Differences",
        notes=list(_notes(ds, measures)),
        shown=shown * (k * (k - 1) // 2) if k <= FEW_SYSTEMS else 0,
    )


def _against_first(measures: Sequence[MeasureOfSystems]) -> Table:
    """Return, for data, whether each later system is shown to be worse than the first."""
    columns = [Column(x, only="data") for x in ("system", "name", "separated", "verdict")]
    rows: list[list[Text | None]] = []
    for measure in measures:
        for i in range(1, len(measure.systems)):
            verdict = _verdict(measure, i)
            separated = int(measure.number("separated", i, 0))
            cell = Number(separated, decimals=0, supported=bool(verdict))
            rows.append([Label(measure.systems[i]), Label(measure.key), cell, verdict])
    return Table("against_first", columns, rows, shown=0)


def _notes(ds: xr.Dataset, measures: Sequence[MeasureOfSystems]) -> Iterator[Text]:
    """Yield what the differences are, and what holds of them."""
    systems = measures[0].systems
    if len(systems) == 2:
        yield say("Difference: {a:name} - {b:name}.", a=systems[0], b=systems[1])
    if has_limits(ds):
        yield from _limits(ds, measures)
    yield (
        "A system that is chosen because it has the best value looks better than it is: report its "
        "value on other data."
    )


def _limits(ds: xr.Dataset, measures: Sequence[MeasureOfSystems]) -> Iterator[Text]:
    """Yield what the limits are, and for whom they are."""
    attrs, two = ds.attrs, ds.sizes["system"] == 2
    limits = "The limits hold" if two else "The limits hold for all pairs of systems together,"
    adjusted = "each measure by itself"
    if attrs["adjust"] == "holm":
        adjusted += "; conclusions are adjusted for the number of measures (Holm)"
    yield say("{limits} for {adjusted}.", limits=limits, adjusted=adjusted)
    made: dict[str, list[MeasureOfSystems]] = {}
    for measure in measures:
        if measure.dataset[measure.variable("p_value")].notnull().any():
            made.setdefault(_made(measure), []).append(measure)
    texts: list[Text] = list(made)
    if len(texts) > 1:
        texts = [
            say(
                "{whom} ({measures:measures})",
                whom=whom,
                measures=[x.argument for x in group],
            )
            for whom, group in made.items()
        ]
    drawn: Text = ""
    if any("bootstrap" in text for text in made):
        number, seed = int(attrs["replicates"]), str(attrs["seed"])
        drawn = say("; {replicates:count replicates}, seed {seed}", replicates=number, seed=seed)
    anew = ""
    if any("jackknife" in text for text in made):
        alone = "each sequence" if "sequences" in attrs else "each person"
        each = str(attrs.get("jackknifed", alone))
        if each != alone and "convention" not in attrs:  # of functions of scores alone
            each = f"{alone}, or {each},"
        anew = f"; jackknife: {each} is left out in turn"
    if made:
        text = "Limits and p-values: {made}{drawn}{anew}."
        yield say(text, made=Enumeration(texts, ";"), drawn=drawn, anew=anew)
    if two and "sequences" not in attrs:
        gallery = ", for this gallery" if "convention" in attrs else ""
        yield f"The interval of each value{gallery}: bioeval run --interval people."
