"""Keyed digests of templates, by which tallies know whether they count the same probes.

A template is identified by its label, its metadata and its position in the data that a selection
came from, never by its scores. Sites that share a key compute the same digests; without the key
no name can be guessed from a digest, though equal digests can still be found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from bioeval.base.errors import Argument, DataError, MergeError
from bioeval.scores.labels import plain, present
from bioeval.scores.matrix import PairScores, Scores

# The default key: it separates probes, but names can be tried against it.
PUBLIC_KEY = "bioeval"

Text = str | bytes


@dataclass(frozen=True)
class DigestKey:
    """A key of digests, of any length."""

    secret: bytes
    #: By the identity of the distinct labels: themselves, which have digests, and these.
    _labels: dict[int, tuple[np.ndarray, ...]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def parse(cls, key: Text | None) -> Self:
        """Return the key of a text; without one, that of bioeval, which is public."""
        text = PUBLIC_KEY if key is None else key
        if not isinstance(text, (str, bytes)) or not text:
            # The key itself is not shown: it is a secret.
            raise DataError(
                f"key is {'empty' if text in ('', b'') else type(text).__name__}; expected a text "
                "that all sites share"
            )
        raw = text.encode() if isinstance(text, str) else text
        return cls(hashlib.blake2b(raw).digest())

    def digests(self, what: str, texts: Iterable[str]) -> np.ndarray:
        """Return 64 bits for each text; `what` keeps equal texts of different meaning apart."""
        start = hashlib.blake2b(key=self.secret, digest_size=8)
        start.update(f"{what}\0".encode("utf-8", "surrogatepass"))

        def digest(text: str) -> bytes:
            one = start.copy()
            one.update(text.encode("utf-8", "surrogatepass"))
            return one.digest()

        return np.frombuffer(b"".join(map(digest, texts)), dtype="<u8").astype(np.uint64)

    def digest(self, what: str, text: str) -> int:
        """Return 64 bits for a text."""
        return int(self.digests(what, [text])[0])

    def hexadecimal(self, what: str, text: str) -> str:
        """Return :meth:`digest` as a text."""
        return as_texts(self.digests(what, [text]))[0]

    def of_labels(self, codes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the digest of the label ``values[code]`` for each code; those found are kept."""
        if id(values) not in self._labels:
            empty = np.zeros(len(values), dtype=bool), np.zeros(len(values), dtype=np.uint64)
            self._labels[id(values)] = values, *empty
        _, known, digests = self._labels[id(values)]
        new = np.flatnonzero(present(codes, len(values)) & ~known)
        digests[new] = self.digests("label", map(repr, values[new].tolist()))
        known[new] = True
        return digests[codes]

    def names(self, labels: np.ndarray, chosen: np.ndarray) -> list[str]:
        """Return the digests of some labels as texts, in place of names."""
        return as_texts(self.of_labels(np.flatnonzero(chosen), labels))


def as_texts(digests: np.ndarray) -> list[str]:
    """Return digests in hexadecimal."""
    whole = digests.astype(">u8").tobytes().hex()
    return [whole[i : i + 16] for i in range(0, len(whole), 16)]


