"""The table of a list of pairs: the names of the templates, and one value for each template.

Side a of a pair is enrolled, side b is the probe; of two columns, the first one is of side a.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores import names as template_names
from bioeval.scores.coded_sides import CodedSides
from bioeval.scores.formats.faults import fault
from bioeval.scores.formats.layouts import Layout, misspelt
from bioeval.scores.formats.listed_matrix import require_one_owner
from bioeval.scores.formats.tables import Columns, Words
from bioeval.scores.listed_templates import places_in_words

#: A column of words for each side of the pairs: of the enrolled templates, and of the probes.
TwoColumns = tuple[Words, Words]


def both_sides(enrolled: Words, probes: Words) -> CodedSides:
    """Return two columns as coded sides, which number the values of both together."""
    values, number_of_probe = template_names.united(enrolled.values, probes.values)
    return CodedSides(
        values,
        enrolled.codes.astype(np.int32, copy=False),
        number_of_probe.astype(np.int32)[probes.codes],
    )


def have_equal_words(enrolled: Words, probes: Words) -> np.ndarray:
    """Return in which rows two columns have the same word, bool (rows,)."""
    code_among_enrolled = template_names.places(
        template_names.as_names(probes.values), template_names.as_names(enrolled.values)
    )
    return code_among_enrolled[probes.codes] == enrolled.codes


def renamed(names: TwoColumns, value_of: Mapping[str, str]) -> TwoColumns:
    """Return a value of each template in place of its name."""
    enrolled, probes = (column.renamed([value_of[x] for x in column.values]) for column in names)
    return enrolled, probes


@dataclass(frozen=True)
class PairTable:
    """The columns of a list of pairs that were read, and their roles."""

    table: Columns
    layout: Layout

    def names(self, option: str) -> TwoColumns:
        """Return the names of both templates; without them raise that the `option` needs them."""
        if len(self.layout.templates) != 2:
            raise fault(
                self.table.path,
                f"has no names of templates for {option}",
                "expected two columns such as template_a and template_b"
                f"{misspelt(self.layout.names, self.layout.with_roles)}",
            )
        enrolled, probe = self.layout.templates
        return self.table.words[enrolled], self.table.words[probe]

    def every_name(self) -> list[str]:
        """Return each name of a template once."""
        columns = [self.table.words[i] for i in self.layout.templates if i in self.table.words]
        return [*dict.fromkeys(name for column in columns for name in column.values)]

    def place_of_name(self, name: str) -> str:
        """Return the file and the first line of a name, for messages."""
        columns = [self.table.words[i] for i in self.layout.templates]
        column = next(x for x in columns if name in x.values)
        return self.table.place_of(int(np.argmax(column.codes == column.values.index(name))))

    def coded_names(self) -> CodedSides | None:
        """Return the templates of each row; None where the list does not name both templates.

        Equal names are one template, whatever the columns are called.
        """
        layout = self.layout
        if not layout.names_templates:
            return None
        sides = [self.table.words[i] for i in layout.templates]
        if layout.subjects:
            owners = [self.table.words[i] for i in layout.subjects]
            # A single name of several people does not name templates.
            for side, owner in zip(sides, owners, strict=True):
                if len(side.values) == 1 < len(owner.values):
                    return None
            owner_of_enrolled, owner_of_probe = (
                dict(zip(side.values, self.value_by_template(side, owner), strict=True))
                for side, owner in zip(sides, owners, strict=True)
            )
            for name in owner_of_enrolled.keys() & owner_of_probe.keys():
                require_one_owner(
                    self.table.path, name, owner_of_enrolled[name], owner_of_probe[name]
                )
        return both_sides(*sides)

    def value_by_template(
        self, names: Words, values: Words, attribute: str = "subject"
    ) -> np.ndarray:
        """Return the subject, or another attribute, of each template of a side, object (names,).

        `names` and `values` are of all rows. Raise where a template has two values.
        """
        code_of_value = _first_codes(names, values)
        for row in np.flatnonzero(code_of_value[names.codes] != values.codes)[:1].tolist():
            raise self._two_values(names, values, attribute, row)
        return np.array(values.values, dtype=object)[code_of_value]

    def _two_values(self, names: Words, values: Words, attribute: str, row: int) -> DataError:
        first_row = int(np.argmax(names.codes == names.codes[row]))
        name = names.values[names.codes[row]]
        stated, stated_before = (values.values[values.codes[i]] for i in (row, first_row))
        before = f"and on {places_in_words(self.table.noun, self.table.lines([first_row]))}"
        if attribute != "subject":
            return fault(
                self.table.place_of(row),
                f"the {attribute} of the template {name!r} is {stated!r}, {before} "
                f"{stated_before!r}",
                f'name a column of one side, as in `columns={{"probe_{attribute}": '
                f'"{attribute}"}}`',
            )
        problem = (
            f"the template {name!r} is of the subject {stated!r}, {before} of {stated_before!r}"
        )
        advice = "give each template its own name, such as the subject with a number"
        if _seem_exchanged(values, names):
            problem += ", and each subject has one template"
            advice = "the columns of the subjects and of the templates may be exchanged"
        return fault(self.table.place_of(row), problem, advice)


def _first_codes(names: Words, values: Words) -> np.ndarray:
    """Return the code of the value in the first row of each name, int64 (names,)."""
    code_of_value = np.empty(len(names.values), dtype=np.int64)
    code_of_value[names.codes[::-1]] = values.codes[::-1]  # of equal indices, the last one stays
    return code_of_value


def _seem_exchanged(subjects: Words, templates: Words) -> bool:
    """Whether each subject has one template, and some template several subjects."""
    has_one_template = _first_codes(subjects, templates)[subjects.codes] == templates.codes
    return len(subjects.values) > len(templates.values) and bool(has_one_template.all())
