"""What is said of a promise: whether the data show it, limits of the rate, and what they need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import xarray as xr

from bioeval.counting.threshold_rules import Rule
from bioeval.document.blocks import Block, Column, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Label
from bioeval.document.results import answers, cell_of, data_facts, result_messages
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Text, say
from bioeval.results.words import method_in_words


def promise_section(results: ResultsBySystem) -> Section:
    """Return what is said of promises: the verdicts, then the limits of each rate."""
    ds = results[""]
    rules = [Rule.written(str(x)) for x in ds["promise"].values]
    limits = list[Block]()
    for i, rule in enumerate(rules):
        limits += _limits(ds.isel(promise=i), rule.name)
    return Section(
        "promise",
        "",
        (
            *answers(results),
            data_facts(results),
            Section("limits", "", limits),
            _rates(ds, rules),
            result_messages(results),
        ),
        task=rates_are_of(ds.attrs),
    )


def _tries_in_words(ds: xr.Dataset) -> Text:
    """Return of how many tries the rates are; empty without a number of them."""
    if "tries" not in ds.attrs:
        return ""
    return say(" of {tries:count tries}", tries=int(ds.attrs["tries"]))


def _limits(ds: xr.Dataset, rate: str) -> Iterator[Block]:
    """Yield the rate with its limits, how many people would settle it, and what it needs."""
    population = ds["interval_for"].item()
    yield Paragraph(
        say(
            "{rate:term}{tries} on these data: {mean:rate}{over}. With "
            "{confidence:rate} confidence each, it is at least {low:rate} and at most {high:rate} "
            "for {population} (one-sided limits, {method}{twice}); the promise is at most "
            "{promise:rate}.",
            rate=rate,
            tries=_tries_in_words(ds),
            mean=ds[rate].item(),
            over=", the mean over claims" if "tries" in ds.attrs else "",
            low=ds[f"{rate}_low"].item(),
            high=ds[f"{rate}_high"].item(),
            confidence=float(ds.attrs["confidence"]),
            population=population,
            method=method_in_words(str(ds.attrs["interval_method"])),
            twice=", the upper one with the two who err most counted twice",
            promise=ds["promised"].item(),
        )
    )


def _rates(ds: xr.Dataset, rules: Sequence[Rule]) -> Table:
    """Return each rate beside its promise, for data."""
    names = ("threshold", "value", "promise", "verdict")
    rows: list[list[Text | None]] = []
    for i, rule in enumerate(rules):
        shown = {"threshold": "threshold", "value": rule.name, "promise": "promised"}
        of_one = ds.isel(promise=i)
        cells = [cell_of(of_one, name) for name in (*shown.values(), "verdict")]
        rows.append([Label(str(rule)), Label(rule.name), *cells])
    return Table("rates", [*map(Column, ("name", "rate", *names))], rows, shown=0)


def promise_by_strict_threshold(confidence: float) -> Text:
    """Return what ``people_estimated`` people are needed for."""
    text = "to promise the target at {sure:rate} by a strict threshold, about"
    return say(text, sure=confidence)
