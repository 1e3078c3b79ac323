"""Attack presentations among scores: their species, and both parts of the scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bioeval.base.errors import DataError, counted, nearest_name
from bioeval.base.kinds import LARGER_IS_CLOSER, Kind
from bioeval.base.messages import Message
from bioeval.results.support import RuleOf
from bioeval.scores.arrays import scored, with_failures
from bioeval.scores.blocks import fused
from bioeval.scores.bona_fide import attacks_of, species_of
from bioeval.scores.cells import taken
from bioeval.scores.excluded import excluded
from bioeval.scores.labels import ATTACK, plain
from bioeval.scores.matrix import Scores
from bioeval.scores.names import as_names, joined, places, without_names
from bioeval.scores.people import mate_cells
from bioeval.scores.requirements import require_scores, require_subjects
from bioeval.scores.rows import distances_at
from bioeval.stats.people import ratio

#: Fewer attack instruments of a species are warned of.
FEW_INSTRUMENTS = 10

#: Labels of the dimension `species` behind the species: all attacks together, whatever their
#: species, and the largest rate of a species.
POOLED, LARGEST = "pooled", "largest"


def in_order_of_scores(kind: Kind) -> slice:
    """Return the slice that puts values at increasing distances in order of increasing scores."""
    return slice(None, None, -1) if kind in LARGER_IS_CLOSER else slice(None)


@dataclass(frozen=True, eq=False)
class AttackedScores:
    """Bona fide scores, and attack rows with their species."""

    bona_fide: Scores
    attacks: Scores
    species: np.ndarray
    notes: tuple[Message, ...] = ()


def parted(scores: Scores, attacks: Scores | None) -> AttackedScores:
    """Return bona fide presentations and attacks, checked."""
    notes: tuple[Message, ...] = ()
    if scores.layout != "pairs":
        require_subjects(scores, "a vulnerability")
    gallery = _bona_fide_gallery(scores)
    if attacks is None:
        species = _species(scores, "scores")
        rows = np.flatnonzero(species != "")
        if len(rows) in (0, len(species)):
            lacking = "no bona fide" if len(rows) else "no attack"
            raise DataError(
                f"there is {lacking} presentation in {counted(len(species), 'rows')}: column "
                f"{ATTACK!r} of the probes has the species of each attack, and is empty, '-' or "
                "'bona fide' elsewhere; or give `attacks`"
            )
        bona_fide = scores.select(probes=np.flatnonzero(species == ""), gallery=gallery)
        attack_scores = scores.select(probes=rows, gallery=gallery)
        species = species[rows]
    else:
        require_scores(attacks, "attacks")
        if _species_of_rows(scores) is not None:
            raise DataError(
                f"there are `attacks` and a column {ATTACK!r} of the scores; expected "
                "one of both: drop the column, or give one matrix"
            )
        attacks = _of_same_gallery(scores, attacks)
        attacks, notes = _with_species(attacks)
        notes = (*attacks.remarks, *notes)
        species = _species(attacks, "attacks")
        if (species == "").any():
            raise DataError(
                f"{counted(int((species == '').sum()), 'rows')} of `attacks` are bona "
                f"fide by column {ATTACK!r}, the first is row {int(np.argmax(species == ''))}; "
                "expected the attack instrument species of each"
            )
        bona_fide = scores if gallery is None else scores.select(gallery=gallery)
        attack_scores = attacks if gallery is None else attacks.select(gallery=gallery)
        rows = np.arange(attacks.shape[0])
    if attack_scores.layout != "pairs":
        missing = ~np.isin(attack_scores.codes.probe, attack_scores.codes.gallery)
        if missing.any():
            i = int(np.argmax(missing))
            raise DataError(
                f"{counted(int(missing.sum()), 'attack rows')} target subjects who are not "
                f"enrolled (first: row {int(rows[i])}, target "
                f"{plain(attack_scores.probe_labels[i])!r}); expected the label of the target, "
                "with templates in the gallery"
            )
    return AttackedScores(bona_fide, attack_scores, species, notes)


def _species_of_rows(scores: Scores) -> np.ndarray | None:
    return scores.pairs.attack if scores.layout == "pairs" else scores.probe_meta.get(ATTACK)


def _species(scores: Scores, input_name: str) -> np.ndarray:
    column = _species_of_rows(scores)
    if column is None:
        meta = {} if scores.layout == "pairs" else scores.probe_meta
        columns = f"they have: {', '.join(meta)}" if meta else "they have none"
        raise DataError(
            f"the probe metadata of {input_name} have no column {ATTACK!r}; {columns}."
            f"{nearest_name(ATTACK, [*meta])} Expected the attack instrument species of each row"
        )
    return species_of(column, f"column {ATTACK!r} of {input_name}")


def _with_species(attacks: Scores) -> tuple[Scores, tuple[Message, ...]]:
    """Return the pairs that are not genuine of a list without species, as bob writes lists.

    The species is the name of the real subject, without a leading ``attack/``, if no pair claims
    that subject; otherwise it is ``spoof``.
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
    _, attacks = attacks_of(scores)
    alone = attacks & ~np.isin(scores.gallery_ids, scores.probe_ids) if attacks.any() else attacks
    if alone.any():
        raise DataError(
            f"{counted(int(alone.sum()), 'gallery templates')} are attack presentations by column "
            f"{ATTACK!r}, the first is column {int(np.argmax(alone))}; expected bona fide "
            "templates in the gallery"
        )
    return np.flatnonzero(~attacks) if attacks.any() else None


