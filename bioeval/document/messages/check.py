"""The messages of a check of data: what each finding says, and what to do about it."""

from bioeval.base.messages import MessageType

_SAMPLES = (
    MessageType(
        "templates-of-subjects",
        "{subjects:count subjects} with {templates:spread templates}",
    ),
    MessageType(
        "templates-of-both-sides",
        "gallery: {gallery}; probes: {probes}",
    ),
    MessageType(
        "probes-not-enrolled",
        "{size}; {probes:count probes} of subjects that are not enrolled",
    ),
    MessageType(
        "subjects-with-one-template",
        "{size}; {subjects:count subjects} with one template; without a second "
        "template there is no genuine comparison of a subject; collect one, or accept this",
    ),
    MessageType(
        "every-subject-with-one-template",
        "{size}; every subject has one template: there is no genuine comparison, and {frr} is "
        "not defined; give several templates of each subject",
    ),
    MessageType(
        "no-probe-is-enrolled",
        "{size}; no probe's subject is in the gallery: there is no genuine comparison, and "
        "{frr} is not defined; check that both sides use the same labels: they are "
        "{probe:name} and {gallery:name}",
    ),
    MessageType(
        "one-subject-compared",
        "{size}; there is no impostor comparison: {far} is not defined; give templates of "
        "several subjects",
    ),
    MessageType(
        "pairs-of-both-classes",
        "{genuine:count genuine pairs}, {impostor:count impostor pairs}",
    ),
    MessageType(
        "pairs-of-one-class",
        "{genuine:count genuine pairs}, {impostor:count impostor pairs}; a rate of {lacking} "
        "attempts is not defined; give {lacking} pairs, too",
    ),
)

_LABELS = (
    MessageType("nothing-found", "nothing found"),
    MessageType(
        "labels-of-both-sides-equal",
        "probe and gallery labels are the same list; if these are the same "
        "templates, leave {arg.gallery_labels} out",
    ),
    MessageType(
        "templates-of-both-sides-equal",
        "probe and gallery labels are the same list, and each probe is nearest to "
        "the template in its own place; if these are the same templates, leave "
        "{arg.gallery_labels} out",
    ),
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
        "{values:count values} of {column:name} repeated; leave the repetitions out, unless "
        "these are several templates of one file",
    ),
    MessageType(
        "names-on-both-sides",
        "templates of the same name are on both sides, and are compared; take them out of one side",
    ),
    MessageType(
        "same-session-genuine",
        "templates of {sessions:count sessions}; genuine pairs of the same session are "
        "counted, too, and make the rates optimistic; leave them out with "
        "{arg.exclude=session}, unless the application compares such templates",
    ),
    MessageType(
        "same-camera-genuine",
        "templates of {cameras:count cameras}; genuine pairs of the same camera are counted, "
        "too, and make the rates optimistic; leave them out with {arg.exclude=camera}, or "
        "evaluate under a card of re-identification",
    ),
    MessageType(
        "notes-of-list",
        "{notes:messages}",
    ),
    MessageType(
        "labels-likely-wrong",
        "{limit}{templates:count templates} much nearer to another label than to the label "
        "given, of {compared:count} compared; inspect these templates, which are listed, and "
        "correct their labels",
    ),
    MessageType(
        "labels-likely-wrong-in-part",
        "{limit}{templates:count templates} much nearer to another label than to the label "
        "given, of {compared:count} compared; {certain:count} of them by more than chance or "
        "the similarity of two people explains; inspect these templates, which are listed, and "
        "correct wrong labels",
    ),
    MessageType(
        "labels-perhaps-wrong",
        "{limit}{templates:count templates} nearer to another label than to the label given, "
        "of {compared:count} compared: wrong labels, or people who look alike; look at these "
        "templates, which are listed",
    ),
)

_NUMBERS = (
    MessageType(
        "people-too-few-for-any-error",
        "{size:amounts}: too few for {far} {targets:rates}, even without a {false accept} "
        "(rule of 3); compare more people: {far} {least:rate} needs at least {needed:amounts} "
        "(rule of {rule}); `bioeval sample-size` plans the number of people",
    ),
    MessageType(
        "people-too-few-for-30-errors",
        "{size:amounts}: fewer than 30 errors are expected at {far} {targets:rates} (rule of "
        "30); compare more people: {far} {least:rate} needs at least {needed:amounts} (rule of "
        "{rule}); `bioeval sample-size` plans the number of people",
    ),
    MessageType(
        "people-few",
        "{size:amounts}: intervals over few people are rough; collect more people; `bioeval "
        "sample-size` plans the number of people",
    ),
)

_SCORES = (
    MessageType(
        "comparisons-failed",
        "{comparisons:count comparisons} failed (NaN); choose how to treat failed comparisons: "
        "{arg.nan=reject} (as attempts at an infinite distance) or {arg.nan=exclude} (no "
        "attempt)",
    ),
    MessageType(
        "failures-rejected",
        "{comparisons:count comparisons} failed (NaN): rejected at every threshold",
    ),
    MessageType(
        "failures-left-out",
        "{comparisons:count comparisons} failed (NaN): left out",
    ),
    MessageType(
        "comparisons-infinitely-near",
        "{comparisons:count comparisons} infinitely near; check that these comparisons are "
        "meant to be accepted at every finite threshold",
    ),
    MessageType(
        "comparisons-infinitely-far",
        "{comparisons:count comparisons} infinitely far: accepted at no finite threshold",
    ),
    MessageType(
        "constant-lines",
        "one value in every comparison of {lines:count templates}: {values:scores}; if "
        "comparisons failed there, make these scores NaN and give {arg.nan=exclude} (no "
        "attempt) or {arg.nan=reject}, or mask them",
    ),
    MessageType(
        "shared-end-value",
        "{comparisons:count} of {compared:amounts} have the score {value:score}, {how}",
    ),
    MessageType(
        "values-of-failures",
        "{ends:messages}; if comparisons failed there, make these scores NaN and give "
        "{arg.nan=exclude} (no attempt) or {arg.nan=reject}, or mask them",
    ),
    MessageType(
        "kind-not-checked",
        "not checked without both classes",
    ),
)

_COPIES = (
    MessageType(
        "templates-repeated",
        "{templates:count templates} more than once (equal rows or columns); leave the copies out",
    ),
    MessageType(
        "templates-repeated-under-different-labels",
        "{templates:count templates} more than once (equal rows or columns), under different "
        "labels: {labels:names}; correct them, or leave the copies out",
    ),
    MessageType(
        "genuine-copies",
        "{comparisons:count genuine comparisons}{of} {copy}; leave copies of a template "
        "out; they are no attempts",
    ),
    MessageType(
        "impostor-copies",
        "{comparisons:count} of {compared:count impostor comparisons} {copy}; inspect these "
        "templates and their labels; be.worst_pairs, or bioeval run --worst 20, lists the "
        "nearest pairs",
    ),
    MessageType(
        "proven-impostor-copies",
        "{comparisons:count} of {compared:count impostor comparisons} {copy}, and their "
        "rows are {equal}: copies of one template; inspect these templates and correct their "
        "labels; be.worst_pairs, or bioeval run --worst 20, lists the nearest pairs",
    ),
)

MESSAGES = (*_SAMPLES, *_LABELS, *_NUMBERS, *_SCORES, *_COPIES)
