"""How numbers are written in a table."""

from __future__ import annotations

import math

from bioeval.views.tables.row import Row

NOT_DEFINED = "n/a"
NOT_KNOWN = "-"


def fraction_digits(row: Row) -> int:
    """Return the number of digits behind the point of a per cent."""
    return row.decimals if row.unit == "%" and row.is_defined else 0


def value(row: Row, fraction: int) -> str:
    """Return the value, with blanks behind so that points stand below each other.

    What is not quite 0 or 1 is never written as 0 or 1.
    """
    if not row.is_defined:
        return NOT_DEFINED
    scale, unit = (100, " %") if row.unit == "%" else (1, "")
    number = _rounded(scale * row.value, row.decimals, scale if row.is_proportion else None)
    return number + unit + " " * (fraction + 2 - row.decimals - len(unit))


def ends(row: Row) -> str:
    """Return the interval of a value as text: ``[1.01, 1.50]``; nothing where there is none."""
    if row.ends is None or not row.is_defined:
        return ""
    scale = 100 if row.unit == "%" else 1
    low, high = (f"{scale * x:.{row.decimals}f}" for x in row.ends)
    return f"[{low}, {high}]"


def _rounded(value: float, decimals: int, whole: float | None) -> str:
    """Return a number; near 0 or near `whole`, never rounded to them."""
    number, least = float(f"{value:.{decimals}f}"), 10.0**-decimals
    if whole is not None and number == 0 and value > 0:
        return f"< {least:.{decimals}f}"
    if whole is not None and number == whole and value < whole:
        return f"> {whole - least:.{decimals}f}"
    return f"{value:.{decimals}f}"


def fvc_name(target: float) -> str:
    """Return the name that FVC gave to FNMR at a FMR target: 0.01 is `` (FMR100)``."""
    power = round(-math.log10(target)) if target > 0 else 0
    return f" (FMR{10**power})" if power in (2, 3) and math.isclose(target, 10.0**-power) else ""


def threshold(value: float | None) -> str:
    """Return a threshold with six digits; whole numbers whole."""
    if value is None:
        return ""
    if math.isnan(value):
        return NOT_DEFINED
    whole = math.isfinite(value) and value == int(value) and abs(value) < 1e15
    return str(int(value)) if whole else f"{value:.6g}"


def score(value: float) -> str:
    """Return a score with six digits."""
    return "NaN" if math.isnan(value) else threshold(float(value))


def count(value: int | None) -> str:
    """Return a count with its thousands set apart."""
    return "" if value is None else f"{value:,}"


def known(value: int) -> str:
    """Return a count as text; 0 means unknown."""
    return count(value) if value else NOT_KNOWN
