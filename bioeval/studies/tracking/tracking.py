"""Evaluation of tracking: CLEAR MOT, identity measures and HOTA of one tracker or of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_choice, require_list, require_listed_numbers
from bioeval.base.errors import DataError, Message, joined_messages, message_attrs, received
from bioeval.base.progress import stage
from bioeval.results.dataset import dataset, variables_over
from bioeval.results.variables import Variable
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.options import IntervalMethod, interval_of
from bioeval.stats.simultaneous import least_discordant
from bioeval.studies.compare import ComparedMeasure, SystemMeasure, comparison_dataset, with_answers
from bioeval.studies.tracking.inputs import (
    LISTED,
    SequenceSource,
    are_trackers,
    frames_given,
    sources_of,
)
from bioeval.studies.tracking.measures import (
    COMPARED,
    FEWEST,
    HOTA,
    MEASURES,
    METHOD,
    THRESHOLDS,
    Counts,
    EarlierPairing,
    Ignored,
    MatchSums,
    MostlyTracked,
    SequenceSums,
    TrackingOptions,
    fingerprint,
    hota_at_alpha,
    values_of,
)

#: The measures and counts of each sequence that short tables show.
_SHOWN_OF_SEQUENCES = ("mota", "idf1", "hota", "idsw")


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
    options = TrackingOptions(iou, pairing, mostly_tracked, ignored, _check_classes(classes))
    method = interval_of(interval, [METHOD])
    if not are_trackers(truth, result):
        if [*map(str, require_list("measures", measures))] != [*COMPARED]:
            raise DataError(
                "`measures` is given, and trackers are compared by it; expected the "
                'results of several, as {"A": result, "B": result}'
            )
        truths = sources_of(truth, "truth")
        frames_of_sequence = frames_given(frames, truths)
        evaluated = options.evaluate(truths, sources_of(result, "result"), frames_of_sequence)
        scenes, measured, sums = evaluated.scenes, evaluated.measured, evaluated.sums

        # The variables of all sequences together, of each sequence, and of each target.
        names = {**TRACKING_DIMENSIONS, **TRACKING, **TRACKING_TARGETS}
        coordinates = {"localisation_threshold": THRESHOLDS}
        variables: dict[str, Any] = {}
        for name, values in _values(*sums.total).items():
            variables[name] = ("localisation_threshold",) * np.ndim(values), values
        if scenes[0].name:
            for name, values in _values(sums.counts, sums.sums).items():
                variables[f"sequence_{name}"] = ("sequence", *variables[name][0]), values
                variable = TRACKING[name]
                detail: Literal["", "verbose", "data"] = "data" if variable.detail else "verbose"
                if name in _SHOWN_OF_SEQUENCES:
                    detail = ""
                long_name = f"{variable.long_name}; of each sequence"
                names[f"sequence_{name}"] = replace(variable, long_name=long_name, detail=detail)
            coordinates["sequence"] = np.array([scene.name for scene in scenes], dtype=str)
        targets = {
            name: np.concatenate([part.targets[name] for part in measured])
            for name in measured[0].targets
        }
        coordinates["target"] = targets.pop("target")
        variables |= variables_over(("target",), **targets)

        # Intervals and attributes.
        attrs, messages = options.attrs(), evaluated.messages
        if method is not None:
            for name in MEASURES:
                low, high = sums.limits(name, method.confidence)
                variables |= variables_over((), **{f"{name}_low": low, f"{name}_high": high})
            messages = messages + sums.messages()
            attrs |= sums.attrs(method)
        sources = list(dict.fromkeys(scene.frames_from for scene in scenes))
        attrs = {
            "result_type": "tracking",
            "task": "tracking",
            **attrs,
            "frames_from": "; ".join([*sources[:4], *["..."][: len(sources[4:])]]),
            **evaluated.class_attrs(),
            "fingerprint": fingerprint(scenes),
            **message_attrs(messages),
        }
        return dataset(variables, names, coordinates, attrs)
    method = method or IntervalMethod(METHOD)
    return compare_trackers(truth, result, frames, options, measures, method)


def _values(counts: Counts, sums: MatchSums) -> dict[str, Any]:
    values = values_of(counts, sums)
    curves = hota_at_alpha(counts, sums) | {"tp": sums["tp"]}
    values |= {f"{name}_at_alpha": x for name, x in curves.items()}
    return values | {name: value for name, value in counts.items() if name != "overlap"}


def _check_classes(classes: Any) -> tuple[int, ...] | None:
    """Return the classes to evaluate; None for the classes of the convention."""
    if classes is None:
        return None
    numbers = require_listed_numbers(
        "classes",
        classes,
        "whole numbers, such as [1, 3]",
        lambda x: x.size and (x == np.floor(x)).all() and (np.abs(x) < 2**53).all(),
    )
    return tuple(numbers.astype(np.int64).tolist())


def compare_trackers(
    truth: Any,
    trackers: Mapping[str, Any],
    frames: Any,
    options: TrackingOptions,
    measures: Sequence[str],
    method: IntervalMethod,
) -> xr.Dataset:
    """Compare trackers on the sequences that all of them have: values, differences and ranks."""
    if isinstance(measures, str) or not isinstance(measures, Sequence) or not measures:
        raise DataError(
            f"`measures` is {received(measures)}; expected a list of names, such as "
            f"{list(COMPARED)}"
        )
    compared = [x.casefold() if isinstance(x, str) else x for x in measures]  # HOTA is hota
    for name in compared:
        require_choice("a name in `measures`", name, MEASURES)
        if compared.count(name) > 1:
            raise DataError(f"`measures` names {name!r} twice; expected each once")
    for name in trackers:
        if not isinstance(name, str) or not name:
            raise DataError(f"`result` has the name {name!r}; expected text that is not empty")
    if len(trackers) < 2:
        raise DataError(
            f"`result` has {len(trackers)} tracker by name; expected two or more to "
            "compare, or its result alone"
        )
    truths = sources_of(truth, "truth")
    frames_of_sequence = frames_given(frames, truths)
    results = {name: sources_of(result, _role(name)) for name, result in trackers.items()}

    common, messages = _sequences_in_common(truths, results)
    are_per_frame = any(MEASURES[name].units == "per frame" for name in compared)
    evaluated = {}
    for name, result in results.items():
        with stage(f"matching {name}"):
            evaluated[name] = options.evaluate(common, result, frames_of_sequence, _role(name))
    sums = [x.sums for x in evaluated.values()]
    messages += [
        message
        for message in joined_messages({name: x.messages for name, x in evaluated.items()})
        if message.code != "frames-not-given" or are_per_frame
    ]
    messages += sums[0].messages()
    confidence = method.confidence
    ranked = [ranked_measure(name, sums, confidence) for name in compared]
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
    }
    return with_answers(comparison_dataset([*evaluated], ranked, attrs, messages))


def _role(name: str) -> str:
    return f"`result`[{name!r}]"


def _sequences_in_common(
    truths: Mapping[str, SequenceSource], trackers: Mapping[str, Mapping[str, SequenceSource]]
) -> tuple[dict[str, SequenceSource], list[Message]]:
    missing = {
        tracker: [name for name in truths if name not in results]
        for tracker, results in trackers.items()
        if ("" in results) == ("" in truths)  # otherwise reading the results raises an error
    }
    left_out = sorted({name for names in missing.values() for name in names})
    common = {name: source for name, source in truths.items() if name not in left_out}
    if not common:
        worst = max(missing, key=lambda tracker: len(missing[tracker]))
        raise DataError(
            f"no sequence of the ground truth has a result of all {len(trackers)} trackers; "
            f"{worst} lacks {len(missing[worst])} of {len(truths)}, such as {missing[worst][0]}"
        )
    if not left_out:
        return common, []
    about: dict[str, Any] = {"left_out": len(left_out), "sequences": len(truths)}
    about["trackers"] = {tracker: len(names) for tracker, names in missing.items() if names}
    return common, [Message("sequences-not-in-common", names=left_out[:LISTED], **about)]


def ranked_measure(
    name: str, trackers: Sequence[SequenceSums], confidence: float
) -> ComparedMeasure:
    systems = []
    for tracker in trackers:
        values_without = tracker.values_without[name] if tracker.videos >= FEWEST else np.empty(0)
        systems.append(
            SystemMeasure(
                scalar=MEASURES[name],
                columns=np.append(tracker.values[name], values_without),
                limits=tracker.limits(name, confidence),
                population="new sequences",
            )
        )
    return ComparedMeasure.from_systems(systems, _discordant(name, trackers), confidence, METHOD)


def _discordant(name: str, trackers: Sequence[SequenceSums]) -> np.ndarray:
    """Return in how many videos two trackers have different values, (trackers, trackers)."""
    sequence_values = np.array([tracker.sequence_values[name] for tracker in trackers])
    # Undefined values are equal to each other.
    values = np.where(np.isnan(sequence_values), np.inf, sequence_values)
    differs = values[:, None] != values
    video, videos = trackers[0].video, trackers[0].videos
    differs_in_video = np.zeros((len(trackers), len(trackers), videos), dtype=bool)
    for sequence, video_of_sequence in enumerate(video.tolist()):
        differs_in_video[:, :, video_of_sequence] |= differs[:, :, sequence]
    return differs_in_video.sum(axis=-1)
