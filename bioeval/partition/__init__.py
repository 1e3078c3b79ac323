"""Splitters: training and test, gallery and probes, enrolled and unenrolled subjects.

A partition is index arrays, never a copied matrix: one matrix of scores serves them all.
The splitters have scikit-learn's form, ``split(X, y, groups)``, and work inside its
``cross_val_score`` and ``GridSearchCV``; ``y`` (or ``groups``, which overrides it) names the
subject of each sample. The same seed gives the same partition on every platform and with every
version of NumPy.

``docs/partitions.md`` says which to use.
"""

from bioeval.base.lazy import NamesByModule, lazy_names

#: The public names, by module.
_NAMES: NamesByModule = {
    "bioeval.partition.claims": ("ClaimSampler", "DrawnClaims"),
    "bioeval.partition.codes_of_folds": ("fold_codes", "repeated_fold_codes"),
    "bioeval.partition.enrolment": ("EnrolledSplit", "GalleryProbe", "ProbeGallerySplit"),
    "bioeval.partition.experiment": ("Experiment", "ExperimentParts"),
    "bioeval.partition.folds": (
        "PredefinedFolds",
        "PredefinedPairFolds",
        "RepeatedSampleKFold",
        "RepeatedSubjectKFold",
        "SampleKFold",
        "SubjectKFold",
    ),
    "bioeval.partition.shuffle_splits": (
        "SampleShuffleSplit",
        "SubjectShuffleSplit",
        "ThreeParts",
        "TrainValidationTest",
    ),
}

#: What studies use besides, by module.
_FOR_STUDIES: NamesByModule = {
    "bioeval.partition.base": ("LabelCodes", "Parameters", "SplitterLike"),
    "bioeval.partition.codes_of_folds": ("split_samples",),
}

__getattr__, __dir__ = lazy_names(__name__, _NAMES, _FOR_STUDIES)
