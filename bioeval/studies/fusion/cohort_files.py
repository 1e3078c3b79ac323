"""``be.read_cohort``: reading scores of templates against a cohort."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.arguments import require_path
from bioeval.base.errors import DataError
from bioeval.scores.coded_sides import CodedSides
from bioeval.scores.formats import load
from bioeval.scores.formats.files import existing_file
from bioeval.scores.formats.layouts import Layout, layout_of
from bioeval.scores.formats.lists import score_options
from bioeval.scores.formats.options import LOAD_NAMES, Arguments
from bioeval.scores.formats.pair_table import both_sides
from bioeval.scores.formats.reading import is_text
from bioeval.scores.formats.tables import Columns, head_of, read_columns
from bioeval.scores.formats.template_tables import read_templates
from bioeval.scores.listed_templates import places_in_words
from bioeval.scores.matrix import Scores
from bioeval.scores.pairs import PairList

# Number of pairs with different scores that an error lists.
_EXAMPLES = 3


def read_cohort(path: str | os.PathLike[str], **reading: Any) -> Scores:
    r"""Read the scores of the templates of trials against a cohort of other people.

    Parameters
    ----------
    path
        A text with a name of the trials, a name of the cohort and their score on each line, in
        either order of names; or a file of a matrix with names of templates.
    **reading
        As for :func:`load`. Of text:

        - `kind` is needed unless the first line states the kind of the scores
        - `subject_from` takes the subject from a name, or `labels` is the table of the templates
          with their subjects: :func:`normalise` then refuses a cohort with subjects of the trials.
          A name without a subject by either is its own subject.

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
            return _read_list(place, Arguments(reading))
        except DataError as error:
            raise error.renamed(LOAD_NAMES) from error.__cause__
    scores = load(place, **reading)
    if scores.metric:
        raise DataError(
            f"{place}: holds embeddings; give the scores of the templates of the trials against "
            "the cohort, such as be.Scores(x @ cohort.T, names, people, kind='similarity')"
        )
    return scores


def _read_list(place: Path, arguments: Arguments) -> Scores:
    """Read two names, in either order, and a score on each line; all pairs are impostors."""
    head = head_of(place)
    arguments.values.setdefault("format", "kaldi")  # two names and their score
    layout = layout_of(head, arguments)
    arguments.take("format")
    names: tuple[int, ...] = ()
    if layout is not None:
        names = layout.templates or layout.subjects
    if layout is None or layout.get("score") is None or len(names) != 2:
        first = (head.delimiter or " ").join(head.cells[0])[:80]
        raise DataError(
            f"{place}: its first line is {first!r}; expected the cohort's scores: a name of the "
            "trials, a name of the cohort and their score on each line, such as "
            "'id1/a.wav cohort7.wav 0.12'"
        )
    arguments.take("columns.scores")
    table = read_columns(
        head,
        layout.skips_line,
        layout.names_of((*names, *layout.subjects)),
        layout.names_of([layout.score]),
    )
    values = table.numbers[layout.score]
    templates = both_sides(table.words[names[0]], table.words[names[1]])
    _refuse_contradictions(table, templates, values)
    options = score_options(place, layout, arguments)
    subjects = _subjects(table, layout, templates, arguments)
    arguments.refuse_unused(place, "cohort scores")
    impostors = np.zeros(len(values), dtype=bool)
    listed = PairList.from_arrays(values, impostors, pair_templates=templates, subjects=subjects)
    failed = np.flatnonzero(np.isnan(values))
    if len(failed):
        first_row = int(failed[0])
        listed = replace(listed, failed_at=(first_row, f"on {_lines(table, [first_row])}"))
    return Scores._of_pairs(listed, **options)


def _refuse_contradictions(table: Columns, names: CodedSides, values: np.ndarray) -> None:
    # A number for each pair of names, and the first line of the pair, both (lines,).
    low = np.minimum(names.a, names.b).astype(np.int64)
    key = low * len(names.values) + np.maximum(names.a, names.b)
    _, first_of_pair, pair = np.unique(key, return_index=True, return_inverse=True)
    first_row = first_of_pair[pair.reshape(-1)]
    first_value = values[first_row]
    differs = (values != first_value) & ~(np.isnan(values) & np.isnan(first_value))
    rows = np.flatnonzero(differs)
    if not len(rows):
        return
    examples = []
    for row in rows[:_EXAMPLES].tolist():
        before = int(first_row[row])
        first_name = names.values[names.a[row]]
        second_name = names.values[names.b[row]]
        examples.append(
            f"{first_name!r} and {second_name!r} ({_lines(table, [before, row])}: "
            f"{float(values[before])!r} and {float(values[row])!r})"
        )
    further = " and others" if len(rows) > _EXAMPLES else ""
    number = len(np.unique(key[rows]))
    noun = "pair is" if number == 1 else "pairs are"
    raise DataError(
        f"{table.path}: {number:,} {noun} listed more than once with different scores: "
        f"{', '.join(examples)}{further}; give each pair of a template and the cohort one score"
    )


def _lines(table: Columns, rows: list[int]) -> str:
    return places_in_words(table.noun, table.lines(rows))


def _subjects(
    table: Columns, layout: Layout, names: CodedSides, arguments: Arguments
) -> CodedSides | None:
    """Return the subjects of both sides, from columns, a table or names; None if unknown.

    If neither a table nor a name gives the subject, as of a recording that only the cohort has, the
    name stands for a subject of its own.
    """
    if layout.subjects and layout.templates:
        first, second = layout.subjects
        return both_sides(table.words[first], table.words[second])
    subject_of: dict[str, str | None]
    if "labels" in arguments:
        stated = read_templates(arguments).subjects_if_stated()
        if stated is None:
            return None
        subject_of = {**stated}
    elif "subject_from" in arguments:
        pattern = arguments.take("subject_from")
        subject_of = {name: pattern.part(name) for name in names.values}
        if not any(subject_of.values()):
            raise DataError(
                f'{table.path}: `subject_from="{pattern.pattern.pattern}"` matches none of '
                f"its names, such as {names.values[0]!r}; expected the names of the trials"
            )
    else:
        return None
    subjects = [subject_of.get(name) or name for name in names.values]
    distinct = list(dict.fromkeys(subjects))
    number = {subject: i for i, subject in enumerate(distinct)}
    code = np.array([number[subject] for subject in subjects], dtype=np.int32)
    return CodedSides(distinct, code[names.a], code[names.b])
