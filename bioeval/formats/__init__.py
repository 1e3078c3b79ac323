"""Files in and out: every format that is read into scores, and those that are written.

A file's content decides how it is read; a name that says something else is an error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from bioeval.errors import DataError, nearest_name
from bioeval.formats.csv_tables import matrix_advice
from bioeval.formats.files import content, existing_file, replacing
from bioeval.formats.options import Options
from bioeval.scores import Scores

__all__ = ["load", "save"]

_SUFFIXES = {".npz": "zip", ".npy": "npy", ".csv": "text"}
_WORDS = {"zip": "a zip file", "npy": "a NumPy array", "text": "text"}


def load(
    path: str | os.PathLike[str],
    *,
    scores_key: str | None = None,
    genuine_key: str | None = None,
    embeddings_key: str | None = None,
    gallery_embeddings_key: str | None = None,
    labels_key: str | None = None,
    probe_labels_key: str | None = None,
    gallery_labels_key: str | None = None,
    labels: str | os.PathLike[str] | None = None,
    probe_labels: str | os.PathLike[str] | None = None,
    gallery_labels: str | os.PathLike[str] | None = None,
    mask_key: str | None = None,
    pairs_key: str | None = None,
    meta: Mapping[str, str] | None = None,
    metric: str | None = None,
    kind: str | None = None,
    nan: str | None = None,
    exclude: Sequence[str] = (),
) -> Scores:
    """Read scores, or embeddings, with their labels.

    Parameters
    ----------
    path
        ``.npz``: scores, a list of pairs, or embeddings, with labels and metadata.
        ``.npy``: a matrix of scores, memory-mapped, whose labels stand in ``x.labels.csv``, or in
        ``x.probe.csv`` and ``x.gallery.csv``, beside it.
        ``.csv``: a list of pairs, with the columns ``score`` and ``genuine``.
    scores_key, genuine_key, embeddings_key, gallery_embeddings_key, mask_key
        Names of arrays in a .npz file of another layout (columns, in a CSV list of pairs).
    labels_key, probe_labels_key, gallery_labels_key
        Names of arrays with the subject of each template: `labels_key` where the same templates
        stand on both sides.
    labels, probe_labels, gallery_labels
        CSV files with a column ``label`` (or ``subject``, ``identity``, ``person``, ``pid``,
        ``id``) and any further columns as metadata; or one column without a header. Labels from
        CSV are text: ``007`` stays ``007``.
    pairs_key
        Name of an integer array of pairs to evaluate alone: index a, index b and, in the last of
        further columns, 1 for the same subject. With two columns the labels tell.
    meta
        Metadata under other names, as ``{"camera": "cam_id"}``; for probe-against-gallery
        ``{"probe_camera": "q_cam", "gallery_camera": "g_cam"}``.
    metric : {"cosine", "l2", "l1", "linf", "bhattacharyya"}, optional
        How to compare embeddings. What the file says, else cosine.
    kind : {"distance", "similarity", "order"}, optional
        What the scores are. What the file says, else distance.
    nan : {"raise", "reject", "exclude"}, optional
        What a comparison that failed means. What the file says, else raise.
    exclude : sequence of str
        Metadata columns: pairs of one subject with the same value in any of them are left out.

    Returns
    -------
    Scores

    Raises
    ------
    DataError
        If the file is missing, damaged or not what it should be; the message says what was
        found, what was expected and what to do. Nothing is ever unpickled.

    See Also
    --------
    save : writes such files.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.load("faces.npz", embeddings_key="dlib128", labels_key="subject", metric="l2")
    ... # doctest: +SKIP
    """
    options = Options(
        scores_key=scores_key,
        genuine_key=genuine_key,
        embeddings_key=embeddings_key,
        gallery_embeddings_key=gallery_embeddings_key,
        labels_key=labels_key,
        probe_labels_key=probe_labels_key,
        gallery_labels_key=gallery_labels_key,
        labels=None if labels is None else Path(labels),
        probe_labels=None if probe_labels is None else Path(probe_labels),
        gallery_labels=None if gallery_labels is None else Path(gallery_labels),
        mask_key=mask_key,
        pairs_key=pairs_key,
        meta=dict(meta or {}),
        metric=metric,
        kind=kind,
        nan=nan,
    )
    place = existing_file(path)
    try:
        scores = _read(place, options)
        names = (exclude,) if isinstance(exclude, str) else tuple(exclude)
        return scores.excluding(*names) if names else scores
    except DataError as error:
        if str(place) in str(error):
            raise
        raise DataError(f"{place}: {error}") from None


def _read(path: Path, options: Options) -> Scores:
    """Read a file by the format that its content shows."""
    found = _recognise(path)
    if found == "zip":
        from bioeval.formats.npz import read_npz

        return read_npz(path, options)
    if found == "npy":
        from bioeval.formats.npy import read_npy

        return read_npy(path, options)
    from bioeval.formats.pairs import read_pair_csv

    return read_pair_csv(path, options)


def _recognise(path: Path) -> str:
    """Return ``"zip"``, ``"npy"`` or ``"text"`` by content, when the name does not contradict."""
    found = content(path)
    if found not in _WORDS:
        raise DataError(f"{path}: is {found}; expected .npz, .npy or .csv")
    promised = _SUFFIXES.get(path.suffix.lower())
    if promised is not None and promised != found:
        right = next(suffix for suffix, content_ in _SUFFIXES.items() if content_ == found)
        advice = f"if that is right, name it {path.stem}{right}"
        if found == "text":
            advice = "write the file again"
        raise DataError(
            f"{path}: is named {path.suffix} but holds {_WORDS[found]}; expected "
            f"{_WORDS[promised]}; {advice}"
        )
    if promised is None and found == "text":
        advice = matrix_advice(path)
        raise DataError(
            f"{path}: is text; expected .npz, .npy or, for a list of pairs with the columns score "
            f"and genuine, .csv{advice and f'. It {advice}'}"
        )
    return found


def save(scores: Scores, path: str | os.PathLike[str]) -> None:
    """Write scores with their labels and metadata; a selection is written as what it is.

    Parameters
    ----------
    scores : Scores
    path
        ``x.npz``: everything in one file. ``x.npy``: the matrix, with ``x.labels.csv`` or
        ``x.probe.csv`` and ``x.gallery.csv`` beside it, and ``x.json`` that says what they are;
        labels then become text. Files are written under another name and renamed, so that they
        are never half there.

    Raises
    ------
    DataError
        If the name has another suffix, or the file could not hold the scores as they are.

    Examples
    --------
    >>> import tempfile, pathlib, bioeval as be
    >>> scores = be.Scores([[0.1, 0.9], [0.8, 0.2]], ["ann", "bob"], ["ann", "bob"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "scores.npz"
    ...     be.save(scores, place)
    ...     be.load(place)
    <Scores probe-against-gallery, 2 x 2 float64 distance, 2 subjects, nan='raise'>
    """
    if not isinstance(scores, Scores):
        raise DataError(f"save was given {type(scores).__name__}; expected Scores")
    place = Path(path)
    if place.suffix == ".npz":
        from bioeval.formats.npz_write import write_npz

        with replacing(place) as part:
            write_npz(scores, part, place)
    elif place.suffix == ".npy":
        from bioeval.formats.npy import write_npy_with_csv

        write_npy_with_csv(scores, place)
    else:
        raise DataError(
            f"{place}: has the suffix {place.suffix!r}; expected '.npz' or '.npy'."
            f"{nearest_name(place.suffix, ['.npz', '.npy'])}"
        )
