"""Check of tracks before they are evaluated: why is a score absurdly low?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from bioeval.base import counted, require_callable, require_choice, require_number
from bioeval.document import Label, Message, Text, say
from bioeval.studies.check.findings import DataCheck, Finding, listed
from bioeval.studies.tracking.inputs import parse_columns, read_pairs
from bioeval.studies.tracking.matching import Boxes, Scene, find_overlaps, make_scene
from bioeval.studies.tracking.tracking import IGNORED, Ignored, Parts

# Proportion of the boxes of targets by which another reading of the result has to find more.
GAIN = 0.2
# Increase of the mean overlap that shows a shift of frames.
CLOSER = 0.02
# Proportions of frames, or of identities, above which there is a warning and an error.
SOME, MOST = 0.1, 0.5
# Identities for each target above which there is a warning.
MANY = 10
# Proportion of coordinates below the one that is compared between both sides.
_EXTENT = 0.95
# Logarithm of the ratio of two extents up to which both sides have one scale.
_SAME = 0.1


def check_tracks(
    truth: Any,
    result: Any,
    *,
    iou: float = 0.5,
    frames: Any = None,
    ignored: Ignored = "motchallenge",
    parts: Parts = "sequences",
    columns: str = "motchallenge",
    progress: Callable[[str], None] | None = None,
) -> DataCheck:
    """Check tracks against their ground truth: scale, form of boxes, frames, identities.

    Parameters
    ----------
    truth, result, iou, frames, ignored, parts, columns
        As for :func:`tracking`.
    progress : callable, optional
        Called with the name of each sequence before it is checked.

    Returns
    -------
    DataCheck
        ``boxes``: boxes of another scale or form (corners or centres in place of left, top, width,
        height), or none that overlaps. ``frames``: frames with targets and without a result, and
        results of shifted frames. ``identities``: identities that overlap no target, and the
        reverse. ``tracks``: ids that are used for one box each, or far more ids than targets.
        ``duplicates``: an id twice in a frame. An ``"error"`` is what makes rates absurdly low.

    Raises
    ------
    DataError
        As :func:`tracking`, but for ids that the result has twice in a frame.

    Notes
    -----
    A box of a target is found where some box of the result in its frame overlaps it by `iou`,
    whatever the identities. Another reading of the result is reported where it finds at least a
    fifth more of all boxes.

    Examples
    --------
    >>> import bioeval as be
    >>> truth = [(f, 1, 100 + 10 * f, 50, 40, 80) for f in range(1, 9)]
    >>> half = [(f, 1, (100 + 10 * f) / 2, 25, 20, 40) for f in range(1, 9)]
    >>> result = be.check_tracks(truth, half)
    >>> result.misleads, result["boxes"].code
    (True, 'boxes-of-another-scale')
    """
    iou = require_number("iou", iou, above=0, high=1)
    require_choice("ignored", ignored, IGNORED)
    require_choice("parts", parts, get_args(Parts))
    require_callable("progress", progress)
    pairs, notes = read_pairs(truth, result, frames, parse_columns(columns), parts)
    comparisons = []
    targets = boxes_of_targets = identities = boxes = 0
    for pair in pairs:
        if progress is not None:
            progress(pair.name)
        comparison = _Comparison(make_scene(pair, ignored, "accept"), iou)
        comparisons.append(comparison)
        targets += len(comparison.targets)
        boxes_of_targets += len(comparison.truth)
        identities += len(comparison.identities)
        boxes += len(comparison.result)
    data = (
        f"{counted(targets, 'targets')}, {counted(boxes_of_targets, 'boxes')}; "
        f"{counted(identities, 'identities')}, {counted(boxes, 'boxes')} of the result"
    )
    if len(comparisons) > 1:
        data += f"; {len(comparisons)} sequences"
    if notes:
        found = Message("notes-of-sequences", notes=list(notes))
        sequences = Finding("sequences", "note", found, len(notes))
    else:
        found = Message("sequences-with-result", sequences=len(comparisons))
        sequences = Finding("sequences", "ok", found)
    findings = [
        sequences,
        _boxes(comparisons),
        _frames(comparisons),
        _identities(comparisons),
        _tracks(comparisons, targets),
        _duplicates(comparisons),
    ]
    return DataCheck(data, "tracking", tuple(findings))


@dataclass(frozen=True)
class _Reading:
    """Boxes of a result in another reading, such as corners."""

    code: str
    share: float  # proportion of the boxes of targets that are found
    overlap: float  # mean of the largest overlap of a box of a target
    factors: Mapping[str, float]  # of another scale


@dataclass(frozen=True)
class _Shift:
    """Boxes of a result with a number added to their frames."""

    frames: int
    share: float  # as of a reading
    overlap: float


class _Comparison:
    """Overlaps of the boxes of a result with the targets of a sequence."""

    def __init__(self, scene: Scene, iou: float):
        """Compare the boxes, and look for what explains the overlaps better."""
        self.scene, self.iou = scene, iou
        self.truth = scene.truth.select(scene.counted)  # the boxes that are evaluated
        self.result = scene.result
        self.targets, self.identities = np.unique(self.truth.code), np.unique(self.result.code)
        best, self.touched, self.met = self._compare(self.result)
        self.share, self.overlap = _rates(best, iou)
        # Only the better of the two: another reading of the boxes, or a shift of the frames.
        self.reading = max(self.readings(), key=lambda x: x.overlap, default=None)
        self.shift = max(self.shifts(), key=lambda x: x.overlap, default=None)
        if self.reading is not None and self.shift is not None:
            if self.reading.overlap > self.shift.overlap:
                self.shift = None
            else:
                self.reading = None

    def of(self, places: Sequence[Any]) -> list[Text]:
        """Return places with the name of the sequence."""
        heading, texts = Label(self.scene.heading), list[Text]()
        for place in places:
            text = Label(place) if isinstance(place, int) else place
            texts.append(say("{heading}{place}", heading=heading, place=text))
        return texts

    def _compare(self, result: Boxes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the largest overlap of each box of a target, and the identities and targets met.

        Two meet where boxes of theirs overlap by `iou`; boxes of ignored ground truth count too.
        """
        every = self.scene.truth
        overlaps = find_overlaps(every, result, len(self.scene.number))
        largest = np.zeros(len(every))
        row = np.repeat(np.arange(len(every)), np.diff(overlaps.start))
        np.maximum.at(largest, row, overlaps.iou)
        near = overlaps.iou >= self.iou
        identities = np.unique(result.code[overlaps.row[near]])
        return largest[self.scene.counted], identities, np.unique(every.code[row[near]])

    def companions_of(self, identities: np.ndarray, targets: np.ndarray) -> list[Message]:
        """Return messages on targets with an identity in at least half of the frames of either."""
        codes, frames = self.result.code, self.result.frame
        lengths = np.bincount(codes, minlength=len(self.scene.identity_ids))
        apart = np.isin(np.arange(len(lengths)), identities)
        statements = list[Message]()
        for target in targets:
            target_frames = np.unique(self.truth.frame[self.truth.code == target])
            shared = np.bincount(codes[np.isin(frames, target_frames)], minlength=len(lengths))
            near = np.flatnonzero(
                apart & (shared >= MOST * (lengths + len(target_frames) - shared))
            )
            if len(near):
                identity = f"{self.scene.heading}{int(self.scene.identity_ids[near[0]])}"
                target_id = int(self.scene.target_ids[target])
                statements.append(
                    Message("identity-beside-target", identity=identity, target=target_id)
                )
        return statements

    def readings(self) -> Iterator[_Reading]:
        """Yield the result read in other ways."""
        box = self.result.box
        if not len(box) or not len(self.truth):
            return
        corners = box.copy()
        corners[:, 2:] -= box[:, :2]
        if (corners[:, 2:] > 0).mean() > MOST:
            corners[:, 2:] = np.maximum(corners[:, 2:], 0)
            yield self._read(corners, "boxes-are-corners")
        centres = box.copy()
        centres[:, :2] -= box[:, 2:] / 2
        yield self._read(centres, "boxes-are-centres")
        wide = _extent(self.truth.box, 0) / max(_extent(box, 0), np.finfo(float).tiny)
        high = _extent(self.truth.box, 1) / max(_extent(box, 1), np.finfo(float).tiny)
        if wide > 0 and high > 0 and max(abs(np.log([wide, high]))) > _SAME:
            scaled = box * np.array([wide, high, wide, high])
            yield self._read(scaled, "boxes-of-another-scale", wide=float(wide), high=float(high))

    def _read(self, box: np.ndarray, code: str, **factors: float) -> _Reading:
        changed = Boxes(self.result.code, self.result.frame, np.ascontiguousarray(box))
        return _Reading(code, *_rates(self._compare(changed)[0], self.iou), factors)

    def shifts(self) -> Iterator[_Shift]:
        """Yield the result shifted by some frames."""
        number, camera = self.scene.number, self.scene.camera
        if not len(self.result) or not len(self.truth):
            return
        first = number[self.truth.frame[0]] - number[self.result.frame[0]]
        stride = int(number.max()) + 2
        key = camera * stride + number
        for shift in sorted({-1, 1, int(first)} - {0}):
            moved = number[self.result.frame] + shift
            wanted = camera[self.result.frame] * stride + moved
            place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
            kept = (key[place] == wanted) & (moved >= 0) & (moved < stride)
            if kept.any():
                part = self.result.select(kept)
                there = Boxes(part.code, place[kept].astype(np.int64), part.box)
                yield _Shift(shift, *_rates(self._compare(there)[0], self.iou))


