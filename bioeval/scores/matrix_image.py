"""A score matrix reduced to a picture, sorted by subject."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import BioevalError
from bioeval.base.kinds import larger_is_closer
from bioeval.base.panels import safe
from bioeval.scores.arrays import Mask
from bioeval.scores.labelled_matrix import LabelledMatrix

# Values read at a time.
BLOCK_VALUES = 1 << 19

# No comparison (the diagonal of all-against-all, masked cells), only NaN, infinite scores.
EXCLUDED, FAILED, INFINITE = 1, 2, 3


@dataclass(frozen=True)
class MatrixImage:
    """A score matrix, reduced to pixels: probes are rows, both sides are sorted by subject.

    `image` is the mean of the finite scores under each pixel, NaN where there is none; `state`
    (uint8) is EXCLUDED, FAILED or INFINITE for these, else 0. `rows` and `columns` are the
    template at each place, with its label; the edges, in templates, are where pixels begin and end.
    """

    image: np.ndarray
    state: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    row_edges: np.ndarray
    column_edges: np.ndarray
    row_labels: np.ndarray
    column_labels: np.ndarray
    kind: str
    name: str | None
    layout: str
    subjects: int | None


def reduced_matrix(scores: LabelledMatrix, pixels: int) -> MatrixImage:
    """Reduce a matrix to at most `pixels` a side, reading it once in blocks of rows."""
    rows, columns = _order(scores)
    row_edges, column_edges = _edges(len(rows), pixels), _edges(len(columns), pixels)
    image, state = _reduce(scores, rows, columns, row_edges, column_edges)
    scores._verify()
    return MatrixImage(
        image=image,
        state=state,
        rows=rows,
        columns=columns,
        row_edges=row_edges,
        column_edges=column_edges,
        row_labels=scores.probe_labels[rows],
        column_labels=scores.gallery_labels[columns],
        kind=scores.kind,
        name=scores.name,
        layout=scores.layout,
        subjects=len(scores.subjects) if scores._labelled else None,
    )


def _order(scores: LabelledMatrix) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns sorted by subject, the subjects that are not enrolled last."""
    probe, gallery = scores._codes.probe, scores._codes.gallery
    columns = np.argsort(gallery, kind="stable")
    if probe is gallery:
        return columns, columns
    absent = ~np.isin(probe, gallery)
    return np.lexsort((np.arange(len(probe)), probe, absent)), columns


def _edges(length: int, pixels: int) -> np.ndarray:
    number = min(length, require_integer("pixels", pixels, low=1))
    return np.floor(np.linspace(0, length, number + 1)).astype(np.int64)


