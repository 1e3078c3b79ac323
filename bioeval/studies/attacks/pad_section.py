"""What is said of presentation attack detection: errors by species, and operating points."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress

import xarray as xr

from bioeval.base.kinds import larger_is_closer
from bioeval.document.blocks import Column, Fact, Facts, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Count, Label, Rate
from bioeval.document.results import (
    cell_of,
    rate_of,
    result_messages,
    table_of_variables,
    threshold_of,
)
from bioeval.document.text import Enumeration, Text, say
from bioeval.studies.attacks.presentations import DetectionRule

_NO_RESPONSE = {"exclude": "left out of APCER and BPCER", "reject": "rejected at every threshold"}

_RULES = {
    "apcer": "the smallest BPCER with APCER at most {value:rate}",
    "bpcer": "the smallest APCER with BPCER at most {value:rate}",
    "d_eer": "the detection equal error rate",
}


def section(results: ResultsBySystem) -> Section:
    """Return what is said of presentation attack detection."""
    ds = results[""]
    chosen = [_at_threshold(ds)] if "threshold_used" in ds else []
    return Section(
        "pad",
        "Presentation attack detection",
        (
            _about(ds),
            *chosen,
            _classes(ds),
            _points(ds),
            *_intervals(ds),
            table_of_variables(ds, "apcer_target", id="apcer_targets"),
            table_of_variables(ds, "species", id="species"),
            result_messages(results),
        ),
    )


def _about(ds: xr.Dataset) -> Facts:
    """Return the facts about the data, and what APCER is."""
    attrs, counted = ds.attrs, ds["in_apcer"].values.astype(bool)
    names = Enumeration(list(map(Label, compress(ds["species"].values.tolist(), counted))))
    over: Text = "all species" if counted.all() else names
    presented = say(
        "{bona_fide:count bona fide presentations}, {attacks:count attack presentations} of "
        "{species:count} species",
        bona_fide=int(ds["bona_fide"]),
        attacks=int(ds["presentations_of_species"].sum()),
        species=ds.sizes["species"],
    )
    side = "above" if larger_is_closer(str(attrs["kind"])) else "below"
    return Facts(
        (
            Fact("Detector", Label(attrs["system"]), "system"),
            Fact("Over", presented),
            Fact("Scores", f"{attrs['kind']}; bona fide at or {side} the threshold", "kind"),
            Fact("No response", _NO_RESPONSE[str(attrs["non_response"])], "non_response"),
            Fact("APCER is", say("the largest over {species}", species=over)),
        ),
    )


def _at_threshold(ds: xr.Dataset) -> Table:
    """Return the rates at the threshold that was chosen or given."""
    choice: Text = str(ds.attrs["chosen_on"])
    if choice != "given":
        rule = DetectionRule.parse(str(ds.attrs["threshold_rule"]))
        words = say(_RULES[rule.name], value=rule.value)
        choice = say("{rule}, chosen on {data}", rule=words, data=choice)
    bona_fide, attacks = _denominators(ds)
    rows = []
    for label, name, attempts in (
        ("APCER", "apcer_at_threshold", attacks),
        ("BPCER", "bpcer_at_threshold", bona_fide),
        ("APCER, pooled", "apcer_pooled_at_threshold", attacks),
        ("ACER", "acer", attacks),
    ):
        rows.append((label, rate_of(ds, name, attempts=attempts)))
    return Table(
        "at_threshold",
        (Column("measure"), Column("rate", "rate")),
        rows,
        title=say("At the threshold {threshold}", threshold=threshold_of(ds, "threshold_used")),
        details=(choice,),
        notes=("ACER is no measure of ISO/IEC 30107-3; it is kept for older papers.",),
    )


def _classes(ds: xr.Dataset) -> Table:
    """Return presentations, and those without a response, by species and of bona fide."""
    rows: list[tuple[Text | None, ...]] = []
    for i, name in enumerate(ds["species"].values.tolist()):
        number = int(ds["presentations_of_species"][i])
        rates = [
            cell_of(ds, x, {"species": i}, shown="rate", attempts=number)
            for x in ("apnrr_of_species", "apcer_of_species_at_threshold")
        ]
        rows.append((Label(name), Count(number), *rates))
    number = int(ds["bona_fide"])
    rows.append(("bona fide", Count(number), rate_of(ds, "bpnrr", attempts=number), None))
    return Table(
        "classes",
        (
            Column("class", "species"),
            Column("presentations", "presentations"),
            Column("no_response", "APNRR", priority=1),
            Column("apcer", "APCER at the threshold"),
        ),
        rows,
        title="Attack instrument species",
        notes=("APNRR of bona fide presentations is BPNRR.",),
    )


def _points(ds: xr.Dataset) -> Table:
    """Return the operating points of the data: where both rates cross, and at APCER targets."""
    bona_fide, attacks = _denominators(ds)
    d_eer = rate_of(ds, "d_eer", attempts=min(bona_fide, attacks))
    at = threshold_of(ds, "d_eer_threshold")
    rows: list[tuple[Text | None, ...]] = [("d_eer", None, "D-EER", at, d_eer)]
    for i, target in enumerate(ds["apcer_target"].values.tolist()):
        whole = round(1 / target) if target else 0
        name = f" (BPCER{whole})" if whole and abs(1 / target - whole) < 1e-9 * whole else ""
        label = say("BPCER with APCER at most {target:rate}{name}", target=target, name=name)
        at = threshold_of(ds, "threshold_at_apcer", {"apcer_target": i})
        bpcer = rate_of(ds, "bpcer_at_apcer", {"apcer_target": i}, attempts=bona_fide)
        rows.append(("bpcer_at_apcer", Rate(target), label, at, bpcer))
    return Table(
        "points",
        (
            Column("measure", only="data"),
            Column("apcer_target", only="data"),
            Column("label", only="readers"),
            Column("threshold", "threshold"),
            Column("rate", "rate"),
        ),
        rows,
        title="Operating points, chosen on these data",
    )


def _denominators(ds: xr.Dataset) -> tuple[int, int]:
    """Return the bona fide presentations, and those of the largest species."""
    return int(ds["bona_fide"]), int(ds["presentations_of_species"].max())


def _intervals(ds: xr.Dataset) -> Iterator[Paragraph]:
    """Yield the note on the intervals."""
    attrs = ds.attrs
    if "interval_method" in attrs:
        text = say(
            "In brackets: {level:rate} intervals for {population}, by leaving out each of the "
            "{left_out}; of APCER for {apcer}",
            level=float(attrs["confidence"]),
            population=str(attrs["interval_for"]),
            left_out=str(attrs["left_out"]),
            apcer=str(attrs["apcer_interval"]),
        )
        yield Paragraph(text, "note")
