"""Attempts of several tries, and claims that are no attempts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from bioeval.base.messages import Message
from bioeval.scores.codes import Codes, places_of_ids
from bioeval.scores.fusion_rules import Templates
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import known_column
from bioeval.scores.missing import no_value
from bioeval.scores.orders import days_of
from bioeval.scores.requirements import require_kept

# Genuine and impostor attempts have unequal numbers of tries if their means differ by more than
# this share.
_ALIKE = 0.02

# Visits seem to end at the first accepted try if some threshold accepts all but this share of the
# last tries, and at most this share of the earlier tries.
_EXCEPTIONS = 0.05

# The least number of last tries, and of earlier tries, by which the end of visits is judged.
_LEAST_TRIES = 10

# Titles of columns of days, whose values need not be dates.
_DAYS = ("day", "date", "days", "dates")

# A visit of more tries than this may be several visits.
_MOST_TRIES = 10


class GroupedTries(NamedTuple):
    """The tries of each attempt; a try is a probe. Attempts are numbered from 0."""

    attempt: np.ndarray  # int64 (tries,): the attempt of each try
    first_try: np.ndarray  # int64 (attempts,): the first try of each attempt

    @classmethod
    def single(cls, number: int) -> Self:
        """Return attempts of one try each."""
        return cls(np.arange(number), np.arange(number))

    @classmethod
    def by_column(cls, scores: Scores, column: str) -> Self:
        """Return attempts whose tries have the same subject and the same value of a column.

        Attempts are in the order of their subjects' first probes.
        """
        require_kept(scores, column, "attempts", scores.probe_meta)
        values = known_column(scores.probe_meta, column, "attempts", "probe")
        subject = scores.codes.probe
        value = Codes(values, values, column).probe
        key = subject * (int(value.max()) + 1) + value
        _, first_try, key_rank = np.unique(key, return_index=True, return_inverse=True)
        _, first_probes, subject_rank = np.unique(subject, return_index=True, return_inverse=True)
        first_of_subject = first_probes[subject_rank.reshape(-1)]  # (tries,)
        order = np.lexsort((first_try, first_of_subject[first_try]))
        attempt_of_key = np.argsort(order)
        return cls(attempt_of_key[key_rank.reshape(-1)], first_try[order])

    @property
    def counts(self) -> np.ndarray:
        """The number of tries of each attempt, int64 (attempts,)."""
        return np.bincount(self.attempt)


@dataclass(frozen=True, eq=False)
class Tries:
    """The tries of claims, by which the deciding try of a claim is found."""

    scores: Scores  # the scores of which the claims were made
    enrolled: Scores  # their part with the tries as probes and the enrolled templates as gallery
    attempt: np.ndarray  # int64 (tries,): the attempt of each try
    first_id: int  # the identity of the first attempt; identities of claimed subjects begin at 0
    templates: Templates  # the argument of :func:`claim_scores`
    fusion: str  # the same, as a rule that fuses distances

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()  # a worker of a cluster needs no tries


def failures_of_tries(scores: Scores) -> tuple[int, int] | None:
    """Return the numbers of failed genuine and impostor comparisons of tries.

    None where the attempts have no tries.
    """
    tries: Tries | None = scores._tries
    if tries is None:
        return None
    rows = np.flatnonzero(np.isin(tries.attempt, scores.probe_ids - tries.first_id))
    columns = np.flatnonzero(np.isin(tries.enrolled.gallery_labels, scores.gallery_labels))
    return tries.enrolled.select(rows, columns).failures


def unequal_tries(tries: GroupedTries, is_attempt: np.ndarray, is_genuine: np.ndarray) -> str:
    """Return the remark that genuine attempts have more or fewer tries than impostor attempts.

    It is empty if they have about as many. The flags are of claims, (attempts, claimed).
    """
    means = []
    for is_claim in (is_attempt & is_genuine, is_attempt & ~is_genuine):
        claims = is_claim.sum(axis=1)  # (attempts,): claims of the class
        means.append(float(tries.counts @ claims / max(claims.sum(), 1)))
    if not all(means) or math.isclose(*means, rel_tol=_ALIKE):
        return ""
    genuine, impostor = means
    return (
        f"; genuine attempts have {genuine:.2f} tries on average, impostor attempts {impostor:.2f}"
    )


def end_of_visits(tries: GroupedTries, own_distance: np.ndarray) -> str:
    """Return the remark on the share of visits that end at their first accepted try, or "".

    It is made if a threshold divides the last tries of visits, except the longest visits, from
    earlier tries. `own_distance` (tries,) is the distance of each try to its own subject.
    """
    order = np.argsort(tries.attempt, kind="stable")
    attempt = tries.attempt[order]
    distance = own_distance[order]
    is_last = np.append(np.diff(attempt) > 0, True)
    is_of_longest = tries.counts[attempt] == tries.counts.max()
    has_distance = ~np.isnan(distance)
    last = distance[has_distance & is_last & ~is_of_longest]
    earlier = distance[has_distance & ~is_last]
    if min(len(last), len(earlier)) < _LEAST_TRIES:
        return ""
    threshold = np.quantile(last, 1 - _EXCEPTIONS, method="higher")
    if np.mean(earlier <= threshold) > _EXCEPTIONS:
        return ""
    accepted = np.bincount(attempt[distance <= threshold], minlength=attempt.max() + 1)
    is_ended = (accepted == 1) & (distance[is_last] <= threshold)
    return (
        f"; {100 * is_ended.mean():.0f} % of the visits seem to end at their first accepted try: "
        "for an impostor who goes on FAR is too small, and at a stricter threshold FRR is too large"
    )


def joined_visits(scores: Scores, tries: GroupedTries, column: str | None) -> list[Message]:
    """Return messages of visits that seem to be several, since names of visits begin anew each day.

    Such visits have tries of two dates, many more tries than other visits, or a name that another
    person's visit has, while most names are of a single person.
    """
    if column is None:
        return []
    has_many = (tries.counts > _MOST_TRIES) & (tries.counts > 3 * np.median(tries.counts))
    seems_joined = {"have many more tries than others": has_many}  # bool (attempts,), by reason
    name = Codes(scores.probe_meta[column], scores.probe_meta[column], column).probe
    people = _distinct_partners(name, scores.codes.probe)
    if 2 * np.count_nonzero(people > 1) < np.count_nonzero(people):
        is_shared = people[name[tries.first_try]] > 1
        seems_joined["have names that another person's visit has, too"] = is_shared
    for date_column, values in scores.probe_meta.items():
        if date_column == column:
            continue
        days = days_of(values)
        is_known = np.ones(len(values), dtype=bool)
        if days is None and date_column.strip().casefold() in _DAYS:
            days, is_known = values.astype(str), ~no_value(values)
        if days is not None:
            day = np.unique(days, return_inverse=True)[1].reshape(-1)
            known_tries = tries.attempt[is_known]
            number = len(tries.counts)
            has_two_days = _distinct_partners(known_tries, day[is_known], number) > 1
            seems_joined[f"have tries of two dates, by {date_column!r}"] = has_two_days
    messages = []
    for reason, is_joined in seems_joined.items():
        if is_joined.any():
            probe = int(tries.first_try[np.argmax(is_joined)])
            example = str(scores.probe_meta[column][probe])
            person = str(scores.probe_labels[probe])
            about = {"visits": int(is_joined.sum()), "why": reason, "column": column}
            messages.append(Message("visits-joined", **about, visit=example, person=person))
    return messages


def _distinct_partners(codes: np.ndarray, partners: np.ndarray, number: int = 0) -> np.ndarray:
    """Return with how many distinct partners each code occurs, int64 (codes,), or `number` long."""
    return np.bincount(np.unique(np.stack([codes, partners]), axis=1)[0], minlength=number)


def incomplete_claims(scores: Scores) -> tuple[int, int]:
    """Return the numbers of genuine and impostor claims that lack a try, and so are no attempts."""
    return (0, 0) if scores._incomplete is None else _number_of_claims(scores, scores._incomplete)


def claims_of_few_templates(scores: Scores) -> tuple[int, int]:
    """Return the numbers of genuine and impostor claims with too few templates for their fusion."""
    too_few = scores._too_few
    return (0, 0) if too_few is None else _number_of_claims(scores, too_few.claims)


def _number_of_claims(scores: Scores, claims: np.ndarray) -> tuple[int, int]:
    """Count genuine and impostor claims, given as identities (k, 2) of probe and gallery."""
    probe, gallery = claims.T
    is_present = np.isin(probe, scores.probe_ids) & np.isin(gallery, scores.gallery_ids)
    row = places_of_ids(probe[is_present], scores.probe_ids)
    column = places_of_ids(gallery[is_present], scores.gallery_ids)
    is_genuine = scores.codes.probe[row] == scores.codes.gallery[column]
    genuine = int(np.count_nonzero(is_genuine))
    return genuine, int(np.count_nonzero(is_present)) - genuine
