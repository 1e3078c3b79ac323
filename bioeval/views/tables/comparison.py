"""A comparison of two systems as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bioeval.base.errors import counted
from bioeval.base.scalars import COMPARED
from bioeval.views.tables import numbers, with_joined_targets

if TYPE_CHECKING:
    import xarray as xr

# Mark of a conclusion at a FAR target that the data do not support.
_WEAK = " †"

# A width that no table reaches: to measure the table itself.
_ROOM = 10_000


class ComparisonTable:
    """The result of :func:`bioeval.compare`, for rich to print.

    Parameters
    ----------
    dataset : xarray.Dataset
    """

    def __init__(self, dataset: xr.Dataset):
        self.dataset = dataset

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        attrs = self.dataset.attrs
        yield Text("Comparison of two systems", style="bold")
        people = counted(int(attrs["subjects"]), "subjects")
        searched = "convention" in attrs
        what = attrs["convention"] if searched else f"{attrs['templates']}-template"
        details = f"{attrs['layout']}, {what}, {people}" + "; DIR at rank 1" * (not searched)
        yield Text(f"  {details}", style="dim")
        yield Text("")
        table = self._table()
        if console.measure(table, options=options.update(width=_ROOM)).maximum > options.max_width:
            yield from map(Text, str(attrs["conclusions"]).splitlines())
        else:
            yield table
            yield Text("")
            if not self.dataset["supported"].values.all():
                yield Text(
                    f"{_WEAK.strip()} The impostor attempts are too few for this FAR (see the "
                    "warnings): no conclusion from it.",
                    style="dim",
                )
            jackknifed = "" if searched else "AUC, recognition rate and DIR "
            yield Text(
                f"Difference: {attrs['system_a']} - {attrs['system_b']}; in brackets: "
                f"{100 * float(attrs['confidence']):g} % interval of each by itself, both systems "
                f"resampled together by subject ({int(attrs['replicates']):,} replicates; "
                f"{jackknifed}by the jackknife)."
                + (" Better: after Holm's adjustment." if attrs["adjust"] == "holm" else ""),
                style="dim",
            )
        yield from self._warnings()

    def _table(self) -> Table:
        attrs, ds = self.dataset.attrs, self.dataset
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("", no_wrap=True)
        for head in (str(attrs["system_a"]), str(attrs["system_b"]), "difference"):
            table.add_column(head, justify="right")
        table.add_column("interval", no_wrap=True)
        table.add_column("better")
        names = {
            1: str(attrs["system_a"]),
            -1: str(attrs["system_b"]),
            0: "no significant difference",
        }
        percents = {scalar.label: scalar.percent for scalar in COMPARED.values()}
        for i, measure in enumerate(ds["measure"].values.tolist()):
            percent = percents.get(str(measure), True)
            one, other, change, low, high = (
                float(ds[name].values[i])
                for name in (
                    "value_a", "value_b", "difference", "difference_low", "difference_high",
                )
            )  # fmt: skip
            better = int(ds["better"].values[i])
            defined = change == change and low == low
            weak = defined and not int(ds["supported"].values[i])
            verdict = names[better] if defined else "not defined"
            if weak:
                verdict = "no conclusion" + _WEAK
            elif defined and low == high == 0:
                verdict = "the same decisions"
            table.add_row(
                str(measure).removesuffix(", rank 1"),
                _written(one, percent),
                _written(other, percent),
                _written(change, percent, "+"),
                _interval(low, high, percent) if defined else "",
                Text(verdict, style="bold" if better else ""),
            )
        return table

    def _warnings(self) -> Iterator[Any]:
        lines = str(self.dataset.attrs["warnings"]).splitlines()
        if lines:
            yield Text("")
            yield Text("Warnings", style="bold yellow")
        for line in lines:
            yield Padding(Text(f"- {with_joined_targets(line)}"), (0, 0, 0, 2))


def _interval(low: float, high: float, percent: bool) -> str:
    return f"[{', '.join(_written(x, percent, '+').removesuffix(' %') for x in (low, high))}]"


def _written(value: float, percent: bool, sign: str = "") -> str:
    """Return a rate in per cent, or any other number as it is."""
    if value != value:
        return numbers.NOT_DEFINED
    return f"{100 * value:{sign}.2f} %" if percent else f"{value:{sign}.4f}"