def _of_same_gallery(scores: Scores, attacks: Scores) -> Scores:
    """Return the attacks with the gallery in the order of the scores, by names if there are any.

    Raise :class:`DataError` unless they have the kind and the gallery of the scores.
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
    sides = scores.gallery_names, attacks.gallery_names
    attacks = attacks.with_remarks(*without_names(*sides, ("the scores", "the attacks")))
    if scores.gallery_names is not None and attacks.gallery_names is not None:
        place = joined((attacks.gallery_names,), scores.gallery_names, name)
        attacks = attacks if place is None else attacks.select(gallery=place)
    if scores.gallery_labels.tolist() != attacks.gallery_labels.tolist():
        raise DataError(
            f"the {counted(attacks.shape[1], 'gallery labels')} of {name} differ from the "
            f"{scores.shape[1]:,} of the scores; expected the same gallery, in the same order"
        )
    return attacks


def require_free_labels(species: Sequence[str]) -> None:
    """Raise :class:`DataError` if a species has the label of all attacks, or of the largest rate.

    Labels of other cases are no trouble.
    """
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
    """Return counts (..., species) with their sum, float64: the largest rate has no count (NaN)."""
    pooled = counts.sum(axis=-1, keepdims=True)
    return np.concatenate([counts, pooled, np.full(pooled.shape, np.nan)], axis=-1)


def with_pooled_and_largest(
    rates: np.ndarray, pooled: np.ndarray, counted: np.ndarray | None = None
) -> np.ndarray:
    """Return rates (..., species) with the pooled rate, and the largest over species `counted`."""
    compared = rates if counted is None else rates[..., counted]
    largest = np.fmax.reduce(compared, axis=-1, initial=np.nan)
    return np.concatenate([rates, pooled[..., None], largest[..., None]], axis=-1)


def few_presentations(
    rate: str, targets: np.ndarray, number_of: Mapping[str, int]
) -> list[Message]:
    """Return the message of species whose presentations cannot show the smallest target."""
    least = float(min(targets[targets > 0], default=0.0))
    too_few = {name: n for name, n in number_of.items() if not RuleOf(3).supports(least, n)}
    if not too_few:
        return []
    needed = math.ceil(RuleOf(3) / least - 1e-9)
    return [
        Message("too-few-presentations", rate=rate, target=least, needed=needed, species=too_few)
    ]


def few_instruments(instruments_of: Mapping[str, np.ndarray]) -> list[Message]:
    """Return the message of species that few instruments stand for."""
    number_of = {name: len(set(x.tolist())) for name, x in instruments_of.items()}
    too_few = {name: n for name, n in number_of.items() if n < FEW_INSTRUMENTS}
    return [Message("few-instruments", needed=FEW_INSTRUMENTS, species=too_few)] if too_few else []


@dataclass(frozen=True, eq=False)
class AttackAttempts:
    """Attack attempts: the row, the distance and the species of each."""

    names: list[str]  # the species, sorted
    presentations: np.ndarray  # int64 (species,)
    row: np.ndarray
    distance: np.ndarray  # NaN where the comparison failed: no threshold accepts it
    species: np.ndarray
    too_few: int  # presentations whose target has too few templates for the rule of fusion

    @classmethod
    def from_rows(cls, parts: AttackedScores, fusion: str | None) -> AttackAttempts:
        """Take the attempts of the attack rows; with `fusion`, a row is one attempt."""
        row, distance, too_few = _distances(parts.attacks, fusion)
        names, code = np.unique(parts.species, return_inverse=True)
        require_free_labels(names.tolist())
        presentations = np.bincount(code, minlength=len(names))
        return cls(names.tolist(), presentations, row, distance, code[row], too_few)

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
        """Return IAPAR and RIAPAR at thresholds, (thresholds, labels of species)."""
        accepted = self.accepted(thresholds)
        pooled = ratio(accepted.sum(axis=1), self.number.sum())
        iapar = with_pooled_and_largest(ratio(accepted, self.number), pooled)
        return {"iapar": iapar, "riapar": iapar + frr[:, None]}


def accepted_at(classes: list[np.ndarray], thresholds: np.ndarray) -> np.ndarray:
    """Return how many increasing distances of each class are accepted, (thresholds, classes).

    NaN accepts nothing.
    """
    accepted = np.stack([x.searchsorted(thresholds, side="right") for x in classes], axis=1)
    return np.where(np.isnan(thresholds)[:, None], 0, accepted)


def _distances(attacks: Scores, fusion: str | None) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the row and the distance of each attack attempt; other cells are not read.

    The third value is the number of rows with too few comparisons to be fused.
    """
    if attacks.layout == "pairs":
        return *_attempts(np.arange(attacks.shape[0]), attacks.pair_distances(), attacks), 0
    rows = attacks.shape[0]
    row, column = mate_cells(attacks, np.arange(rows))
    is_attempt = ~_is_from_source(attacks, row, column) & ~excluded(attacks, row, column)
    is_attempt &= ~attacks.cells.is_ignored(row, column)
    row, column = row[is_attempt], column[is_attempt]
    values = distances_at(attacks, row, column)
    failed = np.isnan(values)
    if failed.any() and attacks.nan == "raise":
        i, cells = int(np.argmax(failed)), attacks.cells
        raise DataError(
            f"of the attack rows against their targets, {counted(int(failed.sum()), 'scores')} "
            f"failed (NaN), the first at row {int(taken(cells.rows, row[i : i + 1])[0])}, column "
            f"{int(taken(cells.columns, column[i : i + 1])[0])}; choose how to treat failed "
            'comparisons: `nan="reject"` (as attempts that no threshold accepts) or '
            '`nan="exclude"` (no attempt)'
        )
    if attacks.nan == "reject":
        values = with_failures(values, failed)
    too_few = 0
    if fusion is not None:
        place = np.arange(len(row)) - np.searchsorted(row, row)
        table = np.full((rows, int(place.max(initial=0)) + 1), np.nan, dtype=values.dtype)
        table[row, place] = values
        ends = np.array([0, table.shape[1]])
        row = np.arange(rows)
        values = fused(table, ends, fusion, rejected=attacks.nan == "reject")[:, 0]
        too_few = int(np.count_nonzero(np.isnan(values) & ~np.isnan(table).all(axis=1)))
    return *_attempts(row, values, attacks), too_few


def _attempts(
    row: np.ndarray, values: np.ndarray, attacks: Scores
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and the scores of the attempts, (k,) each; a failed attempt is NaN.

    `row` and `values` are the cells in use.
    """
    is_attempt = values == values
    row, values = row[is_attempt], values[is_attempt]
    return row, (scored(values) if attacks.nan == "reject" else values).astype(np.float64)


def _is_from_source(attacks: Scores, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    if "source" not in attacks.probe_meta:
        return np.zeros(len(row), dtype=bool)
    templates = attacks.gallery_names
    if templates is None:
        templates = as_names(attacks.gallery_meta.get("template", attacks.gallery_ids))
    made_from = places(as_names(attacks.probe_meta["source"]), templates)
    return made_from[row] == column
