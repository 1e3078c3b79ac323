"""Attack presentations among scores: their species, and both parts of the scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base.arguments import require_text
from bioeval.base.errors import Argument, DataError, counted, nearest_name, received
from bioeval.base.kinds import larger_is_closer
from bioeval.base.messages import Message
from bioeval.scores.blocks import require_subjects
from bioeval.scores.bona_fide import species_of, without_attacks
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores, are_pairs, codes_of, require_scores
from bioeval.scores.pairs import PairScores

#: The code of a bona fide presentation.
BONA_FIDE = -1


def in_order_of_scores(kind: str) -> slice:
    """Return what puts values at increasing distances in the order of increasing scores."""
    return slice(None, None, -1) if larger_is_closer(kind) else slice(None)


def _row_meta(scores: Scores) -> Mapping[str, np.ndarray]:
    """Return the metadata columns of rows, of a list those that its classes give."""
    if not are_pairs(scores):
        return scores.probe_meta
    if scores.attack is None:
        return {}
    return {"attack": scores.attack}


def coded_species(attack: Any, input_name: str) -> tuple[list[str], np.ndarray]:
    """Return the sorted species of presentations, and the code of each, -1 for bona fide."""
    species = species_of(attack, input_name)
    names = np.unique(species[species != ""])
    codes = np.where(species == "", BONA_FIDE, np.searchsorted(names, species))
    return names.tolist(), codes.astype(np.int64)


def column_of(scores: Scores, name: str, input_name: str = "scores") -> np.ndarray:
    """Return the species of each row by a metadata column of the probes.

    Raise :class:`DataError` if there is no such column.
    """
    meta = _row_meta(scores)
    if require_text("attack", name) not in meta:
        there = f"they have: {', '.join(meta)}" if meta else "they have none"
        raise DataError(
            Argument("attack"),
            f" is {received(name)}, but the probe metadata of {input_name} have no such column; "
            f"{there}.{nearest_name(str(name), [*meta])} Expected the column with the attack "
            "instrument species of each row",
        )
    return species_of(meta[name], f"column {name!r} of {input_name}")


@dataclass(frozen=True, eq=False)
class AttackedScores:
    """Bona fide scores, attack rows with their species, and the places of both in the rows."""

    bona_fide: Scores
    attacks: Scores
    species: np.ndarray
    bona_fide_rows: np.ndarray
    attack_rows: np.ndarray
    notes: tuple[Message, ...] = ()


def parted(scores: Scores, attacks: Scores | None, attack: str) -> AttackedScores:
    """Return bona fide presentations and attacks, checked."""
    notes: tuple[Message, ...] = ()
    if attacks is None:
        _require_labels(scores)
        species = column_of(scores, attack)
        rows = np.flatnonzero(species != "")
        if not len(rows):
            raise DataError(
                f"there is no attack presentation: column {attack!r} of the probes is empty or "
                f"bona fide in all {counted(len(species), 'rows')}; expected the species of each "
                "attack there, or ",
                Argument("attacks"),
            )
        if len(rows) == len(species):
            raise DataError(
                f"all {counted(len(rows), 'rows')} are attack presentations by column {attack!r}; "
                "expected bona fide presentations, too: their cells are empty or 'bona fide'"
            )
        bona_fide = without_attacks(scores, attack)
        columns = _kept_columns(scores, attack)
        attack_scores, species = scores.select(probes=rows, gallery=columns), species[rows]
        bona = np.setdiff1d(np.arange(scores.shape[0]), rows)
    else:
        require_scores(attacks, "attacks")
        _require_labels(scores)
        if attack in _row_meta(scores):
            raise DataError(
                "there are ",
                Argument("attacks"),
                f" and a column {attack!r} of the scores; expected one of both: drop the column, "
                "or give one matrix",
            )
        _require_same_gallery(scores, attacks)
        attacks, notes = _with_species(attacks)
        species = column_of(attacks, attack, "attacks")
        if (species == "").any():
            raise DataError(
                f"{counted(int((species == '').sum()), 'rows')} of ",
                Argument("attacks"),
                f" are bona fide by column {attack!r}, the first is row "
                f"{int(np.argmax(species == ''))}; expected the attack instrument species of each",
            )
        columns = _kept_columns(scores, attack)
        bona_fide = without_attacks(scores, attack)
        attack_scores = attacks if columns is None else attacks.select(gallery=columns)
        bona, rows = np.arange(scores.shape[0]), np.arange(attacks.shape[0])
    if bona_fide is not scores:
        bona_fide = bona_fide._with(_remarks=scores._remarks, _attacks_left_out=0)
    _require_targets(attack_scores, rows)
    return AttackedScores(bona_fide, attack_scores, species, bona, rows, notes)


def _with_species(attacks: Scores) -> tuple[Scores, tuple[Message, ...]]:
    """Return the attacks of a list without species, as bob writes them: those that are not genuine.

    The species is the name of the real subject, without a leading ``attack/``, if no pair claims
    that subject; otherwise it is ``spoof``.
    """
    if not isinstance(attacks, PairScores) or attacks.attack is not None:
        return attacks, ()
    rows = np.flatnonzero(~attacks.genuine)
    if not len(rows):
        raise DataError(
            f"all {counted(len(attacks.genuine), 'pairs')} of ",
            Argument("attacks"),
            " are genuine; expected attacks, as spoof, or with the species of each in a column "
            "'attack'",
        )
    genuine, spoofs = len(attacks.genuine) - len(rows), attacks.select(probes=rows)
    assert isinstance(spoofs, PairScores)
    names = ["spoof"] * len(rows)
    if spoofs.pair_subjects is not None:
        claimed, real = spoofs.pair_subjects.T.tolist()
        people = set(claimed)
        names = []
        for subject in real:
            name = str(subject).removeprefix("attack/")
            if subject in people or name in ("", "attack"):
                name = "spoof"
            names.append(name)
    spoofs = spoofs._with(attack=np.array(names))
    if not genuine:
        return spoofs, ()
    return spoofs, (Message("genuine-pairs-of-attack-list-left-out", pairs=genuine),)


def _require_labels(scores: Scores) -> None:
    """Raise unless a matrix has labels; attack rows name their targets by them."""
    if not are_pairs(scores):
        require_subjects(scores, "a vulnerability")


def _kept_columns(scores: Scores, attack: str) -> np.ndarray | None:
    """Return the gallery templates that are no attack presentations; None for all."""
    if are_pairs(scores):
        return None
    if attack not in scores.gallery_meta:
        return None
    attacks = species_of(scores.gallery_meta[attack]) != ""
    alone = attacks & ~np.isin(scores.gallery_ids, scores.probe_ids)
    if alone.any():
        raise DataError(
            f"{counted(int(alone.sum()), 'gallery templates')} are attack presentations by column "
            f"{attack!r}, the first is column {int(np.argmax(alone))}; expected bona fide "
            "templates in the gallery"
        )
    if attacks.any():
        return np.flatnonzero(~attacks)
    return None


def _require_same_gallery(scores: Scores, attacks: Scores) -> None:
    """Raise :class:`DataError` unless attacks have the kind and the gallery of the scores."""
    if scores.kind != attacks.kind:
        raise DataError(
            Argument("attacks"),
            f" holds {attacks.kind} scores, and the bona fide presentations {scores.kind} scores; "
            "expected one kind",
        )
    if are_pairs(scores) or are_pairs(attacks):
        return
    require_subjects(attacks, "a vulnerability")
    if attacks.probe_ids is attacks.gallery_ids:
        raise DataError(
            Argument("attacks"),
            " is all-against-all: attack presentations cannot be the gallery. Give the gallery "
            "labels of the scores",
        )
    mine, theirs = scores.gallery_labels, attacks.gallery_labels
    if len(mine) != len(theirs):
        raise DataError(
            Argument("attacks"),
            f" has {counted(len(theirs), 'gallery templates')} and the scores have {len(mine):,}; "
            "expected the same gallery",
        )
    differs = np.array([a != b for a, b in zip(mine.tolist(), theirs.tolist(), strict=True)])
    if differs.any():
        j = int(np.argmax(differs))
        raise DataError(
            f"{counted(int(differs.sum()), 'gallery labels')} of ",
            Argument("attacks"),
            f" differ from those of the scores, the first is column {j}: {plain(theirs[j])!r} "
            f"instead of {plain(mine[j])!r}; expected the same gallery",
        )


def _require_targets(attacks: Scores, rows: np.ndarray) -> None:
    """Raise :class:`DataError` where the target of an attack row is not enrolled."""
    if are_pairs(attacks):
        return
    missing = ~np.isin(codes_of(attacks).probe, codes_of(attacks).gallery)
    if missing.any():
        i = int(np.argmax(missing))
        raise DataError(
            f"{counted(int(missing.sum()), 'attack rows')} target subjects who are not "
            f"enrolled (first: row {int(rows[i])}, target {plain(attacks.probe_labels[i])!r}); "
            "expected the label of the target, with templates in the gallery"
        )
