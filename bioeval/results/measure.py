"""Numbers of scores that systems are compared by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base.arguments import require_text
from bioeval.base.errors import DataError, received
from bioeval.base.scalars import Scalar


@dataclass(frozen=True)
class Measure:
    """A number of scores, such as Cllr, that systems are compared by.

    Its value without each of some groups of people says how sure it is: it is computed anew for
    each of them. A measure of FAR and FRR is one for :func:`bioeval.scalar`: it costs less.

    Parameters
    ----------
    name : str
        Of the measure in results.
    function : callable
        ``function(scores)``, a number; it is called with all scores and with those without each
        group of people.
    label : str, optional
        In tables; `name` by default.
    larger_is_better : bool
    percent : bool
        Whether it is a proportion from 0 to 1 that tables show in per cent.
    decimals : int
        In tables, unless in per cent.
    meaning : str, optional
        What it is, in words.
    of_prior : bool
        Whether the function takes the prior of a genuine attempt beside the scores.

    Examples
    --------
    >>> import bioeval as be
    >>> apart = be.Measure("d_prime", lambda scores: be.verification(scores).d_prime.item(),
    ...     label="d'", larger_is_better=True)
    >>> systems = {f"spread {x}": be.simulate(30, 3, within=x) for x in (0.4, 0.5, 0.6)}
    >>> ranking = be.compare(systems, measures=["eer", apart])
    >>> ranking["measure"].values.tolist()
    ['EER', "d'"]
    """

    name: str
    function: Callable[..., float]
    label: str = ""
    larger_is_better: bool = False
    percent: bool = False
    decimals: int = 3
    meaning: str = ""
    of_prior: bool = False

    def of(self, scores: Any, prior: float) -> float:
        """Return the number of some scores, at a prior where it is of one; NaN of infinity."""
        value = self.function(scores, prior) if self.of_prior else self.function(scores)
        try:
            one = np.ndim(value) == 0 and not isinstance(value, str | bytes)
            number = float(value) if one else None
        except (TypeError, ValueError):
            number = None
        if number is None:
            raise DataError(f"the measure {self.name} is {received(value)}; expected a number")
        return number if np.isfinite(number) else np.nan

    @property
    def scalar(self) -> Scalar:
        """The number of the measure."""
        label = (self.label or self.name).replace("{", "{{").replace("}", "}}")
        if self.of_prior:
            label = label.replace("{{prior}}", "{prior}")
        return Scalar(
            self.meaning or self.name,
            name=require_text("name", self.name),
            label=label,
            kind="rate" if self.percent else "number",
            decimals="genuine" if self.percent else self.decimals,
            bounds=(0.0, 1.0) if self.percent else (-np.inf, np.inf),
            larger_is_better=self.larger_is_better,
            results=("comparison",),
            jackknife="alone",
        )
