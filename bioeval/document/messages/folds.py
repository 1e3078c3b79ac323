"""The messages of results over folds, and over repeated partitions."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "undefined-in-parts",
        "{what:template} not defined (NaN) in {missing:count} of {number:count} {unit}s, means are "
        "over the others: {why}; divide by subject, into fewer parts",
    ),
    MessageType(
        "ties-in-partitions",
        "equal scores decide the rank of {tied:count} of {probes:count probes} in {number:count} "
        "partitions, by the rule of ties; ties = optimistic and ties = pessimistic give the range",
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
        "pairs-across-parts",
        "each division into folds leaves {pairs:count pairs} of subjects in different parts "
        "untested, and tests {tested:count}; fewer folds test more",
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
)
