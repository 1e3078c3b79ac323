"""Matrices of scores and masks of the Biometric Evaluation Environment and of OpenBR.

Four lines of text, then the cells row by row: ``S2`` (similarities) or ``D2`` (distances), the
names of the lists of the gallery and of the probes, and ``MF 100 20`` (rows, columns) followed by
the 4 bytes of 0x12345678 in the order of bytes that the cells have. ``MF`` are float32 scores,
``MB`` the bytes of a mask: 255 genuine, 127 impostor, 0 ignored.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.kinds import PlainKind
from bioeval.scores.arrays import Mask
from bioeval.scores.formats.files import existing_file, guarded
from bioeval.scores.formats.format import Format, ReadOptions, say
from bioeval.scores.formats.label_files import side_arguments
from bioeval.scores.formats.npy import matrix_labels
from bioeval.scores.matrix import Scores

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
    """Read a matrix with its mask, or with labels that are given."""
    values, kind, lists = _open(path, b"MF", "a matrix of scores (.mtx)")
    if options.kind not in (None, kind):
        raise DataError(
            f"{path}: declares {kind} scores in its first line; {say('kind', options.kind)} "
            "contradicts it"
        )
    mask = None
    if options.mask is not None:
        with guarded(options.mask, expected="a mask (.mask)"):
            mask = _mask(options.mask, values.shape)
    probe = gallery = None
    if options.labels or options.gallery_labels:
        probe, gallery = matrix_labels(path, options, *values.shape)
    elif mask is None:
        raise DataError(
            f"{path}: has no labels; give {say('mask')}, a file that marks genuine cells, or "
            f"{say('labels')} and {say('gallery_labels')}, CSV files of the templates of the lists "
            f"{' and '.join(map(repr, lists))}"
        )
    return Scores(
        values,
        **side_arguments(probe, gallery),
        mask=mask,
        kind=kind,
        nan=options.nan or "raise",
        name=path.stem,
    )


def _mask(path: Path, shape: tuple[int, ...]) -> np.ndarray:
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


FORMAT = Format(
    name="`.mtx`",
    suffixes=(".mtx",),
    holds="a matrix of scores of the Biometric Evaluation Environment (OpenBR), with its `.mask`",
    expected="a .mtx matrix",
    recognise=lambda file: file.content not in ("npy", "zip", "mat") and is_bee(file.path),
    read=_read,
    options=("mask", "labels", "gallery_labels", "names_of", "meta", "kind", "nan"),
)
