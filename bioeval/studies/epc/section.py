"""What is said of expected performance: errors at thresholds of the development set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bioeval.document.blocks import Block, Column, Fact, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Label
from bioeval.document.results import attempts_of, cell_of, data_facts, result_messages, table_of
from bioeval.document.text import Term, Text, say

# Points that are shown of a longer curve.
_SHOWN = 11

_RATES: dict[str, Text] = {"hter": "HTER", "far": Term("far"), "frr": Term("frr")}

_COLUMNS = (
    Column("alpha", "alpha"),
    Column("threshold", "threshold"),
    *(Column(name, heading) for name, heading in _RATES.items()),
    Column("fa", only="data"),
    Column("fr", only="data"),
    Column("dev_error", only="data"),
)


def section(results: ResultsBySystem) -> Section:
    """Return the errors of a system at some weights, or those of several side by side."""
    several, facts = len(results) > 1, []
    (first, *_) = results.values()
    if not several:
        facts.append(Fact("Development set", attempts_of(first, "dev_")))
        facts.append(Fact("Test set", attempts_of(first)))
    minimised = say(
        "Thresholds minimise alpha {far} + (1 - alpha) {frr} on {sets}; errors are of the test "
        "set.",
        sets="the development set of each system" if several else "the development set",
    )
    places = np.linspace(0, first.sizes["alpha"] - 1, min(first.sizes["alpha"], _SHOWN))
    shown: list[int] = np.unique(places.round().astype(int)).tolist()
    curve = table_of(results if several else first, "curve", _COLUMNS, "alpha", shown=shown)
    blocks: list[Block] = [data_facts(results, *facts), Paragraph(minimised, "note")]
    blocks.append(replace(curve, shown=0) if several else curve)
    if several:
        blocks += [_compared(results, name, shown) for name in _RATES]
    blocks.append(result_messages(results))
    return Section("expected-performance", "Expected performance", blocks, task="verification")


def _compared(results: ResultsBySystem, rate: str, shown: list[int]) -> Table:
    """Return one rate of several systems side by side, at some weights."""
    (first, *_) = results.values()
    columns = [Column("alpha", "alpha", only="readers")]
    columns += [Column(system, Label(system), only="readers") for system in results]
    rows = []
    for i in shown:
        cells = [cell_of(ds, rate, {"alpha": i}) for ds in results.values()]
        rows.append([cell_of(first, "alpha", {"alpha": i}), *cells])
    title = say("{rate} on the test set", rate=_RATES[rate])
    return Table(f"compared_{rate}", columns, rows, title=title)
