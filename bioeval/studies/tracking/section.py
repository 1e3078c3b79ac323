"""What is said of tracking: rates and counts of each sequence and of all, and the targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xarray as xr

from bioeval.document.blocks import Block, Column, Fact, Facts, ResultsBySystem, Section, Table
from bioeval.document.cells import Count, Label, Rate
from bioeval.document.results import result_messages, table_of_variables
from bioeval.document.scalars import cell_of_scalar, label_of
from bioeval.document.text import Strong, Text, say
from bioeval.studies.tracking.measures import HOTA, MEASURES


def _labels(*names: str) -> dict[str, str]:
    """Return measures by their labels, which are headings."""
    return {MEASURES[name].label: name for name in names}


#: Headings of the columns, and the variables below them.
_RATES = _labels(
    *("mota", "motp", "idf1", "idp", "idr", "recall", "precision", "far", "fp_per_frame")
)
_HOTA = _labels(*HOTA)
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


def tracking_section(results: ResultsBySystem, targets: bool = False) -> Section:
    """Return what is said of tracking, with a row for every target on request."""
    ds = results[""]
    blocks: list[Block] = [_about(ds), *(_by_sequence(ds, x) for x in (_RATES, _HOTA))]
    blocks.append(_by_sequence(ds, _COUNTS, _LEGEND))
    if "interval_method" in ds.attrs:
        blocks.append(_intervals(ds))
    rows = [
        [Label(name), *(_cell(ds, x, i) for x in _TARGETS.values())]
        for i, name in enumerate(ds["target"].values.tolist())
    ]
    columns = [Column("target", "target")]
    columns += [Column(name, heading) for heading, name in _TARGETS.items()]
    shown = None if targets else 0
    blocks.append(Table("targets_table", columns, rows, title="Targets", shown=shown))
    blocks += [table_of_variables(ds, x, id=name) for x, name in _IN_DATA.items() if x in ds.dims]
    return Section("tracking", "", [*blocks, result_messages(results)])


def classes_fact(attrs: Mapping[Any, Any]) -> Fact:
    """Return which classes of the ground truth are evaluated, or why there are none."""
    evaluated, ignored = str(attrs["classes_evaluated"]), str(attrs["classes_ignored"])
    world = int(attrs["world_coordinates"])
    why: Text = ""
    if world:
        why = say(
            "; in {sequences:count sequences} column 8 is a world coordinate and no class "
            "(`classes` reads it as a class)",
            sequences=world,
        )
    if {evaluated, ignored} <= {"", "without class"}:
        return Fact("Classes", say("no row states one; all are evaluated{why}", why=why))
    text = f"{evaluated or 'none'} evaluated"
    if ignored:
        text += f"; {ignored} ignored"
    return Fact("Classes", say("{text}{why}", text=text, why=why))


def _about(ds: xr.Dataset) -> Facts:
    """Return the numbers of boxes, and how they are matched."""
    attrs = ds.attrs
    facts = []
    for name, noun, boxes in (
        ("Truth", "targets", "truth_boxes"),
        ("Result", "identities", "result_boxes"),
    ):
        text = f"{{tracks:count {noun}}}, {{boxes:count boxes}}"
        facts.append(Fact(name, say(text, tracks=int(ds[noun]), boxes=int(ds[boxes]))))
    if int(attrs["cameras"]) > 1:
        facts.append(Fact("Cameras", f"{attrs['cameras']} with common identities"))
    facts.append(classes_fact(attrs))
    match = say(
        "overlap (IoU) of {iou:digits 6} or more; {kept}",
        iou=float(attrs["iou"]),
        kept=_KEPT[str(attrs["pairing"])],
    )
    facts.append(Fact("Match", match))
    if attrs["mostly_tracked"] != "at-least":
        facts.append(Fact("MT", "covered for more than 80 % of the frames"))
    return Facts(facts)


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
        cell = cell_of_scalar(measure, ds[name].item(), interval=limits)
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
