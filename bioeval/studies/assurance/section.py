"""What is said of a promise: whether the data show it, limits of the rate, and what they need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import xarray as xr

from bioeval.counting.threshold_rules import Rule
from bioeval.document.blocks import Block, Column, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Count, Label
from bioeval.document.results import cell_of, data_facts, result_messages, threshold_of
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Text, say
from bioeval.results.support import RuleOf, people_with
from bioeval.results.words import method_in_words

#: Numbers of people beyond this settle no promise in practice.
_MOST_TO_SETTLE = 100_000

_VERDICTS = {
    "shown": "Shown: the {rate:term}{tries} at {threshold} is at most {promise:rate}",
    "refuted": "Refuted: the {rate:term}{tries} at {threshold} is above {promise:rate}",
    "open": "Open: whether the {rate:term}{tries} at {threshold} is at most {promise:rate}",
}


def promise_section(results: ResultsBySystem) -> Section:
    """Return what is said of promises: the verdicts, then the limits of each rate."""
    ds = results[""]
    rules = [Rule.written(str(x)) for x in ds["promise"].values]
    verdicts = list[Block]()
    limits = list[Block]()
    for i, rule in enumerate(rules):
        of_one = ds.isel(promise=i)
        verdict = say(
            _VERDICTS[of_one["verdict"].item()],
            rate=rule.name,
            tries=_tries_in_words(ds),
            threshold=threshold_of(ds),
            promise=of_one["promised"].item(),
        )
        verdicts.append(Paragraph(verdict, "answer"))
        limits += _limits(of_one, rule.name)
    absent: Text = ""
    if "shown" in ds["verdict"].values:
        absent = say(" {absent}", absent=may_be_absent(int(ds["people"].max())))
    valid = (
        "Valid only if the threshold and the promise were fixed before these data were seen, and "
        "for one look at the promise.{several}{absent}"
    )
    each = " The confidence is that of each promise alone." if len(rules) > 1 else ""
    limits.append(Paragraph(say(valid, several=each, absent=absent), "note"))
    return Section(
        "promise",
        "",
        (
            *verdicts,
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
    people, population = int(ds["people"]), ds["interval_for"].item()
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
    settle, refutes = ds["people_to_settle"].item(), ds[rate].item() >= ds["promised"].item()
    text = "The data have {there}."
    if ds["verdict"] == "open":
        text = (
            "The data have {there}; the rate is too near the promise to be settled by more people."
        )
        if settle <= _MOST_TO_SETTLE:
            text = (
                "The data have {there}; at this rate about {settle:count people} would {settles} "
                "it."
            )
    settles = "refute" if refutes else "show"
    there = Count(people, noun="people")
    yield Paragraph(say(text, there=there, settle=settle, settles=settles))
    of_pairs = rate == "far" and population == "new people"
    by_rule = people_with(RuleOf(3).attempts_for(ds["promised"].item()))
    if of_pairs and ds["verdict"] == "open" and not refutes and settle > by_rule:
        yield Paragraph(
            say(
                "The rule of 3 asks for {people:count people}: it takes each of their pairs for an "
                "independent trial, and holds only without an error. The number for this limit is "
                "larger, since one person who is easily confused is in many pairs.",
                people=by_rule,
            ),
            "note",
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


def may_be_absent(people: int) -> Text:
    """Return which kinds of people an estimate over so many people cannot know."""
    if people <= RuleOf(3):
        return "Kinds of people may be absent from the data."
    return say(
        "Kinds of people rarer than {share:rate} (3 in {people:count}) may be absent from the "
        "data.",
        share=RuleOf(3) / people,
        people=people,
    )
