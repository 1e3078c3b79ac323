"""Keyed digests of templates, for tallies to recognise probes counted already.

A template is identified by its label, its metadata and its position in the data that a selection
came from; and a probe, wherever it was counted, by its label, its metadata and its scores. The
position of a probe says nothing where the scores are others: batches of one data set are data of
their own, and each has a probe at position 0. Sites that share a key compute the same digests;
without the key no name can be guessed from a digest, though equal digests can still be found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from bioeval import DataError, MergeError, Scores
from bioeval.base import Argument, require_text
from bioeval.document import Message
from bioeval.scores import are_pairs, codes_of, knows_people, plain

if TYPE_CHECKING:
    from bioeval import PairScores


# The default key: it separates probes, but names can be tried against it.
PUBLIC_KEY = "bioeval"

# By which a digest is multiplied before another value is taken in.
_ODD = np.uint64(0x9E3779B97F4A7C15)

#: Fewer distinct scores than this say little of whose they are.
DISTINCT = 20

#: Gallery templates against which the scores of a probe have a digest, of a larger gallery.
SAMPLE = 64

# The last bits of a digest of scores: whether they have as many distinct ones, and whether it is of
# the embedding that they were computed from.
_VARIED, _EMBEDDED = np.uint64(1), np.uint64(2)

# Probes that a message names.
_SHOWN = 5


Text = str | bytes


@dataclass(frozen=True)
class DigestKey:
    """A key of any length for digests."""

    secret: bytes
    #: By the identity of the distinct labels: themselves, which have digests, and these.
    _labels: dict[int, tuple[np.ndarray, ...]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def parse(cls, key: Text | None) -> Self:
        """Return the key made from a text; the default key of bioeval is public."""
        text = PUBLIC_KEY if key is None else key
        if not isinstance(text, (str, bytes)) or not text:
            # The key itself is not shown: it is a secret.
            description = "empty" if isinstance(text, (str, bytes)) else type(text).__name__
            raise DataError(f"key is {description}; expected a text that all sites share")
        raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        return cls(hashlib.blake2b(raw).digest())

    def digests(self, meaning: str, texts: Iterable[str]) -> np.ndarray:
        """Return 64 bits for each text; `meaning` separates equal texts of different meaning."""
        words = (require_text(meaning, text).encode("utf-8", "surrogatepass") for text in texts)
        return self._of_bytes(meaning, words)

    def of_numbers(self, meaning: str, numbers: np.ndarray) -> np.ndarray:
        """Return 64 bits for each number of 64 bits; without the key they hide it."""
        raw = numbers.astype("<u8").tobytes()
        return self._of_bytes(meaning, (raw[place : place + 8] for place in range(0, len(raw), 8)))

    def _of_bytes(self, meaning: str, pieces: Iterable[bytes]) -> np.ndarray:
        about, digests = f"{meaning}\0".encode("utf-8", "surrogatepass"), []
        start = hashlib.blake2b(about, key=self.secret, digest_size=8)
        for piece in pieces:
            one = start.copy()
            one.update(piece)
            digests.append(one.digest())
        return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)

    def digest(self, meaning: str, text: str) -> int:
        """Return 64 bits for a text."""
        return int(self.digests(meaning, [text])[0])

    def hexadecimal(self, meaning: str, text: str) -> str:
        """Return :meth:`digest` as a text."""
        return as_texts(self.digests(meaning, [text]))[0]

    def of_labels(self, codes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the digest of the label ``values[code]`` for each code, with a cache."""
        if id(values) not in self._labels:
            empty = np.zeros(len(values), dtype=bool), np.zeros(len(values), dtype=np.uint64)
            self._labels[id(values)] = values, *empty
        _, known, digests = self._labels[id(values)]
        new = np.unique(codes)
        new = new[~known[new]]
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
    """Digests of the probes that a tally counted, and of the gallery compared with them."""

    #: uint64 (m,): a digest of label, metadata, position and site of each probe; of fixed pairs, of
    #: the score, class, subjects, position and site of each pair.
    probes: np.ndarray
    gallery: str  # of all gallery templates in their order; empty for fixed pairs
    key: str  # of the key, by which two keys are distinguished
    #: uint64 (m,), or None: of label and metadata, and of the scores of each probe; 0 where they
    #: are not known.
    people: np.ndarray | None = None
    scores: np.ndarray | None = None

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
        if are_pairs(scores):
            return cls(_mixed(_pairs(scores, key), where), "", check)
        codes = codes_of(scores)
        labels = codes.values
        gallery = _templates(codes.gallery, labels, scores.gallery_meta, scores.gallery_ids, key)
        probes = gallery
        rows = rows or first is not None
        if rows or not np.array_equal(scores.probe_ids, scores.gallery_ids):
            ids = scores.probe_ids
            if rows:
                ids = scores._base_rows(np.arange(scores.shape[0])) + (first or 0)
            probes = _templates(codes.probe, labels, scores.probe_meta, ids, key)
        whole = hashlib.blake2b(gallery.astype("<u8").tobytes(), digest_size=8).hexdigest()
        return cls(_mixed(probes, where), whole, check)

    def same(self, other: CountedProbes) -> bool:
        """Whether both have the same probes in the same order, and the same gallery."""
        alike = (self.gallery, self.key) == (other.gallery, other.key)
        return alike and np.array_equal(self.probes, other.probes)

    def with_scores(
        self,
        scores: Scores,
        key: DigestKey,
        sums: np.ndarray,
        varied: np.ndarray,
    ) -> CountedProbes:
        """Return the same probes, identified by their scores as well.

        `sums` are digests of the scores of each probe, or of its embedding, and `varied` says
        whether it has enough distinct scores to be known by them.
        """
        codes, embedded = codes_of(scores), scores._embedded
        people = _described(codes.probe, codes.values, scores.probe_meta, key, knows_people(scores))
        digests = key.of_numbers("embedding" if embedded else "scores", sums)
        digests &= ~(_VARIED | _EMBEDDED)
        digests |= varied.astype(np.uint64) * _VARIED
        digests |= np.uint64(embedded) * _EMBEDDED
        return replace(self, people=people, scores=digests)

    def repeated(self) -> list[Message]:
        """Return a message about probes that repeat the label, metadata and scores of another."""
        if self.people is None or self.scores is None:
            return []
        known = np.flatnonzero(self.scores & _VARIED)
        identity = _mixed(self.scores[known], self.people[known])
        again = np.delete(known, np.unique(identity, return_index=True)[1])
        if not len(again):
            return []
        return [
            Message(
                "probes-repeated",
                copies=len(again),
                probes=len(self.probes),
                places=_first_rows(again),
            )
        ]

    def merge(self, other: CountedProbes) -> CountedProbes:
        """Return the probes of both; they must differ, with the same gallery and key."""
        if self.key != other.key:
            raise MergeError(
                "tallies of different keys: whether they share a probe cannot be checked; count "
                "both with the same ",
                Argument("key"),
            )
        if self.gallery != other.gallery:
            raise MergeError(
                "tallies of different galleries: the labels, the metadata or the positions of "
                "their templates, or their order, differ. Compare all probes with the same gallery"
            )
        self._require_other_probes(other)
        shared = np.flatnonzero(self._at_places_of(other))
        if len(shared):
            raise MergeError(
                f"{len(shared)} of the {len(self.probes)} probes (the first is number "
                f"{shared[0]}) {'is' if len(shared) == 1 else 'are'} among the "
                f"{len(other.probes)} of the other tally, by label, metadata and position, with "
                "scores that are equal or not known, and would count twice. Count disjoint sets of "
                "probes, such as scores.select(probes=...); if these are different probes, name "
                "the site or the part of each tally: ",
                Argument("site", "A"),
            )
        return replace(
            self,
            probes=np.concatenate([self.probes, other.probes]),
            people=_of_both(self, other, "people"),
            scores=_of_both(self, other, "scores"),
        )

    def _at_places_of(self, other: CountedProbes) -> np.ndarray:
        """Return which probes have label, metadata, position and site of one of the other tally.

        Unless both have digests of scores, of one form, that differ: then they are other probes.
        """
        scores, others = self._digests_of_scores(), other._digests_of_scores()
        alike = np.isin(_mixed(self.probes, scores), _mixed(other.probes, others))
        form, other_form = _form(scores), _form(others)
        for each in np.unique(form):
            of_form = form == each
            alike[of_form] |= np.isin(self.probes[of_form], other.probes[other_form != each])
        return alike

    def _digests_of_scores(self) -> np.ndarray:
        """Return the digest of the scores of each probe, 0 where it is not known."""
        return np.zeros(len(self.probes), np.uint64) if self.scores is None else self.scores

    def _require_other_probes(self, other: CountedProbes) -> None:
        """Raise :class:`MergeError` where the other tally has a probe with equal scores."""
        mine, theirs, agree = _alike(self, other)
        if self.scores is not None:
            agree &= (self.scores[mine] & _VARIED) > 0
        number = int(agree.sum())
        if number:
            raise MergeError(
                f"{number} of the {len(self.probes)} probes ({_numbers(mine[agree])}) "
                f"{'is' if number == 1 else 'are'} among the {len(other.probes)} of the other "
                f"tally (there {_numbers(theirs[agree])}), by label, metadata and scores, and "
                "would count twice, whatever their order and their site. Count each probe in one "
                "tally only, such as by scores.select(probes=...)"
            )

    def remarks(self, other: CountedProbes) -> list[Message]:
        """Return a merged tally's messages about probes that may be the same."""
        known = [x.scores[x.scores > 0] for x in (self, other) if x.scores is not None]
        notes = []
        if sum(map(len, known)) < len(self.probes) + len(other.probes):
            notes.append(Message("overlap-without-digests"))
        elif not np.isin(known[0] & _EMBEDDED, known[1] & _EMBEDDED).any():
            notes.append(Message("overlap-of-embeddings-and-scores"))
        for one, another in ((self, other), (other, self)):
            if len(one.probes) > 1 and np.isin(one.probes, another.probes).all():
                notes.append(Message("same-labels-other-scores", probes=len(one.probes)))
                break
        mine, theirs, _ = _alike(self, other)
        if len(mine):
            notes.append(
                Message(
                    "probes-perhaps-twice",
                    probes=len(mine),
                    places=_first_rows(mine),
                    other_places=_first_rows(theirs),
                    distinct=DISTINCT,
                )
            )
        return notes


