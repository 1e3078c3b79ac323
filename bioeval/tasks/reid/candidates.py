"""The gallery entries that each query is compared with under a convention.

A convention is the ``[reid]`` section of a card, with some options changed. It fixes which gallery
entries a query searches, what a CMC counts, which queries are left out of the means, and the form
of average precision. A card with ``[gom]`` alone fixes the gallery of each query; its other rules
have their defaults. Conventions are cards: no data set is named here.

:func:`convention_of` reads a convention, and :class:`Candidates` applies it. Under Market-1501's,
which removes the query's identity in the query's camera and junk (-1), a query of identity 7 in
camera 1 is treated so::

    gallery entry   (7, camera 1)  (7, camera 2)  (8, camera 1)  (0, camera 1)  (-1, camera 2)
    the query sees  no             a match        a non-match    a distractor   no
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
from bioeval.scores.attempts import Exclusion, are_left_out, leaving_out, masked
from bioeval.scores.codes import Codes, column_codes
from bioeval.scores.labels import CAMERA_COLUMNS, ids_of_no_person
from bioeval.scores.masks import Mask
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
    tasks = [getattr(card, section) for section in sections if section in card.tasks]
    if not tasks:
        if sections == ("reid",) and card.gom is not None:
            raise CardError(
                f"the card {card.name} is of GOM, by which systems are not compared; evaluate each "
                "by be.gom (bioeval gom)"
            )
        lacking = " and no ".join(f"[{section}]" for section in sections)
        raise CardError(
            f"the card {card.name} has no {lacking} section; expected one of "
            f"{', '.join(convention_names(sections))}, or a card of your own with that section"
        )
    task = tasks[0]
    shared_fields = [name for name in Reid.fields() if name in task.fields()]
    rules_of_card = {name: getattr(task, name) for name in shared_fields}
    of_card = Convention(name=card.name, exclude=card.exclude, **rules_of_card)
    rules = with_options(of_card, **options)
    changed = [name for name in options if getattr(rules, name) != getattr(of_card, name)]
    return replace(rules, changed=tuple(changed))


def convention_names(sections: Sequence[str] = ("reid",)) -> list[str]:
    """Return the names of the shipped cards that have at least one of the sections."""
    return [name for name in available() if set(sections) & set(load(name).tasks)]


def with_options(section: S, **options: Any) -> S:
    """Return a section with some options checked and changed; None leaves the section's value."""
    changes: dict[str, Any] = {}
    for name, value in options.items():
        if value is None:
            continue
        field = section.fields()[name]
        if field.choices:
            require_choice(name, value, field.words())
            changes[name] = value
        elif field.many:  # labels of junk and of distractors, of which any whole number may be one
            try:
                changes[name] = tuple(require_integer(name, x, low=-(2**62)) for x in value)
            except TypeError:
                text = f"{name} is {received(value)}; expected a list of whole numbers"
                raise DataError(text) from None
        else:  # a rank
            changes[name] = require_integer(name, value, low=1)
    return replace(section, **changes)


