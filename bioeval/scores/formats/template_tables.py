"""Tables of templates: the subject, the medium and the metadata of each template of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, counted
from bioeval.scores.formats.faults import fault, missing
from bioeval.scores.formats.files import FileKind, existing_file, kind_of_file
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.spellings import COLUMNS
from bioeval.scores.formats.tables import Columns, Head, head_of, read_columns
from bioeval.scores.metadata import IMAGE_COLUMNS, LABEL_COLUMNS

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
        for column, values in self.metadata_columns.items():
            if reason := self._several_values(values, first_row):
                left_out[column] = reason
            else:
                value_of = {template: values[row] for template, row in first_row.items()}
                value_of_template[new_name.get(column, column)] = value_of
        for column, name in new_name.items():
            if name not in value_of_template:
                if column in left_out:
                    raise fault(self.path, f"{column!r} {left_out[column]}")
                option = f'`columns={{"{name}": "{column}"}}`'
                raise missing(self.path, "column", column, [*value_of_template], option)
        return value_of_template, left_out

    def _several_values(self, values: np.ndarray, first_row: Mapping[str, int]) -> str:
        """Return the fault of a column with several values for a template; empty if it has none."""
        for row, template in enumerate(self.columns["template"].tolist()):
            first = first_row[template]
            if values[first] != values[row]:
                lines = self.table.lines([first, row])
                return (
                    f"has several values for one template in {self.path}, as {template!r} is "
                    f"{values[first]!r} on line {lines[0]} and {values[row]!r} on line {lines[1]}"
                )
        return ""


def read_templates(arguments: Arguments) -> TemplateTable:
    """Read the table `labels`, with names of columns, or of IJB's lists without."""
    path = existing_file(arguments.take("labels"))
    head = head_of(path)
    column_of_role = _columns_by_role(head)
    header = column_of_role is not None
    if column_of_role is None:
        if arguments.take("format") != "ijb" or head.width != 3:
            raise _no_templates(head)
        column_of_role = {"template": 1, "media": 2}  # an image, its template and its medium
    role_of = {i: role for role, i in column_of_role.items()}
    meta_names = {i: head.cells[0][i] for i in head.columns_except(*role_of)} if header else {}
    blanks = [*meta_names]
    if header and "subject" in column_of_role:
        blanks.append(column_of_role["subject"])
    table = read_columns(head, header, role_of | meta_names, {}, blanks=blanks)
    columns = {role: table.words[i].objects() for role, i in column_of_role.items()}
    metadata_columns = {name: table.words[i].objects() for i, name in meta_names.items() if name}
    names = [*table.words[column_of_role["template"]].values]
    return TemplateTable(path, columns, names, metadata_columns, table)


def _columns_by_role(head: Head) -> dict[str, int] | None:
    """Return the column of each role by the names in the first line; None without such names."""
    names = [*map(str.casefold, head.cells[0])]
    for roles in (_ROLES, _ROLES_OF_IMAGES):
        columns = {
            role: names.index(name)
            for role, role_names in roles.items()
            if (name := next((x for x in role_names if x in names), None))
        }
        if "template" in columns:
            return columns if len(names) > 1 else None
    return None


def _no_templates(head: Head) -> DataError:
    listed = ", ".join(map(repr, head.cells[0][:_LISTED_COLUMNS]))
    of_images = ' (or, of an image, its template and its medium without names, `format="ijb"`)'
    return DataError(
        f"{head.path}: has no column 'template', by which the names of a list find their row; its "
        f"first line is {listed}; expected the names of the columns, such as "
        "'template,subject,gender', and a row for each name in the list"
        f"{of_images if head.width == 3 else ''}"
    )
