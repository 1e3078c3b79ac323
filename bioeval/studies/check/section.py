"""The result of a check of data, and how it is shown: its findings, the most serious first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bioeval.base.kinds import Kind
from bioeval.base.messages import Message
from bioeval.scores.metadata import NAME_COLUMNS
from bioeval.showing.blocks import Block, Column, Fact, Facts, Paragraph, Section, Table
from bioeval.showing.cells import Count, Label, Number, Picture, Rate, Score, Threshold
from bioeval.showing.header import data_fact, scores_in_words
from bioeval.showing.printing import Shown
from bioeval.showing.text import Enumeration, Text, say
from bioeval.showing.writers.lines import written
from bioeval.studies.check.confusions import ConfusedPair, Confusions
from bioeval.studies.check.findings import SEVERITIES, TASK, Finding, LabelError, Severity, Side


@dataclass(frozen=True, repr=False)
class DataCheck(Shown):
    """The findings of a check of data; see :func:`bioeval.check_data`.

    Attributes
    ----------
    data, kind : str
        What was checked, in words, and the kind of its scores.
    protocol : str
        The protocol card under which it was.
    findings : tuple of Finding
        One for each check, those without a fault included.
    system, fingerprint : str
        The name and the fingerprint of the scores; empty of other data.
    confusions : Confusions or None
        Who is confused with whom, at the threshold of the check; None where nobody can be named.
    label_errors : tuple of LabelError
        The templates whose label is likely wrong, the certain ones first.
    messages : list of Message
        What was found, but for what is without a fault; ``be.messages(check)`` has the sentences.
    """

    data: str
    kind: Kind
    protocol: str
    findings: tuple[Finding, ...]
    system: str
    fingerprint: str
    confusions: Confusions | None
    label_errors: tuple[LabelError, ...]

    def _section(self) -> Section:
        return check_section(self)

    def _records(self) -> list[dict[str, Any]]:
        columns = "check", "severity", "code", "count", "message", "where"
        return [{name: getattr(x, name) for name in columns} for x in self.findings]

    def _document(self) -> dict[str, Any]:
        confused = self.confusions
        totals = (
            {}
            if confused is None
            else {
                "threshold": confused.threshold,
                "false_accepts": confused.false_accepts,
                "confused_pairs": confused.pairs,
            }
        )
        return {
            "system": self.system,
            "data": self.data,
            "kind": self.kind,
            "protocol": self.protocol,
            "misleads": self.misleads,
            **{f"{x}s": len(self.with_severity(x)) for x in SEVERITIES[1:]},
            **totals,
            "findings": self._records(),
            "label_errors": [_as_record(x) for x in self.label_errors],
            "confusions": [] if confused is None else [_as_record(x) for x in confused.listed],
        }

    def _numbers(self) -> list[dict[str, Any]]:
        counts = [{"measure": "count", "check": x.check, "value": x.count} for x in self.findings]
        return [
            {"measure": f"{x}s", "value": len(self.with_severity(x))} for x in SEVERITIES[1:]
        ] + counts

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, check: str) -> Finding:
        return {finding.check: finding for finding in self.findings}[check]

    def with_severity(self, *severities: Severity) -> list[Finding]:
        """Return the findings with these severities, in order."""
        return [finding for finding in self.findings if finding.severity in severities]

    @property
    def misleads(self) -> bool:
        """Whether a result of these data would mislead, because a finding is an error."""
        return bool(self.with_severity("error"))

    @property
    def messages(self) -> list[Message]:
        """The messages of all faults, the most serious first."""
        return [x.found for x in _in_order(self) if isinstance(x.found, Message)]

    @property
    def numbers(self) -> Text:
        """The number of findings of each severity, the most serious first."""
        parts = []
        for severity in reversed(SEVERITIES[1:]):
            number = len(self.with_severity(severity))
            if number:
                parts.append(Count(number, noun=f"{severity}s"))
        return Enumeration(parts, "") if parts else "nothing found"

    def __repr__(self) -> str:
        return f"<DataCheck: {written(self.numbers)}; print shows it>"


def _as_record(listed: LabelError | ConfusedPair) -> dict[str, Any]:
    plain = dict[str, Any]()
    for name, value in vars(listed).items():
        if isinstance(value, Side):
            plain |= {f"{name}_place": value.place, f"{name}_subject": value.subject}
        else:
            plain[name] = value
    return plain


def check_section(check: DataCheck) -> Section:
    facts_found: list[Text] = []
    for name in ("samples", "kind"):
        facts_found += [x.found for x in check.with_severity("ok") if x.check == name][:1]
    facts = Facts(
        (
            data_fact([check.system], check.data),
            Fact("Scores", scores_in_words(check.kind, check.protocol)),
            Fact("Found", Enumeration(facts_found, ";")),
        )
    )
    blocks = (
        facts,
        _table_of_findings(check),
        _verdict(check),
        *_blocks_of_label_errors(check),
        *_blocks_of_confusions(check),
    )
    return Section("check", "", blocks, task=TASK)


def _blocks_of_label_errors(check: DataCheck) -> Iterator[Block]:
    if not check.label_errors:
        return
    one_side = all(error.side == "both" for error in check.label_errors)
    columns = (
        *(() if one_side else (Column("side", "side"),)),
        Column("place", "row" if one_side else "row or column"),
        Column("template", "template"),
        Column("image", "image"),
        Column("label", "label"),
        Column("nearest_label", "looks like"),
        Column("own_score", "to its label"),
        Column("nearest_score", "to the other"),
        Column("nearest", "nearest template"),
        Column("nearest_image", "nearest image"),
    )
    rows = []
    for error in check.label_errors:
        cells = (
            Number(error.template.place, decimals=0),
            _template(error.template),
            Picture(dict(error.template.names), ""),
            Label(error.template.subject),
            Label(error.nearest_label),
            Score(error.own_score),
            Score(error.nearest_score),
            _template(error.nearest),
            Picture(dict(error.nearest.names), ""),
        )
        rows.append(cells if one_side else (error.side, *cells))
    number = check["label-errors"].count
    notes: list[Text] = [
        "The scores are the median scores of the template with its own label and with the label "
        "that it looks like. Rows and columns count from 0."
    ]
    if len(rows) < number:
        notes.append(say("{listed} of {all} templates are listed.", listed=len(rows), all=number))
    title = "Templates whose label is likely wrong"
    yield Table("label_errors", columns, rows, title=title, notes=notes)


def _blocks_of_confusions(check: DataCheck) -> Iterator[Block]:
    confusions = check.confusions
    if confusions is None:
        return

    # The threshold.
    threshold: Text = Threshold(confusions.threshold, next=confusions.next)
    if confusions.at:
        threshold = say("{threshold}, {where}", threshold=threshold, where=confusions.at)
    if not confusions.listed:
        yield Paragraph(say("No impostor is accepted at the threshold {at}.", at=threshold), "note")
        return

    # A row for each pair of people.
    rows = []
    for pair in confusions.listed:
        sides = pair.probe, pair.claimed
        rows.append(
            (
                Label(pair.probe.subject),
                Label(pair.claimed.subject),
                Count(pair.false_accepts),
                Count(pair.attempts),
                Rate(pair.false_accepts / confusions.false_accepts),
                Score(pair.score),
                *(cell for x in sides for cell in (_template(x), Picture(dict(x.names), ""))),
            )
        )
    columns = (
        Column("subject", "subject"),
        Column("confused_with", "confused with"),
        Column("false_accepts", say("{false accepts}")),
        Column("attempts", "attempts"),
        Column("share", "of all"),
        Column("nearest", "nearest"),
        Column("template", "template"),
        Column("image", "image"),
        Column("other_template", "other template"),
        Column("other_image", "other image"),
    )

    # The notes below the table.
    listed: Text = ""
    if len(rows) < confusions.pairs:
        listed = say("; the {n} with most are listed", n=len(rows))
    notes: list[Text] = [
        say(
            "{pairs:count pairs} of people make {all} {false accepts}, counted in both "
            "directions{most}. Nearest: the nearest comparison of a pair.",
            pairs=confusions.pairs,
            all=confusions.false_accepts,
            most=listed,
        )
    ]
    if confusions.use:
        notes.append(f"{confusions.use}.")
    title = say("Who is confused with whom at the threshold {at}", at=threshold)
    yield Table("confusions", columns, rows, title=title, notes=notes)


def _template(side: Side) -> Text:
    name = next((side.names[x] for x in NAME_COLUMNS if x in side.names), None)
    return Label(side.place if name is None else name)


def _in_order(check: DataCheck) -> list[Finding]:
    return sorted(check, key=lambda x: -SEVERITIES.index(x.severity))


def _table_of_findings(check: DataCheck) -> Table:
    rows: list[tuple[Text, ...]] = []
    for finding in _in_order(check):
        if finding.severity == "ok":
            continue
        lines: list[Text] = [finding.found]
        if finding.places:
            lines.append(say("where: {places}", places=finding.places))
        rows += [(finding.severity, finding.check, line) for line in lines]
    if passed_checks := check.with_severity("ok"):
        names = Enumeration([Label(finding.check) for finding in passed_checks], "")
        rows.append(("ok", "", names))
    columns = (Column("severity"), Column("check"), Column("finding"))
    return Table("lines", columns, rows, names=3)


def _verdict(check: DataCheck) -> Paragraph:
    if check.misleads:
        sentence = say(
            "{findings}: results of these data would be misleading", findings=check.numbers
        )
        return Paragraph(sentence, "warning")
    if check.with_severity("warning", "note"):
        return Paragraph(say("{findings}; no error", findings=check.numbers), "answer")
    return Paragraph(check.numbers, "answer")
