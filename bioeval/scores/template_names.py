"""Templates that are known by their names: equal names on both sides are one template."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.labels import (
    NAME_COLUMNS,
    Codes,
    column_codes,
    likeness,
    missing_values,
    plain,
)

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores

#: The columns that name templates whatever they hold. The others of `NAME_COLUMNS` do so where
#: they hold names of files, each once: faces of one photograph are several templates.
_OF_TEMPLATES = ("template", "name", "names")

# A path, or a name with an ending.
_FILE = re.compile(r".*[/\\].+|.+\.[A-Za-z]\w{0,4}", re.DOTALL)

Columns = Mapping[str, np.ndarray]

#: The index and the columns of a table.
Table = tuple[np.ndarray, np.ndarray]


class NamedTemplates:
    """The names of the templates of both sides, as codes: equal ones are one template.

    - `names` (Codes): an unknown name is -1 as a probe's, -2 in the gallery
    """

    def __init__(self, column: str, probe: np.ndarray, gallery: np.ndarray):
        self.column = column
        self.names = column_codes(probe, gallery, column)
        for codes, side in ((self.names.probe, "row"), (self.names.gallery, "column")):
            self._require_different(codes, side)

    @classmethod
    def of(
        cls, probe: Columns, gallery: Columns, labels: tuple[np.ndarray, np.ndarray] | None
    ) -> NamedTemplates | None:
        """Return the names that columns of both sides have; None without."""
        name = name_column(probe, gallery, labels)
        return cls(name, probe[name], gallery[name]) if name else None

    def _require_different(self, codes: np.ndarray, side: str) -> None:
        """Raise where two templates of a side have one name."""
        known = np.flatnonzero(codes >= 0)
        order = known[np.argsort(codes[known], kind="stable")]
        again = np.flatnonzero(np.diff(codes[order]) == 0)
        if not len(again):
            return
        where = ", ".join(str(place) for place in order[again[0] : again[0] + 2])
        name = plain(self.names.values[codes[order[again[0]]]])
        raise DataError(
            f"the column {self.column!r} has the name {name!r} twice, in {side}s {where}; equal "
            "names are one template, and a matrix has each template once: give each its own name, "
            "call the column otherwise if it does not name templates, or make one template of "
            f"several embeddings by average={self.column!r}"
        )

    def entries(self, subjects: Codes | None) -> np.ndarray:
        """Return the gallery template that each probe is, -1 for none.

        Raise :class:`DataError` where they are of two of the `subjects`.
        """
        place = np.full(len(self.names.values) + 1, -1)
        known = np.flatnonzero(self.names.gallery >= 0)
        place[self.names.gallery[known]] = known
        entry = place[self.names.probe]  # unknown names are -1, and the last place is -1
        if subjects is None:
            return entry
        other = (entry >= 0) & (subjects.gallery[entry] != subjects.probe)
        for row in np.flatnonzero(other)[:1]:
            column = int(entry[row])
            name = plain(self.names.values[self.names.probe[row]])
            one, two = (
                plain(subjects.values[code])
                for code in (subjects.probe[row], subjects.gallery[column])
            )
            raise DataError(
                f"the name {name!r} is of two people, in {int(other.sum()):,} of {len(other):,} "
                f"rows: {one!r} in row {row} and {two!r} in column {column} (column "
                f"{self.column!r}); equal names are one template: correct the labels or the "
                "names, or call the column otherwise if it does not name templates"
            )
        return entry


def name_column(
    probe: Columns, gallery: Columns, labels: tuple[np.ndarray, np.ndarray] | None
) -> str | None:
    """Return the metadata column of both sides that names templates; None without.

    Numbers that merely count the templates are no names, and `labels` of subjects are none.
    """
    for name in NAME_COLUMNS:
        if name in probe and name in gallery:
            sides = probe[name], gallery[name]
            if are_names(*sides, labels) and (
                name in _OF_TEMPLATES or all(map(_are_different_files, sides))
            ):
                return name
    return None


def names_of_index(index: Any) -> np.ndarray | None:
    """Return the names in an index of pandas; None where there is none.

    An index that merely numbers the templates, or has a value twice, names none.
    """
    if getattr(index, "nlevels", 0) != 1 or type(index).__name__ == "RangeIndex":
        return None
    names = np.asarray(index)
    if _are_numbering(names) or len({*names.tolist()}) < len(names):
        return None
    return names


def by_name(given: Any, names: np.ndarray | None, what: str) -> Any:
    """Return a Series or a DataFrame of pandas in the order of the `names` of templates.

    What has no index, or one of other things than these templates, is returned as it is.
    """
    index = names_of_index(getattr(given, "index", None))
    if names is None or index is None or np.array_equal(index, names):
        return given
    place = {name: row for row, name in enumerate(index.tolist())}
    order = [place.get(name, -1) for name in names.tolist()]
    missing = [i for i, row in enumerate(order) if row < 0]
    if len(missing) == len(order):
        return given
    if missing:
        raise DataError(
            f"{what} has no value of the template {plain(names[missing[0]])!r} (row "
            f"{missing[0]}), and of {len(missing):,} of {len(order):,} templates in all; values "
            "with an index are taken by the names of the templates: complete the index, or give "
            "values in the order of the templates without one (.to_numpy())"
        )
    return given.iloc[order]


def table_by_name(table: Any, names: tuple[Any, Any], what: str) -> Any:
    """Return a DataFrame of pandas with rows and columns in the order of names of both sides."""
    table = by_name(table, names[0], what)
    columns = names_of_index(getattr(table, "columns", None))
    if columns is None or np.array_equal(columns, names[1]):
        return table
    return by_name(table.T, names[1], what).T


def names_of_sides(scores: Scores) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the names of the probes and of the gallery templates; None without."""
    labels = (scores.probe_labels, scores.gallery_labels) if scores.layout != "pairs" else None
    probe, gallery = scores.probe_meta, scores.gallery_meta
    name = name_column(probe, gallery, labels) or ""
    return probe.get(name), gallery.get(name)


