"""Writing scores: .npz, and lists of pairs as text or Parquet.

`WRITTEN`, at the end, has the function that writes each format. A .npz file has all of the scores,
as `_arrays` yields them; a list has the attempts of verification alone, in `_blocks_of_lines`, and
`losses` says what is lost.
"""

from __future__ import annotations

import csv
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format

from bioeval.base.arguments import require_path
from bioeval.base.errors import BioevalError, DataError, nearest_name
from bioeval.base.files import as_cell, replacing, text_to_write
from bioeval.scores.attempts import compared_cells
from bioeval.scores.formats.array_file import RESERVED, SCHEMA
from bioeval.scores.formats.texts import optional
from bioeval.scores.keys import declared_names
from bioeval.scores.labels import (
    IDS_OF_NO_PERSON,
    NO_PERSON,
    are_of_no_person,
    as_objects,
    missing_values,
)
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores, require_all_scores

# Bytes of an array that are written together.
_BLOCK_BYTES = 1 << 25
# Lines of a list that are written together.
_LINES_AT_ONCE = 1 << 17


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
        WRITTEN[ending_of(place)][1](scores, place)
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
    holds_arrays = ending_of(Path(path)) == ".npz"
    if scores.origin and scores.layout != "pairs":
        lost.append(f"the embeddings are not kept, only their distances ({scores.origin})")
    stated = scores.distractor_ids is not None or scores.junk_ids
    if stated and not holds_arrays:
        ids = [*map(str, (*scores.junk_ids, *(scores.distractor_ids or ())))]
        lost.append(f"labels of distractors and junk ({', '.join(ids) or 'none'}) become unknown")
    if scores.claims:
        lost.append(
            f"that a score is of a claim is not said, nor which lack tries ({scores.claims})"
        )
    if holds_arrays:
        return lost
    changed = dict.fromkeys(
        noun
        for noun, values in _texts(scores).values()
        if values.dtype.kind != "U" and {*map(type, values.tolist())} - {str}
    )
    lost += [f"{noun} become text" for noun in changed]
    if scores.layout != "pairs":
        lost.append("the matrix becomes a list of pairs, for verification alone")
    if names := sorted({*scores.probe_meta, *scores.gallery_meta}):
        statement = "columns {} are" if len(names) > 1 else "column {} is"
        lost.append(f"the metadata {statement.format(', '.join(names))} left out")
    if scores.kind == "order":
        lost.append('a list of pairs does not record the kind order: read it with `kind="order"`')
    if scores.nan != "raise":
        lost.append(
            "what a failed comparison means is not said in a list: read it with "
            f'`nan="{scores.nan}"`'
        )
    return lost


def ending_of(path: Path) -> str:
    """Return the ending of the name of a file to write, which chooses its format."""
    for ending in WRITTEN if path.suffix else ():
        if path.name.endswith(ending):
            return ending
    known = [ending for ending in WRITTEN if ending.count(".") == 1]
    raise DataError(
        f"{path}: has the suffix {path.suffix!r}; expected one of {', '.join(known)}."
        f"{nearest_name(path.suffix, known)}"
    )


# ------------------------------------------------------------------------- .npz


