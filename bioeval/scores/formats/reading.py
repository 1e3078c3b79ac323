"""Reading files of scores: the content decides; an argument has an effect or is refused."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from bioeval.base.errors import DataError, enumerated
from bioeval.base.unchanged import unchanged
from bioeval.scores.formats.arrays import scores_of
from bioeval.scores.formats.bare import read_npy, read_numbers
from bioeval.scores.formats.containers import open_npz
from bioeval.scores.formats.faults import fault, guarded, naming_file
from bioeval.scores.formats.files import COMPRESSED, FileKind, existing_file, kind_of_file
from bioeval.scores.formats.hdf5 import open_hdf5, open_mat
from bioeval.scores.formats.layouts import PRESETS, names_columns
from bioeval.scores.formats.lists import read_list
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.spellings import counts_columns, like_number
from bioeval.scores.formats.tables import head_of
from bioeval.scores.formats.template_tables import lists_templates
from bioeval.scores.formats.wide import is_wide, read_frame, read_parquet, read_wide, with_corner
from bioeval.scores.image_names import PATTERNS
from bioeval.scores.matrix import Scores
from bioeval.scores.people import marking


class Format(NamedTuple):
    """A format of files of scores."""

    content: FileKind
    noun: str
    suffixes: tuple[str, ...]
    holds: str


#: The formats by the word of the argument `format`.
FORMATS = {
    "npz": Format(
        FileKind.ZIP,
        "a .npz file",
        (".npz",),
        "scores, pairs, embeddings or top-K lists, with labels and metadata",
    ),
    "npy": Format(
        FileKind.NPY,
        "a .npy file",
        (".npy",),
        "a matrix of scores, or embeddings. Labels are in CSV files beside it",
    ),
    "mat": Format(
        FileKind.MAT,
        "a MATLAB file",
        (".mat",),
        "what a .npz file holds, and the usual layout of re-identification features",
    ),
    "h5": Format(
        FileKind.HDF5, "an HDF5 file", (".h5", ".hdf5"), "what a .npz file holds, in HDF5"
    ),
    "parquet": Format(
        FileKind.PARQUET,
        "a Parquet file",
        (".parquet",),
        "a list of pairs, or a matrix, as a table of Parquet",
    ),
    "matrix-text": Format(
        FileKind.TEXT,
        "a text of numbers alone, a matrix of scores",
        (),
        "a matrix of numbers alone, or with a metric an embedding a row, of up to 1,000 columns; "
        "labels are given as files",
    ),
    "text": Format(
        FileKind.TEXT,
        "a text with a score on each line (a matrix of scores is .npy or .npz)",
        (".csv",),
        "a list of pairs with a score on each line, with the names of its columns, or by a preset",
    ),
}


def is_text(path: Path) -> bool:
    """Whether a file is text, or compressed, and so perhaps a compressed text."""
    kind = kind_of_file(path)
    return kind == FileKind.TEXT or kind in COMPRESSED


def read(
    path: Any, impostor: Path | None, arguments: Arguments, *, only_embeddings: bool = False
) -> Scores:
    """Read a file, or two of genuine and impostor scores; every error names the file.

    With `only_embeddings` the file must hold embeddings, whose distances are computed as they are
    read.
    """
    with unchanged():
        return _read(path, impostor, arguments, only_embeddings)


def _read(path: Any, impostor: Path | None, arguments: Arguments, only_embeddings: bool) -> Scores:
    is_frame = hasattr(path, "iloc")
    place = Path("DataFrame") if is_frame else existing_file(path)
    form = "text" if is_frame else recognise(place, arguments)
    noun = FORMATS[form].noun
    further_files = filter(None, (impostor, *map(arguments.peek, ("labels", "gallery", "trials"))))
    with naming_file(place, *further_files), guarded(place, expected=noun):
        if impostor is not None and form not in ("npy", "text"):
            raise arguments.no_meaning(place, "path", f"two files, of which one is {noun}")
        if is_frame:
            scores = read_frame(path, arguments)
        else:
            scores = _read_as(form, place, arguments, impostor, only_embeddings)
        exclude = arguments.take("exclude", ())
        ids = arguments.take("distractor_ids", scores.distractor_ids)
        arguments.refuse_unused(place, _content_in_words(scores))
        scores = scores._with(reading=(*scores.reading, *dict.fromkeys(arguments.notes)))
        if only_embeddings and not scores.streams:
            raise fault(place, "holds no embeddings")
        if exclude:
            scores = scores.excluding(*exclude)
    junk_ids = scores.junk_ids
    if pattern := arguments.peek("names_of"):
        form_of_names = PATTERNS[pattern]
        junk_ids = form_of_names.junk_ids
        ids = ids if "distractor_ids" in arguments else form_of_names.distractor_ids or None
    return marking(scores, ids, junk_ids)


def _read_as(
    form: str, path: Path, arguments: Arguments, impostor: Path | None, only_embeddings: bool
) -> Scores:
    if form == "text":
        return _read_text(path, arguments, impostor)
    if form == "matrix-text":
        return read_numbers(head_of(path), arguments)
    if form == "npy":
        return read_npy(path, arguments, impostor, only_embeddings)
    if form == "parquet":
        return read_parquet(path, arguments)
    arrays_of = {"npz": open_npz, "mat": open_mat, "h5": open_hdf5}[form]
    return scores_of(path, arrays_of(path), arguments, form == "mat", only_embeddings)


def _content_in_words(scores: Scores) -> str:
    if scores.layout == "pairs":
        return "a list of pairs"
    if scores.layout == "top-k":
        return "top-K lists"
    return "embeddings" if scores.metric else "a matrix of scores"


def _read_text(path: Path, arguments: Arguments, impostor: Path | None) -> Scores:
    head = with_corner(head_of(path))
    scores = read_wide(head, arguments) if impostor is None else None
    if scores is None:
        scores = read_list(head, arguments, impostor)
    return scores._with(reading=(*head.reading, *scores.reading))


# ------------------------------------------------------------------------- what a file is


def recognise(path: Path, arguments: Arguments) -> str:
    """Return the format of a file by its content; raise if its suffix contradicts.

    A text whose first line names columns is a list or a matrix with names, whatever its suffix.
    """
    if arguments.peek("format") in FORMATS:
        return arguments.take("format")
    kind = kind_of_file(path)
    suffix = path.suffix.lower()
    by_suffix = next((word for word, x in FORMATS.items() if suffix in x.suffixes), None)
    if is_text(path):
        if _has_names(path) and "gallery" not in arguments:
            return "text"
        if by_suffix in (None, "text"):
            return _format_of_text(path, arguments)
    elif kind == FileKind.HDF5 and suffix == ".mat":
        return "mat"  # another program than MATLAB wrote version 7.3
    elif suffix == ".mat" and kind == FileKind.UNKNOWN:
        raise fault(
            path,
            "is not a MATLAB file of version 5 to 7.3 (that of save -v4 is not read)",
            "write it with save -v7",
        )
    by_content = next((word for word, x in FORMATS.items() if x.content == kind), None)
    if by_content is not None and by_suffix in (None, by_content) and kind != FileKind.TEXT:
        return by_content
    if by_suffix is None:
        suffixes = [suffix for x in FORMATS.values() for suffix in x.suffixes]
        raise fault(path, f"is {kind}", f"expected {enumerated(suffixes, 'or')}")
    remedy = "write the file again" if kind == FileKind.TEXT else "name it as what it is"
    problem = f"is named {path.suffix} but holds {kind}"
    raise fault(path, problem, f"expected {FORMATS[by_suffix].noun}; {remedy}")


def _has_names(path: Path) -> bool:
    with suppress(DataError):  # the text is no such list, or is damaged
        head = with_corner(head_of(path))
        return names_columns(head) or is_wide(head.cells[0], Arguments({}))
    return False


def _format_of_text(path: Path, arguments: Arguments) -> str:
    """Return ``"text"`` for a list, ``"matrix-text"`` for a matrix; raise for other texts.

    A text of numbers is a matrix if an argument has its labels, unless an argument of lists is
    given. Fewer than three numbers a line are more likely a list.
    """
    labels = arguments.peek("labels")
    gallery = arguments.peek("gallery")
    numbers = _numbers_in_line(path, may_name_features="metric" in arguments)
    is_list = any(x in arguments for x in ("columns.scores", "trials", "subject_from", "format"))
    is_list = is_list or labels is not None and labels.is_file() and lists_templates(labels)
    if not is_list and (labels or gallery) and numbers >= (2 if gallery else 3):
        return "matrix-text"
    if gallery:
        raise fault(
            path,
            "is text with other first cells than numbers",
            "`labels` and `gallery` label the rows and columns of a matrix of numbers alone, "
            "without names of rows and columns",
        )
    if not is_list and numbers >= 3:
        raise fault(
            path,
            "begins with a line of numbers, as a matrix does",
            "a matrix of scores needs `labels`; of a list of pairs give the `format`, or the "
            "numbers of the columns, or write their names in a first line, such as 'genuine "
            "template_a template_b score'",
        )
    return "text"


def _numbers_in_line(path: Path, *, may_name_features: bool) -> int:
    """Return how many cells the first line has; 0 if a cell is neither a number nor empty.

    An empty cell does not count before numbers of the columns. If `may_name_features`, a first line
    without any number may name the columns, and the second line decides.
    """
    first, *below = head_of(path).rows
    if may_name_features and not any(map(like_number, first)):
        return len(first) if below and all(map(like_number, below[0])) else 0
    cells = first[1:] if not first[0] and counts_columns(first[1:]) else first
    return len(cells) if all(not x or like_number(x) for x in cells) else 0


# ------------------------------------------------------------------------- for commands


def holds_labels(file: str) -> bool:
    """Whether a file may hold scores with their labels, and so be a system, by its suffix."""
    return Path(file).suffix.lower() in (".npz", ".mat", ".h5", ".hdf5")


def role_of_second_file(path: Path, second: Path, preset: str | None) -> str:
    """Return the option that a second file of a command is for: labels, impostor or trials.

    With a `preset` of lists, which genuine and impostor scores in two files do not have, it has
    labels or trials.
    """
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
