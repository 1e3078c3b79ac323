"""What is said of an extrapolated FAR: its upper limit at each threshold, and by which model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import xarray as xr

from bioeval.document import (
    Block,
    Column,
    Message,
    Messages,
    Paragraph,
    Rate,
    ResultsBySystem,
    Section,
    Table,
    Text,
    messages_of_result,
    rates_are_of,
    result_messages,
    say,
    threshold_to_install,
)
from bioeval.studies.assurance.messages import REFUSED
from bioeval.studies.thresholds.messages import NOT_EXTRAPOLATED

_REASONS = (*REFUSED, *(entry.code for entry in NOT_EXTRAPOLATED))


def section(results: ResultsBySystem) -> Section:
    """Return what is said of an extrapolated FAR."""
    ds = results[""]
    messages = [x for x in result_messages(results).messages if x.code not in _REASONS]
    return Section(
        "extrapolated_far",
        say("Below the measurable {far}"),
        (
            *_thresholds(ds),
            _table(ds),
            Paragraph(say("By {model}.", model=str(ds.attrs["model"])), "note"),
            Messages(messages),
        ),
        task=rates_are_of(ds.attrs),
    )


def reasons_of(ds: xr.Dataset) -> list[Message]:
    """Return why the model gives no FAR at some thresholds, or at none."""
    return [message for message in messages_of_result(ds) if message.code in _REASONS]


def _thresholds(ds: xr.Dataset) -> Iterator[Block]:
    """Yield each threshold with the upper limit of its FAR, and why others have none."""
    role: Literal["", "answer"] = "answer" if ds.sizes["threshold"] == 1 else ""
    for i, threshold in enumerate(ds["threshold"].values.tolist()):
        high, far = float(ds["far_high"].values[i]), float(ds["far"].values[i])
        if high != high:
            continue
        estimate: Text = ""
        if far == far:
            estimate = say("; the model's estimate is {estimate:rate}", estimate=far)
        yield Paragraph(
            say(
                "By a model, not measured: at the threshold {threshold}, the upper limit of the "
                "{far} is {high:rate}{estimate}.",
                threshold=threshold_to_install(threshold, str(ds.attrs["kind"])),
                high=high,
                estimate=estimate,
            ),
            role,
        )
    for reason in reasons_of(ds):
        text = "The model gives no threshold: {reason}."
        if ds["far_high"].notnull().any():
            text = "The model leaves out thresholds: {reason}."
        yield Paragraph(say(text, reason=reason), role)


def _table(ds: xr.Dataset) -> Table:
    """Return the FAR at each threshold, for data."""
    rows = []
    for i, threshold in enumerate(ds["threshold"].values.tolist()):
        limits = float(ds["far_low"].values[i]), float(ds["far_high"].values[i])
        rows.append(
            (
                threshold_to_install(threshold, str(ds.attrs["kind"]), variable="threshold"),
                Rate(float(ds["far"].values[i]), interval=limits, variable="far"),
            )
        )
    return Table("thresholds", (Column("threshold"), Column("far")), rows, shown=0)
