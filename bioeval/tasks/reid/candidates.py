"""The gallery entries that each query is compared with under a convention.

A convention is the ``[reid]`` section of a card, with some options changed. It fixes which gallery
entries a query searches, what a CMC counts, which queries are left out of the means, and the form
of average precision. A card with ``[gom]`` alone fixes the gallery of each query; its other rules
have their defaults. Conventions are cards: no data set is named here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np

from bioeval.base.arguments import require_choice, require_integer
from bioeval.base.errors import CardError, DataError, Message, ProtocolError, received
from bioeval.counting.parts import Parts, RowParts
from bioeval.counting.reduce import parts_of
from bioeval.protocol.card import Protocol
from bioeval.protocol.fields import CardSection
from bioeval.protocol.loading import available, load
from bioeval.protocol.tasks import Reid
from bioeval.scores.arrays import Mask
from bioeval.scores.attempts import Exclusion, are_left_out, leaving_out, masked
from bioeval.scores.codes import Codes, column_codes
from bioeval.scores.labels import CAMERA_COLUMNS, ids_of_no_person
from bioeval.scores.matrix import Scores, require_subjects, require_templates
from bioeval.scores.people import are_enrolled
from bioeval.scores.provenance import Provenance, rule_notes

#: The name, the path or the card of a convention.
Named: TypeAlias = str | os.PathLike[str] | Protocol

S = TypeVar("S", bound=CardSection)


@dataclass(frozen=True, kw_only=True)
class Convention(Reid):
    """The ``[reid]`` section of a card, with some options changed."""

    name: str
    exclude: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()  # the names of the changed options

    @property
    def ap_removed(self) -> str:
        """The rule by which entries are removed for average precision and INP."""
        if self.removed_for_ap == "as-above":
            return self.removed
        return self.removed_for_ap

    def attrs(self) -> dict[str, str | int | float]:
        """Return the rules, except the treatment of ties, as attributes of a result."""
        attrs: dict[str, str | int | float] = {
            "convention": self.name,
            "removes": self.removed,
            "removes_for_ap": self.ap_removed,
            "junk": self.junk_in_words,
            "cmc_counts": self.cmc,
            "ap": self.ap,
            "unmatched_queries": self.unmatched,
            "precision_over": self.precision_over,
        }
        if self.rank_k is not None:
            attrs |= {"rank_k": self.rank_k, "rank_k_over": self.rank_k_over}
        if self.changed:
            attrs["changed"] = ", ".join(self.changed)
        return attrs

    @property
    def junk_in_words(self) -> str:
        """Treatment of junk, in the words of an attribute."""
        ids = ", ".join(map(str, self.junk_ids))
        if self.junk == "remove" and ids:
            return f"removed ({ids})"
        return "kept"

    @property
    def needs_cameras(self) -> bool:
        """Whether any rule depends on cameras."""
        return self.removed != "none" or self.ap_removed != "none"


def convention_of(
    convention: Named,
    sections: Sequence[str] = ("reid",),
    argument: str = "convention",
    **options: Any,
) -> Convention:
    """Return a convention by the name or path of its card, with some options changed.

    The convention is the first of the `sections` that the card has; a section ``"gom"`` fixes only
    the gallery of each query and the treatment of ties. Options are fields of ``[reid]``; None
    leaves the card's value. Errors name the convention by `argument`.
    """
    card = load(convention, argument, partial(convention_names, sections))
    tasks = [task for name in sections if (task := getattr(card, name)) is not None]
    if not tasks:
        if sections == ("reid",) and card.gom is not None:
            raise CardError(
                f"the card {card.name} is of GOM, by which systems are not compared; evaluate each "
                "by be.gom (bioeval gom)"
            )
        lacking = " and no ".join(map("[{}]".format, sections))
        raise CardError(
            f"the card {card.name} has no {lacking} section; expected one of "
            f"{', '.join(convention_names(sections))}, or a card of your own with that section"
        )
    task = tasks[0]
    fields = task.fields()
    card_options = {x: getattr(task, x) for x in Reid.fields() if x in fields}
    base = Convention(name=card.name, exclude=card.exclude, **card_options)
    rules = with_options(base, **options)
    changed = [x for x in options if getattr(rules, x) != getattr(base, x)]
    return replace(rules, changed=tuple(changed))


def convention_names(sections: Sequence[str] = ("reid",)) -> list[str]:
    """Return the names of the shipped cards that have at least one of the sections."""
    return [name for name in available() if set(sections) & set(load(name).tasks)]


def with_options(section: S, **options: Any) -> S:
    """Return a section with some options checked and changed; None leaves the section's value."""
    changes = {name: value for name, value in options.items() if value is not None}
    for name, value in changes.items():
        field = section.fields()[name]
        if field.choices:
            require_choice(name, value, field.words())
        elif not field.many:
            changes[name] = require_integer(name, value, low=1)
        else:
            try:
                changes[name] = tuple(require_integer(name, x, low=-(2**62)) for x in value)
            except TypeError:
                text = f"{name} is {received(value)}; expected a list of whole numbers"
                raise DataError(text) from None
    return replace(section, **changes)