def cameras_of(scores: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the camera column of queries and gallery."""
    query_column = _camera_column(scores.probe_meta)
    gallery_column = _camera_column(scores.gallery_meta)
    if query_column is not None and gallery_column is not None:
        return scores.probe_meta[query_column], scores.gallery_meta[gallery_column]

    missing, present = [], []  # what lacks cameras, and the columns that it has instead
    for side, meta, column in (
        ("probe_meta", scores.probe_meta, query_column),
        ("gallery_meta", scores.gallery_meta, gallery_column),
    ):
        if column is None:
            missing.append(side)
            if meta:
                present.append(f"{side} has {', '.join(map(repr, meta))}")
    lacking = " and ".join(missing)
    if present:
        lacking += f" ({' and '.join(present)})"
    raise ProtocolError(
        "the convention removes gallery entries by camera, but there is no column 'camera' in "
        f"{lacking}; give the cameras of both sides (of a file, "
        '`columns={"probe_camera": ...}` and `columns={"gallery_camera": ...}`), or '
        "choose a convention that removes none"
    )


def has_cameras(scores: Scores) -> bool:
    """Whether both sides of a matrix have a column of cameras."""
    if scores.layout == "pairs":
        return False
    columns = [_camera_column(meta) for meta in (scores.probe_meta, scores.gallery_meta)]
    return None not in columns


def _camera_column(meta: Mapping[str, Any]) -> str | None:
    """Return the name of the camera column, in any case; of two of a name, the first."""
    name_of: dict[str, str] = {}
    for name in meta:
        name_of.setdefault(name.casefold(), name)
    return next((name_of[word] for word in CAMERA_COLUMNS if word in name_of), None)


class Candidates:
    """The gallery entries that each query of some scores is compared with under a convention.

    - `left_out` (bool (queries,)): queries that are junk or distractors, which have no match
    - `identity` (int64 (queries,)): the code of each query's subject, -1 where it is left out
    - `in_gallery` (bool (queries,)): whether the query's own template is in the gallery
    - `enrolled` (bool (queries,)): whether the gallery has other templates of the query's subject
    - `is_junk` (bool (gallery templates,)): templates that are removed for every query
    - `distractor_ids`: the labels of distractors, and `ids`: those of junk as well
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

        # A label that is both is of junk. Each is listed once.
        no_person_ids = [*rules.distractor_ids, *ids_of_no_person(scores.distractor_ids)]
        distractor_ids = [x for x in dict.fromkeys(no_person_ids) if x not in rules.junk_ids]
        self.distractor_ids: tuple[Any, ...] = tuple(distractor_ids)
        self.ids = (*rules.junk_ids, *self.distractor_ids)
        self.is_junk = np.zeros(scores.shape[1], dtype=bool)
        if rules.junk == "remove":
            self.is_junk = codes.of_no_person(rules.junk_ids)[codes.gallery]

        self.left_out = codes.of_no_person(self.ids)[codes.probe]
        self.identity = np.where(self.left_out, -1, codes.probe)
        self.in_gallery = np.isin(scores.probe_ids, scores.gallery_ids)
        templates_of_subject = np.bincount(codes.gallery, minlength=len(codes.values))
        has_other_template = templates_of_subject[codes.probe] > self.in_gallery
        self.enrolled = has_other_template & ~self.left_out & are_enrolled(scores)

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
        if values.dtype.kind not in "iuU":  # of any other type
            labels = values.tolist()
            if not all(isinstance(label, str) for label in labels):
                labels = [repr(label) for label in labels]
            values = np.array(labels, dtype=str)
        return values[codes.probe]

    def names(self) -> np.ndarray | None:
        """Return the name of the template of each query, if they have names."""
        names = self.scores.probe_names
        if names is None:
            return None
        return np.array([str(name) for name in names], dtype=str)

    def without_removed(self, rule: str, *, by_label: bool = False) -> Scores:
        """Return the scores without junk, and without the entries that a `rule` of a card removes.

        No distractor is a mate of a query. Each distractor is a person of its own, or, with
        `by_label`, all distractors of a label are one person.
        """
        scores = self.scores
        if by_label:
            codes = scores.codes.unmated(self.ids)
        else:
            codes = scores.codes.labelled.apart(self.ids, scores.probe_ids, scores.gallery_ids)
        exclusions = []
        if rule != "none":
            exclusions.append(self._exclusion_by_camera(of_all=rule == "same-camera"))
        if self.is_junk.any():
            # An exclusion leaves out pairs of equal codes: each query and junk have the code 0, and
            # other templates 1.
            query_code = np.zeros(scores.shape[0], dtype=np.int64)
            template_code = np.where(self.is_junk, 0, 1)
            junk_codes = Codes.known(np.arange(2), query_code, template_code)
            exclusions.append(replace(Exclusion.parse("all:junk"), codes=junk_codes))
        return leaving_out(scores, codes, exclusions)

    def of_queries(self, is_kept: np.ndarray) -> Candidates:
        """Return the candidates of the kept queries; `scores` and `cameras` still have all."""
        candidates = copy(self)
        candidates.left_out = self.left_out[is_kept]
        candidates.identity = self.identity[is_kept]
        candidates.in_gallery = self.in_gallery[is_kept]
        candidates.enrolled = self.enrolled[is_kept]
        return candidates

    def _exclusion_by_camera(self, *, of_all: bool) -> Exclusion:
        """Return the exclusion of the mates, or `of_all` entries, from the query's camera."""
        assert self.cameras is not None
        form = "all:camera" if of_all else "camera"
        return replace(Exclusion.parse(form), codes=self.cameras)

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
        position = np.minimum(position, len(order) - 1)
        # The column of the query's own template; any column if the gallery lacks it.
        own_column = np.where(self.in_gallery, order[position], 0)

        removed = np.full(len(own_column), int(self.is_junk.sum()))
        is_own_removed = self.is_junk[own_column]
        if self.cameras is not None and rule != "none":
            query_key, template_key = self._camera_keys(rule)
            # Junk is counted above. A template of an unknown camera stays, and a query of an
            # unknown camera sees all templates.
            is_removable = (self.cameras.gallery >= 0) & ~self.is_junk
            has_camera = self.cameras.probe >= 0
            sorted_keys = np.sort(template_key[is_removable])
            first = np.searchsorted(sorted_keys, query_key, "left")
            stop = np.searchsorted(sorted_keys, query_key, "right")
            removed += np.where(has_camera, stop - first, 0)
            is_own_key = has_camera & (template_key[own_column] == query_key)
            is_own_removed |= is_own_key & is_removable[own_column]
        return removed - (self.in_gallery & is_own_removed)

    def _camera_keys(self, rule: str) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers of queries and of templates: equal where `rule` removes the template."""
        assert self.cameras is not None
        if rule == "same-camera":
            return self.cameras.probe, self.cameras.gallery
        # A number for each pair of a person and a camera.
        keys_per_person = len(self.cameras.values) + 1
        person = self.scores.codes.labelled.gallery
        query_key = self.identity * keys_per_person + self.cameras.probe
        return query_key, person * keys_per_person + self.cameras.gallery

    def about(self) -> Provenance:
        """Return the provenance of the data, with messages on left-out queries and on cameras."""
        about = Provenance.from_scores(self.scores)
        codes = self.scores.codes.labelled
        notes: list[Message] = []
        for role, ids in (("distractors", self.distractor_ids), ("junk", self.rules.junk_ids)):
            queries = int(codes.of_no_person(ids)[codes.probe].sum())
            if queries:
                labels = codes.labels_of_no_person(ids)
                notes.append(Message("queries-left-out", queries=queries, role=role, ids=labels))
        if self.cameras is not None:
            of_all = "same-camera" in (self.rules.removed, self.rules.ap_removed)
            notes += rule_notes(self.scores, self._exclusion_by_camera(of_all=of_all))
        reading = about.reading
        distractors = codes.labels_of_no_person(self.distractor_ids)
        if distractors:
            reading = (*reading, f"distractors: identity {', '.join(distractors)}")
        # The note of the scores on distractors is replaced by that on queries, above.
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

    It has the shape of the matrix, and an index of rows as an array has, but is never in memory as
    a whole. `scores_mask` is the mask of the scores themselves, if any.
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
