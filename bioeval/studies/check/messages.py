"""The messages of a check of data: what each finding says, and what to do about it."""

from bioeval.document import Message, MessageType

_SIZE = Message("templates-of-subjects", subjects=40, templates=[3, 4, 4])
_BOTH_SIDES = Message("layout-of-scores", layout="probe against gallery", rows=80, columns=80)
_PEOPLE = {"subjects": 40, "impostor attempts": 12480}
_TIED = Message("few-ties", tied=0.3, scores=65000)
_DIFFER = Message("directions-differ", comparisons=2, compared=25438)
_END = {"comparisons": 120, "compared": {"sampled comparisons": 65000}, "value": -1.0}
_COPY = (
    "Two captures of a person differ. If a template is a copy, a capture is compared with itself."
)
_PLAN = "`bioeval sample-size` plans the number of people."

_SAMPLES = (
    MessageType(
        "templates-of-subjects",
        "{subjects:count subjects} with {templates:spread templates}",
        "The finding gives the number of subjects, and of templates of each subject.",
        "",
        "ok",
        {"subjects": 40, "templates": [3, 4, 4]},
    ),
    MessageType(
        "templates-of-both-sides",
        "gallery: {gallery}; probes: {probes}",
        "The finding gives the subjects and templates of the gallery, and those of the probes.",
        "",
        "ok",
        {"gallery": _SIZE, "probes": _SIZE},
    ),
    MessageType(
        "probes-not-enrolled",
        "{size}; {probes:count probes} of subjects that are not enrolled",
        "Searches of these probes are non-mated: each is accepted by mistake, or not at all.",
        "",
        "ok",
        {"size": _SIZE, "probes": 40},
    ),
    MessageType(
        "subjects-with-one-template",
        "{size}; {subjects:count subjects} with one template",
        "A genuine comparison takes two templates of a subject. Subjects with one template make "
        "only impostor comparisons, and are left out of closed-set identification.",
        "Collect a second template of these subjects, or accept that they make no genuine "
        "comparison.",
        "note",
        {"size": _SIZE, "subjects": 3},
    ),
    MessageType(
        "every-subject-with-one-template",
        "{size}; every subject has one template: there is no genuine comparison, and {frr} is not "
        "defined",
        "A genuine comparison takes two templates of a subject.",
        "Give several templates of each subject.",
        "error",
        {"size": Message("templates-of-subjects", subjects=40, templates=[1, 1, 1])},
    ),
    MessageType(
        "no-probe-is-enrolled",
        "{size}; no probe's subject is in the gallery: there is no genuine comparison, and {frr} "
        "is not defined",
        "The labels of the two sides have no subject in common.",
        "Check that both sides use the same labels: they are {probe:name} and {gallery:name}.",
        "error",
        {"size": _SIZE, "probe": "int64", "gallery": "<U2"},
    ),
    MessageType(
        "one-subject-compared",
        "{size}; there is no impostor comparison: {far} is not defined",
        "An impostor comparison takes templates of two subjects.",
        "Give templates of several subjects.",
        "error",
        {"size": Message("templates-of-subjects", subjects=1, templates=[4, 4, 4])},
    ),
    MessageType(
        "pairs-of-both-classes",
        "{genuine:count genuine pairs}, {impostor:count impostor pairs}",
        "The numbers of pairs of one subject, and of two.",
        "",
        "ok",
        {"genuine": 6000, "impostor": 6000},
    ),
    MessageType(
        "pairs-of-one-class",
        "{genuine:count genuine pairs}, {impostor:count impostor pairs}; a rate of {lacking} "
        "attempts is not defined",
        "Error rates of verification need pairs of one subject and pairs of two.",
        "Give {lacking} pairs, too.",
        "error",
        {"genuine": 6000, "impostor": 0, "lacking": "impostor"},
    ),
)

