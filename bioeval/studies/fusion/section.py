"""What is said of systems side by side: before and after fusion, or normalisation by a cohort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import xarray as xr

from bioeval.document.blocks import Fact, Messages, Paragraph, Section, Table, tables
from bioeval.document.results import data_facts, result_messages, table_of
from bioeval.document.text import Text
from bioeval.results.layouts import expanded
from bioeval.views.sections.evaluation import verification_of_systems


def section(
    title: Text, results: Mapping[str, xr.Dataset], facts: Sequence[Fact], note: Text = ""
) -> Section:
    """Return what is said of verification by systems, the one made of the others last."""
    datasets = {name: expanded(ds) for name, ds in results.items()}
    dims = next(iter(datasets.values())).dims
    made_of = dict(list(datasets.items())[:-1])
    measures = verification_of_systems(datasets, "measures")
    (shown,) = tables(measures)
    # Below the table is what the data do not support.
    messages = [x for x in result_messages(results).messages if x not in shown.notes]
    return Section(
        "side_by_side",
        title,
        (
            data_facts(made_of, *facts),
            measures,
            Paragraph(note, "note"),
            _together("systems", datasets),
            *(_together(f"{x}s", datasets, x) for x in ("far_target", "frr_target") if x in dims),
            Messages(messages),
        ),
        task="verification",
    )


def _together(id: str, datasets: Mapping[str, xr.Dataset], *dims: str) -> Table:
    """Return the variables of all systems over exactly these dimensions, for data."""
    names = dict.fromkeys(dims)
    for ds in datasets.values():
        names |= {str(name): None for name, x in ds.data_vars.items() if x.dims == dims}
    return table_of(datasets, id, list(names), *dims, shown=0)
