"""What is said of GOM: a line for each system, as in the paper, with intervals and bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import xarray as xr

from bioeval.document.blocks import Column, Fact, Facts, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Count, Interval, Label, Rate
from bioeval.document.results import fact_of_each, interval_note, result_messages
from bioeval.document.scalars import cell_of_scalar, label_of
from bioeval.document.text import Text, say
from bioeval.results.variables import VARIABLES
from bioeval.results.words import excluded_in_words

#: The columns of the paper's tables; the CMC is that at rank 1.
_COLUMNS = ("cmc", "mean_ap", "max_mvp", "max_mrep", "tau_max", "mrep_area", "mfr_area")


def gom_section(results: ResultsBySystem) -> Section:
    """Return a line for each system, with the columns of the tables in the paper on GOM."""
    facts = Facts(
        (
            *fact_of_each(results, "Options", _options),
            *fact_of_each(results, "Over", _over),
            Fact("Excluded", excluded_in_words({name: ds.attrs for name, ds in results.items()})),
        ),
    )
    return Section(
        "gom",
        "GOM",
        (
            facts,
            _measures(results),
            *_intervals(results),
            Paragraph("MREP and MFR are the areas under mReP and mFR.", "note"),
            *interval_note(results, more=", for each alone"),
            _ranks(results),
            result_messages(results),
        ),
        task="identification",
    )


def _options(ds: xr.Dataset) -> Text:
    """Return the options of an evaluation of GOM."""
    attrs = ds.attrs
    return say(
        "removed: {removes}, junk {junk}{variant}, B = {budget}, {ties} ties",
        removes=str(attrs["removes"]).replace("-", " "),
        junk=str(attrs["junk"]),
        variant=", as the authors' program" if attrs["variant"] == "reference" else "",
        budget=int(attrs["budget"]),
        ties=str(attrs["ties"]),
    )


def _over(ds: xr.Dataset) -> Text:
    """Return the queries that the means are over."""
    return say(
        "mReP over {ranked:count queries}, mFR over {absent}; {skipped} skipped",
        ranked=int(ds["queries"]),
        absent=int(ds["open_queries"]),
        skipped=int(ds["skipped"]),
    )


def _heading(name: str) -> Text:
    scalar = VARIABLES[name]
    return label_of(scalar, rank=1) if name == "cmc" else label_of(scalar)


def _value(ds: xr.Dataset, name: str) -> float:
    """Return the value of a variable, of a CMC at rank 1; NaN where there is none."""
    if name not in ds:
        return math.nan
    values = ds[name]
    return float(values.sel(rank=1) if "rank" in values.dims else values)


def _measures(results: ResultsBySystem) -> Table:
    """Return the measures of each system."""
    columns = [Column("system", grouped=True)]
    columns += [Column(name, _heading(name)) for name in _COLUMNS]
    rows: list[list[Any]] = []
    for system, ds in results.items():
        cells = [_cell(name, _value(ds, name), variable=name) for name in _COLUMNS]
        rows.append([Label(system), *cells])
    return Table("gom", columns, rows)


def _cell(name: str, value: float, **more: Any) -> Any:
    return cell_of_scalar(VARIABLES[name], value, **more)


def _intervals(results: ResultsBySystem) -> Iterator[Table]:
    """Yield each measure of each system with its confidence interval, if they have some."""
    rows = []
    for name, (system, ds) in itertools.product(_COLUMNS, results.items()):
        if (limits := _limits(ds, name)) is not None:
            cell = _cell(name, _value(ds, name), interval=limits)
            rows.append((_heading(name), Label(system), cell))
    columns = Column("measure", grouped=True), Column("system"), Column("value")
    if any("interval_method" in ds.attrs for ds in results.values()):
        yield Table("intervals", columns, rows, title="Confidence intervals")


def _limits(ds: xr.Dataset, name: str) -> Interval | None:
    low, high = _value(ds, f"{name}_low"), _value(ds, f"{name}_high")
    return None if math.isnan(low + high) else (low, high)


def _ranks(results: ResultsBySystem) -> Table:
    """Return the CMC of each system at each rank, for data."""
    rows = []
    for system, ds in results.items():
        if "cmc" not in ds:
            continue
        for i, rank in enumerate(ds["rank"].values.tolist()):
            limits = None
            if "cmc_low" in ds:
                limits = float(ds["cmc_low"][i]), float(ds["cmc_high"][i])
            cmc = Rate(float(ds["cmc"][i]), limits, "cmc", {"rank": rank})
            rows.append((Label(system), Count(rank), cmc))
    return Table("ranks", (Column("system"), Column("rank"), Column("cmc")), rows, shown=0)
