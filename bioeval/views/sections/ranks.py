"""The ranks of the best mates as a document."""

from __future__ import annotations

from bioeval.document.blocks import Column, ResultsBySystem, Section, Table
from bioeval.document.cells import Label, Number, Score
from bioeval.document.results import result_messages
from bioeval.views.sections.header import about

#: Probes that are listed, the first of all.
_LISTED = 20


def section(results: ResultsBySystem) -> Section:
    """Return the rank of the best mate of each probe, and the scores beside it."""
    ds = results[""]
    rows = []
    for i, probe in enumerate(ds["probe"].values.tolist()):
        at = {"probe": probe}
        rank = float(ds["identification_rank"][i])
        rows.append(
            (
                Label(probe),
                Number(rank, variable="identification_rank", at=at, digits=6),
                Score(float(ds["mate_distance"][i]), variable="mate_distance", at=at),
                Score(float(ds["nearest_other"][i]), variable="nearest_other", at=at),
            )
        )
    left = len(rows) - _LISTED
    table = Table(
        "ranks",
        (
            Column("probe", "probe"),
            Column("identification_rank", "rank"),
            Column("mate_distance", "best mate"),
            Column("nearest_other", "nearest other"),
        ),
        rows,
        notes=(f"... and {left:,} more",) if left > 0 else (),
        shown=_LISTED,
    )
    blocks = (about(results), table, result_messages(results))
    return Section("ranks", "Ranks of the best mates", blocks, task="identification")
