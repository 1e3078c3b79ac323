"""Rows of numbers as tables: which dimensions are rows and which are columns.

A :class:`Row` is one number of a result: its `measure` (FRR), its `statistic` ("" for a value, or
"sd"), and its `places`, the labels by dimension (``{"group": "women"}``), for example ::

    EER                       a list: numbers without places but a rank or a part; a table row each
    FRR of women, of men      a grid: numbers with places; a table row for each place
    EER of A minus EER of B   differences of three or more systems, in a table of their own

:func:`tables_of` sorts the numbers into these tables. A table is built from `labels` (of its rows),
`columns` and `cells`, three dicts in order of first appearance. The dimensions and the descriptions
of variables decide; no type of results is treated by its name.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bioeval.results.variables import PLACES
from bioeval.showing.rows import Row, label_of, label_of_place
from bioeval.showing.text import Column, Label, Quantity, Rate, Table, Text, fields_of, say

#: Up to so many systems are columns; more systems are rows.
FEW = 4

#: The statistics of a table with a row for each system.
STATISTICS_IN_ROWS = ("", "mean", "sd")

#: A statistic of systems that are compared: those that share a letter cannot be told apart.
LETTERS = "letters"

#: The heading of a column of a list, by its statistic and the part of the data that it is over.
#: The columns of one system have this order.
_HEADINGS = {
    ("mean", "train"): "training",
    ("mean", "test"): "test",
    ("mean", ""): "mean",
    ("sd", "test"): "sd",
    ("sd", ""): "sd",
    ("repeats_sd", "test"): "sd of repeats",
    ("pooled", "test"): "pooled",
    ("q0", ""): "smallest",
    ("q1", ""): "largest",
}

#: With more columns of measures, the systems of a grid are rows.
_MOST_COLUMNS = 8

#: More points of a measure are rows of a grid, even if labels of measures have a place for them.
_MOST_POINTS_IN_LABELS = 9

#: Rows of a grid with more than twice as many places; data frames have all places.
_ROWS_OF_MANY = 11

#: Rows of each group, where many places are in groups.
_ROWS_OF_GROUP = 3

#: The labels of a row of a grid; places that differ in the last label alone are a group.
_Place = tuple[Hashable, ...]

#: The cells of a table by row and column.
_Cells = dict[tuple[Any, Any], Text | None]


class _Measure(NamedTuple):
    """A measure at its point and its labels, which numbers of several systems and parts share."""

    name: str
    at: str = ""  # the dimension of the point; "" without a point
    point: float | None = None
    places: tuple[tuple[str, Any], ...] = ()  # dimensions with labels

    @classmethod
    def of(cls, row: Row, dims_of_rows: Sequence[str] = ()) -> _Measure:
        """Return the measure of a number; the rows of its table have some dimensions."""
        in_rows = {"part", *dims_of_rows}
        places = tuple((dim, label) for dim, label in row.places.items() if dim not in in_rows)
        if not row.at or row.at in in_rows:
            return cls(row.measure, places=places)
        return cls(row.measure, row.at, row.point, places)


#: The measure of the thresholds of other measures, and not of a row of the result.
_THRESHOLD = _Measure("threshold", at="threshold")


class _Key(NamedTuple):
    """What distinguishes the columns of a table with a column for each measure."""

    measure: _Measure
    part: str = ""
    statistic: str = ""
    system: str = ""


def tables_of(rows: Sequence[Row], id: str) -> Iterator[Table]:
    """Yield the tables of a task: a list of measures, and a grid for each set of dimensions."""
    systems = list(dict.fromkeys(row.system for row in rows))
    differences: list[Row] = []
    by_places: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        # A number is defined, or is in a list, where a note says why it is not.
        is_in_list = {*row.places} <= {"rank", "part"} and row.statistic in ("", "mean")
        if not (row.is_defined or is_in_list):
            continue
        if _is_mirrored(row, systems):
            continue
        if row.other_system and len(systems) > 2:
            differences.append(row)
        else:
            dims = tuple(x for x in row.places if x not in ("rank", "part"))
            by_places.setdefault(dims, []).append(row)
    # The dimensions of each table; () is the list. A point, such as a FAR target, may be one.
    by_dims: dict[tuple[str, ...], list[Row]] = {}
    for dims, rows_of_places in by_places.items():
        dims_of_points = _dims_of_points(rows_of_places)
        for row in rows_of_places:
            dims_of_table = (row.at, *dims) if row.at in dims_of_points else dims
            by_dims.setdefault(dims_of_table, []).append(row)
    for dims, rows_of_table in by_dims.items():
        if dims:
            table = _grid(rows_of_table, f"{id}_{'_'.join(dims)}", dims, len(systems))
            if table.rows:
                yield table
        elif len(systems) > FEW or any(row.node.condition for row in rows):
            of_test = [row for row in rows_of_table if row.places.get("part") != "train"]
            yield systems_in_rows(of_test, id)
        else:
            yield _measures_in_rows(rows_of_table, id, len(systems) > 1)
    if differences:
        yield _differences_in_rows(differences, id)


def _is_mirrored(row: Row, systems: Sequence[str]) -> bool:
    """Whether a number is of a pair (b, a) of systems or labels, which is shown as (a, b).

    The first of a pair is the one that comes first in the results. The dimension of the second
    label has the prefix ``other_``: the places of a pair are ``group`` and ``other_group``.
    """
    is_of_two_systems = row.system in systems and row.other_system in systems
    if is_of_two_systems and systems.index(row.system) > systems.index(row.other_system):
        return True
    for other_dim in row.places:
        dim = other_dim.removeprefix("other_")
        if dim != other_dim and dim in row.places:
            labels = row.node.dataset[other_dim].values.tolist()
            return labels.index(row.places[dim]) > labels.index(row.places[other_dim])
    return False


def _differences_in_rows(rows: Iterable[Row], id: str) -> Table:
    """Return a table with a row for each measure of two systems, a column for each statistic."""
    labels: dict[Hashable, Sequence[Text]] = {}
    columns: dict[str, Column] = {}
    cells: _Cells = {}
    for row in rows:
        key = _Measure.of(row), row.system, row.other_system
        labels.setdefault(key, [label_of(row), _difference(row)])
        columns.setdefault(row.statistic, Column(row.statistic, _name_of(row.statistic)))
        cells[key, row.statistic] = _cell(row)
    heads = [Column("measure"), Column("systems", "systems")]
    return _table(f"{id}_differences", heads, labels, columns, cells)


def _dims_of_points(rows: Iterable[Row]) -> set[str]:
    """Return the dimensions of points, such as FAR targets, whose points are rows of a grid."""
    labels: dict[str, set[str]] = {}
    points: dict[str, set[float]] = {}
    for row in rows:
        if row.at and not row.statistic:
            labels.setdefault(row.at, set()).add(str(row.about.get("label", row.measure)))
            points.setdefault(row.at, set()).add(row.point)
    dims = set()
    for dim, labels_of_dim in labels.items():
        number = len(points[dim])
        # A label without a field for the point would be the same at all points.
        in_labels = all(not {*PLACES}.isdisjoint(fields_of(label)) for label in labels_of_dim)
        if number > _MOST_POINTS_IN_LABELS or (number > 1 and not in_labels):
            dims.add(dim)
    return dims


def _table(
    id: str,
    heads: Sequence[Column],
    labels: Mapping[Any, Sequence[Text]],
    columns: Mapping[Any, Column],
    cells: _Cells,
    title: Text = "",
) -> Table:
    """Return a table; `labels` are those of its rows, in the columns `heads`."""
    rows = []
    for row, labels_of_row in labels.items():
        rows.append([*labels_of_row, *(cells.get((row, column)) for column in columns)])
    return Table(id, [*heads, *columns.values()], rows, title=title, names=len(heads))


def _label_of_part(row: Row) -> Text:
    return label_of_place(row.node.dataset.variables, "part", row.places["part"])


def _heading_of_threshold(row: Row, several_systems: bool) -> Text:
    if not several_systems:
        return "threshold"
    return say("threshold of {system}", system=Label(row.system))


# ---------------------------------------------------------------------------- measures in rows


def _measures_in_rows(rows: Sequence[Row], id: str, several_systems: bool) -> Table:
    """Return a table with a row for each measure, and columns for its value and its statistics."""
    # The thresholds have columns unless each of them has a row of its own.
    in_rows = {row.value for row in rows if row.about.get("shown") == "threshold"}
    thresholds = {row.threshold for row in rows if row.threshold_cell is not None}
    has_thresholds = not thresholds <= in_rows
    has_pooled = _pooled_numbers_differ(rows)
    labels: dict[Hashable, Sequence[Text]] = {}
    columns: dict[str, Column] = {}
    cells: _Cells = {}
    for row in rows:
        column = _column_of_list(row, several_systems)
        if column is None or (column.name == "pooled" and not has_pooled):
            continue
        key = _Measure.of(row)
        if key not in labels:
            labels[key] = [label_of(row)]
        columns.setdefault(column.name, column)
        cells[key, column.name] = _cell(row)
        if has_thresholds and not row.statistic:
            name = f"threshold_{row.system}" if several_systems else "threshold"
            heading = _heading_of_threshold(row, several_systems)
            columns.setdefault(name, Column(name, heading, is_attached=True))
            cells[key, name] = row.threshold_cell
    # The values, then the statistics in the order of their headings, then the thresholds.
    if any(row.statistic for row in rows):
        of_values = [x for x in columns if x.startswith("value")]
        of_statistics = [x for x in _HEADINGS.values() if x in columns]
        columns = {x: columns[x] for x in (*of_values, *of_statistics, *columns)}
    return _table(id, [Column("measure")], labels, columns, cells)


def _pooled_numbers_differ(rows: Sequence[Row]) -> bool:
    """Whether some pooled number is not the mean over test parts, or the value of the test part."""
    of_test = [row for row in rows if _part_of(row) == "test"]
    of_all = [row for row in rows if _part_of(row) != "train"]
    pooled = {_Measure.of(row): row.value for row in of_all if row.statistic == "pooled"}
    means = {_Measure.of(row): row.value for row in of_test if row.statistic == "mean"}
    values = {_Measure.of(row): row.value for row in of_test if not row.statistic}
    others = [(means or values).get(measure, math.nan) for measure in pooled]
    return not np.allclose([*pooled.values()], others, rtol=1e-12, atol=0)


def _part_of(row: Row) -> str:
    """Return the part of the data that a number is of; a statistic over parts is of the test."""
    default = "test" if row.statistic and "part" in row.node.dataset.dims else ""
    return str(row.places.get("part", default))


def _column_of_list(row: Row, several_systems: bool) -> Column | None:
    """Return the column of a number; None if its statistic has no column."""
    statistic = row.statistic
    if row.other_system:
        text = _difference(row) if statistic == "difference" else _name_of(statistic)
        return Column(f"{statistic}_{row.system}_{row.other_system}", text)
    part = _part_of(row)
    # Beside other systems, a mean over test parts is the value of its system.
    if not statistic or (several_systems and statistic == "mean" and part != "train"):
        name = "_".join(filter(None, ("value", row.system if several_systems else "", part)))
        label = _label_of_part(row) if part and not statistic else ""
        if not several_systems:
            return Column(name, label or "value")
        system = Label(row.system)
        return Column(name, say("{system}, {part}", system=system, part=label) if label else system)
    is_named = (statistic, part) in _HEADINGS
    if (part == "train" and not is_named) or (several_systems and statistic != "sd"):
        return None
    name = _HEADINGS[statistic, part] if is_named else statistic.replace("_", " ")
    if not several_systems:
        return Column(name, name)
    text = say("{statistic} of {system}", statistic=name, system=Label(row.system))
    return Column(f"{name}_{row.system}", text)


def _difference(row: Row) -> Text:
    return say("{a} minus {b}", a=Label(row.system), b=Label(row.other_system))


def _name_of(statistic: str) -> str:
    return "better" if statistic == "separated" else statistic.replace("_", " ")


def _cell(row: Row) -> Text:
    """Return the number of a row; in place of a sign, the system that is shown to be better."""
    if row.statistic != "separated":
        return row.cell
    better = row.system if row.value > 0 else row.other_system
    return Label(better) if row.value else "undecided"


# --------------------------------------------------------------------------------- systems in rows


def systems_in_rows(rows: Sequence[Row], id: str) -> Table:
    """Return a table with a row for each system, and a column for each measure.

    A mean has its standard deviation in the next column. Numbers of the training part, if there are
    any, have columns of their own.
    """
    statistics = (*STATISTICS_IN_ROWS, LETTERS)
    heads = [Column("system", "system"), Column("condition", "condition")]
    heads = heads if any(row.node.condition for row in rows) else heads[:1]
    labels: dict[Hashable, Sequence[Text]] = {}
    columns: dict[Hashable, Column] = {}
    cells: _Cells = {}
    for row in rows:
        if row.statistic not in statistics:
            continue
        column = _key_of_measure(row)._replace(statistic=row.statistic)
        if column not in columns:
            label, places = label_of(row), []
            for dim, place in row.places.items():
                if dim not in ("rank", "part"):
                    label = say("{label}, {place}", label=label, place=Label(place))
                    places.append(str(place))
            if row.places.get("part") == "train":
                label = say("{part} {label}", part=_label_of_part(row), label=label)
            name = "_".join(filter(None, (_name_of_column(row), *places, row.statistic)))
            heading = {"sd": "sd", LETTERS: "letters"}.get(row.statistic, label)
            columns[column] = Column(name, heading, is_attached=row.statistic == LETTERS)
        condition = row.node.condition
        system = row.system.removesuffix(condition).rstrip("/") if condition else row.system
        system = system or str(row.node.dataset.attrs.get("system", ""))
        labels[system, condition] = [Label(system), Label(condition)][: len(heads)]
        cells[(system, condition), column] = row.cell
    # Letters and standard deviations stand beside the value that they are about.
    measures = dict.fromkeys(map(_key_of_measure, rows))
    in_order = [x._replace(statistic=statistic) for x in measures for statistic in statistics]
    return _table(id, heads, labels, {x: columns[x] for x in in_order if x in columns}, cells)


def _key_of_measure(row: Row) -> _Key:
    """Return the measure of a number, and whether it is of the training part."""
    return _Key(_Measure.of(row), "train" if row.places.get("part") == "train" else "")


def _name_of_column(row: Row) -> str:
    place = [f"{row.point:g}"] if row.at else []
    place += [str(row.places["rank"])] if "rank" in row.places else []
    return "_".join([row.measure, *place])


# ------------------------------------------------------------------------------------------- grid


@dataclass(frozen=True)
class _Grid:
    """The cells of a grid at all places, of which the table will have some."""

    columns: Mapping[_Key, Column]
    cells: _Cells  # by place and column
    badness: Mapping[_Place, float]  # by the first column of rates: the larger, the worse

    def numbers(self, place: _Place) -> list[Any]:
        """Return the cells of a place so that places with equal numbers are equal."""
        return [_comparable(self.cells.get((place, column))) for column in self.columns]


def _grid(rows: Sequence[Row], id: str, dims: Sequence[str], n_systems: int) -> Table:
    """Return a table with a row for each place, and a column for each measure.

    Each of several systems has columns of its own, or rows of its own if there were too many
    columns. With many places, the table has the worst of each group, or some evenly spread.
    """
    point = rows[0].at if rows[0].at in dims else ""  # the dimension of points, if it is one
    measures = {(_Measure.of(row, dims), row.places.get("part"), row.statistic) for row in rows}
    is_wide = n_systems > FEW or len(measures) * n_systems > _MOST_COLUMNS
    in_rows, in_columns = n_systems > 1 and is_wide, n_systems > 1 and not is_wide
    names = ["system", *dims] if in_rows else list(dims)  # of the labels of a table row
    place_of_row: list[_Place] = []
    for row in rows:
        labels = tuple(row.point if dim == point else row.places[dim] for dim in dims)
        place_of_row.append((row.system, *labels) if in_rows else labels)
    grid = _cells_of_grid(rows, place_of_row, dims, in_columns)

    # The places without those that say the same: joint labels, and pairs in both orders. Both
    # orders are kept if half of the pairs would still be too many rows.
    coordinates = rows[0].node.dataset.variables
    places = [*dict.fromkeys(place_of_row)]
    places, joint_labels = _with_joint_labels(places, names, coordinates, grid)
    of_pairs = _each_pair_once(places, grid) if len(names) > 1 else places
    is_halved = len(of_pairs) < len(places) and len(of_pairs) <= 2 * _ROWS_OF_MANY
    places = of_pairs if is_halved else places

    # Of many places, the worst of each group are shown, in whichever order they are.
    about = coordinates[dims[-1]].attrs if dims[-1] in coordinates else {}
    is_ranked = about.get("shown") == "worst" and bool(grid.badness)
    candidates = [x for x in places if grid.badness.get(x, 0) > 0] if is_ranked else places
    shown = _shown_places(candidates, grid.badness, bool(point), is_ranked)
    heads = [Column(name, name.replace("_", " ")) for name in names]
    if len(shown) < len(candidates):
        worst = "worst " if grid.badness and not point else ""
        heads[-1] = Column(names[-1], _heading_of_some(names[-1], worst, shown, places))
    labels_of_place = {}
    for place in shown:
        labels_of_place[place] = [
            joint_labels.get((dim, label)) or label_of_place(coordinates, dim, label)
            for dim, label in zip(names, place, strict=True)
        ]
    title = say(about["title"]) if "title" in about else ""
    table = _table(id, heads, labels_of_place, grid.columns, grid.cells, title)
    notes = ["Pairs are equal in both orders, and listed once."] if is_halved else []
    return replace(table, notes=notes)


def _cells_of_grid(
    rows: Sequence[Row], place_of_row: Sequence[_Place], dims: Sequence[str], in_columns: bool
) -> _Grid:
    """Return the cells of numbers at their places; perhaps with `in_columns` for each system."""
    has_thresholds = _has_thresholds(rows, place_of_row)
    columns: dict[_Key, Column] = {}
    cells: _Cells = {}
    badness: dict[_Place, float] = {}
    column_of_badness: _Key | None = None
    for row, place in zip(rows, place_of_row, strict=True):
        system = row.system if in_columns else ""
        threshold = row.threshold_cell
        if has_thresholds and threshold is not None:
            column = _Key(_THRESHOLD, system=system)
            heading = _heading_of_threshold(row, in_columns)
            columns.setdefault(column, Column("threshold", heading))
            cells[place, column] = threshold
        part = str(row.places.get("part", ""))
        column = _Key(_Measure.of(row, dims), part, row.statistic, system)
        if column not in columns:
            columns[column] = _column_of_grid(row, dims, in_columns)
        cell = cells[place, column] = row.cell
        # How bad a place is, is told by the first column of rates alone.
        if isinstance(cell, Rate) and column_of_badness in (None, column):
            column_of_badness = column
            larger_is_better = row.about.get("direction") == "larger"
            badness[place] = -cell.value if larger_is_better else cell.value
    return _Grid(columns, cells, badness)


def _has_thresholds(rows: Sequence[Row], place_of_row: Sequence[_Place]) -> bool:
    """Whether the numbers of a table row are at one threshold, and other rows at others."""
    thresholds: dict[Hashable, set[float]] = {}  # of each system and place
    for row, place in zip(rows, place_of_row, strict=True):
        if row.threshold_cell is not None:
            thresholds.setdefault((row.system, place), set()).add(row.threshold)
    distinct = set[float]().union(*thresholds.values())
    return len(distinct) > 1 and all(len(x) == 1 for x in thresholds.values())


def _comparable(cell: Text | None) -> Any:
    """Return a cell so that equal numbers are equal though they were rounded: to 12 digits."""
    if not isinstance(cell, Quantity):
        return repr(cell)
    return [f"{number:.12g}" for number in (cell.value, *(cell.interval or ()))]


def _column_of_grid(row: Row, dims: Sequence[str], several_systems: bool) -> Column:
    heading = label_of(row, without=row.at if row.at in dims else "")
    measure = row.node.dataset.variables.get(row.measure)
    label_of_measure = None if measure is None else measure.attrs.get("label")
    prefixes: list[Text] = [Label(row.system)] if several_systems else []
    prefixes += [_label_of_part(row)] if "part" in row.places else []
    # A statistic with the label of its measure, or without any, is not named by its label.
    if row.statistic and (measure is None or row.about.get("label") in (None, label_of_measure)):
        prefixes.append(row.statistic.replace("_", " "))
    for text in reversed(prefixes):
        heading = say("{text} {label}", text=text, label=heading)
    return Column(_name_of_column(row), heading)


def _heading_of_some(
    name: str, worst: str, shown: Sequence[_Place], places: Sequence[_Place]
) -> Text:
    """Return the heading of labels of which some are shown: how many, of how many in a group."""
    sizes = Counter(place[:-1] for place in places)
    up_to = "up to " if len({*sizes.values()}) > 1 else ""
    each = " each" if len(sizes) > 1 else ""
    return say(
        f"{{name}} ({worst}{{shown}} of {up_to}{{all}}{each})",
        name=name.replace("_", " "),
        shown=max(Counter(place[:-1] for place in shown).values()),
        all=max(sizes.values()),
    )


def _with_joint_labels(
    places: list[_Place], dims: Sequence[str], coordinates: Mapping[Any, Any], grid: _Grid
) -> tuple[list[_Place], dict[tuple[str, Hashable], Text]]:
    """Return the places without repeated numbers, and the labels that stand for two labels.

    Two labels are joined if their numbers are equal and their dimension has a label for both, such
    as ``label_a_b``.
    """
    joint_labels: dict[tuple[str, Hashable], Text] = {}
    for axis, dim in enumerate(dims):
        about = coordinates[dim].attrs if dim in coordinates else {}
        for a, b in itertools.pairwise(dict.fromkeys(place[axis] for place in places)):
            if f"label_{a}_{b}" not in about:
                continue
            of_a = [grid.numbers(place) for place in places if place[axis] == a]
            of_b = [grid.numbers(place) for place in places if place[axis] == b]
            if of_a == of_b:
                joint_labels[dim, a] = say(about[f"label_{a}_{b}"])
                places = [place for place in places if place[axis] != b]
    return places, joint_labels


def _each_pair_once(places: list[_Place], grid: _Grid) -> list[_Place]:
    """Return one place of each pair, if the last two labels of all can be exchanged."""
    mirrored = {place: (*place[:-2], place[-1], place[-2]) for place in places}
    is_symmetric = {*mirrored.values()} == {*places}
    if not is_symmetric:
        return places
    if any(grid.numbers(place) != grid.numbers(other) for place, other in mirrored.items()):
        return places
    order = [*dict.fromkeys(place[-2] for place in places)]
    return [x for x in places if order.index(x[-2]) <= order.index(x[-1])]


def _shown_places(
    places: Sequence[_Place], badness: Mapping[_Place, float], is_numeric: bool, is_ranked: bool
) -> Sequence[_Place]:
    """Return the places of many that are shown: the worst of a group, or some evenly spread.

    With `is_ranked`, the worst come first though they are few.
    """
    if len(places) <= 2 * _ROWS_OF_MANY and not is_ranked:
        return places
    if is_numeric:
        last, last_row = len(places) - 1, _ROWS_OF_MANY - 1
        return [places[round(i * last / last_row)] for i in range(_ROWS_OF_MANY)]
    groups: dict[Hashable, list[_Place]] = {}
    for place in places:
        groups.setdefault(place[:-1], []).append(place)
    of_group = _ROWS_OF_GROUP if len(groups) > 1 else _ROWS_OF_MANY
    if len(badness) <= 2 * _ROWS_OF_MANY:
        of_group = len(places)
    # Places without a number are last.
    worst_first = (sorted(x, key=lambda y: -badness.get(y, -math.inf)) for x in groups.values())
    return [place for group in worst_first for place in group[:of_group]]
