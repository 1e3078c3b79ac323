"""What is said of identification against the number of subjects in the gallery."""

from __future__ import annotations

from collections.abc import Iterator

import xarray as xr

from bioeval.document import (
    Block,
    Column,
    Count,
    Fact,
    Flag,
    Rate,
    ResultsBySystem,
    Score,
    Section,
    Table,
    Text,
    data_facts,
    result_messages,
    say,
)
from bioeval.views import report_ranks

_MARK = ("*: extrapolated by a model",)


def section(results: ResultsBySystem) -> Section:
    """Return what is said of rates against the gallery size."""
    (ds,) = results.values()
    over = say(
        "{probes:count probes}, {subjects:count subjects}, {ties} ties; means over all galleries "
        "of a size",
        probes=int(ds["genuine_attempts"]),
        subjects=int(ds.attrs["exact_up_to"]),
        ties=str(ds.attrs["ties"]),
    )
    facts = data_facts(results, Fact("Over", over))
    blocks: list[Block] = [facts, _identified(ds), _least_errors(ds)]
    blocks += _validation(ds)
    return Section(
        "gallery_size",
        "Identification against gallery size",
        (*blocks, result_messages(results)),
        task="identification",
    )


def _identified(ds: xr.Dataset) -> Table:
    """Return CMS at a few ranks, one row for each gallery size."""
    ranks, attempts = report_ranks(ds), int(ds["genuine_attempts"])
    rows = []
    for i, size in enumerate(ds["gallery_size"].values.tolist()):
        row: list[Text | None] = [Count(size, variable="gallery_size")]
        for rank in ranks:
            value = float(ds["cms"].sel(rank=rank)[i])
            at = {"gallery_size": size, "rank": rank}
            row.append(Rate(value, variable="cms", at=at, attempts=attempts))
        far_extrapolated = Flag(bool(ds["far_extrapolated"][i]))
        rows.append([*row, Flag(bool(ds["extrapolated"][i]), "*"), far_extrapolated])
    columns = [Column("gallery_size", "subjects")]
    columns += [Column(f"cms_rank_{rank}", f"rank {rank}", i) for i, rank in enumerate(ranks)]
    columns += [Column("extrapolated"), Column("far_extrapolated", only="data")]
    return Table(
        "gallery_sizes",
        columns,
        rows,
        title=say("{cms} by rank"),
        notes=_MARK if ds["extrapolated"].values.any() else (),
    )


def _least_errors(ds: xr.Dataset) -> Table:
    """Return the least error of open-set identification, one row for each gallery size."""
    shares = ds["unenrolled_share"].values.tolist()
    searches = int(ds["genuine_attempts"]) + int(ds["impostor_attempts"])
    rows = []
    for i, size in enumerate(ds["gallery_size"].values.tolist()):
        row: list[Text | None] = [Count(size, variable="gallery_size")]
        for u, share in enumerate(shares):
            at = {"gallery_size": size, "unenrolled_share": share}
            error, threshold = ds["least_error_share"][u, i], ds["least_error_threshold"][u, i]
            row.append(Rate(float(error), attempts=searches, variable="least_error_share", at=at))
            row.append(Score(float(threshold), variable="least_error_threshold", at=at))
        extrapolated = bool(ds["extrapolated"][i] or ds["far_extrapolated"][i])
        rows.append([*row, Flag(extrapolated, "*")])
    columns = [Column("gallery_size", "subjects")]
    for i, share in enumerate(shares):
        heading = say("{share:rate}", share=share)
        # The proportions in the middle are left out first where there is no room for all.
        priority = min(i, len(shares) - 1 - i)
        columns.append(Column(f"least_error_share_{share!r}", heading, priority))
        columns.append(Column(f"least_error_threshold_{share!r}", only="data"))
    return Table(
        "least_errors",
        (*columns, Column("extrapolated")),
        rows,
        title=say(
            "Proportion of searches that end in a miss (rank 1) or a {false accept}, by proportion "
            "of unenrolled probes"
        ),
        details=("each at its best threshold on these data, which is optimistic",),
        notes=_MARK if (ds["extrapolated"] | ds["far_extrapolated"]).values.any() else (),
    )


def _validation(ds: xr.Dataset) -> Iterator[Table]:
    """Yield the errors of the model that extrapolates, where it does."""
    if not ds.sizes.get("validation_size", 0):
        return
    rows = []
    for i, size in enumerate(ds["validation_size"].values.tolist()):
        row: list[Text | None] = [Count(size, variable="validation_size")]
        for name in ("validation_cms_error", "validation_far_error"):
            value, at = float(ds[name][i]), {"validation_size": size}
            row.append(Rate(value, variable=name, at=at, difference=True))
        rows.append(row)
    yield Table(
        "validation",
        (
            Column("validation_size", "predicted from, subjects"),
            Column("validation_cms_error", say("error of {cms}")),
            Column("validation_far_error", say("error of {far}")),
        ),
        rows,
        title="Errors of the model when it predicts all subjects from a part of them",
        details=("predicted minus true, where it is largest over ranks and over thresholds",),
    )
