"""What surrounds a run: variables that have to be numbers, and the name of the installation.

On the package index, ``bioeval`` is the package of another project. Its files lie in the same
folder as ours, so that whichever is installed later overwrites the other one's
``bioeval/__init__.py``.
"""

from __future__ import annotations

import os
import sys

from bioeval.base.errors import DataError

# The name in pyproject.toml, for a copy of the source that is not installed.
_NAME = "bioeval-protocols"
_COMMAND = "bioeval.cli:main"


def distribution() -> str:
    """Return the name under which this package is installed."""
    from importlib.metadata import entry_points

    for point in entry_points(group="console_scripts", name="bioeval"):
        if point.value == _COMMAND and point.dist is not None:
            return point.dist.name
    return _NAME


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra, such as ``"formats"``, for a message."""
    return f"python -m pip install '{distribution()}[{extra}]'"


def overwritten() -> str:
    """Say how to mend a package whose first file another package has overwritten; else nothing."""
    from bioeval.base.version import __version__

    if getattr(sys.modules["bioeval"], "__version__", None) == __version__:
        return ""
    return (
        "bioeval/__init__.py is not that of this program: another project's package 'bioeval' "
        "overwrote it, or was removed with it. Uninstall both, and install this one again: python "
        f"-m pip uninstall bioeval {distribution()}, then python -m pip install {distribution()}"
    )


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
