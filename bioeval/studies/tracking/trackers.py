"""Several trackers on the same sequences: which is better, and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, DataError, received, require_choice
from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.base.version import __version__
from bioeval.stats.options import IntervalMethod
from bioeval.stats.simultaneous import Differences, least_discordant
from bioeval.studies.compare.results import ComparedMeasure, comparison_dataset
from bioeval.studies.tracking.counting import TrackingOptions
from bioeval.studies.tracking.inputs import LISTED, SequenceSource, frames_given, sources_of
from bioeval.studies.tracking.intervals import FEWEST, METHOD, SequenceSums
from bioeval.studies.tracking.matching import fingerprint
from bioeval.studies.tracking.scalars import COMPARED, MEASURES, TrackingMeasure


def compare_trackers(
    truth: Any,
    trackers: Mapping[str, Any],
    frames: Any,
    options: TrackingOptions,
    measures: Sequence[str],
    method: IntervalMethod,
) -> xr.Dataset:
    """Compare trackers on the same sequences: differences, ranks, and what cannot be told apart."""
    wanted = _measures(measures)
    for name in trackers:
        if not isinstance(name, str) or not name:
            raise DataError(
                f"{Argument('result')} has the name {name!r}; expected text that is not empty"
            )
    if len(trackers) < 2:
        raise DataError(
            f"{Argument('result')} has {len(trackers)} tracker by name; expected two or more to "
            "compare, or its result alone"
        )
    truths = sources_of(truth, "truth")
    given = frames_given(frames, truths)
    results = {name: sources_of(result, _role(name)) for name, result in trackers.items()}
    common, messages = _common(truths, results)
    evaluated = {}
    for name, result in results.items():
        with stage(f"matching {name}"):
            evaluated[name] = options.evaluate(common, result, given, _role(name))
    sums = [x.sums for x in evaluated.values()]
    per_frame = any(measure.units.endswith("/frame") for measure in wanted)
    messages += [
        message
        for message in _joined({name: x.messages for name, x in evaluated.items()})
        if per_frame or message.code != "frames-not-given"
    ]
    messages += sums[0].messages()
    confidence = method.confidence
    ranked = [ranked_measure(x, sums, confidence) for x in wanted]
    attrs = {
        "trackers": len(trackers),
        "sequences": len(sums[0].video),
        **options.attrs(),
        **next(iter(evaluated.values())).class_attrs(),
        **sums[0].attrs(method),
        "confidence": confidence,
        "adjust": "none",
        "least_discordant": least_discordant(confidence),
        "fingerprint": "; ".join(fingerprint(x.scenes) for x in evaluated.values()),
        "bioeval_version": __version__,
    }
    return comparison_dataset([*evaluated], ranked, attrs, messages)


def _role(name: str) -> str:
    """Return what errors call the result of a tracker."""
    return f"{Argument('result')}[{name!r}]"


def _measures(names: Sequence[str]) -> list[TrackingMeasure]:
    """Return the measures of these names."""
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise DataError(
            f"{Argument('measures')} is {received(names)}; expected a list of names, such as "
            f"{list(COMPARED)}"
        )
    names = [x.casefold() if isinstance(x, str) else x for x in names]  # HOTA is hota
    for name in names:
        require_choice(f"a name in {Argument('measures')}", name, MEASURES)
        if names.count(name) > 1:
            raise DataError(f"{Argument('measures')} names {name!r} twice; expected each once")
    return [MEASURES[name] for name in names]


def _common(
    truths: Mapping[str, SequenceSource], trackers: Mapping[str, Mapping[str, SequenceSource]]
) -> tuple[dict[str, SequenceSource], list[Message]]:
    """Return the sequences that all trackers have, and a message on the others."""
    lacking = {
        tracker: [name for name in truths if name not in results]
        for tracker, results in trackers.items()
        if ("" in results) == ("" in truths)  # reading others says what is wrong
    }
    left_out = sorted({name for of_tracker in lacking.values() for name in of_tracker})
    common = {name: source for name, source in truths.items() if name not in left_out}
    if not common:
        fewest = max(lacking, key=lambda tracker: len(lacking[tracker]))
        raise DataError(
            f"no sequence of the ground truth has a result of all {len(trackers)} trackers; "
            f"{fewest} lacks {len(lacking[fewest])} of {len(truths)}, such as {lacking[fewest][0]}"
        )
    if not left_out:
        return common, []
    about: dict[str, Any] = {"left_out": len(left_out), "sequences": len(truths)}
    about["trackers"] = {tracker: len(of) for tracker, of in lacking.items() if of}
    return common, [Message("sequences-not-in-common", names=left_out[:LISTED], **about)]


def _joined(by_tracker: Mapping[str, Sequence[Message]]) -> list[Message]:
    """Return the messages of all trackers, each with its trackers where not all have it."""
    about: dict[Message, list[str]] = {}
    for tracker, messages in by_tracker.items():
        for message in messages:
            about.setdefault(message, []).append(tracker)
    return [
        message if len(names) == len(by_tracker) else message.concerning(*names)
        for message, names in about.items()
    ]


def ranked_measure(
    measure: TrackingMeasure, trackers: Sequence[SequenceSums], confidence: float
) -> ComparedMeasure:
    """Return a measure of all trackers, with their differences."""
    values = np.array([tracker.value(measure) for tracker in trackers])
    limits = np.array([tracker.limits(measure, confidence) for tracker in trackers])
    discordant = _discordant(measure, trackers)
    without = np.empty((len(trackers), 0))
    if trackers[0].videos >= FEWEST:
        without = np.array([tracker.without(measure) for tracker in trackers])
    differences = Differences.of(
        np.column_stack([values, without]),
        discordant >= least_discordant(confidence),
        confidence,
        widest=measure.bounds[1] - measure.bounds[0],
    )
    return ComparedMeasure(
        scalar=measure,
        values=values,
        limits=(limits[:, 0], limits[:, 1]),
        differences=differences,
        discordant=discordant,
        population="new sequences",
        method=METHOD,
    )


def _discordant(measure: TrackingMeasure, trackers: Sequence[SequenceSums]) -> np.ndarray:
    """Return in how many videos two trackers have another value, shape (trackers, trackers)."""
    of_each = np.array([tracker.of_each(measure) for tracker in trackers])
    values = np.where(np.isnan(of_each), np.inf, of_each)  # equal where neither is defined
    differ = values[:, None] != values
    video, videos = trackers[0].video, trackers[0].videos
    counted = np.zeros((len(trackers), len(trackers), videos), dtype=bool)
    for sequence, of in enumerate(video.tolist()):
        counted[:, :, of] |= differ[:, :, sequence]
    return counted.sum(axis=-1)
