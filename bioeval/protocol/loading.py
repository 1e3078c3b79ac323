"""Protocol cards: found by name, path or layout; read from TOML; checked.

A card has fields of its head, and sections with fields of their own (`HEAD` and `SECTIONS` of
card.py describe them). A part of one::

    schema = 1
    name = "my-card"
    title = "Verification of my data"
    summary = "Single and multi-template verification."
    layout = "all-against-all"
    [verification]
    templates = ["single", "multi"]

:func:`load` finds the text, and :func:`read_card` makes a `Protocol` of it; the first problem
raises :class:`CardError`:

1. tomllib reads the text as nested dicts, "tables": ``{"schema": 1, "verification": {...}}``.
2. `_protocol_of` checks each value by the `Field` of its name (`_values`, `_checked_value`), and
   fills in the defaults.
3. `_check_together` checks the rules over several fields, such as the number that the rule of a
   threshold needs.

A card that was made in Python is written as tables, and takes steps 2 and 3 (:func:`check_card`).
"""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from bioeval.base.errors import CardError, bad_choice, nearest_name, received
from bioeval.protocol.card import HEAD, SCHEMA_VERSION, SECTIONS, TASKS, Partition, Protocol
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


def of_claims(card: Protocol) -> Protocol:
    """Return the card for claim scores: verification alone, of single comparisons."""
    verification = replace(card.section("verification"), templates=("single",))
    return replace(card, verification=verification, open_set=None, closed_set=None)


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


def _decoded(tables: Mapping[str, Any], where: str) -> Protocol:
    """Return the protocol of the tables of a card: each value is checked, then all together."""
    try:
        card = _protocol_of(tables)
        _check_together(card)
    except CardError as error:
        raise error.preceded_by(f"{where}: ") from None
    return card


def _refuse(section: str, problem: str) -> NoReturn:
    raise CardError(f"[{section}] {problem}" if section else problem)


def _protocol_of(tables: Mapping[str, Any]) -> Protocol:
    """Return the protocol of the tables, each of whose values is right by itself."""
    version = tables.get("schema")
    # Before all else: another version may have other fields. The head refuses what is no integer.
    if type(version) is int and version != SCHEMA_VERSION:
        raise CardError(
            f"schema = {shorten(version)}; expected {SCHEMA_VERSION}, the version of the card "
            "format that this bioeval reads"
        )
    # The head: what is in no section.
    head = {key: value for key, value in tables.items() if key not in SECTIONS}
    for key, value in head.items():
        if isinstance(value, dict) and key not in HEAD:
            raise CardError(
                f"[{key}] is not a section of a card; expected one of "
                f"{_brackets(SECTIONS)}{_hint(key, SECTIONS)}"
            )
    values = _values("", HEAD, head, None)
    del values["schema"]  # not kept: there is one version
    layout: str = values["layout"]
    # The sections.
    for name, section in SECTIONS.items():
        if name not in tables:
            if section.required:
                raise CardError(f"[{name}] is missing; expected a section: {section.doc}")
            continue
        table = tables[name]
        if not isinstance(table, dict):
            raise CardError(f"{name} = {shorten(table)}; expected a section, [{name}]")
        if layout not in section.layouts:
            legal = " or ".join(f'"{x}"' for x in section.layouts)
            _refuse(name, f'has no meaning with layout = "{layout}"; expected layout = {legal}')
        fields = section.fields()
        values[name] = section(**_values(name, fields, table, layout, section.only_one_of))
    # The sections that there must be beside others.
    for name, needed in _NEEDS.items():
        if name in tables and needed not in tables:
            _refuse(name, f"needs [{needed}], and the card has no such section")
    if tables.keys().isdisjoint(TASKS):
        legal = _brackets(name for name in TASKS if layout in SECTIONS[name].layouts)
        raise CardError(f"the card has no task; expected at least one of {legal}")
    return Protocol(**values)


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
    """Return the value of a field in its Python type, a list as a tuple, if it is accepted."""
    if not field.many:
        return _checked_item(field, value, layout)
    if not isinstance(value, list | tuple):
        _checked_item(field, value, layout)  # only an accepted item is advised to be a list
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
    """Return a value that is no list, or one item of a list: a str, dict, int or float.

    A label may be an integer or a text. A size is a number, and, if its field has a pattern, a text
    such as ``session=1`` or an inline table.
    """
    takes_text = field.kind in ("text", "label") or (field.kind == "size" and field.pattern)
    if isinstance(value, str) and takes_text:
        _check_text(field, value, layout)
        return value
    if field.kind == "text":
        raise _UnexpectedValue
    if isinstance(value, dict) and field.table:
        if set(value) != set(field.table):
            raise _UnexpectedValue
        return {
            key: _checked_item(Field(field.doc, kind=field.table[key]), item, layout)
            for key, item in value.items()
        }
    return _checked_number(field, value)


def _check_text(field: Field, value: str, layout: str | None) -> None:
    if field.choices:
        words = field.words(layout)
        if not any(matches_choice(value, word) for word in words):
            raise _UnexpectedValue(_hint(value, words))
    elif field.pattern and not re.fullmatch(field.pattern, value):
        raise _UnexpectedValue
    elif not value.strip():
        raise _UnexpectedValue(" that is not empty")


