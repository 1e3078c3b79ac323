"""The metadata of the templates in a file of named arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.array_file import NAMES, PREFIXES, RESERVED, ArrayFile, Meta
from bioeval.scores.formats.faults import fault
from bioeval.scores.formats.labels import SideLabels
from bioeval.scores.formats.spellings import MOST_COLUMNS
from bioeval.scores.joining import refuse_other_orders


class Sides(NamedTuple):
    """The labels of both sides of a matrix, of top-K lists or of embeddings."""

    probe: SideLabels | None
    gallery: SideLabels | None
    counts: tuple[int, int]  # numbers of probes and of gallery templates
    are_one_set: bool = False  # whether both sides are the same templates


class _Column(NamedTuple):
    """A column of metadata, and the array that has its values."""

    side: int  # 0: of the probes, 1: of the gallery
    name: str
    array: str


def metadata(file: ArrayFile, sides: Sides, plain: bool = False) -> tuple[Meta, Meta]:
    """Return the metadata of both sides.

    - Arrays ``probe_x`` and ``gallery_x`` are columns ``x``.
    - With `plain`, arrays without a prefix are columns of the probes.
    - Arrays that ``columns`` names are columns, and so are arrays of cameras under the names of
      other programs; they replace a column by prefix.
    - Further columns are in the files of the labels.
    """
    array_of_column = _columns_by_prefix(file, sides, plain)
    for column in [*_cameras(file, sides), *_named_columns(file, sides)]:
        if file.shape(column.array) != (sides.counts[column.side],):
            raise file.wrong_length(column.array, sides.counts[column.side])
        arrays = array_of_column[column.side]
        # An array is one column only, under the name that was given.
        for name in [x for x in arrays if arrays[x] == column.array]:
            del arrays[name]
        arrays[column.name] = column.array
    probe_arrays, gallery_arrays = array_of_column
    return (
        _values_of_columns(file, sides.probe, probe_arrays),
        _values_of_columns(file, sides.gallery, gallery_arrays),
    )


def _values_of_columns(
    file: ArrayFile, labels: SideLabels | None, array_of_column: dict[str, str]
) -> Meta:
    """Return the columns of a side; a column in arrays and in labels has the values of the array.

    Raise where such a column has its values in two orders, and no names that join them.
    """
    file.use(*array_of_column.values())
    from_arrays = {name: file.read(array) for name, array in array_of_column.items()}
    from_labels = labels.columns()[1] if labels else {}
    if labels and not labels.names:
        for name in from_labels.keys() & from_arrays.keys():
            values = {f"{name} of the labels": from_labels[name], name: from_arrays[name]}
            refuse_other_orders(values, None)
    return from_labels | from_arrays


def _columns_by_prefix(
    file: ArrayFile, sides: Sides, plain: bool
) -> tuple[dict[str, str], dict[str, str]]:
    array_of_column: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for name in _candidates(file, sides, plain):
        side = int(name.startswith("gallery_"))
        column = _without_prefix(name)
        has_prefix = column != name
        if has_prefix and file.is_own_layout:
            file.refuse_objects(name)
        is_pickled = file.arrays[name].dtype.hasobject
        if side and sides.are_one_set:
            _require_same_metadata(file, name)
        elif not is_pickled and file.shape(name) == (sides.counts[side],):
            array_of_column[side][column] = name
        elif file.is_own_layout and (has_prefix or file.is_unused_list(name)):
            raise file.wrong_length(name, sides.counts[side])
    return array_of_column


def _without_prefix(name: str) -> str:
    return re.sub("^(probe|gallery)_", "", name)


def _candidates(file: ArrayFile, sides: Sides, plain: bool) -> list[str]:
    """Return the names of arrays that may be columns of metadata, since they have no role.

    Without `plain`, they begin with the prefix of a side.
    """
    names_in_use = RESERVED | file.used
    if sides.are_one_set and not file.is_own_layout:
        names_in_use |= {*NAMES["camera of the gallery"]}  # a square matrix has one side
    columns = [
        name
        for name in file.arrays
        if (plain or name.startswith(PREFIXES))
        and len(file.shape(name)) < 2
        and name not in names_in_use
    ]
    if len(columns) > MOST_COLUMNS:
        problem = f"holds {len(columns):,} arrays of metadata"
        raise fault(file.path, problem, f"expected at most {MOST_COLUMNS:,}")
    return columns


def _require_same_metadata(file: ArrayFile, name: str) -> None:
    probe_name = f"probe_{name.removeprefix('gallery_')}"
    same = probe_name in file.arrays and np.array_equal(file.read(name), file.read(probe_name))
    if file.is_own_layout and not same:
        raise fault(file.path, f"there are gallery metadata, {name!r}, but no gallery_labels")


def _cameras(file: ArrayFile, sides: Sides) -> Iterator[_Column]:
    """Yield the columns ``camera`` of arrays that have the name of another program."""
    if file.is_own_layout or "camera" in file.arguments.meta:
        return
    for side, role in enumerate(("camera of queries", "camera of the gallery")):
        if side == 0 or not sides.are_one_set:
            array = next((x for x in NAMES[role] if x in file.arrays), None)
            if array and f"{PREFIXES[side]}camera" not in file.arguments.meta:
                yield _Column(side, "camera", array)


def _named_columns(file: ArrayFile, sides: Sides) -> Iterator[_Column]:
    if sides.are_one_set and "labels" in file.arguments:
        return  # they are columns of the file of labels
    for word, array in file.arguments.all_meta().items():
        columns = _columns_of_word(file, sides, word, array)
        for column in columns:
            name = column.array if column.array in file.arrays else array
            file.require(name, f'`columns={{"{word}": ...}}`')
        yield from columns


def _columns_of_word(file: ArrayFile, sides: Sides, word: str, array: str) -> list[_Column]:
    """Return the columns that ``columns={word: array}`` means: of one side, or of both."""
    if sides.are_one_set:
        return [_Column(0, word, array if array in file.arrays else f"probe_{array}")]
    column = _without_prefix(word)
    if column != word:
        return [_Column(int(word.startswith("gallery_")), column, array)]
    of_both_sides = [_Column(side, word, f"{PREFIXES[side]}{array}") for side in (0, 1)]
    if any(x.array in file.arrays for x in of_both_sides):
        return of_both_sides
    file.require(array, f'`columns={{"{word}": ...}}`')
    raise DataError(
        f"{file.path}: {array!r} is given for {word!r}, but probes and gallery "
        f'differ; say `columns={{"probe_{word}": "{array}"}}` and '
        f'`columns={{"gallery_{word}": ...}}`'
    )
