"""The messages of tracking."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "results-without-truth",
        "skipped, as there is no ground truth: {number:count results}, such as {names:names}; "
        "compare the names of both sides",
    ),
    MessageType(
        "no-boxes",
        "the {side} has no box to evaluate",
    ),
    MessageType(
        "no-matches",
        "no box of the result overlaps a target by {iou:digits 6}; compare the coordinates (left, "
        "top, width and height in pixels) and the frame numbers (from 1) of both sides",
    ),
    MessageType(
        "class-0-ignored",
        "ignored: {boxes:count boxes} of class 0 beside other classes, of which class 1 alone is "
        "evaluated; if 0 is the class to evaluate, add 1 to all classes",
    ),
    MessageType(
        "boxes-beyond-truth",
        "counted as false positives: {boxes:count boxes} of the result beyond frame {last:name}, "
        "the last one of the ground truth",
    ),
    MessageType(
        "ignored-boxes",
        "ignored: {boxes:count boxes} of the ground truth; boxes of the result that match "
        "{which} {treatment}; {arg.ignored} chooses the convention",
    ),
    MessageType(
        "frames-not-given",
        "the number of frames is not given for {unknown:count} of {sequences:count sequences}: "
        "rates per frame are over the frames with rows; give it in seqinfo.ini or as "
        "{arg.frames}",
    ),
    MessageType(
        "few-sequences",
        "no intervals over {sequences:count sequences}: at least {needed} are needed",
    ),
    MessageType(
        "sequences-not-in-common",
        "left out: {left_out:count} of {sequences:count sequences}, such as {names:names}; "
        "sequences without a result: {trackers:counts}",
    ),
    MessageType(
        "sequences-of-one-video",
        "{sequences:count sequences} show {videos:count videos}, each with the detections of "
        "several detectors: intervals leave out one video at a time",
    ),
)
