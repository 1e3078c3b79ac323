"""The messages of calibration."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "scores-are-no-ratios",
        "the scores are {scores}, not log-likelihood ratios: only the minima are given; a "
        "calibrator that has learnt from other people makes ratios of them",
        "Cllr and the actual costs are those of decisions at Bayes thresholds, which only "
        "log-likelihood ratios have. The minima are those of the best monotone map of the scores.",
        "Calibrate the scores with `be.Calibrator`, or with `bioeval calibration --calibrate`; "
        'state `kind="llr"` if the scores are log-likelihood ratios.',
        "note",
        {"scores": "distances"},
    ),
    MessageType(
        "cllr-above-1",
        "Cllr is above 1: decisions by these ratios lose more than decisions by the prior alone",
        "Cllr is 1 bit where a system says nothing, with ratios of 0 for all attempts. Above 1, "
        "its ratios mislead.",
        "Calibrate the scores on other people, and check that large ratios are those of genuine "
        "attempts.",
        example={},
    ),
    MessageType(
        "cllr-infinite",
        "Cllr is infinite: {genuine:count genuine attempts} with a ratio of -inf and "
        "{impostor:count impostor attempts} with inf",
        "An infinite ratio claims certainty. Where it is wrong, its cost is infinite, whatever "
        "the other attempts are.",
        'Calibrate with `ends="laplace"`, so that every ratio is finite.',
        example={"genuine": 0, "impostor": 2},
    ),
    MessageType(
        "no-attempts-for-costs",
        "there is no {attempts} attempt: no cost is defined",
        "The costs weigh the errors of genuine and of impostor attempts, and need both.",
        "Check the labels, and that some subject has two templates.",
        example={"attempts": "genuine"},
    ),
    MessageType(
        "training-scores-separable",
        "the genuine and impostor scores of the training data are separable: the logistic "
        "regression has no finite solution, and a penalty on its squared weights keeps them "
        "finite; ratios far from 0 rest on the penalty, not on data",
        "Where a threshold parts the classes without an error, steeper curves fit ever better. A "
        "penalty of 0.000001 times the squared weights of standardised scores decides then.",
        "Train on more data, or calibrate with `pav`, whose ratios rest on counts.",
        example={},
    ),
    MessageType(
        "calibration-turns-order",
        "of the training scores, {scores}, genuine ones are the farther: calibration turns their "
        "order round; check {arg.kind}",
        "The fitted slope has the sign of the other kind of scores.",
        "State the kind of the scores: distances are smaller for genuine attempts, similarities "
        "larger.",
        example={"scores": "similarities"},
    ),
    MessageType(
        "calibrated-on-same-scores",
        "the calibration has learnt from the scores that it calibrates: Cllr is optimistic",
        "A calibration fits the data that it has learnt from better than those of other people.",
        "Give scores of other people with `--train`, or calibrate in folds with "
        "`be.cross_evaluate`.",
        example={},
    ),
)
