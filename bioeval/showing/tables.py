"""Rows of numbers as tables: which dimensions are rows and which are columns.

The dimensions and the descriptions of variables decide; no type of results is treated by its name.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

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

#: Rows of a grid with more than twice as many places; data frames have all places.
_ROWS_OF_MANY = 11

#: Rows of each group, where many places are in groups.
_ROWS_OF_GROUP = 3

#: More points of a measure are rows of a grid, even if labels of measures have a place for them.
_MOST_POINTS_IN_LABELS = 9

#: The labels of a row.
_Place = tuple[Hashable, ...]

#: With more columns of measures, the systems of a grid are rows.
_MOST_COLUMNS = 8

#: The heading of a column, by its statistic and the part of the data that the statistic is over.
_STATISTICS = {
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


def tables_of(rows: Sequence[Row], id: str) -> Iterator[Table]:
    """Yield the tables of a task: a list of measures, and a grid for each set of dimensions."""
    systems = list(dict.fromkeys(row.system for row in rows))
    has_systems_in_rows = len(systems) > FEW or any(row.node.condition for row in rows)
    pairs: list[Row] = []
    others: list[Row] = []
    for row in rows:
        # A list has undefined numbers, too, for a note says why; a grid leaves them blank.
        is_in_list = {*row.places} <= {"rank", "part"} and row.statistic in ("", "mean")
        if not (row.is_defined or is_in_list) or _is_mirrored(row, systems):
            continue
        is_of_pair = row.other_system and len(systems) > 2
        (pairs if is_of_pair else others).append(row)
    for dims, rows_of_table in _rows_by_dims(others).items():
        if not dims and has_systems_in_rows:
            of_test = [row for row in rows_of_table if row.places.get("part") != "train"]
            yield systems_in_rows(of_test, id)
        elif not dims:
            several_systems = len(systems) > 1
            cells = _Cells()
            for row in rows_of_table:
                heading = _heading(row, several_systems)
                if heading is None:
                    continue
                name, text = heading
                key = _key(row)
                if key not in cells.names:
                    cells.names[key] = [label_of(row)]
                cells.columns.setdefault(name, Column(name, text))
                cells.add(key, name, _cell(row))
                if row.statistic == "":
                    name = f"threshold_{row.system}" if several_systems else "threshold"
                    heading_of_threshold = _heading_of_threshold(row, several_systems)
                    cells.columns.setdefault(
                        name, Column(name, heading_of_threshold, is_attached=True)
                    )
                    if (threshold := row.threshold_cell) is not None:
                        cells.add(key, name, threshold)
            # If each threshold has a row of its own, the column of thresholds is left out.
            in_rows = {row.value for row in rows_of_table if row.about.get("shown") == "threshold"}
            all_in_rows = all(
                row.threshold in in_rows for row in rows_of_table if row.threshold_cell is not None
            )
            names = [
                x for x in cells.columns if not (all_in_rows and str(x).startswith("threshold"))
            ]
            mean = "test" if "test" in names else "value_test"
            pooled = cells.values("pooled", "pooled")
            if pooled and np.allclose(pooled, cells.values(mean, "pooled"), rtol=1e-12, atol=0):
                names.remove("pooled")
            if any(row.statistic for row in rows_of_table):
                values = [x for x in names if str(x).startswith("value")]
                statistics = [x for x in dict.fromkeys(_STATISTICS.values()) if x in names]
                names = list(dict.fromkeys((*values, *statistics, *names)))
            cells.columns = {x: cells.columns[x] for x in names}
            yield cells.table(id, [Column("measure")])
        else:
            table = _grid(rows_of_table, f"{id}_{'_'.join(dims)}", dims, len(systems))
            if table.rows:
                yield table
    if pairs:
        cells = _Cells()
        for row in pairs:
            key = _key(row), row.system, row.other_system
            cells.names.setdefault(key, [label_of(row), _difference(row)])
            column = Column(row.statistic, _name_of(row.statistic))
            cells.columns.setdefault(row.statistic, column)
            cells.add(key, row.statistic, _cell(row))
        yield cells.table(f"{id}_differences", [Column("measure"), Column("systems", "systems")])


def _rows_by_dims(rows: Iterable[Row]) -> dict[tuple[str, ...], list[Row]]:
    """Return rows by the dimensions of their table, which are () for numbers in a list."""
    by_places: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        dims = tuple(x for x in row.places if x not in ("rank", "part"))
        by_places.setdefault(dims, []).append(row)
    by_dims: dict[tuple[str, ...], list[Row]] = {}
    for dims, rows_of_places in by_places.items():
        # The dimensions of points, such as FAR targets, whose points are rows of a grid.
        labels: dict[str, set[str]] = {}
        points: dict[str, set[float]] = {}
        for row in rows_of_places:
            if row.at and not row.statistic:
                labels.setdefault(row.at, set()).add(str(row.about.get("label", row.measure)))
                points.setdefault(row.at, set()).add(row.point)
        dims_of_points = set()
        for dim, labels_of_dim in labels.items():
            is_in_labels = all(set(fields_of(x)) & {*PLACES} for x in labels_of_dim)
            number = len(points[dim])
            if number > _MOST_POINTS_IN_LABELS or (number > 1 and not is_in_labels):
                dims_of_points.add(dim)
        for row in rows_of_places:
            point = (row.at,) if row.at in dims_of_points else ()
            by_dims.setdefault((*point, *dims), []).append(row)
    return by_dims


def _is_mirrored(row: Row, systems: Sequence[str]) -> bool:
    """Whether a pair of systems or labels is in reverse of their order in the results."""
    places = [systems.index(x) for x in (row.system, row.other_system) if x in systems]
    if len(places) == 2 and places[0] > places[1]:
        return True
    for other in row.places:
        dim = other.removeprefix("other_")
        if dim != other and dim in row.places:
            labels = row.node.dataset[other].values.tolist()
            return labels.index(row.places[dim]) > labels.index(row.places[other])
    return False


def _key(row: Row, *without: str) -> Hashable:
    """Return measure, point and labels of a number, without its part and some dimensions.

    In one system and part, numbers with the same key stand in the same row or column.
    """
    places = tuple((dim, x) for dim, x in row.places.items() if dim not in ("part", *without))
    point = (row.at, row.point) if row.at and row.at not in without else ()
    return row.measure, point, places


class _Cells:
    """The cells of a table by row and by column, and the names of its rows."""

    def __init__(self) -> None:
        self.columns: dict[Hashable, Column] = {}
        self.names: dict[Hashable, Sequence[Text]] = {}
        self._cells: dict[Hashable, dict[Hashable, Text]] = {}

    def add(self, row: Hashable, column: Hashable, cell: Text) -> None:
        self._cells.setdefault(row, {})[column] = cell

    def row(self, row: Hashable) -> list[Any]:
        """Return the columns and cells of a row as texts; numbers have 12 digits."""
        return [
            (column, *(f"{x:.12g}" for x in (cell.value, *(cell.interval or ()))))
            if isinstance(cell, Quantity)
            else (column, repr(cell))
            for column, cell in self._cells.get(row, {}).items()
        ]

    def values(self, column: Hashable, other: Hashable) -> list[float]:
        """Return a column's numbers in the rows of another column; NaN for a missing number."""
        cells = (x.get(column) for x in self._cells.values() if other in x)
        return [cell.value if isinstance(cell, Quantity) else math.nan for cell in cells]

    def table(self, id: str, heads: Sequence[Column], title: Text = "") -> Table:
        rows = []
        for row, names in self.names.items():
            rows.append([*names, *map(self._cells.get(row, {}).get, self.columns)])
        return Table(id, [*heads, *self.columns.values()], rows, title=title, names=len(heads))


