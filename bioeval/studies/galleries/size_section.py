"""What is said of identification against the number of subjects in the gallery."""

from __future__ import annotations

import xarray as xr

from bioeval.document.blocks import Column, Fact, ResultsBySystem, Section, Table
from bioeval.document.cells import Count
from bioeval.document.results import cell_of, data_facts, result_messages
from bioeval.document.text import say
from bioeval.views.tasks import report_ranks


def section(results: ResultsBySystem) -> Section:
    """Return what is said of rates against the gallery size."""
    (ds,) = results.values()
    over = say(
        "{probes:count probes}, {subjects:count subjects}, {ties} ties; means over all galleries "
        "of a size",
        probes=int(ds["genuine_attempts"]),
        subjects=int(ds.attrs["gallery_subjects"]),
        ties=str(ds.attrs["ties"]),
    )
    facts = data_facts(results, Fact("Over", over))
    return Section(
        "gallery_size",
        "Identification against gallery size",
        (facts, _identified(ds), result_messages(results)),
        task="identification",
    )


def _identified(ds: xr.Dataset) -> Table:
    """Return CMS at a few ranks, one row for each gallery size."""
    ranks, attempts = report_ranks(ds), int(ds["genuine_attempts"])
    places = [ds["rank"].values.tolist().index(rank) for rank in ranks]
    rows = []
    for i, size in enumerate(ds["gallery_size"].values.tolist()):
        at = [{"gallery_size": i, "rank": place} for place in places]
        rows.append([Count(size), *(cell_of(ds, "cms", x, attempts=attempts) for x in at)])
    columns = [Column("gallery_size", "subjects")]
    columns += [Column(f"cms_rank_{rank}", f"rank {rank}", i) for i, rank in enumerate(ranks)]
    return Table("gallery_sizes", columns, rows, title=say("{cms} by rank"))
