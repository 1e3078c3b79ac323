"""A threshold study as a table: what to install, what to expect, how far the data reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    import xarray as xr

_LABELS = {"far": "FAR, %", "frr": "FRR, %", "hter": "HTER, %"}


class StudyTable:
    """The result of :func:`bioeval.study_threshold` that rich can print."""

    def __init__(self, study: xr.Dataset):
        self.study = study
        self._v = {str(k): study[k].item() for k in study.data_vars if not study[k].ndim}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        attrs, v = self.study.attrs, self._v
        sign = ">=" if attrs["kind"] == "similarity" else "<="
        if attrs.get("system"):
            yield Text(f"system  {attrs['system']}", style="dim")
        yield Text(f"Install: accept where the {attrs['kind']} {sign} {v['threshold']!r}", "bold")
        yield Padding(
            Text(f"by {attrs['threshold_rule_in_words']}, chosen on all data", style="dim"),
            (0, 0, 1, 2),
        )
        yield Padding(self._rates(options.max_width < 70), (0, 0, 0, 2))
        yield from self._lines()
        said = [text for text in str(attrs["warnings"]).split("\n") if text]
        if said:
            yield Text("")
            yield Text("Warnings", style="bold yellow")
        for text in said:
            yield Padding(Text(f"- {text}"), (0, 0, 0, 2))

    def _rates(self, narrow: bool) -> Table:
        v = self._v
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        heads = ["", "where chosen", "new people", "interval", "pooled", "sd", "folds"]
        heads = heads[:4] if narrow else heads
        for head in heads:
            table.add_column(head, justify="right" if head else "left", no_wrap=True)
        both = [v["optimistic_far"], v["optimistic_frr"]]
        optimistic = {"far": both[0], "frr": both[1], "hter": sum(both) / 2}
        for rate, label in _LABELS.items():
            low, high = v[f"{rate}_low"], v[f"{rate}_high"]
            interval = "-"
            if np.isfinite([low, high]).all():
                interval = f"{_percent(low)} - {_percent(high)}"
            cells = [
                _percent(optimistic[rate]),
                _percent(v[f"{rate}_mean"]),
                interval,
                _percent(v[f"{rate}_pooled"]),
                _percent(v[f"{rate}_sd"]),
                f"{int(v[f'{rate}_folds'])}",
            ]
            row = [Text(label), *map(Text, cells)]
            row[2].stylize("bold")
            table.add_row(*row[: len(heads)])
        return table

    def _lines(self) -> Iterator[Any]:
        study, v = self.study, self._v
        t = study["fold_threshold"].values
        t = t[np.isfinite(t)]
        confidence = 100 * float(study.attrs["confidence"])
        yield Text("")
        lines = [
            "Where chosen: on the data the threshold comes from, which is optimistic. New people: "
            "mean over folds whose subjects the threshold had not seen; the interval "
            f"({confidence:g} %, Nadeau and Bengio) is a heuristic."
        ]
        if len(t):
            lines.append(
                f"Threshold over {len(t)} folds: {t.min():.4g} to {t.max():.4g}, "
                f"sd {t.std(ddof=1) if len(t) > 1 else float('nan'):.3g}."
            )
        for line in lines:
            yield Text(line, style="dim")
        if "impostors_for_3" not in v:
            return
        yield Text("")
        yield Text("How far the data reach", style="bold")
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for head in ("", "impostor pairs", "more needed", "subjects"):
            table.add_column(head, justify="right" if head else "left", no_wrap=True)
        have = f"{int(v['subjects']):,}" if "subjects" in v else "-"
        table.add_row("these data", f"{int(v['independent_impostors']):,}", "", have)
        for rule, words in ((3, "rule of 3: to show it at all"), (30, "rule of 30: to measure it")):
            subjects = v.get(f"subjects_for_{rule}")
            table.add_row(
                words,
                f"{int(v[f'impostors_for_{rule}']):,}",
                f"{int(v[f'more_for_{rule}']):,}",
                "-" if subjects is None else f"{int(subjects):,}",
            )
        yield Padding(table, (0, 0, 0, 2))
        yield Text(
            "The least to ask for: the rules take attempts as independent, and pairs that share a "
            "subject are not.",
            style="dim",
        )


def _percent(value: float) -> str:
    return f"{100 * value:.3f}" if np.isfinite(value) else "-"
