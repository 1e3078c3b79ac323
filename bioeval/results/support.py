"""Operating points of every task: the variables of the EER, and the rules of 3 and of 30."""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from bioeval.base.errors import BioevalWarning, counted
from bioeval.base.kinds import METRICS, PLURALS, larger_is_closer
from bioeval.results.words import percent
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.scores.provenance import pairs_of_people
from bioeval.tallies.counts import VerificationTally
from bioeval.tallies.points import FAR_TARGETS, per_cent

#: The largest number of attempts that results hold (int64).
MOST_ATTEMPTS = 2**63 - 1


class RuleOf(int):
    """How many errors must be expected at a rate, so that attempts or people support it.

    ``RuleOf(3)``: no error in n attempts bounds a rate by 3 / n at 95 %. ``RuleOf(30)``: 30
    errors are expected.
    """

    def supports(
        self, target: float, attempts: float, people: ComparedPeople | None = None
    ) -> bool:
        """Whether attempts, or fewer pairs of people, support a FAR target."""
        if people is not None:
            attempts = min(attempts, people.pairs)
        return not target > 0 or attempts >= self / float(target)  # infinity, no warning

    def attempts_for(self, target: float) -> int:
        """Return the impostor attempts that a FAR target needs, up to `MOST_ATTEMPTS`."""
        wanted = self / float(target) * (1 - 1e-12)
        if wanted < MOST_ATTEMPTS:
            return math.ceil(wanted)
        return MOST_ATTEMPTS

    def needed(self, far: float, attempts: float, people: ComparedPeople | None) -> str:
        """Return in words what a FAR needs: people, or impostor pairs where these are fewer."""
        if people is not None and people.pairs <= attempts:
            return people.needed(self, far)
        return f"{self.attempts_for(far):,} impostor pairs"


def wanted_targets(targets: Sequence[float], attempts: float) -> list[bool]:
    """Say of each FAR target whether to show it: the default ones if they are supported."""
    usual = tuple(targets[: len(FAR_TARGETS)]) == FAR_TARGETS
    return [not usual or RuleOf(3).supports(x, attempts) for x in targets]


@dataclass(frozen=True)
class ComparedPeople:
    """The people of verification attempts, and the pairs of them that are compared."""

    number: int
    pairs: int

    @classmethod
    def of_sides(cls, sides: tuple[int, int, int] | None) -> ComparedPeople | None:
        """Of the people of the probes, of the gallery and of both; None where unknown."""
        return None if sides is None else cls(sides[-1], pairs_of_people(*sides))

    @classmethod
    def among(cls, number: int) -> ComparedPeople:
        """Of people, any two of them compared."""
        return cls(number, pairs_of_people(number, number, number))

    @staticmethod
    def least_with(pairs: int) -> int:
        """Return the smallest number of people who form at least this number of pairs.

        A pair of people counts once, however many templates it has.
        """
        n = (1 + math.isqrt(8 * pairs + 1)) // 2
        if n * (n - 1) // 2 >= pairs:
            return n
        return n + 1

    @classmethod
    def of_tally(cls, tally: VerificationTally) -> ComparedPeople | None:
        """Of the attempts of a tally; None where they are unknown."""
        if tally.people is not None:
            return cls.among(tally.people[0])
        return cls.of_sides(tally.about.people)

    @classmethod
    def of_scores(cls, scores: Scores) -> ComparedPeople | None:
        """Of all attempts of scores; None where their people are unknown."""
        if are_pairs(scores):
            if scores._knows_subjects:
                return cls.among(len(scores.subjects))
            return None
        if not scores._labelled:
            return None
        probe = np.unique(scores._codes.probe)
        gallery = np.unique(scores._codes.gallery)
        both = len(np.union1d(probe, gallery))
        return cls.of_sides((len(probe), len(gallery), both))

    def __str__(self) -> str:
        return f"{self.number:,} people ({counted(self.pairs, 'pairs')} of them)"

    def needed(self, rule: RuleOf, far: float) -> str:
        """Return in words what a rule needs: people, or pairs of them where people suffice."""
        pairs = rule.attempts_for(far)
        enough = self.least_with(pairs)
        if enough <= self.number:
            return f"{pairs:,} pairs of people"
        return f"{enough:,} people with {pairs:,} pairs"


class OnePersonEach(ComparedPeople):
    """The people of genuine attempts: what counts for a FRR is a person, and no pair."""

    def __str__(self) -> str:
        return f"{self.number:,} people"

    def needed(self, rule: RuleOf, far: float) -> str:
        """Return in words what a rule needs."""
        return f"{rule.attempts_for(far):,} people"


