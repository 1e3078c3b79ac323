"""Checks of data before they are evaluated: labels, copies, failures, and the kind of scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import require_flag, require_integer
from bioeval.base.errors import DataError
from bioeval.base.messages import Message
from bioeval.base.progress import rows_reported
from bioeval.counting.sorted_attempts import Attempts
from bioeval.counting.targets import check_targets
from bioeval.counting.threshold_rules import Rule
from bioeval.counting.verification import verify
from bioeval.counting.wanted_points import PointsWanted
from bioeval.protocol.card import Protocol
from bioeval.results.attributes import about_attrs
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.diagonal import counts_diagonal
from bioeval.scores.kind_check import KindVerdict
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import Provenance
from bioeval.scores.requirements import require_scores
from bioeval.scores.score_notes import transaction_notes
from bioeval.scores.symmetry import is_symmetric
from bioeval.scores.tries import incomplete_claims
from bioeval.showing.sizes import sides_in_words
from bioeval.showing.text import say
from bioeval.studies.check.confusions import confusions_at
from bioeval.studies.check.copies import copies_of_matrix, copies_of_pairs, duplicates
from bioeval.studies.check.failure_codes import (
    end_finding,
    end_values,
    failed,
    failures,
    sentinels,
)
from bioeval.studies.check.findings import Finding, LabelError, listed_pairs, passed
from bioeval.studies.check.label_checks import label_checks
from bioeval.studies.check.scan import SHOWN, DataScan, scan, sign_of
from bioeval.studies.check.section import DataCheck
from bioeval.studies.check.two_names import two_names
from bioeval.studies.check.wrong_labels import label_errors
from bioeval.tasks.card_scores import compared, resolve_card


@leaves_out_attacks
def check_data(
    scores: Scores,
    protocol: str | Protocol = "auto",
    *,
    far_targets: Sequence[float] | None = None,
    threshold: Any = "far=0.001",
    claims: Scores | None = None,
    worst: int = 10,
    read_scores: bool = True,
) -> DataCheck:
    """Check data before any evaluation: labels, copies, failures, kind, numbers of people.

    Parameters
    ----------
    scores : Scores
        A matrix of either layout, embeddings, a list of pairs, or top-K lists, of which labels and
        metadata are checked.
    protocol : str or Protocol
        Card of the later evaluation. What it leaves out is not checked.
    far_targets : sequence of float, optional
        FAR for which to check the number of subjects. Those of the card by default.
    threshold : float, str or None
        Threshold at which people are confused: a number, or a rule applied to these data. None
        leaves it out. It needs a matrix whose subjects are known.
    claims : Scores, optional
        :func:`claim_scores` of these scores, in which confused people are sought; all else is about
        the scores themselves.
    worst : int
        Number of pairs of people, and of doubtful labels, that are listed.
    read_scores : bool
        Whether the scores are looked at, in one pass over blocks of rows, or labels and metadata
        alone.

    Returns
    -------
    DataCheck
        - ``findings``: one for each check, with ``check severity code message count where``. The
          checks are ``samples layout labels names compared list people``, and of the scores
          ``failed sentinels duplicates zero-distance kind complete two-names label-errors
          failed-captures``. The severities are ``"error"`` (a result would mislead), ``"warning"``
          (likely a fault), ``"note"`` (to be known) and ``"ok"`` (nothing found).
        - ``misleads``: whether any finding is an ``"error"``
        - ``confusions``: the pairs of people that make the most false accepts at the threshold,
          with the nearest comparison of each, and the names of its templates
        - ``label_errors``: the templates whose label is likely wrong, with the label that each is
          nearest to and the nearest template of that label

    Raises
    ------
    ProtocolError
        If the scores are not of the layout of the protocol.

    Notes
    -----
    Each rule, and how often it errs, is in ``docs/checks.md``. Rows are compared by digests; values
    at either end are looked for in about 65,000 scores of evenly spaced rows.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(40, 4, random_state=1)
    >>> found = be.check_data(scores)
    >>> found.misleads, found["samples"].message
    (False, '40 subjects with 4 templates each')
    >>> pair = found.confusions.listed[0]
    >>> pair.probe.subject, pair.claimed.subject, pair.false_accepts, pair.attempts
    (2, 23, 8, 32)
    >>> wrong = be.Scores(scores.values, scores.probe_labels, kind="similarity")
    >>> be.check_data(wrong)["kind"].severity
    'error'
    """
    read_scores = require_flag("read_scores", read_scores)
    worst = require_integer("worst", worst, low=1)
    if claims is not None:
        require_scores(claims, "`claims`")
    card = resolve_card(scores, protocol)
    if scores.layout == "top-k":
        read_scores = False
    else:
        scores = compared(scores, card)
    convention = card.reid is not None or card.gom is not None
    if far_targets is None:
        far_targets = () if convention else card.report.far_targets
    targets = check_targets(far_targets).tolist()
    with rows_reported():
        scanned = scan(scores) if read_scores and scores.layout != "pairs" else None
        findings = list(_findings(scores, targets, scanned, read_scores, convention))
        if scanned is not None:
            findings.append(_complete(scores, card, claims))
        wrong_labels = list[LabelError]()
        if scanned is not None and scanned.medians is not None:
            pairs, finding = two_names(scores, scanned.medians)
            findings.append(finding)
            wrong_labels, of_labels = label_errors(scores, scanned.medians, worst, pairs)
            findings += of_labels
        confusions = None
        if read_scores and threshold is not None:
            confusions = confusions_at(scores, threshold, worst, claims)
    return DataCheck(
        data=sides_in_words(about_attrs(Provenance.from_scores(scores), "", "", ())),
        kind=scores.kind,
        protocol=card.name,
        findings=tuple(findings),
        system=scores.name or "",
        # Results of the same data have this fingerprint, too.
        fingerprint=(scores if claims is None else claims).fingerprint,
        confusions=confusions,
        label_errors=tuple(wrong_labels),
    )


def _complete(scores: Scores, card: Protocol, claims: Scores | None) -> Finding:
    claims = scores if claims is None else claims
    if claims.claims:
        notes = transaction_notes(claims)
        number = sum(incomplete_claims(claims))
        return Finding("complete", "note", notes[0], number) if notes else passed("complete")
    lists = scores.completeness
    if lists.incomplete and not {"open_set", "closed_set", "reid", "gom"}.isdisjoint(card.tasks):
        return Finding("complete", "note", lists.messages()[0], lists.incomplete)
    return passed("complete")


def why_undefined(scores: Scores, protocol: str | Protocol) -> str:
    """Return the first error of a check of the data, in words; empty if there is none."""
    if scores.layout == "top-k":
        return ""
    for read_scores in (False, True):
        check = check_data(scores, protocol, threshold=None, read_scores=read_scores)
        for finding in check.with_severity("error"):
            return finding.message
    return ""


def _findings(
    scores: Scores,
    targets: Sequence[float],
    scanned: DataScan | None,
    read_scores: bool,
    convention: bool = False,
) -> Iterator[Finding]:
    """Yield the findings: first on labels, which need no scores, then on scores if they are read.

    `scanned` is None for pairs and if no scores are read. `convention` says whether a card of
    re-identification has left out junk and cameras already.
    """
    counted = _count(scores) if read_scores and scores.kind != "order" else None
    yield from label_checks(
        scores,
        targets,
        None if counted is None else counted.impostors,
        convention=convention,
        self_compared=None if scanned is None else counts_diagonal(scores),
    )
    if scanned is not None:
        repeated = duplicates(scores, scanned)
        yield failed(scores, scanned)
        yield sentinels(scores, scanned, copies=not repeated.count)
        yield repeated
        if scores.kind != "order":
            yield copies_of_matrix(scores, scanned)
    elif read_scores:
        yield from _pair_checks(scores)
    if counted is not None:
        yield counted.kind


class _Counted(NamedTuple):
    """What follows from the errors at all thresholds."""

    kind: Finding  # whether the kind of the scores is right
    impostors: int | None  # number of impostor comparisons; None if scores cannot be counted


def _count(scores: Scores) -> _Counted:
    # Failures without a policy have a finding of their own.
    without_failures = scores.replace(nan="exclude") if scores.nan == "raise" else scores
    wanted = PointsWanted.of_rule(Rule.parse("eer"))
    try:
        attempts = verify(without_failures, wanted=wanted).attempts
    except DataError as error:  # whole numbers may not be exact in float64, for example
        message = Message("scores-not-counted", why=str(error))
        return _Counted(Finding("kind", "error", message), None)
    impostors = attempts.impostor_attempts // (1 + is_symmetric(scores))
    return _Counted(_kind(scores, attempts), impostors)


def _pair_checks(scores: Scores) -> Iterator[Finding]:
    values = scores.values.astype(np.float64)
    distances = sign_of(scores.kind) * values
    is_finite = np.isfinite(values)
    nan = np.flatnonzero(np.isnan(values))
    infinite = (int((distances == end).sum()) for end in (-np.inf, np.inf))
    yield failures(scores, len(nan), listed_pairs(nan[:SHOWN]), *infinite)
    ends = end_values(values[is_finite], ~scores.genuine[is_finite], scores.kind, copies=True)
    pairs_at_ends = [np.flatnonzero(values == end.value) for end in ends]
    places = listed_pairs(np.concatenate([np.empty(0, int), *pairs_at_ends]))
    yield end_finding(ends, [*map(len, pairs_at_ends)], {"pairs": len(values)}, places)
    if scores.kind != "order":
        yield copies_of_pairs(scores, distances)


def _kind(scores: Scores, attempts: Attempts) -> Finding:
    genuine = attempts.genuine_attempts
    if not genuine or not attempts.impostor_attempts:
        return Finding("kind", "ok", "not checked without both classes")
    eer = float(attempts.points.equal_error().eer[0])
    verdict = KindVerdict.from_scores(scores)
    count = genuine + attempts.impostor_attempts if verdict.severity == "error" else 0
    message = verdict.message or say("EER {eer:rate} over all attempts", eer=eer)
    return Finding("kind", verdict.severity, message, count)
