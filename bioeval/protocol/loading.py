"""Protocol cards by name, by path and by layout: read, and checked against the typed sections."""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from bioeval.base.errors import CardError, bad_choice, nearest_name, received
from bioeval.protocol.card import HEAD, SCHEMA_VERSION, SECTIONS, TASKS, Protocol
from bioeval.protocol.fields import (
    PAIRS,
    RECTANGULAR,
    SEARCHABLE,
    SQUARE,
    Field,
    in_lecture_words,
    matches_choice,
    read_file,
    shorten,
)
from bioeval.protocol.tasks import Retrieval

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

#: The section that a section needs.
_NEEDS = {"claims": "verification", "decision": "partition", "uncertainty": "partition"}

#: Fields without effect in folds: only their defaults are accepted.
_NOT_IN_FOLDS = {
    "open_set": ("gallery", "max_rank"),
    "closed_set": ("gallery", "max_rank"),
    "curve": ("n_thresholds", "thresholds"),
}

#: Words without meaning in folds.
_NO_WORDS_IN_FOLDS = (
    ("open_set", "ties", "expected"),
    ("closed_set", "ties", "expected"),
    ("closed_set", "unmated", "raise"),
)


def read_card(text: str, where: str, path: str | None = None) -> Protocol:
    """Return the protocol of a card's text, with the defaults filled in.

    Errors state `where`, the section, the value, and the expected value.
    """
    import tomllib  # slow to import, and seldom needed

    try:
        tables = tomllib.loads(text.replace("\r\n", "\n"))
    except RecursionError:
        raise CardError(f"{where}: not valid TOML: brackets are nested too deeply") from None
    except ValueError as error:
        raise CardError(f"{where}: not valid TOML: {error}") from error
    card = replace(_decoded(tables, where), path=path)
    mark_checked(card)
    return card


def mark_checked(card: Protocol) -> None:
    """Mark a card as checked, to avoid a second check of its values."""
    object.__setattr__(card, "_checked", True)


def check_card(card: Protocol) -> None:
    """Raise :class:`CardError` if a value of a card that was made in Python is wrong."""
    if card._checked:
        return
    tables = card.as_tables()
    if not card.name:
        tables["name"] = "unnamed"  # no result names this card
    _decoded(tables, f"protocol {card.name or 'without a name'}")
    mark_checked(card)


def _decoded(data: Mapping[str, Any], where: str) -> Protocol:
    """Return the protocol of the tables of a card: each value is checked, then all together."""
    try:
        card = _typed(data)
        for section, problem in _problems(card):
            _refuse(section, problem)
    except CardError as error:
        raise error.preceded_by(f"{where}: ") from None
    return card


def _refuse(section: str, problem: str) -> NoReturn:
    raise CardError(f"[{section}] {problem}" if section else problem)


def _typed(data: Mapping[str, Any]) -> Protocol:
    version = data.get("schema")
    if type(version) is int and version != SCHEMA_VERSION:
        raise CardError(
            f"schema = {shorten(version)}; expected {SCHEMA_VERSION}, the version of the card "
            "format that this bioeval reads"
        )
    head = {key: value for key, value in data.items() if key not in SECTIONS}
    for key, value in head.items():
        if isinstance(value, dict) and key not in HEAD:
            raise CardError(
                f"[{key}] is not a section of a card; expected one of "
                f"{_brackets(SECTIONS)}{_hint(key, SECTIONS)}"
            )
    values = _values("", HEAD, head, None)
    del values["schema"]
    layout: str = values["layout"]
    for name, section in SECTIONS.items():
        if name in data:
            stated = data[name]
            if not isinstance(stated, dict):
                raise CardError(f"{name} = {shorten(stated)}; expected a section, [{name}]")
            if layout not in section.layouts:
                legal = " or ".join(map('"{}"'.format, section.layouts))
                _refuse(name, f'has no meaning with layout = "{layout}"; expected layout = {legal}')
            values[name] = section(
                **_values(name, section.fields(), stated, layout, section.only_one_of)
            )
        elif section.required:
            raise CardError(f"[{name}] is missing; expected a section: {section.doc}")
    for name, further in _NEEDS.items():
        if name in data and further not in data:
            _refuse(name, f"needs [{further}], and the card has no such section")
    if data.keys().isdisjoint(TASKS):
        legal = _brackets(name for name in TASKS if layout in SECTIONS[name].layouts)
        raise CardError(f"the card has no task; expected at least one of {legal}")
    return Protocol(**values)


