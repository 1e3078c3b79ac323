"""Options of confidence intervals: their method, the weights of subjects, and their limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from bioeval.base.arguments import MOST_DRAWS, require_integer
from bioeval.base.errors import Argument, DataError, require_choice
from bioeval.base.random import RandomState, Stream, seed_sequence
from bioeval.base.variables import INTERVALS, Bootstrap
from bioeval.stats.interval import CONFIDENCE, check_confidence, trials_of

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.base.scalars import Name

METHODS = INTERVALS

#: Methods that resample subjects.
BOOTSTRAPS: tuple[Bootstrap, ...] = get_args(Bootstrap)

#: Method of the intervals of all-against-all identification, whichever by subject is chosen.
JACKKNIFE = "subject-jackknife"

#: Whether a band of a curve holds at each point by itself, or at all points together.
Band = Literal["pointwise", "simultaneous"]
BANDS: tuple[Band, ...] = get_args(Band)

# Largest number of groups of subjects that are left out in turn, for BCa.
_GROUPS = 1000

# With fewer subjects, intervals by subject are clearly too narrow.
_FEW = 20


@dataclass(frozen=True)
class IntervalOptions:
    """Method, confidence level and resampling of the intervals of a result.

    The number of replicates and the seed concern bootstrap methods alone. All tasks of an
    evaluation share the seed, and with it their replicates. `about` says which data the intervals
    of identification are about: other people, or other probes in the same gallery.
    """

    CONFIDENCE: ClassVar[float] = CONFIDENCE  # by default
    REPLICATES: ClassVar[int] = 2000

    #: Variables whose own name with ``_low`` means something else: the bracket of the EER (FVC).
    STEMS: ClassVar[Mapping[str, str]] = {"eer": "eer_interval"}

    check_confidence = staticmethod(check_confidence)
    trials_of = staticmethod(trials_of)

    method: str
    confidence: float
    replicates: int
    seed: np.random.SeedSequence
    about: str = ""
    band: str = BANDS[0]

    @classmethod
    def parse(
        cls,
        interval: str | None,
        confidence: float = CONFIDENCE,
        replicates: int = REPLICATES,
        random_state: RandomState = 0,
        band: str = BANDS[0],
    ) -> IntervalOptions | None:
        """Check the arguments of a public function; None for a result without intervals."""
        confidence = check_confidence(confidence)
        replicates = require_integer("replicates", replicates, low=100, high=MOST_DRAWS)
        seed = seed_sequence(random_state)
        require_choice("band", band, BANDS)
        if interval is not None:
            require_choice("interval", interval, METHODS)
        if band != BANDS[0] and interval not in BOOTSTRAPS:
            raise DataError(
                f"{Argument('band', band)} needs the replicates of a subject bootstrap; give "
                f"{Argument('interval', BOOTSTRAPS[0])}"
            )
        if interval is None:
            return None
        return cls(interval, confidence, replicates, seed, band=band)

    @property
    def resamples(self) -> bool:
        """Whether the method resamples subjects."""
        return self.method in BOOTSTRAPS

    @property
    def simultaneous(self) -> bool:
        """Whether bands of curves hold at all points together."""
        return self.band == BANDS[1]

    @property
    def by_subject(self) -> bool:
        """Whether the method needs the subjects of the attempts."""
        return self.resamples or self.needs_all_pairs

    @property
    def needs_all_pairs(self) -> bool:
        """Whether verification needs the counts of all pairs of subjects at once."""
        return self.method == "analytic"

    @property
    def for_new_people(self) -> IntervalOptions:
        """The same confidence level, for new people that are not in the data."""
        return replace(self, method=JACKKNIFE, about="new people")

    @property
    def for_this_gallery(self) -> IntervalOptions:
        """The same intervals, for a fixed gallery."""
        return replace(self, about="this gallery")

    def weights(self, subjects: int, no_person: np.ndarray | None = None) -> np.ndarray:
        """Return the weights of the subjects, float32 of shape (subjects, columns).

        The first column is the data themselves, the only one unless the method resamples. The
        replicates follow, and for BCa the data without each subject, or without each of a thousand
        groups of subjects where there are more. What is of no person, such as all distractors, is
        not resampled: its weight is 1.
        """
        if no_person is not None and no_person.any():
            drawn = self.weights(int(np.count_nonzero(~no_person)))
            weights = np.ones((subjects, drawn.shape[1]), dtype=np.float32)
            weights[~no_person] = drawn
            return weights
        parts = [np.ones((subjects, 1), dtype=np.float32)]
        if subjects > 1 and self.resamples:
            parts.append(Stream(self.seed, 0).resampled(subjects, self.replicates))
            if self.method.endswith("bca"):
                group = np.arange(subjects) * min(subjects, _GROUPS) // subjects
                left_out = group[:, None] == np.arange(min(subjects, _GROUPS))
                parts.append(1 - left_out.astype(np.float32))
        return np.concatenate(parts, axis=1)

    def limits(
        self, values: np.ndarray, trials: int | np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the lower and upper confidence limits of values, shape (..., columns).

        The columns are those of :meth:`weights`; a replicate without an attempt of a class is NaN
        and is left out. Limits are NaN without replicates, or where the estimate is undefined. Of
        rates over independent `trials`, a rate of exactly 0 or 1 has a bound.
        """
        from bioeval.stats.replicates import bca, logit, open_limits, quantiles

        estimate = values[..., 0]
        if trials is not None:
            return open_limits(estimate, *self.limits(values), trials, self.confidence)
        drawn = values[..., 1 : 1 + self.replicates]
        if not drawn.shape[-1]:
            return np.full(estimate.shape, np.nan), np.full(estimate.shape, np.nan)
        tail = (1 - self.confidence) / 2
        if self.method.endswith("logit"):
            low, high = logit(estimate, drawn, tail)
        elif self.method.endswith("bca"):
            low, high = bca(estimate, drawn, values[..., 1 + self.replicates :], tail)
        else:
            low = quantiles(drawn, np.full(estimate.shape, tail))
            high = quantiles(drawn, np.full(estimate.shape, 1 - tail))
        undefined = np.isnan(estimate)
        return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)

    def independent_limits(
        self, errors: np.ndarray, attempts: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return limits of rates of independent attempts; NaN where `errors` is NaN."""
        from bioeval.stats.binomial import clopper_pearson, wilson

        if self.method == "wilson":
            method = wilson
        else:
            method = clopper_pearson
        undefined = np.isnan(errors)
        low, high = method(np.where(undefined, 0, errors), attempts, self.confidence)
        return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)

    def independence(self, attempts: str, those: str) -> str:
        """Return the warning that limits of independent attempts are too narrow."""
        return (
            f"{self.method} intervals assume independent {attempts}; those {those} subject are "
            "dependent, and the intervals are then too narrow: use subject-bootstrap"
        )

    def added_to(
        self,
        dataset: xr.Dataset,
        found: Mapping[str, tuple[np.ndarray, np.ndarray]],
        names: Mapping[str, Name],
        remarks: list[str],
        inside: Mapping[str, np.ndarray] | None = None,
    ) -> xr.Dataset:
        """Return a dataset with confidence limits of its variables, their method, and warnings.

        `inside` says at which points of a curve its limits are those of a simultaneous band.
        """
        inside = inside or {}
        over = {name: tuple(map(str, dataset[name].dims)) for name in {**found, **inside}}
        variables: dict[str, Any] = {}
        for name, there in inside.items():
            key = f"{name}_in_band"
            variables[key] = (over[name], there.astype(np.int64), names[key].attrs())
        for name, both in found.items():
            for side, values in zip(("low", "high"), both, strict=True):
                key = f"{self.STEMS.get(name, name)}_{side}"
                limits = np.asarray(values, dtype=np.float64)
                variables[key] = (over[name], limits, names[key].attrs())
        out = dataset.assign(variables)
        warnings = [*str(dataset.attrs.get("warnings", "")).splitlines(), *remarks]
        out.attrs = {
            **dataset.attrs,
            **self.attrs(),
            "band": self.band,
            "warnings": "\n".join(warnings),
        }
        return out

    def few_people(self, people: int) -> list[str]:
        """Return a warning where too few subjects make intervals by subject unreliable."""
        if people < 2:
            return [f"cannot resample a single subject; {self.method} intervals are undefined"]
        if people < _FEW:
            return [f"only {people} subjects: intervals by subject ({self.method}) are too narrow"]
        return []

    def attrs(self) -> dict[str, str | int | float]:
        """Return the attributes of a result that has these intervals."""
        attrs: dict[str, str | int | float] = {
            "interval_method": self.method,
            "confidence": self.confidence,
        }
        if self.about:
            attrs["interval_for"] = self.about
        if self.resamples:
            attrs["replicates"] = self.replicates
        return attrs
