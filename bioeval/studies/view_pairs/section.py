"""What is said of recognition by view: the rate of each pair of views, and the means."""

from __future__ import annotations

import xarray as xr

from bioeval.document import (
    Block,
    Column,
    Label,
    Paragraph,
    Rate,
    ResultsBySystem,
    Section,
    Table,
    Text,
    data_facts,
    rate_of,
    result_messages,
    say,
    table_of_variables,
)


def section(results: ResultsBySystem) -> Section:
    """Return what is said of recognition by view."""
    ds = results[""]
    blocks: list[Block] = [data_facts(results)]
    if not ds["mean_across_views"].isnull():
        sentence = say(
            "Across views, the mean recognition rate at rank 1 is {rate}.",
            rate=rate_of(ds, "mean_across_views"),
        )
        blocks.append(Paragraph(sentence, "answer"))
    blocks += [
        _rates(ds),
        table_of_variables(ds, "probe_view", "gallery_view", id="view_pairs"),
        table_of_variables(ds, "probe_view", id="probe_views"),
        result_messages(results),
    ]
    return Section("by_view", "Recognition by view, rank 1", blocks, task="identification")


def _rates(ds: xr.Dataset) -> Table:
    """Return a row for each view of probes, with a column for each view of the gallery."""
    gallery = [Label(x) for x in ds["gallery_view"].values.tolist()]
    columns = [Column("probe_view", "probes")]
    columns += [Column(f"gallery_{name.text}", name, only="readers") for name in gallery]
    columns.append(Column("mean_over_other_views", "mean of other views", only="readers"))
    rows: list[tuple[Text | None, ...]] = []
    for i, probe in enumerate(ds["probe_view"].values.tolist()):
        cells: list[Text | None] = [Label(probe)]
        for j in range(len(gallery)):
            rate = float(ds["recognition_rate"][i, j])
            number = int(ds["attempts"][i, j])
            at = {"probe_view": probe, "gallery_view": ds["gallery_view"].values.tolist()[j]}
            cells.append(Rate(rate, None, "recognition_rate", at, attempts=number))
        mean = float(ds["mean_over_other_views"][i])
        cells.append(Rate(mean, None, "mean_over_other_views", {"probe_view": probe}, decimals=2))
        rows.append(tuple(cells))
    return Table(
        "rates_by_view",
        columns,
        rows,
        title="Recognition rate by view of the probe (row) and of the gallery (column)",
        notes=_means(ds),
    )


def _means(ds: xr.Dataset) -> tuple[Text, ...]:
    """Return the means over pairs of views."""
    notes: list[Text] = []
    for name, template in (
        ("mean_across_views", "Mean over the pairs of two different views: {rate}."),
        ("mean_within_views", "Mean over the pairs of a view and itself: {rate}."),
    ):
        if not ds[name].isnull():
            notes.append(say(template, rate=rate_of(ds, name)))
    return tuple(notes)
