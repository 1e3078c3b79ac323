"""Lists that name the templates of both sides: contradictory and repeated pairs.

A pair has one class, whatever its order. The same ordered pair counts once, and a comparison of a
template with itself is not an attempt, as in a matrix.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from bioeval.base.arguments import require_choice, require_flag, require_list
from bioeval.base.errors import DataError, counted
from bioeval.base.kinds import LARGER_IS_CLOSER, Kind
from bioeval.base.messages import Message
from bioeval.scores.columns import CodedSides
from bioeval.scores.labels import as_objects
from bioeval.scores.orders import natural_places

#: Lines of a list that are left out unless `keep` names them.
Kept = Literal["self", "repeated"]
KEEP: tuple[Kept, ...] = get_args(Kept)

# The pairs that a message shows.
_EXAMPLES = 3

# Pairs are counted in a table of all templates if it has at most so many cells for each pair.
_CELLS_PER_PAIR = 8

#: The least share of pairs that counts as nearly all.
MOSTLY = 0.9

# Two scores of a pair are equal but for rounding if they differ by at most this share of the
# largest score of the list.
_ROUNDING = 1e-5

#: A function that names the places of pairs: ``line 3``, ``lines 3 and 9``.
Where = Callable[[Sequence[int]], str]


def places(noun: str, numbers: Sequence[int]) -> str:
    """Return places in words: ``line 3``, ``lines 3, 4 and 9``."""
    words = [f"{number:,}" if noun == "pair" else str(number) for number in numbers]
    if len(words) == 1:
        return f"{noun} {words[0]}"
    return f"{noun}s {', '.join(words[:-1])} and {words[-1]}"


@dataclass(frozen=True)
class ListRules:
    """Rules for the lines of a list that are left out, or stand for the same attempt."""

    #: Lines that are attempts nevertheless: ``"self"``, comparisons of a template with itself, and
    #: ``"repeated"``, pairs that are listed again.
    keep: tuple[Kept, ...] = ()
    unordered: bool = False  # whether a-b and b-a are one attempt

    @classmethod
    def parse(cls, keep: Kept | Sequence[Kept] | None, unordered: bool | None) -> ListRules:
        """Return the rules of the arguments `keep` and `unordered`, checked."""
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


class ListedTemplates:
    """The pairs of a list whose templates have names, and the faults among these pairs.

    - `values`, `genuine`: (p,)
    - `where` (callable): names the places of some pairs, for messages
    - `is_kept` (bool (p,)): which pairs are attempts
    - `distinct`, `in_both_orders` (int): numbers of pairs, and of pairs that are listed in both
      orders, whatever the order of their names
    - `repeated`, `merged`, `self_comparisons` (int): numbers of lines that list a pair again, that
      list a pair in the other order as the same attempt, and that compare a template with itself
    - `rounded` (int): number of merged lines whose scores differ by rounding
    - `contradictory`, `different` (lists of int64 (2, k)): a first and a later row of pairs of two
      classes, and of pairs of two scores, which are refused
    """

    def __init__(
        self,
        names: CodedSides,
        values: np.ndarray,
        genuine: np.ndarray,
        rules: ListRules,
        where: Where,
    ):
        self.names = names
        self.values = values
        self.genuine = genuine
        self.rules = rules
        self.where = where
        self.is_kept = np.ones(len(names), dtype=bool)
        self.distinct = 0
        self.in_both_orders = 0
        self.repeated = 0
        self.merged = 0
        self.rounded = 0
        self.self_comparisons = 0
        self.contradictory: list[np.ndarray] = []
        self.different: list[np.ndarray] = []

    def attempts(self) -> tuple[np.ndarray | None, list[Message]]:
        """Return which pairs are attempts (None: all), and notes on the pairs left out.

        Raises
        ------
        DataError
            If a pair is both genuine and impostor, or has several scores.
        """
        if not self._count_in_table():
            self._count_by_sorting()
        self._refuse()
        notes = []
        if self.repeated:
            option = '; `keep="repeated"` counts each line'
            notes.append(Message("repeated-pairs", pairs=self.repeated, how="", option=option))
        keeps_self = "self" in self.rules.keep
        same_template = self._leave_out_self_comparisons(keeps_self)
        if self.self_comparisons and not keeps_self:
            about = {"comparisons": self.self_comparisons, "option": '`keep="self"`'}
            notes.append(Message("self-comparisons-left-out", **about))
        if not self.is_kept.any():
            raise DataError(
                "every pair compares a template with itself, and this is not an attempt; give "
                '`keep="self"` to count them'
            )
        notes += self._notes_on_orders(self.distinct - same_template)
        return (None if self.is_kept.all() else self.is_kept), notes

    def _count_in_table(self) -> bool:
        """Count the pairs in a table of all templates, which is several times faster than sorting.

        Return False if the table would be too large, or if lines are to be left out or refused.
        """
        size = len(self.names.values)
        if size * size > _CELLS_PER_PAIR * len(self.names):
            return False
        table = np.zeros((size, size), dtype=np.uint8)
        table[self.names.a, self.names.b] = 1 + self.genuine
        if np.count_nonzero(table) < len(self.names) or ((table | table.T) == 3).any():
            return False
        in_both_orders = np.count_nonzero(table & table.T) - np.count_nonzero(table.diagonal())
        if in_both_orders and self.rules.unordered:
            return False
        self.in_both_orders = int(in_both_orders) // 2
        self.distinct = len(self.names) - self.in_both_orders
        return True

    def _keys(self) -> np.ndarray:
        """Return keys of the pairs, int64 (p,).

        The lowest bit is the class, the next bit the order of the names, and the others are the two
        names in any order.
        """
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

    def _count_by_sorting(self) -> None:
        keys = np.sort(self._keys())
        change = keys[1:] ^ keys[:-1]
        has_same_names = change < 4
        has_same_order = change < 2
        has_other_class = has_same_names & (change & 1).astype(bool)
        self.distinct = len(keys) - int(has_same_names.sum())
        self.in_both_orders = int((has_same_names & ~has_same_order).sum())
        merges = self.rules.unordered and self.in_both_orders > 0
        leaves_out = bool(has_same_order.any()) and "repeated" not in self.rules.keep
        if not (has_other_class.any() or merges or leaves_out):
            return
        keys = self._keys()
        later, first = _later_and_first(keys >> 2)
        differs = self.genuine[later] != self.genuine[first]
        self.contradictory.append(np.stack([first[differs], later[differs]]))
        if leaves_out:
            self._leave_out_repeated(*_later_and_first(keys >> 1))
        if merges:
            is_kept = self.is_kept[later]
            self._leave_out_one_order(later[is_kept], first[is_kept])

    def _leave_out_repeated(self, later: np.ndarray, first: np.ndarray) -> None:
        first_score = self.values[first]
        later_score = self.values[later]
        have_failed = np.isnan(first_score) & np.isnan(later_score)
        is_different = (first_score != later_score) & ~have_failed
        self.different.append(np.stack([first[is_different], later[is_different]]))
        self.repeated = len(later)
        self.is_kept[later] = False

    def _leave_out_one_order(self, later: np.ndarray, first: np.ndarray) -> None:
        first_score = self.values[first].astype(np.float64)
        later_score = self.values[later].astype(np.float64)
        with np.errstate(invalid="ignore"):
            gap = np.where(first_score == later_score, 0.0, np.abs(first_score - later_score))
        gap[np.isnan(first_score) & np.isnan(later_score)] = 0.0
        largest = np.abs(self.values[np.isfinite(self.values)]).max(initial=0.0)
        is_different = ~(gap <= _ROUNDING * float(largest))
        self.different.append(np.stack([first[is_different], later[is_different]]))
        self.merged = len(later)
        self.rounded = int((gap[~is_different] > 0).sum())
        # The line whose names are in natural order is kept, whatever the order of the two lines.
        place = natural_places(as_objects(list(self.names.values)))
        is_descending = place[self.names.a[first]] > place[self.names.b[first]]
        self.is_kept[np.where(is_descending, first, later)] = False

    def _leave_out_self_comparisons(self, keep: bool) -> int:
        """Leave out comparisons of a template with itself, unless they are kept.

        Return the number of templates that have such comparisons.
        """
        itself = np.flatnonzero((self.names.a == self.names.b) & self.is_kept)
        self.self_comparisons = len(itself)
        self.is_kept[itself] = keep
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

    def _refuse(self) -> None:
        number, examples = self._describe_refused(self.contradictory)
        if number:
            raise DataError(
                f"{_number(number, 'pairs')} both genuine and impostor: {examples}; give each "
                "pair of templates one class"
            )
        number, examples = self._describe_refused(self.different, scores=True)
        if number:
            advice = 'give `keep="repeated"` if these are separate attempts'
            if self.rules.unordered:
                advice = "leave out `unordered`, so that a-b and b-a are two attempts"
            raise DataError(
                f"{_number(number, 'pairs')} listed more than once with different scores: "
                f"{examples}; list each pair once, or {advice}. Where the names are those of "
                "subjects, call their columns subject_a and subject_b in a first line"
            )

    def _describe_refused(self, rows: list[np.ndarray], scores: bool = False) -> tuple[int, str]:
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

    def _notes_on_orders(self, pairs: int) -> list[Message]:
        """Return the note on merged pairs, or on pairs that are listed in one order alone.

        The latter is given if nearly all pairs are listed in both orders; in a list that was drawn
        by chance, some pairs are.
        """
        if self.rules.unordered and not self.merged:
            return []
        if self.rules.unordered:
            order_in_words = " in the other order"
            if self.rounded:
                order_in_words += f" ({self.rounded:,} with a score that differs by rounding)"
            return [Message("repeated-pairs", pairs=self.merged, how=order_in_words, option="")]
        if not MOSTLY * pairs <= self.in_both_orders < pairs:
            return []
        consequence = ", the others in both, as two attempts each"
        about = {
            "one_order": pairs - self.in_both_orders,
            "pairs": pairs,
            "consequence": consequence,
        }
        return [Message("pairs-in-one-order", **about, option="`unordered=True`")]


def _later_and_first(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each row whose key occurs before, and the first row with the same key."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    is_first = np.append(True, keys[1:] != keys[:-1])
    first = order[is_first][np.cumsum(is_first) - 1]
    return order[~is_first], first[~is_first]


def require_classes(
    genuine: np.ndarray,
    enrolled: np.ndarray,
    probe: np.ndarray,
    are_people: np.ndarray,
    where: Where,
) -> None:
    """Raise where a class contradicts the two subjects of a pair of people (`are_people`)."""
    wrong = np.flatnonzero(((enrolled == probe) != genuine) & are_people)
    if len(wrong):
        contradict = "contradicts" if len(wrong) == 1 else "contradict"
        classes = f"{counted(len(wrong), 'pairs')} {contradict} their subjects"
        raise DataError(
            f"{classes}, as impostors of one subject or as genuine pairs of two "
            f"({_first(len(wrong), where, wrong[:_EXAMPLES].tolist())}); correct their class or "
            "their subjects"
        )


def require_one_subject(
    names: CodedSides, enrolled: np.ndarray, probe: np.ndarray, where: Where
) -> None:
    """Raise where a template has two subjects, whose codes are `enrolled` and `probe`, (p,)."""
    subject_of_name = np.full(len(names.values), -1, dtype=np.int64)
    subject_of_name[names.b[::-1]] = probe[::-1]
    subject_of_name[names.a[::-1]] = enrolled[::-1]
    for codes, subjects in ((names.a, enrolled), (names.b, probe)):
        for row in np.flatnonzero(subject_of_name[codes] != subjects)[:1]:
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


def note_on_infinite(values: np.ndarray, kind: Kind, where: Where) -> list[Message]:
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


#: The pattern that messages show if no pattern fits the names.
EXAMPLE_PATTERN = r"id(\d+)/"


def subject_pattern(names: Sequence[str], truth: tuple[np.ndarray, ...] = ()) -> str:
    r"""Return a pattern that takes the subject from names of templates; an example if none fits.

    `truth` are the places in `names` of both sides of some pairs, and whether the pairs are
    genuine; the pattern must then give equal subjects to genuine pairs alone.

    Examples
    --------
    >>> subject_pattern(["s1-1", "s1-2", "s2-1", "s2-2"])
    '^(.+)-\\d+$'
    """
    # The subject is a folder, the part before a last number, or the part before a first - or _.
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
