"""The public names, and where each is."""

from .aggregate import RepeatedMean as RepeatedMean, nadeau_bengio as nadeau_bengio
from .independent import (
    clopper_pearson as clopper_pearson,
    rule_of_3 as rule_of_3,
    rule_of_30 as rule_of_30,
    wilson as wilson,
    zero_error_bound as zero_error_bound,
)
from .options import METHODS as METHODS, IntervalMethod as IntervalMethod
from .people import PeopleCounts as PeopleCounts, people_counts as people_counts
