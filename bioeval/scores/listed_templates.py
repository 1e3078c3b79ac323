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
from bioeval.scores.labels import as_objects, natural_places

#: Lines of a list that are left out unless they are to be kept.
Kept = Literal["self", "repeated"]
KEEP: tuple[Kept, ...] = get_args(Kept)

# The examples that a message has, and the most cells a pair of a table of all templates.
_EXAMPLES, _CELLS = 3, 8

#: Proportion of pairs that counts as nearly all.
MOSTLY = 0.9

# Scores of both orders of a pair within this part of the largest score differ by rounding.
_ROUNDING = 1e-5

#: A function that names the places of pairs: ``line 3``, ``lines 3 and 9``.
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


class ListedTemplates:
    """The pairs of a list whose templates have names, and the faults among these pairs.

    - `values`, `genuine`: (p,)
    - `where` (callable): names the places of some pairs, for messages
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
        #: bool (p,): pairs that no earlier pair makes needless.
        self.is_kept = np.ones(len(names), dtype=bool)
        self.distinct = 0
        self.in_both_orders = 0
        self.repeated = 0
        self.merged = 0
        self.rounded = 0
        self.self_comparisons = 0
        #: Refused pairs, each int64 (2, k): the first row and a later row of the same pair.
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
        """Count the pairs in a table of all templates; False of a sparse table, or if pairs clash.

        A table is several times faster than sorting.
        """
        size = len(self.names.values)
        if size * size > _CELLS * len(self.names):
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
        same = change < 4
        again = change < 2
        self.distinct = len(keys) - int(same.sum())
        self.in_both_orders = int((same & ~again).sum())
        wrong = same & (change & 1).astype(bool)
        merged = self.rules.unordered and self.in_both_orders > 0
        repeated = bool(again.any()) and "repeated" not in self.rules.keep
        if not (wrong.any() or merged or repeated):
            return
        keys = self._keys()
        later, first = _again(keys >> 2)
        wrong = self.genuine[later] != self.genuine[first]
        self.contradictory.append(np.stack([first[wrong], later[wrong]]))
        if repeated:
            self._leave_out_repeated(*_again(keys >> 1))
        if merged:
            is_kept = self.is_kept[later]
            self._leave_out_one_order(later[is_kept], first[is_kept])

    def _leave_out_repeated(self, later: np.ndarray, first: np.ndarray) -> None:
        first_score = self.values[first]
        later_score = self.values[later]
        different = (first_score != later_score) & ~(np.isnan(first_score) & np.isnan(later_score))
        self.different.append(np.stack([first[different], later[different]]))
        self.repeated = len(later)
        self.is_kept[later] = False

    def _leave_out_one_order(self, later: np.ndarray, first: np.ndarray) -> None:
        first_score = self.values[first].astype(np.float64)
        later_score = self.values[later].astype(np.float64)
        with np.errstate(invalid="ignore"):
            gap = np.where(first_score == later_score, 0.0, np.abs(first_score - later_score))
        gap[np.isnan(first_score) & np.isnan(later_score)] = 0.0
        largest = np.abs(self.values[np.isfinite(self.values)]).max(initial=0.0)
        different = ~(gap <= _ROUNDING * float(largest))
        self.different.append(np.stack([first[different], later[different]]))
        self.merged = len(later)
        self.rounded = int((gap[~different] > 0).sum())
        # The line that has the first name first is kept, whatever the order of lines.
        place = natural_places(as_objects(list(self.names.values)))
        turned = place[self.names.a[first]] > place[self.names.b[first]]
        self.is_kept[np.where(turned, first, later)] = False

    def _leave_out_self_comparisons(self, keep: bool) -> int:
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
        """Return a note on pairs in one order, if nearly all pairs are listed in both orders.

        In a list that was drawn by chance, some pairs have both orders.
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


def _again(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    new = np.append(True, keys[1:] != keys[:-1])
    first = order[new][np.cumsum(new) - 1]
    return order[~new], first[~new]


def require_classes(
    genuine: np.ndarray,
    enrolled: np.ndarray,
    probe: np.ndarray,
    of_people: np.ndarray,
    where: Where,
) -> None:
    """Raise where the class of a pair `of_people` contradicts its two subjects."""
    wrong = np.flatnonzero(((enrolled == probe) != genuine) & of_people)
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
    """Raise where a template is of two subjects, numbered for both sides of each pair."""
    of_name = np.full(len(names.values), -1, dtype=np.int64)
    of_name[names.b[::-1]], of_name[names.a[::-1]] = probe[::-1], enrolled[::-1]
    for codes, subjects in ((names.a, enrolled), (names.b, probe)):
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
