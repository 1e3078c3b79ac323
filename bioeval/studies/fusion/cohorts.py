"""``be.read_cohort``: the scores of the templates of trials against a cohort, from a file."""

from __future__ import annotations

import os
from typing import Any

from bioeval.base.arguments import require_path
from bioeval.base.errors import DataError
from bioeval.scores.formats import load
from bioeval.scores.formats.cohorts import is_text, read_cohort_list
from bioeval.scores.formats.files import existing_file
from bioeval.scores.matrix import Scores


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
        return read_cohort_list(place, reading)
    scores = load(place, **reading)
    if scores.metric:
        raise DataError(
            f"{place}: holds embeddings; give the scores of the templates of the trials against "
            "the cohort, such as be.Scores(x @ cohort.T, names, people, kind='similarity')"
        )
    return scores
