"""Bona fide scores and attacks, divided, and the attack attempts of each species."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bioeval.base.errors import DataError, counted, nearest_name
from bioeval.base.messages import Message
from bioeval.results.support import RuleOf
from bioeval.scores.blocks import fused
from bioeval.scores.bona_fide import attacks_of, species_of
from bioeval.scores.cells import composed
from bioeval.scores.distances import scored, with_failures
from bioeval.scores.excluded import excluded
from bioeval.scores.joining import joined, without_names
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import ATTACK
from bioeval.scores.names import as_names, places
from bioeval.scores.people import mate_cells
from bioeval.scores.requirements import require_scores, require_subjects
from bioeval.scores.rows import distances_at
from bioeval.stats.weighted_sums import ratio

#: A warning says which species have fewer attack instruments.
FEW_INSTRUMENTS = 10

#: The label of the dimension `species` of all attacks together, whatever their species.
POOLED = "pooled"

#: The label of the dimension `species` of the largest rate of a species.
LARGEST = "largest"

#: How the limits of the largest rate of several species are made, as an attribute of results.
ALL_AT_ONCE = "all species at once"


@dataclass(frozen=True, eq=False)
class AttackedScores:
    """Scores divided into bona fide presentations and attacks."""

    bona_fide: Scores
    attacks: Scores
    species: np.ndarray  # str: the species of each row, or pair, of the attacks
    notes: tuple[Message, ...] = ()


def split_attacks(scores: Scores, attacks: Scores | None) -> AttackedScores:
    """Return bona fide presentations and attacks: `attacks`, or the marked rows of `scores`."""
    if scores.layout != "pairs":
        require_subjects(scores, "a vulnerability")
    gallery = _bona_fide_gallery(scores)
    if attacks is None:
        attacked, rows = _marked_attacks(scores, gallery)
    else:
        attacked = _given_attacks(scores, attacks, gallery)
        rows = np.arange(attacked.attacks.shape[0])
    if attacked.attacks.layout != "pairs":
        _require_enrolled_targets(attacked.attacks, rows)
    return attacked


def _marked_attacks(
    scores: Scores, gallery: np.ndarray | None
) -> tuple[AttackedScores, np.ndarray]:
    species = _require_species(scores, "scores")
    rows = np.flatnonzero(species != "")
    if len(rows) in (0, len(species)):
        lacking = "no bona fide" if len(rows) else "no attack"
        raise DataError(
            f"there is {lacking} presentation in {counted(len(species), 'rows')}: column "
            f"{ATTACK!r} of the probes has the species of each attack, and is empty, '-' or "
            "'bona fide' elsewhere; or give `attacks`"
        )
    bona_fide = scores.select(probes=np.flatnonzero(species == ""), gallery=gallery)
    attacks = scores.select(probes=rows, gallery=gallery)
    return AttackedScores(bona_fide, attacks, species[rows]), rows


def _given_attacks(scores: Scores, attacks: Scores, gallery: np.ndarray | None) -> AttackedScores:
    require_scores(attacks, "attacks")
    if _species_column(scores) is not None:
        raise DataError(
            f"there are `attacks` and a column {ATTACK!r} of the scores; expected "
            "one of both: drop the column, or give one matrix"
        )
    attacks = _with_gallery_of(scores, attacks)
    attacks, notes = _with_species(attacks)
    notes = (*attacks.remarks, *notes)
    species = _require_species(attacks, "attacks")
    if (species == "").any():
        raise DataError(
            f"{counted(int((species == '').sum()), 'rows')} of `attacks` are bona "
            f"fide by column {ATTACK!r}, the first is row {int(np.argmax(species == ''))}; "
            "expected the attack instrument species of each"
        )
    if gallery is None:
        return AttackedScores(scores, attacks, species, notes)
    return AttackedScores(
        scores.select(gallery=gallery), attacks.select(gallery=gallery), species, notes
    )


def _require_enrolled_targets(attacks: Scores, rows: np.ndarray) -> None:
    """Raise :class:`DataError` unless all targets are enrolled; `rows` are the rows of the user."""
    is_missing = ~np.isin(attacks.codes.probe, attacks.codes.gallery)
    if is_missing.any():
        first = int(np.argmax(is_missing))
        raise DataError(
            f"{counted(int(is_missing.sum()), 'attack rows')} target subjects who are not "
            f"enrolled (first: row {int(rows[first])}, target "
            f"{plain(attacks.probe_labels[first])!r}); expected the label of the target, "
            "with templates in the gallery"
        )


def _species_column(scores: Scores) -> np.ndarray | None:
    return scores.pairs.attack if scores.layout == "pairs" else scores.probe_meta.get(ATTACK)


def _require_species(scores: Scores, input_name: str) -> np.ndarray:
    """Return the species of each row, empty for bona fide; raise :class:`DataError` without any."""
    column = _species_column(scores)
    if column is None:
        meta = {} if scores.layout == "pairs" else scores.probe_meta
        columns = f"they have: {', '.join(meta)}" if meta else "they have none"
        raise DataError(
            f"the probe metadata of {input_name} have no column {ATTACK!r}; {columns}."
            f"{nearest_name(ATTACK, [*meta])} Expected the attack instrument species of each row"
        )
    return species_of(column, f"column {ATTACK!r} of {input_name}")


def _with_species(attacks: Scores) -> tuple[Scores, tuple[Message, ...]]:
    """Return attacks with their species, and a message on genuine pairs that are left out.

    In a list without species, as bob writes it, the attacks are the pairs that are not genuine. The
    species is the name of the real subject, without a leading ``attack/``, if no pair claims that
    subject; otherwise it is ``spoof``.
    """
    if attacks.layout != "pairs" or attacks.pairs.attack is not None:
        return attacks, ()
    rows = np.flatnonzero(~attacks.genuine)
    if not len(rows):
        raise DataError(
            f"all {counted(len(attacks.genuine), 'pairs')} of `attacks` are genuine; "
            "expected attacks, as spoof, or with the species of each in a column 'attack'"
        )
    genuine = len(attacks.genuine) - len(rows)
    spoofs = attacks.select(probes=rows)
    names = ["spoof"] * len(rows)
    if spoofs.pair_subjects is not None:
        claimed, real = spoofs.pair_subjects.T.tolist()
        no_species = {*claimed, "", "attack"}
        written = [(subject, str(subject).removeprefix("attack/")) for subject in real]
        names = ["spoof" if no_species & {x, name} else name for x, name in written]
    spoofs = spoofs.with_pairs(replace(spoofs.pairs, attack=np.array(names)))
    if not genuine:
        return spoofs, ()
    return spoofs, (Message("genuine-pairs-of-attack-list-left-out", pairs=genuine),)


def _bona_fide_gallery(scores: Scores) -> np.ndarray | None:
    """Return the gallery templates that are no attacks; None for all of them.

    Raise :class:`DataError` if an attack is in the gallery alone, and no row of a square matrix.
    """
    _, is_attack = attacks_of(scores)
    if not is_attack.any():
        return None
    is_in_gallery_only = is_attack & ~np.isin(scores.gallery_ids, scores.probe_ids)
    if is_in_gallery_only.any():
        number = counted(int(is_in_gallery_only.sum()), "gallery templates")
        raise DataError(
            f"{number} are attack presentations by column {ATTACK!r}, the first is column "
            f"{int(np.argmax(is_in_gallery_only))}; expected bona fide templates in the gallery"
        )
    return np.flatnonzero(~is_attack)


def _with_gallery_of(scores: Scores, attacks: Scores) -> Scores:
    """Return the attacks with their gallery in the order of the scores.

    Gallery templates are matched by their names, if both have names. Raise :class:`DataError`
    unless the attacks have the kind and the gallery of the scores.
    """
    name = "`attacks`"
    if scores.kind != attacks.kind:
        raise DataError(
            f"{name} holds {attacks.kind} scores, and the bona fide presentations {scores.kind} "
            "scores; expected one kind"
        )
    if scores.layout == "pairs" or attacks.layout == "pairs":
        return attacks
    require_subjects(attacks, "a vulnerability")
    if attacks.probe_ids is attacks.gallery_ids:
        raise DataError(
            f"{name} is all-against-all: attack presentations cannot be the gallery. Give the "
            "gallery labels of the scores"
        )
    names = scores.gallery_names, attacks.gallery_names
    attacks = attacks.with_remarks(*without_names(*names, ("the scores", "the attacks")))
    if scores.gallery_names is not None and attacks.gallery_names is not None:
        columns = joined((attacks.gallery_names,), scores.gallery_names, name)
        attacks = attacks if columns is None else attacks.select(gallery=columns)
    if scores.gallery_labels.tolist() != attacks.gallery_labels.tolist():
        raise DataError(
            f"the {counted(attacks.shape[1], 'gallery labels')} of {name} differ from the "
            f"{scores.shape[1]:,} of the scores; expected the same gallery, in the same order"
        )
    return attacks


def require_free_labels(species: Sequence[str]) -> None:
    """Raise :class:`DataError` if a species is called as all attacks or the largest rate are."""
    for label, meaning in ((POOLED, "all attacks together"), (LARGEST, "the largest rate")):
        if label in species:
            raise DataError(
                f"there is a species {label!r}, and results call {meaning} {label!r}; write the "
                "species in another way"
            )


def species_labels(species: Sequence[str]) -> np.ndarray:
    """Return the labels of the dimension `species`."""
    return np.array([*species, POOLED, LARGEST], dtype=str)


def with_pooled_count(counts: np.ndarray) -> np.ndarray:
    """Return counts (..., species) with their sum, and NaN at the label of the largest rate."""
    pooled = counts.sum(axis=-1, keepdims=True)
    return np.concatenate([counts, pooled, np.full(pooled.shape, np.nan)], axis=-1)


def with_pooled_and_largest(
    rates: np.ndarray, pooled: np.ndarray, is_compared: np.ndarray | None = None
) -> np.ndarray:
    """Return rates (..., species) with the pooled rate, and the largest of those compared."""
    compared = rates if is_compared is None else rates[..., is_compared]
    largest = np.fmax.reduce(compared, axis=-1, initial=np.nan)
    return np.concatenate([rates, pooled[..., None], largest[..., None]], axis=-1)


def few_presentations(
    rate: str, targets: np.ndarray, presentations: Mapping[str, int]
) -> list[Message]:
    """Return a message on species with too few presentations to show the smallest target."""
    smallest = float(min(targets[targets > 0], default=0.0))
    too_few = {name: n for name, n in presentations.items() if not RuleOf(3).supports(smallest, n)}
    if not too_few:
        return []
    needed = math.ceil(RuleOf(3) / smallest - 1e-9)  # rounding errors require no presentation
    return [
        Message("too-few-presentations", rate=rate, target=smallest, needed=needed, species=too_few)
    ]


def few_instruments(instruments_by_species: Mapping[str, np.ndarray]) -> list[Message]:
    """Return a message on species that are presented with few instruments."""
    numbers = {name: len(set(x.tolist())) for name, x in instruments_by_species.items()}
    too_few = {name: n for name, n in numbers.items() if n < FEW_INSTRUMENTS}
    return [Message("few-instruments", needed=FEW_INSTRUMENTS, species=too_few)] if too_few else []


@dataclass(frozen=True, eq=False)
class AttackAttempts:
    """Attack attempts, with the row, the distance and the species of each, (attempts,)."""

    names: list[str]  # the species, sorted
    presentations: np.ndarray  # int64 (species,): number of presentations
    row: np.ndarray
    distance: np.ndarray  # NaN where the comparison failed: no threshold accepts it
    species: np.ndarray  # int64: indices of `names`
    too_few: int  # number of presentations whose target has too few templates for the fusion rule

    @classmethod
    def from_rows(cls, attacked: AttackedScores, fusion: str | None) -> AttackAttempts:
        """Read the attempts of the attack rows; with `fusion`, a row of a matrix is one attempt.

        Only comparisons with the target are read.
        """
        attacks = attacked.attacks
        rows = np.arange(attacks.shape[0])
        too_few = 0
        if attacks.layout == "pairs":
            row, values = rows, attacks.pair_distances()
        else:
            row, values = _comparisons_with_targets(attacks)
            if fusion is not None:
                values, too_few = _fused_by_row(attacks, row, values, fusion)
                row = rows
        # In values as they are read, NaN is no attempt, and +inf a rejected failure.
        is_attempt = ~np.isnan(values)
        row, distance = row[is_attempt], values[is_attempt]
        if attacks.nan == "reject":
            distance = scored(distance)
        names, code = np.unique(attacked.species, return_inverse=True)
        require_free_labels(names.tolist())
        presentations = np.bincount(code, minlength=len(names))
        return cls(
            names.tolist(), presentations, row, distance.astype(np.float64), code[row], too_few
        )

    @cached_property
    def attempt_counts(self) -> np.ndarray:
        """The number of attempts of each species."""
        return np.bincount(self.species, minlength=len(self.names))

    @cached_property
    def sorted_distances(self) -> np.ndarray:
        """The distances of all attempts, increasing."""
        return np.sort(self.distance)

    @cached_property
    def _distances_by_species(self) -> list[np.ndarray]:
        return [np.sort(self.distance[self.species == s]) for s in range(len(self.names))]

    def accepted(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the number of accepted attempts, shape (thresholds, species)."""
        return accepted_at(self._distances_by_species, thresholds)

    def rates(self, thresholds: np.ndarray, frr: np.ndarray) -> dict[str, np.ndarray]:
        """Return IAPAR and RIAPAR at thresholds, (thresholds, labels of species)."""
        accepted = self.accepted(thresholds)
        pooled = ratio(accepted.sum(axis=1), self.attempt_counts.sum())
        iapar = with_pooled_and_largest(ratio(accepted, self.attempt_counts), pooled)
        return {"iapar": iapar, "riapar": iapar + frr[:, None]}


