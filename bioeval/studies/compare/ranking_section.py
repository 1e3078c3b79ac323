"""What is said of a ranking of systems: who may be the best, values, ranks and letters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.document.blocks import (
    Block,
    Column,
    Fact,
    Facts,
    Figure,
    Messages,
    Paragraph,
    ResultsBySystem,
    Section,
    Table,
    Vocabulary,
)
from bioeval.document.cells import Count, Label, Number, Probability, Quantity
from bioeval.document.results import is_doubt, result_messages
from bioeval.document.scalars import cell_of_scalar, label_of
from bioeval.document.text import Enumeration, Strong, Text, say
from bioeval.studies.compare.described import places_of, scalar_at

#: Readers are shown the ranks of this many measures; data have those of all.
SHOWN = 4

#: Differences of all pairs are shown of up to so many systems, and of more on request.
FEW_SYSTEMS = 4

# Systems, at most, whose names are in the answer.
_NAMED = 5

#: An attribute of a ranking whose differences are shown, however many systems there are.
SHOWS_DIFFERENCES = "shows_differences"


def section(results: ResultsBySystem) -> Section:
    """Return what is said of a ranking."""
    ds = results[""]
    messages = result_messages(results).messages
    doubts = [message for message in messages if is_doubt(message)]
    others = [message for message in messages if not is_doubt(message)]
    measures = [Ranked(ds, i) for i in range(ds.sizes["measure"])]
    shown = measures[: SHOWN if len(measures) <= SHOWN else 1]
    blocks: list[Block] = [
        _header(ds),
        Messages(doubts, alarm=True),
        *(Paragraph(x.answer, "answer") for x in shown),
        _overview(measures),
        _ranks(ds, measures, len(shown)),
        _differences(ds, measures, len(shown)),
        # A page draws the first measure with the other plots.
        *(Figure("ranking", options={"measure": x.label}) for x in shown[1:]),
        Messages(others),
    ]
    title = say("Comparison of {systems:count systems}", systems=ds.sizes["system"])
    return Section("ranking", title, blocks)


class Ranked:
    """One measure of a ranking."""

    def __init__(self, ds: xr.Dataset, place: int):
        self._ds = ds.isel(measure=place)
        self.label = str(ds["measure"].values[place])
        self.scalar = scalar_at(ds, place)
        self._places = places_of(ds, place)
        self.systems = ds["system"].values.tolist()
        rank = self._ds["rank"].values
        #: Places of the systems from the best to the worst; those without a value come last.
        self.order = sorted(range(len(rank)), key=lambda i: (np.isnan(rank[i]), rank[i], i))

    @property
    def name(self) -> Text:
        """The name of the measure."""
        task = "identification" if self.scalar.name == "dir_at_far" else "verification"
        return label_of(self.scalar, task=task, **self._places)

    def number(self, variable: str, i: int) -> float:
        """Return a number of a system."""
        return float(self._ds[variable].values[i])

    def at(self, i: int) -> dict[str, Any]:
        """Return where the numbers of a system are in the dataset."""
        return {"measure": self.label, "system": self.systems[i]}

    def value(self, i: int, *, interval: bool = False) -> Quantity:
        """Return the value of a system, with its interval if wanted."""
        more: dict[str, Any] = {}
        if interval:
            more["interval"] = self.number("value_low", i), self.number("value_high", i)
        return cell_of_scalar(
            self.scalar, self.number("value", i), variable="value", at=self.at(i), **more
        )

    def letters(self, i: int) -> str:
        """Return the letters of a system."""
        return str(self._ds["letters"].values[i])

    def is_best(self, i: int) -> bool:
        """Whether no other system is shown to be better."""
        return self.number("rank_low", i) == 1

    def ranks(self, i: int) -> Text:
        """Return the ranks that a system may have."""
        low, high = self.number("rank_low", i), self.number("rank_high", i)
        if np.isnan(low):
            return ""
        if low == high:
            return f"{low:.0f}"
        return f"{low:.0f}-{high:.0f}"

    def difference(self, i: int, j: int) -> Quantity:
        """Return the difference of two systems, with its limits."""
        names = ("difference", "difference_low", "difference_high")
        value, *limits = (float(self._ds[name].values[i, j]) for name in names)
        return cell_of_scalar(
            self.scalar,
            value,
            variable="difference",
            at={**self.at(i), "other_system": self.systems[j]},
            interval=tuple(limits),
            difference=True,
        )

    def p(self, i: int, j: int) -> Probability:
        """Return the p-value of a difference."""
        value = float(self._ds["p_value"].values[i, j])
        at = {**self.at(i), "other_system": self.systems[j]}
        return Probability(value, variable="p_value", at=at)

    def separated(self, i: int, j: int) -> int:
        """Return 1 where the first system is better, -1 where it is worse, else 0."""
        return int(self._ds["separated"].values[i, j])

    @property
    def answer(self) -> Text:
        """Who may be the best."""
        defined = [i for i in self.order if not np.isnan(self.number("value", i))]
        best = [i for i in defined if self.is_best(i)]
        if not defined:
            return say("{measure} is not defined.", measure=self.name)
        if not int(self._ds["supported"]):
            return say(
                "{measure}: no conclusion, since there are too few attempts for this target.",
                measure=self.name,
            )
        if len(best) == 1:
            return say(
                "{measure}: {system:name} is better than all others.",
                measure=self.name,
                system=self.systems[best[0]],
            )
        if len(best) == len(defined):
            return say("{measure}: no system is shown to be the best.", measure=self.name)
        names: Text = Enumeration([Label(self.systems[i]) for i in best], "or")
        if len(best) > _NAMED:
            names = say("one of {best:count systems}", best=len(best))
        return say(
            "{measure}: the best is {systems}; shown to be worse: {others:count other systems}.",
            measure=self.name,
            systems=names,
            others=len(defined) - len(best),
        )


def _header(ds: xr.Dataset) -> Facts:
    """Return what was compared."""
    attrs = ds.attrs
    people = Count(int(attrs.get("subjects", 0)), noun="subjects")
    data: Text = say("{layout}, {people}", layout=str(attrs.get("layout", "")), people=people)
    if "sequences" in attrs:
        data = Count(int(attrs["sequences"]), noun="sequences")
    facts = [
        Fact("Data", data),
        Fact("Terms", Vocabulary()),
    ]
    if "convention" in attrs:
        convention = say("re-identification, {name:name}", name=str(attrs["convention"]))
        facts.insert(1, Fact("Task", convention))
    return Facts(facts, indented=True)


def _overview(measures: Sequence[Ranked]) -> Table:
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
            if letters := measure.letters(i):
                cell = say("{value} {letters}", value=cell, letters=letters)
            several = sum(map(measure.is_best, range(len(measure.systems))))
            told_apart = several < len(measure.systems)
            cells.append(Strong(cell) if told_apart and measure.is_best(i) else cell)
        rows.append(cells)
    return Table(
        "overview",
        columns,
        rows,
        title="All measures",
        narrow="The other measures are shown where there is more room, and in CSV and JSON.",
        notes=[
            "Systems that share a letter do not differ significantly. Bold: no other system is "
            "shown to be better."
        ],
    )


def _ranks(ds: xr.Dataset, measures: Sequence[Ranked], shown: int) -> Table:
    """Return values, intervals and ranks, from the best to the worst in each measure."""
    level = float(ds.attrs["confidence"])
    columns = [
        Column("measure", "measure", grouped=True),
        Column("system", "system"),
        Column("value", say("value [{level:rate} interval]", level=level)),
        Column("rank", "rank", only="data"),
        Column("rank_low", "", only="data"),
        Column("rank_high", "", only="data"),
        Column("ranks", "may have rank", only="readers"),
        Column("letters", "letters"),
    ]
    rows: list[list[Text | None]] = []
    for measure in measures:
        for i in measure.order:
            ranks: list[Text | None] = []
            for name in ("rank", "rank_low", "rank_high"):
                rank, at = measure.number(name, i), measure.at(i)
                ranks.append(None if np.isnan(rank) else Count(int(rank), variable=name, at=at))
            rows.append(
                [
                    measure.name,
                    Label(measure.systems[i]),
                    measure.value(i, interval=True),
                    *ranks,
                    measure.ranks(i),
                    measure.letters(i),
                ]
            )
    each = ds.sizes["system"]
    return Table(
        "ranking",
        columns,
        rows,
        title="Ranks",
        notes=list(_notes(ds)),
        shown=shown * each,
    )


def _differences(ds: xr.Dataset, measures: Sequence[Ranked], shown: int) -> Table:
    """Return the differences of all pairs of systems, the better one first."""
    columns = [
        Column("measure", "measure", grouped=True),
        Column("system", "system", grouped=True),
        Column("other_system", "other system"),
        Column("difference", "difference [limits for all pairs]"),
        Column("p_value", "p-value", 1),
        Column("separated", "", only="data"),
        Column("conclusion", "conclusion", only="readers"),
    ]
    rows: list[list[Text | None]] = []
    for measure in measures:
        for place, i in enumerate(measure.order):
            for j in measure.order[place + 1 :]:
                better = measure.separated(i, j)
                conclusion: Text = "no significant difference"
                if better:
                    name = measure.systems[i if better > 0 else j]
                    conclusion = Strong(say("{system:name} is better", system=name))
                rows.append(
                    [
                        measure.name,
                        Label(measure.systems[i]),
                        Label(measure.systems[j]),
                        measure.difference(i, j),
                        measure.p(i, j),
                        Number(better, decimals=0, variable="separated"),
                        conclusion,
                    ]
                )
    k = ds.sizes["system"]
    shows = k <= FEW_SYSTEMS or int(ds.attrs.get(SHOWS_DIFFERENCES, 0))
    return Table(
        "differences",
        columns,
        rows,
        title="Differences",
        notes=[
            "P-values are adjusted for the number of pairs. Where there are no limits, the systems "
            "differ on too few people or sequences, or the uncertainty of the difference is not "
            "known."
        ],
        shown=shown * (k * (k - 1) // 2) if shows else 0,
    )


def _notes(ds: xr.Dataset) -> Iterator[Text]:
    """Yield what the columns are, and for whom they are."""
    attrs = ds.attrs
    level = float(attrs["confidence"])
    populations = dict.fromkeys(map(str, ds["interval_for"].values))
    yield say(
        "The interval is for each value by itself ({method}). The ranks that a system may have, "
        "and the letters, follow from simultaneous {level:rate} limits of all differences, for "
        "each measure. Intervals and limits are for {populations}.",
        level=level,
        method=str(attrs["interval_method"]),
        populations=Enumeration(list(populations), "and"),
    )
    if attrs.get("adjust") == "holm":
        yield "Ranks and letters are adjusted for the number of measures (Holm)."
    yield (
        "A system that is chosen because it has the best value looks better than it is: report its "
        "value on other data."
    )
