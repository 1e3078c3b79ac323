"""The labels and the metadata of templates: a CSV file, an array, names of images, or a table.

A table of templates describes the names of a list; the other files describe rows in their order.
Cells of CSV files stay text, without the blanks around them: ``007``, ``NA`` and ``1e5`` are labels
like any other. But a column of whole floats, such as 1.0, holds integers: pandas writes integers so
in a column with blanks. A blank cell of metadata is an unknown value, and a blank label is of no
person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError, backquoted, counted
from bioeval.scores.formats.containers import open_npy, require_unicode
from bioeval.scores.formats.files import (
    FileKind,
    existing_file,
    fault,
    guarded,
    kind_of_file,
    missing,
    read_text,
    text_array,
)
from bioeval.scores.formats.roles import COLUMNS, Arguments, require_names
from bioeval.scores.formats.tables import (
    Columns,
    as_integers,
    cells_by_column,
    head_of,
    read_columns,
    whole_floats,
)
from bioeval.scores.image_names import PATTERNS, looks_like, parse_names
from bioeval.scores.labels import with_whole_numbers
from bioeval.scores.metadata import IMAGE_COLUMNS, LABEL_COLUMNS, NUMBER_COLUMNS
from bioeval.scores.sides import (
    Keys,
    NamedColumn,
    as_keys,
    as_names,
    counts_rows,
    names_in_columns,
    numbering_in_other_order,
)

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

    def expect(self, count: int, noun: str) -> SideLabels:
        """Return the labels; raise if their number is not `count`, and they have no names.

        Labels with names are joined to the templates by the names, so that there may be more.
        """
        if len(self.label) == count or self.names:
            return self
        hint = ""
        if not self.has_header and len(self.label) == count + 1:
            first = str(self.label[0])
            hint = f" Its first line, {first!r}, was read as a label: call that column 'label'"
        raise DataError(
            f"{self.path}: {len(self.label)} labels for {count} {noun}; expected one for "
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
        keys = tuple(self.names.values()), tuple(self.names), self.index.numbers
        meta = {name: NamedColumn(column, *keys) for name, column in self.meta.items()}
        return NamedColumn(self.label, *keys), meta

    def renamed(self, meta: Mapping[str, str] | None) -> SideLabels:
        """Return the labels with columns renamed: ``{"camera": "cam"}`` makes ``cam`` a camera."""
        names = {column: name for name, column in (meta or {}).items()}
        for column, name in names.items():
            if column not in self.meta:
                option = f'`columns={{"{name}": "{column}"}}`'
                raise missing(self.path, "column", column, [*self.meta], option)
        columns = {names.get(name, name): values for name, values in self.meta.items()}
        return replace(self, meta=columns)


# ------------------------------------------------------------------------- CSV


def _read_csv(path: Path, known_names: Sequence[str]) -> tuple[dict[str, np.ndarray], str | None]:
    """Return the columns of a CSV file as text, and the first one with a known name.

    Among several columns ``""`` is the index that pandas wrote.
    A single column has a header only if the first cell is a known name, or a name of
    `LABEL_COLUMNS`; otherwise the column is called ``""``, and is known.
    """
    head = head_of(existing_file(path, "the CSV file"), blanks=False)
    names = head.cells[0]
    header = len(names) > 1 or names[0].casefold() in (*LABEL_COLUMNS, *known_names)
    known: int | None = 0
    if header:
        require_names(path, head.start_line, names)
        column_of_name = {name.casefold(): i for i, name in enumerate(names)}
        known = next((column_of_name[x] for x in known_names if x in column_of_name), None)
    else:
        names = [""]
    lines, cells = cells_by_column(head, header)
    if known is not None and known_names is not LABEL_COLUMNS and "" in cells[known]:
        line = lines[cells[known].index("")]
        raise fault(path, f"the cell {names[known]!r} is blank", line=line)
    if known is not None and (numbers := whole_floats(cells[known])) is not None:
        with_whole_numbers(numbers, f"{path}: the column {names[known] or 1!r}")
    columns = {
        name: text_array([*as_integers(cells[i])], f"{path}: {name}")
        for i, name in enumerate(names)
    }
    return columns, None if known is None else names[known]


def read_labels(
    path: str | Path,
    arguments: Arguments,
    meta: Mapping[str, str] | None = None,
    role: Role = "labels",
) -> SideLabels:
    """Read the labels of one side: a CSV file, a .npy array, or, with `names_of`, images.

    The labels are a column of `LABEL_COLUMNS`, or the only column of a file without a header; all
    other columns are metadata, which `meta` renames.
    """
    path = Path(path)
    names_of = arguments.take("names_of")
    if path.is_file() and kind_of_file(path) == FileKind.NPY:
        return _array_of_labels(path, names_of, meta)
    if names_of is not None:
        return read_names(path, names_of).renamed(meta)
    # The column of subjects: a chosen name, or a known one; else the only column.
    chosen = arguments.take(f"columns.{role}")
    known_names = LABEL_COLUMNS if chosen is None else [chosen.casefold()]
    columns, subjects = _read_csv(path, known_names)
    if subjects is None and {*columns} <= {"", _ONLY}:
        subjects = _ONLY
    if not subjects and chosen is not None:
        raise missing(path, "column", chosen, [*columns], backquoted(f"columns.{role}", chosen))
    if subjects is None:
        raise _no_column(path, "labels", columns, LABEL_COLUMNS)
    if chosen is None:
        first_known = subjects
        subjects = column_of_subjects(path, first_known, columns, role)
        if subjects != first_known:
            columns, _ = _read_csv(path, [subjects.casefold()])  # refuses blank cells
    if len(columns) > 1 and subjects not in (chosen, LABEL_COLUMNS[0]):
        arguments.notes.append(f"subjects from column {subjects!r} of {path.name}")
    label = columns.pop(subjects)

    # Labels may be lines of a list of IJB, or names of images.
    first_label = str(label[0])
    if not subjects and re.fullmatch(r"\S+\s+\d+\s+\d+", first_label):
        raise DataError(
            f"{path}: its first line, {first_label!r}, has an image, its template and its medium, "
            "and no subject; give the pairs of templates as `trials`, or labels with the columns "
            "label, template and media"
        )
    if pattern := looks_like(first_label):
        raise DataError(
            f"{path}: its labels are names of images in the form of {pattern}, each a different "
            f'label; give `names_of="{pattern}"` to read the identities'
        )

    # The keys of the rows: the index of pandas, or a column that numbers the rows in another order.
    index = columns.pop("", None)
    keys = Keys() if index is None or counts_rows(index) else as_keys(index)
    metadata = (*(meta or {}).values(), *_NO_NUMBERS)
    misnumbered = None
    for name, values in columns.items():
        may_number = name.casefold() in _NUMBERS or len(values) >= _FEW_ROWS
        if may_number and name not in metadata and numbering_in_other_order(values):
            misnumbered = name
            break
    labels = SideLabels(path, label, columns, bool(subjects), misnumbered, keys)
    return labels.renamed(meta)


def column_of_subjects(
    path: Path, first_known: str, columns: Mapping[str, np.ndarray], role: Role
) -> str:
    """Return the column of subjects among the columns with a known name.

    It is the first one in which a value occurs twice, or `first_known` if there is none: values
    that occur once, such as an id of the rows, do not group rows by subject. Raise where two
    columns group the rows differently.
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


