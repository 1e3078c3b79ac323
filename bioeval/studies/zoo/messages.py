"""The messages of a zoo."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "infinite-scores-left-out",
        "{attempts:count attempts} with an infinite score are in no mean",
        "The mean of a subject's scores is over the finite ones; an infinite score says that a "
        "comparison failed, or that its result is certain, and has no place in a mean.",
        "Nothing, if such scores are meant. Give failed comparisons as NaN, with the argument "
        "`nan`, so that they are counted as failures.",
        "note",
        {"attempts": 3},
    ),
    MessageType(
        "too-few-halves",
        "the test of {animals} is not defined: {subjects:count subjects} have two halves, each "
        "with a finite score, and {needed:count} are needed; halves take at least {templates} of "
        "a subject",
        "The test compares the means of two halves of each subject's templates. With fewer "
        "subjects no permutation can tell chance from a difference.",
        "Collect more templates of each subject.",
        example={
            "animals": "goats",
            "subjects": 5,
            "needed": 8,
            "templates": "4 templates",
        },
    ),
    MessageType(
        "subjects-all-alike",
        "the correlation of {animals} is not defined: all subjects are alike",
        "All subjects have the same mean score in one of the halves, so that there is no order of "
        "subjects to compare.",
        "Look at the scores: a system that gives few different scores cannot tell subjects apart.",
        example={"animals": "wolves"},
    ),
    MessageType(
        "zoo-without-tests",
        "whether goats, wolves and lambs exist is not tested: the test compares two halves of the "
        "templates, and errors are means over all choices of templates",
        "Every choice of the enrolled templates may take some of both halves.",
        "Nothing, or enrol the first templates of each subject (`enrol` as `first:3`).",
        "note",
        {},
    ),
    MessageType(
        "rejects-all",
        "the threshold rejects all attempts and is infinite, because some scores are",
        "The chosen operating point rejects everything; as some scores are infinite, so is the "
        "strictest threshold.",
        "Choose another rule of the threshold, or give a threshold.",
        example={},
    ),
)
