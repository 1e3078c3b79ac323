"""The scores by which a system in use decides claims, as a matrix of their own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError, counted, received
from bioeval.base.kinds import LARGER_IS_CLOSER, Kind
from bioeval.base.memory import require_memory
from bioeval.base.messages import Message
from bioeval.scores.blocks import Block
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.codes import Codes
from bioeval.scores.distances import scored, with_failures
from bioeval.scores.excluded import left_out_by_protocol
from bioeval.scores.fusion_rules import (
    FewTemplates,
    FusionRule,
    Templates,
    by_closeness,
    order_of,
    parse_fusion,
)
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import known_column, places_in_order
from bioeval.scores.orders import DAY_FIRST, MONTH_FIRST, days_of, places_of_values
from bioeval.scores.people import marking
from bioeval.scores.provenance import left_out
from bioeval.scores.requirements import require_all_scores, require_subjects
from bioeval.scores.rows import blocks_of, threads_for
from bioeval.scores.tries import Tries

# Genuine and impostor attempts have unequal numbers of tries if their means differ by more than
# this share.
_ALIKE = 0.02

# Visits seem to end when a try is accepted if a threshold accepts all but this share of the last
# tries, and at most this share of the earlier tries. There are at least `_LEAST_TRIES` of each.
_EXCEPTIONS = 0.05
_LEAST_TRIES = 10

# A visit of more tries than this may be several visits.
_MOST_TRIES = 10


@leaves_out_attacks
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
        ``"first:3"``: the first three by the column ``impression`` or by the names of the templates
        (``x2`` before ``x10``), without either in the order of the gallery, which the result says;
        ``"first:3:taken"``: in the order of a metadata column, of numbers, dates, times, English
        names of months, or an ordered Categorical; other text needs numbers in the same places.
        ``"first:3:taken:day-first"`` or ``:month-first`` says how dates such as 01/02/2024 are
        written. A subject with fewer has all
        enrolled. In a matrix of all templates against all the others are the probes.

    Returns
    -------
    Scores
        A row for each attempt and a column for each subject, or for each template if `templates`
        is ``"single"``. Distances and similarities stay what they are, in float64; a ratio that is
        made of several log-likelihood ratios, of templates or of tries, is none: it is a
        similarity. A claim without any comparison is NaN, and no attempt. So is an incomplete one,
        of which some tries were not compared with the claimed subject; results count these apart.
        Rows have the metadata of the first try (:func:`worst_pairs` names the one that decided);
        columns have those of the subject's enrolled
        templates that are the same for all of them.

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
    rule = _ClaimRule(attempts, templates, by_closeness(fusion, scores.kind), enrol)
    tried = _tries_against_enrolled(scores, rule)
    first_try = attempt = np.arange(tried.shape[0])
    if attempts is not None:
        first_try, attempt = _attempts_of(tried, attempts)
    most_tries = int(np.bincount(attempt).max())
    claimed = _distances(tried, attempt, rule)
    kind = _kind(tried, most_tries, templates)
    claims = _matrix_of_claims(tried, claimed, first_try, kind, rule)
    is_genuine = tried.codes.probe[first_try][:, None] == tried.codes.gallery[claimed.column]
    lacks_tries = _ids_of_claims(claims, claimed.lacks_tries)
    lacks_templates = _ids_of_claims(claims, claimed.lacks_templates)
    return marking(claims, tried.distractor_ids, tried.junk_ids)._with(
        origin=tried.origin,
        metric=tried.metric,
        reading=tried.reading,
        remarks=(
            *tried.remarks,
            *_about_enrolled(tried, enrol),
            *_joined_visits(tried, attempt, attempts),
        ),
        _attacks_left_out=tried._attacks_left_out,
        _excluded_before=tuple(left_out(scores)),
        claims=rule.in_words(most_tries)
        + _unequal_tries(attempt, claimed.is_attempt, is_genuine)
        + _end_of_visits(claimed.own, attempt),
        claims_title=rule.title(),
        tries=most_tries,
        _incomplete=lacks_tries if len(lacks_tries) else None,
        _too_few=FewTemplates(lacks_templates, order_of(rule.fusion))
        if len(lacks_templates)
        else None,
        _tries=Tries(scores, tried, attempt, claims.shape[1], templates, rule.fusion)
        if most_tries > 1
        else None,
    )


class _ClaimRule(NamedTuple):
    """The arguments of :func:`claim_scores`, with a rule of fusion that holds for distances."""

    attempts: str | None = None
    templates: Templates = "multi"
    fusion: str = "best"
    enrol: str | None = None

    def in_words(self, most_tries: int) -> str:
        enrolled = "all templates of the claimed subject"
        if self.enrol is not None:
            number, column = _parse_enrol(self.enrol)
            first = f"the {_first_templates(number)}"
            if self.templates == "single" and number > 1:
                first = f"one of {first}"
            enrolled = f"{first} of the claimed subject"
            if column:
                enrolled += f" in the order of {column}"
        if self.templates == "single":
            compared = enrolled if self.enrol else "one template of the claimed subject"
        else:
            compared = enrolled + ("" if self.fusion == "best" else f", fused by {self.fusion}")
        if self.attempts is None:
            return f"each attempt compares a probe with {compared}"
        return (
            f"each try compares a probe with {compared}; an attempt consists of all tries of a "
            f"subject with the same {self.attempts} (at most {most_tries}), and is accepted if any "
            "of them is accepted"
        )

    def title(self) -> str:
        is_single = self.templates == "single"
        compared = "one template" if is_single else "all templates"
        if self.enrol is not None:
            number, _ = _parse_enrol(self.enrol)
            compared = _first_templates(number)
            if is_single and number > 1:
                compared = f"one of the {compared}"
        if not is_single and self.fusion != "best":
            compared += f", fused by {self.fusion}"
        return f"{'claims' if self.attempts is None else 'visits, best of their tries'}; {compared}"


def _first_templates(number: int) -> str:
    return "first template" if number == 1 else f"first {number} templates"


def _tries_against_enrolled(scores: Scores, rule: _ClaimRule) -> Scores:
    """Return the tries as probes against the enrolled templates.

    An attempt is not compared with its own templates.
    """
    if rule.attempts is not None:
        _attempts_of(scores, rule.attempts)  # raises if the column is missing
        if np.isin(scores.probe_ids, scores.gallery_ids).any():
            scores = scores.excluding(*scores.exclude, rule.attempts)
    if rule.enrol is not None:
        scores = _enrolled(scores, rule.enrol, rule.templates, rule.fusion)
    return scores


def _matrix_of_claims(
    scores: Scores, claimed: _ClaimDistances, first_try: np.ndarray, kind: Kind, rule: _ClaimRule
) -> Scores:
    """Return a row for each attempt, and a column for each claimed subject or template.

    `first_try` (attempts,) is the row of `scores` with the first try of each attempt. Claims that
    are no attempts are masked, or NaN.
    """
    distances = claimed.distance
    is_attempt = claimed.is_attempt
    nan = scores.nan
    mask = None
    if nan == "reject" and is_attempt.any():  # failed claims are NaN, so that others need a mask
        distances = scored(distances)
        mask = None if is_attempt.all() else is_attempt
    elif not is_attempt.all():
        nan = "exclude"
    meta = dict(scores.gallery_meta)
    if rule.templates == "multi":
        meta = {name: x for name, x in meta.items() if _is_constant_by_subject(x, scores)}
    claims = Scores(
        0.0 - distances if scores.kind in LARGER_IS_CLOSER else distances,
        scores.probe_labels[first_try],
        scores.gallery_labels[claimed.column],
        kind=kind,
        nan=nan,
        mask=mask,
        probe_meta={name: values[first_try] for name, values in scores.probe_meta.items()},
        gallery_meta={name: values[claimed.column] for name, values in meta.items()},
        name=scores.name,
        distractor_ids=scores.distractor_ids,
    )
    attempts, subjects = claims.shape
    # A row is an attempt and no template, so that its identity is new.
    return claims._with(probe_ids=np.arange(subjects, subjects + attempts, dtype=np.int64))


def _ids_of_claims(claims: Scores, is_claim: np.ndarray) -> np.ndarray:
    """Return the identities of the row and the column of some claims, (k, 2)."""
    row, column = np.nonzero(is_claim)
    return np.column_stack([claims.probe_ids[row], claims.gallery_ids[column]])


def tries_of(scores: Scores) -> tuple[Scores, np.ndarray]:
    """Return the scores of single tries, fused over templates, and the visit of each try, (tries,).

    The attempts of claims are visits; in other scores, each probe is a visit of one try.
    """
    tries: Tries | None = scores._tries
    if tries is None:
        if not scores.claims:
            scores = claim_scores(scores)
        return scores, np.arange(scores.shape[0])
    fusion: Any = tries.fusion  # a rule of distances means the same for any kind
    single_tries = claim_scores(tries.enrolled, templates=tries.templates, fusion=fusion)
    probes = np.flatnonzero(np.isin(tries.attempt, scores.probe_ids - tries.first_id))
    visit = np.unique(tries.attempt[probes], return_inverse=True)[1].reshape(-1)
    return single_tries.select(probes, scores.gallery_ids), visit


def deciding_tries(
    claims: Scores, row: np.ndarray, column: np.ndarray
) -> tuple[np.ndarray, Mapping[str, np.ndarray]] | None:
    """Return the deciding try of each claim, and the metadata of all tries.

    None where attempts have no tries. `row` and `column` are the cells of claims with a score. A
    try is a row of the scores of which the claims were made; among equal tries the first decides.
    """
    tries: Tries | None = claims._tries
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
    ids = tries.enrolled.probe_ids[nearest]
    order = np.argsort(tries.scores.probe_ids, kind="stable")
    return order[np.searchsorted(tries.scores.probe_ids[order], ids)], tries.scores.probe_meta


def _kind(scores: Scores, most_tries: int, templates: str) -> Kind:
    """Return the kind of the scores of claims.

    The maximum, mean or median of several log-likelihood ratios is a similarity.
    """
    fuses_several = templates == "multi" and int(np.bincount(scores.codes.gallery).max()) > 1
    if scores.kind == "llr" and (most_tries > 1 or fuses_several):
        return "similarity"
    return scores.kind


class _ClaimDistances(NamedTuple):
    """Distances of claims, (attempts, claimed), and why some claims are no attempts."""

    distance: np.ndarray  # NaN where the claim is no attempt
    column: np.ndarray  # (claimed,): a column of the scores for each claimed subject or template
    own: np.ndarray  # (tries,): the distance of each try to its own subject; NaN if not compared
    lacks_tries: np.ndarray  # bool (attempts, claimed): whether tries of the claim are missing
    #: bool (attempts, claimed): whether every try has too few templates for the rule of fusion.
    lacks_templates: np.ndarray

    @property
    def is_attempt(self) -> np.ndarray:
        return ~np.isnan(self.distance)


def _distances(scores: Scores, attempt_of_try: np.ndarray, rule: _ClaimRule) -> _ClaimDistances:
    """Return the distances of claims; a try is a row of the scores."""
    column = scores.gallery_order.columns[0]
    fuses = rule.templates == "multi"
    may_be_few = fuses and order_of(rule.fusion) > 1
    if fuses:
        column = column[scores.gallery_order.starts[:-1]]
    attempts = int(attempt_of_try.max()) + 1
    require_memory(
        8 * attempts * len(column),
        f"the claims of {attempts:,} attempts at {len(column):,} subjects",
        "select fewer probes",
    )
    # All (attempts, claimed): the distance of the nearest try, and whether a try is missing, and
    # whether any try is compared with a template of the subject.
    distance = np.full((attempts, len(column)), np.nan)
    lacks_tries, is_compared = np.zeros((2, *distance.shape), dtype=bool)
    own_distance = np.full(len(attempt_of_try), np.nan)
    has_tries = attempts < len(attempt_of_try)
    may_lack_tries = has_tries and not scores.completeness.nothing_missing
    own_group = scores.gallery_order.probe_group
    with threads_for(scores):
        for block in blocks_of(scores):
            values = _in_float64(block.by_person(rule.fusion) if fuses else block)
            if has_tries:
                by_subject = values if fuses else _in_float64(block.by_person("best"))
                mated = np.flatnonzero(own_group[block.probes] >= 0)
                rows = block.probes[mated]
                own_distance[rows] = by_subject[mated, own_group[rows]]
            # The tries of an attempt side by side, for reduceat.
            attempt_of_row = attempt_of_try[block.probes]
            order = np.argsort(attempt_of_row, kind="stable")
            attempt, starts = np.unique(attempt_of_row[order], return_index=True)
            nearest = np.fmin.reduceat(values[order], starts, axis=0)
            distance[attempt] = np.fmin(distance[attempt], nearest)
            if may_be_few:
                has_score = ~np.isnan(block.by_person("best").values[order])
                is_compared[attempt] |= np.logical_or.reduceat(has_score, starts, axis=0)
            if may_lack_tries:
                is_missing = _missing_claims(scores, block, rule.templates)[order]
                lacks_tries[attempt] |= np.logical_or.reduceat(is_missing, starts, axis=0)
    lacks_templates = is_compared & np.isnan(distance)
    lacks_tries &= ~np.isnan(distance)
    distance[lacks_tries] = np.nan
    return _ClaimDistances(distance, column, own_distance, lacks_tries, lacks_templates)


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


def _is_constant_by_subject(values: np.ndarray, scores: Scores) -> bool:
    distinct, codes = np.unique(np.asarray(values).astype(str), return_inverse=True)
    pairs = scores.codes.gallery * len(distinct) + codes.reshape(-1)
    return len(np.unique(pairs)) == len(np.unique(scores.codes.gallery))


def described_tries(scores: Scores) -> str:
    """Return the meaning of a try in words, for scores from :func:`tries_of`."""
    return scores.claims or _ClaimRule().in_words(1)


def _unequal_tries(attempt: np.ndarray, is_attempt: np.ndarray, is_genuine: np.ndarray) -> str:
    """Return the remark that genuine attempts have more or fewer tries than impostor attempts.

    It is empty if they have about as many. `attempt` (tries,) is the attempt of each try.
    """
    tries = np.bincount(attempt)  # (attempts,)
    means = []
    for is_claim in (is_attempt & is_genuine, is_attempt & ~is_genuine):
        claims = is_claim.sum(axis=1)  # (attempts,): claims of the class
        means.append(float(tries @ claims / max(claims.sum(), 1)))
    if not all(means) or math.isclose(*means, rel_tol=_ALIKE):
        return ""
    genuine, impostor = means
    return (
        f"; genuine attempts have {genuine:.2f} tries on average, impostor attempts {impostor:.2f}"
    )


def _end_of_visits(own_distance: np.ndarray, attempt: np.ndarray) -> str:
    """Return the remark that visits seem to end at the first accepted try; empty if they do not.

    A threshold then divides the last tries of visits, except the longest visits, from earlier
    tries. Both arguments are (tries,).
    """
    tries = np.bincount(attempt)  # (attempts,)
    order = np.argsort(attempt, kind="stable")
    attempt = attempt[order]
    distance = own_distance[order]
    is_last = np.append(np.diff(attempt) > 0, True)
    is_of_longest = tries[attempt] == tries.max()
    has_distance = ~np.isnan(distance)
    last = distance[has_distance & is_last & ~is_of_longest]
    earlier = distance[has_distance & ~is_last]
    if min(len(last), len(earlier)) < _LEAST_TRIES:
        return ""
    threshold = np.quantile(last, 1 - _EXCEPTIONS, method="higher")
    if np.mean(earlier <= threshold) > _EXCEPTIONS:
        return ""
    return "; visits seem to end at the first accepted try, and an impostor would make more tries"


# ------------------------------------------------------------------------------ tries


def _attempts_of(scores: Scores, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the first try of each attempt, (attempts,), and the attempt of each probe, (probes,).

    Attempts are in the order of their subjects' first probes.
    """
    scores._require_kept(column, "attempts", scores.probe_meta)
    values = known_column(scores.probe_meta, column, "attempts", "probe")
    subject = scores.codes.probe
    value = Codes(values, values, column).probe
    key = subject * (int(value.max()) + 1) + value
    _, first, attempt = np.unique(key, return_index=True, return_inverse=True)
    _, first_of_subject, place = np.unique(subject, return_index=True, return_inverse=True)
    # Sorted by the first probe of their subject, then by their own first probe.
    order = np.lexsort((first, first_of_subject[place.reshape(-1)][first]))
    new_number = np.argsort(order)  # new number of each attempt
    return first[order], new_number[attempt.reshape(-1)]


