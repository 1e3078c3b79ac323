"""Checks of data before they are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import xarray as xr

from bioeval.base.arguments import require_flag
from bioeval.evaluation.label_checks import label_checks
from bioeval.evaluation.plan import resolve_card
from bioeval.evaluation.score_checks import (
    compared_with_themselves,
    mirrored,
    pair_checks,
    score_checks,
)
from bioeval.evaluation.worst_pairs import compared
from bioeval.kernels.data_scan import IMPOSTOR
from bioeval.protocol.card import Protocol
from bioeval.results.findings import DataCheck, Finding
from bioeval.results.support import KIND_DOUBT
from bioeval.scores.blocks import Progress
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.tallies.data_scan import scan
from bioeval.tallies.points import check_far_targets


@leaves_out_attacks
def check_data(
    scores: Scores,
    protocol: str | Protocol = "auto",
    *,
    far_targets: Sequence[float] | None = None,
    read_scores: bool = True,
    progress: Progress | None = None,
) -> DataCheck:
    """Check data before any evaluation: labels, copies, sentinels, kind, ties, numbers of people.

    Parameters
    ----------
    scores : Scores
        A matrix of either layout, embeddings or a list of pairs.
    protocol : str or Protocol
        The card under which they will be evaluated: what it leaves out is not checked.
    far_targets : sequence of float, optional
        FAR for which there should be people enough; those of the card by default.
    read_scores : bool
        Whether the scores are looked at, in one pass over blocks of rows, or labels and metadata
        alone.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    DataCheck
        Its ``findings``, one for each check, with ``check severity message count where remedy``:
        ``samples layout labels names metadata people``, and of the scores ``failed sentinels
        duplicates zero-distance symmetry kind ties label-errors``. ``misleads`` says whether any is
        an ``"error"``, so that a result would mislead; a ``"warning"`` is likely a fault, a
        ``"note"`` is to be known, and ``"ok"`` is what was looked at without finding any.

    Raises
    ------
    ProtocolError
        If the scores are not of the layout of the protocol, or are top-K lists.

    Notes
    -----
    Counts of failed, perfect and equal scores are of all comparisons. Ties and values at either end
    are looked for in about 65,000 scores of evenly spaced rows, symmetry in about 2 million, the
    kind in at most 200,000 of either class. Rows are compared by digests, and none is sorted.
    Errors of labels are looked for by the median distance of each probe to each label.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(40, 4, random_state=1)
    >>> found = be.check_data(scores)
    >>> found.misleads, found["samples"].message
    (False, '40 subjects with 4 templates each')
    >>> wrong = be.Scores(scores.values, scores.probe_labels, kind="similarity")
    >>> be.check_data(wrong)["kind"].severity
    'error'
    """
    card = resolve_card(scores, protocol)
    scores = compared(scores, card)
    read_scores = require_flag("read_scores", read_scores)
    targets = card.report.far_targets if far_targets is None else far_targets
    if (card.reid or card.gom) is not None and far_targets is None:
        targets = ()
    labels = partial(
        label_checks,
        scores,
        check_far_targets(targets).tolist(),
        convention=card.reid is not None or card.gom is not None,
    )
    findings = _findings(scores, labels, read_scores, progress)
    return DataCheck(repr(scores)[1:-1], card.name, tuple(findings))


def with_kind_finding(
    tree: xr.DataTree,
    scores: Scores,
    protocol: str | Protocol = "auto",
    *,
    progress: Progress | None = None,
) -> xr.DataTree:
    """Return results whose doubt of labels or kind is replaced by the data check's finding.

    The check knows more than the results: whether each template is nearest to itself. The scores
    are read only where results are in doubt.
    """
    doubtful = [node for node in tree.subtree if KIND_DOUBT in node.attrs]
    if not doubtful:
        return tree
    card = resolve_card(scores, protocol)
    scores = compared(scores, card)
    labels = partial(label_checks, scores, ())
    findings = _findings(scores, labels, True, progress)
    found = next((x for x in findings if x.check == "kind"), None)
    if found is None or found.severity == "ok":
        return tree
    said = f"{found.message}; {found.remedy}"
    for node in doubtful:
        lines = str(node.attrs["warnings"]).splitlines()
        lines = [said if line == node.attrs[KIND_DOUBT] else line for line in lines]
        node.attrs = {**node.attrs, "warnings": "\n".join(lines), KIND_DOUBT: said}
    return tree


def _findings(
    scores: Scores,
    labels: Callable[..., Iterator[Finding]],
    read_scores: bool,
    progress: Progress | None,
) -> Iterator[Finding]:
    """Yield the findings, those that need no score first."""
    if are_pairs(scores):
        yield from labels(symmetric=False)
        yield from pair_checks(scores) if read_scores else ()
        return
    if not read_scores:
        yield from labels(symmetric=True)
        return
    found = scan(scores, progress)
    symmetric = mirrored(found) if len(found.lines) else scores.streams
    yield from labels(
        symmetric=symmetric,
        impostors=int(found.counts[IMPOSTOR]),
        self_compared=compared_with_themselves(scores, found),
    )
    yield from score_checks(scores, found)
