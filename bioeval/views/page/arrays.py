"""Arrays in a page: one compressed block of bytes, and where each array lies in it."""

from __future__ import annotations

import base64
import zlib

import numpy as np

#: Types of arrays that a browser has, by the name that the page gives them.
_TYPES = {"f8": np.float64, "u2": np.uint16, "u4": np.uint32}


class ArrayStore:
    """Collects arrays; equal ones are stored once."""

    def __init__(self) -> None:
        self._block = bytearray()
        self._places: dict[bytes, dict] = {}

    def add(self, values: np.ndarray) -> dict:
        """Store numbers as float64 and return where they are.

        Where few values repeat, as in rates at ranks and thresholds, each is stored once, with its
        places.
        """
        values = np.ascontiguousarray(values, dtype=np.float64)
        place: dict
        unique, inverse = np.unique(values, return_inverse=True, equal_nan=True)
        if len(unique) <= len(values.ravel()) // 4 and len(unique) < 1 << 16:
            place = {"values": self._put(unique, "f8"), "at": self._put(inverse.ravel(), "u2")}
        else:
            place = {"values": self._put(values.ravel(), "f8")}
        return {**place, "shape": list(values.shape)}

    def pixels(self, values: np.ndarray) -> dict:
        """Store places in a picture, in tenths of a unit; NaN is outside of it."""
        tenths = np.where(np.isfinite(values), np.clip(np.round(10 * values), 0, 65534), 65535)
        return {"values": self._put(tenths.ravel(), "u2"), "shape": list(values.shape)}

    def text(self) -> str:
        """Return the block, compressed, as base64."""
        return base64.b64encode(zlib.compress(bytes(self._block), 9)).decode("ascii")

    def _put(self, values: np.ndarray, name: str) -> list:
        """Append an array and return its type, the byte where it begins, and its length."""
        raw = np.ascontiguousarray(values).astype(np.dtype(_TYPES[name]).newbyteorder("<"))
        key = name.encode() + raw.tobytes()
        if key not in self._places:
            self._block += bytes(-len(self._block) % 8)
            self._places[key] = {"at": [name, len(self._block), raw.size]}
            self._block += raw.tobytes()
        return self._places[key]["at"]