def accepted_at(classes: list[np.ndarray], thresholds: np.ndarray) -> np.ndarray:
    """Return how many attempts of each class are accepted, (thresholds, classes).

    `classes` are the increasing distances of each class; a threshold that is NaN accepts nothing.
    """
    accepted = np.stack([x.searchsorted(thresholds, side="right") for x in classes], axis=1)
    return np.where(np.isnan(thresholds)[:, None], 0, accepted)


def _comparisons_with_targets(attacks: Scores) -> tuple[np.ndarray, np.ndarray]:
    row, column = mate_cells(attacks, np.arange(attacks.shape[0]))
    is_attempt = ~_is_from_source(attacks, row, column) & ~excluded(attacks, row, column)
    is_attempt &= ~attacks.cells.is_ignored(row, column)
    row, column = row[is_attempt], column[is_attempt]
    values = distances_at(attacks, row, column)
    failed = np.isnan(values)
    if failed.any() and attacks.nan == "raise":
        first, cells = np.flatnonzero(failed)[:1], attacks.cells
        raise DataError(
            f"of the attack rows against their targets, {counted(int(failed.sum()), 'scores')} "
            f"failed (NaN), the first at row {int(composed(cells.rows, row[first])[0])}, column "
            f"{int(composed(cells.columns, column[first])[0])}; choose how to treat failed "
            'comparisons: `nan="reject"` (as attempts that no threshold accepts) or '
            '`nan="exclude"` (no attempt)'
        )
    return row, with_failures(values, failed) if attacks.nan == "reject" else values


def _fused_by_row(
    attacks: Scores, row: np.ndarray, values: np.ndarray, fusion: str
) -> tuple[np.ndarray, int]:
    """Return the fused value of each row, and the number of rows with too few values to be fused.

    `row` and `values` are of comparisons, in the order of rows.
    """
    # (rows, templates): the scores of each row with its target's templates, else NaN.
    template = np.arange(len(row)) - np.searchsorted(row, row)
    shape = attacks.shape[0], int(template.max(initial=0)) + 1
    table = np.full(shape, np.nan, dtype=values.dtype)
    table[row, template] = values
    ends = np.array([0, table.shape[1]])
    by_row = fused(table, ends, fusion, rejected=attacks.nan == "reject")[:, 0]
    return by_row, int(np.count_nonzero(np.isnan(by_row) & ~np.isnan(table).all(axis=1)))


def _is_from_source(attacks: Scores, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    if "source" not in attacks.probe_meta:
        return np.zeros(len(row), dtype=bool)
    templates = attacks.gallery_names
    if templates is None:
        templates = as_names(attacks.gallery_meta.get("template", attacks.gallery_ids))
    made_from = places(as_names(attacks.probe_meta["source"]), templates)
    return made_from[row] == column
