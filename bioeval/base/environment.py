"""Variables of the environment that have to be numbers, checked before libraries read them."""

from __future__ import annotations

import os

from bioeval.base.errors import DataError

# The last second of the year 9999, the latest that Python can write as a date.
_LATEST = 253_402_300_799

# The variables, each with its least and its largest value.
_NUMBERS = {"NUMBA_NUM_THREADS": (1, 2**16), "SOURCE_DATE_EPOCH": (0, _LATEST)}


def require_usable() -> None:
    """Raise :class:`DataError` if a variable that has to be a whole number is something else."""
    for name in _NUMBERS:
        _number(name)


def source_date() -> int | None:
    """Return the seconds since 1970 that stand for the date of written files; None if unset."""
    return _number("SOURCE_DATE_EPOCH")


def _number(name: str) -> int | None:
    text = os.environ.get(name)
    if text is None:
        return None
    least, largest = _NUMBERS[name]
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not least <= number <= largest:
        raise DataError(
            f"the environment variable {name} is {text!r}; expected a whole number from {least} to "
            f"{largest}, or no such variable"
        )
    return number
