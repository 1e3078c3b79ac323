"""Systems over the same data: what they have in common, and refused if they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import DataError, counted
from bioeval.base.messages import Message
from bioeval.scores.arrays import Mask
from bioeval.scores.columns import CodedSides
from bioeval.scores.excluded import left_out_rows
from bioeval.scores.matrix import Scores
from bioeval.scores.names import as_names, example, places, without_names
from bioeval.scores.people import knows_people

if TYPE_CHECKING:
    import pandas as pd

#: What errors call a row and a column.
SIDES = ("probe", "gallery template")

# Cells that are looked at together.
_CELLS = 1 << 20


def aligned(a: Any, b: Any, called: Sequence[str]) -> tuple[Any, Any, list[Message]]:
    """Return what two systems have in common, in the order of the first, and remarks.

    Both are found by the names of templates, pairs also by their subjects where no two pairs have
    the same; without names they are taken as they are. Attempts that one of them lacks are left out
    of both.

    Raises
    ------
    DataError
        If the systems have nothing in common, or are not over the same data.
    """
    if not (isinstance(a, Scores) and isinstance(b, Scores) and a.layout != "top-k"):
        require_same(a, b)
        return a, b, []
    if (a.layout == "pairs") != (b.layout == "pairs") or b.layout == "top-k":
        require_same(a, b)
    align = _common_pairs if a.layout == "pairs" else _common_templates
    a, b, notes = align(a, b, called)
    require_same(a, b)
    a, b, lacking = _common_attempts(a, b, called)
    return a, b, notes + lacking


# ---------------------------------------------------------------- common templates, common pairs


def _common_templates(
    a: Scores, b: Scores, called: Sequence[str]
) -> tuple[Scores, Scores, list[Message]]:
    """Return the rows and columns that two matrices have in common."""
    notes: dict[Message, None] = {}
    chosen: list[tuple[Any, Any]] = []
    square = all(np.array_equal(x.probe_ids, x.gallery_ids) for x in (a, b))
    nouns = ("templates", "templates") if square else ("probes", "gallery templates")
    for side, noun in enumerate(nouns):
        mine, theirs = _names_of(a, side), _names_of(b, side)
        if mine is None or theirs is None:
            chosen.append((None, None))
            notes |= dict.fromkeys(without_names(mine, theirs, called))
            continue
        rows, others, note = _common(mine, theirs, noun, called)
        chosen.append((rows, others))
        notes |= dict.fromkeys(note)
    (rows, other_rows), (columns, other_columns) = chosen
    return _part(a, rows, columns), _part(b, other_rows, other_columns), [*notes]


def _names_of(scores: Scores, side: int) -> pd.Index | None:
    """Return the names of a side, or a column `template` that merely counts."""
    names = (scores.probe_names, scores.gallery_names)[side]
    meta = (scores.probe_meta, scores.gallery_meta)[side]
    return as_names(meta["template"]) if names is None and "template" in meta else names


def _common_pairs(
    a: Scores, b: Scores, called: Sequence[str]
) -> tuple[Scores, Scores, list[Message]]:
    """Return the pairs that two lists have in common, their sides as in the first."""
    mine, theirs = a.pairs.templates, b.pairs.templates
    unordered = a.pairs.unordered and b.pairs.unordered
    if mine is None or theirs is None:
        if a.pair_names is not None and b.pair_names is not None:
            rows, others, notes = _common(a.pair_names, b.pair_names, "pairs", called)
            return _part(a, rows, None), _part(b, others, None), notes
        mine, theirs, unordered = a.pairs.sides, b.pairs.sides, False
        if mine is None or theirs is None or not (_are_different(mine) and _are_different(theirs)):
            return a, b, without_names(_names_of_pairs(a), _names_of_pairs(b), called)
    keys, other_keys = _keys(mine, theirs, unordered)
    rows, others, notes = _common(keys, other_keys, "pairs", called, (mine, theirs))
    a, b = _part(a, rows, None), _part(b, others, None)
    return a, _turned_as(a, b) if unordered else b, notes


def _names_of_pairs(scores: Scores) -> pd.Index | None:
    """Return the names of pairs, or those of their probes; None without names."""
    return scores.probe_names if scores.pair_names is None else scores.pair_names


def _are_different(sides: CodedSides) -> bool:
    """Whether no two pairs have the same names, in this order."""
    return len(np.unique(np.column_stack([sides.a, sides.b]), axis=0)) == len(sides)


def _keys(mine: CodedSides, theirs: CodedSides, unordered: bool) -> tuple[pd.Index, pd.Index]:
    """Return a number for each pair of both lists, equal for equal names."""
    import pandas as pd

    place = places(as_names(theirs.values), as_names(mine.values))
    new = place < 0
    place[new] = len(mine.values) + np.arange(np.count_nonzero(new))
    number = len(mine.values) + len(theirs.values)
    keys = []
    for codes, sides in ((np.arange(len(mine.values)), mine), (place, theirs)):
        a, b = codes[sides.a].astype(np.int64), codes[sides.b].astype(np.int64)
        if unordered:
            a, b = np.minimum(a, b), np.maximum(a, b)
        keys.append(pd.Index(a * number + b))
    return keys[0], keys[1]


def _common(
    mine: pd.Index,
    theirs: pd.Index,
    noun: str,
    called: Sequence[str],
    pairs: tuple[CodedSides, CodedSides] | None = None,
) -> tuple[np.ndarray, np.ndarray, list[Message]]:
    """Return the places of common names in both, and a message on what is left out."""
    if pairs is not None and (mine.has_duplicates or theirs.has_duplicates):
        if np.array_equal(mine, theirs):
            return np.arange(len(mine)), np.arange(len(theirs)), []
        raise DataError(
            "pairs that are listed more than once cannot be aligned by names; leave out "
            '`keep="repeated"`, or give attempts names of their own'
        )
    place = places(mine, theirs)
    common = np.flatnonzero(place >= 0)
    if not len(common):
        first, other = (example(x) for x in (mine, theirs))
        if pairs is not None:
            first, other = (f"{x.values[x.a[0]]!r} with {x.values[x.b[0]]!r}" for x in pairs)
        raise DataError(
            f"the systems have different data: none of the {counted(len(mine), noun)} of "
            f"{called[0]} is among those of {called[1]}, such as {first} and {other}; expected the "
            "same names"
        )
    left_out = {called[0]: len(mine) - len(common), called[1]: len(theirs) - len(common)}
    notes = []
    if any(left_out.values()):
        notes.append(Message("not-in-common", what=noun, left_out=left_out))
    return common, place[common], notes


def _part(scores: Scores, rows: np.ndarray | None, columns: np.ndarray | None) -> Scores:
    """Return some pairs, or some rows and columns of a matrix; the scores themselves if all."""
    chosen = [
        None if x is None or np.array_equal(x, np.arange(size)) else x
        for x, size in zip((rows, columns), (scores.shape[0], scores.shape[-1]), strict=True)
    ]
    if chosen[0] is chosen[1] is None:
        return scores
    return scores.select(probes=chosen[0], gallery=chosen[1])


def _turned_as(a: Scores, b: Scores) -> Scores:
    """Return the pairs of `b` with their sides in the order of `a`."""
    mine, theirs = a.pairs.templates, b.pairs.templates
    assert mine is not None and theirs is not None
    place = places(as_names(theirs.values), as_names(mine.values))
    turned = mine.a != place[theirs.a]
    return b.with_pairs(b.pairs.exchanged(turned)) if turned.any() else b


# ---------------------------------------------------------------- common attempts


def _common_attempts(
    a: Scores, b: Scores, called: Sequence[str]
) -> tuple[Scores, Scores, list[Message]]:
    """Leave out of both systems what one of them lacks: masks, exclusions, excluded failures.

    A failure that is rejected is an attempt, and no lack.
    """
    if a.layout == "pairs":
        kept = [_made(x) for x in (a, b)]
        if np.array_equal(kept[0], kept[1]):
            return a, b, []
        both = np.flatnonzero(kept[0] & kept[1])
        lacking = [int(np.count_nonzero(x)) - len(both) for x in kept]
        return a.select(both), b.select(both), [_not_in_common(called, lacking)]
    if not any(map(_leaves_out, (a, b))):
        return a, b, []
    m, n = a.shape
    masks = [np.empty((m, n), dtype=np.uint8) for _ in range(2)]
    lacking, step = [0, 0], max(1, _CELLS // n)
    for low in range(0, m, step):
        high = min(low + step, m)
        itself = a.probe_ids[low:high, None] == a.gallery_ids
        kept = [_attempted(x, low, high) & ~itself for x in (a, b)]
        both = kept[0] & kept[1]
        for i, (scores, mask) in enumerate(zip((a, b), masks, strict=True)):
            lacking[i] += int(np.count_nonzero(kept[i] & ~both))
            mask[low:high] = np.where(both, _classes(scores, low, high), Mask.IGNORE)
    if not any(lacking):
        return a, b, []
    a, b = (
        x._with(_source=x.cells.masked(mask)) if lacks else x
        for x, mask, lacks in zip((a, b), masks, lacking, strict=True)
    )
    return a, b, [_not_in_common(called, lacking)]


def _not_in_common(called: Sequence[str], lacking: Sequence[int]) -> Message:
    """Return the message on comparisons of each system that the other lacks."""
    left_out = dict(zip(called, lacking, strict=True))
    return Message("not-in-common", what="comparisons", left_out=left_out)


def _made(scores: Scores) -> np.ndarray:
    """Return which pairs are attempts."""
    if scores.nan == "exclude" and scores.dtype.kind == "f":
        return ~np.isnan(scores.values)
    return np.ones(scores.shape[0], dtype=bool)


def _leaves_out(scores: Scores) -> bool:
    """Whether some comparisons of a matrix may be no attempts."""
    return scores.has_mask or bool(scores.exclude) or scores.nan == "exclude"


def _attempted(scores: Scores, low: int, high: int) -> np.ndarray:
    """Return which comparisons of rows ``low:high`` are attempts."""
    left_out = left_out_rows(scores, low, high)
    made = np.ones((high - low, scores.shape[1]), dtype=bool) if left_out is None else ~left_out
    if scores.nan == "exclude" and scores.dtype.kind == "f":
        made &= ~scores.cells.missing(low, high, failures=True)
    return made


def _classes(scores: Scores, low: int, high: int) -> np.ndarray:
    """Return the mask of rows ``low:high`` of which all are attempts."""
    if not knows_people(scores):
        return scores.cells.read_mask(low, high)
    genuine = scores.codes.probe[low:high, None] == scores.codes.gallery
    return np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR)


# ---------------------------------------------------------------- the same data


def require_same(a: Scores, b: Scores) -> None:
    """Raise :class:`DataError` unless two systems scored the same templates in the same order."""
    if a.layout != b.layout or a.shape != b.shape:
        raise DataError(
            f"the systems are not over the same data: the first is {a.layout} {a.shape}, the "
            f"second {b.layout} {b.shape}"
        )
    if a.layout == "pairs" and b.layout == "pairs":
        require_equal(a.genuine, b.genuine, "genuine flags", "pair")
        if a.pair_subjects is not None and b.pair_subjects is not None:
            for k in (0, 1):
                mine, theirs = a.pair_subjects[:, k], b.pair_subjects[:, k]
                require_equal(mine, theirs, "subjects", "pair")
        return
    require_equal(a.probe_labels, b.probe_labels, "labels", SIDES[0])
    require_equal(a.gallery_labels, b.gallery_labels, "labels", SIDES[1])
    if a.layout == "top-k":
        return
    mine, theirs = a.gallery_order.probe_position, b.gallery_order.probe_position
    require_equal(mine, theirs, "templates compared with themselves", "probe")


def require_equal(a: np.ndarray, b: np.ndarray, column: str, where: str) -> None:
    """Raise :class:`DataError` naming the first place `where` two columns differ."""
    left, right = a.tolist(), b.tolist()
    if left == right:
        return
    differ = [i for i, (x, y) in enumerate(zip(left, right, strict=True)) if x != y]
    i = differ[0]
    raise DataError(
        f"the systems are not over the same data: {column} differ at {len(differ)} of {len(left)} "
        f"places, the first is {where} {i} ({left[i]!r} and {right[i]!r}); expected the same "
        "templates in the same order"
    )


def numbered_as(a: Scores, b: Scores) -> Scores:
    """Return `b` with the numbers that `a` gives its subjects; both have the same labels.

    They depend on the dtype of the labels and on the order of all of a file; people who are
    left out together are the same numbers.
    """
    if a.layout == "top-k" or b.layout == "top-k":
        return b
    if a.layout == "pairs" and b.layout == "pairs":
        if knows_people(a) and knows_people(b):
            return b._with(_pair_codes=a.codes)
        return b
    return b._with(_codes=a.codes)


def differences(systems: Mapping[str, Scores]) -> dict[str, str]:
    """Return what each system lacks of the first one, and what it adds, where both have names."""
    (first, reference), *others = systems.items()
    sentences = {}
    for name, scores in others:
        if "top-k" in (reference.layout, scores.layout) or reference.layout != scores.layout:
            continue
        align = _common_pairs if scores.layout == "pairs" else _common_templates
        notes = align(reference, scores, (first, name))[2]
        texts = []
        for note in (note for note in notes if note.code == "not-in-common"):
            left_out = note.arguments["left_out"]
            lacking = counted(left_out[first], note.arguments["what"])
            texts.append(f"lacks {lacking} of {first} and has {left_out[name]:,} others")
        if texts:
            sentences[name] = f"{name} {', and '.join(texts)}"
    return sentences