def _checked_number(field: Field, value: object) -> float | int:
    """Return a number of a field of kind integer, label, size or number, in its bounds."""
    is_whole = field.kind in ("integer", "label")
    # A bool is an Integral to Python.
    if isinstance(value, bool) or not isinstance(value, Integral if is_whole else Real):
        raise _UnexpectedValue
    number = cast("float", value)
    is_nan = number != number  # math.isnan refuses very large integers
    if is_nan or not field.is_in_bounds(number):
        raise _UnexpectedValue
    if is_whole:
        return int(number)
    if field.kind == "size":
        if 0 < number < 1:
            return number  # a proportion
        if number < 0 or number == float("inf") or number != int(number):
            raise _UnexpectedValue
        return int(number)
    try:
        return float(number)
    except OverflowError:
        raise _UnexpectedValue(", within the range of a float64") from None


def _check_together(card: Protocol) -> None:
    """Refuse values that are right by themselves, but not beside the other values of the card."""
    _check_decision(card)
    _check_partition(card)
    _check_tasks(card)


def _refuse_unused(card: Protocol, section: str, key: str, why: str) -> NoReturn:
    value = shorten(card.sections[section][key])
    _refuse(section, f"{key} = {value} has no meaning {why}; expected to be left out")


def _check_decision(card: Protocol) -> None:
    """Check that the rule of a threshold has its number, and none of another rule."""
    decision = card.decision
    if decision is None:
        return
    rule = decision.rule
    for key, field in decision.fields().items():
        if field.only_if is None:
            continue
        _, rule_of_field = field.only_if  # such as ("rule", "far") of the field `far`
        if rule == rule_of_field and decision[key] is None:
            _refuse("decision", f'rule = "{rule}" needs {key}; it is missing')
        if rule != rule_of_field and decision[key] is not None:
            _refuse_unused(card, "decision", key, f'with rule = "{rule}"')
    if decision.cost is not None and len(decision.cost) != 3:
        count = len(decision.cost)
        _refuse("decision", f"cost holds {count} numbers; expected 3: prior, c_miss, c_fa")


def _check_partition(card: Protocol) -> None:
    """Check that the division of the data has what it needs, and that each field has an effect.

    All kinds of partition are called folds here, experiments too.
    """
    partition, sections = card.partition, card.sections
    if partition is None:
        return
    rule = card.section("decision").rule  # the default rule where the card has no such section
    # A field without effect may only have its default: another value would be a mistake.
    without_effect = [("partition", key, f'with by = "{partition.by}"') for key in partition.unused]
    for name, keys in _NOT_IN_FOLDS.items():
        if name in sections:
            without_effect += [(name, key, "in folds") for key in keys]
    for name, key, why in without_effect:
        default = sections[name].fields()[key].default_for(card.layout)
        if sections[name][key] not in (None, default):
            _refuse_unused(card, name, key, why)
    # The folds of pairs come with the scores; those of a matrix are a column of its metadata.
    if partition.by == "given-folds" and card.layout in SEARCHABLE and not partition.column:
        _refuse(
            "partition",
            'by = "given-folds" needs column, the metadata column that holds the fold of each '
            "template",
        )
    if partition.by == "experiment":
        _check_experiment(card, partition, rule)
    if partition.by == "gallery-folds" and rule != "none":
        _refuse(
            "partition",
            'by = "gallery-folds" has no part on which a threshold is chosen; expected '
            '[decision] rule = "none"',
        )
    for name, key, word in _NO_WORDS_IN_FOLDS:
        if name in sections and sections[name][key] == word:
            _refuse_unused(card, name, key, "in folds")
    for name in ("reid", "gom"):
        if name in sections:
            _refuse(name, "is not evaluated in folds; expected no [partition] with it")


def _check_experiment(card: Protocol, partition: Partition, rule: str) -> None:
    """Check the parts of an experiment: training, validation, gallery, probes."""
    for name in ("unenrolled", "enrolled", "probe_templates"):
        if partition[name] and partition.gallery_templates is None:
            _refuse(
                "partition",
                f"{name} = {shorten(partition[name])} needs gallery_templates, the "
                "templates that the enrolled subjects have in the gallery",
            )
    by_sample = partition.unit == "sample"
    trains = partition.train or partition.validation
    if partition.unseen and not by_sample:
        _refuse_unused(card, "partition", "unseen", 'without unit = "sample"')
    if by_sample and not trains:
        _refuse("partition", 'unit = "sample" needs train or validation, the parts that it divides')
    if partition.enrolled and partition.unenrolled:  # each is the rest of the other
        _refuse_unused(card, "partition", "unenrolled", "beside enrolled")
    has_thresholds = card.verification is not None or card.open_set is not None
    if has_thresholds and rule not in ("fixed", "none") and not trains:
        _refuse(
            "partition",
            "has neither train nor validation, the part on which a threshold is chosen by "
            f'rule = "{rule}"; expected one of them, or rule = "fixed" or "none"',
        )


def _check_tasks(card: Protocol) -> None:
    """Check the tasks beside each other."""
    verification = card.section("verification")
    others = [name for name in card.tasks if name != "verification"]
    # Other tasks and fused templates take every comparison of the matrix.
    if verification.pairs != "ordered" and (others or verification.templates != ("single",)):
        found = f"; found {_brackets(others)}" if others else ""
        _refuse(
            "verification",
            f"pairs = {shorten(verification.pairs)} leaves comparisons out; expected templates = "
            f'["single"] beside it and no other task{found}',
        )
    if card.reid is not None and card.gom is not None:
        for key in Retrieval.fields():  # the fields that both sections have: one search for both
            if card.gom[key] != card.reid[key]:
                _refuse(
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
