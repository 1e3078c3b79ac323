"""Parameter types of options."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

import click

from bioeval.cli.console import note


class Value(click.ParamType):
    """A value that a function reads from text; it raises ValueError where it is not `expected`."""

    def __init__(self, name: str, read: Callable[[str], Any], expected: str):
        self.name, self.read, self.expected = name, read, expected

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self.read(value)
        except ValueError:
            self.fail(f"{value!r}; expected {self.expected}", param, ctx)


def _counts(text: str) -> int | tuple[int, int] | list[int]:
    if "," in text:
        return list(map(int, text.split(",")))
    if "-" in text.strip("-"):
        low, high = text.split("-")
        return int(low), int(high)
    return int(text)


def _entries(text: str) -> tuple[tuple[str, str | None], ...]:
    """Return (key, value) of each entry; a value left out is the key, and ``name=`` is None."""
    entries: list[tuple[str, str | None]] = []
    for entry in re.split(r",(?=\w+=)", text):
        key, equals, value = entry.partition("=")
        is_none = key == "name" and equals and value in ("", "None")
        if not key or (equals and not value and not is_none):
            raise ValueError
        entries.append((key, None if is_none else value or key))
    return tuple(entries)


def _number(text: str) -> float:
    from bioeval.base.arguments import number_in

    return number_in(text)


def _rate(text: str) -> float:
    from bioeval.base.arguments import rate_in

    return rate_in(text)


def _error_rate(text: str, name: str = "FAR") -> float:
    """Return a FAR or FRR, with a warning where it may be meant in per cent.

    No system is used at a FAR above 20 %, but some have an FRR of one half.
    """
    from bioeval.counting.thresholds import meant_in_per_cent

    rate = _rate(text)
    above = 0.2 if name == "FAR" else 0.5
    if "%" not in text and (warning := meant_in_per_cent(rate, name, above)):
        note(f"bioeval: warning: {warning}")
    return rate


def _rate_below_1(text: str, name: str = "FAR") -> float:
    # 1 is meant as 1 %, and 0,01 (0 and 1) as 0.01.
    if "%" not in text and _rate(text) >= 1:
        raise ValueError
    return _error_rate(text, name)


def _error_rates(name: str) -> Value:
    return Value(
        "x",
        lambda text: tuple(_rate_below_1(each, name) for each in text.split(",")),
        "a rate (0.01, 1% or 1/100), or several, comma-separated",
    )


def _rule(text: str) -> str:
    name, _, rate = text.partition("=")
    name = name.strip().upper()
    if name in ("FAR", "FRR"):
        with contextlib.suppress(ValueError):  # the rule itself is refused later
            _error_rate(rate, name)
    return text


def _threshold_in_doubt(text: str) -> str:
    with contextlib.suppress(ValueError):
        if 0 < _number(text) <= 0.1:
            note(f"bioeval: warning: {text} is taken as a threshold; for a FAR write far={text}")
    return _rule(text)


def _confidence(text: str) -> float:
    if not 0.5 <= _rate(text) < 1:
        raise ValueError
    return _rate(text)


def _priors(text: str) -> tuple[float, ...]:
    priors = tuple(map(_rate, text.split(",")))
    if len(set(priors)) < len(priors) or not all(0 < prior < 1 for prior in priors):
        raise ValueError
    return priors


def _number_or_rule(text: str) -> float | str:
    try:
        return _number(text)
    except ValueError:
        return _rule(text)


def _size(text: str) -> float | int:
    is_decimal = any(x in text for x in ".eE")
    size = float(text) if is_decimal else int(text)
    if not (0 <= size < 1 or (1 <= size <= 2**53 and size == int(size))):  # nor NaN, infinity
        raise ValueError
    if 0 < size < 1:
        return size
    return int(size)


def _gallery(text: str) -> float | int | str:
    column, _, value = text.partition("=")
    if column and value:
        return text
    return _size(text)


def at_least(smallest: int) -> Value:
    """Return the type of a whole number that is not smaller."""

    def read(text: str) -> int:
        if int(text) < smallest:
            raise ValueError
        return int(text)

    return Value("n", read, f"a whole number from {smallest} up")


def joined_lists(
    ctx: click.Context, param: click.Parameter, lists: tuple[tuple[Any, ...], ...]
) -> tuple[Any, ...] | None:
    """Return the values of an option that is given several times, each value once."""
    values = dict.fromkeys(value for values in lists for value in values)
    return tuple(values) or None


def joined_entries(
    ctx: click.Context, param: click.Parameter, given: tuple[tuple[tuple[str, Any], ...], ...]
) -> dict[str, Any]:
    """Return the entries of a mapping, which may be given in several options.

    Of ``--columns``, the value ``None`` says that there is no such column.
    """
    entries = [entry for several in given for entry in several]
    keys = [key for key, _ in entries]
    for key in keys:
        if keys.count(key) > 1:
            raise click.BadParameter(f"{key!r} is given twice")
    if param.name == "columns":
        return {key: None if value == "None" else value for key, value in entries}
    return dict(entries)


NUMBER = Value("x", _number, "a number")
SCORE = Value("t", _number, "a number (bioeval threshold chooses one by a rule, such as --far 1%)")
NUMBERS = Value(
    "x", lambda text: tuple(map(_number, text.split(","))), "a number, or several, comma-separated"
)
FARS = _error_rates("FAR")
FRRS = _error_rates("FRR")
RATE = Value("x", _rate_below_1, "a rate (0.01, 1% or 1/100)")
FAILED = Value("x", _number, "a number such as -1; a word for a failure has to be a blank cell")
CONFIDENCE = Value("p", _confidence, "a number from 0.5 to below 1 (0.95 or 95%)")
WHOLE_NUMBERS = Value(
    "n,n", lambda text: list(map(int, text.split(","))), "comma-separated whole numbers (10,100)"
)
COUNTS = Value("n", _counts, "a whole number (5), a range (2-8) or a list (3,5,4)")
SIZE = Value("n", _size, "a proportion (0.3), or a whole number (20)")
GALLERY = Value(
    "n", _gallery, "a whole number (2), a proportion (0.5), or COLUMN=VALUE (session=1)"
)
THRESHOLD = Value("t|rule", _number_or_rule, "a threshold, or a rule such as eer or far=0.001")
# Where most users give a rule: a small number is taken as a threshold, with a warning.
TARGET = Value("t|rule", _threshold_in_doubt, "a threshold, or a rule such as eer or far=0.001")
NAMES = Value("name,name", lambda text: tuple(text.split(",")), "names, comma-separated")
PRIORS = Value("p,p", _priors, "different numbers between 0 and 1, comma-separated")
ENTRIES = Value("key=value", _entries, "KEY=VALUE, or several, comma-separated")
