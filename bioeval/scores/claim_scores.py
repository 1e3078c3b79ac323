"""The scores by which a system in use decides claims, as a matrix of their own.

A person makes an attempt of one or several tries, and each try is compared with all enrolled
templates of the claimed subject::

    for attempt in attempts:  # of a visit, say
        for subject in subjects:
            distance[attempt, subject] = min(
                fused(scores[row, column] for column in templates[subject])
                for row in tries[attempt]
            )

:func:`claim_scores` makes this matrix. It selects the enrolled templates (:class:`Enrolment`),
groups rows as tries (:func:`grouped_tries`), and computes the distances block by block
(:func:`claim_distances`). Of the last functions, three are remarks on visits that seem to be no
attempts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, get_args

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError, Message, counted, received
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.options import require_memory
from bioeval.scores.attempts import left_out, left_out_by_protocol
from bioeval.scores.blocks import Block
from bioeval.scores.codes import Codes, places_of_ids
from bioeval.scores.distances import (
    FusionRule,
    Templates,
    by_closeness,
    order_of,
    parse_fusion,
    scored,
    with_failures,
)
from bioeval.scores.labels import no_value
from bioeval.scores.matrix import ClaimAttempts, Scores, require_all_scores, require_subjects
from bioeval.scores.metadata import (
    days_of,
    known_column,
    places_in_order,
    places_of_values,
    ranked,
    require_kept,
)
from bioeval.scores.people import marking
from bioeval.scores.rows import blocks_of, threads_for
from bioeval.scores.sampled import copies_notes


def claim_scores(
    scores: Scores,
    *,
    attempts: str | None = None,
    templates: Templates = "multi",
    fusion: FusionRule = "best",
    enrol: str | None = None,
) -> Scores:
    """Return the score of each claim, as the system in use decides it.

    An attempt of a person may be several tries, and a claim is compared with several templates of
    the claimed subject. The result has one score for each claim, so that verification and every
    study of single comparisons (the threshold, the zoo, groups) is one of claims:
    ``be.zoo(be.claim_scores(scores, attempts="visit"), threshold=t)`` counts who is rejected in a
    visit. Identification and re-identification take the scores themselves.

    Parameters
    ----------
    scores : Scores
        Distances or similarities with subjects, shape (m, n).
    attempts : str, optional
        Metadata column: the probes of a subject with the same value are tries of one attempt. It is
        accepted if one of them is. Where the probes are templates of the gallery, an attempt is not
        compared with its own templates.
    templates : {"multi", "single"}
        ``"multi"``: a claim is compared with all enrolled templates of the claimed subject, and
        their scores are fused, those of each try first. ``"single"``: with one template.
    fusion : {"best", "mean", "worst", "median", "kth:K", "min", "max"}
        As for :func:`verification`.
    enrol : str, optional
        Enrolled templates of each subject: first:3, or first:3:COLUMN; all by default.

        - ``"first:3"``: the first three by the column ``impression``, or else by the names of the
          templates (``x2`` before ``x10``), or else in the order of the gallery, which the result
          says
        - ``"first:3:taken"``: the first three in the order of a metadata column

        A column has numbers, dates (as texts in ISO's form, 2024-04-03), an ordered Categorical, or
        other text with numbers in the same places. A subject with fewer templates has all enrolled.
        In a matrix of all templates against all, the other templates are the probes.

    Returns
    -------
    Scores
        A row for each attempt and a column for each subject, or for each template if `templates`
        is ``"single"``, in float64.

        - The kind is the same, except that several log-likelihood ratios, of templates or of tries,
          give a similarity.
        - A claim without any comparison is NaN, and no attempt. So is an incomplete claim, of which
          some tries were not compared with the claimed subject; results count incomplete claims
          apart.
        - Rows have the metadata of the first try (:func:`worst_pairs` names the deciding try).
          Columns have the metadata that all enrolled templates of the subject share.

    Raises
    ------
    DataError
        Where there are no subjects, no such column, or no subject with so many templates.

    Notes
    -----
    A sequence of tries that ends in one decision is a transaction of ISO/IEC 19795-1. Verification
    of the result has the counts of multi-template verification of the scores.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[3, 7, 5], [2, 9, 6], [8, 4, 1]]
    >>> scores = be.Scores(d, ["ann", "ann", "bob"], ["ann", "ann", "bob"],
    ...     probe_meta={"visit": [1, 1, 1]})
    >>> claims = be.claim_scores(scores, attempts="visit")
    >>> claims.values
    array([[2., 5.],
           [4., 1.]])
    >>> claims.probe_labels.tolist(), claims.gallery_labels.tolist()
    (['ann', 'bob'], ['ann', 'bob'])
    """
    require_all_scores(scores)
    require_subjects(scores, "a matrix of claims")
    require_choice("templates", templates, get_args(Templates))
    parse_fusion(fusion)
    enrolment = None if enrol is None else Enrolment.parse(enrol)
    rule = by_closeness(fusion, scores.kind)
    # The tries as probes against the enrolled templates; an attempt is not compared with its own.
    tried = scores
    if attempts is not None:
        grouped_tries(tried, attempts)  # raises if the column is missing
        if np.isin(tried.probe_ids, tried.gallery_ids).any():
            tried = tried.excluding(*tried.exclude, attempts)
    if enrolment is not None:
        tried = enrolment.applied(tried, templates, rule)
    attempt_of_try = first_try = np.arange(tried.shape[0])
    if attempts is not None:
        attempt_of_try, first_try = grouped_tries(tried, attempts)
    tries_of_attempt = np.bincount(attempt_of_try)
    most_tries = int(tries_of_attempt.max())

    # A row for each attempt, and a column for each claimed subject or template.
    distances = claim_distances(tried, attempt_of_try, templates, rule)
    is_attempt = ~np.isnan(distances.distance)
    if tried.nan == "reject" and is_attempt.any():
        distances = distances._replace(distance=scored(distances.distance))
    claims = _matrix_of_claims(tried, distances, is_attempt, first_try, templates)

    def ids_of(is_claim: np.ndarray) -> np.ndarray:
        """Return the identities of the row and the column of claims, int64 (k, 2)."""
        row, column = np.nonzero(is_claim)
        return np.column_stack([claims.probe_ids[row], claims.gallery_ids[column]])

    # What an attempt is, in words, and remarks on it.
    in_words, title = _in_words(attempts, templates, rule, enrolment, most_tries)
    claimed_subject = tried.codes.gallery[distances.column]
    is_genuine = tried.codes.probe[first_try][:, None] == claimed_subject
    in_words += _unequal_tries(tries_of_attempt, is_attempt, is_genuine)
    in_words += _end_of_visits(attempt_of_try, distances.own_distance)
    remarks = [*tried.remarks, *copies_notes(scores)]
    if enrolment is not None:
        remarks += enrolment.notes(tried)
    if attempts is not None:
        remarks += _joined_visits(tried, attempt_of_try, first_try, attempts)
    tries = None
    if most_tries > 1:
        tries = Tries(scores, tried, attempt_of_try, claims.shape[1], templates, rule)
    return claims._with(
        origin=tried.origin,
        metric=tried.metric,
        reading=tried.reading,
        remarks=tuple(remarks),
        _excluded_before=tuple(left_out(scores)),
        claim_attempts=ClaimAttempts(
            in_words,
            title,
            name="claims" if attempts is None else "visits",
            fusion=rule if templates == "multi" else "none",
            visits_of=attempts or "",
            most_tries=most_tries,
            incomplete=ids_of(distances.lacks_tries),
            too_few=ids_of(distances.lacks_templates),
            templates_needed=order_of(rule),
            tries=tries,
        ),
    )


def _matrix_of_claims(
    tried: Scores,
    distances: ClaimDistances,
    is_attempt: np.ndarray,
    first_try: np.ndarray,
    templates: Templates,
) -> Scores:
    """Return claims as scores, with the metadata of first tries and of claimed subjects."""
    distance, column = distances.distance, distances.column

    # Claims that are no attempts are NaN. If NaN are failed claims, a mask leaves them out.
    nan, mask = tried.nan, None
    if nan == "reject" and is_attempt.any():
        mask = None if is_attempt.all() else is_attempt
    elif not is_attempt.all():
        nan = "exclude"

    # A subject has the metadata that all of its templates share.
    gallery_meta = dict(tried.gallery_meta)
    if templates == "multi":
        for name, values in tried.gallery_meta.items():
            values_of_subject = _distinct_partners(tried.codes.gallery, ranked(values.astype(str)))
            if values_of_subject.max() > 1:
                del gallery_meta[name]
    claims = Scores(
        0.0 - distance if tried.kind in LARGER_IS_CLOSER else distance,
        tried.probe_labels[first_try],
        tried.gallery_labels[column],
        kind=tried.kind,
        nan=nan,
        mask=mask,
        probe_meta={name: values[first_try] for name, values in tried.probe_meta.items()},
        gallery_meta={name: values[column] for name, values in gallery_meta.items()},
        name=tried.name,
        distractor_ids=tried.distractor_ids,
    )
    # A row is an attempt and no template, so that its identity is new.
    claims = claims._with(_sides=claims.sides.separate())
    return marking(claims, tried.distractor_ids, tried.junk_ids)


def _in_words(
    attempts: str | None,
    templates: Templates,
    rule: str,
    enrolment: Enrolment | None,
    most_tries: int,
) -> tuple[str, str]:
    """Return what an attempt is, as a sentence and as a title."""
    title = "one template" if templates == "single" else "all templates"
    compared = f"{title} of the claimed subject"
    if enrolment is not None:
        title = enrolment.in_words(templates)
        article = "" if title.startswith("one") else "the "
        compared = f"{article}{title} of the claimed subject"
        if enrolment.column:
            compared += f" in the order of {enrolment.column}"
    fused = f", fused by {rule}" if templates == "multi" and rule != "best" else ""
    if attempts is None:
        return f"each attempt compares a probe with {compared}{fused}", f"claims; {title}{fused}"
    return (
        f"each try compares a probe with {compared}{fused}; an attempt consists of all tries of a "
        f"subject with the same {attempts} (at most {most_tries}), and is accepted if any of them "
        "is accepted",
        f"visits, best of their tries; {title}{fused}",
    )


def deciding_tries(
    claims: Scores, row: np.ndarray, column: np.ndarray
) -> tuple[np.ndarray, Mapping[str, np.ndarray]] | None:
    """Return the deciding try of each claim, and the metadata of all tries.

    None where attempts have no tries. `row` and `column` are the cells of claims with a score. A
    try is a row of the scores of which the claims were made; among equal tries the first decides.
    """
    tries: Tries | None = claims.claim_attempts.tries
    if tries is None:
        return None
    attempt = claims.probe_ids[row] - tries.first_id  # (claims,)
    candidates = np.flatnonzero(np.isin(tries.attempt, attempt))
    fusion: Any = tries.fusion  # a rule of distances means the same for any kind
    single_tries = claim_scores(
        tries.enrolled.select(probes=candidates), templates=tries.templates, fusion=fusion
    )
    sign = -1 if single_tries.kind in LARGER_IS_CLOSER else 1
    # (candidates, claims): NaN where the candidate belongs to another attempt.
    distance = sign * single_tries.values[:, claims.gallery_ids[column]]
    distance = np.where(tries.attempt[candidates, None] == attempt, distance, np.nan)
    nearest = candidates[np.nanargmin(distance, axis=0)]
    # Rows of the scores, of which the tries may be a part.
    ids = tries.enrolled.probe_ids[nearest]
    order = np.argsort(tries.scores.probe_ids, kind="stable")
    deciding = order[np.searchsorted(tries.scores.probe_ids[order], ids)]
    return deciding, tries.scores.probe_meta


# ----------------------------------------------------------------------------- enrolled templates


class Enrolment(NamedTuple):
    """The enrolled templates of each subject, such as ``first:3:taken``."""

    text: str
    number: int  # templates of each subject; a subject with fewer has all enrolled
    column: str  # the metadata column of their order; empty: the order of their names

    @classmethod
    def parse(cls, enrol: object) -> Self:
        word, number, column = [*str(enrol).split(":", 2), "", ""][:3]  # missing parts are empty
        is_whole = number.isascii() and number.isdigit() and int(number) > 0
        if not isinstance(enrol, str) or word != "first" or not is_whole or enrol.endswith(":"):
            raise DataError(
                f"`enrol` is {received(enrol)}; expected the first templates of each subject, such "
                "as 'first:3' (in the order of their names) or 'first:3:COLUMN' (in the order of a "
                "metadata column)"
            )
        return cls(enrol, int(number), column)

    def in_words(self, templates: str) -> str:
        first = "first template" if self.number == 1 else f"first {self.number} templates"
        return f"one of the {first}" if templates == "single" and self.number > 1 else first

    def applied(self, scores: Scores, templates: str, fusion: str) -> Scores:
        """Return scores with the enrolled templates as the gallery.

        In all-against-all scores, the templates that are not enrolled are the probes.
        """
        method, needed = parse_fusion(fusion)
        if templates == "multi" and method == "kth" and needed > self.number:
            raise DataError(
                f"`fusion` is {fusion!r}, but {counted(self.number, 'templates')} of each subject "
                f"are enrolled; expected kth:{self.number} or less, or more templates"
            )
        subject = scores.codes.gallery
        largest = int(np.bincount(subject).max())
        if self.number > largest:
            raise DataError(
                f"`enrol` is {self.text}, but no subject has more than "
                f"{counted(largest, 'templates')} in the gallery; expected at most {largest}"
            )
        place, _ = _places_by_name(scores)  # (templates,)
        if self.column:  # equal values are in the order of the names
            require_kept(scores, self.column, "enrol", scores.gallery_meta)
            values = known_column(scores.gallery_meta, self.column, "enrol", "gallery template")
            place = places_of_values(values, self.column, subject) * len(place) + place
        # The first templates of each subject, of templates sorted by subject and place.
        order = np.lexsort((place, subject))
        starts = np.flatnonzero(np.diff(subject[order], prepend=-1))
        sizes = np.diff(np.append(starts, len(order)))
        place_in_subject = np.arange(len(order)) - np.repeat(starts, sizes)
        enrolled = np.sort(order[place_in_subject < self.number])
        if scores.layout != "all-against-all":
            return scores.select(gallery=enrolled)
        probes = np.setdiff1d(np.arange(scores.shape[0]), enrolled)
        if not len(probes):
            raise DataError(
                f"`enrol` is {self.text} and leaves no template to probe with: no subject has "
                f"more than {counted(largest, 'templates')}"
            )
        return scores.select(probes=probes, gallery=enrolled)

    def notes(self, scores: Scores) -> list[Message]:
        """Return messages on scores whose gallery are the enrolled templates."""
        notes = []
        if not self.column and not _places_by_name(scores)[1]:
            notes.append(Message("first-by-order", what="enrolment"))
        codes = scores.codes
        templates_of_person = np.bincount(codes.gallery)[codes.people(codes.gallery)]
        fewer = int(np.count_nonzero(templates_of_person < self.number))
        if fewer:
            about = {"subjects": fewer, "templates": self.number}
            notes.append(Message("fewer-templates-than-enrolled", **about))
        return notes


def _places_by_name(scores: Scores) -> tuple[np.ndarray, str]:
    """Return the place of each gallery template in order, and the column that decides it."""
    return places_in_order(scores.gallery_meta, scores.shape[1], scores.gallery_names)


# ---------------------------------------------------------------------------- distances of claims


class ClaimDistances(NamedTuple):
    """Distances of claims, and why some claims are no attempts.

    Attempts are rows; columns are the claimed subjects, or the claimed templates.
    """

    distance: np.ndarray  # float64 (attempts, claimed); NaN where the claim is no attempt
    column: np.ndarray  # int64 (claimed,): a column of the scores for each
    own_distance: np.ndarray  # (tries,): of each try to its own subject; NaN if not compared
    lacks_tries: np.ndarray  # bool (attempts, claimed): whether tries of the claim are missing
    #: bool (attempts, claimed): whether every try has too few templates for the rule of fusion
    lacks_templates: np.ndarray


def claim_distances(
    scores: Scores, attempt_of_try: np.ndarray, templates: Templates, fusion: str
) -> ClaimDistances:
    """Return the distances of claims; a try is a row of the scores."""
    order = scores.gallery_order
    fuses = templates == "multi"
    column = order.columns[0][order.starts[:-1]] if fuses else order.columns[0]
    attempts = int(attempt_of_try.max()) + 1
    require_memory(
        8 * attempts * len(column),
        f"the claims of {attempts:,} attempts at {len(column):,} subjects",
        "select fewer probes",
    )
    has_tries = attempts < len(attempt_of_try)
    may_lack_tries = has_tries and not scores.completeness.nothing_missing
    may_lack_templates = fuses and order_of(fusion) > 1
    distance = np.full((attempts, len(column)), np.nan)  # of the nearest try
    own_distance = np.full(len(attempt_of_try), np.nan)
    # By claim: whether a try is missing, and whether any try is compared with any template.
    lacks_tries, is_compared = np.zeros((2, *distance.shape), dtype=bool)
    with threads_for(scores):
        for block in blocks_of(scores):
            # The attempts of the block, and its rows with the tries of an attempt side by side:
            # those of `attempt[i]` begin at `starts[i]`.
            row = np.argsort(attempt_of_try[block.probes], kind="stable")
            attempt, starts = np.unique(attempt_of_try[block.probes][row], return_index=True)
            values = _in_float64(block.by_person(fusion) if fuses else block)
            nearest = np.fmin.reduceat(values[row], starts, axis=0)
            distance[attempt] = np.fmin(distance[attempt], nearest)
            if has_tries:
                by_subject = values if fuses else _in_float64(block.by_person("best"))
                own_group = order.probe_group[block.probes]
                own = by_subject[np.arange(len(own_group)), own_group]
                own_distance[block.probes] = np.where(own_group >= 0, own, np.nan)
            if may_lack_templates:
                has_score = ~np.isnan(block.by_person("best").values)
                is_compared[attempt] |= np.logical_or.reduceat(has_score[row], starts, axis=0)
            if may_lack_tries:
                is_missing = _missing_claims(scores, block, templates)
                lacks_tries[attempt] |= np.logical_or.reduceat(is_missing[row], starts, axis=0)
    lacks_templates = is_compared & np.isnan(distance)
    lacks_tries &= ~np.isnan(distance)
    distance[lacks_tries] = np.nan
    return ClaimDistances(distance, column, own_distance, lacks_tries, lacks_templates)


def _missing_claims(scores: Scores, block: Block, templates: str) -> np.ndarray:
    """Return which claims of tries are missing, bool (tries, claimed).

    A claim is missing if the try was compared with another subject, or template, and should have
    been compared with this one: a claim that the protocol leaves out is not missing.
    """
    is_left_out = left_out_by_protocol(scores, block.probes)[:, block.candidates]
    is_compared = ~np.isnan(block.values) & ~is_left_out
    starts = scores.gallery_order.starts
    if templates == "multi":
        is_compared = np.logical_or.reduceat(is_compared, starts[:-1], axis=1)
        is_left_out = np.logical_and.reduceat(is_left_out, starts[:-1], axis=1)
    return ~is_compared & ~is_left_out & is_compared.any(axis=1)[:, None]


def _in_float64(block: Block) -> np.ndarray:
    """Return a float64 copy of a block's distances, with infinite scores as in a float64 block."""
    values = block.values.astype(np.float64)
    if not block.rejected:
        return values
    failed = block.values == np.inf
    infinite = block.values == np.finfo(block.values.dtype).max
    values[infinite] = np.inf
    return with_failures(values, failed)


