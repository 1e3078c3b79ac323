"""What is said of systems beside their fusion: each measure of each, in the same folds if any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import xarray as xr

from bioeval.base.scalars import POINTS_OF_PARTS, Scalar
from bioeval.document.blocks import Column, Fact, Facts, Paragraph, Section, Table, Vocabulary
from bioeval.document.cells import Count, Label, Number, Quantity
from bioeval.document.results import result_messages, table_of_variables, threshold_choice
from bioeval.document.scalars import cell_of_scalar, label_of
from bioeval.document.text import Text, say
from bioeval.results.layouts import expanded
from bioeval.results.words import excluded
from bioeval.views.tasks import averaged

#: Attributes of each system in data.
_ATTRIBUTES = ("origin", "task", "exclude", "templates", "fusion", "claims")


@dataclass(frozen=True)
class SideBySide:
    """Verification results of systems, the fused one last, and the files of the others."""

    datasets: Mapping[str, xr.Dataset]
    files: Mapping[str, str]


@dataclass(frozen=True)
class _Value:
    """A measure of one system, with the standard deviation over folds if there are any."""

    name: str
    label: Text
    target: float | None
    value: Quantity
    sd: Quantity | None = None


def section(systems: SideBySide) -> Section:
    """Return what is said of systems and of their fusion."""
    datasets = {name: expanded(ds) for name, ds in systems.datasets.items()}
    first = next(iter(datasets.values()))
    in_folds = "fold" in first.dims
    note = "Means over the folds of the test parts; ± is the standard deviation between them."
    targets = [dim for dim in ("far_target", "frr_target") if dim in first.dims]
    return Section(
        "fusion",
        say("Fusion of {number:count systems}", number=len(datasets) - 1),
        (
            _header(datasets, in_folds),
            _measures(datasets),
            Paragraph(note if in_folds else "", "note"),
            _numbers(datasets, systems.files),
            *(_together(f"{dim}s", datasets, dim) for dim in targets),
            result_messages(systems.datasets),
        ),
        task="verification",
    )


def _header(datasets: Mapping[str, xr.Dataset], in_folds: bool) -> Facts:
    """Return what all systems have in common, and how they were fused."""
    *_, fused = datasets.values()
    attrs = fused.attrs
    facts = [Fact("Task", str(attrs["task"]), "task")]
    if in_folds:
        folds = fused.sizes["repeat"] * fused.sizes["fold"]
        facts += [
            Fact("Partition", Label(attrs["splitter"]), "splitter"),
            Fact("Threshold", threshold_choice(attrs)),
            Fact("Folds", Count(folds, noun="folds")),
        ]
    facts += [
        Fact("Excluded", excluded({name: ds.attrs for name, ds in datasets.items()})),
        Fact("Fused", Label(attrs["origin"])),
        Fact("Terms", Vocabulary()),
    ]
    return Facts(facts, indented=True)


def _measures(datasets: Mapping[str, xr.Dataset]) -> Table:
    """Return a row for each measure, with a column for each system."""
    by_system = {}
    measures: dict[tuple[str, float | None], _Value] = {}  # in the order of first appearance
    for name, ds in datasets.items():
        values = _means(ds) if "fold" in ds.dims else _points(ds)
        by_system[name] = {(value.name, value.target): value for value in values}
        measures = measures | {
            place: value for place, value in by_system[name].items() if place not in measures
        }
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
        for target, value in zip(ds[dim].values.tolist(), values.values.tolist(), strict=True):
            place = "prior" if dim == "cost" else "target"
            label = label_of(scalar, **{place: target})
            cell = cell_of_scalar(scalar, value, at={dim: target})
            yield _Value(scalar.name, label, target, cell)


def _means(ds: xr.Dataset) -> Iterator[_Value]:
    """Yield the means over folds of a system, with standard deviations."""
    for row in averaged(ds):
        target = next(iter(row.at.values()), None)
        label: Text = label_of(row.scalar, **({} if target is None else {"target": target}))
        mean = _summary(row.scalar, row.summary("mean"), f"{row.name}_mean", row.at)
        sd = _summary(row.scalar, row.summary("sd"), f"{row.name}_sd", row.at)
        yield _Value(row.name, label, target, mean, sd if sd.is_defined else None)


def _summary(scalar: Scalar, value: float, variable: str, at: Mapping[str, Any]) -> Quantity:
    return cell_of_scalar(scalar, value, variable=variable, at=at)


def _numbers(datasets: Mapping[str, xr.Dataset], files: Mapping[str, str]) -> Table:
    """Return the single numbers of each system, for data."""
    table = _together("systems", datasets)
    about: list[list[Text | None]] = []
    for name, ds in datasets.items():
        cells: list[Text | None] = [Label(files[name]) if name in files else None]
        cells += [Label(ds.attrs[x]) if x in ds.attrs else None for x in _ATTRIBUTES]
        about.append(cells)
    rows = []
    for cells, (system, *others) in zip(about, table.rows, strict=True):
        rows.append([system, *cells, *others])
    system_column, *columns = table.columns
    about_columns = [Column(name) for name in ("file", *_ATTRIBUTES)]
    return Table("systems", [system_column, *about_columns, *columns], rows, shown=0)


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
