"""The measures that a comparison is asked for, such as ``measures=["eer", "min_dcf=0.01"]``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import require_choice, require_text
from bioeval.base.errors import DataError, received
from bioeval.results.measure import Measure
from bioeval.results.variables import COORDINATES, QUERY_MEANS, VARIABLES, figure
from bioeval.showing.terms import in_lecture_words
from bioeval.stats.error_curves import curve_measures

if TYPE_CHECKING:
    from bioeval.studies.compare.results import SystemMeasure

#: The rates at a threshold that is given.
AT_THRESHOLD = {
    f"{name}_at_threshold": replace(
        VARIABLES[name],
        name=f"{name}_at_threshold",
        label=f"{{{name}}} at threshold {{threshold}}",
    )
    for name in ("frr", "far")
}

#: CMS at a rank.
CMS_AT_RANK = replace(VARIABLES["cms"], label="{cms}({rank})")

#: The measures of identification.
IDENTIFICATION = ("recognition_rate", "cms", "dir_at_far")

#: For each measure with a number behind ``=``: a word for the number; and an example if a number
#: must be given, None if the targets of the call are the default.
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
    """One measure that is asked for."""

    name: str
    at: float | None = None  # its target, prior, threshold or rank
    function: Measure | None = None  # a measure of scores, None of all other measures

    @classmethod
    def parse(cls, measure: Any, known: Sequence[str]) -> Wanted:
        """Read ``"frr_at_far=0.01"``, or take a :class:`Measure`, or a function.

        `known` are the names of all measures.
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
            name = name if name.isidentifier() else "measure"  # a lambda has no name
            return cls(name, function=Measure(name, measure))
        text = _as_named(require_text("measures", measure), known)
        name, equals, number = text.partition("=")
        _require_known(name, known)
        noun, example = _NUMBERS.get(name, ("", None))
        if not equals:
            if example is not None:
                raise DataError(
                    f"`measures` has {name}, which needs {noun}; expected as in {name}={example}"
                )
            return cls(name)
        value = _number(number, noun)
        if value is None:
            expected = f"{noun} behind =" if noun else f"{name} alone"
            expected = expected.replace("a rank", "a whole number from 1")
            raise DataError(f"`measures` has {received(text)}; expected {expected}")
        return cls(name, value)

    def is_of(self, measure: SystemMeasure) -> bool:
        """Whether a measure of a system was requested by this name and number."""
        is_at_number = self.at is None or self.at == measure.label or np.isnan(measure.label)
        return self.name == measure.scalar.name and bool(is_at_number)


def _require_known(name: str, known: Sequence[str]) -> None:
    """Raise an error unless a measure has this name, with advice on names of other tasks."""
    if name in QUERY_MEANS and name not in known:
        raise DataError(
            f"`measures` has {name}, a measure of re-identification; give "
            '`protocol="market1501"` or another card of it'
        )
    if "cmc" in known and (rank := re.fullmatch(r"(?:rank|top|cmc)[-_@]?(\d+)", name)):
        raise DataError(f"`measures` has {name}; expected cmc={rank[1]}")
    require_choice("a measure of `measures`", name, known)


def _refuse_names_in_use(chosen: Sequence[Wanted]) -> None:
    from bioeval.studies.compare.results import COMPARISON, STATISTICS

    used = {*COORDINATES, *COMPARISON, "cost_prior"}
    used |= {f"{x.name}_{statistic}" for x in chosen for statistic in STATISTICS}
    for name in (x.name for x in chosen if x.name in used):
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
    """Return a measure as ``name=number``; it may be written as in tables: ``FRR at FAR 1 %``."""
    # Tables may have an older name behind the label, such as (FMR100).
    folded = re.sub(r" \(\w+\)$", "", " ".join(text.casefold().split()))
    for name in known:
        scalar = {**AT_THRESHOLD, "cms": CMS_AT_RANK}.get(name) or figure(name)
        if scalar is not None:
            places = dict.fromkeys(("target", "prior", "threshold", "rank"), "NUMBER")
            label = re.escape(in_lecture_words(scalar.label, **places).casefold())
            if match := re.fullmatch(label.replace("number", r"([\d.e-]+(?: ?%)?)"), folded):
                return "=".join((name, *(number.replace(" ", "") for number in match.groups())))
    name, equals, number = folded.partition("=")
    by_folded = {x.casefold().replace("_", "-"): x for x in known}
    return by_folded.get(name.replace("_", "-"), name) + equals + number


def _number(text: str, noun: str) -> float | None:
    """Return the number behind ``=``; None if the measure takes no number or refuses this number.

    `noun` is the word for the number, empty if the measure has none; a target is from 0 to 1.
    """
    is_percentage = text.endswith("%")
    try:
        value = float(text.removesuffix("%")) / (100 if is_percentage else 1)
    except ValueError:
        return None
    is_valid = {
        "": False,
        "a rank": value >= 1 and value == np.floor(value) < np.inf,
        "a threshold": np.isfinite(value) and not is_percentage,
        "a prior": 0 < value < 1,
    }
    return value if is_valid.get(noun, 0 <= value <= 1) else None


@dataclass(frozen=True)
class WantedMeasures:
    """All measures that a comparison is asked for."""

    chosen: tuple[Wanted, ...] | None  # None for the usual measures
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
    ) -> WantedMeasures:
        """Read measures of re-identification (`retrieval`), or of the other tasks."""
        if measures is None:
            return cls(None, far_targets, frr_targets)
        if isinstance(measures, str) or callable(measures) or isinstance(measures, Measure):
            measures = [measures]
        names = ["cmc", *QUERY_MEANS]
        if not retrieval:
            names = [*(x.name for x in curve_measures()), *AT_THRESHOLD, *IDENTIFICATION]
        chosen = [Wanted.parse(measure, names) for measure in measures]
        if not chosen:
            raise DataError("`measures` is empty; expected names such as eer")
        _refuse_names_in_use(chosen)

        def targets(default: np.ndarray, *names: str) -> np.ndarray:
            """Return the targets of these measures; a bare name has the default targets."""
            requested = [x.at for x in chosen if x.name in names]
            stated = np.unique([x for x in requested if x is not None]).astype(np.float64)
            return np.union1d(default, stated) if None in requested else stated

        return cls(
            tuple(chosen),
            targets(far_targets, "frr_at_far", "dir_at_far"),
            targets(frr_targets, "far_at_frr"),
        )

    def asks(self, *names: str) -> bool:
        """Whether any of these measures is compared, by default or by name."""
        return self.chosen is None or any(x.name in names for x in self.chosen)

    def numbers(self, name: str) -> list[float]:
        """Return the targets, thresholds or ranks at which a measure is asked for, in order."""
        return [x.at for x in self.chosen or () if x.name == name and x.at is not None]

    @property
    def functions(self) -> list[Measure]:
        """The requested measures of scores."""
        return [x.function for x in self.chosen or () if x.function is not None]

    def in_order(self, measures: Sequence[SystemMeasure]) -> list[SystemMeasure]:
        """Return the requested measures, in the order of the request."""
        if self.chosen is None:
            return list(measures)
        in_order = (x for wanted in self.chosen for x in measures if wanted.is_of(x))
        return list({id(x): x for x in in_order}.values())
