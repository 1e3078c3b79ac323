"""Top-K lists as text: on each line the gallery entries nearest to one query, nearest first.

This is the form that challenge servers take. Whether the entries are numbered from 0 or from 1
follows from the numbers where 0 or the last entry occurs, and is an option where neither does.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.files import read_text
from bioeval.scores.formats.format import Format, ReadOptions, say
from bioeval.scores.formats.label_files import matrix_advice, read_side
from bioeval.scores.matrix import Scores


def _read(path: Path, options: ReadOptions) -> Scores:
    assert options.labels is not None and options.gallery_labels is not None
    probes = read_side(options.labels, options, options.side_meta("probe"))
    gallery = read_side(options.gallery_labels, options, options.side_meta("gallery"))
    lists = _parse(path)
    probes.expect(len(lists), "lists, one per query")
    return Scores.from_top_k(
        options.from_zero(lists, len(gallery.label), f"{path}", guess=True),
        probes.label,
        gallery.label,
        probe_meta=probes.meta,
        leave_out_query=options.leave_out_query,
        gallery_meta=gallery.meta,
        name=path.stem,
    )


# The most entries of all lists, padded to the longest.
_MOST_ENTRIES = 1 << 28


def _parse(path: Path) -> np.ndarray:
    """Return the numbers, shape (queries, K), with -1 at the end of shorter lines."""
    rows = []
    lines = read_text(path).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    for number, line in enumerate(lines, 1):
        words = line.replace(",", " ").split()
        try:
            rows.append(list(map(_whole, words)))
        except ValueError:
            advice = matrix_advice(path)
            raise DataError(
                f"{path}: line {number}: expected whole numbers, the gallery entries nearest to "
                f"query {number}{f'. It {advice}' if advice else ''}"
            ) from None
        if not words:
            raise DataError(f"{path}: line {number}: is blank; expected the list of a query")
        for entry in rows[-1]:
            if not 0 <= entry < 2**62:
                raise DataError(f"{path}: line {number}: holds {entry}; expected entries from 0")
    if not rows:
        raise DataError(f"{path}: holds nothing but blank lines")
    longest = max(map(len, rows))
    if len(rows) * longest > _MOST_ENTRIES:
        raise DataError(
            f"{path}: one of its {len(rows):,} lists has {longest:,} entries, so that all of them "
            f"would need more than {_MOST_ENTRIES >> 20} Mi entries; expected shorter lists"
        )
    lists = np.full((len(rows), longest), -1, dtype=np.int64)
    for row, entries in enumerate(rows):
        lists[row, : len(entries)] = entries
    return lists


def _whole(word: str) -> int:
    """Parse a whole number in plain digits; Python's own parser also takes 1_0 for 10."""
    if "_" in word or not word.isascii():
        raise ValueError(word)
    return int(word)


FORMAT = Format(
    name="top-k text",
    holds="top-K lists, one query per line; labels of both sides are given as files",
    expected="a text file of top-K lists",
    recognise=lambda file: (
        file.content == "text"
        and file.options.labels is not None
        and file.options.gallery_labels is not None
    ),
    needs=f"top-K lists need {say('labels')} and {say('gallery_labels')}",
    read=_read,
    options=(
        "labels",
        "gallery_labels",
        "names_of",
        "lists.first_index",
        "lists.leave_out_query",
        "meta",
    ),
)