def _joined_visits(scores: Scores, visit: np.ndarray, column: str | None) -> list[Message]:
    """Return messages of visits that seem to be several, since names of visits begin anew each day.

    Such visits have tries of two dates, many more tries than other visits, or a name that another
    person's visit has, while most names are of a single person. `visit` (tries,) is the visit of
    each try.
    """
    if column is None:
        return []
    first_try = np.unique(visit, return_index=True)[1]
    tries = np.bincount(visit)
    has_many = (tries > _MOST_TRIES) & (tries > 3 * np.median(tries))
    reasons = {"have many more tries than others": has_many}
    name = Codes(scores.probe_meta[column], scores.probe_meta[column], column).probe
    names_and_people = np.unique(np.stack([name, scores.codes.probe]), axis=1)
    has_several_people = np.bincount(names_and_people[0]) > 1  # (names,)
    if 2 * np.count_nonzero(has_several_people) < len(np.unique(names_and_people[0])):
        is_shared = has_several_people[name[first_try]]
        reasons["have names that another person's visit has, too"] = is_shared
    for date_column, values in scores.probe_meta.items():
        days = days_of(values) if date_column != column else None
        if days is not None:
            day = np.unique(days, return_inverse=True)[1].reshape(-1)
            visits_and_days = np.unique(np.stack([visit, day]), axis=1)
            has_two_days = np.bincount(visits_and_days[0]) > 1
            reasons[f"have tries of two dates, by {date_column!r}"] = has_two_days
    messages = []
    for reason, seems_joined in reasons.items():
        if seems_joined.any():
            probe = int(first_try[np.argmax(seems_joined)])
            example = str(scores.probe_meta[column][probe])
            person = str(scores.probe_labels[probe])
            about = {"visits": int(seems_joined.sum()), "why": reason, "column": column}
            messages.append(Message("visits-joined", **about, visit=example, person=person))
    return messages


