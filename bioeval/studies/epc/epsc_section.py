"""What is said of expected performance and spoofability."""

from __future__ import annotations

from bioeval.document import (
    Block,
    Column,
    Number,
    Paragraph,
    ResultsBySystem,
    Section,
    Term,
    result_messages,
    say,
)
from bioeval.studies.epc.section import compared, curves, facts, minimised

_COLUMNS = (
    Column("omega", "omega"),
    Column("threshold", "threshold"),
    Column("hter_w", "HTER_w"),
    Column("far_w", say("{far}_w"), priority=1),
    Column("frr", Term("frr")),
    Column("far", Term("far"), priority=2),
    Column("iapar_pooled", "IAPAR of all species", priority=1),
    Column("wer", only="data"),
    Column("fa", only="data"),
    Column("fr", only="data"),
    Column("ia", only="data"),
    Column("dev_far_w", only="data"),
    Column("dev_frr", only="data"),
)


def section(results: ResultsBySystem) -> Section:
    """Return the errors of a system at some weights, or the weighted errors of several."""
    attrs = next(iter(results.values())).attrs
    beta = float(attrs["beta"])
    template = "{beta} {far}_w + {rest} {frr}"
    if attrs["criterion"] == "eer":
        template = "|{beta} {far}_w - {rest} {frr}|"
    cost = say(template, beta=Number(beta, digits=6), rest=Number(1 - beta, digits=12))
    weighed = say("{far}_w = (1 - omega) {far} + omega IAPAR, over the attempts of all species.")
    blocks: list[Block] = [
        facts(results),
        minimised(cost, results),
        Paragraph(weighed, "note"),
        curves(results, _COLUMNS),
    ]
    if len(results) > 1:
        title = say("HTER_w = ({far}_w + {frr}) / 2 on the test set")
        blocks.append(compared(results, "omega", "hter_w", title))
    blocks.append(result_messages(results))
    return Section(
        "expected-performance-and-spoofability",
        "Expected performance and spoofability",
        blocks,
        task="verification",
    )
