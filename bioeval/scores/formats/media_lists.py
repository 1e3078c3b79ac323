"""Lists of images with their template and medium, as of IJB, and the pairs of their templates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.options import ReadOptions, say
from bioeval.scores.formats.pair_layouts import trial_layout
from bioeval.scores.formats.text_columns import Columns
from bioeval.scores.formats.text_shape import Shape, shape_of
from bioeval.scores.formats.text_table import read_columns
from bioeval.scores.formats.trials import truth_of

_NAMES = {
    "template": ("template_id", "template"),
    "media": ("media_id", "media"),
    "subject": ("subject_id", "subject"),
}


@dataclass(frozen=True)
class MediaList:
    """The template, and perhaps the medium and the subject, of each image.

    Attributes
    ----------
    path : Path
    columns : dict of str to object array, shape (images,)
        ``template`` and, where the list has them, ``media`` and ``subject``, as text.
    templates : list of str
        Each template once, in the order in which they are first named.
    """

    path: Path
    columns: dict[str, np.ndarray]
    templates: list[str]

    def subjects(self) -> list[str] | None:
        """Return the subject of each of the templates; None where the list names none."""
        if "subject" not in self.columns:
            return None
        whose: dict[str, str] = {}
        pairs = zip(self.columns["template"], self.columns["subject"], strict=True)
        for name, who in dict.fromkeys(pairs):
            if whose.setdefault(name, who) != who:
                raise DataError(
                    f"{self.path}: the template {name!r} is of {whose[name]!r} and of {who!r}"
                )
        return [whose[name] for name in self.templates]

    def subject_of(self) -> dict[str, str]:
        """Return the subject of each template by its name."""
        found = self.subjects()
        if found is None:
            raise DataError(
                f"{self.path}: lists templates without their subjects; expected a first line with "
                "template_id and subject_id"
            )
        return dict(zip(self.templates, found, strict=True))


def _numbered(row: list[str]) -> bool:
    return len(row) == 3 and row[1].isdigit() and row[2].isdigit()


def read_media(path: Path) -> MediaList:
    """Read a list of images: with names of columns, or ``image template medium`` on each line."""
    shape = shape_of(path)
    places, header = _columns(shape)
    table = read_columns(shape, header, {i: name for name, i in places.items()}, {})
    columns = {name: table.text[i].objects() for name, i in places.items()}
    return MediaList(path, columns, [*table.text[places["template"]].values])


def _columns(shape: Shape) -> tuple[dict[str, int], bool]:
    """Return the place of each column, and whether the first line names them."""
    names = [cell.casefold() for cell in shape.cells[0]]
    found = {
        word: next((names.index(name) for name in known if name in names), None)
        for word, known in _NAMES.items()
    }
    places = {word: place for word, place in found.items() if place is not None}
    if "template" in places and len(places) > 1:
        return places, True
    if all(map(_numbered, shape.cells)):
        return {"template": 1, "media": 2}, False
    raise DataError(
        f"{shape.path}: its first line is {' '.join(shape.cells[0])[:80]!r}; expected the names "
        "template_id and subject_id or media_id, or an image, its template and its medium on each "
        "line, as in '1.jpg 17 3'"
    )


@dataclass(frozen=True)
class TemplatePairs:
    """Pairs of templates by their place in a list, and their classes (None: not stated)."""

    a: np.ndarray
    b: np.ndarray
    genuine: np.ndarray | None


def read_template_pairs(listed: MediaList, options: ReadOptions) -> TemplatePairs:
    """Read the pairs of templates in `trials`: two names on each line, and perhaps 1 or 0."""
    assert options.trials is not None
    shape = shape_of(options.trials)
    layout = trial_layout(shape, options)
    sides = [i for i in range(shape.columns) if i not in (layout.genuine, layout.score)]
    if len(sides) != 2:
        raise DataError(f"{options.trials}: expected two templates on each line, and 1 or 0")
    words = {i: layout.names[i] for i in (*sides, layout.genuine) if i is not None}
    table = read_columns(shape, layout.header, words, {})
    a, b = (_places(table, side, listed) for side in sides)
    genuine = None
    if layout.genuine is not None:
        genuine = truth_of(table.text[layout.genuine], table, layout.names[layout.genuine])
    elif "subject" not in listed.columns:
        raise DataError(
            f"{options.trials}: does not mark genuine pairs, and {listed.path} has no subjects; "
            f"expected 1 or 0 after the two templates, or {say('labels')} with subject_id"
        )
    return TemplatePairs(a, b, genuine)


def _places(table: Columns, side: int, listed: MediaList) -> np.ndarray:
    """Return the place of the template of each line."""
    column = table.text[side]
    number = {name: i for i, name in enumerate(listed.templates)}
    found = np.array([number.get(name, -1) for name in column.values])
    for code in np.flatnonzero(found < 0)[:1]:
        row = int(np.argmax(column.codes == code))
        raise DataError(
            f"{table.at(row)}: the template {column.values[code]!r} is not in {listed.path}, as "
            f"{int((found < 0).sum()):,} of {len(found):,} are not"
        )
    return found[column.codes]
