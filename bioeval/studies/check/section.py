"""What is said of a check of data: its findings, the most serious first."""

from __future__ import annotations

from bioeval.document import (
    Column,
    Count,
    Fact,
    Facts,
    Label,
    Paragraph,
    Section,
    Strong,
    Table,
    Text,
    say,
)
from bioeval.studies.check.findings import SEVERITIES, TASK, DataCheck, Finding


def section(check: DataCheck) -> Section:
    """Return what is said of a check of data."""
    about = Facts(
        (
            Fact("Data", Label(check.data), "data"),
            Fact("Protocol", Label(check.protocol), "protocol"),
        )
    )
    return Section(
        "check", "", (about, _findings(check), _verdict(check), _in_data(check)), task=TASK
    )


def _in_order(check: DataCheck) -> list[Finding]:
    """Return the findings, the most serious first."""
    return sorted(check, key=lambda x: -SEVERITIES.index(x.severity))


def _findings(check: DataCheck) -> Table:
    """Return what was found, and below it the first places and what to do, for readers."""
    rows: list[tuple[Text, ...]] = []
    for finding in _in_order(check):
        severity: Text = finding.severity
        if severity in SEVERITIES[2:]:
            severity = Strong(severity)
        lines: list[Text] = [finding.found]
        if finding.places:
            lines.append(say("where: {places}", places=finding.places))
        if finding.advice:
            lines.append(say("to do: {advice}", advice=finding.advice))
        rows += [(severity, finding.check, line) for line in lines]
    return Table(
        "lines",
        (
            Column("severity", grouped=True, only="readers"),
            Column("check", grouped=True, only="readers"),
            Column("finding", only="readers"),
        ),
        rows,
    )


def _in_data(check: DataCheck) -> Table:
    """Return the findings with their parts in columns, for data."""
    rows = []
    for x in _in_order(check):
        rows.append((x.check, x.severity, x.code, x.found, Count(x.count), x.places, x.advice))
    columns = ("check", "severity", "code", "message", "count", "where", "remedy")
    return Table("findings", [Column(name, name) for name in columns], rows, shown=0)


def _verdict(check: DataCheck) -> Paragraph:
    """Return the numbers of findings, and whether results would be misleading."""
    if check.misleads:
        sentence = say("{found}: results of these data would be misleading", found=check.numbers)
        return Paragraph(sentence, "warning")
    if check.of("warning", "note"):
        return Paragraph(say("{found}; no error", found=check.numbers), "answer")
    return Paragraph(check.numbers, "answer")
