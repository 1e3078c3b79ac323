"""What is said of two systems: which is better, by how much, and why nothing is concluded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import xarray as xr

from bioeval.document.blocks import (
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
from bioeval.document.cells import Count, Label, Quantity, Rate
from bioeval.document.results import is_doubt, result_messages, table_of_variables
from bioeval.document.scalars import cell_of_scalar, label_of
from bioeval.document.text import Enumeration, Strong, Text, say
from bioeval.results.support import RuleOf
from bioeval.results.words import excluded
from bioeval.studies.compare.described import places_of, scalar_at
from bioeval.studies.compare.measures import THIS_GALLERY
from bioeval.views.writers.lines import written

#: What a conclusion in a row rests on, by the adjustment.
_BETTER = {
    "none": "for each measure by itself, not adjusted for the number of measures",
    "holm": "after Holm's adjustment",
}


def section(results: ResultsBySystem) -> Section:
    """Return what is said of two systems."""
    ds = results[""]
    messages = result_messages(results).messages
    doubts = [message for message in messages if is_doubt(message)]
    others = [message for message in messages if not is_doubt(message)]
    measures = measures_of(ds)
    return Section(
        "comparison",
        "Comparison of two systems",
        (
            _header(ds, measures),
            Messages(doubts, alarm=True),
            Paragraph(answer(ds.attrs, measures), "answer"),
            _table(ds, measures),
            Messages(others),
        ),
    )


def attributes_in_words(ds: xr.Dataset) -> dict[str, str]:
    """Return the answer, the conclusion on each measure and its verdict as plain text."""
    measures = measures_of(ds)
    return {
        "answer": written(answer(ds.attrs, measures)),
        "conclusions": "\n".join(written(measure.conclusion) for measure in measures),
        "verdicts": "\n".join(written(measure.verdict) for measure in measures),
    }


class ComparedMeasure:
    """One measure of a comparison: its values, and what is concluded from them."""

    def __init__(self, ds: xr.Dataset, place: int):
        self._attrs = ds.attrs
        self.label = str(ds["measure"].values[place])
        self.values: dict[str, Any] = {}
        for name, variable in ds.data_vars.items():
            self.values[str(name)] = variable.values.tolist()[place]
        self.scalar, self._places = scalar_at(ds, place), places_of(ds, place)
        self._task = "identification" if self.scalar.name == "dir_at_far" else "verification"

    def name(self, *, short: bool = False) -> Text:
        """Return the name of the measure; a `short` one without the rank of DIR, which is 1."""
        if short and self.scalar.name == "dir_at_far":
            return say("{dir} at {far} <= {target}", task=self._task, target=self.target)
        return label_of(self.scalar, task=self._task, **self._places)

    @property
    def has_target(self) -> bool:
        """Whether the measure is at a FAR or at a FRR."""
        return not math.isnan(self.values["target"])

    @property
    def target(self) -> Rate:
        """The FAR or the FRR of the measure."""
        return Rate(self.values["target"], variable="target")

    def value(self, variable: str) -> Quantity:
        """Return the value of a system."""
        at = {"measure": self.label}
        return cell_of_scalar(self.scalar, self.values[variable], variable=variable, at=at)

    @property
    def difference(self) -> Quantity:
        """The difference with its interval."""
        return cell_of_scalar(
            self.scalar,
            self.values["difference"],
            variable="difference",
            at={"measure": self.label},
            interval=(self.values["difference_low"], self.values["difference_high"]),
            difference=True,
        )

    @property
    def is_conclusive(self) -> bool:
        """Whether a system is better."""
        return bool(self.values["better"])

    @property
    def is_weak(self) -> bool:
        """Whether fewer than 30 errors are expected at the target."""
        attempts = self.values["attempts_for_target"]
        return not RuleOf(30).supports(self.values["target"], attempts)

    @property
    def _is_same(self) -> bool:
        """Whether both systems decide every attempt alike; every other interval has a width."""
        return bool(self.values["difference_low"] == self.values["difference_high"] == 0)

    @property
    def verdict(self) -> Text:
        """What follows from the measure."""
        return Enumeration(self._parts(), ";")

    def _parts(self) -> Sequence[Text]:
        values = self.values
        if math.isnan(values["value_a"]) or math.isnan(values["value_b"]):
            return ["not defined"]
        if math.isnan(values["difference_low"]):
            people = int(self._attrs["subjects"])
            return [say("no conclusion with {people:count subjects}", people=people)]
        parts = [self._on_the_difference()]
        if self._is_same and not values["supported"]:
            parts.append(self._too_few_attempts())
        return parts

    def _on_the_difference(self) -> Text:
        """Return whether the systems differ in the measure, or why that is not known."""
        values, confidence = self.values, float(self._attrs["confidence"])
        discordant = values["independent_discordant"]
        needed = int(self._attrs["least_discordant"])
        if self._is_same:
            return "every decision is the same"
        if values["better"]:
            better = self._attrs["system_a" if values["better"] > 0 else "system_b"]
            return say("{system:name} is better", system=better)
        if not values["supported"]:
            return say("no conclusion: {why}", why=self._too_few_attempts())
        if discordant < needed:
            return say(
                "too few to decide: the systems differ on {discordant:count independent subjects}, "
                "and {needed} are needed",
                discordant=discordant,
                needed=needed,
            )
        if values["undecided"] == "adjusted":
            return say(
                "no conclusion: the p-value is {p:probability} after Holm's adjustment",
                p=values["p_adjusted"],
            )
        return say("no significant difference at {confidence:rate}", confidence=confidence)

    def _too_few_attempts(self) -> Text:
        if self.scalar.name == "far_at_frr":
            return say("too few genuine attempts for this {frr}", task=self._task)
        return say("too few impostor attempts for this {far}", task=self._task)

    @property
    def conclusion(self) -> Text:
        """The values, their difference and what follows, as a sentence."""
        first, *more = self._parts()
        values = self.name()
        template = "{values}: {verdict}."
        if not math.isnan(self.values["value_a"]) and not math.isnan(self.values["value_b"]):
            values = say(
                "{measure}: {a:name} {first}, {b:name} {second}",
                measure=self.name(),
                a=self._attrs["system_a"],
                first=self.value("value_a"),
                b=self._attrs["system_b"],
                second=self.value("value_b"),
            )
            if self._is_same:
                more = [self._exactly_the_same(), *more]
            elif not math.isnan(self.values["difference_low"]):
                template = "{values}, difference {difference}: {verdict}."
        verdict = Enumeration([first, *more], ";")
        return say(template, values=values, difference=self.difference, verdict=verdict)

    def _exactly_the_same(self) -> Text:
        return say(
            "the difference is exactly 0 (at most {bound:rate} of people would be decided "
            "differently, {confidence:rate})",
            bound=self.values["discordant_at_most"],
            confidence=float(self._attrs["confidence"]),
        )


def measures_of(ds: xr.Dataset) -> list[ComparedMeasure]:
    """Return the measures of a comparison."""
    return [ComparedMeasure(ds, i) for i in range(ds.sizes["measure"])]


def answer(attrs: dict[Any, Any], measures: Sequence[ComparedMeasure]) -> Text:
    """Return in which measures a system is better."""
    tested = sum(not math.isnan(x.values["p_adjusted"]) for x in measures)
    after: Text = say(" for each of the {tested} tested measures by itself", tested=tested)
    if attrs["adjust"] == "holm":
        after = say(", after Holm's adjustment for {tested:count tested measures}", tested=tested)
    elif tested == 1:
        after = "; one measure was tested"
    condition = say(
        "at {confidence:rate} confidence{after}", confidence=float(attrs["confidence"]), after=after
    )
    statements = []
    for system, sign in ((attrs["system_a"], 1), (attrs["system_b"], -1)):
        better = [x for x in measures if x.values["better"] == sign]
        if len(better) == tested > 1:
            statements.append(say("{system:name} is better in all tested measures", system=system))
        elif better:
            in_these = _joined(better)
            statements.append(
                say("{system:name} is better in {measures}", system=system, measures=in_these)
            )
    if not statements:
        return say(
            "No difference between {a:name} and {b:name} can be shown ({condition}).",
            a=attrs["system_a"],
            b=attrs["system_b"],
            condition=condition,
        )
    few: Text = ""
    if weak := [x for x in measures if x.values["better"] and x.is_weak]:
        few = say(" Fewer than 30 errors are expected for {measures}.", measures=_joined(weak))
    return say(
        "{statements} ({condition}).{few}",
        statements=Enumeration(statements, ";"),
        condition=condition,
        few=few,
    )


def _joined(measures: Sequence[ComparedMeasure]) -> Text:
    """Return the names of measures in a row, the targets of one rate behind its name."""
    names: list[Text] = []
    before = None
    for measure in measures:
        if before is not None and measure.scalar is before.scalar and measure.has_target:
            names.append(measure.target)
        else:
            names.append(measure.name(short=True))
        before = measure
    return Enumeration(names, "")


def _header(ds: xr.Dataset, measures: Sequence[ComparedMeasure]) -> Facts:
    """Return what was compared, with the tasks and their terms."""
    attrs = ds.attrs
    people = Count(int(attrs["subjects"]), noun="subjects")
    each = {
        str(attrs["system_a"]): {"exclude": attrs["exclude_a"]},
        str(attrs["system_b"]): {"exclude": attrs["exclude_b"]},
    }
    return Facts(
        (
            Fact("Data", say("{layout}, {people}", layout=str(attrs["layout"]), people=people)),
            Fact("Excluded", excluded(each)),
            Fact("Tasks", Enumeration(list(_tasks(attrs, measures)), ";")),
            Fact("Terms", Vocabulary()),
        ),
        indented=True,
    )


def _tasks(attrs: dict[Any, Any], measures: Sequence[ComparedMeasure]) -> Iterator[Text]:
    if "convention" in attrs:
        convention = str(attrs["convention"])
        yield say("re-identification, {convention:name}", convention=convention)
        return
    yield "verification"
    if any(measure.scalar.name == "dir_at_far" for measure in measures):
        yield say("{dir} at rank 1", task="identification")


def _table(ds: xr.Dataset, measures: Sequence[ComparedMeasure]) -> Table:
    """Return the measures with both values, the difference and what follows; all else in data."""
    attrs = ds.attrs
    level = float(attrs["confidence"])
    headings: dict[str, Text] = {
        "value_a": Label(attrs["system_a"]),
        "value_b": Label(attrs["system_b"]),
        "difference": say("difference [{level:rate} interval]", level=level),
    }
    all_but_limits = ds.drop_vars(["difference_low", "difference_high"])
    variables = table_of_variables(all_but_limits, "measure", id="")
    columns = [Column("name", only="readers")]
    for column in variables.columns:
        if column.name in headings:
            columns.append(Column(column.name, headings[column.name]))
        else:
            columns.append(replace(column, only="data"))
    columns.append(Column("verdict", "conclusion", below=True))
    columns.append(Column("conclusion", only="data"))
    rows: list[list[Text | None]] = []
    for measure, row in zip(measures, variables.rows, strict=True):
        cells = dict(zip((x.name for x in variables.columns), row, strict=True))
        cells |= {name: measure.value(name) for name in ("value_a", "value_b")}
        cells["difference"] = measure.difference
        verdict = Strong(measure.verdict) if measure.is_conclusive else measure.verdict
        rows.append([measure.name(short=True), *cells.values(), verdict, measure.conclusion])
    return Table(
        "measures",
        columns,
        rows,
        notes=list(notes(ds)),
        instead=[measure.conclusion for measure in measures],
    )


def notes(ds: xr.Dataset) -> Iterator[Text]:
    """Yield what the columns of a comparison are."""
    attrs, level = ds.attrs, float(ds.attrs["confidence"])
    jackknifed: Text = " by the jackknife"
    if "convention" not in attrs:
        jackknifed = say(" AUC, recognition rate and {dir} by the jackknife", task="identification")
    yield say(
        "Difference: {a:name} - {b:name}, in percentage points (pp) for rates. Interval: "
        "{level:rate} for each measure by itself; the same subjects are resampled for both systems "
        "({replicates:count replicates};{jackknifed}).",
        a=attrs["system_a"],
        b=attrs["system_b"],
        level=level,
        replicates=int(attrs["replicates"]),
        jackknifed=jackknifed,
    )
    yield say(
        "{populations} Conclusions: {better}.",
        populations=_populations(ds),
        better=_BETTER[str(attrs["adjust"])],
    )


def _populations(ds: xr.Dataset) -> Text:
    """Return for whom the intervals are."""
    fixed = [str(x) == THIS_GALLERY for x in ds["interval_for"].values]
    if not any(fixed):
        return "Intervals are for new people."
    if all(fixed):
        return "Intervals are for this gallery."
    return say(
        "Intervals are for new people; of recognition rate and {dir} for this gallery.",
        task="identification",
    )