# ------------------------------------------------------------------------------ tries of an attempt


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


def grouped_tries(scores: Scores, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the attempt of each try, int64 (tries,), and the first try of each attempt.

    A try is a probe. The probes of a subject with one value of the column are an attempt. Attempts
    are in the order of the subjects' first probes, and those of a subject in their own order.
    """
    require_kept(scores, column, "attempts", scores.probe_meta)
    values = known_column(scores.probe_meta, column, "attempts", "probe")
    subject = scores.codes.probe
    value = Codes(values, values, column).probe
    key = subject * (int(value.max()) + 1) + value
    # Attempts in the order of their keys.
    _, first_try, attempt = np.unique(key, return_index=True, return_inverse=True)
    # Sort attempts by the first probe of their subject, then by their first try.
    _, first_probe, place = np.unique(subject, return_index=True, return_inverse=True)
    first_probe_of_subject = first_probe[place.reshape(-1)]  # (tries,)
    order = np.lexsort((first_try, first_probe_of_subject[first_try]))
    new_number = np.argsort(order)
    return new_number[attempt.reshape(-1)], first_try[order]


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
    """Return the numbers of failed genuine and impostor comparisons of tries; None without."""
    tries: Tries | None = scores.claim_attempts.tries
    if tries is None:
        return None
    rows = np.flatnonzero(np.isin(tries.attempt, scores.probe_ids - tries.first_id))
    columns = np.flatnonzero(np.isin(tries.enrolled.gallery_labels, scores.gallery_labels))
    return tries.enrolled.select(rows, columns).failures


def _unequal_tries(counts: np.ndarray, is_attempt: np.ndarray, is_genuine: np.ndarray) -> str:
    """Return the remark that genuine attempts have more or fewer tries than impostor ones."""
    means = []
    for is_claim in (is_attempt & is_genuine, is_attempt & ~is_genuine):
        claims = is_claim.sum(axis=1)  # (attempts,): claims of the class
        means.append(float(counts @ claims / max(claims.sum(), 1)))
    genuine, impostor = means
    if not genuine or not impostor or math.isclose(genuine, impostor, rel_tol=_ALIKE):
        return ""
    return (
        f"; genuine attempts have {genuine:.2f} tries on average, impostor attempts {impostor:.2f}"
    )


def _end_of_visits(attempt: np.ndarray, own_distance: np.ndarray) -> str:
    """Return the remark on the share of visits that end at their first accepted try, or "".

    It is made if a threshold divides the last tries of visits, except the longest visits, from
    earlier tries. `own_distance` (tries,) is the distance of each try to its own subject.
    """
    order = np.argsort(attempt, kind="stable")  # the tries of a visit side by side
    attempt, distance = attempt[order], own_distance[order]
    counts = np.bincount(attempt)
    is_last = np.append(np.diff(attempt) > 0, True)
    is_of_longest = counts[attempt] == counts.max()
    has_distance = ~np.isnan(distance)
    last = distance[has_distance & is_last & ~is_of_longest]
    earlier = distance[has_distance & ~is_last]
    if min(len(last), len(earlier)) < _LEAST_TRIES:
        return ""
    threshold = np.quantile(last, 1 - _EXCEPTIONS, method="higher")
    if np.mean(earlier <= threshold) > _EXCEPTIONS:
        return ""
    # Such a visit has one accepted try, the last.
    accepted = np.bincount(attempt[distance <= threshold], minlength=attempt.max() + 1)
    is_ended = (accepted == 1) & (distance[is_last] <= threshold)
    return (
        f"; {100 * is_ended.mean():.0f} % of the visits seem to end at their first accepted try: "
        "for an impostor who goes on FAR is too small, and at a stricter threshold FRR is too large"
    )


def _joined_visits(
    scores: Scores, attempt: np.ndarray, first_try: np.ndarray, column: str
) -> list[Message]:
    """Return messages of visits that seem to be several, since names of visits begin anew each day.

    Such visits have tries of two dates, many more tries than other visits, or a name that another
    person's visit has, while most names are of a single person.
    """
    seems_joined = {}  # bool (attempts,), by reason
    counts = np.bincount(attempt)
    has_many = (counts > _MOST_TRIES) & (counts > 3 * np.median(counts))
    seems_joined["have many more tries than others"] = has_many
    visits = scores.probe_meta[column]
    name = Codes(visits, visits, column).probe
    people_of_name = _distinct_partners(name, scores.codes.probe)
    shared_names = np.count_nonzero(people_of_name > 1)
    if 2 * shared_names < np.count_nonzero(people_of_name):
        is_shared = people_of_name[name[first_try]] > 1
        seems_joined["have names that another person's visit has, too"] = is_shared
    for title, values in scores.probe_meta.items():
        if title == column:
            continue
        days = days_of(values)
        is_known = np.ones(len(values), dtype=bool)
        if days is None and title.strip().casefold() in _DAYS:
            days, is_known = values.astype(str), ~no_value(values)
        if days is not None:
            day = ranked(days)[is_known]
            has_two_days = _distinct_partners(attempt[is_known], day, len(counts)) > 1
            seems_joined[f"have tries of two dates, by {title!r}"] = has_two_days

    messages = []
    for reason, is_joined in seems_joined.items():
        if is_joined.any():
            probe = int(first_try[np.argmax(is_joined)])
            example = {"visit": str(visits[probe]), "person": str(scores.probe_labels[probe])}
            about = {"visits": int(is_joined.sum()), "why": reason, "column": column}
            messages.append(Message("visits-joined", **about, **example))
    return messages


def _distinct_partners(codes: np.ndarray, partners: np.ndarray, number: int = 0) -> np.ndarray:
    """Return with how many distinct partners each code occurs, int64 (codes,), or `number` long."""
    distinct_pairs = np.unique(np.stack([codes, partners]), axis=1)
    return np.bincount(distinct_pairs[0], minlength=number)


def number_of_claims(scores: Scores, claims: np.ndarray) -> tuple[int, int]:
    """Count genuine and impostor claims, given as identities (k, 2) of probe and gallery."""
    if not len(claims):
        return 0, 0
    probe, gallery = claims.T
    is_present = np.isin(probe, scores.probe_ids) & np.isin(gallery, scores.gallery_ids)
    row = places_of_ids(probe[is_present], scores.probe_ids)
    column = places_of_ids(gallery[is_present], scores.gallery_ids)
    is_genuine = scores.codes.probe[row] == scores.codes.gallery[column]
    genuine = int(np.count_nonzero(is_genuine))
    return genuine, int(np.count_nonzero(is_present)) - genuine