def _array_of_labels(
    path: Path, names_of: str | None, meta: Mapping[str, str] | None
) -> SideLabels:
    expected = "a .npy array of labels"
    array = open_npy(path, expected, "str")
    with guarded(path, expected=expected):
        require_unicode(array)
        if array.dtype.kind == "S":
            array = np.char.decode(array, "utf-8")
    if array.ndim != 1 or array.dtype.kind not in "Uiu":
        raise DataError(
            f"{path}: has shape {array.shape} and dtype {array.dtype}; expected labels, one "
            "dimension of text or whole numbers"
        )
    for name, column in (meta or {}).items():
        raise DataError(
            f"{path}: has labels alone, and no column {column!r} (named by {name}={column}); "
            "give the labels and metadata as a CSV file"
        )
    if names_of is not None:
        return of_images(array, names_of, str(path), path)
    return SideLabels(path, np.array(array), {})


def of_images(names: Any, names_of: str, source: str, path: Path) -> SideLabels:
    """Return the identities and the metadata that names of images state, and the names."""
    require_choice("names_of", names_of, tuple(PATTERNS))
    if isinstance(names, np.ndarray):
        names = (np.char.decode(names, "utf-8") if names.dtype.kind == "S" else names).tolist()
    parsed = parse_names(names, names_of, where=source)
    if "camera" in parsed.meta:
        template_names = np.array([*map(str.strip, names)])
    else:  # each line has the name of an image and its identity
        template_names = parsed.meta["image"]
    return SideLabels(path, parsed.label, {"name": template_names, **parsed.meta})