_LABELS = (
    MessageType(
        "layout-of-scores",
        "{layout}, {rows:count} x {columns:count}",
        "How the templates were compared, and the size of the matrix.",
        "",
        "ok",
        {"layout": "all against all", "rows": 160, "columns": 160},
    ),
    MessageType(
        "labels-of-both-sides-equal",
        "{layout}; probe and gallery labels are the same list",
        "The two sides may be the same templates. Each is then compared with itself, a genuine "
        "attempt that never fails.",
        "If these are the same templates, leave {arg.gallery_labels} out.",
        "note",
        {"layout": _BOTH_SIDES},
    ),
    MessageType(
        "templates-of-both-sides-equal",
        "{layout}; probe and gallery labels are the same list, and each probe is nearest to the "
        "template in its own place",
        "The two sides are probably the same templates. Each is then compared with itself, a "
        "genuine attempt that never fails.",
        "If these are the same templates, leave {arg.gallery_labels} out.",
        example={"layout": _BOTH_SIDES},
    ),
    MessageType(
        "gallery-of-single-templates",
        "{layout}; the gallery has one template of each subject",
        "Single- and multi-template verification are the same, and so are ranks of templates and "
        "of subjects.",
        "Read one of the two results; they are equal.",
        "note",
        {"layout": _BOTH_SIDES},
    ),
    MessageType(
        "labels-distinct",
        "{labels:count distinct labels}",
        "No two labels are the same but for their spelling, and none stands for unknown people.",
        "",
        "ok",
        {"labels": 40},
    ),
    MessageType(
        "labels-in-several-spellings",
        "{labels:count labels} in several spellings, counted as different subjects",
        "Labels that differ only in case, blanks or invisible characters are often of one person. "
        "The genuine pairs of this person are then counted as impostor pairs.",
        "If these are the same people, write their labels alike.",
        example={"labels": 1},
    ),
    MessageType(
        "labels-of-unknown-people",
        "labels for unknown people are counted as one subject",
        "Labels such as -1, unknown or none stand for many people. Pairs of two of them are "
        "counted as genuine.",
        "Leave these templates out, mask them, or evaluate under a re-identification card to "
        "remove junk.",
        example={},
    ),
    MessageType(
        "names-distinct",
        "all values of {columns:names} differ",
        "No name of a template occurs twice.",
        "",
        "ok",
        {"columns": ["file"]},
    ),
    MessageType(
        "templates-without-names",
        "templates have no names",
        "Without names, templates that occur twice are found by their scores alone.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "names-repeated",
        "{values:count values} of {column:name} repeated",
        "Templates of the same name are probably the same capture. If they are compared with each "
        "other, the rates are optimistic.",
        "Leave the repetitions out, unless these are several templates of one file.",
        example={"values": 1, "column": "file"},
    ),
    MessageType(
        "names-on-both-sides",
        "templates of the same name are on both sides, and are compared",
        "A template that is compared with itself never fails.",
        "Take these templates out of one side.",
        example={},
    ),
    MessageType(
        "no-metadata",
        "no metadata",
        "There is no column by which comparisons could be left out or grouped.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "metadata-columns",
        "columns: {columns:names}",
        "These are the columns of the metadata, by which comparisons can be left out or grouped.",
        "",
        "ok",
        {"columns": ["session", "file"]},
    ),
    MessageType(
        "same-session-genuine",
        "templates of {sessions:count sessions}; genuine pairs of the same session are counted, "
        "too, and make the rates optimistic",
        "Templates of one session are more alike than those of different days.",
        "Leave them out with {arg.exclude=session}, unless the application compares such "
        "templates.",
        "note",
        {"sessions": 2},
    ),
    MessageType(
        "same-camera-genuine",
        "templates of {cameras:count cameras}; genuine pairs of the same camera are counted, too, "
        "and make the rates optimistic",
        "Images of one camera are more alike than those of two.",
        "Leave them out with {arg.exclude=camera}, or evaluate under a card of re-identification.",
        "note",
        {"cameras": 6},
    ),
    MessageType(
        "notes-of-list",
        "{notes:messages}",
        "What was done with the lines of a list when it was read. Each of these notes is explained "
        "under its own code.",
        "",
        "note",
        {"notes": [Message("repeated-pairs", pairs=12)]},
    ),
    MessageType(
        "pairs-listed-once",
        "each pair of templates is listed once, and none with itself",
        "The lines of the list are attempts as they stand.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "labels-agree",
        "{templates:count templates} compared: none is much nearer to another subject than to its "
        "own",
        "By the scores, no label is likely to be wrong.",
        "",
        "ok",
        {"templates": 160},
    ),
    MessageType(
        "labels-not-compared",
        "no template has scores of its own label and of others",
        "Whether a label is right is judged by the scores of its template with both.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "labels-of-pairs-not-compared",
        "not looked for in a list of pairs: it takes a matrix",
        "Whether a label is right is judged by the scores of its template with many others.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "labels-likely-wrong",
        "{limit}{templates:count templates} much nearer to another label than to the label given, "
        "of {compared:count} compared",
        "The median distance to the templates of another label is smaller than the median "
        "distance to the templates of its own label, by more than chance or the "
        "similarity of two people explains.",
        "Inspect these templates, which are listed with the label that each is nearest to, and "
        "correct their labels.",
        example={"limit": "", "templates": 3, "compared": 160},
    ),
    MessageType(
        "labels-likely-wrong-in-part",
        "{limit}{templates:count templates} much nearer to another label than to the label given, "
        "of {compared:count} compared; {certain:count} of them by more than chance or "
        "the similarity of two people explains",
        "The median distance to the templates of another label is smaller than the median "
        "distance to the templates of its own label. For some templates it is so by "
        "more than chance or the similarity of two people explains; the others may be of two "
        "people who look alike.",
        "Inspect these templates, which are listed with the label that each is nearest to, and "
        "correct wrong labels.",
        example={"limit": "", "templates": 4, "certain": 3, "compared": 160},
    ),
    MessageType(
        "labels-perhaps-wrong",
        "{limit}{templates:count templates} nearer to another label than to the label given, "
        "of {compared:count} compared: wrong labels, or people who look alike",
        "The median distance to the templates of another label is smaller than the median "
        "distance to the templates of its own label, but not by more than the "
        "similarity of two people explains.",
        "Look at these templates, which are listed with the label that each is nearest to.",
        "note",
        {"limit": "", "templates": 1, "compared": 160},
    ),
)

