"""Reading and writing files of scores, whatever their format."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bioeval.base.arguments import require_path
from bioeval.base.errors import (
    BioevalError,
    DataError,
    Part,
)
from bioeval.base.kinds import Kind
from bioeval.scores.embeddings import Metric
from bioeval.scores.formats import registry
from bioeval.scores.formats.format import MissingPairs, ReadAs, ReadOptions
from bioeval.scores.image_names import PATTERNS
from bioeval.scores.labelled_matrix import NanPolicy
from bioeval.scores.listed_templates import Kept
from bioeval.scores.matrix import Scores
from bioeval.scores.pairs import PairScores

__all__ = ["load", "losses", "save"]


def load(
    path: Any,
    *,
    scores_key: str | None = None,
    genuine_key: str | None = None,
    embeddings_key: str | None = None,
    gallery_embeddings_key: str | None = None,
    gallery_embeddings: str | os.PathLike[str] | None = None,
    indices_key: str | None = None,
    first_index: int | None = None,
    leave_out_query: bool | None = None,
    labels_key: str | None = None,
    gallery_labels_key: str | None = None,
    labels: str | os.PathLike[str] | None = None,
    gallery_labels: str | os.PathLike[str] | None = None,
    names_of: str | None = None,
    mask_key: str | None = None,
    pairs_key: str | None = None,
    pairs: str | os.PathLike[str] | None = None,
    missing_pairs: MissingPairs | None = None,
    mask: str | os.PathLike[str] | None = None,
    trials: str | os.PathLike[str] | None = None,
    impostor: str | os.PathLike[str] | None = None,
    subject_from: str | None = None,
    session_from: str | None = None,
    as_: ReadAs | None = None,
    keep: Kept | Sequence[Kept] | None = None,
    unordered: bool = False,
    meta: Mapping[str, str] | Sequence[str] | None = None,
    metric: Metric | None = None,
    kind: Kind | None = None,
    nan: NanPolicy | None = None,
    exclude: Sequence[str] = (),
    format_: str | None = None,
    average: Sequence[str] | None = None,
    keep_embeddings: bool | None = None,
) -> Scores:
    r"""Read scores, or embeddings, with their labels.

    Parameters
    ----------
    path
        ``.npz``: scores, a list of pairs, or embeddings, with labels and metadata. ``.npy``: a
        matrix of scores, memory-mapped, with its labels beside it in ``x.labels.csv``, or in
        ``x.probe.csv`` and ``x.gallery.csv``. With `metric` or `gallery_embeddings`: embeddings,
        one per row. Text, also compressed: a list of pairs with a score on each line; see
        ``docs/formats.md``.
        ``.mat``: MATLAB 5 to 7.3, with the arrays of a .npz file, or ``query_f``, ``query_label``,
        ``query_cam``, ``gallery_f``, ``gallery_label`` and ``gallery_cam``. Text with
        `labels` and `gallery_labels`: top-K lists, one query per line. HDF5, Parquet and BEE
        matrices: ``docs/formats.md``.
    scores_key, genuine_key, embeddings_key, gallery_embeddings_key, mask_key
        Names of arrays in a .npz file of another layout (columns, in a CSV list of pairs).
    gallery_embeddings
        A .npy file with the gallery's embeddings, where `path` is one with the probes'.
    indices_key
        Name of an integer array (queries, K) of gallery entries, nearest first: top-K lists, whose
        distances, if any, `scores_key` names. Without it, ``indices`` and ``distances``.
    first_index : {0, 1}, optional
        How the first gallery entry is numbered in top-K lists. Required for text
        in which neither 0 nor the number of the last entry occurs; 0 for arrays unless given.
    leave_out_query : bool, optional
        Whether queries of top-K lists that are gallery entries themselves are left out of their own
        lists; see :class:`TopKScores`. An array ``query_positions`` names the entries.
    labels_key, gallery_labels_key
        Names of arrays with the subject of each row, and of each column where these are other
        templates.
    labels, gallery_labels
        ``.npy`` arrays of text or whole numbers, or CSV files with a column ``label`` (or
        ``subject``, ``identity``, ``person``, ``pid``, ``id``, ``subject_id``) and any further
        columns as metadata; or one column without a header. Labels from CSV are text: ``007``
        stays ``007``. With `names_of`, lists of images.
        With `trials`, `labels` is a list of templates, as of IJB: ``docs/formats.md``.
    names_of : str, optional
        The labels are names of images as this data set has them (``"market1501"``,
        ``"dukemtmc-reid"``, ``"msmt17"``, ``"veri776"``, ``"vehicleid"``), from which identities
        and cameras are read: text files with a name on each line, CSV files with a column
        ``name``, or arrays of text. ``"label-xml"``: the lists of VeRi-776 and AI City.
    pairs_key
        Name of an integer array of pairs to evaluate alone: index a, index b and, in the last of
        further columns, 1 for the same subject. With two columns, the labels decide.
    pairs
        A list of pairs in LFW's form (``pairs.txt``): ``name i j`` and ``name i other j``, in
        folds. The templates' labels are the names (or, whole numbers, places in an array
        ``names``), and their metadata ``image_number`` the numbers.
    missing_pairs : {"raise", "skip"}, optional
        What to do with pairs of that list of which an image is not in the file: an error, or
        leave them out and report their number.
    mask
        The mask of a BEE matrix (``.mtx``): which cells are genuine, impostor, or ignored.
    trials
        A text with the trials of a list of scores: the names of both sides, and whether the pair is
        genuine; a list of names alone lists the genuine pairs. Names are looked up in any order.
        The first name of a trial is that of the enrolled template, unless its column is called
        otherwise.
    impostor
        A text with one impostor score a line, where `path` has the genuine scores.
    subject_from : str, optional
        A regular expression whose one group is the subject within the name of a template, as
        ``r"id(\d+)/"``.
    session_from : str, optional
        In the same way the session within the name of a template, of a matrix as text or of a list
        that is read as one: metadata, by which `exclude` leaves out pairs of one session.
    as_ : {"pairs", "matrix"}, optional
        What a list of pairs is read as. A matrix has the probes as rows and the gallery templates
        as columns; pairs that are not listed are excluded.
    keep : {"self", "repeated"}, or several of them, optional
        Lines to count of a list that names its templates: comparisons of a template with itself,
        which are left out otherwise, and pairs as often as they are listed, which count once.
    unordered : bool
        Count a-b and b-a of such a list as one attempt. By default they are two, as in a matrix.
        With ``as_="matrix"`` each score is that of both orders.
    meta
        Metadata columns, as ``["camera"]``, or under other names, as ``{"camera": "cam_id"}``; for
        probe-against-gallery
        ``{"probe_camera": "q_cam", "gallery_camera": "g_cam"}``.
    metric : {"cosine", "l2", "l1", "linf", "bhattacharyya"}, optional
        How to compare embeddings. What the file says, else cosine.
    kind : {"distance", "similarity", "llr", "order"}, optional
        What the scores are. What the file says, else distance; of a text that does not say it,
        required.
    nan : {"raise", "reject", "exclude"}, optional
        What a comparison that failed means. What the file says, else raise.
    exclude : sequence of str
        Comparisons that are left out, as for :class:`Scores`: ``"session"``, ``"clothes!="``,
        ``"all:camera=3/2"``.
    format_ : str, optional
        The format of the file, as ``"npz"``, where it is not what its content shows:
        ``bioeval convert --list`` has all.
    average : sequence of str, optional
        Metadata columns by which several embeddings become one template, such as ``("template",
        "media")``; see :meth:`Scores.from_embeddings`.
    keep_embeddings : bool, optional
        The file must hold embeddings, and :func:`save` to an array format (.npz, .h5) then writes
        these and not their distances, which are computed as they are read. Averaged embeddings
        are written as the templates that they became.

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
    arguments = dict(locals())
    scores = registry.read(arguments.pop("path"), ReadOptions.parse(**arguments))
    if names_of in PATTERNS:
        known = PATTERNS[names_of]
        return scores._marking(known.distractor_ids, known.junk_ids)
    return scores


