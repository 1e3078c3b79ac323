"""The re-identification task of a card."""

from __future__ import annotations

from dataclasses import dataclass

from bioeval.protocol.biometric_tasks import TIES
from bioeval.protocol.fields import (
    RECTANGULAR,
    SEARCHABLE,
    SQUARE,
    Interval,
    Task,
    card_field,
)


@dataclass(frozen=True, kw_only=True)
class Reid(Task):
    """The ``[reid]`` section; ``docs/reid.md`` explains its fields."""

    doc = (
        "Re-identification (1:N, ranked): each query searches the gallery; at which ranks "
        "are its matches?"
    )
    layouts = SEARCHABLE
    says = {
        SQUARE: {
            "An attempt": "each template is a query, against all the others that the convention "
            "leaves it",
            "Genuine": "a query with at least one match left: another template of its identity "
            "that is not removed. Every mean is over such queries, unless 'unmatched' says zero",
            "Impostor": "none: there is no threshold to pass. Entries of other identities that "
            "are left, distractors included, are wrong entries of the list",
        },
        RECTANGULAR: {
            "An attempt": "each query (row) searches the gallery entries that the convention "
            "leaves it",
            "Genuine": "a query with at least one match left: a gallery entry of its identity "
            "that is not removed. Every mean is over such queries, unless 'unmatched' says zero",
            "Impostor": "none: there is no threshold to pass. Entries of other identities that "
            "are left, distractors included, are wrong entries of the list",
        },
    }
    rates = {
        "CMC(k)": "queries whose counted match is at rank k or better / queries",
        "mAP": "the mean over the queries of their average precision",
        "mINP": "the mean over the queries of matches / rank of the last match",
    }
    removed: str = card_field(
        "which gallery entries a query does not see",
        choices={
            "same-id-same-camera": "entries of the query's own identity from the query's own "
            "camera",
            "same-camera": "every entry from the query's own camera, of any identity",
            "none": "nothing is removed; cameras are not needed",
        },
        default="same-id-same-camera",
    )
    removed_for_ap: str = card_field(
        "the same for average precision and INP, where a program has another list for them",
        choices={
            "as-above": "the same list as that of the CMC",
            "same-id-same-camera": "average precision and INP are over the list without the "
            "entries of the query's identity from its camera, whatever the CMC is over",
            "none": "average precision and INP are over the whole list",
        },
        default="as-above",
    )
    junk: str = card_field(
        "what to do with gallery entries of the junk ids",
        choices={
            "remove": "junk leaves the gallery of every query",
            "keep": "junk stays, as wrong entries that match no query",
        },
        default="remove",
    )
    junk_ids: tuple[int, ...] = card_field(
        "identities that mark junk: detections of nothing, or of a part of a person",
        distinct=True,
        default=(-1,),
        may_be_empty=True,
    )
    distractor_ids: tuple[int, ...] = card_field(
        "identities that mark distractors, which stay as wrong entries; a query of one "
        "of them is searched like any other, with a warning",
        distinct=True,
        default=(0,),
        may_be_empty=True,
    )
    cmc: str = card_field(
        "what the CMC counts",
        choices={
            "first-match": "the first match of a query, at its rank",
            "allshots": "each of the h matches of a query, with 1/h, at its rank among non-matches",
            "single-gallery-shot": "the one match in a gallery of one entry of each identity, "
            "drawn anew for each query; averaged exactly over all draws",
            "identity-dedup": "the query's identity in the list of distinct identities, each at "
            "its first entry",
        },
        default="first-match",
    )
    unmatched: str = card_field(
        "what to do with a query that has no match left",
        choices={
            "skip": "a query without a match is left out of every mean, and counted",
            "zero": "a query without a match counts as 0 in every mean",
        },
        default="skip",
    )
    ap: str = card_field(
        "the form of average precision",
        choices={
            "sum": "the mean of the precisions at the ranks of the matches",
            "trapezoid": "the area under precision and recall by the trapezoidal rule, from "
            "precision 1 at recall 0",
            "tied-once": "the sum over distinct scores of precision times gained recall, so that "
            "equal scores form one threshold (scikit-learn's average_precision_score)",
        },
        default="sum",
    )
    rank_k: int | None = card_field(
        "also report the mean average precision of lists cut at this rank",
        interval=Interval(1),
        default=None,
    )
    rank_k_over: str = card_field(
        "what the average precision of a cut list is divided by",
        choices={
            "positives": "all matches in the query's gallery, within the cut or not",
            "smaller": "the smaller one of that number and the length of the cut",
        },
        default="positives",
    )
    max_rank: int = card_field("the last rank of the CMC", interval=Interval(1), default=50)
    ties: str = card_field(
        "where a non-match exactly as close as a match ranks", choices=TIES, default="stable"
    )
