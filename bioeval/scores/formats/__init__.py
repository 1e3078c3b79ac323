"""Files of scores: the content decides what a file is; an argument has an effect, or is refused.

Numbers alone, a .npy array or a text, have their labels or trials in other files. Beside ``x.npy``
lies ``x.labels.csv`` (all-against-all), or ``x.probe.csv`` and ``x.gallery.csv``. A file of
embeddings has one row per template; the gallery's embeddings are another file.

`load` reads a file in three steps: `recognise` finds its format, the reader of the format in
`arrays.py` (named arrays) or `lists.py` (texts and tables) makes scores of it, and `_read` refuses
the arguments that had no effect.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from bioeval.base.arguments import require_path
from bioeval.base.errors import DataError, enumerated
from bioeval.base.files import unchanged
from bioeval.base.kinds import Kind, ListFormat, NanPolicy
from bioeval.scores.embeddings import Metric
from bioeval.scores.formats.arrays import scores_of, scores_of_array
from bioeval.scores.formats.containers import open_hdf5, open_mat, open_npy, open_npz
from bioeval.scores.formats.labels import lists_templates
from bioeval.scores.formats.layouts import PRESETS, names_columns
from bioeval.scores.formats.lists import (
    holds_features,
    is_wide,
    read_frame,
    read_numbers,
    read_parquet,
    read_text_table,
    scores_in_order,
    scores_of_two_files,
    with_corner,
)
from bioeval.scores.formats.roles import LOAD_NAMES, Arguments
from bioeval.scores.formats.tables import COLUMNS, counts_columns, folded, head_of, like_number
from bioeval.scores.formats.texts import (
    COMPRESSED,
    FileKind,
    advice_on,
    existing_file,
    fault,
    guarded,
    kind_of_file,
    naming_file,
)
from bioeval.scores.formats.writing import losses, save
from bioeval.scores.image_names import PATTERNS
from bioeval.scores.matrix import Scores
from bioeval.scores.people import marking

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
    format: ListFormat | None = None,
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
          lists the genuine pairs; of arrays with labels, these decide. Without a header, `format`
          says what the columns are.
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
        The score of a comparison that failed, such as -1. A blank score of a list means the same.
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
    format : str, optional
        The columns of lists without a header: of the file, and of its `trials`. One of
        ``"asvspoof"``, ``"bob"``, ``"kaldi"``, ``"lfw"``, ``"pyeer"``, ``"trec"`` and
        ``"voxceleb"``, which ``bioeval convert --list`` describes.

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
    return read_with(
        path,
        labels=labels,
        gallery=gallery,
        trials=trials,
        kind=kind,
        metric=metric,
        nan=nan,
        failed=failed,
        exclude=exclude,
        average=average,
        subject_from=subject_from,
        names_of=names_of,
        distractor_ids=distractor_ids,
        columns=columns,
        lists=lists,
        shared=shared,
        format=format,
    )


def read_with(path: Any, *, only_embeddings: bool = False, **arguments: Any) -> Scores:
    """Read a file, or two of genuine and impostor scores, by the arguments of :func:`load`.

    With `only_embeddings`, distances are computed as they are read.
    """
    files = path if isinstance(path, list | tuple) else (path,)
    if len(files) not in (1, 2):
        raise DataError(
            f"`path` has {len(files)} files; expected one, or genuine and impostor scores"
        )
    path, *further_files = files
    impostor = require_path("path", further_files[0]) if further_files else None
    try:
        with unchanged():
            scores = _read(path, impostor, Arguments(arguments), only_embeddings)
        return scores._with(remarks=tuple(x.renamed(LOAD_NAMES) for x in scores.remarks))
    except DataError as error:
        raise error.renamed(LOAD_NAMES) from error.__cause__


def _read(path: Any, impostor: Path | None, arguments: Arguments, only_embeddings: bool) -> Scores:
    """Read a file, or two of genuine and impostor scores; every error names the file."""
    is_frame = hasattr(path, "iloc")
    place = Path("DataFrame") if is_frame else existing_file(path)
    form = "text" if is_frame else recognise(place, arguments)
    noun = FORMATS[form].noun
    further_files = [impostor, *map(arguments.peek, ("labels", "gallery", "trials"))]
    further_files = [file for file in further_files if file is not None]
    with naming_file(place, *further_files), guarded(place, expected=noun):
        if impostor is not None:
            if form not in ("npy", "text"):
                raise arguments.no_meaning(place, "path", f"two files, of which one is {noun}")
            scores = scores_of_two_files(place, impostor, arguments)
        elif is_frame:
            scores = read_frame(path, arguments)
        else:
            scores = _read_format(place, form, arguments, only_embeddings)
        exclude = arguments.take("exclude", ())
        ids = arguments.take("distractor_ids", scores.distractor_ids)
        nouns = {"pairs": "a list of pairs", "top-k": "top-K lists"}
        content = "embeddings" if scores.metric else nouns.get(scores.layout, "a matrix of scores")
        arguments.refuse_unused(place, content)
        scores = scores._with(reading=(*scores.reading, *dict.fromkeys(arguments.notes)))
        if only_embeddings and not scores.streams:
            raise fault(place, "holds no embeddings")
        if exclude:
            scores = scores.excluding(*exclude)
    junk_ids = scores.junk_ids
    if data_set := arguments.peek("names_of"):
        pattern = PATTERNS[data_set]
        junk_ids = pattern.junk_ids
        if "distractor_ids" not in arguments:
            ids = pattern.distractor_ids or None
    return marking(scores, ids, junk_ids)


def _read_format(path: Path, form: str, arguments: Arguments, only_embeddings: bool) -> Scores:
    """Read a file of a known format, a key of `FORMATS`."""
    if form == "text":
        return read_text_table(path, arguments)
    if form == "matrix-text":
        return read_numbers(path, arguments)
    if form == "parquet":
        return read_parquet(path, arguments)
    if form == "npy":
        are_features = "metric" in arguments or "average" in arguments
        if "trials" in arguments and not are_features:
            return scores_in_order(path, arguments)
        return scores_of_array(path, open_npy(path), arguments, only_embeddings)
    open_arrays = {"npz": open_npz, "mat": open_mat, "h5": open_hdf5}[form]
    return scores_of(path, open_arrays(path), arguments, form == "mat", only_embeddings)


# ------------------------------------------------------------------------- what a file is


class FileFormat(NamedTuple):
    """A format of files of scores."""

    content: FileKind
    noun: str
    suffixes: tuple[str, ...]
    holds: str


_ARRAYS = "scores, pairs, embeddings or top-K lists, with labels and metadata"
_NPY = "a matrix of scores, or embeddings. Labels are in CSV files beside it"
_MAT = "what a .npz file holds, and the usual layout of re-identification features"
_NUMBERS = (
    "a matrix of numbers alone, or with a metric an embedding a row, of up to 1,000 columns; "
    "labels are given as files"
)
_LIST = "a list of pairs with a score on each line, with the names of its columns, or by a preset"
_TEXT = "a text with a score on each line (a matrix of scores is .npy or .npz)"

#: The formats of files by their names.
FORMATS = {
    "npz": FileFormat(FileKind.ZIP, "a .npz file", (".npz",), _ARRAYS),
    "npy": FileFormat(FileKind.NPY, "a .npy file", (".npy",), _NPY),
    "mat": FileFormat(FileKind.MAT, "a MATLAB file", (".mat",), _MAT),
    "h5": FileFormat(
        FileKind.HDF5, "an HDF5 file", (".h5", ".hdf5"), "what a .npz file holds, in HDF5"
    ),
    "parquet": FileFormat(
        FileKind.PARQUET,
        "a Parquet file",
        (".parquet",),
        "a list of pairs, or a matrix, as a table of Parquet",
    ),
    "matrix-text": FileFormat(
        FileKind.TEXT, "a text of numbers alone, a matrix of scores", (), _NUMBERS
    ),
    "text": FileFormat(FileKind.TEXT, _TEXT, (".csv",), _LIST),
}


def is_text(path: Path) -> bool:
    """Whether a file is text, or compressed, and so perhaps a compressed text."""
    kind = kind_of_file(path)
    return kind == FileKind.TEXT or kind in COMPRESSED


def recognise(path: Path, arguments: Arguments) -> str:
    """Return the format of a file by its content, whatever its suffix, if the content is clear."""
    kind = kind_of_file(path)
    suffix = path.suffix.lower()
    if is_text(path):
        with suppress(DataError):  # the text is no list or matrix with names, or is damaged
            head = with_corner(head_of(path))
            is_table = names_columns(head) or is_wide(head.cells[0], Arguments({}))
            if "gallery" not in arguments and (is_table or holds_features(head, arguments)):
                return "text"
        by_suffix = next((x for x in FORMATS.values() if suffix in x.suffixes), FORMATS["text"])
        if by_suffix.content != FileKind.TEXT:
            problem = f"is named {path.suffix} but holds {kind}"
            raise fault(path, problem, f"expected {by_suffix.noun}; write the file again")
        return _format_of_text(path, arguments)
    if kind == FileKind.HDF5 and suffix == ".mat":
        return "mat"  # another program than MATLAB wrote version 7.3
    if suffix == ".mat" and kind == FileKind.UNKNOWN:
        raise fault(
            path,
            "is not a MATLAB file of version 5 to 7.3 (that of save -v4 is not read)",
            "write it with save -v7",
        )
    for word, form in FORMATS.items():
        if form.content == kind:
            return word
    suffixes = [suffix for x in FORMATS.values() for suffix in x.suffixes]
    raise fault(path, f"is {kind}", f"expected {enumerated(suffixes, 'or')}{advice_on(kind)}")


def _format_of_text(path: Path, arguments: Arguments) -> str:
    """Return ``"matrix-text"`` for numbers of which an argument has the labels, else ``"text"``.

    A list has arguments of lists; fewer than three numbers a line are more likely a list.
    """
    labels = arguments.peek("labels")
    gallery = arguments.peek("gallery")
    # How many cells the first line has, if all are numbers or empty; else 0. An empty cell does not
    # count before numbers of the columns. With a metric, a first line without any number may name
    # the features, and the second line decides.
    first, *below = head_of(path).rows
    number_count = 0
    if "metric" in arguments and not any(map(like_number, first)):
        if below and all(map(like_number, below[0])):
            number_count = len(first)
    else:
        cells = first[1:] if not first[0] and counts_columns(first[1:]) else first
        if all(not x or like_number(x) for x in cells):
            number_count = len(cells)
    is_list = (
        any(x in arguments for x in ("columns.scores", "trials", "subject_from", "format"))
        or not {*map(folded, arguments.meta)}.isdisjoint(COLUMNS["score"])
        or (labels is not None and labels.is_file() and lists_templates(labels))
    )
    if not is_list and (labels or gallery) and number_count >= (2 if gallery else 3):
        return "matrix-text"
    if gallery:
        raise fault(
            path,
            "is text with other first cells than numbers",
            "`labels` and `gallery` label the rows and columns of a matrix of numbers alone, "
            "without names of rows and columns",
        )
    return "text"


# ------------------------------------------------------------------------- for commands


def holds_labels(file: str) -> bool:
    """Whether a file may hold scores with their labels, and so be a system, by its suffix."""
    return Path(file).suffix.lower() in (".npz", ".mat", ".h5", ".hdf5")


def role_of_second_file(path: Path, second: Path, preset: str | None) -> str:
    """Return the option that a second file of a command is for: labels, impostor or trials."""
    existing_file(path)
    if lists_templates(second):
        return "labels"
    if preset in PRESETS:
        return "trials"
    if kind_of_file(path) == kind_of_file(second) == FileKind.NPY:
        return "impostor"
    if is_text(path) and head_of(path).width == head_of(second).width == 1:
        return "impostor"
    return "trials"
