"""What is said of the scores of trials before and after normalisation by a cohort."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import xarray as xr

from bioeval.base.scalars import POINTS_OF_PARTS
from bioeval.document.blocks import Column, Fact, Facts, Paragraph, Section, Table, Vocabulary
from bioeval.document.cells import Cost, Count, Label, Number, Quantity
from bioeval.document.results import result_messages
from bioeval.document.scalars import cell_of_scalar, label_of
from bioeval.document.text import Text, say


@dataclass(frozen=True)
class NormalisedTrials:
    """Verification of scores as they were and normalised, the latter last, with minDCF at priors.

    - `how`: the method in words, as facts by name
    """

    datasets: Mapping[str, xr.Dataset]
    priors: Sequence[float]
    how: Mapping[str, str]


def section(trials: NormalisedTrials) -> Section:
    """Return what is said of scores before and after normalisation."""
    *_, normalised = trials.datasets.values()
    facts = [Fact("Normalised", Label(normalised.attrs["origin"]))]
    facts += [Fact(name, Label(words)) for name, words in trials.how.items()]
    for name, attempts in (("Genuine", "genuine_attempts"), ("Impostor", "impostor_attempts")):
        facts.append(Fact(name, Count(int(normalised[attempts]), noun="attempts")))
    facts.append(Fact("Terms", Vocabulary()))
    columns = [Column("measure"), Column("scalar", only="data"), Column("target", only="data")]
    columns += [Column(name, Label(name)) for name in trials.datasets]
    rows = []
    by_system = [list(_points(ds, trials.priors)) for ds in trials.datasets.values()]
    for points in zip(*by_system, strict=True):
        first = points[0]
        target = None if first.target is None else Number(first.target, digits=6)
        row: list[Text | None] = [first.label, Label(first.name), target]
        rows.append([*row, *(point.value for point in points)])
    note = "Each number is at the best threshold of these data (optimistic)."
    return Section(
        "normalised_trials",
        "Scores normalised by a cohort",
        (
            Facts(facts, indented=True),
            Table("measures", columns, rows),
            Paragraph(note, "note"),
            result_messages(trials.datasets),
        ),
        task="verification",
    )


@dataclass(frozen=True)
class _Point:
    """A number of a system, at a target if it has one."""

    name: str
    target: float | None
    label: Text
    value: Quantity


def _points(ds: xr.Dataset, priors: Sequence[float]) -> Iterator[_Point]:
    """Yield EER, the errors at targets, and minDCF at priors."""
    for scalar in POINTS_OF_PARTS["verification"]:
        if scalar.name not in ds or scalar.name not in ("eer", "frr_at_far", "far_at_frr"):
            continue
        values = ds[scalar.name]
        if not values.dims:
            value = cell_of_scalar(scalar, float(values))
            yield _Point(scalar.name, None, label_of(scalar), value)
            continue
        (dim,) = values.dims
        for target, at_target in zip(ds[dim].values.tolist(), values.values.tolist(), strict=True):
            label = label_of(scalar, target=target)
            value = cell_of_scalar(scalar, at_target, at={dim: target})
            yield _Point(scalar.name, target, label, value)
    for prior, cost in zip(priors, ds["min_dcf"].values.tolist(), strict=True):
        label = say("minDCF at prior {prior}", prior=Number(prior, digits=6))
        yield _Point("min_dcf", prior, label, Cost(cost, variable="min_dcf", decimals=4))
