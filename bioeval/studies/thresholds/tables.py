"""The people that the target of a threshold study needs, as a table of a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import xarray as xr

from bioeval.document import Quantity, Strong
from bioeval.studies.thresholds.section import people_needed
from bioeval.views import Lines


def needed_people(study: xr.Dataset) -> Iterator[dict[str, Any]]:
    """Yield the people that the target of a study needs as a table; nothing if it needs none."""
    lines = Lines(str(study.attrs.get("terms", "lecture")))
    for table in people_needed(study):
        rows = []
        for row in table.rows:
            asked = isinstance(row[0], Strong)
            cells: list[dict[str, Any]] = []
            for cell in row:
                right = cell is None or isinstance(cell, Quantity)
                cells.append({"text": lines.write(cell), "right": right, "strong": asked})
            rows.append(cells)
        caption = lines.write(table.title)
        yield {
            "name": table.id,
            "caption": f"{caption[0].lower()}{caption[1:]}",
            "heads": [lines.write(column.heading).capitalize() for column in table.columns],
            "rows": rows,
            "note": " ".join(map(lines.write, table.notes)),
        }
