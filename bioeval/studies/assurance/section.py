"""What is said of a claim: whether the data show it, the limits of the rate, and what they need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import xarray as xr

from bioeval.document import (
    Block,
    Column,
    Count,
    Label,
    Paragraph,
    Rate,
    ResultsBySystem,
    Score,
    Section,
    Strong,
    Table,
    Text,
    data_facts,
    rates_are_of,
    result_messages,
    say,
)
from bioeval.results import RuleOf

#: Numbers of people beyond this settle no claim in practice.
_MOST_TO_SETTLE = 100_000

_VERDICTS = {
    "shown": "Shown: the {rate:term} at {threshold:score} is at most {claim:rate}",
    "refuted": "Refuted: the {rate:term} at {threshold:score} is above {claim:rate}",
    "open": "Open: whether the {rate:term} at {threshold:score} is at most {claim:rate}",
}

_OVER = {"far": "pairs of people", "frr": "people"}


def section(results: ResultsBySystem) -> Section:
    """Return what is said of a claim."""
    ds = results[""]
    verdict = say(
        _VERDICTS[ds["verdict"].item()],
        rate=ds.attrs["rate"],
        threshold=ds["threshold"].item(),
        claim=ds["claim"].item(),
    )
    return Section(
        "claim",
        "",
        (
            Paragraph(verdict, "answer"),
            data_facts(results),
            Section("limits", "", (*_limits(ds), Paragraph(_validity(ds), "note"))),
            _by_rule(ds),
            _rates(ds),
            result_messages(results),
        ),
        task=rates_are_of(ds.attrs),
    )


def _limits(ds: xr.Dataset) -> Iterator[Block]:
    """Yield the rate with its limits, the looks, and how many people would settle the claim."""
    attrs, rate, people = ds.attrs, ds.attrs["rate"], int(ds["people"])
    yield Paragraph(
        say(
            "{rate:term} on these data: {mean:rate}, the mean over {over}. With {confidence:rate} "
            "confidence each, it is at least {low:rate} and at most {high:rate} in the population "
            "({assurance} limits); the claim is at most {claim:rate}.",
            rate=rate,
            mean=ds[rate].item(),
            over=_OVER[rate],
            low=ds[f"{rate}_low"].item(),
            high=ds[f"{rate}_high"].item(),
            confidence=float(attrs["confidence_of_a_look"]),
            assurance=str(attrs["assurance"]),
            claim=ds["claim"].item(),
        )
    )
    if attrs["looks"] > 1:
        yield Paragraph(
            say(
                "Look {look} of at most {looks}: all looks together are wrong with a probability "
                "of at most {error:rate}.",
                look=int(ds["look"]),
                looks=int(attrs["looks"]),
                error=1 - float(attrs["confidence"]),
            )
        )
    settle = ds["people_to_settle"].item()
    if attrs["assurance"] == "estimated":
        settle = ds["people_to_settle_estimated"].item()
    there = Count(people, noun="people")
    if ds["verdict"] != "open":
        yield Paragraph(say("The data have {there}.", there=there))
    elif settle <= _MOST_TO_SETTLE:
        text = "The data have {there}; at this rate about {settle:count people} would settle it."
        yield Paragraph(say(text, there=there, settle=settle))
    else:
        text = "The data have {there}; the rate is too near the claim to be settled by more people."
        yield Paragraph(say(text, there=there))


def _by_rule(ds: xr.Dataset) -> Table:
    """Return the verdict of each rule, its limits, and the people that it needs."""
    rows = []
    for i, rule in enumerate(ds["assurance"].values.tolist()):
        at = {"assurance": rule}
        low, high = (
            Rate(float(ds[name][i]), variable=name, at=at) for name in ("limit_low", "limit_high")
        )
        settle = float(ds["people_of_rule"][i])
        people: Text = "no number"
        if settle <= _MOST_TO_SETTLE:
            people = Count(settle, variable="people_of_rule", at=at)
        label: Text = Strong(rule) if rule == ds.attrs["assurance"] else rule
        rows.append((label, Label(ds["verdict_of_rule"].values[i]), low, high, people))
    return Table(
        "by_rule",
        (
            Column("rule", "limits"),
            Column("verdict", "verdict"),
            Column("low", "lower limit"),
            Column("high", "upper limit"),
            Column("people", "people to settle it, about"),
        ),
        rows,
    )


def _rates(ds: xr.Dataset) -> Table:
    """Return the rate beside the claim, for data."""
    rate = ds.attrs["rate"]
    limits = ds[f"{rate}_low"].item(), ds[f"{rate}_high"].item()
    row = (
        Label(rate),
        Score(ds["threshold"].item(), variable="threshold"),
        Rate(ds[rate].item(), interval=limits, variable=rate),
        Rate(ds["claim"].item(), variable="claim"),
        Label(ds["verdict"].item()),
    )
    columns = map(Column, ("rate", "threshold", "value", "claim", "verdict"))
    return Table("rates", tuple(columns), (row,), shown=0)


def _validity(ds: xr.Dataset) -> Text:
    """Return what the verdict rests on."""
    sentences: dict[str, Any] = {"absent": "", "looks": "", "others": ""}
    if ds["verdict"] == "shown" and ds.attrs["assurance"] == "estimated":
        sentences["absent"] = say(" {absent}", absent=may_be_absent(int(ds["people"])))
    if ds.attrs["looks"] == 1:
        sentences["looks"] = (
            " For another look at the claim with more data, the number of looks must be planned "
            "before the first one."
        )
    if other := int(ds.attrs["looks_at_other_people"]):
        sentences["others"] = say(
            " {other:count earlier results} about other people are tests of their own: report all "
            "of them.",
            other=other,
        )
    return say(
        "Valid only if the threshold and the claim were fixed before these data were "
        "seen.{absent}{looks}{others}",
        **sentences,
    )


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
