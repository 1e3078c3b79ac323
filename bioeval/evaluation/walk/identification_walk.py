"""One row under identification: the best mate and its rank, and the nearest of other subjects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bioeval.evaluation.walk.candidates import Candidate, ordered, places, subjects, templates
from bioeval.evaluation.walk.cells import RowCells
from bioeval.evaluation.walk.threshold import Lister, Threshold, adding
from bioeval.results.counters import Count, amount_text
from bioeval.results.open_set import role_of
from bioeval.results.row_walk import GENUINE, IMPOSTOR, LEFT_OUT, Entry, TaskWalk
from bioeval.tallies.identification_job import IdentificationJob


@dataclass(frozen=True)
class BestMate:
    """The best mate of a probe: what is closer, what is tied, and its ranks with their weights."""

    candidate: Candidate
    closer: int
    tied: int
    ranks: tuple[tuple[int, float], ...]
    expected: tuple[tuple[int, float], ...]

    @classmethod
    def among(cls, candidates: Sequence[Candidate], ties: str) -> BestMate | None:
        """Return the best mate; None if no mate is usable."""
        usable = [c for c in candidates if c.distance is not None]
        mates = ordered([c for c in usable if c.own], "stable")
        if not mates:
            return None
        best = mates[0]
        others = [c for c in usable if not c.own]
        closer = sum(_distance(c) < _distance(best) for c in others)
        tied = [c for c in others if c.distance == best.distance]
        before = sum(c.column < best.column for c in tied)
        mates_tied = sum(c.distance == best.distance for c in mates)
        facts = closer, len(tied), before, mates_tied
        found, expected = (tuple(places(facts, rule)) for rule in (ties, "expected"))
        return cls(best, closer, len(tied), found, expected)

    def says(self, ties: str) -> str:
        """Return what ties do to the rank; empty without ties."""
        if not self.tied:
            return ""
        shares = ", ".join(f"{amount_text(w)} at rank {r}" for r, w in self.expected)
        others = "1 entry of another subject is" if self.tied == 1 else (
            f"{self.tied} entries of other subjects are")  # fmt: skip
        return (
            f"Tie: {others} exactly as close as the nearest mate. Ties are {ties}"
            f"{_TIES[ties]}; the mean over all orders (expected) is {shares}."
        )


_TIES = {
    "pessimistic": ", so it ranks behind",
    "optimistic": ", so it ranks before",
    "stable": ", so the order of the columns decides",
    "expected": "",
}


def _distance(candidate: Candidate) -> float:
    assert candidate.distance is not None
    return candidate.distance


@dataclass(frozen=True)
class SearchedRow:
    """One row under identification, with the job that counts it and the options of its result."""

    row: RowCells
    i: int
    job: IdentificationJob
    options: dict[str, Any]
    threshold: Threshold

    @property
    def ties(self) -> str:
        """The rule for ties."""
        return str(self.options["ties"])

    @property
    def unit(self) -> str:
        """What an entry of the list is."""
        return self.job.rank_unit

    def candidates(self) -> list[Candidate]:
        """Return the candidates, usable or not."""
        cells = self.row.of(self.i)
        if self.unit == "subject":
            return subjects(cells, self.job.fusion)
        return templates(cells)

    def entries(self, candidates: Sequence[Candidate]) -> list[Entry]:
        """Return the list of some candidates."""
        lister = Lister(self.row, self.threshold, self.unit, self.job.fusion)
        return lister.entries(candidates, self.ties)

    @property
    def enrolled(self) -> bool:
        """Whether the probe's subject is in the gallery when it is seen."""
        return bool(self.job.reader.enrolled[self.i])


def walk_open_set(search: SearchedRow) -> list[TaskWalk]:
    """Return the walks of a row in each role that it plays in open-set identification."""
    candidates = search.candidates()
    found = []
    best = BestMate.among(candidates, search.ties)
    everyone = search.job.reader.enrolled
    role = role_of(search.row.scores.layout, search.options["impostors"], bool(everyone.all()))
    impostor = role == "both" or search.enrolled == (role == "leave-subject-out")
    if best is not None:
        found.append(_as_genuine(search, candidates, best))
    elif search.enrolled:
        note = "No usable mate is left: no genuine attempt."
        found.append(_list_only(search, candidates, GENUINE, note))
    if impostor:
        found.append(_as_impostor(search, candidates))
    elif not found:
        note = f"Its subject is not enrolled, and impostors = {role}: the probe makes no attempt."
        found.append(_list_only(search, candidates, IMPOSTOR, note))
    return found


def _list_only(
    search: SearchedRow, candidates: Sequence[Candidate], role: str, note: str
) -> TaskWalk:
    """Return the list of a row that adds nothing."""
    return TaskWalk(
        task="open_set",
        role=role,
        unit=search.unit,
        rule=_OPEN_SET[role],
        entries=tuple(search.entries(candidates)),
        notes=(note,),
    )


