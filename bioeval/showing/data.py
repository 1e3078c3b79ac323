"""Results as data: one JSON document, tables of CSV, the frame, and conditions on its numbers.

What a number of the frame is, its variable's attributes say: unit, denominator, threshold, and of a
statistic of another variable, which one. No result has a line here.
"""

from __future__ import annotations

import itertools
import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import rate_in, require_flag
from bioeval.base.errors import DataError, Message, as_json, bad_choice, escaped, messages_of
from bioeval.base.files import as_cell
from bioeval.showing.measures import Measure
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


_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}

#: Words that are conditions on the verdicts of a study.
WORSE, OPEN = "worse", "open"

#: Names that an error lists, at most.
_MOST_NAMED = 10


@dataclass(frozen=True)
class Condition:
    """A condition on a number, such as ``frr_at_far=0.01@system=new > 5%``, or a word.

    The measure may have ``_low``, ``_high`` or ``_threshold`` at its end, for that column of its
    rows. Without a task it is of the first one that has it.
    """

    text: str
    measure: Measure
    sign: str = ""  # none of a word
    limit: float = np.nan

    @classmethod
    def parse(cls, text: str, words: Iterable[str] = ()) -> Condition:
        """Return the condition that a text says; raise ValueError if it says none."""
        text = text.strip()
        if text in words:
            return cls(text, Measure(text))
        measure, sign, limit = re.split("(>=|<=|>|<)", text)
        return cls(text, Measure.parse(measure), sign, rate_in(limit.strip()))

    def reasons(self, frame: pd.DataFrame) -> Iterator[str]:
        """Yield why results fail by the condition; an undefined or unsupported number fails, too.

        The condition is about the means of folds and partitions. Raise :class:`DataError` where no
        row of the frame has the number.
        """
        if not self.sign:
            yield from self._failed_verdicts(frame)
            return
        rows, column = self._rows_meant(frame)
        units = {*rows.get("unit", [""])}
        if column != "threshold" and units <= {"proportion", "p"}:
            # A difference of two rates is at least -1.
            lowest = 0 if (rows["statistic"].isna() | (rows["statistic"] == "mean")).all() else -1
            if not lowest <= self.limit <= 1:
                raise DataError(
                    f"`fail_if` is {self.text!r}, but {self.measure.name} is from {lowest} to 1; "
                    f"write {self.limit:g}% for {self.limit:g} per cent"
                )
        for row in rows.to_dict("records"):
            number = self.measure.text
            if row["supported"] is False:
                reason = f"too few people or attempts for {number}"
            elif np.isnan(row[column]):
                reason = f"{number} is not defined"
            elif _SIGNS[self.sign](row[column], self.limit):
                reason = f"{number} is {row[column]:.6g}"
            else:
                continue
            yield f"{self.text}: {reason} ({_place_in_words(row)})"

    def _rows_meant(self, frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
        """Return the rows that the condition is about, and the column of its number."""
        # ``eer_low`` is the column "low" of the rows of ``eer``, unless a measure has this name.
        measures = frame["measure"].unique().tolist()
        measure, column = self.measure.name, "value"
        base, _, end = measure.rpartition("_")
        if measure not in measures and base in measures and end in ("low", "high", "threshold"):
            measure, column = base, end
        rows = frame[frame["measure"] == measure]
        if rows.empty:
            raise DataError(bad_choice("fail_if", measure, measures, _MOST_NAMED))
        if self.measure.task:
            rows = _of_label(rows, "task", self.measure.task)

        # The named places; by default, test parts and means over folds.
        places = self.measure.places
        for dim, label in places.items():
            rows = _of_label(rows, dim, label)
        if "statistic" not in places:
            rows = rows[rows["statistic"].isna() | (rows["statistic"] == "mean")]
        if places.keys().isdisjoint(OVER):
            rows = rows[rows[[x for x in OVER if x in rows]].isna().all(axis=1)]
        if "part" in rows and "part" not in places and (rows["part"] == "test").any():
            rows = rows[rows["part"].isna() | (rows["part"] == "test")]

        # The named point. A rank is the point of a row without another one; without a named rank,
        # rows at other points are at the smallest rank.
        points = rows["point"]
        if "rank" in rows and "rank" not in places:
            is_at_rank = points.isna() & rows["rank"].notna()
            points = points.where(~is_at_rank, rows["rank"].astype(float))
            rows = rows[is_at_rank | rows["rank"].isna() | (rows["rank"] == rows["rank"].min())]
            points = points[rows.index]
        is_meant = _is_at(points, self.measure.number) if self.measure.point else points.isna()
        if not is_meant.any():
            task, name = self.measure.task, self.measure.name
            known = [f"{name}={x:g}" for x in points.dropna().unique()] or [name]
            prefix = f"{task}/" if task else ""
            names = [f"{prefix}{x}" for x in known]
            asked = f"{prefix}{self.measure.text}"
            raise DataError(bad_choice("fail_if", asked, names, _MOST_NAMED))
        rows = rows[is_meant]

        # Of several tasks with the number, the first one of each system.
        by = [x for x in ("system", "condition") if x in rows]
        groups = rows.groupby(by or np.zeros(len(rows)), dropna=False, sort=False)
        return rows[rows["task"] == groups["task"].transform("first")], column

    def _failed_verdicts(self, frame: pd.DataFrame) -> Iterator[str]:
        """Yield the open promises, or the measures in which a later system is worse than the first.

        Where measures were chosen, or none is supported, one that is not supported is told, too.
        """
        is_verdict = frame["measure"] == "verdict"
        if self.text == WORSE:
            is_verdict = frame["statistic"] == "separated"
        if not is_verdict.any():
            raise DataError(f"`fail_if` is {self.text}, and these results have no verdict")
        if self.text == OPEN:
            is_open = is_verdict & (frame["text"] == OPEN)
            yield from (f"{OPEN}: {promise}" for promise in frame.loc[is_open, "promise"])
            return
        first = frame.loc[is_verdict, "system"].iloc[0]
        rows = frame[is_verdict & (frame["other_system"] == first)]
        is_supported = rows["supported"].fillna(True).astype(bool)
        chosen = any(x.get("measures") for x in frame.attrs["results"].values())
        for row, supported in zip(rows.to_dict("records"), is_supported, strict=True):
            point = row["point"]
            measure = row["measure"] if np.isnan(point) else f"{row['measure']}={point:g}"
            if not supported and (chosen or not is_supported.any()):
                yield f"{WORSE}: too few people or attempts to tell: {row['system']}, {measure}"
            elif supported and row["value"] == -1:
                yield f"{WORSE}: {row['system']}, {measure}"


def _place_in_words(row: Mapping[Any, Any]) -> str:
    """Return system, condition, task, and the labels of the other dimensions of a row."""
    places: list[str] = []
    for name, label in row.items():
        if name in ("system", "condition", "task"):
            if isinstance(label, str) and label:
                places.append(label)
        elif name not in (*COLUMNS, "rank") and label == label and label is not None:  # no NaN
            places.append(f"{name} {label}")
    return ", ".join(places)


def _of_label(rows: pd.DataFrame, dim: str, label: str) -> pd.DataFrame:
    """Return the rows with a label of a dimension; a number may be written in any way."""
    dims = [x for x in rows if x == "statistic" or x not in COLUMNS]
    if dim not in dims:
        raise DataError(bad_choice("fail_if", f"@{dim}", [f"@{x}" for x in dims]))
    labels = rows[dim]
    if labels.dtype == object or labels.dtype.kind not in "iuf":
        is_meant = labels.astype(str) == label
        if not is_meant.any():
            is_meant = labels.astype(str).str.casefold() == label.casefold()
    else:
        try:
            is_meant = _is_at(labels.astype(float), rate_in(label))
        except ValueError:  # no number, so no label
            is_meant = np.zeros(len(labels), bool)
    if not is_meant.any():
        named = [f"{dim}={x}" for x in labels.dropna().unique()]
        raise DataError(bad_choice("fail_if", f"{dim}={label}", named, _MOST_NAMED))
    return rows[is_meant]


def _is_at(places: pd.Series[float], number: float) -> np.ndarray:
    return np.isclose(places, number, rtol=1e-12, atol=0)