def _alike(one: CountedProbes, other: CountedProbes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which probes have equal scores, and whether label and metadata agree.

    Of several others with the same scores, one with the same label counts.
    """
    if one.scores is None or other.scores is None or one.people is None or other.people is None:
        none = np.empty(0, dtype=np.int64)
        return none, none, none.astype(bool)
    mine = np.flatnonzero(np.isin(one.scores, other.scores) & (one.scores > 0))
    scores = one.scores[mine]
    place = _places(_mixed(scores, one.people[mine]), _mixed(other.scores, other.people))
    return mine, np.where(place >= 0, place, _places(scores, other.scores)), place >= 0


def _form(scores: np.ndarray) -> np.ndarray:
    """Return 0 for each digest that is not known, 1 for one of scores, 2 for one of embeddings."""
    return np.where(scores == 0, 0, 1 + ((scores & _EMBEDDED) > 0))


def _places(wanted: np.ndarray, digests: np.ndarray) -> np.ndarray:
    """Return the first place of each wanted digest among others; -1 where it is missing."""
    order = np.argsort(digests, kind="stable")
    place = np.minimum(np.searchsorted(digests[order], wanted), len(digests) - 1)
    return np.where(digests[order[place]] == wanted, order[place], -1)


def _first_rows(rows: np.ndarray) -> list[str]:
    """Return the first few positions of probes, for a message."""
    return [*map(str, rows[:_SHOWN].tolist()), *["..."] * (len(rows) > _SHOWN)]


def _numbers(rows: np.ndarray) -> str:
    """Return the first few numbers of probes as text."""
    shown = list(map(str, rows[:_SHOWN].tolist()))
    if len(rows) > _SHOWN:
        shown.append("...")
    if len(rows) == 1:
        return f"number {shown[0]}"
    return f"numbers {', '.join(shown)}"


def _of_both(one: CountedProbes, other: CountedProbes, name: str) -> np.ndarray | None:
    """Return digests of the probes of both, 0 where they are unknown; None where all are."""
    mine, theirs = getattr(one, name), getattr(other, name)
    if mine is None and theirs is None:
        return None
    if mine is None:
        mine = np.zeros(len(one.probes), np.uint64)
    if theirs is None:
        theirs = np.zeros(len(other.probes), np.uint64)
    return np.concatenate([mine, theirs])


def mixing_keys(digests: np.ndarray) -> np.ndarray:
    """Return the factors by which values are mixed into digests, as :func:`_mixed` does."""
    with np.errstate(over="ignore"):
        return digests * _ODD


def sample_of(templates: np.ndarray) -> np.ndarray:
    """Return which gallery templates are in the sample: those with the smallest keyed digests.

    Of equal digests all are or none is, so that the sample is the same in any order of the gallery.
    """
    if len(templates) <= SAMPLE:
        return np.ones(len(templates), dtype=bool)
    return templates <= np.partition(templates, SAMPLE - 1)[SAMPLE - 1]


def gallery_keys(scores: Scores, key: DigestKey) -> np.ndarray:
    """Return a digest of label and metadata of each gallery template, whatever its place."""
    codes = codes_of(scores)
    return _described(codes.gallery, codes.values, scores.gallery_meta, key, knows_people(scores))


def template_digests(
    scores: Scores, key: DigestKey, site: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    """Return increasing digests of a site's gallery templates, and of its subjects."""
    codes = codes_of(scores)
    labels = codes.values
    templates = _templates(codes.gallery, labels, scores.gallery_meta, scores.gallery_ids, key)
    subjects = key.of_labels(np.unique(codes.gallery), labels)
    return _mixed(templates, key.digest("site", site)), np.unique(subjects)


def _templates(
    codes: np.ndarray,
    labels: np.ndarray,
    meta: Mapping[str, np.ndarray],
    ids: np.ndarray,
    key: DigestKey,
) -> np.ndarray:
    """Return a digest for each template."""
    return _mixed(_described(codes, labels, meta, key), ids.astype(np.uint64))


def _described(
    codes: np.ndarray,
    labels: np.ndarray,
    meta: Mapping[str, np.ndarray],
    key: DigestKey,
    labelled: bool = True,
) -> np.ndarray:
    """Return a digest of label and metadata of each template, without labels from a mask."""
    if labelled:
        digests = key.of_labels(codes, labels)
    else:
        digests = np.zeros(len(codes), dtype=np.uint64)
    for name in sorted(meta):
        digests = _mixed(digests, _column(meta[name], f"metadata {name}", key))
    return digests


def _pairs(scores: PairScores, key: DigestKey) -> np.ndarray:
    """Return a digest for each pair, with its score: batches of a list have the same positions."""
    before, after = key.digests("pair", ("before", "after"))
    bits = np.asarray(scores.values, dtype=np.float64).view(np.uint64)
    # Mixed and not hashed, which would take longer than to count millions of pairs.
    digests = _mixed(_mixed(_mixed(before, bits), after), scores.genuine.astype(np.uint64))
    if scores.pair_subjects is not None:
        for column, side in zip(scores.pair_subjects.T, ("first", "second"), strict=True):
            digests = _mixed(digests, _column(column, side, key))
    for ids in scores.pair_ids.T:
        digests = _mixed(digests, ids.astype(np.uint64))
    return digests


def _column(column: np.ndarray, meaning: str, key: DigestKey) -> np.ndarray:
    """Return the digest of each value of a column."""
    if column.dtype.kind == "O":  # of several types, which need not have an order
        numbers: dict[str, int] = {}
        texts = [repr(plain(x)) for x in column.tolist()]
        codes = np.array([numbers.setdefault(x, len(numbers)) for x in texts], dtype=np.int64)
        return key.digests(meaning, numbers)[codes]
    values, codes = np.unique(column, return_inverse=True)
    return key.digests(meaning, map(repr, values.tolist()))[codes.reshape(-1)]


def _mixed(digests: np.ndarray, more: np.ndarray | int) -> np.ndarray:
    """Return digests with another value added, by the finaliser of SplitMix64, one to one."""
    with np.errstate(over="ignore"):
        z = digests * _ODD + np.asarray(more, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
