"""Lists that name the templates of both sides: contradictory and repeated pairs.

A pair has one class, whatever its order. The same ordered pair counts once, and a comparison of a
template with itself is not an attempt; both are so in a matrix, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal, get_args

import numpy as np

from bioeval.base.arguments import require_flag, require_list
from bioeval.base.errors import (
    Argument,
    DataError,
    Words,
    counted,
    require_choice,
)
from bioeval.base.kinds import larger_is_closer
from bioeval.base.messages import Message
from bioeval.scores.columns import PIECE, CodedSides, GrowingColumn, release

#: Lines of a list that are left out unless they are to be kept.
Kept = Literal["self", "repeated"]
KEEP: tuple[Kept, ...] = get_args(Kept)

# Pairs that are sorted together, the most cells a pair of a table that shows without sorting that
# nothing is wrong, its rows that are compared together, and the examples that a message has.
_SORTED, _CELLS, _TILE, _EXAMPLES = 1 << 22, 8, 256, 3

# Scores of both orders of a pair within this part of the largest score differ by rounding.
_ROUNDING = 1e-5

#: What names the places of some pairs: ``line 3``, ``lines 3 and 9``.
Where = Callable[[Sequence[int]], str]


def places(noun: str, numbers: Sequence[int]) -> str:
    """Return numbers with their noun: ``line 3``, ``lines 3, 4 and 9``."""
    words = [f"{number:,}" if noun == "pair" else str(number) for number in numbers]
    if len(words) == 1:
        return f"{noun} {words[0]}"
    return f"{noun}s {', '.join(words[:-1])} and {words[-1]}"


@dataclass(frozen=True)
class ListRules:
    """Rules for the lines of a list that are not attempts of their own."""

    #: ``"self"``: comparisons of a template with itself; ``"repeated"``: pairs that are listed
    #: again.
    keep: tuple[Kept, ...] = ()
    unordered: bool = False  # whether a-b and b-a are one attempt

    @classmethod
    def parse(cls, keep: Kept | Sequence[Kept] | None, unordered: bool | None) -> ListRules:
        """Check the arguments of a reader."""
        unordered = require_flag("unordered", unordered)
        words = () if keep is None else keep
        kept = (words,) if isinstance(words, str) else tuple(require_list("keep", words))
        for word in kept:
            require_choice("keep", word, KEEP)
        if unordered and "repeated" in kept:
            raise DataError(
                Argument("unordered"),
                " counts each pair once, and ",
                Argument("keep", "repeated"),
                " counts it as often as it is listed; leave one of the two out",
            )
        return cls(kept, unordered)


@dataclass
class _Trouble:
    """Pairs that are refused: their number, and the first rows of them, earlier and later."""

    number: int = 0
    rows: list[tuple[int, int]] = field(default_factory=list)

    def add(self, first: np.ndarray, later: np.ndarray) -> None:
        """Add pairs by the first row of each, and a later one."""
        pairs, place = np.unique(first, return_index=True)
        some = zip(pairs[:_EXAMPLES].tolist(), later[place][:_EXAMPLES].tolist(), strict=True)
        self.number += len(pairs)
        self.rows = sorted([*self.rows, *some])[:_EXAMPLES]


@dataclass
class _Tally:
    """Findings about the pairs of a list: numbers, and rows of examples."""

    keep: np.ndarray  # bool: pairs that no earlier one makes needless
    distinct: int = 0
    both: int = 0
    repeated: int = 0
    merged: int = 0
    rounded: int = 0
    itself: int = 0
    contradictory: _Trouble = field(default_factory=_Trouble)
    different: _Trouble = field(default_factory=_Trouble)


class ListedTemplates:
    """The pairs of a list whose templates have names, and the faults of some of them.

    - `values`, `genuine`: (p,)
    - `where` (callable): names the places of some pairs, for messages
    """

    def __init__(self, names: CodedSides, values: np.ndarray, genuine: np.ndarray, where: Where):
        self.names, self.values, self.genuine, self.where = names, values, genuine, where
        self._buckets = -(-len(names) // _SORTED)

    def kept(self, rules: ListRules) -> tuple[np.ndarray | None, list[Message]]:
        """Return which pairs are attempts (None: all), and notes on the others.

        Raises
        ------
        DataError
            If a pair is both genuine and impostor, or has several scores.
        """
        tally = _Tally(np.ones(len(self.names), dtype=bool))
        if not self._plain(tally, rules):
            for number, keys in enumerate(self._sorted()):
                self._examine(tally, number, keys, rules)
        self._refuse(tally, rules)
        notes = []
        if tally.repeated:
            notes.append(Message("repeated-pairs", pairs=tally.repeated))
        kept = "self" in rules.keep
        same_template = self._compared_with_themselves(tally, kept)
        if tally.itself and not kept:
            notes.append(Message("self-comparisons-left-out", comparisons=tally.itself))
        if not tally.keep.any():
            raise DataError(
                "every pair compares a template with itself, and this is not an attempt; give ",
                Argument("keep", "self"),
                " to count them",
            )
        notes += _notes_on_orders(tally, tally.distinct - same_template, rules)
        return (None if tally.keep.all() else tally.keep), notes

    def _plain(self, tally: _Tally, rules: ListRules) -> bool:
        """Count the pairs in a table of all templates; False where more checks are needed."""
        size = len(self.names.values)
        if size * size > _CELLS * len(self.names):
            return False
        cells = np.zeros(size * size, dtype=np.uint8)
        for some in self._slices():
            key = self.names.a[some].astype(np.int64)
            key *= size
            key += self.names.b[some]
            cells[key] = 1 + self.genuine[some]
        if np.count_nonzero(cells) < len(self.names):
            return False
        table = cells.reshape(size, size)
        both, tiles = -int(np.count_nonzero(table.diagonal())), range(0, size, _TILE)
        for i, j in product(tiles, tiles):
            one, other = table[i : i + _TILE, j : j + _TILE], table[j : j + _TILE, i : i + _TILE].T
            if ((one | other) == 3).any():
                return False
            both += int(np.count_nonzero(one & other))
        if both and rules.unordered:
            return False
        tally.both = both // 2
        tally.distinct = len(self.names) - tally.both
        return True

    # ------------------------------------------------------------------------- keys

    def _keys(self, some: slice) -> np.ndarray:
        """Return a number for each pair, made of both templates, their order and the class."""
        a, b = self.names.a[some], self.names.b[some]
        key = np.minimum(a, b).astype(np.int64)
        for factor, term in (
            (len(self.names.values), np.maximum(a, b)),
            (2, a > b),
            (2, self.genuine[some]),
        ):
            key *= factor
            key += term
        return key

    def _slices(self) -> Iterator[slice]:
        """Yield the pieces of the list."""
        for low in range(0, len(self.names), PIECE):
            yield slice(low, low + PIECE)
            release(self.names.a, self.names.b)

    def _all_keys(self) -> np.ndarray:
        keys = np.empty(len(self.names), dtype=np.int64)
        for some in self._slices():
            keys[some] = self._keys(some)
        return keys

    def _bucket_of(self, keys: np.ndarray) -> np.ndarray:
        mixed = (keys >> 2).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return ((mixed >> np.uint64(40)) % np.uint64(self._buckets)).astype(np.uint16)

    def _sorted(self) -> Iterator[np.ndarray]:
        """Yield the sorted keys of each bucket; no pair is in two buckets."""
        if self._buckets == 1:
            keys = self._all_keys()
            keys.sort()
            yield keys
            return
        column, cuts = GrowingColumn(np.int64), []
        for some in self._slices():
            keys = self._keys(some)
            bucket = self._bucket_of(keys)
            column.append(keys[np.argsort(bucket, kind="stable")])
            sizes = np.bincount(bucket, minlength=self._buckets)
            cuts.append(some.start + np.append(0, np.cumsum(sizes)))
        spooled = column.array()
        for number in range(self._buckets):
            keys = np.concatenate([spooled[cut[number] : cut[number + 1]] for cut in cuts])
            release(spooled)
            keys.sort()
            yield keys

    def _of_bucket(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of a bucket, increasing, and their keys."""
        if self._buckets == 1:
            return np.arange(len(self.names)), self._all_keys()
        rows, keys_chosen = [], []
        for some in self._slices():
            keys = self._keys(some)
            chosen = np.flatnonzero(self._bucket_of(keys) == number)
            rows.append(some.start + chosen)
            keys_chosen.append(keys[chosen])
        return np.concatenate(rows), np.concatenate(keys_chosen)

    # ------------------------------------------------------------------------- looking

    def _examine(self, tally: _Tally, number: int, keys: np.ndarray, rules: ListRules) -> None:
        """Add the findings about the pairs of a bucket."""
        change = keys[1:] ^ keys[:-1]
        same, again = change < 4, change < 2
        tally.distinct += len(keys) - int(same.sum())
        tally.both += int((same & ~again).sum())
        wrong = same & (change & 1).astype(bool)
        merged = rules.unordered and bool((same & ~again).any())
        counts = bool(again.any()) and "repeated" not in rules.keep
        if not (wrong.any() or merged or counts):
            return
        rows, keys = self._of_bucket(number)
        later, first = _again(rows, keys >> 2)
        wrong = self.genuine[later] != self.genuine[first]
        tally.contradictory.add(first[wrong], later[wrong])
        if counts:
            self._repeated(tally, *_again(rows, keys >> 1))
        if merged:
            apart = tally.keep[later]
            self._merged(tally, later[apart], first[apart])

    def _repeated(self, tally: _Tally, later: np.ndarray, first: np.ndarray) -> None:
        """Leave out the lines that repeat an ordered pair, and find those with another score."""
        one, other = self.values[first], self.values[later]
        different = (one != other) & ~(np.isnan(one) & np.isnan(other))
        tally.different.add(first[different], later[different])
        tally.repeated += len(later)
        tally.keep[later] = False

    def _merged(self, tally: _Tally, later: np.ndarray, first: np.ndarray) -> None:
        """Leave out the second order of pairs, and find those with another score."""
        one = self.values[first].astype(np.float64)
        other = self.values[later].astype(np.float64)
        with np.errstate(invalid="ignore"):
            gap = np.where(one == other, 0.0, np.abs(one - other))
        gap[np.isnan(one) & np.isnan(other)] = 0.0
        different = ~(gap <= _ROUNDING * self._largest())
        tally.different.add(first[different], later[different])
        tally.merged += len(later)
        tally.rounded += int((gap[~different] > 0).sum())
        tally.keep[later] = False

    def _largest(self) -> float:
        pieces = (self.values[i : i + PIECE] for i in range(0, len(self.values), PIECE))
        return max(float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) for x in pieces)

    def _compared_with_themselves(self, tally: _Tally, keep: bool) -> int:
        """Find comparisons of a template with itself; return the number of these templates."""
        templates = set()
        impostors = []
        for some in self._slices():
            same_template = some.start + np.flatnonzero(self.names.a[some] == self.names.b[some])
            same_template = same_template[tally.keep[same_template]]
            impostors += same_template[~self.genuine[same_template]].tolist()
            templates.update(self.names.a[same_template].tolist())
            tally.itself += len(same_template)
            tally.keep[same_template] = keep
        if impostors:
            number = len(impostors)
            compare = "compares" if number == 1 else "compare"
            raise DataError(
                f"{counted(number, 'impostor pairs')} {compare} a template "
                f"with itself ({_first(number, self.where, impostors[:_EXAMPLES])}); correct the "
                "list, or give each template its own name"
            )
        return len(templates)

    # ------------------------------------------------------------------------- messages

    def _refuse(self, tally: _Tally, rules: ListRules) -> None:
        """Raise where a pair has two classes, or two scores."""
        for trouble in (tally.contradictory, tally.different):
            if not trouble.number:
                continue
            number = _number(trouble.number, "pairs")
            if trouble is tally.contradictory:
                raise DataError(
                    f"{number} both genuine and impostor: {self._examples(trouble)}; give each "
                    "pair of templates one class"
                )
            advice = Words("give ", Argument("keep", "repeated"), " if these are separate attempts")
            if rules.unordered:
                advice = Words(
                    "leave out ", Argument("unordered"), ", so that a-b and b-a are two attempts"
                )
            raise DataError(
                f"{number} listed more than once with different scores: "
                f"{self._examples(trouble, scores=True)}; list each pair once, or ",
                advice,
                ". Where the names are those of subjects, call their columns subject_a and "
                "subject_b in a first line",
            )

    def _examples(self, trouble: _Trouble, scores: bool = False) -> str:
        """Name the first pairs of a trouble, with their rows."""
        examples = []
        for first, later in trouble.rows:
            a = self.names.values[self.names.a[first]]
            b = self.names.values[self.names.b[first]]
            text = self.where([first, later])
            if scores:
                text += f": {float(self.values[first])!r} and {float(self.values[later])!r}"
            examples.append(f"{a!r} and {b!r} ({text})")
        more = " and others" if trouble.number > len(examples) else ""
        return f"{', '.join(examples)}{more}"