_NUMBERS = (
    MessageType(
        "people-counted",
        "{size:amounts}",
        "The numbers of people and of impostor comparisons, without a {far} to judge them for.",
        "",
        "ok",
        {"size": _PEOPLE},
    ),
    MessageType(
        "people-enough",
        "{size:amounts}: enough for {far} {targets:rates}",
        "At least 30 errors are expected (rule of 30).",
        "",
        "ok",
        {"size": _PEOPLE, "targets": [0.1]},
    ),
    MessageType(
        "people-too-few-for-any-error",
        "{size:amounts}: too few for {far} {targets:rates}, even without a {false accept} (rule of "
        "3)",
        "Even without an error among these comparisons, the rate may be larger than the target.",
        "Compare more people: {far} {least:rate} needs at least {needed:amounts} (rule of {rule}); "
        f"{_PLAN}",
        "note",
        {
            "size": _PEOPLE,
            "targets": [0.0001],
            "least": 0.0001,
            "needed": {"people": 246, "pairs of people": 30000},
            "rule": 3,
        },
    ),
    MessageType(
        "people-too-few-for-30-errors",
        "{size:amounts}: fewer than 30 errors are expected at {far} {targets:rates} (rule of 30)",
        "A rate from fewer than 30 errors is rough.",
        "Compare more people: {far} {least:rate} needs at least {needed:amounts} (rule of {rule}); "
        f"{_PLAN}",
        "note",
        {
            "size": _PEOPLE,
            "targets": [0.01],
            "least": 0.01,
            "needed": {"people": 78, "pairs of people": 3000},
            "rule": 30,
        },
    ),
    MessageType(
        "people-no-population",
        "{size:amounts}: fewer than {few:count} people cannot represent a population",
        "People differ, and so few people cannot show how much.",
        f"Collect more people; {_PLAN}",
        "note",
        {"size": {"subjects": 9, "impostor comparisons": 576}, "few": 10},
    ),
    MessageType(
        "people-no-population-for-far",
        "{size:amounts}: fewer than {few:count} people cannot represent a population",
        "People differ, and so few people cannot show how much. In addition, fewer than 30 errors "
        "are expected.",
        "Compare more people: {far} {least:rate} needs at least {needed:amounts} (rule of {rule}); "
        f"{_PLAN}",
        "note",
        {
            "size": {"subjects": 9, "impostor comparisons": 576},
            "few": 10,
            "least": 0.1,
            "needed": {"people": 25, "pairs of people": 300},
            "rule": 30,
        },
    ),
    MessageType(
        "people-few-for-intervals",
        "{size:amounts}: intervals over few people are rough",
        "Intervals by subject are too narrow where there are fewer than 30 subjects.",
        f"Collect more people; {_PLAN}",
        "note",
        {"size": {"subjects": 20, "impostor comparisons": 3040}},
    ),
)