def columns_by_name(meta: Any, names: np.ndarray | None, what: str) -> Any:
    """Return a table, or a mapping of columns, in the order of the `names` of templates."""
    if isinstance(meta, Mapping):
        return {k: by_name(x, names, f"{what}[{k!r}]") for k, x in meta.items()}
    return by_name(meta, names, what)


def are_names(
    probe: np.ndarray, gallery: np.ndarray, labels: tuple[np.ndarray, np.ndarray] | None
) -> bool:
    """Whether values name templates: they do not merely count them, and are not their subjects."""
    sides = (probe, gallery)
    if all(map(_are_numbering, sides)):
        return False
    if probe.dtype.kind != gallery.dtype.kind and not set.intersection(
        *({*map(likeness, side.tolist())} for side in sides)
    ):
        return False  # numbers on one side and words on the other
    return labels is None or not all(map(np.array_equal, sides, labels))


def _are_numbering(values: np.ndarray) -> bool:
    """Whether values are numbers, or texts of them, that count from 0 or from 1."""
    if not len(values) or likeness(values[0]) not in (0, 1):
        return False
    first = likeness(values[0])
    return [*map(likeness, values.tolist())] == [*range(first, first + len(values))]


def _are_different_files(values: np.ndarray) -> bool:
    """Whether values are the names of files, each once."""
    listed = values[~missing_values(values)].tolist()
    return len({*listed}) == len(listed) and are_files(listed)


def are_files(values: Iterable[Any]) -> bool:
    """Whether values are names of files: paths, or names with an ending."""
    return all(isinstance(x, str) and _FILE.fullmatch(x) for x in values)


def sides_of_table(
    table: Table, labels: Any, gallery_labels: Any, has_names: bool
) -> tuple[Any, Any, np.ndarray | None]:
    """Return the labels of both sides of a table, and the place of each column's template.

    Without labels, the index and the columns are labels, and no names: refused where they are the
    same in another order, unless columns of metadata name the templates. With labels of the rows
    alone, a table that names its rows and columns may have them in any order: the third value is
    the row of each column.
    """
    rows, columns = table
    if gallery_labels is not None or len(rows) != len(columns) or np.array_equal(rows, columns):
        if labels is None:
            return rows, None if np.array_equal(rows, columns) else columns, None
        return labels, gallery_labels, None
    place = {name: row for row, name in enumerate(rows.tolist())}
    order = [place.get(name, -1) for name in columns.tolist()]
    is_label = labels is None or np.array_equal(rows, labels)
    if is_label and not has_names and Counter(rows.tolist()) == Counter(columns.tolist()):
        raise DataError(
            "the rows and the columns of the table have the same labels in another order: it is "
            "not known whether they are the same templates, which are not compared with "
            "themselves; bring rows and columns into one order, or, of two sets of templates, "
            "give `labels` and `gallery_labels`"
        )
    if labels is None:
        return rows, columns, None
    if is_label or len(place) < len(rows) or set(order) == {-1}:
        return labels, gallery_labels, None
    if -1 in order:
        raise DataError(
            "`gallery_labels` is missing: the table has the column "
            f"{columns[order.index(-1)]!r}, which is the name of no row, so that its rows and "
            "columns are not the same templates"
        )
    return labels, gallery_labels, np.array(order)
