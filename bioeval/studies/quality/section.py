"""What is said of measures of quality: the errors that are left as samples are discarded."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bioeval.counting.threshold_rules import Rule
from bioeval.document.blocks import Column, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Label, Number, Rate
from bioeval.document.results import (
    cell_of,
    data_facts,
    result_messages,
    rule_in_words,
    threshold_of,
)
from bioeval.document.text import Text, say

# Proportions that are shown of a longer curve.
_SHOWN = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)

# What a narrow table leaves out first: 5 %, 30 %, 10 %, 50 % of these.
_PRIORITIES = (0, 4, 2, 0, 3, 1)

#: What there is at each fraction.
_CURVE = ("discarded", "frr", "far", "fr", "fa", "genuine_attempts", "impostor_attempts")


def section(results: ResultsBySystem) -> Section:
    """Return the errors left with each measure of quality, by its name."""
    first = next(iter(results.values()))
    return Section(
        "error-discard",
        "Error against discard",
        (
            data_facts({"": first}),
            Paragraph(_threshold(first), "note"),
            _measures(results),
            Paragraph(
                say("pAUC: area under {frr} from 0 to 20 %, 1 where discarding changes nothing."),
                "note",
            ),
            _curves(results),
            result_messages(results),
        ),
        task="verification",
    )


def _threshold(ds: xr.Dataset) -> Text:
    """Return the threshold, and how it was chosen."""
    threshold = threshold_of(ds)
    if ds.attrs["chosen_on"] == "given":
        return say("At the threshold {threshold}", threshold=threshold)
    return say(
        "At the threshold {threshold}, {rule}, before samples are discarded",
        threshold=threshold,
        rule=rule_in_words(Rule.written(str(ds.attrs["threshold_rule"]))),
    )


def _measures(results: ResultsBySystem) -> Table:
    """Return pAUC of each measure, and FRR at some fractions."""
    fractions = next(iter(results.values()))["fraction"].values
    places, priorities = np.arange(len(fractions)), np.zeros(len(fractions), dtype=int)
    if len(fractions) > len(_SHOWN):
        of_fraction = np.isclose(_SHOWN, fractions[:, np.newaxis])
        places = np.flatnonzero(of_fraction.any(axis=1))
        priorities = np.array(_PRIORITIES)[of_fraction.argmax(axis=1)]
    columns = [Column("quality", "quality"), Column("pauc", "pAUC")]
    for i in places.tolist():
        priority = int(priorities[i])
        name = f"frr_{fractions[i]:g}"
        columns.append(Column(name, Rate(float(fractions[i])), priority, only="readers"))
    rows: list[list[Text | None]] = []
    for name, ds in results.items():
        pauc = Number(float(ds["pauc"]), decimals=4, variable="pauc")
        rates = [cell_of(ds, "frr", {"fraction": i}) for i in places.tolist()]
        rows.append([Label(name), pauc, *rates])
    title = say("{frr} by the proportion of the samples that is discarded")
    return Table("measures", columns, rows, title=title)


def _curves(results: ResultsBySystem) -> Table:
    """Return all that there is at each fraction, for data."""
    rows: list[list[Text | None]] = []
    for quality, ds in results.items():
        for i, fraction in enumerate(ds["fraction"].values.tolist()):
            cells = [cell_of(ds, name, {"fraction": i}) for name in _CURVE]
            rows.append([Label(quality), Rate(fraction, variable="fraction"), *cells])
    columns = [Column("quality"), Column("fraction"), *map(Column, _CURVE)]
    return Table("curves", columns, rows, shown=0)