_SCORES = (
    MessageType(
        "scores-finite",
        "every comparison has a finite score",
        "No comparison failed.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "comparisons-failed",
        "{comparisons:count comparisons} failed (NaN)",
        "Whether a failed comparison counts as rejected changes the rates, and nothing says it "
        "here.",
        "Choose how to treat failed comparisons: {arg.nan=reject} (as attempts at an infinite "
        "distance) or {arg.nan=exclude} (no attempt).",
        "error",
        {"comparisons": 2},
    ),
    MessageType(
        "failures-rejected",
        "{comparisons:count comparisons} failed (NaN), and are rejected at every threshold",
        "Failed comparisons are attempts, at an infinite distance.",
        "",
        "note",
        {"comparisons": 2},
    ),
    MessageType(
        "failures-left-out",
        "{comparisons:count comparisons} failed (NaN), and are left out",
        "Failed comparisons are no attempts.",
        "",
        "note",
        {"comparisons": 2},
    ),
    MessageType(
        "comparisons-infinitely-near",
        "{comparisons:count comparisons} infinitely near",
        "They are accepted at every finite threshold.",
        "Check that these comparisons are meant to be accepted at every finite threshold.",
        example={"comparisons": 1},
    ),
    MessageType(
        "comparisons-infinitely-far",
        "{comparisons:count comparisons} infinitely far: accepted at no finite threshold",
        "An infinite distance is that of a comparison which is always rejected.",
        "",
        "note",
        {"comparisons": 1},
    ),
    MessageType(
        "no-failure-code",
        "no constant row or column, no extreme value that many scores share",
        "No score looks like one that stands for a failed comparison.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "no-shared-end-value",
        "no value at an end is shared by many",
        "No score looks like one that stands for a failed comparison.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "constant-lines",
        "one value in every comparison of {lines:count templates}: {values:scores}",
        "Some programs write a fixed score, such as -1, if a template could not be compared. If "
        "this value is counted as a score, failed comparisons are counted as attempts.",
        "If comparisons failed there, make these scores NaN and give {arg.nan=exclude} (no "
        "attempt) or {arg.nan=reject}, or mask them.",
        "error",
        {"lines": 1, "values": [-1.0]},
    ),
    MessageType(
        "shared-end-value",
        "{comparisons:count} of {compared:amounts} have the score {value:score}, {how}",
        "Many comparisons share one score at the end of the range.",
        "See the finding that names this value.",
        "note",
        {**_END, "how": "far from all others"},
    ),
    MessageType(
        "values-of-failures",
        "{ends:messages}",
        "Many comparisons share one score at the end of the range, which no other score is near: "
        "often it stands for a failed comparison.",
        "If comparisons failed there, make these scores NaN and give {arg.nan=exclude} (no "
        "attempt) or {arg.nan=reject}, or mask them.",
        "error",
        {"ends": [Message("shared-end-value", **_END, how="far from all others")]},
    ),
    MessageType(
        "values-cut-off",
        "{ends:messages}",
        "Many comparisons share one score at the end of the range, near other scores.",
        "Inspect some of these comparisons: scores are cut off there, or failed comparisons have "
        "this score.",
        "note",
        {"ends": [Message("shared-end-value", **_END, how="at the end of all others")]},
    ),
    MessageType(
        "kind-not-checked",
        "{scores}; not checked without both classes",
        "Whether scores are distances or similarities shows where genuine and impostor scores are "
        "compared.",
        "",
        "ok",
        {"scores": "distances"},
    ),
    MessageType(
        "too-few-scores-for-ties",
        "too few scores to look for ties",
        "Fewer than two distinct scores were looked at.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "few-ties",
        "{tied:rate} of {scores:count scores} share their value with another",
        "So few ties change neither ranks nor thresholds.",
        "",
        "ok",
        {"tied": 0.001, "scores": 65000},
    ),
    MessageType(
        "many-ties",
        "{ties}, {values:count distinct scores}",
        "Ties change ranks and thresholds.",
        "Choose the treatment of ties with {arg.ties} (pessimistic by default).",
        "note",
        {"ties": _TIED, "values": 40000},
    ),
    MessageType(
        "ties-in-equal-steps",
        "{ties}, {values:count distinct scores} in steps of {step:score}",
        "Whole numbers, and distances of codes, have ties by nature. Ties change ranks and "
        "thresholds.",
        "Choose the treatment of ties with {arg.ties} (pessimistic by default).",
        "note",
        {"ties": _TIED, "values": 40, "step": 1.0},
    ),
    MessageType(
        "ties-in-square-roots",
        "{ties}, {values:count distinct scores}, square roots of equal steps",
        "Euclidean distances of codes have ties by nature. Ties change ranks and thresholds.",
        "Choose the treatment of ties with {arg.ties} (pessimistic by default).",
        "note",
        {"ties": _TIED, "values": 40},
    ),
    MessageType(
        "scores-quantised",
        "{ties}, {values:count distinct scores}",
        "Quantised scores have few thresholds, and ties change ranks and thresholds.",
        "Give the scores with more digits, or choose the treatment of ties with {arg.ties} "
        "(pessimistic by default).",
        example={"ties": _TIED, "values": 40},
    ),
)

