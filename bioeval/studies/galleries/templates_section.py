"""What is said of rates against the number of templates of each subject."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import xarray as xr

from bioeval.document import (
    Column,
    Count,
    Enumeration,
    Fact,
    Rate,
    ResultsBySystem,
    Section,
    Table,
    Text,
    data_facts,
    result_messages,
    rule_in_words,
    say,
    threshold_to_install,
)
from bioeval.tallies import Rule
from bioeval.views import report_ranks


def section(results: ResultsBySystem) -> Section:
    """Return what is said of rates against the number of templates."""
    (ds,) = results.values()
    over = say(
        "{genuine:count} genuine and {impostor:count impostor attempts}, multi-template; fusion "
        "{fusion}",
        genuine=int(ds["genuine_attempts"]),
        impostor=int(ds["impostor_attempts"]),
        fusion=str(ds.attrs["fusion"]),
    )
    facts = data_facts(results, Fact("Over", over), Fact("Rates", _how(ds)))
    return Section(
        "gallery_templates",
        "",
        (
            facts,
            _at_one_threshold(ds),
            _at_equal_far(ds),
            _thresholds(ds),
            _identification(ds),
            result_messages(results),
        ),
        task="verification",
    )


def _at_one_threshold(ds: xr.Dataset) -> Table:
    """Return the rates at the threshold of all rows."""
    genuine, impostor = int(ds["genuine_attempts"]), int(ds["impostor_attempts"])
    title = "Rates at one threshold, {threshold:score}"
    if ds.attrs["fusion"] == "min":
        title += ": with more templates, {frr} falls and {far} rises"
    rule = Rule.written(str(ds.attrs["threshold_rule"]))
    details: list[Text] = []
    if rule.name != "fixed":
        first = int(ds["gallery_templates"][0])
        details.append(
            say(
                "the threshold was chosen for {rule}, with {first:count templates} per subject",
                rule=rule_in_words(rule),
                first=first,
            )
        )
    fewer: Literal["", "data"] = "" if ds["fewer"].values.any() else "data"
    return _table(
        ds,
        "by_templates",
        say(title, threshold=float(ds["threshold_used"])),
        [
            (Column("frr_at_threshold", say("{frr}")), _rates(ds["frr_at_threshold"], genuine)),
            (Column("far_at_threshold", say("{far}")), _rates(ds["far_at_threshold"], impostor)),
            (Column("fewer", "subjects with fewer", 1, only=fewer), _counts(ds["fewer"])),
            (Column("draws", "draws", only="data"), _counts(ds["draws"])),
        ],
        details,
    )


def _at_equal_far(ds: xr.Dataset) -> Table:
    """Return the rates at the thresholds that each number of templates has by itself."""
    genuine = int(ds["genuine_attempts"])
    columns: list[_Cells] = [(Column("eer", "EER"), _rates(ds["eer"], genuine))]
    for i, (name, heading) in enumerate(_targets(ds, "frr_at_far")):
        values = ds["frr_at_far"].isel(far_target=i)
        columns.append((Column(name, heading), _rates(values, genuine)))
    return _table(
        ds,
        "at_equal_far",
        say("{frr} at equal {far}: the threshold is chosen anew for each number of templates"),
        columns,
    )


def _thresholds(ds: xr.Dataset) -> Table:
    """Return the thresholds of these rates."""
    kind = str(ds.attrs["kind"])
    eer = _thresholds_to_install(ds["eer_threshold"], kind)
    columns: list[_Cells] = [(Column("eer_threshold", "EER"), eer)]
    for i, (name, heading) in enumerate(_targets(ds, "threshold_at_far")):
        values = ds["threshold_at_far"].isel(far_target=i)
        columns.append((Column(name, heading), _thresholds_to_install(values, kind)))
    return _table(ds, "thresholds", "Thresholds of these rates", columns)


def _identification(ds: xr.Dataset) -> Table:
    """Return CMS at a few ranks."""
    searches = int(ds["mated_searches"])
    columns: list[_Cells] = []
    for rank in report_ranks(ds):
        heading = say("{cms}, rank {rank:count}", task="identification", rank=rank)
        values = ds["cms"].sel(rank=rank)
        columns.append((Column(f"cms_rank_{rank}", heading), _rates(values, searches)))
    return _table(ds, "identification", "Identification: the rank counts subjects", columns)


def _how(ds: xr.Dataset) -> Text:
    """Return what the rates are means over."""
    if "frr_se" not in ds:
        return (
            "exact means over all choices of templates, which are made independently for each probe"
        )
    draws = sorted(set(ds["draws"].values.tolist()) - {0})
    return say(
        "means over {draws} galleries drawn for each probe",
        draws=Enumeration(list(map(Count, draws)), "or"),
    )


#: A column with its cells, one for each number of templates.
_Cells = tuple[Column, Sequence[Text | None]]


def _table(
    ds: xr.Dataset, id: str, title: Text, columns: Sequence[_Cells], details: Sequence[Text] = ()
) -> Table:
    """Return a table with one row for each number of templates."""
    heads, cells = zip(*columns, strict=True)
    first = Column("gallery_templates", "templates")
    rows = list(zip(_counts(ds["gallery_templates"]), *cells, strict=True))
    return Table(id, (first, *heads), rows, title=title, details=details)


def _targets(ds: xr.Dataset, name: str) -> Iterator[tuple[str, Text]]:
    """Yield the key and the heading of a variable at each FAR target."""
    for target in ds["far_target"].values.tolist():
        yield f"{name}_{target!r}", say("{far} <= {target:rate}", target=target)


def _rates(values: xr.DataArray, attempts: int) -> list[Text | None]:
    return [
        Rate(value, attempts=attempts, variable=str(values.name), at=at)
        for value, at in _each(values)
    ]


def _thresholds_to_install(values: xr.DataArray, kind: str) -> list[Text | None]:
    """Return thresholds rounded to the stricter side."""
    return [
        threshold_to_install(value, kind, variable=str(values.name), at=at)
        for value, at in _each(values)
    ]


def _counts(values: xr.DataArray) -> list[Text | None]:
    return [Count(value, variable=str(values.name), at=at) for value, at in _each(values)]


def _each(values: xr.DataArray) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield each value over the numbers of templates, with its place."""
    fixed = {str(dim): x.item() for dim, x in values.coords.items() if not x.ndim}
    sizes = values["gallery_templates"].values.tolist()
    for size, value in zip(sizes, values.values.tolist(), strict=True):
        yield value, {"gallery_templates": size, **fixed}