def read_names(path: str | Path, names_of: str) -> SideLabels:
    """Read the identity and the metadata of each image of a list, in its order.

    The list is text with one name on each line, or a CSV file with a column of `IMAGE_COLUMNS`.
    """
    path = existing_file(path, "a list of names")
    further_columns: dict[str, np.ndarray] = {}
    column_of_names = None
    if path.suffix.lower() == ".csv" and names_of != "vehicleid":
        further_columns, column_of_names = _read_csv(path, IMAGE_COLUMNS)
        if column_of_names is None and len(further_columns) > 1:
            raise _no_column(path, "names", further_columns, IMAGE_COLUMNS)
    if column_of_names is None:
        names = read_text(path).rstrip().split("\n")
    else:
        names = further_columns.pop(column_of_names).tolist()
    labels = of_images(names, names_of, str(path), path)
    further_columns.pop("", None)  # the index of pandas
    return SideLabels(path, labels.label, {**labels.meta, **further_columns})


def _no_column(
    path: Path, noun: str, columns: Iterable[str], known_names: Sequence[str]
) -> DataError:
    return fault(
        path,
        f"no column of {noun}; its columns are {', '.join(map(repr, columns))}",
        f"expected one called {', '.join(map(repr, known_names))}",
    )


# ------------------------------------------------------------------------- beside an array


def sibling(path: Path, ending: str) -> Path:
    """Return ``x.<ending>`` for ``x.npy``."""
    return path.with_name(f"{path.stem}.{ending}")


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


