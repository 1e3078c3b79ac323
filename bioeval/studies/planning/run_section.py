"""What is said of a planned run: its comparisons, its memory and its time."""

from __future__ import annotations

from bioeval.document import (
    Column,
    Count,
    Duration,
    Paragraph,
    ResultsBySystem,
    Section,
    Size,
    Table,
    Text,
    result_messages,
    say,
)

_HOUR = 3600


def section(results: ResultsBySystem) -> Section:
    """Return what a run costs."""
    ds = results[""]
    cost = {str(name): float(values) for name, values in ds.data_vars.items()}
    workers = Count(int(ds.attrs["workers"]), noun="workers")
    rows: list[tuple[Text, Text, Text]] = [
        ("comparisons", Count(cost["comparisons"]), "comparisons"),
        ("genuine comparisons", Count(cost["genuine_comparisons"]), "comparisons"),
        ("matrix of scores", Size(cost["matrix_bytes"]), "bytes"),
        ("memory of a worker", Size(cost["working_bytes"]), "bytes"),
        ("processor time", Duration(_HOUR * cost["core_hours"]), "seconds"),
        (say("time on {n}", n=workers), Duration(_HOUR * cost["hours"]), "seconds"),
    ]
    if ds.attrs["dim"]:
        rows.insert(2, ("embeddings", Size(cost["embedding_bytes"]), "bytes"))
    return Section(
        "planned-run",
        "",
        (
            Table(
                "cost",
                (Column("quantity"), Column("value"), Column("unit", only="data")),
                rows,
            ),
            Paragraph(
                "The time is scaled from short evaluations on this machine, on processor cores "
                "that are never idle. How many people a test needs: bioeval sample-size.",
                "note",
            ),
            result_messages(results),
        ),
    )
