"""The messages of results over folds, and over repeated partitions."""

from bioeval.document import MessageType

_NO_SPREAD = "{rate:term} is {value} in every {unit}: the spread is 0, so there is no interval"
_WHY_NO_SPREAD = (
    "The interval of a mean over parts follows from their spread. Where all parts have no error, "
    "or nothing but errors, there is none, although the rate of other data may differ."
)
_IN_BOTH = (
    "up to {subjects:count subjects} of a test part are in its training part, too (in "
    "{parts:count} of {number:count} {unit}s): the rates are not those of new people"
)
_WHY_IN_BOTH = (
    "What is fitted on the training part, a threshold or a system, knows these people. On people "
    "who are not in it, the errors are usually more."
)

_WHY_NO_PROMISE = (
    "The training part of these folds has too few people for the promise that is asked for, as the "
    "reason of the first one says."
)
_MORE_PEOPLE = "Collect data of more people, divide them into fewer parts, or ask for less."

MESSAGES = (
    MessageType(
        "no-promise-in-parts",
        "no threshold can be promised in {refused:count} of {number:count} {unit}s: the means at "
        "assured thresholds are over the others",
        _WHY_NO_PROMISE,
        _MORE_PEOPLE,
        example={"refused": 1, "number": 3, "unit": "fold"},
    ),
    MessageType(
        "no-promise-in-any-part",
        "no threshold can be promised in {refused:count} of {number:count} {unit}s, so no rate at "
        "assured thresholds was measured on new people",
        _WHY_NO_PROMISE,
        _MORE_PEOPLE,
        example={"refused": 3, "number": 3, "unit": "fold"},
    ),
    MessageType(
        "rate-undefined-in-parts",
        "{rate:term} is not defined in {missing:count} of {number:count} {unit}s and its mean is "
        "over the others: no attempt of its class, or no attempts to choose a threshold on",
        "A rate of a part without an attempt of its class, or without a threshold, is NaN.",
        "Divide the data into fewer parts, so that each has attempts of both classes.",
        example={"rate": "far", "missing": 2, "number": 10, "unit": "fold"},
    ),
    MessageType(
        "no-spread-between-parts",
        _NO_SPREAD,
        _WHY_NO_SPREAD,
        "Collect more data, or divide them into fewer parts.",
        example={"rate": "cms", "value": 1, "unit": "fold"},
    ),
    MessageType(
        "no-spread-but-subjects",
        f"{_NO_SPREAD}; {{arg.interval=subject-bootstrap}} gives an interval",
        _WHY_NO_SPREAD,
        "Ask for intervals by subject, which have a bound where there is no error.",
        example={"rate": "far", "value": 0, "unit": "fold"},
    ),
    MessageType(
        "no-spread-but-column",
        f"{_NO_SPREAD}; the rate on these data has an interval",
        _WHY_NO_SPREAD,
        "Read the interval of the rate on these data, in the column where chosen.",
        example={"rate": "far", "value": 0, "unit": "fold"},
    ),
    MessageType(
        "one-part",
        "there is one {unit} only: no interval and no standard deviation",
        "An interval of a mean over parts, and a standard deviation, need two parts at least.",
        "Divide the data more than once.",
        example={"unit": "fold"},
    ),
    MessageType(
        "probes-of-test-without-mate",
        "{probes:count probes} without a mate in the gallery of the test part left out; a closed "
        "set requires enrolment",
        "In closed-set identification each probe has its subject in the gallery.",
        "Enrol a template of each subject in each part, or evaluate open-set identification.",
        "note",
        {"probes": 4},
    ),
    MessageType(
        "pairs-across-parts",
        "each division into folds leaves {pairs:count pairs} of subjects in different parts "
        "untested, and tests {tested:count}; fewer folds test more",
        "A pair is in a part with both of its subjects. Pairs of subjects in two parts are in "
        "neither; the numbers are means over the divisions.",
        "Divide the subjects into fewer folds.",
        "note",
        {"pairs": 4000, "tested": 2000},
    ),
    MessageType(
        "infinite-cllr",
        "Cllr is infinite in {parts:count folds}, and so is its mean, without a spread: an attempt "
        "of the test part has an infinite ratio of the wrong sign, as isotonic regression gives "
        "beyond the scores of one class",
        "A log-likelihood ratio of infinite size says that an error is impossible; one that is "
        "wrong costs infinitely much.",
        "Calibrate by logistic regression, or with bounded ratios.",
        example={"parts": 2},
    ),
    MessageType(
        "galleries-of-different-sizes",
        "training and test have galleries of different sizes, so their rates are not comparable: "
        "a smaller gallery makes fewer errors",
        "Rates of identification depend on the number of subjects in the gallery.",
        "Divide the subjects into halves, or do not compare the rates of both parts.",
        "note",
        {},
    ),
    MessageType(
        "subjects-in-both-parts",
        f"{_IN_BOTH}. Divide by subject, as SubjectKFold does",
        _WHY_IN_BOTH,
        "Use a splitter that divides subjects.",
        example={"subjects": 12, "parts": 3, "number": 3, "unit": "fold"},
    ),
    MessageType(
        "subjects-in-both-parts-of-experiment",
        _IN_BOTH,
        _WHY_IN_BOTH,
        "Divide by subject, or look at the rates of unseen subjects, where the result has them.",
        example={"subjects": 12, "parts": 3, "number": 3, "unit": "repeat"},
    ),
    MessageType(
        "unseen-subjects-apart",
        f"{_IN_BOTH}; {{frr}} and {{far}} of unseen subjects are",
        _WHY_IN_BOTH,
        "Look at the rates of unseen subjects.",
        example={"subjects": 12, "parts": 3, "number": 3, "unit": "repeat"},
    ),
    MessageType(
        "fewer-templates-compared",
        "{fewer:count} of {probes:count probes} are compared with fewer templates of their "
        "subject than are enrolled, since pairs are excluded; {none:count} with none",
        "Excluded pairs are not compared, so that a probe may have fewer mates than its subject "
        "has templates in the gallery.",
        "Nothing, if that is meant; otherwise enrol templates that are not excluded.",
        "note",
        {"fewer": 20, "probes": 100, "none": 0},
    ),
    MessageType(
        "impostors-differ",
        "some partitions have unenrolled probes as impostors, and some have none; give "
        '{arg.impostors=leave-subject-out} or "unenrolled" for all',
        "The rates of partitions are averaged, and should be of impostors of one kind.",
        "Say which impostors are meant.",
        example={},
    ),
)
