"""Digests of what an evaluation reads: which differ where its data differ in a single bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import xxhash

from bioeval.scores.labels import plain
from bioeval.scores.matrix import PairScores, Scores

# Bytes that are read together.
_PIECE = 1 << 24


def digest_of_rows(scores: Scores, low: int, high: int) -> str:
    """Return the XXH3-128 digest of the raw scores of rows ``low:high``.

    Of embeddings it is empty: their own digest is among those of :func:`digests_of`.
    """
    if scores.streams:
        return ""
    found = xxhash.xxh3_128()
    n = scores.shape[1]
    step = max(1, _PIECE // (n * scores.dtype.itemsize))
    for first in range(low, high, step):
        found.update(np.ascontiguousarray(scores.read_rows(first, min(first + step, high))))
    return found.hexdigest()


def digests_of(scores: Scores) -> dict[str, str]:
    """Return what scores are, but for the values of a matrix, which rows have digests of."""
    found = {
        "shape": " x ".join(map(str, scores.shape)),
        "dtype": scores.dtype.name,
        "kind": scores.kind,
        "nan": scores.nan,
        "exclude": ", ".join(scores.exclude),
    }
    if isinstance(scores, PairScores):
        found["scores"] = digest_of(scores.values, scores.genuine, scores.pair_ids)
        return found
    found["labels"] = digest_of(scores.probe_labels, scores.gallery_labels)
    found["templates"] = digest_of(scores.probe_ids, scores.gallery_ids)
    found["probe_meta"], found["gallery_meta"] = map(_of_columns, _columns(scores))
    if scores.has_mask:
        found["mask"] = digest_of(*(scores.read_mask(i, i + 1) for i in range(scores.shape[0])))
    if scores.streams:
        source = scores.base
        name = source.metric if isinstance(source.metric, str) else repr(source.metric)
        found["metric"] = name
        rows, columns = (np.arange(x) for x in scores.shape)
        rows, columns = scores.base_rows(rows), scores.base_columns(columns)
        found["embeddings"] = digest_of(*source.unrounded(rows, columns))
    return found


def _columns(scores: Scores) -> tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]]:
    return scores.probe_meta, scores.gallery_meta


def _of_columns(columns: Mapping[str, np.ndarray]) -> str:
    return " ".join(f"{name}:{digest_of(columns[name])}" for name in sorted(columns))


def digest_of(*arrays: np.ndarray) -> str:
    """Return the digest of some arrays; of any other objects, of their text."""
    found = xxhash.xxh3_128()
    for array in arrays:
        found.update(f"{array.dtype.str}{array.shape}".encode())
        if array.dtype.hasobject:
            found.update(repr([plain(x) for x in array.ravel().tolist()]).encode())
        else:
            found.update(np.ascontiguousarray(array).view(np.uint8).data)
    return found.hexdigest()


def plain_option(value: Any) -> Any:
    """Return an option as JSON holds it: arrays by their digest, other objects by their text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [plain_option(x) for x in value]
    if isinstance(value, Mapping):
        return {str(name): plain_option(x) for name, x in value.items()}
    if hasattr(value, "__array__"):  # of other libraries too, whose text leaves values out
        array = np.asarray(value)
        return f"array {array.shape} {digest_of(array)}"
    if is_dataclass(value) and not isinstance(value, type):
        inner = {x.name: getattr(value, x.name) for x in fields(value)}
        return {"class": type(value).__name__, **plain_option(inner)}
    return repr(value)
