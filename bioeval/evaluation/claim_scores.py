"""The scores by which a system in use decides claims, as a matrix of their own."""

from __future__ import annotations

import numpy as np

from bioeval.base.errors import Argument, ProtocolError
from bioeval.scores.arrays import FusionRule
from bioeval.scores.blocks import require_subjects
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.enrolled import Enrol
from bioeval.scores.matrix import Scores, require_scores
from bioeval.tallies.listed_claims import parse_use, scores_in_use, table_of_claims
from bioeval.tallies.thresholds import to_user
from bioeval.tallies.verification_counter import Claim, Templates


@leaves_out_attacks
def claim_scores(
    scores: Scores,
    *,
    attempts: str | None = None,
    templates: Templates = "multi",
    fusion: FusionRule = "min",
    enrol: Enrol = None,
) -> Scores:
    """Return the score of each claim, as the system in use decides it.

    An attempt of a person may be several tries, and a claim is compared with several templates of
    the claimed subject. The result has one score for each claim, so that every study of single
    comparisons (the zoo, groups, curves) is one of claims: ``be.zoo(be.claim_scores(scores,
    attempts="visit"), threshold=t)`` counts who is rejected in a visit.

    Parameters
    ----------
    scores : Scores
        Distances or similarities with subjects, shape (m, n).
    attempts : str, optional
        The metadata column of the probes by which probes of a subject are the tries of one attempt,
        accepted if one of them is.
    templates, fusion, enrol
        As for :func:`verification`; `templates` is ``"multi"`` unless given. `enrol` is the first
        templates of each subject (``"first:3"``): a mean over all choices of templates has no
        single score.

    Returns
    -------
    Scores
        A row for each attempt and a column for each subject, or for each template if `templates`
        is ``"single"``. Distances and similarities stay what they are, in float64. A claim without
        any comparison is NaN, and no attempt. Rows have the metadata of the first try; columns
        have those of the subject's enrolled templates that are the same for all of them.

    Raises
    ------
    ProtocolError
        Where any of several choices of templates may be enrolled.
    DataError
        Where there are no subjects, or no such column.

    Notes
    -----
    A sequence of tries that ends in one decision is a transaction of ISO/IEC 19795-1. Verification
    of the result with single templates has the counts of verification of the scores with the same
    options.

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
    require_scores(scores)
    require_subjects(scores, "a matrix of claims")
    Claim(templates, fusion)
    use = parse_use(attempts, templates, fusion, enrol)
    in_use = scores_in_use(scores, use)
    if use.enrol.drawn and int(np.bincount(in_use._codes.gallery).max()) > use.enrol.drawn:
        raise ProtocolError(
            Argument("enrol"),
            f" is {use.enrol}: rates are then means over all choices of templates, and a claim has "
            "no single score; enrol the first ones, ",
            Argument("enrol", f"first:{use.enrol}"),
        )
    table = table_of_claims(in_use, use)
    meta = in_use.gallery_meta
    if templates == "multi":
        meta = {name: meta[name] for name in meta if _is_of_subjects(meta[name], in_use)}
    nan = "exclude" if np.isnan(table.distances).any() else in_use.nan
    claims = Scores(
        to_user(table.distances, in_use.kind),
        in_use.probe_labels[table.first_try],
        in_use.gallery_labels[table.column],
        kind=in_use.kind,
        nan=nan,
        probe_meta={name: values[table.first_try] for name, values in in_use.probe_meta.items()},
        gallery_meta={name: values[table.column] for name, values in meta.items()},
        name=scores.name,
        distractor_ids=in_use.distractor_ids,
    )
    return claims._with(_junk_ids=in_use._junk_ids)


def _is_of_subjects(values: np.ndarray, scores: Scores) -> bool:
    """Whether all gallery templates of a subject have the same value in a metadata column."""
    distinct, codes = np.unique(np.asarray(values).astype(str), return_inverse=True)
    pairs = scores._codes.gallery * len(distinct) + codes.reshape(-1)
    return len(np.unique(pairs)) == len(np.unique(scores._codes.gallery))