def _problems(card: Protocol) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with values that are right by themselves: the section, and the problem.

    This is the table of all rules over several fields of a card.
    """

    def unused(section: str, key: str, why: str) -> tuple[str, str]:
        value = shorten(card.sections[section][key])
        return section, f"{key} = {value} has no meaning {why}; expected to be left out"

    decision, partition, sections = card.decision, card.partition, card.sections
    rule = card.section("decision").rule
    # The rule of a threshold has its number, and none of another rule.
    if decision is not None:
        for key, field in decision.fields().items():
            if field.only_if is not None and (decision[key] is None) == (rule == field.only_if[1]):
                if decision[key] is None:
                    yield "decision", f'rule = "{rule}" needs {key}; it is missing'
                yield unused("decision", key, f'with rule = "{rule}"')
        if decision.cost is not None and len(decision.cost) != 3:
            count = len(decision.cost)
            yield "decision", f"cost holds {count} numbers; expected 3: prior, c_miss, c_fa"
    # Folds and experiments.
    if partition is not None:
        without_effect = [("partition", x, f'with by = "{partition.by}"') for x in partition.unused]
        for name, keys in _NOT_IN_FOLDS.items():
            without_effect += [(name, key, "in folds") for key in keys if name in sections]
        for name, key, why in without_effect:
            default = sections[name].fields()[key].default_for(card.layout)
            if sections[name][key] not in (None, default):
                yield unused(name, key, why)
        if partition.by == "given-folds" and card.layout in SEARCHABLE and not partition.column:
            yield (
                "partition",
                'by = "given-folds" needs column, the metadata column that holds the fold of each '
                "template",
            )
        if partition.by == "experiment":
            for name in ("unenrolled", "enrolled", "probe_templates"):
                if partition[name] and partition.gallery_templates is None:
                    yield (
                        "partition",
                        f"{name} = {shorten(partition[name])} needs gallery_templates, the "
                        "templates that the enrolled subjects have in the gallery",
                    )
            by_sample = partition.unit == "sample"
            trains = partition.train or partition.validation
            if partition.unseen and not by_sample:
                yield unused("partition", "unseen", 'without unit = "sample"')
            if by_sample and not trains:
                yield (
                    "partition",
                    'unit = "sample" needs train or validation, the parts that it divides',
                )
            if partition.enrolled and partition.unenrolled:
                yield unused("partition", "unenrolled", "beside enrolled")
            has_thresholds = card.verification is not None or card.open_set is not None
            if has_thresholds and rule not in ("fixed", "none") and not trains:
                yield (
                    "partition",
                    "has neither train nor validation, the part on which a threshold is chosen by "
                    f'rule = "{rule}"; expected one of them, or rule = "fixed" or "none"',
                )
        if partition.by == "gallery-folds" and rule != "none":
            yield (
                "partition",
                'by = "gallery-folds" has no part on which a threshold is chosen; expected '
                '[decision] rule = "none"',
            )
        for name, key, word in _NO_WORDS_IN_FOLDS:
            if name in sections and sections[name][key] == word:
                yield unused(name, key, "in folds")
        for name in {"reid", "gom"} & card.tasks.keys():
            yield name, "is not evaluated in folds; expected no [partition] with it"
    # Tasks beside each other.
    verification = card.section("verification")
    others = [name for name in card.tasks if name != "verification"]
    if verification.pairs != "ordered" and (others or verification.templates != ("single",)):
        found = f"; found {_brackets(others)}" if others else ""
        yield (
            "verification",
            f"pairs = {shorten(verification.pairs)} leaves comparisons out; expected templates = "
            f'["single"] beside it and no other task{found}',
        )
    if card.reid is not None and card.gom is not None:
        for key in Retrieval.fields():
            if card.gom[key] != card.reid[key]:
                yield (
                    "gom",
                    f"{key} = {shorten(card.gom[key])}; expected {shorten(card.reid[key])}, as in "
                    "[reid] of this card",
                )


def _hint(name: object, choices: Iterable[str]) -> str:
    """Return ``". Did you mean 'x'?"``, or an empty string."""
    hint = nearest_name(name, choices)
    return hint and f".{hint}"


def _brackets(names: Iterable[str]) -> str:
    return ", ".join(map("[{}]".format, names))


def _values(
    name: str,
    fields: Mapping[str, Field],
    data: Mapping[str, object],
    layout: str | None,
    only_one_of: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the values of a section, or of the head (""), with the defaults filled in."""
    for key, value in data.items():
        if key not in fields:
            place = f"of [{name}]" if name else "above the sections"
            _refuse(
                name,
                f"{key} = {shorten(value)} is not a field {place}; expected one of "
                f"{', '.join(fields)}{_hint(key, fields)}",
            )
    alternatives = [key for key in data if key in only_one_of]
    if len(alternatives) > 1:
        _refuse(name, f"holds {' and '.join(alternatives)}; expected only one")
    values = {}
    for key, field in fields.items():
        if key not in data:
            if field.required:
                meaning = in_lecture_words(field.doc)
                _refuse(name, f"{key} is missing; expected {field.expected()}: {meaning}")
            is_dropped = alternatives and key in only_one_of
            values[key] = None if is_dropped else field.default_for(layout)
            continue
        value = data[key]
        if layout is not None and layout not in field.layouts:
            _refuse(
                name,
                f"{key} = {shorten(value)}; {key} has no meaning with "
                f'layout = "{layout}": expected to be left out',
            )
        try:
            values[key] = _checked_value(field, value, layout)
        except _UnexpectedValue as error:
            expected = field.expected(layout)
            if field.words(layout) != field.words():
                expected += f' with layout = "{layout}"'
            problem = error.part or f"= {shorten(value)}"
            _refuse(name, f"{key} {problem}; expected {expected}{error.advice}")
    return values


