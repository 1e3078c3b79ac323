"""Templates named by a list: one set on both sides, two sets, or none."""

from __future__ import annotations

import numpy as np

from bioeval.scores.columns import PIECE, CodedSides, GrowingColumn, release
from bioeval.scores.formats.pair_layouts import PairLayout
from bioeval.scores.formats.text_columns import Columns, TextColumn

Two = tuple[TextColumn, TextColumn]


def templates_of(table: Columns, layout: PairLayout, subjects: Two | None) -> CodedSides | None:
    """Return the templates of both sides of each line; None where the list does not name them.

    `subjects` are those that columns of the list name. A name that several subjects share is one
    within its subject, and a single one that all share stands for no template. Enrolled templates
    and probes that are numbered, and names that are of other subjects on the other side, are two
    sets of templates.
    """
    if layout.templates is None or not layout.names_templates:
        return None
    a, b = (table.text[i] for i in layout.templates)
    if a.given_up or b.given_up:
        return None
    roles = layout.probe == 1 and (layout.header or layout.subjects is not None)
    shared = [name for name in b.values if name in set(a.values)] if roles else []
    one_set = not (shared and all(name.isdigit() for name in shared))
    if subjects is None:
        return both_sides(a, b, one_set)
    owners = [_owners(*side) for side in zip((a, b), subjects, strict=True)]
    if any(whose is None and len(x.values) == 1 for x, whose in zip((a, b), owners, strict=True)):
        return None
    apart = _of_two_subjects((a, b), subjects, owners)
    if apart and (layout.numbers_sides or None in owners):
        a, b = (_within(*side) for side in zip((a, b), subjects, strict=True))
        return both_sides(a, b, layout.numbers_sides)
    return both_sides(a, b, one_set and not apart)


def _of_two_subjects(names: Two, subjects: Two, owners: list[list[str] | None]) -> bool:
    """Whether a name belongs to two subjects, on one side or on both."""
    mine, theirs = owners
    if mine is None or theirs is None:
        return True
    whose = dict(zip(names[0].values, mine, strict=True))
    return any(whose.get(x, who) != who for x, who in zip(names[1].values, theirs, strict=True))


def templates_of_two(
    first: Columns, second: Columns, layout: PairLayout, other: PairLayout
) -> CodedSides | None:
    """Return the templates of the lines of two files, of genuine and of impostor scores."""
    if not (layout.names_templates and other.names_templates):
        return None
    sides = []
    for i, j in zip(layout.templates or (), other.templates or (), strict=True):
        column, more = first.text[i], second.text[j]
        if column.given_up or more.given_up:
            return None
        column.append_codes(more.codes, more.values)
        sides.append(column)
    a, b = sides
    return both_sides(a, b)


def both_sides(a: TextColumn, b: TextColumn, one_set: bool = True) -> CodedSides:
    """Return two columns under one numbering; in two sets, names of side b are marked."""
    values = [*a.values]
    if one_set:
        number = {value: i for i, value in enumerate(values)}
        other = np.array([number.setdefault(x, len(number)) for x in b.values], dtype=np.int32)
        values = [*number]
    else:
        other = np.arange(len(values), len(values) + len(b.values), dtype=np.int32)
        values += [f"{name} (b)" for name in b.values]
    codes = GrowingColumn(np.int32)
    for low in range(0, len(b.codes), PIECE):
        codes.append(other[b.codes[low : low + PIECE]])
    release(a.codes, b.codes)
    return CodedSides(values, a.codes, codes.array())


def are_subjects(names: CodedSides, genuine: np.ndarray) -> bool:
    """Whether names are those of subjects: equal in every genuine pair, and in no impostor pair."""
    equal = 0
    for low in range(0, len(genuine), PIECE):
        some = slice(low, low + PIECE)
        same = names.a[some] == names.b[some]
        if (same != genuine[some]).any():
            return False
        equal += int(same.sum())
    return equal > 0


def _owners(names: TextColumn, who: TextColumn) -> list[str] | None:
    """Return the subject of each name; None where a name belongs to several."""
    whose = np.zeros(len(names.values), dtype=np.int32)
    pieces = [slice(low, low + PIECE) for low in range(0, len(who.codes), PIECE)]
    for some in pieces:
        whose[names.codes[some]] = who.codes[some]
    for some in pieces:
        if (whose[names.codes[some]] != who.codes[some]).any():
            return None
    return [who.values[code] for code in whose]


def _within(names: TextColumn, who: TextColumn) -> TextColumn:
    """Return names made unique by their subjects."""
    found = TextColumn()
    for low in range(0, len(who.codes), PIECE):
        some = slice(low, low + PIECE)
        key = who.codes[some].astype(np.int64) * len(names.values) + names.codes[some]
        distinct, codes = np.unique(key, return_inverse=True)
        of, name = np.divmod(distinct, len(names.values))
        words = (f"{names.values[i]!r} of {who.values[j]!r}" for i, j in zip(name, of, strict=True))
        found.append_codes(codes.reshape(-1), words)
    return found