def _extent(box: np.ndarray, side: int) -> float:
    """Return how far boxes reach to the right (side 0), or down (side 1), but for a few."""
    return np.quantile(box[:, side] + box[:, side + 2], _EXTENT)


def _rates(best: np.ndarray, iou: float) -> tuple[float, float]:
    """Return the proportion of boxes found, and the mean of the largest overlaps."""
    return (float((best >= iou).mean()), float(best.mean())) if len(best) else (0.0, 0.0)


def _severity(is_error: bool, is_warning: bool = True) -> str:
    return "error" if is_error else "warning" if is_warning else "note"


def _boxes(comparisons: Sequence[_Comparison]) -> Finding:
    """Return whether boxes of another scale or form would find more."""
    total = boxes = 0
    share = 0.0
    places = []
    wrong = []
    for comparison in comparisons:
        total += len(comparison.truth)
        boxes += len(comparison.result)
        share += comparison.share * len(comparison.truth)
        best = comparison.reading
        if best is not None and best.share >= comparison.share + GAIN and best.share > MOST:
            wrong.append(best)
            places += comparison.of(["all boxes"])
    share /= max(1, total)
    iou = float(comparisons[0].iou)
    statement = Message("boxes-found", share=float(share), iou=iou)
    if wrong:
        best = wrong[0]
        found = Message(best.code, boxes=statement, share=best.share, **best.factors)
        return Finding("boxes", "error", found, len(wrong), listed(places))
    if not boxes:
        return Finding("boxes", "error", Message("result-without-boxes"), count=1)
    if not share:
        return Finding("boxes", "error", Message("no-box-found", iou=iou), count=boxes)
    return Finding("boxes", "ok", statement)