def support_warnings(
    targets: Iterable[float],
    attempts: float,
    symmetric: bool,
    rate: str,
    people: ComparedPeople | None = None,
    chosen: str = "FAR",
) -> list[str]:
    """Return a warning of the targets that the number of people cannot support.

    The targets are of the `chosen` rate: of FAR, with impostor attempts, or of FRR, with genuine
    ones. With ``n`` pairs of people, for a FRR people (attempts, where people are unknown or fewer
    are compared), and a target ``x``: ``n < 3/x``: not even zero errors support ``x`` at 95 %
    (rule of 3); ``n < 30/x``: fewer than 30 errors in independent attempts are expected (rule of
    30, Doddington et al. 2000). Fewer than ``1/x`` attempts make the point that of zero errors.
    """
    errors, role = "false accepts", "impostor"
    if chosen == "FRR":
        errors, role = "false rejects", "genuine"
        if people is not None:
            people = OnePersonEach(people.number, people.number)
    too_few: dict[RuleOf, list[str]] = {}
    by_people = people if people is not None and people.pairs <= attempts else None
    for x in targets:
        if RuleOf(30).supports(x, attempts, people):
            continue
        rule = RuleOf(3)
        if RuleOf(3).supports(x, attempts, people):
            rule = RuleOf(30)
        if not RuleOf(1).supports(x, attempts):
            why = f"fewer attempts than 1 / {chosen}: the same as at {chosen} = 0"
        elif by_people:
            why = f"needs {by_people.needed(rule, x)}: rule of {rule}"
        elif rule == RuleOf(3):
            why = f"{rule.attempts_for(x):,} needed: rule of 3"
        else:
            why = f"about {attempts * x:.2g} {errors} expected, 30 needed: rule of 30"
        too_few.setdefault(rule, []).append(f"{chosen} {per_cent(x)} ({why})")
    if not too_few:
        return []
    if by_people:
        made, verb = str(by_people), "are"
    else:
        made = counted(attempts, f"{role} pairs" if symmetric else f"{role} attempts")
        verb = "is" if attempts == 1 else "are"
    # Fewer people bound a FAR (a promise, the rule of 3) than measure a rate there.
    purposes = []
    for rule, purpose in ((RuleOf(30), "measure"), (RuleOf(3), "support")):
        if rule in too_few:
            purposes.append(f"to {purpose} {rate} at {'; '.join(too_few[rule])}")
    return [f"{made} {verb} too few {', and '.join(purposes)}"]


#: EER of fused attempts of scores at random, at most: a probe is no template of its own subject, so
#: that the group of a genuine attempt has one template less than others (of 2 templates, 0.618).
_CHANCE_OF_FUSED = 0.62


# The origin of scores that a metric of bioeval computed, which gives distances and nothing else.
_COMPUTED = re.compile(rf"\d+-dimensional \w+ embeddings, metric ({'|'.join(METRICS)})\b")


@dataclass(frozen=True)
class KindVerdict:
    """What an EER shows of the kind of scores, and the doubt that it raises."""

    #: Attribute of results: the warning that labels or kind of the scores are doubtful.
    ATTRIBUTE: ClassVar = "kind_doubt"

    severity: str  # "ok", "warning" or "error"
    message: str
    remedy: str = ""
    is_wrong: bool = False  # whether they are probably of the other kind

    @classmethod
    def of(
        cls,
        eer: float,
        kind: str,
        people: int,
        *,
        diagonal: int = 0,
        fused: bool = False,
        origin: str = "",
        sample: tuple[int, int] | None = None,
    ) -> Self:
        """Return the verdict on an EER.

        `people` is the number of subjects, or of genuine attempts where these are fewer,
        `diagonal` 1 where a template is nearest to itself, -1 where it is farthest, 0 if unknown.
        Attempts of several templates are `fused`. The `origin` of the scores says whether their
        kind is certain. An EER of a `sample` of the scores has its numbers of genuine and of
        impostor scores.
        """
        other = "distance" if larger_is_closer(kind) else "similarity"
        margin = 1.0 / math.sqrt(max(2, people))  # two standard errors of a rate of one half
        message = f"{PLURALS[kind]}; EER {percent(eer)}"
        if sample is not None:
            genuine, impostor = sample
            message = (
                f"{PLURALS[kind]}; EER about {percent(eer, '.3g')} in a sample of the scores "
                f"({genuine:,} genuine, {impostor:,} impostor; an evaluation counts all)"
            )
        if not eer > 0.5:
            if not eer > 0.5 - margin / 2:
                return cls("ok", message)
            remedy = "check labels and kind, since the scores hardly separate subjects"
            return cls("warning", f"{message}, near chance", remedy)
        swap = f'`kind="{other}"` reverses them'
        certain = eer > (_CHANCE_OF_FUSED if fused else 0.5) + margin
        known = bool(_COMPUTED.match(origin))
        if known and not certain:
            return cls("warning", f"{message}: no better than chance", "check the labels")
        if diagonal > 0 or known:
            message += ": worse than chance"
            if diagonal > 0:
                message += ", yet each template is nearest to itself"
            remedy = (
                f"the kind {'is' if known else 'seems'} right and the labels wrong; check the "
                "order of the labels"
            )
            return cls("error" if certain else "warning", message, remedy)
        if certain or diagonal < 0:
            message += ": worse than chance"
            if diagonal < 0:
                message += ", and each template is farthest from itself"
            remedy = f"{kind} is probably the wrong kind: {swap}"
            return cls("error", message, remedy, is_wrong=True)
        remedy = f"check the labels, and the kind: {swap}"
        return cls("warning", f"{message}: no better than chance", remedy)

    @classmethod
    def doubt(cls, eer: float, kind: str, people: int, *, system: str = "", **facts: Any) -> str:
        """Return a doubt about scores near chance or below it; empty where there is none.

        `facts` are for the verdict. Where scores are probably of the other kind, the doubt is also
        a warning at the user's line.
        """
        if kind == "order" or math.isnan(eer):
            return ""
        verdict = cls.of(eer, kind, people, **facts)
        if verdict.severity == "ok":
            return ""
        text = f"{verdict.message}; {verdict.remedy}"
        if system:
            text = f"{system}: {text}"
        if verdict.is_wrong:
            _warn_user(text)
        return text


def _warn_user(doubt: str) -> None:
    """Issue a warning at the line that called bioeval."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("bioeval."):
        level, frame = level + 1, frame.f_back
    warnings.warn(doubt, BioevalWarning, stacklevel=level)
