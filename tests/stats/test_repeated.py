"""The corrected interval of Nadeau and Bengio, by hand."""

import math

from named_arguments import raises_about

from bioeval.base.errors import DataError
from bioeval.stats import nadeau_bengio


def test_empty_folds_are_left_out():
    nan = math.nan
    some = nadeau_bengio([[0.1, nan], [0.3, 0.2]], 1, 3)
    assert some == nadeau_bengio([0.1, 0.3, 0.2], 1, 3)
    one = nadeau_bengio([nan, 0.2], 1, 3)
    assert (one.mean, one.folds) == (0.2, 1)
    assert math.isnan(one.sd)
    assert math.isnan(one.low)
    assert math.isnan(nadeau_bengio([nan], 1, 3).mean)
    assert nadeau_bengio([], 1, 3).folds == 0


def test_bad_input_is_refused():
    with raises_about(DataError, "train_size"):
        nadeau_bengio([0.1, 0.2], 1, 0)
    with raises_about(DataError, "confidence"):
        nadeau_bengio([0.1, 0.2], 1, 3, confidence=95)