# ------------------------------------------------------------------------------------------- list


def _heading(row: Row, several_systems: bool) -> tuple[str, Text] | None:
    """Return name and heading of the column of a number; None if its statistic has no column."""
    default_part = "test" if row.statistic and "part" in row.node.dataset.dims else ""
    part = str(row.places.get("part", default_part))
    statistic = row.statistic
    if row.other_system:
        text = _difference(row) if statistic == "difference" else _name_of(statistic)
        return f"{statistic}_{row.system}_{row.other_system}", text
    # Beside other systems, a mean over test parts is the value of its system.
    if several_systems and (not statistic or (statistic == "mean" and part != "train")):
        text = Label(row.system)
        if part and not statistic:
            text = say("{system}, {part}", system=text, part=_label_of_part(row))
        return "_".join(filter(None, ("value", row.system, part))), text
    if not statistic:
        return "_".join(filter(None, ("value", part))), _label_of_part(row) if part else "value"
    default_heading = None if part == "train" else statistic.replace("_", " ")
    heading = _STATISTICS.get((statistic, part), default_heading)
    if heading is None or (several_systems and statistic != "sd"):
        return None
    if several_systems:
        text = say("{statistic} of {system}", statistic=heading, system=Label(row.system))
        return f"{heading}_{row.system}", text
    return heading, heading


