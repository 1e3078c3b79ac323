"""Closed-set identification as a result: CMS over the ranks.

If the mates of three probes are at the ranks 1, 1 and 3, then `identified` is ``[2, 2, 3]`` over
the ranks, and CMS ``[2/3, 2/3, 1]``. :func:`closed_set_dataset` makes the result of searches;
results over folds and galleries make it of their own :class:`ClosedSetCounts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import Message, ProtocolError
from bioeval.base.kinds import Layout
from bioeval.counting.searches import Searches
from bioeval.protocol.tasks import Ties, Unmated
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import Scalars, Variables, dataset, rate
from bioeval.results.support import (
    rank_message,
)
from bioeval.results.variables import CLOSED_SET
from bioeval.scores.provenance import Provenance

# Limits of a result, if the user gives no number of ranks.
RANK_LIMIT = 1_000_000  # ranks
DIR_LIMIT = 2_000_000  # values of DIR(t, k), thresholds times ranks, of the open set
_FEWER_RANKS = 100  # ranks of a result beyond a limit: more than a reader of a curve looks at

#: In messages, CMS at rank 1 and at any other rank.
CMS_WORDS = ("the recognition rate", "{cms} at rank")


def ranks_to_report(
    longest: int, max_rank: int | None, thresholds: int = 0
) -> tuple[int, list[Message]]:
    """Return the number of ranks to report, and a message if further ranks are attainable.

    All ranks of the `longest` candidate list are reported if ranks times thresholds (ranks alone if
    `thresholds` is 0) are within the limit.
    """
    if max_rank is not None:
        return max_rank, []
    limit = DIR_LIMIT if thresholds else RANK_LIMIT
    ranks = max(1, longest)
    thresholds = max(1, thresholds)
    if ranks * thresholds <= limit or ranks <= _FEWER_RANKS:
        return ranks, []
    message = Message(
        "not-all-ranks", reported=_FEWER_RANKS, ranks=ranks, thresholds=thresholds, limit=limit
    )
    return _FEWER_RANKS, [message]


@dataclass(frozen=True)
class ClosedSetCounts:
    """Counts of closed-set identification, of one gallery or expected over many.

    Of several parts, each number is an array (parts,), and `identified` is (parts, ranks).
    """

    identified: np.ndarray  # (ranks,): probes with a mate at each rank or better
    attempts: Any
    skipped: Any  # probes without a usable mate
    tied: Any  # int64 or float64: attempts with a non-mate tied with the best mate

    def require_mated(
        self, layout: Layout, unmated: Unmated, unmated_people: int, first: int
    ) -> None:
        """Raise :class:`ProtocolError` if probes of people without a mate may not be skipped.

        `unmated_people` is the number of these probes, and `first` the index of the first.
        """
        may_skip = unmated == "skip" or (unmated == "auto" and layout == "all-against-all")
        if unmated_people and not may_skip:
            raise ProtocolError(
                "closed-set identification requires that every probe is enrolled, but "
                f"{unmated_people} of {self.attempts + self.skipped} probes have no usable mate, "
                f'the first is probe {first}; `unmated="skip"` leaves them out and counts '
                "them, or use open_set"
            )

    def scalars(self, subjects: Any) -> Scalars:
        """Return CMS over the ranks, the attempts, and their `subjects`, None if unknown.

        ``CMS(k)`` is the proportion of the attempts with a mate at rank k or better, and the
        recognition rate is ``CMS(1)``: ISO/IEC 19795-1 (true-positive identification rate).
        """
        attempts = np.asarray(self.attempts, dtype=np.float64)[..., None]
        cms = self.identified / np.where(attempts > 0, attempts, np.nan)
        values: Variables = {
            "cms": cms,
            "cms_count": self.identified,
            "recognition_rate": cms[..., 0],
            "attempts": np.int64(self.attempts),
            "skipped": np.int64(self.skipped),
            "tied": self.tied,
        }
        if subjects is not None:
            values["subjects"] = np.int64(subjects)
        return Scalars(values, {"rank": np.arange(1, cms.shape[-1] + 1)}, CLOSED_SET)

    def dataset(
        self,
        about: Provenance,
        options: Mapping[str, str | int | float],
        notes: Iterable[Message] = (),
    ) -> xr.Dataset:
        """Return the result; `options` are attributes, and `notes` messages."""
        messages = [*notes]
        if self.skipped:
            messages.append(Message("probes-without-mate", probes=self.skipped, where=""))
        if not self.attempts:
            messages.append(Message("no-attempt", what="probe with a mate", rates=["cms"]))
        attrs = {
            **about_attrs(about, "closed-set", "closed-set identification", messages),
            **options,
        }
        variables, labels, _ = self.scalars(about.enrolled_subjects if about.people else None)
        return dataset(variables, CLOSED_SET, labels, attrs)


def closed_set_dataset(
    searches: Searches,
    *,
    max_rank: int | None = None,
    ties: Ties = "pessimistic",
    unmated: Unmated = "auto",
) -> xr.Dataset:
    """Return CMS over the ranks; probes without a usable mate raise, or are skipped."""
    counts, notes = closed_set_counts(searches, max_rank=max_rank, ties=ties, unmated=unmated)
    options = {"rank_unit": searches.rank_unit, "fusion": searches.fusion}
    options |= {"ties": ties, "unmated": unmated}

    def cms(ties: Ties) -> np.ndarray:
        ranks = len(counts.identified)
        counts_of_rule, _ = closed_set_counts(searches, max_rank=ranks, ties=ties, unmated=unmated)
        return rate(counts_of_rule.identified, counts.attempts)

    if counts.tied:
        notes += rank_message("cms", cms, CMS_WORDS)
    return counts.dataset(searches.about, options, notes)


def closed_set_counts(
    searches: Searches, *, max_rank: int | None, ties: Ties, unmated: Unmated
) -> tuple[ClosedSetCounts, list[Message]]:
    """Return the counts of searches, and a message if not all ranks are reported."""
    has_mate = searches.mates > 0
    mated = np.flatnonzero(has_mate)
    _, ranks, weights = searches.rank_weights(mated, ties)
    longest = int((searches.mates + searches.others).max(initial=0))
    number_of_ranks, notes = ranks_to_report(longest, max_rank)
    is_reported = ranks <= number_of_ranks
    at_rank = np.bincount(ranks[is_reported] - 1, weights[is_reported], minlength=number_of_ranks)
    if ties != "expected":  # the weights are all 1
        at_rank = at_rank.astype(np.int64)
    counts = ClosedSetCounts(
        identified=np.cumsum(at_rank),
        attempts=len(mated),
        skipped=int((~has_mate).sum()),
        tied=np.int64((searches.tied[mated] > 0).sum()),
    )
    is_unmated = ~has_mate & searches.of_people
    first = int(np.argmax(is_unmated))
    counts.require_mated(searches.about.layout, unmated, int(is_unmated.sum()), first)
    return counts, notes
