"""The public names, and where each is."""

from .any_splitter import splitter_of as splitter_of
from .base import ProbesGallery as ProbesGallery, TrainTest as TrainTest
from .claims import ClaimSampler as ClaimSampler, DrawnClaims as DrawnClaims
from .splitters import (
    EnrolledSplit as EnrolledSplit,
    Experiment as Experiment,
    ExperimentParts as ExperimentParts,
    GalleryKFold as GalleryKFold,
    LeaveOneGroupOut as LeaveOneGroupOut,
    PredefinedFolds as PredefinedFolds,
    PredefinedPairFolds as PredefinedPairFolds,
    ProbeGallerySplit as ProbeGallerySplit,
    SampleKFold as SampleKFold,
    SampleShuffleSplit as SampleShuffleSplit,
    SubjectKFold as SubjectKFold,
    SubjectShuffleSplit as SubjectShuffleSplit,
    ThreeParts as ThreeParts,
    TrainValidationTest as TrainValidationTest,
)