def _notes_on_orders(tally: _Tally, pairs: int, rules: ListRules) -> list[Message]:
    """Return a note on how many pairs are listed in both orders, unless all are."""
    if rules.unordered and not tally.merged:
        return []
    if rules.unordered:
        return [Message("both-orders-once", pairs=tally.merged, rounded=tally.rounded)]
    if not 0 < tally.both < pairs:
        return []
    return [Message("some-in-both-orders", both=tally.both, pairs=pairs)]


def _again(rows: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows whose key occurred in an earlier row, and that key's first row."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    new = np.append(True, keys[1:] != keys[:-1])
    first = rows[order[new]][np.cumsum(new) - 1]
    return rows[order[~new]], first[~new]


def require_classes(genuine: np.ndarray, a: np.ndarray, b: np.ndarray, where: Where) -> None:
    """Raise where the class of a pair contradicts its subjects `a` and `b`."""
    number, rows = 0, np.empty(0, dtype=np.int64)
    for low in range(0, len(genuine), PIECE):
        some = slice(low, low + PIECE)
        wrong = low + np.flatnonzero((a[some] == b[some]) != genuine[some])
        number += len(wrong)
        rows = np.concatenate([rows, wrong[: _EXAMPLES - len(rows)]])
    if number:
        contradict = "contradicts" if number == 1 else "contradict"
        classes = f"{counted(number, 'pairs')} {contradict} their subjects"
        raise DataError(
            f"{classes}, as impostors of one subject or as genuine pairs of two "
            f"({_first(number, where, rows.tolist())}); correct their class or their subjects"
        )


def _number(number: int, nouns: str) -> str:
    """Return a number with its noun and verb: ``1 pair is``, ``2 pairs are``."""
    return f"{counted(number, nouns)} {'is' if number == 1 else 'are'}"


def _first(number: int, where: Where, rows: Sequence[int]) -> str:
    """Name the first of some pairs."""
    return ("first: " if number > len(rows) else "") + where(rows)


def note_on_infinite(values: np.ndarray, kind: str, where: Where) -> list[Message]:
    """Return messages on the number of infinite scores, at either end."""
    notes = []
    for sign in (1.0, -1.0):
        number, first = 0, -1
        for low in range(0, len(values), PIECE):
            infinite = np.flatnonzero(values[low : low + PIECE] == sign * np.inf)
            if first < 0 and len(infinite):
                first = low + int(infinite[0])
            number += len(infinite)
        if number:
            near = larger_is_closer(kind) == (sign > 0)
            about = {"accepted": "every" if near else "no", "first": f" ({where([first])})"}
            notes.append(Message("infinite-scores", scores=number, **about))
    release(values)
    return notes


#: A pattern where none is found in the names.
EXAMPLE_PATTERN = r"id(\d+)/"


def subject_pattern(names: Sequence[str], truth: tuple[np.ndarray, ...] = ()) -> str:
    r"""Return a pattern that takes the subject from names of templates, else one as an example.

    `truth` are the numbers of the names of both sides of some pairs, and whether they are genuine:
    the subjects then agree with it.

    Examples
    --------
    >>> subject_pattern(["s1-1", "s1-2", "s2-1", "s2-2"])
    '^(.+)-\\d+$'
    """
    # A part of a path, all before a last number, or all before a first mark.
    patterns = ["^([^/]+)/", "/([^/]+)/[^/]+$"]
    patterns += [r"^(.+)-\d+$", r"^(.+)-\d+\.\w+$", r"^(.+)_\d+$", r"^(.+)_\d+\.\w+$"]
    patterns += [r"([^/-]+)-[^/]*$", r"([^/_]+)_[^/]*$"]
    few = names[:10_000] if not truth else names
    for pattern in patterns:
        matches = [re.search(pattern, str(name)) for name in few]
        subjects = [match[1] for match in matches if match]
        if len(subjects) < len(few) or not 1 < len(set(subjects)) <= len(few) / 2:
            continue
        who = np.unique(subjects, return_inverse=True)[1].reshape(-1)
        if not truth or ((who[truth[0]] == who[truth[1]]) == truth[2]).all():
            return pattern
    return EXAMPLE_PATTERN