@dataclass(frozen=True)
class TemplateTable:
    """A table with a row for each template, or for each image of a template."""

    path: Path
    #: Object (rows,): ``template`` and, where the table has them, ``media`` and ``subject``.
    columns: dict[str, np.ndarray]
    names: list[str]  # each template once, in the order of their first rows
    metadata_columns: dict[str, np.ndarray]  # object (rows,)
    table: Columns  # finds the lines of rows

    def require(self, names: Sequence[str], path: Path) -> None:
        """Raise where the table lacks `names`, which the file at `path` has."""
        lacking = [*{*names}.difference(self.names)]
        if lacking:
            examples = ", ".join(map(repr, sorted(lacking)[:_EXAMPLES]))
            raise fault(
                path,
                f"{self.path} lacks {counted(len(lacking), 'templates')} of {len(names):,}: "
                f"{examples}{', ...' * (len(lacking) > _EXAMPLES)}",
                "add them to the table, or leave their comparisons out",
            )

    def subjects_if_stated(self) -> dict[str, str] | None:
        """Return the subject of each template; None where the table has no subjects."""
        if "subject" not in self.columns:
            return None
        subject_of: dict[str, str] = {}
        pairs = zip(self.columns["template"], self.columns["subject"], strict=True)
        for name, subject in dict.fromkeys(pairs):
            if subject_of.setdefault(name, subject) != subject:
                raise fault(
                    self.path,
                    f"the template {name!r} is of {subject_of[name]!r} and of {subject!r}",
                )
        return subject_of

    def subjects(self) -> dict[str, str]:
        """Return the subject of each template; raise where the table has no subjects."""
        subjects = self.subjects_if_stated()
        if subjects is None:
            raise fault(
                self.path,
                "lists templates without their subjects",
                "expected a first line with template_id and subject_id",
            )
        return subjects

    def metadata(self, renamed: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the value of each template in each metadata column, and why columns are left out.

        - A column with several values for one template, such as the name of an image, is left out.
        - `renamed` has other names for columns: ``{"sex": "gender"}`` gives the column ``gender``
          as ``sex``.
        """
        new_name = {column: name for name, column in renamed.items()}
        first_row = dict[str, int]()
        for row, template in enumerate(self.columns["template"].tolist()):
            first_row.setdefault(template, row)
        value_of_template = dict[str, dict[str, str]]()
        left_out = dict[str, str]()
        rows = [*enumerate(self.columns["template"].tolist())]
        for column, values in self.metadata_columns.items():
            differing = ((x, row) for row, x in rows if values[first_row[x]] != values[row])
            template, row = next(differing, ("", -1))
            if row < 0:
                value_of = {template: values[row] for template, row in first_row.items()}
                value_of_template[new_name.get(column, column)] = value_of
                continue
            first = first_row[template]
            lines = self.table.lines([first, row])
            left_out[column] = (
                f"has several values for one template in {self.path}, as {template!r} is "
                f"{values[first]!r} on line {lines[0]} and {values[row]!r} on line {lines[1]}"
            )
        for column, name in new_name.items():
            if name not in value_of_template:
                if column in left_out:
                    raise fault(self.path, f"{column!r} {left_out[column]}")
                option = f'`columns={{"{name}": "{column}"}}`'
                raise missing(self.path, "column", column, [*value_of_template], option)
        return value_of_template, left_out


def read_templates(arguments: Arguments) -> TemplateTable:
    """Read the table `labels`, with names of columns, or of IJB's lists without."""
    path = existing_file(arguments.take("labels"))
    head = head_of(path)
    # The column of each role, by the names in the first line.
    names = [*map(str.casefold, head.cells[0])]
    column_of_role = dict[str, int]()
    for roles in (_ROLES, _ROLES_OF_IMAGES):
        if "template" not in column_of_role:
            first_names = {
                role: next((x for x in known if x in names), None) for role, known in roles.items()
            }
            column_of_role = {role: names.index(x) for role, x in first_names.items() if x}
    header = "template" in column_of_role and len(names) > 1
    if not header:
        if arguments.take("format") != "ijb" or head.width != 3:
            listed = ", ".join(map(repr, head.cells[0][:_LISTED_COLUMNS]))
            of_images = (
                ' (or, of an image, its template and its medium without names, `format="ijb"`)'
            )
            raise DataError(
                f"{path}: has no column 'template', by which the names of a list find their row; "
                f"its first line is {listed}; expected the names of the columns, such as "
                "'template,subject,gender', and a row for each name in the list"
                f"{of_images if head.width == 3 else ''}"
            )
        column_of_role = {"template": 1, "media": 2}  # an image, its template and its medium
    role_of = {i: role for role, i in column_of_role.items()}
    meta_names = {i: head.cells[0][i] for i in head.columns_except(*role_of)} if header else {}
    blanks = [*meta_names]
    if header and "subject" in column_of_role:
        blanks.append(column_of_role["subject"])
    words = role_of | meta_names
    titles = [words.get(i, "") for i in range(head.width)]
    table = read_columns(head, [*words], [], names=titles, header=header, blanks=blanks)
    columns = {role: table.words[i].objects() for role, i in column_of_role.items()}
    metadata_columns = {name: table.words[i].objects() for i, name in meta_names.items() if name}
    template_names = [*table.words[column_of_role["template"]].values]
    return TemplateTable(path, columns, template_names, metadata_columns, table)
