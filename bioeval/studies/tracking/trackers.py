"""Several trackers on the same sequences: which is better, and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import xarray as xr

from bioeval.base.errors import (
    Argument,
    BioevalError,
    DataError,
    Words,
    counted,
    received,
    require_choice,
)
from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.base.random import RandomState, seed_sequence
from bioeval.base.version import __version__
from bioeval.stats.options import IntervalMethod
from bioeval.stats.simultaneous import (
    Differences,
    drawn_deviations,
    jackknife_errors,
    least_discordant,
    normal_draws,
)
from bioeval.studies.compare.results import ComparedMeasure, comparison_dataset
from bioeval.studies.tracking.inputs import LISTED, names_of_sequences
from bioeval.studies.tracking.intervals import (
    FEWEST,
    NEW_SEQUENCES,
    PARTS_OF_SEQUENCE,
    SequenceSums,
    interval_attrs,
    interval_messages,
)
from bioeval.studies.tracking.matching import EarlierPairing
from bioeval.studies.tracking.scalars import MEASURES, TrackingMeasure
from bioeval.studies.tracking.tracking import (
    Duplicates,
    Ignored,
    MostlyTracked,
    Parts,
    TrackingOptions,
    fingerprint,
    messages_of_sequences,
    sums_of_sequences,
)

#: What becomes of a tracker that cannot be read or evaluated.
InvalidTracker = Literal["raise", "leave-out"]
INVALID: tuple[InvalidTracker, ...] = get_args(InvalidTracker)

#: Measures that trackers are compared by unless others are asked for.
COMPARED = ("hota", "mota", "idf1")

#: Messages on the number of frames, which matter to rates per frame alone.
_OF_FRAMES = ("frames-not-given", "frames-without-rows")


def compare_trackers(
    truth: Any,
    trackers: Mapping[str, Any],
    *,
    measures: Sequence[str] = COMPARED,
    iou: float = 0.5,
    frames: Any = None,
    pairing: EarlierPairing = "last-known",
    mostly_tracked: MostlyTracked = "at-least",
    ignored: Ignored = "motchallenge",
    duplicates: Duplicates = "raise",
    parts: Parts = "sequences",
    columns: str = "motchallenge",
    confidence: float = IntervalMethod.CONFIDENCE,
    blocks: int | None = None,
    random_state: RandomState = 0,
    invalid: InvalidTracker = "raise",
) -> xr.Dataset:
    """Compare trackers on the same sequences: differences, ranks, and what cannot be told apart.

    Parameters
    ----------
    truth : path, array or mapping
        The ground truth, as for :func:`tracking`.
    trackers : mapping of str to path, array or mapping
        The result of each of two trackers or more, by its name, as for :func:`tracking`. A folder
        may have the files in a folder ``data``, as TrackEval has them. Sequences that some tracker
        lacks are left out for all of them, and named in a message.
    measures : sequence of str
        Names of measures of :func:`tracking`, such as ``"deta"``, ``"assa"`` and ``"motp"``.
    iou, frames, pairing, mostly_tracked, ignored, duplicates, parts, columns, blocks
        As for :func:`tracking`, the same for all trackers.
    confidence : float
        Of the interval of each value by itself, and of all differences of a measure together.
    random_state : int
        Seed of the draws for the limits of three trackers or more.
    invalid : {"raise", "leave-out"}
        Whether a tracker that cannot be read or evaluated is an error, or is left out with a
        message.

    Returns
    -------
    xarray.Dataset
        Over ``system`` (the tracker) and ``measure``: ``value value_low value_high``, ``rank`` (1
        is the best), ``rank_low rank_high`` (the ranks that the tracker may have) and ``letters``:
        trackers that share one cannot be told apart. Over ``system, other_system, measure``:
        ``difference difference_low difference_high p_value``, and ``separated``, 1 where the
        tracker is shown to be better than the other one, -1 where it is shown to be worse. The
        attribute ``sequences`` is the number of sequences that all trackers have.

    Raises
    ------
    DataError
        If there are fewer than two trackers, a name of a measure is unknown, or no sequence is
        common to all trackers; and as for :func:`tracking`.

    Notes
    -----
    Measures are of the counts of all sequences together. The error of a difference of two trackers
    is that of the jackknife over sequences, one sequence left out of both. Two trackers have
    Student's limits, with a degree of freedom less than there are sequences; those of more hold for
    all pairs together (max-t). There are limits from 12 sequences on. Two trackers that have
    another value in fewer than six sequences are not told apart. Measures are not adjusted for
    their number.

    References
    ----------
    Romano, Wolf, "Exact and approximate stepdown methods for multiple hypothesis testing", 2005.
    Mogstad, Romano, Shaikh, Wilhelm, "Inference for ranks", 2024. Piepho, "An algorithm for a
    letter-based representation of all-pairwise comparisons", 2004.

    Examples
    --------
    Tracker B misses a box of each sequence, and two boxes of some; tracker A misses none.

    >>> import bioeval as be
    >>> boxes = [(f, who, 100 * who, 0, 40, 80) for f in (1, 2, 3) for who in (1, 2)]
    >>> truth = {f"video {i}": boxes for i in range(12)}
    >>> fewer = {f"video {i}": boxes[1 + i % 2 :] for i in range(12)}
    >>> ds = be.compare_trackers(truth, {"A": truth, "B": fewer}, measures=["mota"])
    >>> ds["value"].sel(measure="MOTA").values.tolist()
    [1.0, 0.75]
    >>> ds.separated.sel(measure="MOTA", system="A", other_system="B").item()
    1
    """
    options = TrackingOptions.parse(
        iou=iou,
        pairing=pairing,
        mostly_tracked=mostly_tracked,
        ignored=ignored,
        duplicates=duplicates,
        parts=parts,
        columns=columns,
        blocks=blocks,
    )
    wanted = _measures(measures)
    confidence = IntervalMethod.check_confidence(confidence)
    seed = seed_sequence(random_state)
    require_choice("invalid", invalid, INVALID)
    _require_trackers(trackers)
    found = _Trackers(truth, trackers, options, frames, leave_out=invalid == "leave-out")
    evaluated = [x.sums for x in found.evaluated.values()]
    names, messages = list(found.evaluated), found.messages
    by_tracker = [x.messages for x in found.evaluated.values()]
    sequences = len(evaluated[0].video)
    videos = evaluated[0].videos
    per_frame = any(measure.units.endswith("/frame") for measure in wanted)
    for message in _joined(names, by_tracker):
        if per_frame or message.code not in _OF_FRAMES:
            messages.append(message)
    messages += interval_messages(sequences, videos)
    normal = normal_draws(videos, seed) if videos >= FEWEST else np.empty((videos, 0))
    population = NEW_SEQUENCES if blocks is None else PARTS_OF_SEQUENCE
    ranked = [ranked_measure(x, evaluated, confidence, normal, population) for x in wanted]
    attrs = {
        "trackers": len(names),
        "sequences": sequences,
        **options.attrs(),
        **interval_attrs(confidence, videos, options.attrs()),
        "confidence": confidence,
        "adjust": "none",
        "least_discordant": least_discordant(confidence),
        "fingerprint": "; ".join(x.fingerprint for x in found.evaluated.values()),
        "bioeval_version": __version__,
    }
    return comparison_dataset(names, ranked, attrs, messages)


@dataclass(frozen=True)
class _Evaluated:
    """One tracker on the sequences that all trackers have."""

    sums: SequenceSums
    messages: list[Message]
    fingerprint: str


class _Trackers:
    """All trackers on their common sequences, without those that are left out."""

    def __init__(
        self,
        truth: Any,
        trackers: Mapping[str, Any],
        options: TrackingOptions,
        frames: Any,
        *,
        leave_out: bool,
    ):
        """Evaluate the trackers; again where others have more in common without one of them."""
        self.truth, self.options, self.frames = truth, options, frames
        self.evaluated: dict[str, _Evaluated] = {}
        #: What is left out, and what the trackers have in common.
        self.messages: list[Message] = []
        known, left_out = dict(trackers), dict[str, str]()
        evaluated_on: set[str] | None = None
        while True:
            if leave_out:
                left_out |= self._unusable(known)
                known = {x: result for x, result in known.items() if x not in left_out}
            self._require_two(known, left_out)
            common, messages = _common(truth, known)
            if common == evaluated_on:
                break
            evaluated_on, self.evaluated = common, {}
            for name, result in list(known.items()):
                try:
                    self.evaluated[name] = self._evaluated(name, result, common)
                except BioevalError as error:
                    if not leave_out:
                        raise
                    left_out[name] = str(error)
                    del known[name]
        self.messages = [
            Message("system-left-out", system=name, reason=left_out[name])
            for name in trackers
            if name in left_out
        ]
        self.messages += messages

    def _unusable(self, trackers: Mapping[str, Any]) -> dict[str, str]:
        """Return why some trackers have no result of any sequence."""
        names = {*names_of_sequences(self.truth, "truth")}
        reasons = {}
        for tracker, result in trackers.items():
            try:
                present = {*names_of_sequences(result, _role(tracker))}
            except BioevalError as error:
                reasons[tracker] = str(error)
                continue
            if names.isdisjoint(present) and ("" in names) == ("" in present):
                number = counted(len(names), "sequences")
                reasons[tracker] = f"it has a result of none of the {number} of the ground truth"
        return reasons

    def _evaluated(self, name: str, result: Any, common: set[str]) -> _Evaluated:
        with stage(f"matching {name}"):
            scenes, measured, remarks = self.options.measured(
                self.truth, result, self.frames, _role(name), common
            )
        messages = messages_of_sequences(scenes, measured, self.options.attrs(), remarks)
        return _Evaluated(sums_of_sequences(scenes, measured), messages, fingerprint(scenes))

    @staticmethod
    def _require_two(known: Mapping[str, Any], left_out: Mapping[str, str]) -> None:
        if len(known) < 2:
            raise DataError(
                f"two trackers or more are needed for a comparison, and all but {len(known)} are "
                "left out: ",
                "; ".join(f"{name}: {reason}" for name, reason in left_out.items()),
            )


def _role(name: str) -> Words:
    """Return what errors call the result of a tracker."""
    return Words(Argument("trackers"), f"[{name!r}]")


def _measures(names: Sequence[str]) -> list[TrackingMeasure]:
    """Return the measures of these names."""
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise DataError(
            Argument("measures"),
            f" is {received(names)}; expected a list of names, such as {list(COMPARED)}",
        )
    for name in names:
        require_choice(Words("a name in ", Argument("measures")), name, MEASURES)
        if names.count(name) > 1:
            raise DataError(Argument("measures"), f" names {name!r} twice; expected each once")
    return [MEASURES[name] for name in names]


def _require_trackers(trackers: Any) -> None:
    """Raise unless there are two trackers with names."""
    if not isinstance(trackers, Mapping):
        raise DataError(
            Argument("trackers"),
            f" is {type(trackers).__name__}; expected a mapping of names to results",
        )
    for name in trackers:
        if not isinstance(name, str) or not name:
            raise DataError(
                Argument("trackers"), f" has the name {name!r}; expected text that is not empty"
            )
    if len(trackers) < 2:
        raise DataError(
            Argument("trackers"), f" has {len(trackers)} of them; expected two or more to compare"
        )


def _common(truth: Any, trackers: Mapping[str, Any]) -> tuple[set[str], list[Message]]:
    """Return the sequences that all trackers have, and a message on the others."""
    names = names_of_sequences(truth, "truth")
    lacking: dict[str, list[str]] = {}
    for tracker, result in trackers.items():
        present = set(names_of_sequences(result, _role(tracker)))
        if ("" in names) != ("" in present):  # reading them says what is wrong
            present = set(names)
        lacking[tracker] = [name for name in names if name not in present]
    left_out = sorted({name for of_tracker in lacking.values() for name in of_tracker})
    common = set(names) - set(left_out)
    if not common:
        fewest = max(lacking, key=lambda tracker: len(lacking[tracker]))
        raise DataError(
            f"no sequence of the ground truth has a result of all {len(trackers)} trackers; "
            f"{fewest} lacks {len(lacking[fewest])} of {len(names)}, such as {lacking[fewest][0]}"
        )
    if not left_out:
        return common, []
    return common, [
        Message(
            "sequences-not-in-common",
            left_out=len(left_out),
            sequences=len(names),
            names=left_out[:LISTED],
            trackers={tracker: len(of) for tracker, of in lacking.items() if of},
        )
    ]


def _joined(trackers: Sequence[str], by_tracker: Sequence[Sequence[Message]]) -> list[Message]:
    """Return the messages of all trackers, each with its trackers where not all have it."""
    about: dict[Message, list[str]] = {}
    for tracker, messages in zip(trackers, by_tracker, strict=True):
        for message in messages:
            about.setdefault(message, []).append(tracker)
    joined = []
    for message, names in about.items():
        joined.append(message if len(names) == len(trackers) else message.concerning(*names))
    return joined


def ranked_measure(
    measure: TrackingMeasure,
    trackers: Sequence[SequenceSums],
    confidence: float,
    normal: np.ndarray,
    population: str,
) -> ComparedMeasure:
    """Return a measure of all trackers, with their differences."""
    values = np.array([tracker.value(measure) for tracker in trackers])
    limits = np.array([tracker.limits(measure, confidence) for tracker in trackers])
    number, videos = len(trackers), trackers[0].videos
    discordant = _discordant(measure, trackers)
    if videos < FEWEST:
        deviations = np.zeros((number, 0))
        comparable = np.zeros((number, number), dtype=bool)
        spread = np.full((number, number), np.nan)
    else:
        without = np.array([tracker.without(measure) for tracker in trackers])
        known = ~np.isnan(without).any(axis=1) & ~np.isnan(values)
        without[~known] = 0.0  # a tracker without values is compared with no other
        deviations = drawn_deviations(without, normal)
        spread = jackknife_errors(without)
        comparable = discordant >= least_discordant(confidence)
        comparable &= known[:, None] & known
    differences = Differences.of(
        values,
        deviations,
        comparable,
        confidence,
        videos - 1,
        spread=spread,
        widest=measure.bounds[1] - measure.bounds[0],
    )
    return ComparedMeasure(
        scalar=measure,
        values=values,
        limits=(limits[:, 0], limits[:, 1]),
        differences=differences,
        discordant=discordant,
        population=population,
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
