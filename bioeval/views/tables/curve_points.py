"""Points of curves as a table: expected performance, and error against discard."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from bioeval.views.tables.layout import grid, indented, plain_table, threshold, warned
from bioeval.views.tables.remarks import about, warnings
from bioeval.views.terms import speaker

# Points that are shown of a longer curve.
_FRACTIONS, _ALPHAS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5), 11


class EpcTable:
    """Results of :func:`bioeval.epc` by name that rich can print; `reword` as for `ResultTable`."""

    def __init__(self, found: Mapping[str, xr.Dataset], reword: Callable[[str], str] = str):
        self.found, self._reword = dict(found), reword

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        first = next(iter(self.found.values()))
        say, several = speaker(first), len(self.found) > 1
        yield Text("Expected performance", style="bold")
        yield indented(grid(about({"": first} if not several else self.found)))
        line = say(
            "Thresholds minimise alpha FAR + (1 - alpha) FRR on the development set"
            f"{' of each system' if several else ''}; errors are of the test set"
        )
        yield indented(Text(line, style="dim"))
        yield Text("")
        heads = ("threshold", "HTER, %", "FAR, %", "FRR, %")
        table = plain_table([" ", *(self.found if several else map(say, heads))])
        last = first.sizes["alpha"] - 1
        for i in np.unique(np.linspace(0, last, min(last + 1, _ALPHAS)).round().astype(int)):
            cells = [f"alpha {float(first['alpha'][i]):g}"]
            if several:
                cells += [_percent(float(ds["hter"][i])) for ds in self.found.values()]
            else:
                rates = (_percent(float(first[name][i])) for name in ("hter", "far", "frr"))
                cells += [threshold(float(first["threshold"][i])), *rates]
            table.add_row(*map(Text, cells))
        if several:
            yield Text(say("HTER, %, on the test set"))
        yield indented(table)
        yield from warned(
            self._reword(say(line if len(who) == len(self.found) else f"{', '.join(who)}: {line}"))
            for line, who in warnings(self.found).items()
        )


class ErrorDiscardTable:
    """Results of :func:`bioeval.error_discard` by name, a line each, that rich can print."""

    def __init__(self, found: Mapping[str, xr.Dataset], reword: Callable[[str], str] = str):
        self.found, self._reword = dict(found), reword

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        first = next(iter(self.found.values()))
        say, attrs = speaker(first), first.attrs
        yield Text("Error against discard, single-template", style="bold")
        yield indented(grid(about({"": first})))
        given = attrs["chosen_on"] == "given"
        rule = say(str(attrs["threshold_rule_in_words"]))
        rule = "" if given else f", {rule}, before samples are discarded"
        text = f"At the threshold {threshold(float(first['threshold']))}{rule}"
        yield indented(Text(text, style="dim"))
        yield Text("")
        fractions = first["fraction"].values
        places = [i for i, f in enumerate(fractions) if np.isclose(_FRACTIONS, f).any()]
        if len(fractions) <= len(_FRACTIONS):
            places = [*range(len(fractions))]
        heads = (f"{100 * fractions[i]:g} %" for i in places)
        table = plain_table([" ", "pAUC", *heads])
        for name, dataset in self.found.items():
            area = float(dataset["pauc"])
            rates = (_percent(float(dataset["frr"][i])) for i in places)
            table.add_row(
                Text(name), Text("n/a" if area != area else f"{area:.4f}"), *map(Text, rates)
            )
        yield Text(say("FRR, %, by the proportion of the samples that is discarded"))
        yield indented(table)
        yield Text(
            say("pAUC: area under FRR from 0 to 20 %, 1 where discarding changes nothing."),
            style="dim",
        )
        yield from warned(
            self._reword(say(line if len(who) == len(self.found) else f"{', '.join(who)}: {line}"))
            for line, who in warnings(self.found).items()
        )


def _percent(rate: float) -> str:
    return "n/a" if rate != rate else f"{100 * rate:.2f}"
