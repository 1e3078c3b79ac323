"""The messages of tracking."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "results-without-truth",
        "skipped, as there is no ground truth: {number:count results}, such as {names:names}",
        "Files, or entries of the result, have names that the ground truth does not have. They are "
        "in no number.",
        "Compare the names of both sides if these results should be evaluated.",
        example={"number": 1, "names": ["MOT17-01"]},
    ),
    MessageType(
        "repeated-ids-accepted",
        "counted as separate boxes: {boxes:count boxes} of the result with the id of another box "
        "of their frame",
        "A track has one box in a frame. Where an id occurs twice, each of its boxes may be "
        "matched.",
        "Give every track in a frame a different id.",
        example={"boxes": 3},
    ),
    MessageType(
        "flags-other-than-0-and-1",
        "evaluated: {rows:count rows} of the ground truth with a flag other than 0 (ignore) and 1",
        "The seventh column of the ground truth says whether a row is evaluated. Values other than "
        "0 and 1 may be of another column, such as a confidence.",
        "Check the order of the columns, with the argument `columns`.",
        example={"rows": 12},
    ),
    MessageType(
        "no-truth-boxes",
        "the ground truth has no box to evaluate",
        "Every row of the ground truth is ignored, or there is none: rates over its boxes are not "
        "defined.",
        "Check the flags and classes of the ground truth, and the argument `ignored`.",
        example={},
    ),
    MessageType(
        "no-result-boxes",
        "the result has no box",
        "Every box of a target counts as missed.",
        "Check whether the tracker wrote its file.",
        example={},
    ),
    MessageType(
        "boxes-without-area",
        "no overlap with anything: {boxes:count boxes} of the {side} without an area",
        "A box of width or height 0 overlaps no other one, and is never matched.",
        "Check the order of the columns: left, top, width, height.",
        example={"boxes": 2, "side": "result"},
    ),
    MessageType(
        "cameras-without-truth",
        "counted as false positives: {boxes:count boxes} of the result in cameras without ground "
        "truth ({cameras:names})",
        "The result has cameras that the ground truth does not have.",
        "Leave these cameras out of the result if they were not labelled.",
        example={"boxes": 40, "cameras": ["c7"]},
    ),
    MessageType(
        "boxes-beyond-truth",
        "counted as false positives: {boxes:count boxes} of the result beyond frame {last:name}, "
        "the last one of the ground truth",
        "The ground truth ends before the result. No target is there to be matched.",
        "Leave these frames out of the result if they were not labelled.",
        example={"boxes": 9, "last": 600},
    ),
    MessageType(
        "ignored-boxes-counted",
        "ignored: {boxes:count boxes} of the ground truth; boxes of the result on them count as "
        "false positives",
        "The ground truth marks rows that are not evaluated. What to do with boxes of the result "
        "on them is a convention.",
        "Choose the convention of your benchmark with the argument `ignored`.",
        "note",
        {"boxes": 30},
    ),
    MessageType(
        "ignored-boxes-removed",
        "ignored: {boxes:count boxes} of the ground truth; removed: {removed:count boxes} of the "
        "result that are matched to them",
        "The ground truth marks rows that are not evaluated. What to do with boxes of the result "
        "on them is a convention.",
        "Choose the convention of your benchmark with the argument `ignored`.",
        "note",
        {"boxes": 30, "removed": 12},
    ),
    MessageType(
        "distractor-boxes-removed",
        "ignored: {boxes:count boxes} of the ground truth; removed: {removed:count boxes} of the "
        "result that are matched to distractors among them; others count as false positives",
        "The ground truth marks rows that are not evaluated. MOTChallenge removes boxes of the "
        "result on distractors (people who stand still, reflections) alone.",
        "Choose the convention of your benchmark with the argument `ignored`.",
        "note",
        {"boxes": 30, "removed": 12},
    ),
    MessageType(
        "frames-not-given",
        "the number of frames is not given for {unknown:count} of {sequences:count sequences}: "
        "rates per frame are over the frames with rows",
        "Frames without a target and without a box of the result are in neither file, and lower "
        "the rates per frame.",
        "Give the number of frames, with the argument `frames` or in seqinfo.ini.",
        "note",
        {"unknown": 1, "sequences": 7},
    ),
    MessageType(
        "frames-without-rows",
        "{empty:count} of {frames:count frames} have no rows",
        "In these frames there is no target, and the result has no box.",
        "Nothing, if this is so; else check the number of frames.",
        "note",
        {"empty": 17, "frames": 20},
    ),
)
