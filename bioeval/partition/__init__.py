"""Splitters: training and test, gallery and probes, enrolled and unenrolled subjects.

A partition is index arrays, never a copied matrix: one matrix of scores serves them all.
The splitters have scikit-learn's form, ``split(X, y, groups)``, and work inside its
``cross_val_score`` and ``GridSearchCV``; ``y`` (or ``groups``, which overrides it) names the
subject of each sample. The same seed gives the same partition on every platform and with every
version of NumPy.

======================== ====================================================================
training and test        :class:`SubjectKFold`, :class:`RepeatedSubjectKFold`,
                         :class:`SampleKFold`, :class:`RepeatedSampleKFold`,
                         :class:`SubjectShuffleSplit`, :class:`SampleShuffleSplit`
and validation           :class:`TrainValidationTest`
gallery and probes       :class:`ProbeGallerySplit`, :class:`EnrolledSplit`
all of these at once     :class:`Experiment`
claims of verification   :class:`ClaimSampler`
folds as given           :class:`PredefinedFolds`, :class:`PredefinedPairFolds`
the test fold of each    :func:`fold_codes`, :func:`repeated_fold_codes`
======================== ====================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bioeval.base.lazy import lazy_names

__all__ = [
    "ClaimSampler",
    "DrawnClaims",
    "EnrolledSplit",
    "Experiment",
    "ExperimentParts",
    "GalleryProbe",
    "PredefinedFolds",
    "PredefinedPairFolds",
    "ProbeGallerySplit",
    "RepeatedSampleKFold",
    "RepeatedSubjectKFold",
    "SampleKFold",
    "SampleShuffleSplit",
    "SubjectKFold",
    "SubjectShuffleSplit",
    "ThreeParts",
    "TrainValidationTest",
    "fold_codes",
    "repeated_fold_codes",
]

if TYPE_CHECKING:
    from bioeval.partition.claims import ClaimSampler, DrawnClaims
    from bioeval.partition.codes_of_folds import fold_codes, repeated_fold_codes
    from bioeval.partition.enrolment import EnrolledSplit, GalleryProbe, ProbeGallerySplit
    from bioeval.partition.experiment import Experiment, ExperimentParts
    from bioeval.partition.folds import (
        RepeatedSampleKFold,
        RepeatedSubjectKFold,
        SampleKFold,
        SubjectKFold,
    )
    from bioeval.partition.predefined import PredefinedFolds, PredefinedPairFolds
    from bioeval.partition.shuffle_splits import (
        SampleShuffleSplit,
        SubjectShuffleSplit,
        ThreeParts,
        TrainValidationTest,
    )
else:
    _HOMES = {
        "claims": "ClaimSampler DrawnClaims",
        "enrolment": "EnrolledSplit GalleryProbe ProbeGallerySplit",
        "experiment": "Experiment ExperimentParts",
        "codes_of_folds": "fold_codes repeated_fold_codes",
        "folds": "RepeatedSampleKFold RepeatedSubjectKFold SampleKFold SubjectKFold",
        "predefined": "PredefinedFolds PredefinedPairFolds",
        "shuffle_splits": "SampleShuffleSplit SubjectShuffleSplit ThreeParts TrainValidationTest",
    }
    __getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
