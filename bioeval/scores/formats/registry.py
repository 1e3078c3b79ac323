"""The registry of formats: every file that is read into scores, and those that are written.

A new format is one file beside this one that defines a ``FORMAT``, and its place in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import (
    DataError,
    nearest_name,
    printable,
    require_choice,
)
from bioeval.scores.formats import (
    bee,
    hdf5,
    mat,
    npy,
    npz,
    pair_lists,
    parquet,
    top_k_text,
    wide_tables,
)
from bioeval.scores.formats.bee import is_bee
from bioeval.scores.formats.files import (
    content,
    existing_file,
    guarded,
)
from bioeval.scores.formats.format import FileFacts, Format, ReadOptions, say
from bioeval.scores.formats.label_files import matrix_advice
from bioeval.scores.formats.text_table import shape_of
from bioeval.scores.formats.trials import lists_lfw_pairs, lists_templates
from bioeval.scores.matrix import Scores

#: Every format, in the order in which they are tried: where several recognise a file, the first one
#: reads it. Lists of pairs recognise nearly every table, and come last.
FORMATS: tuple[Format, ...] = (
    npz.FORMAT,
    npy.FORMAT,
    mat.FORMAT,
    hdf5.FORMAT,
    parquet.FORMAT,
    bee.FORMAT,
    wide_tables.FORMAT,
    top_k_text.FORMAT,
    pair_lists.FORMAT,
)


def read(path: Any, options: ReadOptions) -> Scores:
    """Read a file by the format that its content shows; every error names the file."""
    place = existing_file(path)
    options = _by_content(options)
    if options.format is not None:
        by_word = {form.word: form for form in FORMATS}
        require_choice("format", options.format, by_word)
        form = by_word[options.format]
    else:
        form = recognise(place, options)
    if options.trials is not None and "trials" not in form.options and "pairs" in form.options:
        options = replace(options, trials=None, pairs=options.trials)  # the trials of arrays
    if options.pairs is not None and "pairs" in options.columns:
        raise DataError(f"{say('columns.pairs')} and {say('trials')} are both given; expected one")
    try:
        options.allow(form.expected, form.options)
        with guarded(place, expected=form.expected):
            scores = form.read(place, options)
        reading = (*scores._reading, *dict.fromkeys(options.chosen_columns))
        scores = scores._with(_reading=reading)
        if options.only_embeddings and not scores._streams:
            raise DataError(f"{place}: holds no embeddings")
        if options.exclude:
            return scores.excluding(*options.exclude)
        return scores
    except DataError as error:
        if printable(str(place)) in str(error):
            raise
        raise error.preceded_by(f"{place}: ") from error.__cause__


def _by_content(options: ReadOptions) -> ReadOptions:
    """Return options that know what the trials and the file of the gallery are."""
    gallery, trials = options.gallery_labels, options.trials
    if gallery is not None and gallery.is_file() and content(gallery) == "npy":
        with guarded(gallery, expected="a .npy file"):
            is_matrix = np.load(gallery, mmap_mode="r", allow_pickle=False).ndim > 1
        if is_matrix:
            options = replace(options, gallery_labels=None, gallery_embeddings=gallery)
    if trials is not None and lists_lfw_pairs(trials):
        return replace(options, trials=None, pairs=trials)
    return options


def read_suffixes() -> tuple[str, ...]:
    """Return how the names of the files end that formats read."""
    return tuple(dict.fromkeys(chain.from_iterable(form.suffixes for form in FORMATS)))


def recognise(path: Path, options: ReadOptions) -> Format:
    """Return the format of a file by its content, when its name does not contradict.

    Of texts, a first line that names the format decides, whatever the suffix.
    """
    file = FileFacts(path, content(path), options)
    if file.is_text:
        with suppress(DataError):  # of a text that is no such list, or is damaged
            if pair_lists.begins_with_names(file):
                return pair_lists.FORMAT
    promised = [form for form in FORMATS if file.suffix in form.suffixes]
    for form in promised or FORMATS:
        if form.recognise(file):
            return form
    problem = f"{path}: is {file.looks}; expected {listing(list(read_suffixes()))}"
    if promised:
        expected = promised[0].expected
        problem = f"{path}: is named {path.suffix} but holds {file.looks}; expected {expected}"
        remedy = "write the file again" if file.content == "text" else "name it as what it is"
        problem += f"; {remedy}"
    elif file.content == "text":
        for form in FORMATS:
            problem += f"; {form.needs}" if form.needs else ""
        if advice := matrix_advice(path):
            problem += f". It {advice}"
    raise DataError(problem)


#: Suffixes of files whose arrays have names: they hold scores with their labels.
NAMED_ARRAYS = (".npz", ".mat", ".h5", ".hdf5")


def holds_labels(file: str) -> bool:
    """Whether a file may hold scores with their labels, so that it is a system by itself."""
    return Path(file).suffix.lower() in NAMED_ARRAYS


def role_of_second_file(path: Path, second: Path) -> str:
    """Return the option of a second file: a mask, labels, impostor scores, or trials."""
    if is_bee(existing_file(path)):
        return "mask"
    if lists_lfw_pairs(second):
        return "trials"
    if lists_templates(second):
        return "labels"
    if content(path) == content(second) == "npy":
        return "impostor"
    if not FileFacts(path, content(path), ReadOptions()).is_text:
        return "trials"
    if shape_of(path).columns == shape_of(second).columns == 1:
        return "impostor"
    return "trials"


def written_formats() -> list[Format]:
    """Return the formats that can be written."""
    return [form for form in FORMATS if form.written]


def format_to_write(path: Path) -> Format:
    """Return the format that the suffix of a file to write names."""
    for form in written_formats():
        if path.suffix and path.name.endswith(form.written_as or form.suffixes):
            return form
    suffixes = list(
        dict.fromkeys(
            suffix
            for form in written_formats()
            for suffix in (form.suffixes[0], *form.written_as)
            if suffix.count(".") == 1
        )
    )
    raise DataError(
        f"{path}: has the suffix {path.suffix!r}; expected one of {', '.join(suffixes)}."
        f"{nearest_name(path.suffix, suffixes)}"
    )


def listing(words: Sequence[str]) -> str:
    """Join words as ``".npz, .npy or .csv"``."""
    return f"{', '.join(words[:-1])} or {words[-1]}"
