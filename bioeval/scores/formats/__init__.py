"""Reading and writing files of scores, whatever their format."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bioeval.base.arguments import require_path
from bioeval.base.errors import BioevalError, DataError
from bioeval.base.kinds import Format, Kind, NanPolicy
from bioeval.scores.embeddings import Metric
from bioeval.scores.formats import writing
from bioeval.scores.formats.reading import read
from bioeval.scores.formats.roles import LOAD_NAMES, Arguments
from bioeval.scores.matrix import Scores

__all__ = ["load", "losses", "save"]


def load(
    path: Any,
    *,
    labels: str | os.PathLike[str] | None = None,
    gallery: str | os.PathLike[str] | None = None,
    trials: str | os.PathLike[str] | None = None,
    kind: Kind | None = None,
    metric: Metric | None = None,
    nan: NanPolicy | None = None,
    failed: float | None = None,
    exclude: Sequence[str] = (),
    average: Sequence[str] | None = None,
    subject_from: str | None = None,
    names_of: str | None = None,
    distractor_ids: Sequence[int | str] | None = None,
    columns: Mapping[str, str | int] | None = None,
    lists: Mapping[str, Any] | None = None,
    shared: bool | None = None,
    header: bool | None = None,
    format: Format | None = None,
) -> Scores:
    r"""Read scores, or embeddings, with their labels.

    Parameters
    ----------
    path
        One of these (see ``docs/formats.md``):

        - ``.npz``, HDF5, ``.mat``: scores, a list of pairs, embeddings or top-K lists, with labels
          and metadata
        - ``.npy``: a matrix of scores, with labels beside it in ``x.labels.csv``, or
          in ``x.probe.csv`` and ``x.gallery.csv``
        - ``.npy`` with `metric`, or with embeddings as `gallery`: embeddings, one per row
        - text, also compressed, Parquet, or a DataFrame of pandas: a list of pairs with a score on
          each line, or a matrix
        - a pair of paths: genuine scores, then impostor scores
    labels
        The subjects of the rows, and of the columns where there is no `gallery`. One of:

        - a ``.npy`` array
        - a CSV file with a column ``label`` (or ``subject``, ``identity``, ``person``, ``pid``,
          ``id``, ``subject_id``) and any further columns as metadata
        - a CSV file of one column without a header
        - with `names_of`: a list of images
        - with `trials`, or with a list that has names: a table of the templates

        Labels from CSV are text: ``007`` stays ``007``.
    gallery
        The subjects of the columns, in the same way. With embeddings in a ``.npy`` file: the
        embeddings of the gallery, with their labels beside them in ``x.labels.csv``.
    trials
        A text file that says which pairs of a list of scores are trials:

        - Each line names two templates, and says whether the pair is genuine; a list of names alone
          lists the genuine pairs. Without a header, `format` says what the columns are.
        - The enrolled template is named first, unless the columns are called otherwise.
        - Scores are found by the names, in any order of the lines and of the two names. A file of
          arrays has the names as metadata ``name``.
        - A list in LFW's form (``pairs.txt``) names subjects, the labels, and numbers their images,
          the metadata ``image_number``.
    kind : {"distance", "similarity", "order"}, optional
        Kind of the scores. By default as the file says, else distance; required for a text that
        does not say it.
    metric : {"cosine", "l2", "l1", "linf", "bhattacharyya"}, optional
        How to compare embeddings. By default as the file says, else cosine.
    nan : {"raise", "reject", "exclude"}, optional
        Meaning of a comparison that failed. By default as the file says, else raise.
    failed : float, optional
        The score of a comparison that failed in a list, such as -1. A blank score means the same.
        See `nan`.
    exclude : sequence of str
        Comparisons that are left out, as for :class:`Scores`: ``"session"``, ``"clothes!="``,
        ``"all:camera=3/2"``.
    average : sequence of str, optional
        Metadata columns by which several embeddings become one template, as the template and the
        media of IJB. See :meth:`Scores.from_embeddings`.
    subject_from : str, optional
        A regular expression that finds the subject in the name of a template. It has one of:

        - a group, or several that are the subject together: ``'id(\d+)/'``
        - groups with names, ``subject`` and metadata: ``'(?P<subject>\w+)_day(?P<session>\d+)'``
    names_of : str, optional
        The data set (``"market1501"``, ``"dukemtmc-reid"``, ``"msmt17"``, ``"veri776"`` or
        ``"vehicleid"``) whose names of images the labels are. Identities and cameras are read from
        them. The labels are text files with a name on each line, CSV files with a column ``name``,
        or arrays of text.
    distractor_ids : sequence of int or str, optional
        Labels of no known person, in place of the words that :class:`Scores` lists. An empty
        sequence says that each label is a person.
    columns : mapping of str to str or int, optional
        The array, or the column of a list, that has a role or is metadata. For example,
        ``{"scores": "D", "labels": "y", "camera": "cam"}``. The keys are:

        - roles: ``scores``, ``genuine``, ``labels``, ``gallery_labels``, ``embeddings``,
          ``gallery_embeddings``, ``mask``, and ``indices``, top-K lists: the gallery entries of
          each query, nearest first
        - of a list also any name that a column may have, as ``subject_a``, ``subject_b``,
          ``template`` and ``probe``
        - any other word: the name of a metadata column, for one side with a prefix, as
          ``probe_camera`` or ``gallery_camera``

        The columns of a list without a header have numbers from 1, as in ``{"scores": 3}``. None in
        place of a name says that the array or column of this name is not to be read.
    lists : mapping, optional
        Options of lists alone: ``as``, ``unordered``, ``keep``, ``missing_pairs``; of top-K lists
        ``first_index`` and ``leave_out_query``. The values are:

        - ``as``: ``"matrix"`` reads pairs with names as a matrix, with the probes as rows; pairs
          that are not listed are excluded.
        - ``unordered``: True counts a-b and b-a as one attempt; in a matrix, each score is that of
          both orders. By default they are two.
        - ``keep``: lines of a list with names to count although they are left out by default:
          ``"self"``, a template compared with itself; ``"repeated"``, a pair listed again.
        - ``missing_pairs``: ``"skip"`` leaves out trials without a score or an image, and scores
          without a trial, and remarks on their number; by default they are an error.
        - ``first_index``: 0 or 1, the number of the first gallery entry in top-K lists; by default
          1 in files of MATLAB, else 0, and lists that seem to count from 1 are asked about.
        - ``leave_out_query``: whether queries that are gallery entries themselves are left out of
          their own lists; see :meth:`Scores.from_top_k`.
    shared : bool, optional
        Whether equal names on both sides are one template, as for :class:`Scores`.
    header : bool, optional
        Whether the first line of a text is no data. Needed only if the first line is ``0,1,...``,
        as pandas writes above columns without names.
    format : str, optional
        The columns of lists without a header, or the format of the file. One of these, which
        ``bioeval convert --list`` describes:

        - the format of the file, as ``"npz"``, where its content does not show it
        - the columns of lists without a header, of the file, its `trials` and the `labels` of IJB:
          ``"asvspoof"``, ``"bob"``, ``"ijb"``, ``"kaldi"``, ``"lfw"``, ``"pyeer"``, ``"trec"``,
          ``"voxceleb"``

    Returns
    -------
    Scores

    Raises
    ------
    DataError
        If the file is missing or damaged, or has other content than expected. The message says
        what to do. Nothing is ever unpickled.

    See Also
    --------
    save : writes such files.

    Examples
    --------
    >>> import bioeval as be
    >>> roles = {"embeddings": "dlib128", "labels": "subject"}
    >>> scores = be.load("faces.npz", columns=roles, metric="l2")  # doctest: +SKIP
    """
    arguments = dict(locals())  # all arguments by name: this must be the first statement
    return read_with(arguments.pop("path"), **arguments)


def read_with(path: Any, *, only_embeddings: bool = False, **arguments: Any) -> Scores:
    """Read a file, or two of genuine and impostor scores, by the arguments of :func:`load`.

    With `only_embeddings` the file must hold embeddings; their distances are computed as they are
    read.
    """
    files = path if isinstance(path, list | tuple) else (path,)
    if len(files) not in (1, 2):
        raise DataError(
            f"`path` has {len(files)} files; expected one, or genuine and impostor scores"
        )
    path, *further_files = files
    impostor = require_path("path", further_files[0]) if further_files else None
    try:
        scores = read(path, impostor, Arguments(arguments), only_embeddings=only_embeddings)
        return scores._with(remarks=tuple(x.renamed(LOAD_NAMES) for x in scores.remarks))
    except DataError as error:
        raise error.renamed(LOAD_NAMES) from error.__cause__


def save(scores: Scores, path: str | os.PathLike[str]) -> None:
    """Write scores, or a selection of them, with their labels and metadata.

    Parameters
    ----------
    scores : Scores
    path
        ``x.npz``: everything in one file. ``x.csv``: a list of pairs, of a matrix its single
        comparisons; :func:`bioeval.scores.formats.losses` lists the parts that are lost. The file
        is written under another name and then renamed, so that it is never incomplete.

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
    try:
        writing.form_of(place).write(scores, place)
    except BioevalError:
        raise
    # A library does not support the dtype.
    except (TypeError, ValueError, NotImplementedError) as error:
        raise DataError(
            f"{place}: cannot hold these scores or their metadata ({error}); save them as .npz"
        ) from error


def losses(scores: Scores, path: str | os.PathLike[str]) -> list[str]:
    """List the parts of scores that a file of this name cannot hold, a sentence for each part."""
    lost = list[str]()
    form = writing.form_of(Path(path))
    if scores.origin and scores.layout != "pairs":
        lost.append(f"the embeddings are not kept, only their distances ({scores.origin})")
    stated = scores.distractor_ids is not None or scores.junk_ids
    if stated and not form.holds_arrays:
        ids = [*map(str, (*scores.junk_ids, *(scores.distractor_ids or ())))]
        lost.append(f"labels of distractors and junk ({', '.join(ids) or 'none'}) become unknown")
    if scores.claims:
        lost.append(
            f"that a score is of a claim is not said, nor which lack tries ({scores.claims})"
        )
    return lost + form.losses(scores)
