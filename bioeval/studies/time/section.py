"""What is said of rates over time, and of the ageing of templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr

from bioeval.document import (
    Block,
    Column,
    Count,
    Fact,
    Facts,
    Interval,
    Label,
    Moment,
    Number,
    Rate,
    ResultsBySystem,
    Score,
    Section,
    Table,
    Text,
    attempts_in_use,
    data_facts,
    interval_note,
    rates_are_of,
    result_messages,
    say,
    threshold_choice,
    threshold_to_install,
)

#: A column and its cell in each bin.
_Cells = tuple[Column, Sequence[Text | None]]


def section(results: ResultsBySystem) -> Section:
    """Return the tables of the bins of time, and of the ages of templates, of each result."""
    datasets = list(results.values())
    if len(datasets) == 1:
        return _of_result(datasets[0], _facts(datasets[0]))
    of_one_system = len({str(ds.attrs["fingerprint"]) for ds in datasets}) == 1
    blocks = list[Block]()
    if of_one_system:
        blocks.append(data_facts({"": datasets[0]}))
    for ds in datasets:
        facts = _facts(ds)
        if of_one_system:
            facts = Facts((_threshold(ds),), indented=True)
        blocks.append(_of_result(ds, facts))
    return Section("time", "", blocks, "verification")


def _facts(ds: xr.Dataset) -> Facts:
    return data_facts({"": ds}, *attempts_in_use(ds.attrs), _threshold(ds))


def _threshold(ds: xr.Dataset) -> Fact:
    choice = threshold_choice(ds.attrs)
    threshold = threshold_to_install(float(ds["threshold"]), str(ds.attrs["kind"]))
    at = say("{threshold} ({choice})", threshold=threshold, choice=choice)
    return Fact("Threshold", at)


def _of_result(ds: xr.Dataset, facts: Facts) -> Section:
    """Return a row for each bin, and what ageing costs."""
    ageing, results = "age" in ds.dims, {"": ds}
    tables = (_ages(ds), _slopes(ds)) if ageing else (_times(ds), *_identification(ds), *_reid(ds))
    return Section(
        "ageing" if ageing else "over-time",
        "Ageing of templates" if ageing else "Rates over time",
        (facts, *tables, *interval_note(results), result_messages(results)),
        task=rates_are_of(ds.attrs),
    )


def _times(ds: xr.Dataset) -> Table:
    """Return the rates of verification in each bin of time."""
    columns = [
        _times_of(ds, "time", "from"),
        _times_of(ds, "time_end", only_data=True),
        _counts(ds, "probes", "attempts" if "attempts" in ds.attrs else "probes"),
        _means(ds, "gallery_subjects", "enrolled"),
        _counts(ds, "genuine_attempts", "genuine", priority=2),
        _rates(ds, "frr", say("{frr}"), "genuine_attempts"),
        _counts(ds, "impostor_attempts", "impostor", priority=2),
        _rates(ds, "far", say("{far}"), "impostor_attempts", priority=1),
        _means(ds, "gallery_templates", only_data=True),
        _counts(ds, "fr", only_data=True),
        _counts(ds, "fa", only_data=True),
    ]
    enrolled = _ENROLLED.format("an attempt" if "attempts" in ds.attrs else "a probe")
    return _table(ds, "over_time", columns, notes=(enrolled,))


_ENROLLED = "enrolled: mean number of subjects that are enrolled when {} is seen"


def _identification(ds: xr.Dataset) -> Iterator[Table]:
    """Yield the rates of identification in each bin of time, at each rank."""
    if "dir" not in ds:
        return
    ranks = [int(x) for x in ds["rank"].values.tolist()]
    rows, system = [], Label(str(ds.attrs["system"]))
    times, ends = _times_of(ds, "time")[1], _times_of(ds, "time_end")[1]
    for i, (time, end) in enumerate(zip(times, ends, strict=True)):
        one = ds.isel(time=i)
        searches, non_mated = int(one["mated_searches"]), int(one["non_mated_searches"])
        for j, rank in enumerate(ranks):
            rates, counts = [], []
            for name in ("dir", "cms"):
                limits = None
                if f"{name}_low" in ds:
                    limits = float(one[f"{name}_low"][j]), float(one[f"{name}_high"][j])
                rates.append(Rate(float(one[name][j]), limits, name, attempts=searches))
                counts.append(Number(float(one[f"{name}_count"][j]), variable=f"{name}_count"))
            far = Rate(float(one["open_set_far"]), variable="open_set_far", attempts=non_mated)
            fa = Count(int(one["open_set_fa"]), variable="open_set_fa")
            mated = Count(searches, variable="mated_searches")
            others = Count(non_mated, variable="non_mated_searches")
            rows.append((time, end, mated, Count(rank), *rates, others, far, fa, *counts, system))
    yield Table(
        "identification",
        (
            Column("time", "from", grouped=True),
            Column("time_end", only="data"),
            Column("mated_searches", "mated", priority=2),
            Column("rank", "rank"),
            Column("dir", say("{dir}", task="identification")),
            # Both have the same name in the standard.
            Column("cms", say("{cms}, any score", task="identification"), priority=1),
            Column("non_mated_searches", "non-mated", priority=3),
            Column("open_set_far", say("{far}", task="identification"), priority=3),
            Column("open_set_fa", only="data"),
            Column("dir_count", only="data"),
            Column("cms_count", only="data"),
            Column("system", only="data"),
        ),
        rows,
        title="Identification",
    )


def _reid(ds: xr.Dataset) -> Iterator[Table]:
    """Yield the measures of re-identification in each bin of time."""
    if "mrep" not in ds:
        return
    columns = [
        _times_of(ds, "time", "from"),
        _times_of(ds, "time_end", only_data=True),
        _counts(ds, "reid_queries", "queries", priority=1),
        _rates(ds, "mean_ap", "mAP"),
        _rates(ds, "mrep", "mReP"),
        _counts(ds, "open_queries", "open queries", priority=1),
        _rates(ds, "mfr", "mFR"),
    ]
    yield _table(ds, "reid", columns, title="Re-identification")


def _ages(ds: xr.Dataset) -> Table:
    """Return genuine scores and their errors in each bin of age."""
    columns = [
        _times_of(ds, "age", "from"),
        _times_of(ds, "age_end", only_data=True),
        _counts(ds, "genuine_attempts", "genuine"),
        _scores(ds, "genuine_mean", "mean"),
        _scores(ds, "genuine_sd", "sd", priority=1),
        _rates(ds, "frr", say("{frr}"), "genuine_attempts"),
        _counts(ds, "fr", only_data=True),
    ]
    return _table(ds, "ageing", columns)


def _slopes(ds: xr.Dataset) -> Table:
    """Return the change of the genuine score with the age of the template."""
    rows = []
    for name, label in (("slope", "over all pairs"), ("slope_within", "within subjects")):
        limits = float(ds[f"{name}_low"]), float(ds[f"{name}_high"])
        rows.append((label, Number(float(ds[name]), limits, name, digits=4)))
    return Table(
        "slopes",
        (Column("pairs"), Column("slope")),
        rows,
        title=say(
            "Change of the genuine score per {unit}, over {subjects:count subjects}",
            unit="day" if ds.attrs["age_unit"] == "days" else "unit of age",
            subjects=int(ds["subjects"]),
        ),
    )


def _table(
    ds: xr.Dataset, id: str, columns: list[_Cells], title: Text = "", notes: Sequence[Text] = ()
) -> Table:
    """Return a table of columns, with the system for data."""
    length = len(columns[0][1])
    columns.append((Column("system", only="data"), [Label(str(ds.attrs["system"]))] * length))
    rows = list(zip(*(cells for _, cells in columns), strict=True))
    return Table(id, [column for column, _ in columns], rows, title, notes=notes)


def _column(name: str, heading: Text = "", priority: int = 0, only_data: bool = False) -> Column:
    return Column(name, heading, priority, only="data" if only_data else "")


def _times_of(ds: xr.Dataset, name: str, heading: Text = "", only_data: bool = False) -> _Cells:
    """Return times: dates, or numbers as they are given."""
    values, cells = ds[name].values, list[Text]()
    if values.dtype.kind == "M":
        whole = (values == values.astype("datetime64[D]")).all()
        dates = np.datetime_as_string(values, unit="D" if whole else "s")
        cells += map(Moment, dates.tolist())
    else:
        cells += [Number(x, variable=name, digits=6) for x in values.tolist()]
    return _column(name, heading, only_data=only_data), cells


def _counts(
    ds: xr.Dataset, name: str, heading: Text = "", priority: int = 0, only_data: bool = False
) -> _Cells:
    cells = [Count(x, variable=name) for x in ds[name].values.tolist()]
    return _column(name, heading, priority, only_data), cells


def _means(ds: xr.Dataset, name: str, heading: Text = "", only_data: bool = False) -> _Cells:
    cells = [Number(x, variable=name, decimals=1) for x in ds[name].values.tolist()]
    return _column(name, heading, only_data=only_data), cells


def _scores(ds: xr.Dataset, name: str, heading: Text, priority: int = 0) -> _Cells:
    cells = [Score(x, variable=name) for x in ds[name].values.tolist()]
    return _column(name, heading, priority), cells


def _rates(
    ds: xr.Dataset, name: str, heading: Text, attempts: str = "", priority: int = 0
) -> _Cells:
    """Return a rate with its intervals."""
    values = ds[name].values.tolist()
    made = ds[attempts].values.tolist() if attempts else [None] * len(values)
    limits: list[Interval | None] = [None] * len(values)
    if f"{name}_low" in ds:
        ends = ds[f"{name}_low"].values.tolist(), ds[f"{name}_high"].values.tolist()
        limits = list(zip(*ends, strict=True))
    cells = []
    for value, both, number in zip(values, limits, made, strict=True):
        cells.append(Rate(value, both, name, attempts=number))
    return _column(name, heading, priority), cells