def _write_npz(scores: Scores, path: Path) -> None:
    """Write the arrays in blocks of rows, of which a matrix need not be in memory as a whole."""
    with replacing(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
        for name, values in _arrays(scores, path):
            if isinstance(values, tuple):
                shape, dtype, read_rows = values
            else:
                array = np.asarray(values)
                shape, dtype = array.shape, array.dtype
                read_rows = partial(_rows, np.atleast_1d(array))
            # A fixed date, so that equal scores give equal files.
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            header = {
                "descr": npy_format.dtype_to_descr(np.dtype(dtype)),
                "fortran_order": False,
                "shape": tuple(map(int, shape)),
            }
            row_count = shape[0] if shape else 1
            row_bytes = prod(shape[1:]) * dtype.itemsize
            step = max(1, _BLOCK_BYTES // max(1, row_bytes))
            with archive.open(member, "w", force_zip64=True) as file:
                npy_format.write_array_header_1_0(file, header)
                for low in range(0, row_count, step):
                    block = read_rows(low, min(row_count, low + step))
                    file.write(np.ascontiguousarray(block, dtype=dtype).tobytes())


def _rows(array: np.ndarray, low: int, high: int) -> np.ndarray:
    return array[low:high]


def _arrays(scores: Scores, path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the arrays of bioeval's own layout; of a matrix its shape, dtype and reader of rows."""
    yield "schema", np.int64(SCHEMA)
    yield "kind", np.array(scores.kind)
    if scores.nan != "raise":
        yield "nan", np.array(scores.nan)
    if scores.exclude:
        yield "exclude", np.array(scores.exclude)
    for name in IDS_OF_NO_PERSON:
        ids = getattr(scores, name)
        if ids or name == "distractor_ids" and ids is not None:
            dtype = np.int64 if all(isinstance(x, int) for x in ids) else np.str_
            yield name, np.array(ids, dtype=dtype)
    is_list = scores.layout == "pairs"
    is_top_k = scores.layout == "top-k"
    is_square = not is_list and not is_top_k and _is_square(scores)
    if is_list:
        yield "genuine", scores.genuine
        if scores.pair_subjects is not None:
            yield "subjects", _storable(scores.pair_subjects, "subjects", path)
        if (listed := scores.pairs.templates) is not None:
            yield "template_names", _storable(listed.values, "names of templates", path)
            yield "templates", np.column_stack([listed.gallery, listed.probe])
        if scores.pair_folds is not None:
            yield "fold", _storable(scores.pair_folds, "fold", path)
    elif scores.are_labelled:
        yield "probe_labels", _storable(scores.probe_labels, "probe_labels", path)
        if not is_square:
            yield "gallery_labels", _storable(scores.gallery_labels, "gallery_labels", path)
    sides = ("probe",) if is_square else ("probe", "gallery")
    for side in sides:
        meta = getattr(scores, f"{side}_meta")
        for column, values in meta.items():
            if (name := f"{side}_{column}") in RESERVED:
                raise DataError(
                    f"the metadata {column!r} cannot be saved as {name}: the layout reserves this "
                    "name; rename it"
                )
            yield name, _storable(values, column if is_list else name, path)
        names = None if is_list else getattr(scores, f"{side}_names")
        if names is not None and declared_names(meta) is None:  # names from an index
            name = f"{side}_template"
            yield name, _storable(names.to_numpy(), name, path)
    if is_list:
        yield "scores", scores.values
        return
    # Identities are saved if templates are on both sides, and for a mask without labels and as many
    # rows as columns, which would otherwise be read as one set of templates.
    row_count, column_count = scores.shape
    shared = np.isin(scores.probe_ids, scores.gallery_ids).any()
    if not is_square and (shared or not scores.are_labelled and row_count == column_count):
        yield "probe_ids", scores.probe_ids
        yield "gallery_ids", scores.gallery_ids
    if is_top_k:
        if scores.distances is not None:
            yield "distances", scores.distances
        yield "indices", scores.indices
        return
    if scores.mask is not None:
        yield "mask", (scores.shape, np.dtype(np.uint8), scores.cells.read_mask)
    yield "scores", (scores.shape, scores.dtype, scores.cells.read)


def _is_square(scores: Scores) -> bool:
    """Whether rows and columns of a matrix are the same templates with the same metadata."""
    if not np.array_equal(scores.probe_ids, scores.gallery_ids):
        return False
    rows, columns = scores.probe_meta, scores.gallery_meta
    if rows.keys() != columns.keys():
        return False
    for name, column in rows.items():
        gallery_column = columns[name]
        may_be_nan = column.dtype.kind in "fM" and gallery_column.dtype.kind in "fM"
        if not np.array_equal(column, gallery_column, equal_nan=may_be_nan):
            return False
    return True


def _storable(array: Any, input_name: str, path: Path) -> np.ndarray:
    """Return an equal array without Python objects, which needs no pickle; else raise."""
    array = np.asarray(array)
    if not array.dtype.hasobject:
        return array
    kinds = {*map(type, array.reshape(-1).tolist())}
    if type(None) in kinds and kinds <= {type(None), int, float}:  # None is an unknown number
        values = array.astype(np.float64)
        is_known = ~np.isnan(values)
        if values[is_known].tolist() == array[is_known].tolist():
            return values
    if len(kinds) == 1:
        plain = np.array(array.tolist())
        fits = not plain.dtype.hasobject and plain.shape == array.shape
        if fits and plain.tolist() == array.tolist():
            return plain
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise DataError(
        f"{path}: {input_name} holds Python objects ({names}) that only a pickle would keep; use "
        "text alone or numbers alone"
    )


# ------------------------------------------------------------------------- lists of pairs


def _blocks_of_lines(scores: Scores) -> Iterator[dict[str, list[Any]]]:
    """Yield the attempts of single-template verification in blocks of lines, as columns."""
    score = scores.kind if scores.kind != "order" else "score"
    texts = {name: _words(values) for name, (_, values) in _texts(scores).items()}
    if scores.layout == "pairs":
        columns = {score: scores.values, "genuine": scores.genuine.astype(int)}
        for name, words in texts.items():
            if name == "template" and (listed := scores.pairs.templates) is not None:
                columns |= {"template_a": words[listed.gallery], "template_b": words[listed.probe]}
            else:
                columns[name] = words
        for low in range(0, len(scores.values), _LINES_AT_ONCE):
            rows = slice(low, low + _LINES_AT_ONCE)
            yield {name: column[rows].tolist() for name, column in columns.items()}
        return
    codes = scores.codes
    probe_count, gallery_count = scores.shape
    step = max(1, _LINES_AT_ONCE // gallery_count)
    for low in range(0, probe_count, step):
        high = min(probe_count, low + step)
        row, column = np.nonzero(compared_cells(scores, low, high))  # rows of the block
        genuine = codes.gallery[column] == codes.probe[low + row]
        if not scores.are_labelled and scores.has_mask:
            genuine = scores.cells.read_mask(low, high)[row, column] == Mask.GENUINE
        values = scores.cells.read(low, high)[row, column]
        block = {score: values, "genuine": genuine.astype(int)}
        if scores.are_labelled:
            block["subject_a"] = texts["gallery label"][column]
            block["subject_b"] = texts["probe label"][low + row]
        yield {name: cells.tolist() for name, cells in block.items()}


def _subjects(scores: Scores) -> list[np.ndarray]:
    """Return the subjects of both sides, with one word for all templates of no person."""
    codes = scores.codes
    if scores.layout == "pairs" and scores.pair_subjects is not None:
        sides = [*scores.pair_subjects.T]
    else:
        sides = [scores.gallery_labels, scores.probe_labels]
    subjects = []
    for labels, side in zip(sides, (codes.gallery, codes.probe), strict=True):
        is_person = ~codes.no_person[side]
        are_words = are_of_no_person(labels, NO_PERSON) & is_person
        if are_words.any():
            raise DataError(
                f"{str(labels[are_words][0])!r} is a person here (`distractor_ids`), and is no "
                "person where a list is read; save to a .npz file"
            )
        if not is_person.all():
            labels = as_objects(labels.tolist())
            labels[~is_person] = "unknown"
        subjects.append(labels)
    return subjects


def _words(values: np.ndarray) -> np.ndarray:
    """Return values as text, empty where one is missing."""
    words = np.array([*map(str, values.tolist())], dtype=object)
    words[missing_values(values)] = ""
    return words


def _write_text(scores: Scores, path: Path) -> None:
    require_all_scores(scores)
    with replacing(path) as part:
        for name, (_, values) in _texts(scores).items():
            for row, text in enumerate(map(str, np.asarray(values).tolist())):
                if not text or text != text.strip() or "\x00" in text or "\r" in text:
                    raise DataError(
                        f"{path}: {name} {row} is {text!r}; CSV would change this text; save to a "
                        ".npz file"
                    )
        with text_to_write(part, path) as file:
            delimiter = "," if ".csv" in path.suffixes[-2:] else "\t"
            writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
            for number, block in enumerate(_blocks_of_lines(scores)):
                if number == 0:
                    writer.writerow(block)  # the names of the columns
                columns = (
                    [as_cell(x) if isinstance(x, str) else x for x in column]
                    for column in block.values()
                )
                writer.writerows(zip(*columns, strict=True))


def _texts(scores: Scores) -> dict[str, tuple[str, np.ndarray]]:
    """Return the texts of a list by their column or side, each with its noun for messages."""
    texts = dict[str, tuple[str, np.ndarray]]()
    if scores.layout != "pairs":
        if scores.are_labelled:
            gallery, probes = _subjects(scores)
            texts |= {"probe label": ("labels", probes), "gallery label": ("labels", gallery)}
        return texts
    if scores.pair_subjects is not None:
        for side, subjects in zip("ab", _subjects(scores), strict=True):
            texts[f"subject_{side}"] = "labels", subjects
    if scores.pairs.templates is not None:
        texts["template"] = "names of templates", scores.pairs.templates.values
    if scores.pair_folds is not None:
        texts["fold"] = "folds", scores.pair_folds
    return texts


def _write_parquet(scores: Scores, path: Path) -> None:
    require_all_scores(scores)
    optional("pyarrow.parquet", path, "a Parquet file")
    arrow = optional("pyarrow", path, "a Parquet file")
    writer = arrow.parquet.ParquetWriter
    blocks = map(arrow.table, _blocks_of_lines(scores))
    first = next(blocks)
    with replacing(path) as part, writer(str(part), first.schema, write_page_checksum=True) as out:
        for table in chain([first], blocks):
            out.write_table(table)


_LIST = "a list of pairs"
#: What is written, in words, by the ending of the name of a file, and the function that writes it.
WRITTEN: Mapping[str, tuple[str, Callable[[Scores, Path], None]]] = {
    ".npz": ("everything in one file", _write_npz),
    ".parquet": (_LIST, _write_parquet),
    ".csv": (f"{_LIST}, also as .tsv, .txt or .csv.gz", _write_text),
} | {x: (_LIST, _write_text) for x in (".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")}