def _heading_of_threshold(row: Row, several_systems: bool) -> Text:
    if not several_systems:
        return "threshold"
    return say("threshold of {system}", system=Label(row.system))


def _label_of_part(row: Row) -> Text:
    return label_of_place(row.node.dataset.variables, "part", row.places["part"])


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
    cells = _Cells()
    has_conditions = any(row.node.condition for row in rows)
    for row in rows:
        if row.statistic not in (*STATISTICS_IN_ROWS, LETTERS):
            continue
        is_of_training = row.places.get("part") == "train"
        column = (_key(row), is_of_training, row.statistic)
        if column not in cells.columns:
            label, places = label_of(row), []
            for dim, place in row.places.items():
                if dim not in ("rank", "part"):
                    label = say("{label}, {place}", label=label, place=Label(place))
                    places.append(str(place))
            if is_of_training:
                label = say("{part} {label}", part=_label_of_part(row), label=label)
            name = "_".join(filter(None, (_name_of_column(row), *places, row.statistic)))
            heading = {"sd": "sd", LETTERS: "letters"}.get(row.statistic, label)
            cells.columns[column] = Column(name, heading, is_attached=row.statistic == LETTERS)
        condition = row.node.condition
        system = row.system[: -len(condition)].rstrip("/") if condition else row.system
        system = system or str(row.node.dataset.attrs.get("system", ""))
        labels = [Label(system), Label(condition)]
        cells.names[system, condition] = labels if has_conditions else labels[:1]
        cells.add((system, condition), column, row.cell)
    # Letters stand beside the value that they are about.
    columns: dict[Hashable, Column] = {}
    for row in rows:
        key = (_key(row), row.places.get("part") == "train")
        for statistic in (*STATISTICS_IN_ROWS, LETTERS):
            if (*key, statistic) in cells.columns:
                columns[*key, statistic] = cells.columns[*key, statistic]
    cells.columns = columns
    heads = [Column("system", "system")]
    if has_conditions:
        heads.append(Column("condition", "condition"))
    return cells.table(id, heads)


def _name_of_column(row: Row) -> str:
    place = [f"{row.point:g}"] if row.at else []
    place += [str(row.places["rank"])] if "rank" in row.places else []
    return "_".join([row.measure, *place])


# ------------------------------------------------------------------------------------------- grid


