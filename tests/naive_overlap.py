"""What a probe is known by wherever it is counted, by the definition, one cell at a time."""

from __future__ import annotations

import hashlib
import struct

import numpy as np

DISTINCT = 20


def keyed(key: str, what: str, value: object) -> int:
    """The keyed digest of a text, or of 8 bytes."""
    secret = hashlib.blake2b(key.encode()).digest()
    data = f"{what}\0".encode() + (value if isinstance(value, bytes) else str(value).encode())
    return int.from_bytes(hashlib.blake2b(data, key=secret, digest_size=8).digest(), "little")


def mixed(digest: int, more: int) -> int:
    """SplitMix64's finaliser of ``digest * golden ratio + more``."""
    z = (digest * 0x9E3779B97F4A7C15 + more) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def described(key: str, label: object, **meta: object) -> int:
    """Label and metadata of a template."""
    found = keyed(key, "label", repr(label))
    for name in sorted(meta):
        found = mixed(found, keyed(key, f"metadata {name}", repr(meta[name])))
    return found


def bits(value: float) -> int:
    """The bits of a number as float64, of either zero those of 0.0."""
    return struct.unpack("<Q", struct.pack("<d", float(value) + 0.0))[0]


def of_attempts(
    key: str,
    attempts: list[tuple[int, float]],
    gallery: list[int] | None = None,
    sample: int = 64,
) -> int:
    """The digest of (template, distance) of all attempts; its last bit: 20 distinct ones or not.

    Of a gallery of more templates than the sample has, the attempts with the sample count where
    there are 20 distinct ones.
    """
    gallery = gallery or []
    sampled = len(gallery) > sample and sorted(gallery)[sample - 1] < max(gallery)
    if sampled:
        chosen = [x for x in attempts if x[0] <= sorted(gallery)[sample - 1]]
        if len({bits(x) for _, x in chosen}) >= DISTINCT:
            attempts = chosen
    total = sum(mixed(template, bits(distance)) for template, distance in attempts)
    varied = len({bits(x) for _, x in attempts}) >= DISTINCT
    found = keyed(key, "scores", struct.pack("<Q", total % 2**64))
    return found & ~3 | varied


def of_embedding(key: str, embedding: np.ndarray, varied: bool) -> int:
    """The digest of the features of a probe; the last bit but one says that it is one."""
    total = sum(mixed(keyed(key, "feature", k), bits(x)) for k, x in enumerate(embedding) if x == x)
    found = keyed(key, "embedding", struct.pack("<Q", total % 2**64))
    return found & ~3 | 2 | varied
