"""A small matrix of scores as a table, as it is printed on a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bioeval.document import Column, Label, Score, Table, Text, say
from bioeval.scores import knows_people, template_names

if TYPE_CHECKING:
    from bioeval import Scores

#: Rows and columns of the largest matrix that is printed.
MOST_SHOWN = 12


def matrix_table(scores: Scores, title: Text = "", id: str = "scores") -> Table:
    """Return a matrix as a table: a row for each probe, a column for each gallery template.

    All against all, the diagonal is empty: a template is not compared with itself.
    """
    m, n = scores.shape
    square = scores.layout == "all-against-all"
    values = scores.values
    people = knows_people(scores)
    probe_names = template_names(scores.probe_meta, m)
    gallery_names = template_names(scores.gallery_meta, n)
    columns = [Column("template", "template" if square else "probe")]
    if people:
        columns.append(Column("subject", "subject"))
    for j, name in enumerate(gallery_names):
        heading: Text = Label(name)
        if people and not square:
            heading = say("{name:name} ({who:name})", name=name, who=scores.gallery_labels[j])
        columns.append(Column(f"score_{j}", heading))
    rows = []
    for i, name in enumerate(probe_names):
        row: list[Text | None] = [Label(name)]
        if people:
            row.append(Label(scores.probe_labels[i]))
        for j in range(n):
            row.append(None if square and i == j else Score(float(values[i, j])))
        rows.append(row)
    return Table(id, columns, rows, title=title)


def steps_matrix(scores: Scores | None) -> Sequence[Table]:
    """Return the table of a matrix with a title, if it is small enough to be printed."""
    if scores is None or max(scores.shape) > MOST_SHOWN:
        return []
    return [matrix_table(scores, "The scores")]
