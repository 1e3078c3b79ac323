"""The messages of calibration."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "scores-are-no-ratios",
        "the scores are {scores}, not log-likelihood ratios: only the minima are given; a "
        "calibrator that has learnt from other people makes ratios of them",
    ),
    MessageType(
        "cllr-above-1",
        "Cllr is above 1: decisions by these ratios lose more than decisions by the prior "
        "alone; calibrate the scores on other people",
    ),
    MessageType(
        "cllr-infinite",
        "Cllr is infinite{where}: attempts have an infinite ratio of the wrong sign, as isotonic "
        'regression gives beyond the scores of one class; a calibration with `ends="laplace"` has '
        "finite ratios alone",
    ),
    MessageType(
        "training-scores-separable",
        "the genuine and impostor scores of the training data are separable: the logistic "
        "regression has no finite solution, and a penalty on its squared weights keeps them "
        "finite; ratios far from 0 rest on the penalty, not on data; those of `pav` rest on "
        "counts",
    ),
    MessageType(
        "calibration-turns-order",
        "of the training scores, {scores}, genuine ones are the farther: calibration turns their "
        "order round; check {arg.kind}",
    ),
)