def _reduce(
    scores: LabelledMatrix,
    rows: np.ndarray,
    columns: np.ndarray,
    row_edges: np.ndarray,
    column_edges: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of the finite scores under each pixel, and the state of other pixels."""
    shape = (len(row_edges) - 1, len(column_edges) - 1)
    total, finite, failed, infinite = np.zeros((4, *shape))
    place = np.empty(len(rows), dtype=np.int64)
    place[rows] = np.arange(len(rows))
    pixel = np.searchsorted(row_edges, place, side="right") - 1
    starts = column_edges[:-1]
    step = max(1, BLOCK_VALUES // len(columns))
    step = max(scores._row_chunk, step // scores._row_chunk * scores._row_chunk)
    for low in range(0, len(rows), step):
        high = min(low + step, len(rows))
        values = scores._read_rows(low, high, columns).astype(np.float64)
        compared = scores.probe_ids[low:high, None] != scores.gallery_ids[columns]
        if scores.mask is not None:
            compared &= scores._read_mask(low, high, columns) != Mask.IGNORE
        at = pixel[low:high]
        good = compared & np.isfinite(values)
        for out, input_name in (
            (total, np.where(good, values, 0.0)),
            (finite, good),
            (failed, compared & np.isnan(values)),
            (infinite, compared & np.isinf(values)),
        ):
            np.add.at(out, at, np.add.reduceat(input_name.astype(np.float64), starts, axis=1))
    with np.errstate(invalid="ignore"):
        image = total / np.where(finite > 0, finite, np.nan)
    image = np.clip(image, -1e300, 1e300)  # the range of a picture is a number, too
    state = np.where(infinite > 0, INFINITE, np.where(failed > 0, FAILED, EXCLUDED))
    return image, np.where(finite > 0, 0, state).astype(np.uint8)


# ---------------------------------------------------------------- in a notebook

#: Scores that a picture in a notebook is made of, at most, and its pixels a side.
MOST_SCORES, SIDE = 1 << 18, 96

# From near to far, as the colours of the plot; then not compared (transparent), NaN, infinite.
_COLOURS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
_STEPS = 253
_STATE_COLOURS = {EXCLUDED: (0, 0, 0), FAILED: (213, 94, 0), INFINITE: (128, 128, 128)}
_STATE_WORDS = {EXCLUDED: "Blank: not compared", FAILED: "Orange: NaN", INFINITE: "Grey: infinite"}

# What reading scores may raise; a notebook shows the rest of the panel nevertheless.
_UNREADABLE = (
    *(BioevalError, ArithmeticError, AttributeError, LookupError, MemoryError, OSError),
    *(RuntimeError, TypeError, ValueError),
)


def preview(scores: LabelledMatrix) -> str:
    """Return a small picture of a matrix with a caption, as HTML; or in words why there is none."""
    try:
        sample, statement = _sample(scores)
        if sample is None:
            return _caption(f"No picture: {statement}.")
        reduced = reduced_matrix(sample, SIDE)
    except _UNREADABLE as error:
        return _caption(f"No picture: {error}.")
    m, n = reduced.image.shape
    there = [words for state, words in _STATE_WORDS.items() if (reduced.state == state).any()]
    text = ". ".join([f"{statement}, sorted by subject. Dark: near", *there])
    data = base64.b64encode(_png(reduced)).decode()
    wide = 12 * min(1, n / m)
    return (
        f'<img alt="{safe(f"Scores of probes (rows) and gallery templates (columns). {text}.")}" '
        f'style="display:block;width:{wide:.2g}em;max-width:100%;height:auto;'
        "image-rendering:pixelated;"
        'border:1px solid rgba(128,128,128,0.5);margin:0.5em 0 0.2em" '
        f'src="data:image/png;base64,{data}">{_caption(f"{text}.")}'
    )


def _caption(text: str) -> str:
    style = "opacity:0.75;font-size:90%;max-width:30em;white-space:normal"
    return f'<div style="{style}">{safe(text)}</div>'


def _sample(scores: LabelledMatrix) -> tuple[LabelledMatrix | None, str]:
    """Return scores to draw (of some subjects, if large) with a description, or None and why."""
    m, n = scores.shape
    base = scores._base
    if scores._streams and callable(base.metric):
        return None, "the metric is a function"
    if m * n <= MOST_SCORES and not scores._streams:
        # A picture does not wait for the checksum of a file.
        return scores._with(_verification=None), "All scores"
    if not scores._streams and not isinstance(base, np.ndarray):
        return None, "the matrix is large and read by rows; be.plot.matrix draws it"
    if scores._streams and scores._has_mask:
        return None, "the rows are computed, with a mask; be.plot.matrix draws them"
    enrolled = np.unique(scores._codes.gallery)
    number = max(1, min(len(enrolled), SIDE * len(enrolled) // max(m, n)))
    chosen = enrolled[np.linspace(0, len(enrolled) - 1, number).astype(np.int64)]
    rows = _thinned(np.flatnonzero(np.isin(scores._codes.probe, chosen)))
    columns = _thinned(np.flatnonzero(np.isin(scores._codes.gallery, chosen)))
    if not len(rows):
        rows = _thinned(np.arange(m))
    view = scores.select(rows, columns)._reading_selected_columns()._with(_verification=None)
    size, subjects = f"{len(rows):,} x {len(columns):,}", f"{number:,} of {len(enrolled):,}"
    return view, f"A sample: {size} templates of {subjects} enrolled subjects, evenly taken"


def _thinned(places: np.ndarray) -> np.ndarray:
    """Return at most `SIDE` places, evenly taken."""
    if len(places) <= SIDE:
        return places
    return places[np.linspace(0, len(places) - 1, SIDE).astype(np.int64)]


def _png(reduced: MatrixImage) -> bytes:
    """Return the picture as PNG of 256 colours."""
    image = -reduced.image if larger_is_closer(reduced.kind) else reduced.image
    finite = image[np.isfinite(image)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    shares = (np.nan_to_num(image, nan=low) / 2 - low / 2) / ((high / 2 - low / 2) or 1.0)
    pixels = (shares * (_STEPS - 1)).astype(np.uint8)
    colours = np.array(_COLOURS, dtype=np.float64)
    at = np.linspace(0, len(colours) - 1, _STEPS)
    ramp = np.stack([np.interp(at, np.arange(len(colours)), x) for x in colours.T], axis=1)
    for i, state in enumerate(_STATE_COLOURS):
        pixels[reduced.state == state] = _STEPS + i
    palette = ramp.astype(np.uint8).tobytes() + bytes(sum(_STATE_COLOURS.values(), ()))
    height, width = pixels.shape
    raw = np.pad(pixels, ((0, 0), (1, 0))).tobytes()  # each row begins with its filter, none
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
        + _chunk(b"PLTE", palette)
        + _chunk(b"tRNS", b"\xff" * _STEPS + b"\x00")
        + _chunk(b"IDAT", zlib.compress(raw, 9))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + check
