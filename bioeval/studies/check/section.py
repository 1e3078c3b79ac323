"""What is said of a check of data: its findings, the most serious first."""

from __future__ import annotations

from bioeval.document import (
    Column,
    Count,
    Enumeration,
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
    return Section("check", "", (about, _findings(check), _verdict(check)), task=TASK)


def _findings(check: DataCheck) -> Table:
    """Return the findings; for data, their parts are columns of their own."""
    rows: list[tuple[Text | None, ...]] = []
    for finding in sorted(check, key=lambda x: -SEVERITIES.index(x.severity)):
        rows.append(
            (
                Strong(finding.severity)
                if finding.severity in SEVERITIES[2:]
                else finding.severity,
                finding.check,
                _in_lines(finding),
                finding.sentence,
                Count(finding.count),
                finding.places,
                finding.advice,
            )
        )
    return Table(
        "findings",
        (
            Column("severity", grouped=True),
            Column("check"),
            Column("finding", only="readers"),
            Column("message", only="data"),
            Column("count", only="data"),
            Column("where", only="data"),
            Column("remedy", only="data"),
        ),
        rows,
    )


def _in_lines(finding: Finding) -> Text:
    """Return what was found, the first places, and what to do, one below the other."""
    lines = [finding.sentence]
    if finding.places:
        lines.append(say("where: {places}", places=finding.places))
    if finding.advice:
        lines.append(say("to do: {advice}", advice=finding.advice))
    return Enumeration(lines, "\n")


def _verdict(check: DataCheck) -> Paragraph:
    """Return the numbers of findings, and whether results would be misleading."""
    if check.misleads:
        sentence = say("{found}: results of these data would be misleading", found=check.numbers)
        return Paragraph(sentence, "warning")
    if check.of("warning", "note"):
        return Paragraph(say("{found}; no error", found=check.numbers), "answer")
    return Paragraph(check.numbers, "answer")
