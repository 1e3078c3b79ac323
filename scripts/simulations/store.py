"""Counts of outcomes, kept in one file, so that a simulation goes on where it stopped."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import numpy as np

from simulations.claims import Interval, Outcomes

SCHEMA = 1
#: Data sets that are counted together.
BATCH = 20
OUTCOMES = ("held", "below", "above", "broken", "none")


class Store:
    """Outcomes of each cell of each claim, by what was measured.

    ``counts[claim][cell]`` has the numbers of its ``batches`` and, for each thing ``measured``, the
    number of each outcome and the sum of the widths of its intervals.
    """

    def __init__(self, path: Path):
        """Read the file, where it is there."""
        self.path = path
        self.counts: dict[str, dict[str, dict]] = {}
        if path.exists():
            held = json.loads(path.read_text(encoding="utf-8"))
            if held["schema"] != SCHEMA:
                raise SystemExit(f"{path} has the layout {held['schema']}; expected {SCHEMA}")
            self.counts = held["claims"]

    def batches(self, claim: str, cell: str) -> set[int]:
        """Return the numbers of the batches of a cell that are counted."""
        return {*self.counts.get(claim, {}).get(cell, {}).get("batches", ())}

    def add(self, claim: str, cell: str, batch: int, counts: dict) -> None:
        """Add the counts of a batch, and write the file."""
        of_cell = self.counts.setdefault(claim, {}).setdefault(
            cell, {"batches": [], "measured": {}}
        )
        of_cell["batches"] = sorted([*of_cell["batches"], batch])
        for name, added in counts.items():
            total = of_cell["measured"].setdefault(name, dict.fromkeys((*OUTCOMES, "width"), 0))
            for key, value in added.items():
                total[key] += value
        self.write()

    def write(self) -> None:
        """Write all counts, in a fixed order, a cell on each line."""
        claims = []
        for claim in sorted(self.counts):
            cells = [
                f" {json.dumps(cell)}: {_compact(counts)}"
                for cell, counts in sorted(self.counts[claim].items())
            ]
            claims.append(f"{json.dumps(claim)}: {{\n" + ",\n".join(cells) + "\n}")
        text = f'{{"schema": {SCHEMA}, "claims": {{\n' + ",\n".join(claims) + "\n}}"
        part = self.path.with_suffix(".part")
        part.write_text(f"{text}\n", encoding="utf-8", newline="\n")
        os.replace(part, self.path)


def _compact(counts: dict) -> str:
    return json.dumps(counts, separators=(",", ":"), sort_keys=True)


def counted(outcomes: list[Outcomes]) -> dict:
    """Return the counts of some data sets."""
    measured: dict[str, Counter] = {}
    for of_run in outcomes:
        for name, outcome in of_run.items():
            counts = measured.setdefault(name, Counter())
            counts[outcome.outcome()] += 1
            if isinstance(outcome, Interval) and np.isfinite(outcome.high - outcome.low):
                counts["width"] += outcome.high - outcome.low
    return {name: dict(counts) for name, counts in measured.items()}
