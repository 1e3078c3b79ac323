"""The method of confidence intervals, the weights of people that it uses, and its attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from bioeval.base.arguments import (
    CONFIDENCE,
    check_confidence,
    require_choice,
    require_integer,
    require_text,
)
from bioeval.base.errors import DataError, Message, message_attrs, without_address
from bioeval.base.random import RandomState, Stream, seed_sequence
from bioeval.results.variables import Variable, described

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.results.dataset import VariableParts
    from bioeval.stats.jackknife import Limits
    from bioeval.stats.rate_limits import RateCurve, Sample

#: Methods that leave out people in turn, or draw people with replacement.
PeopleName = Literal["people", "subject-bootstrap"]
BY_PEOPLE: tuple[PeopleName, ...] = get_args(PeopleName)
PEOPLE, BOOTSTRAP = BY_PEOPLE

#: Methods of an interval. Only the last two assume independent attempts.
IntervalName = Literal[PeopleName, "wilson", "clopper-pearson"]
METHODS: tuple[IntervalName, ...] = get_args(IntervalName)

# With fewer people, intervals by people are clearly too narrow.
_FEW = 20


# The most weights that are kept between tasks.
_KEPT = 1 << 22


@dataclass(frozen=True)
class IntervalMethod:
    """How the confidence intervals of a result are computed, as its argument `interval`.

    The name of a method alone stands for one with the other values as they are by default.

    Parameters
    ----------
    method : str
        Such as ``"people"``: one of those that the call takes as `interval`.
    confidence : float
        Two-sided confidence of the intervals. Above 0 and below 1.
    replicates : int
        Number of bootstrap replicates. At least 100.
    random_state : int, None, numpy SeedSequence, Generator or RandomState
        Seed of a bootstrap. The same integer gives the same intervals on every platform; all tasks
        of an evaluation have the same replicates.
    unit : str, optional
        Column of metadata whose values are left out in turn, in place of people: people who share a
        session, a device or an operator are not independent. People who share a value, also through
        other people, are left out together. For the method ``"people"``.

    Raises
    ------
    DataError
        If a value is wrong. A method that is unknown is refused by the call that it is given to.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(30, 4, random_state=1)
    >>> method = be.stats.IntervalMethod("subject-bootstrap", confidence=0.9, random_state=7)
    >>> ds = be.verification(scores, interval=method)
    >>> ds.attrs["confidence"], ds.attrs["interval_method"]
    (0.9, 'subject-bootstrap')
    """

    CONFIDENCE: ClassVar[float] = CONFIDENCE  # the default
    REPLICATES: ClassVar[int] = 2000

    method: str
    confidence: float = CONFIDENCE
    replicates: int = REPLICATES
    random_state: RandomState = 0
    unit: str | None = None
    #: The population of the intervals; empty: new people, or new attempts.
    about: str = field(default="", repr=False)

    def __repr__(self) -> str:
        shown = (f"{x.name}={getattr(self, x.name)!r}" for x in fields(self) if x.repr)
        return without_address(f"IntervalMethod({', '.join(shown)})")

    def __post_init__(self) -> None:
        """Check the values."""
        object.__setattr__(self, "confidence", check_confidence(self.confidence))
        require_integer("replicates", self.replicates, low=100, of_draws=True)
        self.seed  # noqa: B018 (drawn once, and checked)
        if self.unit is not None:
            object.__setattr__(self, "unit", require_text("unit", self.unit))
            if self.method != PEOPLE:
                raise DataError(f'`unit` is for the method "people", not "{self.method}"')

    @cached_property
    def seed(self) -> np.random.SeedSequence:
        """The seed of replicates."""
        return seed_sequence(self.random_state)

    def _with(self, **changes: Any) -> IntervalMethod:
        changed = copy(self)
        changed.__dict__.update(changes)
        return changed

    @property
    def resamples(self) -> bool:
        """Whether the method draws subjects with replacement."""
        return self.method == BOOTSTRAP

    @property
    def by_subject(self) -> bool:
        """Whether the method needs the subjects of the attempts."""
        return self.method in BY_PEOPLE

    @property
    def for_new_people(self) -> IntervalMethod:
        """The method with this confidence for new people, who are not in the data."""
        return self._with(method=PEOPLE, about="new people")

    @property
    def for_this_gallery(self) -> IntervalMethod:
        """The same method for a fixed gallery."""
        return self._with(about="this gallery")

    def weights(self, subjects: int, no_person: np.ndarray | None = None) -> np.ndarray:
        """Return the weights of subjects in the data and in each replicate, (subjects, columns).

        They are float32, and drawn once for all tasks of an evaluation. Subjects who are no person,
        such as all distractors, are not drawn: their weight is 1.
        """
        key = subjects, None if no_person is None else no_person.tobytes()
        weights = self._weights.get(key)
        if weights is None:
            is_drawn = np.ones(subjects, dtype=bool) if no_person is None else ~no_person
            people = int(is_drawn.sum())
            replicates = self.replicates if people > 1 else 0
            weights = np.ones((subjects, 1 + replicates), dtype=np.float32)
            if replicates:
                weights[is_drawn, 1:] = Stream(self.seed, 0).resampled(people, replicates)
            if weights.size <= _KEPT:
                self._weights.clear()
                self._weights[key] = weights
        return weights

    @cached_property
    def _weights(self) -> dict[tuple[int, bytes | None], np.ndarray]:
        return {}

    def rate_curve(self, columns: np.ndarray, sample: Sample, *, raised: bool = False) -> RateCurve:
        """Return the limits of a rate along its curve, from columns by this method.

        The arguments are explained in :meth:`bioeval.stats.rate_limits.RateCurve.from_columns`.
        """
        from bioeval.stats.rate_limits import RateCurve

        if self.resamples:
            return RateCurve.from_replicates(columns, sample.units, self.confidence)
        miss = 1 - self.confidence
        return RateCurve.from_columns(
            columns, sample, miss=miss / 2, miss_at_ends=miss, raised=raised
        )

    def independent_limits(self, errors: np.ndarray, attempts: int) -> Limits:
        """Return limits of rates of independent attempts; NaN where `errors` is NaN."""
        from bioeval.stats.independent import clopper_pearson, wilson

        interval = wilson if self.method == "wilson" else clopper_pearson
        undefined = np.isnan(errors)
        # Fractions of searches under expected ties may add up to more than all by rounding.
        counts = np.minimum(np.where(undefined, 0, errors), attempts)
        low, high = interval(counts, attempts, self.confidence)
        return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)

    def independence(self, attempts: str) -> Message:
        """Return the message that limits of independent attempts, or queries, are too narrow."""
        return Message("dependent-attempts", method=self.method, attempts=attempts)

    def added_to(
        self,
        dataset: xr.Dataset,
        limits_by_name: Mapping[str, Limits],
        table: Mapping[str, Variable],
        remarks: Sequence[Message],
        **counts: int,
    ) -> xr.Dataset:
        """Return a dataset with limits of its variables, counts, and messages.

        `table` describes all variables. They are added together: xarray aligns them each time.
        """
        from bioeval.results.dataset import unchecked

        variables: dict[str, VariableParts] = {}
        for name, limits_of_name in limits_by_name.items():
            dims = tuple(map(str, dataset[name].dims))
            for end, values in zip(("low", "high"), limits_of_name, strict=True):
                key = f"{name}_{end}"
                limits = np.asarray(values, dtype=np.float64)
                variables[key] = dims, limits, described(table, key).attrs
        for name, count in counts.items():
            variables[name] = (), np.asarray(count, np.int64), described(table, name).attrs
        result = dataset.assign(unchecked(variables).variables)
        result.attrs = {**dataset.attrs, **self.attrs(), **message_attrs(remarks, dataset.attrs)}
        return result

    def few_people(self, people: int) -> list[Message]:
        """Return a message if people are too few for reliable intervals by people."""
        if people >= _FEW:
            return []
        about = {"subjects": people, "method": self.method}
        fault = "not defined" if people < 2 else "too narrow"
        if self.unit is not None:
            return [Message("interval-of-few-units", units=people, unit=self.unit, fault=fault)]
        return [Message("interval-of-few-subjects", **about, fault=fault)]

    def groups(self, people: int) -> list[Message]:
        """Return a message if groups of people are left out in turn, in place of each person."""
        from bioeval.stats.weighted_sums import GROUPS

        if self.resamples or people <= GROUPS:
            return []
        return [Message("left-out-in-groups", subjects=people, groups=GROUPS)]

    def attrs(self) -> dict[str, str | int | float]:
        """Return the attributes of a result with these intervals."""
        unit = "attempts"
        about = "new attempts"
        if self.by_subject:
            unit = self.unit or "people"
            about = "new people"
        attrs: dict[str, str | int | float] = {
            "interval_method": self.method,
            "confidence": self.confidence,
            "interval_unit": unit,
            "interval_for": self.about or about,
        }
        if self.resamples:
            attrs["replicates"] = self.replicates
        return attrs


def interval_of(
    interval: str | IntervalMethod | None,
    among: Sequence[str] = METHODS,
    *,
    takes_unit: bool = False,
) -> IntervalMethod | None:
    """Return the method of an argument `interval`; None for a result without intervals."""
    if interval is None:
        return None
    return required_interval(interval, among, takes_unit=takes_unit)


def required_interval(
    interval: object, among: Sequence[str], *, takes_unit: bool = False
) -> IntervalMethod:
    """Return the method of an argument `interval`, which must be `among` some methods.

    `takes_unit` says whether the call can leave out other units than people.
    """
    if isinstance(interval, IntervalMethod):
        require_choice("interval", interval.method, among)
        if interval.unit is not None and not takes_unit:
            raise DataError(
                f"`interval` has the unit {interval.unit!r}, but here people are left out one by "
                "one; units are for verification, identification, re-identification, `compare`, "
                "`study_threshold` and `check_promise`"
            )
        return interval
    require_choice("interval", interval, among)
    return IntervalMethod(str(interval))


def trials_of(subjects: int) -> int:
    """Return the sample size in subjects: 0 for a single subject, who cannot be resampled."""
    return subjects if subjects > 1 else 0
