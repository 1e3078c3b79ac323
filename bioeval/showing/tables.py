"""Rows of numbers as tables: which dimensions are rows and which are columns.

Descriptions and dimensions decide, and no type of results has a line here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bioeval.results.variables import PLACES
from bioeval.showing.blocks import Column, Table
from bioeval.showing.cells import Label, Labels, Rate
from bioeval.showing.labels import label_of, label_of_place
from bioeval.showing.rows import Row
from bioeval.showing.text import Text, fields_of, say

#: Systems, at most, that are columns; more of them are rows.
FEW = 4

#: Statistics that a table with a row for each system has.
STATISTICS_IN_ROWS = ("", "mean", "sd")

#: Rows of a grid with many places, of which data have all.
_MOST = 11

#: The labels of a row.
_Place = tuple[Any, ...]

#: Columns of measures, at most, of a grid of several systems side by side.
_MOST_COLUMNS = 8

#: Places that are named of each text.
_NAMED = 8

#: A statistic, and the part of the data that it is over, as the heading of a column.
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
    in_rows = len(systems) > FEW or any(row.node.condition for row in rows)
    pairs: list[Row] = []
    by_places: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if not row.is_defined and (row.statistic not in ("", "mean") or _is_in_grid(row)):
            continue
        if row.other_system:
            if systems.index(row.system) > systems.index(row.other_system):
                continue  # the difference the other way round
            if len(systems) > 2:
                pairs.append(row)
                continue
        if not _is_mirrored(row):
            dims = tuple(x for x in row.places if x not in ("rank", "part"))
            by_places.setdefault(dims, []).append(row)
    by_dims: dict[tuple[str, ...], list[Row]] = {}
    for dims, some in by_places.items():
        points = _tabled_points(some)
        for row in some:
            at = (row.at,) if row.at in points else ()
            by_dims.setdefault((*at, *dims), []).append(row)
    for dims, some in by_dims.items():
        id_of_grid = f"{id}_{'_'.join(dims)}"
        if not dims and in_rows:
            of_test = [row for row in some if row.places.get("part") != "train"]
            yield systems_in_rows(of_test, id)
        elif not dims:
            yield _list(some, id, systems)
        elif len(dims) == len(systems) == 1 and all(row.text is not None for row in some):
            yield from _places_of_texts(some, id_of_grid, dims[0])
        else:
            yield _grid(some, id_of_grid, dims, len(systems))
    if pairs:
        yield _pairs(pairs, f"{id}_differences")


def _is_in_grid(row: Row) -> bool:
    """Whether other rows say why a number is not defined: there are places where it is none."""
    return not {*row.places} <= {"rank", "part"}


def _is_mirrored(row: Row) -> bool:
    """Whether a number is that of two labels of a dimension in the other order."""
    for other in row.places:
        dim = other.removeprefix("other_")
        if dim != other and dim in row.places:
            labels = row.node.dataset[other].values.tolist()
            return labels.index(row.places[dim]) > labels.index(row.places[other])
    return False


def _tabled_points(rows: Sequence[Row]) -> set[str]:
    """Return the dimensions of points that are rows of a grid: many of them, or many measures."""
    labels: dict[str, set[str]] = {}
    points: dict[str, set[float]] = {}
    for row in rows:
        if row.at and not row.statistic:
            labels.setdefault(row.at, set()).add(str(row.about.get("label", row.measure)))
            points.setdefault(row.at, set()).add(row.point)
    tabled = set()
    for at, of_point in labels.items():
        is_in_labels = all(set(fields_of(x)) & {*PLACES} for x in of_point)
        if len(points[at]) > 9 or (len(points[at]) > 1 and not is_in_labels):
            tabled.add(at)
    return tabled


def _key(row: Row) -> Hashable:
    """Return what tells the numbers of one system apart."""
    places = tuple((dim, label) for dim, label in row.places.items() if dim != "part")
    return row.measure, row.at, row.point if row.at else None, places


# ------------------------------------------------------------------------------------------- list


def _list(rows: Sequence[Row], id: str, systems: Sequence[str]) -> Table:
    """Return a table with a row for each measure: its value, limits and threshold."""
    several = len(systems) > 1
    labels: dict[Hashable, Text] = {}
    cells: dict[Hashable, dict[str, Text]] = {}
    columns: dict[str, Column] = {}
    for row in rows:
        heading = _heading(row, several)
        if heading is None:
            continue
        name, text = heading
        key = _key(row)
        if key not in labels:
            labels[key] = label_of(row)
        columns.setdefault(name, Column(name, text))
        cells.setdefault(key, {})[name] = row.cell
        if row.statistic == "":
            of_threshold = f"threshold_{row.system}" if several else "threshold"
            column = Column(of_threshold, _heading_of_threshold(row, several), is_attached=True)
            columns.setdefault(of_threshold, column)
            if (threshold := row.threshold_cell) is not None:
                cells[key][of_threshold] = threshold
    own_rows = {row.value for row in rows if row.about.get("shown") == "threshold"}
    if own_rows.issuperset(row.threshold for row in rows if row.threshold_cell is not None):
        columns = {k: x for k, x in columns.items() if not k.startswith("threshold")}
    if any(row.statistic for row in rows):
        first = [x for x in dict.fromkeys(_STATISTICS.values()) if x in columns]
        values = [x for x in columns if x.startswith("value")]
        columns = {x: columns[x] for x in dict.fromkeys((*values, *first, *columns))}
    made = [[label, *(cells[key].get(x) for x in columns)] for key, label in labels.items()]
    return Table(id, [Column("measure"), *columns.values()], made)


def _heading(row: Row, several: bool) -> tuple[str, Text] | None:
    """Return name and heading of the column of a number; None of a statistic without a column."""
    statistic, part = row.statistic, _part(row)
    if row.other_system:
        text = _difference(row) if statistic == "difference" else _words(statistic)
        return f"{statistic}_{row.system}_{row.other_system}", text
    if several and (not statistic or (statistic == "mean" and part != "train")):
        text = Label(row.system)
        if part and not statistic:
            text = say("{system}, {part}", system=text, part=_label_of_part(row))
        return "_".join(filter(None, ("value", row.system, part))), text
    if not statistic:
        return "_".join(filter(None, ("value", part))), _label_of_part(row) if part else "value"
    heading = _STATISTICS.get((statistic, part), None if part == "train" else _words(statistic))
    if heading is None or (several and statistic != "sd"):
        return None
    if several:
        text = say("{statistic} of {system}", statistic=heading, system=Label(row.system))
        return f"{heading}_{row.system}", text
    return heading, heading


def _heading_of_threshold(row: Row, several: bool) -> Text:
    return say("threshold of {system}", system=Label(row.system)) if several else "threshold"


def _part(row: Row) -> str:
    """Return the part of the data of a number; a statistic of folds is of test by default."""
    default = "test" if row.statistic and "part" in row.node.dataset.dims else ""
    return str(row.places.get("part", default))


def _label_of_part(row: Row) -> Text:
    return label_of_place(row.node.dataset.variables, "part", row.places["part"])


def _difference(row: Row) -> Text:
    return say("{a} - {b}", a=Label(row.system), b=Label(row.other_system))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _pairs(rows: Sequence[Row], id: str) -> Table:
    """Return a table with a row for each measure and pair of systems, and columns of statistics."""
    labels: dict[Hashable, tuple[Text, Text]] = {}
    cells: dict[Hashable, dict[str, Text]] = {}
    columns: dict[str, Column] = {}
    for row in rows:
        name, key = row.statistic, (_key(row), row.system, row.other_system)
        labels.setdefault(key, (label_of(row), _difference(row)))
        columns.setdefault(name, Column(name, _words(name)))
        cells.setdefault(key, {})[name] = row.cell
    made = [[*label, *map(cells[key].get, columns)] for key, label in labels.items()]
    heads = [Column("measure"), Column("systems", "systems")]
    return Table(id, [*heads, *columns.values()], made, names=2)


# --------------------------------------------------------------------------------- systems in rows


def systems_in_rows(rows: Sequence[Row], id: str) -> Table:
    """Return a table with a row for each system, and a column for each measure.

    A mean has its standard deviation in the next column; numbers of the training part have columns
    of their own, where there are such.
    """
    columns: dict[Hashable, Column] = {}
    cells: dict[tuple[str, str], dict[Hashable, Text]] = {}
    for row in rows:
        if row.statistic not in STATISTICS_IN_ROWS:
            continue
        is_of_training = row.places.get("part") == "train"
        key = (_key(row), is_of_training, row.statistic)
        if key not in columns:
            places = [str(x) for dim, x in row.places.items() if dim not in ("rank", "part")]
            name = "_".join(filter(None, (_name_of_column(row), *places, row.statistic)))
            label = _label_with_places(row)
            if is_of_training:
                label = say("{part} {label}", part=_label_of_part(row), label=label)
            columns[key] = Column(name, "sd" if row.statistic == "sd" else label)
        condition = row.node.condition
        system = row.system[: -len(condition)].rstrip("/") if condition else row.system
        system = system or str(row.node.dataset.attrs.get("system", ""))
        cells.setdefault((system, condition), {})[key] = row.cell
    has_conditions = any(condition for _, condition in cells)
    heads = [Column("system", "system")]
    heads += [Column("condition", "condition")] if has_conditions else []
    made = []
    for (system, condition), of_system in cells.items():
        names = [Label(system), *([Label(condition)] if has_conditions else [])]
        made.append([*names, *map(of_system.get, columns)])
    return Table(id, [*heads, *columns.values()], made, names=len(heads))


def _label_with_places(row: Row) -> Text:
    """Return the label of a number with the labels of its dimensions, as of a group."""
    label = label_of(row)
    for dim, place in row.places.items():
        if dim not in ("rank", "part"):
            label = say("{label}, {place}", label=label, place=Label(place))
    return label


def _name_of_column(row: Row) -> str:
    place = [f"{row.point:g}"] if row.at else []
    place += [str(row.places["rank"])] if "rank" in row.places else []
    return "_".join([row.measure, *place])


# ------------------------------------------------------------------------------------------- grid


def _grid(rows: Sequence[Row], id: str, dims: Sequence[str], n_systems: int) -> Table:
    """Return a table with a row for each place, and a column for each measure.

    Of several systems, each has columns of its own, or rows if these were many columns.
    """
    point = next((x for x in dims if x == rows[0].at), "")
    in_rows = len({_key_of_column(row, point) for row in rows}) * n_systems > _MOST_COLUMNS
    in_rows = n_systems > 1 and (in_rows or n_systems > FEW)
    names = ["system", *dims] if in_rows else list(dims)
    columns: dict[Hashable, Column] = {}
    first_of_column: dict[Hashable, Row] = {}
    cells: dict[_Place, dict[Hashable, Text]] = {}
    places: list[_Place] = []
    for row in rows:
        labels_of_row = (row.point if x == point else row.places[x] for x in dims)
        places.append((row.system, *labels_of_row) if in_rows else tuple(labels_of_row))
    with_threshold = _has_thresholds(rows, places)
    in_columns = n_systems > 1 and not in_rows
    for row, place in zip(rows, places, strict=True):
        system = row.system if in_columns else ""
        key = _key_of_column(row, point), system
        of_place = cells.setdefault(place, {})
        if with_threshold and (threshold := row.threshold_cell) is not None:
            of_threshold = Column("threshold", _heading_of_threshold(row, in_columns))
            columns.setdefault(("threshold", system), of_threshold)
            of_place["threshold", system] = threshold
        if key not in columns:
            columns[key] = Column(_name_of_column(row), _heading_in_grid(row, point, in_columns))
            first_of_column[key] = row
        of_place[key] = row.cell
    shown = _chosen(cells, first_of_column, bool(point))
    coordinates = rows[0].node.dataset.variables
    heads = [Column(x, _words(x)) for x in names]
    if shown:
        is_ranked = any(isinstance(row.cell, Rate) for row in first_of_column.values())
        worst = "worst " if is_ranked and not point else ""
        heads[-1] = Column(names[-1], _heading_of_some(names[-1], worst, cells, shown))
    made: list[list[Text | None]] = []
    for place, tie in (shown or dict.fromkeys(cells)).items():
        labels = [label_of_place(coordinates, x, y) for x, y in zip(names, place, strict=True)]
        made.append([*labels, *map(cells[place].get, columns)])
        if tie is not None:
            rates = (tie.rate if x == tie.column else None for x in columns)
            made.append([*labels[:-1], say("{number} more", number=tie.number), *rates])
    title = _title(coordinates, dims[-1])
    return Table(id, [*heads, *columns.values()], made, title=title, names=len(names))


def _title(coordinates: Mapping[Hashable, Any], dim: str) -> str:
    """Return the title that a dimension gives its table; empty without one."""
    return str(coordinates[dim].attrs.get("title", "")) if dim in coordinates else ""


def _key_of_column(row: Row, point: str) -> Hashable:
    at = (row.at, row.point) if row.at and row.at != point else ()
    return row.measure, row.places.get("rank"), row.places.get("part"), row.statistic, *at


def _heading_of_some(
    dim: str, worst: str, places: Iterable[_Place], shown: Collection[_Place]
) -> Text:
    """Return the heading of a dimension of which some places are shown, with their number."""
    of_groups = Counter(place[:-1] for place in places)
    shown_of_groups = Counter(place[:-1] for place in shown)
    up_to = "up to " if len({*of_groups.values()}) > 1 else ""
    each = " each" if len(of_groups) > 1 else ""
    return say(
        f"{{name}} ({worst}{{shown}} of {up_to}{{all}}{each})",
        name=_words(dim),
        shown=max(shown_of_groups.values()),
        all=max(of_groups.values()),
    )


def _places_of_texts(rows: Sequence[Row], id: str, dim: str) -> Iterator[Table]:
    """Yield a table of each measure with a row for each text, and the places that have it."""
    by_measure: dict[str, dict[Any, list[Any]]] = {}
    labels: dict[str, Text] = {}
    for row in rows:
        labels.setdefault(row.measure, label_of(row))
        by_measure.setdefault(row.measure, {}).setdefault(row.text, []).append(row.places[dim])
    for measure, by_text in by_measure.items():
        heads = [Column(measure, labels[measure]), Column(dim, f"{_words(dim)}s")]
        made: list[list[Text | None]] = []
        for text, places in by_text.items():
            made.append([Label(text), Labels(places[:_NAMED], more=len(places) > _NAMED)])
        yield Table(f"{id}_{measure}", heads, made)


def _has_thresholds(rows: Sequence[Row], places: Sequence[Hashable]) -> bool:
    """Whether thresholds differ from place to place, and not from measure to measure."""
    known: dict[Hashable, set[float]] = {}
    for row, place in zip(rows, places, strict=True):
        if row.threshold_cell is not None:
            known.setdefault((row.system, place), set()).add(row.threshold)
    every = {x for each in known.values() for x in each}
    return len(every) > 1 and all(len(each) == 1 for each in known.values())


def _heading_in_grid(row: Row, point: str, several: bool) -> Text:
    label = label_of(row, without=point)
    before: list[Text] = [Label(row.system)] if several else []
    before += [_label_of_part(row)] if "part" in row.places else []
    if row.statistic and not _says_statistic(row):
        before.append(_words(row.statistic))
    for text in reversed(before):
        label = say("{text} {label}", text=text, label=label)
    return label


def _says_statistic(row: Row) -> bool:
    """Whether the label of a statistic says which it is: it is another one than of the measure."""
    of_measure = row.node.dataset.variables.get(row.measure)
    return of_measure is not None and row.about.get("label") not in (
        None,
        of_measure.attrs.get("label"),
    )


class _Tie(NamedTuple):
    """A rate that further places have, beside the last one of a group that is shown."""

    number: int
    column: Hashable
    rate: Rate


def _chosen(
    cells: Mapping[_Place, Mapping[Hashable, Text]],
    first_of_column: Mapping[Hashable, Row],
    is_numeric: bool,
) -> dict[_Place, _Tie | None]:
    """Return the places of many that are shown: the worst of a group, or some evenly spread.

    The last place of a group has the number of places with an equal rate. Of few places there is no
    choice.
    """
    if len(cells) <= 2 * _MOST:
        return {}
    places = list(cells)
    if is_numeric:
        spread = (round(i * (len(places) - 1) / (_MOST - 1)) for i in range(_MOST))
        return dict.fromkeys(places[i] for i in spread)
    rates = (k for k, row in first_of_column.items() if isinstance(row.cell, Rate))
    rate = next(rates, None)
    sign = 1.0
    if rate is not None and first_of_column[rate].about.get("direction") == "larger":
        sign = -1.0
    badness = dict.fromkeys(places, -math.inf)
    groups: dict[Hashable, list[_Place]] = {}
    for place, of_place in cells.items():
        groups.setdefault(place[:-1], []).append(place)
        cell = of_place.get(rate)
        if isinstance(cell, Rate) and cell.is_defined:
            badness[place] = sign * cell.value
    most = max(3, _MOST // len(groups))
    shown: dict[_Place, _Tie | None] = {}
    for group in groups.values():
        ranked = sorted(group, key=lambda x: -badness[x])
        last = ranked[:most][-1]
        shown |= dict.fromkeys(ranked[:most])
        tied = sum(badness[x] == badness[last] for x in ranked[most:])
        cell = cells[last].get(rate)
        if tied and isinstance(cell, Rate) and cell.is_defined:
            shown[last] = _Tie(tied, rate, Rate(cell.value))
    return shown
