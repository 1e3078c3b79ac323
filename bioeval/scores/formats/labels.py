"""Tables beside scores: labels and metadata of rows in their order, or of the names of a list.

Labels of rows are in their order, as of a matrix in ``x.npy``, and `read_labels` reads them. A list
of pairs names its templates, and `descriptions` looks up the names in a table::

    label,camera        template_id,subject_id,gender
    anna,1              anna_1,anna,f
    ben,2               ben_1,ben,m

Cells of CSV files stay text, without the blanks around them: ``007``, ``NA`` and ``1e5`` are labels
like any other. But a column of whole floats, such as 1.0, holds integers: pandas writes integers so
in a column with blanks. A blank cell of metadata is an unknown value, and a blank label is of no
person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from bioeval.base.errors import DataError, backquoted, counted
from bioeval.scores.formats.containers import open_npy, require_unicode
from bioeval.scores.formats.roles import Arguments
from bioeval.scores.formats.tables import (
    COLUMNS,
    Columns,
    Words,
    first_codes,
    head_of,
    require_names,
)
from bioeval.scores.formats.texts import (
    FileKind,
    existing_file,
    fault,
    guarded,
    kind_of_file,
    missing,
    read_text,
    text_array,
)
from bioeval.scores.image_names import looks_like, parse_names
from bioeval.scores.keys import (
    Keys,
    NamedColumn,
    as_keys,
    as_names,
    counts_rows,
    names_in_columns,
    numbering_in_other_order,
)
from bioeval.scores.labels import as_objects
from bioeval.scores.metadata import IMAGE_COLUMNS, LABEL_COLUMNS, NUMBER_COLUMNS

#: How the files beside ``x.npy`` end.
SIBLINGS = ("labels.csv", "probe.csv", "gallery.csv")

#: The arguments, and roles of ``columns``, that are labels.
Role = Literal["labels", "gallery_labels"]

# A column whose values are 1 to n in another order seems to number the rows. In a table of fewer
# rows than this number, where sessions may be 2 and 1 by chance, only columns of `_NUMBERS` do so.
_FEW_ROWS = 5
_NUMBERS = ("index", "row", "id", "number", "template", "template_id", *IMAGE_COLUMNS)
# Columns that never number the rows.
_NO_NUMBERS = (*NUMBER_COLUMNS, "enrolled_at", "seen_at")

# The name that pandas gives the only column of a table, or values without a name.
_ONLY = "0"


def sibling(path: Path, ending: str) -> Path:
    return path.with_name(f"{path.stem}.{ending}")


# ------------------------------------------------------------------------- labels of rows


@dataclass
class SideLabels:
    """The labels of one side, and its columns of metadata."""

    path: Path
    label: np.ndarray
    meta: dict[str, np.ndarray]
    has_header: bool = True
    #: The column that numbers the rows in another order than theirs; None if none does.
    misnumbered: str | None = None
    #: The keys in the first column, if it has no name: the index that pandas wrote.
    index: Keys = Keys()

    def expect(self, count: int | None, noun: str) -> SideLabels:
        """Return the labels; raise if their number is not `count`, and no names join them."""
        if count in (None, len(self.label)) or self.names:
            return self
        hint = ""
        if not self.has_header and len(self.label) == count + 1:
            first = str(self.label[0])
            hint = f" Its first line, {first!r}, was read as a label: call that column 'label'"
        raise DataError(
            f"{self.path}: {counted(len(self.label), 'labels')} for {counted(count, noun)}; "
            "expected one for "
            f"each.{hint}"
        )

    @cached_property
    def names(self) -> dict[str, Any]:
        """The possible names of the rows, by their source: columns, or numbers in another order."""
        columns = names_in_columns(self.meta)
        if self.misnumbered is not None:
            columns.setdefault(self.misnumbered, as_names(self.meta[self.misnumbered]))
        names = {f"{self.path}: the column {name!r}": x for name, x in columns.items()}
        if self.index.names is not None:
            names[f"{self.path}: the first column, without a name,"] = self.index.names
        return names

    def columns(self) -> tuple[Any, dict[str, Any]]:
        """Return the labels and the metadata; if the rows have keys, as named columns."""
        if not self.names and self.index.numbers is None:
            return self.label, dict(self.meta)
        keys = self.names, self.index.numbers
        meta = {name: NamedColumn(column, *keys) for name, column in self.meta.items()}
        return NamedColumn(self.label, *keys), meta


def read_labels(
    path: str | Path, arguments: Arguments, meta: Mapping[str, str], role: Role = "labels"
) -> SideLabels:
    """Read the labels of one side: a CSV file, a .npy array, or, with `names_of`, images.

    All other columns of a CSV file are metadata, which `meta` renames: ``{"camera": "cam"}``.
    """
    path = Path(path)
    names_of = arguments.take("names_of")
    subjects: str | None = None  # the column of a CSV file that has the labels
    if path.is_file() and kind_of_file(path) == FileKind.NPY:
        label, columns = _labels_of_array(path, names_of)
    elif names_of is not None:
        label, columns = _labels_of_images(path, names_of, arguments)
    else:
        columns, subjects = _csv_with_subjects(path, arguments, role)
        label = columns.pop(subjects)

    # Keys of the rows are the index of pandas, and a column that numbers them in another order.
    index = columns.pop("", None)
    keys = Keys() if index is None or counts_rows(index) else as_keys(index)
    misnumbered = None
    if subjects is not None:
        for name, values in columns.items():
            may_number = name.casefold() in _NUMBERS or len(values) >= _FEW_ROWS
            is_metadata = name in (*meta.values(), *_NO_NUMBERS)
            if may_number and not is_metadata and numbering_in_other_order(values):
                misnumbered = name
                break
    new_name = {column: name for name, column in meta.items()}
    for column, name in new_name.items():
        if column not in columns:
            raise missing(path, "column", column, [*columns], name)
    columns = {new_name.get(name, name): values for name, values in columns.items()}
    return SideLabels(path, label, columns, subjects != "", misnumbered, keys)


def _labels_of_array(path: Path, names_of: str | None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the labels of a .npy array, or the identities and metadata of names of images."""
    expected = "a .npy array of labels"
    label = open_npy(path, expected, "str")
    with guarded(path, expected=expected):
        require_unicode(label)
        if label.dtype.kind == "S":
            label = np.char.decode(label, "utf-8")
    if label.ndim != 1 or label.dtype.kind not in "Uiu":
        raise DataError(
            f"{path}: has shape {label.shape} and dtype {label.dtype}; expected labels, one "
            "dimension of text or whole numbers"
        )
    columns: dict[str, np.ndarray] = {}
    if names_of is not None:
        label, columns = of_images(label, names_of, str(path))
    return np.array(label), columns  # in memory, where the array is read by rows


