"""What is said of expected performance: errors at thresholds of the development set."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bioeval.document.blocks import Block, Column, Fact, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Label, Number
from bioeval.document.results import cell_of, data_facts, result_messages
from bioeval.document.text import Term, Text, say

# Points that are shown of a longer curve.
_SHOWN = 11

_COLUMNS = (
    Column("alpha", "alpha"),
    Column("threshold", "threshold"),
    Column("hter", "HTER"),
    Column("far", Term("far")),
    Column("frr", Term("frr")),
    Column("fa", only="data"),
    Column("fr", only="data"),
    Column("dev_error", only="data"),
)


def section(results: ResultsBySystem) -> Section:
    """Return the errors of a system at some weights, or HTER of several side by side."""
    sets = "the development set of each system" if len(results) > 1 else "the development set"
    minimised = say(
        "Thresholds minimise alpha {far} + (1 - alpha) {frr} on {sets}; errors are of the test "
        "set.",
        sets=sets,
    )
    blocks: list[Block] = [_facts(results), Paragraph(minimised, "note"), _curves(results)]
    if len(results) > 1:
        blocks.append(_compared(results, "hter", say("HTER on the test set")))
        for rate in ("far", "frr"):
            blocks.append(_compared(results, rate, say(f"{{{rate}}} on the test set")))
    blocks.append(result_messages(results))
    return Section("expected-performance", "Expected performance", blocks, task="verification")


def _facts(results: ResultsBySystem) -> Block:
    """Return the facts about the data, of a single system with the attempts of both sets."""
    if len(results) > 1:
        return data_facts(results)
    (ds,) = results.values()
    more = []
    for name, prefix in (("Development set", "dev_"), ("Test set", "")):
        more.append(Fact(name, _numbers(ds, prefix)))
    return data_facts(results, *more)


def _numbers(ds: xr.Dataset, prefix: str) -> Text:
    """Return the numbers of attempts of a set in words."""
    return say(
        "{genuine} genuine and {impostor:count impostor attempts}",
        genuine=int(ds[f"{prefix}genuine_attempts"]),
        impostor=int(ds[f"{prefix}impostor_attempts"]),
    )


def _curves(results: ResultsBySystem) -> Table:
    """Return the rows of all weights, of which readers see some of a single system."""
    rows: list[list[Text | None]] = []
    for system, ds in results.items():
        for i in range(ds.sizes["alpha"]):
            row: list[Text | None] = [_cell(ds, column.name, i) for column in _COLUMNS]
            rows.append([Label(system), *row] if len(results) > 1 else row)
    if len(results) > 1:
        return Table("curve", [Column("system", only="data"), *_COLUMNS], rows, shown=0)
    return Table("curve", _COLUMNS, rows, shown=_places(len(rows)))


def _compared(results: ResultsBySystem, rate: str, title: Text) -> Table:
    """Return one rate of several systems side by side, at some weights."""
    first = next(iter(results.values()))
    columns = [Column("alpha", "alpha", only="readers")]
    columns += [Column(system, Label(system), only="readers") for system in results]
    rows = []
    for i in _places(first.sizes["alpha"]):
        cells = [_cell(ds, rate, i) for ds in results.values()]
        rows.append([_cell(first, "alpha", i), *cells])
    return Table(f"compared_{rate}", columns, rows, title=title)


def _places(number: int) -> list[int]:
    """Return the places of some weights, the first and the last among them."""
    places = np.linspace(0, number - 1, min(number, _SHOWN)).round().astype(int)
    shown: list[int] = np.unique(places).tolist()
    return shown


def _cell(ds: xr.Dataset, name: str, i: int) -> Text:
    """Return a value of a variable at a weight."""
    if name == "alpha":
        return Number(float(ds["alpha"][i]), digits=6, variable=name)
    return cell_of(ds, name, {"alpha": i})