@dataclass(frozen=True, eq=False)
class CountedProbes:
    """The probes that a tally counted, and the gallery they were compared with, as digests."""

    probes: np.ndarray  # uint64 (m,): one a probe; of fixed pairs, one a pair
    gallery: str  # of all gallery templates in their order; empty for fixed pairs
    key: str  # of the key, by which two keys are distinguished

    @classmethod
    def of(
        cls,
        scores: Scores,
        key: DigestKey,
        site: str = "",
        *,
        rows: bool = False,
        first: int | None = None,
    ) -> CountedProbes:
        """Return the digests of the probes of some scores, at a site.

        With `rows`, the position of a probe is its row, whatever the size of the gallery; with
        `first`, it is its row after that position.
        """
        where = key.digest("site", site)
        check = key.hexadecimal("key", "")
        if isinstance(scores, PairScores):
            return cls(_mixed(_pairs(scores, key), where), "", check)
        codes, labels = scores.codes, scores.codes.values
        gallery = _templates(codes.gallery, labels, scores.gallery_meta, scores.gallery_ids, key)
        probes = gallery
        rows = rows or first is not None
        if rows or not np.array_equal(scores.probe_ids, scores.gallery_ids):
            ids = scores.probe_ids
            if rows:
                ids = scores.base_rows(np.arange(scores.shape[0])) + (first or 0)
            probes = _templates(codes.probe, labels, scores.probe_meta, ids, key)
        whole = hashlib.blake2b(gallery.astype("<u8").tobytes(), digest_size=8).hexdigest()
        return cls(_mixed(probes, where), whole, check)

    def same(self, other: CountedProbes) -> bool:
        """Return whether both are of the same probes, in one order, and of one gallery."""
        alike = (self.gallery, self.key) == (other.gallery, other.key)
        return alike and np.array_equal(self.probes, other.probes)

    def merge(self, other: CountedProbes) -> CountedProbes:
        """Return the probes of both; the gallery and the key must be one, the probes others."""
        if self.key != other.key:
            raise MergeError(
                "tallies of different keys: whether they share a probe cannot be checked; count "
                f"both with the same {Argument('key')}"
            )
        if self.gallery != other.gallery:
            raise MergeError(
                "tallies of different galleries: the labels, the metadata or the positions of "
                "their templates, or their order, differ. Compare all probes with the same gallery"
            )
        shared = np.flatnonzero(np.isin(self.probes, other.probes))
        if len(shared):
            raise MergeError(
                f"{len(shared)} of the {len(self.probes)} probes (the first is number "
                f"{shared[0]}) are among the {len(other.probes)} of the other tally, by their "
                "labels, metadata and positions, and would count twice. Count disjoint sets of "
                "probes, such as scores.select(probes=...); if these are different probes of "
                f"several sites, name the site of each: {Argument('site', 'A')}"
            )
        return CountedProbes(np.concatenate([self.probes, other.probes]), self.gallery, self.key)


def template_digests(
    scores: Scores, key: DigestKey, site: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    """Return digests of the gallery's templates, at a site, and of its subjects, increasing."""
    codes, labels = scores.codes, scores.codes.values
    found = _templates(codes.gallery, labels, scores.gallery_meta, scores.gallery_ids, key)
    subjects = key.of_labels(np.unique(codes.gallery), labels)
    return _mixed(found, key.digest("site", site)), np.unique(subjects)


def _templates(
    codes: np.ndarray,
    labels: np.ndarray,
    meta: Mapping[str, np.ndarray],
    ids: np.ndarray,
    key: DigestKey,
) -> np.ndarray:
    """Return a digest for each template."""
    found = key.of_labels(codes, labels)
    for name in sorted(meta):
        found = _mixed(found, _column(meta[name], f"metadata {name}", key))
    return _mixed(found, ids.astype(np.uint64))


def _pairs(scores: PairScores, key: DigestKey) -> np.ndarray:
    """Return a digest for each pair."""
    found = scores.genuine.astype(np.uint64)
    if scores.pair_subjects is not None:
        for column, side in zip(scores.pair_subjects.T, ("first", "second"), strict=True):
            found = _mixed(found, _column(column, side, key))
    for ids in scores.pair_ids.T:
        found = _mixed(found, ids.astype(np.uint64))
    return found


def _column(column: np.ndarray, what: str, key: DigestKey) -> np.ndarray:
    """Return the digest of each value of a column."""
    if column.dtype.kind == "O":  # of several types, which need not have an order
        numbers: dict[str, int] = {}
        texts = [repr(plain(x)) for x in column.tolist()]
        codes = np.array([numbers.setdefault(x, len(numbers)) for x in texts], dtype=np.int64)
        return key.digests(what, numbers)[codes]
    values, codes = np.unique(column, return_inverse=True)
    return _of_codes(codes.reshape(-1), values, what, key)


def _of_codes(codes: np.ndarray, values: np.ndarray, what: str, key: DigestKey) -> np.ndarray:
    """Return the digest of ``values[code]`` for each code."""
    there = np.flatnonzero(present(codes, len(values)))
    digests = np.zeros(len(values), dtype=np.uint64)
    digests[there] = key.digests(what, map(repr, values[there].tolist()))
    return digests[codes]


def _mixed(digests: np.ndarray, more: np.ndarray | int) -> np.ndarray:
    """Return digests with another value taken in: the finaliser of SplitMix64 of their sum.

    For any one digest it maps different values to different digests.
    """
    with np.errstate(over="ignore"):
        z = digests * np.uint64(0x9E3779B97F4A7C15) + np.asarray(more, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
