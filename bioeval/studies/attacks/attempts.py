"""Attack attempts: each presentation against the templates of its target."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bioeval.base.errors import Argument, DataError, counted
from bioeval.scores.arrays import scored, with_failures
from bioeval.scores.blocks import RowBlock, distances_at
from bioeval.scores.excluded import excluded
from bioeval.scores.labels import missing_values
from bioeval.scores.matrix import Scores
from bioeval.scores.people import mate_cells
from bioeval.stats.people import ratio
from bioeval.studies.attacks.scores import AttackedScores


@dataclass(frozen=True, eq=False)
class AttackAttempts:
    """Attack attempts: the row, the distance and the species of each."""

    names: list[str]  # the species, sorted
    presentations: np.ndarray  # int64 (species,)
    row: np.ndarray
    distance: np.ndarray  # NaN where the comparison failed: no threshold accepts it
    species: np.ndarray

    @classmethod
    def of(cls, parts: AttackedScores, claim: Mapping[str, str]) -> AttackAttempts:
        """Return the attempts of the attack rows."""
        row, distance = _distances(parts.attacks, **claim)
        names, code = np.unique(parts.species, return_inverse=True)
        presentations = np.bincount(code, minlength=len(names))
        return cls(names.tolist(), presentations, row, distance, code[row])

    @cached_property
    def number(self) -> np.ndarray:
        """Attempts of each species."""
        return np.bincount(self.species, minlength=len(self.names))

    @cached_property
    def pooled(self) -> np.ndarray:
        """The increasing distances."""
        return np.sort(self.distance)

    @cached_property
    def _of_species(self) -> list[np.ndarray]:
        return [np.sort(self.distance[self.species == s]) for s in range(len(self.names))]

    def accepted(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the attempts accepted, shape (thresholds, species)."""
        return accepted_at(self._of_species, thresholds)

    def rates(self, thresholds: np.ndarray, frr: np.ndarray) -> dict[str, np.ndarray]:
        """Return IAPAR of species, largest and pooled, and RIAPAR at thresholds."""
        accepted = self.accepted(thresholds)
        of_species = ratio(accepted, self.number)
        largest = np.fmax.reduce(of_species, axis=1, initial=np.nan)
        return {
            "iapar_of_species": of_species,
            "riapar_of_species": of_species + frr[:, None],
            "iapar_max": largest,
            "iapar_pooled": ratio(accepted.sum(axis=1), self.number.sum()),
            "riapar": largest + frr,
        }


def accepted_at(classes: list[np.ndarray], thresholds: np.ndarray) -> np.ndarray:
    """Return how many increasing distances of each class are accepted, (thresholds, classes).

    NaN accepts nothing.
    """
    accepted = np.stack([x.searchsorted(thresholds, side="right") for x in classes], axis=1)
    return np.where(np.isnan(thresholds)[:, None], 0, accepted)


def _distances(attacks: Scores, templates: str, fusion: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and the distance of each attack attempt; other cells are not read."""
    if attacks.layout == "pairs":
        return _made(np.arange(attacks.shape[0]), attacks.pair_distances(), attacks)
    m = attacks.shape[0]
    row, column = mate_cells(attacks, np.arange(m))
    kept = ~_from_source(attacks, row, column) & ~excluded(attacks, row, column)
    kept &= ~attacks.cells.is_ignored(row, column)
    row, column = row[kept], column[kept]
    values = distances_at(attacks, row, column)
    failed = np.isnan(values)
    if failed.any() and attacks.nan == "raise":
        i, cells = int(np.argmax(failed)), attacks.cells
        raise DataError(
            f"of the attack rows against their targets, {counted(int(failed.sum()), 'scores')} "
            f"failed (NaN), the first at row {int(cells.rows_at(row[i : i + 1])[0])}, column "
            f"{int(cells.columns_at(column[i : i + 1])[0])}; choose how to treat failed "
            f"comparisons: {Argument('nan', 'reject')} (as attempts that no threshold accepts) or "
            f"{Argument('nan', 'exclude')} (no attempt)"
        )
    if attacks.nan == "reject":
        values = with_failures(values, failed)
    if templates == "multi":
        place = np.arange(len(row)) - np.searchsorted(row, row)
        table = np.full((m, int(place.max(initial=0)) + 1), np.nan, dtype=values.dtype)
        table[row, place] = values
        row, values = np.arange(m), _fused(table, fusion, rejected=attacks.nan == "reject")
    return _made(row, values, attacks)


def _made(row: np.ndarray, values: np.ndarray, attacks: Scores) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and the scores of the attempts, NaN of one that failed."""
    made = values == values
    row, values = row[made], values[made]
    return row, (scored(values) if attacks.nan == "reject" else values).astype(np.float64)


def _fused(table: np.ndarray, fusion: str, *, rejected: bool) -> np.ndarray:
    """Return each row's scores fused, NaN where there is none."""
    m, k = table.shape
    none = np.zeros(m, dtype=np.int64)
    rows = RowBlock(
        low=0,
        values=table,
        columns=np.arange(k, dtype=np.int64)[None],
        starts=np.array([0, k], dtype=np.int64),
        probe_group=none,
        mate_start=none,
        mate_stop=none + k,
        probe_position=none - 1,
        rejected=rejected,
    )
    return rows.fused(fusion).values[:, 0]


def _from_source(attacks: Scores, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Return which cells compare an instrument with the template that it was made from."""
    if "source" not in attacks.probe_meta:
        return np.zeros(len(row), dtype=bool)
    source = attacks.probe_meta["source"]
    made_from = np.array([_name(x) for x in source.tolist()], dtype=object)
    made_from[missing_values(source)] = ""
    templates = attacks.gallery_meta.get("template", attacks.gallery_ids)
    names = np.array([_name(x) for x in templates.tolist()], dtype=object)
    return (made_from[row] == names[column]) & (made_from[row] != "")


def _name(value: object) -> str:
    """Return the name of a template as text; a whole number without its point."""
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        value = int(value)
    return str(value).strip()
