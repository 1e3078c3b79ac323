"""What is said of tracking: rates and counts of each sequence and of all, and the targets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import xarray as xr

from bioeval.document.blocks import Block, Column, Fact, Facts, ResultsBySystem, Section, Table
from bioeval.document.cells import Count, Label, Number, Rate
from bioeval.document.results import result_messages, table_of_variables
from bioeval.document.scalars import cell_of_scalar, label_of
from bioeval.document.text import Strong, Text, say
from bioeval.studies.tracking.scalars import MEASURES, OF_HOTA


def _labels(*names: str) -> dict[str, str]:
    """Return measures by their labels, which are headings."""
    return {MEASURES[name].label: name for name in names}


#: Headings of the columns, and the variables below them.
_RATES = _labels(
    *("mota", "motp", "idf1", "idp", "idr", "recall", "precision", "far", "fp_per_frame")
)
_HOTA = _labels(*(measure.name for measure in OF_HOTA))
_COUNTS = {
    "frames": "frames",
    "targets": "targets",
    "MT": "mt",
    "PT": "pt",
    "ML": "ml",
    "boxes": "truth_boxes",
    "FN": "fn",
    "FP": "fp",
    "IDSW": "idsw",
    "frag.": "fragmentations",
    "IDTP": "idtp",
}
_TARGETS = {
    "frames": "frames_present",
    "covered": "frames_covered",
    "coverage": "coverage",
    "IDSW": "target_switches",
    "frag.": "target_fragmentations",
    "state": "state",
}
_LEGEND = (
    "MOTP: mean overlap of the matches. errors/frame: FN + FP + IDSW in a frame, the false alarm "
    "rate of CityFlow. HOTA and its parts: means over IoU thresholds of 0.05 to 0.95. MT, PT, ML: "
    "targets mostly tracked, partially tracked, mostly lost."
)

#: The tables for data alone, by their dimension.
_IN_DATA = {"sequence": "sequences", "localisation_threshold": "hota_table"}

_KEPT = {
    "last-known": "each target's last pairing is kept (last-known)",
    "previous-frame": "pairings of the previous frame are kept (previous-frame)",
}


def section(results: ResultsBySystem) -> Section:
    """Return what is said of tracking."""
    ds = results[""]
    blocks: list[Block] = [_about(ds), *(_by_sequence(ds, x) for x in (_RATES, _HOTA))]
    blocks.append(_by_sequence(ds, _COUNTS, _LEGEND))
    if "interval_method" in ds.attrs:
        blocks.append(_intervals(ds))
    blocks.append(_targets(ds))
    blocks += [table_of_variables(ds, x, id=name) for x, name in _IN_DATA.items() if x in ds.dims]
    return Section("tracking", "", [*blocks, result_messages(results)])


def with_targets(ds: xr.Dataset) -> Section:
    """Return what is said of tracking, with a row for every target."""
    whole = section({"": ds})
    blocks = [
        replace(x, shown=None) if isinstance(x, Table) and x.id == "targets_table" else x
        for x in whole.blocks
    ]
    return replace(whole, blocks=blocks)


def _about(ds: xr.Dataset) -> Facts:
    """Return the numbers of boxes, and how they are matched."""
    attrs = ds.attrs
    cameras = int(attrs["cameras"])
    match = say(
        "overlap (IoU) of {iou} or more; {kept}",
        iou=Number(float(attrs["iou"]), digits=6),
        kept=_KEPT[str(attrs["pairing"])],
    )
    more = attrs["mostly_tracked"] != "at-least"
    return Facts(
        (
            Fact("Truth", _sizes(Count(int(ds["targets"]), noun="targets"), ds["truth_boxes"])),
            Fact(
                "Result",
                _sizes(Count(int(ds["identities"]), noun="identities"), ds["result_boxes"]),
            ),
            Fact(
                "Cameras",
                say("{cameras:count} with common identities", cameras=cameras)
                if cameras > 1
                else "",
            ),
            Fact("Classes", _classes(attrs)),
            Fact("Match", match),
            Fact(
                "MT",
                say("covered for more than {most:rate} of the frames", most=0.8) if more else "",
            ),
        )
    )


def _classes(attrs: Mapping[Any, Any]) -> Text:
    """Return the classes that are evaluated, where the ground truth has some."""
    evaluated, ignored = attrs.get("classes_evaluated", ""), attrs.get("classes_ignored", "")
    if not (evaluated or ignored):
        return ""
    text = f"{evaluated or 'none'} evaluated"
    return f"{text}; {ignored} ignored" if ignored else text


def _sizes(tracks: Count, boxes: xr.DataArray) -> Text:
    return say("{tracks}, {boxes:count boxes}", tracks=tracks, boxes=int(boxes))


def _by_sequence(ds: xr.Dataset, variables: Mapping[str, str], *notes: Text) -> Table:
    """Return some variables of each sequence, and of all in the last row; for readers."""
    rows: list[list[Text | None]] = []
    if "sequence" in ds:
        for i, name in enumerate(ds["sequence"].values.tolist()):
            cells = [_cell(ds, f"sequence_{x}", i) for x in variables.values()]
            rows.append([Label(name), *cells])
    whole = [_cell(ds, x) for x in variables.values()]
    rows.append([Strong("all") if rows else "", *whole])
    columns = [Column("sequence", only="readers")]
    columns += [Column(x, heading, only="readers") for heading, x in variables.items()]
    return Table(next(iter(variables.values())), columns, rows, notes=notes)


def _intervals(ds: xr.Dataset) -> Table:
    """Return a row for each measure of all sequences together, with its interval."""
    rows: list[list[Text | None]] = []
    for name, measure in MEASURES.items():
        limits = ds[f"{name}_low"].item(), ds[f"{name}_high"].item()
        interval = None if any(map(math.isnan, limits)) else limits
        cell = cell_of_scalar(measure, ds[name].item(), interval=interval)
        rows.append([label_of(measure), name, cell])
    columns = [
        Column("label", "measure", only="readers"),
        Column("measure", only="data"),
        Column("value", say("all [{level:rate} interval]", level=float(ds.attrs["confidence"]))),
    ]
    note = say(
        "Intervals: jackknife over {unit}, with Student's t; they are for {population}.",
        unit=str(ds.attrs["interval_unit"]),
        population=str(ds.attrs["interval_for"]),
    )
    return Table("measures", columns, rows, title="Intervals", notes=[note])


def _targets(ds: xr.Dataset) -> Table:
    """Return a row for each target; readers see it on request."""
    rows: list[list[Text | None]] = []
    for i, name in enumerate(ds["target"].values.tolist()):
        rows.append([Label(name), *(_cell(ds, x, i) for x in _TARGETS.values())])
    columns = [Column("target", "target")]
    columns += [Column(name, heading) for heading, name in _TARGETS.items()]
    return Table("targets_table", columns, rows, title="Targets", shown=0)


def _cell(ds: xr.Dataset, variable: str, place: Any = ()) -> Text:
    """Return a value of a variable: counts, proportions in per cent, and states in words."""
    value = ds[variable].values[place].item()
    name = variable.removeprefix("sequence_")
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return Count(value, variable=variable)
    if name in MEASURES:
        return cell_of_scalar(MEASURES[name], value, variable=variable)
    return Rate(value, variable=variable)
