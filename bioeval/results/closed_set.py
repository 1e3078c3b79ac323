"""Closed-set identification: CMS(k) and the recognition rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, ProtocolError, counted, require_choice
from bioeval.base.variables import CLOSED_SET
from bioeval.results.dataset import Scalars, Variables, about_attrs, build, max_ranks, rate
from bioeval.scores.provenance import Provenance
from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.identification_job import check_max_rank, rank_weights

UNMATED = ("auto", "raise", "skip")

# Largest gallery of which every rank is reported.
RANK_LIMIT = 1_000_000


@dataclass(frozen=True)
class ClosedSetCounts:
    """Counts of closed-set identification, of one gallery or expected over many."""

    found: np.ndarray  # probes with a mate at each rank or better
    attempts: int
    skipped: int  # probes without a usable mate
    tied: Any  # attempts with a non-mate tied with the best mate
    ranks: np.ndarray | None = None  # by default 1 ... r

    def scalars(self, about: Provenance) -> Scalars:
        """Return CMS over the ranks, and the attempts."""
        cms = rate(self.found, self.attempts)
        variables: Variables = {
            "cms": (("rank",), cms),
            "cms_count": (("rank",), self.found),
            "recognition_rate": ((), cms[0]),
            "attempts": ((), np.int64(self.attempts)),
            "skipped": ((), np.int64(self.skipped)),
            "tied": ((), self.tied),
        }
        if about.people:
            variables["subjects"] = (), np.int64(len(about.enrolled_subjects))
        ranks = np.arange(1, len(cms) + 1) if self.ranks is None else self.ranks
        return Scalars(variables, {"rank": ranks})

    def dataset(
        self, about: Provenance, options: Mapping[str, str | int | float], note: str = ""
    ) -> xr.Dataset:
        """Return the scalars with their provenance; a note is added to the warnings."""
        warnings = [note] if note else []
        if self.skipped:
            warnings.append(f"{counted(self.skipped, 'probes')} without a usable mate left out")
        if not self.attempts:
            warnings.append("no probe has a mate: CMS is not defined (NaN)")
        attrs = {**about_attrs(about, "closed-set identification", warnings), **options}
        variables, labels = self.scalars(about)
        return build(variables, CLOSED_SET, labels, attrs)


def require_mated(layout: str, unmated: str, skipped: int, probes: int, first: int) -> None:
    """Raise :class:`ProtocolError` where probes without a mate may not be skipped."""
    require_choice("unmated", unmated, UNMATED)
    all_against_all = layout == "all-against-all"
    if skipped and (unmated == "raise" or (unmated == "auto" and not all_against_all)):
        raise ProtocolError(
            "closed-set identification requires that every probe is enrolled, but "
            f"{skipped} of {probes} probes have no usable mate, the first is probe {first}; "
            f"{Argument('unmated', 'skip')} leaves them out and counts them, or use open_set"
        )


def closed_set_dataset(
    tally: IdentificationTally,
    *,
    max_rank: int | None = None,
    ties: str = "pessimistic",
    unmated: str = "auto",
) -> xr.Dataset:
    """Return CMS over the ranks; probes without a usable mate raise, or are skipped."""
    counts, note = closed_set_counts(tally, max_rank=max_rank, ties=ties, unmated=unmated)
    options = {"rank_unit": tally.rank_unit, "fusion": tally.fusion}
    options |= {"ties": ties, "unmated": unmated}
    return counts.dataset(tally.about, options, note)


def closed_set_counts(
    tally: IdentificationTally, *, max_rank: int | None, ties: str, unmated: str
) -> tuple[ClosedSetCounts, str]:
    """Return the counts of a tally, and a note where not all ranks are reported."""
    check_max_rank(max_rank, tally.about.gallery_templates)
    has_mate = tally.mates > 0
    skipped = int((~has_mate).sum())
    first = int(np.argmin(has_mate)) if skipped else -1
    require_mated(tally.about.layout, unmated, skipped, len(has_mate), first)
    chosen = np.nonzero(has_mate)[0]
    probes, ranks, weights = rank_weights(tally, chosen, ties)
    longest = int((tally.mates + tally.others).max(initial=0))
    count, note = max_ranks(longest, 1, max_rank, RANK_LIMIT)
    kept = ranks <= count
    at = np.bincount(ranks[kept] - 1, weights[kept], minlength=count)
    if ties != "expected":
        at = at.astype(np.int64)
    tied = np.int64((tally.tied[chosen] > 0).sum())
    return ClosedSetCounts(np.cumsum(at), len(chosen), skipped, tied), note
