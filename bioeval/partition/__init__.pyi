"""The public names, one line for each: type checkers and the package itself read them here."""

from bioeval.partition.claims import ClaimSampler as ClaimSampler, DrawnClaims as DrawnClaims
from bioeval.partition.codes_of_folds import (
    fold_codes as fold_codes,
    repeated_fold_codes as repeated_fold_codes,
)
from bioeval.partition.enrolment import (
    EnrolledSplit as EnrolledSplit,
    GalleryProbe as GalleryProbe,
    ProbeGallerySplit as ProbeGallerySplit,
)
from bioeval.partition.experiment import (
    Experiment as Experiment,
    ExperimentParts as ExperimentParts,
)
from bioeval.partition.folds import (
    PredefinedFolds as PredefinedFolds,
    PredefinedPairFolds as PredefinedPairFolds,
    RepeatedSampleKFold as RepeatedSampleKFold,
    RepeatedSubjectKFold as RepeatedSubjectKFold,
    SampleKFold as SampleKFold,
    SubjectKFold as SubjectKFold,
)
from bioeval.partition.shuffle_splits import (
    SampleShuffleSplit as SampleShuffleSplit,
    SubjectShuffleSplit as SubjectShuffleSplit,
    ThreeParts as ThreeParts,
    TrainValidationTest as TrainValidationTest,
)

# For studies
# isort: split
from bioeval.partition.base import (
    LabelCodes as LabelCodes,
    Parameters as Parameters,
    SplitterLike as SplitterLike,
)
from bioeval.partition.codes_of_folds import split_samples as split_samples
