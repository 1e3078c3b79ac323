"""The ranks of the best mates as a document."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bioeval.document.blocks import Column, Section, Table
from bioeval.document.cells import Label, Number, Score
from bioeval.document.results import result_messages
from bioeval.document.text import Text
from bioeval.showing.header import header_of
from bioeval.showing.nodes import Node

#: Probes that are listed, those with the worst ranks.
_LISTED = 20


def ranks_section(ds: xr.Dataset) -> Section:
    """Return the rank of the best mate of each probe, the worst first, and the scores beside it."""
    rows: list[tuple[Text | None, ...]] = []
    probes, ranks = ds["probe"].values.tolist(), ds["identification_rank"].values
    named = "subject" in ds
    for i in np.argsort(-ranks, kind="stable").tolist():  # probes without a rank (NaN) are last
        subject = [Label(ds["subject"].values[i].item())] if named else []
        rows.append(
            (
                Label(probes[i]),
                *subject,
                Number(float(ranks[i]), digits=6),
                Score(float(ds["mate_distance"][i])),
                Score(float(ds["nearest_other"][i])),
            )
        )
    left = len(rows) - _LISTED
    table = Table(
        "ranks",
        (
            Column("probe", "probe"),
            *([Column("subject", "subject")] if named else []),
            Column("identification_rank", "rank"),
            Column("mate_distance", "best mate"),
            Column("nearest_other", "nearest other"),
        ),
        rows[:_LISTED],
        title="Probes, the worst rank first",
        notes=(f"... and {left:,} more",) if left > 0 else (),
    )
    blocks = (header_of([Node("", "", "", ds)], verbose=False), table, result_messages(ds))
    return Section("ranks", "Ranks of the best mates", blocks, task="identification")