class _UnexpectedValue(Exception):
    """A value that a field does not accept."""

    def __init__(self, advice: str = "", part: str = "") -> None:
        super().__init__()
        self.advice = advice  # follows the accepted values in the message
        self.part = part  # the part of a list that is not accepted, in words


def _checked_value(field: Field, value: object, layout: str | None) -> object:
    if not field.many:
        return _checked_item(field, value, layout)
    if not isinstance(value, list | tuple):
        _checked_item(field, value, layout)
        raise _UnexpectedValue(f". Did you mean [{shorten(value)}]?")
    items: list[Any] = []
    for item in value:
        try:
            items.append(_checked_item(field, item, layout))
        except _UnexpectedValue as error:
            raise _UnexpectedValue(error.advice, f"holds {shorten(item)}") from None
    if not items and not field.may_be_empty:
        raise _UnexpectedValue(", at least one")
    if field.distinct:
        for i, item in enumerate(items):
            if item in items[:i]:
                raise _UnexpectedValue(part=f"holds {shorten(item)} twice")
    if field.increasing:
        for before, after in itertools.pairwise(items):
            if not before < after:
                raise _UnexpectedValue(part=f"holds {shorten(before)} before {shorten(after)}")
    return tuple(items)


def _checked_item(field: Field, value: object, layout: str | None) -> object:
    may_be_text = field.kind == "label" or (field.kind == "size" and field.pattern)
    if field.kind == "text" or (may_be_text and isinstance(value, str)):
        if not isinstance(value, str):
            raise _UnexpectedValue
        if field.choices:
            words = field.words(layout)
            if not any(matches_choice(value, word) for word in words):
                raise _UnexpectedValue(_hint(value, words))
        elif field.pattern and not re.fullmatch(field.pattern, value):
            raise _UnexpectedValue
        elif not value.strip():
            raise _UnexpectedValue(" that is not empty")
        return value
    if isinstance(value, dict) and field.table:
        if set(value) != set(field.table):
            raise _UnexpectedValue
        return {
            key: _checked_item(Field(field.doc, kind=field.table[key]), item, layout)
            for key, item in value.items()
        }
    kind = Integral if field.kind in ("integer", "label") else Real
    if isinstance(value, bool) or not isinstance(value, kind):
        raise _UnexpectedValue
    number = cast("float", value)
    if number != number or not field.is_in_bounds(number):
        raise _UnexpectedValue
    if field.kind in ("integer", "label"):
        return int(number)
    if field.kind == "size":
        if 0 < number < 1:
            return number
        if number < 0 or number == float("inf") or number != int(number):
            raise _UnexpectedValue
        return int(number)
    try:
        return float(number)
    except OverflowError:
        raise _UnexpectedValue(", within the range of a float64") from None


