"""Systems over the same data: aligned by the names of templates, and refused if they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, counted
from bioeval.base.messages import Message
from bioeval.scores.labels import as_objects, plain, require_one_type
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.template_names import name_column

#: What errors call a row and a column.
SIDES = ("probe", "gallery template")


@dataclass(frozen=True)
class _NamedSide:
    """Names of the pairs, or of the templates of one side of a matrix."""

    noun: str
    names: Any  # a list; of pairs `values`, and the places `a` and `b` of both sides in them


@dataclass(frozen=True)
class _Common:
    """The places of the common names in two systems, in the order of the first."""

    side: _NamedSide
    other: _NamedSide
    mine: np.ndarray
    theirs: np.ndarray

    @property
    def missing(self) -> int:
        """Names that the other system lacks."""
        return len(self.side.names) - len(self.mine)

    @property
    def more(self) -> int:
        """Names that the other system alone has."""
        return len(self.other.names) - len(self.theirs)


@dataclass(frozen=True)
class Named:
    """Names of what a system compared: pairs, or the templates of both sides of a matrix."""

    sides: tuple[_NamedSide, ...]
    unordered: bool = False

    @classmethod
    def of(cls, scores: Any, by: str = "templates") -> Named | None:
        """Return the names of the pairs or templates of scores; None where they have none.

        Of pairs, `by` may be ``"subjects"``, where no two pairs have the same.
        """
        if not isinstance(scores, Scores) or scores.layout == "top-k":
            return None
        if scores.layout == "pairs":
            names: Any = scores.pairs.templates
            if by == "subjects" and scores.pairs.sides is not None:
                names = scores.pairs.sides
                if len(np.unique(_keys(names, names)[0])) < len(names):
                    return None
            if names is None:
                return None
            return cls((_NamedSide("pairs", names),), scores.pairs.unordered)
        sides = scores.probe_meta, scores.gallery_meta
        column = "template"  # which also joins systems where it numbers the templates
        if not all(column in meta for meta in sides):
            column = name_column(*sides, (scores.probe_labels, scores.gallery_labels)) or ""
        probes, gallery = (_unique(meta.get(column)) for meta in sides)
        if probes is None or gallery is None:
            return None
        if np.array_equal(scores.probe_ids, scores.gallery_ids):
            return cls((_NamedSide("templates", probes),))
        return cls((_NamedSide("probes", probes), _NamedSide("gallery templates", gallery)))

    def is_like(self, other: Named) -> bool:
        """Whether both are names of the same things."""
        return [x.noun for x in self.sides] == [x.noun for x in other.sides]

    def common(self, other: Named) -> Iterator[_Common]:
        """Yield the common data of both, of pairs or of each side."""
        for side, other_side in zip(self.sides, other.sides, strict=True):
            if isinstance(side.names, list):
                one_type(side.names, other_side.names)
                number = {name: place for place, name in enumerate(side.names)}
                numbers = [number.setdefault(name, len(number)) for name in other_side.names]
                first, second = np.arange(len(side.names)), np.array(numbers, dtype=np.int64)
            else:
                first, second = _keys(
                    side.names, other_side.names, self.unordered and other.unordered
                )
            mine, theirs = _common(first, second)
            yield _Common(side, other_side, mine, theirs)


def _unique(names: np.ndarray | None) -> list[Any] | None:
    """Return the names of the templates of a side; None without, or where two have the same."""
    if names is None or len(set(names.tolist())) < len(names):
        return None
    return list(map(plain, names.tolist()))


def aligned(a: Any, b: Any, called: Sequence[str]) -> tuple[Any, Any, list[Message]]:
    """Return what two systems have in common, in the order of the first, and what is left out.

    Pairs are found by the names of their templates, or by their subjects where no two pairs have
    the same; a matrix by the metadata of both sides that name its templates. Scores without names
    are returned as they are. Raise :class:`DataError` if the systems have nothing in common, or
    names are not unique.
    """
    for by in ("templates", "subjects"):
        first, second = Named.of(a, by), Named.of(b, by)
        if first is not None and second is not None and first.is_like(second):
            break
    else:
        return a, b, []
    sides = list(first.common(second))
    notes = []
    for common in sides:
        noun, names = common.side.noun, common.side.names
        if not len(common.mine):
            raise DataError(
                f"the systems have different data: none of the {counted(len(names), noun)} of "
                f"{called[0]} is among those of {called[1]}, such as {_example(names)} and "
                f"{_example(common.other.names)}; expected the same names"
            )
        if common.missing or common.more:
            left_out = {called[0]: int(common.missing), called[1]: int(common.more)}
            notes.append(Message("not-in-common", what=noun, left_out=left_out))
    rows, columns = sides[0], sides[-1]
    a, b = _part(a, rows.mine, columns.mine), _part(b, rows.theirs, columns.theirs)
    if first.unordered and second.unordered:
        b = _turned_as(a, b)
    return a, b, notes


def require_same(a: Scores, b: Scores) -> None:
    """Raise :class:`DataError` unless two systems scored the same templates in the same order."""
    if a.layout != b.layout or a.shape != b.shape:
        raise DataError(
            f"the systems are not over the same data: the first is {a.layout} {a.shape}, the "
            f"second {b.layout} {b.shape}"
        )
    if a.layout == "pairs" and b.layout == "pairs":
        require_equal(a.genuine, b.genuine, "genuine flags", "pair")
        if a.pair_subjects is not None and b.pair_subjects is not None:
            for k in (0, 1):
                mine, theirs = a.pair_subjects[:, k], b.pair_subjects[:, k]
                require_equal(mine, theirs, "subjects", "pair")
        return
    require_equal(a.probe_labels, b.probe_labels, "labels", SIDES[0])
    require_equal(a.gallery_labels, b.gallery_labels, "labels", SIDES[1])
    if a.layout == "top-k":
        return
    mine, theirs = a.gallery_order.probe_position, b.gallery_order.probe_position
    require_equal(mine, theirs, "templates compared with themselves", "probe")


def require_equal(a: np.ndarray, b: np.ndarray, column: str, where: str) -> None:
    """Raise :class:`DataError` naming the first place `where` two columns differ."""
    left, right = a.tolist(), b.tolist()
    if left == right:
        return
    differ = [i for i, (x, y) in enumerate(zip(left, right, strict=True)) if x != y]
    i = differ[0]
    raise DataError(
        f"the systems are not over the same data: {column} differ at {len(differ)} of {len(left)} "
        f"places, the first is {where} {i} ({left[i]!r} and {right[i]!r}); expected the same "
        "templates in the same order"
    )


def numbered_as(a: Scores, b: Scores) -> Scores:
    """Return `b` with the numbers that `a` gives its subjects; both have the same labels.

    They depend on the dtype of the labels and on the order of all of a file; people who are
    left out together are the same numbers.
    """
    if a.layout == "top-k" or b.layout == "top-k":
        return b
    if a.layout == "pairs" and b.layout == "pairs":
        if knows_people(a) and knows_people(b):
            return b._with(_pair_codes=a.codes)
        return b
    return b._with(_codes=a.codes)


def differences(systems: Mapping[str, Named | None]) -> dict[str, str]:
    """Return what each system lacks of the first one with names, and what it adds."""
    known = [(name, named) for name, named in systems.items() if named is not None]
    sentences = {}
    for name, named in known[1:]:
        first, reference = known[0]
        if not named.is_like(reference):
            continue
        texts = []
        for common in reference.common(named):
            if common.missing or common.more:
                lacking = counted(common.missing, common.side.noun)
                texts.append(f"lacks {lacking} of {first} and has {common.more:,} others")
        if texts:
            sentences[name] = f"{name} {', and '.join(texts)}"
    return sentences


def one_type(mine: list, theirs: list) -> None:
    """Raise :class:`DataError` where names of both systems are of two types."""
    require_one_type(as_objects(mine), as_objects(theirs), "the names of both systems")


def _keys(mine: Any, theirs: Any, unordered: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for each pair of both lists, equal for equal names."""
    one_type(mine.values, theirs.values)
    number = {plain(name): place for place, name in enumerate(mine.values)}
    other = [number.setdefault(plain(name), len(number)) for name in theirs.values]
    keys = []
    for codes, sides in ((np.arange(len(mine.values)), mine), (np.array(other), theirs)):
        a = codes[sides.a].astype(np.int64)
        b = codes[sides.b].astype(np.int64)
        if unordered:
            a, b = np.minimum(a, b), np.maximum(a, b)
        keys.append(a * len(number) + b)
    return keys[0], keys[1]


