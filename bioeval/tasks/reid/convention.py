"""Re-identification conventions: the ``[reid]`` section of a card, with some options changed.

A convention fixes which gallery entries a query searches, what a CMC counts, which queries are left
out of the means, and the form of average precision. A card with ``[gom]`` alone fixes the gallery
of each query; its other rules have their defaults. Conventions are cards: no data set is named
here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np

from bioeval.base.arguments import require_choice, require_integer
from bioeval.base.errors import CardError, DataError, ProtocolError, received
from bioeval.base.messages import Message
from bioeval.protocol.card import Protocol
from bioeval.protocol.fields import CardSection, Field
from bioeval.protocol.loading import available, load
from bioeval.protocol.tasks import Reid
from bioeval.scores.attempts import excludes_same
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import known_texts
from bioeval.scores.missing import CAMERA_COLUMNS
from bioeval.scores.people import knows_people
from bioeval.scores.provenance import pairs_of_same

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
    tasks = [card.tasks[name] for name in sections if card.tasks.get(name) is not None]
    if not tasks:
        raise _no_convention(card, sections)
    task = tasks[0]
    fields = task.fields()
    card_options = {x: getattr(task, x) for x in Reid.fields() if x in fields}
    base = Convention(name=card.name, exclude=card.exclude, **card_options)
    rules = with_options(base, **options)
    changed = [x for x in options if getattr(rules, x) != getattr(base, x)]
    return replace(rules, changed=tuple(changed))


def _no_convention(card: Protocol, sections: Sequence[str]) -> CardError:
    if sections == ("reid",) and "gom" in card.tasks:
        return CardError(
            f"the card {card.name} is of GOM, by which systems are not compared; evaluate each by "
            "be.gom (bioeval gom)"
        )
    lacking = " and no ".join(map("[{}]".format, sections))
    return CardError(
        f"the card {card.name} has no {lacking} section; expected one of "
        f"{', '.join(convention_names(sections))}, or a card of your own with that section"
    )


def convention_names(sections: Sequence[str] = ("reid",)) -> list[str]:
    """Return the names of the shipped cards that have at least one of the sections."""
    return [name for name in available() if set(sections) & set(load(name).tasks)]


def with_options(section: S, **options: Any) -> S:
    """Return a section with some options checked and changed; None leaves the section's value."""
    fields = section.fields()
    changes = {k: _checked(k, v, fields[k]) for k, v in options.items() if v is not None}
    return replace(section, **changes)


def _checked(name: str, value: Any, field: Field) -> Any:
    if field.choices:
        require_choice(name, value, field.words())
        return value
    if not field.many:
        return require_integer(name, value, low=1)
    try:
        return tuple(require_integer(name, x, low=-(2**62)) for x in value)
    except TypeError:
        raise DataError(f"{name} is {received(value)}; expected a list of whole numbers") from None


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


def column_warnings(scores: Scores) -> list[Message]:
    """Return a message if the data have cameras and no convention states their use."""
    if scores.layout == "pairs" or not knows_people(scores) or scores.has_mask:
        return []
    metas = (scores.probe_meta, scores.gallery_meta)
    sides = [meta["camera"] for meta in metas if "camera" in meta]
    if len(sides) < 2 or excludes_same(scores, "camera"):
        return []
    cameras = set().union(*(known_texts(side, "camera") for side in sides))
    if len(cameras) < 2:
        return []
    if scores.layout == "probe-against-gallery":
        return [Message("cameras-not-used", column="camera")]
    return [pairs_of_same("camera")]


def _camera_column(meta: Mapping[str, Any]) -> str | None:
    folded = {name.casefold(): name for name in reversed(list(meta))}
    for name in CAMERA_COLUMNS:
        if name in folded:
            return folded[name]
    return None
