"""What is said of systems side by side: before and after fusion, or normalisation by a cohort."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import xarray as xr

from bioeval.base.scalars import POINTS_OF_PARTS
from bioeval.document.blocks import Column, Fact, Facts, Paragraph, Section, Table, Vocabulary
from bioeval.document.cells import Label, Number, Quantity
from bioeval.document.results import result_messages, table_of_variables
from bioeval.document.scalars import cell_of_scalar, label_of
from bioeval.document.text import Text
from bioeval.results.layouts import expanded
from bioeval.results.words import excluded
from bioeval.views.tasks import averaged


@dataclass(frozen=True)
class SideBySide:
    """Verification results of systems, the one that is made of the others last."""

    title: Text
    datasets: Mapping[str, xr.Dataset]
    facts: Sequence[Fact]
    note: Text = ""


@dataclass(frozen=True)
class _Value:
    """A measure of one system, with the standard deviation over folds if there are any."""

    name: str
    label: Text
    target: float | None
    value: Quantity
    sd: Quantity | None = None


def section(systems: SideBySide) -> Section:
    """Return what is said of systems side by side."""
    datasets = {name: expanded(ds) for name, ds in systems.datasets.items()}
    first = next(iter(datasets.values()))
    left_out = excluded({name: ds.attrs for name, ds in datasets.items()})
    facts = (*systems.facts, Fact("Excluded", left_out), Fact("Terms", Vocabulary()))
    targets = [dim for dim in ("far_target", "frr_target") if dim in first.dims]
    return Section(
        "side_by_side",
        systems.title,
        (
            Facts(facts, indented=True),
            _measures(datasets),
            Paragraph(systems.note, "note"),
            _together("systems", datasets),
            *(_together(f"{dim}s", datasets, dim) for dim in targets),
            result_messages(systems.datasets),
        ),
        task="verification",
    )


def _measures(datasets: Mapping[str, xr.Dataset]) -> Table:
    """Return a row for each measure, with a column for each system."""
    by_system = {}
    measures: dict[tuple[str, float | None], _Value] = {}  # in the order of first appearance
    for name, ds in datasets.items():
        values = _means(ds) if "fold" in ds.dims else _points(ds)
        by_system[name] = {(value.name, value.target): value for value in values}
        for place, measure in by_system[name].items():
            measures.setdefault(place, measure)
    columns = [Column("measure"), Column("scalar", only="data"), Column("target", only="data")]
    for name in datasets:
        columns += [Column(f"value_{name}", Label(name)), Column(f"sd_{name}", "±", priority=1)]
    rows = []
    for place, measure in measures.items():
        target = None if measure.target is None else Number(measure.target, digits=6)
        row: list[Text | None] = [measure.label, Label(measure.name), target]
        for values_of_system in by_system.values():
            value = values_of_system.get(place)
            row += [None, None] if value is None else [value.value, value.sd]
        rows.append(row)
    return Table("measures", columns, rows)


def _points(ds: xr.Dataset) -> Iterator[_Value]:
    """Yield the operating points of a system."""
    for scalar in POINTS_OF_PARTS["verification"]:
        if scalar.name not in ds:
            continue
        values = ds[scalar.name]
        if not values.dims:
            yield _Value(scalar.name, label_of(scalar), None, cell_of_scalar(scalar, float(values)))
            continue
        (dim,) = values.dims
        place, labels = ("prior", "cost_prior") if dim == "cost" else ("target", dim)
        for target, value in zip(ds[labels].values.tolist(), values.values.tolist(), strict=True):
            label = label_of(scalar, **{place: target})
            cell = cell_of_scalar(scalar, value, at={place if dim == "cost" else dim: target})
            yield _Value(scalar.name, label, target, cell)


def _means(ds: xr.Dataset) -> Iterator[_Value]:
    """Yield the means over folds of a system, with standard deviations."""
    for row in averaged(ds):
        target = next(iter(row.at.values()), None)
        label: Text = label_of(row.scalar, **({} if target is None else {"target": target}))
        mean, sd = (
            cell_of_scalar(row.scalar, row.summary(x), variable=f"{row.name}_{x}", at=row.at)
            for x in ("mean", "sd")
        )
        yield _Value(row.name, label, target, mean, sd if sd.is_defined else None)


def _together(id: str, datasets: Mapping[str, xr.Dataset], *dims: str) -> Table:
    """Return the variables of all systems over exactly these dimensions, for data."""
    tables = {name: table_of_variables(ds, *dims, id=id) for name, ds in datasets.items()}
    names: dict[str, None] = {}
    for table in tables.values():
        names |= dict.fromkeys(column.name for column in table.columns)
    rows = []
    for system, table in tables.items():
        for row in table.rows:
            cells = dict(zip((column.name for column in table.columns), row, strict=True))
            rows.append([Label(system), *(cells.get(name) for name in names)])
    return Table(id, [Column("system"), *map(Column, names)], rows, shown=0)
