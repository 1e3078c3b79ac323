"""What is said of compared systems: who is better, values, ranks, letters and differences."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
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
    Paragraph,
    ResultsBySystem,
    Section,
    Table,
    Vocabulary,
)
from bioeval.document.cells import Count, Label, Number, Probability, Quantity, Rate
from bioeval.document.results import data_fact, is_doubt, result_messages, sides_in_words
from bioeval.document.scalars import cell_of_scalar, label_of
from bioeval.document.text import Enumeration, Strong, Text, say
from bioeval.results.words import excluded_in_words, method_in_words
from bioeval.studies.compare.results import PLACES, scalar_of
from bioeval.studies.tracking.measures import FEWEST
from bioeval.studies.tracking.section import classes_fact

#: Of three systems and more, readers are shown the ranks of up to this many measures.
SHOWN = 4

#: Differences of all pairs are shown of up to so many systems; data have those of more.
FEW_SYSTEMS = 4

#: A rank, and the limits of the ranks that a system may have.
_RANKS = ("rank", "rank_low", "rank_high")

# Systems, at most, whose names are in the answer.
_NAMED = 5


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
        *(Paragraph(x, "answer") for x in _answers(measures)),
    ]
    if not two and (supported := [x for x in measures if x.supported]):
        blocks.append(_overview(supported))
    # What a comparison is made for comes first, of two systems and in data.
    ranks = _ranks(ds, measures, 0 if two else shown)
    blocks += [_differences(ds, measures, shown), ranks, _against_first(measures)]
    blocks.append(Messages([x for x in messages if not is_doubt(x)]))
    title = say("Comparison of {systems:count systems}", systems=ds.sizes["system"])
    return Section("comparison", title, blocks)


class MeasureOfSystems:
    """One measure of a comparison."""

    def __init__(self, ds: xr.Dataset, name: str, at: Mapping[str, Any]):
        self._ds, self._name = ds.sel(at) if at else ds, name
        self.coordinates = dict(at)
        self.scalar = scalar_of(ds[name])
        self.places = {
            PLACES[dim]: label for dim, label in at.items() if PLACES[dim] in self.scalar.places
        }
        self.systems = ds["system"].values.tolist()
        self.task = "identification" if self.scalar.name == "dir_at_far" else "verification"
        support = f"{name}_supported"
        self.supported = support not in self._ds or bool(self._ds[support])
        self.tested = bool(self._ds[f"{name}_p_value"].notnull().any())
        self.noun = "sequences" if "sequences" in ds.attrs else "people"
        self.least_discordant = int(ds.attrs["least_discordant"])
        self.limited = has_limits(ds)
        rank = self._ds[f"{name}_rank"].values
        #: Places of the systems from the best to the worst; those without a value come last.
        self.order = sorted(range(len(rank)), key=lambda i: (np.isnan(rank[i]), rank[i], i))
        #: Those that no other system is shown to be better than.
        self.best = [i for i in self.order if self.number("rank_low", i) == 1]

    @property
    def key(self) -> str:
        """The name of the measure in data, as it is asked for: ``frr_at_far=0.01``."""
        places = (f"{x:.12g}" for x in self.places.values())
        return "=".join((self.scalar.name, *places))

    @property
    def name(self) -> Text:
        """The name of the measure in tables."""
        return label_of(self.scalar, task=self.task, **self.places)

    @property
    def made(self) -> str:
        """How the limits were made, and for whom they are."""
        about = self._ds[self.variable("difference")].attrs
        return f"{method_in_words(about['interval_method'])} for {about['interval_for']}"

    def variable(self, statistic: str) -> str:
        """Return the name of the variable of a statistic; of none, of the value."""
        return f"{self._name}_{statistic}" if statistic else self._name

    def number(self, statistic: str, *systems: int) -> float:
        """Return a number of a system, or of a pair of systems."""
        return float(self._ds[self.variable(statistic)].values[systems])

    def at(self, i: int, *other: int) -> dict[str, Any]:
        """Return where the numbers of a system, or of a pair, are in the dataset."""
        names = zip(("system", "other_system"), (i, *other), strict=False)
        return self.coordinates | {name: self.systems[k] for name, k in names}

    def value(self, i: int, *, interval: bool = False) -> Quantity:
        """Return the value of a system, with its interval if wanted."""
        more: dict[str, Any] = {}
        if interval:
            more["interval"] = self.number("low", i), self.number("high", i)
        return cell_of_scalar(self.scalar, self.number("", i), at=self.at(i), **more)

    def letters(self, i: int) -> str:
        """Return the letters of a system."""
        return str(self._ds[self.variable("letters")].values[i])

    def difference(self, i: int, j: int) -> Quantity:
        """Return the difference of two systems, with its limits."""
        return cell_of_scalar(
            self.scalar,
            self.number("difference", i, j),
            variable=self.variable("difference"),
            at=self.at(i, j),
            interval=(self.number("difference_low", i, j), self.number("difference_high", i, j)),
            difference=True,
        )

    def conclusion(self, i: int, j: int) -> Text:
        """Return which of two systems is better, or why neither is."""
        if better := self.number("separated", i, j):
            name = self.systems[i if better > 0 else j]
            return Strong(say("{system:name} is better", system=name))
        if np.isnan(self.number("difference", i, j)):
            return "not defined"
        if not self.limited:
            return _FEW_SEQUENCES.lower()
        if not self.supported:
            return "no conclusion: too few people or attempts for the target"
        if self.too_few(i, j):
            text = f"too few to decide: they differ on {{discordant:count {self.noun}}}"
            return say(text, discordant=int(self.number("discordant", i, j)))
        if np.isnan(self.number("difference_low", i, j)):
            return "no conclusion: the uncertainty of the difference is not known"
        return "no significant difference"

    def verdict(self, i: int) -> str:
        """Return whether a system is shown to be worse than the first; empty where nothing is."""
        is_defined = not np.isnan(self.number("difference", i, 0))
        if not (self.supported and self.limited and is_defined):
            return ""
        return {1: "better", -1: "worse"}.get(int(self.number("separated", i, 0)), "open")

    def too_few(self, i: int, j: int) -> bool:
        """Whether two systems differ on too few people to tell which is better."""
        if not self.number("discordant", i, j) and self.number("difference", i, j) == 0:
            return False
        return self.number("discordant", i, j) < self.least_discordant

    @property
    def outcome(self) -> Any:
        """What is concluded: the best systems and the number of others, or why there are none."""
        order = [i for i in self.order if not np.isnan(self.number("", i))]
        if not order:
            return "undefined"
        if not self.limited:
            return "sequences"
        if not self.supported:
            return "unsupported"
        if len(self.best) < len(order):
            return tuple(self.best), len(order) - len(self.best)
        few = all(self.too_few(i, j) for i, j in itertools.combinations(order, 2))
        return "few" if few and len(order) > 1 else "equal"


def measures_of(ds: xr.Dataset) -> list[MeasureOfSystems]:
    """Return the measures of a comparison, at each number that they were asked for at."""
    measures = []
    for name in (str(x) for x in ds.data_vars if f"{x}_difference" in ds):
        dims = [str(dim) for dim in ds[name].dims if dim != "system"]
        every = itertools.product(*(ds[dim].values.tolist() for dim in dims))
        for at in (dict(zip(dims, labels, strict=True)) for labels in every):
            if not at or bool(ds[f"{name}_supported"].sel(at).notnull()):
                measures.append(MeasureOfSystems(ds, name, at))
    return measures


_FEW_SEQUENCES = f"No conclusion: fewer than {FEWEST} sequences"

#: What is said of measures of which no system is shown to be the best.
_OUTCOMES = {
    "undefined": "Not defined: {measures}.",
    "sequences": f"{_FEW_SEQUENCES}.",
    "unsupported": "No conclusion: too few people or attempts for {measures}.",
    "few": "Too few to decide, as the systems differ on fewer than {needed}: {measures}.",
    "equal": "No significant difference between {systems}: {measures}.",
}


def _answers(measures: Sequence[MeasureOfSystems]) -> Iterator[Text]:
    """Yield who is the best, and in which measures."""
    groups: dict[Any, list[MeasureOfSystems]] = {}
    for x in measures:
        groups.setdefault(x.outcome, []).append(x)
    first = measures[0]
    for outcome, group in groups.items():
        labels = [Label(x) for x in first.systems]
        names: dict[str, Text] = {"measures": _joined(group)}
        if isinstance(outcome, str):
            names["systems"] = "these systems" if len(labels) > 2 else Enumeration(labels)
            names["needed"] = Count(first.least_discordant, noun=first.noun)
            used = {x: y for x, y in names.items() if f"{{{x}}}" in _OUTCOMES[outcome]}
            yield say(_OUTCOMES[outcome], **used)
            continue
        best, worse = outcome
        text = "The best is {systems}; shown to be worse: {others:count other systems}: {measures}."
        several: Text = Enumeration([labels[i] for i in best], "or")
        if len(best) > _NAMED:
            several = say("one of {best:count systems}", best=len(best))
        others: Text | int = worse
        if len(best) == 1:
            text = "{systems} is better than {others}: {measures}."
            others = "all others" if len(labels) > 2 else labels[1 - best[0]]
        yield say(text, systems=several, others=others, **names)


def _joined(measures: Sequence[MeasureOfSystems]) -> Text:
    """Return the names of measures in a row, those of one rate at several targets as one."""
    names: list[Text] = []
    by_scalar = itertools.groupby(measures, lambda x: (x.scalar.name, "target" in x.places))
    for (_, at_targets), group in by_scalar:
        each = list(group)
        if at_targets:
            targets = [Rate(x.places["target"], variable="target") for x in each]
            places = {**each[0].places, "target": Enumeration(targets)}
            names.append(label_of(each[0].scalar, task=each[0].task, **places))
        else:
            names += [x.name for x in each]
    return Enumeration(names, ";")


def has_limits(ds: xr.Dataset) -> bool:
    """Whether a comparison has intervals and limits: one over few sequences has none."""
    return "interval_method" in ds.attrs


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
            cell: Text = measure.value(i)
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
                    replace(measure.value(i, interval=True), supported=is_supported),
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
                *([measure.value(i), measure.value(j)] if k == 2 else []),
                measure.difference(i, j),
                Probability(p),
                Probability(adjusted),
                *(Number(int(x), decimals=0) for x in whole),
            ]
            numbers = [replace(x, supported=measure.supported) for x in numbers]
            named = Label(systems[i]), Label(systems[j])
            rows.append(
                [Label(measure.key), measure.name, *named, *numbers, measure.conclusion(i, j)]
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
            verdict = measure.verdict(i)
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
        if measure.tested:
            made.setdefault(measure.made, []).append(measure)
    texts: list[Text] = list(made)
    if len(texts) > 1:
        texts = [
            say("{whom} ({measures})", whom=whom, measures=_joined(group))
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
