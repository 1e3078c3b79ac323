"""Results as data: one JSON document, and tables of CSV."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bioeval.base.csv_cells import as_cell
from bioeval.base.errors import escaped
from bioeval.showing.frame import attributes_of, frame_of, message_as_data, records_of
from bioeval.showing.nodes import OVER, Node, nodes_of, report_ranks
from bioeval.showing.printing import Shown
from bioeval.showing.rows import CURVES
from bioeval.stats.aggregate import aggregate

if TYPE_CHECKING:
    import pandas as pd

#: Attributes that are of no use to a program, or in another place of the document.
_NOT_IN_JSON = ("messages", "bioeval_version", "schema", "report_ranks", "report_thresholds")

#: Columns of a table of curves, at most, that one variable has for its places along other axes.
_MOST_COLUMNS = 100


def data_of(results: Any) -> ResultData | ShownData:
    """Return the data of a result, or of several by name."""
    return ShownData(results) if isinstance(results, Shown) else ResultData(results)


class ShownData:
    """The data of what is shown with a document of its own: a check, an explained row."""

    def __init__(self, shown: Shown):
        self._shown = shown

    @property
    def frame(self) -> pd.DataFrame:
        """The frame of the numbers that conditions may be about."""
        import pandas as pd

        empty = {"task": "", "statistic": None, "at": None, "point": np.nan, "supported": pd.NA}
        return pd.DataFrame([empty | row for row in self._shown._numbers()])

    def document(self) -> dict[str, Any]:
        """Return the entries of one JSON document."""
        messages = [message_as_data(x) for x in self._shown.messages]
        return {**self._shown._document(), "messages": messages}

    def tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield the lists of the document as tables of CSV by name."""
        import pandas as pd

        for name, rows in self._shown._document().items():
            if isinstance(rows, list) and rows:
                yield name, pd.DataFrame(rows)


class ResultData:
    """The numbers of results, of several by name too, as programs read them."""

    def __init__(self, results: Any):
        self._nodes = nodes_of(results)
        self._numbers = [x for x in self._nodes if not x.record]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The frame of all numbers, and of statistics over folds and partitions."""
        frame = frame_of([*self._numbers, *_statistics(self._numbers)])
        frame.attrs = self._attributes
        return frame

    @cached_property
    def _attributes(self) -> dict[str, Any]:
        return attributes_of(self._nodes)

    @cached_property
    def records(self) -> dict[str, pd.DataFrame]:
        """The frames of records, such as the worst pairs, by the type of their result."""
        by_type: dict[str, list[Node]] = {}
        for node in self._nodes:
            if node.record:
                by_type.setdefault(node.result_type, []).append(node)
        return {name.replace("-", "_"): records_of(nodes) for name, nodes in by_type.items()}

    def document(self) -> dict[str, Any]:
        """Return attributes, rows and messages, as one JSON document has them.

        Attributes that all tasks have are there once; rates and needs of a study, which have no
        type, are no tasks. NaN of a value stays; a row has no other empty columns.
        """
        of_tasks = {}
        for name, of_task in self._attributes["results"].items():
            own = {k: x for k, x in of_task.items() if k not in _NOT_IN_JSON}
            if own:
                of_tasks[name] = own
        typed = [x for x in of_tasks.values() if "result_type" in x] or [*of_tasks.values()]
        shared = {k: x for k, x in typed[0].items() if all(y.get(k) == x for y in typed)}
        document = dict(shared)
        if len(of_tasks) > 1:
            document["tasks"] = {
                name: {k: x for k, x in own.items() if shared.get(k) != x}
                for name, own in of_tasks.items()
            }
        if self._numbers:
            document["rows"] = rows_of(self.frame)
        for name, records in self.records.items():
            document[name if self._numbers else "rows"] = rows_of(records)
        return {**document, "messages": self._attributes["messages"]}

    def tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield all tables of CSV by name: numbers, records, and the curves of each task."""
        if self._numbers:
            yield "numbers", self.frame
        yield from self.records.items()
        for node in self._numbers:
            for dim in (*CURVES, "rank"):
                if dim in node.dataset.dims and (columns := dict(_curves(node.dataset, dim))):
                    name = f"{node.name}_{dim}".replace("/", "_")
                    yield name, xr.Dataset(columns).to_dataframe().reset_index()


def _statistics(nodes: list[Node]) -> Iterator[Node]:
    for node in nodes:
        over = [dim for dim in OVER if dim in node.dataset.dims]
        if over:
            yield node._replace(dataset=aggregate(node.dataset, over))


def _curves(dataset: xr.Dataset, dim: str) -> Iterator[tuple[str, xr.DataArray]]:
    for name, values in dataset.data_vars.items():
        if dim not in values.dims:
            continue
        if "rank" in values.dims and dim != "rank":
            values = values.sel(rank=report_ranks(dataset))
        others = [str(x) for x in values.dims if x != dim]
        shape = [values.sizes[x] for x in others]
        if int(np.prod(shape)) > _MOST_COLUMNS:
            continue
        for place in np.ndindex(*shape):
            column = values.isel(dict(zip(others, place, strict=True)))
            labels = [f"{x}={values[x].values[i]}" for x, i in zip(others, place, strict=True)]
            at = f"@{','.join(labels)}" if labels else ""
            yield f"{name}{at}", column.reset_coords(drop=True)


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame; missing values are None.

    A row of a number has no empty columns but its value.
    """
    is_of_numbers = "measure" in frame
    is_missing = frame.isna().to_numpy()
    columns = [frame[name].astype(object).tolist() for name in frame]
    rows = []
    for values, missing in zip(zip(*columns, strict=True), is_missing, strict=True):
        row = {k: None if no else x for k, x, no in zip(frame, values, missing, strict=True)}
        if is_of_numbers:
            kept = "" if row.get("text") else "value"
            row = {k: x for k, x in row.items() if x is not None or k == kept}
        rows.append(row)
    return rows


def csv_of(frame: pd.DataFrame) -> str:
    """Return a frame as CSV whose texts no spreadsheet runs."""
    cells = frame.rename(columns=_cell)
    for name, column in cells.items():
        if column.dtype == object or column.dtype.kind not in "biuf":
            cells[name] = [_cell(x) if isinstance(x, str) else x for x in column]
    return cells.to_csv(index=False, lineterminator="\n")


def _cell(text: str) -> str:
    return as_cell(escaped(text))
