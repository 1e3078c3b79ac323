"""No value: the one list of words that stand in place of a value, in labels and other columns.

A cell has no value if it is empty, None, NaN, NaT or NA, or a text that a program or a person
writes in its place. A cell without a value equals nothing, not even another one: templates
without a subject are of no person, and an unknown session is no session that two templates share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from bioeval.scores.labels import missing_values, plain, without_type

#: Words for no value in any column; case and outer blanks do not matter.
WORDS = frozenset(
    ("nan", "none", "null", "nil", "na", "n/a", "#n/a", "#na", "<na>", "nat", "?", "-", ".")
    + ("unknown", "missing", "unbekannt", "#ref!", "#value!", "#name?")
)
#: So written, these words are names of people, and no program writes them for a missing value.
NAMES_OF_PEOPLE = frozenset(("Na", "Nan", "Nat", "Nil"))
#: Words that are values of a group: whoever wears no glasses may have the value "none".
WORDS_OF_GROUPS = frozenset(("none", "-", "unknown"))

#: Names of the column of cameras, in order of preference; a camera -1 is unknown.
CAMERA_COLUMNS = ("camera", "cam", "camid", "cam_id", "camera_id", "cameraid", "camids", "cams")

#: Labels of no person if `distractor_ids` is not given; "" stands for a missing label.
NO_PERSON: tuple[Any, ...] = ("", -1, "unidentified", "new_individual", *sorted(WORDS))

#: What a column says of templates, where this decides which words are values.
Role = Literal["camera", "group", ""]


def no_value(column: np.ndarray, role: Role = "") -> np.ndarray:
    """Return which cells of a column (n,) have no value, bool (n,); those of cameras also -1."""
    if column.dtype.kind in "iufb":
        is_unknown = missing_values(column)
        return is_unknown | (column == -1) if role == "camera" else is_unknown
    if column.dtype.kind not in "USO":
        return missing_values(column)
    words = WORDS - WORDS_OF_GROUPS if role == "group" else WORDS
    cells = column.tolist()
    texts = {x for x in cells if isinstance(x, str | bytes)}
    without_value = {x for x in texts if _is_word(x, words, role)}
    are_words = [isinstance(x, str | bytes) and x in without_value for x in cells]
    is_unknown = missing_values(column) | np.array(are_words, dtype=bool)
    if role == "camera" and column.dtype.kind == "O":
        is_unknown |= np.array([without_type(x) == -1 for x in cells], dtype=bool)
    return is_unknown


def _is_word(cell: str | bytes, words: frozenset[str], role: Role) -> bool:
    text = (cell.decode(errors="replace") if isinstance(cell, bytes) else cell).strip()
    if role == "camera" and without_type(text) == -1:
        return True
    return not text or (text.casefold() in words and text not in NAMES_OF_PEOPLE)


def role_of(column: str) -> Role:
    return "camera" if column.casefold() in CAMERA_COLUMNS else ""


def ids_of_no_person(distractor_ids: Sequence[Any] | None) -> tuple[Any, ...]:
    """Return the labels of no person: "" and the stated labels, or by default `NO_PERSON`."""
    return NO_PERSON if distractor_ids is None else ("", *distractor_ids)


def are_of_no_person(labels: np.ndarray, ids: Sequence[Any]) -> np.ndarray:
    """Return which labels are among `ids`; texts are compared in any case, without outer blanks.

    The names of people among the words, such as "Nan", are labels of no person only if `ids` have
    them as written.
    """
    compared_ids = {*map(_as_id, ids)}
    missing = missing_values(labels) if "" in compared_ids else np.zeros(len(labels), dtype=bool)
    if labels.dtype.kind in "iufb":
        return missing | np.isin(labels, [x for x in compared_ids if not isinstance(x, str)])
    return missing | np.array([_as_id(x) in compared_ids for x in labels.tolist()], dtype=bool)


def _as_id(label: Any) -> Any:
    value = label.decode(errors="replace") if isinstance(label, bytes) else plain(label)
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text in NAMES_OF_PEOPLE:
        return text
    may_be_number = text[:1].isdigit() or text[:1] in ("+", "-", ".")
    return without_type(text) if may_be_number else text.casefold()