def _grid(rows: Sequence[Row], id: str, dims: Sequence[str], n_systems: int) -> Table:
    """Return a table with a row for each place, and a column for each measure.

    Each of several systems has columns of its own, or rows of its own if there were too many
    columns. With many places, the table has the worst of each group, or some evenly spread.
    """
    point = next((x for x in dims if x == rows[0].at), "")
    columns = {(_key(row, *dims), row.places.get("part"), row.statistic) for row in rows}
    is_wide = len(columns) * n_systems > _MOST_COLUMNS or n_systems > FEW
    in_rows = n_systems > 1 and is_wide
    in_columns = n_systems > 1 and not is_wide
    names = ["system", *dims] if in_rows else list(dims)
    places: list[_Place] = []
    for row in rows:
        labels = tuple(row.point if dim == point else row.places[dim] for dim in dims)
        places.append((row.system, *labels) if in_rows else labels)
    by_place: dict[Hashable, set[float]] = {}
    for row, place in zip(rows, places, strict=True):
        if row.threshold_cell is not None:
            by_place.setdefault((row.system, place), set()).add(row.threshold)
    distinct = set[float]().union(*by_place.values())
    has_thresholds = len(distinct) > 1 and all(
        len(thresholds) == 1 for thresholds in by_place.values()
    )
    cells = _Cells()
    # Badness by the column of a rate, then by place.
    badness: dict[Hashable, dict[_Place, float]] = {}
    for row, place in zip(rows, places, strict=True):
        system = row.system if in_columns else ""
        if has_thresholds and (threshold := row.threshold_cell) is not None:
            column = Column("threshold", _heading_of_threshold(row, in_columns))
            cells.columns.setdefault(("threshold", system), column)
            cells.add(place, ("threshold", system), threshold)
        key = _key(row, *dims), row.places.get("part"), row.statistic, system
        if key not in cells.columns:
            prefixes: list[Text] = [Label(row.system)] if in_columns else []
            prefixes += [_label_of_part(row)] if "part" in row.places else []
            measure = row.node.dataset.variables.get(row.measure)
            # A statistic with the label of its measure, or without any, is not named by its label.
            unspecific = measure is None or row.about.get("label") in (
                None,
                measure.attrs.get("label"),
            )
            if row.statistic and unspecific:
                prefixes.append(row.statistic.replace("_", " "))
            heading = label_of(row, without=point)
            for text in reversed(prefixes):
                heading = say("{text} {label}", text=text, label=heading)
            cells.columns[key] = Column(_name_of_column(row), heading)
        cell = row.cell
        cells.add(place, key, cell)
        if isinstance(cell, Rate):
            sign = -1.0 if row.about.get("direction") == "larger" else 1.0
            badness.setdefault(key, {})[place] = sign * cell.value
    coordinates = rows[0].node.dataset.variables
    every_place = [*dict.fromkeys(places)]
    places, joint_labels = _with_joint_labels(every_place, names, cells, coordinates)
    has_mirrored = False
    if len(names) > 1 and _is_symmetric(places, cells):
        order = [*dict.fromkeys(place[-2] for place in places)]
        once = [x for x in places if order.index(x[-2]) <= order.index(x[-1])]
        # Of many places, the worst of each group are shown, in whichever order they are.
        has_mirrored = len(once) <= 2 * _ROWS_OF_MANY
        places = once if has_mirrored else places
    badness_by_first_rate = next(iter(badness.values()), {})
    about = coordinates[dims[-1]].attrs if dims[-1] in coordinates else {}
    is_ranked = about.get("shown") == "worst" and bool(badness_by_first_rate)
    all_places = places
    if is_ranked:
        places = [x for x in places if badness_by_first_rate.get(x, 0) > 0]
    shown = _shown_places(places, badness_by_first_rate, bool(point), is_ranked)
    heads = [Column(x, x.replace("_", " ")) for x in names]
    if len(shown) < len(places):
        worst = "worst " if badness_by_first_rate and not point else ""
        sizes_of_groups = Counter(place[:-1] for place in all_places)
        up_to = "up to " if len({*sizes_of_groups.values()}) > 1 else ""
        each = " each" if len(sizes_of_groups) > 1 else ""
        heads[-1] = Column(
            names[-1],
            say(
                f"{{name}} ({worst}{{shown}} of {up_to}{{all}}{each})",
                name=names[-1].replace("_", " "),
                shown=max(Counter(place[:-1] for place in shown).values()),
                all=max(sizes_of_groups.values()),
            ),
        )
    for place in shown:
        cells.names[place] = [
            joint_labels.get((dim, label)) or label_of_place(coordinates, dim, label)
            for dim, label in zip(names, place, strict=True)
        ]
    table = cells.table(id, heads, say(about["title"]) if "title" in about else "")
    return replace(table, notes=["Pairs are equal in both orders, and listed once."] * has_mirrored)


def _with_joint_labels(
    places: list[_Place], dims: Sequence[str], cells: _Cells, coordinates: Mapping[Any, Any]
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
            of_a, of_b = (
                [cells.row(place) for place in places if place[axis] == x] for x in (a, b)
            )
            if of_a == of_b:
                joint_labels[dim, a] = say(about[f"label_{a}_{b}"])
                places = [place for place in places if place[axis] != b]
    return places, joint_labels


def _is_symmetric(places: Sequence[_Place], cells: _Cells) -> bool:
    """Whether the last two labels of a place can be exchanged, with the same numbers."""
    mirrored = {place: (*place[:-2], place[-1], place[-2]) for place in places}
    if {*mirrored.values()} != {*places}:
        return False
    return all(cells.row(a) == cells.row(b) for a, b in mirrored.items())


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

    def goodness(place: _Place) -> float:
        bad = badness.get(place, math.nan)
        return math.inf if math.isnan(bad) else -bad

    of_group = _ROWS_OF_GROUP if len(groups) > 1 else _ROWS_OF_MANY
    if len(badness) <= 2 * _ROWS_OF_MANY:
        of_group = len(places)
    worst_first = (sorted(group, key=goodness) for group in groups.values())
    return [place for group in worst_first for place in group[:of_group]]
