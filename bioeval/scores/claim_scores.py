"""The scores by which a system in use decides claims, as a matrix of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.scores.claim_distances import ClaimDistances, claim_distances
from bioeval.scores.distances import scored
from bioeval.scores.enrolment import Enrolment
from bioeval.scores.fusion_rules import (
    FewTemplates,
    FusionRule,
    Templates,
    by_closeness,
    order_of,
    parse_fusion,
)
from bioeval.scores.matrix import Scores
from bioeval.scores.people import marking
from bioeval.scores.provenance import left_out
from bioeval.scores.requirements import require_all_scores, require_subjects
from bioeval.scores.same import copies_notes
from bioeval.scores.tries import GroupedTries, Tries, end_of_visits, joined_visits, unequal_tries


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
    rule = _ClaimRule(attempts, templates, by_closeness(fusion, scores.kind), enrolment)
    tried = _tries_against_enrolled(scores, rule)
    tries = GroupedTries.single(tried.shape[0])
    if attempts is not None:
        tries = GroupedTries.by_column(tried, attempts)
    most_tries = int(tries.counts.max())
    claimed = claim_distances(tried, tries.attempt, templates, rule.fusion)
    claims = _matrix_of_claims(tried, claimed, tries.first_try, rule)
    is_genuine = tried.codes.probe[tries.first_try][:, None] == tried.codes.gallery[claimed.column]
    lacks_tries = _ids_of_claims(claims, claimed.lacks_tries)
    lacks_templates = _ids_of_claims(claims, claimed.lacks_templates)
    too_few = FewTemplates(lacks_templates, order_of(rule.fusion))
    tries_of_claims = Tries(scores, tried, tries.attempt, claims.shape[1], templates, rule.fusion)
    return marking(claims, tried.distractor_ids, tried.junk_ids)._with(
        origin=tried.origin,
        metric=tried.metric,
        reading=tried.reading,
        remarks=(
            *tried.remarks,
            *copies_notes(scores),
            *(enrolment.notes(tried) if enrolment else ()),
            *joined_visits(tried, tries, attempts),
        ),
        _excluded_before=tuple(left_out(scores)),
        claims=rule.in_words(most_tries)
        + unequal_tries(tries, claimed.is_attempt, is_genuine)
        + end_of_visits(tries, claimed.own),
        claims_title=rule.title(),
        tries=most_tries,
        _incomplete=lacks_tries if len(lacks_tries) else None,
        _too_few=too_few if len(lacks_templates) else None,
        _tries=tries_of_claims if most_tries > 1 else None,
    )


class _ClaimRule(NamedTuple):
    """The arguments of :func:`claim_scores`, with a rule of fusion that holds for distances."""

    attempts: str | None
    templates: Templates
    fusion: str
    enrolment: Enrolment | None

    def in_words(self, most_tries: int) -> str:
        is_single = self.templates == "single"
        compared = f"{'one template' if is_single else 'all templates'} of the claimed subject"
        if self.enrolment is not None:
            first = self.enrolment.in_words(self.templates)
            article = "" if first.startswith("one") else "the "
            compared = f"{article}{first} of the claimed subject"
            if self.enrolment.column:
                compared += f" in the order of {self.enrolment.column}"
        compared += self._fused_in_words
        if self.attempts is None:
            return f"each attempt compares a probe with {compared}"
        return (
            f"each try compares a probe with {compared}; an attempt consists of all tries of a "
            f"subject with the same {self.attempts} (at most {most_tries}), and is accepted if any "
            "of them is accepted"
        )

    def title(self) -> str:
        compared = "one template" if self.templates == "single" else "all templates"
        if self.enrolment is not None:
            compared = self.enrolment.in_words(self.templates)
        attempts = "claims" if self.attempts is None else "visits, best of their tries"
        return f"{attempts}; {compared}{self._fused_in_words}"

    @property
    def _fused_in_words(self) -> str:
        fuses = self.templates == "multi" and self.fusion != "best"
        return f", fused by {self.fusion}" if fuses else ""


def _tries_against_enrolled(scores: Scores, rule: _ClaimRule) -> Scores:
    """Return the tries as probes against the enrolled templates.

    An attempt is not compared with its own templates.
    """
    if rule.attempts is not None:
        GroupedTries.by_column(scores, rule.attempts)  # raises if the column is missing
        if np.isin(scores.probe_ids, scores.gallery_ids).any():
            scores = scores.excluding(*scores.exclude, rule.attempts)
    if rule.enrolment is not None:
        scores = rule.enrolment.applied(scores, rule.templates, rule.fusion)
    return scores


def _matrix_of_claims(
    scores: Scores, claimed: ClaimDistances, first_try: np.ndarray, rule: _ClaimRule
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
        kind=scores.kind,
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


def _is_constant_by_subject(values: np.ndarray, scores: Scores) -> bool:
    distinct, codes = np.unique(np.asarray(values).astype(str), return_inverse=True)
    pairs = scores.codes.gallery * len(distinct) + codes.reshape(-1)
    return len(np.unique(pairs)) == len(np.unique(scores.codes.gallery))


def _ids_of_claims(claims: Scores, is_claim: np.ndarray) -> np.ndarray:
    row, column = np.nonzero(is_claim)
    return np.column_stack([claims.probe_ids[row], claims.gallery_ids[column]])


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