def cameras_of(scores: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the camera column of queries and gallery."""
    sides = {"probe_meta": scores.probe_meta, "gallery_meta": scores.gallery_meta}
    names = {}
    missing, present = [], []
    for side, meta in sides.items():
        if name := _camera_column(meta):
            names[side] = name
            continue
        missing.append(side)
        if meta:
            present.append(f"{side} has {', '.join(map(repr, meta))}")
    if missing:
        sides_missing = " and ".join(missing)
        if present:
            sides_missing += f" ({' and '.join(present)})"
        raise ProtocolError(
            "the convention removes gallery entries by camera, but there is no column 'camera' in "
            f"{sides_missing}; give the cameras of both sides (of a file, "
            '`columns={"probe_camera": ...}` and `columns={"gallery_camera": ...}`), or '
            "choose a convention that removes none"
        )
    queries, gallery = (meta[names[side]] for side, meta in sides.items())
    return queries, gallery


def has_cameras(scores: Scores) -> bool:
    """Whether both sides of a matrix have a column of cameras."""
    if scores.layout == "pairs":
        return False
    return None not in map(_camera_column, (scores.probe_meta, scores.gallery_meta))


def _camera_column(meta: Mapping[str, Any]) -> str | None:
    folded = {name.casefold(): name for name in reversed(list(meta))}
    for name in CAMERA_COLUMNS:
        if name in folded:
            return folded[name]
    return None


class Candidates:
    """The gallery entries that each query of some scores is compared with under a convention.

    - `left_out` (bool (queries,)): queries that are junk or distractors, which have no match
    - `identity` (int64 (queries,)): the code of each query's subject, -1 where it is left out
    - `itself` (bool (queries,)): whether the query's own template is in the gallery
    - `enrolled` (bool (queries,)): whether the gallery has other templates of the query's subject
    - `junk` (bool (gallery templates,)): templates that are removed for every query
    - `ids`: the labels of junk and of distractors
    - `cameras`: the cameras of both sides as codes, -1 if unknown; None if no rule needs cameras
    """

    def __init__(self, scores: Scores, rules: Convention):
        """Find junk and distractors; raise :class:`ProtocolError` if cameras are missing."""
        if scores.layout != "top-k":
            require_subjects(scores, "re-identification")
            require_templates(scores, "re-identification")
        self.scores = scores
        self.rules = rules
        codes = scores.codes.labelled
        no_person_ids = (*rules.distractor_ids, *ids_of_no_person(scores.distractor_ids))
        distractor_ids = (x for x in dict.fromkeys(no_person_ids) if x not in rules.junk_ids)
        self.distractor_ids: tuple[Any, ...] = tuple(distractor_ids)
        self.ids = (*rules.junk_ids, *self.distractor_ids)
        self.left_out = codes.of_no_person(self.ids)[codes.probe]
        self.identity = np.where(self.left_out, -1, codes.probe)
        self.junk = np.zeros(scores.shape[1], dtype=bool)
        if rules.junk == "remove":
            self.junk = codes.of_no_person(rules.junk_ids)[codes.gallery]
        self.itself = np.isin(scores.probe_ids, scores.gallery_ids)
        templates = np.bincount(codes.gallery, minlength=len(codes.values))[codes.probe]
        self.enrolled = (templates > self.itself) & ~self.left_out & are_enrolled(scores)
        self.cameras = None
        if rules.needs_cameras:
            self.cameras = column_codes(*cameras_of(scores), "camera")

    @property
    def absent(self) -> np.ndarray:
        """Whether each query is of a person without templates in the gallery, bool (queries,)."""
        return ~self.enrolled & ~self.left_out

    def labels(self) -> np.ndarray:
        """Return the label of each query: an integer, a text, or the `repr` of another label."""
        codes = self.scores.codes
        values = codes.values
        if values.dtype.kind not in "iuU":
            values_listed = values.tolist()
            all_text = all(isinstance(x, str) for x in values_listed)
            values = np.array(values_listed if all_text else [*map(repr, values_listed)], dtype=str)
        return values[codes.probe]

    def names(self) -> np.ndarray | None:
        """Return the name of the template of each query, if they have names."""
        names = self.scores.probe_names
        return None if names is None else np.array([*map(str, names)], dtype=str)

    def without_removed(self, rule: str, *, by_label: bool = False) -> Scores:
        """Return the scores without junk, and without the entries that a `rule` of a card removes.

        No distractor is a mate of a query. Each distractor is a person of its own, or, with
        `by_label`, all distractors of a label are one person.
        """
        scores = self.scores
        codes = scores.codes.labelled.apart(self.ids, scores.probe_ids, scores.gallery_ids)
        if by_label:
            codes = scores.codes.unmated(self.ids)
        rules = []
        if rule != "none":
            rules.append(self._by_camera(of_all=rule == "same-camera"))
        if self.junk.any():
            everyone = np.zeros(scores.shape[0], dtype=np.int64)
            sides = Codes.known(np.arange(2), everyone, (~self.junk).astype(np.int64))
            rules.append(replace(Exclusion.parse("all:junk"), codes=sides))
        return leaving_out(scores, codes, rules)

    def of_queries(self, is_kept: np.ndarray) -> Candidates:
        """Return the candidates of the kept queries; `scores` and `cameras` still have all."""
        candidates = copy(self)
        candidates.left_out = self.left_out[is_kept]
        candidates.identity = self.identity[is_kept]
        candidates.itself = self.itself[is_kept]
        candidates.enrolled = self.enrolled[is_kept]
        return candidates

    def _by_camera(self, *, of_all: bool) -> Exclusion:
        """Return the rule that excludes mates, or `of_all` all people, by the query's camera."""
        assert self.cameras is not None
        return replace(Exclusion.parse("all:camera" if of_all else "camera"), codes=self.cameras)

    def parts(self, rule: str) -> Parts:
        """Return the scores without removed entries as blocks, in which mates are ranked."""
        return parts_of(self.without_removed(rule), nearest=True, grouped=False)

    def people(self, rule: str) -> Parts:
        """Return the scores without removed entries as whole rows, in which people are ranked."""
        return RowParts(self.without_removed(rule, by_label=True))

    def removed_entries(self, rule: str) -> np.ndarray:
        """Return how many gallery templates are removed for each query, its own not counted."""
        gallery_ids = self.scores.gallery_ids
        order = np.argsort(gallery_ids)
        position = np.searchsorted(gallery_ids[order], self.scores.probe_ids)
        # The column of the query's own template; any column if the gallery lacks it.
        own_column = np.where(self.itself, order[np.minimum(position, len(order) - 1)], 0)
        removed = np.full(len(own_column), int(self.junk.sum()))
        is_own_removed = self.junk[own_column]
        if self.cameras is not None and rule != "none":
            # How many templates besides junk the rule removes for each query by its camera.
            # A template is removed if its key is the query's: the camera, or person and camera.
            query_key = self.cameras.probe
            column_key = self.cameras.gallery
            if rule == "same-id-same-camera":
                keys_per_person = len(self.cameras.values) + 1
                query_key = self.identity * keys_per_person + self.cameras.probe
                person = self.scores.codes.labelled.gallery
                column_key = person * keys_per_person + self.cameras.gallery
            is_removable = (self.cameras.gallery >= 0) & ~self.junk
            keys = np.sort(column_key[is_removable])
            first = np.searchsorted(keys, query_key, "left")
            end = np.searchsorted(keys, query_key, "right")
            has_camera = self.cameras.probe >= 0
            is_own_of_camera = (
                has_camera & is_removable[own_column] & (column_key[own_column] == query_key)
            )
            of_camera = np.where(has_camera, end - first, 0)
            removed += of_camera
            is_own_removed |= is_own_of_camera
        return removed - (self.itself & is_own_removed)

    def about(self) -> Provenance:
        """Return the provenance of the data, with messages on left-out queries and on cameras."""
        about = Provenance.from_scores(self.scores)
        reading, codes = about.reading, self.scores.codes.labelled
        notes: list[Message] = []
        for ids, role in ((self.distractor_ids, "distractors"), (self.rules.junk_ids, "junk")):
            queries = int(codes.of_no_person(ids)[codes.probe].sum())
            if queries:
                labels = codes.labels_of_no_person(ids)
                notes.append(Message("queries-left-out", queries=queries, role=role, ids=labels))
        if self.cameras is not None:
            of_all = "same-camera" in (self.rules.removed, self.rules.ap_removed)
            notes += rule_notes(self.scores, self._by_camera(of_all=of_all))
        if distractors := codes.labels_of_no_person(self.distractor_ids):
            reading = (*reading, f"distractors: identity {', '.join(distractors)}")
        notes_of_scores = [note for note in about.notes if note.code != "no-person"]
        new_notes = [note for note in notes if note not in notes_of_scores]
        about = replace(about, notes=(*notes_of_scores, *new_notes), reading=reading)
        if self.scores.layout == "top-k":
            return about
        return about.searching(self.without_removed(self.rules.removed), ~self.left_out)


def kept_scores(scores: Scores, rules: Convention) -> Scores:
    """Return a view of the scores for other tasks, without the cells that a convention removes."""
    return masked(scores, KeptCells(Candidates(scores, rules)))


class KeptCells:
    """Mask of a matrix under a convention, computed for the rows that are read.

    `scores_mask` is the mask of the scores themselves, if any.
    """

    ndim = 2

    def __init__(self, candidates: Candidates):
        self.shape = candidates.scores.shape
        self.scores_mask = candidates.scores.mask
        self.left_out = candidates.left_out
        self.scores = candidates.without_removed(candidates.rules.removed)

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Return the mask of some rows: 0 ignore, 1 impostor, 2 genuine."""
        index = np.arange(self.shape[0])[rows]
        mask = np.where(self._mates(index), np.uint8(Mask.GENUINE), np.uint8(Mask.IMPOSTOR))
        mask[self.removed(index)] = Mask.IGNORE
        if self.scores_mask is not None:
            mask[self.scores_mask[index] == Mask.IGNORE] = Mask.IGNORE
        return mask

    def removed(self, rows: np.ndarray) -> np.ndarray:
        """Return which cells of the rows the convention removes, bool (rows, templates)."""
        mates = self._mates(rows)
        removed = np.zeros(mates.shape, dtype=bool) | self.left_out[rows, None]
        return removed | are_left_out(self.scores.exclusions, rows[:, None], slice(None), mates)

    def _mates(self, rows: np.ndarray) -> np.ndarray:
        codes = self.scores.codes
        return codes.probe[rows, None] == codes.gallery
