"""Reading files of scores: the content decides; an argument has an effect or is refused."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError, enumerated
from bioeval.scores.formats.arrays import scores_of
from bioeval.scores.formats.bare import read_npy, read_numbers
from bioeval.scores.formats.comparisons import is_lfw
from bioeval.scores.formats.containers import open_hdf5, open_mat, open_npz
from bioeval.scores.formats.faults import fault, guarded, naming_file
from bioeval.scores.formats.files import COMPRESSED, HDF5, content, content_in_words, existing_file
from bioeval.scores.formats.layouts import names_columns
from bioeval.scores.formats.lists import read_list
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.spellings import counts_columns, like_number
from bioeval.scores.formats.tables import head_of
from bioeval.scores.formats.template_tables import lists_templates
from bioeval.scores.formats.unknown_lists import foreign
from bioeval.scores.formats.wide import is_wide, read_frame, read_parquet, read_wide, with_corner
from bioeval.scores.image_names import PATTERNS
from bioeval.scores.matrix import Scores
from bioeval.scores.people import marking

#: The formats by the word of the argument `format`: the content of a file (of `files.content`), the
#: noun of the file, its suffixes, and what it may hold.
FORMATS = {
    "npz": (
        "zip",
        "a .npz file",
        (".npz",),
        "scores, pairs, embeddings or top-K lists, with labels and metadata",
    ),
    "npy": (
        "npy",
        "a .npy file",
        (".npy",),
        "a matrix of scores, memory-mapped; or embeddings. Labels are in CSV files beside it",
    ),
    "mat": (
        "mat",
        "a MATLAB file",
        (".mat",),
        "what a .npz file holds, and the usual layout of re-identification features",
    ),
    "h5": (HDF5, "an HDF5 file", (".h5", ".hdf5"), "what a .npz file holds, in HDF5"),
    "parquet": (
        "a Parquet file",
        "a Parquet file",
        (".parquet",),
        "a list of pairs, or a matrix, as a table of Parquet",
    ),
    "matrix-text": (
        "text",
        "a text of numbers alone, a matrix of scores",
        (),
        "a matrix of numbers alone, or with a metric an embedding a row, of up to 1,000 columns; "
        "labels are given as files",
    ),
    "text": (
        "text",
        "a text with a score on each line (a matrix of scores is .npy or .npz)",
        (".csv",),
        "a list of pairs with a score on each line, with or without the names of its columns",
    ),
}


def is_text(path: Path) -> bool:
    """Whether a file is text, or compressed, and so perhaps a compressed text."""
    kind = content(path)
    return kind == "text" or kind in COMPRESSED


def read(
    path: Any, impostor: Path | None, arguments: Arguments, *, only_embeddings: bool = False
) -> Scores:
    """Read a file, or two of genuine and impostor scores; every error names the file.

    With `only_embeddings` the file must hold embeddings, whose distances are computed as they are
    read.
    """
    if hasattr(path, "iloc"):
        place = Path("DataFrame")
        form = "text"
    else:
        place = existing_file(path)
        form = recognise(place, arguments)
    _, expected, _, _ = FORMATS[form]
    further_files = filter(None, (impostor, *map(arguments.peek, ("labels", "gallery", "trials"))))
    with naming_file(place, *further_files), guarded(place, expected=expected):
        if impostor is not None and form not in ("npy", "text"):
            raise arguments.no_meaning(place, "path", f"two files, of which one is {expected}")
        if hasattr(path, "iloc"):
            scores = read_frame(path, arguments)
        elif form == "text":
            scores = _read_text(place, arguments, impostor)
        elif form == "matrix-text":
            scores = read_numbers(head_of(place), arguments)
        elif form == "npy":
            scores = read_npy(place, arguments, impostor, only_embeddings)
        elif form == "parquet":
            scores = read_parquet(place, arguments)
        else:
            reader = {"npz": open_npz, "mat": open_mat, "h5": open_hdf5}[form]
            arrays = reader(place)
            scores = scores_of(place, arrays, arguments, form == "mat", only_embeddings)
        exclude = arguments.take("exclude", ())
        _ = arguments.take("format")
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
    if (word := arguments.peek("format")) is not None:
        require_choice("format", word, FORMATS)
        return word
    kind = content(path)
    suffix = path.suffix.lower()
    form_of_suffix = next((name for name, (*_, ends, _) in FORMATS.items() if suffix in ends), None)
    if is_text(path):
        if _has_names(path) and "gallery" not in arguments:
            return "text"
        if form_of_suffix in (None, "text"):
            return _kind_of_text(path, arguments)
    elif kind == HDF5 and suffix == ".mat":
        return "mat"  # another program than MATLAB wrote version 7.3
    elif suffix == ".mat" and kind == "an unknown binary file":
        raise fault(
            path,
            "is not a MATLAB file of version 5 to 7.3 (that of save -v4 is not read)",
            "write it with save -v7",
        )
    form = next(
        (name for name, (content_of_form, *_) in FORMATS.items() if content_of_form == kind), None
    )
    if form is not None and form_of_suffix in (None, form) and kind != "text":
        return form
    if form_of_suffix is None:
        endings = [end for *_, ends, _ in FORMATS.values() for end in ends]
        raise fault(path, f"is {content_in_words(kind)}", f"expected {enumerated(endings, 'or')}")
    remedy = "write the file again" if kind == "text" else "name it as what it is"
    expected = FORMATS[form_of_suffix][1]
    problem = f"is named {path.suffix} but holds {content_in_words(kind)}"
    raise fault(path, problem, f"expected {expected}; {remedy}")


def _has_names(path: Path) -> bool:
    with suppress(DataError):  # the text is no such list, or is damaged
        head = with_corner(head_of(path))
        return names_columns(head) or is_wide(head.cells[0], Arguments({}))
    return False


def _kind_of_text(path: Path, arguments: Arguments) -> str:
    labels = arguments.peek("labels")
    gallery = arguments.peek("gallery")
    cells = head_of(path).cells[0]
    if not cells[0] and counts_columns(cells[1:]):
        cells = cells[1:]
    numbers = len(cells) if all(not x or like_number(x) for x in cells) else 0
    if "metric" in arguments and not any(map(like_number, cells)):
        names, *rows = head_of(path).rows  # the first line may name features
        numbers = len(names) if rows and all(map(like_number, rows[0])) else 0
    is_list = (
        any(x in arguments for x in ("columns.scores", "trials", "subject_from"))
        or labels is not None
        and labels.is_file()
        and lists_templates(labels)
    )
    if not is_list and (labels or gallery) and numbers >= (2 if gallery else 3):
        return "matrix-text"
    if gallery:
        raise fault(
            path,
            "is text with other first cells than numbers",
            "`labels` and `gallery` label the rows and columns of a matrix of numbers alone, "
            "without names of rows and columns",
        )
    if description := foreign(head_of(path)):
        raise fault(path, description)
    if not is_list and numbers >= 3:  # fewer numbers are more likely a list
        raise fault(
            path,
            "begins with a line of numbers, as a matrix does",
            "a matrix of scores needs `labels` (in a list of pairs, write the names of the "
            "columns in a first line, such as 'genuine template_a template_b score')",
        )
    return "text"


# ------------------------------------------------------------------------- for commands


def holds_labels(file: str) -> bool:
    """Whether a file may hold scores with their labels, and so be a system, by its suffix."""
    return Path(file).suffix.lower() in (".npz", ".mat", ".h5", ".hdf5")


def role_of_second_file(path: Path, second: Path) -> str:
    """Return the option that a second file of a command is for: labels, impostor or trials."""
    existing_file(path)
    if is_lfw(second):
        return "trials"
    if lists_templates(second):
        return "labels"
    if content(path) == content(second) == "npy":
        return "impostor"
    if is_text(path) and head_of(path).width == head_of(second).width == 1:
        return "impostor"
    return "trials"
