"""What is written on the command line, as what it means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


class Numbers(click.ParamType):
    """One number, or several parted by commas."""

    name = "x"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, ...]:
        """Return the numbers."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(float(word) for word in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not a number, or several parted by commas", param, ctx)


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


def metadata(pairs: tuple[str, ...]) -> dict[str, str]:
    """Return ``name=KEY`` pairs as a mapping."""
    columns = {}
    for pair in pairs:
        name, equals, key = pair.partition("=")
        if not (name and equals and key):
            raise click.BadParameter(f"{pair!r}; expected name=KEY", param_hint="'--meta'")
        if name in columns:
            raise click.BadParameter(f"{name!r} is given twice", param_hint="'--meta'")
        columns[name] = key
    return columns


def labels(side: str, value: str | None, data: str) -> dict[str, str]:
    """Return the option of :func:`bioeval.load` that a KEY or a file of labels is.

    Only .npz and .mat files have arrays with names; everything else has its labels in files.
    """
    if value is None:
        return {}
    in_file = Path(data).suffix.lower() not in (".npy", ".csv", ".txt")
    is_key = in_file and not value.lower().endswith((".csv", ".txt", ".xml"))
    return {f"{side}_key" if is_key else side: value}


def interval_options(
    interval: str | None, confidence: float | None, replicates: int | None, seed: int | None
) -> dict[str, Any]:
    """Return the options of intervals that were given; they mean nothing without a method."""
    given = {"confidence": confidence, "replicates": replicates, "random_state": seed}
    chosen = {name: value for name, value in given.items() if value is not None}
    if interval is None and chosen:
        name = "seed" if "random_state" in chosen else next(iter(chosen))
        raise click.UsageError(f"--{name} needs --interval METHOD, such as subject-bootstrap")
    return {"interval": interval, **chosen}


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


def thresholds(value: str | None) -> Any:
    """Return a number of thresholds, a list of them, or what a file of them holds."""
    if value is None:
        return None
    try:
        number = int(value)
    except ValueError:
        pass
    else:
        if number < 2:
            raise click.BadParameter(
                f"{value} is read as how many, and there must be 2 or more; a single threshold is "
                f"written with a point: {number}.0",
                param_hint="'--thresholds'",
            )
        return number
    path = Path(value)
    if path.exists():
        return _threshold_file(path)
    try:
        return [float(word) for word in value.split(",")]
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is no file; expected a number of thresholds (500), thresholds parted by "
            "commas (0.4,0.5), or a file with one on each line",
            param_hint="'--thresholds'",
        ) from None


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