def _common(mine: np.ndarray, theirs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places, in both, of the common names, in the order of the first."""
    if np.array_equal(mine, theirs):
        return np.arange(len(mine)), np.arange(len(theirs))
    order = np.argsort(theirs, kind="stable")
    for keys in (mine, theirs[order]):
        if len(np.unique(keys)) < len(keys):
            raise DataError(
                "pairs that are listed more than once cannot be aligned by names; leave out "
                '`keep="repeated"`, or give attempts names of their own'
            )
    place = np.minimum(np.searchsorted(theirs[order], mine), len(order) - 1)
    common = np.flatnonzero(theirs[order][place] == mine)
    return common, order[place[common]]


def _part(scores: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """Return some pairs, with the remarks of the list, or some rows and columns of a matrix."""
    sizes = scores.shape if scores.layout != "pairs" else (*scores.shape, *scores.shape)
    if all(map(np.array_equal, map(np.arange, sizes), (rows, columns))):
        return scores
    if scores.layout == "pairs":
        return scores.select(rows)
    return scores.select(probes=rows, gallery=columns)


def _turned_as(a: Scores, b: Scores) -> Scores:
    """Return the pairs of `b` with their sides in the order of `a`."""
    if a.pairs.templates is None or b.pairs.templates is None:
        return b
    names = np.array(a.pairs.templates.values, dtype=object)
    other_names = np.array(b.pairs.templates.values, dtype=object)
    turned = names[a.pairs.templates.a] != other_names[b.pairs.templates.a]
    if turned.any():
        return b.with_pairs(b.pairs.exchanged(turned))
    return b


def _example(names: Any) -> str:
    if isinstance(names, list):
        return repr(names[0])
    return f"{names.values[names.a[0]]!r} with {names.values[names.b[0]]!r}"
