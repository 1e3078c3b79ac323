"""Short digests of labels and of scores, by which results tell which data they are of.

They depend neither on the machine nor on how wide its integers are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

# Values that enter a digest together, so that little is copied.
_VALUES_AT_ONCE = 1 << 20


def digest(*arrays: np.ndarray) -> str:
    """Return a short digest of label arrays, independent of platform and dtype width."""
    sha = hashlib.sha256()
    for array in arrays:
        sha.update(f"{len(array)}\n".encode())
        if array.dtype.kind in "iu":
            sha.update(b"i")
            for low in range(0, len(array), _VALUES_AT_ONCE):
                sha.update(array[low : low + _VALUES_AT_ONCE].astype("<i8").tobytes())
        else:
            sha.update("\0".join(map(repr, array.tolist())).encode("utf-8", "backslashreplace"))
    return sha.hexdigest()[:16]


def digest_of_values(arrays: Iterable[np.ndarray]) -> str:
    """Return a short digest of scores, independent of byte order and of the bits of NaN."""
    import xxhash

    hashed = xxhash.xxh3_64()
    for array in arrays:
        flat = array.reshape(-1)
        for low in range(0, len(flat), _VALUES_AT_ONCE):
            piece = flat[low : low + _VALUES_AT_ONCE]
            copied = piece.astype(piece.dtype.newbyteorder("<"))
            if copied.dtype.kind == "f":
                copied[np.isnan(copied)] = np.nan
            hashed.update(copied)
    return hashed.hexdigest()
