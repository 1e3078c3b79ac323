"""Results as data: the frame, one JSON document, and tables of CSV.

What a number of the frame is, its variable's attributes say: unit, denominator, threshold, and of a
statistic of another variable, which one. No result has a line here.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_flag
from bioeval.base.errors import DataError, Message, as_json, escaped, messages_of
from bioeval.base.files import as_cell
from bioeval.showing.nodes import OVER, Node, nodes_of
from bioeval.showing.numbers import Lines
from bioeval.showing.printing import Shown
from bioeval.showing.rows import COLUMNS, CURVES, NEXT_SCORE, Block, NumbersOfDataset, report_ranks
from bioeval.stats.aggregate import aggregate

if TYPE_CHECKING:
    import pandas as pd

#: Columns that only frames with such numbers have.
_WHERE_NEEDED = ("flagged", "text")

#: Columns of texts, also where no row has one.
_TEXTS = ("task", "measure", "statistic", "at", "unit", "text")

#: Dimensions that come first, in this order, where a result has them.
_FIRST = ("system", "other_system", "condition", "task", "part", "gallery", "group", "rank")


def to_frame(results: Any, *, curves: bool = False) -> pd.DataFrame:
    """Return all numbers of a result as a long data frame with a row for each number.

    Parameters
    ----------
    results : xarray.Dataset, xarray.DataTree, another result of bioeval, or dict
        What a function of bioeval returned. Several results by the names of their systems, or by
        system and condition: ``{system: {condition: result}}``.
    curves : bool
        Whether rates at all thresholds, ranks and single queries, the points of curves and the
        nearest scores that thresholds do not accept are there, too.

    Returns
    -------
    pandas.DataFrame
        Dimensions of the result are columns under their names, such as ``rank``, ``subject``,
        ``partition`` and ``part``, behind ``system``, ``condition`` and ``task`` (its path in a
        tree; the type of a study). Then:

        - ``measure``: the variable, as ``frr_at_far``; ``statistic``: missing for the number
          itself, else one over folds or partitions (:func:`aggregate`), or of a difference of
          systems
        - ``at``, ``point``: what is held (``far_target``, ``threshold``, ``prior``), and its number
        - ``value``, ``low``, ``high``: the number, and the limits of its interval
        - ``threshold``, ``attempts``: the threshold that it is at, and its denominator
        - ``supported``: whether people and attempts are enough for its target; missing elsewhere
        - ``unit``: ``"proportion"``, ``"p"``, ``"score"``, ``"attempts"``, ``"1"`` ...
        - ``flagged``: of groups, whether one is small; ``text``: a value that is a text

        What a row lacks is missing in every column (NaN, None or NA: ``isna()`` asks for it), as in
        a CSV file of the frame that is read again; no text is empty. No two rows have the same
        dimensions, measure, statistic, at and point. Worst pairs, ranks, conventions and the
        findings of a check are records: a row for each, with a column for each variable.
        ``frame.attrs`` has the attributes of each result, and its messages.

    Raises
    ------
    DataError
        If the results are something else, or deeper than system and condition.

    See Also
    --------
    show : The tables as a reader is shown them.
    aggregate : Means over folds, partitions or galleries.

    Examples
    --------
    >>> import bioeval as be
    >>> systems = {f"spread {x}": be.simulate(20, 4, within=x, random_state=1) for x in (1, 2)}
    >>> frame = be.to_frame({name: be.evaluate(x) for name, x in systems.items()})
    >>> frame.query("measure == 'cms' and rank == 1")[["system", "task", "value", "attempts"]]
           system        task   value  attempts
    81   spread 1  closed_set  0.5500      80.0
    172  spread 2  closed_set  0.1125      80.0
    """
    import pandas as pd

    with_curves = require_flag("curves", curves)
    if isinstance(results, Shown):
        records = _without_empty_texts(pd.DataFrame(results._records()))
        return records.astype({"rank": "Int64"}) if "rank" in records else records
    nodes = nodes_of(results)
    if all(node.record for node in nodes):
        frame = records_of(nodes)
    else:
        frame = frame_of(nodes, with_curves)
    frame.attrs = attributes_of(nodes)
    return frame


def frame_of(nodes: Iterable[Node], curves: bool = False) -> pd.DataFrame:
    """Return the numbers of datasets as one frame, without their attributes."""
    import pandas as pd

    blocks: list[Block] = []
    for node in nodes:
        if node.record:
            raise DataError(
                f"{node.result_type} are records, with a frame of their own; give the others "
                "without them"
            )
        numbers = NumbersOfDataset(node.dataset, curves)
        without_condition = node._replace(condition="")
        for block in map(numbers.block, numbers.names):
            for name in {"system", "other_system"} & block.keys():
                names = map(without_condition.name_of_system, block[name].tolist())
                block[name] = np.array([*names], dtype=object)
            size = len(block["value"])
            selected = {name: np.full(size, label) for name, label in node.selected.items()}
            blocks.append(node.columns | selected | block)
    found = dict.fromkeys(itertools.chain.from_iterable(blocks))
    dims = [x for x in dict.fromkeys((*_FIRST, *found)) if x in found]
    dims = [x for x in dims if x not in (*COLUMNS, NEXT_SCORE)]
    sizes = [len(block["value"]) for block in blocks]
    columns = {}
    for name in (*dims, *COLUMNS):
        if name in found or name not in _WHERE_NEEDED:
            columns[name] = _column(name, [block.get(name) for block in blocks], sizes)
    return pd.DataFrame(columns)


def _column(name: str, parts: Sequence[Any], sizes: Sequence[int]) -> Any:
    """Join the parts of a column; a part of None becomes missing values.

    Labels of a dimension are Int64 if all are whole numbers, else floats or texts.
    """
    import pandas as pd

    kinds = {x.dtype.kind if isinstance(x, np.ndarray) else "U" for x in parts if x is not None}
    if name == "point" or not kinds:  # points along some dimensions are whole numbers
        kinds = {"b" if name == "supported" else "f"}
    if name in _TEXTS or not kinds <= {*"biuf"}:
        texts: list[str | None] = []
        for part, size in zip(parts, sizes, strict=True):
            cells = part.tolist() if isinstance(part, np.ndarray) else [part] * size
            texts += [None if x is None or x != x or x == "" else str(x) for x in cells]
        return texts
    filler = np.nan if "f" in kinds else 0
    if not parts:  # no variable has a row
        return np.empty(0)
    arrays = [
        np.full(size, filler) if part is None else part
        for part, size in zip(parts, sizes, strict=True)
    ]
    is_missing = np.repeat([part is None for part in parts], sizes)
    if "f" in kinds:
        return np.concatenate(arrays)
    if kinds == {"b"}:
        return pd.arrays.BooleanArray(np.concatenate(arrays).astype(bool), is_missing)
    return pd.arrays.IntegerArray(np.concatenate(arrays).astype(np.int64), is_missing)


def records_of(nodes: Sequence[Node]) -> pd.DataFrame:
    """Return the records of results, and their systems, as a frame with a row for each record."""
    import pandas as pd

    frames = []
    for node in nodes:
        record, dataset = node.record, node.dataset
        columns: dict[str, Any] = {k: x for k, x in node.columns.items() if k != "task"}
        columns[record] = dataset[record].values
        for name, variable in dataset.data_vars.items():
            if variable.dims == (record,):
                columns[str(name)] = variable.values
                continue
            (dim,) = (x for x in variable.dims if x != record)  # a column for each place
            for place, label in enumerate(dataset[dim].values.tolist()):
                columns[f"{name}={label}"] = variable.transpose(record, dim).values[:, place]
        frames.append(_without_empty_texts(pd.DataFrame(columns)))
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]


def _without_empty_texts(frame: pd.DataFrame) -> pd.DataFrame:
    for name, column in frame.items():
        if column.dtype.kind not in "biufM" and (column == "").any():
            frame[name] = [None if isinstance(x, str) and not x else x for x in column]
    return frame


def attributes_of(nodes: Iterable[Node]) -> dict[str, Any]:
    """Return the attributes of results by system, condition and task, and their messages, once."""
    attrs: dict[str, dict[str, Any]] = {}
    about: dict[Message, list[str]] = {}
    for node in nodes:
        attrs[node.name] = {
            str(key): x.item() if hasattr(x, "item") else x
            for key, x in node.dataset.attrs.items()
            if key != "messages"
        }
        for message in messages_of(node.dataset.attrs):
            about.setdefault(message, []).append(node.name)
    messages = [message_as_data(x) | {"tasks": names} for x, names in about.items()]
    return {"results": attrs, "messages": messages}


def message_as_data(message: Message) -> dict[str, Any]:
    (plain,) = json.loads(as_json([message]))
    return plain | {"sentence": Lines().message(message)}


#: Attributes that are of no use to a program, or in another place of the document.
_NOT_IN_JSON = (
    *("messages", "bioeval_version", "schema"),
    *("report_ranks", "report_thresholds", "report_far_targets"),
)

#: Columns of a table of curves, at most, that one variable has for its places along other axes.
_MOST_COLUMNS = 100


def data_of(results: Any) -> ResultData | ShownData:
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
        statistics = []
        for node in self._numbers:
            if over := [dim for dim in OVER if dim in node.dataset.dims]:
                statistics.append(node._replace(dataset=aggregate(node.dataset, over)))
        frame = frame_of([*self._numbers, *statistics])
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
