"""Types of the values of options."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click


class Numbers(click.ParamType):
    """One number, or several, comma-separated."""

    name = "x"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, ...]:
        """Return the numbers."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(float(word) for word in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not a number, or several, comma-separated", param, ctx)


class Whole(click.ParamType):
    """A whole number that is not below the least."""

    name = "n"

    def __init__(self, least: int):
        self.least = least

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Return the number."""
        try:
            number = int(value)
        except ValueError:
            number = self.least - 1
        if number < self.least:
            self.fail(f"{value!r} is not a whole number from {self.least} up", param, ctx)
        return number


class Counts(click.ParamType):
    """A whole number (5), a range from which to draw (2-8), or a list (3,5,4)."""

    name = "n"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return an int, a tuple of two, or a list."""
        text = str(value)
        try:
            if "," in text:
                return [int(word) for word in text.split(",")]
            if "-" in text.strip("-"):
                low, high = text.split("-")
                return int(low), int(high)
            return int(text)
        except ValueError:
            self.fail(
                f"{text!r} is not a whole number (5), a range (2-8) or a list (3,5,4)", param, ctx
            )


class Amount(click.ParamType):
    """A whole number (5), or a fraction (0.2)."""

    name = "n"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | float:
        """Return an int or a float."""
        for number in (int, float):
            try:
                return number(value)
            except ValueError:
                continue
        self.fail(f"{value!r} is not a whole number (5) or a fraction (0.2)", param, ctx)


class WholeNumbers(click.ParamType):
    """Whole numbers, comma-separated."""

    name = "n,n"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[int]:
        """Return the numbers."""
        try:
            return [int(word) for word in str(value).split(",")]
        except ValueError:
            self.fail(f"{value!r} is not comma-separated whole numbers (10,100)", param, ctx)


class Frames(click.ParamType):
    """A number of frames, for all or for one sequence."""

    name = "n"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, int]:
        """Return the sequence, empty for all, and the number."""
        if isinstance(value, tuple):
            return value
        name, _, number = str(value).rpartition("=")
        if not re.fullmatch("[0-9]{1,18}", number) or int(number) < 1:
            self.fail(f"{value!r}; expected a whole number from 1 up, or NAME=N", param, ctx)
        return name, int(number)


class Metadata(click.ParamType):
    """The name of a metadata column and the array that holds it, as NAME=KEY."""

    name = "name=key"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        """Return the name and the key."""
        if isinstance(value, tuple):
            return value
        name, equals, key = str(value).partition("=")
        if not (name and equals and key):
            self.fail(f"{value!r}; expected name=KEY", param, ctx)
        return name, key


class Thresholds(click.ParamType):
    """A number of thresholds (500), the thresholds (0.4,0.5), or a file of them."""

    name = "N|FILE|T,T"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the number, a list, or the array of a file."""
        if not isinstance(value, str):
            return value
        try:
            number = int(value)
        except ValueError:
            pass
        else:
            if number < 2:
                self.fail(
                    f"{value} is read as the number of thresholds, and there must be 2 or more; a "
                    f"single threshold is written with a point: {number}.0",
                    param,
                    ctx,
                )
            return number
        path = Path(value)
        if path.exists():
            return _threshold_file(path)
        try:
            return [float(word) for word in value.split(",")]
        except ValueError:
            self.fail(
                f"{value!r} is no file; expected a number of thresholds (500), comma-separated "
                "thresholds (0.4,0.5), or a file with one on each line",
                param,
                ctx,
            )


def card(value: str) -> str:
    """Return the name or path of a protocol card, unless a folder or another file has that name."""
    from bioeval.base.errors import CardError
    from bioeval.protocol import available

    path = Path(value)
    if value == "auto" or value.endswith(".toml") or path.name != value or value in available():
        return value
    expected = f"expected the name of a protocol ({', '.join(available())}) or the path of a card"
    if path.is_dir():
        raise CardError(f"{value} is a folder; {expected} (.toml)")
    if path.exists():
        raise CardError(f"{value} is a file whose name does not end in .toml; {expected}")
    return value


def _threshold_file(path: Path) -> Any:
    """Read thresholds from a .npy file, or from text with one on each line."""
    from bioeval.base.errors import DataError
    from bioeval.scores.formats.files import content, existing_file

    existing_file(path, "a file of thresholds")
    if content(path) == "npy":
        import numpy as np

        try:
            return np.load(path, allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise DataError(f"{path}: is damaged ({error}); expected an array") from None
    numbers = []
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not text; expected one threshold on each line") from None
    for number, line in enumerate(lines, 1):
        try:
            numbers += [float(line)] if line.strip() else []
        except ValueError:
            raise DataError(f"{path}: line {number}: {line!r}; expected one number") from None
    if not numbers:
        raise DataError(f"{path}: holds nothing but blank lines; expected one threshold on each")
    return numbers