def _frames(comparisons: Sequence[_Comparison]) -> Finding:
    """Return frames without a result, and results of shifted frames."""
    there = lacking = 0
    places = []
    unlabelled = _unlabelled_frames(comparisons)
    for comparison in comparisons:
        with_targets = np.unique(comparison.truth.frame)
        with_result = np.unique(comparison.result.frame)
        missing = np.setdiff1d(with_targets, with_result)
        there, lacking = there + len(with_targets), lacking + len(missing)
        places += comparison.of(comparison.scene.number[missing][:3].tolist())
        best = comparison.shift
        if best and best.overlap >= comparison.overlap + CLOSER and best.share >= comparison.share:
            return Finding(
                "frames",
                _severity(best.share >= comparison.share + GAIN),
                Message(
                    "frames-shifted",
                    frames=int(best.frames),
                    overlap=best.overlap,
                    present=comparison.overlap,
                ),
                count=1,
                places=listed(comparison.of(["all frames"])),
            )
    if not lacking:
        return unlabelled or Finding(
            "frames",
            "ok",
            Message("frames-with-boxes", frames=there),
        )
    share = lacking / there
    return Finding(
        "frames",
        _severity(share >= MOST, share > SOME),
        Message("frames-without-boxes", lacking=lacking, frames=there),
        count=lacking,
        places=say("frame {places}", places=listed(places)),
    )


