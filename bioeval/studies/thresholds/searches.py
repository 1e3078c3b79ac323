"""Searches of a fixed gallery, by people who are enrolled and by others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.errors import ProtocolError
from bioeval.counting.identification import search
from bioeval.counting.threshold_rules import Rule
from bioeval.protocol.tasks import OpenSet
from bioeval.scores.matrix import Scores
from bioeval.scores.people import people_of_probes
from bioeval.scores.provenance import Provenance
from bioeval.studies.assurance.shares import Shares, search_shares
from bioeval.studies.folds.folds import FoldOptions, Judged, Searched, fold_of_searches
from bioeval.studies.folds.results import fold_dataset
from bioeval.studies.folds.splits import Samples, SplitPlan


def searches_of_people(scores: Scores) -> Scores:
    """Return the searches of people; distractors and junk stay in the gallery.

    Raise :class:`ProtocolError` unless people who are not enrolled search a gallery.
    """
    wanted = (
        "a threshold of open set is for searches of a fixed gallery by people who are not enrolled"
    )
    if scores.layout != "probe-against-gallery":
        raise ProtocolError(
            f"{wanted}; of {scores.layout} the FAR depends on all who are enrolled at once. Give "
            "probes and a gallery"
        )
    people = people_of_probes(scores) >= 0
    if np.isin(scores.codes.probe, scores.codes.gallery)[people].all():
        raise ProtocolError(f"{wanted}; all people of these probes are enrolled. Give others, too")
    if people.all():
        return scores
    return scores.select(probes=np.flatnonzero(people))


class FoldSearches(NamedTuple):
    """One search of each probe: in folds of the people who search, and on all of them."""

    folds: xr.Dataset
    whole: Judged
    people: int  # who search
    unenrolled_people: int  # of these
    shares: Shares


def search_in_folds(
    scores: Scores, rule: Rule, splitter: Any, confidence: float, *, rank_unit: str, fusion: str
) -> FoldSearches:
    """Choose a threshold on the searches of some people, and judge it on those of others.

    The people who search are divided, those enrolled and those not enrolled alike, while the
    gallery stays whole.
    """
    options = FoldOptions(
        "open_set",
        rule,
        search=OpenSet(rank_unit=rank_unit, fusion=fusion, impostors="unenrolled"),
        kind=scores.kind,
    )
    person = scores.codes.probe
    gallery = int((~scores.codes.no_person[np.unique(scores.codes.gallery)]).sum())
    searches = search(scores, options.search)
    # Probes of people who are enrolled and have a usable mate, and of people who are not.
    mated, ranks, _ = searches.rank_weights(np.flatnonzero(searches.mates > 0), options.search.ties)
    unmated = searches.impostor_probes("unenrolled")
    ranks, mate, other = (
        np.rint(ranks).astype(np.int64),
        searches.mate[mated],
        searches.other[unmated],
    )

    def of_probes(probes: np.ndarray) -> Searched:
        inside = np.zeros(len(person), dtype=bool)
        inside[probes] = True
        searching = inside[mated]
        return Searched(
            mate=mate[searching],
            ranks=ranks[searching],
            other=other[inside[unmated]],
            gallery=gallery,
        )

    enrolled = np.isin(person, person[mated])
    meta = {"enrolled": np.where(enrolled, "yes", "no")}
    plan = SplitPlan(splitter, len(person), person, None, meta)
    people, folds = Samples(person), {}
    for place, split in plan.splits.items():
        train, test = of_probes(split.train.probes), of_probes(split.test.probes)
        folds[place] = fold_of_searches(train, test, people.sizes(split), options)
    every = of_probes(np.arange(len(person))).attempts()
    return FoldSearches(
        fold_dataset(folds, plan.shape, Provenance.of(scores), options, splitter, confidence),
        Judged.of(every, every, options.distance_rule),
        len(np.unique(person)),
        len(np.unique(person[unmated])),
        search_shares(other, person[unmated], np.where(ranks == 1, mate, np.inf)),
    )
