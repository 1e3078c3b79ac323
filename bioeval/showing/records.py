"""Results that are lists of records, as a frame with a row for each: worst pairs, ranks, cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import xarray as xr

from bioeval.showing.nodes import Node

if TYPE_CHECKING:
    import pandas as pd

#: The types of these results, with the dimension of their records.
RECORDS = {"worst-pairs": "pair", "ranks": "probe", "conventions": "card"}


def records_of(nodes: Sequence[Node]) -> pd.DataFrame:
    """Return the records of results, with the system of each."""
    import pandas as pd

    frames = []
    for node in nodes:
        columns = dict(_columns(node.dataset, RECORDS[node.result_type]))
        named = {k: x for k, x in node.columns.items() if k != "task"}
        frames.append(pd.DataFrame({**named, **columns}))
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]


def _columns(dataset: xr.Dataset, record: str) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a dataset; one over more than the records has one for each place."""
    yield record, dataset[record].values
    for name, variable in dataset.data_vars.items():
        if variable.dims == (record,):
            yield str(name), variable.values
            continue
        (dim,) = (x for x in variable.dims if x != record)
        for place, label in enumerate(dataset[dim].values.tolist()):
            yield f"{name}={label}", variable.transpose(record, dim).values[:, place]
