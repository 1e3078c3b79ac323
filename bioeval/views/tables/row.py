"""Rows of a result table and the attempts that they are over."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Over:
    """Sample size of a result: attempts of each class, None for a class that it does not use.

    `subjects` is the number of subjects whose probes made these attempts; 0 if unknown.
    """

    genuine: int | None = None
    impostor: int | None = None
    subjects: int = 0

    @property
    def lacking(self) -> str:
        """The classes without an attempt, in words."""
        classes = {"genuine": self.genuine, "impostor": self.impostor}
        none = [name for name, count in classes.items() if count == 0]
        return f"0 {' and 0 '.join(none)} attempts" if none else ""


@dataclass(frozen=True)
class Classes:
    """Sample sizes of a task: both classes of attempts, and each by itself."""

    both: Over
    genuine: Over
    impostor: Over


@dataclass(frozen=True)
class Row:
    """One result: its name, its value and its sample size."""

    measure: str
    value: float
    over: Over
    threshold: float | None = None
    unit: str = "%"
    decimals: int = 2
    undefined: str = ""
    is_proportion: bool = True
    ends: tuple[float, float] | None = None

    @property
    def is_defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    @property
    def why_not(self) -> str:
        """Why there is no value."""
        return self.over.lacking or self.undefined or "not defined"


@dataclass(frozen=True)
class Section:
    """The rows of one task."""

    title: str
    details: str
    rows: list[Row]
    notes: list[str] = field(default_factory=list)