_COPIES = (
    MessageType(
        "no-equal-rows",
        "no two rows are equal",
        "No template occurs twice, by its scores.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "templates-repeated",
        "{templates:count templates} more than once (equal rows or columns)",
        "Templates with the same scores are copies. They are compared with each other, which "
        "makes the rates optimistic.",
        "Leave the copies out.",
        example={"templates": 1},
    ),
    MessageType(
        "templates-repeated-under-different-labels",
        "{templates:count templates} more than once (equal rows or columns), under different "
        "labels: {labels:names}",
        "Copies of one template have labels of two people, and count as the nearest impostors.",
        "Correct the labels, or leave the copies out.",
        "error",
        {"templates": 1, "labels": ["'ann'", "'bob'"]},
    ),
    MessageType(
        "templates-nearly-repeated-under-different-labels",
        "{pairs:count pairs} of templates with equal rows but for {limit:digits 3}, under "
        "different labels: {labels:names}",
        "Near copies of one template have labels of two people, and count as the nearest "
        "impostors.",
        "Correct the labels, or leave the copies out.",
        "error",
        {"pairs": 1, "limit": 0.000123, "labels": ["'ann'", "'bob'"]},
    ),
    MessageType(
        "score-of-copy-unknown",
        "not checked: the score of a copy is not known",
        "Similarities above 1 have a scale of their own.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "no-score-of-copy",
        "no two templates are at the distance of a copy",
        "No two templates have the score of one with itself.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "genuine-copies",
        "{comparisons:count genuine comparisons}{of} at {copy}",
        _COPY,
        "Leave copies of a template out; they are no attempts.",
        "note",
        {"comparisons": 2, "of": " of different templates", "copy": "distance 0"},
    ),
    MessageType(
        "genuine-near-copies",
        "{comparisons:count genuine comparisons}{of} within {limit:digits 3} of {copy}",
        _COPY,
        "Leave copies of a template out; they are no attempts.",
        "note",
        {
            "comparisons": 2,
            "of": " of different templates",
            "limit": 0.000123,
            "copy": "distance 0",
        },
    ),
    MessageType(
        "impostor-copies",
        "{comparisons:count} of {compared:count impostor comparisons} at {copy}",
        "The labels differ, but the templates seem to be of the same person.",
        "Inspect these templates and their labels; be.worst_pairs, or bioeval run --worst 20, "
        "lists the nearest pairs.",
        example={"comparisons": 2, "compared": 24960, "copy": "distance 0"},
    ),
    MessageType(
        "impostor-near-copies",
        "{comparisons:count} of {compared:count impostor comparisons} within {limit:digits 3} of "
        "{copy}",
        "The labels differ, but the templates seem to be of the same person.",
        "Inspect these templates and their labels; be.worst_pairs, or bioeval run --worst 20, "
        "lists the nearest pairs.",
        example={"comparisons": 2, "compared": 24960, "limit": 0.000123, "copy": "distance 0"},
    ),
    MessageType(
        "proven-impostor-copies",
        "{comparisons:count} of {compared:count impostor comparisons} at {copy}, and their rows "
        "are equal: copies of one template",
        "The labels differ, but the scores against all other templates are those of a single "
        "template.",
        "Inspect these templates and correct their labels; be.worst_pairs, or bioeval run "
        "--worst 20, lists the nearest pairs.",
        "error",
        {"comparisons": 2, "compared": 24960, "copy": "distance 0"},
    ),
    MessageType(
        "proven-impostor-near-copies",
        "{comparisons:count} of {compared:count impostor comparisons} within {limit:digits 3} of "
        "{copy}, and their rows are {equal}: copies of one template",
        "The labels differ, but the scores against all other templates are those of a single "
        "template.",
        "Inspect these templates and correct their labels; be.worst_pairs, or bioeval run "
        "--worst 20, lists the nearest pairs.",
        "error",
        {
            "comparisons": 2,
            "compared": 24960,
            "limit": 0.000123,
            "copy": "distance 0",
            "equal": "nearly equal",
        },
    ),
    MessageType(
        "one-direction",
        "each pair is compared in one direction",
        "There is no second score of a pair with which to compare the first one.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "directions-agree",
        "both directions of a pair have the same score",
        "The comparison is symmetric.",
        "",
        "ok",
        {},
    ),
    MessageType(
        "directions-differ",
        "{comparisons:count} of {compared:count comparisons} differ from those the other way round",
        "If a comparison is not symmetric, the two orders of a pair have different scores.",
        "Nothing, if the comparison is not symmetric: both directions are attempts.",
        "note",
        {"comparisons": 2, "compared": 25438},
    ),
    MessageType(
        "directions-differ-by-rounding",
        "{differences}, by rounding alone",
        "The scores of both directions of a pair are equal except for their last digits.",
        "",
        "note",
        {"differences": _DIFFER},
    ),
    MessageType(
        "directions-differ-in-few",
        "{differences}; all others agree",
        "Where nearly all pairs have one score in both directions, the others may be damaged.",
        "Make these comparisons again: they may be damaged.",
        example={"differences": _DIFFER},
    ),
)

MESSAGES = (*_SAMPLES, *_LABELS, *_NUMBERS, *_SCORES, *_COPIES)
