"""Lists that name the templates of both sides: contradictory and repeated pairs.

A pair has one class, whatever its order. The same ordered pair counts once, and a comparison of a
template with itself is not an attempt; both are so in a matrix, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from bioeval.base.arguments import require_choice, require_flag, require_list
from bioeval.base.errors import DataError, counted
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.messages import Message
from bioeval.scores.columns import CodedSides
from bioeval.scores.labels import as_objects, natural_places

#: Lines of a list that are left out unless they are to be kept.
Kept = Literal["self", "repeated"]
KEEP: tuple[Kept, ...] = get_args(Kept)

# The examples that a message has, and the most cells a pair of a table of all templates.
_EXAMPLES, _CELLS = 3, 8

#: Proportion of pairs that are nearly all: in both orders, or in one.
MOSTLY = 0.9

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
        keep_words = (words,) if isinstance(words, str) else tuple(require_list("keep", words))
        for word in keep_words:
            require_choice("keep", word, KEEP)
        if unordered and "repeated" in keep_words:
            raise DataError(
                "`unordered` counts each pair once, and "
                '`keep="repeated"` counts it as often as it is listed; leave one of '
                "the two out"
            )
        return cls(keep_words, unordered)


@dataclass
class _LineCounts:
    """Findings about the pairs of a list."""

    keep: np.ndarray  # bool: pairs that no earlier one makes needless
    distinct: int = 0
    both: int = 0
    repeated: int = 0
    merged: int = 0
    rounded: int = 0
    itself: int = 0
    #: Pairs that are refused, by a later row and the first one of the same pair.
    contradictory: list[np.ndarray] = field(default_factory=list)
    different: list[np.ndarray] = field(default_factory=list)


class ListedTemplates:
    """The pairs of a list whose templates have names, and the faults of some of them.

    - `values`, `genuine`: (p,)
    - `where` (callable): names the places of some pairs, for messages
    """

    def __init__(self, names: CodedSides, values: np.ndarray, genuine: np.ndarray, where: Where):
        self.names, self.values, self.genuine, self.where = names, values, genuine, where

    def kept(self, rules: ListRules) -> tuple[np.ndarray | None, list[Message]]:
        """Return which pairs are attempts (None: all), and notes on the pairs left out.

        Raises
        ------
        DataError
            If a pair is both genuine and impostor, or has several scores.
        """
        counts = _LineCounts(np.ones(len(self.names), dtype=bool))
        if not self._is_plain(counts, rules):
            self._examine(counts, rules)
        self._refuse(counts, rules)
        notes = []
        if counts.repeated:
            option = '; `keep="repeated"` counts each line'
            notes.append(Message("repeated-pairs", pairs=counts.repeated, how="", option=option))
        keeps_self = "self" in rules.keep
        same_template = self._compared_with_themselves(counts, keeps_self)
        if counts.itself and not keeps_self:
            about = {"comparisons": counts.itself, "option": '`keep="self"`'}
            notes.append(Message("self-comparisons-left-out", **about))
        if not counts.keep.any():
            raise DataError(
                "every pair compares a template with itself, and this is not an attempt; give "
                '`keep="self"` to count them'
            )
        notes += _notes_on_orders(counts, counts.distinct - same_template, rules)
        return (None if counts.keep.all() else counts.keep), notes

    def _is_plain(self, counts: _LineCounts, rules: ListRules) -> bool:
        """Count the pairs in a table of all templates; False if they fill little of it, or clash.

        It is several times faster than sorting.
        """
        size = len(self.names.values)
        if size * size > _CELLS * len(self.names):
            return False
        table = np.zeros((size, size), dtype=np.uint8)
        table[self.names.a, self.names.b] = 1 + self.genuine
        if np.count_nonzero(table) < len(self.names) or ((table | table.T) == 3).any():
            return False
        in_both_orders = np.count_nonzero(table & table.T) - np.count_nonzero(table.diagonal())
        if in_both_orders and rules.unordered:
            return False
        counts.both = int(in_both_orders) // 2
        counts.distinct = len(self.names) - counts.both
        return True

    def _keys(self) -> np.ndarray:
        """Return a number for each pair, made of both templates, their order and the class."""
        first, second = self.names.a, self.names.b
        keys = np.minimum(first, second).astype(np.int64)
        for factor, term in (
            (len(self.names.values), np.maximum(first, second)),
            (2, first > second),
            (2, self.genuine),
        ):
            keys *= factor
            keys += term
        return keys

    def _examine(self, counts: _LineCounts, rules: ListRules) -> None:
        keys = np.sort(self._keys())
        change = keys[1:] ^ keys[:-1]
        same, again = change < 4, change < 2
        counts.distinct = len(keys) - int(same.sum())
        counts.both = int((same & ~again).sum())
        wrong = same & (change & 1).astype(bool)
        merged = rules.unordered and counts.both > 0
        repeated = bool(again.any()) and "repeated" not in rules.keep
        if not (wrong.any() or merged or repeated):
            return
        keys = self._keys()
        later, first = _again(keys >> 2)
        wrong = self.genuine[later] != self.genuine[first]
        counts.contradictory.append(np.stack([first[wrong], later[wrong]]))
        if repeated:
            self._repeated(counts, *_again(keys >> 1))
        if merged:
            is_kept = counts.keep[later]
            self._merged(counts, later[is_kept], first[is_kept])

    def _repeated(self, counts: _LineCounts, later: np.ndarray, first: np.ndarray) -> None:
        """Leave out the lines that repeat an ordered pair; note pairs with another score."""
        first_score, later_score = self.values[first], self.values[later]
        different = (first_score != later_score) & ~(np.isnan(first_score) & np.isnan(later_score))
        counts.different.append(np.stack([first[different], later[different]]))
        counts.repeated = len(later)
        counts.keep[later] = False

    def _merged(self, counts: _LineCounts, later: np.ndarray, first: np.ndarray) -> None:
        """Leave out one order of pairs; note pairs with another score."""
        first_score = self.values[first].astype(np.float64)
        later_score = self.values[later].astype(np.float64)
        with np.errstate(invalid="ignore"):
            gap = np.where(first_score == later_score, 0.0, np.abs(first_score - later_score))
        gap[np.isnan(first_score) & np.isnan(later_score)] = 0.0
        largest = np.abs(self.values[np.isfinite(self.values)]).max(initial=0.0)
        different = ~(gap <= _ROUNDING * float(largest))
        counts.different.append(np.stack([first[different], later[different]]))
        counts.merged = len(later)
        counts.rounded = int((gap[~different] > 0).sum())
        # The line that has the first name first is kept, whatever the order of lines.
        place = natural_places(as_objects(list(self.names.values)))
        turned = place[self.names.a[first]] > place[self.names.b[first]]
        counts.keep[np.where(turned, first, later)] = False

    def _compared_with_themselves(self, counts: _LineCounts, keep: bool) -> int:
        """Find self-comparisons; return the number of templates with such a comparison."""
        itself = np.flatnonzero((self.names.a == self.names.b) & counts.keep)
        counts.itself = len(itself)
        counts.keep[itself] = keep
        impostors = itself[~self.genuine[itself]].tolist()
        if impostors:
            number = len(impostors)
            compare = "compares" if number == 1 else "compare"
            raise DataError(
                f"{counted(number, 'impostor pairs')} {compare} a template with itself "
                f"({_first(number, self.where, impostors[:_EXAMPLES])}); correct the list, or give "
                "each template its own name"
            )
        return len(np.unique(self.names.a[itself]))

    def _refuse(self, counts: _LineCounts, rules: ListRules) -> None:
        number, examples = self._trouble(counts.contradictory)
        if number:
            raise DataError(
                f"{_number(number, 'pairs')} both genuine and impostor: {examples}; give each "
                "pair of templates one class"
            )
        number, examples = self._trouble(counts.different, scores=True)
        if number:
            advice = 'give `keep="repeated"` if these are separate attempts'
            if rules.unordered:
                advice = "leave out `unordered`, so that a-b and b-a are two attempts"
            raise DataError(
                f"{_number(number, 'pairs')} listed more than once with different scores: "
                f"{examples}; list each pair once, or {advice}. Where the names are those of "
                "subjects, call their columns subject_a and subject_b in a first line"
            )

    def _trouble(self, rows: list[np.ndarray], scores: bool = False) -> tuple[int, str]:
        """Return the number of refused pairs, and the first pairs with their rows."""
        if not rows:
            return 0, ""
        first, later = np.concatenate(rows, axis=1)
        pairs, place = np.unique(first, return_index=True)
        examples = []
        for row, later_row in zip(pairs[:_EXAMPLES], later[place[:_EXAMPLES]], strict=True):
            first_name, second_name = (
                self.names.values[side[row]] for side in (self.names.a, self.names.b)
            )
            text = self.where([int(row), int(later_row)])
            if scores:
                text += f": {float(self.values[row])!r} and {float(self.values[later_row])!r}"
            examples.append(f"{first_name!r} and {second_name!r} ({text})")
        ending = " and others" if len(pairs) > len(examples) else ""
        return len(pairs), f"{', '.join(examples)}{ending}"


def _notes_on_orders(counts: _LineCounts, pairs: int, rules: ListRules) -> list[Message]:
    """Return a note on the pairs listed in one order, where nearly all pairs are in both.

    In a list that was drawn by chance, some pairs have both orders.
    """
    if rules.unordered and not counts.merged:
        return []
    if rules.unordered:
        order_in_words = " in the other order"
        if counts.rounded:
            order_in_words += f" ({counts.rounded:,} with a score that differs by rounding)"
        return [Message("repeated-pairs", pairs=counts.merged, how=order_in_words, option="")]
    if not MOSTLY * pairs <= counts.both < pairs:
        return []
    consequence = ", the others in both, as two attempts each"
    about = {"one_order": pairs - counts.both, "pairs": pairs, "consequence": consequence}
    return [Message("pairs-in-one-order", **about, option="`unordered=True`")]


def _again(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows whose key occurred in an earlier row, and that key's first row."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    new = np.append(True, keys[1:] != keys[:-1])
    first = order[new][np.cumsum(new) - 1]
    return order[~new], first[~new]


def require_classes(
    genuine: np.ndarray, a: np.ndarray, b: np.ndarray, of_people: np.ndarray, where: Where
) -> None:
    """Raise where the class of a pair `of_people` contradicts its subjects `a` and `b`."""
    wrong = np.flatnonzero(((a == b) != genuine) & of_people)
    if len(wrong):
        contradict = "contradicts" if len(wrong) == 1 else "contradict"
        classes = f"{counted(len(wrong), 'pairs')} {contradict} their subjects"
        raise DataError(
            f"{classes}, as impostors of one subject or as genuine pairs of two "
            f"({_first(len(wrong), where, wrong[:_EXAMPLES].tolist())}); correct their class or "
            "their subjects"
        )


def require_one_subject(names: CodedSides, a: np.ndarray, b: np.ndarray, where: Where) -> None:
    """Raise where a template is of two subjects; `a` and `b` number the subjects of both sides."""
    of_name = np.full(len(names.values), -1, dtype=np.int64)
    of_name[names.b[::-1]], of_name[names.a[::-1]] = b[::-1], a[::-1]
    for codes, subjects in ((names.a, a), (names.b, b)):
        for row in np.flatnonzero(of_name[codes] != subjects)[:1]:
            name = names.values[codes[row]]
            first_row = np.flatnonzero((names.a == codes[row]) | (names.b == codes[row]))[0]
            rows = sorted({int(first_row), int(row)})
            raise DataError(
                f"the template {name!r} is of two subjects ({where(rows)}); equal names are one "
                "template: correct the subjects, or give each template its own name"
            )


def _number(number: int, nouns: str) -> str:
    return f"{counted(number, nouns)} {'is' if number == 1 else 'are'}"


def _first(number: int, where: Where, rows: Sequence[int]) -> str:
    return ("first: " if number > len(rows) else "") + where(rows)


def note_on_infinite(values: np.ndarray, kind: str, where: Where) -> list[Message]:
    """Return messages on the number of infinite scores, at either end."""
    notes = []
    for end in (np.inf, -np.inf):
        infinite = np.flatnonzero(values == end)
        if len(infinite):
            is_nearest = (kind in LARGER_IS_CLOSER) == (end > 0)
            about = {
                "accepted": "every" if is_nearest else "no",
                "first": f" ({where([int(infinite[0])])})",
            }
            notes.append(Message("infinite-scores", scores=len(infinite), **about))
    return notes


#: A pattern where none is found in the names.
EXAMPLE_PATTERN = r"id(\d+)/"


def subject_pattern(names: Sequence[str], truth: tuple[np.ndarray, ...] = ()) -> str:
    r"""Return a pattern that takes the subject from names of templates, else an example.

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
    sample = names[:10_000] if not truth else names
    for pattern in patterns:
        matches = [re.search(pattern, str(name)) for name in sample]
        subjects = [match[1] for match in matches if match]
        if len(subjects) < len(sample) or not 1 < len(set(subjects)) <= len(sample) / 2:
            continue
        person = np.unique(subjects, return_inverse=True)[1].reshape(-1)
        if not truth or ((person[truth[0]] == person[truth[1]]) == truth[2]).all():
            return pattern
    return EXAMPLE_PATTERN
