"""The common part of systems over the same data; systems of different data are refused.

A threshold, or a comparison of systems at one threshold, carries a number from one set of scores
to another. Both need the same kind and, where both are known, the same metric, attempts and origin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, Message, counted
from bioeval.scores.arrays import Mask, row_spans
from bioeval.scores.attempts import attempted_cells, excludes_failures
from bioeval.scores.codes import Codes
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.sides import (
    CommonRows,
    Keys,
    as_names,
    columns_of_distinct_texts,
    common_names,
    common_rows,
    not_in_common,
    places,
    united,
)

#: Nouns of a row and of a column in errors.
SIDES = ("probe", "gallery template")


#: Two systems with the same templates or pairs in the same order, and remarks.
Aligned = tuple[Any, Any, list[Message]]


def aligned(first: Any, second: Any, systems: Sequence[str]) -> Aligned:
    """Return the common part of two systems, in the order of the first, and remarks.

    Templates are joined by their names, else by their numbers, and pairs also by their subjects, if
    no two pairs have the same subjects. Systems without these are taken in the order given.
    Attempts that one system lacks are left out of both.
    """
    if not (isinstance(first, Scores) and isinstance(second, Scores) and first.layout != "top-k"):
        require_same(first, second)
        return first, second, []
    if (first.layout == "pairs") != (second.layout == "pairs") or second.layout == "top-k":
        require_same(first, second)
    is_list = first.layout == "pairs"
    first, second, remarks = (_common_pairs if is_list else _common_templates)(
        first, second, systems
    )
    require_same(first, second)
    lacking = [0, 0]  # attempts of each system that the other lacks
    if is_list:
        is_attempt = [
            ~np.isnan(x.values) if excludes_failures(x) else np.ones(x.shape, dtype=bool)
            for x in (first, second)
        ]
        common = is_attempt[0] & is_attempt[1]
        lacking = [int(np.count_nonzero(x & ~common)) for x in is_attempt]
        if any(lacking):
            first, second = (x.select(np.flatnonzero(common)) for x in (first, second))
    elif any(x.has_mask or x.exclude or x.nan == "exclude" for x in (first, second)):
        masks = [np.empty(first.shape, dtype=np.uint8) for _ in range(2)]
        for low, high in row_spans(*first.shape):
            is_attempt = [attempted_cells(system, low, high) for system in (first, second)]
            common = is_attempt[0] & is_attempt[1]
            for i, (scores, mask) in enumerate(zip((first, second), masks, strict=True)):
                lacking[i] += int(np.count_nonzero(is_attempt[i] & ~common))
                if knows_people(scores):
                    genuine = scores.codes.probe[low:high, None] == scores.codes.gallery
                    classes = np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR)
                else:
                    classes = scores.cells.read_mask(low, high)
                mask[low:high] = np.where(common, classes, Mask.IGNORE)
        first, second = (
            system._with(_source=system.cells.masked(mask)) if lacks else system
            for system, mask, lacks in zip((first, second), masks, lacking, strict=True)
        )
    if any(lacking):
        remarks = [*remarks, not_in_common("comparisons", systems, lacking)]
    return first, second, remarks


def _common_templates(first: Scores, second: Scores, systems: Sequence[str]) -> Aligned:
    is_one_set = all(np.array_equal(x.probe_ids, x.gallery_ids) for x in (first, second))
    nouns = ("templates", "templates") if is_one_set else ("probes", "gallery templates")
    rows, columns = (
        common_rows(_keys_of(first, side), _keys_of(second, side), noun, systems)
        for side, noun in enumerate(nouns)
    )
    for side, (chosen, _, _) in enumerate((rows, columns)):
        if chosen is None:  # by place
            texts, other_texts = (_texts_of_side(x, side) for x in (first, second))
            _refuse_unknown_names(texts, other_texts, SIDES[side], systems)
    remarks = [*dict.fromkeys(rows[2] + columns[2])]
    return _part(first, rows[0], columns[0]), _part(second, rows[1], columns[1]), remarks


def _keys_of(scores: Scores, side: int) -> Keys:
    """Return the keys of a side; without names, its column `template`, which may merely count."""
    meta = (scores.probe_meta, scores.gallery_meta)[side]
    column = as_names(meta["template"]) if "template" in meta else None
    return scores.keys(side).completed(Keys(column))


def _texts_of_side(scores: Scores, side: int) -> dict[str, Sequence[Any]]:
    """Return the columns that may name the templates of a side, and its names, by their titles."""
    if scores._has_no_names:
        return {}
    names = scores.keys(side).names
    columns = (scores.probe_meta, scores.gallery_meta)[side]
    texts: dict[str, Sequence[Any]] = {} if names is None else {"": names.tolist()}
    return texts | columns_of_distinct_texts(columns)


# Of so many pairs, texts are compared in two systems.
_FIRST_PAIRS = 1000


def _texts_of_pairs(scores: Scores) -> dict[str, Sequence[Any]]:
    """Return the columns that may name the pairs, or the templates of both sides, by titles."""
    if scores._has_no_names:
        return {}
    texts: dict[str, Sequence[Any]] = dict(scores._unread_texts)
    texts |= {
        f"{x}, {y}": [*map(frozenset, zip(texts[x], texts[y], strict=True))]
        for x, y in combinations(scores._unread_texts, 2)
    }
    both_sides = [scores.pairs.meta_of(side) for side in (0, 1)]
    for title in both_sides[0]:
        sides = [columns[title][:_FIRST_PAIRS].tolist() for columns in both_sides]
        if all(isinstance(x, str) for x in (*sides[0], *sides[1])):
            texts[title] = [*map(frozenset, zip(*sides, strict=True))]
    if (templates := scores.pairs.templates) is not None:
        names = [
            [str(templates.values[i]) for i in codes[:_FIRST_PAIRS].tolist()]
            for codes in (templates.gallery, templates.probe)
        ]
        texts[""] = [*map(frozenset, zip(*names, strict=True))]
    return {x: y for x, y in texts.items() if len({*y}) == len(y)}


def _refuse_unknown_names(
    texts: Mapping[str, Sequence[Any]],
    other_texts: Mapping[str, Sequence[Any]],
    noun: str,
    systems: Sequence[str],
) -> None:
    """Raise where columns of two systems have a text in common, each once, in different rows."""
    if any([*x] == [*y] for x in texts.values() for y in other_texts.values()):
        return
    for (title, column), (other_title, other) in product(texts.items(), other_texts.items()):
        row_of = {text: row for row, text in enumerate(column)}
        for other_row, text in enumerate(other):
            if (row := row_of.get(text, other_row)) == other_row:
                continue
            name = " with ".join(sorted(text)) if isinstance(text, frozenset) else text
            columns = " and ".join(
                f"the column {x!r} of {system}" if x else f"the names of {system}"
                for x, system in zip((title, other_title), systems, strict=True)
            )
            named = title or other_title
            answers = (
                f'`names="{named}"` of both systems if they do, or `names=None` of one if they do '
                "not"
            )
            if noun == "pair":
                title_a, _, title_b = named.partition(", ")
                answers = (
                    f'`columns={{"template_a": "{title_a}"}}` and '
                    f'`columns={{"template_b": "{title_b or title_a}"}}` of both lists if they do, '
                    'or `columns={"name": None}` of one if they do not'
                )
            raise DataError(
                f"{columns} have the same texts, each once, in different orders: {name!r} is "
                f"{noun} {row} of {systems[0]} and {noun} {other_row} of {systems[1]}. Do they "
                f"name the {noun}s? Say {answers}"
            )


def _common_pairs(first: Scores, second: Scores, systems: Sequence[str]) -> Aligned:
    templates, other_templates = first.pairs.templates, second.pairs.templates
    is_exchanged = False
    keys = first.pair_keys, second.pair_keys
    are_numbered = all(x.numbers is not None for x in keys) and any(x.stated for x in keys)
    if templates is not None and other_templates is not None:
        is_exchanged = first.pairs.unordered and second.pairs.unordered
        common = _common_keys(templates, other_templates, is_exchanged, systems)
    elif all(x.names is not None for x in keys) or are_numbered:
        common = common_rows(*keys, "pairs", systems)
    else:
        sides = first.pairs.people, second.pairs.people
        are_distinct = (
            x is not None and len(x.probe) == len(np.unique([x.gallery, x.probe], axis=1).T)
            for x in sides
        )
        if sides[0] is not None and sides[1] is not None and all(are_distinct):
            common = _common_keys(sides[0], sides[1], False, systems)
        else:
            _refuse_unknown_names(_texts_of_pairs(first), _texts_of_pairs(second), "pair", systems)
            keys = keys[0].completed(first.keys(0)), keys[1].completed(second.keys(0))
            common = None, None, common_rows(*keys, "pairs", systems)[2]
    first, second = _part(first, common[0]), _part(second, common[1])
    if is_exchanged:  # the sides of each pair in the order of the first system
        templates, other_templates = first.pairs.templates, second.pairs.templates
        assert templates is not None and other_templates is not None
        place = places(as_names(other_templates.values), as_names(templates.values))
        exchanged = templates.gallery != place[other_templates.gallery]
        if exchanged.any():
            second = second.with_pairs(second.pairs.exchanged(exchanged))
    return first, second, common[2]


def _common_keys(
    sides: Codes, other_sides: Codes, unordered: bool, systems: Sequence[str]
) -> CommonRows:
    import pandas as pd

    # A key for each pair; pairs of the same names have the same key.
    all_names, other_number = united(sides.values, other_sides.values)
    both_keys = []
    for number, coded in ((np.arange(len(sides.values)), sides), (other_number, other_sides)):
        a, b = number[coded.gallery].astype(np.int64), number[coded.probe].astype(np.int64)
        if unordered:
            a, b = np.minimum(a, b), np.maximum(a, b)
        both_keys.append(pd.Index(a * len(all_names) + b))
    keys, other_keys = both_keys
    if keys.has_duplicates or other_keys.has_duplicates:
        if np.array_equal(keys, other_keys):
            return None, None, []
        raise DataError(
            "pairs that are listed more than once cannot be aligned by names; leave out "
            '`keep="repeated"`, or give attempts names of their own'
        )
    first_names = (x.values[[x.gallery[0], x.probe[0]]].tolist() for x in (sides, other_sides))
    examples = [f"{enrolled!r} with {probe!r}" for enrolled, probe in first_names]
    return common_names(keys, other_keys, "pairs", systems, examples)


def _part(scores: Scores, rows: np.ndarray | None, columns: np.ndarray | None = None) -> Scores:
    """Return the scores of the chosen rows and columns; `scores` itself if all are chosen."""
    probes, gallery = (
        None if index is None or np.array_equal(index, np.arange(size)) else index
        for index, size in zip((rows, columns), (scores.shape[0], scores.shape[-1]), strict=True)
    )
    return scores.select(probes=probes, gallery=gallery)


def require_same(first: Scores, second: Scores) -> None:
    if first.layout != second.layout or first.shape != second.shape:
        raise DataError(
            f"the systems are not over the same data: the first is {first.layout} {first.shape}, "
            f"the second {second.layout} {second.shape}"
        )
    if first.layout == "pairs" and second.layout == "pairs":
        require_equal(first.genuine, second.genuine, "genuine flags", "pair")
        if first.pair_subjects is not None and second.pair_subjects is not None:
            for side in (0, 1):
                subjects = first.pair_subjects[:, side]
                other_subjects = second.pair_subjects[:, side]
                require_equal(subjects, other_subjects, "subjects", "pair")
        return
    require_equal(first.probe_labels, second.probe_labels, "labels", SIDES[0])
    require_equal(first.gallery_labels, second.gallery_labels, "labels", SIDES[1])
    if first.layout == "top-k":
        return
    subjects = first.gallery_order.probe_position
    other_subjects = second.gallery_order.probe_position
    require_equal(subjects, other_subjects, "templates compared with themselves", "probe")


def require_equal(first: np.ndarray, second: np.ndarray, column: str, noun: str) -> None:
    """Raise :class:`DataError` where two columns differ; messages call a row a `noun`."""
    values = first.tolist()
    other_values = second.tolist()
    if values == other_values:
        return
    differing = [i for i, (x, y) in enumerate(zip(values, other_values, strict=True)) if x != y]
    i = differing[0]
    raise DataError(
        f"the systems are not over the same data: {column} differ at {len(differing)} of "
        f"{len(values)} places, the first is {noun} {i} ({values[i]!r} and {other_values[i]!r}); "
        "expected the same templates in the same order"
    )


def numbered_as(reference: Scores, scores: Scores) -> Scores:
    """Return `scores` with the codes of subjects in `reference`, which has equal labels.

    Codes of a matrix depend on the dtype of the labels and on the order of a whole file, those of
    a list on its labels alone. With equal codes, the same people are left out together of both
    systems, as in a jackknife.
    """
    is_list = scores.layout in ("pairs", "top-k")
    return scores if is_list else scores._with(_codes=reference.codes)


def differences(systems: Mapping[str, Scores]) -> dict[str, str]:
    """Return a sentence on the templates that systems lack and have besides the first, by name."""
    (first, reference), *further_systems = systems.items()
    sentences = {}
    for name, scores in further_systems:
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


# --------------------------------------------------------------------------------------- one scale


def scale_of(scores: Scores) -> dict[str, str | None]:
    """Return the parts of the scale of scores in words; None where a part is not known."""
    origin = "fused scores" if scores.is_derived else None  # None for scores as they were read
    return {
        "kind": scores.kind,
        "metric": scores.metric or None,  # of embeddings
        # What is accepted or rejected; None for pairs, which a program may fuse.
        "attempts": scores.claims_title or (None if scores.layout == "pairs" else "comparisons"),
        "origin": "distances of embeddings" if scores.metric else origin,
    }


def require_one_scale(first: Scores, second: Scores, what: str, names: Sequence[str]) -> None:
    """Raise :class:`DataError` where a number of the first scores means nothing to the second.

    `what` is the number, such as "a threshold", and `names` are those of both sets in messages.
    """
    scales = scale_of(first), scale_of(second)
    for part in scales[0]:
        number, other = (x[part] for x in scales)
        if number is not None and other is not None and number != other:
            raise DataError(
                f"{names[0]} and {names[1]} are on two scales: the {part} of {names[0]} is "
                f"{number!r}, and of {names[1]} {other!r}, so that {what} of one means nothing to "
                "the other; make both in the same way"
            )