def _unlabelled_frames(comparisons: Sequence[_Comparison]) -> Finding | None:
    """Return frames without ground truth that have as many boxes as others; None if they are few.

    A frame without a target may have a false alarm or two. Where it has at least half as many boxes
    as a frame with targets has in the median, it was rather not labelled.
    """
    frames, places = 0, list[Text]()
    for comparison in comparisons:
        boxes = np.bincount(comparison.result.frame, minlength=len(comparison.scene.number))
        labelled = np.isin(np.arange(len(boxes)), comparison.scene.truth.frame)
        usual = np.median(boxes[labelled]) if labelled.any() else 0.0
        full = ~labelled & (boxes >= max(usual / 2, 1))
        frames += int((boxes > 0).sum())
        places += comparison.of(comparison.scene.number[full].tolist())
    if len(places) <= SOME * frames:
        return None
    return Finding(
        "frames",
        _severity(len(places) >= MOST * frames),
        Message("frames-not-labelled", full=len(places), frames=frames),
        count=len(places),
        places=say("frame {places}", places=listed(places)),
    )


def _identities(comparisons: Sequence[_Comparison]) -> Finding:
    """Return identities that never overlap a target, and targets that no identity overlaps."""
    strangers, lost, number, targets = [], 0, 0, 0
    companions = []
    for comparison in comparisons:
        number += len(comparison.identities)
        unseen = np.setdiff1d(comparison.identities, comparison.touched)
        strangers += comparison.of(comparison.scene.identity_ids[unseen].tolist())
        targets += len(comparison.targets)
        unmet = np.setdiff1d(comparison.targets, comparison.met)
        lost += len(unmet)
        companions += comparison.companions_of(unseen, unmet)
    unmatched = [Message("targets-never-overlapped", lost=lost, targets=targets)] * (lost > 0)
    if not strangers:
        severity, found = "ok", Message("identities-overlap-targets")
        if lost:
            severity = _severity(False, lost > SOME * targets)
            found = Message("identities-overlap-some-targets", findings=unmatched)
        return Finding("identities", severity, found, lost)
    share = len(strangers) / number
    iou = float(comparisons[0].iou)
    apart = Message("identities-apart", strangers=len(strangers), identities=number, iou=iou)
    found = Message("identities-without-target", findings=[apart, *unmatched])
    if companions:
        companion = companions[0]
        if len(companions) > 1:
            more = len(companions) - 1
            companion = Message("identities-beside-targets", first=companion, more=more)
        found = Message("identities-displaced", findings=[apart, *unmatched, companion])
    return Finding(
        "identities",
        _severity(share == 1, share > SOME or bool(companions)),
        found,
        count=len(strangers),
        places=say("identity {places}", places=listed(strangers)),
    )


def _tracks(comparisons: Sequence[_Comparison], targets: int) -> Finding:
    """Return whether ids name boxes rather than tracks."""
    lengths = np.concatenate(
        [np.bincount(x.result.code) for x in comparisons] or [np.zeros(0, int)]
    )
    lengths = lengths[lengths > 0]
    if not len(lengths):
        return Finding("tracks", "ok", Message("no-track"))
    about = {"identities": len(lengths), "targets": targets, "boxes": int(np.median(lengths))}
    long = any(np.bincount(x.truth.code).max(initial=0) > 1 for x in comparisons)
    if long and lengths.max() == 1 and len(lengths) > 1:
        return Finding(
            "tracks",
            "error",
            Message("ids-of-detections", **about),
            count=len(lengths),
        )
    if len(lengths) > MANY * max(targets, 1):
        return Finding(
            "tracks",
            "warning",
            Message("many-identities", **about),
            count=len(lengths),
        )
    return Finding("tracks", "ok", Message("identities-and-targets", **about))


def _duplicates(comparisons: Sequence[_Comparison]) -> Finding:
    """Return ids that the result has twice in a frame."""
    again = 0
    places = []
    for comparison in comparisons:
        code, frame = comparison.result.code, comparison.result.frame
        twice = np.flatnonzero((code[1:] == code[:-1]) & (frame[1:] == frame[:-1])) + 1
        again += len(twice)
        first = twice[:3]
        ids = comparison.scene.identity_ids[code[first]]
        numbers = comparison.scene.number[frame[first]]
        places += comparison.of(
            [
                say("id {id:name} in frame {frame:name}", id=int(i), frame=int(n))
                for i, n in zip(ids, numbers, strict=True)
            ]
        )
    if not again:
        return Finding("duplicates", "ok", Message("ids-used-once"))
    return Finding(
        "duplicates",
        "error",
        Message("ids-used-twice", boxes=again),
        count=again,
        places=listed(places),
    )
