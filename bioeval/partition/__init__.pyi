"""The public names, and where each is."""

from .any_splitter import splitter_of as splitter_of
from .base import ProbesGallery as ProbesGallery, TrainTest as TrainTest
from .claims import ClaimSampler as ClaimSampler, DrawnClaims as DrawnClaims
from .experiment import Experiment as Experiment, ExperimentParts as ExperimentParts
from .gallery_splitters import (
    EnrolledSplit as EnrolledSplit,
    ProbeGallerySplit as ProbeGallerySplit,
)
from .splitters import (
    GalleryKFold as GalleryKFold,
    LeaveOneGroupOut as LeaveOneGroupOut,
    PredefinedFolds as PredefinedFolds,
    PredefinedPairFolds as PredefinedPairFolds,
    SampleKFold as SampleKFold,
    SampleShuffleSplit as SampleShuffleSplit,
    SubjectKFold as SubjectKFold,
    SubjectShuffleSplit as SubjectShuffleSplit,
    ThreeParts as ThreeParts,
    TrainValidationTest as TrainValidationTest,
)
