"""Presentation attack detection: errors by attack instrument species (ISO/IEC 30107-3)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_array, require_choice, require_listed_numbers
from bioeval.base.errors import DataError
from bioeval.base.kinds import VALUED, Kind, ValuedKind
from bioeval.base.messages import Message, message_attrs
from bioeval.counting.grids import linear_grid
from bioeval.counting.threshold_rules import SAME_DATA
from bioeval.counting.thresholds import curve_thresholds, in_order_of_scores, to_internal, to_user
from bioeval.results.dataset import Variables, dataset, variables_over
from bioeval.results.support import ALL_REJECTED, all_beyond_scores, beyond_scores
from bioeval.results.variables import Variable
from bioeval.scores.joining import RowOrder
from bioeval.scores.kind_check import KindVerdict
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.options import PEOPLE, IntervalMethod, interval_of
from bioeval.studies.attacks.presentations import DetectionRule, Presentations
from bioeval.studies.attacks.scores import (
    ALL_AT_ONCE,
    few_instruments,
    few_presentations,
    species_labels,
    with_pooled_and_largest,
    with_pooled_count,
)

#: APCER targets that are reported by default: BPCER10, BPCER20 and BPCER100.
APCER_TARGETS = (0.1, 0.05, 0.01)

NonResponse = Literal["exclude", "reject"]

# For which population limits hold, by the units that are left out.
_INTERVAL_FOR = {
    ("subjects",): "new people, these instruments",
    ("instrument",): "new instruments of these species, each bona fide presentation by itself",
    ("subjects", "instrument"): "new people, and new instruments of these species",
}

_error_rate = partial(Variable, units="proportion", direction="smaller")
_BY_SPECIES = ": of a species; of all (pooled); the largest of a species (largest)"


def _rate(iso: str, counted: str, out_of: str, dims: tuple[str, ...] = ()) -> Variable:
    return _error_rate(f"proportion of {counted}", iso=iso, dims=dims, label=iso, out_of=out_of)


NAMES = {
    "apcer_target": Variable("APCER not to be exceeded", "proportion", "APCER"),
    "threshold_used": Variable(
        "threshold chosen or given", "score", label="threshold", shown="threshold"
    ),
    "presentations": Variable("attack presentations", "presentations", label="presentations"),
    "non_responses": Variable(
        "attack presentations without a response", "presentations", detail="data"
    ),
    "apnrr": _rate(
        "APNRR", f"attack presentations without a response{_BY_SPECIES}", "presentations"
    ),
    "in_apcer": Variable(
        "1 where the largest APCER is over the species, else 0", "1", detail="data"
    ),
    "bona_fide": Variable(
        "bona fide presentations", "presentations", label="bona fide presentations"
    ),
    "bona_fide_non_responses": Variable(
        "bona fide presentations without a response", "presentations", detail="data"
    ),
    "bpnrr": _rate("BPNRR", "bona fide presentations without a response", "bona_fide"),
    "apcer": _rate(
        "APCER",
        f"attack presentations classified bona fide{_BY_SPECIES}",
        "presentations",
        ("threshold", "species"),
    ),
    "bpcer": _rate(
        "BPCER", "bona fide presentations classified as attacks", "bona_fide", ("threshold",)
    ),
    "acer": _error_rate(
        "average classification error rate: mean of APCER, the largest, and BPCER; no measure of "
        "ISO/IEC 30107-3, kept for older papers",
        label="ACER (no measure of ISO/IEC 30107-3)",
        threshold="threshold_used",
    ),
    "d_eer": _error_rate(
        "detection equal error rate: APCER, the largest, and BPCER cross",
        label="D-EER",
        threshold="d_eer_threshold",
    ),
    "d_eer_threshold": Variable(
        "attainable threshold nearest to the detection equal error rate", "score", shown="threshold"
    ),
    "bpcer_at_apcer": _error_rate(
        "BPCER at the loosest threshold within the APCER target",
        iso="BPCER",
        label="BPCER with APCER <= {target}",
        also="BPCER10 BPCER20 BPCER100",
        out_of="bona_fide",
        threshold="threshold_at_apcer",
    ),
    "threshold_at_apcer": Variable(
        "loosest threshold with APCER at most the target", "score", shown="threshold"
    ),
}
NAMES |= {
    f"{name}_at_threshold": replace(
        NAMES[name],
        long_name=f"{NAMES[name].long_name}, at the threshold used",
        dims=(),
        label=f"{NAMES[name].label} at the threshold",
        threshold="threshold_used",
    )
    for name in ("apcer", "bpcer")
}


@warns_of_doubts
def pad(
    values: Any,
    attack: Any,
    *,
    kind: ValuedKind = "similarity",
    thresholds: Any = None,
    n_thresholds: int | None = None,
    apcer_targets: Any = APCER_TARGETS,
    threshold: Any = None,
    train: tuple[Any, Any] | None = None,
    non_response: NonResponse = "exclude",
    instrument: Any = None,
    subjects: Any = None,
    interval: Literal["people"] | IntervalMethod | None = None,
    name: str = "",
) -> xr.Dataset:
    """Evaluate presentation attack detection: APCER by species against BPCER.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        One detection score a presentation; NaN where detection gave no response.
    attack : array_like of str, shape (n,)
        The attack instrument species of each presentation. Marks of bona fide are empty, NaN,
        ``"-"``, ``"none"``, ``"n/a"``, ``"bona fide"``, ``"live"`` and ``"genuine"``.
    kind : {"similarity", "distance"}
        Kind of the scores: larger similarities mean bona fide. A presentation is classified bona
        fide at or above the threshold; of distances, at or below it.
    thresholds, n_thresholds
        As for :func:`bioeval.verification`.
    apcer_targets : array_like of float
        APCER at which to report BPCER. 0.1, 0.05 and 0.01 are BPCER10, BPCER20 and BPCER100.
    threshold : float or str, optional
        Threshold: a number, or the rule apcer=X, bpcer=X or d-eer. ``"apcer=x"`` is the loosest
        point with APCER at most `x`; ``"bpcer=x"`` the strictest with BPCER at most `x`.
    train : tuple of two array_like, optional
        Scores and species of a training set (development set), on which the rule chooses.
    non_response : {"exclude", "reject"}
        Exclude presentations without a score, or count them as rejected. Excluded, they leave the
        denominators of APCER and BPCER.
    instrument, subjects : array_like, shape (n,), optional
        The object presented, for attacks, and the person, which intervals leave out in turn.
    interval : {"people"}, optional
        Add confidence intervals, ``_low`` and ``_high`` of each rate but the pooled APCER. Each
        person and each instrument is left out in turn: `subjects` or `instrument` is needed. The
        intervals of ``d_eer`` and ``bpcer_at_apcer`` allow for the choice of their thresholds.
    name : str
        Name of the detector.

    Returns
    -------
    xarray.Dataset
        - ``apcer`` over ``threshold, species``, and ``bpcer`` over ``threshold``
        - ``threshold_at_apcer`` and ``bpcer_at_apcer`` over ``apcer_target``
        - ``d_eer`` and ``d_eer_threshold``
        - ``presentations``, ``non_responses``, ``apnrr`` and ``in_apcer`` over ``species``
        - ``bona_fide``, ``bona_fide_non_responses`` and ``bpnrr``

        The labels of ``species`` are the species, sorted, ``"pooled"``, all attack presentations
        together, and ``"largest"``, APCER of the detector: the largest over the species.
        ``"largest"`` has no counts; ``.drop_sel(species=["pooled", "largest"])`` leaves both out.

        With `threshold`, also:

        - ``threshold_used``
        - ``apcer_at_threshold`` over ``species``, and ``bpcer_at_threshold``
        - ``acer``: the mean of the largest APCER and BPCER, which ISO/IEC 30107-3 does not have

    Raises
    ------
    DataError
        Bad options or lengths; no bona fide or no attack presentation; species whose names differ
        in case alone, or one that is called ``"pooled"`` or ``"largest"``.

    Notes
    -----
    - ISO/IEC 30107-3:2023: each species has an APCER. The APCER of a system is the largest of them
      among species of one attack potential.
    - The pooled APCER depends on how often each species was presented.
    - Operating points are reject-all and each distinct score, not the thresholds of the curves.
    - ``docs/attacks.md`` compares the terms of other programs.

    Examples
    --------
    >>> import bioeval as be
    >>> values = [0.9, 0.8, 0.6, 0.3, 0.7, 0.2, 0.1, 0.4, 0.35]
    >>> attack = ["", "", "", "", "mask", "mask", "mask", "print", "print"]
    >>> ds = be.pad(values, attack, threshold=0.5)
    >>> ds.apcer_at_threshold.to_series().round(3).to_dict()
    {'mask': 0.333, 'print': 0.0, 'pooled': 0.2, 'largest': 0.333}
    >>> ds.bpcer_at_threshold.item(), round(ds.d_eer.item(), 3)
    (0.25, 0.333)
    """
    require_choice("kind", kind, VALUED)
    require_choice("non_response", non_response, get_args(NonResponse))
    curve = curve_thresholds(thresholds, n_thresholds)
    targets = require_listed_numbers(
        "apcer_targets", apcer_targets, "rates from 0 to 1", lambda x: ((x >= 0) & (x <= 1)).all()
    )
    options = interval_of(interval, (PEOPLE,))
    columns = {"attack": attack, "instrument": instrument, "subjects": subjects}
    inputs = _read_inputs(values, columns, kind, non_response, threshold, train)
    data = inputs.data
    messages = [*inputs.remarks, *_doubts(inputs, targets), *_doubts_of_kind(data, kind)]

    variables = _response_rates(data)
    chosen = None
    if inputs.rule is not None:
        chosen = _choose_distance(inputs.rule, data, inputs.training_set, kind)
        messages += chosen.messages
        variables |= _rates_at_threshold(data, chosen, kind)
    variables |= _eer_and_bpcer_at_apcer(data, targets, kind)
    grid = curve
    if not isinstance(grid, np.ndarray):
        grid = _grid_over_scores(data, grid, variables, kind)
    variables |= _rates_over_thresholds(data, grid, kind)
    if thresholds is not None:
        pooled = variables["apcer"][1][:, -2]
        messages += all_beyond_scores(grid, pooled, variables["bpcer"][1])
    if options is not None:
        used_distance = None if chosen is None else chosen.distance
        variables |= _limits_of_rates(inputs, options, grid, used_distance, targets, variables)
    species = species_labels(data.species)
    coordinates = {"threshold": grid, "species": species, "apcer_target": targets}
    attrs = _attributes(inputs, name, chosen, options) | message_attrs(messages)
    return dataset(variables, NAMES, coordinates, attrs)


class _Inputs(NamedTuple):
    """The presentations of a detector, the rule of its threshold, and what intervals leave out."""

    data: Presentations
    kind: ValuedKind
    rule: DetectionRule | None
    training_set: Presentations | None  # None: the rule chooses on the same data
    units: dict[str, np.ndarray]  # by name, the code of the person or object of each presentation
    remarks: dict[Message, None]


def _read_inputs(
    values: Any,
    columns: dict[str, Any],
    kind: ValuedKind,
    non_response: NonResponse,
    threshold: Any,
    train: Any,
) -> _Inputs:
    rows = RowOrder(values, templates="the values")
    columns = {name: rows.bring(column, f"`{name}`") for name, column in columns.items()}
    data = Presentations.from_columns(values, columns["attack"], kind, non_response)
    rule = DetectionRule.parse(threshold) if threshold is not None else None
    remarks = rows.remarks
    training_set = None
    if train is not None:
        if rule is None or rule.name == "fixed":
            raise DataError("`train` needs a rule as `threshold`, such as d_eer")
        if not isinstance(train, tuple | list) or len(train) != 2:
            raise DataError("`train`: expected two arrays, scores and species")
        rows = RowOrder(train[0], templates="the values of `train`")
        species = rows.bring(train[1], "the species of `train`")
        training_set = Presentations.from_columns(train[0], species, kind, non_response, "train: ")
        remarks |= rows.remarks
    units = {
        name: _codes_of_units(name, columns[name], len(data.codes))
        for name in ("subjects", "instrument")
        if columns[name] is not None
    }
    return _Inputs(data, kind, rule, training_set, units, remarks)


def _attributes(
    inputs: _Inputs, name: str, chosen: _ChosenDistance | None, options: IntervalMethod | None
) -> dict[str, Any]:
    attrs: dict[str, Any] = {
        "result_type": "presentation-attacks",
        "task": "presentation attack detection",
        "system": name,
        "kind": inputs.kind,
        "non_response": inputs.data.non_response,
    }
    if chosen is not None:
        attrs |= {"chosen_on": chosen.chosen_on, "threshold_rule": str(inputs.rule)}
    if options is not None:
        attrs |= {
            "interval_method": options.method,
            "confidence": options.confidence,
            "left_out": " and ".join(inputs.units),
            "interval_of_largest": ALL_AT_ONCE,
            "interval_for": _INTERVAL_FOR[tuple(inputs.units)],
        }
    return attrs


def _codes_of_units(name: str, values: Any, length: int) -> np.ndarray:
    labels = require_array(name, values)
    if labels.shape != (length,):
        raise DataError(
            f"`{name}` has shape {labels.shape}; expected {(length,)}, one for each presentation"
        )
    return np.unique(labels.astype(str), return_inverse=True)[1]


def _response_rates(data: Presentations) -> Variables:
    # Counts of each species, and last of bona fide presentations.
    presentations = np.array([(data.codes == i).sum() for i in data.classes])
    silent = presentations - [len(x) for x in data.class_distances]
    rates = silent / presentations
    pooled = np.array(silent[:-1].sum() / presentations[:-1].sum())
    return {
        **variables_over(
            ("species",),
            presentations=with_pooled_count(presentations[:-1]),
            non_responses=with_pooled_count(silent[:-1]),
            apnrr=with_pooled_and_largest(rates[:-1], pooled),
            in_apcer=np.append(data.in_apcer.astype(np.int64), [0, 0]),
        ),
        "bona_fide": ((), presentations[-1]),
        "bona_fide_non_responses": ((), silent[-1]),
        "bpnrr": ((), rates[-1]),
    }


def _doubts(inputs: _Inputs, targets: np.ndarray) -> list[Message]:
    data = inputs.data
    presentations = {name: int((data.codes == i).sum()) for i, name in enumerate(data.species)}
    doubts = few_presentations("APCER", targets, presentations)
    *attacks, bona_fide = data.class_distances
    if silent := [x for x, scores in zip(data.species, attacks, strict=True) if not len(scores)]:
        advice = '; `non_response="reject"` counts such presentations as rejected'
        about = {"rate": "APCER", "species": silent, "has": "has a response", "advice": advice}
        doubts.append(Message("species-without-response", **about))
    if not len(bona_fide):
        doubts.append(Message("no-bona-fide-response"))
    if "instrument" in inputs.units:
        instrument = inputs.units["instrument"]
        doubts += few_instruments(
            {x: instrument[data.codes == i] for i, x in enumerate(data.species)}
        )
    return doubts


def _doubts_of_kind(data: Presentations, kind: Kind) -> Iterator[Message]:
    *attacks, bona_fide = data.class_distances
    classes = "bona fide and attack presentations"
    verdict = KindVerdict.of_attempts(
        bona_fide, np.concatenate(attacks), kind, len(bona_fide), classes=classes
    )
    if verdict.severity == "error" and verdict.message is not None:
        yield verdict.message


class _ChosenDistance(NamedTuple):
    distance: float | None  # None where no operating point fulfils the rule; NaN rejects all
    following: float  # the nearest distance that is rejected; NaN if the threshold was given
    chosen_on: str
    messages: list[Message]


def _choose_distance(
    rule: DetectionRule, data: Presentations, training_set: Presentations | None, kind: Kind
) -> _ChosenDistance:
    if rule.name == "fixed":
        distance = float(to_user(rule.value, kind))
        beyond = _beyond_scores(data, distance, kind, given=True)
        return _ChosenDistance(distance, math.nan, "given", beyond)
    chosen_on = SAME_DATA if training_set is None else "the training set"
    chosen = (training_set or data).choose(rule)
    if chosen is None:
        reason = f"no operating point fulfils the rule {rule}"
        return _ChosenDistance(None, math.nan, chosen_on, [Message("no-threshold", why=reason)])
    messages = [ALL_REJECTED] if math.isnan(chosen) else []
    following = float(data.next_scores(chosen))
    if training_set is not None:
        messages += _beyond_scores(data, chosen, kind, given=False)
        following = min(following, float(training_set.next_scores(chosen)))
    return _ChosenDistance(chosen, following, chosen_on, messages)


def _beyond_scores(
    data: Presentations, distance: float, kind: Kind, *, given: bool
) -> list[Message]:
    rates = data.rates(np.array([distance]))
    far, frr = float(rates["apcer"][0, -2]), float(rates["bpcer"][0])  # the pooled APCER
    return beyond_scores(float(to_user(distance, kind)), far, frr, is_given=given)


def _eer_and_bpcer_at_apcer(data: Presentations, targets: np.ndarray, kind: Kind) -> Variables:
    points = [data.at_apcer(x) for x in targets.tolist()]
    distance, bpcer = (
        np.array([math.nan if i is None else x[i] for i in points], dtype=np.float64)
        for x in (data.points.threshold, data.points.fr)
    )
    distance_at_d_eer = data.d_eer.eer_threshold
    return {
        "d_eer": ((), data.d_eer.eer),
        "d_eer_threshold": ((), to_user(distance_at_d_eer, kind)),
        "d_eer_threshold_next": ((), to_user(data.next_scores(distance_at_d_eer), kind)),
        "bpcer_at_apcer": (("apcer_target",), bpcer),
        "threshold_at_apcer": (("apcer_target",), to_user(distance, kind)),
        "threshold_at_apcer_next": (("apcer_target",), to_user(data.next_scores(distance), kind)),
    }


def _grid_over_scores(
    data: Presentations, number: int | None, variables: Variables, kind: Kind
) -> np.ndarray:
    finite = to_user(data.distances[np.isfinite(data.distances)], kind)
    ends = float(finite.min(initial=math.inf)), float(finite.max(initial=-math.inf))
    grid = linear_grid(*ends, number)
    if number is not None:
        return np.unique(grid)
    # By default, curves also have the operating points.
    _, at_targets = variables["threshold_at_apcer"]
    _, at_d_eer = variables["d_eer_threshold"]
    thresholds = np.array([*at_targets, at_d_eer, variables.get("threshold_used", math.nan)])
    return np.union1d(grid, thresholds[np.isfinite(thresholds)])


def _rates_at_threshold(data: Presentations, chosen: _ChosenDistance, kind: Kind) -> Variables:
    """Return the rates at a threshold, NaN without a threshold; ``ACER = (APCER + BPCER) / 2``."""
    distance = math.nan if chosen.distance is None else chosen.distance
    rates = data.rates(np.array([distance]))
    variables = {}
    for name, values in rates.items():
        if chosen.distance is None:
            values[:] = math.nan
        variables[f"{name}_at_threshold"] = ("species",) * (values.ndim - 1), values[0]
    variables["threshold_used"] = to_user(distance, kind)
    variables["acer"] = (rates["apcer"][0, -1] + rates["bpcer"][0]) / 2  # the largest APCER
    variables["threshold_used_next"] = to_user(chosen.following, kind)
    return variables


def _rates_over_thresholds(data: Presentations, grid: np.ndarray, kind: Kind) -> Variables:
    order = in_order_of_scores(kind)
    rates = data.rates(to_internal(grid, kind))
    return {
        name: (("threshold", "species")[: curve.ndim], curve[order])
        for name, curve in rates.items()
    }


def _limits_of_rates(
    inputs: _Inputs,
    options: IntervalMethod,
    grid: np.ndarray,
    used_distance: float | None,
    targets: np.ndarray,
    rates: Variables,
) -> Variables:
    from bioeval.studies.attacks.limits import presentation_limits

    # Curves have limits at the distances of their thresholds, and last at the used distance.
    distances = np.append(
        to_internal(grid, inputs.kind), math.nan if used_distance is None else used_distance
    )
    limits = presentation_limits(inputs.data, inputs.units, options, distances, targets)
    variables: Variables = {}
    for i, side in enumerate(("low", "high")):
        for name, ends in limits.items():
            dims = rates[name][0]
            values = ends[i]
            if "threshold" in dims:
                if used_distance is not None:
                    variables[f"{name}_at_threshold_{side}"] = dims[1:], values[-1]
                values = values[:-1][in_order_of_scores(inputs.kind)]
            variables[f"{name}_{side}"] = dims, values
    return variables
