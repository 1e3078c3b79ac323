"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.partition.base import (
    LabelCodes as LabelCodes,
    Parameters as Parameters,
    SplitterLike as SplitterLike,
)
from bioeval.partition.claims import ClaimSampler as ClaimSampler, DrawnClaims as DrawnClaims
from bioeval.partition.codes_of_folds import (
    fold_codes as fold_codes,
    repeated_fold_codes as repeated_fold_codes,
    split_samples as split_samples,
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
