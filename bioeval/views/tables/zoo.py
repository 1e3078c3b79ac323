"""The zoo as a table: whose errors they are, the animals, and whether subjects differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bioeval.base.errors import counted, short_name
from bioeval.views.tables.layout import grid, indented, plain_table, threshold, warned
from bioeval.views.tables.remarks import excluded
from bioeval.views.terms import dictionary, speaker

# Subjects that are named for each kind of error.
_WORST = 3

_ERRORS = {
    "fr": ("false rejects", "frr", ""),
    "fa_as_probe": ("false accepts, by probe", "far_as_probe", "_as_probe"),
    "fa_as_claimed": ("false accepts, by claim", "far_as_claimed", "_as_claimed"),
}

_TESTS = {
    "goat": "goats: genuine scores differ",
    "wolf": "wolves: scores against others differ",
    "lamb": "lambs: others' scores against them differ",
}


class ZooTable:
    """The result of :func:`bioeval.zoo` that rich can print.

    `reword` is as for :class:`ResultTable`.
    """

    def __init__(self, zoo: xr.Dataset, reword: Callable[[str], str] = str):
        self.zoo, self._reword, self._say = zoo, reword, speaker(zoo)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        zoo, say = self.zoo, self._say
        yield grid(
            (name, text)
            for name, text in {
                "System": str(zoo.attrs["system"]),
                "Over": self._over(),
                "Excluded": excluded(zoo.attrs),
                "Terms": dictionary([zoo]),
            }.items()
            if text
        )
        yield Text("")
        sign = ">=" if zoo.attrs["kind"] == "similarity" else "<="
        at = threshold(float(zoo["threshold"]))
        yield Text(f"Errors at the threshold {at} (accepted if {sign})", "bold")
        chosen = str(zoo.attrs["chosen_on"])
        how = (
            "given"
            if chosen == "given"
            else f"{zoo.attrs['threshold_rule_in_words']}, chosen on {chosen}"
        )
        yield indented(Text(say(how), "dim"))
        yield indented(self._errors())
        yield Text("")
        worst = self._worst()
        if worst is not None:
            yield Text(
                say("Subjects with most errors, and the rate of all attempts without them"), "bold"
            )
            yield indented(worst)
            yield Text("")
        share = 100 * float(zoo.attrs["quantile"])
        yield Text(f"Animals: best and worst {share:g} % by genuine and by impostor mean", "bold")
        yield indented(self._animals())
        yield Text("")
        yield Text("Do goats, wolves and lambs exist?", "bold")
        yield indented(self._tests())
        yield from warned(
            self._reword(say(text)) for text in str(zoo.attrs["warnings"]).split("\n")
        )

    def _over(self) -> str:
        zoo = self.zoo
        genuine, impostor = (
            int(zoo[f"{x}"].sum()) for x in ("genuine_attempts", "impostor_attempts_as_probe")
        )
        subjects = counted(zoo.sizes["subject"], "subjects")
        what = f"{genuine:,} genuine and {counted(impostor, 'impostor attempts')}"
        return f"{subjects}; {what}, {zoo.attrs['templates']}-template"

    def _errors(self) -> Table:
        table = plain_table(("", "errors", "rate", "Gini", "half are of"))
        for name, (words, _, role) in _ERRORS.items():
            errors = self.zoo[name].values
            kind = "genuine" if name == "fr" else "impostor"
            attempts = int(self.zoo[f"{kind}_attempts{role}"].sum())
            total = int(errors.sum())
            half = "-"
            if total:
                most = np.sort(errors)[::-1].cumsum()
                half = counted(1 + int(np.searchsorted(2 * most, total)), "subjects")
            gini = float(self.zoo[f"{name[:2]}_gini{role}"])
            rate = _percent(total / attempts if attempts else np.nan)
            table.add_row(words, f"{total:,}", rate, _number(gini), half)
        return table

    def _worst(self) -> Table | None:
        zoo = self.zoo
        table = plain_table(("", "subject", "errors", "of all", "rate", "without"))
        for name, (words, rate, role) in _ERRORS.items():
            errors = zoo[name].values
            order = np.argsort(-errors, kind="stable")[:_WORST]
            for i in order[errors[order] > 0]:
                one = zoo.isel(subject=int(i))
                table.add_row(
                    words,
                    short_name(str(one["subject"].item())),
                    f"{int(one[name]):,}",
                    _percent(float(one[f"{name[:2]}_share{role}"])),
                    _percent(float(one[rate])),
                    _percent(float(one[f"{rate[:3]}_without"])),
                )
                words = ""
        return table if table.row_count else None

    def _animals(self) -> Table:
        zoo = self.zoo
        table = plain_table(("", "subjects", "expected", "p of as many", "p of as few", "such as"))
        for i, animal in enumerate(zoo["animal"].values.tolist()):
            who = zoo["subject"].values[zoo["animal_of_subject"].values == animal].tolist()
            named = ", ".join(short_name(str(x)) for x in who[:_WORST])
            table.add_row(
                animal, f"{int(zoo['animal_count'][i]):,}",
                _number(float(zoo["animal_expected"][i])),
                *(_p(float(zoo[f"animal_p_{side}"][i])) for side in ("more", "fewer")),
                named + ", ..." * (len(who) > _WORST),
            )  # fmt: skip
        return table

    def _tests(self) -> Table:
        zoo = self.zoo
        table = plain_table(("", "correlation", "p"))
        for animal, words in _TESTS.items():
            correlation = _number(float(zoo[f"{animal}_correlation"]))
            table.add_row(words, correlation, _p(float(zoo[f"{animal}_p"])))
        text = "Kruskal and Wallis, which assumes independent scores"
        table.add_row(Text(text, "dim"), "", Text(_p(float(zoo["kruskal_p"])), "dim"))
        return table


def records(zoo: xr.Dataset) -> Iterator[dict[str, Any]]:
    """Yield what there is of each subject as plain values."""
    columns = columns_of(zoo)
    for row in zip(*columns.values(), strict=True):
        yield dict(zip(columns, row, strict=True))


def columns_of(zoo: xr.Dataset) -> dict[str, list[Any]]:
    """Return the variables over the subjects as columns."""
    found = {str(k): v.values.tolist() for k, v in zoo.data_vars.items() if v.dims == ("subject",)}
    return {"subject": zoo["subject"].values.tolist(), **found}


def _percent(rate: float) -> str:
    return "n/a" if np.isnan(rate) else f"{100 * rate:.3g} %"


def _number(value: float) -> str:
    return "n/a" if np.isnan(value) else f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def _p(value: float) -> str:
    return "n/a" if np.isnan(value) else "< 0.0001" if value < 1e-4 else f"{value:.2g}"
