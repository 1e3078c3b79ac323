"""The measures that a comparison is asked for: ``measures=["eer", "min_dcf=0.01"]``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import require_choice, require_text
from bioeval.base.errors import DataError, received
from bioeval.document.scalars import name_of_scalar
from bioeval.results.measure import Measure
from bioeval.results.variables import COORDINATES, QUERY_MEANS, VARIABLES, figure
from bioeval.stats.error_curves import curve_measures

if TYPE_CHECKING:
    from bioeval.studies.compare.results import SystemMeasure

#: Rates at a threshold that was given.
AT_THRESHOLD = {
    f"{name}_at_threshold": replace(
        VARIABLES[name],
        name=f"{name}_at_threshold",
        label=f"{{{name}}} at threshold {{threshold}}",
    )
    for name in ("frr", "far")
}

#: CMS at a rank, as the recognition rate is at rank 1.
CMS_AT_RANK = replace(
    VARIABLES["cms"],
    label="{cms}({rank})",
)

#: Measures of identification.
IDENTIFICATION = ("recognition_rate", "cms", "dir_at_far")

#: What the number behind ``=`` is, of each measure that has one, and one that is needed: others
#: have the targets of the call.
_NUMBERS: dict[str, tuple[str, float | None]] = {
    "frr_at_far": ("a FAR target", None),
    "dir_at_far": ("a FAR target", None),
    "far_at_frr": ("an FRR target", None),
    "min_dcf": ("a prior", 0.01),
    **dict.fromkeys(("cms", "cmc"), ("a rank", 5)),
    **dict.fromkeys(AT_THRESHOLD, ("a threshold", 0.5)),
}


@dataclass(frozen=True)
class Wanted:
    """One measure that is asked for, by name; `at` is its target, prior, threshold or rank."""

    name: str
    at: float | None = None
    function: Measure | None = None

    @classmethod
    def parse(cls, measure: Any, known: Mapping[str, Measure | None]) -> Wanted:
        """Read ``"frr_at_far=0.01"``, or take a :class:`Measure`, or a function.

        `known` are the names, with what computes numbers of scores.
        """
        if isinstance(measure, Measure):
            if measure.name in known:
                raise DataError(
                    f"`measures` has a Measure called {measure.name}, and there is one "
                    "of this name already"
                )
            return cls(measure.name, function=measure)
        if callable(measure):
            name = getattr(measure, "__name__", "")
            name = name if name.isidentifier() else "measure"  # of a lambda
            return cls(name, function=Measure(name, measure))
        text = _as_named(require_text("measures", measure), known)
        name, equals, number = text.partition("=")
        if name in QUERY_MEANS and name not in known:
            raise DataError(
                f"`measures` has {name}, a measure of re-identification; give "
                '`protocol="market1501"` or another card of it'
            )
        if "cmc" in known and (rank := re.fullmatch(r"(?:rank|top|cmc)[-_@]?(\d+)", name)):
            raise DataError(f"`measures` has {name}; expected cmc={rank[1]}")
        require_choice("a measure of `measures`", name, list(known))
        function = known[name]
        noun, needed = _NUMBERS.get(name, ("", None))
        if function is not None and function.of_prior:
            noun, needed = _NUMBERS["min_dcf"]
        if not equals:
            if needed is not None:
                raise DataError(
                    f"`measures` has {name}, which needs {noun}; expected as in {name}={needed}"
                )
            return cls(name, function=function)
        at = _number(number, noun)
        if at is None:
            expected = f"{noun} behind =" if noun else f"{name} alone"
            expected = expected.replace("a rank", "a whole number from 1")
            raise DataError(f"`measures` has {received(text)}; expected {expected}")
        return cls(name, at, function)

    def is_of(self, measure: SystemMeasure) -> bool:
        """Whether this is what a measure was asked for by."""
        at = self.at is None or self.at == measure.at or np.isnan(measure.at)
        return self.name == measure.scalar.name and bool(at)


def _refuse_names_of_others(chosen: Sequence[Wanted]) -> None:
    """Raise :class:`DataError` for a function called as a dimension, or a statistic of another."""
    from bioeval.studies.compare.results import COMPARISON, STATISTICS

    taken = {*COORDINATES, *COMPARISON, "cost_prior"}
    taken |= {f"{x.name}_{statistic}" for x in chosen for statistic in STATISTICS}
    for name in (x.name for x in chosen if x.name in taken):
        raise DataError(
            f"`measures` has a function called {name}, and results have this name already; give "
            'be.Measure("other_name", function)'
        )
    for name in (x.name for x in chosen if "/" in x.name):
        raise DataError(
            f"`measures` has a function called {name}; expected a name without a slash, which no "
            "variable of a netCDF file can have"
        )


def _as_named(text: str, known: Iterable[str]) -> str:
    """Return a measure by its name, whatever its case, or by its label in printed tables."""
    spelt = re.sub(r" \(\w+\)$", "", " ".join(text.casefold().split()))  # (FMR100)
    for name in known:
        if (labelled := {**AT_THRESHOLD, "cms": CMS_AT_RANK}.get(name) or figure(name)) is not None:
            places = dict.fromkeys(("target", "prior", "threshold", "rank"), "NUMBER")
            label = re.escape(name_of_scalar(labelled, **places).casefold())
            if match := re.fullmatch(label.replace("number", r"([\d.e-]+(?: ?%)?)"), spelt):
                return "=".join((name, *(number.replace(" ", "") for number in match.groups())))
    name, equals, number = spelt.partition("=")
    by_folded = {x.casefold().replace("_", "-"): x for x in known}
    return by_folded.get(name.replace("_", "-"), name) + equals + number


def _number(text: str, noun: str) -> float | None:
    """Return the number behind ``=``; None where it is not what it should be."""
    percent = text.endswith("%")
    try:
        at = float(text.removesuffix("%")) / (100 if percent else 1)
    except ValueError:
        return None
    is_one = {
        "": False,
        "a rank": at >= 1 and at == np.floor(at) < np.inf,
        "a threshold": np.isfinite(at) and not percent,
        "a prior": 0 < at < 1,
    }
    return at if is_one.get(noun, 0 <= at <= 1) else None


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
        names = ["cmc", *QUERY_MEANS]
        if not retrieval:
            names = [*(x.name for x in curve_measures()), *AT_THRESHOLD, *IDENTIFICATION]
        known: dict[str, Measure | None] = dict.fromkeys(names)
        known |= {x.name: x for x in functions}
        chosen = [Wanted.parse(measure, known) for measure in measures]
        if not chosen:
            raise DataError("`measures` is empty; expected names such as eer")
        _refuse_names_of_others(chosen)

        def targets(given: np.ndarray, *names: str) -> np.ndarray:
            """Return the targets that are asked for, with those given for a bare name."""
            asked = [x.at for x in chosen if x.name in names]
            named = np.unique([x for x in asked if x is not None]).astype(np.float64)
            return np.union1d(given, named) if None in asked else named

        return cls(
            tuple(chosen),
            targets(far_targets, "frr_at_far", "dir_at_far"),
            targets(frr_targets, "far_at_frr"),
        )

    def asks(self, *names: str) -> bool:
        """Whether any of these measures is compared, as one of the usual ones or by name."""
        return self.chosen is None or any(x.name in names for x in self.chosen)

    def numbers(self, name: str) -> list[float]:
        """Return the numbers that a measure is asked for at, in order."""
        return [x.at for x in self.chosen or () if x.name == name and x.at is not None]

    @property
    def functions(self) -> list[tuple[Measure, float]]:
        """The numbers of scores that are asked for, each with its prior, NaN without one."""
        return [
            (x.function, np.nan if x.at is None else x.at)
            for x in self.chosen or ()
            if x.function is not None
        ]

    def in_order(self, measures: Sequence[SystemMeasure]) -> list[SystemMeasure]:
        """Return the measures that are asked for, in the order in which they are."""
        if self.chosen is None:
            return list(measures)
        asked = (x for wanted in self.chosen for x in measures if wanted.is_of(x))
        return list({id(x): x for x in asked}.values())