# ------------------------------------------------------------------------------ enrolled templates


def _parse_enrol(enrol: object) -> tuple[int, str]:
    """Return the number and the column of ``first:K:COLUMN``; the column may be empty."""
    word, number, column = [*str(enrol).split(":", 2), "", ""][:3]
    column = _split_order_of_dates(column)[0]
    is_whole = number.isascii() and number.isdigit() and int(number) > 0
    if not isinstance(enrol, str) or word != "first" or not is_whole or enrol.endswith(":"):
        raise DataError(
            f"`enrol` is {received(enrol)}; expected the first templates of each subject, such as "
            "'first:3' (in the order of their names) or 'first:3:COLUMN' (in the order of a "
            "metadata column)"
        )
    return int(number), column


def _split_order_of_dates(column: str) -> tuple[str, str]:
    """Split ``taken:day-first`` into the column and the order of its dates, which may be empty."""
    name, colon, order = column.rpartition(":")
    return (name, order) if colon and order in (DAY_FIRST, MONTH_FIRST) else (column, "")


def _enrolled(scores: Scores, enrol: str, templates: str, fusion: str) -> Scores:
    """Return scores with the enrolled templates as the gallery.

    In all-against-all scores, the templates that are not enrolled are the probes.
    """
    number, column = _parse_enrol(enrol)
    method, order_of_fusion = parse_fusion(fusion)
    if templates == "multi" and method == "kth" and order_of_fusion > number:
        raise DataError(
            f"`fusion` is {fusion!r}, but {counted(number, 'templates')} of each subject are "
            f"enrolled; expected kth:{number} or less, or more templates"
        )
    subject = scores.codes.gallery
    largest = int(np.bincount(subject).max())
    if number > largest:
        raise DataError(
            f"`enrol` is {enrol}, but no subject has more than {counted(largest, 'templates')} in "
            f"the gallery; expected at most {largest}"
        )
    _, order_of_dates = _split_order_of_dates(enrol)
    order = np.lexsort((_places(scores, column, order_of_dates), subject))
    # The place of each template within its subject: its place, less where the subject begins.
    starts = np.flatnonzero(np.diff(subject[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    enrolled = np.sort(order[rank < number])
    if scores.layout != "all-against-all":
        return scores.select(gallery=enrolled)
    probes = np.setdiff1d(np.arange(scores.shape[0]), enrolled)
    if not len(probes):
        raise DataError(
            f"`enrol` is {enrol} and leaves no template to probe with: no subject has "
            f"more than {counted(largest, 'templates')}"
        )
    return scores.select(probes=probes, gallery=enrolled)


def _about_enrolled(scores: Scores, enrol: str | None) -> list[Message]:
    if enrol is None:
        return []
    number, column = _parse_enrol(enrol)
    notes = []
    if not column and not _places_by_name(scores)[1]:
        notes.append(Message("first-by-order", what="enrolment"))
    codes = scores.codes
    counts = np.bincount(codes.gallery)[codes.people(codes.gallery)]
    fewer = int(np.count_nonzero(counts < number))
    code = "fewer-templates-than-enrolled"
    if fewer:
        notes.append(Message(code, subjects=fewer, templates=number))
    return notes


def _places_by_name(scores: Scores) -> tuple[np.ndarray, str]:
    return places_in_order(scores.gallery_meta, scores.shape[1], scores.gallery_names)


def _places(scores: Scores, column: str, order_of_dates: str) -> np.ndarray:
    """Return the place of each gallery template by a column, then by names, (templates,)."""
    place, _ = _places_by_name(scores)
    if not column:
        return place
    scores._require_kept(column, "enrol", scores.gallery_meta)
    values = known_column(scores.gallery_meta, column, "enrol", "gallery template")
    place_by_column = places_of_values(values, column, scores.codes.gallery, order_of_dates)
    return place_by_column * len(place) + place
