"""Presentation attack detection: errors by attack instrument species (ISO/IEC 30107-3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import xarray as xr

from bioeval.attempts.thresholds import check_thresholds, to_internal, to_user
from bioeval.base.arguments import require_array, require_numbers
from bioeval.base.errors import Argument, DataError, require_choice
from bioeval.base.messages import Message, message_attrs
from bioeval.base.scalars import Name
from bioeval.base.version import __version__
from bioeval.results.dataset import Variables, along, build
from bioeval.stats.options import IntervalMethod
from bioeval.studies.attacks.counts import (
    DetectionRule,
    Potential,
    Presentations,
    RateBootstrap,
    presentations_of,
    spaced_thresholds,
)
from bioeval.studies.attacks.scores import BONA_FIDE, in_order_of_scores

#: APCER targets that are reported by default: BPCER10, BPCER20 and BPCER100.
APCER_TARGETS = (0.1, 0.05, 0.01)

NonResponse = Literal["exclude", "reject"]
NON_RESPONSE: tuple[NonResponse, ...] = get_args(NonResponse)

_NO_LIMITS = (np.array([math.nan]), np.array([math.nan]))

ValuedKind = Literal["distance", "similarity", "llr"]

# What a result holds for, by what is resampled.
_NEW = {
    ("subjects",): "new people, these instruments",
    ("instrument",): "new instruments of these species, each bona fide presentation by itself",
    ("subjects", "instrument"): "new people, and new instruments of these species",
}

# Fewer instruments of a species are warned of.
LEAST_INSTRUMENTS = 10


def pad(
    values: Any,
    attack: Any,
    *,
    kind: ValuedKind = "similarity",
    thresholds: Any = None,
    apcer_targets: Any = APCER_TARGETS,
    threshold: Any = None,
    dev: tuple[Any, Any] | None = None,
    non_response: NonResponse = "exclude",
    potential: Potential | None = None,
    instrument: Any = None,
    subjects: Any = None,
    interval: RateBootstrap | IntervalMethod | None = None,
    name: str = "",
) -> xr.Dataset:
    """Evaluate presentation attack detection: APCER by species against BPCER.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        One detection score a presentation; NaN where detection gave no response.
    attack : array_like of str, shape (n,)
        The attack instrument species of each presentation; empty or ``"bona fide"`` for bona fide.
    kind : {"similarity", "distance", "llr"}
        Whether larger scores mean bona fide, and a presentation is classified bona fide at or above
        the threshold, or smaller ones, at or below it.
    thresholds : None, int or array_like, optional
        As for :func:`bioeval.verification`.
    apcer_targets : array_like of float
        At which BPCER is reported: 0.1, 0.05 and 0.01 are BPCER10, BPCER20 and BPCER100.
    threshold : float or str, optional
        A number, or a rule: ``"apcer=x"``, the loosest point with APCER at most `x`;
        ``"bpcer=x"``, the strictest with BPCER at most `x`; ``"d_eer"``.
    dev : tuple of two array_like, optional
        Scores and species of a development set, on which the rule chooses.
    non_response : {"exclude", "reject"}
        Whether presentations without a response leave the denominators of APCER and BPCER, or are
        rejected at every threshold.
    potential : tuple of a mapping and a level, optional
        The attack potential of each species, and the largest one whose species are in ``apcer``,
        its targets and ``d_eer``.
    instrument, subjects : array_like, shape (n,), optional
        The object presented, for attacks, and the person, which intervals resample.
    interval : {"subject-bootstrap", "subject-bootstrap-logit"}, optional
        Adds ``_low`` and ``_high`` of each rate and of ``d_eer``; needs `subjects` or
        `instrument`. The method is that of the pooled APCER. All others have the limits of Korn and
        Graubard (1998), by the variance over resampled people and instruments, those of ``d_eer``
        and ``bpcer_at_apcer`` with the uncertainty of their thresholds.
    name : str
        Name of the detector.

    Returns
    -------
    xarray.Dataset
        Over ``threshold, species``: ``apcer_of_species``; over ``threshold``: ``apcer``, the
        largest over the species, ``apcer_pooled`` over all attack presentations, and ``bpcer``.
        Over ``apcer_target``: ``threshold_at_apcer`` and ``bpcer_at_apcer``. Scalars ``d_eer`` and
        ``d_eer_threshold``. Over ``species``: ``presentations_of_species``,
        ``non_responses_of_species``, ``apnrr_of_species``, ``in_apcer``; scalars ``bona_fide``,
        ``bona_fide_non_responses``, ``bpnrr``. With `threshold` ``threshold_used``,
        ``apcer_of_species_at_threshold``, ``apcer_at_threshold``, ``apcer_pooled_at_threshold``,
        ``bpcer_at_threshold`` and ``acer``, their mean, which ISO/IEC 30107-3 does not have.

    Raises
    ------
    DataError
        Bad options or lengths; no bona fide or no attack presentation; species whose names differ
        in case alone.

    Notes
    -----
    ISO/IEC 30107-3:2023: APCER is of each species, and that of a system the largest among species
    of one attack potential. Pooled, it depends on how often each species was presented. Points are
    reject-all and each distinct score; nothing is read off the thresholds of the curves.
    ``docs/attack-detection.md`` compares the terms of other programs.

    Examples
    --------
    >>> import bioeval as be
    >>> values = [0.9, 0.8, 0.6, 0.3, 0.7, 0.2, 0.1, 0.4, 0.35]
    >>> attack = ["", "", "", "", "mask", "mask", "mask", "print", "print"]
    >>> ds = be.pad(values, attack, threshold=0.5)
    >>> [round(float(ds[x]), 3) for x in ("apcer_at_threshold", "bpcer_at_threshold", "d_eer")]
    [0.333, 0.25, 0.333]
    """
    require_choice("kind", kind, get_args(ValuedKind))
    require_choice("non_response", non_response, NON_RESPONSE)
    given_thresholds, targets = check_thresholds(thresholds), _targets(apcer_targets)
    data = presentations_of(values, attack, kind, non_response, potential)
    rule = DetectionRule.parse(threshold) if threshold is not None else None
    if dev is not None and (rule is None or rule.name == "fixed"):
        raise DataError(
            Argument("dev"), " needs a rule as ", Argument("threshold"), ", such as d_eer"
        )
    options = IntervalMethod.of(interval, get_args(RateBootstrap))
    units = _units(data, subjects, instrument)
    warnings = [*_doubts(data, targets, units.get("instrument"))]
    points = [data.at_apcer(x) for x in targets.tolist()]
    at_target = _pick(data.points.threshold, points)
    made = {
        "threshold_at_apcer": (("apcer_target",), to_user(at_target, kind)),
        "bpcer_at_apcer": (("apcer_target",), _pick(data.points.fr, points)),
        "d_eer": data.d_eer.eer,
        "d_eer_threshold": to_user(data.d_eer.eer_threshold, kind),
        **_responses(data),
    }
    at = None
    attrs: dict[str, str | int | float] = {}
    if rule is not None:
        at, attrs = _chosen(rule, data, dev, kind, potential, warnings)
        made |= _at_threshold(data, at, kind)
    grid = _grid(
        data,
        given_thresholds,
        [*at_target.tolist(), data.d_eer.eer_threshold, at or math.nan],
        kind,
    )
    inside = to_internal(grid, kind)
    order = in_order_of_scores(kind)
    for rate, curve in data.rates(inside).items():
        made[rate] = ("threshold", "species")[: curve.ndim], curve[order]
    if options is not None:
        from bioeval.studies.attacks.intervals import KORN_GRAUBARD, presentation_limits

        places = np.append(inside, math.nan if at is None else at)
        limits = presentation_limits(data, units, options, places, targets)
        low, high = limits.pop("d_eer", _NO_LIMITS)
        made["d_eer_low"] = float(low[0])
        made["d_eer_high"] = float(high[0])
        at_targets = limits.pop("bpcer_at_apcer")
        for side, ends in zip(("low", "high"), at_targets, strict=True):
            made[f"bpcer_at_apcer_{side}"] = ("apcer_target",), ends
        for rate, (low, high) in limits.items():
            for side, every in (("low", low), ("high", high)):
                made[f"{rate}_{side}"] = made[rate][0], every[:-1][order]
                if at is not None:
                    made[f"{rate}_at_threshold_{side}"] = made[rate][0][1:], every[-1]
        attrs |= {"interval_method": options.method, "confidence": options.confidence}
        attrs |= {"resampled": " and ".join(units)}
        attrs |= {"apcer_interval": KORN_GRAUBARD, "interval_for": _NEW[tuple(units)]}
    if math.isnan(data.d_eer.eer):
        warnings.append(Message("d-eer-undefined"))
    about = {
        "result_type": "presentation-attacks",
        "task": "presentation attack detection",
        "system": name,
        "kind": kind,
        "non_response": non_response,
        "potential": "" if potential is None else str(potential[1]),
        **attrs,
        "bioeval_version": __version__,
        **message_attrs(warnings),
    }
    species = np.array(data.species, dtype=str)
    coordinates = {"threshold": grid, "species": species, "apcer_target": targets}
    return build(made, NAMES, coordinates, about)


def _targets(targets: Any) -> np.ndarray:
    """Return APCER targets as an array."""
    return require_numbers(
        "apcer_targets", targets, "rates from 0 to 1", lambda x: ((x >= 0) & (x <= 1)).all()
    )


def _pick(values: np.ndarray, points: Sequence[int | None]) -> np.ndarray:
    """Return values at points; NaN where there is none."""
    return np.array([math.nan if i is None else values[i] for i in points], dtype=np.float64)


def _responses(data: Presentations) -> Variables:
    """Return the numbers of presentations, and the rates of those without a response."""
    codes, failed = data.codes, np.isnan(data.distances)
    number = np.bincount(codes[codes >= 0])
    silent = np.bincount(codes[failed & (codes >= 0)], minlength=len(number))
    bona_fide = int((codes == BONA_FIDE).sum())
    none = int((failed & (codes == BONA_FIDE)).sum())
    return {
        **along(
            ("species",),
            presentations_of_species=number,
            non_responses_of_species=silent,
            apnrr_of_species=silent / number,
            in_apcer=data.counted.astype(np.int64),
        ),
        "bona_fide": bona_fide,
        "bona_fide_non_responses": none,
        "bpnrr": none / bona_fide,
    }


def _doubts(
    data: Presentations, targets: np.ndarray, instruments: np.ndarray | None
) -> Iterator[Message]:
    """Yield warnings of species that are small or without a response."""
    positive = targets[targets > 0]
    least = 3 / float(positive.min()) if len(positive) else 0.0
    small, silent, few_objects = {}, [], {}
    for i, name in enumerate(data.species):
        here = data.codes == i
        number = int(here.sum())
        if number < least:
            small[name] = number
        if not data.of(i, answered=True):
            silent.append(name)
        if instruments is not None:
            objects = len(np.unique(instruments[here]))
            if objects < LEAST_INSTRUMENTS:
                few_objects[name] = objects
    if small:
        yield Message(
            "too-few-presentations",
            rate="APCER",
            target=float(positive.min()),
            needed=math.ceil(least),
            species=small,
        )
    if silent:
        yield Message("species-without-response", species=silent)
    if not data.of(BONA_FIDE, answered=True):
        yield Message("no-bona-fide-response")
    if few_objects:
        yield Message("few-instruments", needed=LEAST_INSTRUMENTS, species=few_objects)


def _chosen(
    rule: DetectionRule,
    data: Presentations,
    dev: Any,
    kind: str,
    potential: Any,
    warnings: list[Message],
) -> tuple[float | None, dict[str, str | int | float]]:
    """Return the distance that a rule chooses, and where it was chosen."""
    source, chosen_on, written = data, "the same data; errors there are optimistic", str(rule)
    if rule.name == "fixed":
        rule = replace(rule, value=to_user(rule.value, kind))
        chosen_on = "given"
    elif dev is not None:
        if not isinstance(dev, (tuple, list)) or len(dev) != 2:
            raise DataError(Argument("dev"), ": expected two arrays, scores and species")
        scores, species = dev
        source = presentations_of(scores, species, kind, data.non_response, potential, "dev: ")
        chosen_on = "the development set"
    at = source.chosen(rule)
    if at is None:
        warnings.append(Message("no-point-for-rule", rule=written))
    elif math.isnan(at):
        warnings.append(Message("detection-rejects-all"))
    return at, {"chosen_on": chosen_on, "threshold_rule": written}


def _at_threshold(data: Presentations, at: float | None, kind: str) -> Variables:
    """Return the rates at a threshold; NaN where there is none."""
    used = math.nan if at is None else at
    rates = data.rates(np.array([used]))
    variables = {}
    for name, values in rates.items():
        if at is None:
            values[:] = math.nan
        variables[f"{name}_at_threshold"] = ("species",) * (values.ndim - 1), values[0]
    variables["threshold_used"] = to_user(used, kind)
    variables["acer"] = (rates["apcer"][0] + rates["bpcer"][0]) / 2
    return variables


def _grid(
    data: Presentations,
    given_thresholds: np.ndarray | int | None,
    points: Sequence[float],
    kind: str,
) -> np.ndarray:
    """Return the thresholds of the curves: as given, or evenly spaced with the operating points."""
    if isinstance(given_thresholds, np.ndarray):
        return given_thresholds
    grid = spaced_thresholds(data.distances, kind, given_thresholds)
    if given_thresholds is None:
        more = to_user(np.array(points, dtype=np.float64), kind)
        grid = np.concatenate([grid, more[np.isfinite(more)]])
    return np.unique(grid)


def _units(data: Presentations, subjects: Any, instrument: Any) -> dict[str, np.ndarray]:
    """Return the codes of the subject and the instrument of each presentation, if known."""
    units = {}
    for name, values in (("subjects", subjects), ("instrument", instrument)):
        if values is None:
            continue
        labels = require_array(name, values)
        if labels.shape != data.codes.shape:
            raise DataError(
                Argument(name),
                f" has shape {labels.shape}; expected {data.codes.shape}, one for each "
                "presentation",
            )
        units[name] = np.unique(labels.astype(str), return_inverse=True)[1]
    return units


NAMES = {
    "apcer_target": Name("APCER not to be exceeded"),
    "apcer_of_species": Name(
        "proportion of attack presentations of a species classified bona fide", iso="APCER"
    ),
    "apcer": Name("largest APCER over the attack instrument species", iso="APCER"),
    "apcer_pooled": Name("proportion of all attack presentations classified bona fide"),
    "bpcer": Name("proportion of bona fide presentations classified as attacks", iso="BPCER"),
    "threshold_at_apcer": Name("loosest threshold with APCER at most the target"),
    "bpcer_at_apcer": Name("BPCER at the loosest threshold within the APCER target", iso="BPCER"),
    "d_eer": Name("detection equal error rate: APCER and BPCER cross"),
    "d_eer_threshold": Name("attainable threshold nearest to the detection equal error rate"),
    "presentations_of_species": Name("attack presentations of a species"),
    "non_responses_of_species": Name("attack presentations of a species without a response"),
    "apnrr_of_species": Name(
        "proportion of attack presentations of a species without a response", iso="APNRR"
    ),
    "in_apcer": Name("1 where apcer, the largest, is over the species, else 0"),
    "bona_fide": Name("bona fide presentations"),
    "bona_fide_non_responses": Name("bona fide presentations without a response"),
    "bpnrr": Name("proportion of bona fide presentations without a response", iso="BPNRR"),
    "threshold_used": Name("threshold chosen or given"),
    "acer": Name("mean of APCER and BPCER; no measure of ISO/IEC 30107-3"),
}
for _rate in ("apcer_of_species", "apcer", "apcer_pooled", "bpcer"):
    NAMES[f"{_rate}_at_threshold"] = replace(
        NAMES[_rate], long_name=f"{NAMES[_rate].long_name}, at the threshold used"
    )
_CHOSEN = ("apcer_target", "d_eer_threshold")
for _rate in list(NAMES):
    if _rate.startswith(("apcer", "bpcer", "d_eer")) and _rate not in _CHOSEN:
        for _side, _word in (("low", "lower"), ("high", "upper")):
            NAMES[f"{_rate}_{_side}"] = Name(f"{_word} confidence limit of {_rate}")
