"""Check the values of a card against the table, and say all that is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bioeval.base.errors import CardError, nearest_name
from bioeval.protocol.fields import Field, Section, matches_choice
from bioeval.protocol.schema import LAYOUTS, SCHEMA_VERSION, SEARCHABLE, SECTIONS
from bioeval.protocol.toml import Place, locate, read, shorten, write_key

Values = dict[str, object]

_TABLES = {name: section for name, section in SECTIONS.items() if name}


def check(text: str, where: str) -> dict[str, Values]:
    """Return the values of each section of a card, with the defaults; "" is the head.

    Raises
    ------
    CardError
        If anything is wrong, with a line for each problem: `where`, its line, what was found and
        what was expected.
    """
    data = read(text, where)
    problems = _Problems(where, locate(text))
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
        if key in _TABLES:
            continue
        if isinstance(value, dict) and key not in SECTIONS[""].fields:
            problems.add((key,), _unknown_section(key))
        else:
            head[key] = value
    values = {"": _check_section("", head, None, problems)}
    for name, section in _TABLES.items():
        if name in data:
            table = _usable_table(name, data[name], layout, problems)
            if table is not None:
                values[name] = _check_section(name, table, layout, problems)
        elif section.required:
            problems.add((), f"[{name}] is missing; expected a section: {section.doc}")
        elif not section.task and not section.optional:
            values[name] = _check_section(name, {}, layout, problems)
    _check_folds(values, data, layout, problems)
    if not any(section.task and name in data for name, section in _TABLES.items()):
        tasks = {name: section for name, section in _TABLES.items() if section.task}
        legal = [name for name, task in tasks.items() if layout is None or layout in task.layouts]
        problems.add((), f"the card has no task; expected at least one of {_brackets(legal)}")
    problems.raise_if_any()
    _check_pairs(values, problems)
    problems.raise_if_any()
    return values


#: Fields of [partition] that mean nothing with a way to divide.
_NOT_BY = {
    "subject-folds": ("test_size", "column"),
    "sample-folds": ("test_size", "column"),
    "dev-eval": ("folds", "column"),
    "given-folds": ("folds", "repeats", "seed", "test_size", "stratify"),
}

#: Fields that ask for what is not done in folds, unless they have their default.
_NOT_IN_FOLDS = {
    "open_set": ("gallery", "max_rank"),
    "closed_set": ("gallery", "max_rank"),
    "thresholds": ("count", "values"),
    "report": ("far_targets", "priors"),
}


def _check_folds(
    values: Mapping[str, Values],
    data: Mapping[str, object],
    layout: str | None,
    problems: _Problems,
) -> None:
    """Check what sections about folds need of each other, and of the tasks."""
    for name in ("threshold", "uncertainty"):
        if name in data and "partition" not in data:
            problems.add(
                (name,),
                f"[{name}] is about folds, but the card has no [partition]; expected both or none",
            )
    rule = values.get("threshold", {})
    for key, word in (("far", "far"), ("value", "fixed"), ("cost", "cost")):
        if rule and rule.get("rule") == word and rule.get(key) is None:
            problems.add(
                ("threshold",), f'[threshold] rule = "{word}" needs {key}, which is missing'
            )
    cost = rule.get("cost")
    if isinstance(cost, tuple) and len(cost) != 3:
        problems.add(
            ("threshold", "cost"),
            f"[threshold] cost holds {len(cost)} numbers; expected 3: prior, c_miss, c_fa",
        )
    for key, word in (("far", "far"), ("value", "fixed"), ("cost", "cost")):
        if rule.get(key) is not None and rule.get("rule") != word:
            _add_unused(problems, "threshold", key, rule, f'with rule = "{rule.get("rule")}"')
    if "partition" in values:
        _check_in_folds(values, layout, problems)


def _check_in_folds(values: Mapping[str, Values], layout: str | None, problems: _Problems) -> None:
    """Refuse what folds would leave undone without a word."""
    given = values["partition"]
    by = str(given.get("by"))
    unused = {"partition": (_NOT_BY.get(by, ()), f'with by = "{by}"')}
    unused |= {name: (keys, "in folds") for name, keys in _NOT_IN_FOLDS.items()}
    for name, (keys, why) in unused.items():
        for key in keys:
            default = SECTIONS[name].fields[key].default_for(layout)
            if key in values.get(name, {}) and values[name][key] not in (default, None):
                _add_unused(problems, name, key, values[name], why)
    if by == "given-folds" and layout in SEARCHABLE and given.get("column") is None:
        problems.add(
            ("partition",),
            '[partition] by = "given-folds" needs column, the metadata column that holds the fold '
            "of each template",
        )
    for name, key, value in (
        ("open_set", "ties", "expected"),
        ("closed_set", "ties", "expected"),
        ("closed_set", "unmated", "raise"),
    ):
        if values.get(name, {}).get(key) == value:
            _add_unused(problems, name, key, values[name], "in folds")
    if values.get("uncertainty", {}).get("interval") == "subject-bootstrap":
        for name in ("open_set", "closed_set"):
            if name in values:
                problems.add(
                    ("uncertainty", "interval"),
                    f'[uncertainty] interval = "subject-bootstrap" is of verification alone, but '
                    f'the card has [{name}]; expected "nadeau-bengio"',
                )
    if "reid" in values:
        problems.add(("reid",), "[reid] is not evaluated in folds; expected no [partition] with it")


def _add_unused(problems: _Problems, name: str, key: str, values: Values, why: str) -> None:
    shown = values[key]
    found = shorten(list(shown) if isinstance(shown, tuple) else shown)
    problems.add(
        (name, key), f"[{name}] {key} = {found} has no meaning {why}; expected to be left out"
    )


def _check_pairs(values: Mapping[str, Values], problems: _Problems) -> None:
    """Find a rule of pairs beside what needs all comparisons."""
    verification = values.get("verification", {})
    rule = verification.get("pairs") or "ordered"
    others = [name for name in values if _task(name) and name != "verification"]
    templates = verification.get("templates")
    if rule != "ordered" and (others or templates != ("single",)):
        problems.add(
            ("verification", "pairs"),
            f"[verification] pairs = {shorten(rule)}, which leaves comparisons out; expected "
            'templates = ["single"] beside it and no other task'
            f"{f'; found {_brackets(others)}' if others else ''}",
        )


def _task(section: str) -> bool:
    return bool(section) and _TABLES[section].task


class _Problems:
    """What is wrong with a card, each problem with its line."""

    def __init__(self, where: str, lines: Mapping[Place, int]) -> None:
        self.where = where
        self.lines = lines
        self.found: list[tuple[int, str]] = []

    def add(self, place: Place, message: str) -> None:
        while place and place not in self.lines:
            place = place[:-1]  # a field of an inline table, or one that is missing
        self.found.append((self.lines.get(place, 0), message))

    def raise_if_any(self) -> None:
        if self.found:
            ordered = sorted(self.found, key=lambda problem: problem[0])
            lines = [
                f"{self.where}{f', line {line}' if line else ''}: {message}"
                for line, message in ordered
            ]
            raise CardError("\n".join(lines))


class _UnexpectedValue(Exception):
    """A value that a field does not accept: what was expected, and what was found if not all."""

    def __init__(self, expected: str, found: str = "") -> None:
        super().__init__(expected)
        self.found = found


def _with_hint(message: str, hint: str) -> str:
    return f"{message}.{hint}" if hint else message


def _brackets(names: list[str] | Mapping[str, object]) -> str:
    return ", ".join(f"[{name}]" for name in names)


def _unknown_section(name: str) -> str:
    message = f"[{write_key(name)}] is not a section of a card; expected one of "
    return _with_hint(message + _brackets(_TABLES), nearest_name(name, _TABLES))


def _unknown_field(section: str, key: str, value: object) -> str:
    fields = SECTIONS[section].fields
    homes = [name for name, other in SECTIONS.items() if key in other.fields]
    if "" in homes:
        hint = f" {key} belongs above the first section."
    elif homes:
        hint = f" {key} is a field of {' and '.join(f'[{name}]' for name in homes)}."
    else:
        hint = nearest_name(key, fields)
    what = f"a field of [{section}]" if section else "a field above the sections"
    message = f"{_label(section)}{write_key(key)} = {shorten(value)} is not {what}"
    return _with_hint(f"{message}; expected one of {', '.join(fields)}", hint)


def _label(section: str) -> str:
    return f"[{section}] " if section else ""


def _usable_table(
    name: str, value: object, layout: str | None, problems: _Problems
) -> Mapping[str, object] | None:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        problems.add((name,), f"[[{name}]] is a list of sections; expected one, [{name}]")
    elif not isinstance(value, dict):
        problems.add((name,), f"{name} = {shorten(value)}; expected a section, [{name}]")
    elif layout is not None and layout not in _TABLES[name].layouts:
        legal = " or ".join(f'"{other}"' for other in _TABLES[name].layouts)
        problems.add(
            (name,), f'[{name}] has no meaning with layout = "{layout}"; expected layout = {legal}'
        )
    else:
        return value
    return None


def _check_section(
    name: str, data: Mapping[str, object], layout: str | None, problems: _Problems
) -> Values:
    """Return the values of a section with its defaults; what is wrong goes to `problems`."""
    section: Section = SECTIONS[name]
    prefix: Place = (name,) if name else ()
    for key, value in data.items():
        if key not in section.fields:
            problems.add((*prefix, key), _unknown_field(name, key, value))
    given = [key for key in data if key in section.only_one_of]
    if len(given) > 1:
        problems.add(
            (*prefix, given[-1]), f"{_label(name)}holds {' and '.join(given)}; expected only one"
        )
    values: Values = {}
    for key, field in section.fields.items():
        place = (*prefix, key)
        if key not in data:
            if field.required:
                problems.add(
                    place,
                    f"{_label(name)}{key} is missing; expected {field.expected()}: {field.doc}",
                )
            dropped = given and key in section.only_one_of
            values[key] = None if dropped else field.default_for(layout)
        elif layout is not None and layout not in field.layouts:
            problems.add(
                place,
                f"{_label(name)}{key} = {shorten(data[key])}; {key} has no meaning with "
                f'layout = "{layout}": expected to be left out',
            )
        else:
            try:
                values[key] = _check_value(field, data[key], layout)
            except _UnexpectedValue as error:
                found = error.found or f"= {shorten(data[key])}"
                problems.add(place, f"{_label(name)}{key} {found}; {error}")
    return values


def _check_value(field: Field, value: object, layout: str | None) -> object:
    expected = f"expected {field.expected(layout)}"
    if field.words(layout) != field.words():
        expected += f' with layout = "{layout}"'
    if not field.many:
        return _check_item(field, value, layout, expected)
    if not isinstance(value, list):
        _check_item(field, value, layout, expected)
        raise _UnexpectedValue(f"{expected}. Did you mean [{shorten(value)}]?")
    items: list = []
    for item in value:
        try:
            items.append(_check_item(field, item, layout, expected))
        except _UnexpectedValue as error:
            raise _UnexpectedValue(str(error), f"holds {shorten(item)}") from None
    if not items and not field.may_be_empty:
        raise _UnexpectedValue(f"{expected}, at least one")
    if field.distinct and len(set(items)) < len(items):
        twice = next(item for i, item in enumerate(items) if item in items[:i])
        raise _UnexpectedValue(expected, f"holds {shorten(twice)} twice")
    if field.increasing:
        for before, after in zip(items, items[1:], strict=False):
            if not before < after:
                raise _UnexpectedValue(expected, f"holds {shorten(before)} before {shorten(after)}")
    return tuple(items)


def _check_item(field: Field, value: object, layout: str | None, expected: str) -> object:
    if field.kind == "text":
        return _check_text(field, value, layout, expected)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _UnexpectedValue(expected)
    if field.kind == "integer" and not isinstance(value, int):
        raise _UnexpectedValue(expected)
    is_nan = value != value
    if is_nan or (field.interval is not None and value not in field.interval):
        raise _UnexpectedValue(expected)
    if field.kind == "integer":
        return value
    try:
        return float(value)
    except OverflowError:
        raise _UnexpectedValue(f"{expected}, within the range of a float64") from None


def _check_text(field: Field, value: object, layout: str | None, expected: str) -> str:
    if not isinstance(value, str):
        raise _UnexpectedValue(expected)
    if field.choices:
        words = field.words(layout)
        if not any(matches_choice(value, word) for word in words):
            raise _UnexpectedValue(_with_hint(expected, nearest_name(value, words)))
    elif field.pattern and not re.fullmatch(field.pattern, value):
        raise _UnexpectedValue(expected)
    elif not value.strip():
        raise _UnexpectedValue(f"{expected} that is not empty")
    return value
