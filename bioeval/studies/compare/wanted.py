"""The measures that a comparison is asked for: ``measures=["eer", "min_dcf=0.01"]``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bioeval import DataError
from bioeval.base import (
    QUERY_MEANS,
    Argument,
    Scalar,
    Words,
    received,
    require_choice,
    require_text,
    scalar_registry,
)
from bioeval.base.plugins import offered_value
from bioeval.base.studies import manifests
from bioeval.stats import curve_measures

#: Rates at a threshold that was given.
AT_THRESHOLD = {
    f"{name}_at_threshold": replace(
        scalar_registry()[name],
        name=f"{name}_at_threshold",
        label=f"{{{name}}} at threshold {{threshold}}",
        results=("task", "comparison"),
        jackknife="alone",
    )
    for name in ("frr", "far")
}

#: CMS at a rank, as the recognition rate is at rank 1.
CMS_AT_RANK = replace(
    scalar_registry()["cms"],
    label="{cms}({rank})",
    results=("task", "comparison"),
    jackknife="alone",
)

#: Measures of identification.
IDENTIFICATION = ("recognition_rate", "cms", "dir_at_far")

#: The number behind ``=`` of each measure that has one.
_NUMBERS = {
    "frr_at_far": "a FAR target",
    "dir_at_far": "a FAR target",
    "far_at_frr": "a FRR target",
    "min_dcf": "a prior",
    "cms": "a rank",
    "cmc": "a rank",
    **dict.fromkeys(AT_THRESHOLD, "a threshold"),
}

# The measures that have no value without a number; others have the targets of the call.
_NEEDED = {"min_dcf": 0.01, "cms": 5, "cmc": 5, **dict.fromkeys(AT_THRESHOLD, 0.5)}


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

    Examples
    --------
    >>> import bioeval as be
    >>> spread = be.Measure("spread", lambda scores: float(be.verification(scores).d_prime))
    >>> systems = {f"noise {x}": be.simulate(30, 3, noise=x) for x in (0.5, 0.7, 0.9)}
    >>> ranking = be.compare(systems, measures=["eer", spread])
    >>> ranking["measure"].values.tolist()
    ['EER', 'spread']
    """

    name: str
    function: Callable[[Any], float]
    label: str = ""
    larger_is_better: bool = False
    percent: bool = False
    decimals: int = 3
    meaning: str = ""

    @property
    def scalar(self) -> Scalar:
        """The number of the measure."""
        return Scalar(
            self.meaning or self.name,
            name=require_text("name", self.name),
            label=self.label or self.name,
            kind="rate" if self.percent else "number",
            decimals="genuine" if self.percent else self.decimals,
            bounds=(0.0, 1.0) if self.percent else (-np.inf, np.inf),
            larger_is_better=self.larger_is_better,
            results=("comparison",),
            jackknife="alone",
        )


@dataclass(frozen=True)
class Wanted:
    """One measure that is asked for, by name; `at` is its target, prior, threshold or rank."""

    name: str
    at: float | None = None
    function: Measure | None = None

    @classmethod
    def parse(cls, measure: Any, known: Iterable[str]) -> Wanted:
        """Read ``"frr_at_far=0.01"``, or take a :class:`Measure`, or a function."""
        if isinstance(measure, Measure):
            return cls(measure.name, function=measure)
        if callable(measure):
            name = getattr(measure, "__name__", "measure")
            return cls(name, function=Measure(name, measure))
        text = require_text("measures", measure)
        name, equals, number = text.partition("=")
        require_choice(Words("a measure of ", Argument("measures")), name, list(known))
        if not equals:
            if name in _NEEDED:
                raise DataError(
                    Argument("measures"),
                    f" has {name}, which needs {_NUMBERS[name]}; expected as in "
                    f"{name}={_NEEDED[name]}",
                )
            return cls(name)
        try:
            at = float(number)
        except ValueError:
            at = np.nan
        if name not in _NUMBERS or np.isnan(at):
            wanted = f"{_NUMBERS[name]} behind =" if name in _NUMBERS else f"{name} alone"
            raise DataError(Argument("measures"), f" has {received(text)}; expected {wanted}")
        if _NUMBERS[name] == "a rank" and (at != int(at) or at < 1):
            raise DataError(Argument("measures"), f" has {received(text)}; expected a rank from 1")
        inside = 0 < at < 1 if _NUMBERS[name] == "a prior" else 0 <= at <= 1
        if _NUMBERS[name] not in ("a rank", "a threshold") and not inside:
            raise DataError(
                Argument("measures"), f" has {received(text)}; expected a proportion behind ="
            )
        return cls(name, at)


