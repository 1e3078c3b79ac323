"""The findings of a check of data, and the worst pairs, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bioeval.base import printable
from bioeval.studies.check.findings import SEVERITIES, DataCheck

_STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold", "ok": "dim"}


class FindingsTable:
    """The result of :func:`bioeval.check_data` that rich can print."""

    def __init__(self, check: DataCheck, reword: Callable[[str], str] = printable):
        self.check, self._reword = check, reword

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the findings, the most serious first, and their numbers."""
        yield Text(printable(f"{self.check.data}; protocol {self.check.protocol}"), "dim")
        yield Text("")
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, style="dim")
        table.add_column(overflow="fold")
        ordered = sorted(self.check, key=lambda x: -SEVERITIES.index(x.severity))
        for finding in ordered:
            text = Text(
                self._reword(finding.message), _STYLES["ok"] if finding.severity == "ok" else ""
            )
            if finding.where:
                text.append(f"\nwhere: {self._reword(finding.where)}", "dim")
            if finding.remedy:
                text.append(f"\nto do: {self._reword(finding.remedy)}")
            table.add_row(Text(finding.severity, _STYLES[finding.severity]), finding.check, text)
        yield table
        yield Text("")
        yield self._verdict()

    def _verdict(self) -> Text:
        if self.check.misleads:
            return Text(
                f"{self.check.in_words()}: results of these data would be misleading", "red"
            )
        if self.check.of("warning", "note"):
            return Text(f"{self.check.in_words()}; no error")
        return Text("nothing found")
