"""Messages on operating points: on rates that the data do not support, and on ties.

With 1,000 impostor attempts that are independent of each other, a FAR of 0.2 % is not supported by
the rule of 3 (no error in n attempts bounds a rate by 3 / n, here 0.3 %), and one of 1 % is
uncertain by the rule of 30 (30 errors are expected at 3 %). Attempts are not independent if people
make several of them: then people, or pairs of people, are counted in their place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr

from bioeval.base.errors import Message
from bioeval.counting.ties import ENDS
from bioeval.protocol.tasks import ImpostorProbes, PlainTies
from bioeval.results.variables import RANKS, SUPPORTED
from bioeval.scores.people import ComparedPeople
from bioeval.scores.provenance import Provenance

#: The largest number of attempts in a result (int64).
MOST_ATTEMPTS = 2**63 - 1


class RuleOf(int):
    """The number of errors that must be expected at a rate, so that attempts support the rate.

    ``RuleOf(3)``: no error in n attempts bounds a rate by 3 / n at 95 %. ``RuleOf(30)``: 30
    errors are expected.
    """

    def supports(self, target: float, trials: float) -> bool:
        """Whether this number of independent trials supports a target; a target of 0 needs none."""
        # The quotient is infinite for a target next to 0, where a product would be 0.
        return not target > 0 or trials >= self / float(target)

    def attempts_for(self, target: float) -> int:
        """Return the independent trials that a target needs, up to `MOST_ATTEMPTS`."""
        attempts = self / float(target) * (1 - 1e-12)  # a rounding error requires no trial
        if attempts < MOST_ATTEMPTS:
            return math.ceil(attempts)
        return MOST_ATTEMPTS


#: The rules, in the order of the dimension `rule` of results.
RULES = (RuleOf(3), RuleOf(30))

#: The rule of each message on targets, in the order of messages.
_RULE_OF_CODE = {"target-uncertain": RuleOf(30), "target-not-supported": RuleOf(3)}

#: A rate, and the rate whose targets choose the thresholds.
RatesAtTargets = Literal["frr at far", "far at frr", "dir at far"]


def supported(targets: Any, independent: Any) -> np.ndarray:
    """Return 1 for each target that independent attempts support by the rule of 3, else 0.

    `independent` is the number of attempts, or of people or pairs of people if fewer, of one part
    or of several parts (parts,); the targets are the last axis.
    """
    rates = np.asarray(targets, dtype=np.float64)
    with np.errstate(divide="ignore", over="ignore"):  # a rate next to 0 needs infinitely many
        needed = np.where(rates > 0, RuleOf(3) / rates, 0)
    return (np.asarray(independent)[..., None] >= needed).astype(np.int8)


def is_supported(dataset: xr.Dataset, name: str, labels: Mapping[str, Any]) -> bool:
    """Whether the data support a number at some labels, and at all labels of other dimensions.

    A number at no target needs no support.
    """
    support = dataset.variables.get(f"{name}{SUPPORTED}")
    if support is None:
        return True
    index_of: dict[Any, int] = {}
    for dim in support.dims:
        if dim in labels:
            (index,) = np.flatnonzero(dataset.variables[dim].values == labels[str(dim)])
            index_of[dim] = int(index)
    return not (support.isel(index_of).values == 0).any()


def note_asked_targets(result: xr.Dataset | xr.DataTree) -> None:
    """Note in a result that its FAR targets were asked for by name, even the usual ones.

    Such targets are shown whether the data support them or not.
    """
    nodes: Iterable[Any] = result.subtree if isinstance(result, xr.DataTree) else [result]
    for node in nodes:
        if "far_target" in node.coords:
            targets = node.coords["far_target"].values.tolist()
            node.attrs["report_far_targets"] = " ".join(map(repr, targets))


def searching_people(about: Provenance, impostors: ImpostorProbes) -> int | None:
    """Return the number of people of the non-mated searches of a role.

    None if the people are unknown, or there are none.
    """
    if about.people is None:
        return None
    probes, gallery, everyone = about.people  # numbers of people; everyone is on either side
    enrolled = probes + gallery - everyone  # on both sides
    if impostors == "unenrolled":
        return probes - enrolled or None
    if impostors == "leave-subject-out":
        return enrolled or None
    return probes or None


def people_with(pairs: int) -> int:
    """Return the smallest number of people who form at least this number of pairs.

    A pair of people counts once, however many templates it has.
    """
    # The root of n (n - 1) / 2 = pairs, rounded down.
    people = (1 + math.isqrt(8 * pairs + 1)) // 2
    if people * (people - 1) // 2 >= pairs:
        return people
    return people + 1


def independent_trials(attempts: float, people: ComparedPeople | int | None) -> float:
    """Return the number of independent trials of a rate: attempts, or fewer pairs or people.

    Trials are limited by pairs of `people` who are compared with each other, or by a number of
    people, for genuine attempts and for searches; by neither if people are unknown (None).
    """
    if people is None:
        return attempts
    if isinstance(people, ComparedPeople):
        return min(attempts, people.pairs)
    return min(attempts, people)


def independent_searches(attempts: Any, people: Any) -> np.ndarray:
    """Return the independent searches of one part or several: attempts, or fewer `people`.

    Attempts that nobody known makes are of templates of no person.
    """
    return np.where(people > 0, np.minimum(attempts, people), attempts)


def support_messages(
    targets: Iterable[float],
    attempts: float,
    symmetric: bool,
    rates: RatesAtTargets,
    people: ComparedPeople | int | None = None,
) -> list[Message]:
    """Return a message for each rule by which the data do not support all targets.

    Let ``n`` be the number of :func:`independent_trials`. A target below ``3 / n`` gets the message
    `target-not-supported`: not even zero errors show such a rate at 95 % (rule of 3). A target
    below ``30 / n`` gets `target-uncertain`: fewer than 30 errors are expected (rule of 30,
    Doddington et al. 2000).

    Parameters
    ----------
    targets : iterable of float
        Targets of the second rate in `rates`.
    attempts : float
        Impostor attempts for targets of FAR, genuine attempts for targets of FRR; pairs of them if
        `symmetric`.
    symmetric : bool
        Whether each comparison is twice in the matrix.
    rates : str
        The rate that is reported, and the rate whose targets are given.
    people : ComparedPeople, int or None
        As for :func:`independent_trials`.
    """
    rate, chosen = rates.split(" at ")
    trials = independent_trials(attempts, people)
    missed = [x for x in map(float, targets) if not RuleOf(30).supports(x, trials)]
    messages = []
    for code, rule in _RULE_OF_CODE.items():
        # Each target gets one message: that of the rule of 3 if it misses both rules.
        is_uncertain = code == "target-uncertain"
        missed_targets = [x for x in missed if RuleOf(3).supports(x, trials) == is_uncertain]
        if not missed_targets:
            continue
        about: dict[str, Any] = {"rate": rate, "chosen": chosen, "targets": missed_targets}
        # The unit of which there are too few, with the number that there are, and that is needed:
        # attempts, people, or pairs of people.
        needed = [rule.attempts_for(target) for target in missed_targets]
        if people is None or attempts < independent_trials(math.inf, people):
            unit = "genuine" if chosen == "frr" else "impostor"
            unit += " pairs" if symmetric else " attempts"
            # A symmetric matrix has half the attempts: perhaps half of an odd number.
            available = int(attempts) if attempts == int(attempts) else attempts
        elif isinstance(people, ComparedPeople):
            unit, available = "pairs of people", people.pairs
            # People are too few if as many people could not form the pairs for any of the targets.
            needed_people = [*map(people_with, needed)]
            if people.number < min(needed_people):
                about["trials"] = {unit: people.pairs}
                unit, available, needed = "people", people.number, needed_people
        else:
            unit, available = "people", people
            about["trials"] = {unit: people}
        if is_uncertain:
            about["errors"] = "false rejects" if chosen == "frr" else "false accepts"
        if rate == "dir":
            about["task"] = "identification"
        messages.append(Message(code, **about, have={unit: available}, needed=needed, unit=unit))
    return messages


def without_attempts(role: str) -> Message:
    """Return the message that verification has no genuine, or no impostor attempt."""
    rates = ["gar", "frr"] if role == "genuine" else ["far", "grr"]
    return Message("no-attempt", what=f"{role} attempt", rates=rates)


def labels_doubtful(role: str) -> Message:
    """Return the message that the labels leave no genuine, or no impostor attempt."""
    reasons = {
        "genuine": "each subject has one template",
        "impostor": "all templates are of one subject",
    }
    return Message("labels-doubtful", role=role, why=reasons[role])


#: The message of a threshold that is NaN: all attempts are rejected, but at no finite threshold.
ALL_REJECTED = Message("no-threshold", why="all attempts are rejected, since scores are infinite")


# --------------------------------------------------------------------------------------------- ties


def tie_message(number: str, ends: Iterable[Any], words: str, **at: float) -> Iterator[Message]:
    """Yield the message that the order of equal scores decides a rate's first three digits, if so.

    `number` is the variable of the rate, `at` its coordinates, `words` its name in words, and
    `ends` its values under the two orders in `ENDS`.
    """
    pessimistic, optimistic = map(float, ends)
    if f"{pessimistic:.3g}" != f"{optimistic:.3g}":
        values = {"pessimistic": pessimistic, "optimistic": optimistic}
        yield Message("ties-decide", number=number, words=words, **at, **values)


def rank_message(
    number: str, curve: Callable[[PlainTies], np.ndarray], words: Sequence[str]
) -> Iterator[Message]:
    """Yield the message of :func:`tie_message` for the first shown rank with such a rate.

    `curve` returns the rates over ranks under one of `ENDS`. `words` are the name of the rate at
    rank 1, and the name to which the number of another rank is appended.
    """
    ends = [curve(ties) for ties in ENDS]
    for rank in RANKS:
        if rank > len(ends[0]):
            return
        name = words[0] if rank == 1 else f"{words[1]} {rank}"
        messages = [*tie_message(number, (rates[rank - 1] for rates in ends), name, rank=rank)]
        if messages:
            yield from messages
            return
