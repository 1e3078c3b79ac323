"""``be.read_cohort``: the scores of the templates of trials against a cohort, from files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from bioeval.base.arguments import require_path
from bioeval.base.errors import Argument, DataError, require_choice
from bioeval.base.kinds import Kind
from bioeval.scores.embeddings import EmbeddingSource
from bioeval.scores.formats import load, read_with
from bioeval.scores.formats.cohorts import is_text, read_cohort_list
from bioeval.scores.formats.files import existing_file
from bioeval.scores.formats.format import ReadOptions
from bioeval.scores.labels import template_names
from bioeval.scores.matrix import Scores
from bioeval.studies.fusion.cohort_moments import require_cells


def read_cohort(
    path: str | os.PathLike[str],
    *,
    recordings: str | os.PathLike[str] | None = None,
    **reading: Any,
) -> Scores:
    r"""Read the scores of the templates of trials against a cohort of other people.

    Parameters
    ----------
    path
        A text with a name of the trials, a name of the cohort and their score on each line, in
        either order of names; or a file of a matrix with names of templates; or, with `recordings`,
        the embeddings of the cohort.
    recordings
        Embeddings of the templates of the trials, with their names as metadata ``template``.
    **reading
        As for :func:`load`. `kind` is that of the scores, and text needs it unless its first line
        states it; of embeddings, their cosines are ``"similarity"`` (the default), and 1 minus
        them ``"distance"``. Of text, `subject_from` takes the subject from a name, or `labels` is
        the table of the templates with their subjects: :func:`normalise` then refuses a cohort
        that has subjects of the trials. A name of which neither gives the subject is its own
        subject.

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
    <PairScores 2 pairs, 0 genuine, float64 similarity, nan='raise'>
    """
    kind = reading.pop("kind", None)
    if kind is not None:
        require_choice("kind", kind, Kind)
    place = existing_file(require_path("path", path), "cohort scores")
    of_text = [name for name in ("subject_from", "labels") if reading.get(name) is not None]
    if is_text(place):
        if recordings is not None:
            raise DataError(
                f"{place}: is text, and so holds scores; ",
                Argument("recordings"),
                " go with the embeddings of a cohort; leave them out",
            )
        if len(of_text) > 1:
            raise DataError(
                Argument("subject_from"),
                " and ",
                Argument("labels"),
                " are both given; expected one",
            )
        return read_cohort_list(place, ReadOptions.parse(kind=kind, **reading))
    if of_text:
        raise DataError(
            f"{place}: is no text; ",
            Argument("subject_from"),
            " and ",
            Argument("labels"),
            " give the subjects of the names in a text; leave them out",
        )
    if recordings is None:
        scores = load(place, **reading)
        if scores._metric:
            raise DataError(
                f"{place}: holds embeddings; give those of the templates of the trials, too, as ",
                Argument("recordings"),
                ", or the scores against the cohort in place of embeddings",
            )
        return scores if kind in (None, scores.kind) else load(place, kind=kind, **reading)
    if kind == "llr":
        raise DataError(
            Argument("recordings"),
            " gives cosines of embeddings, and the trials are log-likelihood ratios; give the "
            "scores of the cohort by the same system",
        )
    own, names, _ = _embeddings(recordings, reading)
    others, cohort, people = _embeddings(place, reading)
    if own.shape[1] != others.shape[1]:
        raise DataError(
            f"{recordings}: has embeddings of {own.shape[1]} features, and {place} of "
            f"{others.shape[1]}; expected those of one system"
        )
    require_cells(len(own), len(others))
    values = _unit(own) @ _unit(others).T
    if kind == "distance":
        values = 1 - values
    return Scores(
        values,
        names,
        people,
        kind=kind or "similarity",
        probe_meta={"template": names},
        gallery_meta={"template": cohort},
        name=place.stem,
    )


def _embeddings(
    file: str | os.PathLike[str], reading: dict[str, Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the embeddings of a file, with the names and the subjects of their templates."""
    scores = read_with(file, only_embeddings=True, **reading)
    source = scores._base
    if not isinstance(source, EmbeddingSource) or source.metric != "cosine":
        raise DataError(
            f"{file}: holds no embeddings that are compared by their cosine; give the scores "
            "against the cohort in place of embeddings"
        )
    names = np.array(template_names(scores.probe_meta, scores.shape[0]), dtype=object)
    return np.asarray(source.sides[0], dtype=np.float64), names, scores.probe_labels


def _unit(x: np.ndarray) -> np.ndarray:
    """Return vectors of length 1."""
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.where(length > 0, length, 1)
