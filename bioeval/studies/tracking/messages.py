"""The messages of tracking."""

from bioeval.document import MessageType

_CHECK = (
    MessageType(
        "notes-of-sequences",
        "{notes:messages}",
    ),
    MessageType(
        "sequences-with-result",
        "{sequences:count sequences} with a result",
    ),
    MessageType(
        "boxes-found",
        "{share:rate} of the boxes of targets have an overlap (IoU) of {iou:digits 6} or more with "
        "a box of the result",
    ),
    MessageType(
        "boxes-are-corners",
        "{boxes}; read as right and bottom instead of width and height, {share:rate} have",
    ),
    MessageType(
        "boxes-are-centres",
        "{boxes}; read as centres instead of left and top, {share:rate} have",
    ),
    MessageType(
        "boxes-of-another-scale",
        "{boxes}; read as boxes of another scale, {share:rate} have",
    ),
    MessageType(
        "result-without-boxes",
        "the result has no box",
    ),
    MessageType(
        "no-box-found",
        "no box of the result has an overlap (IoU) of {iou:digits 6} or more with a box of a "
        "target",
    ),
    MessageType(
        "frames-with-boxes",
        "all {frames:count frames} with targets have a box of the result",
    ),
    MessageType(
        "frames-without-boxes",
        "{lacking:count} of {frames:count frames} with targets have no box of the result",
    ),
    MessageType(
        "frames-shifted",
        "with {frames:difference} added to the frames of the result the mean overlap is "
        "{overlap:decimals 3} instead of {present:decimals 3}",
    ),
    MessageType(
        "frames-not-labelled",
        "{full:count} of {frames:count frames} of the result have boxes as many as others, and no "
        "ground truth: all of these count as false positives",
    ),
    MessageType(
        "identities-overlap-targets",
        "every identity overlaps a target",
    ),
    MessageType(
        "targets-never-overlapped",
        "{lost:count} of {targets:count targets} are never overlapped",
    ),
    MessageType(
        "identities-overlap-some-targets",
        "every identity overlaps a target; {findings:messages}",
    ),
    MessageType(
        "identities-apart",
        "{strangers:count} of {identities:count identities} never overlap a target (IoU of "
        "{iou:digits 6} or more)",
    ),
    MessageType(
        "identities-without-target",
        "{findings:messages}",
    ),
    MessageType(
        "identity-beside-target",
        "identity {identity:name} is in the frames of target {target:name} and never overlaps it",
    ),
    MessageType(
        "identities-beside-targets",
        "{first}, and {more:count} more like it",
    ),
    MessageType(
        "identities-displaced",
        "{findings:messages}",
    ),
    MessageType(
        "no-track",
        "there is no track",
    ),
    MessageType(
        "identities-and-targets",
        "{identities:count identities} for {targets:count targets}, with a median of "
        "{boxes:count boxes}",
    ),
    MessageType(
        "ids-of-detections",
        "{identities:count identities} for {targets:count targets}, with a median of "
        "{boxes:count boxes}: every id is used once",
    ),
    MessageType(
        "many-identities",
        "{identities:count identities} for {targets:count targets}, with a median of "
        "{boxes:count boxes}",
    ),
    MessageType(
        "ids-used-once",
        "every id is used once in a frame",
    ),
    MessageType(
        "ids-used-twice",
        "{boxes:count boxes} of the result have an id that another box of their frame has",
    ),
)

MESSAGES = (
    MessageType(
        "results-without-truth",
        "skipped, as there is no ground truth: {number:count results}, such as {names:names}; "
        "compare the names of both sides",
    ),
    MessageType(
        "repeated-ids-accepted",
        "counted as separate boxes: {boxes:count boxes} of the result with the id of another box "
        "of their frame",
    ),
    MessageType(
        "flags-other-than-0-and-1",
        "evaluated: {rows:count rows} of the ground truth with a flag other than 0 (ignore) "
        "and 1; check the order of the columns",
    ),
    MessageType(
        "no-truth-boxes",
        "the ground truth has no box to evaluate",
    ),
    MessageType(
        "no-result-boxes",
        "the result has no box",
    ),
    MessageType(
        "boxes-without-area",
        "no overlap with anything: {boxes:count boxes} of the {side} without an area; check "
        "the order of the columns",
    ),
    MessageType(
        "cameras-without-truth",
        "counted as false positives: {boxes:count boxes} of the result in cameras without ground "
        "truth ({cameras:names})",
    ),
    MessageType(
        "boxes-beyond-truth",
        "counted as false positives: {boxes:count boxes} of the result beyond frame {last:name}, "
        "the last one of the ground truth",
    ),
    MessageType(
        "ignored-boxes-counted",
        "ignored: {boxes:count boxes} of the ground truth; boxes of the result on them count "
        "as false positives; the argument `ignored` chooses the convention",
    ),
    MessageType(
        "ignored-boxes-removed",
        "ignored: {boxes:count boxes} of the ground truth; removed: {removed:count boxes} of "
        "the result that are matched to them; the argument `ignored` chooses the convention",
    ),
    MessageType(
        "distractor-boxes-removed",
        "ignored: {boxes:count boxes} of the ground truth; removed: {removed:count boxes} of the "
        "result that are matched to distractors among them; others count as false positives",
    ),
    MessageType(
        "frames-not-given",
        "the number of frames is not given for {unknown:count} of {sequences:count sequences}: "
        "rates per frame are over the frames with rows; give it in seqinfo.ini or as the "
        "argument `frames`",
    ),
    MessageType(
        "frames-without-rows",
        "{empty:count} of {frames:count frames} have no rows",
    ),
    MessageType(
        "few-sequences",
        "no intervals over {sequences:count sequences}: at least {needed} are needed; "
        "{arg.blocks} cuts one long sequence into blocks of frames",
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
    MessageType(
        "blocks-of-one-sequence",
        "cut into {blocks:count blocks} of frames, and each target with them: all numbers are of "
        "the blocks, and their intervals are approximate",
    ),
    *_CHECK,
)
