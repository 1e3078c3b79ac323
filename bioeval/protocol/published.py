"""A published number, and whether a value agrees with its digits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from bioeval.base.arguments import require_integer
from bioeval.base.errors import Argument, DataError, require_choice

#: Two values are equal within this.
EQUAL = 1e-12


@dataclass(frozen=True)
class Published:
    """A number as it is printed, and the fractions that it may be, each with its last digit."""

    text: str
    fractions: tuple[tuple[Fraction, Fraction], ...]

    @classmethod
    def parse(cls, number: Any, digits: Any, unit: Any) -> Published:
        """Read a number as printed: a percentage above 1, else of either unit unless given."""
        if unit is not None:
            require_choice("unit", unit, ("percent", "fraction"))
        if isinstance(number, float) and digits is None:
            raise DataError(
                f"{Argument('published')} is {number!r} without its printed digits; give it as "
                f'text, "{number}", or give {Argument("digits")}'
            )
        text = number if isinstance(number, str) else repr(number)
        try:
            value = Decimal(text.strip().removesuffix("%").strip())
            exponent = value.as_tuple().exponent
            if not isinstance(exponent, int) or not 0 <= value <= 100:
                raise InvalidOperation
        except InvalidOperation:
            raise DataError(
                f"{Argument('published')} is {number!r}; expected a number from 0 to 1, or a "
                "percentage from 0 to 100"
            ) from None
        if unit == "fraction" and value > 1:
            raise DataError(f"{Argument('published')} is {text}, above 1; expected a fraction")
        decimals = max(0, -exponent) if digits is None else require_integer("digits", digits, low=0)
        last = Fraction(1, 10**decimals)
        either = (Fraction(value) / 100, last / 100), (Fraction(value), last)
        known = "percent" if "%" in text or value > 1 else unit
        return cls(text, {"percent": either[:1], "fraction": either[1:], None: either}[known])

    def agreement(self, value: float) -> tuple[float, str]:
        """Return the distance from a value, and ``"rounded"``, ``"cut"`` or nothing."""
        if math.isnan(value):
            return math.nan, ""
        near = min(abs(float(Fraction(value) - x)) for x, _ in self.fractions)
        for word, low, high in (("rounded", -0.5, 0.5), ("cut", 0.0, 1.0)):
            for published, last in self.fractions:
                over, slack = float((Fraction(value) - published) / last), EQUAL / float(last)
                top = high + slack if word == "rounded" else high - slack
                if low - slack <= over <= top:
                    return near, word
        return near, ""
