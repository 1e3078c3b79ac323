"""The layout of a .npz file: scores or embeddings, with labels and metadata, in one file.

Version 1 holds either

- ``scores`` (m, n), ``probe_labels`` (m,) and ``gallery_labels`` (n,), or without
  ``gallery_labels`` all-against-all; ``mask`` (m, n); ``probe_<name>`` and ``gallery_<name>``
  metadata; ``probe_ids`` and ``gallery_ids`` where templates of a selection are on both sides;
- ``indices`` (q, k), ``distances`` (q, k), ``probe_labels`` (q,) and ``gallery_labels`` (n,),
  top-K lists;
- ``scores`` (p,) and ``genuine`` (p,), a list of pairs, with ``subjects`` (p, 2) and
  ``fold`` (p,);
- ``embeddings`` (m, f), ``labels`` (m,), ``metric`` and ``<name>`` metadata, and optionally
  ``gallery_embeddings`` (n, f) and ``gallery_labels`` (n,).

Version 2 adds to a list of pairs ``templates`` (p, 2), the names of the templates of both sides, or
their places in ``template_names`` (n,).

``kind`` and ``nan`` are words, ``exclude`` names metadata columns, ``schema`` is the version.
Arrays under other names are named by options.
"""

from __future__ import annotations

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.archive import Arrays
from bioeval.scores.matrix import Scores

SCHEMA = 2

#: Arrays that a list of pairs by name needs: image numbers, and the names that labels index.
IMAGE_NUMBER, NAMES = "image_number", "names"

#: Names of the layout, which are not metadata.
RESERVED = {
    "scores",
    "genuine",
    "subjects",
    "templates",
    "template_names",
    "embeddings",
    "gallery_embeddings",
    "probe_embeddings",
    "labels",
    "probe_labels",
    "gallery_labels",
    "probe_ids",
    "gallery_ids",
    "mask",
    "kind",
    "nan",
    "exclude",
    "metric",
    "pairs",
    "schema",
    "indices",
    "distances",
}


def check_schema(file: Arrays) -> None:
    """Raise unless this version of bioeval reads the layout's version."""
    header = file.headers.get("schema")
    if header is None or header.shape != () or header.dtype.kind not in "iu":
        return
    schema = int(file.read("schema"))
    if not 1 <= schema <= SCHEMA:
        raise DataError(
            f"{file.path}: has version {schema} of the layout; this bioeval reads versions 1 to "
            f"{SCHEMA}. Use a newer bioeval"
        )


def is_square(scores: Scores) -> bool:
    """Whether both sides have the same templates in the same order, with equal metadata."""
    if not np.array_equal(scores.probe_ids, scores.gallery_ids):
        return False
    rows, columns = scores.probe_meta, scores.gallery_meta
    same = all(_equal(rows[name], columns[name]) for name in rows if name in columns)
    return same and set(rows) == set(columns)


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two columns are equal, missing values included."""
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fM" and b.dtype.kind in "fM")
