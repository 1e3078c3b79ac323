"""What is said of a promise: whether the data show it, limits of the rate, and what they need."""

from __future__ import annotations

from collections.abc import Iterator

import xarray as xr

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
    "shown": "Shown: the {rate:term} at {threshold} is at most {promise:rate}",
    "refuted": "Refuted: the {rate:term} at {threshold} is above {promise:rate}",
    "open": "Open: whether the {rate:term} at {threshold} is at most {promise:rate}",
}

_OVER = {"far": "pairs of people", "frr": "people"}


def promise_section(results: ResultsBySystem) -> Section:
    """Return what is said of a promise."""
    ds = results[""]
    verdict = say(
        _VERDICTS[ds["verdict"].item()],
        rate=ds.attrs["rate"],
        threshold=threshold_of(ds),
        promise=ds["promise"].item(),
    )
    return Section(
        "promise",
        "",
        (
            Paragraph(verdict, "answer"),
            data_facts(results),
            Section("limits", "", tuple(_limits(ds))),
            _rates(ds),
            result_messages(results),
        ),
        task=rates_are_of(ds.attrs),
    )


def _limits(ds: xr.Dataset) -> Iterator[Block]:
    """Yield the rate with its limits, how many people would settle it, and what it needs."""
    rate, people = ds.attrs["rate"], int(ds["people"])
    yield Paragraph(
        say(
            "{rate:term} on these data: {mean:rate}, the mean over {over}. With {confidence:rate} "
            "confidence each, it is at least {low:rate} and at most {high:rate} for {population} "
            "(one-sided limits, {method}{twice}); the promise is at most {promise:rate}.",
            rate=rate,
            mean=ds[rate].item(),
            over=_OVER[rate],
            low=ds[f"{rate}_low"].item(),
            high=ds[f"{rate}_high"].item(),
            confidence=float(ds.attrs["confidence"]),
            population=str(ds.attrs["interval_for"]),
            method=method_in_words(str(ds.attrs["interval_method"])),
            twice=", the upper one with the two who err most counted twice",
            promise=ds["promise"].item(),
        )
    )
    settle = ds["people_to_settle"].item()
    text = "The data have {there}."
    if ds["verdict"] == "open":
        text = (
            "The data have {there}; the rate is too near the promise to be settled by more people."
        )
        if settle <= _MOST_TO_SETTLE:
            text = (
                "The data have {there}; at this rate about {settle:count people} would settle it."
            )
    yield Paragraph(say(text, there=Count(people, noun="people"), settle=settle))
    of_pairs = rate == "far" and ds.attrs["interval_for"] == "new people"
    if of_pairs and ds["verdict"] == "open":
        trials = RuleOf(3).attempts_for(ds["promise"].item())
        yield Paragraph(
            say(
                "The rule of 3 asks for {people:count people}: it takes each of their pairs for an "
                "independent trial, and holds only without an error. The number for this limit is "
                "larger, since one person who is easily confused is in many pairs.",
                people=people_with(trials),
            ),
            "note",
        )
    if not ds[rate].item():
        each = (
            "Without an error, {each} one trial. An interval of bioeval run is narrower: it judges "
            "by other thresholds how much the attempts of one person are alike."
        )
        who = "two people are" if of_pairs else "each person is"
        yield Paragraph(say(each, each=who), "note")
    absent: Text = ""
    if ds["verdict"] == "shown":
        absent = say(" {absent}", absent=may_be_absent(people))
    valid = (
        "Valid only if the threshold and the promise were fixed before these data were seen, and "
        "for one look at the promise.{absent}"
    )
    yield Paragraph(say(valid, absent=absent), "note")


def _rates(ds: xr.Dataset) -> Table:
    """Return the rate beside the promise, for data."""
    rate = ds.attrs["rate"]
    names = {"threshold": "threshold", "value": rate, "promise": "promise", "verdict": "verdict"}
    cells = [cell_of(ds, name, shown="rate") for name in names.values()]
    return Table("rates", [*map(Column, ("rate", *names))], [[Label(rate), *cells]], shown=0)


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
