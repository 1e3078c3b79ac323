"""Attack attempts: each presentation against its target, by attack instrument species."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base.errors import Argument, DataError, counted
from bioeval.scores.arrays import IGNORE
from bioeval.scores.attacks import AttackedScores
from bioeval.scores.blocks import Block, as_distances, as_row
from bioeval.scores.labels import missing_values
from bioeval.scores.matrix import Scores, are_pairs


@dataclass(frozen=True)
class AttackAttempts:
    """Attack attempts as distances, infinite and never accepted where detection rejects the row.

    Attributes
    ----------
    names : list of str
        The species, sorted.
    presentations : int64 array, shape (species,)
    accepted : list of float64 array
        Increasing distances of each species, of the rows that detection accepts.
    missed : int64 array, shape (species,)
        Attempts of rows that detection rejects.
    rows, distances, species : arrays, shape (attempts,)
        The row, the distance and the species of each attempt.
    """

    names: list[str]
    presentations: np.ndarray
    accepted: list[np.ndarray]
    missed: np.ndarray
    rows: np.ndarray
    distances: np.ndarray
    species: np.ndarray

    @property
    def number(self) -> np.ndarray:
        """Attempts of each species."""
        return np.array([len(x) for x in self.accepted], dtype=np.int64) + self.missed

    @property
    def pooled(self) -> np.ndarray:
        """Increasing distances of all species."""
        return np.sort(np.concatenate(self.accepted))

    def at_most(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the attempts accepted, shape (thresholds, species); NaN rejects all."""
        rejects = np.isnan(thresholds)[:, None]
        found = [np.searchsorted(x, thresholds, side="right") for x in self.accepted]
        return np.where(rejects, 0, np.stack(found, axis=1)).astype(np.int64)

    def rates(self, thresholds: np.ndarray, frr: np.ndarray) -> dict[str, np.ndarray]:
        """Return IAPAR of species, largest and pooled, and RIAPAR at thresholds."""
        found, number = self.at_most(thresholds), self.number
        total = int(number.sum())
        of_species = np.full(found.shape, np.nan)
        np.divide(found, number, out=of_species, where=number > 0)
        with_any = of_species[:, number > 0]
        largest = with_any.max(axis=1) if with_any.size else np.full(len(found), np.nan)
        pooled = found.sum(axis=1) / total if total else np.full(len(found), np.nan)
        return {
            "iapar_of_species": of_species,
            "riapar_of_species": of_species + frr[:, None],
            "iapar_max": largest,
            "iapar_pooled": pooled,
            "riapar": largest + frr,
        }


def attack_attempts(
    parts: AttackedScores, passed: np.ndarray | None, options: dict[str, str]
) -> AttackAttempts:
    """Return the attack attempts by species."""
    row, distance = _distances(parts.attacks, **options)
    names, code = np.unique(parts.species, return_inverse=True)
    of_attempt = code.reshape(-1)[row]
    passes = np.ones(len(row), dtype=bool) if passed is None else passed[row]
    accepted = [np.sort(distance[(of_attempt == s) & passes]) for s in range(len(names))]
    missed = np.bincount(of_attempt[~passes], minlength=len(names))
    presentations = np.bincount(code.reshape(-1), minlength=len(names))
    every = row, distance, of_attempt
    return AttackAttempts(names.tolist(), presentations, accepted, missed, *every)


def _distances(attacks: Scores, templates: str, fusion: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and the distance of each attack attempt; other cells are not read."""
    if are_pairs(attacks):
        values = as_row(attacks.values, attacks.kind, attacks.nan)[0].astype(np.float64)
        return np.flatnonzero(values == values), values[values == values]
    m = attacks.shape[0]
    row, column = attacks.mate_cells(np.arange(m))
    kept = ~_from_source(attacks, row, column) & ~attacks.excluded(row, column)
    if attacks.has_mask:
        base = attacks.base_rows(row), attacks.base_columns(column)
        kept &= attacks._mask[base] != IGNORE
    row, column = row[kept], column[kept]
    values = as_distances(attacks._cells(row, column)[None], attacks.kind)[0]
    failed = np.isnan(values)
    if failed.any() and attacks.nan == "raise":
        i = int(np.argmax(failed))
        raise DataError(
            f"of the attack rows against their targets, {counted(int(failed.sum()), 'scores')} "
            f"failed (NaN), the first at row {int(attacks.base_rows(row[i : i + 1])[0])}, column "
            f"{int(attacks.base_columns(column[i : i + 1])[0])}; choose how to treat failed "
            f"comparisons: {Argument('nan', 'reject')} (as attempts at an infinite distance) or "
            f"{Argument('nan', 'exclude')} (no attempt)"
        )
    if attacks.nan == "reject":
        values = np.where(failed, values.dtype.type(np.inf), values)
    if templates == "multi":
        place = np.arange(len(row)) - np.searchsorted(row, row)
        table = np.full((m, int(place.max(initial=0)) + 1), np.nan, dtype=values.dtype)
        table[row, place] = values
        row, values = np.arange(m), _fused(table, fusion)
    made = values == values
    return row[made], values[made].astype(np.float64)


def _fused(table: np.ndarray, fusion: str) -> np.ndarray:
    """Return each row's scores fused, NaN where there is none."""
    m, k = table.shape
    none = np.zeros(m, dtype=np.int64)
    rows = Block(
        low=0, values=table, columns=np.arange(k, dtype=np.int64)[None],
        starts=np.array([0, k], dtype=np.int64), own=none, mate_start=none, mate_stop=none + k,
        self_position=none - 1,
    )  # fmt: skip
    return rows.fused(fusion).values[:, 0]


def _from_source(attacks: Scores, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Return which cells compare an instrument with the template that it was made from."""
    if "source" not in attacks.probe_meta:
        return np.zeros(len(row), dtype=bool)
    source = attacks.probe_meta["source"]
    made_from = np.array([_name(x) for x in source.tolist()], dtype=object)
    made_from[missing_values(source)] = ""
    given = attacks.gallery_meta.get("template", attacks.gallery_ids)
    names = np.array([_name(x) for x in given.tolist()], dtype=object)
    return (made_from[row] == names[column]) & (made_from[row] != "")


def _name(value: Any) -> str:
    """Return the name of a template as text; a whole number without its point."""
    whole = isinstance(value, float) and math.isfinite(value) and value == int(value)
    return str(int(value) if whole else value).strip()
