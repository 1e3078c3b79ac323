"""The messages of results over folds, and over repeated partitions."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "rate-undefined-in-parts",
        "{rate:term} is not defined in {missing:count} of {number:count} {unit}s and its mean "
        "is over the others: no attempts to choose a threshold on; divide the data into fewer "
        "parts",
    ),
    MessageType(
        "no-genuine-attempt-in-parts",
        "no genuine attempt in {missing:count} of {number:count} {unit}s: none of their subjects "
        "has two templates to compare, and rates of genuine attempts are not defined there (NaN); "
        "means are over the others. Divide by subject, into fewer parts, or into galleries and "
        "probes (be.partition.GalleryKFold, --gallery-folds)",
    ),
    MessageType(
        "ties-in-partitions",
        "equal scores decide the rank of {tied:count} of {probes:count probes} in {number:count} "
        "partitions, by the rule of ties; ties = optimistic and ties = pessimistic give the range",
    ),
    MessageType(
        "no-impostor-attempt-in-parts",
        "no impostor attempt in {missing:count} of {number:count} {unit}s, and rates of impostor "
        "attempts are not defined there (NaN); means are over the others. Divide into fewer parts, "
        "so that each has templates of two subjects",
    ),
    MessageType(
        "no-spread-between-parts",
        "{rate:term} is {value} in every {unit}: the spread is 0, so there is no interval; "
        "{arg.interval=subject-bootstrap} gives an interval of verification",
    ),
    MessageType(
        "one-part",
        "there is one {unit} only: no interval and no standard deviation; divide the data more "
        "than once",
    ),
    MessageType(
        "probes-of-test-without-mate",
        "{probes:count probes} without a mate in the gallery of the test part left out; a closed "
        "set requires enrolment",
    ),
    MessageType(
        "pairs-across-parts",
        "each division into folds leaves {pairs:count pairs} of subjects in different parts "
        "untested, and tests {tested:count}; fewer folds test more",
    ),
    MessageType(
        "infinite-cllr",
        "Cllr is infinite in {parts:count folds}, and so is its mean, without a spread: an attempt "
        "of the test part has an infinite ratio of the wrong sign, as isotonic regression gives "
        "beyond the scores of one class",
    ),
    MessageType(
        "galleries-of-different-sizes",
        "training and test have galleries of different sizes, so their rates are not comparable: "
        "a smaller gallery makes fewer errors",
    ),
    MessageType(
        "subjects-in-both-parts",
        "up to {subjects:count subjects} of a test part are in its training part, too (in "
        "{parts:count} of {number:count} {unit}s): the rates are not those of new people. Divide "
        "by subject, as SubjectKFold does",
    ),
    MessageType(
        "no-query-in-partitions",
        "no query has a match in {missing:count} of {number:count} partitions, and their "
        "rates are not defined there (NaN); means are over the others. Divide into fewer parts",
    ),
    MessageType(
        "undefined-in-partitions",
        "not defined (NaN) in up to {missing:count} of {number:count} partitions that have "
        "attempts: {names}; means are over the others. A rank may be beyond the gallery, and a "
        "class may have scores that are all alike",
    ),
)
