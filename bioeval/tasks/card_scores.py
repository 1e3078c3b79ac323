"""Scores under a card: the layouts that it takes, its galleries, and the comparisons it keeps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bioeval.base.errors import DataError, ProtocolError
from bioeval.counting.thresholds import to_user
from bioeval.counting.verification import verify
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import for_layout, of_claims
from bioeval.protocol.pairs import with_exclusions, with_pairs
from bioeval.results.dataset import MEAN
from bioeval.scores.codes import Codes
from bioeval.scores.labels import no_value
from bioeval.scores.matrix import Scores, require_all_scores, require_scores
from bioeval.tasks.reid.candidates import convention_of, kept_scores


def check_systems(scores: Mapping[str, Scores]) -> None:
    """Raise :class:`DataError` unless there are systems with names that may be nodes of a tree."""
    if not scores:
        raise DataError("no systems are given; expected a mapping of name to Scores")
    for name in scores:
        if not isinstance(name, str) or not name or "/" in name:
            raise DataError(f"the system's name is {name!r}; expected a word without '/'")


def resolve_card(scores: Scores, protocol: str | Protocol) -> Protocol:
    """Return the card of a protocol, or raise :class:`ProtocolError` if it refuses the layout.

    Nothing else decides which layouts a card takes, for any function or command.
    """
    require_scores(scores)
    card = for_layout(scores.layout, protocol)
    if protocol == "auto" and scores.claims:
        card = of_claims(card)
    if scores.layout == "top-k":
        if set(card.tasks) != {"reid"} or card.has_folds or card.galleries or card.exclude:
            require_all_scores(scores)
        return card
    if scores.layout not in card.layouts:
        usual = for_layout(scores.layout, "course-kfold" if card.has_folds else "auto")
        raise ProtocolError(
            f"protocol {card.name} is for the layout {' or '.join(card.layouts)}, but these scores "
            f"are {scores.layout}; use {usual.name}, or a card of this layout"
        )
    return card


def thresholds_over(scores: Scores, number: int | None = None) -> np.ndarray:
    """Return about `number` increasing thresholds over the range of the scores, in their units."""
    return np.sort(to_user(verify(scores, thresholds=number).curve[0], scores.kind))


def galleries_of(scores: Scores, card: Protocol) -> dict[str, Scores] | None:
    """Return the galleries that a card evaluates separately, by name; None for a single gallery."""
    if card.galleries is None or card.galleries.column not in scores.gallery_meta:
        return None
    column = scores.gallery_meta[card.galleries.column]
    codes = Codes(column, column, "galleries")
    is_missing = no_value(codes.values)
    names = ["" if is_missing[i] else str(x) for i, x in enumerate(codes.values.tolist())]
    if len(names) < 2:
        return None
    wrong = [name for name in names if not name or "/" in name or name == MEAN]
    if wrong or len(set(names)) < len(names):
        refused = (wrong or names)[0]
        raise DataError(
            f"the gallery metadata {card.galleries.column!r} name a gallery {refused!r}; expected "
            f"different words without '/', other than {MEAN!r}"
        )
    return {
        name: scores.select(gallery=np.flatnonzero(codes.gallery == code))
        for code, name in enumerate(names)
    }


def compared(scores: Scores, card: Protocol) -> Scores:
    """Return the scores without the comparisons that a card leaves out."""
    scores = with_exclusions(scores, card)
    if card.reid is not None or card.gom is not None:
        scores = kept_scores(scores, convention_of(card, ("reid", "gom")))
    return scores if card.verification is None else with_pairs(scores, card.verification.pairs)