CARD_OF_LAYOUT = {
    SQUARE: "course-all-vs-all",
    RECTANGULAR: "course-probe-vs-gallery",
    PAIRS: "pairs",
}

#: The card of each layout, for names that stand for several cards.
_BY_LAYOUT = {
    # The layout of the card of ranked lists is a matrix with probes and a gallery.
    "auto": {**CARD_OF_LAYOUT, "top-k": "top-k"},
    "course-kfold": {
        SQUARE: "course-kfold",
        RECTANGULAR: "course-kfold-probe-vs-gallery",
        PAIRS: "course-kfold-pairs",
    },
}


def available() -> list[str]:
    """Return the names of the cards that ship with bioeval."""
    return sorted(_shipped_cards())


def load(
    name_or_path: str | os.PathLike[str] | Protocol,
    argument: str = "protocol",
    names: Callable[[], list[str]] = available,
) -> Protocol:
    """Return a protocol by the name of a shipped card, or by the path of a card.

    A text is a path if it ends in ``.toml`` or holds a path separator. A `Protocol` is checked
    and returned as it is. Messages call it the `argument` of the call, and list the `names`.

    Raises
    ------
    CardError
        If there is no such card, or if it is not valid.

    Examples
    --------
    >>> load("course-all-vs-all").tasks["open_set"]["ties"]
    'pessimistic'
    """
    if isinstance(name_or_path, Protocol):
        check_card(name_or_path)
        return name_or_path
    if not isinstance(name_or_path, str | os.PathLike):
        raise CardError(
            f"`{argument}` is {received(name_or_path)}; expected the name or the path of a card"
        )
    path = os.fspath(name_or_path)
    in_folder = os.sep in path or bool(os.altsep and os.altsep in path)
    if isinstance(name_or_path, os.PathLike) or path.endswith(".toml") or in_folder:
        return read_card(read_file(path), path, path)
    try:
        return _load_shipped(path)
    except KeyError:
        wrong = bad_choice(argument, path, names())
        raise CardError(f"{wrong} The path of a card ends in .toml.") from None


def for_layout(layout: str, protocol: str | os.PathLike[str] | Protocol = "auto") -> Protocol:
    """Return the card of a protocol for a layout; ``"auto"`` and ``"course-kfold"`` have several.

    Other protocols are loaded as by :func:`load`, whatever the layout.
    """
    if not isinstance(protocol, str) or protocol not in _BY_LAYOUT:
        return load(protocol)
    if layout not in _BY_LAYOUT[protocol]:
        raise CardError(bad_choice("the layout", layout, _BY_LAYOUT[protocol]))
    return _load_shipped(_BY_LAYOUT[protocol][layout])


def parse(text: str, where: str = "card") -> Protocol:
    """Return the protocol of a card's text; `where` names the text in error messages."""
    return read_card(text, where)


def _shipped_cards() -> dict[str, Traversable]:
    from importlib.resources import files  # slow to import, and seldom needed

    package = files("bioeval")
    folder = package / "protocol" / "cards"  # the folder in an installed wheel
    if not folder.is_dir():
        folder = Path(str(package)).parent / "protocols"  # the folder in a checkout
    if not folder.is_dir():
        raise CardError(
            f"{folder} is not a folder, so the protocol cards that ship with bioeval cannot be read"
        )
    return {
        item.name.removesuffix(".toml"): item
        for item in folder.iterdir()
        if item.name.endswith(".toml")
    }


@functools.cache
def _load_shipped(name: str) -> Protocol:
    card = _shipped_cards()[name]
    return read_card(card.read_text(encoding="utf-8"), card.name, str(card))


def of_claims(card: Protocol) -> Protocol:
    """Return the card for claim scores: verification alone, of single comparisons."""
    verification = replace(card.section("verification"), templates=("single",))
    return replace(card, verification=verification, open_set=None, closed_set=None)
