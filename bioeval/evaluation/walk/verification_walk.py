"""One row under verification: each comparison, or each claimed subject, is an attempt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bioeval.evaluation.walk.candidates import subjects, templates
from bioeval.evaluation.walk.cells import RowCells
from bioeval.evaluation.walk.threshold import Lister, Threshold, adding
from bioeval.results.counters import Count
from bioeval.results.row_walk import GENUINE, LEFT_OUT, Entry, TaskWalk
from bioeval.tallies.verification_job import VerificationJob

_RULES = {
    "single": "each comparison is one attempt: genuine if both templates are of one subject",
    "multi": "the probe claims each subject once, by the score fused over its templates",
}


def walk_verification(
    row: RowCells, i: int, job: VerificationJob, threshold: Threshold, ties: str
) -> TaskWalk:
    """Return the walk of row `i` under verification; `ties` only order the list."""
    multi = job.templates == "multi"
    unit = "subject" if multi else "template"
    cells = row.of(i)
    candidates = subjects(cells, job.fusion) if multi else templates(cells)
    entries = Lister(row, threshold, unit, job.fusion).entries(candidates, ties)
    group = {c.decides: c.group for c in candidates}
    claimed, enrolled = _claims(job, i)
    found = []
    for entry in entries:
        times = 1 if claimed is None else claimed.get(group[entry.column], 0)
        if entry.role != LEFT_OUT and not times:
            entry = replace(entry, role=LEFT_OUT, tied=False, reason="not claimed")
        found.append(_counted(entry, times, enrolled))
    rule = _RULES[job.templates]
    if not row.scores.labelled:
        rule = "each comparison is one attempt: genuine or impostor as the mask says"
    if claimed is not None:
        rule = "only claims are attempts: " + (
            "a claim meets all templates of the claimed subject, fused into one score"
            if multi
            else "a claim meets each template of the claimed subject"
        )
    return TaskWalk(
        task=f"verification/{job.templates}",
        unit=unit,
        rule=rule + (f" (fusion {job.fusion})" if multi else ""),
        entries=tuple(found),
        notes=tuple(_notes(found, unit)),
    )


def _counted(entry: Entry, times: int, enrolled: bool) -> Entry:
    """Return an entry with what its attempt adds."""
    if entry.role == LEFT_OUT:
        return entry
    names = ("ga", "fr") if entry.role == GENUINE else ("fa", "gr")
    if not enrolled:
        names = ("fa_unenrolled", "gr_unenrolled")
    yes, no = ((Count(name, None, times),) for name in names)
    return adding(entry, yes, no)


def _claims(job: VerificationJob, i: int) -> tuple[dict[int, int] | None, bool]:
    """Return how often row `i` claims each group, None for all once, and if it is enrolled.

    Of drawn claims, those of a probe who is not enrolled have counters of their own.
    """
    if job.claims is None:
        return None, True
    found: dict[int, int] = {}
    own = _of_row(job.claims, i)
    strangers = [] if job.strangers is None else _of_row(job.strangers, i)
    for group in own + strangers:
        found[group] = found.get(group, 0) + 1
    return found, not strangers


def _of_row(claims: tuple[np.ndarray, np.ndarray], i: int) -> list[int]:
    probes, groups = claims
    return groups[probes == i].tolist()


def _notes(entries: list[Entry], unit: str) -> list[str]:
    """Return what is missing in this row."""
    if any(entry.role == GENUINE for entry in entries):
        return []
    return [f"No genuine attempt in this row: no {unit} with a usable genuine comparison."]
