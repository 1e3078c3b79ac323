"""Systems compared, as a table of a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import xarray as xr

from bioeval.results import number
from bioeval.studies.compare.section import measures_of, notes
from bioeval.views import written


def page_tables(dataset: xr.Dataset) -> Iterator[dict[str, Any]]:
    """Yield the measures as a table of a page; proportions are in per cent."""
    attrs = dataset.attrs
    rows = []
    for i, measure in enumerate(measures_of(dataset)):
        values, differences = "score", "score"
        if measure.scalar.percent:
            values, differences = "percent", "points"
        row = [
            measure.label,
            _cell(dataset, "value_a", i, values),
            _cell(dataset, "value_b", i, values),
            [
                _cell(dataset, "difference", i, differences),
                _cell(dataset, "difference_low", i, differences),
                _cell(dataset, "difference_high", i, differences),
            ],
            {"text": number(float(dataset["p_value"][i]), "p"), "right": True},
            written(measure.verdict),
        ]
        rows.append(row)
    named = [str(attrs.get("system_a", "a")), str(attrs.get("system_b", "b"))]
    level = f"{100 * float(attrs.get('confidence', 0.95)):g} % interval"
    before = "p before Holm" if attrs.get("adjust") == "holm" else "p"
    yield {
        "name": f"comparison-{'-'.join(named)}",
        "caption": " and ".join(named),
        "heads": ["Measure", *named, f"Difference, {level}", before, "Verdict"],
        "rows": rows,
        "note": " ".join(map(written, notes(dataset))),
    }


def _cell(dataset: xr.Dataset, name: str, place: int, shape: str) -> dict[str, Any]:
    """Return a variable of a measure as a cell of a page."""
    more = {"measure": str(dataset["measure"].values[place])}
    value = float(dataset[name].values[place])
    return {"variable": name, "value": value, "shape": shape, "more": more}
