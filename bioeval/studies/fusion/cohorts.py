"""``be.read_cohort``: the scores of the templates of trials against a cohort, from a file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.arguments import require_path
from bioeval.base.errors import DataError
from bioeval.scores.columns import CodedSides
from bioeval.scores.formats import load
from bioeval.scores.formats.faults import say
from bioeval.scores.formats.files import existing_file
from bioeval.scores.formats.labels import read_templates
from bioeval.scores.formats.layouts import KEYED, Layout, matched, with_header
from bioeval.scores.formats.lists import both_sides, how_read
from bioeval.scores.formats.options import LOAD_NAMES, Given
from bioeval.scores.formats.reading import is_text
from bioeval.scores.formats.tables import Columns, head_of, read_columns
from bioeval.scores.listed_templates import places
from bioeval.scores.matrix import Scores
from bioeval.scores.pairs import PairList

_EXAMPLES = 3


def read_cohort(path: str | os.PathLike[str], **reading: Any) -> Scores:
    r"""Read the scores of the templates of trials against a cohort of other people.

    Parameters
    ----------
    path
        A text with a name of the trials, a name of the cohort and their score on each line, in
        either order of names; or a file of a matrix with names of templates.
    **reading
        As for :func:`load`; text needs the `kind` of the scores unless its first line states it. Of
        text, `subject_from` takes the subject from a name, or `labels` is the table of the
        templates with their subjects: :func:`normalise` then refuses a cohort that has subjects of
        the trials. A name of which neither gives the subject is its own subject.

    Returns
    -------
    Scores
        For :func:`normalise`: a list, or a matrix with the templates of the trials as rows. The
        pairs of a list are all impostors.

    Raises
    ------
    DataError
        If a file holds something else, or two scores of one pair.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bioeval as be
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "cohort.scores"
    ...     _ = place.write_text("a1 c1 0.2\na1 c2 0.4\n")
    ...     be.read_cohort(place, kind="similarity")
    <Scores 2 pairs, 0 genuine, float64 similarity, nan='raise'>
    """
    place = existing_file(require_path("path", path), "cohort scores")
    if is_text(place):
        try:
            return _read_list(place, Given(reading))
        except DataError as error:
            raise error.renamed(LOAD_NAMES) from error.__cause__
    scores = load(place, **reading)
    if scores.metric:
        raise DataError(
            f"{place}: holds embeddings; give the scores of the templates of the trials against "
            "the cohort, such as be.Scores(x @ cohort.T, names, people, kind='similarity')"
        )
    return scores


def _read_list(place: Path, given: Given) -> Scores:
    """Read two names and a score on each line, in either order of names; all are impostors."""
    head = head_of(place)
    layout = with_header(head, given) or matched(head, KEYED)
    names: tuple[int, ...] = ()
    if layout is not None:
        names = layout.templates or layout.subjects
    if layout is None or layout.get("score") is None or len(names) != 2:
        first = (head.mark or " ").join(head.cells[0])[:80]
        raise DataError(
            f"{place}: its first line is {first!r}; expected the cohort's scores: a name of the "
            "trials, a name of the cohort and their score on each line, such as "
            "'id1/a.wav cohort7.wav 0.12'"
        )
    given.take("columns.scores")
    table = read_columns(
        head,
        layout.header,
        layout.called((*names, *layout.subjects)),
        layout.called([layout.score]),
    )
    values = table.numbers[layout.score]
    templates = both_sides(table.words[names[0]], table.words[names[1]])
    _refuse_contradictions(table, templates, values)
    how = how_read(place, layout, given)
    subjects = _subjects(table, layout, templates, given)
    given.refuse_unused(place, "cohort scores")
    impostors = np.zeros(len(values), dtype=bool)
    listed = PairList.of(values, impostors, pair_templates=templates, subjects=subjects)
    failed = np.flatnonzero(np.isnan(values))
    if len(failed):
        first_row = int(failed[0])
        listed = replace(listed, failed_at=(first_row, f"on {_lines(table, [first_row])}"))
    return Scores._of_pairs(listed, **how)


def _refuse_contradictions(table: Columns, names: CodedSides, values: np.ndarray) -> None:
    """Raise where one pair of templates, in either order, has two scores."""
    low = np.minimum(names.a, names.b).astype(np.int64)
    key = low * len(names.values) + np.maximum(names.a, names.b)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    other = values[first[place.reshape(-1)]]
    differs = (values != other) & ~(np.isnan(values) & np.isnan(other))
    rows = np.flatnonzero(differs)
    if not len(rows):
        return
    examples = []
    for row in rows[:_EXAMPLES].tolist():
        before = int(first[place.reshape(-1)[row]])
        one, two = names.values[names.a[row]], names.values[names.b[row]]
        examples.append(
            f"{one!r} and {two!r} ({_lines(table, [before, row])}: {float(values[before])!r} and "
            f"{float(values[row])!r})"
        )
    more = " and others" if len(rows) > _EXAMPLES else ""
    number = len(np.unique(key[rows]))
    noun = "pair is" if number == 1 else "pairs are"
    raise DataError(
        f"{table.path}: {number:,} {noun} listed more than once with different scores: "
        f"{', '.join(examples)}{more}; give each pair of a template and the cohort one score"
    )


def _lines(table: Columns, rows: list[int]) -> str:
    return places(table.noun, table.lines(rows))


def _subjects(table: Columns, layout: Layout, names: CodedSides, given: Given) -> CodedSides | None:
    """Return the subjects of both sides, from columns, a table or names; None where unknown.

    A name of which neither says the subject, such as that of a recording that only the cohort
    has, stands for a subject of its own.
    """
    if layout.subjects and layout.templates:
        a, b = layout.subjects
        return both_sides(table.words[a], table.words[b])
    whose: dict[str, str | None]
    if "labels" in given:
        templates = read_templates(given.take("labels"))
        if templates.subjects() is None:
            return None
        whose = {**templates.subject_of()}
    elif "subject_from" in given:
        pattern = given.take("subject_from")
        whose = {name: pattern.part(name) for name in names.values}
        if not any(whose.values()):
            raise DataError(
                f"{table.path}: {say('subject_from', pattern.pattern.pattern)} matches none of "
                f"its names, such as {names.values[0]!r}; expected the names of the trials"
            )
    else:
        return None
    subjects = [whose.get(name) or name for name in names.values]
    known = list(dict.fromkeys(subjects))
    number = {subject: i for i, subject in enumerate(known)}
    code = np.array([number[subject] for subject in subjects], dtype=np.int32)
    return CodedSides(known, code[names.a], code[names.b])
