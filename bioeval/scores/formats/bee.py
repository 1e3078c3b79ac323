"""Matrices of scores and masks of the Biometric Evaluation Environment and of OpenBR.

Four lines of text, then the cells row by row: ``S2`` (similarities) or ``D2`` (distances), the
names of the lists of the gallery and of the probes, and ``MF 100 20`` (rows, columns) followed by
the 4 bytes of 0x12345678 in the order of bytes that the cells have. ``MF`` are float32 scores,
``MB`` the bytes of a mask: 255 genuine, 127 impostor, 0 ignored.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from bioeval.base.errors import (
    Argument,
    DataError,
    Part,
    Words,
)
from bioeval.base.kinds import PlainKind
from bioeval.scores.arrays import Mask
from bioeval.scores.formats.files import existing_file, guarded, replacing_all
from bioeval.scores.formats.format import Format, ReadOptions, say
from bioeval.scores.formats.label_files import side_arguments
from bioeval.scores.formats.npy import matrix_labels
from bioeval.scores.matrix import Scores
from bioeval.scores.pairs import PairScores
from bioeval.scores.top_k import TopKScores

_KINDS: dict[bytes, PlainKind] = {b"S2": "similarity", b"D2": "distance"}
_CELLS = {b"MF": "f4", b"MB": "u1"}
_MAGIC = {b"\x78\x56\x34\x12": "<", b"\x12\x34\x56\x78": ">"}
_MASK = {255: Mask.GENUINE, 127: Mask.IMPOSTOR, 0: Mask.IGNORE}
_HEAD = 1 << 13
_LAYOUT = re.compile(
    rb"(S2|D2)\r?\n([^\n]*)\n([^\n]*)\n(MF|MB) +(\d{1,12}) +(\d{1,12}) (.{4})", re.S
)


def is_bee(path: Path) -> bool:
    """Whether a file begins like a matrix of this format."""
    return _LAYOUT.match(_head(path)) is not None


def _head(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(_HEAD)


def _open(path: Path, cells: bytes, input_name: str) -> tuple[np.ndarray, PlainKind, list[str]]:
    """Memory-map the cells of a file; return them, and the kind and the lists that it names."""
    existing_file(path, input_name)
    head = _head(path)
    fields = _LAYOUT.match(head)
    if fields is None or fields[7] not in _MAGIC:
        raise DataError(
            f"{path}: expected {input_name}; such a file begins with S2 or D2, two names and MF or "
            "MB"
        )
    if fields[4] != cells:
        raise DataError(f"{path}: holds {fields[4].decode()} cells; expected {input_name}")
    rows, columns = int(fields[5]), int(fields[6])
    dtype = np.dtype(_MAGIC[fields[7]] + _CELLS[cells])
    needed = fields.end() + rows * columns * dtype.itemsize
    size = path.stat().st_size
    # Some programs end the line after the four bytes.
    start = fields.end() + (size == needed + 1 and head[fields.end() : fields.end() + 1] == b"\n")
    if not rows * columns or size != needed + start - fields.end():
        raise DataError(
            f"{path}: has {size:,} bytes; expected {needed:,}, of {rows:,} x {columns:,} cells; "
            "write the file again"
        )
    values = np.memmap(path, dtype, mode="r", offset=start, shape=(rows, columns))
    gallery, probes = fields[2].decode("utf-8", "replace"), fields[3].decode("utf-8", "replace")
    return values, _KINDS[fields[1]], [gallery, probes]


def _read(path: Path, options: ReadOptions) -> Scores:
    """Read a matrix with its mask, or with labels that are given or in files that it names."""
    values, kind, lists = _open(path, b"MF", "a matrix of scores (.mtx)")
    if options.kind not in (None, kind):
        raise DataError(
            f"{path}: declares {kind} scores in its first line; ",
            say("kind", options.kind),
            " contradicts it",
        )
    mask = None
    if options.mask is not None:
        with guarded(options.mask, expected="a mask (.mask)"):
            mask = _mask(options.mask, values.shape)
    if mask is None and not _labels(options):
        both, rows, columns = _sigsets(path, lists)
        if not (both or rows):
            raise DataError(
                f"{path}: has no labels; give ",
                say("mask"),
                ", a file that marks genuine cells, or ",
                say("labels"),
                " and ",
                say("gallery_labels"),
                f", such as the sigset files {' and '.join(map(repr, lists))} named in its first "
                "lines",
            )
        options = replace(options, labels=both or rows, gallery_labels=columns)
    probe = gallery = None
    if _labels(options):
        probe, gallery = matrix_labels(path, options, {}, *values.shape)
    scores = Scores(
        values,
        **side_arguments(probe, gallery),
        mask=mask,
        kind=kind,
        nan=options.nan or "raise",
        name=path.stem,
    )
    files = {}
    for side in (probe, gallery):
        if side is not None and side.path.suffix == ".xml":
            files[side.path.name] = side
    if files:
        noun = "sigsets" if len(files) > 1 else "sigset"
        return scores._with(_reading=(f"subjects from the {noun} {' and '.join(files)}",))
    return scores


def _labels(options: ReadOptions) -> bool:
    return bool(options.labels or options.gallery_labels)


def _sigsets(path: Path, lists: list[str]) -> tuple[Path | None, ...]:
    """Return the files beside a matrix that it names: of both sides, of probes, of the gallery."""
    siblings = []
    for name in lists:
        name = name.strip().replace("\\", "/").rpartition("/")[2]
        if not (name.isprintable() and name.lower().endswith(".xml")):
            return None, None, None
        siblings.append(path.with_name(name))
    gallery, probe = siblings
    if not (probe.is_file() and gallery.is_file()):
        return None, None, None
    if probe == gallery:
        return (probe, None, None)
    return (None, probe, gallery)


def _mask(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """Read a mask, and check its shape and values."""
    cells, *_ = _open(path, b"MB", "a mask (.mask)")
    if cells.shape != shape:
        raise DataError(f"{path}: is {cells.shape}, and the matrix {shape}; expected the same")
    table = np.full(256, 3, dtype=np.uint8)
    for byte, meaning in _MASK.items():
        table[byte] = meaning
    mask = table[cells]
    wrong = np.argwhere(mask == 3)
    if len(wrong):
        row, column = wrong[0]
        raise DataError(
            f"{path}: {len(wrong):,} cells are none of 255 genuine, 127 impostor, 0 ignored; the "
            f"first: row {row}, column {column} is {cells[row, column]}"
        )
    return mask


def _write(scores: Scores, path: Path) -> None:
    """Write the matrix as float32, and beside it the mask of genuine cells."""
    scores._require_matrix()
    if isinstance(scores, PairScores | TopKScores) or scores.kind not in _KINDS.values():
        raise DataError(
            f"{path}: a BEE matrix holds distances or similarities of probes and gallery"
        )
    first = b"D2" if scores.kind == "distance" else b"S2"
    shape = "{} {} ".format(*scores.shape).encode()
    lists = b"gallery\nprobes\n"
    with (
        replacing_all(path, _mask_of(path)) as (part, mask_part),
        open(part, "wb") as matrix,
        open(mask_part, "wb") as mask,
    ):
        for file, cells in ((matrix, b"MF "), (mask, b"MB ")):
            file.write(first + b"\n" + lists + cells + shape + b"\x78\x56\x34\x12")
        for row in range(scores.shape[0]):
            matrix.write(scores._read_rows(row, row + 1).astype("<f4").tobytes())
            mask.write(_mask_row(scores, row).tobytes())


def _mask_row(scores: Scores, row: int) -> np.ndarray:
    """Return the bytes of the mask for a row: compared cells, and genuine ones."""
    mask = scores._read_mask(row, row + 1)[0] if scores._has_mask else None
    if scores._labelled or mask is None:
        genuine = scores._codes.gallery == scores._codes.probe[row]
    else:
        genuine = mask == Mask.GENUINE
    kept = scores.gallery_ids != scores.probe_ids[row]
    left_out = scores._left_out(row, row + 1)
    if left_out is not None:
        kept &= ~left_out[0]
    return np.where(kept, np.where(genuine, 255, 127), 0).astype(np.uint8)


def _mask_of(path: Path) -> Path:
    return path.with_suffix(".mask")


def _losses(scores: Scores) -> list[Part]:
    lost: list[Part] = ["labels and metadata are left out: only the mask marks genuine cells"]
    if scores.dtype != np.float32:
        lost.append(f"{scores.dtype} scores are rounded to float32")
    if scores.nan != "raise":
        lost.append(
            Words(
                "what a failed comparison means is not said: read it with ",
                Argument("nan", scores.nan),
            )
        )
    return lost


FORMAT = Format(
    name="`.mtx`",
    suffixes=(".mtx",),
    holds="a matrix of scores of the Biometric Evaluation Environment (OpenBR), with its `.mask`",
    looks="a BEE matrix",
    expected="a .mtx matrix",
    recognise=lambda file: file.content not in ("npy", "zip", "mat") and is_bee(file.path),
    read=_read,
    options=("mask", "labels", "gallery_labels", "names_of", "meta", "kind", "nan"),
    written="the matrix, with its mask beside it",
    write=_write,
    losses=_losses,
    files=lambda path: [path, _mask_of(path)],
)
