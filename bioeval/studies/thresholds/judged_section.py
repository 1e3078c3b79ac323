"""What is said of a threshold of a development set: its errors on an evaluation set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import xarray as xr

from bioeval.attempts.threshold_rules import Rule
from bioeval.document.blocks import Block, Column, Fact, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Cost, Label, Number, Quantity, Rate
from bioeval.document.results import data_facts, interval_note, result_messages, rule_in_words
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Term, Text, say
from bioeval.studies.thresholds.section import accepts_where

#: The rows of the table: variables of the evaluation and of the development set, and attempts.
_RATES = (
    ("far", "dev_far", "impostor_attempts"),
    ("frr", "dev_frr", "genuine_attempts"),
)
_DECIMALS = 4


def section(results: ResultsBySystem) -> Section:
    """Return what is said of a threshold of another set."""
    (ds,) = results.values()
    facts = data_facts(
        results,
        Fact("Development set", _numbers(ds, "dev_")),
        Fact("Evaluation set", _numbers(ds, "")),
    )
    rule = Rule.written(str(ds.attrs["threshold_rule"]))
    blocks: list[Block] = [facts, Paragraph(accepts_where(ds, "Install"), "answer")]
    if rule.name != "fixed":
        by = say("By {rule}, chosen on the development set.", rule=rule_in_words(rule))
        blocks.append(Paragraph(by, "note"))
    blocks += [_rates(ds, rule), *interval_note(results), result_messages(results)]
    return Section("judged_threshold", "", blocks, task=rates_are_of(ds.attrs))


def _numbers(ds: xr.Dataset, prefix: str) -> Text:
    """Return the numbers of attempts of a set, and the name of the development set."""
    numbers = say(
        "{genuine} genuine and {impostor:count impostor attempts}",
        genuine=int(ds[f"{prefix}genuine_attempts"]),
        impostor=int(ds[f"{prefix}impostor_attempts"]),
    )
    if not prefix:
        return numbers
    return say("{name:name}: {numbers}", name=str(ds.attrs["dev_system"]), numbers=numbers)


def _rates(ds: xr.Dataset, rule: Rule) -> Table:
    """Return the errors of both sets at the threshold, and the costs of a target with a prior."""
    rows: list[list[Text | None]] = []
    for rate, dev, attempts in _RATES:
        there = Rate(ds[rate].item(), _limits(ds, rate), variable=rate, attempts=int(ds[attempts]))
        here = Rate(ds[dev].item(), variable=dev, attempts=int(ds[f"dev_{attempts}"]))
        rows.append([Label(rate), Term(rate), there, here])
    details, best = list[Text](), "EER is at"
    if "dcf" in ds:
        prior, miss, accept = rule.values
        actual, least_here = _cost(ds, "dcf", _limits(ds, "dcf")), _cost(ds, "dev_dcf")
        rows.append([Label("dcf"), "DCF (actual)", actual, least_here])
        rows.append([Label("min_dcf"), "minDCF", _cost(ds, "min_dcf"), least_here])
        best = "EER and minDCF are at"
        details.append(
            say(
                "DCF at prior {prior}: a miss costs {miss} and a {false accept} {accept}",
                prior=Number(prior, digits=6),
                miss=Number(miss, digits=6),
                accept=Number(accept, digits=6),
            )
        )
    eer = Rate(ds["eer"].item(), variable="eer")
    rows.append([Label("eer"), "EER", eer, None])
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


def _limits(ds: xr.Dataset, name: str) -> tuple[float, float] | None:
    """Return the interval of a value, if it is known."""
    limits = ds[f"{name}_low"].item(), ds[f"{name}_high"].item()
    return limits if all(map(math.isfinite, limits)) else None


def _cost(ds: xr.Dataset, name: str, interval: tuple[float, float] | None = None) -> Quantity:
    about: Mapping[str, Any] = {"variable": name, "decimals": _DECIMALS}
    return Cost(ds[name].item(), interval, **about)