_OPEN_SET = {
    GENUINE: "the nearest mate decides: its rank among all, and whether it is within the threshold",
    IMPOSTOR: "the nearest entry of another subject decides; the probe's own subject leaves the "
    "gallery",
}


def _as_genuine(search: SearchedRow, candidates: Sequence[Candidate], best: BestMate) -> TaskWalk:
    """Return the walk of a probe whose subject is enrolled."""
    miss = 1 - sum(weight for rank, weight in best.ranks if rank == 1)
    accepted = tuple(Count("di", rank, weight) for rank, weight in best.ranks)
    if miss > 0:
        accepted += (Count("fr", None, miss),)
    rank = best.ranks[0][0]
    found = []
    for entry in search.entries(candidates):
        if entry.column == best.candidate.decides and entry.role == GENUINE:
            what = f"nearest mate, at rank {rank}" if len(best.ranks) == 1 else "nearest mate"
            late = " (not first: always a false reject)" if miss == 1 else ""
            entry = adding(entry, accepted, (Count("fr"),), what + late)
        elif entry.role == GENUINE:
            entry = adding(entry, (), (), "a nearer mate decides")
        found.append(_ahead(entry, best))
    return TaskWalk(
        task="open_set",
        role=GENUINE,
        unit=search.unit,
        rule=_OPEN_SET[GENUINE],
        entries=tuple(found),
        also=(Count("genuine_attempts"),),
        notes=tuple(filter(None, (best.says(search.ties),))),
    )


def _ahead(entry: Entry, best: BestMate) -> Entry:
    """Return an entry of another subject, which may be ahead of the nearest mate."""
    if entry.role != IMPOSTOR or entry.place is None or entry.place >= best.ranks[0][0]:
        return entry
    return adding(entry, (), (), "ahead of the nearest mate")


def _as_impostor(search: SearchedRow, candidates: Sequence[Candidate]) -> TaskWalk:
    """Return the walk of a probe whose subject is not in the gallery, or leaves it."""
    gone = "the probe's own subject leaves the gallery"
    entries = [
        replace(entry, place=None, role=LEFT_OUT, accepted=None, tied=False, reason=gone)
        if entry.role == GENUINE
        else entry
        for entry in search.entries(candidates)
    ]
    listed = [entry for entry in entries if entry.place is not None]
    found = [
        adding(entry, (Count("fa"),), (Count("gr"),), "nearest of all other subjects")
        if k == 0
        else replace(entry, reason=entry.reason or "a nearer one decides")
        for k, entry in enumerate(listed)
    ]
    found = [replace(entry, place=k, tied=False) for k, entry in enumerate(found, start=1)]
    left_out = [entry for entry in entries if entry.place is None]
    notes = [] if found else ["No usable entry of another subject: no impostor attempt."]
    return TaskWalk(
        task="open_set",
        role=IMPOSTOR,
        unit=search.unit,
        rule=_OPEN_SET[IMPOSTOR],
        entries=(*found, *left_out),
        also=(Count("impostor_attempts"),) if found else (),
        notes=tuple(notes),
    )


def _unmated(search: SearchedRow) -> str:
    """Return what closed-set identification does with a probe without a usable mate."""
    unmated, layout = search.options["unmated"], search.row.scores.layout
    if unmated == "skip" or (unmated == "auto" and layout == "all-against-all"):
        return "No usable mate is left: the probe is left out of CMS, and counted."
    return (
        f"No usable mate is left: under unmated = {unmated}, closed-set identification of these "
        "data is an error."
    )


def walk_closed_set(search: SearchedRow) -> TaskWalk:
    """Return the walk of a row under closed-set identification."""
    search = replace(search, threshold=replace(search.threshold, distance=None))
    candidates = search.candidates()
    best = BestMate.among(candidates, search.ties)
    found, notes = [], []
    for entry in search.entries(candidates):
        if best is not None and entry.role == GENUINE:
            first = entry.column == best.candidate.decides
            adds = tuple(Count("cms_count", r, w) for r, w in best.ranks) if first else ()
            why = "nearest mate: CMS from this rank on" if first else "a nearer mate decides"
            entry = adding(entry, adds, adds, why)
        found.append(entry if best is None else _ahead(entry, best))
    if best is None:
        notes.append(_unmated(search))
    elif text := best.says(search.ties):
        notes.append(text)
    return TaskWalk(
        task="closed_set",
        unit=search.unit,
        rule="no threshold: the rank of the nearest mate decides",
        entries=tuple(found),
        also=(Count("attempts" if best is not None else "skipped"),),
        notes=tuple(notes),
    )
