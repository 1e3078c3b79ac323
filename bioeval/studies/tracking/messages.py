"""The messages of tracking."""

from bioeval.document import Message, MessageType

_BOXES = Message("boxes-found", share=0.02, iou=0.5)
_TRACKS = {"identities": 200, "targets": 5, "boxes": 1}
_BESIDE = Message("identity-beside-target", identity="3", target=3)

_APART = Message("identities-apart", strangers=5, identities=10, iou=0.5)

_CHECK = (
    MessageType(
        "notes-of-sequences",
        "{notes:messages}",
        "What was done with the sequences when they were read. Each of these notes is explained "
        "under its own code.",
        "",
        "note",
        {"notes": [Message("repeated-ids-accepted", boxes=3)]},
    ),
    MessageType(
        "sequences-with-result",
        "{sequences:count sequences} with a result",
        "Each sequence has a ground truth and a result.",
        "",
        "ok",
        {"sequences": 7},
    ),
    MessageType(
        "boxes-found",
        "{share:rate} of the boxes of targets have an overlap (IoU) of {iou:digits 6} or more with "
        "a box of the result",
        "No other reading of the boxes of the result would find many more.",
        "",
        "ok",
        {"share": 0.98, "iou": 0.5},
    ),
    MessageType(
        "boxes-are-corners",
        "{boxes}; read as right and bottom instead of width and height, {share:rate} have",
        "The last two numbers of the boxes are corners, and boxes are too large.",
        "Write width and height: right - left and bottom - top.",
        "error",
        {"boxes": _BOXES, "share": 1.0},
    ),
    MessageType(
        "boxes-are-centres",
        "{boxes}; read as centres instead of left and top, {share:rate} have",
        "The first two numbers of the boxes are centres, and boxes lie half of their size away.",
        "Write left and top: the centre less half of width and height.",
        "error",
        {"boxes": _BOXES, "share": 1.0},
    ),
    MessageType(
        "boxes-of-another-scale",
        "{boxes}; read as boxes of another scale, {share:rate} have",
        "Boxes of the result are of images of another size, or in parts of the image.",
        "Multiply left and width by {wide:digits 4}, top and height by {high:digits 4}.",
        "error",
        {"boxes": _BOXES, "share": 1.0, "wide": 2.0, "high": 2.0},
    ),
    MessageType(
        "result-without-boxes",
        "the result has no box",
        "All targets are missed.",
        "Check whether the tracker wrote its file.",
        "error",
        {},
    ),
    MessageType(
        "no-box-found",
        "no box of the result has an overlap (IoU) of {iou:digits 6} or more with a box of a "
        "target",
        "The two sides are probably not of the same images.",
        "Check whether both sides have the same video, image size and columns.",
        "error",
        {"iou": 0.5},
    ),
    MessageType(
        "frames-with-boxes",
        "all {frames:count frames} with targets have a box of the result",
        "The tracker ran on every frame with a target.",
        "",
        "ok",
        {"frames": 40},
    ),
    MessageType(
        "frames-without-boxes",
        "{lacking:count} of {frames:count frames} with targets have no box of the result",
        "The tracker may not have run on these frames.",
        "Run the tracker on every frame, or take the ground truth of the frames that it saw.",
        example={"lacking": 27, "frames": 40},
    ),
    MessageType(
        "frames-shifted",
        "with {frames:difference} added to the frames of the result the mean overlap is "
        "{overlap:decimals 3} instead of {present:decimals 3}",
        "The frames of the result are numbered in another way than those of the ground truth.",
        "Add {frames:difference} to the frames of the result: frames are numbered from 1.",
        "error",
        {"frames": -1, "overlap": 0.912, "present": 0.431},
    ),
    MessageType(
        "frames-not-labelled",
        "{full:count} of {frames:count frames} of the result have boxes as many as others, and no "
        "ground truth: all of these count as false positives",
        "These frames probably have targets that were not labelled.",
        "If these frames were not labelled, leave them out of the result.",
        example={"full": 20, "frames": 40},
    ),
    MessageType(
        "identities-overlap-targets",
        "every identity overlaps a target",
        "No identity of the result is apart from all targets.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "targets-never-overlapped",
        "{lost:count} of {targets:count targets} are never overlapped",
        "The tracker misses these targets in every frame.",
        "",
        "note",
        {"lost": 1, "targets": 5},
    ),
    MessageType(
        "identities-overlap-some-targets",
        "every identity overlaps a target; {findings:messages}",
        "The tracker misses some targets in every frame.",
        "",
        "note",
        {"findings": [Message("targets-never-overlapped", lost=1, targets=5)]},
    ),
    MessageType(
        "identities-apart",
        "{strangers:count} of {identities:count identities} never overlap a target (IoU of "
        "{iou:digits 6} or more)",
        "All boxes of these identities are false positives.",
        "",
        "note",
        {"strangers": 5, "identities": 10, "iou": 0.5},
    ),
    MessageType(
        "identities-without-target",
        "{findings:messages}",
        "All boxes of these identities are false positives.",
        "Inspect some of their boxes; raise the detector's threshold if detections are no targets.",
        example={"findings": [_APART]},
    ),
    MessageType(
        "identity-beside-target",
        "identity {identity:name} is in the frames of target {target:name} and never overlaps it",
        "The identity may be that of the target, with boxes of another place or scale.",
        "",
        "note",
        {"identity": "3", "target": 3},
    ),
    MessageType(
        "identities-beside-targets",
        "{first}, and {more:count} more like it",
        "The identities may be those of the targets, with boxes of another place or scale.",
        "",
        "note",
        {"first": _BESIDE, "more": 2},
    ),
    MessageType(
        "identities-displaced",
        "{findings:messages}",
        "An identity in the frames of one target may be that target, with boxes of another place "
        "or scale.",
        "Inspect the boxes of these identities: they may be of another place or scale than those "
        "of the others.",
        example={"findings": [_APART, _BESIDE]},
    ),
    MessageType(
        "no-track",
        "there is no track",
        "The result has no box.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "identities-and-targets",
        "{identities:count identities} for {targets:count targets}, with a median of "
        "{boxes:count boxes}",
        "The numbers of identities and of targets, and the length of tracks.",
        "",
        "ok",
        {"identities": 5, "targets": 5, "boxes": 40},
    ),
    MessageType(
        "ids-of-detections",
        "{identities:count identities} for {targets:count targets}, with a median of "
        "{boxes:count boxes}: every id is used once",
        "The ids are those of detections: no box has a track.",
        "Write the id of the track, not that of the detection.",
        "error",
        _TRACKS,
    ),
    MessageType(
        "many-identities",
        "{identities:count identities} for {targets:count targets}, with a median of "
        "{boxes:count boxes}",
        "HOTA and IDF1 will be low: the tracker begins a new track too often, or its ids start "
        "anew in parts of the video.",
        "Check that ids do not start anew in parts of the video; tune when tracks begin.",
        example={**_TRACKS, "boxes": 4},
    ),
    MessageType(
        "ids-used-once",
        "every id is used once in a frame",
        "No two boxes of a frame have one id.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "ids-used-twice",
        "{boxes:count boxes} of the result have an id that another box of their frame has",
        "A track has one box in a frame.",
        "Give every track in a frame a different id.",
        "error",
        {"boxes": 3},
    ),
)

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
    MessageType(
        "few-sequences",
        "no intervals over {sequences:count sequences}: at least {needed} are needed",
        "Intervals are over sequences: they say how much a number would change with other "
        "sequences of the same kind. The spread of a few sequences is too uncertain to say so.",
        "Evaluate more sequences. One long sequence may be cut into blocks of frames, with "
        "{arg.blocks}.",
        example={"sequences": 7, "needed": 12},
    ),
    MessageType(
        "sequences-not-in-common",
        "left out: {left_out:count} of {sequences:count sequences}, such as {names:names}; "
        "sequences without a result: {trackers:counts}",
        "Trackers are compared on the sequences that all of them have. The numbers are of these "
        "sequences, and may differ from those of each tracker by itself.",
        "Give every tracker a result of each sequence, or leave out the tracker that lacks many.",
        example={
            "left_out": 1,
            "sequences": 25,
            "names": ["dancetrack0004"],
            "trackers": {"SORT": 1},
        },
    ),
    MessageType(
        "sequences-of-one-video",
        "{sequences:count sequences} show {videos:count videos}, each with the detections of "
        "several detectors: intervals leave out one video at a time",
        "MOT17 has each video three times, as -DPM, -FRCNN and -SDP. What happens in a video "
        "happens in all of its sequences, which therefore count as one.",
        "",
        "note",
        {"sequences": 21, "videos": 7},
    ),
    MessageType(
        "blocks-of-one-sequence",
        "cut into {blocks:count blocks} of frames, and each target with them: all numbers are of "
        "the blocks, and their intervals are approximate",
        "Every block is a sequence of its own. An error of identity does not reach beyond its "
        "block, so that IDF1 and HOTA are mostly larger than those of the whole sequence. Blocks "
        "of one video are alike: the intervals are for other parts of this video, not for others.",
        "Leave {arg.blocks} out for the numbers of the whole sequence, without intervals.",
        "note",
        {"blocks": 20},
    ),
    *_CHECK,
)
