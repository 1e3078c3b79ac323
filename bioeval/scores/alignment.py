"""The common part of systems over the same data; systems of different data are refused.

Two matrices are joined by the names of their templates, and in the order of the first::

    first: probes a, b, c        second: probes c, a, d
    common: a, c                 rows of the first 0, 2; rows of the second 1, 0
    remark: 1 probe of the first (b) and 1 of the second (d) are not in common

:func:`aligned` joins the templates, or the pairs of two lists, and then leaves out the attempts
that one system lacks. The second part of the file, from :func:`scale_of` on, is for thresholds: a
number of one system means something for another only on the same scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bioeval.base.errors import DataError, Message, counted
from bioeval.base.options import row_spans
from bioeval.scores.attempts import attempted_cells, excludes_failures
from bioeval.scores.codes import Codes
from bioeval.scores.joining import CommonRows, common_names, common_rows, not_in_common
from bioeval.scores.keys import Keys, as_names, columns_of_distinct_texts, places, united
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people

if TYPE_CHECKING:
    import pandas as pd

#: Nouns of a row and of a column in errors.
SIDES = ("probe", "gallery template")

# Texts of two lists are compared in the first pairs only: lists in different orders mostly differ
# there, and what differs further on is not seen.
_FIRST_PAIRS = 1000


class Alignment(NamedTuple):
    """Two systems with the same templates or pairs in the same order, and remarks."""

    first: Scores
    second: Scores
    remarks: list[Message]


def aligned(first: Scores, second: Scores, systems: Sequence[str]) -> Alignment:
    """Return the common part of two systems, in the order of the first, and remarks.

    Templates are joined by their names, else by their numbers, and pairs also by their subjects, if
    no two pairs have the same subjects. Systems without these are taken in the order given.
    Attempts that one system lacks are left out of both.
    """
    layouts = {first.layout, second.layout}
    if layouts == {"pairs"}:
        common = _common_pairs(first, second, systems)
        require_same(common.first, common.second)
        return _without_lacking_pairs(common, systems)
    if not layouts & {"pairs", "top-k"}:
        common = _common_templates(first, second, systems)
        require_same(common.first, common.second)
        return _without_lacking_cells(common, systems)
    require_same(first, second)  # top-k lists are not joined; two kinds of layout are refused
    return Alignment(first, second, [])


def _without_lacking_pairs(common: Alignment, systems: Sequence[str]) -> Alignment:
    first, second, remarks = common
    is_attempt, is_other_attempt = _attempted_pairs(first), _attempted_pairs(second)
    is_common = is_attempt & is_other_attempt
    lacking = [int(np.count_nonzero(x & ~is_common)) for x in (is_attempt, is_other_attempt)]
    if not any(lacking):
        return common
    pairs = np.flatnonzero(is_common)
    remarks = [*remarks, not_in_common("comparisons", systems, lacking)]
    return Alignment(first.select(pairs), second.select(pairs), remarks)


def _attempted_pairs(scores: Scores) -> np.ndarray:
    if excludes_failures(scores):
        return ~np.isnan(scores.values)
    return np.ones(scores.shape, dtype=bool)


def _without_lacking_cells(common: Alignment, systems: Sequence[str]) -> Alignment:
    """Mask the cells of each matrix that are no attempts of the other."""
    first, second, remarks = common
    if not any(x.has_mask or x.exclude or x.nan == "exclude" for x in (first, second)):
        return common  # both have all attempts
    mask, other_mask = (np.empty(first.shape, dtype=np.uint8) for _ in range(2))
    lacking = [0, 0]  # attempts of each system that the other lacks
    for low, high in row_spans(*first.shape):
        is_attempt = attempted_cells(first, low, high)
        is_other_attempt = attempted_cells(second, low, high)
        is_common = is_attempt & is_other_attempt
        lacking[0] += int(np.count_nonzero(is_attempt & ~is_common))
        lacking[1] += int(np.count_nonzero(is_other_attempt & ~is_common))
        mask[low:high] = np.where(is_common, _mask_values(first, low, high), Mask.IGNORE)
        other_mask[low:high] = np.where(is_common, _mask_values(second, low, high), Mask.IGNORE)
    if not any(lacking):
        return common
    # A system whose attempts are all in common stays the very same object.
    if lacking[0]:
        first = first._with(_source=first.cells.masked(mask))
    if lacking[1]:
        second = second._with(_source=second.cells.masked(other_mask))
    return Alignment(first, second, [*remarks, not_in_common("comparisons", systems, lacking)])


def _mask_values(scores: Scores, low: int, high: int) -> np.ndarray:
    """Return the classes of the comparisons of rows ``low:high``, as values of a mask."""
    if not knows_people(scores):
        return scores.cells.read_mask(low, high)
    is_genuine = scores.codes.probe[low:high, None] == scores.codes.gallery
    return np.where(is_genuine, Mask.GENUINE, Mask.IMPOSTOR)


def _part(scores: Scores, rows: np.ndarray | None, columns: np.ndarray | None = None) -> Scores:
    """Return the scores of the chosen rows and columns; `scores` itself if all are chosen."""
    if rows is not None and np.array_equal(rows, np.arange(scores.shape[0])):
        rows = None
    if columns is not None and np.array_equal(columns, np.arange(scores.shape[-1])):
        columns = None
    return scores.select(probes=rows, gallery=columns)


# ------------------------------------------------------------------------- templates of a matrix


def _common_templates(first: Scores, second: Scores, systems: Sequence[str]) -> Alignment:
    nouns = ["probes", "gallery templates"]
    if all(np.array_equal(x.probe_ids, x.gallery_ids) for x in (first, second)):  # one set each
        nouns = ["templates", "templates"]
    rows, other_rows, remarks = common_rows(
        _keys_of(first, 0), _keys_of(second, 0), nouns[0], systems
    )
    columns, other_columns, column_remarks = common_rows(
        _keys_of(first, 1), _keys_of(second, 1), nouns[1], systems
    )
    for side, chosen in enumerate((rows, columns)):
        if chosen is None:  # taken in the order given, unless a column shows another order
            texts, other_texts = _texts_of_side(first, side), _texts_of_side(second, side)
            _refuse_unknown_names(texts, other_texts, SIDES[side], systems)
    distinct_remarks = list(dict.fromkeys(remarks + column_remarks))  # of one set, equal ones
    return Alignment(
        _part(first, rows, columns), _part(second, other_rows, other_columns), distinct_remarks
    )


def _keys_of(scores: Scores, side: int) -> Keys:
    """Return the keys of a side; without names, its column `template`, which may merely count."""
    meta = (scores.probe_meta, scores.gallery_meta)[side]
    column = as_names(meta["template"]) if "template" in meta else None
    return scores.keys(side).completed(Keys(column))


# ------------------------------------------------------------------------- pairs of a list


def _common_pairs(first: Scores, second: Scores, systems: Sequence[str]) -> Alignment:
    templates, other_templates = first.pairs.templates, second.pairs.templates
    keys, other_keys = first.pair_keys, second.pair_keys
    # By the names of both templates.
    if templates is not None and other_templates is not None:
        unordered = first.pairs.unordered and second.pairs.unordered
        common = _rows_by_sides(templates, other_templates, unordered, systems)
        part, other_part = _part(first, common[0]), _part(second, common[1])
        if unordered:
            other_part = _with_sides_of(part, other_part)
        return Alignment(part, other_part, common[2])
    # By the names of pairs, or their numbers, unless these merely count in both lists.
    have_names = keys.names is not None and other_keys.names is not None
    have_numbers = keys.numbers is not None and other_keys.numbers is not None
    people, other_people = first.pairs.people, second.pairs.people
    if have_names or (have_numbers and (keys.stated or other_keys.stated)):
        rows, other_rows, remarks = common_rows(keys, other_keys, "pairs", systems)
    # By the subjects, if these tell the pairs apart.
    elif (
        people is not None
        and other_people is not None
        and _are_distinct(people)
        and _are_distinct(other_people)
    ):
        rows, other_rows, remarks = _rows_by_sides(people, other_people, False, systems)
    # In the order given, with a remark if one list has keys that the other lacks.
    else:
        _refuse_unknown_names(_texts_of_pairs(first), _texts_of_pairs(second), "pair", systems)
        keys, other_keys = keys.completed(first.keys(0)), other_keys.completed(second.keys(0))
        rows = other_rows = None
        remarks = common_rows(keys, other_keys, "pairs", systems)[2]
    return Alignment(_part(first, rows), _part(second, other_rows), remarks)


def _are_distinct(people: Codes) -> bool:
    """Whether no two pairs have the same subjects."""
    distinct_pairs = np.unique([people.gallery, people.probe], axis=1)
    return len(people.probe) == distinct_pairs.shape[1]


def _rows_by_sides(
    sides: Codes, other_sides: Codes, unordered: bool, systems: Sequence[str]
) -> CommonRows:
    """Return the pairs in common by the names of both sides, in any order if `unordered`."""
    all_names, other_number = united(sides.values, other_sides.values)
    number = np.arange(len(sides.values))
    keys = _pair_keys(sides, number, len(all_names), unordered)
    other_keys = _pair_keys(other_sides, other_number, len(all_names), unordered)
    if keys.has_duplicates or other_keys.has_duplicates:
        if np.array_equal(keys, other_keys):
            return None, None, []
        raise DataError(
            "pairs that are listed more than once cannot be aligned by names; leave out "
            '`keep="repeated"`, or give attempts names of their own'
        )
    examples = []
    for x in (sides, other_sides):
        enrolled, probe = x.values[[x.gallery[0], x.probe[0]]].tolist()
        examples.append(f"{enrolled!r} with {probe!r}")
    return common_names(keys, other_keys, "pairs", systems, examples)


def _pair_keys(sides: Codes, number: np.ndarray, names: int, unordered: bool) -> pd.Index:
    """Return a key for each pair, by the `number` of each name, of which there are `names`."""
    import pandas as pd

    enrolled, probe = number[sides.gallery].astype(np.int64), number[sides.probe].astype(np.int64)
    if unordered:  # a-b and b-a have one key
        enrolled, probe = np.minimum(enrolled, probe), np.maximum(enrolled, probe)
    return pd.Index(enrolled * names + probe)


def _with_sides_of(first: Scores, second: Scores) -> Scores:
    """Return the second list, whose pairs are those of the first, with its enrolled templates."""
    templates, other_templates = first.pairs.templates, second.pairs.templates
    assert templates is not None and other_templates is not None
    place = places(as_names(other_templates.values), as_names(templates.values))
    is_exchanged = templates.gallery != place[other_templates.gallery]
    if not is_exchanged.any():
        return second
    return second.with_pairs(second.pairs.exchanged(is_exchanged))


# ------------------------------------------------------------------------- columns like names


class _Texts(NamedTuple):
    """Texts that may name the rows of a system, since no two rows have the same."""

    titles: tuple[str, ...]  # one column; two that name a pair together; none: known names
    texts: Sequence[Any]  # of each row a text, or of a pair the frozenset of both sides' texts


def _texts_of_side(scores: Scores, side: int) -> list[_Texts]:
    """Return the names of the templates of a side, and the columns that may be names."""
    if scores._has_no_names:
        return []
    names = scores.keys(side).names
    found = [] if names is None else [_Texts((), names.tolist())]
    columns = columns_of_distinct_texts((scores.probe_meta, scores.gallery_meta)[side])
    return found + [_Texts((title,), texts) for title, texts in columns.items()]


def _texts_of_pairs(scores: Scores) -> list[_Texts]:
    """Return what may name the pairs of a list, or the templates of both sides."""
    if scores._has_no_names:
        return []
    unread = scores._unread_texts
    found = [_Texts((title,), texts) for title, texts in unread.items()]
    for a, b in combinations(unread, 2):
        found.append(_Texts((a, b), _texts_of_both_sides(unread[a], unread[b])))
    enrolled_meta, probe_meta = scores.pairs.meta_of(0), scores.pairs.meta_of(1)
    for title in enrolled_meta:
        enrolled = enrolled_meta[title][:_FIRST_PAIRS].tolist()
        probe = probe_meta[title][:_FIRST_PAIRS].tolist()
        if all(isinstance(x, str) for x in enrolled + probe):
            found.append(_Texts((title,), _texts_of_both_sides(enrolled, probe)))
    if (templates := scores.pairs.templates) is not None:
        enrolled = [str(templates.values[i]) for i in templates.gallery[:_FIRST_PAIRS].tolist()]
        probe = [str(templates.values[i]) for i in templates.probe[:_FIRST_PAIRS].tolist()]
        found.append(_Texts((), _texts_of_both_sides(enrolled, probe)))
    return [x for x in found if len(set(x.texts)) == len(x.texts)]


def _texts_of_both_sides(enrolled: Sequence[str], probe: Sequence[str]) -> list[frozenset[str]]:
    return [frozenset(pair) for pair in zip(enrolled, probe, strict=True)]


def _refuse_unknown_names(
    texts: Sequence[_Texts], other_texts: Sequence[_Texts], noun: str, systems: Sequence[str]
) -> None:
    """Raise where two systems have a text in common, in different rows."""
    candidates = list(product(texts, other_texts))
    if any(list(mine.texts) == list(other.texts) for mine, other in candidates):
        return  # these show that the order given is right
    for mine, other in candidates:
        row_of = {text: row for row, text in enumerate(mine.texts)}
        for other_row, text in enumerate(other.texts):
            row = row_of.get(text)
            if row is None or row == other_row:
                continue
            name = " with ".join(sorted(text)) if isinstance(text, frozenset) else text
            columns = []
            for titles, system in zip((mine.titles, other.titles), systems, strict=True):
                column = f"the column {', '.join(titles)!r}" if titles else "the names"
                columns.append(f"{column} of {system}")
            titles = mine.titles or other.titles
            if noun == "pair":
                answers = (
                    f'`columns={{"template_a": "{titles[0]}"}}` and '
                    f'`columns={{"template_b": "{titles[-1]}"}}` of both lists if they do, '
                    'or `columns={"name": None}` of one if they do not'
                )
            else:
                answers = (
                    f'`names="{titles[0]}"` of both systems if they do, or `names=None` of one if '
                    "they do not"
                )
            raise DataError(
                f"{' and '.join(columns)} have the same texts, each once, in different orders: "
                f"{name!r} is {noun} {row} of {systems[0]} and {noun} {other_row} of "
                f"{systems[1]}. Do they name the {noun}s? Say {answers}"
            )


# ------------------------------------------------------------------------- the same data


def require_same(first: Scores, second: Scores) -> None:
    """Raise :class:`DataError` where shapes, classes or subjects of two systems differ."""
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
    return scores if is_list else scores.with_codes(reference.codes)


def differences(systems: Mapping[str, Scores]) -> dict[str, str]:
    """Return a sentence on the templates that systems lack and have besides the first, by name."""
    (first, reference), *further_systems = systems.items()
    sentences = {}
    for name, scores in further_systems:
        if "top-k" in (reference.layout, scores.layout) or reference.layout != scores.layout:
            continue
        find_common = _common_pairs if scores.layout == "pairs" else _common_templates
        texts = []
        for note in find_common(reference, scores, (first, name)).remarks:
            if note.code != "not-in-common":
                continue
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
        "attempts": scores.claim_attempts.title
        or (None if scores.layout == "pairs" else "comparisons"),
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