def save(scores: Scores, path: str | os.PathLike[str]) -> None:
    """Write scores, or a selection of them, with their labels and metadata.

    Parameters
    ----------
    scores : Scores
    path
        ``x.npz``: everything in one file. ``x.npy``: the matrix, with ``x.labels.csv`` or
        ``x.probe.csv`` and ``x.gallery.csv`` beside it, and ``x.json`` with their kind;
        labels then become text. ``x.csv``: a list of pairs; a matrix becomes its single
        comparisons. :func:`bioeval.scores.formats.losses` lists what is lost. Files are
        written under another name and renamed, so that none is ever incomplete.

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
    place = require_path("path", path)
    scores._verify()
    try:
        registry.format_to_write(place).write(scores, place)
    except BioevalError:
        raise
    except (TypeError, ValueError, NotImplementedError) as error:  # of a library, about a dtype
        raise DataError(
            f"{place}: cannot hold these scores or their metadata ({error}); save them as .npz"
        ) from error


def losses(scores: Scores, path: str | os.PathLike[str]) -> list[str]:
    """List what a file of this name cannot hold of the scores, a sentence each.

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
    >>> scores = be.Scores([[0.1, 0.9]], ["ann"], ["ann", "bob"])
    >>> losses(scores, "x.npz")
    []
    >>> losses(scores, "x.csv")
    ['the matrix becomes a list of pairs, for verification alone']
    """
    return list(map(str, losses_in_parts(scores, path)))


def losses_in_parts(scores: Scores, path: str | os.PathLike[str]) -> list[Part]:
    """List what :func:`losses` does, with the arguments that a sentence names as typed parts."""
    lost = list[Part]()
    form = registry.format_to_write(Path(path))
    kept = scores._keeps_embeddings and form.holds_arrays
    if scores._origin and not isinstance(scores, PairScores) and not kept:
        lost.append(f"the embeddings are not kept, only their distances ({scores._origin})")
    numbers = scores._ids_of_no_person
    if numbers and not form.holds_arrays and ".npy" not in form.suffixes:
        lost.append(
            f"which labels are of distractors or junk is not said ({', '.join(map(str, numbers))})"
        )
    assert form.losses is not None  # of a format that is written
    return lost + form.losses(scores)
