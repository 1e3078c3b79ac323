"""Evaluation of tracking: CLEAR MOT, identity measures and HOTA of one tracker or of several.

The definition, for one sequence of frames::

    for frame in frames:  # boxes of targets against boxes of the result, by their overlap (IoU)
        pairs = earlier pairings that still overlap, and the best assignment of all other boxes
        tp += len(pairs), fn += targets without a pair, fp += boxes of the result without a pair
        idsw += pairs of a target with another identity than its last
    mota = 1 - (fn + fp + idsw) / boxes of targets

:func:`tracking` is the public call. What is counted of a sequence, and the formulas of measures,
are in :mod:`bioeval.studies.track_measures`; :class:`Evaluated` has all sequences of a tracker.
Several trackers are compared as by :func:`bioeval.compare`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_choice, require_list, require_listed_numbers
from bioeval.base.errors import DataError, Message, joined_messages, message_attrs, received
from bioeval.base.progress import report, stage
from bioeval.results.dataset import dataset, variables_over
from bioeval.results.variables import Variable
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.jackknife import student
from bioeval.stats.options import IntervalMethod, interval_of
from bioeval.stats.simultaneous import least_discordant
from bioeval.studies.boxes import (
    LISTED,
    SequenceSource,
    are_trackers,
    frames_of_sequences,
    read_sequences,
    sources_of,
)
from bioeval.studies.comparison import (
    FEWEST_SEQUENCES,
    ComparedMeasure,
    SystemMeasure,
    comparison_dataset,
)
from bioeval.studies.track_measures import (
    DISTRACTORS,
    HOTA,
    MEASURES,
    THRESHOLDS,
    Counts,
    EarlierPairing,
    Ignored,
    MatchSums,
    MostlyTracked,
    Scene,
    TrackingOptions,
    hota_at_alpha,
    values_of,
)

#: The measures by which trackers are compared by default.
COMPARED = ("hota", "mota", "idf1")


@warns_of_doubts
def tracking(
    truth: Any,
    result: Any,
    *,
    iou: float = 0.5,
    frames: Any = None,
    pairing: EarlierPairing = "last-known",
    mostly_tracked: MostlyTracked = "at-least",
    ignored: Ignored = "motchallenge",
    classes: Sequence[int] | None = None,
    interval: str | IntervalMethod | None = None,
    measures: Sequence[str] = COMPARED,
) -> xr.Dataset:
    """Evaluate tracking: CLEAR MOT, identity measures and HOTA of boxes against a ground truth.

    Parameters
    ----------
    truth, result : path, array of shape (n, 6) or more, or mapping of str to either
        Rows ``frame, id, left, top, width, height`` in pixels, with further columns as in the
        MOTChallenge format:

        - a file with commas or blanks, plain or gzip
        - an array, or a table of pandas with columns of these names or motmetrics', in any order
        - a folder of sequences: ``<sequence>/gt/gt.txt`` with ``<sequence>/seqinfo.ini``, or
          ``<sequence>.txt``; results as ``<sequence>.txt``, or in a folder ``data``
        - files and arrays by the names of sequences

        The results of several trackers by their names, ``{"A": result, "B": result}``, are compared
        on the sequences that all of them have.
    iou : float, in (0, 1]
        Smallest overlap (IoU) of a match. HOTA has thresholds of its own.
    frames : int, or mapping of sequence to int, optional
        Number of frames of a sequence. Default: the length in
        ``seqinfo.ini``, else the number of frames with rows in either file, ignored rows included.
    pairing : {"last-known", "previous-frame"}
        Earlier pairings that are kept: each target's last, or the last frame's. ``"last-known"``:
        each target's last, however long ago (Bernardin and Stiefelhagen; py-motmetrics).
        ``"previous-frame"``: only the pairings of the frame before (MOT16; TrackEval).
    mostly_tracked : {"at-least", "more-than"}
        Count a target tracked in exactly 80 % of its frames as mostly tracked, or not.
    ignored : {"motchallenge", "mot20", "remove", "count"}
        Result boxes on ignored ground truth: removed on distractors alone, all removed, or all
        counted. Ground truth is ignored if its flag is 0, or its class is not evaluated.

        - ``"motchallenge"``: boxes on distractors (classes 2, 7, 8 and 12) are removed, others are
          false positives
        - ``"mot20"``: likewise, and class 6 is a distractor
        - ``"remove"``: all are removed; ``"count"``: all are false positives
    classes : sequence of int, optional
        Classes of the ground truth to evaluate, by their numbers in column 8. Boxes of others are
        ignored ground truth. Default: 1, or all where `ignored` is ``"remove"`` or ``"count"``.

        With `classes`, column 8 is always a class. Without, rows of ten columns or more have
        classes if column 8 has whole numbers and column 9 a visibility from 0 to 1 everywhere, else
        world coordinates (MOTChallenge 2015).
    interval : {"sequence-jackknife"} or IntervalMethod, optional
        Add confidence intervals over sequences, from 12 sequences on. Measures of all sequences
        together have Student's intervals by the jackknife, on logits for measures between 0 and 1.
        The sequences of MOT17 that differ in ``-DPM``, ``-FRCNN`` and ``-SDP`` are one video, and
        are left out together. Several trackers always have them.
    measures : sequence of str
        Measures by which trackers are compared, such as hota, assa, idf1.

    Returns
    -------
    xarray.Dataset
        Scalars over everything:

        - ``mota``, ``motp``, ``motp_distance``, ``recall``, ``precision``, ``far``,
          ``fp_per_frame``
        - ``idp``, ``idr``, ``idf1``
        - ``hota``, ``deta``, ``assa``, ``detre``, ``detpr``, ``assre``, ``asspr``, ``loca``
        - counts of errors and targets: ``tp``, ``fn``, ``fp``, ``idsw``, ``fragmentations``,
          ``resumptions``, ``mt``, ``pt``, ``ml``, ``idtp``, ``idfn``, ``idfp``
        - counts of the data: ``frames``, ``frames_with_rows``, ``targets``, ``identities``,
          ``truth_boxes``, ``result_boxes``, ``ignored_truth_boxes``, ``removed_result_boxes``

        Over ``localisation_threshold`` (0.05, 0.1, ... 0.95): ``hota_at_alpha``, likewise its seven
        parts, and ``tp_at_alpha``.

        Over ``target``: ``frames_present``, ``frames_covered``, ``coverage``, ``target_switches``,
        ``target_fragmentations``, ``state``.

        With several sequences, the scalars come from the summed counts, and each is also over
        ``sequence``, such as ``sequence_mota``. With an `interval`, each measure has ``_low`` and
        ``_high``.

        With several trackers, a comparison as by :func:`bioeval.compare`: each measure over
        ``system``, with ranks and letters, and its differences over ``other_system``, too.

    Raises
    ------
    DataError
        If a row is malformed (with file and line), an id occurs twice in a frame, a row is beyond
        the last frame, or a sequence has no result; if no sequence is common to all trackers.

    Notes
    -----
    - ``mota = 1 - (fn + fp + idsw) / truth_boxes``
    - ``motp`` is the mean overlap of the matches, ``motp_distance`` the mean of 1 - overlap
    - ``far = (fn + fp + idsw) / frames``
    - ``idf1 = 2 idtp / (2 idtp + idfp + idfn)``
    - ``hota`` is the mean over 19 localisation thresholds of ``sqrt(DetA * AssA)``, and has a
      matching of its own, by the alignment of whole tracks

    ``docs/tracking.md`` has every definition. Of two trackers:

    - The error of a difference is by the jackknife: a sequence is left out of both.
    - Limits are Student's, with degrees of freedom after Satterthwaite, and hold for all pairs
      together (Bonferroni). Tests are adjusted for the number of pairs (Holm), not of measures.
    - Trackers whose values differ in fewer than six sequences are not compared.

    References
    ----------
    Bernardin, Stiefelhagen, "Evaluating multiple object tracking performance: the CLEAR MOT
    metrics", 2008. Milan et al., "MOT16", 2016. Ristani et al., "Performance measures and a data
    set for multi-target, multi-camera tracking", 2016. Tang et al., "CityFlow", 2019. Luiten et
    al., "HOTA: a higher order metric for evaluating multi-object tracking", 2021. Romano, Wolf,
    "Exact and approximate stepdown methods for multiple hypothesis testing", 2005.

    Examples
    --------
    Two people; the tracker confuses them in the last of three frames:

    >>> import bioeval as be
    >>> truth = [(f, who, 100 * who, 0, 40, 80) for f in (1, 2, 3) for who in (1, 2)]
    >>> result = [(f, who if f < 3 else 3 - who, 100 * who, 0, 40, 80)
    ...           for f in (1, 2, 3) for who in (1, 2)]
    >>> ds = be.tracking(truth, result)
    >>> int(ds.idsw), round(float(ds.mota), 3), round(float(ds.idf1), 3)
    (2, 0.667, 0.667)
    >>> round(float(ds.hota), 3), float(ds.deta), round(float(ds.assa), 3)
    (0.632, 1.0, 0.4)

    Tracker B misses a box of each of twelve sequences, and two boxes of some:

    >>> boxes = [(f, who, 100 * who, 0, 40, 80) for f in (1, 2, 3) for who in (1, 2)]
    >>> truth = {f"video {i}": boxes for i in range(12)}
    >>> fewer = {f"video {i}": boxes[1 + i % 2 :] for i in range(12)}
    >>> ds = be.tracking(truth, {"A": truth, "B": fewer}, measures=["mota"])
    >>> ds.mota.values.tolist()
    [1.0, 0.75]
    >>> ds.mota_separated.sel(system="A", other_system="B").item()
    1
    """
    options = TrackingOptions(iou, pairing, mostly_tracked, ignored, _checked_classes(classes))
    method = interval_of(interval, [METHOD])
    if are_trackers(truth, result):
        method = method or IntervalMethod(METHOD)
        return compare_trackers(truth, result, frames, options, measures, method)
    if [*map(str, require_list("measures", measures))] != [*COMPARED]:
        raise DataError(
            "`measures` is given, and trackers are compared by it; expected the "
            'results of several, as {"A": result, "B": result}'
        )
    truths = sources_of(truth, "truth")
    frames_of_sequence = frames_of_sequences(frames, truths)
    results = sources_of(result, "result")
    evaluated = Evaluated(options, truths, results, frames_of_sequence)
    return _tracking_dataset(evaluated, options, method)


#: The method of the intervals of tracking.
METHOD = "sequence-jackknife"

# The detectors of MOT17, which has each video once for each of them.
_DETECTIONS = re.compile(r"-(?:DPM|FRCNN|SDP)$")


class Evaluated:
    """The sequences of a result: counts and sums of HOTA, as arrays over sequences.

    A video is one sequence, or several sequences of the same video with different detections, as in
    MOT17.

    - `counts`, `sums`: over sequences; `targets`: the variables of all targets
    """

    def __init__(
        self,
        options: TrackingOptions,
        truths: Mapping[str, SequenceSource],
        results: Mapping[str, SequenceSource],
        frames: Mapping[str, int],
        role: str = "result",
    ):
        """Read, match and count each sequence; errors call the result `role`."""
        sequences, messages = read_sequences(
            truths, results, frames, role, with_class=options.classes is not None
        )
        present = set[int]()
        for sequence in sequences:
            present.update(sequence.truth.category.tolist())
        _require_classes(options.classes, present)
        numbered = max(present, default=0) >= 1

        scenes = list[Scene]()
        measured = []
        for sequence in sequences:
            report(0, 0)
            scene = Scene(sequence, options, numbered)
            scenes.append(scene)
            measured.append(options.measure(scene))
        self.counts = _joined_by_name([counts for counts, _, _ in measured], np.array)
        self.sums = _joined_by_name([sums for _, sums, _ in measured], np.array)
        self.targets = _joined_by_name([targets for _, _, targets in measured], np.concatenate)

        self.names = [scene.name for scene in scenes]
        videos = [_DETECTIONS.sub("", name) for name in self.names]
        _, video = np.unique(videos, return_inverse=True)
        #: The video of each sequence, int64 (sequences,), and the number of videos.
        self.video = video.reshape(-1)
        self.videos = int(self.video.max()) + 1

        for scene, matches in zip(scenes, self.counts["tp"].tolist(), strict=True):
            messages += _messages_on_scene(scene, matches, options.iou)
        messages += _messages_on_ignored(scenes, self.counts, options)
        frames_from = [scene.frames_from for scene in scenes]
        unknown = frames_from.count("rows")
        if unknown:
            messages.append(Message("frames-not-given", unknown=unknown, sequences=len(scenes)))
        self.messages = messages
        #: The places where the numbers of frames are stated, in words.
        self.frames_from = [*dict.fromkeys(frames_from)]
        self.fingerprint = _fingerprint(scenes)
        #: Attributes on the classes of the ground truth.
        self.classes = _class_attrs(scenes, present)

    @cached_property
    def total(self) -> tuple[Counts, MatchSums]:
        return (
            {name: values.sum(axis=0) for name, values in self.counts.items()},
            {name: values.sum(axis=0) for name, values in self.sums.items()},
        )

    @cached_property
    def values(self) -> dict[str, np.ndarray]:
        """Each measure of all sequences together."""
        return values_of(*self.total)

    @cached_property
    def sequence_values(self) -> dict[str, np.ndarray]:
        """Each measure of each sequence by itself, shape (sequences,)."""
        return values_of(self.counts, self.sums)

    @cached_property
    def values_without(self) -> dict[str, np.ndarray]:
        """Each measure without each video, shape (videos,).

        The sum over all other videos is the sum over the videos before it plus the sum over the
        videos after it. A difference, of the sum over all videos and the video, might not be
        exactly 0 if no other video has a match.
        """
        counts = {name: self._without_each_video(count) for name, count in self.counts.items()}
        sums = {name: self._without_each_video(values) for name, values in self.sums.items()}
        return values_of(counts, sums)

    def _without_each_video(self, values: np.ndarray) -> np.ndarray:
        """Return the sums of values over sequences, (sequences, ...), as (videos, ...)."""
        # By video, with a 0 before the first and after the last.
        by_video = np.zeros((self.videos + 2, *values.shape[1:]), dtype=values.dtype)
        np.add.at(by_video, 1 + self.video, values)
        before = np.cumsum(by_video, axis=0)[:-2]
        after = np.cumsum(by_video[::-1], axis=0)[::-1][2:]
        return before + after

    def limits(self, name: str, confidence: float) -> tuple[float, float]:
        """Return the limits of a measure; NaN with fewer than `FEWEST_SEQUENCES` videos."""
        if self.videos < FEWEST_SEQUENCES:
            return np.nan, np.nan
        columns = np.append(self.values[name], self.values_without[name])
        low, high = student(columns, confidence, self.videos, MEASURES[name].bounds)
        return float(low), float(high)

    def attrs(self, method: IntervalMethod) -> dict[str, str | float]:
        """Return the attributes of intervals; empty if there are too few videos for intervals."""
        if self.videos < FEWEST_SEQUENCES:
            return {}
        return {
            "interval_method": METHOD,
            "confidence": method.confidence,
            "interval_unit": "sequences",
            "interval_for": "new sequences",
        }

    def messages_on_videos(self) -> list[Message]:
        """Return messages on sequences of one video, and on too few sequences for intervals."""
        sequences, messages = len(self.video), []
        if self.videos < sequences:
            about = {"sequences": sequences, "videos": self.videos}
            messages.append(Message("sequences-of-one-video", **about))
        if self.videos < FEWEST_SEQUENCES:
            messages.append(
                Message("few-sequences", sequences=self.videos, needed=FEWEST_SEQUENCES)
            )
        return messages


def _require_classes(classes: Sequence[int] | None, present: set[int]) -> None:
    """Raise an error if a class to evaluate is not among those of the ground truth."""
    if classes is None:
        return
    missing = [number for number in classes if number not in present]
    if missing:
        present_classes = _listed_classes(present) or "no rows"
        raise DataError(
            f"`classes` has {missing[0]}, which no row of the ground truth has; "
            f"its classes are: {present_classes}"
        )


def _joined_by_name(
    tables: Sequence[Mapping[str, Any]], join: Callable[[list[Any]], np.ndarray]
) -> dict[str, np.ndarray]:
    """Join what the tables, one of each sequence, have under each of their common names."""
    joined = {}
    for name in tables[0]:
        joined[name] = join([table[name] for table in tables])
    return joined


def _messages_on_scene(scene: Scene, matches: int, iou: float) -> list[Message]:
    """Return the remarks on a sequence, with its name if it has one."""
    messages = [*scene.notes]
    if not matches and len(scene.truth) and len(scene.result):
        messages.append(Message("no-matches", iou=iou))
    if not scene.name:
        return messages
    return [message.concerning(scene.name) for message in messages]


def _messages_on_ignored(
    scenes: Sequence[Scene], counts: Counts, options: TrackingOptions
) -> list[Message]:
    """Return messages on the ignored boxes of all sequences, and on those of class 0."""
    messages = []
    has_convention = options.ignored in DISTRACTORS
    if has_convention and options.classes is None:
        boxes_of_class_0 = sum(int((scene.category[~scene.counted] == 0).sum()) for scene in scenes)
        if boxes_of_class_0:
            messages.append(Message("class-0-ignored", boxes=boxes_of_class_0))
    ignored_boxes = int(counts["ignored_truth_boxes"].sum())
    if ignored_boxes:
        removed_boxes = int(counts["removed_result_boxes"].sum())
        treatment = f"are removed ({removed_boxes:,})"
        if options.ignored == "count":
            treatment = "count as false positives"
        about = {"which": "distractors among them" if has_convention else "them"}
        about["treatment"] = treatment
        messages.append(Message("ignored-boxes", boxes=ignored_boxes, **about))
    return messages


def _fingerprint(scenes: Sequence[Scene]) -> str:
    """Return the numbers of boxes, with a digest of all rows, whatever their order in files."""
    digest = hashlib.sha256()
    for scene in scenes:
        digest.update(f"{scene.name}||{scene.frames}".encode())
        for side, ids in ((scene.truth, scene.target_ids), (scene.result, scene.identity_ids)):
            for array in (ids[side.code], side.frame, side.box):
                digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(scene.counted.tobytes())
    truth_boxes = sum(len(scene.truth) for scene in scenes)
    result_boxes = sum(len(scene.result) for scene in scenes)
    return f"{truth_boxes} x {result_boxes} boxes {digest.hexdigest()[:16]}"


def _listed_classes(classes: set[int]) -> str:
    """Return the classes in words; those below 0 are boxes without a class."""
    listed = [str(number) for number in sorted(classes) if number >= 0]
    if min(classes, default=0) < 0:
        listed.append("without class")
    return ", ".join(listed)


def _class_attrs(scenes: Sequence[Scene], present: set[int]) -> dict[str, str | int]:
    """Return which of the classes that are present are evaluated, and which are ignored."""
    evaluated = set[int]()
    for scene in scenes:
        evaluated.update(scene.category[scene.counted].tolist())
    return {
        "classes_evaluated": _listed_classes(evaluated),
        "classes_ignored": _listed_classes(present - evaluated),
        "world_coordinates": sum(scene.world for scene in scenes),
    }


#: The measures and counts of each sequence that short tables show.
_SHOWN_OF_SEQUENCES = ("mota", "idf1", "hota", "idsw")

# The number of places of frame numbers that an attribute lists: each sequence may have its own.
_SHOWN_PLACES = 4


def _count(
    units: str, long_name: str, label: str, detail: Literal["", "verbose", "data"] = ""
) -> Variable:
    return Variable(long_name, units, label=label, detail=detail)


_boxes = partial(_count, "boxes")
_targets = partial(_count, "targets")
_frames = partial(_count, "frames")
_events = partial(_count, "events")

TRACKING = {
    **MEASURES,
    **{f"{name}_at_alpha": Variable(x.long_name, "proportion") for name, x in HOTA.items()},
    "tp_at_alpha": _boxes("true positives in the matching of HOTA", "matched boxes (TP)", "data"),
    "frames": _frames(
        "frames of the sequence; where its length is not given, those with rows",
        "frames",
        "verbose",
    ),
    "frames_with_rows": _frames("frames with a row in either file", "frames with rows", "data"),
    "targets": _targets("identities of the ground truth", "targets", "verbose"),
    "identities": _count(
        "identities", "identities of the result", "identities of the result", "verbose"
    ),
    "truth_boxes": _boxes("boxes of targets", "boxes of targets", "verbose"),
    "result_boxes": _boxes("boxes of the result", "boxes of the result", "verbose"),
    "tp": _boxes(
        "true positives: boxes of targets that are matched", "matched boxes (TP)", "verbose"
    ),
    "fn": _boxes("false negatives: boxes of targets that are not matched", "missed boxes (FN)"),
    "fp": _boxes("false positives: boxes of the result that are not matched", "false boxes (FP)"),
    "idsw": _boxes(
        "identity switches: matches with another identity than the target's last",
        "identity switches (IDSW)",
    ),
    "fragmentations": _events(
        "times a target is missed, and matched again later", "fragmentations"
    ),
    "resumptions": _events(
        "times a target is matched again after being missed or away (TrackEval)",
        "resumptions",
        "verbose",
    ),
    "mt": _targets(
        "mostly tracked targets: covered for 80 % of their frames", "mostly tracked targets (MT)"
    ),
    "pt": _targets("partially tracked targets", "partially tracked targets (PT)"),
    "ml": _targets(
        "mostly lost targets: covered for less than 20 % of their frames",
        "mostly lost targets (ML)",
    ),
    "idtp": _boxes(
        "boxes of targets under the one identity assigned to the target",
        "boxes under the assigned identity (IDTP)",
        "verbose",
    ),
    "idfn": _boxes("other boxes of targets", "other boxes of targets (IDFN)", "verbose"),
    "idfp": _boxes("other boxes of the result", "other boxes of the result (IDFP)", "verbose"),
    "ignored_truth_boxes": _boxes(
        "boxes of the ground truth that are ignored", "ignored boxes of targets", "data"
    ),
    "removed_result_boxes": _boxes(
        "boxes of the result left out, on ignored ground truth",
        "removed boxes of the result",
        "data",
    ),
}

TRACKING_TARGETS = {
    "frames_present": _frames("frames in which the target is present", "frames", "verbose"),
    "frames_covered": _frames("frames in which the target is matched", "covered", "verbose"),
    "coverage": Variable(
        "proportion of the target's frames in which it is matched",
        "proportion",
        out_of="frames_present",
        label="coverage",
        detail="verbose",
        direction="larger",
    ),
    "target_switches": _events("identity switches of the target", "identity switches", "verbose"),
    "target_fragmentations": _events(
        "times the target is missed, and matched again later", "fragmentations", "verbose"
    ),
    "state": Variable(
        "mostly tracked, partially tracked or mostly lost", label="state", detail="verbose"
    ),
}

TRACKING_DIMENSIONS = {
    "sequence": Variable("sequence", label="sequence", title="Sequences"),
    "target": Variable(
        "target: an identity of the ground truth, by its id", label="target", title="Targets"
    ),
    "localisation_threshold": Variable(
        "localisation threshold alpha: smallest IoU of a match", "1", label="localisation threshold"
    ),
}


def _checked_classes(classes: Sequence[int] | None) -> tuple[int, ...] | None:
    if classes is None:
        return None
    numbers = require_listed_numbers(
        "classes",
        classes,
        "whole numbers, such as [1, 3]",
        lambda x: x.size and (x == np.floor(x)).all() and (np.abs(x) < 2**53).all(),
    )
    return tuple(numbers.astype(np.int64).tolist())


def _tracking_dataset(
    evaluated: Evaluated, options: TrackingOptions, method: IntervalMethod | None
) -> xr.Dataset:
    """Return the variables of all sequences together, of each sequence, and of each target."""
    # All sequences together.
    table = {**TRACKING_DIMENSIONS, **TRACKING, **TRACKING_TARGETS}
    coordinates = {"localisation_threshold": THRESHOLDS}
    variables: dict[str, Any] = {}
    for name, values in _values(*evaluated.total).items():
        dims = ("localisation_threshold",) if np.ndim(values) else ()
        variables[name] = dims, values

    # Each sequence, unless there is a single one, which has no name.
    if evaluated.names[0]:
        coordinates["sequence"] = np.array(evaluated.names, dtype=str)
        for name, values in _values(evaluated.counts, evaluated.sums).items():
            dims, _ = variables[name]
            variables[f"sequence_{name}"] = ("sequence", *dims), values
            table[f"sequence_{name}"] = _variable_of_sequences(name)

    # Each target.
    targets = dict(evaluated.targets)
    coordinates["target"] = targets.pop("target")
    variables |= variables_over(("target",), **targets)

    # Intervals and attributes.
    attrs = options.attrs()
    messages = evaluated.messages
    if method is not None:
        for name in MEASURES:
            low, high = evaluated.limits(name, method.confidence)
            variables |= variables_over((), **{f"{name}_low": low, f"{name}_high": high})
        messages = messages + evaluated.messages_on_videos()
        attrs |= evaluated.attrs(method)
    frames_from = evaluated.frames_from
    if len(frames_from) > _SHOWN_PLACES:
        frames_from = [*frames_from[:_SHOWN_PLACES], "..."]
    attrs = {
        "result_type": "tracking",
        "task": "tracking",
        **attrs,
        "frames_from": "; ".join(frames_from),
        **evaluated.classes,
        "fingerprint": evaluated.fingerprint,
        **message_attrs(messages),
    }
    return dataset(variables, table, coordinates, attrs)


def _variable_of_sequences(name: str) -> Variable:
    """Return the description of a measure or count of each sequence."""
    variable = TRACKING[name]
    detail: Literal["", "verbose", "data"] = "data" if variable.detail else "verbose"
    if name in _SHOWN_OF_SEQUENCES:
        detail = ""
    return replace(variable, long_name=f"{variable.long_name}; of each sequence", detail=detail)


def _values(counts: Counts, sums: MatchSums) -> dict[str, Any]:
    """Return the measures, HOTA at each localisation threshold, and the counts."""
    values = values_of(counts, sums)
    for name, curve in hota_at_alpha(counts, sums).items():
        values[f"{name}_at_alpha"] = curve
    values["tp_at_alpha"] = sums["tp"]
    for name, count in counts.items():
        if name != "overlap":
            values[name] = count
    return values


def compare_trackers(
    truth: Any,
    trackers: Mapping[str, Any],
    frames: Any,
    options: TrackingOptions,
    measures: Sequence[str],
    method: IntervalMethod,
) -> xr.Dataset:
    """Compare trackers on the sequences that all of them have: values, differences and ranks."""
    compared = _checked_measures(measures)
    _require_names_of_trackers(trackers)
    truths = sources_of(truth, "truth")
    frames_of_sequence = frames_of_sequences(frames, truths)
    results = {name: sources_of(result, _role(name)) for name, result in trackers.items()}

    # The sequences that all trackers have. A tracker with a single result, where the ground truth
    # has several sequences, or the reverse, is passed over: reading its result raises an error.
    lacking: dict[str, list[str]] = {}
    for tracker, sources in results.items():
        if ("" in sources) == ("" in truths):
            lacking[tracker] = [name for name in truths if name not in sources]
    left_out = sorted(set[str]().union(*lacking.values()))
    common = {name: source for name, source in truths.items() if name not in left_out}
    if not common:
        worst = max(lacking, key=lambda tracker: len(lacking[tracker]))
        raise DataError(
            f"no sequence of the ground truth has a result of all {len(trackers)} trackers; "
            f"{worst} lacks {len(lacking[worst])} of {len(truths)}, such as {lacking[worst][0]}"
        )
    messages = []
    if left_out:
        about: dict[str, Any] = {"left_out": len(left_out), "sequences": len(truths)}
        about["trackers"] = {tracker: len(names) for tracker, names in lacking.items() if names}
        messages.append(Message("sequences-not-in-common", names=left_out[:LISTED], **about))
    evaluated = {}
    for name, result in results.items():
        with stage(f"matching {name}"):
            evaluated[name] = Evaluated(options, common, result, frames_of_sequence, _role(name))
    results_of_trackers = [*evaluated.values()]
    first = results_of_trackers[0]
    are_per_frame = any(MEASURES[name].units == "per frame" for name in compared)
    messages_of_trackers = {name: tracker.messages for name, tracker in evaluated.items()}
    for message in joined_messages(messages_of_trackers):
        # The number of frames is in no other measure.
        if message.code != "frames-not-given" or are_per_frame:
            messages.append(message)
    messages += first.messages_on_videos()
    confidence = method.confidence
    ranked = [ranked_measure(name, results_of_trackers, confidence) for name in compared]
    attrs = {
        "trackers": len(trackers),
        "sequences": len(first.names),
        **options.attrs(),
        **first.classes,
        **first.attrs(method),
        "confidence": confidence,
        "adjust": "none",
        "least_discordant": least_discordant(confidence),
        "fingerprint": "; ".join(x.fingerprint for x in results_of_trackers),
    }
    return comparison_dataset([*evaluated], ranked, attrs, messages)


def _checked_measures(measures: Any) -> list[str]:
    """Return the names of measures in small letters: HOTA is hota."""
    if isinstance(measures, str) or not isinstance(measures, Sequence) or not measures:
        raise DataError(
            f"`measures` is {received(measures)}; expected a list of names, such as "
            f"{list(COMPARED)}"
        )
    names = [name.casefold() if isinstance(name, str) else name for name in measures]
    for name in names:
        require_choice("a name in `measures`", name, MEASURES)
        if names.count(name) > 1:
            raise DataError(f"`measures` names {name!r} twice; expected each once")
    return names


def _require_names_of_trackers(trackers: Mapping[str, Any]) -> None:
    """Raise an error if there is a single tracker, or one without a name."""
    for name in trackers:
        if not isinstance(name, str) or not name:
            raise DataError(f"`result` has the name {name!r}; expected text that is not empty")
    if len(trackers) < 2:
        raise DataError(
            f"`result` has {len(trackers)} tracker by name; expected two or more to "
            "compare, or its result alone"
        )


def _role(name: str) -> str:
    """Return how errors call the result of a tracker."""
    return f"`result`[{name!r}]"


def ranked_measure(name: str, trackers: Sequence[Evaluated], confidence: float) -> ComparedMeasure:
    """Return a measure of all trackers, with the videos in which two have different values."""
    systems = []
    for tracker in trackers:
        # The value of all videos, and then without each video, if there are enough for limits.
        columns = np.atleast_1d(tracker.values[name])
        if tracker.videos >= FEWEST_SEQUENCES:
            columns = np.append(columns, tracker.values_without[name])
        systems.append(
            SystemMeasure(
                scalar=MEASURES[name],
                columns=columns,
                limits=tracker.limits(name, confidence),
                population="new sequences",
            )
        )
    sequence_values = np.array([tracker.sequence_values[name] for tracker in trackers])
    # Undefined values are equal to each other.
    values = np.where(np.isnan(sequence_values), np.inf, sequence_values)
    # (trackers, trackers, sequences), and then videos: two trackers differ in a video if they do
    # in any of its sequences.
    differs = values[:, None] != values
    video, videos = trackers[0].video, trackers[0].videos
    differs_in_video = np.zeros((len(trackers), len(trackers), videos), dtype=bool)
    for sequence, video_of_sequence in enumerate(video.tolist()):
        differs_in_video[:, :, video_of_sequence] |= differs[:, :, sequence]
    discordant = differs_in_video.sum(axis=-1)
    return ComparedMeasure.from_systems(systems, discordant, confidence, METHOD)
