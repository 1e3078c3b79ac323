"""The messages of a check of data: what each finding says, and what to do about it."""

from bioeval.base.messages import MessageType

_SAMPLES = (
    MessageType(
        "subjects-with-one-template",
        "{subjects:count subjects} with one template, who make no genuine attempt; collect a "
        "second one, or accept this",
    ),
)

_LABELS = (
    MessageType(
        "labels-in-several-spellings",
        "{labels:count labels} in several spellings, counted as different subjects; if these "
        "are the same people, write their labels alike",
    ),
    MessageType(
        "labels-of-unknown-people",
        "labels for unknown people are counted as one subject; leave these templates out, mask "
        "them, or evaluate under a re-identification card to remove junk",
    ),
    MessageType(
        "names-repeated",
        "{values:count values} of {column:name} {how}; leave the repetitions out, unless these "
        "are several templates of one file",
    ),
    MessageType(
        "notes-of-list",
        "{notes:messages}",
    ),
    MessageType(
        "labels-likely-wrong",
        "{limit}{templates:count templates} nearer to another label than to the label given, of "
        "{compared:count} compared: {verdict}; look at these templates, which are listed, and "
        "correct wrong labels",
    ),
)

_NUMBERS = (
    MessageType(
        "people-few",
        "{size:amounts}: intervals over few people are rough; collect more people; `bioeval "
        "sample-size` plans the number of people",
    ),
)

_SCORES = (
    MessageType(
        "comparisons-failed",
        "{comparisons:count comparisons} failed (NaN){treatment:template}",
    ),
    MessageType(
        "values-of-failures",
        "{comparisons:counts} of {compared:amounts} have the score {values:scores}, {how}; if "
        "comparisons failed there, make these scores NaN and give {arg.nan=exclude} (no attempt) "
        "or {arg.nan=reject}, or mask them",
    ),
)

_COPIES = (
    MessageType(
        "templates-repeated",
        "{templates:count templates} more than once (equal rows or columns){labels}; correct the "
        "labels, or leave the copies out",
    ),
    MessageType(
        "genuine-copies",
        "{comparisons:count genuine comparisons}{of} {copy}; leave copies of a template "
        "out; they are no attempts",
    ),
    MessageType(
        "impostor-copies",
        "{comparisons:count} of {compared:count impostor comparisons} {copy}{proof}; inspect "
        "these templates and correct their labels; be.worst_pairs, or bioeval run --worst 20, "
        "lists the nearest pairs",
    ),
)

MESSAGES = (*_SAMPLES, *_LABELS, *_NUMBERS, *_SCORES, *_COPIES)
