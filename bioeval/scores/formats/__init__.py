"""Files in and out: every format that is read into scores, and those that are written.

A file's content decides how it is read; a name that says something else is an error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError, nearest_name
from bioeval.scores.formats.csv import matrix_advice
from bioeval.scores.formats.files import HDF5, content, existing_file, replacing
from bioeval.scores.formats.options import Options, say
from bioeval.scores.matrix import PairScores, Scores

__all__ = ["load", "losses", "save"]

WRITTEN = (".npz", ".npy", ".csv")

_SUFFIXES = {".npz": "zip", ".npy": "npy", ".csv": "text", ".mat": "mat"}
_WORDS = {"zip": "a zip file", "npy": "a NumPy array", "text": "text", "mat": "a MATLAB file"}


def load(
    path: str | os.PathLike[str],
    *,
    scores_key: str | None = None,
    genuine_key: str | None = None,
    embeddings_key: str | None = None,
    gallery_embeddings_key: str | None = None,
    gallery_embeddings: str | os.PathLike[str] | None = None,
    indices_key: str | None = None,
    first_index: int | None = None,
    labels_key: str | None = None,
    probe_labels_key: str | None = None,
    gallery_labels_key: str | None = None,
    labels: str | os.PathLike[str] | None = None,
    probe_labels: str | os.PathLike[str] | None = None,
    gallery_labels: str | os.PathLike[str] | None = None,
    names_of: str | None = None,
    mask_key: str | None = None,
    pairs_key: str | None = None,
    pairs: str | os.PathLike[str] | None = None,
    missing_pairs: str | None = None,
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
        With `metric` or `gallery_embeddings`: embeddings, one a row.
        ``.csv``: a list of pairs, with the columns ``score`` and ``genuine``.
        ``.mat``: MATLAB 5 to 7.3, with the arrays of a .npz file, or ``query_f``,
        ``query_label``, ``query_cam``, ``gallery_f``, ``gallery_label`` and ``gallery_cam``.
        Text with `probe_labels` and `gallery_labels`: top-K lists, one query a line.
    scores_key, genuine_key, embeddings_key, gallery_embeddings_key, mask_key
        Names of arrays in a .npz file of another layout (columns, in a CSV list of pairs).
    gallery_embeddings
        A .npy file with the gallery's embeddings, where `path` is one with the probes'.
    indices_key
        Name of an integer array (queries, K) of gallery entries, nearest first: top-K lists, whose
        distances, if any, `scores_key` names. Without it, ``indices`` and ``distances``.
    first_index : {0, 1}, optional
        How the first gallery entry is numbered in top-K lists. Text has to say it where the
        numbers do not tell; arrays are numbered from 0 unless told otherwise.
    labels_key, probe_labels_key, gallery_labels_key
        Names of arrays with the subject of each template: `labels_key` where the same templates
        stand on both sides.
    labels, probe_labels, gallery_labels
        CSV files with a column ``label`` (or ``subject``, ``identity``, ``person``, ``pid``,
        ``id``) and any further columns as metadata; or one column without a header. Labels from
        CSV are text: ``007`` stays ``007``. With `names_of`, lists of images.
    names_of : str, optional
        The labels are names of images as this data set has them (``"market1501"``,
        ``"dukemtmc-reid"``, ``"msmt17"``, ``"veri776"``, ``"vehicleid"``), from which identities
        and cameras are read: text files with a name on each line, CSV files with a column
        ``name``, or arrays of text. ``"label-xml"``: the lists of VeRi-776 and AI City.
    pairs_key
        Name of an integer array of pairs to evaluate alone: index a, index b and, in the last of
        further columns, 1 for the same subject. With two columns the labels tell.
    pairs
        A list of pairs in LFW's form (``pairs.txt``): ``name i j`` and ``name i other j``, in
        folds. The templates' labels are the names (or, whole numbers, places in an array
        ``names``), and their metadata ``image_number`` the numbers.
    missing_pairs : {"raise", "skip"}, optional
        What to do with pairs of that list of which an image is not in the file: an error, or
        leave them out and say how many.
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
        :class:`PairScores` for a list of pairs, :class:`TopKScores` for top-K lists.

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
        gallery_embeddings=None if gallery_embeddings is None else Path(gallery_embeddings),
        indices_key=indices_key,
        first_index=first_index,
        labels_key=labels_key,
        probe_labels_key=probe_labels_key,
        gallery_labels_key=gallery_labels_key,
        labels=None if labels is None else Path(labels),
        probe_labels=None if probe_labels is None else Path(probe_labels),
        gallery_labels=None if gallery_labels is None else Path(gallery_labels),
        names_of=names_of,
        mask_key=mask_key,
        pairs_key=pairs_key,
        pairs=None if pairs is None else Path(pairs),
        missing_pairs=missing_pairs,
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
        raise error.preceded_by(f"{place}: ") from None


def _read(path: Path, options: Options) -> Scores:
    """Read a file by the format that its content shows."""
    found = _recognise(path, options)
    if found == "zip":
        from bioeval.scores.formats.npz import read_npz

        return read_npz(path, options)
    if found == "npy":
        from bioeval.scores.formats.npy_features import is_features, read_npy_features

        if is_features(options):
            return read_npy_features(path, options)
        from bioeval.scores.formats.npy import read_npy

        return read_npy(path, options)
    if found == "mat":
        from bioeval.scores.formats.mat import read_mat

        return read_mat(path, options)
    if found == "lists":
        from bioeval.scores.formats.top_k import read_text_lists

        return read_text_lists(path, options)
    from bioeval.scores.formats.pair_lists import read_pair_csv

    return read_pair_csv(path, options)


def _recognise(path: Path, options: Options) -> str:
    """Return what a file holds by its content, when the name does not contradict."""
    found = content(path)
    if found == HDF5 and path.suffix.lower() == ".mat":
        found = "mat"  # written by another program than MATLAB
    if found == "an unknown binary file" and path.suffix.lower() == ".mat":
        raise DataError(
            f"{path}: is no MATLAB file of version 5 to 7.3 (that of save -v4 is not read); write "
            "it with save -v7"
        )
    if found not in _WORDS:
        raise DataError(f"{path}: is {found}; expected .npz, .npy, .csv or .mat")
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
        if options.probe_labels is not None and options.gallery_labels is not None:
            return "lists"
        advice = matrix_advice(path)
        raise DataError(
            f"{path}: is text; expected .npz, .npy or, for a list of pairs with the columns score "
            "and genuine, .csv; top-K lists need "
            f"{say('probe_labels')} and {say('gallery_labels')}{advice and f'. It {advice}'}"
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
        labels then become text. ``x.csv``: a list of pairs; a matrix becomes its single
        comparisons. :func:`bioeval.scores.formats.losses` says what is lost. Files are
        written under another name and renamed, so that they are never half there.

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
        from bioeval.scores.formats.npz_write import write_npz

        with replacing(place) as part:
            write_npz(scores, part, place)
    elif place.suffix == ".npy":
        from bioeval.scores.formats.npy import write_npy_with_csv

        write_npy_with_csv(scores, place)
    elif place.suffix == ".csv":
        from bioeval.scores.formats.pair_lists import write_pair_csv

        scores.require_matrix()
        with replacing(place) as part:
            write_pair_csv(scores, part, place)
    else:
        raise DataError(
            f"{place}: has the suffix {place.suffix!r}; expected '.npz', '.npy' or '.csv'."
            f"{nearest_name(place.suffix, WRITTEN)}"
        )


def losses(scores: Scores, path: str | os.PathLike[str]) -> list[str]:
    """Say what a file of this name cannot hold of the scores; each is one sentence.

    Parameters
    ----------
    scores : Scores
    path
        The name of the file: its suffix decides.

    Returns
    -------
    list of str
        Empty where everything is kept.

    Examples
    --------
    >>> import bioeval as be
    >>> from bioeval.scores.formats import losses
    >>> scores = be.Scores([[0.1, 0.9]], ["ann"], ["ann", "bob"], kind="similarity")
    >>> losses(scores, "x.npz")
    []
    >>> losses(scores, "x.csv")[-1]
    'that these are similarities is not said in a CSV file: read it with kind="similarity"'
    """
    suffix = Path(path).suffix
    lost = []
    if scores.origin and not isinstance(scores, PairScores):
        lost.append(f"the embeddings are not kept, only their distances ({scores.origin})")
    pairs = isinstance(scores, PairScores)
    columns = []
    if isinstance(scores, PairScores):
        columns = [] if scores.pair_subjects is None else [scores.pair_subjects]
    elif scores.labelled:
        columns = [scores.probe_labels, scores.gallery_labels]
    if suffix == ".npy" and not pairs:
        columns += [*scores.probe_meta.values(), *scores.gallery_meta.values()]
    if suffix != ".npz" and not all(_is_text(column) for column in columns):
        lost.append(f"labels{' and metadata' if suffix == '.npy' else ''} become text")
    if suffix == ".csv":
        if not pairs:
            lost.append("the matrix becomes a list of pairs, which has no identification")
            names = sorted({*scores.probe_meta, *scores.gallery_meta})
            if names:
                lost.append(f"the metadata {', '.join(names)} are left out")
        if scores.kind != "distance":
            plural = {"similarity": "similarities", "order": "orders"}[scores.kind]
            lost.append(
                f"that these are {plural} is not said in a CSV file: read it with "
                f'`kind="{scores.kind}"`'
            )
        if scores.nan != "raise":
            lost.append(
                "what a failed comparison means is not said in a CSV file: read it with "
                f'`nan="{scores.nan}"`'
            )
    return lost


def _is_text(column: np.ndarray) -> bool:
    return column.dtype.kind == "U" or all(type(x) is str for x in column.reshape(-1).tolist())