def _labels_of_images(
    path: Path, names_of: str, arguments: Arguments
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the identities and metadata of the names in a text: on each line, or in a column."""
    existing_file(path, "a list of names")
    if path.suffix.lower() != ".csv" or names_of == "vehicleid":
        return of_images(read_text(path).rstrip().split("\n"), names_of, str(path))
    further, column_of_names = _read_csv(path, arguments, IMAGE_COLUMNS, "names")
    names = further.pop(column_of_names).tolist()
    further.pop("", None)  # the index of pandas
    label, columns = of_images(names, names_of, str(path))
    return label, columns | further


def _csv_with_subjects(
    path: Path, arguments: Arguments, role: Role
) -> tuple[dict[str, np.ndarray], str]:
    """Return the columns of a CSV file, and the one of subjects.

    It has a chosen name, or a known one; else it is the only column.
    """
    chosen = arguments.take(f"columns.{role}")
    columns, subjects = _read_csv(path, arguments, LABEL_COLUMNS, "labels", chosen, role)
    if chosen is None:
        subjects = column_of_subjects(path, subjects, columns, role)
    if len(columns) > 1 and subjects not in (chosen, LABEL_COLUMNS[0]):
        arguments.notes.append(f"subjects from column {subjects!r} of {path.name}")

    # Labels may be lines of a list of IJB, or names of images.
    first_label = str(columns[subjects][0])
    if not subjects and re.fullmatch(r"\S+\s+\d+\s+\d+", first_label):
        raise DataError(
            f"{path}: its first line, {first_label!r}, has an image, its template and its "
            "medium, and no subject; write a first line with the names of the columns, and a "
            "column label"
        )
    if pattern := looks_like(first_label):
        raise DataError(
            f"{path}: its labels are names of images in the form of {pattern}, each a "
            f'different label; give `names_of="{pattern}"` to read the identities'
        )
    return columns, subjects


def _read_csv(
    path: Path,
    arguments: Arguments,
    known_names: Sequence[str],
    noun: str,
    chosen: str | None = None,
    role: str = "",
) -> tuple[dict[str, np.ndarray], str]:
    """Return the columns of a CSV file as text, and the chosen one, or the first known name.

    Among several columns ``""`` is the index that pandas wrote; the only column of a file without
    a header is called ``""``, too.
    """
    head = head_of(existing_file(path, "the CSV file"), blanks=False)
    titles = head.cells[0]
    known_names = known_names if chosen is None else [chosen.casefold()]
    header = len(titles) > 1 or titles[0].casefold() in (*LABEL_COLUMNS, *known_names)
    known: str | None = ""
    if header:
        require_names(path, head.start_line, titles)
        # A column that is not to be read gives labels if no other does: it may be meant elsewhere.
        titles_to_read = [title for title in titles if title not in arguments.ignored]
        for candidates in (titles_to_read, titles):
            title_of_name = {title.casefold(): title for title in candidates}
            known = next((title_of_name[x] for x in known_names if x in title_of_name), None)
            if known is not None:
                break
        if known is None and {*titles} <= {"", _ONLY}:
            known = _ONLY
    else:
        titles = [""]
    if not known and chosen is not None:
        raise missing(path, "column", chosen, titles, role)
    if known is None:
        raise fault(
            path,
            f"no column of {noun}; its columns are {', '.join(map(repr, titles))}",
            f"expected one called {', '.join(map(repr, known_names))}",
        )
    every = range(head.width)
    blanks = [i for i in every if noun == "labels" or titles[i] != known]
    labels = [titles.index(known)]
    table = head.read(every, [], names=titles, header=header, blanks=blanks, labels=labels)
    columns = {}
    for i, title in enumerate(titles):
        if title in arguments.ignored and title != known:
            continue
        columns[title] = text_array(table.words[i].objects().tolist(), f"{path}: {title}")
    return columns, known


def column_of_subjects(
    path: Path, first_known: str, columns: Mapping[str, np.ndarray], role: Role
) -> str:
    """Return the column of subjects: the first known name with a value twice, else `first_known`.

    Values that occur once, such as an id of the rows, do not group rows by subject.
    """
    further = (x for x in columns if x != first_known and x.casefold() in LABEL_COLUMNS)
    candidates = [first_known, *further]
    grouping = [x for x in candidates if len({*columns[x].tolist()}) < len(columns[x])]
    for name in grouping[1:]:
        first = columns[grouping[0]].tolist()
        other = columns[name].tolist()
        if not len({*first}) == len({*other}) == len({*zip(first, other, strict=True)}):
            raise fault(
                path,
                f"{grouping[0]!r} and {name!r} could each be the column of subjects",
                f"say {backquoted(f'columns.{role}', name)}",
            )
    return grouping[0] if grouping else first_known


def of_images(names: Any, names_of: str, source: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the identities that names of images state, and the names with their metadata."""
    if isinstance(names, np.ndarray):
        names = (np.char.decode(names, "utf-8") if names.dtype.kind == "S" else names).tolist()
    parsed = parse_names(names, names_of, where=source)
    if "camera" in parsed.meta:
        template_names = np.array([*map(str.strip, names)])
    else:  # each line has the name of an image and its identity
        template_names = parsed.meta["image"]
    return parsed.label, {"name": template_names, **parsed.meta}


# ------------------------------------------------------------------------- tables of templates


# The names, in any case, of the columns with a role; the first name present counts.
_ROLES = {
    "template": ("template_id", "template"),
    "media": ("media_id", "media"),
    "subject": ("subject_id", *LABEL_COLUMNS),
}
# The same, of tables in which each image is a template.
_ROLES_OF_IMAGES = {"template": IMAGE_COLUMNS, "subject": LABEL_COLUMNS}
# Names of templates that a message lists.
_EXAMPLES = 3
# Columns that a message lists.
_LISTED_COLUMNS = 8


def lists_templates(path: Path) -> bool:
    """Whether a text lists the subjects of templates, and is no list of pairs."""
    if kind_of_file(existing_file(path)) != FileKind.TEXT:
        return False
    names = {*map(str.casefold, head_of(path).cells[0])}
    known_names = [names.intersection(_ROLES[word]) for word in ("template", "subject")]
    return all(known_names) and names.isdisjoint((*COLUMNS["score"], *COLUMNS["genuine"]))


class Description(NamedTuple):
    """What the argument `option` says of names: a table, or a pattern that parts names."""

    option: str
    subject_of: dict[str, str] | None  # the subject of each name; None if it states none
    meta: dict[str, dict[str, str]]  # of each column, the value of each name
    left_out: dict[str, str]  # of each column that is left out, why


def descriptions(
    arguments: Arguments,
    path: Path,
    names: Sequence[str],
    place_of: Callable[[str], str],
    renamed: Mapping[str, str],
    *,
    are_subjects_needed: bool,
    is_metadata_enough: bool = False,
) -> Iterator[Description]:
    """Yield what a table, and a pattern, say of the names in the file at `path`.

    `place_of` returns the place of a name, for messages, and `renamed` has the titles of columns of
    the table by their new names.
    """
    if "labels" in arguments:
        place = arguments.take("labels")
        table, column_of_role, titles = _read_templates(place)
        templates = table.words[column_of_role["template"]]
        unread = {"", *arguments.ignored}
        with_role = {*column_of_role.values()}
        described = {x: i for i, x in enumerate(titles) if x not in unread and i not in with_role}
        new_name = {column: name for name, column in renamed.items()}
        meta, left_out = _meta_of_templates(table, templates, described, new_name)
        subject_of: dict[str, str] | None = None
        if "subject" in column_of_role:
            subjects = table.words[column_of_role["subject"]]
            subject_of, rows = _value_by_name(templates, subjects)
            if rows:
                first, other = subjects.objects()[rows]
                name = templates.objects()[rows[0]]
                raise fault(place, f"the template {name!r} is of {first!r} and of {other!r}")
        elif are_subjects_needed and not (is_metadata_enough and described):
            raise fault(
                place,
                "lists templates without their subjects",
                "expected a first line with template_id and subject_id",
            )
        if lacking := {*names}.difference(templates.values):
            examples = ", ".join(map(repr, sorted(lacking)[:_EXAMPLES]))
            more = ", ..." if len(lacking) > _EXAMPLES else ""
            raise fault(
                path,
                f"{place} lacks {counted(len(lacking), 'templates')} of {len(names):,}: "
                f"{examples}{more}",
                "add them to the table, or leave their comparisons out",
            )
        yield Description("labels", subject_of, meta, left_out)
    if "subject_from" in arguments:
        parts = arguments.parts_of(names, place_of)
        yield Description("subject_from", parts.pop("subject"), parts, {})


def _value_by_name(names: Words, column: Words) -> tuple[dict[str, str], list[int]]:
    """Return the first value of each name, and two rows in which a name has different values."""
    codes = np.empty(len(names.values), dtype=np.int64)
    rows = first_codes(names.codes, column.codes, codes)
    values = as_objects(column.values)[codes].tolist()
    return dict(zip(names.values, values, strict=True)), rows


def _meta_of_templates(
    table: Columns, templates: Words, described: Mapping[str, int], new_name: Mapping[str, str]
) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Return the value of each template in the `described` columns, and why others are left out.

    A column with several values for one template, such as the name of an image, is left out.
    """
    meta: dict[str, dict[str, str]] = {}
    left_out: dict[str, str] = {}
    for title, i in described.items():
        value_of_template, rows = _value_by_name(templates, table.words[i])
        if not rows:
            meta[new_name.get(title, title)] = value_of_template
            continue
        lines = table.lines(rows)
        first, other = table.words[i].objects()[rows]
        left_out[title] = (
            f"has several values for one template in {table.path}, as "
            f"{templates.objects()[rows[0]]!r} is {first!r} on line {lines[0]} and {other!r} "
            f"on line {lines[1]}"
        )
    for title, name in new_name.items():
        if title in left_out and name not in meta:
            raise fault(table.path, f"{title!r} {left_out[title]}")
        if name not in meta:
            raise missing(table.path, "column", title, [*meta], name)
    return meta, left_out


def _read_templates(path: Path) -> tuple[Columns, dict[str, int], list[str]]:
    """Read a table of templates; also return the column of each role, and the titles of all."""
    head = head_of(path)
    names = [*map(str.casefold, head.cells[0])]
    column_of_role: dict[str, int] = {}
    for roles in (_ROLES, _ROLES_OF_IMAGES):
        if "template" in column_of_role:
            break
        column_of_role = {}
        for role, known_names in roles.items():
            name = next((x for x in known_names if x in names), None)
            if name is not None:
                column_of_role[role] = names.index(name)
    if "template" not in column_of_role or len(names) == 1:
        listed = ", ".join(map(repr, head.cells[0][:_LISTED_COLUMNS]))
        raise DataError(
            f"{path}: has no column 'template', by which the names of a list find their row; its "
            f"first line is {listed}; expected the names of the columns, such as "
            "'template,subject,gender', and a row for each name in the list"
        )
    titles = head.cells[0].copy()
    blanks = {*range(head.width)}
    for role, i in column_of_role.items():
        titles[i] = role
        if role != "subject":  # a blank subject is of no person
            blanks.discard(i)
    every = range(head.width)
    return head.read(every, [], names=titles, blanks=blanks), column_of_role, titles
