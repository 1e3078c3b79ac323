"""Read a card: check its values against the typed sections, and report every problem."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, cast

from bioeval.base.errors import CardError, nearest_name
from bioeval.protocol.card import (
    HEAD,
    LAYOUTS,
    SCHEMA_VERSION,
    SECTIONS,
    TASKS,
    Protocol,
    unused_by,
)
from bioeval.protocol.fields import (
    SEARCHABLE,
    Field,
    Place,
    in_lecture_words,
    locate,
    matches_choice,
    read_toml,
    shorten,
    write_toml_key,
)
from bioeval.protocol.tasks import Retrieval

Values = dict[str, Any]

#: The fields of each section by name; "" is the head.
_FIELDS: Mapping[str, Mapping[str, Field]] = {
    "": HEAD,
    **{name: section.fields() for name, section in SECTIONS.items()},
}

#: The sections that a section needs.
_NEEDS = {
    "claims": ("verification",),
    "decision": ("partition",),
    "uncertainty": ("partition",),
}

#: Fields without effect in folds: only their defaults are accepted.
_NOT_IN_FOLDS = {
    "open_set": ("gallery", "max_rank"),
    "closed_set": ("gallery", "max_rank"),
    "curve": ("count", "values"),
}


class Problems:
    """Problems of a card and their lines: `where` names the card and `text` is its text."""

    def __init__(self, where: str, text: str) -> None:
        self.where, self.text = where, text
        self.listed: list[tuple[Place, str]] = []

    def add(self, place: Place, message: str) -> None:
        """Add a problem of a section, or of a field that begins with the name of its section."""
        label = f"[{place[0]}] " if len(place) > 1 else ""
        self.listed.append((place, label + message))

    def add_unused(self, section: str, key: str, value: object, why: str) -> None:
        """Add a value that has no meaning beside the others."""
        self.add(
            (section, key),
            f"{key} = {shorten(value)} has no meaning {why}; expected to be left out",
        )

    def raise_if_any(self) -> None:
        """Raise one :class:`CardError` of all problems, in the order of their lines."""
        if not self.listed:
            return
        lines = locate(self.text)
        ordered = []
        for place, message in self.listed:
            while place and place not in lines:
                place = place[:-1]  # a field of an inline table, or one that is missing
            ordered.append((lines.get(place, 0), message))
        ordered.sort(key=lambda problem: problem[0])
        sentences = []
        for line, message in ordered:
            place_of_line = f", line {line}" if line else ""
            sentences.append(f"{self.where}{place_of_line}: {message}")
        raise CardError("\n".join(sentences))


def read_card(text: str, where: str, path: str | None = None) -> Protocol:
    """Return the protocol of a card's text, with the defaults filled in.

    What is wrong is raised as one error, with a line for each problem: `where`, its line, the value
    and what was expected.
    """
    text = text.replace("\r\n", "\n")
    problems = Problems(where, text)
    values = _check_tables(read_toml(text, where), problems)
    problems.raise_if_any()
    head = values.pop("")
    del head["schema"]
    sections: dict[str, Any] = {name: SECTIONS[name](**fields) for name, fields in values.items()}
    card = Protocol(**head, **sections, path=path)
    mark_checked(card)
    return card


def mark_checked(card: Protocol) -> None:
    """Let a card be used without another check of its values."""
    object.__setattr__(card, "_checked", True)


def check_card(card: Protocol) -> None:
    """Raise :class:`CardError` of all problems of a card that was made in Python."""
    if card._checked:
        return
    tables = card.as_tables()
    if not card.name:
        tables["name"] = "unnamed"  # no result names this card
    problems = Problems(f"protocol {card.name or 'without a name'}", "")
    _check_tables(tables, problems)
    problems.raise_if_any()
    mark_checked(card)


def _check_tables(data: Mapping[str, Any], problems: Problems) -> dict[str, Values]:
    """Return the accepted values of each section, with the defaults; "" is the head."""
    version = data.get("schema")
    if type(version) is int and version != SCHEMA_VERSION:
        problems.add(
            ("schema",),
            f"schema = {shorten(version)}; expected {SCHEMA_VERSION}, the version of the card "
            "format that this bioeval reads",
        )
        problems.raise_if_any()  # the fields of another version would only confuse
    layout = data.get("layout")
    if not isinstance(layout, str) or layout not in LAYOUTS:
        layout = None  # a problem of its own, found with the head

    head = {}
    for key, value in data.items():
        if key in SECTIONS:
            continue
        if isinstance(value, dict) and key not in HEAD:
            hint = nearest_name(key, SECTIONS)
            problems.add(
                (key,),
                f"[{write_toml_key(key)}] is not a section of a card; expected one of "
                f"{_brackets(SECTIONS)}{hint and f'.{hint}'}",
            )
        else:
            head[key] = value
    values = {"": _check_section("", head, None, problems)}
    for name, section in SECTIONS.items():
        if name in data:
            table = _usable_table(name, data[name], layout, problems)
            if table is not None:
                values[name] = _check_section(name, table, layout, problems)
        elif section.required:
            problems.add((), f"[{name}] is missing; expected a section: {section.doc}")
    for name, needed in _NEEDS.items():
        for other in needed:
            if name in data and other not in data:
                problems.add((name,), f"[{name}] needs [{other}], and the card has no such section")
    if data.keys().isdisjoint(TASKS):
        legal = [name for name in TASKS if layout is None or layout in SECTIONS[name].layouts]
        problems.add((), f"the card has no task; expected at least one of {_brackets(legal)}")
    _check_decision(values, problems)
    if "partition" in values:
        _check_in_folds(values, layout, problems)
    _check_pairs(values, problems)
    _check_retrieval(values, problems)
    return values


def _check_pairs(values: Mapping[str, Values], problems: Problems) -> None:
    """Find a rule of pairs in a card whose tasks need all comparisons."""
    task = values.get("verification", {})
    rule = task.get("pairs", "ordered")
    other_tasks = [name for name in values if name in TASKS and name != "verification"]
    if rule != "ordered" and (other_tasks or task.get("templates") != ("single",)):
        problems.add(
            ("verification", "pairs"),
            f'pairs = {shorten(rule)} leaves comparisons out; expected templates = ["single"] '
            "beside it and no other task"
            f"{f'; found {_brackets(other_tasks)}' if other_tasks else ''}",
        )


def _check_retrieval(values: Mapping[str, Values], problems: Problems) -> None:
    """Find rules of [gom] that differ from those of [reid] in the same card."""
    if not {"reid", "gom"} <= set(values):
        return
    for key in Retrieval.fields():
        value, of_reid = values["gom"].get(key), values["reid"].get(key)
        if value is not None and of_reid is not None and value != of_reid:
            problems.add(
                ("gom", key),
                f"{key} = {shorten(value)}; expected {shorten(of_reid)}, as in [reid] of this card",
            )


def _check_decision(values: Mapping[str, Values], problems: Problems) -> None:
    """Find numbers that the rule of the threshold needs, or does not use."""
    rule = values.get("decision", {})
    for key, field in _FIELDS["decision"].items():
        if not rule or field.only_if is None:
            continue
        used = rule.get("rule") == field.only_if[1]
        if used and rule.get(key) is None:
            text = f'[decision] rule = "{rule["rule"]}" needs {key}; it is missing'
            problems.add(("decision",), text)
        elif not used and rule.get(key) is not None:
            problems.add_unused("decision", key, rule[key], f'with rule = "{rule.get("rule")}"')
    cost = rule.get("cost")
    if isinstance(cost, tuple) and len(cost) != 3:
        message = f"cost holds {len(cost)} numbers; expected 3: prior, c_miss, c_fa"
        problems.add(("decision", "cost"), message)


def _check_in_folds(values: Mapping[str, Values], layout: str | None, problems: Problems) -> None:
    """Refuse options that folds would silently ignore."""
    partition = values["partition"]
    by = str(partition.get("by"))
    unused = [("partition", key, f'with by = "{by}"') for key in unused_by(by)]
    unused += [(name, key, "in folds") for name, keys in _NOT_IN_FOLDS.items() for key in keys]
    for name, key, why in unused:
        value = values.get(name, {}).get(key)
        if value not in (None, _FIELDS[name][key].default_for(layout)):
            problems.add_unused(name, key, value, why)
    if by == "given-folds" and layout in SEARCHABLE and partition.get("column") is None:
        problems.add(
            ("partition",),
            '[partition] by = "given-folds" needs column, the metadata column that holds the fold '
            "of each template",
        )
    if by == "experiment":
        _check_experiment(values, problems)
    if by == "gallery-folds" and values.get("decision", {}).get("rule", "eer") != "none":
        problems.add(
            ("partition",),
            '[partition] by = "gallery-folds" has no part on which a threshold is chosen; expected '
            '[decision] rule = "none"',
        )
    for name, key, value in (
        ("open_set", "ties", "expected"),
        ("closed_set", "ties", "expected"),
        ("closed_set", "unmated", "raise"),
    ):
        if values.get(name, {}).get(key) == value:
            problems.add_unused(name, key, value, "in folds")
    if values.get("uncertainty", {}).get("interval") == "subject-bootstrap":
        for name in ("open_set", "closed_set"):
            if name in values:
                problems.add(
                    ("uncertainty", "interval"),
                    f'interval = "subject-bootstrap" is for verification only, but '
                    f'the card has [{name}]; expected "nadeau-bengio"',
                )
    for name in ("reid", "gom"):
        if name in values:
            message = f"[{name}] is not evaluated in folds; expected no [partition] with it"
            problems.add((name,), message)


def _check_experiment(values: Mapping[str, Values], problems: Problems) -> None:
    """Find the parts that an experiment lacks."""
    partition = values["partition"]
    for name in ("unenrolled", "enrolled", "probe_templates"):
        if partition.get(name) and partition.get("gallery_templates") is None:
            problems.add(
                ("partition", name),
                f"{name} = {shorten(partition[name])} needs gallery_templates, the templates that "
                "the enrolled subjects have in the gallery",
            )
    by_sample = partition.get("unit") == "sample"
    if partition.get("unseen") and not by_sample:
        problems.add_unused("partition", "unseen", partition["unseen"], 'without unit = "sample"')
    if partition.get("stratify") and by_sample:
        problems.add_unused("partition", "stratify", partition["stratify"], 'with unit = "sample"')
    parts = partition.get("train") or partition.get("validation")
    for name, needs in (("unit", by_sample), ("stratify", partition.get("stratify"))):
        if needs and not parts:
            problems.add(
                ("partition", name),
                f"{name} = {shorten(partition[name])} needs train or validation, the parts that it "
                "divides",
            )
    if partition.get("enrolled") and partition.get("unenrolled"):
        problems.add_unused("partition", "unenrolled", partition["unenrolled"], "beside enrolled")
    rule = values.get("decision", {}).get("rule", "eer")
    if (
        not parts
        and rule not in ("fixed", "none")
        and not {"verification", "open_set"}.isdisjoint(values)
    ):
        problems.add(
            ("partition",),
            "[partition] has neither train nor validation, the part on which a threshold is "
            f'chosen by rule = "{rule}"; expected one of them, or rule = "fixed" or "none"',
        )


def _brackets(names: Iterable[str]) -> str:
    """Return names of sections as they are written in a card: ``[a], [b]``."""
    return ", ".join(map("[{}]".format, names))


class _UnexpectedValue(Exception):
    """A value that a field does not accept."""

    def __init__(self, more: str = "", part: str = "") -> None:
        super().__init__()
        self.more = more  # what follows the description of what was expected
        self.part = part  # which part of a list it is


def _unknown_field(section: str, key: str, value: object) -> str:
    """Return the problem of a field that no section of this name has, with a hint."""
    fields = _FIELDS[section]
    homes = [name for name, other in _FIELDS.items() if key in other]
    if "" in homes:
        hint = f" {key} belongs above the first section."
    elif homes:
        hint = f" {key} is a field of {' and '.join(map('[{}]'.format, homes))}."
    else:
        hint = nearest_name(key, fields)
    place = f"a field of [{section}]" if section else "a field above the sections"
    return (
        f"{write_toml_key(key)} = {shorten(value)} is not {place}; expected one of "
        f"{', '.join(fields)}{hint and f'.{hint}'}"
    )


def _usable_table(
    name: str, value: object, layout: str | None, problems: Problems
) -> Mapping[str, object] | None:
    """Return the fields of a section; None and a problem if they cannot be read."""
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        problems.add((name,), f"[[{name}]] is a list of sections; expected one, [{name}]")
    elif not isinstance(value, dict):
        problems.add((name,), f"{name} = {shorten(value)}; expected a section, [{name}]")
    elif layout is not None and layout not in SECTIONS[name].layouts:
        legal = " or ".join(map('"{}"'.format, SECTIONS[name].layouts))
        problems.add(
            (name,), f'[{name}] has no meaning with layout = "{layout}"; expected layout = {legal}'
        )
    else:
        return value
    return None


def _check_section(
    name: str, data: Mapping[str, object], layout: str | None, problems: Problems
) -> Values:
    """Return the accepted values of a section, with the defaults; add problems to `problems`."""
    fields = _FIELDS[name]
    only_one_of = SECTIONS[name].only_one_of if name else ()
    prefix = (name,) if name else ()
    for key, value in data.items():
        if key not in fields:
            problems.add((*prefix, key), _unknown_field(name, key, value))
    alternatives = [key for key in data if key in only_one_of]
    if len(alternatives) > 1:
        problems.add(
            (*prefix, alternatives[-1]), f"holds {' and '.join(alternatives)}; expected only one"
        )
    values = {}
    for key, field in fields.items():
        place = (*prefix, key)
        if key not in data:
            if field.required:
                problems.add(
                    place,
                    f"{key} is missing; expected {field.expected()}: {in_lecture_words(field.doc)}",
                )
            values[key] = field.default_for(layout)
            if alternatives and key in only_one_of:
                values[key] = None
        elif layout is not None and layout not in field.layouts:
            problems.add(
                place,
                f"{key} = {shorten(data[key])}; {key} has no meaning with "
                f'layout = "{layout}": expected to be left out',
            )
        else:
            try:
                values[key] = _check_value(field, data[key], layout)
            except _UnexpectedValue as error:
                expected = field.expected(layout)
                if field.words(layout) != field.words():
                    expected += f' with layout = "{layout}"'
                shown = error.part or f"= {shorten(data[key])}"
                problems.add(place, f"{key} {shown}; expected {expected}{error.more}")
    return values


def _check_value(field: Field, value: object, layout: str | None) -> object:
    """Return the value of a field, lists as tuples, or raise :class:`_UnexpectedValue`."""
    if not field.many:
        return _check_item(field, value, layout)
    if not isinstance(value, list | tuple):
        _check_item(field, value, layout)
        raise _UnexpectedValue(f". Did you mean [{shorten(value)}]?")
    items: list[Any] = []
    for item in value:
        try:
            items.append(_check_item(field, item, layout))
        except _UnexpectedValue as error:
            raise _UnexpectedValue(error.more, f"holds {shorten(item)}") from None
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


def _check_item(field: Field, value: object, layout: str | None) -> object:
    """Return a value, or one of a list, or raise :class:`_UnexpectedValue`."""
    if field.kind == "text" or (field.kind == "size" and field.pattern and isinstance(value, str)):
        return _check_text(field, value, layout)
    if isinstance(value, dict) and field.table:
        if set(value) != set(field.table):
            raise _UnexpectedValue
        return {
            key: _check_item(Field(field.doc, kind=field.table[key]), item, layout)
            for key, item in value.items()
        }
    kind = Integral if field.kind == "integer" else Real
    if isinstance(value, bool) or not isinstance(value, kind):
        raise _UnexpectedValue
    number = cast("float", value)
    if number != number or not field.within(number):
        raise _UnexpectedValue
    if field.kind == "integer":
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


def _check_text(field: Field, value: object, layout: str | None) -> str:
    """Return a text, or raise :class:`_UnexpectedValue`."""
    if not isinstance(value, str):
        raise _UnexpectedValue
    if field.choices:
        words = field.words(layout)
        if not any(matches_choice(value, word) for word in words):
            hint = nearest_name(value, words)
            raise _UnexpectedValue(hint and f".{hint}")
    elif field.pattern and not re.fullmatch(field.pattern, value):
        raise _UnexpectedValue
    elif not value.strip():
        raise _UnexpectedValue(" that is not empty")
    return value