@dataclass(frozen=True)
class WantedMeasures:
    """All measures that a comparison is asked for; `chosen` is None for the usual ones."""

    chosen: tuple[Wanted, ...] | None
    far_targets: np.ndarray
    frr_targets: np.ndarray

    @classmethod
    def parse(
        cls,
        measures: Sequence[Any] | str | None,
        far_targets: np.ndarray,
        frr_targets: np.ndarray,
        *,
        retrieval: bool,
        functions: Sequence[Measure] = (),
    ) -> WantedMeasures:
        """Read the measures; those of re-identification have others than verification has.

        `functions` are the numbers of scores that are known by name.
        """
        if measures is None:
            return cls(None, far_targets, frr_targets)
        if isinstance(measures, str) or callable(measures) or isinstance(measures, Measure):
            measures = [measures]
        by_name = {x.name: x for x in functions}
        known = [*by_name]
        if retrieval:
            known += ["cmc", *QUERY_MEANS]
        else:
            known += [x.name for x in curve_measures()]
            known += [*AT_THRESHOLD, *IDENTIFICATION]
        chosen = []
        for measure in measures:
            wanted = Wanted.parse(measure, known)
            if wanted.function is None and wanted.name in by_name:
                wanted = replace(wanted, function=by_name[wanted.name])
            chosen.append(wanted)
        if not chosen:
            raise DataError(Argument("measures"), " is empty; expected names such as eer")

        def targets(given: np.ndarray, *names: str) -> np.ndarray:
            """Return the targets that are asked for, or those given where none is."""
            asked = [x for x in chosen if x.name in names]
            own = [x.at for x in asked if x.at is not None]
            if asked and len(own) == len(asked):
                return np.unique(np.array(own, dtype=np.float64))
            return np.union1d(given, np.array(own, dtype=np.float64))

        return cls(
            tuple(chosen),
            targets(far_targets, "frr_at_far", "dir_at_far"),
            targets(frr_targets, "far_at_frr"),
        )

    def asks(self, *names: str) -> bool:
        """Whether any of these measures is asked for by name."""
        return self.chosen is not None and any(x.name in names for x in self.chosen)

    def numbers(self, name: str) -> list[float]:
        """Return the numbers that a measure is asked for at, in order."""
        if self.chosen is None:
            return []
        return [x.at for x in self.chosen if x.name == name and x.at is not None]

    @property
    def verification(self) -> bool:
        """Whether measures of verification are asked for."""
        names = (*(x.name for x in curve_measures()), *AT_THRESHOLD)
        return self.chosen is None or self.asks(*names)

    @property
    def identification(self) -> bool:
        """Whether measures of identification are asked for."""
        return self.chosen is None or self.asks(*IDENTIFICATION)

    @property
    def functions(self) -> list[Measure]:
        """The numbers of scores that are asked for."""
        return [x.function for x in self.chosen or () if x.function is not None]

    @property
    def ranks(self) -> list[int]:
        """Ranks of CMS that are asked for."""
        return sorted({int(x) for x in self.numbers("cms")})

    def place_of(self, name: str, at: float) -> int:
        """Return the place of a measure among those asked for, -1 where it is not."""
        if self.chosen is None:
            return 0
        for place, wanted in enumerate(self.chosen):
            if wanted.name == name and (wanted.at is None or wanted.at == at or np.isnan(at)):
                return place
        return -1


def measures_of_scores() -> list[Measure]:
    """Return the numbers of scores that studies declare, which are asked for by their names."""
    measures: list[Measure] = []
    for study in manifests().values():
        if study.measures:
            measures += offered_value(study.measures)
    return measures
