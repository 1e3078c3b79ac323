"""People who are in two sets of scores: one that something is chosen on, and one that judges it."""

from __future__ import annotations

from bioeval.base.errors import counted
from bioeval.base.messages import Message
from bioeval.scores.labels import likeness
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people


def people_of_both_sets(dev: Scores, judged: Scores, set_name: str) -> list[Message]:
    """Return a message where a set is the development set, or has people of it."""
    if dev.fingerprint == judged.fingerprint:
        return [Message("people-of-both-sets", set=set_name, who="all attempts")]
    if not (knows_people(dev) and knows_people(judged)):
        return []
    people = set(map(likeness, judged.subjects.tolist()))
    shared = len(people.intersection(map(likeness, dev.subjects.tolist())))
    if not shared:
        return []
    who = f"{shared:,} of {counted(len(people), 'subjects')}"
    return [Message("people-of-both-sets", set=set_name, who=who)]
