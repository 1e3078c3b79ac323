"""The people that a target of a threshold study needs, and the people that the data have."""

from __future__ import annotations

from typing import Any, NamedTuple

from bioeval.base.errors import counted
from bioeval.base.messages import Message
from bioeval.counting.threshold_rules import Rule
from bioeval.results.dataset import Variables, variables_over
from bioeval.results.support import RULES, people_with
from bioeval.scores.compared_people import ComparedPeople


class StudyPeople(NamedTuple):
    """The people and impostor attempts that decide whether data support a target."""

    subjects: int  # number of people, of searches only those not enrolled; 0 if unknown
    impostors: int  # number of impostor attempts; each pair of a symmetric matrix counts once
    compared: ComparedPeople | None = None  # None of searches, and if people are unknown
    is_search: bool = False  # whether people who are not enrolled search a gallery

    def in_words(self) -> dict[str, str]:
        """Return the attribute with the number of people, empty if unknown."""
        if not self.subjects:
            return {}
        text = counted(self.subjects, "people" if self.compared else "people who are not enrolled")
        if self.compared is not None:
            text += f", {counted(self.compared.pairs, 'pairs of people')}"
        return {"people_here": text}


class Needs(NamedTuple):
    """What a target needs, over the rules of 3 and 30, and a message if the data have too few."""

    variables: Variables  # empty unless the rule has a target that the number of people limits
    messages: list[Message]  # at most one

    @property
    def are_shown(self) -> bool:
        """Whether the data can show the target."""
        return all(message.code != "target-not-shown" for message in self.messages)


def needs_of(people: StudyPeople, rule: Rule, *, is_assured: bool) -> Needs:
    """Return the people that a target needs and lacks.

    `is_assured` says whether there is an assured threshold besides the threshold by the rule.
    """
    rate = rule.name
    is_limited = rate == "far" or (rate == "frr" and people.subjects > 0 and not people.is_search)
    if not is_limited or not rule.values[0] > 0:
        return Needs({}, [])
    target = float(rule.values[0])
    in_pairs = rate == "far" and not people.is_search
    independent = people.subjects
    if in_pairs:
        pairs = people.impostors if people.compared is None else people.compared.pairs
        independent = min(people.impostors, pairs)

    # The variables, over the rules of 3 and 30.
    numbers = [rule_of.attempts_for(target) for rule_of in RULES]
    needed: Variables = {}
    if people.subjects:
        needed["subjects_needed"] = [*map(people_with, numbers)] if in_pairs else numbers
    if rate == "far":
        needed["impostors_needed"] = numbers
        needed["impostors_missing"] = [max(0, number - independent) for number in numbers]
    needed = variables_over(("rule",), **needed)

    # The message on the first rule that the data do not fulfil.
    error = {"far": "false accept", "frr": "false reject"}[rate]
    about: dict[str, Any] = {"rate": rate, "target": target}
    for rule_of, number in zip(RULES, numbers, strict=True):
        if rule_of.supports(target, independent):
            continue
        about["needed"] = _needed_by_unit(people, number, in_pairs=in_pairs)
        if rule_of == 3:
            return Needs(needed, [Message("target-not-shown", **about, error=error)])
        about |= {"errors": f"{error}s", "which": "", "beside": ""}
        if is_assured:
            about["which"] = "by the rule "
            about["beside"] = (
                "; the assured threshold needs fewer people, because its {far} is bounded and not "
                "measured"
            )
        return Needs(needed, [Message("threshold-uncertain", **about)])
    return Needs(needed, [])


def _needed_by_unit(people: StudyPeople, number: int, *, in_pairs: bool) -> dict[str, int]:
    if not in_pairs:
        return {"people who are not enrolled" if people.is_search else "people": number}
    compared = people.compared
    if compared is None or compared.pairs > people.impostors:
        return {"impostor attempts": number}
    more_people = people_with(number)
    needed = {"people": more_people} if more_people > compared.number else {}
    return needed | {"pairs of people": number}
