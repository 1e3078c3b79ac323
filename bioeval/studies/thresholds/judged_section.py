"""What is said of a threshold of a development set: its errors on an evaluation set."""

from __future__ import annotations

import xarray as xr

from bioeval.document.blocks import Block, Column, Fact, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Label, Number
from bioeval.document.results import (
    attempts_of,
    cell_of,
    data_facts,
    interval_note,
    result_messages,
    rule_in_words,
    threshold_rule,
)
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Term, Text, say
from bioeval.studies.thresholds.section import accepts_where

#: The rows of the table: variables of the evaluation and of the development set, and labels.
_ROWS: tuple[tuple[str, str, Text], ...] = (
    ("far", "dev_far", Term("far")),
    ("frr", "dev_frr", Term("frr")),
    ("dcf", "dev_dcf", "DCF (actual)"),
    ("min_dcf", "dev_dcf", "minDCF"),
    ("eer", "", "EER"),
)


def section(results: ResultsBySystem) -> Section:
    """Return what is said of a threshold of another set."""
    (ds,) = results.values()
    name, rule = Label(str(ds.attrs["dev_system"])), threshold_rule(ds.attrs)
    dev = say("{name}: {attempts}", name=name, attempts=attempts_of(ds, "dev_"))
    facts = data_facts(
        results, Fact("Development set", dev), Fact("Evaluation set", attempts_of(ds))
    )
    blocks: list[Block] = [facts, Paragraph(accepts_where(ds, "Install"), "answer")]
    if rule.name != "fixed":
        by = say("By {rule}, chosen on the development set.", rule=rule_in_words(rule))
        blocks.append(Paragraph(by, "note"))
    blocks += [_rates(ds), *interval_note(results), result_messages(results)]
    return Section("judged_threshold", "", blocks, task=rates_are_of(ds.attrs))


def _rates(ds: xr.Dataset) -> Table:
    """Return the errors of both sets at the threshold, and the costs of a target with a prior."""
    rows: list[list[Text | None]] = []
    for name, dev, label in _ROWS:
        if name in ds:
            rows.append([Label(name), label, cell_of(ds, name), cell_of(ds, dev)])
    details, best = list[Text](), "EER is at"
    if "dcf" in ds:
        best = "EER and minDCF are at"
        prior, miss, accept = (Number(x, digits=6) for x in threshold_rule(ds.attrs).values)
        text = "DCF at prior {prior}: a miss costs {miss} and a {false accept} {accept}"
        details.append(say(text, prior=prior, miss=miss, accept=accept))
    return Table(
        "rates",
        (
            Column("rate", only="data"),
            Column("label", only="readers"),
            Column("evaluation", "evaluation set"),
            Column("development", "development set"),
        ),
        rows,
        title="At this threshold",
        details=details,
        notes=(f"{best} the best threshold of the set itself (optimistic), and not at this one.",),
    )
